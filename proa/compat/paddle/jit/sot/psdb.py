"""`paddle.jit.sot.psdb`: what a function that is captured may say to Paddle's translator, and look at."""

from __future__ import annotations

import builtins
from typing import Any

from .....ir.recorder import LOCAL


def assert_true(input: bool) -> None:
    """As `assert`."""
    assert input


def print(*args: Any, **kwargs: Any) -> None:
    """Prints, and marks what is printed."""
    builtins.print("[Dygraph]", *args, **kwargs)


def breakpoint() -> None:
    """Stops in the debugger."""
    builtins.breakpoint()


def check_no_breakgraph(fn: Any) -> Any:
    """Marks a function that should be one graph: `to_static(full_graph=True)` insists on that."""
    return fn


check_no_fallback = check_no_breakgraph


def breakgraph() -> None:
    """Where Paddle's translator ends a graph."""


def fallback(recursive: bool = False) -> None:
    """Where Paddle's translator leaves the function to Python."""


def in_sot() -> bool:
    """Whether the function is being captured."""
    return bool(LOCAL.segment.captures)
