"""`Independent`: the last dimensions of a batch taken as one event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import type_error, value_error
from .distribution import Distribution
from .functions import sum_rightmost


class Independent(Distribution):
    """`base` with its last `reinterpreted_batch_rank` batch dimensions counted to the event."""

    def __init__(self, base: Distribution, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Distribution):
            raise type_error("Independent", "base must be a Distribution", f"base: {type(base).__name__}")
        rank, most = reinterpreted_batch_rank, len(base.batch_shape)
        if isinstance(rank, bool) or not isinstance(rank, int) or not 0 < rank <= most:
            raise value_error(
                "Independent", f"reinterpreted_batch_rank must be an integer from 1 to {most}",
                f"reinterpreted_batch_rank: {rank!r}, base.batch_shape: {list(base.batch_shape)}",
            )  # fmt: skip
        self._base = base
        self._reinterpreted_batch_rank = rank
        shape = base.batch_shape + base.event_shape
        super().__init__(shape[: most - rank], shape[most - rank :])

    @property
    def mean(self) -> Any:
        return self._base.mean

    @property
    def variance(self) -> Any:
        return self._base.variance

    def sample(self, shape: Sequence[int] = []) -> Any:
        return self._base.sample(shape)

    def rsample(self, shape: Sequence[int] = []) -> Any:
        return self._base.rsample(shape)

    def log_prob(self, value: Any) -> Any:
        return sum_rightmost(self._base.log_prob(value), self._reinterpreted_batch_rank)

    def entropy(self) -> Any:
        return sum_rightmost(self._base.entropy(), self._reinterpreted_batch_rank)
