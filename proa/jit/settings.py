"""Switches of `to_static`: on or off, and how much it tells."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

enabled = True
_code_level = -1
_verbosity = 0
_to_stdout = False


def enable_to_static(enable_to_static_bool: bool) -> None:
    """With False, functions decorated by `to_static` run eagerly, as they were written.

    Examples:
        >>> calls = []
        >>> @paddle.jit.to_static
        ... def double(x):
        ...     calls.append("in Python")
        ...     return x * 2
        >>> paddle.jit.enable_to_static(False)
        >>> results = [double(paddle.ones([1])) for _ in range(3)]
        >>> paddle.jit.enable_to_static(True)
        >>> len(calls)
        3
    """
    global enabled
    if not isinstance(enable_to_static_bool, bool):
        raise TypeError(f"(enable_to_static) a bool is needed; received {type(enable_to_static_bool).__name__}.")
    enabled = enable_to_static_bool


def set_code_level(level: int = 100, also_to_stdout: bool = False) -> None:
    """From level 1 on, the converted source is shown when a function is captured (0: no longer).

    Args:
        level: how much.
        also_to_stdout: whether it is printed on standard output too.

    Examples:
        >>> paddle.jit.set_code_level(1)
        >>> print(paddle.jit.set_code_level(0))
        None
    """
    global _code_level, _to_stdout
    if not isinstance(level, int):
        raise TypeError(f"(set_code_level) level must be an int; received {type(level).__name__}.")
    _code_level, _to_stdout = level, also_to_stdout


def set_verbosity(level: int = 0, also_to_stdout: bool = False) -> None:
    """From level 1 on, each capture is announced.

    Args:
        level: how much.
        also_to_stdout: whether it is printed on standard output too.

    Examples:
        >>> paddle.jit.set_verbosity(1)
        >>> print(paddle.jit.set_verbosity(0))
        None
    """
    global _verbosity, _to_stdout
    if not isinstance(level, int):
        raise TypeError(f"(set_verbosity) level must be an int; received {type(level).__name__}.")
    if level < 0:
        raise ValueError(f"(set_verbosity) level must not be negative; received {level}.")
    _verbosity, _to_stdout = level, also_to_stdout


def show_code(function: Any) -> None:
    """What the user has asked to see about a capture."""
    stream = sys.stdout if _to_stdout else sys.stderr
    if _verbosity > 0:
        print(f"to_static: capturing {function!r}", file=stream)
    if _code_level > 0:
        print(function.code, file=stream)


def announce(change: str) -> None:
    """Why something is captured again, where the user has asked to see captures."""
    if _verbosity > 0:
        print(f"to_static: {change}", file=sys.stdout if _to_stdout else sys.stderr)


@contextmanager
def capturing_specs() -> Iterator[None]:
    """Captures for specs happen whether or not calls are captured."""
    global enabled
    before, enabled = enabled, True
    try:
        yield
    finally:
        enabled = before
