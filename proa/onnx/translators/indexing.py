"""Reading and writing parts of tensors: slices, index tensors, along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.symbols import same_size, same_sizes
from ...graph.written_regions import Region
from ...ops.shape.slicing import POSITION, is_dynamic
from ..builder import Builder, Made, broadcast_sizes, is_unknown
from ..registry import Call, translates
from .creation import counted

# ---- slices --------------------------------------------------------------------------------------------------------


@translates("getitem")
def getitem(b: Builder, c: Call) -> Made:
    x, position = c.operands
    if isinstance(position, Made):
        return _read_at_tensor(b, c, x, position)
    region = Region(x.sizes, c.attributes[0], position)
    if len(region.axes) == 1 and region.axes == region.dropped and not is_unknown(region.starts[0]):
        taken = b.gather(x, b.scalar(region.starts[0], "int64"), region.axes[0])
        return b.reshape(taken, c.sizes)
    result = _sliced(b, x, region)
    result = b.reshape(b.flip(result, region.turned), c.sizes)
    return b.copied(x) if result is x else result


def _sliced(b: Builder, x: Made, region: Region) -> Made:
    if all(step == 1 for step in region.steps):
        return b.slice(x, region.axes, region.starts, region.ends)
    extents = [region.extents[axis] for axis in region.axes]
    return b.slice(x, region.axes, region.starts, region.ends, region.steps, extents)


def _moving_axis(x: Made, spec: tuple[Any, ...]) -> tuple[int, Any]:
    """The one axis whose place is a tensor, and its entry."""
    entries = [entry for entry in spec if entry is not None]
    dynamic = [axis for axis, entry in enumerate(entries) if is_dynamic(entry)]
    if len(dynamic) != 1 or any(
        not same_sizes(e, (0, n, 1)) for a, (e, n) in enumerate(zip(entries, x.sizes, strict=False)) if a != dynamic[0]
    ):
        raise NotImplementedError("several places given by one tensor")
    return dynamic[0], entries[dynamic[0]]


def _places(b: Builder, position: Made, entry: Any) -> Made:
    """The numbers of the elements that are meant, as a vector."""
    start = b.reshape(b.cast(position, "int64"), (1,))
    return start if entry == POSITION else b.binary("Add", counted(b, entry[0]), start)


def _read_at_tensor(b: Builder, c: Call, x: Made, position: Made) -> Made:
    """One dynamic entry whose place is a tensor: a loop's counter as an index."""
    axis, entry = _moving_axis(x, c.attributes[0])
    return b.reshape(b.gather(x, _places(b, position, entry), axis), c.sizes)


def _whole_value(
    b: Builder, value: Made, spec: tuple[Any, ...], extents: Sequence[int], dropped: Sequence[int]
) -> Made:
    """The value as a tensor with every axis of x, so that new and dropped axes need no saying."""
    left = iter([n for axis, n in enumerate(extents) if axis not in dropped])
    full = [1 if entry is None else next(left) for entry in spec if entry != POSITION]
    return b.reshape(b.expand(value, [*full, *left]), tuple(extents))


@translates("setitem")
def setitem(b: Builder, c: Call) -> Made:
    x, value, position = c.operands[0], c.tensor(b, 1, c.dtype), c.operands[2]
    spec = c.attributes[0]
    if isinstance(position, Made):
        axis, entry = _moving_axis(x, spec)
        extents = list(x.sizes)
        extents[axis] = 1 if entry == POSITION else entry[0]
        value = _whole_value(b, value, spec, extents, [axis] if entry == POSITION else [])
        return _put_rows(b, x, value, _places(b, position, entry), axis)
    region = Region(x.sizes, spec, position)
    value = b.flip(_whole_value(b, value, spec, region.extents, region.dropped), region.turned)
    return b.copied(value) if not region.axes else _put(b, x, value, region, 0)


def _put(b: Builder, x: Made, value: Made, region: Region, place: int) -> Made:
    """Writes along one axis what was written along those behind it."""
    if place == len(region.axes):
        return value
    axis, start, end, step = (part[place] for part in (region.axes, region.starts, region.ends, region.steps))
    inner = b.slice(x, [axis], [start], [end], [step], [region.extents[axis]])
    inner = _put(b, inner, value, region, place + 1)
    if step != 1:
        numbers = b.binary("Mul", counted(b, region.extents[axis]), b.size(step))
        return _put_rows(b, x, inner, b.binary("Add", numbers, b.size(start)), axis)
    extent = x.sizes[axis]
    parts = [inner]
    if is_unknown(start) or start:
        parts.insert(0, b.slice(x, [axis], [0], [start]))
    if not same_size(end, extent):
        parts.append(b.slice(x, [axis], [end], [extent]))
    return b.emit("Concat", parts, x.type, axis=axis)


def _put_rows(b: Builder, x: Made, value: Made, places: Made, axis: int) -> Made:
    """x with other elements at some places of an axis."""
    order = [axis, *(a for a in range(x.ndim) if a != axis)]
    moved = b.transpose(x, order)
    index = b.reshape(places, (*places.sizes, 1))
    result = b.emit("ScatterND", [moved, index, b.transpose(value, order)], moved.type)
    return b.transpose(result, inverse(order))


@translates("getitem_grad")
def getitem_grad(b: Builder, c: Call) -> Made:
    x, position = c.operands
    if isinstance(position, Made):
        raise NotImplementedError("the place is a tensor")
    region = Region(c.sizes, c.attributes[0], position)
    value = b.flip(b.reshape(x, tuple(region.extents)), region.turned)
    return _put(b, b.expand(b.scalar(0, c.dtype), c.sizes), value, region, 0) if region.axes else b.copied(value)


# ---- index tensors -------------------------------------------------------------------------------------------------


def front_order(ndim: int, axes: Sequence[int]) -> list[int]:
    return [*axes, *(axis for axis in range(ndim) if axis not in axes)]


def inverse(perm: Sequence[int]) -> list[int]:
    return [perm.index(axis) for axis in range(len(perm))]


def as_index(b: Builder, index: Made) -> Made:
    """Indices in a type that ONNX takes; it counts negative ones from the end, as we do."""
    return index if index.dtype in ("int32", "int64") else b.cast(index, "int64")


@translates("index_get")
def index_get(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    axes = [axis for axis, _ in c.attributes[0]]
    indices = [as_index(b, index) for index in c.operands[1:] if index is not None]
    if len(axes) == 1:
        return b.reshape(b.gather(x, indices[0], axes[0]), c.sizes)
    common = broadcast_sizes(*(index.sizes for index in indices))
    places = b.stack([b.expand(b.cast(index, "int64"), common) for index in indices], len(common))
    moved = b.transpose(x, front_order(x.ndim, axes))
    kind = (x.dtype, (*common, *moved.sizes[len(axes) :]))
    taken = b.emit("GatherND", [moved, places], kind)
    front = _front(axes)
    count = len(common)
    return b.transpose(taken, [*range(count, count + front), *range(count), *range(count + front, taken.ndim)])


def _front(axes: Sequence[int]) -> int:
    """Where the axes of the indices stand in the result: in the place of neighbours, else in front."""
    return axes[0] if list(axes) == list(range(axes[0], axes[0] + len(axes))) else 0


@translates("index_set", "index_accumulate")
def index_set(b: Builder, c: Call) -> Made:
    x, value = c.operands[0], c.tensor(b, 1, c.dtype)
    axes = [axis for axis, _ in c.attributes[0]]
    indices = [b.cast(index, "int64") for index in c.operands[2:] if index is not None]
    common = broadcast_sizes(*(index.sizes for index in indices))
    places = b.stack([b.expand(index, common) for index in indices], len(common))
    front = _front(axes)
    rest = [n for axis, n in enumerate(x.sizes) if axis not in axes]
    value = b.expand(value, (*rest[:front], *common, *rest[front:]))
    count = len(common)
    value = b.transpose(value, [*range(front, front + count), *range(front), *range(front + count, value.ndim)])
    order = front_order(x.ndim, axes)
    moved = b.transpose(x, order)
    result = scattered(b, moved, places, value, c.name == "index_accumulate")
    return b.transpose(result, inverse(order))


def scattered(b: Builder, x: Made, places: Made, value: Made, add: bool) -> Made:
    """x with a value put at, or added to, places that are vectors of indices."""
    if not add:
        return b.emit("ScatterND", [x, places, value], x.type)
    wide = x.dtype if x.dtype in ("float32", "float64", "int32", "int64") else _wider(x.dtype)
    inputs = [b.cast(x, wide), places, b.cast(value, wide)]
    return b.cast(b.emit("ScatterND", inputs, (wide, x.sizes), reduction="add"), x.dtype)


def _wider(dtype: str) -> str:
    return "float32" if dtype.startswith(("float", "bfloat")) else "int64"


@translates("gather_nd")
def gather_nd(b: Builder, c: Call) -> Made:
    x, index = c.operands
    if not is_unknown(index.sizes[-1]) and index.sizes[-1] == 0:
        return b.expand(x, c.sizes)
    return b.emit("GatherND", [x, b.cast(index, "int64")], c.types[0])


@translates("scatter_nd")
def scatter_nd(b: Builder, c: Call) -> Made:
    x, value, index = c.operands[0], c.tensor(b, 1, c.dtype), b.cast(c.operands[2], "int64")
    depth = index.sizes[-1]
    value = b.expand(value, (*index.sizes[:-1], *x.sizes[depth:]))
    if depth == 0:
        total = b.reduce("ReduceSum", value, list(range(index.ndim - 1)))
        return b.binary("Add", x, total) if c.attributes[1] else b.copied(x)
    return scattered(b, x, index, value, bool(c.attributes[1]))


@translates("take_along_axis")
def take_along_axis(b: Builder, c: Call) -> Made:
    x, index = c.operands
    axis = int(c.attributes[0]) % x.ndim
    sizes = [*c.sizes[:axis], x.sizes[axis], *c.sizes[axis + 1 :]]
    return along(b, b.expand(x, sizes), b.expand(as_index(b, index), c.sizes), axis)


def along(b: Builder, x: Made, index: Made, axis: int) -> Made:
    return b.emit("GatherElements", [x, index], (x.dtype, index.sizes), axis=axis)


@translates("pick_along", "pick_last")
def pick_along(b: Builder, c: Call) -> Made:
    x, index = c.operands
    axis = int(c.attributes[0]) % x.ndim if c.name == "pick_along" else x.ndim - 1
    return along(b, x, as_index(b, index), axis)


_REDUCTIONS = {"assign": "none", "add": "add", "multiply": "mul", "mul": "mul", "amin": "min", "amax": "max"}


@translates("put_along_axis")
def put_along_axis(b: Builder, c: Call) -> Made:
    x, value, index = c.operands[0], c.tensor(b, 1, c.dtype), as_index(b, c.operands[2])
    axis, _, reduce = c.attributes
    sizes = broadcast_sizes(value.sizes, index.sizes) if value.ndim else index.sizes
    if reduce not in _REDUCTIONS:
        raise NotImplementedError(f"the reduction {reduce}")
    return put_along(b, x, b.expand(index, sizes), b.expand(value, sizes), axis % x.ndim, _REDUCTIONS[reduce])


def put_along(b: Builder, x: Made, index: Made, value: Made, axis: int, reduction: str) -> Made:
    attributes: dict[str, Any] = {"axis": axis}
    if reduction != "none":
        attributes["reduction"] = reduction
    if reduction in ("min", "max"):
        b.needs(18, f"ScatterElements with {reduction}")
    return b.emit("ScatterElements", [x, index, value], x.type, **attributes)


@translates("spread_along", "scatter_last")
def spread_along(b: Builder, c: Call) -> Made:
    x, index = c.operands
    axis = int(c.attributes[0]) % x.ndim if c.name == "spread_along" else x.ndim - 1
    return put_along(b, b.expand(b.scalar(0, c.dtype), c.sizes), as_index(b, index), x, axis, "add")


@translates("folded")
def folded(b: Builder, c: Call) -> Made:
    """Indices brought into range."""
    index = c.operands[0]
    size, mode = c.attributes
    if mode == "clip":
        return b.with_number("Min", b.with_number("Max", index, 0), size - 1)
    return b.with_number("Mod", index, size)


@translates("pool_rows")
def pool_rows(b: Builder, c: Call) -> Made:
    x, index = c.operands
    _, mode = c.attributes
    if mode != "sum":
        raise NotImplementedError("the largest or smallest of rows with a common number")
    zeros = b.expand(b.scalar(0, c.dtype), c.sizes)
    places = b.reshape(b.cast(index, "int64"), (*index.sizes, 1))
    return scattered(b, zeros, places, b.cast(x, c.dtype), True)


@translates("embedding")
def embedding(b: Builder, c: Call) -> Made:
    x, weight = c.operands
    taken = b.gather(weight, as_index(b, x), 0)
    padding = int(c.attributes[1])
    if padding < 0:
        return taken
    kept = b.invert(b.with_number("Equal", x, padding, "bool"))
    return b.where(b.reshape(kept, (*x.sizes, 1)), taken, b.scalar(0, weight.dtype))


@translates("one_hot")
def one_hot(b: Builder, c: Call) -> Made:
    numbers = counted(b, c.sizes[-1])
    x = b.cast(c.operands[0], "int64")
    return b.cast(b.binary("Equal", b.reshape(x, (*x.sizes, 1)), numbers, "bool"), c.dtype)
