"""Reading and writing parts of tensors: slices, index tensors, along an axis."""

from __future__ import annotations

from collections.abc import Sequence

from ....core.symbols import same_sizes
from ....graph.written_regions import Region
from ....ops.shape.slicing import POSITION, is_dynamic
from .builder import Builder, Made, broadcast_sizes, is_unknown
from .registry import Call, translates


@translates("getitem")
def getitem(b: Builder, c: Call) -> Made:
    x, position = c.operands
    if isinstance(position, Made):
        return _read_at_tensor(b, c, x, position)
    region = Region(x.sizes, c.attributes[0], position)
    result = x
    if any(step != 1 for step in region.steps):
        result = _strided(b, result, region)
    else:
        dropped = [axis for axis in region.dropped if axis in region.axes]
        result = b.slice(result, region.axes, region.starts, region.ends, dropped)
        region.turned = [axis - sum(d < axis for d in dropped) for axis in region.turned]
    result = b.flip(result, region.turned)
    result = b.reshape(result, c.sizes)
    return b.same("assign", x) if result is x else result


def _strided(b: Builder, x: Made, region: Region) -> Made:
    extents = [x.sizes[axis] for axis in region.axes]
    first, last = b.bounds(region.starts, extents)[0], b.bounds(region.ends, extents)[0]
    inputs = [x, first, last, b.integers(region.steps)]
    return b.emit("strided_slice", inputs, {"axes": region.axes}, (x.dtype, region.extents))


def _read_at_tensor(b: Builder, c: Call, x: Made, position: Made) -> Made:
    """One dynamic entry whose place is a tensor: a loop's counter as an index."""
    spec = c.attributes[0]
    entries = [entry for entry in spec if entry is not None]
    dynamic = [axis for axis, entry in enumerate(entries) if is_dynamic(entry)]
    if len(dynamic) != 1 or any(
        not same_sizes(e, (0, n, 1)) for a, (e, n) in enumerate(zip(entries, x.sizes, strict=False)) if a != dynamic[0]
    ):
        raise NotImplementedError("several places given by one tensor")
    axis = dynamic[0]
    length = 1 if entries[axis] == POSITION else entries[axis][0]
    start = b.reshape(b.cast(position, "int64"), (1,))
    end = b.binary("add", start, b.integers([length]))
    sizes = list(x.sizes)
    sizes[axis] = length
    attributes = {"axes": [axis], "infer_flags": [-1], "decrease_axis": []}
    return b.reshape(b.emit("slice", [x, start, end], attributes, (x.dtype, sizes)), c.sizes)


@translates("setitem")
def setitem(b: Builder, c: Call) -> Made:
    x, value, position = c.operands[0], c.tensor(b, 1), c.operands[2]
    if isinstance(position, Made):
        raise NotImplementedError("writing where a tensor says")
    region = Region(x.sizes, c.attributes[0], position)
    # The value as a tensor with every axis of x, so that new and dropped axes need no saying.
    sizes = tuple(region.extents)
    spec_sizes = [1 if e is None else None for e in c.attributes[0] if e != POSITION]
    inner = [n for axis, n in enumerate(sizes) if axis not in region.dropped]
    full, remaining = [], iter(inner)
    for given in spec_sizes:
        full.append(1 if given == 1 else next(remaining))
    full += list(remaining)
    value = b.reshape(b.expand(b.cast(value, x.dtype), full), sizes)
    value = b.flip(value, region.turned)
    if not region.axes:
        return b.same("assign", value)
    extents = [x.sizes[axis] for axis in region.axes]
    starts, ends = b.bounds(region.starts, extents)[0], b.bounds(region.ends, extents)[0]
    inputs = [x, value, starts, ends, b.integers(region.steps)]
    attributes = {"axes": region.axes, "decrease_axes": [], "none_axes": []}
    return b.emit("set_value_with_tensor", inputs, attributes, x.type)


# ---- index tensors -----------------------------------------------------------------------------------------------


def _good(b: Builder, index: Made, extent: int) -> Made:
    """Indices that count from the front."""
    index = index if index.dtype in ("int32", "int64") else b.cast(index, "int64")
    size = b.cast(b.size(extent), index.dtype) if is_unknown(extent) else b.full((), extent, index.dtype)
    negative = b.binary("less_than", index, b.full((), 0, index.dtype), "bool")
    return b.where(negative, b.binary("add", index, size), index)


def _front_order(ndim: int, axes: Sequence[int]) -> list[int]:
    return [*axes, *(axis for axis in range(ndim) if axis not in axes)]


def _inverse(perm: Sequence[int]) -> list[int]:
    return [perm.index(axis) for axis in range(len(perm))]


@translates("index_get")
def index_get(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    axes = [axis for axis, _ in c.attributes[0]]
    indices = [_good(b, i, x.sizes[a]) for i, a in zip((o for o in c.operands[1:] if o is not None), axes, strict=True)]
    if len(axes) == 1:
        (index,), (axis,) = indices, axes
        count = 1
        for size in index.sizes:
            count *= size
        flat = b.reshape(index, (count,))
        sizes = (*x.sizes[:axis], count, *x.sizes[axis + 1 :])
        taken = b.emit("gather", [x, flat, b.argument(axis, "int32")], {}, (x.dtype, sizes))
        return b.reshape(taken, c.sizes)
    common = broadcast_sizes(*(i.sizes for i in indices))
    parts = [b.expand(b.cast(i, "int64"), common) for i in indices]
    places = b.emit("stack", [parts], {"axis": len(common)}, ("int64", (*common, len(parts))))
    x = b.transpose(x, _front_order(x.ndim, axes))
    taken = b.emit("gather_nd", [x, places], {}, (x.dtype, (*common, *x.sizes[len(axes) :])))
    front = axes[0] if axes == list(range(axes[0], axes[0] + len(axes))) else 0
    count = len(common)
    order = [*range(count, count + front), *range(count), *range(count + front, taken.ndim)]
    return b.transpose(taken, order)


@translates("index_set", "index_accumulate")
def index_set(b: Builder, c: Call) -> Made:
    x, value = c.operands[0], b.cast(c.tensor(b, 1), c.operands[0].dtype)
    axes = [axis for axis, _ in c.attributes[0]]
    indices = [_good(b, i, x.sizes[a]) for i, a in zip((o for o in c.operands[2:] if o is not None), axes, strict=True)]
    common = broadcast_sizes(*(i.sizes for i in indices))
    indices = [b.expand(b.cast(i, "int64"), common) for i in indices]
    front = axes[0] if axes == list(range(axes[0], axes[0] + len(axes))) else 0
    rest = [n for axis, n in enumerate(x.sizes) if axis not in axes]
    target = (*rest[:front], *common, *rest[front:])
    value = b.expand(value, target)
    count = len(common)
    value = b.transpose(value, [*range(front, front + count), *range(front), *range(front + count, len(target))])
    order = _front_order(x.ndim, axes)
    moved = b.transpose(x, order)
    result = b.emit("index_put", [moved, indices, value], {"accumulate": c.name == "index_accumulate"}, moved.type)
    return b.transpose(result, _inverse(order))


@translates("gather_nd")
def gather_nd(b: Builder, c: Call) -> Made:
    return b.emit("gather_nd", [c.operands[0], c.operands[1]], {}, c.types[0])


@translates("scatter_nd")
def scatter_nd(b: Builder, c: Call) -> Made:
    x, value, index = c.operands[0], c.tensor(b, 1), c.operands[2]
    if c.attributes[1]:
        target = (*index.sizes[:-1], *x.sizes[index.sizes[-1] :])
        return b.emit("scatter_nd_add", [x, index, b.expand(value, target)], {}, x.type)
    parts = b.emit("unbind", [index], {"axis": index.ndim - 1}, [(index.dtype, index.sizes[:-1])] * index.sizes[-1])
    return b.emit("index_put", [x, parts, value], {"accumulate": False}, x.type)


@translates("take_along_axis")
def take_along_axis(b: Builder, c: Call) -> Made:
    x, index = c.operands
    axis = c.attributes[0]
    index = b.expand(_good(b, index, x.sizes[axis]), c.sizes)
    return b.emit("take_along_axis", [x, index], {"axis": int(axis)}, c.types[0])


@translates("pick_along", "pick_last")
def pick_along(b: Builder, c: Call) -> Made:
    x, index = c.operands
    axis = c.attributes[0] if c.name == "pick_along" else x.ndim - 1
    return b.emit("take_along_axis", [x, b.cast(index, "int64")], {"axis": int(axis)}, c.types[0])


@translates("put_along_axis")
def put_along_axis(b: Builder, c: Call) -> Made:
    x, value, index = c.operands[0], c.tensor(b, 1), c.operands[2]
    axis, _, reduce = c.attributes
    index = b.expand(_good(b, index, x.sizes[axis]), value.sizes)
    name = {"multiply": "mul"}.get(reduce, reduce)
    attributes = {"axis": int(axis), "reduce": name, "include_self": True}
    return b.emit("put_along_axis", [x, index, value], attributes, x.type)


@translates("spread_along", "scatter_last")
def spread_along(b: Builder, c: Call) -> Made:
    x, index = c.operands
    axis = c.attributes[0] if c.name == "spread_along" else x.ndim - 1
    zeros = b.full(c.sizes, 0, c.dtype)
    attributes = {"axis": int(axis), "reduce": "add", "include_self": True}
    return b.emit("put_along_axis", [zeros, b.cast(index, "int64"), x], attributes, c.types[0])


@translates("folded")
def folded(b: Builder, c: Call) -> Made:
    """Indices brought into range."""
    index = c.operands[0]
    size, mode = c.attributes
    if mode == "clip":
        return b.emit("clip", [index, b.argument(0, index.dtype), b.argument(size - 1, index.dtype)], {}, index.type)
    return b.binary("remainder", index, b.full((), size, index.dtype))


@translates("getitem_grad")
def getitem_grad(b: Builder, c: Call) -> Made:
    x, position = c.operands
    region = Region(c.sizes, c.attributes[0], position)
    value = b.flip(b.reshape(x, tuple(region.extents)), region.turned)
    zeros = b.full(c.sizes, 0, c.dtype)
    extents = [c.sizes[axis] for axis in region.axes]
    starts, ends = b.bounds(region.starts, extents)[0], b.bounds(region.ends, extents)[0]
    inputs = [zeros, value, starts, ends, b.integers(region.steps)]
    attributes = {"axes": region.axes, "decrease_axes": [], "none_axes": []}
    return b.emit("set_value_with_tensor", inputs, attributes, c.types[0])
