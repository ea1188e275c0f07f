"""Optimiser states, gradients and parameters divided among the processes of a group (`group_sharded_parallel`).

shares.py        who looks after which parameters, and how gradients and values travel
optimizer.py     levels "os" and "os_g": states, then gradients as well
whole.py         level "p_g_os": parameters as well, gathered where a layer uses them
"""

from __future__ import annotations

from .optimizer import GroupShardedOptimizer, GroupShardedStage2
from .whole import GroupShardedStage3

__all__ = ["GroupShardedOptimizer", "GroupShardedStage2", "GroupShardedStage3"]
