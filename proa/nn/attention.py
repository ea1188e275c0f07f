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
    """Kinds of kernels for `paddle.nn.functional.scaled_dot_product_attention`, to be named in `sdpa_kernel`.

    Examples:
        >>> [backend.name for backend in paddle.nn.attention.SDPBackend]
        ['ERROR', 'MATH', 'FLASH_ATTENTION', 'EFFICIENT_ATTENTION']
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2


_ALLOWED: list[list[SDPBackend]] = []


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """A context that names the kernels allowed inside it.

    The compiler chooses the kernel here, so that the result is the same whatever is named.

    Args:
        backends: a `SDPBackend`, or several of them.
        set_priority: accepted for compatibility.

    Raises:
        ValueError: no backend is named.
        TypeError: something else than a `SDPBackend` is named.

    Examples:
        >>> from proa.nn.attention import SDPBackend, sdpa_kernel
        >>> x = paddle.ones([1, 2, 1, 4])
        >>> with sdpa_kernel(SDPBackend.MATH):
        ...     paddle.nn.functional.scaled_dot_product_attention(x, x, x).shape
        paddle.Size([1, 2, 1, 4])
    """
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
