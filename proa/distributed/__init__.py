"""`paddle.distributed`: so far `fleet.utils.recompute`."""

from __future__ import annotations

from . import fleet

__all__ = ["fleet"]
