"""Order: the largest, sorting, searching."""

from __future__ import annotations

import math

from ..builder import Builder, Made, reduced_sizes
from ..registry import Call, translates
from .arithmetic import is_integer
from .indexing import along
from .logic import some


def ordered(b: Builder, x: Made) -> Made:
    """A type that has an order."""
    return b.cast(x, "int32") if x.dtype == "bool" else x


@translates("argmax", "argmin")
def argmax(b: Builder, c: Call) -> Made:
    x = ordered(b, c.operands[0])
    axis, keepdim, _ = c.attributes
    if axis is None:
        count = 1
        for size in x.sizes:
            count *= size
        x = b.reshape(x, (count,))
    place = 0 if axis is None else axis % x.ndim if x.ndim else 0
    if not x.ndim:
        return b.filled(c.sizes, 0, c.dtype)
    sizes = reduced_sizes(x.sizes, [place], bool(keepdim))
    operator = "ArgMax" if c.name == "argmax" else "ArgMin"
    found = b.emit(operator, [x], ("int64", sizes), axis=place, keepdims=int(bool(keepdim)))
    return b.cast(b.reshape(found, c.sizes), c.dtype)


def top(b: Builder, x: Made, k: int, axis: int, largest: bool) -> tuple[Made, Made]:
    """The first k in order, and where they stand."""
    sizes = (*x.sizes[:axis], k, *x.sizes[axis + 1 :])
    kinds = [(x.dtype, sizes), ("int64", sizes)]
    if is_integer(x):
        values, places = b.emit_all("TopK", [x, b.size(k)], kinds, axis=axis, largest=int(largest), sorted=1)
        return values, places
    # NaN counts as the largest number; runtimes have no order for it.
    key = b.where(b.is_nan(x), b.scalar(math.inf, x.dtype), x)
    _, places = b.emit_all("TopK", [key, b.size(k)], kinds, axis=axis, largest=int(largest), sorted=1)
    return along(b, x, places, axis), places


@translates("argsort", "sort")
def argsort(b: Builder, c: Call) -> Made:
    x = ordered(b, c.operands[0])
    axis, descending = c.attributes
    if not x.ndim:
        return b.filled((), 0, c.dtype) if c.name == "argsort" else b.copied(c.operands[0])
    values, places = top(b, x, x.sizes[axis % x.ndim], axis % x.ndim, bool(descending))
    return b.cast(values if c.name == "sort" else places, c.dtype)


@translates("topk")
def topk(b: Builder, c: Call) -> list[Made]:
    x = ordered(b, c.operands[0])
    axis, k, largest = c.attributes
    if not x.ndim:
        return [b.copied(c.operands[0]), b.filled((), 0, c.types[1][0])]
    values, places = top(b, x, k, axis % x.ndim, bool(largest))
    return [b.cast(values, c.dtype), b.cast(places, c.types[1][0])]


@translates("kthvalue")
def kthvalue(b: Builder, c: Call) -> list[Made]:
    x = ordered(b, c.operands[0])
    axis, _, k, _ = c.attributes
    if not x.ndim:
        return [b.copied(c.operands[0]), b.filled((), 0, c.types[1][0])]
    axis = axis % x.ndim
    found = [b.slice(part, [axis], [k - 1], [k]) for part in top(b, x, k, axis, False)]
    return [b.cast(b.reshape(part, sizes), dtype) for part, (dtype, sizes) in zip(found, c.types, strict=True)]


@translates("order_statistic")
def order_statistic(b: Builder, c: Call) -> Made:
    axis, keepdim, rank = c.attributes
    x = c.operands[0]
    only = axis[0] % x.ndim
    values = b.slice(top(b, x, rank + 1, only, False)[0], [only], [rank], [rank + 1])
    values = b.reshape(values, c.sizes)
    if is_integer(x):
        return b.cast(values, c.dtype)
    bad = some(b, b.is_nan(x), [only], bool(keepdim))
    return b.where(bad, b.scalar(float("nan"), values.dtype), values)


@translates("searchsorted")
def searchsorted(b: Builder, c: Call) -> Made:
    """How many elements come before a value: each is compared with each."""
    sequence, values = c.operands[0], c.tensor(b, 1)
    if sequence.ndim == 1:
        sequence = b.reshape(sequence, (*([1] * max(values.ndim - 1, 0)), *sequence.sizes))
    sequence = b.reshape(sequence, (*sequence.sizes[:-1], 1, sequence.sizes[-1])) if values.ndim else sequence
    wanted = b.reshape(values, (*values.sizes, 1))
    before = b.binary("LessOrEqual" if c.attributes[0] else "Less", sequence, b.cast(wanted, sequence.dtype), "bool")
    return b.reshape(b.reduce("ReduceSum", b.cast(before, c.dtype), [before.ndim - 1]), c.sizes)


@translates("isin")
def isin(b: Builder, c: Call) -> Made:
    """Every element compared with every other: tables of tests are small."""
    x, tested = c.tensor(b, 0), c.tensor(b, 1)
    count = 1
    for size in tested.sizes:
        count *= size
    same = b.binary("Equal", b.reshape(x, (*x.sizes, 1)), b.reshape(tested, (count,)), "bool")
    found = some(b, same, [same.ndim - 1], False)
    return b.invert(found) if c.attributes[1] else found
