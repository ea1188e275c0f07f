"""Inner names of `paddle.base.dygraph`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .....device.select import get_device, set_device
from .....ops.create.top_level import in_dynamic_mode
from .....static.mode import disable_static, enable_static


@contextlib.contextmanager
def guard(place: Any = None) -> Iterator[None]:
    """Inside, code runs at once, whatever mode is on outside."""
    was_static = not in_dynamic_mode()
    before = get_device()
    if was_static:
        disable_static()
    if place is not None:
        set_device(place)
    try:
        yield
    finally:
        if place is not None:
            set_device(before)
        if was_static:
            enable_static()


def enabled() -> bool:
    """Whether code runs at once."""
    return in_dynamic_mode()
