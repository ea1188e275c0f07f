"""Tensors that are made from numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .....eager.tensor import Tensor
from ...files.dtypes import numpy_dtype
from ..functions import paddle
from ..registry import reads

if TYPE_CHECKING:
    from ..registry import Integer, Integers, Number


@reads("full", creates=True)
def full(sizes: Integers | None = None, *, shape: Any = (), value: Any, dtype: str = "float32") -> Tensor:
    wanted = list(shape) if sizes is None else sizes
    return paddle.full(wanted, value, dtype)


@reads("full_int_array")
def full_int_array(*, value: list[int], dtype: str = "int64") -> Tensor:
    return paddle.to_tensor(np.asarray(value, np.int64))


@reads("full_with_tensor", creates=True)
def full_with_tensor(
    value: Number, sizes: Integers | None = None, *, shape: Any = (), dtype: str = "float32"
) -> Tensor:
    wanted = list(shape) if sizes is None else sizes
    if isinstance(value, Tensor):
        return paddle.expand(value.reshape([]).astype(dtype), wanted)
    return paddle.full(wanted, value, dtype)


@reads("full_like")
def full_like(x: Tensor, value: Number = None, *, dtype: str = "undefined") -> Tensor:
    kind = x.dtype if dtype == "undefined" else dtype
    if isinstance(value, Tensor):
        return paddle.expand(value.reshape([]).astype(kind), list(x._aval.shape))
    return paddle.full(list(x._aval.shape), value, kind)


@reads("full_batch_size_like")
def full_batch_size_like(
    x: Tensor, *, shape: list[int], value: Any, dtype: str, input_dim_idx: int = 0, output_dim_idx: int = 0
) -> Tensor:
    sizes = list(shape)
    sizes[output_dim_idx] = x._aval.shape[input_dim_idx]
    return paddle.full(sizes, value, dtype)


@reads("full_")
def full_over(x: Tensor, *, shape: Any, value: Any, dtype: str) -> Tensor:
    return paddle.full(list(shape), value, dtype)


@reads("empty", creates=True)
def empty(sizes: Integers | None = None, *, shape: Any = (), dtype: str = "float32") -> Tensor:
    return paddle.zeros(list(shape) if sizes is None else sizes, dtype)


@reads("empty_like", "zeros_like")
def zeros_like(x: Tensor, *, dtype: str = "undefined") -> Tensor:
    return paddle.zeros_like(x, None if dtype == "undefined" else dtype)


@reads("ones_like")
def ones_like(x: Tensor, *, dtype: str = "undefined") -> Tensor:
    return paddle.ones_like(x, None if dtype == "undefined" else dtype)


@reads("zeros", creates=True)
def zeros(*, shape: Any, dtype: str = "float32") -> Tensor:
    return paddle.zeros(list(shape), dtype)


@reads("ones", creates=True)
def ones(*, shape: Any, dtype: str = "float32") -> Tensor:
    return paddle.ones(list(shape), dtype)


@reads("assign_value")
def assign_value(*, shape: list[int], dtype: str, values: list[Any]) -> Tensor:
    kind = numpy_dtype(dtype)
    array = np.asarray(values).astype(kind).reshape(shape)
    return paddle.to_tensor(array)


@reads("assign_value_")
def assign_value_(x: Any = None, *, shape: list[int], dtype: str, values: list[Any]) -> Tensor:
    return assign_value(shape=shape, dtype=dtype, values=values)


@reads(
    "assign",
    "share_data",
    "memcpy",
    "memcpy_h2d",
    "memcpy_d2h",
    "npu_identity",
    "builtin.set_parameter",
    "copy_to",
    "depend",
)
def assign(x: Tensor) -> Tensor:
    return x if isinstance(x, list) else paddle.assign(x)


@reads("assign_out_")
def assign_out(x: Tensor, _target: Any = None) -> Tensor:
    return paddle.assign(x)


@reads("arange", "range_v2", creates=True)
def arange(start: Number, end: Number, step: Number, *, dtype: str = "int64") -> Tensor:
    return paddle.arange(start, end, step, dtype)


@reads("linspace", creates=True)
def linspace(start: Number, stop: Number, num: Integer, *, dtype: str = "float32") -> Tensor:
    return paddle.linspace(start, stop, num, dtype)


@reads("logspace", creates=True)
def logspace(start: Number, stop: Number, num: Integer, base: Number, *, dtype: str = "float32") -> Tensor:
    return paddle.logspace(start, stop, num, base, dtype)


@reads("eye", creates=True)
def eye(rows: Integer, columns: Integer | None = None, *, dtype: str = "float32") -> Tensor:
    return paddle.eye(rows, None if columns is None or columns < 0 else columns, dtype)


@reads("tril_indices")
def tril_indices(*, rows: int, cols: int, offset: int = 0, dtype: str = "int64") -> Tensor:
    return paddle.tril_indices(rows, cols, offset, dtype)


@reads("triu_indices")
def triu_indices(*, row: int, col: int, offset: int = 0, dtype: str = "int64") -> Tensor:
    return paddle.triu_indices(row, col, offset, dtype)


@reads("builtin.constant")
def constant(*, value: Any, dtype: str = "float32") -> Tensor:
    return paddle.to_tensor(value, dtype=dtype)
