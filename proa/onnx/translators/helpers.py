"""Primitives that our compositions use, and gradients that appear in models."""

from __future__ import annotations

from ..builder import Builder, Made
from ..registry import Call, translates
from .indexing import along
from .order import ordered, top


@translates("choice_among")
def choice_among(b: Builder, c: Call) -> Made:
    return b.cast(b.reshape(c.operands[0], c.sizes), c.dtype)


@translates("chosen")
def chosen(b: Builder, c: Call) -> Made:
    return b.cast(b.binary("Equal", c.tensor(b, 0), c.tensor(b, 1), "bool"), c.dtype)


@translates("put_where_zero")
def at_least_one(b: Builder, c: Call) -> Made:
    return b.with_number("Max", c.operands[0], 1)


@translates("log_of_base")
def log_of_base(b: Builder, c: Call) -> Made:
    x, y = c.tensor(b, 0, c.dtype), c.tensor(b, 1, c.dtype)
    at_zero = b.binary("And", b.with_number("Equal", x, 0, "bool"), b.with_number("GreaterOrEqual", y, 0, "bool"))
    logarithm = b.same("Log", b.where(at_zero, b.scalar(1, x.dtype), x))
    return b.where(at_zero, b.scalar(0, c.dtype), logarithm)


@translates("exponent_below")
def exponent_below(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return b.where(b.with_number("Equal", x, 0, "bool"), b.scalar(1, x.dtype), b.with_number("Sub", x, 1))


@translates("shard_index")
def shard_index(b: Builder, c: Call) -> Made:
    """The number within a shard, or what stands for numbers of other shards."""
    x, ignored = c.operands
    _, size, shard = c.attributes
    number = b.scalar(size, x.dtype)
    own = b.with_number("Equal", b.floor_divide(x, number), shard, "bool")
    return b.where(own, b.binary("Mod", x, number), b.scalar(int(ignored), x.dtype))


@translates("between")
def between(b: Builder, c: Call) -> Made:
    low, high, weight = (c.tensor(b, position, "float64") for position in range(3))
    mixed = b.binary("Add", low, b.binary("Mul", b.binary("Sub", high, low), weight))
    return b.cast(b.where(b.binary("Equal", low, high, "bool"), low, mixed), c.dtype)


@translates("quantile_places")
def quantile_places(b: Builder, c: Call) -> list[Made]:
    """Positions around each quantile of each row, and the weight of the upper (`ops/math/statistics/quantiles.py`)."""
    order, nans, q = c.operands[0], c.operands[1], c.tensor(b, 2, "float64")
    skip_nan, interpolation = c.attributes
    size = order.sizes[-1]
    nans = b.reshape(nans, (*nans.sizes, 1))
    whole = b.cast(b.binary("Sub", b.size(size), b.scalar(1, "int64")), "float64")
    last = b.binary("Sub", whole, b.cast(nans, "float64"))
    last = b.with_number("Max", last, 0) if skip_nan else b.expand(whole, nans.sizes)
    exact = b.binary("Mul", q, last)
    low = b.same({"nearest": "Round", "higher": "Ceil"}.get(interpolation, "Floor"), exact)
    high = b.same("Ceil", exact) if interpolation in ("linear", "midpoint") else low
    if interpolation == "linear":
        weight = b.binary("Sub", exact, low)
    else:
        weight = b.expand(b.scalar(0.5 if interpolation == "midpoint" else 0.0, "float64"), exact.sizes)
    if not skip_nan:
        bad = b.with_number("Greater", nans, 0, "bool")
        low, high = (b.where(bad, whole, rank) for rank in (low, high))
    places = [along(b, order, b.cast(rank, "int64"), order.ndim - 1) for rank in (low, high)]
    return [b.cast(b.expand(v, sizes), dtype) for v, (dtype, sizes) in zip((*places, weight), c.types, strict=True)]


@translates("mode")
def mode(b: Builder, c: Call) -> list[Made]:
    """The commonest element (the smallest of several) and its last position: each is compared with each."""
    x = ordered(b, c.operands[0])
    axis, _ = c.attributes
    if not x.ndim:
        return [b.copied(c.operands[0]), b.filled((), 0, c.types[1][0])]
    order = [*(a for a in range(x.ndim) if a != axis % x.ndim), axis % x.ndim]
    rows = b.transpose(x, order)
    values, places = top(b, rows, rows.sizes[-1], rows.ndim - 1, False)
    same = b.binary(
        "Equal",
        b.reshape(values, (*values.sizes, 1)),
        b.reshape(values, (*values.sizes[:-1], 1, values.sizes[-1])),
        "bool",
    )
    counts = b.reduce("ReduceSum", b.cast(same, "int64"), [same.ndim - 1])
    kind = ("int64", (*counts.sizes[:-1], 1))
    first = b.emit("ArgMax", [counts], kind, axis=counts.ndim - 1, keepdims=1)
    # Equal elements stand side by side, in order of their positions: the last of the run.
    length = along(b, counts, first, counts.ndim - 1)
    chosen = b.binary("Add", first, b.with_number("Sub", length, 1))
    found = [along(b, part, chosen, rows.ndim - 1) for part in (values, places)]
    return [b.cast(b.reshape(v, sizes), dtype) for v, (dtype, sizes) in zip(found, c.types, strict=True)]
