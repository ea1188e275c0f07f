"""Pictures from everywhere, and what is no picture."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from proa.ocr.detecting import SIDES, fit
from proa.ocr.pictures import load_picture

RED = np.zeros((4, 6, 3), np.uint8)
RED[..., 0] = 255


def encoded(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def test_every_form_of_a_picture_gives_the_same_pixels(tmp_path) -> None:
    image = Image.fromarray(RED)
    path = tmp_path / "red.png"
    image.save(path)
    for source in (path, str(path), path.read_bytes(), io.BytesIO(path.read_bytes()), image, RED):
        assert np.array_equal(load_picture(source), RED)


def test_grey_palette_and_transparent_pictures() -> None:
    grey = np.arange(24, dtype=np.uint8).reshape(4, 6)
    assert np.array_equal(load_picture(grey), np.repeat(grey[..., None], 3, axis=2))
    assert np.array_equal(load_picture(encoded(Image.fromarray(grey))), np.repeat(grey[..., None], 3, axis=2))
    assert np.array_equal(load_picture(encoded(Image.fromarray(RED).convert("P"), "GIF")), RED)
    clear = Image.new("RGBA", (3, 2), (0, 0, 0, 0))
    assert (load_picture(encoded(clear)) == 255).all()
    assert (load_picture(encoded(Image.new("1", (3, 2), 1))) == 255).all()
    deep = Image.fromarray(np.linspace(0, 65535, 24).reshape(4, 6).astype(np.uint16))
    assert load_picture(encoded(deep))[[0, -1], [0, -1], 0].tolist() == [0, 255]


def test_the_camera_says_where_up_is() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    assert load_picture(encoded(Image.fromarray(RED), exif=exif)).shape == (6, 4, 3)


@pytest.mark.parametrize("data", [b"", b"no picture", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, b"GIF89a"])
def test_bytes_that_are_no_picture_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\(ocr\) the picture cannot be read"):
        load_picture(data)


def test_every_cut_off_file_is_refused() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (40, 40, 3), np.uint8)
    for kind in ("PNG", "JPEG", "BMP", "WEBP"):
        whole = encoded(Image.fromarray(noise), kind)
        for length in np.linspace(1, 0.9 * len(whole), 12).astype(int):
            with pytest.raises(ValueError, match="cannot be read"):
                load_picture(whole[:length])


def test_what_is_too_large_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    with pytest.raises(ValueError, match="too large"):
        load_picture(encoded(Image.new("L", (10, 10))))


@pytest.mark.parametrize(
    "array", [np.zeros((4, 4)), np.zeros((4,), np.uint8), np.zeros((4, 4, 2), np.uint8), np.zeros((0, 4, 3), np.uint8)]
)
def test_arrays_that_are_no_pictures_are_refused(array: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"\(ocr\)"):
        load_picture(array)


def test_other_things_are_refused(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="no such picture"):
        load_picture(tmp_path / "absent.png")
    with pytest.raises(FileNotFoundError, match="no such picture"):
        load_picture(tmp_path)
    with pytest.raises(TypeError, match="received int"):
        load_picture(7)


def test_canvases_have_few_sizes_and_points_lead_back() -> None:
    generator = np.random.default_rng(1)
    sizes = set()
    for _ in range(20):
        height, width = np.exp(generator.uniform(0, 8, 2)).astype(int)
        canvas, scale, (left, top) = fit(np.zeros((height, width, 3), np.uint8), 1600)
        sizes.update(canvas.shape[:2])
        assert (width * scale + left) <= canvas.shape[1] + 1
        assert (height * scale + top) <= canvas.shape[0] + 1
        assert max(height, width) * scale <= 1601
    assert sizes <= set(SIDES)
