"""Tensor functions of `paddle.compat`: extremes, medians, sort, unique, split, equal, slogdet, seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.aval import Aval
from ..core.errors import type_error, value_error
from ..core.generator import default_generator
from ..eager.annotations import AxisLike
from ..eager.calling import deliver
from ..eager.declare import public
from ..eager.samples import A, S, samples
from ..eager.tensor import Tensor
from ..ops.arguments import integer, one_axis, require_tensor
from ..ops.axes import flat
from ..ops.basic import full_of, reshape_to
from ..ops.index.lookup import unique as found_unique
from ..ops.index.search import argmax, argmin, order_along, pick_along
from ..ops.math import reduction
from ..ops.math.comparison import equal_all
from ..ops.math.extremes import maximum, minimum
from ..ops.math.logic import isnan
from ..ops.math.statistics.moments import order_statistic
from ..ops.math.ternary import where
from ..ops.shape import joining
from .calling import paddle_function, refusing


class MinMaxRetType(NamedTuple):
    """Extremes along a dimension and where they were found.

    Args:
        values: the extremes.
        indices: their positions.

    Examples:
        >>> result = paddle.compat.max(paddle.to_tensor([[1, 9, 5]]), dim=1)
        >>> result.values.tolist(), result.indices.tolist()
        ([9], [1])
    """

    values: Tensor
    indices: Tensor


class MedianRetType(NamedTuple):
    """Medians along a dimension and where they were found.

    Args:
        values: the medians.
        indices: their positions.

    Examples:
        >>> result = paddle.compat.median(paddle.to_tensor([[1, 9, 5]]), dim=1)
        >>> result.values.tolist(), result.indices.tolist()
        ([5], [2])
    """

    values: Tensor
    indices: Tensor


class SortRetType(NamedTuple):
    """Elements in order and where they came from.

    Args:
        values: the elements.
        indices: their positions before.

    Examples:
        >>> result = paddle.compat.sort(paddle.to_tensor([3, 1, 2]))
        >>> result.values.tolist(), result.indices.tolist()
        ([1, 2, 3], [1, 2, 0])
    """

    values: Tensor
    indices: Tensor


class SlogdetResult(NamedTuple):
    """A determinant as its sign and the logarithm of its absolute value.

    Args:
        sign: the sign.
        logabsdet: the logarithm.

    Examples:
        >>> paddle.compat.slogdet(paddle.to_tensor([[0.0, 1.0], [1.0, 0.0]])).sign.item()
        -1.0
    """

    sign: Tensor
    logabsdet: Tensor


def _dimension(where: str, dim: Any, x: Tensor) -> int:
    return one_axis(where, dim, x._aval.ndim or 1)


def _chosen(x: Tensor, indices: Tensor, axis: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """Elements at `indices` (which keep the dimension), and the indices; the gradient goes to just these elements."""
    values = pick_along(x, indices, axis, True)
    if keepdim:
        return values, indices
    shape = tuple(n for i, n in enumerate(x._aval.shape) if i != axis)
    return reshape_to(values, shape), reshape_to(indices, shape)


# ---- min and max ---------------------------------------------------------------------------------


def _extreme(name: str, input: Any, arguments: tuple[Any, ...], out: Any, named: dict[str, Any]) -> Any:
    where = f"compat.{name}"
    x = require_tensor(where, "input", input)
    parameters = ("other",) if arguments and isinstance(arguments[0], Tensor) else ("dim", "keepdim")
    given: dict[str, Any] = dict(zip(parameters, arguments, strict=False))
    if len(arguments) > len(parameters) or not given.keys().isdisjoint(named):
        raise _bad_call(where, x, arguments, named)
    given.update(named)
    if set(given) not in (set(), {"other"}, {"dim"}, {"dim", "keepdim"}):
        raise _bad_call(where, x, arguments, named)
    if "other" in given:
        other = require_tensor(where, "other", given["other"])
        return deliver((maximum if name == "max" else minimum)(x, other), out)
    if not given:
        return deliver((reduction.max if name == "max" else reduction.min)(x), out)
    if not isinstance(given["dim"], (int, np.integer)) or isinstance(given["dim"], bool):
        raise _bad_call(where, x, arguments, named)
    axis = _dimension(where, given["dim"], x)
    if x._aval.ndim and not x._aval.shape[axis]:
        raise value_error(where, f"dimension {axis} has no elements", f"input: {x._aval}")
    rows = x if x._aval.ndim else flat(x)
    indices = (argmax if name == "max" else argmin)(rows, axis, True)
    pair = _chosen(rows, indices, axis, bool(given.get("keepdim", False)) and bool(x._aval.ndim))
    return deliver(MinMaxRetType(*pair), out)


def _bad_call(where: str, x: Tensor, arguments: tuple[Any, ...], named: dict[str, Any]) -> TypeError:
    shown = ", ".join(
        [repr(type(a).__name__) for a in arguments] + [f"{k}={type(v).__name__}" for k, v in named.items()]
    )
    return type_error(
        where, "the ways to call it are (input), (input, other: Tensor) and (input, dim: int, keepdim=False)",
        f"input: {x._aval}, {shown}",
    )  # fmt: skip


def _reference_extreme(name: str) -> Any:
    def reference(x: Any, *arguments: Any, **named: Any) -> Any:
        if arguments and isinstance(arguments[0], np.ndarray):
            return (np.maximum if name == "max" else np.minimum)(x, arguments[0])
        if not arguments and not named:
            return getattr(np, name)(x)
        dim = named.get("dim", arguments[0] if arguments else None)
        keepdim = named.get("keepdim", arguments[1] if len(arguments) > 1 else False)
        if not x.ndim:
            return [x, np.int64(0)]
        return [getattr(np, name)(x, axis=dim, keepdims=keepdim), getattr(np, f"arg{name}")(x, dim, keepdims=keepdim)]

    return reference


_EXTREMES = (
    S(A(3, 4, unique=True)), S(A(3, 4, unique=True), 1), S(A(3, 4, unique=True), dim=0, keepdim=True),
    S(A(3, 4, unique=True), A(4, unique=True)), S(A(3, dtype="int64"), -1), S(A(), 0), S(A(0, 3), 1),
)  # fmt: skip


@samples(*_EXTREMES, reference=_reference_extreme("max"))
@public(module="compat")
@refusing("compat.max", "max", "x axis")
def max(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Any:
    """The largest element, with PyTorch's arguments.

    Args:
        input: the tensor.
        args, kwargs: nothing; or `other`, a tensor, for the larger of each pair; or `dim` and `keepdim`.
        out: tensors that take the result.

    Returns:
        A tensor; along `dim`, values and positions.

    Examples:
        >>> x = paddle.to_tensor([[1, 9], [5, 3]])
        >>> paddle.compat.max(x).item(), paddle.compat.max(x, dim=0).indices.tolist()
        (9, [1, 0])
        >>> paddle.compat.max(x, paddle.to_tensor([4, 4])).tolist()
        [[4, 9], [5, 4]]
    """
    return _extreme("max", input, args, out, kwargs)


@samples(*_EXTREMES, reference=_reference_extreme("min"))
@public(module="compat")
@refusing("compat.min", "min", "x axis")
def min(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Any:
    """The smallest element, with PyTorch's arguments.

    Args:
        input: the tensor.
        args, kwargs: nothing; or `other`, a tensor, for the smaller of each pair; or `dim` and `keepdim`.
        out: tensors that take the result.

    Returns:
        A tensor; along `dim`, values and positions.

    Examples:
        >>> x = paddle.to_tensor([[1, 9], [5, 3]])
        >>> paddle.compat.min(x).item(), paddle.compat.min(x, dim=0).indices.tolist()
        (1, [0, 1])
        >>> paddle.compat.min(x, paddle.to_tensor([4, 4])).tolist()
        [[1, 4], [4, 3]]
    """
    return _extreme("min", input, args, out, kwargs)


# ---- medians -------------------------------------------------------------------------------------


def _median(where: str, input: Any, dim: Any, keepdim: bool, ignore_nan: bool) -> Any:
    x = require_tensor(where, "input", input)
    aval = x._aval
    if aval.dtype.kind in "bc":
        raise type_error(where, "numbers in an order are wanted", f"input: {aval}")
    axis = 0 if dim is None else _dimension(where, dim, x)
    rows = flat(x) if dim is None or not aval.ndim else x
    if not rows._aval.shape[axis]:
        pair = _of_nothing(rows._aval, axis, keepdim)
    elif dim is None and not ignore_nan and aval.dtype.kind not in "iu":
        # Equal elements share the gradient where no position is given.
        pair = (order_statistic(rows, (0,), False, (aval.size - 1) // 2),)
    else:
        pair = _chosen(rows, _middle(rows, axis, ignore_nan), axis, keepdim and bool(aval.ndim))
    if dim is not None:
        return MedianRetType(*pair)
    return reshape_to(pair[0], (1,) * aval.ndim if keepdim else ())


def _middle(x: Tensor, axis: int, ignore_nan: bool) -> Tensor:
    """Where the median is found, the lower one of two; the dimension stays, with one place."""
    # Largest first, so that of equal elements the last is taken, as Paddle does. NaN counts as largest.
    order = order_along(x, axis, True)
    size = x._aval.shape[axis]
    place = full_of(size // 2, tuple(1 if i == axis else n for i, n in enumerate(x._aval.shape)), np.dtype("int64"))
    if x._aval.dtype.kind in "iu":
        return pick_along(order, place, axis, True)
    absent = isnan(x).astype("int64")
    count = absent.sum(axis=axis, keepdim=True)
    if ignore_nan:
        place = count + (size - count) // 2
        # All of them NaN: the first.
        return pick_along(order, place % size, axis, True)
    first_absent = argmax(absent, axis, True)
    return where(count > 0, first_absent, pick_along(order, place, axis, True))


def _of_nothing(aval: Aval, axis: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    if aval.dtype.kind in "iu":
        raise value_error("compat.median", f"dimension {axis} has no elements", f"input: {aval}")
    shape = tuple(1 if i == axis else n for i, n in enumerate(aval.shape) if keepdim or i != axis)
    return full_of(float("nan"), shape, aval.dtype), full_of(0, shape, np.dtype("int64"))


def _reference_median(ignore_nan: bool) -> Any:
    def reference(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        def of_row(row: Any) -> Any:
            kept = np.sort(row[~np.isnan(row)] if ignore_nan else row)
            if not ignore_nan and np.isnan(row).any():
                return np.nan
            return kept[(len(kept) - 1) // 2] if len(kept) else np.nan

        if dim is None:
            return np.reshape(of_row(x.reshape(-1)), (1,) * x.ndim if keepdim else ())
        values = np.apply_along_axis(of_row, dim, x)
        kept = np.expand_dims(values, dim)
        same = (x == kept) | (np.isnan(x) & np.isnan(kept))
        indices = np.argmax(same, dim)
        return [np.expand_dims(part, dim) if keepdim else part for part in (values, indices)]

    return reference


_MEDIANS = (
    S(A(3, 4, unique=True)), S(A(3, 4, unique=True), 1), S(A(3, 5, unique=True), dim=0, keepdim=True),
    S(A(3, 4, unique=True), keepdim=True), S(A(values=[[1.0, np.nan, 3.0], [2.0, 4.0, 6.0]], grad=False), 1),
    S(A(values=[1.0, np.nan, 3.0, 0.0], grad=False)), S(A(values=[5, 7, 1, 3], dtype="int64"), 0),
)  # fmt: skip


@samples(*_MEDIANS, reference=_reference_median(False))
@public(module="compat")
@refusing("compat.median", "median", "x axis")
def median(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The median, the lower one of two; NaN wins.

    Args:
        input: the tensor.
        dim: the dimension; None for all elements.
        keepdim: whether it stays, with size 1.
        out: tensors that take the result.

    Returns:
        A tensor; along `dim`, values and positions.

    Examples:
        >>> paddle.compat.median(paddle.to_tensor([4.0, 1.0, 3.0, 2.0])).item()
        2.0
    """
    return deliver(_median("compat.median", input, dim, bool(keepdim), False), out)


@samples(*_MEDIANS, reference=_reference_median(True))
@public(module="compat")
@refusing("compat.nanmedian", "nanmedian", "x axis")
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The median of what is not NaN, the lower one of two.

    Args:
        input: the tensor.
        dim: the dimension; None for all elements.
        keepdim: whether it stays, with size 1.
        out: tensors that take the result.

    Returns:
        A tensor; along `dim`, values and positions.

    Examples:
        >>> paddle.compat.nanmedian(paddle.to_tensor([4.0, float("nan"), 3.0, 2.0])).item()
        3.0
    """
    return deliver(_median("compat.nanmedian", input, dim, bool(keepdim), True), out)


# ---- order and equality --------------------------------------------------------------------------


def _reference_sort(x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    if not x.ndim:
        return [x, np.int64(0)]
    order = np.argsort(-x if descending else x, dim, kind="stable")
    return [np.take_along_axis(x, order, dim), order]


@samples(
    S(A(3, 4, unique=True)), S(A(3, 4, unique=True), 0, True), S(A(5, dtype="int64"), stable=True), S(A(0, 3)), S(A()),
    reference=_reference_sort,
)  # fmt: skip
@public(module="compat")
@refusing("compat.sort", "sort", "x axis")
def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False, out: Any = None) -> Any:
    """The elements in order along a dimension, and where they came from.

    Equal ones always keep their order.

    Args:
        input: the tensor.
        dim: the dimension.
        descending: whether the largest comes first.
        stable: accepted; the order is always stable.
        out: tensors that take the result.

    Returns:
        `values` and `indices`.

    Examples:
        >>> values, indices = paddle.compat.sort(paddle.to_tensor([3, 1, 2]), descending=True)
        >>> values.tolist(), indices.tolist()
        ([3, 2, 1], [0, 2, 1])
    """
    x = require_tensor("compat.sort", "input", input)
    axis = _dimension("compat.sort", dim, x)
    if out is not None and not isinstance(out, (tuple, list)):
        raise type_error("compat.sort", "out must be two tensors", type(out).__name__)
    if x._aval.dtype.kind in "bc":
        raise type_error("compat.sort", "numbers in an order are wanted", f"input: {x._aval}")
    rows = x if x._aval.ndim else flat(x)
    indices = order_along(rows, axis, bool(descending))
    values = pick_along(rows, indices, axis, True)
    pair = [part if x._aval.ndim else reshape_to(part, ()) for part in (values, indices)]
    return deliver(SortRetType(*pair), out)


@samples(
    S(A(values=[[3, 1], [2, 1]], dtype="int64"), True, True, True), S(A(4, dtype="int64")),
    S(A(values=[[1, 2], [1, 2], [0, 3]], dtype="int64"), return_inverse=True, dim=0), S(A(0, dtype="int64")),
    reference=lambda x, sorted=True, return_inverse=False, return_counts=False, dim=None: _flat_parts(
        np.unique(x, return_inverse=return_inverse, return_counts=return_counts, axis=dim)
    ),
)  # fmt: skip
@public(module="compat")
@refusing("compat.unique", "unique", "x axis")
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: AxisLike | None = None,
) -> Any:
    """The different elements, or slices along a dimension, in order.

    Looks at the values, because they decide the shape; there is no gradient.

    Args:
        input: the tensor.
        sorted: accepted; the result is always in order.
        return_inverse: whether it is said which element is which.
        return_counts: whether it is said how often each occurs.
        dim: the dimension; None for elements.

    Returns:
        A tensor, and what else was asked for.

    Examples:
        >>> values, counts = paddle.compat.unique(paddle.to_tensor([3, 1, 3]), return_counts=True)
        >>> values.tolist(), counts.tolist()
        ([1, 3], [1, 2])
    """
    x = require_tensor("compat.unique", "input", input)
    return found_unique(x, False, bool(return_inverse), bool(return_counts), dim)


def _flat_parts(found: Any) -> Any:
    return [found[0], *[part.reshape(-1) for part in found[1:]]] if isinstance(found, tuple) else found


@samples(
    S(A(2, 3), A(2, 3)), S(A(values=[1, 2]), A(values=[1, 2])), S(A(values=[1, 2]), A(values=[1, 2], dtype="int64")),
    S(A(2), A(3)), S(A(0, 2), A(0, 2)), S(A(values=np.nan), A(values=np.nan)),
    reference=lambda input, other: np.array_equal(input, other),
)  # fmt: skip
@public(module="compat")
@refusing("compat.equal", "equal", "x y")
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements.

    Waits for their values.

    Args:
        input: the first.
        other: the second.

    Returns:
        A bool.

    Examples:
        >>> paddle.compat.equal(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 2]))
        True
    """
    x, y = require_tensor("compat.equal", "input", input), require_tensor("compat.equal", "other", other)
    if x._aval.shape != y._aval.shape:
        return False
    if x._aval.dtype == y._aval.dtype:
        return bool(equal_all(x, y))
    return bool(np.array_equal(np.asarray(x._data()), np.asarray(y._data())))


# ---- pieces, determinants, randomness ------------------------------------------------------------


def _reference_split(x: Any, sizes: Any, dim: int = 0) -> Any:
    bounds = (
        list(np.cumsum(sizes)[:-1]) if isinstance(sizes, (list, tuple)) else list(range(sizes, x.shape[dim], sizes))
    )
    return np.split(x, bounds, dim)


@samples(
    S(A(5, 2), 2), S(A(2, 5), [1, 4], dim=1), S(A(4), 9), S(A(3, 2), (3,), 0),
    reference=_reference_split,
)  # fmt: skip
@public(module="compat")
@public(module="functional")
@refusing("compat.split", "split", "x axis num_or_sections")
def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: AxisLike = 0) -> tuple[Tensor, ...]:
    """Pieces along a dimension.

    Args:
        tensor: the tensor.
        split_size_or_sections: the size of each piece (the last may be smaller), or a list of sizes.
        dim: the dimension.

    Returns:
        A tuple of tensors.

    Examples:
        >>> [piece.tolist() for piece in paddle.compat.split(paddle.arange(5), 2)]
        [[0, 1], [2, 3], [4]]
        >>> [piece.tolist() for piece in paddle.compat.split(paddle.arange(5), [1, 4])]
        [[0], [1, 2, 3, 4]]
    """
    x = require_tensor("compat.split", "tensor", tensor)
    if not x._aval.ndim:
        raise value_error("compat.split", "a tensor without dimensions cannot be split", f"tensor: {x._aval}")
    axis = one_axis("compat.split", dim, x._aval.ndim)
    extent = x._aval.shape[axis]
    if isinstance(split_size_or_sections, (list, tuple)):
        sizes = tuple(integer("compat.split", "split_size_or_sections", n) for n in split_size_or_sections)
        if any(n < 0 for n in sizes) or sum(sizes) != extent:
            raise value_error(
                "compat.split", f"the sizes must not be negative and add up to {extent}",
                f"tensor: {x._aval}, split_size_or_sections: {list(sizes)}, dim: {axis}",
            )  # fmt: skip
    else:
        size = integer("compat.split", "split_size_or_sections", split_size_or_sections)
        if size <= 0:
            raise value_error("compat.split", "a piece must have a positive size", f"split_size_or_sections: {size}")
        sizes = tuple(extent - start if start + size > extent else size for start in range(0, extent, size))
    return tuple(joining.split_at([x], sizes, axis)) if sizes else ()


@samples(
    S(A(values=[[1.0, 2.0], [3.0, 4.0]])), S(A(2, 3, 3, unique=True)), S(A(values=[[2.0]])),
    reference=lambda x: [part.astype(x.dtype) for part in np.linalg.slogdet(x)],
)  # fmt: skip
@public(module="compat")
def slogdet(x: Tensor, out: Any = None) -> SlogdetResult:
    """Signs of determinants and the logarithms of their absolute values, as two tensors.

    Args:
        x: square matrices.
        out: tensors that take the result.

    Returns:
        `sign` and `logabsdet`.

    Examples:
        >>> sign, logarithm = paddle.compat.slogdet(paddle.to_tensor([[0.0, 1.0], [1.0, 0.0]]))
        >>> sign.item(), logarithm.item()
        (-1.0, 0.0)
    """
    both = paddle_function("linalg.slogdet")(require_tensor("compat.slogdet", "x", x))
    sign, logarithm = both if isinstance(both, (tuple, list)) else (both[0], both[1])
    return deliver(SlogdetResult(sign, logarithm), out)


@public(module="compat")
def seed() -> int:
    """Makes randomness unpredictable again, and gives the new seed.

    Returns:
        An integer.

    Examples:
        >>> isinstance(paddle.compat.seed(), int)
        True
    """
    return default_generator.seed()
