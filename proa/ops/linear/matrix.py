"""Parts of matrices: t, diagonal, diag, trace, tril, triu."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import strides
from ...core.aval import Aval
from ...core.errors import AxisOutOfRange, message, value_error
from ...eager import series
from ...eager.calling import deliver
from ...eager.declare import op, public
from ...eager.infer import same_shape
from ...eager.one_operator import one_operator
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ..arguments import integer, require_tensor
from ..axes import flat, single_axis
from ..basic import full_of, sum_over, transpose_to


@samples(S(A(2, 3)), S(A(3)), S(A()), S(A(0, 3)), reference=np.transpose)
@public(method=True)
def t(input: Tensor, name: str | None = None) -> Tensor:
    """A matrix transposed; it shares memory. A vector, or a tensor without axes, as it is.

    Args:
        input: a tensor of at most two axes.
        name: a label; it changes nothing.

    Raises:
        ValueError: it has more axes.

    Examples:
        >>> paddle.t(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[1, 3], [2, 4]]
    """
    require_tensor("t", "input", input)
    if input._aval.ndim > 2:
        raise value_error("t", "input must have at most two dimensions", f"input: {input._aval}",
                          "use transpose()")  # fmt: skip
    return transpose_to(input, (1, 0)) if input._aval.ndim == 2 else input


# ---- diagonals and triangles ---------------------------------------------------------------------


def _diagonal_length(rows: int, columns: int, offset: int) -> int:
    return max(0, min(rows + min(0, offset), columns - max(0, offset)))


def _infer_diagonal(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    offset, axis1, axis2 = attributes
    shape = operands[0].shape
    rest = [n for i, n in enumerate(shape) if i not in (axis1, axis2)]
    length = _diagonal_length(shape[axis1], shape[axis2], offset)
    return operands[0].with_shape((*rest, length))


def _diagonal_grad(g: Tensor, x_aval: Aval, offset: int, axis1: int, axis2: int) -> Tensor:
    zeros = full_of(0.0, x_aval.shape, g._aval.dtype)
    return with_diagonal(zeros, g, offset, axis1, axis2)


def _diagonal_kernel(xp: Any, x: Any, offset: int, axis1: int, axis2: int) -> Any:
    # Beyond the matrix all diagonals are empty; NumPy itself reads foreign memory for an offset of -2**31.
    offset = max(-x.shape[axis1], min(offset, x.shape[axis2]))
    return xp.diagonal(x, offset, axis1, axis2)


# The same twice: `diagonal` shares memory with its source, `diag` does not.
diagonal_view = op(
    infer=_infer_diagonal,
    grad={"x": _diagonal_grad},
    view=lambda base, view, *attributes: with_diagonal(base, view, *attributes),
    strides=lambda shape, steps, offset, axis1, axis2: strides.diagonal(steps, axis1, axis2),
    name="diagonal",
    padding=rules.shapes.diagonal,
    series=series.algebra.linear("x"),
)(_diagonal_kernel)
diagonal_of = op(
    infer=_infer_diagonal,
    grad={"x": _diagonal_grad},
    name="diag",
    padding=rules.shapes.diagonal,
    series=series.algebra.linear("x"),
)(_diagonal_kernel)


def _no_diagonal(g: Tensor, y_aval: Aval, offset: int, axis1: int, axis2: int) -> Tensor:
    return with_diagonal(g, full_of(0.0, y_aval.shape, g._aval.dtype), offset, axis1, axis2)


@op(
    "x y",
    infer=same_shape,
    grad={
        "x": _no_diagonal,
        "y": lambda g, offset, axis1, axis2: diagonal_of(g, offset, axis1, axis2),
    },
    amp="never",
    padding=rules.shapes.with_diagonal,
    series=series.algebra.linear("x y"),
)
def with_diagonal(xp: Any, x: Any, y: Any, offset: int, axis1: int, axis2: int) -> Any:
    """`x` with `y` written on a diagonal."""
    moved = xp.moveaxis(x, (axis1, axis2), (-2, -1))
    rows, columns = moved.shape[-2:]
    start = max(0, -offset)
    after = max(0, rows - start - y.shape[-1])
    filled = xp.pad(y, [(0, 0)] * (y.ndim - 1) + [(start, after)])[..., :rows, None]
    is_on = xp.arange(columns) == xp.arange(rows)[:, None] + offset
    return xp.moveaxis(xp.where(is_on, filled, moved), (-2, -1), (axis1, axis2))


def _two_axes(where: str, x: Tensor, axis1: Any, axis2: Any) -> tuple[int, int]:
    aval = require_tensor(where, "x", x)._aval
    if aval.ndim < 2:
        raise AxisOutOfRange(message(where, "x must have two dimensions at least", f"x: {aval}"))
    first, second = (single_axis(where, axis, aval.ndim) for axis in (axis1, axis2))
    if first == second:
        raise value_error(where, "axis1 and axis2 must differ", f"x: {aval}, axis: {first}")
    return first, second


@samples(
    S(A(3, 3)), S(A(2, 3), 1), S(A(2, 3, 4), -1, 2, 0), S(A(2, 3), 9), S(A(0, 3)),
    S(A(2, 2, dtype="bool")),
    reference=lambda x, offset=0, axis1=0, axis2=1: np.diagonal(x, offset, axis1, axis2),
)  # fmt: skip
@public(module="linalg", aliases="axis1=dim1 axis2=dim2")
@public(method=True, aliases="axis1=dim1 axis2=dim2")
def diagonal(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Tensor:
    """The diagonal of the matrices that two axes span, as the last axis; it shares memory with `x`.

    Args:
        x: the tensor.
        offset: which diagonal; positive ones lie above the main one.
        axis1: the axis of the rows.
        axis2: the axis of the columns.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.diagonal(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [1, 4]
    """
    axes = _two_axes("diagonal", x, axis1, axis2)
    return diagonal_view(x, integer("diagonal", "offset", offset), *axes)


@samples(
    S(A(3, 3)), S(A(2, 3), 1), S(A(2, 3, 4), 0, 1, 2), S(A(2, 3), 9), S(A(2, 2, dtype="int32")),
    S(A(0, 3)),
    reference=lambda x, *where: np.trace(x, *where, dtype=x.dtype),
)  # fmt: skip
@public(method=True)
@one_operator("trace")
def trace(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Tensor:
    """The sum of the diagonal of the matrices that two axes span.

    Args:
        x: the tensor.
        offset: which diagonal; positive ones lie above the main one.
        axis1: the axis of the rows.
        axis2: the axis of the columns.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.trace(paddle.to_tensor([[1, 2], [3, 4]])).item()
        5
    """
    axes = _two_axes("trace", x, axis1, axis2)
    row = diagonal_of(x, integer("trace", "offset", offset), *axes)
    return sum_over(row, (row._aval.ndim - 1,), False)


def _reference_diag(x: Any, offset: int = 0, padding_value: float = 0) -> Any:
    if x.ndim == 2:
        return np.diag(x, offset)
    x = x.reshape(-1)
    on = np.eye(len(x) + abs(offset), k=offset, dtype=bool)
    return np.where(on, np.diag(x, offset), np.array(padding_value).astype(x.dtype))


@samples(
    S(A(3)), S(A(2), 1, 9.0), S(A(2), -2), S(A(2, 3), 1), S(A(2, 3), -1), S(A()), S(A(0), 1),
    S(A(2, dtype="int64"), padding_value=1.7),
    reference=_reference_diag,
)  # fmt: skip
@public(method=True)
def diag(x: Tensor, offset: int = 0, padding_value: float = 0, name: str | None = None) -> Tensor:
    """A matrix with a vector on a diagonal; of a matrix, its diagonal.

    Args:
        x: a vector or a matrix.
        offset: which diagonal; positive ones lie above the main one.
        padding_value: what stands elsewhere.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.diag(paddle.to_tensor([1, 2])).tolist()
        [[1, 0], [0, 2]]
        >>> paddle.diag(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [1, 4]
    """
    offset = integer("diag", "offset", offset)
    if require_tensor("diag", "x", x)._aval.ndim == 2:
        return diagonal_of(x, offset, 0, 1)
    if x._aval.ndim > 2:
        raise value_error("diag", "x must have at most two dimensions", f"x: {x._aval}")
    size = x._aval.size + abs(offset)
    padding = full_of(padding_value, (size, size), x._aval.dtype)
    return with_diagonal(padding, flat(x), offset, 0, 1)


def _infer_triangle(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    if operands[0].ndim < 2:
        raise operation.error(ValueError, "x must have two dimensions at least", operands)
    return operands[0]


@op(
    infer=_infer_triangle,
    grad={"x": lambda g, diagonal: lower_triangle(g, diagonal)},
    name="tril",
    padding=rules.shapes.triangle,
    series=series.algebra.linear("x"),
)
def lower_triangle(xp: Any, x: Any, diagonal: int) -> Any:
    return xp.tril(x, diagonal)


@op(
    infer=_infer_triangle,
    grad={"x": lambda g, diagonal: upper_triangle(g, diagonal)},
    name="triu",
    padding=rules.shapes.triangle,
    series=series.algebra.linear("x"),
)
def upper_triangle(xp: Any, x: Any, diagonal: int) -> Any:
    return xp.triu(x, diagonal)


_TRIANGLE_SAMPLES = (
    S(A(3, 3)), S(A(2, 3), 1), S(A(2, 3, 4), -1), S(A(2, 3), 99), S(A(0, 3)),
    S(A(3, 3, dtype="bool")), S(A(2, 2, dtype="bfloat16", grad=False), diagonal=0),
)  # fmt: skip


@samples(*_TRIANGLE_SAMPLES, reference=lambda x, diagonal=0: np.tril(x, diagonal))
@public(method=True, inplace=True)
def tril(x: Tensor, diagonal: int = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The lower triangle of matrices, with zeros above it.

    Args:
        x: the tensor.
        diagonal: the last diagonal that stays; positive ones lie above the main one.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.tril(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[1, 0], [3, 4]]
    """
    require_tensor("tril", "x", x)
    return deliver(lower_triangle(x, integer("tril", "diagonal", diagonal)), out)


@samples(*_TRIANGLE_SAMPLES, reference=lambda x, diagonal=0: np.triu(x, diagonal))
@public(method=True, inplace=True)
def triu(x: Tensor, diagonal: int = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The upper triangle of matrices, with zeros below it.

    Args:
        x: the tensor.
        diagonal: the first diagonal that stays; positive ones lie above the main one.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.triu(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[1, 2], [0, 4]]
    """
    require_tensor("triu", "x", x)
    return deliver(upper_triangle(x, integer("triu", "diagonal", diagonal)), out)
