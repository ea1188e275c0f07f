"""Pictures as arrays [height, width, 3] of bytes in the order red, green, blue, from whatever they come as."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np

from ..core.errors import message, type_error, value_error


def load_picture(source: Any) -> np.ndarray:
    """A picture from a path, the bytes of a file, an open file, a PIL image or an array (red, green, blue)."""
    if isinstance(source, np.ndarray):
        return _from_array(source)
    image_module, ops = _pillow()
    if isinstance(source, image_module.Image):
        return _upright(source, ops)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _opened(io.BytesIO(source), f"{len(source)} bytes", image_module, ops)
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if not os.path.isfile(path):
            raise FileNotFoundError(message("ocr", "there is no such picture", repr(path)))
        return _opened(path, repr(path), image_module, ops)
    if hasattr(source, "read"):
        return _opened(source, type(source).__name__, image_module, ops)
    raise type_error("ocr", "a picture is a path, bytes, a PIL image or an array", type(source).__name__)


def _opened(file: Any, name: str, image_module: Any, ops: Any) -> np.ndarray:
    try:
        with image_module.open(file) as image:
            return _upright(image, ops)
    except image_module.DecompressionBombError as error:
        raise value_error("ocr", f"the picture is too large: {error}", name, "make it smaller first") from None
    # Pillow's readers raise many kinds of exceptions on damaged files.
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, TypeError, MemoryError, OverflowError) as error:
        raise value_error("ocr", f"the picture cannot be read ({type(error).__name__}: {error})", name) from None


def _upright(image: Any, ops: Any) -> np.ndarray:
    """Turned as its camera says; what is transparent becomes white, as on a page."""
    image = ops.exif_transpose(image)
    if image.mode.startswith("I") or image.mode == "F":  # 16 bits and more: Pillow would cut, not scale
        return _from_array(_scaled(np.asarray(image)))
    has_alpha = image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info
    return _from_array(np.asarray(image.convert("RGBA" if has_alpha else "RGB")))


def _scaled(values: np.ndarray) -> np.ndarray:
    """Numbers of any range as bytes, from the darkest to the lightest."""
    values = values.astype(np.float64)
    low, high = (values.min(), values.max()) if values.size else (0.0, 0.0)
    if high <= low:
        return np.zeros(values.shape, np.uint8)
    return np.round((values - low) * (255.0 / (high - low))).astype(np.uint8)


def _from_array(array: np.ndarray) -> np.ndarray:
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[2] not in (1, 3, 4) or array.dtype != np.uint8:
        raise value_error(
            "ocr", "an array of bytes [height, width], [height, width, 3] or [height, width, 4] is needed",
            f"{array.dtype}{list(array.shape)}", "for numbers between 0 and 1: (array * 255).astype('uint8')",
        )  # fmt: skip
    if array.shape[0] < 1 or array.shape[1] < 1:
        raise value_error("ocr", "the picture is empty", f"{array.dtype}{list(array.shape)}")
    if array.shape[2] == 1:
        array = np.repeat(array, 3, axis=2)
    if array.shape[2] == 4:
        alpha = array[:, :, 3:].astype(np.float32) / 255
        array = np.round(array[:, :, :3] * alpha + 255 * (1 - alpha)).astype(np.uint8)
    return np.ascontiguousarray(array)


def _pillow() -> tuple[Any, Any]:
    try:
        from PIL import Image, ImageOps
    except ImportError as error:
        raise ImportError("(ocr) Pillow is needed to read pictures: pip install 'proa[ocr]'.") from error
    return Image, ImageOps


def opencv() -> Any:
    """OpenCV, for contours and for turning and scaling pictures."""
    try:
        import cv2
    except ImportError as error:
        raise ImportError("(ocr) OpenCV is needed: pip install 'proa[ocr]' (or opencv-python-headless).") from error
    return cv2
