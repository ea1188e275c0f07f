"""16-bit floats on the CPU: products of them are computed in float32.

Processors without instructions of their own for bfloat16 have it emulated by XLA, number by number, and no native kernel
takes it. Widening is exact, float32 sums are what Paddle computes as well, and the result is rounded once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...core.dtype import BFLOAT16, FLOAT16, FLOAT32

_LOW = (BFLOAT16, FLOAT16)


def in_float32(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel with 16-bit operands widened; whoever runs it casts the result to the inferred type."""

    @functools.wraps(kernel)
    def widened(xp: Any, *arguments: Any) -> Any:
        return kernel(xp, *[a.astype(FLOAT32) if hasattr(a, "dtype") and a.dtype in _LOW else a for a in arguments])

    return widened
