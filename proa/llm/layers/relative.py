"""Relative positions (T5, MPNet): a learned number for each head and each bucket of distances, added to the scores."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...eager.tensor import Tensor
from ...nn import Embedding
from ...ops.basic import cast_to, transpose_to
from ...ops.math.ternary import where as choose_by

_FLOAT32, _INT64 = np.dtype("float32"), np.dtype("int64")


class RelativeBias(Embedding):
    """The bias of scores `[batch or 1, heads, length, keys]`, from positions of queries and keys.

    Half of the buckets are single distances, the others grow up to `distance`. Where both directions are seen, each has
    half of all buckets.
    """

    def __init__(self, buckets: int, heads: int, distance: int, both_ways: bool) -> None:
        super().__init__(buckets, heads)
        self.buckets, self.distance, self.both_ways = buckets, distance, both_ways

    def forward(self, queries: Any, keys: Any) -> Tensor:
        behind = queries.unsqueeze(-1) - keys.unsqueeze(-2)  # how far the key lies behind the query
        values = super().forward(self._bucket(behind))
        return transpose_to(values, (0, 3, 1, 2))

    def _bucket(self, behind: Any) -> Any:
        if self.both_ways:
            buckets = self.buckets // 2
            before = cast_to(behind < 0, _INT64) * buckets  # type: ignore[operator]
            distance = behind.abs()
        else:
            buckets, before, distance = self.buckets, 0, behind.clip(min=0)
        exact = buckets // 2
        ratio = cast_to(distance.clip(min=1), _FLOAT32) / float(exact)  # type: ignore[operator]
        wide = cast_to(ratio.log() / math.log(self.distance / exact) * float(buckets - exact), _INT64) + exact
        return choose_by(distance < exact, distance, wide.clip(max=buckets - 1)) + before
