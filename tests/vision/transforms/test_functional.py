"""Functional transforms against NumPy, SciPy and PIL, and one kind of image against the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

import proa as paddle

F = paddle.vision.transforms.functional


@pytest.fixture
def array() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, (20, 30, 3)).astype(np.uint8)


def smooth() -> np.ndarray:
    y, x = np.mgrid[:32, :40]
    return np.stack([100 + 80 * np.sin(x / 9), 120 + 60 * np.cos(y / 7), 2.0 * (x + y)], -1).astype(np.float32)


def as_tensor(array: np.ndarray) -> Any:
    return paddle.to_tensor(np.ascontiguousarray(array.transpose(2, 0, 1)).astype(np.float32) / 255)


def test_to_tensor_of_every_kind(array: np.ndarray) -> None:
    wanted = array.transpose(2, 0, 1).astype(np.float32) / np.float32(255)
    for picture in (array, Image.fromarray(array)):
        tensor = F.to_tensor(picture)
        assert tensor.dtype == paddle.float32
        np.testing.assert_array_equal(tensor.numpy(), wanted)
        np.testing.assert_array_equal(F.to_tensor(picture, "HWC").numpy(), wanted.transpose(1, 2, 0))
    assert F.to_tensor(array[:, :, 0]).shape == [1, 20, 30]
    assert F.to_tensor(array.astype("int32")).dtype == paddle.int32
    one_bit = Image.fromarray(array[:, :, 0] > 100)
    np.testing.assert_array_equal(F.to_tensor(one_bit).numpy()[0], (array[:, :, 0] > 100).astype("float32"))
    deep = Image.fromarray(array[:, :, 0].astype("uint16") * 200)
    np.testing.assert_array_equal(F.to_tensor(deep).numpy()[0], array[:, :, 0].astype(int) * 200)


@pytest.mark.parametrize("method", ["bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(20, 25), (64, 80), (33, 20)])
def test_resized_floats_follow_the_surface(method: str, size: tuple[int, int]) -> None:
    source = smooth()
    resized = F.resize(source, size, method)
    rows = (np.arange(size[0]) + 0.5) * 32 / size[0] - 0.5
    columns = (np.arange(size[1]) + 0.5) * 40 / size[1] - 0.5
    inside = (slice(3, -3), slice(3, -3))
    for channel in range(3):
        wanted = ndimage.map_coordinates(source[..., channel], np.meshgrid(rows, columns, indexing="ij"), order=3)
        np.testing.assert_allclose(resized[..., channel][inside], wanted[inside], atol=0.8)
    assert resized.dtype == np.float32
    assert resized.shape == (*size, 3)


def test_area_and_bilinear_halving_are_means(array: np.ndarray) -> None:
    means = array.reshape(10, 2, 15, 2, 3).astype(int).sum(axis=(1, 3))
    for method in ("area", "bilinear"):
        np.testing.assert_array_equal(F.resize(array, (10, 15), method), (means + 2) // 4)
    parts = F.resize(array.astype("float64"), (5, 10), "area")
    np.testing.assert_allclose(parts, array.reshape(5, 4, 10, 3, 3).mean(axis=(1, 3)))
    uneven = F.resize(np.arange(6.0).reshape(1, 6), (1, 4), "area")
    np.testing.assert_allclose(uneven[0], [1 / 3, 5 / 3, 10 / 3, 14 / 3])


def test_an_integer_is_the_shorter_side(array: np.ndarray) -> None:
    assert F.resize(array, 10).shape == (10, 15, 3)
    assert F.resize(array.transpose(1, 0, 2), 10).shape == (15, 10, 3)
    assert F.resize(Image.fromarray(array), 7).size == (10, 7)
    assert F.resize(as_tensor(array), 7).shape == [3, 7, 10]
    assert F.resize(array, 20) is array


def test_uint8_tensors_and_batches(array: np.ndarray) -> None:
    tensor = paddle.to_tensor(np.ascontiguousarray(array.transpose(2, 0, 1)))
    resized = F.resize(tensor, (10, 15))
    assert resized.dtype == paddle.uint8
    assert np.abs(resized.numpy().transpose(1, 2, 0).astype(int) - F.resize(array, (10, 15)).astype(int)).max() <= 1
    batch = as_tensor(array).unsqueeze(0).tile([2, 1, 1, 1])
    for function in (
        F.hflip,
        F.vflip,
        lambda x: F.rotate(x, 10),
        lambda x: F.adjust_hue(x, 0.1),
        lambda x: F.resize(x, 9),
    ):
        together, alone = function(batch).numpy(), function(as_tensor(array)).numpy()
        np.testing.assert_allclose(together[1], alone, atol=1e-6)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_pad_against_numpy(array: np.ndarray, mode: str) -> None:
    extra = {"constant_values": 9} if mode == "constant" else {}
    wanted = np.pad(array, ((2, 4), (1, 3), (0, 0)), mode=mode, **extra)  # type: ignore[call-overload]
    np.testing.assert_array_equal(F.pad(array, (1, 2, 3, 4), 9, mode), wanted)
    np.testing.assert_array_equal(np.asarray(F.pad(Image.fromarray(array), (1, 2, 3, 4), 9, mode)), wanted)
    if mode != "symmetric":
        padded = F.pad(paddle.to_tensor(array.transpose(2, 0, 1).astype("float32")), (1, 2, 3, 4), 9, mode)
        np.testing.assert_array_equal(padded.numpy(), wanted.transpose(2, 0, 1))


def test_pad_takes_a_colour(array: np.ndarray) -> None:
    for picture in (array, Image.fromarray(array)):
        padded = np.asarray(F.pad(picture, 1, (1, 2, 3)))
        assert padded[0, 0].tolist() == [1, 2, 3]
    assert F.pad(array[:, :, 0], 2).shape == (24, 34)


def test_crops_and_flips(array: np.ndarray) -> None:
    kinds = (array, Image.fromarray(array))
    for picture in kinds:
        np.testing.assert_array_equal(np.asarray(F.crop(picture, 3, 4, 5, 6)), array[3:8, 4:10])
        np.testing.assert_array_equal(np.asarray(F.center_crop(picture, (8, 10))), array[6:14, 10:20])
        np.testing.assert_array_equal(np.asarray(F.hflip(picture)), array[:, ::-1])
        np.testing.assert_array_equal(np.asarray(F.vflip(picture)), array[::-1])
    tensor = as_tensor(array)
    np.testing.assert_array_equal(F.crop(tensor, 3, 4, 5, 6).numpy(), tensor.numpy()[:, 3:8, 4:10])
    np.testing.assert_array_equal(F.hflip(tensor).numpy(), tensor.numpy()[:, :, ::-1])
    gray = array[:, :, :1]
    assert F.hflip(gray).shape == gray.shape


def test_quarter_turns_are_exact(array: np.ndarray) -> None:
    square = array[:, :20]
    np.testing.assert_array_equal(np.asarray(F.rotate(Image.fromarray(square), 90)), np.rot90(square))
    turned = F.rotate(as_tensor(array), 90, expand=True)
    np.testing.assert_allclose(turned.numpy(), np.rot90(as_tensor(array).numpy(), axes=(1, 2)))
    # OpenCV turns about a corner of pixels, so that one row is lost.
    np.testing.assert_array_equal(F.rotate(square, 90)[1:], np.rot90(square)[:-1])


@pytest.mark.parametrize("kind", ["array", "tensor"])
def test_affine_agrees_with_pil(kind: str) -> None:
    source = smooth().astype(np.uint8)
    settings = (15, [3, -2], 1.2, [6.0, 3.0], "bilinear")
    wanted = np.asarray(F.affine(Image.fromarray(source), *settings)).astype(float)
    if kind == "array":
        result = F.affine(source, *settings).astype(float)
    else:
        result = F.affine(as_tensor(source), *settings).numpy().transpose(1, 2, 0) * 255
    inside = (slice(8, -8), slice(8, -8))
    # Half a pixel lies between the two conventions of where a pixel is.
    np.testing.assert_allclose(result[inside], wanted[inside], atol=6)


def test_moves_and_scales_of_arrays() -> None:
    source = smooth()
    np.testing.assert_allclose(F.affine(source, 0, (3, 2), 1.0, 0)[2:, 3:], source[:-2, :-3])
    filled = F.affine(source, 0, (3, 2), 1.0, 0, fill=(7, 8, 9))
    assert filled[0, 0].tolist() == [7, 8, 9]
    four = [[0, 0], [39, 0], [39, 31], [0, 31]]
    np.testing.assert_allclose(F.perspective(source, four, four, "bilinear"), source, atol=1e-3)
    moved = [[x + 4, y + 1] for x, y in four]
    np.testing.assert_allclose(F.perspective(source, four, moved)[1:, 4:], source[:-1, :-4])


def test_colour_at_its_ends(array: np.ndarray) -> None:
    for picture in (array, Image.fromarray(array), as_tensor(array)):
        plain = np.asarray(picture if not hasattr(picture, "numpy") else picture.numpy())
        for function in (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation):
            same = function(picture, 1)
            np.testing.assert_allclose(
                np.asarray(same if not hasattr(same, "numpy") else same.numpy()), plain, atol=1e-6
            )
        dark = F.adjust_brightness(picture, 0)
        assert np.asarray(dark if not hasattr(dark, "numpy") else dark.numpy()).max() == 0
    gray = F.adjust_saturation(as_tensor(array), 0).numpy()
    weights = np.array([0.2989, 0.587, 0.114], "float32")
    np.testing.assert_allclose(gray[0], np.tensordot(weights, as_tensor(array).numpy(), 1), atol=1e-5)
    np.testing.assert_allclose(gray[0], gray[2])


def test_hue_of_tensors_turns_the_circle() -> None:
    import colorsys

    pixels = np.random.default_rng(1).random((3, 4, 5)).astype("float32")
    pixels[:, 0, 0] = 0.5  # grey has no hue
    turned = F.adjust_hue(paddle.to_tensor(pixels), 0.3).numpy()
    for row, column in np.ndindex(4, 5):
        hue, saturation, value = colorsys.rgb_to_hsv(*map(float, pixels[:, row, column]))
        wanted = colorsys.hsv_to_rgb((hue + 0.3) % 1.0, saturation, value)
        np.testing.assert_allclose(turned[:, row, column], wanted, atol=1e-5)


def test_gradients_flow_through_tensors(array: np.ndarray) -> None:
    tensor = as_tensor(array)
    tensor.stop_gradient = False
    changed = F.adjust_contrast(F.rotate(F.resize(tensor, (10, 15)), 10, "bilinear"), 0.5)
    changed.sum().backward()
    assert tensor.grad.shape == tensor.shape
    assert float(tensor.grad.abs().sum()) > 0


def test_grayscale_channels(array: np.ndarray) -> None:
    assert F.to_grayscale(array).shape == (20, 30, 1)
    three = F.to_grayscale(array, 3)
    np.testing.assert_allclose(three[..., 0], array @ [0.299, 0.587, 0.114], atol=0.51)
    assert np.asarray(F.to_grayscale(Image.fromarray(array), 3)).shape == (20, 30, 3)
    assert F.to_grayscale(as_tensor(array), 3).shape == [3, 20, 30]
    np.testing.assert_array_equal(F.to_grayscale(array[:, :, 0])[..., 0], array[:, :, 0])


def test_normalize_every_kind(array: np.ndarray) -> None:
    mean, std = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    wanted = (array - np.array(mean)) / np.array(std)
    np.testing.assert_allclose(F.normalize(array, mean, std, "HWC"), wanted, rtol=1e-5)
    np.testing.assert_allclose(F.normalize(Image.fromarray(array), mean, std, "HWC"), wanted, rtol=1e-5)
    np.testing.assert_allclose(F.normalize(array[..., ::-1], mean, std, "HWC", to_rgb=True), wanted, rtol=1e-5)
    tensor = paddle.to_tensor(array.transpose(2, 0, 1).astype("float32"))
    np.testing.assert_allclose(F.normalize(tensor, mean, std).numpy(), wanted.transpose(2, 0, 1), rtol=1e-5)
    assert F.normalize(array, mean, std, "HWC").dtype == np.float32
    with pytest.raises(ValueError, match=r"\(normalize\) mean and std must have one number.*data_format"):
        F.normalize(array, mean, std, "CHW")
    with pytest.raises(ValueError, match="std must not be 0"):
        F.normalize(array, mean, [1, 0, 1], "HWC")


def test_erase_leaves_the_image_alone_unless_in_place(array: np.ndarray) -> None:
    before = array.copy()
    erased = F.erase(array, 2, 3, 4, 5, np.array([1, 2, 3]))
    assert (erased[2:6, 3:8] == [1, 2, 3]).all()
    np.testing.assert_array_equal(array, before)
    picture = F.erase(Image.fromarray(array[:, :, 0]), 2, 3, 4, 5, 0)
    assert picture.mode == "L"
    assert np.asarray(picture)[2:6, 3:8].max() == 0
    tensor = as_tensor(array)
    kept = tensor.numpy().copy()
    other = F.erase(tensor, 2, 3, 4, 5, 0.25)
    assert (other.numpy()[:, 2:6, 3:8] == 0.25).all()
    np.testing.assert_array_equal(tensor.numpy(), kept)
    assert F.erase(tensor, 2, 3, 4, 5, 0.5, inplace=True) is tensor
    assert (tensor.numpy()[:, 2:6, 3:8] == 0.5).all()
    assert F.erase(array, 0, 0, 2, 2, 7, inplace=True) is array
    assert (array[:2, :2] == 7).all()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda a: F.resize("x", 3), TypeError, r"\(resize\) img must be a PIL image.*received img: str"),
        (lambda a: F.resize(a, "x"), TypeError, "size must be an integer or a pair"),
        (lambda a: F.resize(a, 0), ValueError, "sides must be positive"),
        (lambda a: F.resize(a, 3, "cubic"), ValueError, "interpolation must be one of nearest, bilinear"),
        (lambda a: F.resize(Image.fromarray(a), 3, "area"), ValueError, "interpolation must be one of"),
        (lambda a: F.resize(a.astype(bool), (3, 3)), TypeError, r"must hold numbers.*array bool\[20, 30, 3\]"),
        (lambda a: F.to_tensor(3), TypeError, "pic must be"),
        (lambda a: F.to_tensor(a, "X"), ValueError, "data_format must be one of CHW, HWC"),
        (lambda a: F.pad(a, "x"), TypeError, "padding must be an integer or two or four"),
        (lambda a: F.pad(a, (1, 2, 3)), ValueError, "padding must be an integer or two or four"),
        (lambda a: F.pad(a, -1), ValueError, "must not be negative"),
        (lambda a: F.pad(a, 1, (1, 2)), ValueError, "one for each of the 3 channels"),
        (lambda a: F.pad(a, 1, 0, "wrap"), ValueError, "padding_mode must be one of"),
        (lambda a: F.rotate(a, "x"), TypeError, "angle must be a number"),
        (lambda a: F.rotate(a, 1, center=3), ValueError, "center must be a pair"),
        (lambda a: F.affine(a, 1, 3, 1, 1), TypeError, "translate must be a pair"),
        (lambda a: F.affine(a, 1, (1, 2), -1, 1), ValueError, "scale must be positive"),
        (lambda a: F.affine(a, 1, (1, 2), 1, (1, 2, 3)), ValueError, "shear"),
        (lambda a: F.perspective(a, [[0, 0]], [[1, 1]]), ValueError, "four points"),
        (lambda a: F.adjust_hue(a, 0.7), ValueError, r"hue_factor must be in \[-0.5, 0.5\]"),
        (lambda a: F.adjust_hue(a / 255.0, 0.1), TypeError, "an array must be uint8 here"),
        (lambda a: F.adjust_contrast(a / 255.0, 0.1), TypeError, "an array must be uint8 here"),
        (lambda a: F.adjust_brightness(a, "x"), TypeError, "brightness_factor must be a number"),
        (lambda a: F.to_grayscale(a, 2), ValueError, "num_output_channels must be one of 1, 3"),
        (lambda a: F.erase(a, 1, 1, 2, 2, [1, 2]), ValueError, r"\(erase\) v must be one number"),
    ],
)
def test_bad_input_is_refused(array: np.ndarray, call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(array)
