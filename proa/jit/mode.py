"""Switching between running each operation at once and self-compiling eager mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..core import flags


@contextmanager
def eager_mode(mode: str) -> Iterator[None]:
    """`with eager_mode("immediate"):` runs every operation at the call; `"auto"` lets hot code compile itself.

    The environment variable `PROA_EAGER` and `set_flags({"FLAGS_eager_mode": …})` set the same switch for good.

    Args:
        mode: "immediate" or "auto".

    Raises:
        ValueError: it is another one.

    Examples:
        >>> with paddle.jit.eager_mode("immediate"):
        ...     y = paddle.ones([2]) + 1
        >>> y.tolist()
        [2.0, 2.0]
    """
    before = flags.get("FLAGS_eager_mode")
    flags.set_flags({"FLAGS_eager_mode": mode})
    try:
        yield
    finally:
        flags.set_flags({"FLAGS_eager_mode": before})
