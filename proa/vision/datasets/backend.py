"""Which kind of image a dataset gives."""

from __future__ import annotations

from typing import Any

from ...core.errors import value_error
from ..image import get_image_backend


def image_backend(where: str, backend: str | None) -> str:
    """ "pil" or "cv2" (arrays); the one set for all when none is given."""
    chosen: Any = get_image_backend() if backend is None else backend
    if chosen not in ("pil", "cv2"):
        raise value_error(where, "backend must be 'pil' or 'cv2'", f"backend: {chosen!r}")
    return chosen
