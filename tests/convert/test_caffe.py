"""Caffe's files: the text form, weights, layers beside NumPy, and (where it is installed) OpenCV 4."""

from __future__ import annotations

import numpy as np
import pytest

from proa.convert import UncoveredOperators, convert, from_caffe
from proa.convert.caffe.text import parse
from proa.formats.paddle.files.wire import encode

_BLOB = {5: ("data", "bytes"), 7: ("shape", {1: ("dim", "ints")})}
_NET = {100: ("layer", [{1: ("name", "string"), 2: ("type", "string"), 7: ("blobs", [_BLOB])}])}

NETWORK = """
name: "small"  # with a comment
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 9 dim: 9 } } }
layer {
  name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 4 kernel_size: 3 pad: 1 stride: 2 }
}
layer { name: "norm" type: "BatchNorm" bottom: "conv" top: "conv" }
layer { name: "scale" type: "Scale" bottom: "conv" top: "conv" scale_param { bias_term: true } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" relu_param { negative_slope: 0.1 } }
layer { name: "top" type: "Pooling" bottom: "conv" top: "top" pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "mean" type: "Pooling" bottom: "conv" top: "mean" pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 } }
layer { name: "join" type: "Concat" bottom: "top" bottom: "mean" top: "join" }
layer { name: "drop" type: "Dropout" bottom: "join" top: "join" }
layer { name: "only" type: "Accuracy" bottom: "join" top: "accuracy" include { phase: TRAIN } }
layer { name: "fc" type: "InnerProduct" bottom: "join" top: "fc" inner_product_param { num_output: 5 } }
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
"""


def weights():
    generator = np.random.default_rng(0)

    def numbers(*shape):
        return generator.normal(size=shape).astype("float32")

    return {
        "conv": [numbers(4, 3, 3, 3), numbers(4)], "norm": [numbers(4) * 3, np.abs(numbers(4)) * 3 + 1, np.float32([3])],
        "scale": [numbers(4), numbers(4)], "fc": [numbers(5, 72), numbers(5)],
    }  # fmt: skip


@pytest.fixture
def files(tmp_path):
    blobs = {
        name: [{"data": array.tobytes(), "shape": {"dim": list(array.shape)}} for array in arrays]
        for name, arrays in weights().items()
    }
    (tmp_path / "small.prototxt").write_text(NETWORK)
    content = encode({"layer": [{"name": name, "blobs": found} for name, found in blobs.items()]}, _NET)
    (tmp_path / "small.caffemodel").write_bytes(content)
    return tmp_path


def windows(x, size, stride, pad, reduce, fill):
    """Caffe's windows: rounded up, and none that begins in the padding behind the data."""
    n = x.shape[-1]
    count = -(-(n + 2 * pad - size) // stride) + 1
    count -= (count - 1) * stride >= n + pad
    wide = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)], constant_values=fill)
    rows = [
        [
            reduce(wide[..., i * stride : i * stride + size, j * stride : j * stride + size], axis=(2, 3))
            for j in range(count)
        ]
        for i in range(count)
    ]
    return np.moveaxis(np.array(rows), [0, 1], [2, 3])


def expected(x):
    """The network in NumPy."""
    w = weights()
    wide = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    seen = [[wide[:, :, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3] for j in range(5)] for i in range(5)]
    made = np.einsum("ijnchw,ochw->noij", np.array(seen), w["conv"][0]) + w["conv"][1][:, None, None]
    mean, variance, count = w["norm"]
    made = (made - (mean / count)[:, None, None]) / np.sqrt((variance / count)[:, None, None] + 1e-5)
    made = made * w["scale"][0][:, None, None] + w["scale"][1][:, None, None]
    made = np.where(made > 0, made, 0.1 * made)
    top = windows(made, 2, 2, 0, np.max, -np.inf)
    joined = np.concatenate([top, windows(made, 3, 2, 1, np.mean, 0)], 1).reshape(len(x), -1)
    scores = joined @ w["fc"][0].T + w["fc"][1]
    chances = np.exp(scores - scores.max(1, keepdims=True))
    return chances / chances.sum(1, keepdims=True)


def test_a_network_beside_numpy(files):
    layer = from_caffe(files / "small.prototxt", files / "small.caffemodel")
    assert layer.output_names == ["prob"]
    for batch in (1, 3):
        x = np.random.default_rng(batch).normal(size=(batch, 3, 9, 9)).astype("float32")
        np.testing.assert_allclose(layer(x).numpy(), expected(x), rtol=1e-4, atol=1e-5)


def test_a_certificate_beside_opencv(files):
    cv2 = pytest.importorskip("cv2", reason="OpenCV is no dependency of the tests")
    if not hasattr(cv2.dnn, "readNetFromCaffe"):
        with pytest.raises(ImportError, match="opencv-python-headless<5"):
            convert(files / "small.caffemodel")
        return
    (files / "small.prototxt").write_text("\n".join(line for line in NETWORK.splitlines() if "Accuracy" not in line))
    certificate = convert(files / "small.caffemodel")
    assert certificate.agrees
    assert certificate.reference.startswith("OpenCV 4")


def test_layers_that_are_missing_are_named(files):
    text = NETWORK.replace('type: "Softmax"', 'type: "Mystery"')
    (files / "small.prototxt").write_text(text)
    with pytest.raises(UncoveredOperators, match=r"Mystery \(1 times, first at 'prob'\)"):
        from_caffe(files / "small.prototxt", files / "small.caffemodel")


def test_wrong_files(files):
    (files / "other.caffemodel").write_bytes(b"\x00\x01")
    with pytest.raises(ValueError, match=r"is not a \.caffemodel"):
        from_caffe(files / "small.prototxt", files / "other.caffemodel")
    with pytest.raises(FileNotFoundError, match="must lie beside"):
        convert(files / "other.caffemodel")
    (files / "empty.caffemodel").write_bytes(b"")
    with pytest.raises(ValueError, match="no weights for the layer 'conv'"):
        from_caffe(files / "small.prototxt", files / "empty.caffemodel")
    (files / "small.prototxt").write_text('layer { name: "x" type: "Data" top: "data" }')
    with pytest.raises(ValueError, match="use the one for deployment"):
        from_caffe(files / "small.prototxt", files / "small.caffemodel")


def test_the_text_form():
    found = parse("a: 1 a: -2.5e1\nb { c: \"x # y\" d: true } # end\ne: [1, 2]\nf: WORD g < h: 'i' >")
    assert found == {
        "a": [1, -25.0], "b": [{"c": ["x # y"], "d": [True]}], "e": [1, 2], "f": ["WORD"], "g": [{"h": ["i"]}],
    }  # fmt: skip
    for wrong in ("a: }", "a {", "{", 'a: "x', "a: 1 %", "a { b: 1 ] }", "a [" * 40):
        with pytest.raises(ValueError, match="prototxt"):
            parse(wrong)
    for deep in ("a {" * 40, "a: " + "[" * 100_000):
        with pytest.raises(ValueError, match="nested more than 32 deep"):
            parse(deep)
    with pytest.raises(ValueError, match="line 3"):
        parse("a: 1\nb: 2\n%")
