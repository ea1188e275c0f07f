"""`paddle.distributed.fleet`: so far recomputation (`recompute.py`, also found at `fleet.utils`)."""

from __future__ import annotations

from . import recompute, utils

__all__ = ["recompute", "utils"]
