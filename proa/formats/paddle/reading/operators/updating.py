"""Writing to a part of a tensor; every one gives the changed tensor, none changes its input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .....eager.tensor import Tensor
from ..functions import paddle
from ..registry import reads

if TYPE_CHECKING:
    from ..registry import Integers


@reads("scatter")
def scatter(x: Tensor, index: Tensor, updates: Tensor, *, overwrite: bool = True) -> Tensor:
    return paddle.scatter(x, index, updates, overwrite)


@reads("scatter_nd_add")
def scatter_nd_add(x: Tensor, index: Tensor, updates: Tensor) -> Tensor:
    return paddle.scatter_nd_add(x, index, updates)


@reads("put_along_axis")
def put_along_axis(
    x: Tensor, index: Tensor, value: Tensor, *, axis: int, reduce: str = "assign", include_self: bool = True
) -> Tensor:
    if value.ndim == index.ndim and value._aval.shape != index._aval.shape:
        # Only the part of the values that has an index is used.
        value = value[tuple(slice(0, size) for size in index._aval.shape)]
    return paddle.put_along_axis(x, index, value, axis, reduce, include_self, broadcast=False)


@reads("index_add")
def index_add(x: Tensor, index: Tensor, value: Tensor, *, axis: int = 0) -> Tensor:
    return paddle.index_add(x, index, axis, value)


@reads("index_put")
def index_put(x: Tensor, indices: Any, value: Tensor, *, accumulate: bool = False) -> Tensor:
    return paddle.index_put(x, tuple(indices), value, accumulate)


@reads("masked_fill")
def masked_fill(x: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    return paddle.masked_fill(x, mask, value)


@reads("fill")
def fill(x: Tensor, value: Any) -> Tensor:
    return paddle.full_like(x, 0) + value.reshape([]).astype(x.dtype)


@reads("fill_diagonal")
def fill_diagonal(x: Tensor, *, value: float = 0.0, offset: int = 0, wrap: bool = False) -> Tensor:
    changed = paddle.assign(x)
    changed.fill_diagonal_(value, offset, wrap)
    return changed


@reads("fill_diagonal_tensor")
def fill_diagonal_tensor(x: Tensor, y: Tensor, *, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    length = paddle.diagonal(x, offset, dim1, dim2)._aval.shape
    return x.fill_diagonal_tensor(y.reshape(list(length)).astype(x.dtype), offset, dim1, dim2)


def _written(
    x: Tensor, value: Any, starts: list[int], ends: list[int], steps: list[int], axes: list[int],
    decrease_axes: list[int], none_axes: list[int],
) -> Tensor:  # fmt: skip
    """x with x[bounds] = value."""
    key: list[Any] = [slice(None)] * x.ndim
    sizes = x._aval.shape
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        axis = axis + x.ndim if axis < 0 else axis
        if axis in decrease_axes:
            key[axis] = start
        elif step > 0:
            key[axis] = slice(start, min(end, sizes[axis]), step)
        else:
            # A bound below -size means: down to the first element.
            key[axis] = slice(start, None if end < -sizes[axis] else end, step)
    for axis in sorted(none_axes):
        key.insert(axis, None)
    changed = paddle.assign(x)
    changed[tuple(key)] = value
    return changed


@reads("set_value", "set_value_")
def set_value(
    x: Tensor, starts: Integers, ends: Integers, steps: Integers, *, axes: list[int], decrease_axes: list[int],
    none_axes: list[int], shape: list[int], values: list[Any],
) -> Tensor:  # fmt: skip
    dtype = x._aval.dtype
    array = np.asarray(values, dtype) if len(values) == 1 else np.asarray(values, dtype).reshape(shape)
    value = paddle.to_tensor(array.reshape(()) if array.size == 1 else array)
    return _written(x, value, starts, ends, steps, list(axes), list(decrease_axes), list(none_axes))


@reads("set_value_with_tensor", "set_value_with_tensor_")
def set_value_with_tensor(
    x: Tensor, value: Tensor, starts: Integers, ends: Integers, steps: Integers, *, axes: list[int],
    decrease_axes: list[int], none_axes: list[int],
) -> Tensor:  # fmt: skip
    return _written(x, value, starts, ends, steps, list(axes), list(decrease_axes), list(none_axes))
