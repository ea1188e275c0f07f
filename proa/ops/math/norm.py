"""Norms of vectors and matrices: norm, vector_norm, matrix_norm, dist."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import FLOAT32, is_differentiable, is_reduced_precision, real_dtype, to_numpy_dtype
from ...core.errors import type_error, value_error
from ...eager import series
from ...eager.annotations import AxisLike, DTypeLike
from ...eager.calling import deliver
from ...eager.declare import op, public
from ...eager.one_operator import one_operator
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ..arguments import flag, require_tensor, several_axes
from ..axes import flat, numpy_axis, reduced_shape, several_or_all, widened
from ..basic import cast_to, reshape_to, restore_axes, transpose_to
from ..linear.spectra import singular_values_of
from .arithmetic import divide_or_zero
from .reduction import tie_weights


def _infer_norm(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    aval, (_, axis, keepdim) = operands[0], attributes
    shape = reduced_shape(aval.shape, axis, keepdim)
    return make_aval(shape, real_dtype(aval.dtype), place)


def _norm_grad(
    g: Tensor, x: Tensor, out: Tensor, x_aval: Aval, p: float, axis: tuple[int, ...], keepdim: bool
) -> Tensor:
    g = restore_axes(g, x_aval, axis, keepdim)
    length = restore_axes(out, x_aval, axis, keepdim)
    if p == 2:
        return divide_or_zero(x, length) * g
    if p == 0:
        return g * 0.0
    magnitude = x.abs()
    direction = divide_or_zero(x, magnitude)
    if p == 1:
        return direction * g
    if math.isinf(p):
        return direction * (g * tie_weights(magnitude, out, axis, False))
    return direction * (g * divide_or_zero(magnitude, length) ** (p - 1.0))


@op(
    infer=_infer_norm,
    grad={"x": _norm_grad},
    family="reduction",
    padding=rules.reductions.norm,
    series=series.functions.p_norm,
)
def p_norm(xp: Any, x: Any, p: float, axis: tuple[int, ...], keepdim: bool) -> Any:
    """The vector norm of order `p` over the given axes."""
    wide = widened(x)
    size = wide if p == 2 and wide.dtype.kind == "f" else xp.abs(wide)
    if p == 2:
        return xp.sqrt(xp.sum(size * size, axis=axis, keepdims=keepdim))
    if p == 0:
        return xp.sum(size != 0, axis=axis, keepdims=keepdim).astype(size.dtype)
    if p == 1:
        return xp.sum(size, axis=axis, keepdims=keepdim)
    if math.isinf(p):
        reduction, start = (xp.max, 0.0) if p > 0 else (xp.min, np.inf)
        return reduction(size, axis=axis, keepdims=keepdim, initial=start)
    return xp.sum(size**p, axis=axis, keepdims=keepdim) ** (1.0 / p)


def _numbers(where: str, x: Any, dtype: Any) -> Tensor:
    """A floating or complex tensor, in `dtype` if one is named."""
    require_tensor(where, "x", x)
    if dtype is not None:
        x = cast_to(x, to_numpy_dtype(dtype))
    if not is_differentiable(x._aval.dtype):
        raise type_error(where, "x must be floating or complex", f"x: {x._aval}", "use astype()")
    return x


def _wide(x: Tensor) -> Tensor:
    """Half types have no decompositions of their own."""
    return cast_to(x, FLOAT32) if is_reduced_precision(x._aval.dtype) else x


def _matrix_norm(where: str, x: Tensor, p: Any, axes: tuple[int, ...], keepdim: bool) -> Tensor:
    """Norms of matrices as linear maps (negative: their least stretch), `"fro"` and `"nuc"`."""
    if p not in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise value_error(
            where, "matrices have the norms 'fro', 'nuc', 1, -1, 2, -2, inf and -inf",
            f"p: {p!r}, x: {x._aval}", "name one axis for a vector norm",
        )  # fmt: skip
    if p == "fro":
        return p_norm(x, 2.0, tuple(sorted(axes)), keepdim)
    if p == "nuc" or abs(p) == 2:
        rest = tuple([i for i in range(x._aval.ndim) if i not in axes])
        values = singular_values_of(_wide(transpose_to(x, rest + axes)))
        kind = 1.0 if p == "nuc" else math.copysign(math.inf, p)
        result = p_norm(values, kind, (len(rest),), False)
    else:
        # The longest column, or row, in the sense of the 1-norm.
        inside, outside = axes if abs(p) == 1 else axes[::-1]
        lengths = p_norm(x, 1.0, (inside,), True)
        result = p_norm(lengths, math.copysign(math.inf, p), (outside,), True)
    return reshape_to(result, reduced_shape(x._aval.shape, axes, keepdim))


def _reference_norm(x: Any, p: Any = None, axis: Any = None, keepdim: bool = False) -> Any:
    if axis is None:
        result = np.linalg.norm(x.reshape(-1), ord=None if p == "fro" else p)
        return result.reshape([1] * x.ndim) if keepdim else result
    axis = axis[0] if isinstance(axis, list) and len(axis) == 1 else axis
    if isinstance(axis, int):
        return np.linalg.norm(x, None if p == "fro" else p, axis, keepdim)
    return np.linalg.norm(x, 2 if p is None else p, tuple(axis), keepdim)


@samples(
    S(A(2, 3)), S(A(2, 3), axis=1, keepdim=True), S(A(2, 3), 1, 0), S(A(2, 3), 3),
    S(A(2, 3), 2.5, [1]), S(A(2, 3, unique=True, high=3.1), np.inf),
    S(A(2, 3, unique=True, high=3.1), -np.inf, 1), S(A(2, 3), 0), S(A(2, 3), "fro"),
    S(A(2, 3), "fro", [0, 1], True), S(A(2, 3, 4), "fro", [0, 2]), S(A(2, 3), 1, [0, 1]), S(A()),
    S(A(0)), S(A(2, 3, unique=True, high=3.1), np.inf, [0, 1]), S(A(2, 3), None, [0, 1]),
    S(A(3, 2, 4), "nuc", [0, 2]), S(A(3, dtype="complex128")), S(A(2, 3, dtype="complex128"), 3, 1),
    S(A(2, 3, dtype="bfloat16", grad=False)),
    reference=_reference_norm,
)  # fmt: skip
@public(module="linalg", aliases="x=A p=ord")
@public(method=True, aliases="x=A p=ord")
def norm(
    x: Tensor,
    p: float | str | None = None,
    axis: AxisLike | None = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The length of vectors, or the norm of matrices.

    Args:
        x: the tensor.
        p: which norm. Vectors take any number (2 by default); matrices "fro", "nuc", 1, 2, infinity or one of these
            negative.
        axis: None takes the whole tensor as one vector, one axis holds vectors, two axes hold matrices.
        keepdim: keep the reduced axes, with one element each.
        out: a tensor that takes the result.
        dtype: the type to compute in.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([[3.0, 4.0], [6.0, 8.0]])
        >>> paddle.norm(x, axis=1).tolist()
        [5.0, 10.0]
        >>> paddle.norm(x, p=1).item()
        21.0
    """
    x = _numbers("norm", x, dtype)
    is_matrix = p == "nuc" and axis is None and x._aval.ndim == 2
    if is_matrix or (isinstance(axis, (list, tuple)) and len(axis) == 2):
        axes = (0, 1) if axis is None else several_axes("norm", axis, x._aval.ndim)
        return deliver(_matrix_norm("norm", x, 2 if p is None else p, axes, flag("keepdim", keepdim)), out)
    if isinstance(p, str) and p != "fro":
        raise value_error("norm", "this p needs two axes, or is none", f"p: {p!r}, x: {x._aval}")
    order = 2.0 if p in (None, "fro") else float(p)
    axes = several_or_all("norm", axis, x._aval.ndim)
    return deliver(p_norm(x, order, axes, flag("keepdim", keepdim)), out)


@samples(
    S(A(2, 3)), S(A(2, 3), 3, [0, 1], True), S(A(2, 3), 1.0, 1), S(A(0)), S(A(), 0),
    reference=lambda x, p=2.0, axis=None, keepdim=False: np.linalg.vector_norm(
        x, ord=p, axis=numpy_axis(axis), keepdims=keepdim),
)  # fmt: skip
@public(module="linalg", aliases="p=ord")
def vector_norm(
    x: Tensor,
    p: float = 2.0,
    axis: AxisLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The p-norm over some axes, whose elements count as one vector.

    Args:
        x: the tensor.
        p: the order; any number, or infinity.
        axis: the axes; None for all.
        keepdim: whether they stay, with size 1.
        dtype: the dtype that `x` is converted to first.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A tensor without these axes.

    Examples:
        >>> paddle.linalg.vector_norm(paddle.to_tensor([[3.0, 4.0], [0.0, 0.0]])).item()
        5.0
    """
    x = _numbers("vector_norm", x, dtype)
    axes = several_or_all("vector_norm", axis, x._aval.ndim)
    return deliver(p_norm(x, float(p), axes, flag("keepdim", keepdim)), out)


@samples(
    S(A(2, 3)), S(A(4, 2, 3), 1), S(A(2, 3, 2), "nuc", [0, 2], True), S(A(2, 3), -2),
    S(A(3, 2, unique=True, high=3.1), -np.inf),
    reference=lambda x, p="fro", axis=(-2, -1), keepdim=False: np.linalg.norm(
        x, cast(Any, p), tuple(axis), keepdim),
)  # fmt: skip
@public(module="linalg")
def matrix_norm(
    x: Tensor,
    p: float | str = "fro",
    axis: Sequence[int] = [-2, -1],
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """The norm of the matrices that two axes span.

    Args:
        x: the tensor.
        p: `"fro"`, `"nuc"`, 1, 2, infinity, or one of these numbers negative.
        axis: the two axes.
        keepdim: whether they stay, with size 1.
        name: a label; it changes nothing.

    Returns:
        A tensor without the two axes.

    Examples:
        >>> x = paddle.to_tensor([[3.0, 0.0], [0.0, 4.0]])
        >>> paddle.linalg.matrix_norm(x).item(), paddle.linalg.matrix_norm(x, p=1).item()
        (5.0, 4.0)
    """
    x = _numbers("matrix_norm", x, None)
    axes = several_axes("matrix_norm", list(axis), x._aval.ndim)
    if len(axes) != 2:
        raise value_error("matrix_norm", "two axes are needed", f"axis: {axis}, x: {x._aval}")
    return _matrix_norm("matrix_norm", x, p, axes, flag("keepdim", keepdim))


@samples(
    S(A(2, 3), A(3)), S(A(2, 3), A(2, 3), 0), S(A(2, 3), A(2, 1), np.inf), S(A(0), A(0)),
    S(A(), A(), 1), S(A(3), A(3), 3),
    reference=lambda x, y, p=2: np.linalg.norm((x - y).reshape(-1), p) if x.size else 0.0,
)  # fmt: skip
@public(method=True)
@one_operator("dist")
def dist(x: Tensor, y: Tensor, p: float = 2, name: str | None = None) -> Tensor:
    """The `p`-norm of `x - y`.

    Args:
        x: one tensor.
        y: the other; the shapes broadcast.
        p: which norm.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.dist(paddle.to_tensor([3.0, 0.0]), paddle.to_tensor([0.0, 4.0])).item()
        5.0
    """
    require_tensor("dist", "x", x)
    return norm(flat(x - require_tensor("dist", "y", y)), p)
