"""`paddle.distributed`: so far `DataParallel` and `fleet.utils.recompute`."""

from __future__ import annotations

from . import fleet
from .parallel import DataParallel

__all__ = ["DataParallel", "fleet"]
