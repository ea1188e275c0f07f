"""PyTorch's rule for operands of different types.

A number never makes a tensor wider within its kind (bool, integer, float, complex), nor does a tensor without axes; between
kinds the higher one wins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import paddle

_KINDS = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}


def kind_of(x: Any) -> int:
    if isinstance(x, Tensor):
        return _KINDS[x._aval.dtype.kind]
    return 0 if isinstance(x, bool) else 1 if isinstance(x, int) else 2 if isinstance(x, float) else 3


def promoted(x: Any, y: Any) -> tuple[Any, Any]:
    """Both operands, tensors of one type; a number stays one where the tensor beside it has its kind or a higher one."""
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        if x.dtype == y.dtype:
            return x, y
        name = _common(x, y)
        return x.astype(name), y.astype(name)
    if isinstance(x, Tensor):
        return _lifted(x, y), y
    if isinstance(y, Tensor):
        return x, _lifted(y, x)
    return x, y


def _lifted(tensor: Tensor, number: Any) -> Tensor:
    if kind_of(number) <= kind_of(tensor):
        return tensor
    return tensor.astype({1: "int64", 2: "float32", 3: "complex64"}[kind_of(number)])


def _common(x: Tensor, y: Tensor) -> str:
    kinds = kind_of(x), kind_of(y)
    if kinds[0] != kinds[1]:
        higher, lower = (x, y) if kinds[0] > kinds[1] else (y, x)
        if higher.ndim == 0 and lower.ndim > 0 and max(kinds) == 2:
            return "float32" if higher.dtype.name in ("float32", "float64") else higher.dtype.name
        return higher.dtype.name
    if (x.ndim == 0) != (y.ndim == 0):
        return (y if x.ndim == 0 else x).dtype.name
    if {x.dtype.name, y.dtype.name} == {"float16", "bfloat16"}:
        return "float32"
    if "bfloat16" in (x.dtype.name, y.dtype.name):
        return x.dtype.name if y.dtype.name == "bfloat16" else y.dtype.name
    return np.promote_types(x._aval.dtype, y._aval.dtype).name


def as_tensor(x: Any, like: Tensor) -> Tensor:
    return x if isinstance(x, Tensor) else paddle.full([], x, like.dtype)


def real(x: Tensor) -> Tensor:
    """Functions of real numbers take integers as float32."""
    return x if kind_of(x) >= 2 else x.astype("float32")


__all__ = ["as_tensor", "kind_of", "promoted", "real"]
