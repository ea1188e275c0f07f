"""`paddle.vision.transforms.functional`: one function for PIL images, NumPy arrays and Tensors each.

Arguments are checked here; the work is in `functional_pil`, `functional_array` and `functional_tensor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...eager.annotations import PaddingLike, SizesLike
from ...eager.tensor import Tensor, tensor_from_data
from ...ops.shape.joining import concat
from . import functional_array, functional_pil, functional_tensor
from .kinds import backend_of, borders_of, choice_of, describe_image, is_array, is_number, is_pil, pair_of, size_of

_BACKENDS = (functional_pil, functional_array, functional_tensor)
PAD_MODES = ("constant", "edge", "reflect", "symmetric")


def to_tensor(pic: Any, data_format: str = "CHW") -> Tensor:
    """The image as a tensor; bytes become float32 in [0, 1], other types keep their numbers.

    Args:
        pic: a PIL image or an array `[H, W, C]`.
        data_format: 'CHW' or 'HWC'.

    Returns:
        A tensor.

    Examples:
        >>> paddle.vision.transforms.to_tensor(np.full([4, 5, 3], 255, "uint8")).shape
        paddle.Size([3, 4, 5])
    """
    backend = backend_of("to_tensor", pic, _BACKENDS, "pic")
    choice_of("to_tensor", "data_format", data_format, ("CHW", "HWC"))
    return backend.to_tensor(pic, data_format)


def resize(img: Any, size: int | Sequence[int], interpolation: str = "bilinear") -> Any:
    """The image in another size.

    Args:
        img: a PIL image, an array `[H, W, C]` or a tensor.
        size: height and width; one number is the length of the shorter side, and the shape is kept.
        interpolation: 'nearest', 'bilinear', 'bicubic', 'area' or 'lanczos'.

    Returns:
        An image of the same kind.

    Examples:
        >>> paddle.vision.transforms.resize(np.zeros([4, 8, 3], "uint8"), 2).shape
        (2, 4, 3)
    """
    backend = backend_of("resize", img, _BACKENDS)
    if is_number(size):
        side: Any = size
        width, height = size_of("resize", img)
        short, wanted = min(width, height), int(side)
        if wanted < 1 or short < 1:
            raise value_error("resize", "sides must be positive", f"img: {describe_image(img)}, size: {size}")
        if short == wanted:
            return img
        # The longer side is cut off to whole pixels, as elsewhere.
        height, width = (
            (wanted, int(wanted * width / height)) if height < width else (int(wanted * height / width), wanted)
        )
    else:
        height, width = pair_of("resize", "size", size)
    if min(height, width) < 1:
        raise value_error("resize", "sides must be positive", f"img: {describe_image(img)}, size: {size}")
    return backend.resize(img, height, width, interpolation)


def pad(img: Any, padding: PaddingLike, fill: float | Sequence[float] = 0, padding_mode: str = "constant") -> Any:
    """Adds borders.

    Args:
        img: a PIL image, an array `[H, W, C]` or a tensor.
        padding: one width, (left and right, top and bottom), or (left, top, right, bottom).
        fill: their colour.
        padding_mode: 'constant', 'edge', 'reflect' or 'symmetric'.

    Returns:
        An image of the same kind.

    Examples:
        >>> paddle.vision.transforms.pad(np.ones([1, 1, 1], "uint8"), (1, 0))[:, :, 0].tolist()
        [[0, 1, 0]]
    """
    backend = backend_of("pad", img, _BACKENDS)
    borders = borders_of("pad", padding)
    if not (is_number(fill) or isinstance(fill, (list, tuple))):
        raise type_error("pad", "fill must be a number or one for each channel", f"fill: {fill!r}")
    choice_of("pad", "padding_mode", padding_mode, PAD_MODES)
    if min(borders) < 0:
        raise value_error("pad", "padding must not be negative", f"padding: {padding!r}", "use crop to take away")
    return backend.pad(img, borders, fill, padding_mode)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """A rectangle of the image.

    Args:
        img: a PIL image, an array `[H, W, C]` or a tensor.
        top: its first row.
        left: its first column.
        height: how many rows.
        width: how many columns.

    Returns:
        An image of the same kind.

    Examples:
        >>> paddle.vision.transforms.crop(np.arange(16).reshape(4, 4, 1), 1, 0, 2, 3)[:, :, 0].tolist()
        [[4, 5, 6], [8, 9, 10]]
    """
    return backend_of("crop", img, _BACKENDS).crop(img, top, left, height, width)


def center_crop(img: Any, output_size: SizesLike) -> Any:
    """The middle of the image.

    Args:
        img: a PIL image, an array `[H, W, C]` or a tensor.
        output_size: height and width, or one number for both.

    Returns:
        An image of the same kind.

    Examples:
        >>> paddle.vision.transforms.center_crop(np.arange(16).reshape(4, 4, 1), 2)[:, :, 0].tolist()
        [[5, 6], [9, 10]]
    """
    width, height = size_of("center_crop", img)
    crop_height, crop_width = pair_of("center_crop", "output_size", output_size)
    top, left = round((height - crop_height) / 2.0), round((width - crop_width) / 2.0)
    return crop(img, top, left, crop_height, crop_width)


def hflip(img: Any) -> Any:
    """Left becomes right.

    Args:
        img: a PIL image, an array `[H, W, C]` or a tensor.

    Returns:
        An image of the same kind.

    Examples:
        >>> paddle.vision.transforms.hflip(np.array([[[1], [2]]]))[:, :, 0].tolist()
        [[2, 1]]
    """
    return backend_of("hflip", img, _BACKENDS).hflip(img)


def vflip(img: Any) -> Any:
    """Top becomes bottom.

    Args:
        img: a PIL image, an array `[H, W, C]` or a tensor.

    Returns:
        An image of the same kind.

    Examples:
        >>> paddle.vision.transforms.vflip(np.array([[[1]], [[2]]]))[:, :, 0].tolist()
        [[2], [1]]
    """
    return backend_of("vflip", img, _BACKENDS).vflip(img)


# ---- colour --------------------------------------------------------------------------------------


def _factor(where: str, name: str, value: Any) -> float:
    if not is_number(value):
        raise type_error(where, f"{name} must be a number", f"{name}: {value!r}")
    return float(value)


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """The image brighter or darker.

    Args:
        img: a PIL image, an array `[H, W, C]` or a tensor.
        brightness_factor: 0 is black, 1 the image itself, 2 twice as bright.

    Returns:
        An image of the same kind.

    Examples:
        >>> paddle.vision.transforms.adjust_brightness(np.full([1, 1, 3], 100, "uint8"), 2.0).flatten().tolist()
        [200, 200, 200]
    """
    backend = backend_of("adjust_brightness", img, _BACKENDS)
    return backend.adjust_brightness(img, _factor("adjust_brightness", "brightness_factor", brightness_factor))


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """The image with more or less contrast.

    Args:
        img: a PIL image, an array `[H, W, C]` or a tensor.
        contrast_factor: 0 is one grey (of an array always 74, as in Paddle), 1 the image itself.

    Returns:
        An image of the same kind.

    Examples:
        >>> image = np.array([[[0, 0, 0], [200, 200, 200]]], "uint8")
        >>> paddle.vision.transforms.adjust_contrast(image, 0.5)[0, :, 0].tolist()
        [37, 137]
    """
    backend = backend_of("adjust_contrast", img, _BACKENDS)
    return backend.adjust_contrast(img, _factor("adjust_contrast", "contrast_factor", contrast_factor))


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """0 is the greys of the image, 1 the image itself."""
    backend = backend_of("adjust_saturation", img, _BACKENDS)
    return backend.adjust_saturation(img, _factor("adjust_saturation", "saturation_factor", saturation_factor))


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """The image with all colours turned round the circle.

    Args:
        img: a PIL image, an array `[H, W, C]` or a tensor.
        hue_factor: from -0.5 to 0.5 of a turn.

    Returns:
        An image of the same kind.

    Examples:
        >>> paddle.vision.transforms.adjust_hue(np.array([[[255, 0, 0]]], "uint8"), 0.5).flatten().tolist()
        [0, 252, 255]
    """
    backend = backend_of("adjust_hue", img, _BACKENDS)
    factor = _factor("adjust_hue", "hue_factor", hue_factor)
    if not -0.5 <= factor <= 0.5:
        raise value_error("adjust_hue", "hue_factor must be in [-0.5, 0.5]", f"hue_factor: {hue_factor}")
    return backend.adjust_hue(img, factor)


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """The greys of a colour image.

    Args:
        img: a PIL image, an array `[H, W, C]` or a tensor.
        num_output_channels: 1, or 3 for equal ones.

    Returns:
        An image of the same kind.

    Examples:
        >>> paddle.vision.transforms.to_grayscale(np.full([1, 1, 3], 100, "uint8")).flatten().tolist()
        [100]
    """
    backend = backend_of("to_grayscale", img, _BACKENDS)
    choice_of("to_grayscale", "num_output_channels", num_output_channels, (1, 3))
    return backend.to_grayscale(img, num_output_channels)


# ---- geometry ------------------------------------------------------------------------------------


def affine(
    img: Any,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: float | Sequence[float],
    interpolation: str = "nearest",
    fill: float | Sequence[float] = 0,
    center: Sequence[float] | None = None,
) -> Any:
    """Turns, scales and shears about the centre, then moves.

    Args:
        img: a PIL image, an array `[H, W, C]` or a tensor.
        angle: in degrees, clockwise.
        translate: how many pixels to the right and down.
        scale: the factor.
        shear: in degrees, along x, or along x and y.
        interpolation: 'nearest', 'bilinear' or 'bicubic'.
        fill: the colour outside.
        center: what is turned about; None for the middle.

    Returns:
        An image of the same kind and size.

    Examples:
        >>> image = np.arange(9, dtype="uint8").reshape(3, 3, 1)
        >>> paddle.vision.transforms.affine(image, 0, [1, 0], 1.0, [0, 0])[:, :, 0].tolist()
        [[0, 0, 1], [0, 3, 4], [0, 6, 7]]
    """
    where = "affine"
    if not is_number(angle):
        raise type_error(where, "angle must be a number", f"angle: {angle!r}")
    if not isinstance(translate, (list, tuple)):
        raise type_error(where, "translate must be a pair (x, y)", f"translate: {translate!r}")
    if len(translate) != 2:
        raise value_error(where, "translate must be a pair (x, y)", f"translate: {translate!r}")
    if not is_number(scale) or scale <= 0.0:
        raise value_error(where, "scale must be positive", f"scale: {scale!r}")
    shears = [shear, 0.0] if is_number(shear) else shear
    if not isinstance(shears, (list, tuple)) or not all(is_number(part) for part in shears):
        raise type_error(where, "shear must be a number of degrees or a pair of them", f"shear: {shear!r}")
    if len(shears) == 1:
        shears = [shears[0], shears[0]]
    if len(shears) != 2:
        raise value_error(where, "shear must be a number of degrees or a pair of them", f"shear: {shear!r}")
    _check_center(where, center)
    backend = backend_of(where, img, _BACKENDS)
    return backend.affine(img, float(angle), translate, float(scale), shears, interpolation, fill, center)


def rotate(
    img: Any,
    angle: float,
    interpolation: str = "nearest",
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: float | Sequence[float] = 0,
) -> Any:
    """The image turned.

    Arrays turn about the pixel (W / 2, H / 2), as by OpenCV and in Paddle: half a pixel behind the middle, so that 90
    degrees also shift by one pixel. PIL images and tensors turn about the middle itself.

    Args:
        img: a PIL image, an array `[H, W, C]` or a tensor.
        angle: in degrees, counter-clockwise.
        interpolation: 'nearest', 'bilinear' or 'bicubic'.
        expand: whether the result is large enough to hold all of it.
        center: what is turned about; None for the middle.
        fill: the colour outside.

    Returns:
        An image of the same kind.

    Examples:
        >>> paddle.vision.transforms.rotate(np.zeros([2, 4, 3], "uint8"), 90, expand=True).shape
        (4, 2, 3)
    """
    if not is_number(angle):
        raise type_error("rotate", "angle must be a number", f"angle: {angle!r}")
    _check_center("rotate", center)
    return backend_of("rotate", img, _BACKENDS).rotate(img, float(angle), interpolation, bool(expand), center, fill)


def perspective(
    img: Any,
    startpoints: Sequence[Sequence[float]],
    endpoints: Sequence[Sequence[float]],
    interpolation: str = "nearest",
    fill: float | Sequence[float] = 0,
) -> Any:
    """The projective map that takes four points to four others.

    Args:
        img: a PIL image, an array `[H, W, C]` or a tensor.
        startpoints: four points (x, y).
        endpoints: where they go.
        interpolation: 'nearest', 'bilinear' or 'bicubic'.
        fill: the colour outside.

    Returns:
        An image of the same kind and size.

    Examples:
        >>> image = np.arange(9, dtype="uint8").reshape(3, 3, 1)
        >>> corners = [[0, 0], [2, 0], [2, 2], [0, 2]]
        >>> bool((paddle.vision.transforms.perspective(image, corners, corners) == image).all())
        True
    """
    backend = backend_of("perspective", img, _BACKENDS)
    return backend.perspective(img, startpoints, endpoints, interpolation, fill)


def _check_center(where: str, center: Any) -> None:
    if center is not None and (not isinstance(center, (list, tuple)) or len(center) != 2):
        raise value_error(where, "center must be a pair (x, y)", f"center: {center!r}")


# ---- values --------------------------------------------------------------------------------------


def normalize(
    img: Any,
    mean: float | Sequence[float],
    std: float | Sequence[float],
    data_format: str = "CHW",
    to_rgb: bool = False,
) -> Any:
    """`(img - mean) / std`, channel by channel.

    Args:
        img: a PIL image, an array or a tensor.
        mean: for each channel.
        std: likewise.
        data_format: 'CHW' or 'HWC'.
        to_rgb: whether the channels of an array are reversed first.

    Returns:
        A float32 image.

    Examples:
        >>> img = paddle.full([3, 1, 1], 150.0)
        >>> paddle.vision.transforms.normalize(img, [100.0] * 3, [50.0] * 3).flatten().tolist()
        [1.0, 1.0, 1.0]
    """
    where = "normalize"
    choice_of(where, "data_format", data_format, ("CHW", "HWC"))
    if isinstance(img, Tensor):
        dtype = img._aval.dtype if img._aval.dtype.kind == "f" else np.dtype(np.float32)
        middle, spread = _statistics(mean, std, data_format, dtype)
        axis = -3 if data_format == "CHW" else -1
        if img._aval.ndim < 3:
            raise value_error(where, "a Tensor image must have channels", f"img: {img._aval}")
        _check_channels(where, img._aval.shape[axis], middle, img)
        floats = img if img._aval.dtype.kind == "f" else img.astype("float32")
        if to_rgb:
            floats = functional_tensor.flip(floats, [axis])
        return (floats - tensor_from_data(middle)) / tensor_from_data(spread)
    if is_pil(img):
        array = np.array(img).astype(np.float32)
    elif isinstance(img, np.ndarray) and img.ndim >= 2:
        array = img
    else:
        raise type_error(where, "img must be a PIL image, a NumPy array or a Tensor", f"img: {describe_image(img)}")
    if array.ndim == 2:
        array = array[None] if data_format == "CHW" else array[:, :, None]
    middle, spread = _statistics(mean, std, data_format, np.dtype(np.float32))
    _check_channels(where, array.shape[-3 if data_format == "CHW" else -1], middle, img)
    if to_rgb:
        array = array[..., ::-1, :, :] if data_format == "CHW" else array[..., ::-1]
    return (array - middle) / spread


def _statistics(mean: Any, std: Any, data_format: str, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    try:
        middle, spread = np.array(mean, dtype).ravel(), np.array(std, dtype).ravel()
    except (TypeError, ValueError):
        raise type_error("normalize", "mean and std must be numbers", f"mean: {mean!r}, std: {std!r}") from None
    if (spread == 0).any():
        raise value_error("normalize", "std must not be 0", f"std: {std!r}")
    shape = (-1, 1, 1) if data_format == "CHW" else (-1,)
    return middle.reshape(shape), spread.reshape(shape)


def _check_channels(where: str, channels: int, middle: np.ndarray, img: Any) -> None:
    if 1 not in (middle.size, channels) and middle.size != channels:
        raise value_error(
            where, f"mean and std must have one number, or one for each of the {channels} channels",
            f"img: {describe_image(img)}, mean: {middle.ravel().tolist()}", "is data_format right?",
        )  # fmt: skip


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """The image with a rectangle set to a value.

    Args:
        img: a PIL image, an array `[H, W, C]` or a tensor `[C, H, W]`.
        i: its first row.
        j: its first column.
        h: how many rows.
        w: how many columns.
        v: the value.
        inplace: whether the image itself changes.

    Returns:
        An image of the same kind.

    Examples:
        >>> paddle.vision.transforms.erase(paddle.ones([1, 2, 3]), 0, 1, 2, 1, 0.0).tolist()
        [[[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]]
    """
    where = "erase"
    if isinstance(img, Tensor):
        rows, columns = slice(i, i + h), slice(j, j + w)
        if inplace:
            img[..., rows, columns] = v
            return img
        result = concat([img], axis=0)  # a value of its own, not a view
        result[..., rows, columns] = v
        return result
    value = v.numpy() if isinstance(v, Tensor) else v
    if is_pil(img):
        from PIL import Image

        array = np.array(img)
        array[i : i + h, j : j + w] = _erasing_value(where, value, array)
        return Image.fromarray(array)
    if not is_array(img):
        raise type_error(where, "img must be a PIL image, a NumPy array or a Tensor", f"img: {describe_image(img)}")
    array = img if inplace else img.copy()
    array[i : i + h, j : j + w] = _erasing_value(where, value, array)
    return array


def _erasing_value(where: str, value: Any, array: np.ndarray) -> Any:
    values = np.asarray(value)
    if array.ndim == 2 and values.ndim == 3:
        values = values[:, :, 0]
    try:
        np.broadcast_shapes(values.shape, array.shape[2:]) if values.ndim < 2 else None
    except ValueError:
        raise value_error(
            where, "v must be one number, one for each channel, or a rectangle of pixels",
            f"img: {describe_image(array)}, v: {values.dtype}{list(values.shape)}",
        ) from None  # fmt: skip
    return values
