"""Functions of matrices: matrix_exp, matrix_power, matrix_rank, cond, multi_dot, matrix_transpose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtype import INT64, real_dtype
from ...core.errors import type_error, value_error
from ...eager.annotations import Number
from ...eager.declare import op, public
from ...eager.infer import normalise_axis
from ...eager.one_operator import one_operator
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ..arguments import integer, require_tensor
from ..basic import cast_to, full_of, reshape_to, sum_over
from ..math.arithmetic import conjugate
from ..math.norm import matrix_norm
from ..math.unary import abs, exp
from ..shape.joining import concat_along
from .common import adjoint, compiled, identity, infer_square, matrix_argument, swapped
from .linalg import matmul
from .solving import inverse
from .spectra import eigvalsh_of, rank_of, singular_values_of

# ---- matrix_exp ----------------------------------------------------------------------------------


def _exponential_grad(g: Tensor, x: Tensor) -> Tensor:
    """The upper right block of `exp([[x^H, g], [0, x^H]])` is the derivative in the direction `g`."""
    size, ndim = x._aval.shape[-1], x._aval.ndim
    back = adjoint(x)
    zeros = full_of(0.0, x._aval.shape, x._aval.dtype)
    top = concat_along([back, g], ndim - 1)
    bottom = concat_along([zeros, back], ndim - 1)
    return exponential(concat_along([top, bottom], ndim - 2))[..., :size, size:]


@op(infer=infer_square, grad={"x": _exponential_grad}, name="matrix_exp", amp="wide", padding=rules.untouched.matrices)
def exponential(xp: Any, x: Any) -> Any:
    if not x.size:
        return x
    if not np.isfinite(x).all():
        is_good = np.isfinite(x).all(axis=(-2, -1), keepdims=True)
        return np.where(is_good, exponential.operation.kernel(np, np.where(is_good, x, 0)), np.nan)
    from scipy.linalg import expm

    return expm(x)


@compiled(exponential)
def _exponential_xla(xp: Any, x: Any) -> Any:
    from jax.scipy.linalg import expm

    return expm(x)


def _reference_exponential(x: Any) -> Any:
    if not x.ndim:
        return np.exp(x)
    result = total = np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    for k in range(1, 60):
        result = result @ x.astype(np.result_type(x, np.float64)) / k
        total = total + result
    return total


@samples(
    S(A(3, 3)), S(A(2, 2, 2)), S(A()), S(A(0, 0)), S(A(0, 2, 2)), S(A(3, 3, dtype="complex128")), S(A(1, 1)),
    reference=_reference_exponential, tolerance=1e-4,
)  # fmt: skip
@public(module="linalg")
def matrix_exp(x: Tensor, name: str | None = None) -> Tensor:
    """The exponential `I + x + x^2/2 + …` of square matrices; of a number, its exponential.

    Args:
        x: `[..., n, n]`.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> print(paddle.linalg.matrix_exp(paddle.to_tensor([[0.0, 1.0], [0.0, 0.0]])).numpy().round(4))
        [[1. 1.]
         [0. 1.]]
    """
    if require_tensor("matrix_exp", "x", x)._aval.ndim == 0 and x._aval.dtype.kind in "fc":
        return exp(x)
    return exponential(matrix_argument("matrix_exp", "x", x, square=True))


# ---- matrix_power --------------------------------------------------------------------------------


@samples(
    S(A(3, 3), 2), S(A(2, 3, 3), 5), S(A(3, 3), 0), S(A(3, 3), 1), S(A(values=[[2.0, 1.0], [0.5, 3.0]]), -3),
    S(A(0, 0), 2), S(A(2, 2, dtype="complex128"), 3), S(A(2, 2, dtype="complex128"), -1),
    reference=np.linalg.matrix_power, tolerance=1e-4,
)  # fmt: skip
@public(module="linalg", method=True)
@one_operator("matrix_power", wide=True)
def matrix_power(x: Tensor, n: int, name: str | None = None) -> Tensor:
    """Square matrices multiplied with themselves.

    Args:
        x: `[..., n, n]`.
        n: how often; a negative number takes the inverse.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> paddle.linalg.matrix_power(paddle.to_tensor([[1.0, 1.0], [0.0, 1.0]]), 3).tolist()
        [[1.0, 3.0], [0.0, 1.0]]
    """
    matrix_argument("matrix_power", "x", x, square=True)
    power = integer("matrix_power", "n", n)
    if power == 0:
        return identity(x._aval.shape[-1], x._aval.dtype, x._aval.shape[:-2])
    square, power = (x, power) if power > 0 else (inverse(x), -power)
    result = None
    while True:
        if power % 2:
            result = square if result is None else matmul(result, square)
        power //= 2
        if not power:
            break
        square = matmul(square, square)
    assert result is not None
    return result if result is not x else x * 1.0


# ---- matrix_rank ---------------------------------------------------------------------------------


def _number(where: str, name: str, value: Any, dtype: np.dtype) -> Tensor:
    if isinstance(value, Tensor):
        return cast_to(value, dtype)
    if isinstance(value, (int, float, np.number)):
        return full_of(float(value), (), dtype)
    raise type_error(where, f"{name} must be a number or a Tensor", f"{name}: {value!r}")


def _reference_rank(x: Any, tol: Any = None, hermitian: bool = False, atol: Any = None, rtol: Any = None) -> Any:
    values = np.abs(np.linalg.eigvalsh(x)) if hermitian else np.linalg.svd(x, compute_uv=False)
    largest = values.max(-1, initial=0)
    if tol is None and atol is None and rtol is None:
        rtol = max(x.shape[-2:]) * np.finfo(x.dtype).eps
    absolute = tol if tol is not None else 0 if atol is None else atol
    cutoff = np.maximum(absolute, (0 if rtol is None else rtol) * largest)
    return (values > cutoff[..., None]).sum(-1)


@samples(
    S(A(3, 3)), S(A(2, 4, 3)), S(A(values=[[1.0, 2.0], [2.0, 4.0]])), S(A(3, 3), 1.5), S(A(3, 3), hermitian=True),
    S(A(3, 3), atol=1.0, rtol=0.1), S(A(2, 3, 3), A(values=[[1.0], [2.0], [0.1]])), S(A(2, 3, 3), rtol=0.9),
    S(A(0, 0)), S(A(0, 3, 2)), S(A(2, 3, 3, dtype="complex128"), atol=A(values=[0.5, 1.5])),
    reference=_reference_rank,
)  # fmt: skip
@public(module="linalg")
def matrix_rank(
    x: Tensor,
    tol: Number | None = None,
    hermitian: bool = False,
    atol: Number | None = None,
    rtol: Number | None = None,
    name: str | None = None,
) -> Tensor:
    """How many singular values exceed a cutoff.

    Args:
        x: `[..., rows, columns]`.
        tol: the cutoff; None for the largest singular value times the machine precision and the longer side.
        hermitian: whether the matrices are symmetric, so that eigenvalues take the place of singular values.
        atol: with `rtol`, in place of `tol`: the cutoff is the larger of the two.
        rtol: a factor of the largest singular value.
        name: a label; it changes nothing.

    Returns:
        An int64 tensor `[...]`.

    Examples:
        >>> paddle.linalg.matrix_rank(paddle.to_tensor([[1.0, 2.0], [2.0, 4.0]])).item()
        1
    """
    matrix_argument("matrix_rank", "x", x, square=bool(hermitian))
    if tol is not None and (atol is not None or rtol is not None):
        raise value_error("matrix_rank", "give tol alone, or atol and rtol", f"tol: {tol}, atol: {atol}, rtol: {rtol}")
    dtype = real_dtype(x._aval.dtype)
    if tol is None and atol is None and rtol is None:
        rtol = max(x._aval.shape[-2:]) * float(np.finfo(dtype).eps)
    absolute = tol if tol is not None else 0.0 if atol is None else atol
    values = abs(eigvalsh_of(x, "L")) if hermitian else singular_values_of(x)
    cutoffs = [_number("matrix_rank", n, v, dtype) for n, v in (("tol", absolute), ("rtol", rtol or 0.0))]
    return rank_of(values, *cutoffs, INT64)


# ---- cond ----------------------------------------------------------------------------------------

_CONDITION_NORMS = (None, "fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)


@samples(
    S(A(3, 3)), S(A(2, 4, 3)), S(A(3, 3), 2), S(A(3, 2), -2), S(A(3, 3), "fro"), S(A(2, 3, 3), "nuc"), S(A(3, 3), 1),
    S(A(3, 3), -1), S(A(3, 3), np.inf), S(A(3, 3), -np.inf), S(A(3, 3, dtype="complex128")), S(A(0, 3, 3)),
    reference=lambda x, p=None: np.linalg.cond(x, p) if x.size else np.zeros(x.shape[:-2]), tolerance=1e-4,
)  # fmt: skip
@public(module="linalg", method=True)
def cond(x: Tensor, p: float | str | None = None, name: str | None = None) -> Tensor:
    """The condition number: the norm of matrices times the norm of their inverses.

    An empty matrix has the condition 0.

    Args:
        x: `[..., rows, columns]`.
        p: None, 2 and -2 for the ratio of singular values, which any matrix has; "fro", "nuc", 1, -1, infinity or
            -infinity, for which the matrices must be square and invertible.
        name: a label; it changes nothing.

    Returns:
        A tensor `[...]`.

    Examples:
        >>> print(paddle.linalg.cond(paddle.to_tensor([[4.0, 0.0], [0.0, 2.0]])).numpy().round(4))
        2.0
    """
    if p not in _CONDITION_NORMS:
        raise value_error("cond", f"p is one of {list(_CONDITION_NORMS)}", f"p: {p!r}")
    by_values = p in (None, 2, -2)
    shape = matrix_argument("cond", "x", x, square=not by_values)._aval.shape
    if 0 in shape[-2:]:
        return full_of(0.0, shape[:-2], real_dtype(x._aval.dtype))
    if not by_values:
        return matrix_norm(x, p) * matrix_norm(inverse(x), p)
    values = singular_values_of(x)
    largest, least = values[..., 0], values[..., -1]
    return least / largest if p == -2 else largest / least


# ---- products of several matrices ----------------------------------------------------------------


def _best_split(sizes: list[int]) -> list[list[int]]:
    """For each run of matrices `i … j`, where to cut it so that the fewest numbers are multiplied."""
    count = len(sizes) - 1
    cost = [[0] * count for _ in range(count)]
    split = [[0] * count for _ in range(count)]
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            options = [(cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i][j], split[i][j] = min(options)
    return split


@samples(
    S([A(2, 3), A(3, 4), A(4, 2)]), S([A(3), A(3, 4), A(4)]), S([A(2, 3), A(3)]), S([A(3), A(3)]),
    S([A(2, 5), A(5, 1), A(1, 6), A(6, 2)]), S([A(0, 2), A(2, 3)]), S([A(2, 2, dtype="complex128")] * 2),
    reference=np.linalg.multi_dot,
)  # fmt: skip
@public(module="linalg", method=True)
@one_operator("multi_dot")
def multi_dot(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """The product of two or more matrices in the order that takes the least work.

    Args:
        x: the matrices; the first and the last may be vectors: a row and a column.
        name: a label; it changes nothing.

    Returns:
        The product.

    Examples:
        >>> a, b, c = paddle.ones([2, 100]), paddle.ones([100, 3]), paddle.ones([3, 4])
        >>> paddle.linalg.multi_dot([a, b, c]).shape
        paddle.Size([2, 4])
    """
    if not isinstance(x, (list, tuple)) or len(x) < 2:
        raise value_error("multi_dot", "x must be a list of two matrices at least", f"x: {type(x).__name__}")
    tensors = [require_tensor("multi_dot", f"x[{i}]", item) for i, item in enumerate(x)]
    shapes = [item._aval.shape for item in tensors]
    received = ", ".join(f"x[{i}]: {item._aval}" for i, item in enumerate(tensors))
    ends = (0, len(tensors) - 1)
    if any(len(shape) != 2 and not (len(shape) == 1 and i in ends) for i, shape in enumerate(shapes)):
        raise value_error("multi_dot", "all but the first and the last must be matrices", received)
    row, column = len(shapes[0]) == 1, len(shapes[-1]) == 1
    if row:
        tensors[0] = reshape_to(tensors[0], (1, *shapes[0]))
    if column:
        tensors[-1] = reshape_to(tensors[-1], (*shapes[-1], 1))
    sizes = [item._aval.shape[0] for item in tensors] + [tensors[-1]._aval.shape[1]]
    for i in range(len(tensors) - 1):
        if tensors[i]._aval.shape[1] != tensors[i + 1]._aval.shape[0]:
            raise value_error("multi_dot", f"x[{i}] and x[{i + 1}] cannot be multiplied", received)
    split = _best_split(sizes)

    def product(first: int, last: int) -> Tensor:
        if first == last:
            return tensors[first]
        middle = split[first][last]
        return matmul(product(first, middle), product(middle + 1, last))

    result = product(0, len(tensors) - 1)
    if not (row or column):
        return result
    return reshape_to(result, tuple([n for n, gone in zip(result._aval.shape, (row, column), strict=True) if not gone]))


# ---- vecdot, matrix_transpose --------------------------------------------------------------------


@samples(
    S(A(2, 3), A(2, 3)), S(A(2, 3), A(3)), S(A(2, 3), A(2, 3), 0), S(A(2, 0), A(2, 0)),
    S(A(3, dtype="complex128"), A(3, dtype="complex128")), S(A(3, dtype="int64"), A(3, dtype="int64")),
    reference=lambda x, y, axis=-1: np.sum(x.conj() * y, axis),
)  # fmt: skip
@public(module="linalg")
@public()
def vecdot(x: Tensor, y: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
    """The sum of `conj(x) * y` along an axis.

    Args:
        x: one side.
        y: the other; the shapes broadcast.
        axis: the axis.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.vecdot(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), paddle.to_tensor([1.0, 1.0])).tolist()
        [3.0, 7.0]
    """
    products = conjugate(require_tensor("vecdot", "x", x)) * require_tensor("vecdot", "y", y)
    chosen = normalise_axis("vecdot", integer("vecdot", "axis", axis), products._aval.ndim)
    if products._aval.dtype.kind in "bi" and products._aval.dtype != INT64:
        products = cast_to(products, INT64)  # as every sum of integers
    return sum_over(products, (chosen,), False)


@samples(
    S(A(2, 3)), S(A(2, 3, 4)), S(A(0, 3)), S(A(2, 2, dtype="int64")), S(A(2, 3, dtype="bool")),
    reference=lambda x: np.swapaxes(x, -1, -2),
)  # fmt: skip
@public(module="linalg")
@public(method=True)
def matrix_transpose(x: Tensor, name: str | None = None) -> Tensor:
    """A tensor with its last two axes exchanged; the result shares memory with `x`.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.matrix_transpose(paddle.zeros([2, 3, 4])).shape
        paddle.Size([2, 4, 3])
    """
    if require_tensor("matrix_transpose", "x", x)._aval.ndim < 2:
        raise value_error("matrix_transpose", "x must have two dimensions at least", f"x: {x._aval}")
    return swapped(x)
