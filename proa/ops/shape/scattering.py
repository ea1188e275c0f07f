"""A tensor with a part replaced: diagonals, slices, what a mask or an index names; and the part that is cropped.

The result is new. In-place forms exist where Paddle has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import BOOL, INT64
from ...core.errors import failed_check, failed_type_check, index_error, runtime_error, value_error
from ...eager.annotations import AxisLike, Number, ShapeLike, SizesLike, TensorLike
from ...eager.attaching import attach
from ...eager.declare import in_place_form, public
from ...eager.infer import broadcast_shapes
from ...eager.one_operator import one_operator
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ..arguments import integer, integers, one_axis, require_tensor
from ..basic import cast_to, expand_to, full_of, reshape_to
from ..create.creation import assign_to, scalar_of
from ..index.along import put_along_axis, take_along_axis
from ..index.index_reading import basic_index
from ..index.index_stages import fitted, put_where
from ..index.indexing_kernels import take_elements
from ..linear.matrix import with_diagonal
from ..math.scan import sum_along
from .slicing import overwrite_at, read_at, sliced_shape

# ---- diagonals -----------------------------------------------------------------------------------


def _new_axis(where: str, name: str, axis: Any, ndim: int) -> int:
    number = integer(where, name, axis)
    if not -ndim <= number < ndim:
        raise index_error(where, f"{name} must be from {-ndim} to {ndim - 1}", f"{name}: {number}")
    return number % ndim


def _reference_diag_embed(x: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    size = x.shape[-1] + abs(offset)
    out = np.zeros((*x.shape[:-1], size, size), x.dtype)
    for i in range(x.shape[-1]):
        out[..., i + max(-offset, 0), i + max(offset, 0)] = x[..., i]
    return np.moveaxis(out, (-2, -1), (dim1, dim2))


@samples(
    S(A(3)),
    S(A(2, 3), 1),
    S(A(2, 3), -2, 0, 2),
    S(A(2, 1, 2), 0, 2, 1),
    S(A(0, dtype="int64")),
    reference=_reference_diag_embed,
)
@public(method=True)
def diag_embed(input: TensorLike, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with the last axis of `input` on a diagonal, and zeros elsewhere.

    Args:
        input: the tensor.
        offset: which diagonal; positive ones lie above the main one.
        dim1: where the rows of the matrices go in the result.
        dim2: where the columns go.

    Examples:
        >>> paddle.diag_embed(paddle.to_tensor([1, 2])).tolist()
        [[1, 0], [0, 2]]
    """
    x = input if isinstance(input, Tensor) else tensor_from_data(input)
    ndim = x._aval.ndim + 1
    if ndim < 2:
        raise index_error("diag_embed", "input must have one dimension at least", f"input: {x._aval}")
    shift = integer("diag_embed", "offset", offset)
    first, second = (_new_axis("diag_embed", n, d, ndim) for n, d in (("dim1", dim1), ("dim2", dim2)))
    if first == second:
        raise value_error("diag_embed", "dim1 and dim2 must differ", f"dim1: {dim1}, dim2: {dim2}")
    size = x._aval.shape[-1] + abs(shift)
    rest = iter(x._aval.shape[:-1])
    shape = tuple(size if a in (first, second) else next(rest) for a in range(ndim))
    return with_diagonal(full_of(0, shape, x._aval.dtype), x, shift, first, second)


@samples(
    S(A(3)), S(A(2, 2), -1), S(A(), 1), S(A(0), 2), S(A(2, dtype="int32")),
    reference=lambda x, offset=0: np.diagflat(x, offset),
)  # fmt: skip
@public(method=True)
def diagflat(x: Tensor, offset: int = 0, name: str | None = None) -> Tensor:
    """A square matrix with all elements of `x` on a diagonal, and zeros elsewhere.

    Args:
        x: the tensor.
        offset: which diagonal; positive ones lie above the main one.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.diagflat(paddle.to_tensor([1, 2]), offset=1).tolist()
        [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    """
    aval = require_tensor("diagflat", "x", x)._aval
    return diag_embed(reshape_to(x, (aval.size,)), offset)


def _on_diagonal(where: str, x: Tensor, y: Any, offset: Any, axis1: Any, axis2: Any) -> Tensor:
    aval = require_tensor(where, "x", x)._aval
    require_tensor(where, "y", y)
    if aval.ndim < 2:
        raise failed_check(where, "x must have two dimensions at least", f"x: {aval}")
    first, second = one_axis(where, axis1, aval.ndim), one_axis(where, axis2, aval.ndim)
    if first == second:
        raise value_error(where, "the two axes must differ", f"{axis1}, {axis2}, x: {aval}")
    shift = integer(where, "offset", offset)
    rows, columns = aval.shape[first], aval.shape[second]
    length = max(0, min(rows + min(0, shift), columns - max(0, shift)))
    shape = (*(n for a, n in enumerate(aval.shape) if a not in (first, second)), length)
    if y._aval.shape != shape:
        raise failed_check(where, f"y must have the shape {list(shape)} of the diagonal", f"x: {aval}, y: {y._aval}")
    return with_diagonal(x, _of_type(y, aval), shift, first, second)


def _of_type(value: Tensor, aval: Aval) -> Tensor:
    return value if value._aval.dtype == aval.dtype else cast_to(value, aval.dtype)


def _reference_on_diagonal(x: Any, y: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    out = np.moveaxis(x.copy(), (axis1, axis2), (-2, -1))
    for i in range(y.shape[-1]):
        out[..., i + max(-offset, 0), i + max(offset, 0)] = y[..., i]
    return np.moveaxis(out, (-2, -1), (axis1, axis2))


@samples(
    S(A(3, 4), A(3)),
    S(A(3, 4), A(2), -1),
    S(A(2, 3, 4), A(3, 2), 0, 0, 2),
    S(A(2, 2), A(0), 5),
    S(A(2, 2), A(2, dtype="int32", grad=False)),
    reference=_reference_on_diagonal,
)
@public(method=True)
def diagonal_scatter(
    x: Tensor, y: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Tensor:
    """`x` with `y` on a diagonal of the matrices that two axes span.

    Args:
        x: the tensor.
        y: the numbers; their shape is that of `x.diagonal(offset, axis1, axis2)`.
        offset: which diagonal; positive ones lie above the main one.
        axis1: the axis of the rows.
        axis2: the axis of the columns.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.diagonal_scatter(paddle.zeros([2, 2]), paddle.to_tensor([1.0, 2.0])).tolist()
        [[1.0, 0.0], [0.0, 2.0]]
    """
    return _on_diagonal("diagonal_scatter", x, y, offset, axis1, axis2)


def fill_diagonal_tensor(
    x: Tensor, y: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, name: str | None = None
) -> Tensor:
    """The tensor with `y` on a diagonal of the matrices that two axes span.

    Args:
        x: the tensor.
        y: the numbers; their shape is that of the diagonal.
        offset: which diagonal; positive ones lie above the main one.
        dim1: the axis of the rows.
        dim2: the axis of the columns.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.zeros([2, 2]).fill_diagonal_tensor(paddle.to_tensor([1.0, 2.0])).tolist()
        [[1.0, 0.0], [0.0, 2.0]]
    """
    return _on_diagonal("fill_diagonal_tensor", x, y, offset, dim1, dim2)


def _with_number_on_diagonal(
    x: Tensor, value: Number, offset: int = 0, wrap: bool = False, name: str | None = None
) -> Tensor:
    """Puts a number on a diagonal and returns the tensor.

    Args:
        x: a tensor of two axes or more; of more than two, all of one size.
        value: the number.
        offset: which diagonal; it holds the elements at [i, …, i, i + offset].
        wrap: whether a tall matrix has its diagonal again below the first.
        name: a label; it changes nothing.

    Raises:
        ValueError: the tensor has fewer than two axes.

    Examples:
        >>> paddle.zeros([2, 3]).fill_diagonal_(5.0).tolist()
        [[5.0, 0.0, 0.0], [0.0, 5.0, 0.0]]
    """
    aval = require_tensor("fill_diagonal_", "x", x)._aval
    if aval.ndim < 2:
        raise value_error("fill_diagonal_", "x must have two dimensions at least", f"x: {aval}")
    number = full_of(scalar_of("fill_diagonal_", "value", value), (), aval.dtype)
    on = _diagonal_mask(aval.shape, integer("fill_diagonal_", "offset", offset), bool(wrap))
    return put_where(x, number, tensor_from_data(on, place=aval.place), 0, True)


def _diagonal_mask(shape: tuple[int, ...], offset: int, wrap: bool) -> np.ndarray:
    on = np.zeros(shape, bool)
    length = min(shape)
    rows = np.arange(length)
    columns = rows
    if wrap and len(shape) == 2 and length:
        rows, columns = np.unravel_index(np.arange(0, on.size, shape[1] + 1), shape)
    shifted = columns + offset
    valid = (shifted >= 0) & (shifted < shape[-1])
    on[(*(rows[valid],) * (len(shape) - 1), shifted[valid])] = True
    return on


attach(__name__, fill_diagonal_tensor=fill_diagonal_tensor)
attach(__name__, fill_diagonal_tensor_=in_place_form(fill_diagonal_tensor, "fill_diagonal_tensor_"))
_fill_diagonal = in_place_form(_with_number_on_diagonal, "fill_diagonal_")
_fill_diagonal.__doc__ = _with_number_on_diagonal.__doc__
attach(__name__, fill_diagonal_=_fill_diagonal)


# ---- slices --------------------------------------------------------------------------------------


def _overwritten(x: Tensor, value: Tensor, index: tuple[Any, ...]) -> Tensor:
    basic = basic_index(x._aval, index)
    assert basic is not None  # made of integers and slices
    position, spec = basic
    value = fitted(_of_type(value, x._aval), sliced_shape(x._aval.shape, spec))
    return overwrite_at(x, value, position, spec)


def _reference_select_scatter(x: Any, values: Any, axis: int, index: int) -> Any:
    out = x.copy()
    out[(slice(None),) * (axis % x.ndim) + (index,)] = values
    return out


@samples(
    S(A(2, 3), A(2), 1, 1),
    S(A(2, 3), A(2), -1, -1),
    S(A(3), A(), 0, 2),
    S(A(2, 2, dtype="int64"), A(2, dtype="int32"), 0, 0),
    reference=_reference_select_scatter,
)
@public(method=True)
def select_scatter(
    x: Tensor, values: Tensor, axis: AxisLike | None, index: int | Tensor, name: str | None = None
) -> Tensor:
    """`x` with another tensor as one of its slices.

    Args:
        x: the tensor.
        values: the slice.
        axis: the axis that it is a slice of.
        index: its number.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.select_scatter(paddle.zeros([2, 2]), paddle.ones([2]), 0, 1).tolist()
        [[0.0, 0.0], [1.0, 1.0]]
    """
    aval = require_tensor("select_scatter", "x", x)._aval
    require_tensor("select_scatter", "values", values)
    along = integer("select_scatter", "axis", axis)
    if not -aval.ndim <= along < aval.ndim:
        raise index_error("select_scatter", f"there is no axis {along}", f"x: {aval}")
    along %= aval.ndim
    shape = aval.shape[:along] + aval.shape[along + 1 :]
    if values._aval.shape != shape:
        raise runtime_error(
            "select_scatter", f"values must have the shape {list(shape)}", f"x: {aval}, values: {values._aval}"
        )
    return _overwritten(x, values, (*(slice(None),) * along, integer("select_scatter", "index", index)))


def _slices(where: str, aval: Aval, axes: Any, starts: Any, ends: Any, strides: Any) -> tuple[slice, ...]:
    parts = [
        integers(where, n, v) for n, v in (("axes", axes), ("starts", starts), ("ends", ends), ("strides", strides))
    ]
    if len(set(map(len, parts))) != 1:
        raise value_error(where, "axes, starts, ends and strides must have the same length", f"{parts}")
    index = [slice(None)] * aval.ndim
    for axis, start, end, stride in zip(*parts):
        if stride == 0:
            raise value_error(where, "a stride cannot be 0", f"strides: {list(parts[3])}")
        index[one_axis(where, axis, aval.ndim)] = slice(start, end, stride)
    return tuple(index)


def _reference_slice_scatter(x: Any, value: Any, axes: Any, starts: Any, ends: Any, strides: Any) -> Any:
    out = x.copy()
    index: list[Any] = [slice(None)] * x.ndim
    for axis, start, end, stride in zip(axes, starts, ends, strides):
        index[axis] = slice(start, end, stride)
    out[tuple(index)] = value
    return out


@samples(
    S(A(2, 3), A(2, 2), [1], [0], [3], [2]),
    S(A(3, 4), A(2, 1), [0, 1], [-2, 3], [9, 0], [1, -2]),
    S(A(2, 3), A(2, 0), [1], [1], [1], [1]),
    S(A(2, 3), A(2, 1, dtype="int32", grad=False), [1], [0], [1], [1]),
    reference=_reference_slice_scatter,
)
@public(method=True)
def slice_scatter(
    x: Tensor,
    value: Tensor,
    axes: AxisLike,
    starts: Sequence[int | Tensor] | Tensor,
    ends: Sequence[int | Tensor] | Tensor,
    strides: SizesLike,
    name: str | None = None,
) -> Tensor:
    """`x` with another tensor as the part from `starts` to `ends` along some axes.

    Args:
        x: the tensor.
        value: the part; its shape broadcasts.
        axes: the axes.
        starts: where the part begins along each.
        ends: where it ends.
        strides: every how many elements one is replaced.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.slice_scatter(paddle.zeros([4]), paddle.ones([2]), axes=[0], starts=[0], ends=[4], strides=[2]).tolist()
        [1.0, 0.0, 1.0, 0.0]
    """
    aval = require_tensor("slice_scatter", "x", x)._aval
    require_tensor("slice_scatter", "value", value)
    return _overwritten(x, value, _slices("slice_scatter", aval, axes, starts, ends, strides))


def _reference_crop(x: Any, shape: Any = None, offsets: Any = None) -> Any:
    offsets = offsets or [0] * x.ndim
    shape = shape or x.shape
    return x[tuple(slice(o, None if n == -1 else o + n) for o, n in zip(offsets, shape))]


@samples(
    S(A(3, 4), [2, 2], [1, 1]),
    S(A(3, 4), [-1, 2], [1, 0]),
    S(A(3, 4)),
    S(A(3, 4), [0, 2]),
    reference=_reference_crop,
)
@public()
def crop(
    x: Tensor, shape: ShapeLike | None = None, offsets: ShapeLike | None = None, name: str | None = None
) -> Tensor:
    """A part of a tensor, as a new tensor.

    Args:
        x: the tensor.
        shape: the shape of the part; -1 means up to the end. All by default.
        offsets: where it begins along each axis; at 0 by default.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.crop(paddle.to_tensor([[1, 2, 3], [4, 5, 6]]), shape=[1, 2], offsets=[1, 1]).tolist()
        [[5, 6]]
    """
    aval = require_tensor("crop", "x", x)._aval
    first = (0,) * aval.ndim if offsets is None else integers("crop", "offsets", offsets)
    sizes = (-1,) * aval.ndim if shape is None else integers("crop", "shape", shape)
    received = f"x: {aval}, shape: {list(sizes)}, offsets: {list(first)}"
    if len(first) != aval.ndim or len(sizes) != aval.ndim:
        raise value_error("crop", f"shape and offsets must have {aval.ndim} numbers, one for each axis", received)
    sizes = tuple(n - o if size == -1 else size for size, o, n in zip(sizes, first, aval.shape))
    if any(o < 0 or size < 0 or o + size > n for o, size, n in zip(first, sizes, aval.shape)):
        raise value_error("crop", "the part must lie within x", received)
    basic = basic_index(aval, tuple(slice(o, o + size) for o, size in zip(first, sizes)))
    assert basic is not None
    return read_at(x, *basic)


# ---- masks ---------------------------------------------------------------------------------------


def _reference_masked_scatter(x: Any, mask: Any, value: Any) -> Any:
    x, mask = np.broadcast_arrays(x, mask)
    out = x.copy()
    out[mask] = value.reshape(-1)[: mask.sum()]
    return out


_MASK = A(2, 3, dtype="bool", values=[[True, False, True], [False, True, False]])


@samples(
    S(A(2, 3), _MASK, A(4)),
    S(A(2, 3), A(3, dtype="bool", values=[True, False, True]), A(2, 3)),
    S(A(3), _MASK, A(3)),
    S(A(0, 3), A(0, 3, dtype="bool"), A(1)),
    S(A(2, dtype="int64"), A(2, dtype="bool", values=[False, False]), A(0, dtype="int64")),
    reference=_reference_masked_scatter,
)
@public(method=True)
@one_operator("masked_scatter")
def masked_scatter(x: Tensor, mask: Tensor, value: Tensor, name: str | None = None) -> Tensor:
    """`x` with the elements of `value`, one after the other, where the mask is true.

    Args:
        x: the tensor.
        mask: a bool tensor whose shape broadcasts with that of `x`.
        value: the elements; there are at least as many as places.
        name: a label; it changes nothing.

    Raises:
        IndexError: there are too few.

    Examples:
        >>> mask = paddle.to_tensor([True, False, True])
        >>> paddle.masked_scatter(paddle.zeros([3]), mask, paddle.to_tensor([5.0, 6.0])).tolist()
        [5.0, 0.0, 6.0]
    """
    avals = [require_tensor("masked_scatter", n, t)._aval for n, t in (("x", x), ("mask", mask), ("value", value))]
    if avals[1].dtype != BOOL:
        raise failed_type_check("masked_scatter", "mask must be a bool tensor", f"mask: {avals[1]}")
    if avals[2].dtype != avals[0].dtype:
        raise failed_type_check(
            "masked_scatter", "x and value must have the same type", f"x: {avals[0]}, value: {avals[2]}"
        )
    shape = broadcast_shapes(put_where.operation, avals[:2], [avals[0].shape, avals[1].shape])
    source, where = expand_to(x, shape), expand_to(mask, shape)
    if not source._aval.size or (not avals[2].size and not np.asarray(mask._data()).any()):
        return assign_to(source)
    flat = reshape_to(where, (source._aval.size,))
    ones = cast_to(flat, INT64)
    # How many true elements come before each true one; where the mask is false, any place will do.
    places = (sum_along(ones, 0, False) - ones) * ones
    picked = take_elements(reshape_to(value, (avals[2].size,)), [places], [0])
    return put_where(source, reshape_to(picked, shape), where, 0, True)


# Offered apart from `public(inplace=…)`: its sample that broadcasts x has no in-place form.
masked_scatter_ = in_place_form(masked_scatter, "masked_scatter_", reshapes=True)
attach(__name__, masked_scatter_=public(name="masked_scatter_")(masked_scatter_))


# ---- along an axis -------------------------------------------------------------------------------

_REDUCE = {"sum": "add", "prod": "multiply"}


def _combined(where: str, x: Tensor, dim: Any, index: Tensor, src: Tensor, reduce: str, include_self: bool) -> Tensor:
    aval = require_tensor(where, "input", x)._aval
    require_tensor(where, "index", index)
    require_tensor(where, "src", src)
    received = f"input: {aval}, index: {index._aval}, src: {src._aval}, dim: {dim}"
    axis = one_axis(where, dim, aval.ndim)
    extents = index._aval.shape
    if (
        len(extents) != aval.ndim
        or src._aval.ndim != aval.ndim
        or any(n > m for n, m in zip(extents, src._aval.shape))
        or any(n > m for a, (n, m) in enumerate(zip(extents, aval.shape)) if a != axis)
    ):
        raise runtime_error(
            where, f"index must not be larger than src, nor than input apart from dimension {axis}", received
        )
    if src._aval.dtype != aval.dtype:
        raise value_error(where, "input and src must have the same type", received, "convert one with astype()")
    if src._aval.shape != extents:
        src = read_at(src, 0, tuple((0, n, 1) for n in extents))
    return put_along_axis(x, index, src, axis, reduce, include_self, broadcast=False)


def _reference_scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    out = input.copy()
    for place in np.ndindex(*index.shape):
        target = list(place)
        target[dim] = index[place]
        out[tuple(target)] += src[place]
    return out


_INDEX = A(2, 2, dtype="int64", values=[[0, 0], [1, 2]])


@samples(
    S(A(2, 3), 1, _INDEX, A(2, 2)),
    S(A(3, 3), 0, _INDEX, A(2, 3)),
    S(A(3), -1, A(4, dtype="int32", values=[0, 0, -1, 0]), A(4)),
    S(A(2, 3, dtype="int64"), 1, _INDEX, A(2, 2, dtype="int64")),
    reference=_reference_scatter_add,
)
@public(method=True, inplace=True)
def scatter_add(input: Tensor, dim: AxisLike, index: Tensor, src: Tensor) -> Tensor:
    """A tensor with the elements of `src` added where `index` points along an axis.

    Args:
        input: the tensor.
        dim: the axis.
        index: positions along it.
        src: what is added. `index` may be smaller; then the first elements along each axis are taken.

    Examples:
        >>> paddle.scatter_add(paddle.zeros([3]), 0, paddle.to_tensor([0, 0, 2]), paddle.to_tensor([1.0, 2.0, 3.0])).tolist()
        [3.0, 0.0, 3.0]
    """
    return _combined("scatter_add", input, dim, index, src, "add", True)


def _reference_scatter_reduce(
    input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool = True
) -> Any:
    candidates: dict[Any, list[Any]] = {}
    for place in np.ndindex(*index.shape):
        target = list(place)
        target[dim] = index[place]
        candidates.setdefault(tuple(target), []).append(src[place])
    function = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}[reduce]
    out = input.copy()
    for target, found in candidates.items():
        out[target] = function([input[target], *found] if include_self else found)
    return out


@samples(
    S(A(2, 3), 1, _INDEX, A(2, 2), "sum"),
    S(A(2, 3), 1, _INDEX, A(2, 3, low=0.5), "prod", include_self=False),
    S(A(2, 3), 1, _INDEX, A(2, 2), "mean", include_self=False),
    S(A(2, 3, unique=True), 1, _INDEX, A(2, 2, low=-1.5, high=1.5, unique=True), "amax"),
    S(A(3, 3, unique=True), 0, _INDEX, A(2, 2, low=-1.5, high=1.5, unique=True), "amin", include_self=False),
    reference=_reference_scatter_reduce,
)
@public(method=True)
def scatter_reduce(
    input: Tensor, dim: AxisLike, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A tensor combined with the elements of `src` where `index` points along an axis.

    Args:
        input: the tensor.
        dim: the axis.
        index: positions along it.
        src: what is combined.
        reduce: "sum", "prod", "mean", "amax" or "amin" (or "add", "mul", "multiply").
        include_self: whether what is there takes part.

    Examples:
        >>> source = paddle.to_tensor([5.0, 3.0])
        >>> paddle.scatter_reduce(paddle.ones([2]), 0, paddle.to_tensor([0, 0]), source, "amax").tolist()
        [5.0, 1.0]
    """
    return _combined("scatter_reduce", input, dim, index, src, _REDUCE.get(reduce, reduce), bool(include_self))


take_along_dim = public(name="take_along_dim", method="take_along_dim", aliases="arr=input")(take_along_axis)
