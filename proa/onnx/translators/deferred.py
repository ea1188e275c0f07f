"""Calls whose results have sizes that values decide, by the name of the function (see `graph/deferred.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.symbols import same_sizes
from ...graph.structure import rebuild
from ..builder import Builder, Made
from ..registry import Call, translates
from .control import branches

_CALLS: dict[str, Callable[..., Any]] = {}


def _puts_off(name: str) -> Callable[[Any], Any]:
    """Registers `function(builder, call, *arguments)` for a public function; tensors among the arguments are values."""

    def register(function: Any) -> Any:
        _CALLS[name] = function
        return function

    return register


@translates("deferred_call")
def deferred_call(b: Builder, c: Call) -> Any:
    deferred = c.attributes[0]
    translator = _CALLS.get(deferred.name)
    if translator is None:
        raise NotImplementedError(
            f"values decide the shape of what {deferred.name} gives; of such functions {', '.join(_CALLS)} can be written"
        )
    positional, named = rebuild(deferred.arguments, list(c.operands))
    try:
        return translator(b, c, *positional, **named)
    except TypeError as error:
        raise NotImplementedError(f"{deferred.name} with these arguments ({error})") from None


def _places(b: Builder, x: Made, count: int) -> Made:
    """Where elements are not 0, a row for each axis."""
    return b.emit("NonZero", [b.cast(x, "bool")], ("int64", (x.ndim, count)))


@_puts_off("nonzero")
def nonzero(b: Builder, c: Call, x: Made, as_tuple: bool = False) -> Any:
    rows = _places(b, x, c.sizes[0])
    if not as_tuple:
        return b.transpose(rows, (1, 0))
    return [b.reshape(row, sizes) for row, (_, sizes) in zip(b.split(rows, [1] * x.ndim, 0), c.types, strict=True)]


@_puts_off("masked_select")
def masked_select(b: Builder, c: Call, x: Made, mask: Made) -> Made:
    if not same_sizes(x.sizes, mask.sizes):
        raise NotImplementedError("a mask of another shape")
    return _masked(b, c, x, mask)


def _masked(b: Builder, c: Call, x: Made, mask: Made) -> Made:
    """The parts of x where a mask of its first axes is true."""
    places = b.transpose(_places(b, mask, c.sizes[0]), (1, 0))
    return b.emit("GatherND", [x, places], c.types[0])


@_puts_off("get_item")
def get_item(b: Builder, c: Call, x: Made, item: Any) -> Made:
    item = item[0] if isinstance(item, tuple) and len(item) == 1 else item
    if not isinstance(item, Made) or item.dtype != "bool" or not 1 <= item.ndim <= x.ndim:
        raise NotImplementedError("anything but one mask of booleans as an index")
    return _masked(b, c, x, item)


@_puts_off("take_branch")
def take_branch(
    b: Builder, c: Call, then: Any, otherwise: Any, then_inputs: Any, otherwise_inputs: Any, operands: list[Any],
    key: list[Any], predicate: Made,
) -> list[Made]:  # fmt: skip
    """A condition whose ways give other sizes: `If` does not mind."""
    return branches(b, c, predicate, operands, ((then, then_inputs), (otherwise, otherwise_inputs)))


@_puts_off("nms")
def nms(
    b: Builder, c: Call, boxes: Made, iou_threshold: float = 0.3, scores: Made | None = None, *rest: Any, **more: Any
) -> Made:
    """Without scores boxes are taken in their order: made-up ones fall from box to box."""
    from .creation import counted

    if any(value is not None for value in (*rest, *more.values())):
        raise NotImplementedError("boxes of several categories")
    count = boxes.sizes[0]
    if scores is None:
        scores = b.same("Neg", b.cast(counted(b, count), "float32"))
    else:
        scores = b.cast(scores, "float32")
    inputs = [
        b.reshape(b.cast(boxes, "float32"), (1, count, 4)), b.reshape(scores, (1, 1, count)), b.scalar(1 << 30, "int64"),
        b.scalar(iou_threshold, "float32"),
    ]  # fmt: skip
    chosen = b.emit("NonMaxSuppression", inputs, ("int64", (c.sizes[0], 3)))
    taken = b.gather(chosen, b.scalar(2, "int64"), 1)
    return b.cast(taken, c.dtype)
