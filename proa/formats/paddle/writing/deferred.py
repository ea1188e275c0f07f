"""Calls whose results have sizes that values decide, by the name of the function (see `graph/deferred.py`).

Paddle's operations take tensors where ours take numbers (`reshape` to a shape that is computed), so most of these calls are
one operation. A result's sizes are symbols of their own, which later operations read off it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ....core.dtype import name_of, to_numpy_dtype
from ....graph.structure import rebuild
from .builder import Builder, Made, broadcast_sizes
from .control import branches, rounds
from .registry import Call, translates

_CALLS: dict[str, Callable[..., Any]] = {}


def _puts_off(*names: str) -> Callable[[Any], Any]:
    """Registers `function(builder, call, **arguments)` for public functions; tensors among the arguments are values."""

    def register(function: Any) -> Any:
        for name in names:
            _CALLS[name] = function
        return function

    return register


@translates("deferred_call")
def deferred_call(b: Builder, c: Call) -> Any:
    deferred = c.attributes[0]
    translator = _CALLS.get(deferred.name)
    if translator is None:
        raise NotImplementedError(f"values decide the shape of what {deferred.name} gives")
    positional, named = rebuild(deferred.arguments, list(c.operands))
    if deferred.name in ("take_branch", "take_rounds"):
        return translator(b, c, *positional)
    try:
        bound = inspect.signature(deferred.function).bind(*positional, **named)
    except TypeError as error:
        raise NotImplementedError(f"{deferred.name} with these arguments ({error})") from None
    bound.apply_defaults()
    arguments = {name: value for name, value in bound.arguments.items() if name not in ("name", "out")}
    for parameter in bound.signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL and arguments.pop(parameter.name):
            raise NotImplementedError(f"{deferred.name} with numbers that are no list")
    return translator(b, c, **arguments)


def _numbers(b: Builder, value: Any, dtype: str = "int64") -> Made:
    """Integers and tensors of them as one tensor of one dimension."""
    if not isinstance(value, (list, tuple, Made)):
        value = [value]
    if isinstance(value, Made):
        return b.cast(value if value.ndim == 1 else b.reshape(value, (1,)), dtype)
    if not any(isinstance(part, Made) for part in value):
        return b.cast(b.integers(value), dtype)
    return b.concat([_numbers(b, part, dtype) for part in value], 0)


# ---- positions and selections ----------------------------------------------------------------------------------------


def _places(b: Builder, x: Made, count: int) -> Made:
    return b.emit("nonzero", [x], {}, ("int64", (count, x.ndim)))


@_puts_off("nonzero")
def nonzero(b: Builder, c: Call, x: Made, as_tuple: bool) -> Any:
    rows = _places(b, x, c.sizes[0])
    if not as_tuple:
        return rows
    columns = [b.slice(rows, [1], [axis], [axis + 1], [1]) for axis in range(x.ndim)]
    return [
        b.reshape(column, (column.sizes[0], *sizes[1:])) for column, (_, sizes) in zip(columns, c.types, strict=True)
    ]


@_puts_off("where")
def where(b: Builder, c: Call, condition: Made, x: Any, y: Any) -> Any:
    if x is not None or y is not None:
        raise NotImplementedError("where with values to choose from")
    return nonzero(b, c, condition, True)


@_puts_off("masked_select")
def masked_select(b: Builder, c: Call, x: Made, mask: Made) -> Made:
    sizes = broadcast_sizes(x.sizes, mask.sizes)
    return b.emit("masked_select", [b.expand(x, sizes), b.expand(mask, sizes)], {}, c.types[0])


@_puts_off("get_item")
def get_item(b: Builder, c: Call, self: Made, item: Any) -> Made:
    items = item if isinstance(item, tuple) else (item,)
    if len(items) == 1 and isinstance(items[0], Made) and items[0].dtype == "bool" and items[0].ndim:
        return b.emit("gather_nd", [self, _places(b, items[0], c.sizes[0])], {}, c.types[0])
    if not all(isinstance(part, slice) and part.step in (None, 1) for part in items):
        raise NotImplementedError("anything but a mask, or slices, as an index")
    axes = [axis for axis, part in enumerate(items) if part != slice(None)]
    starts = [0 if items[axis].start is None else items[axis].start for axis in axes]
    ends = [2147483647 if items[axis].stop is None else items[axis].stop for axis in axes]
    return _sliced(b, c, self, axes, starts, ends)


@_puts_off("slice_axes")
def slice_of(b: Builder, c: Call, input: Made, axes: Sequence[int], starts: Any, ends: Any) -> Made:
    return _sliced(b, c, input, [axis % input.ndim for axis in axes], starts, ends)


def _sliced(b: Builder, c: Call, x: Made, axes: list[int], starts: Any, ends: Any) -> Made:
    attributes = {"axes": axes, "infer_flags": [-1] * len(axes), "decrease_axis": []}
    return b.emit("slice", [x, _numbers(b, starts), _numbers(b, ends)], attributes, c.types[0])


@_puts_off("unique")
def unique(
    b: Builder, c: Call, x: Made, return_index: bool, return_inverse: bool, return_counts: bool, axis: Any, dtype: Any,
    sorted: bool = True,
) -> list[Made]:  # fmt: skip
    flags = {"return_index": return_index, "return_inverse": return_inverse, "return_counts": return_counts}
    return _unique(b, c, x, flags, axis, dtype, is_sorted=True)


@_puts_off("unique_consecutive")
def unique_consecutive(
    b: Builder, c: Call, x: Made, return_inverse: bool, return_counts: bool, axis: Any, dtype: Any
) -> list[Made]:
    return _unique(b, c, x, {"return_inverse": return_inverse, "return_counts": return_counts}, axis, dtype)


def _unique(b: Builder, c: Call, x: Made, flags: dict[str, bool], axis: Any, dtype: Any, **more: Any) -> list[Made]:
    """Paddle's operation makes everything, our call gives what it was asked for."""
    kind, asked = name_of(to_numpy_dtype(dtype)), iter(c.types[1:])
    types = [next(asked) if wanted else (kind, (0,)) for wanted in flags.values()]
    attributes = {**flags, "axis": [] if axis is None else [int(axis)], "dtype": kind, **more}
    first, *others = b.emit_all(c.attributes[0].name, [x], attributes, c.types[0], *types)
    return [first, *(made for made, wanted in zip(others, flags.values(), strict=True) if wanted)]


@_puts_off("topk")
def topk(b: Builder, c: Call, x: Made, k: Any, axis: Any, largest: bool, sorted: bool) -> Any:
    attributes = {"axis": -1 if axis is None else int(axis), "largest": largest, "sorted": sorted}
    return b.emit_all("topk", [x, _numbers(b, k, "int32")], attributes, *c.types)


@_puts_off("nms")
def nms(
    b: Builder, c: Call, boxes: Made, iou_threshold: float, scores: Any, category_idxs: Any, categories: Any, top_k: Any
) -> Made:
    if any(value is not None for value in (scores, category_idxs, categories, top_k)):
        raise NotImplementedError("boxes with scores or categories")
    return b.emit("nms", [boxes], {"threshold": float(iou_threshold)}, c.types[0])


# ---- shapes that are computed ----------------------------------------------------------------------------------------


@_puts_off("reshape")
def reshape(b: Builder, c: Call, x: Made, shape: Any) -> Made:
    return b.emit("reshape", [x, _numbers(b, shape)], {}, c.types[0])


@_puts_off("expand", "broadcast_to")
def expand(b: Builder, c: Call, x: Made, shape: Any) -> Made:
    return b.emit("expand", [x, _numbers(b, shape)], {}, c.types[0])


@_puts_off("tile")
def tile(b: Builder, c: Call, x: Made, repeat_times: Any) -> Made:
    return b.emit("tile", [x, _numbers(b, repeat_times)], {}, c.types[0])


@_puts_off("zeros", "ones", "empty")
def zeros(b: Builder, c: Call, shape: Any, dtype: Any, **_rest: Any) -> Made:
    return _filled(b, c, shape, float(c.attributes[0].name == "ones"))


@_puts_off("full")
def full(b: Builder, c: Call, shape: Any, fill_value: Any, dtype: Any, **_rest: Any) -> Made:
    return _filled(b, c, shape, fill_value)


def _filled(b: Builder, c: Call, shape: Any, value: Any) -> Made:
    number = b.reshape(b.cast(value, c.dtype), (1,)) if isinstance(value, Made) else b.argument(value, c.dtype)
    return b.emit("full_with_tensor", [number, _numbers(b, shape)], {"dtype": c.dtype}, c.types[0])


@_puts_off("arange")
def arange(b: Builder, c: Call, start: Any, end: Any, step: Any, dtype: Any, **_rest: Any) -> Made:
    first, last = (0, start) if end is None else (start, end)
    inputs = [_number(b, value, c.dtype) for value in (first, last, step)]
    return b.emit("arange", inputs, {"dtype": c.dtype, "place": "undefined"}, c.types[0])


def _number(b: Builder, value: Any, dtype: str) -> Made:
    return b.reshape(b.cast(value, dtype), (1,)) if isinstance(value, Made) else b.argument(value, dtype)


@_puts_off("linspace")
def linspace(b: Builder, c: Call, start: Any, stop: Any, num: Any, dtype: Any, **_rest: Any) -> Made:
    inputs = [_number(b, start, c.dtype), _number(b, stop, c.dtype), _number(b, num, "int32")]
    return b.emit("linspace", inputs, {"dtype": c.dtype, "place": "undefined"}, c.types[0])


@_puts_off("one_hot")
def one_hot(b: Builder, c: Call, x: Made, num_classes: Any) -> Made:
    return b.emit("one_hot", [x, _numbers(b, num_classes, "int32")], {}, c.types[0])


@_puts_off("split")
def split(b: Builder, c: Call, x: Made, num_or_sections: Any, axis: Any) -> list[Made]:
    inputs = [x, _numbers(b, num_or_sections), _number(b, axis, "int32")]
    return b.emit("split", inputs, {}, list(c.types))


@_puts_off("roll")
def roll(b: Builder, c: Call, x: Made, shifts: Any, axis: Any) -> Made:
    axes = [] if axis is None else [axis] if isinstance(axis, int) else list(axis)
    return b.emit("roll", [x, _numbers(b, shifts)], {"axis": axes}, c.types[0])


@_puts_off("repeat_interleave")
def repeat_interleave(b: Builder, c: Call, x: Made, repeats: Any, axis: Any, **_rest: Any) -> Made:
    if not isinstance(repeats, Made):
        raise NotImplementedError("repeat_interleave by numbers")
    if axis is None:
        x, axis = b.emit("flatten", [x], {"start_axis": 0, "stop_axis": -1}, (x.dtype, (-1,))), 0
    return b.emit(
        "repeat_interleave_with_tensor_index", [x, repeats], {"axis": int(axis), "output_size": -1}, c.types[0]
    )


@_puts_off("bincount")
def bincount(b: Builder, c: Call, x: Made, weights: Any, minlength: Any) -> Made:
    return b.emit("bincount", [x, weights, _number(b, minlength, "int32")], {}, c.types[0])


@_puts_off("sequence_mask")
def sequence_mask(b: Builder, c: Call, x: Made, maxlen: Any, dtype: Any) -> Made:
    limit = _number(b, -1 if maxlen is None else maxlen, "int32")
    return b.emit("sequence_mask", [x, limit], {"out_dtype": c.dtype}, c.types[0])


@_puts_off("sum", "mean", "max", "min")
def reduce(b: Builder, c: Call, x: Made, axis: Any, keepdim: bool, dtype: Any = None, **_rest: Any) -> Made:
    name = c.attributes[0].name
    attributes = {"dtype": c.dtype, "keepdim": keepdim} if name == "sum" else {"keepdim": keepdim}
    return b.emit(name, [x, _numbers(b, axis)], attributes, c.types[0])


# ---- conditions and loops --------------------------------------------------------------------------------------------


@_puts_off("take_branch")
def take_branch(
    b: Builder, c: Call, then: Any, otherwise: Any, then_inputs: Any, otherwise_inputs: Any, operands: list[Any],
    key: list[Any], predicate: Made,
) -> list[Made]:  # fmt: skip
    return branches(b, c, predicate, operands, ((then, then_inputs), (otherwise, otherwise_inputs)))


@_puts_off("take_rounds")
def take_rounds(
    b: Builder, c: Call, test: Any, body: Any, count: int, test_inputs: Any, body_inputs: Any, operands: list[Any],
    key: list[Any],
) -> list[Made]:  # fmt: skip
    return rounds(b, c, operands, count, (test, test_inputs), (body, body_inputs))
