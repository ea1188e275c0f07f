"""What an image may be: a PIL image, a NumPy array [H, W] or [H, W, C], or a Tensor [..., C, H, W]."""

from __future__ import annotations

import numbers
import sys
from typing import Any

import numpy as np

from ...core.errors import failed_check, failed_type_check, type_error, value_error
from ...eager.tensor import Tensor


def is_pil(image: Any) -> bool:
    """Whether this is a PIL image. Nobody can have one unless PIL is loaded, so it is never imported to find out."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(image, module.Image)


def is_array(image: Any) -> bool:
    return isinstance(image, np.ndarray) and image.ndim in (2, 3)


def is_tensor(image: Any) -> bool:
    return isinstance(image, Tensor)


def describe_image(image: Any) -> str:
    """How an error shows an image."""
    if is_pil(image):
        return f"PIL image {image.mode} {image.size[0]} x {image.size[1]}"
    if isinstance(image, np.ndarray):
        return f"array {image.dtype}{list(image.shape)}"
    return str(image._aval) if isinstance(image, Tensor) else type(image).__name__


def backend_of(where: str, image: Any, backends: tuple[Any, Any, Any], name: str = "img") -> Any:
    """The one of (PIL, array, tensor) forms that fits the image."""
    pil, array, tensor = backends
    if is_pil(image):
        return pil
    if is_array(image):
        return array
    if isinstance(image, Tensor) and image._aval.ndim >= 2:
        return tensor
    raise type_error(
        where,
        f"{name} must be a PIL image, a NumPy array [H, W] or [H, W, C], or a Tensor [C, H, W]",
        f"{name}: {describe_image(image)}",
    )


def size_of(where: str, image: Any) -> tuple[int, int]:
    """(width, height)."""
    if is_pil(image):
        return image.size
    if is_array(image):
        return image.shape[1], image.shape[0]
    if isinstance(image, Tensor) and image._aval.ndim >= 2:
        return image._aval.shape[-1], image._aval.shape[-2]
    backend_of(where, image, (None, None, None))
    raise AssertionError


def is_number(value: Any) -> bool:
    return isinstance(value, (numbers.Number, np.number)) and not isinstance(value, (bool, complex))


def pair_of(where: str, name: str, size: Any) -> tuple[int, int]:
    """(height, width) from an integer or two of them."""
    parts = (size, size) if is_number(size) else size
    if not isinstance(parts, (list, tuple)) or len(parts) != 2 or not all(is_number(part) for part in parts):
        raise failed_type_check(where, f"{name} must be an integer or a pair (height, width)", f"{name}: {size!r}")
    height, width = int(parts[0]), int(parts[1])
    if height < 0 or width < 0:
        raise value_error(where, f"{name} must not be negative", f"{name}: {size!r}")
    return height, width


def borders_of(where: str, padding: Any) -> tuple[int, int, int, int]:
    """(left, top, right, bottom) from one number, (left/right, top/bottom), or all four."""
    if is_number(padding):
        width = int(padding)
        return width, width, width, width
    if not isinstance(padding, (list, tuple)) or not all(is_number(part) for part in padding):
        raise failed_type_check(where, "padding must be an integer or two or four of them", f"padding: {padding!r}")
    if len(padding) == 2:
        return int(padding[0]), int(padding[1]), int(padding[0]), int(padding[1])
    if len(padding) != 4:
        raise failed_check(where, "padding must be an integer or two or four of them", f"padding: {padding!r}")
    left, top, right, bottom = (int(part) for part in padding)
    return left, top, right, bottom


def choice_of(where: str, name: str, value: Any, allowed: Any) -> Any:
    """One of a few words; anything else is refused with the list of them."""
    if value not in allowed:
        raise value_error(where, f"{name} must be one of {', '.join(map(str, allowed))}", f"{name}: {value!r}")
    return value
