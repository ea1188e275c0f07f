"""Transforms of PIL images, by PIL's own means."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...ops.create.creation import to_tensor as tensor_of
from .geometry import affine_map, invert, perspective_map
from .kinds import borders_of, choice_of, is_number

_RESIZE_METHODS = ("nearest", "bilinear", "bicubic", "box", "lanczos", "hamming")


def _method(where: str, interpolation: Any) -> Any:
    from PIL import Image

    name = choice_of(where, "interpolation", interpolation, _RESIZE_METHODS)
    return Image.Resampling[name.upper()]


def _warp_method(where: str, interpolation: Any) -> Any:
    choice_of(where, "interpolation", interpolation, _RESIZE_METHODS[:3])
    return _method(where, interpolation)


def to_tensor(image: Any, data_format: str) -> Any:
    """Pixels as float32 in [0, 1]; images of 32 or 16 bits an element keep their numbers."""
    array = np.array(image)
    if array.dtype == bool:
        array = array.astype(np.uint8) * 255
    if array.dtype == np.uint16:
        array = array.astype(np.int32)
    if array.ndim == 2:
        array = array[:, :, None]
    if data_format == "CHW":
        array = array.transpose(2, 0, 1)
    if array.dtype == np.uint8:
        array = array.astype(np.float32) / np.float32(255)
    return tensor_of(np.ascontiguousarray(array))


def resize(image: Any, height: int, width: int, interpolation: str) -> Any:
    return image.resize((width, height), _method("resize", interpolation))


def pad(image: Any, padding: Any, fill: Any, padding_mode: str) -> Any:
    from PIL import Image, ImageOps

    left, top, right, bottom = borders_of("pad", padding)
    if padding_mode == "constant":
        color = _fill("pad", image, fill)
        if image.mode == "P":
            palette = image.getpalette()
            padded = ImageOps.expand(image, border=(left, top, right, bottom), fill=color)
            padded.putpalette(palette)
            return padded
        return ImageOps.expand(image, border=(left, top, right, bottom), fill=color)
    array = np.asarray(image)
    widths = ((top, bottom), (left, right), (0, 0))[: array.ndim]
    padded = Image.fromarray(np.pad(array, widths, mode=padding_mode))  # type: ignore[call-overload]
    if image.mode == "P":
        padded = padded.convert("P") if padded.mode != "P" else padded
        padded.putpalette(image.getpalette())
    return padded


def crop(image: Any, top: int, left: int, height: int, width: int) -> Any:
    return image.crop((left, top, left + width, top + height))


def hflip(image: Any) -> Any:
    from PIL import Image

    return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)


def vflip(image: Any) -> Any:
    from PIL import Image

    return image.transpose(Image.Transpose.FLIP_TOP_BOTTOM)


def adjust_brightness(image: Any, factor: float) -> Any:
    from PIL import ImageEnhance

    return ImageEnhance.Brightness(image).enhance(factor)


def adjust_contrast(image: Any, factor: float) -> Any:
    from PIL import ImageEnhance

    return ImageEnhance.Contrast(image).enhance(factor)


def adjust_saturation(image: Any, factor: float) -> Any:
    from PIL import ImageEnhance

    return ImageEnhance.Color(image).enhance(factor)


def adjust_hue(image: Any, factor: float) -> Any:
    """Turns the hue of HSV, where a full turn is 256."""
    from PIL import Image

    if image.mode in ("L", "1", "I", "F"):
        return image
    hue, saturation, value = image.convert("HSV").split()
    turned = np.asarray(hue) + np.uint8(int(factor * 255) % 256)
    return Image.merge("HSV", (Image.fromarray(turned), saturation, value)).convert(image.mode)


def to_grayscale(image: Any, num_output_channels: int) -> Any:
    from PIL import Image

    gray = image.convert("L")
    return gray if num_output_channels == 1 else Image.merge("RGB", (gray, gray, gray))


def affine(image: Any, angle: float, translate: Any, scale: float, shear: Any, interpolation: str, fill: Any,
           center: Any) -> Any:  # fmt: skip
    from PIL import Image

    width, height = image.size
    middle = (width * 0.5, height * 0.5) if center is None else center
    back = invert("affine", affine_map(angle, translate, scale, shear, middle))
    method = _warp_method("affine", interpolation)
    coefficients = tuple(float(value) for value in back[:2].ravel())
    return image.transform(
        image.size, Image.Transform.AFFINE, coefficients, method, fillcolor=_fill("affine", image, fill)
    )


def rotate(image: Any, angle: float, interpolation: str, expand: bool, center: Any, fill: Any) -> Any:
    method = _warp_method("rotate", interpolation)
    return image.rotate(angle, method, expand, center, fillcolor=_fill("rotate", image, fill))


def perspective(image: Any, startpoints: Any, endpoints: Any, interpolation: str, fill: Any) -> Any:
    from PIL import Image

    back = perspective_map("perspective", startpoints, endpoints)
    coefficients = tuple(float(value) for value in back.ravel()[:8])
    method = _warp_method("perspective", interpolation)
    return image.transform(
        image.size, Image.Transform.PERSPECTIVE, coefficients, method, fillcolor=_fill("perspective", image, fill)
    )


def _fill(where: str, image: Any, fill: Any) -> Any:
    """A colour that PIL takes for this image: one number for each channel."""
    channels = len(image.getbands())
    whole = image.mode not in ("F",)
    if is_number(fill):
        value = int(fill) if whole else float(fill)
        return value if channels == 1 else (value,) * channels
    if not isinstance(fill, (list, tuple)) or not all(is_number(part) for part in fill):
        raise type_error(where, "fill must be a number, or one for each channel", f"fill: {fill!r}")
    if len(fill) == 1:
        return _fill(where, image, fill[0])
    if len(fill) != channels:
        raise value_error(
            where, f"fill must be a number, or one for each of the {channels} channels", f"fill: {fill!r}"
        )
    return tuple(int(part) for part in fill) if whole else tuple(float(part) for part in fill)
