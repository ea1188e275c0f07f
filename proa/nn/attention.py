"""`paddle.nn.attention`: which kernels attention may use.

The compiler chooses the kernel here; the context only remembers what was asked for.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

from ..core.errors import type_error, value_error


class SDPBackend(enum.IntEnum):
    """Kinds of kernels for `scaled_dot_product_attention`."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2


_ALLOWED: list[list[SDPBackend]] = []


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """A context that names the kernels allowed inside it."""
    chosen = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if not chosen:
        raise value_error("sdpa_kernel", "name at least one backend")
    if not all(isinstance(backend, SDPBackend) for backend in chosen):
        raise type_error("sdpa_kernel", "backends must be SDPBackend members", f"backends: {backends!r}")
    _ALLOWED.append(chosen)
    try:
        yield
    finally:
        _ALLOWED.pop()


__all__ = ["SDPBackend", "sdpa_kernel"]
