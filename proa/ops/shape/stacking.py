"""Joining and dividing by the names of directions: hstack, vsplit and their like, and the dimensions they ask for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...eager.annotations import AxisLike, TensorLike
from ...eager.attaching import attach
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ..arguments import integer, integers, one_axis, require_tensor
from ..basic import reshape_to
from .joining import concat, rows, split_at
from .slicing import read_at

# ---- dimensions at least -------------------------------------------------------------------------


def _one(x: Tensor) -> Tensor:
    return x if x._aval.ndim else reshape_to(x, (1,))


def _two(x: Tensor) -> Tensor:
    shape = x._aval.shape
    return x if len(shape) >= 2 else reshape_to(x, (1,) * (2 - len(shape)) + shape)


def _three(x: Tensor) -> Tensor:
    shape = x._aval.shape
    if len(shape) >= 3:
        return x
    return reshape_to(x, (*shape, 1) if len(shape) == 2 else (1, *shape, 1) if shape else (1, 1, 1))


def _each(inputs: Sequence[Any], change: Callable[[Tensor], Tensor]) -> Any:
    """The one result, or the list of them; a list that holds tensors stands for its elements."""
    if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)) and any(isinstance(i, Tensor) for i in inputs[0]):
        inputs = inputs[0]
    changed = [change(i if isinstance(i, Tensor) else tensor_from_data(i)) for i in inputs]
    return changed[0] if len(changed) == 1 else changed


_FEW = (S(A()), S(A(2)), S(A(2, 3)), S(A(0)), S(A(2, 1, 3, dtype="int64")))


@samples(*_FEW, S(A(), A(2)), reference=np.atleast_1d)
@public(method=True)
def atleast_1d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with one axis at least.

    Args:
        name: a label; it changes nothing.
        *inputs: tensors, or what makes one.

    Returns:
        Each with one axis at least, itself if it has that already; a list for several.

    Examples:
        >>> paddle.atleast_1d(paddle.to_tensor(3)).shape
        paddle.Size([1])
    """
    return _each(inputs, _one)


@samples(*_FEW, S(A(), A(2)), reference=np.atleast_2d)
@public(method=True)
def atleast_2d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with two axes at least; new ones are in front.

    Args:
        name: a label; it changes nothing.
        *inputs: tensors, or what makes one.

    Returns:
        Each with two axes at least; a list for several.

    Examples:
        >>> paddle.atleast_2d(paddle.to_tensor([1, 2])).shape
        paddle.Size([1, 2])
    """
    return _each(inputs, _two)


@samples(*_FEW, S(A(), A(2)), reference=np.atleast_3d)
@public(method=True)
def atleast_3d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with three axes at least: [n] becomes [1, n, 1], [m, n] becomes [m, n, 1].

    Args:
        name: a label; it changes nothing.
        *inputs: tensors, or what makes one.

    Returns:
        Each with three axes at least; a list for several.

    Examples:
        >>> paddle.atleast_3d(paddle.to_tensor([1, 2])).shape
        paddle.Size([1, 2, 1])
    """
    return _each(inputs, _three)


# ---- joined in a direction -----------------------------------------------------------------------


def _parts(where: str, x: Any, change: Callable[[Tensor], Tensor]) -> list[Tensor]:
    """The tensors of a list (the rows, if it is one tensor), with the dimensions that are asked for."""
    if isinstance(x, Tensor):
        x = rows(where, x, 0)
    if not isinstance(x, (list, tuple)) or not x or not all(isinstance(item, Tensor) for item in x):
        raise type_error(where, "x must be a list of tensors, not empty", type(x).__name__)
    return [change(item) for item in x]


@samples(
    S([A(2), A(3)]),
    S([A(2, 3), A(2, 1)]),
    S([A(), A()]),
    S([A(2, 0), A(2, 2)]),
    S([A(2, 1, 2), A(2, 2, 2)]),
    reference=np.hstack,
)
@public()
def hstack(x: TensorLike, name: str | None = None) -> Tensor:
    """Tensors joined along the second axis, or the first if they have one only.

    Args:
        x: a list of tensors.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.hstack([paddle.to_tensor([1, 2]), paddle.to_tensor([3])]).tolist()
        [1, 2, 3]
    """
    parts = _parts("hstack", x, _one)
    return concat(parts, 0 if parts[0]._aval.ndim == 1 else 1)


@samples(S([A(2), A(2)]), S([A(2, 3), A(1, 3)]), S([A(), A()]), S([A(3), A(2, 3)]), reference=np.vstack)
@public(name="vstack row_stack")
def vstack(x: TensorLike, name: str | None = None) -> Tensor:
    """Tensors joined along the first axis; those with one axis are rows.

    Args:
        x: a list of tensors.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.vstack([paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])]).tolist()
        [[1, 2], [3, 4]]
    """
    return concat(_parts("vstack", x, _two), 0)


@samples(S([A(2), A(2)]), S([A(2, 3), A(2, 3)]), S([A(), A()]), S([A(2, 1, 2), A(2, 1, 1)]), reference=np.dstack)
@public()
def dstack(x: TensorLike, name: str | None = None) -> Tensor:
    """Tensors joined along the third axis.

    Args:
        x: a list of tensors.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.dstack([paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])]).tolist()
        [[[1, 3], [2, 4]]]
    """
    return concat(_parts("dstack", x, _three), 2)


def _column(x: Tensor) -> Tensor:
    return x if x._aval.ndim >= 2 else reshape_to(x, (x._aval.size, 1))


@samples(
    S([A(2), A(2)]),
    S([A(2, 3), A(2)]),
    S([A(), A()]),
    reference=lambda x: np.column_stack([np.atleast_1d(a) for a in x]),
)
@public()
def column_stack(x: TensorLike, name: str | None = None) -> Tensor:
    """Tensors joined along the second axis; those with one axis are columns.

    Args:
        x: a list of tensors.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.column_stack([paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])]).tolist()
        [[1, 3], [2, 4]]
    """
    return concat(_parts("column_stack", x, _column), 1)


# ---- divided in a direction ----------------------------------------------------------------------

# Parts without elements are allowed as in Paddle; a number of them that only fills memory is a mistake.
_MOST_EMPTY_PARTS = 4096


def _divided(where: str, x: Tensor, num_or_indices: Any, axis: int) -> list[Tensor]:
    """As many parts as equal as possible, or the parts between positions, which need not rise."""
    aval = x._aval
    extent = aval.shape[axis]
    if isinstance(num_or_indices, (list, tuple)):
        given = integers(where, "num_or_indices", num_or_indices)
        ends = [slice(None, i).indices(extent)[1] for i in given] + [extent]
    elif isinstance(num_or_indices, (int, np.integer)) and not isinstance(num_or_indices, bool):
        count = integer(where, "num_or_indices", num_or_indices)
        if not 0 < count <= extent + _MOST_EMPTY_PARTS:
            raise value_error(
                where,
                f"the number of parts must be positive and not far above the {extent} elements",
                f"num_or_indices: {count}, x: {aval}",
            )
        least, larger = divmod(extent, count)
        ends = [least * (i + 1) + min(i + 1, larger) for i in range(count)]
    else:
        raise value_error(
            where, "num_or_indices must be an integer or a list of integers", type(num_or_indices).__name__
        )
    starts = [0, *ends[:-1]]
    if all(start <= end for start, end in zip(starts, ends)):
        return list(split_at([x], tuple(end - start for start, end in zip(starts, ends)), axis))
    whole = tuple((0, n, 1) for n in aval.shape[:axis])
    return [read_at(x, 0, (*whole, (start, max(end - start, 0), 1))) for start, end in zip(starts, ends)]


def _with_dimensions(where: str, x: Any, least: int) -> Tensor:
    if require_tensor(where, "x", x)._aval.ndim < least:
        raise value_error(where, f"x must have {least} dimension(s) at least", f"x: {x._aval}")
    return x


def _listed(x: Any, num_or_indices: Any, axis: int = 0) -> list[Any]:
    return np.array_split(x, num_or_indices, axis)


@samples(
    S(A(5, 2), 3),
    S(A(4, 3), [1, 3]),
    S(A(4, 3), [-1, 9], axis=1),
    S(A(4), [3, 1]),
    S(A(2, 0), 2, -1),
    S(A(2), 4),
    reference=_listed,
)
@public(method=True, aliases="num_or_indices=indices num_or_indices=sections")
def tensor_split(x: Tensor, num_or_indices: AxisLike, axis: AxisLike = 0, name: str | None = None) -> list[Tensor]:
    """A tensor cut along an axis into parts as equal as possible, or at given positions.

    Args:
        x: the tensor.
        num_or_indices: how many parts, or where to cut.
        axis: the axis.
        name: a label; it changes nothing.

    Examples:
        >>> [part.tolist() for part in paddle.tensor_split(paddle.arange(5), 2)]
        [[0, 1, 2], [3, 4]]
        >>> [part.tolist() for part in paddle.tensor_split(paddle.arange(5), [1, 4])]
        [[0], [1, 2, 3], [4]]
    """
    _with_dimensions("tensor_split", x, 1)
    return _divided("tensor_split", x, num_or_indices, one_axis("tensor_split", axis, x._aval.ndim))


@samples(S(A(5), 2), S(A(2, 3), [1, 2]), S(A(2, 3, 2), 3), reference=lambda x, n: _listed(x, n, min(x.ndim - 1, 1)))
@public(method=True)
def hsplit(x: Tensor, num_or_indices: AxisLike, name: str | None = None) -> list[Tensor]:
    """A tensor cut along the second axis, or the first if it has one only; see `tensor_split`.

    Args:
        x: the tensor.
        num_or_indices: how many parts, or where to cut.
        name: a label; it changes nothing.

    Examples:
        >>> [part.tolist() for part in paddle.hsplit(paddle.arange(4), [1])]
        [[0], [1, 2, 3]]
    """
    ndim = _with_dimensions("hsplit", x, 1)._aval.ndim
    return _divided("hsplit", x, num_or_indices, 0 if ndim == 1 else 1)


@samples(S(A(5, 1), 2), S(A(4, 3), [1, 2]), S(A(2, 3, 2), 3), reference=_listed)
@public(method=True)
def vsplit(x: Tensor, num_or_indices: AxisLike, name: str | None = None) -> list[Tensor]:
    """A tensor of two axes or more cut along the first; see `tensor_split`.

    Args:
        x: the tensor.
        num_or_indices: how many parts, or where to cut.
        name: a label; it changes nothing.

    Examples:
        >>> [part.tolist() for part in paddle.vsplit(paddle.to_tensor([[1, 2], [3, 4]]), 2)]
        [[[1, 2]], [[3, 4]]]
    """
    return _divided("vsplit", _with_dimensions("vsplit", x, 2), num_or_indices, 0)


@samples(S(A(1, 2, 5), 2), S(A(1, 1, 4), [1, 2]), S(A(2, 3, 2), 3), reference=lambda x, n: _listed(x, n, 2))
@public(method=True)
def dsplit(x: Tensor, num_or_indices: AxisLike, name: str | None = None) -> list[Tensor]:
    """A tensor cut along the third axis; see `tensor_split`.

    Args:
        x: the tensor.
        num_or_indices: how many parts, or where to cut.
        name: a label; it changes nothing.

    Examples:
        >>> [part.shape for part in paddle.dsplit(paddle.zeros([2, 2, 4]), 2)]
        [paddle.Size([2, 2, 2]), paddle.Size([2, 2, 2])]
    """
    return _divided("dsplit", _with_dimensions("dsplit", x, 3), num_or_indices, 2)


def split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: AxisLike = 0) -> list[Tensor]:
    """The tensor cut along an axis into parts of the given sizes.

    Args:
        split_sizes: the sizes, which add up to the dimension.
        dim: the axis.

    Examples:
        >>> [part.tolist() for part in paddle.arange(4).split_with_sizes([1, 3])]
        [[0], [1, 2, 3]]
    """
    aval = _with_dimensions("split_with_sizes", self, 1)._aval
    axis = one_axis("split_with_sizes", dim, aval.ndim)
    sizes = integers("split_with_sizes", "split_sizes", split_sizes)
    if any(n < 0 for n in sizes) or sum(sizes) != aval.shape[axis]:
        raise value_error(
            "split_with_sizes",
            f"the sizes must not be negative and add up to {aval.shape[axis]}",
            f"split_sizes: {list(sizes)}, x: {aval}, dim: {dim}",
        )
    return list(split_at([self], sizes, axis))


attach(__name__, split_with_sizes=split_with_sizes)
