"""What decompositions share: shape rules, small matrix algebra, and how kernels meet LAPACK.

Matrices are the last two dimensions of a tensor, everything before them is a batch. Types are the
four that LAPACK has. Where LAPACK gives up on one matrix of a batch, that matrix becomes NaN (as
XLA has it) and the declared check of the operation, if it has one, tells the user.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64
from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor
from ...ir.operation import Check, Operation
from ..arguments import require_tensor
from ..basic import cast_to, expand_to, full_of, reshape_to, transpose_to
from ..math.arithmetic import conjugate
from ..math.complex_numbers import real
from .linalg import matmul
from .matrix import diagonal_of, with_diagonal

LAPACK_TYPES = (FLOAT32, FLOAT64, COMPLEX64, COMPLEX128)

# ---- arguments -----------------------------------------------------------------------------------


def check_matrices(operation: Operation, operands: Any, square: bool = False, count: int = 1) -> None:
    """The first `count` operands are matrices of one LAPACK type, the first a square one if asked."""
    for operand in operands[:count]:
        if operand.dtype not in LAPACK_TYPES or operand.dtype != operands[0].dtype:
            raise operation.error(
                TypeError, "matrices must be float32, float64, complex64 or complex128, and of one type", operands,
                fix="convert with astype()",
            )  # fmt: skip
        if operand.ndim < 2:
            raise operation.error(ValueError, "a matrix has two dimensions at least", operands)
    shape = operands[0].shape
    if square and shape[-1] != shape[-2]:
        raise operation.error(ValueError, "the matrices must be square", operands)


def matrix_argument(where: str, name: str, x: Any, square: bool = False) -> Tensor:
    """The same for an argument of a composed function."""
    aval = require_tensor(where, name, x)._aval
    if aval.dtype not in LAPACK_TYPES:
        raise type_error(
            where, f"{name} must be float32, float64, complex64 or complex128", f"{name}: {aval}", "use astype()"
        )
    if aval.ndim < 2:
        raise value_error(where, f"{name} must have two dimensions at least", f"{name}: {aval}")
    if square and aval.shape[-1] != aval.shape[-2]:
        raise value_error(where, "the matrices must be square", f"{name}: {aval}")
    return x


def infer_square(operation: Operation, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    """A square matrix from a square matrix."""
    check_matrices(operation, operands, square=True)
    return operands[0]


# ---- matrix algebra with tensors -----------------------------------------------------------------


def swapped(x: Tensor) -> Tensor:
    """The matrices transposed."""
    ndim = x._aval.ndim
    return transpose_to(x, (*range(ndim - 2), ndim - 1, ndim - 2))


def adjoint(x: Tensor) -> Tensor:
    """The matrices transposed and conjugated."""
    return conjugate(swapped(x))


def adjoint_times(x: Tensor, y: Tensor) -> Tensor:
    """`x^H y`."""
    return matmul(conjugate(x), y, True, False)


def times_adjoint(x: Tensor, y: Tensor) -> Tensor:
    """`x y^H`."""
    return matmul(x, conjugate(y), False, True)


def as_columns(x: Tensor) -> Tensor:
    """Vectors `[..., n]` as `[..., 1, n]`: what scales the columns of a matrix."""
    shape = x._aval.shape
    return reshape_to(x, (*shape[:-1], 1, shape[-1]))


def as_rows(x: Tensor) -> Tensor:
    """Vectors `[..., n]` as `[..., n, 1]`: what scales the rows of a matrix."""
    return reshape_to(x, (*x._aval.shape, 1))


def as_matrices(x: Tensor) -> Tensor:
    """Numbers `[...]` as `[..., 1, 1]`."""
    return reshape_to(x, (*x._aval.shape, 1, 1))


def main_diagonal(x: Tensor) -> Tensor:
    return diagonal_of(x, 0, x._aval.ndim - 2, x._aval.ndim - 1)


def with_main_diagonal(x: Tensor, values: Tensor) -> Tensor:
    return with_diagonal(x, values, 0, x._aval.ndim - 2, x._aval.ndim - 1)


def diagonal_matrix(values: Tensor) -> Tensor:
    """Matrices with the given diagonals and zeros elsewhere."""
    shape = values._aval.shape
    return with_main_diagonal(full_of(0.0, (*shape, shape[-1]), values._aval.dtype), values)


def identity(size: int, dtype: np.dtype, batch: tuple[int, ...] = ()) -> Tensor:
    """The identity matrix, for every matrix of a batch if one is given."""
    eye = diagonal_matrix(full_of(1.0, (size,), dtype))
    return expand_to(eye, (*batch, size, size)) if batch else eye


def hermitian_part(x: Tensor) -> Tensor:
    return (x + adjoint(x)) * 0.5


def in_type_of(x: Tensor, like: Any) -> Tensor:
    """`x` in the type of another tensor or abstract value; a real target takes the real part."""
    dtype = (like._aval if isinstance(like, Tensor) else like).dtype
    if x._aval.dtype == dtype:
        return x
    if x._aval.dtype.kind == "c" and dtype.kind != "c":
        x = real(x)
    return cast_to(x, dtype)


# ---- kernels -------------------------------------------------------------------------------------


def compiled(primitive: Any) -> Callable[[Any], Any]:
    """Registers the XLA kernel of a primitive. Where an operand is empty the NumPy kernel decides:
    the values are then known from the shapes, and XLA's linear algebra does not like such matrices."""

    def register(kernel: Any) -> Any:
        def lowered(xp: Any, *arguments: Any) -> Any:
            # Arrays have `astype`; attributes (data types, which have a shape) do not.
            if any(hasattr(a, "astype") and 0 in a.shape for a in arguments):
                known = [np.zeros(a.shape, a.dtype) if hasattr(a, "astype") else a for a in arguments]
                result = primitive.operation.kernel(np, *known)
                return tuple(map(xp.asarray, result)) if isinstance(result, tuple) else xp.asarray(result)
            return kernel(xp, *arguments)

        primitive.operation.kernels["xla"] = lowered
        return kernel

    return register


def without_failure(function: Callable[..., Any], *arrays: Any) -> Any:
    """A LAPACK function of NumPy; NaN in place of the matrices of the batch that it gives up on."""
    try:
        return function(*arrays)
    except np.linalg.LinAlgError:
        batch = np.broadcast_shapes(*[a.shape[:-2] for a in arrays])
    stacked = [np.broadcast_to(a, (*batch, *a.shape[-2:])) for a in arrays]
    results = [_one_without_failure(function, [a[index] for a in stacked]) for index in np.ndindex(*batch)]
    parts = [np.stack(part).reshape((*batch, *part[0].shape)) for part in zip(*results, strict=True)]
    return parts[0] if len(parts) == 1 else tuple(parts)


def _one_without_failure(function: Callable[..., Any], matrices: list[Any]) -> tuple[Any, ...]:
    try:
        result = function(*matrices)
    except np.linalg.LinAlgError:
        first = matrices[0]
        result = function(np.eye(*first.shape, dtype=first.dtype), *matrices[1:])
        parts = result if isinstance(result, tuple) else (result,)
        return tuple(np.full_like(part, np.nan) for part in parts)
    return tuple(result) if isinstance(result, tuple) else (result,)


def each_matrix(function: Callable[..., Sequence[Any]], x: Any) -> list[Any]:
    """A function of one matrix with several results, applied to every matrix of a non-empty batch."""
    batch = x.shape[:-2]
    flat = x.reshape((math.prod(batch), *x.shape[-2:]))
    results = [function(matrix) for matrix in flat]
    return [np.stack(part).reshape((*batch, *np.shape(part[0]))) for part in zip(*results, strict=True)]


def _is_invertible(xp: Any, x: Any, *_rest: Any) -> Any:
    # The sign is 0 where a pivot is 0, and NaN where one is.
    return (xp.abs(xp.linalg.slogdet(x)[0]) > 0).all() if x.size else xp.asarray(True)


INVERTIBLE = Check(
    _is_invertible,
    lambda kinds, attributes: "a matrix is singular, it has no inverse",
    ValueError,
    (0,),
)
