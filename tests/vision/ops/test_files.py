"""read_file and decode_jpeg against Pillow; ConvNormActivation."""

from __future__ import annotations

import io

import numpy as np
import pytest

import proa as paddle

ops = paddle.vision.ops
Image = pytest.importorskip("PIL.Image")


def picture(mode="RGB"):
    random = np.random.default_rng(11).integers(0, 255, (6, 9, 3)).astype("uint8")
    made = Image.fromarray(random).resize((36, 24)).convert(mode)
    file = io.BytesIO()
    made.save(file, "JPEG", quality=95)
    return file.getvalue()


@pytest.mark.parametrize(
    ("mode", "stored", "decoded"),
    [("unchanged", "RGB", "RGB"), ("unchanged", "L", "L"), ("gray", "RGB", "L"), ("rgb", "L", "RGB")],
)
def test_a_file_becomes_a_picture(tmp_path, mode, stored, decoded):
    path = tmp_path / "picture.jpg"
    path.write_bytes(picture(stored))
    data = ops.read_file(str(path))
    assert data.dtype == paddle.uint8
    assert data.shape == [path.stat().st_size]
    expected = np.asarray(Image.open(path).convert(decoded))
    expected = expected[None] if expected.ndim == 2 else expected.transpose(2, 0, 1)
    found = ops.decode_jpeg(data, mode)
    assert found.dtype == paddle.uint8
    np.testing.assert_array_equal(found.numpy(), expected)


def test_bad_pictures_raise(tmp_path):
    data = picture()
    for bad in (data[:40], b"no picture", b""):
        with pytest.raises(ValueError, match="no JPEG"):
            ops.decode_jpeg(paddle.to_tensor(np.frombuffer(bad, "uint8").copy()))
    whole = paddle.to_tensor(np.frombuffer(data, "uint8").copy())
    with pytest.raises(ValueError, match="mode"):
        ops.decode_jpeg(whole, "cmyk")
    with pytest.raises(ValueError, match="uint8"):
        ops.decode_jpeg(whole.astype("int32"))
    with pytest.raises(FileNotFoundError):
        ops.read_file(str(tmp_path / "missing"))
    with pytest.raises(TypeError, match="path"):
        ops.read_file(3)


def test_a_block_keeps_the_size_and_leaves_parts_out():
    block = ops.ConvNormActivation(2, 4, 5, dilation=2)
    assert block(paddle.rand([1, 2, 8, 8])).shape == [1, 4, 8, 8]
    assert [type(layer).__name__ for layer in block] == ["Conv2D", "BatchNorm2D", "ReLU"]
    assert block[0].bias is None
    plain = ops.ConvNormActivation(2, 4, norm_layer=None, activation_layer=None)
    assert len(plain) == 1
    assert plain[0].bias is not None
