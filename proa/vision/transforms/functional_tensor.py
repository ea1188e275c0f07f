"""Transforms of Tensors [..., C, H, W] (or [..., H, W, C]), as compositions of tensor functions: gradients flow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor, tensor_from_data
from ...ops.math.extremes import maximum, minimum
from ...ops.math.ternary import clip, where
from ...ops.math.unary import floor
from ...ops.neural.resize import interpolate
from ...ops.neural.sampling_grid import grid_sample
from ...ops.shape.joining import concat, stack
from ...ops.shape.manipulation import moveaxis
from ...ops.shape.padding import pad as pad_tensor
from ...ops.shape.repetition import expand, flip
from .geometry import affine_map, expanded_size, invert, move, perspective_map
from .kinds import borders_of, choice_of, describe_image, is_number

_RESIZE_METHODS = ("nearest", "bilinear", "bicubic", "area")
_GRAY = (0.2989, 0.587, 0.114)


def to_tensor(image: Tensor, data_format: str) -> Tensor:
    """The Tensor itself; it is taken for [..., C, H, W], so the other format moves its channels to the end."""
    return image if data_format == "CHW" else moveaxis(image, -3, -1)


def _channels_first(image: Tensor) -> Tensor:
    """[batch, C, H, W]."""
    shape = image._aval.shape
    channels = shape[-3] if len(shape) > 2 else 1
    return image.reshape([-1, channels, *shape[-2:]])


def _shaped_like(result: Tensor, image: Tensor) -> Tensor:
    """The leading axes of `image` again, over the result's own height and width."""
    return result.reshape([*image._aval.shape[:-2], *result._aval.shape[-2:]])


def resize(image: Tensor, height: int, width: int, interpolation: str) -> Tensor:
    choice_of("resize", "interpolation", interpolation, _RESIZE_METHODS)
    batch = _channels_first(image)
    is_whole = image._aval.dtype.kind in "iu"
    if is_whole and interpolation != "nearest":
        resized = interpolate(batch.astype("float32"), [height, width], mode=interpolation)
        limits = np.iinfo(image._aval.dtype)
        resized = clip(resized, float(limits.min), float(limits.max)).astype(image.dtype)
    else:
        resized = interpolate(batch, [height, width], mode=interpolation)
    return _shaped_like(resized, image)


def pad(image: Tensor, padding: Any, fill: Any, padding_mode: str) -> Tensor:
    left, top, right, bottom = borders_of("pad", padding)
    if padding_mode == "symmetric":
        raise value_error("pad", "symmetric padding is for PIL images and arrays", f"img: {describe_image(image)}")
    if not is_number(fill):
        raise type_error("pad", "fill must be a number for a Tensor", f"fill: {fill!r}")
    mode = "replicate" if padding_mode == "edge" else padding_mode
    padded = pad_tensor(_channels_first(image), [left, right, top, bottom], mode=mode, value=float(fill))
    return _shaped_like(padded, image)


def crop(image: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    return image[..., top : top + height, left : left + width]


def hflip(image: Tensor) -> Tensor:
    return flip(image, [-1])


def vflip(image: Tensor) -> Tensor:
    return flip(image, [-2])


# ---- colour --------------------------------------------------------------------------------------


def _ceiling(image: Tensor) -> float:
    """White: 1 for floats, 255 for bytes."""
    return 255.0 if image._aval.dtype.kind in "iu" else 1.0


def _blend(image: Tensor, other: Any, factor: float) -> Tensor:
    """`other` at factor 0, the image at 1, and beyond."""
    floats = image.astype("float32") if image._aval.dtype.kind in "iu" else image
    mixed = clip(floats * factor + other * (1.0 - factor), 0.0, _ceiling(image))
    return mixed.astype(image.dtype)


def _gray(where: str, image: Tensor) -> Tensor:
    _require_channels(where, image)
    floats = image.astype("float32") if image._aval.dtype.kind in "iu" else image
    weights = tensor_from_data(np.array(_GRAY, floats._aval.dtype).reshape(3, 1, 1))
    return (floats * weights).sum(axis=-3, keepdim=True)


def adjust_brightness(image: Tensor, factor: float) -> Tensor:
    return _blend(image, 0.0, factor)


def adjust_contrast(image: Tensor, factor: float) -> Tensor:
    """Towards the mean of the greys."""
    if image._aval.shape[-3] == 1:
        gray = image.astype("float32") if image._aval.dtype.kind in "iu" else image
    else:
        gray = _gray("adjust_contrast", image)
    return _blend(image, gray.mean(axis=[-3, -2, -1], keepdim=True), factor)


def adjust_saturation(image: Tensor, factor: float) -> Tensor:
    if image._aval.shape[-3] == 1:
        return image
    return _blend(image, _gray("adjust_saturation", image), factor)


def to_grayscale(image: Tensor, num_output_channels: int) -> Tensor:
    gray = image if image._aval.shape[-3] == 1 else _gray("to_grayscale", image).astype(image.dtype)
    return expand(gray, [*gray._aval.shape[:-3], num_output_channels, *gray._aval.shape[-2:]])


def adjust_hue(image: Tensor, factor: float) -> Tensor:
    if image._aval.shape[-3] == 1:
        return image
    _require_channels("adjust_hue", image)
    is_whole = image._aval.dtype.kind in "iu"
    floats = image.astype("float32") / 255.0 if is_whole else image
    hue, saturation, value = _hsv(floats)
    turned = hue + factor
    result = _from_hsv(turned - floor(turned), saturation, value)
    return (result * 255.0).astype(image.dtype) if is_whole else result


def _hsv(image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    red, green, blue = (image[..., k, :, :] for k in range(3))
    value = maximum(maximum(red, green), blue)
    span = value - minimum(minimum(red, green), blue)
    flat = span == 0.0
    divisor = where(flat, span + 1.0, span)
    from_red, from_green, from_blue = ((value - channel) / divisor for channel in (red, green, blue))
    sixths = where(
        value == red,
        from_blue - from_green,
        where(value == green, 2.0 + from_red - from_blue, 4.0 + from_green - from_red),
    )
    hue = sixths / 6.0 + 1.0
    saturation = span / where(value == 0.0, value + 1.0, value)
    return hue - floor(hue), saturation, value


def _from_hsv(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    """Each channel falls from the value by a trapezoid over the hue."""
    channels = []
    for offset in (5.0, 3.0, 1.0):
        place = hue * 6.0 + offset
        place = place - 6.0 * floor(place / 6.0)
        fall = clip(minimum(place, 4.0 - place), 0.0, 1.0)
        channels.append(value - value * saturation * fall)
    return stack(channels, axis=-3)


def _require_channels(where: str, image: Tensor) -> None:
    if image._aval.ndim < 3 or image._aval.shape[-3] != 3:
        raise value_error(where, "a Tensor image must be [..., C, H, W] with 1 or 3 channels", f"img: {image._aval}")


# ---- geometry ------------------------------------------------------------------------------------


def affine(image: Tensor, angle: float, translate: Any, scale: float, shear: Any, interpolation: str, fill: Any,
           center: Any) -> Tensor:  # fmt: skip
    height, width = image._aval.shape[-2:]
    middle = (width * 0.5, height * 0.5) if center is None else center
    back = invert("affine", affine_map(angle, translate, scale, shear, middle))
    return _warp("affine", image, back, height, width, interpolation, fill)


def rotate(image: Tensor, angle: float, interpolation: str, expand: bool, center: Any, fill: Any) -> Tensor:
    height, width = image._aval.shape[-2:]
    middle = (width * 0.5, height * 0.5) if center is None else tuple(center)
    forth = affine_map(-angle, (0.0, 0.0), 1.0, (0.0, 0.0), middle)
    if expand:
        new_width, new_height = expanded_size(invert("rotate", forth), width, height)
        forth = move((new_width - width) / 2, (new_height - height) / 2) @ forth
        height, width = new_height, new_width
    return _warp("rotate", image, invert("rotate", forth), height, width, interpolation, fill)


def perspective(image: Tensor, startpoints: Any, endpoints: Any, interpolation: str, fill: Any) -> Tensor:
    height, width = image._aval.shape[-2:]
    back = perspective_map("perspective", startpoints, endpoints)
    return _warp("perspective", image, back, height, width, interpolation, fill)


def _warp(where_: str, image: Tensor, back: np.ndarray, height: int, width: int, method: str, fill: Any) -> Tensor:
    """Samples the image at `back @ (x, y, 1)`, where pixels' centres are at halves."""
    choice_of(where_, "interpolation", method, ("nearest", "bilinear"))
    floats = image if image._aval.dtype.kind == "f" else image.astype("float32")
    batch = _channels_first(floats)
    source_height, source_width = image._aval.shape[-2:]
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    u, v, w = (row[0] * x + row[1] * y + row[2] for row in back)
    places = np.stack([u / w * (2.0 / source_width) - 1.0, v / w * (2.0 / source_height) - 1.0], axis=-1)
    count = batch._aval.shape[0]
    grid = tensor_from_data(np.broadcast_to(places, (count, *places.shape)).astype(batch._aval.dtype))
    color = _color(where_, batch._aval.shape[1], fill)
    covered = batch[:, :1] * 0.0 + 1.0  # how much of a place lies inside of the source
    both = grid_sample(concat([batch, covered], axis=1), grid, mode=method, align_corners=False)
    warped, inside = both[:, :-1], both[:, -1:]
    background = tensor_from_data(np.array(color, batch._aval.dtype).reshape(1, -1, 1, 1))
    if method == "nearest":
        warped = where(expand(inside, warped.shape) < 0.5, expand(background, warped.shape), warped)
    else:
        warped = warped * inside + (1.0 - inside) * background
    return _shaped_like(warped, image).astype(image.dtype)


def _color(where_: str, channels: int, fill: Any) -> list[float]:
    """One number for each channel."""
    parts = [fill] * channels if is_number(fill) else fill
    if not isinstance(parts, (list, tuple)) or not all(is_number(part) for part in parts):
        raise type_error(where_, "fill must be a number, or one for each channel", f"fill: {fill!r}")
    if len(parts) == 1:
        parts = list(parts) * channels
    if len(parts) != channels:
        raise value_error(
            where_, f"fill must be a number, or one for each of the {channels} channels", f"fill: {fill!r}"
        )
    return [float(part) for part in parts]
