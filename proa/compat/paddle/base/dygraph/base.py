"""Inner names of `paddle.base.dygraph.base`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .....ir.capture import CaptureSegment
from .....ir.recorder import LOCAL
from .....static.segment import StaticSegment
from . import enabled, guard

__all__ = ["enabled", "guard"]


def in_to_static_mode() -> bool:
    """Whether `to_static` is looking at the code just now."""
    return isinstance(LOCAL.segment, CaptureSegment) and not isinstance(LOCAL.segment, StaticSegment)


in_declarative_mode = in_sot_simulation_mode = in_to_static_mode


@contextlib.contextmanager
def param_guard(parameters: Any) -> Iterator[None]:
    """Parameters are the same objects in both modes."""
    yield


@contextlib.contextmanager
def switch_to_static_graph_(*arguments: Any) -> Iterator[None]:
    yield
