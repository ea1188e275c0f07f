"""`paddle.jit.marker`: how `to_static` treats a function. Here it always runs the function's own Python."""

from __future__ import annotations

from typing import Any


def unified(fn: Any = None, *, for_sot: bool = True, for_ast: bool = True) -> Any:
    """Marks a function as fit for both modes: every function is."""
    return (lambda function: function) if fn is None else fn


def not_to_static(fn: Any = None) -> Any:
    """Marks a function that `to_static` leaves alone."""
    return (lambda function: function) if fn is None else fn


force_dynamic = capture_control_flow = unified
