"""`paddle.jit.sot`: functions whose graphs Python may break, which `to_static` allows here unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .....jit import to_static
from . import psdb as psdb

__all__ = ["psdb", "symbolic_translate"]


def symbolic_translate(fn: Callable[..., Any], **kwargs: Any) -> Callable[..., Any]:
    """The function, captured where it can be; its options say how Paddle's translator works, and mean nothing here."""
    return to_static(fn, full_graph=False)
