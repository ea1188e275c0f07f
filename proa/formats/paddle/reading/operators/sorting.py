"""Ordering, counting, and results whose size depends on values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....eager.tensor import Tensor
from .....nn.viterbi import viterbi_decode as decode
from ..functions import paddle
from ..registry import reads

if TYPE_CHECKING:
    from ..registry import Integer


@reads("topk")
def topk(
    x: Tensor, count: Integer | None = None, *, k: int = 1, axis: int = -1, largest: bool = True, sorted: bool = True
) -> Any:
    return tuple(paddle.topk(x, k if count is None else count, axis, largest, sorted))


@reads("argsort")
def argsort(x: Tensor, *, axis: int = -1, descending: bool = False, stable: bool = False) -> Any:
    order = paddle.argsort(x, axis, descending, stable)
    return paddle.take_along_axis(x, order, axis) if x.ndim else x, order


@reads("kthvalue")
def kthvalue(x: Tensor, *, k: int, axis: int = -1, keepdim: bool = False) -> Any:
    return tuple(paddle.kthvalue(x, k, axis, keepdim))


@reads("mode")
def mode(x: Tensor, *, axis: int = -1, keepdim: bool = False) -> Any:
    return tuple(paddle.mode(x, axis, keepdim))


@reads("histogram")
def histogram(
    x: Tensor,
    weight: Tensor | None = None,
    *,
    bins: int = 100,
    min: float = 0.0,
    max: float = 0.0,
    density: bool = False,
) -> Tensor:
    return paddle.histogram(x, bins, min, max, weight, density)


@reads("bincount")
def bincount(x: Tensor, weights: Tensor | None = None, least: Integer | None = None, *, minlength: int = 0) -> Tensor:
    return paddle.bincount(x, weights, minlength if least is None else least)


@reads("unique")
def unique(
    x: Tensor, *, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: Any = None, dtype: str = "int64", is_sorted: bool = True,
) -> Any:  # fmt: skip
    place = (axis[0] if axis else None) if isinstance(axis, (list, tuple)) else axis
    return tuple(paddle.unique(x, True, True, True, place, dtype))


@reads("unique_consecutive")
def unique_consecutive(
    x: Tensor, *, return_inverse: bool = False, return_counts: bool = False, axis: Any = None, dtype: str = "int64"
) -> Any:
    place = (axis[0] if axis else None) if isinstance(axis, (list, tuple)) else axis
    return tuple(paddle.unique_consecutive(x, True, True, place, dtype))


@reads("viterbi_decode")
def viterbi_decode(
    potentials: Tensor, transitions: Tensor, lengths: Tensor, *, include_bos_eos_tag: bool = True
) -> Any:
    return tuple(decode(potentials, transitions, lengths, include_bos_eos_tag))
