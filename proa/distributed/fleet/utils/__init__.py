"""`paddle.distributed.fleet.utils`: `recompute`, and what programs import from its parts."""

from __future__ import annotations

from ..recompute import recompute
from . import hybrid_parallel_util, log_util, mix_precision_utils, sequence_parallel_utils, timer_helper

__all__ = [
    "hybrid_parallel_util", "log_util", "mix_precision_utils", "recompute", "sequence_parallel_utils", "timer_helper",
]  # fmt: skip
