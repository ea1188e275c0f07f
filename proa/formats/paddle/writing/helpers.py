"""Primitives that our compositions use and Paddle has no name for, said with what it has."""

from __future__ import annotations

from .builder import Builder, Made
from .registry import Call, translates


@translates("row_numbers")
def as_it_is(b: Builder, c: Call) -> Made:
    return b.same("assign", c.operands[0])


@translates("choice_among")
def choice_among(b: Builder, c: Call) -> Made:
    return b.cast(b.reshape(c.operands[0], c.sizes), c.dtype)


@translates("chosen")
def chosen(b: Builder, c: Call) -> Made:
    x, y = c.tensor(b, 0), c.tensor(b, 1)
    return b.cast(b.binary("equal", x, y, "bool"), c.dtype)


@translates("put_where_zero")
def at_least_one(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return b.binary("maximum", x, b.full((), 1, x.dtype))


@translates("log_of_base")
def log_of_base(b: Builder, c: Call) -> Made:
    x, y = c.tensor(b, 0, c.dtype), c.tensor(b, 1, c.dtype)
    is_zero = b.binary("equal", x, b.full((), 0, x.dtype), "bool")
    at_zero = b.binary("logical_and", is_zero, b.binary("greater_equal", y, b.full((), 0, y.dtype), "bool"), "bool")
    logarithm = b.same("log", b.where(at_zero, b.full((), 1, x.dtype), x))
    return b.where(at_zero, b.full((), 0, c.dtype), b.cast(logarithm, c.dtype))


@translates("exponent_below")
def exponent_below(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return b.where(b.binary("equal", x, b.full((), 0, x.dtype), "bool"), b.full((), 1, x.dtype), b.scale(x, 1, -1))


@translates("zero_where_nan")
def zero_where_nan(b: Builder, c: Call) -> Made:
    x, tested = c.operands
    return b.where(b.emit("isnan", [tested], {}, ("bool", tested.sizes)), b.full((), 0, x.dtype), x)


@translates("count_nan")
def count_nan(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    found = b.cast(b.emit("isnan", [x], {}, ("bool", x.sizes)), c.dtype)
    return b.reduce("sum", found, [x.ndim - 1], dtype=c.dtype)


@translates("first_is_taken")
def first_is_taken(b: Builder, c: Call) -> Made:
    x, y = c.tensor(b, 0), c.tensor(b, 1)
    taken = b.binary("greater_equal" if c.attributes[0] else "less_equal", x, y, "bool")
    return b.binary("logical_or", taken, b.emit("isnan", [y], {}, ("bool", y.sizes)), "bool")


@translates("shift_along")
def shift_along(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    axis, step = c.attributes
    extent = x.sizes[axis]
    kept = b.slice(x, [axis], [0 if step > 0 else 1], [extent - 1 if step > 0 else extent])
    borders = [0] * (2 * x.ndim)
    borders[2 * axis + (step < 0)] = 1
    return b.emit("pad", [kept, b.argument(0, x.dtype)], {"paddings": borders}, x.type)


@translates("pool_rows")
def pool_rows(b: Builder, c: Call) -> Made:
    x, index = c.operands
    _, mode = c.attributes
    if mode != "sum":
        raise NotImplementedError("the largest or smallest of rows with a common number")
    zeros = b.full(c.sizes, 0, c.dtype)
    places = b.reshape(index, (*index.sizes, 1))
    return b.emit("scatter_nd_add", [zeros, places, b.cast(x, c.dtype)], {}, c.types[0])


@translates("isin")
def isin(b: Builder, c: Call) -> Made:
    """Every element compared with every other: tables of tests are small."""
    x, tested = c.operands
    count = 1
    for size in tested.sizes:
        count *= size
    same = b.binary("equal", b.reshape(x, (*x.sizes, 1)), b.reshape(tested, (count,)), "bool")
    found = b.emit("any", [same], {"axis": [same.ndim - 1], "keepdim": False}, ("bool", x.sizes))
    return b.emit("logical_not", [found], {}, found.type) if c.attributes[1] else found


@translates("shard_index")
def shard_index(b: Builder, c: Call) -> Made:
    """The number within a shard, or what stands for numbers of other shards."""
    x, ignored = c.operands
    _, size, shard = c.attributes
    number = b.full((), size, x.dtype)
    own = b.binary("equal", b.binary("floor_divide", x, number), b.full((), shard, x.dtype), "bool")
    return b.where(own, b.binary("remainder", x, number), b.full((), int(ignored), x.dtype))


@translates("gather_tree")
def gather_tree(b: Builder, c: Call) -> Made:
    return b.emit("gather_tree", [c.operands[0], c.operands[1]], {}, c.types[0])


@translates("triple_product")
def triple_product(b: Builder, c: Call) -> Made:
    first, second, third = (c.tensor(b, position) for position in range(3))
    return b.scale(b.binary("multiply", b.binary("multiply", first, second), third), c.attributes[0])
