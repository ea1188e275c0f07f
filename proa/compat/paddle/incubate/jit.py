"""Inner names of `paddle.incubate.jit`."""

from __future__ import annotations

from typing import Any


def is_inference_mode(function: Any) -> bool:
    """Whether a function was wrapped by `paddle.incubate.jit.inference`."""
    return bool(getattr(function, "_wrapped_for_inference", False))
