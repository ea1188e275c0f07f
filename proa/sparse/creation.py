"""Sparse tensors from indices and values. The indices are looked at on the host: whether they fit is known at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import INT64, to_numpy_dtype
from ..core.errors import type_error, value_error
from ..core.place import parse_place
from ..eager.annotations import DeviceLike, DTypeLike, ShapeLike, TensorLike
from ..eager.backward.tape import stand_in
from ..eager.moving import moved
from ..eager.samples import A, S, samples
from ..eager.tensor import Tensor, alias, tensor_from_data
from ..ops.arguments import integers
from ..ops.basic import cast_to
from .pattern import CooPattern, CsrPattern
from .tensor import SparseCooTensor, SparseCsrTensor, SparseTensor

__all__ = ["SparseCooTensor", "SparseCsrTensor", "SparseTensor", "sparse_coo_tensor", "sparse_csr_tensor"]


def _reference_coo(indices: Any, values: Any, shape: Any = None, dtype: Any = None, stop_gradient: bool = True) -> Any:
    places, numbers = np.asarray(indices, np.int64), np.asarray(values)
    least = [*(places.max(axis=1) + 1), *numbers.shape[1:]] if shape is None else shape
    kind = dtype or ("float32" if isinstance(values, list) and numbers.dtype == np.float64 else numbers.dtype)
    result = np.zeros(least, kind)
    np.add.at(result, tuple(places), numbers)
    return result


_PLACES = [[0, 2, 1, 0], [1, 0, 3, 2]]


@samples(
    S(_PLACES, A(4), [3, 4], stop_gradient=False), S(_PLACES, [1.0, 2.0, 3.0, 4.0]),
    S(A(values=_PLACES, dtype="int64"), A(4, 2, dtype="float64"), [3, 4, 2], stop_gradient=False),
    S([[0, 0, 2]], A(3), [4], stop_gradient=False), S(_PLACES, [1, 2, 3, 4], [5, 5], "float64"), S([[2, 0]], [1, 2]),
    reference=_reference_coo,
)  # fmt: skip
def sparse_coo_tensor(
    indices: TensorLike,
    values: TensorLike,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    place: DeviceLike | None = None,
    stop_gradient: bool = True,
) -> Tensor:
    """A sparse tensor by coordinates.

    Elements at the same position add up.

    Args:
        indices: `[sparse dimensions, stored elements]`.
        values: `[stored elements, *dense dimensions]`.
        shape: the shape; None for the smallest one that holds all indices.
        dtype: that of the values; None for what they have.
        place: the device; None for the current one.
        stop_gradient: whether no gradient is wanted.

    Returns:
        A sparse tensor.

    Raises:
        ValueError: indices and values do not belong together, or an index is outside of the shape.

    Examples:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
        >>> x.to_dense().tolist(), x.nnz()
        ([[0.0, 2.0], [3.0, 0.0]], 2)
    """
    where = "sparse_coo_tensor"
    array, index_dtype = _indices(where, "indices", indices)
    if array.ndim != 2:
        raise value_error(where, "indices must have two dimensions", f"indices: {list(array.shape)}")
    sparse_dim, count = array.shape
    if not sparse_dim:
        raise value_error(where, "at least one dimension must be sparse", f"indices: {list(array.shape)}")
    stored = _values(where, values, dtype, place, stop_gradient)
    rest = stored._aval.shape[1:]
    if not stored._aval.ndim or stored._aval.shape[0] != count:
        raise value_error(
            where, "indices and values must have the same number of elements", f"indices: {count}, {stored._aval}"
        )
    if count and array.min() < 0:
        raise value_error(where, "an index cannot be negative", f"indices from {array.min()}")
    least = tuple(int(n) + 1 for n in array.max(axis=1)) if count else (0,) * sparse_dim
    if shape is None:
        if not count:
            raise value_error(where, "without elements the shape must be given", f"indices: {list(array.shape)}")
        return SparseCooTensor(CooPattern(array, least, dtype=index_dtype), stored)
    wanted = integers(where, "shape", shape)
    if len(wanted) != sparse_dim + len(rest) or wanted[sparse_dim:] != rest:
        raise value_error(
            where,
            f"the shape must have {sparse_dim} sparse dimensions and then the values' {list(rest)}",
            f"shape: {list(wanted)}",
        )
    if any(n < m for n, m in zip(wanted, least)) or any(n < 0 for n in wanted):
        raise value_error(
            where, f"an index is out of range: the shape must be at least {list(least)}", f"shape: {list(wanted)}"
        )
    return SparseCooTensor(CooPattern(array, wanted[:sparse_dim], dtype=index_dtype), stored)


def _reference_csr(
    crows: Any, cols: Any, values: Any, shape: Any, dtype: Any = None, stop_gradient: bool = True
) -> Any:
    numbers = np.asarray(values)
    kind = dtype or ("float32" if isinstance(values, list) and numbers.dtype == np.float64 else numbers.dtype)
    result = np.zeros(shape, kind)
    offsets = np.reshape(crows, (-1, shape[-2] + 1))
    rows = np.repeat(np.arange(offsets.shape[0] * shape[-2]), np.diff(offsets, axis=1).reshape(-1))
    result.reshape(-1, shape[-1])[rows, np.asarray(cols)] = numbers
    return result


@samples(
    S([0, 2, 3, 5], [1, 3, 2, 0, 1], A(5), [3, 4], stop_gradient=False),
    S([0, 2, 3, 5], [1, 3, 2, 0, 1], [1, 2, 3, 4, 5], [3, 4], "float64"),
    S([0, 1, 2, 0, 0, 2], [1, 0, 0, 1], A(4, dtype="float64"), [2, 2, 2], stop_gradient=False),
    S(A(values=[0, 0, 1], dtype="int64"), A(values=[1], dtype="int64"), A(1), [2, 2], stop_gradient=False),
    reference=_reference_csr,
)  # fmt: skip
def sparse_csr_tensor(
    crows: TensorLike,
    cols: TensorLike,
    values: TensorLike,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    place: DeviceLike | None = None,
    stop_gradient: bool = True,
) -> Tensor:
    """A sparse matrix by compressed rows, or a batch of them.

    Args:
        crows: where each row begins among the stored elements, and the end; of a batch, those of all matrices one
            after the other.
        cols: the column of each stored element.
        values: the elements.
        shape: the shape; None for the smallest one that holds all.
        dtype: that of the values; None for what they have.
        place: the device; None for the current one.
        stop_gradient: whether no gradient is wanted.

    Returns:
        A sparse tensor.

    Examples:
        >>> paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [2.0, 3.0], [2, 2]).to_dense().tolist()
        [[0.0, 2.0], [3.0, 0.0]]
    """
    where = "sparse_csr_tensor"
    offsets, index_dtype = _indices(where, "crows", crows)
    columns, _ = _indices(where, "cols", cols)
    stored = _values(where, values, dtype, place, stop_gradient)
    if offsets.ndim != 1 or columns.ndim != 1 or stored._aval.ndim != 1:
        raise value_error(
            where,
            "crows, cols and values must have one dimension",
            f"crows: {list(offsets.shape)}, cols: {list(columns.shape)}, values: {stored._aval}",
        )
    if len(columns) != stored._aval.shape[0]:
        raise value_error(
            where, "cols and values must have the same number of elements", f"cols: {len(columns)}, {stored._aval}"
        )
    wanted = _csr_shape(where, offsets, columns) if shape is None else integers(where, "shape", shape)
    _check_csr(where, offsets, columns, wanted)
    return SparseCsrTensor(CsrPattern(offsets, columns, wanted, index_dtype), stored)


def _csr_shape(where: str, offsets: np.ndarray, columns: np.ndarray) -> tuple[int, ...]:
    """The smallest shape: a new matrix of a batch begins where the offsets fall back."""
    if len(offsets) < 2 or not len(columns):
        raise value_error(where, "without elements the shape must be given", f"crows: {offsets.tolist()}")
    batch = 1 + int((np.diff(offsets) < 0).sum())
    width = int(columns.max()) + 1
    if batch == 1:
        return (len(offsets) - 1, width)
    if len(offsets) % batch:
        raise value_error(where, "the shape cannot be told from crows", f"crows: {offsets.tolist()}", "give a shape")
    return (batch, len(offsets) // batch - 1, width)


def _check_csr(where: str, offsets: np.ndarray, columns: np.ndarray, shape: tuple[int, ...]) -> None:
    received = f"shape: {list(shape)}"
    if len(shape) not in (2, 3) or any(n < 0 for n in shape):
        raise value_error(where, "the shape must have two or three dimensions, none negative", received)
    batch, rows, width = (1, *shape)[-3:]
    if len(offsets) != batch * (rows + 1):
        raise value_error(where, f"crows must have {batch} x ({rows} + 1) entries", f"{len(offsets)}, {received}")
    table = offsets.reshape(batch, rows + 1)
    if (table[:, 0] != 0).any():
        raise value_error(where, "the offsets of each matrix must begin at 0", f"crows: {offsets.tolist()}")
    if (np.diff(table, axis=1) < 0).any():
        raise value_error(where, "the offsets in crows must not fall", f"crows: {offsets.tolist()}")
    if int(table[:, -1].sum()) != len(columns):
        raise value_error(
            where,
            "the last offset in crows must be the number of elements",
            f"crows: {offsets.tolist()}, {len(columns)} elements",
        )
    if len(columns) and (columns.min() < 0 or columns.max() >= width):
        raise value_error(
            where, f"a column is out of range: there are {width}", f"cols from {columns.min()} to {columns.max()}"
        )


def _indices(where: str, name: str, given: Any) -> tuple[np.ndarray, np.dtype]:
    """Indices on the host in int64, and the dtype that users see."""
    if isinstance(given, SparseTensor):
        raise type_error(where, f"{name} must be dense", f"{name}: a sparse tensor")
    tensor = given if isinstance(given, Tensor) else tensor_from_data(given)
    dtype = tensor._aval.dtype
    if not tensor._aval.size and dtype.kind == "f":
        dtype = INT64  # an empty list
    elif dtype.kind not in "iu":
        raise type_error(where, f"{name} must be integers", f"{name}: {tensor._aval}")
    return np.array(tensor._data(), np.int64), dtype


def _values(where: str, given: Any, dtype: Any, place: Any, stop_gradient: bool) -> Tensor:
    """Values that belong to the new tensor alone: a leaf, unless a gradient is to reach those given."""
    if isinstance(given, SparseTensor):
        raise type_error(where, "values must be dense", "values: a sparse tensor")
    wanted = None if dtype is None else to_numpy_dtype(dtype)
    if not isinstance(given, Tensor):
        tensor = tensor_from_data(given, wanted, place)
        tensor.stop_gradient = bool(stop_gradient)
        return tensor
    tensor = given
    if wanted is not None and wanted != tensor._aval.dtype:
        tensor = cast_to(tensor, wanted)
    if place is not None:
        tensor = moved(tensor, parse_place(place))
    if stop_gradient or tensor.stop_gradient:
        tensor = alias(tensor)
        tensor.stop_gradient = bool(stop_gradient)
        return tensor
    return stand_in(tensor)
