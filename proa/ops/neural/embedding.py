"""Integers as vectors: `one_hot` and `embedding` (`paddle.nn.functional`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import FLOAT32
from ...core.errors import type_error, value_error
from ...core.namespaces import can_write
from ...eager import series
from ...eager.declare import op, public
from ...eager.infer import same_shape
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...eager.views import replace_value
from ...ir.operation import Check
from ...ir.padding import rules
from ...kernels.cpu.embedding import native_sum_of_rows
from ..arguments import integer, require_tensor
from ..basic import full_of
from ..index.indexing_kernels import IndexOutOfRange, add_rows, is_plain


def _infer_one_hot(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape((*operands[0].shape, attributes[0])).with_dtype(FLOAT32)


@op(
    infer=_infer_one_hot,
    check=Check(
        lambda xp, x, count: xp.all((x >= 0) & (x < count)),
        lambda kinds, attributes: f"a class is out of range; allowed: 0 to {attributes[0] - 1}",
        IndexOutOfRange,
        (0,),
    ),
    name="one_hot",
    paddle_name="one_hot_v2",
    padding=rules.shapes.one_hot,
)
def one_hot_of(xp: Any, x: Any, num_classes: int) -> Any:
    return (x[..., None] == xp.arange(num_classes)).astype(np.float32)


@samples(
    S(A(3, dtype="int64", values=[0, 2, 1]), 3),
    S(A(2, dtype="int32", values=[1, 0])),
    S(A(dtype="int64", values=1), 2),
    S(A(0, dtype="int64", values=np.zeros(0)), 2),
    reference=lambda x, n=-1: np.eye(n if n > 0 else x.max() + 1, dtype="float32")[x],
)
@public(module="nn.functional")
def one_hot(x: Tensor, num_classes: int | Tensor = -1, name: str | None = None) -> Tensor:
    """For each integer a float32 vector with a one at that place.

    Args:
        x: integers.
        num_classes: the length of the vectors; -1 for the largest number in `x` plus one, which is read on the host.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `x` with a last axis of `num_classes`.

    Examples:
        >>> paddle.nn.functional.one_hot(paddle.to_tensor([0, 2]), 3).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    require_tensor("one_hot", "x", x)
    if x._aval.dtype.kind not in "iu":
        raise type_error(
            "one_hot",
            "x must have an integer type",
            f"x: {x._aval}",
            "convert it with astype('int64')",
        )
    count = integer("one_hot", "num_classes", num_classes)
    if count == -1 and x._aval.size:
        count = int(np.asarray(x._data()).max()) + 1
    if count <= 0:
        raise value_error("one_hot", "num_classes must be positive", f"num_classes: {num_classes}, x: {x._aval}")
    return one_hot_of(x, count)


# ---- embedding -----------------------------------------------------------------------------------


def _infer_embedding(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, weight = operands
    return weight.with_shape((*x.shape, weight.shape[1]))


def _infer_rows(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    values = operands[1]
    return values.with_shape((attributes[0], values.shape[-1]))


def _without_padding(xp: Any, x: Any, vectors: Any, padding_idx: int) -> Any:
    if padding_idx < 0:
        return vectors
    return xp.where((x == padding_idx)[..., None], np.zeros((), vectors.dtype), vectors)


def _are_rows(xp: Any, x: Any, _weight: Any, count: int, _padding: int) -> Any:
    return is_plain(xp, x, count) or xp.all((x >= 0) & (x < count))


@op(
    "x weight",
    infer=_infer_embedding,
    check=Check(
        _are_rows,
        lambda kinds, attributes: f"a row number is out of range; allowed: 0 to {attributes[0] - 1}",
        IndexOutOfRange,
        (0,),
    ),
    grad={"weight": lambda g, x, count, padding_idx: sum_of_rows(x, g, count, padding_idx)},
    name="embedding",
    family="movement",
    paddle_name="lookup_table_v2",
    padding=rules.indexing.embedding,
    series=series.algebra.linear("weight"),
)
def rows_of_weight(xp: Any, x: Any, weight: Any, count: int, padding_idx: int) -> Any:
    """Rows of `weight`, which has `count`; zeros where `x` is `padding_idx` (-1: nowhere)."""
    return _without_padding(xp, x, xp.take(weight, x, axis=0, mode="clip"), padding_idx)


@op(
    "x values",
    infer=_infer_rows,
    grad={"values": lambda g, x, count, padding_idx: rows_of_weight(x, g, count, padding_idx)},
    name="embedding_grad",
    padding=rules.indexing.embedding_grad,
)
def sum_of_rows(xp: Any, x: Any, values: Any, count: int, padding_idx: int) -> Any:
    """For each row number the sum of the vectors that go there."""
    vectors = _without_padding(xp, x, values, padding_idx).reshape(x.size, values.shape[-1])
    if can_write(xp):
        return add_rows(xp, x.reshape(-1), vectors, count)
    return xp.zeros((count, vectors.shape[1]), vectors.dtype).at[x.reshape(-1)].add(vectors, mode="drop")


sum_of_rows.operation.kernels["cpu"] = native_sum_of_rows(sum_of_rows.operation.kernel)


def _reference_embedding(x: Any, weight: Any, padding_idx: int | None = None) -> Any:
    rows = weight[x].copy()
    if padding_idx is not None:
        rows[x == padding_idx % len(weight)] = 0
    return rows


@samples(
    S(A(2, 3, dtype="int64", low=0, high=4), A(4, 2)),
    S(A(3, dtype="int32", values=[1, 3, 1]), A(4, 2), padding_idx=-1),
    S(A(dtype="int64", values=2), A(4, 3)),
    S(A(0, 2, dtype="int64"), A(4, 3), padding_idx=0),
    reference=_reference_embedding,
)
@public(module="nn.functional")
def embedding(
    x: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    sparse: bool = False,
    scale_grad_by_freq: bool = False,
    name: str | None = None,
) -> Tensor:
    """Rows of `weight` by their numbers.

    Args:
        x: integers of any shape.
        weight: the table, `[rows, size]`.
        padding_idx: where `x` is this number the result is zero, and so is the gradient; negative ones count from the
            end.
        max_norm: rows that are longer are scaled down to it, in `weight` itself.
        norm_type: the order of that norm.
        sparse: whether optimisers with a `lazy_mode` leave the rows alone that were not looked up; gradients are
            dense.
        scale_grad_by_freq: must be False.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `x` with a last axis of `size`.

    Raises:
        IndexError: a number is not that of a row.

    Examples:
        >>> table = paddle.to_tensor([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]])
        >>> paddle.nn.functional.embedding(paddle.to_tensor([2, 0, 1]), table).tolist()
        [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]]
        >>> paddle.nn.functional.embedding(paddle.to_tensor([2, 1]), table, padding_idx=2).tolist()
        [[0.0, 0.0], [1.0, 2.0]]
    """
    require_tensor("embedding", "x", x)
    require_tensor("embedding", "weight", weight)
    if x._aval.dtype.kind not in "iu":
        raise NotImplementedError(
            f"(embedding) x must have an integer type; received x: {x._aval}; convert it with astype('int64')."
        )
    if weight._aval.ndim != 2:
        raise value_error("embedding", "weight must have two dimensions", f"weight: {weight._aval}")
    if scale_grad_by_freq:
        raise value_error("embedding", "scale_grad_by_freq is not supported")
    count = weight._aval.shape[0]
    padding = -1
    if padding_idx is not None:
        padding = integer("embedding", "padding_idx", padding_idx)
        if not -count <= padding < count:
            raise value_error(
                "embedding",
                f"padding_idx must be from {-count} to {count - 1}",
                f"padding_idx: {padding_idx}",
            )
        padding %= count
    if count == 0 and x._aval.size:
        raise IndexOutOfRange(f"(embedding) weight has no rows; received weight: {weight._aval}.")
    if sparse:
        weight.__dict__["_rows_looked_up"] = True
    if max_norm is not None:
        _renormalise(x, weight, float(max_norm), float(norm_type))
    return rows_of_weight(x, weight, count, padding)


@op(
    "weight used",
    scalars="max_norm norm_type",
    infer=same_shape,
    padding=rules.refused("it looks at all values together"),
)
def renormalised(xp: Any, weight: Any, used: Any, max_norm: Any, norm_type: Any) -> Any:
    """Rows in use scaled down to a norm; the others as they are."""
    wide = weight.astype(np.float64 if weight.dtype == np.float64 else np.float32)
    power = norm_type.astype(wide.dtype)
    norm = xp.sum(xp.abs(wide) ** power, axis=1, keepdims=True) ** (1 / power)
    limit = max_norm.astype(wide.dtype)
    return xp.where((used > 0) & (norm > limit), wide * (limit / norm), wide).astype(weight.dtype, copy=False)


def _renormalise(x: Tensor, weight: Tensor, max_norm: float, norm_type: float) -> None:
    """Changes the rows of `weight` that are about to be read, as Paddle does."""
    ones = full_of(1, (*x._aval.shape, 1), weight._aval.dtype)
    used = sum_of_rows(x, ones, weight._aval.shape[0], -1)
    replace_value(weight, renormalised(weight, used, max_norm, norm_type))
