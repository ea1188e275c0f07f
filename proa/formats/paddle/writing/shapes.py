"""Creation, shapes, joining and splitting, reductions, order."""

from __future__ import annotations

from typing import Any

from .builder import Builder, Made, is_unknown, reduced_sizes
from .registry import Call, translates

# ---- creation ----------------------------------------------------------------------------------------------------


@translates("full", "zeros", "ones")
def full(b: Builder, c: Call) -> Made:
    value = c.operands[0] if c.name == "full" else float(c.name == "ones")
    if isinstance(value, Made):
        return b.expand(b.cast(b.reshape(value, ()), c.dtype), c.sizes)
    if is_unknown(value):
        return b.expand(b.scalar(value, c.dtype), c.sizes)
    return b.full(c.sizes, value, c.dtype)


@translates("arange")
def arange(b: Builder, c: Call) -> Made:
    start, step = c.operands
    (count,) = c.sizes
    if isinstance(start, Made) or isinstance(step, Made):
        raise NotImplementedError("arange between tensors")
    kind = c.dtype if c.dtype in ("int32", "int64", "float32", "float64") else "float32"
    if is_unknown(count) or is_unknown(start) or is_unknown(step):
        wide = "int64" if kind.startswith("int") else "float64"
        room = (
            b.size(count)
            if wide == "int64"
            else b.binary("subtract", b.cast(b.size(count), wide), b.full((), 0.5, wide))
        )
        first, by = b.scalar(start, wide), b.scalar(step, wide)
        last = b.binary("add", first, b.binary("multiply", room, by))
        inputs = [b.cast(number, kind) for number in (first, last, by)]
    else:
        end = start + (count - 0.5) * step if kind.startswith("float") else start + count * step
        inputs = [b.argument(number, kind) for number in (start, end, step)]
    made = b.emit("arange", inputs, {"dtype": kind, "place": "undefined"}, (kind, c.sizes))
    return b.cast(made, c.dtype)


@translates("linspace")
def linspace(b: Builder, c: Call) -> Made:
    inputs = [b.cast(b.reshape(c.tensor(b, p, "float64"), (1,)), c.dtype) for p in (0, 1)]
    inputs.append(b.argument(c.sizes[0], "int32"))
    return b.emit("linspace", inputs, {"dtype": c.dtype, "place": "undefined"}, c.types[0])


@translates("logspace")
def logspace(b: Builder, c: Call) -> Made:
    start, stop, base = (b.reshape(c.tensor(b, p, c.dtype), (1,)) for p in (0, 1, 2))
    inputs = [start, stop, b.argument(c.sizes[0], "int32"), base]
    return b.emit("logspace", inputs, {"dtype": c.dtype, "place": "undefined"}, c.types[0])


@translates("eye")
def eye(b: Builder, c: Call) -> Made:
    inputs = [b.reshape(b.size(size), (1,)) if is_unknown(size) else b.argument(size, "int32") for size in c.sizes]
    return b.emit("eye", inputs, {"dtype": c.dtype, "place": "undefined"}, c.types[0])


# ---- shapes ------------------------------------------------------------------------------------------------------


@translates("reshape")
def reshape(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    result = b.reshape(x, c.sizes)
    return b.same("assign", x) if result is x else result


@translates("transpose")
def transpose(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    result = b.transpose(x, [axis % x.ndim for axis in c.attributes[0]])
    return b.same("assign", x) if result is x else result


@translates("expand")
def expand(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    result = b.expand(x, c.sizes)
    return b.same("assign", x) if result is x else result


@translates("concat")
def concat(b: Builder, c: Call) -> Made:
    parts = [c.tensor(b, position) for position in range(len(c.operands))]
    axis = c.attributes[0]
    return b.emit("concat", [parts, b.argument(axis, "int32")], {}, c.types[0])


@translates("stack")
def stack(b: Builder, c: Call) -> Made:
    parts = [c.tensor(b, position) for position in range(len(c.operands))]
    return b.emit("stack", [parts], {"axis": int(c.attributes[0])}, c.types[0])


@translates("split")
def split(b: Builder, c: Call) -> list[Made]:
    sections, axis = c.attributes
    extents = [sizes[axis] for _, sizes in c.types]
    inputs = [c.operands[0], b.shape_of(extents), b.argument(axis, "int32")]
    del sections
    return b.emit("split", inputs, {}, list(c.types))


@translates("unbind")
def unbind(b: Builder, c: Call) -> list[Made]:
    return b.emit("unbind", [c.operands[0]], {"axis": int(c.attributes[0])}, list(c.types))


@translates("tile")
def tile(b: Builder, c: Call) -> Made:
    return b.emit("tile", [c.operands[0], b.shape_of(c.attributes[0])], {}, c.types[0])


@translates("flip")
def flip(b: Builder, c: Call) -> Made:
    return b.same("flip", c.operands[0], axis=list(c.attributes[0]))


@translates("roll")
def roll(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    shifts, axes = c.attributes
    return b.emit("roll", [x, b.integers(shifts)], {"axis": list(axes)}, c.types[0])


@translates("pad")
def pad(b: Builder, c: Call) -> Made:
    x, value = c.operands
    pairs = c.attributes[0]
    cut = [axis for axis, (before, after) in enumerate(pairs) if before < 0 or after < 0]
    starts = [max(-pairs[axis][0], 0) for axis in cut]
    x = b.slice(x, cut, starts, [x.sizes[axis] - max(-pairs[axis][1], 0) for axis in cut])
    borders = [max(number, 0) for pair in pairs for number in pair]
    if not any(borders):
        return b.same("assign", x) if not cut else x
    kind = "float32" if x.dtype in ("float16", "bfloat16") else x.dtype
    inputs = [x, b.argument(value, kind)]
    return b.emit("pad", inputs, {"paddings": borders}, c.types[0])


@translates("tril", "triu")
def triangle(b: Builder, c: Call) -> Made:
    return b.same(c.name, c.operands[0], diagonal=int(c.attributes[0]))


@translates("diagonal", "diag")
def diagonal(b: Builder, c: Call) -> Made:
    offset, first, second = c.attributes
    return b.emit("diagonal", [c.operands[0]], {"offset": offset, "axis1": first, "axis2": second}, c.types[0])


@translates("with_diagonal")
def with_diagonal(b: Builder, c: Call) -> Made:
    offset, first, second = c.attributes
    attributes = {"offset": offset, "dim1": first, "dim2": second}
    return b.emit("fill_diagonal_tensor", [c.operands[0], c.tensor(b, 1)], attributes, c.types[0])


@translates("view_dtype")
def view_dtype(b: Builder, c: Call) -> Made:
    return b.emit("view_dtype", [c.operands[0]], {"dtype": c.dtype}, c.types[0])


@translates("as_complex", "as_real")
def as_complex(b: Builder, c: Call) -> Made:
    return b.emit(c.name, [c.operands[0]], {}, c.types[0])


# ---- reductions --------------------------------------------------------------------------------------------------


def _axes(c: Call) -> tuple[list[int], bool]:
    """Axes in full: Paddle takes none for all of them, which our 0-d tensors have none of."""
    axis, keepdim = c.attributes[:2]
    x = c.operands[0]
    axes = [axis] if isinstance(axis, int) else list(range(x.ndim)) if axis is None else list(axis)
    return [a % x.ndim for a in axes] if x.ndim else [], bool(keepdim)


@translates("sum")
def sum_over(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    axes, keepdim = _axes(c)
    inputs = [x, b.integers(axes)]
    return b.emit("sum", inputs, {"dtype": c.dtype, "keepdim": keepdim}, c.types[0])


@translates("sum_as")
def sum_as(b: Builder, c: Call) -> Made:
    target = b.expand(b.full((), 0, c.dtype), c.sizes)
    return b.emit("reduce_as", [c.operands[0], target], {}, c.types[0])


@translates("mean", "max", "min")
def reduce(b: Builder, c: Call) -> Made:
    axes, keepdim = _axes(c)
    x = b.cast(c.operands[0], c.dtype)
    if c.dtype == "bool":  # the largest or smallest of booleans
        attributes = {"axis": axes, "keepdim": keepdim}
        return b.emit("all" if c.name == "min" else "any", [x], attributes, c.types[0])
    return b.emit(c.name, [x, b.integers(axes)], {"keepdim": keepdim}, c.types[0])


@translates("prod")
def prod(b: Builder, c: Call) -> Made:
    axes, keepdim = _axes(c)
    x = b.cast(c.operands[0], c.dtype)
    attributes = {"keepdim": keepdim, "reduce_all": len(axes) == x.ndim}
    return b.emit("prod", [x, b.integers(axes)], attributes, c.types[0])


@translates("any", "all")
def truth(b: Builder, c: Call) -> Made:
    axes, keepdim = _axes(c)
    x = b.cast(c.operands[0], "bool")
    return b.emit(c.name, [x], {"axis": axes, "keepdim": keepdim}, c.types[0])


@translates("logsumexp")
def logsumexp(b: Builder, c: Call) -> Made:
    axes, keepdim = _axes(c)
    x = c.operands[0]
    attributes = {"axis": axes, "keepdim": keepdim, "reduce_all": len(axes) == x.ndim}
    return b.emit("logsumexp", [x], attributes, c.types[0])


@translates("p_norm")
def p_norm(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    p, axis, keepdim = c.attributes
    axes = [axis] if isinstance(axis, int) else list(range(x.ndim)) if axis is None else list(axis)
    if p == 2:
        real = b.emit("abs", [x], {}, (c.dtype, x.sizes)) if x.dtype.startswith("complex") else x
        return b.same("sqrt", b.reduce("sum", b.same("square", real), axes, keepdim, dtype=c.dtype))
    size = b.emit("abs", [x], {}, (c.dtype, x.sizes))
    if p == 1:
        return b.reduce("sum", size, axes, keepdim, dtype=c.dtype)
    if p in (float("inf"), float("-inf")):
        return b.reduce("max" if p > 0 else "min", size, axes, keepdim)
    if p == 0:
        present = b.cast(b.binary("not_equal", x, b.full((), 0, x.dtype), "bool"), c.dtype)
        return b.reduce("sum", present, axes, keepdim, dtype=c.dtype)
    powers = b.binary("elementwise_pow", size, b.full((), p, c.dtype))
    total = b.reduce("sum", powers, axes, keepdim, dtype=c.dtype)
    return b.binary("elementwise_pow", total, b.full((), 1 / p, c.dtype))


@translates("count")
def count(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    axes, keepdim = _axes(c)
    if c.attributes[2]:
        found = b.emit("logical_not", [b.emit("isnan", [x], {}, ("bool", x.sizes))], {}, ("bool", x.sizes))
    else:
        found = b.binary("not_equal", x, b.full((), 0, x.dtype), "bool")
    return b.reduce("sum", b.cast(found, c.dtype), axes, keepdim, dtype=c.dtype)


@translates("argmax", "argmin")
def argmax(b: Builder, c: Call) -> Made:
    axis, keepdim, _ = c.attributes
    inputs = [_ordered(b, c.operands[0]), b.argument(0 if axis is None else axis, "int64")]
    attributes = {"keepdims": bool(keepdim), "flatten": axis is None, "dtype": c.dtype}
    return b.emit(c.name, inputs, attributes, c.types[0])


@translates("argsort", "sort")
def argsort(b: Builder, c: Call) -> Made:
    x = _ordered(b, c.operands[0])
    axis, descending = c.attributes
    attributes = {"axis": int(axis), "descending": bool(descending), "stable": True}
    ordered, places = b.emit_all("argsort", [x], attributes, x.type, ("int64", x.sizes))
    return b.cast(ordered if c.name == "sort" else places, c.dtype)


def _ordered(b: Builder, x: Made) -> Made:
    """A type that Paddle has an order for."""
    return b.cast(x, "int32") if x.dtype == "bool" else x


@translates("topk")
def topk(b: Builder, c: Call) -> list[Made]:
    axis, k, largest = c.attributes
    inputs = [c.operands[0], b.argument(k, "int32")]
    attributes = {"axis": int(axis), "largest": bool(largest), "sorted": True}
    values, places = b.emit_all("topk", inputs, attributes, c.types[0], ("int64", c.types[1][1]))
    return [values, b.cast(places, c.types[1][0])]


@translates("kthvalue")
def kthvalue(b: Builder, c: Call) -> list[Made]:
    axis, keepdim, k, _ = c.attributes
    attributes = {"k": int(k), "axis": int(axis), "keepdim": bool(keepdim)}
    return b.emit_all("kthvalue", [c.operands[0]], attributes, *c.types)


@translates("mode")
def mode(b: Builder, c: Call) -> list[Made]:
    axis, keepdim = c.attributes
    return b.emit_all("mode", [c.operands[0]], {"axis": int(axis), "keepdim": bool(keepdim)}, *c.types)


@translates("searchsorted")
def searchsorted(b: Builder, c: Call) -> Made:
    attributes = {"out_int32": c.dtype == "int32", "right": bool(c.attributes[0])}
    return b.emit("searchsorted", [c.operands[0], c.tensor(b, 1)], attributes, c.types[0])


@translates("cumsum")
def cumsum(b: Builder, c: Call) -> Made:
    axis, reverse = c.attributes
    x = b.cast(c.operands[0], c.dtype)
    attributes = {"flatten": False, "exclusive": False, "reverse": bool(reverse)}
    return b.emit("cumsum", [x, b.argument(axis, "int32")], attributes, c.types[0])


@translates("cumprod")
def cumprod(b: Builder, c: Call) -> Made:
    axis, exclusive, reverse = c.attributes
    x = b.cast(c.operands[0], c.dtype)
    return b.same("cumprod", x, dim=int(axis), exclusive=bool(exclusive), reverse=bool(reverse))


@translates("logcumsumexp")
def logcumsumexp(b: Builder, c: Call) -> Made:
    return b.same(
        "logcumsumexp", c.operands[0], axis=int(c.attributes[0]), flatten=False, exclusive=False, reverse=False
    )


@translates("cumulative_extreme")
def cumulative_extreme(b: Builder, c: Call) -> list[Made]:
    axis, largest, _ = c.attributes
    attributes = {"axis": int(axis), "dtype": c.types[1][0]}
    return b.emit_all("cummax" if largest else "cummin", [c.operands[0]], attributes, *c.types)


@translates("order_statistic")
def order_statistic(b: Builder, c: Call) -> Made:
    axis, keepdim, rank = c.attributes
    x = c.operands[0]
    only = axis[0]
    sizes = reduced_sizes(x.sizes, [only], keepdim)
    attributes = {"k": rank + 1, "axis": only, "keepdim": bool(keepdim)}
    found: Any = b.emit_all("kthvalue", [x], attributes, (x.dtype, sizes), ("int64", sizes))[0]
    if not x.dtype.startswith("float"):
        return found
    bad = b.emit("isnan", [x], {}, ("bool", x.sizes))
    bad = b.emit("any", [bad], {"axis": [only], "keepdim": bool(keepdim)}, ("bool", sizes))
    return b.where(bad, b.full((), float("nan"), found.dtype), found)
