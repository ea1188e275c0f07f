"""Which kind of image is read from files: PIL images ("pil"), arrays in OpenCV's order ("cv2"), or Tensors ("tensor")."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..core.errors import value_error
from ..eager.tensor import tensor_from_data

_BACKENDS = ("pil", "cv2", "tensor")
_current = "pil"


def _check(where: str, backend: Any) -> str:
    if backend not in _BACKENDS:
        raise value_error(where, "backend must be 'pil', 'cv2' or 'tensor'", f"backend: {backend!r}")
    return backend


def set_image_backend(backend: str) -> None:
    """Chooses what `image_load` and the datasets give from now on.

    Args:
        backend: 'pil', 'cv2' or 'tensor'.

    Raises:
        ValueError: it is another word.

    Examples:
        >>> paddle.vision.set_image_backend("cv2")
        >>> paddle.vision.get_image_backend()
        'cv2'
        >>> paddle.vision.set_image_backend("pil")
    """
    global _current
    _current = _check("set_image_backend", backend)


def get_image_backend() -> str:
    """What `image_load` and the datasets give.

    Examples:
        >>> paddle.vision.get_image_backend()
        'pil'
    """
    return _current


def image_load(path: str | os.PathLike[str], backend: str | None = None) -> Any:
    """Reads an image file.

    Args:
        path: the file.
        backend: "pil" for a PIL image as it is in the file, "cv2" for an array `[H, W, 3]` of bytes in the order
            blue, green, red (no OpenCV is needed), "tensor" for a tensor `[C, H, W]` of bytes; None for that of
            `get_image_backend()`.

    Returns:
        The image.

    Examples:
        >>> from PIL import Image
        >>> Image.new("RGB", (4, 2), "red").save("red.png")
        >>> paddle.vision.image_load("red.png").size
        (4, 2)
        >>> paddle.vision.image_load("red.png", backend="cv2")[0, 0].tolist()
        [0, 0, 255]
    """
    chosen = _current if backend is None else _check("image_load", backend)
    from PIL import Image, UnidentifiedImageError

    try:
        image = Image.open(path)
        if chosen != "pil":
            with image:
                return _converted(image, chosen)
    except UnidentifiedImageError:
        raise value_error(
            "image_load", "the file is not an image that can be read", f"path: {os.fspath(path)!r}"
        ) from None
    return image


def _converted(image: Any, backend: str) -> Any:
    if backend == "cv2":
        return np.ascontiguousarray(np.asarray(image.convert("RGB"))[:, :, ::-1])
    if image.mode not in ("L", "RGB", "RGBA"):
        image = image.convert("RGB")
    array = np.array(image)
    return tensor_from_data(np.ascontiguousarray(array[None] if array.ndim == 2 else array.transpose(2, 0, 1)))
