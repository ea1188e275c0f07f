"""Operations of padded programs: they know by the real extents, which are operands, where the data ends.

`places` says where the surplus of an array is: for each padded axis its number and its factors, each the padded length and
whether it is longer than its data. The real extents of the latter are the last operands, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack, cast

import numpy as np

from ...core.aval import Aval
from ..operation import Operation, register
from ..traits import GivenTraits

Factors = tuple[tuple[int, bool], ...]
Places = tuple[tuple[int, Factors], ...]
Arrays = Sequence[Any]


def own(
    attributes: str, infer: Callable[..., Any], **traits: Unpack[GivenTraits]
) -> Callable[[Callable[..., Any]], Operation]:
    """An operation that only padded programs use: all its arrays come as one list, and it has no gradient."""

    def declare(kernel: Callable[..., Any]) -> Operation:
        names = ["arrays", *attributes.split()]
        return register(
            Operation(
                kernel.__name__, kernel, (), names, infer=infer, variadic=True, doc=kernel.__doc__ or "", traits=traits
            )
        )

    return declare


def first(_operation: Any, kinds: Any, _attributes: Any, _place: Any) -> Aval:
    return kinds[0]


# ---- real extents ------------------------------------------------------------------------------------------------------


@own("formula", infer=first)
def real_extent(xp: Any, arrays: Arrays, formula: Any) -> Any:
    """An expression of sizes: a number, the number of an operand in a tuple, or the name of a function and its arguments."""
    return xp.asarray(_computed(xp, arrays, formula)).astype(arrays[0].dtype)


def _computed(xp: Any, arrays: Arrays, formula: Any) -> Any:
    if not isinstance(formula, tuple):
        return np.int32(formula)
    name, *parts = cast("tuple[Any, ...]", formula)
    if not parts:
        return arrays[name]
    left, *others = [_computed(xp, arrays, part) for part in parts]
    for right in others:
        left = _FUNCTIONS[name](xp, left, right)
    return left


_FUNCTIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "+": lambda _xp, left, right: left + right,
    "*": lambda _xp, left, right: left * right,
    "//": lambda _xp, left, right: left // right,
    "min": lambda xp, left, right: xp.minimum(left, right),
    "max": lambda xp, left, right: xp.maximum(left, right),
}
FUNCTIONS = frozenset(_FUNCTIONS)


# ---- fills -------------------------------------------------------------------------------------------------------------


def inside(xp: Any, ndim: int, places: Places, extents: Arrays) -> Any:
    """Where the data is: a boolean array that broadcasts against one of so many dimensions."""
    found: Any = np.ones((1,) * ndim, bool)
    remaining = iter(extents)
    for axis, factors in places:
        length = 1
        for size, _ in factors:
            length *= size
        position = xp.arange(length, dtype=np.int32)
        here: Any = None
        stride = length
        for size, longer in factors:
            stride = stride // max(size, 1)
            if longer:
                digit = position // max(stride, 1) % max(size, 1) < next(remaining)
                here = digit if here is None else here & digit
        shape = [1] * ndim
        shape[axis] = length
        found = found & here.reshape(shape)
    return found


def fitted(value: float, dtype: np.dtype) -> Any:
    """A filling in the type of an array: what floats have and others have not becomes the largest or smallest number."""
    if dtype.kind in "iu" and not np.isfinite(value):
        limits = np.iinfo(dtype)
        return limits.min if value == -np.inf else limits.max
    return value > 0 or value != value if dtype.kind == "b" else value


@own("places value", infer=first)
def fill_beyond(xp: Any, arrays: Arrays, places: Places, value: float) -> Any:
    """The first array with a value in the place of its surplus."""
    x, *extents = arrays
    return xp.where(inside(xp, x.ndim, places, extents), x, xp.asarray(fitted(value, np.dtype(x.dtype)), x.dtype))


# ---- means and counts --------------------------------------------------------------------------------------------------


def wide(x: Any) -> Any:
    return x.astype(np.float32) if x.dtype.itemsize < 4 else x


def infer_reduced(_operation: Any, kinds: Any, attributes: Any, _place: Any) -> Aval:
    axes, keepdim = attributes[:2]
    shape = kinds[0].shape
    return kinds[0].with_shape(tuple(1 if i in axes else n for i, n in enumerate(shape) if keepdim or i not in axes))


@own("axis keepdim others", infer=infer_reduced)
def mean_within(xp: Any, arrays: Arrays, axis: tuple[int, ...], keepdim: bool, others: int) -> Any:
    """The mean over axes whose surplus is 0: their data counts `others` times the product of the extents."""
    x, *extents = arrays
    total = xp.sum(wide(x), axis=axis, keepdims=keepdim)
    return (total / _count(extents, others, total.dtype)).astype(x.dtype)


def _count(extents: Arrays, others: int, dtype: Any) -> Any:
    count = np.asarray(others, dtype if np.dtype(dtype).kind == "f" else np.float64)
    for extent in extents:
        count = count * extent.astype(count.dtype)
    return count


@own("others", infer=first)
def divided_by_count(xp: Any, arrays: Arrays, others: int) -> Any:
    """The first array divided by `others` times the product of the extents."""
    x, *extents = arrays
    return (wide(x) / _count(extents, others, wide(x).dtype)).astype(x.dtype)


def _infer_new(_operation: Any, kinds: Any, attributes: Any, _place: Any) -> Aval:
    return kinds[0].with_shape(attributes[0]).with_dtype(attributes[1])


@own("shape dtype", infer=_infer_new)
def repeated_extent(xp: Any, arrays: Arrays, shape: tuple[int, ...], dtype: Any) -> Any:
    """An extent as every element of an array: the lengths of sequences."""
    return xp.broadcast_to(arrays[0].astype(dtype), shape)


def _infer_mask(_operation: Any, kinds: Any, attributes: Any, _place: Any) -> Aval:
    return kinds[0].with_shape((1, 1, 1, attributes[0]))


@own("length", infer=_infer_mask)
def mask_beyond(xp: Any, arrays: Arrays, length: int) -> Any:
    """The mask of an attention, in the type of the first array: 0 for keys before the extent, -inf behind them."""
    like, size = arrays
    keys = xp.arange(length, dtype=np.int32).reshape(1, 1, 1, length) < size
    return xp.where(keys, xp.asarray(0, like.dtype), xp.asarray(-np.inf, like.dtype))
