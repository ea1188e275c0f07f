"""The few recorded operations on values that everything here is built from: take rows, sum rows."""

from __future__ import annotations

from ..eager.tensor import Tensor
from ..ops.basic import full_of
from ..ops.index.indexing_kernels import put_elements, take_elements
from .pattern import Lookup


def take_rows(x: Tensor, rows: Lookup) -> Tensor:
    """`x[rows]` along the first axis; the rows are known to exist."""
    return take_elements(x, [rows.on(x._aval.place)], [0], trusted=True)


def sum_rows(x: Tensor, rows: Lookup | None, count: int) -> Tensor:
    """`count` rows, row r the sum of those rows of `x` that go there (all in their order if `rows` is None)."""
    if rows is None:
        return x
    aval = x._aval
    zeros = full_of(0, (count, *aval.shape[1:]), aval.dtype)
    # Truth values do not add up; where several meet, any of them stands for all.
    return put_elements(zeros, x, [rows.on(aval.place)], [0], trusted=True, add=aval.dtype.kind != "b")
