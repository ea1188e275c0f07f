"""The primitive that graph functions share: rows with the same number summed, or the largest or smallest of them.

Rows that nothing goes to are zero, whatever the way of pooling. Where several rows tie for the largest, each of them
gets the gradient (as Paddle has it).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.errors import value_error
from ...eager.declare import op
from ...eager.infer import same
from ...eager.tensor import Tensor
from ...ir.operation import Check
from ...ir.padding import rules
from ..arguments import require_tensor
from ..axes import widened
from ..basic import cast_to, full_of, reshape_to
from ..index.gather import index_tensor
from ..index.indexing_kernels import add_rows, take_elements
from ..math.arithmetic import divide, gate
from ..math.comparison import equal

MODES = ("sum", "mean", "max", "min")


def _all_in_range(xp: Any, index: Any, size: int) -> Any:
    return ((index >= 0) & (index < size)).all()


_IN_RANGE = Check(
    _all_in_range,
    lambda kinds, attributes: f"an index is out of range; expected 0 to {attributes[0] - 1}",
    IndexError,
    (0,),
)


@op("index", infer=same, check=_IN_RANGE)
def row_numbers(xp: Any, index: Any, size: int) -> Any:
    """The index as it is, with the promise that all of it lies below `size`."""
    return index


def checked_index(where: str, name: str, index: Any, size: int) -> Tensor:
    """A tensor of row numbers in one dimension (a column [n, 1] counts as one), none negative or too large."""
    index = index_tensor(where, index, name)
    shape = index._aval.shape
    if len(shape) == 2 and shape[1] == 1:
        index = reshape_to(index, shape[:1])
    elif len(shape) != 1:
        raise value_error(where, f"{name} must have one dimension", f"{name}: {index._aval}")
    return row_numbers(index, size)


def _infer_pooled(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x = operands[0]
    return x.with_shape((attributes[0], *x.shape[1:]))


def _pooled_grad(g: Tensor, x: Tensor, index: Tensor, out: Tensor, mode: str) -> Tensor:
    spread = rows_at(g, index)
    if mode == "sum":
        return spread
    return gate(spread, equal(x, rows_at(out, index)), True)


@op("x index", infer=_infer_pooled, grad={"x": _pooled_grad}, name="pool_rows", padding=rules.indexing.pool_rows)
def pool_rows(xp: Any, x: Any, index: Any, num_rows: int, mode: str) -> Any:
    """Row r of the result is the sum (largest, smallest) of the rows of `x` whose number is r."""
    if mode == "sum":
        values = widened(x)
        return xp.zeros((num_rows, *x.shape[1:]), values.dtype).at[index].add(values)
    start = xp.zeros((num_rows, *x.shape[1:]), x.dtype)
    if not x.size:
        return start
    reached = xp.zeros(num_rows, bool).at[index].set(True).reshape(-1, *[1] * (x.ndim - 1))
    filled = xp.full(start.shape, _outermost(x.dtype, mode), x.dtype).at[index]
    return xp.where(reached, filled.max(x) if mode == "max" else filled.min(x), start)


def _outermost(dtype: Any, mode: str) -> Any:
    """What every value of the type is at least (for the largest) or at most (for the smallest)."""
    sign = -1 if mode == "max" else 1
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min if sign < 0 else limits.max
    if dtype.kind == "b":
        return mode == "min"
    return sign * np.inf


def _pool_rows_numpy(xp: Any, x: Any, index: Any, num_rows: int, mode: str) -> Any:
    width = int(np.prod(x.shape[1:]))
    flat = x.reshape(x.shape[0], width)
    if mode == "sum":
        return add_rows(np, index, flat, num_rows).reshape(num_rows, *x.shape[1:])
    out = np.zeros((num_rows, width), x.dtype)
    if flat.size:
        order = np.argsort(index, kind="stable")
        rows = index[order]
        starts = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
        out[rows[starts]] = (np.maximum if mode == "max" else np.minimum).reduceat(flat[order], starts, axis=0)
    return out.reshape(num_rows, *x.shape[1:])


def _pool_rows_cupy(xp: Any, x: Any, index: Any, num_rows: int, mode: str) -> Any:
    if mode != "sum":
        raise NotImplementedError("CuPy's atomic maximum knows few types")
    flat = x.reshape(x.shape[0], math.prod(x.shape[1:]))
    return add_rows(xp, index, flat, num_rows).reshape(num_rows, *x.shape[1:])


pool_rows.operation.kernels["numpy"] = _pool_rows_numpy
pool_rows.operation.kernels["cupy"] = _pool_rows_cupy


def rows_at(x: Tensor, index: Tensor) -> Tensor:
    """The rows of `x` that a checked index names."""
    return take_elements(x, [index], [0], trusted=True)


def pooled(where: str, x: Tensor, index: Tensor, num_rows: int, mode: str) -> Tensor:
    """Rows pooled by number; the mean of integers is cut to an integer."""
    require_tensor(where, "x", x)
    if mode != "mean":
        return pool_rows(x, index, num_rows, mode)
    aval = x._aval
    ones = full_of(1, (index._aval.size, *[1] * (aval.ndim - 1)), np.dtype(np.float32))
    counts = pool_rows(ones, index, num_rows, "sum").clip(min=1)
    sums = pool_rows(x, index, num_rows, "sum")
    if aval.dtype.kind in "iu":
        return divide(sums, cast_to(counts, aval.dtype), rounding_mode="trunc")
    return sums / cast_to(counts, aval.dtype)


def check_mode(where: str, name: str, mode: Any, allowed: tuple[str, ...]) -> str:
    if mode in allowed:
        return str(mode)
    raise value_error(where, f"{name} must be one of {', '.join(map(repr, allowed))}", f"{name}: {mode!r}")


# ---- references of samples -----------------------------------------------------------------------


def reference_pool(values: np.ndarray, index: np.ndarray, num_rows: int, mode: str) -> np.ndarray:
    """The same row by row."""
    out = np.zeros((num_rows, *values.shape[1:]), values.dtype)
    for row in range(num_rows):
        chosen = values[index.reshape(-1) == row]
        if len(chosen):
            wide = chosen.astype("float64") if chosen.dtype.kind not in "iu" else chosen
            result = getattr(np, mode)(wide, axis=0)
            out[row] = np.trunc(result) if values.dtype.kind in "iu" else result
    return out
