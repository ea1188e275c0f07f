"""Observers: they watch values and say how far a grid has to reach.

For activations: the largest value (`AbsmaxObserver`), the mean of each batch's largest (`AVGObserver`), or a reach inside
the histogram of all values: a share of them (`HistObserver`), the least squared error (`MSEObserver`), the least information
lost (`KLObserver`). For weights: one reach for each output (`AbsMaxChannelWiseWeightObserver`,
`MSEChannelWiseWeightObserver`), or for each group of inputs of each output (`GroupWiseWeightObserver`). The first and the
last are Paddle's, the others have the names that PaddleSlim gave them.
"""

from __future__ import annotations

from .abs_max import AbsmaxObserver, AVGObserver
from .groupwise import GroupWiseWeightObserver
from .histogram import HistObserver, KLObserver, MSEObserver
from .weights import AbsMaxChannelWiseWeightObserver, MSEChannelWiseWeightObserver

__all__ = [
    "AVGObserver", "AbsMaxChannelWiseWeightObserver", "AbsmaxObserver", "GroupWiseWeightObserver", "HistObserver",
    "KLObserver", "MSEChannelWiseWeightObserver", "MSEObserver",
]  # fmt: skip
