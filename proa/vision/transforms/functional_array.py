"""Transforms of NumPy arrays [H, W] or [H, W, C].

Paddle hands arrays to OpenCV; here the same definitions are written with NumPy. Two of them surprise and are
kept so that results agree: hue and saturation take the channels as blue, green, red (OpenCV's order), and the
contrast is about the fixed value 74.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...ops.create.creation import to_tensor as tensor_of
from . import sampling
from .geometry import affine_map, expanded_size, invert, move, perspective_map
from .kinds import borders_of, choice_of, describe_image, is_number

_WARP_METHODS = ("nearest", "bilinear", "bicubic")
_PAD_MODES = {"constant": "constant", "edge": "edge", "reflect": "reflect", "symmetric": "symmetric"}


def to_tensor(array: np.ndarray, data_format: str) -> Any:
    """uint8 becomes float32 in [0, 1]; other types keep their numbers."""
    if array.ndim == 2:
        array = array[:, :, None]
    if data_format == "CHW":
        array = array.transpose(2, 0, 1)
    if array.dtype == np.uint8:
        array = array.astype(np.float32) / np.float32(255)
    elif array.dtype == np.uint16:
        array = array.astype(np.int32)
    return tensor_of(np.ascontiguousarray(array))


def resize(array: np.ndarray, height: int, width: int, interpolation: str) -> np.ndarray:
    choice_of("resize", "interpolation", interpolation, sampling.METHODS)
    if min(height, width) < 1:
        raise value_error("resize", "the result would be empty", f"size: {(height, width)}")
    _require_pixels("resize", array)
    return sampling.resize(array, height, width, interpolation)


def pad(array: np.ndarray, padding: Any, fill: Any, padding_mode: str) -> np.ndarray:
    left, top, right, bottom = borders_of("pad", padding)
    if min(left, top, right, bottom) < 0:
        raise value_error("pad", "padding must not be negative", f"padding: {padding!r}", "use crop to take away")
    widths = ((top, bottom), (left, right), (0, 0))[: array.ndim]
    if padding_mode == "constant":
        color = _color("pad", array, fill)
        height, width = array.shape[:2]
        padded = np.empty((top + height + bottom, left + width + right, *array.shape[2:]), array.dtype)
        padded[...] = color
        padded[top : top + height, left : left + width] = array
        return padded
    return np.pad(array, widths, mode=_PAD_MODES[padding_mode])  # type: ignore[call-overload]


def crop(array: np.ndarray, top: int, left: int, height: int, width: int) -> np.ndarray:
    return array[top : top + height, left : left + width]


def hflip(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array[:, ::-1])


def vflip(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array[::-1])


# ---- colour --------------------------------------------------------------------------------------


def adjust_brightness(array: np.ndarray, factor: float) -> np.ndarray:
    if array.dtype == np.uint8:
        return np.clip(np.arange(256) * factor, 0, 255).astype(np.uint8)[array]
    _require_pixels("adjust_brightness", array)
    return np.clip(array * array.dtype.type(factor), 0, 255).astype(array.dtype)


def adjust_contrast(array: np.ndarray, factor: float) -> np.ndarray:
    _require_bytes("adjust_contrast", array)
    return np.clip((np.arange(256) - 74) * factor + 74, 0, 255).astype(np.uint8)[array]


def adjust_saturation(array: np.ndarray, factor: float) -> np.ndarray:
    """Between the image and its greys."""
    if array.ndim == 2 or array.shape[2] == 1:
        return array
    _require_colors("adjust_saturation", array)
    wide = array.astype(np.float32)
    gray = _gray(wide[:, :, 2], wide[:, :, 1], wide[:, :, 0])[:, :, None]
    blend = array * float(factor) + gray * float(1 - factor)
    return np.clip(blend, 0, 255).astype(array.dtype)


def adjust_hue(array: np.ndarray, factor: float) -> np.ndarray:
    """Turns the hue, where a full turn is 256, by way of 8-bit hue, saturation and value."""
    _require_bytes("adjust_hue", array)
    if array.ndim == 2 or array.shape[2] == 1:
        return array
    _require_colors("adjust_hue", array)
    hue, saturation, value = _hsv(array)
    turned = hue + np.uint8(int(factor * 255) % 256)
    return _from_hsv(turned, saturation, value)


def to_grayscale(array: np.ndarray, num_output_channels: int) -> np.ndarray:
    if array.ndim == 2 or array.shape[2] == 1:
        gray = array.reshape(array.shape[:2])
    else:
        _require_colors("to_grayscale", array)
        gray = _gray(array[:, :, 0], array[:, :, 1], array[:, :, 2])
    return np.repeat(gray[:, :, None], num_output_channels, axis=2)


def _gray(red: np.ndarray, green: np.ndarray, blue: np.ndarray) -> np.ndarray:
    if red.dtype == np.uint8:
        weighted = red.astype(np.int32) * 9798 + green.astype(np.int32) * 19235 + blue.astype(np.int32) * 3735
        return ((weighted + (1 << 14)) >> 15).astype(np.uint8)
    weighted = red * 0.299 + green * 0.587 + blue * 0.114
    return weighted.astype(red.dtype)


def _hsv(array: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """8-bit hue (a turn is 256), saturation and value of an image in the order blue, green, red."""
    blue, green, red = (np.ascontiguousarray(array[:, :, k]) for k in range(3))
    value = np.maximum(np.maximum(blue, green), red)
    narrow = value - np.minimum(np.minimum(blue, green), red)
    by_value, by_span = _reciprocals()
    span = narrow.astype(np.int32)
    saturation = (span * by_value.take(value) + (1 << 11)) >> 12
    blue, green, red = (channel.astype(np.int16) for channel in (blue, green, red))
    twice = narrow.astype(np.int16) * 2
    sixth = np.where(
        value == red, green - blue, np.where(value == green, blue - red + twice, red - green + 2 * twice)
    )  # fmt: skip
    hue = (sixth * by_span.take(narrow) + (1 << 11)) >> 12
    hue += (hue < 0) * np.int32(256)
    return np.clip(hue, 0, 255).astype(np.uint8), saturation.astype(np.uint8), value


@functools.cache
def _reciprocals() -> tuple[np.ndarray, np.ndarray]:
    """What divides by the value and by the span: 12 bits, rounded, as OpenCV tabulates them."""
    numbers = np.arange(1, 256)
    by_value = np.concatenate([[0], np.rint((255 << 12) / numbers)]).astype(np.int32)
    by_span = np.concatenate([[0], np.rint((256 << 12) / (6.0 * numbers))]).astype(np.int32)
    return by_value, by_span


def _from_hsv(hue: np.ndarray, saturation: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The way back, to blue, green, red: each is the value less a share of the saturation that the hue decides."""
    fraction = np.arange(256, dtype=np.float32) / np.float32(255)
    result = _shares().take(hue, axis=0)
    result *= fraction.take(saturation)[:, :, None]
    np.subtract(1, result, out=result)
    result *= fraction.take(value)[:, :, None]
    result *= 255
    np.rint(result, out=result)
    return np.clip(result, 0, 255, out=result).astype(np.uint8)


@functools.cache
def _shares() -> np.ndarray:
    """For each hue the shares of blue, green and red. A turn is 255 here: OpenCV's two directions differ by that."""
    place = np.arange(256, dtype=np.float32) * np.float32(6 / 255)
    sector = np.floor(place).astype(np.int32)
    part = place - sector
    levels = np.stack([np.zeros_like(part), np.ones_like(part), part, 1 - part]).astype(np.float32)
    # For each sector of the hue: which level blue, green and red take.
    table = np.array([[1, 3, 0], [1, 0, 2], [3, 0, 1], [0, 2, 1], [0, 1, 3], [2, 1, 0]])
    return np.take_along_axis(levels.T, table[sector % 6], axis=1)


# ---- geometry ------------------------------------------------------------------------------------


def affine(array: np.ndarray, angle: float, translate: Any, scale: float, shear: Any, interpolation: str, fill: Any,
           center: Any) -> np.ndarray:  # fmt: skip
    height, width = array.shape[:2]
    middle = (width * 0.5, height * 0.5) if center is None else center
    back = invert("affine", affine_map(angle, translate, scale, shear, middle))
    return _warp("affine", array, back, height, width, interpolation, fill)


def rotate(array: np.ndarray, angle: float, interpolation: str, expand: bool, center: Any, fill: Any) -> np.ndarray:
    height, width = array.shape[:2]
    middle = (width / 2.0, height / 2.0) if center is None else tuple(center)
    forth = affine_map(-angle, (0.0, 0.0), 1.0, (0.0, 0.0), middle)
    if expand:
        new_width, new_height = expanded_size(invert("rotate", forth), width, height)
        forth = move((new_width - width) / 2, (new_height - height) / 2) @ forth
        height, width = new_height, new_width
    return _warp("rotate", array, invert("rotate", forth), height, width, interpolation, fill)


def perspective(array: np.ndarray, startpoints: Any, endpoints: Any, interpolation: str, fill: Any) -> np.ndarray:
    height, width = array.shape[:2]
    back = perspective_map("perspective", startpoints, endpoints)
    return _warp("perspective", array, back, height, width, interpolation, fill)


def _warp(where: str, array: np.ndarray, back: np.ndarray, height: int, width: int, method: str, fill: Any) -> Any:
    choice_of(where, "interpolation", method, _WARP_METHODS)
    _require_pixels(where, array)
    return sampling.warp(array, back, height, width, method, _color(where, array, fill))


# ---- checks --------------------------------------------------------------------------------------


def _color(where: str, array: np.ndarray, fill: Any) -> Any:
    if is_number(fill):
        return fill
    channels = array.shape[2] if array.ndim == 3 else 1
    if not isinstance(fill, (list, tuple)) or not all(is_number(part) for part in fill):
        raise type_error(where, "fill must be a number, or one for each channel", f"fill: {fill!r}")
    if len(fill) == 1 or channels == 1:
        return fill[0]
    if len(fill) < channels:
        raise value_error(
            where, f"fill must be a number, or one for each of the {channels} channels", f"fill: {fill!r}"
        )
    return fill[:channels]


def _require_pixels(where: str, array: np.ndarray) -> None:
    if array.dtype.kind not in "iuf" or not array.size:
        raise type_error(
            where, "the array must hold numbers (uint8, or another integer or float type) and not be empty",
            f"img: {describe_image(array)}",
        )  # fmt: skip


def _require_bytes(where: str, array: np.ndarray) -> None:
    if array.dtype != np.uint8:
        raise type_error(
            where, "an array must be uint8 here", f"img: {describe_image(array)}",
            "give pixels from 0 to 255 as uint8, or a Tensor [C, H, W] of floats in [0, 1]",
        )  # fmt: skip


def _require_colors(where: str, array: np.ndarray) -> None:
    if array.shape[2] not in (3, 4):
        raise value_error(where, "the image must have 1, 3 or 4 channels", f"img: {describe_image(array)}")
