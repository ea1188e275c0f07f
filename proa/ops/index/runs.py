"""Equal neighbours and places: unique_consecutive, argwhere, msort."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import type_error
from ...eager.annotations import AxisLike, DTypeLike
from ...eager.calling import deliver
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ..arguments import require_tensor
from ..axes import index_dtype, single_axis
from .lookup import nonzero
from .search import sort


def _reference_runs(
    x: Any, return_inverse: bool = False, return_counts: bool = False, axis: Any = None, dtype: str = "int64"
) -> Any:
    rows = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    starts = [i for i in range(len(rows)) if not i or not np.array_equal(rows[i], rows[i - 1])]
    ends = [*starts[1:], len(rows)]
    counts = np.array([b - a for a, b in zip(starts, ends, strict=False)], dtype)[: len(starts)]
    values = rows[starts] if axis is None else np.moveaxis(rows[starts], 0, axis)
    inverse = np.repeat(np.arange(len(starts)), counts).astype(dtype)
    return [values, *([inverse] if return_inverse else []), *([counts] if return_counts else [])]


@samples(
    S(A(values=[1, 1, 2, 2, 1], dtype="int64"), True, True), S(A(3, 3, dtype="int64", high=1), True, True, 0),
    S(A(2, 5, dtype="int32", high=0), return_counts=True, axis=-1, dtype="int32"), S(A(0, dtype="int64"), True, True),
    S(A(values=[1.0, 1.0, np.nan, np.nan], grad=False)), S(A(2, 4, dtype="int64")), S(A(dtype="int64"), True),
    reference=_reference_runs, gradient=False, why="which elements are equal has no gradient",
)  # fmt: skip
@public(method=True)
def unique_consecutive(
    x: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: AxisLike | None = None,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The elements without those equal to the one before.

    It looks at the values, because they decide the shape; there is no gradient.

    Args:
        x: the tensor.
        return_inverse: also say which of them each element is.
        return_counts: also say how long each run is.
        axis: compare slices along an axis instead of elements.
        dtype: the type of positions and counts.
        name: a label; it changes nothing.

    Returns:
        A tensor, or a tuple with what was asked for.

    Examples:
        >>> paddle.unique_consecutive(paddle.to_tensor([1, 1, 2, 1])).tolist()
        [1, 2, 1]
    """
    aval = require_tensor("unique_consecutive", "x", x)._aval
    if aval.dtype.kind == "c":
        raise type_error("unique_consecutive", "x must be real", f"x: {aval}")
    positions = index_dtype("unique_consecutive", dtype)
    values = np.asarray(x._data())
    along = 0
    if axis is None or not aval.ndim:
        values = values.reshape(-1)
    else:
        along = single_axis("unique_consecutive", axis, aval.ndim)
    rows = np.moveaxis(values, along, 0)
    is_first = np.ones(len(rows), bool)
    if len(rows):
        changed = rows[1:] != rows[:-1]
        is_first[1:] = changed if rows.ndim == 1 else changed.reshape(len(rows) - 1, -1).any(1)
    starts = np.flatnonzero(is_first)

    def like(array: np.ndarray) -> Tensor:
        return tensor_from_data(np.ascontiguousarray(array), place=aval.place)

    result = [like(np.moveaxis(rows[starts], 0, along))]
    if return_inverse:
        result.append(like((np.cumsum(is_first) - 1).astype(positions)))
    if return_counts:
        result.append(like(np.diff(starts, append=len(rows)).astype(positions)))
    return result[0] if len(result) == 1 else tuple(result)


@samples(
    S(A(values=[[1, 0], [0, 2]], dtype="int64")), S(A(3, 4, dtype="bool")), S(A(0, 3)), S(A(values=[0.0, np.nan])),
    reference=np.argwhere,
)  # fmt: skip
@public(values=True, method=True)
def argwhere(input: Tensor) -> Tensor:
    """Positions of the elements that are not zero, one row each. It looks at the values.

    Args:
        input: the tensor.

    Examples:
        >>> paddle.argwhere(paddle.to_tensor([[0, 1], [2, 0]])).tolist()
        [[0, 1], [1, 0]]
    """
    positions = nonzero(input)
    assert isinstance(positions, Tensor)  # one for all axes, unless as_tuple is asked for
    return positions


@samples(
    S(A(3, 4, unique=True)), S(A(5, dtype="int64")), S(A(0, 3)), S(A()), S(A(4, 2, 2, unique=True)),
    reference=lambda input: np.sort(input, 0) if input.ndim else input,
)  # fmt: skip
@public(method=True)
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements in order along the first axis.

    Args:
        input: the tensor.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.msort(paddle.to_tensor([[3, 1], [2, 4]])).tolist()
        [[2, 1], [3, 4]]
    """
    return deliver(sort(input, 0), out)
