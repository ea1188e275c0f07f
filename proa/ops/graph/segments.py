"""Pooling by segment: rows of data that lie together and have the same number."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import require_tensor
from ..index.gather import index_tensor
from .pooling import pooled, reference_pool, row_numbers

_IDS = [0, 0, 2, 2, 2]
_SAMPLES = (
    S(A(5, 3, unique=True), A(5, dtype="int64", values=_IDS)),
    S(A(5, unique=True), A(5, dtype="int32", values=_IDS)),
    S(A(5, 2, 2, unique=True), A(5, dtype="int64", values=[1, 1, 1, 1, 1])),
    S(A(5, 2, dtype="int64", low=-9, high=9), A(5, dtype="int64", values=_IDS)),
    S(A(0, 3), A(0, dtype="int64", values=np.zeros(0))),
    S(A(5, 0), A(5, dtype="int64", values=_IDS)),
    S(A(5, 2, dtype="bfloat16", grad=False), A(5, dtype="int64", values=_IDS)),
)  # fmt: skip


def _reference(mode: str) -> Any:
    def expected(data: np.ndarray, ids: np.ndarray) -> np.ndarray:
        return reference_pool(data, ids, int(ids[-1]) + 1 if ids.size else 0, mode)

    return expected


def _segments(where: str, data: Any, segment_ids: Any, mode: str) -> Tensor:
    require_tensor(where, "data", data)
    index_tensor(where, segment_ids, "segment_ids")
    received = f"data: {data._aval}, segment_ids: {segment_ids._aval}"
    if segment_ids._aval.ndim != 1 or data._aval.ndim == 0 or segment_ids._aval.size != data._aval.shape[0]:
        raise value_error(where, "segment_ids must have one number for each row of data", received)
    # The number of segments is the size of the result, so the ids are looked at here.
    ids = np.asarray(segment_ids._data())
    if ids.size and ids[0] < 0:
        raise IndexError(f"({where}) segment ids cannot be negative; received {ids[0]} at position 0.")
    falling = np.flatnonzero(ids[1:] < ids[:-1])
    if falling.size:
        at = int(falling[0])
        raise value_error(
            where, "segment_ids must be sorted", f"{ids[at]} before {ids[at + 1]} at position {at + 1}",
            "sort the rows by their ids, or use send_u_recv()",
        )  # fmt: skip
    count = int(ids[-1]) + 1 if ids.size else 0
    return pooled(where, data, row_numbers(segment_ids, count), count, mode)


@samples(*_SAMPLES, reference=_reference("sum"))
@public(values=True, module="incubate")
@public(values=True, module="geometric")
def segment_sum(data: Tensor, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """The sum of each segment of rows.

    Args:
        data: the rows.
        segment_ids: for each row its segment, in rising order.
        name: a label; it changes nothing.

    Returns:
        A tensor with a row for each segment; 0 for one without rows.

    Examples:
        >>> paddle.geometric.segment_sum(paddle.to_tensor([[1.0], [2.0], [4.0]]), paddle.to_tensor([0, 0, 1])).tolist()
        [[3.0], [4.0]]
    """
    return _segments("segment_sum", data, segment_ids, "sum")


@samples(*_SAMPLES, reference=_reference("mean"))
@public(values=True, module="incubate")
@public(values=True, module="geometric")
def segment_mean(data: Tensor, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """The mean of each segment of rows; of integers, cut to an integer.

    Args:
        data: the rows.
        segment_ids: for each row its segment, in rising order.
        name: a label; it changes nothing.

    Returns:
        A tensor with a row for each segment; 0 for one without rows.

    Examples:
        >>> paddle.geometric.segment_mean(paddle.to_tensor([[1.0], [2.0], [4.0]]), paddle.to_tensor([0, 0, 1])).tolist()
        [[1.5], [4.0]]
    """
    return _segments("segment_mean", data, segment_ids, "mean")


@samples(*_SAMPLES, reference=_reference("max"))
@public(values=True, module="incubate")
@public(values=True, module="geometric")
def segment_max(data: Tensor, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """The largest values of each segment of rows.

    Args:
        data: the rows.
        segment_ids: for each row its segment, in rising order.
        name: a label; it changes nothing.

    Returns:
        A tensor with a row for each segment; 0 for one without rows.

    Examples:
        >>> paddle.geometric.segment_max(paddle.to_tensor([[1.0], [2.0], [4.0]]), paddle.to_tensor([0, 0, 1])).tolist()
        [[2.0], [4.0]]
    """
    return _segments("segment_max", data, segment_ids, "max")


@samples(*_SAMPLES, reference=_reference("min"))
@public(values=True, module="incubate")
@public(values=True, module="geometric")
def segment_min(data: Tensor, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """The smallest values of each segment of rows.

    Args:
        data: the rows.
        segment_ids: for each row its segment, in rising order.
        name: a label; it changes nothing.

    Returns:
        A tensor with a row for each segment; 0 for one without rows.

    Examples:
        >>> paddle.geometric.segment_min(paddle.to_tensor([[1.0], [2.0], [4.0]]), paddle.to_tensor([0, 0, 1])).tolist()
        [[1.0], [4.0]]
    """
    return _segments("segment_min", data, segment_ids, "min")
