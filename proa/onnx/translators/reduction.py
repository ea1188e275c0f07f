"""Reductions and running sums."""

from __future__ import annotations

import math
from typing import Any

from ...core.symbols import is_symbolic
from ..builder import Builder, Made, Node, reduced_sizes
from ..registry import Call, translates
from .logic import every, some


def axes_of(c: Call) -> tuple[list[int], bool]:
    """Axes in full, counted from the front."""
    axis, keepdim = c.attributes[:2]
    x = c.operands[0]
    axes = [axis] if isinstance(axis, int) else list(range(x.ndim)) if axis is None else list(axis)
    return [a % x.ndim for a in axes] if x.ndim else [], bool(keepdim)


_OPERATORS = {"sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax", "min": "ReduceMin", "prod": "ReduceProd"}


@translates(*_OPERATORS)
def reduce(b: Builder, c: Call) -> Made:
    axes, keepdim = axes_of(c)
    x = b.cast(c.operands[0], c.dtype)
    if c.dtype == "bool":
        return (every if c.name in ("min", "prod") else some)(b, x, axes, keepdim)
    empty = any(not is_symbolic(x.sizes[axis]) and x.sizes[axis] == 0 for axis in axes)
    if empty:
        nothing = {"sum": 0, "prod": 1, "mean": math.nan}.get(c.name)
        if nothing is None:
            raise NotImplementedError("the extreme of nothing")
        return b.expand(b.scalar(nothing, c.dtype), c.sizes)
    if c.name == "mean" and keepdim and x.ndim >= 4 and axes == list(range(2, x.ndim)):
        return b.emit("GlobalAveragePool", [x], c.types[0])  # of pictures, which runtimes keep in an order of their own
    return b.reduce(_OPERATORS[c.name], x, axes, keepdim)


@translates("sum_as")
def sum_as(b: Builder, c: Call) -> Made:
    """The axes that have 1 element in the result are found when the model runs."""
    x, wanted = c.operands[0], b.shape_of(c.sizes)
    missing = x.ndim - len(c.sizes)
    full = b.emit("Concat", [b.integers([1] * missing), wanted], ("int64", (x.ndim,)), axis=0) if missing else wanted
    places = b.emit("NonZero", [b.with_number("Equal", full, 1, "bool")], ("int64", (1, x.ndim)))
    axes = b.emit("Squeeze", [places, b.integers([0])], ("int64", (x.ndim,)))  # as many at most
    total = b.emit("ReduceSum", [x, axes], x.type, keepdims=1, noop_with_empty_axes=1)
    return b.emit("Reshape", [total, wanted], c.types[0], allowzero=1)


@translates("logsumexp")
def logsumexp(b: Builder, c: Call) -> Made:
    axes, keepdim = axes_of(c)
    x = b.cast(c.operands[0], c.dtype)
    return b.reduce("ReduceLogSumExp", x, axes, keepdim)


@translates("p_norm")
def p_norm(b: Builder, c: Call) -> Made:
    x = b.cast(c.operands[0], c.dtype)
    p, axis, keepdim = c.attributes
    axes = [axis] if isinstance(axis, int) else list(range(x.ndim)) if axis is None else list(axis)
    if p == 2:
        return b.reduce("ReduceL2", x, axes, keepdim) if x.ndim else b.same("Abs", x)
    size = b.same("Abs", x)
    if p == 1:
        return b.reduce("ReduceSum", size, axes, keepdim)
    if p in (math.inf, -math.inf):
        return b.reduce("ReduceMax" if p > 0 else "ReduceMin", size, axes, keepdim)
    if p == 0:
        present = b.cast(b.invert(b.with_number("Equal", x, 0, "bool")), c.dtype)
        return b.reduce("ReduceSum", present, axes, keepdim)
    total = b.reduce("ReduceSum", b.with_number("Pow", size, p), axes, keepdim)
    return b.with_number("Pow", total, 1 / p)


@translates("count")
def count(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    axes, keepdim = axes_of(c)
    found = b.invert(b.is_nan(x) if c.attributes[2] else b.with_number("Equal", x, 0, "bool"))
    return b.reduce("ReduceSum", b.cast(found, c.dtype), axes, keepdim)


@translates("count_nan")
def count_nan(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return b.reduce("ReduceSum", b.cast(b.is_nan(x), c.dtype), [x.ndim - 1])


@translates("zero_where_nan")
def zero_where_nan(b: Builder, c: Call) -> Made:
    x, tested = c.operands
    return b.where(b.is_nan(tested), b.scalar(0, x.dtype), x)


# ---- along an axis -------------------------------------------------------------------------------------------------


@translates("cumsum")
def cumsum(b: Builder, c: Call) -> Made:
    axis, reverse = c.attributes
    x = b.cast(c.operands[0], c.dtype)
    return b.emit("CumSum", [x, b.scalar(axis % x.ndim, "int64")], c.types[0], reverse=int(reverse))


def scan(b: Builder, x: list[Made], axis: int, reverse: bool, first: list[Made], step: Any) -> list[Made]:
    """`step(state, elements) -> state` along an axis; gives the states after each element, in the operands' shape."""
    if not is_symbolic(x[0].sizes[axis]) and x[0].sizes[axis] == 0:
        return [b.expand(b.scalar(0, value.dtype), x[0].sizes) for value in first]
    directions = [int(reverse)] * len(x)
    results = [b.made((value.dtype, x[0].sizes)) for value in first]
    finals = [b.made(value.type) for value in first]
    inner_sizes = reduced_sizes(x[0].sizes, [axis], False)
    with b.inside() as block:
        state = [b.made(value.type) for value in first]
        elements = [b.made((value.dtype, inner_sizes)) for value in x]
        block.arguments = [*state, *elements]
        after = [b.copied(value) for value in step(state, elements)]
        block.results = [*after, *(b.copied(value) for value in after)]
    attributes = {
        "num_scan_inputs": len(x), "scan_input_axes": [axis] * len(x), "scan_input_directions": directions,
        "scan_output_axes": [axis] * len(first), "scan_output_directions": [int(reverse)] * len(first),
    }  # fmt: skip
    b.block.nodes.append(Node("Scan", [*first, *x], [*finals, *results], attributes, {"body": block}))
    return results


def _constant_state(b: Builder, x: Made, axis: int, value: Any, dtype: str | None = None) -> Made:
    return b.expand(b.scalar(value, dtype or x.dtype), reduced_sizes(x.sizes, [axis], False))


@translates("cumprod")
def cumprod(b: Builder, c: Call) -> Made:
    axis, exclusive, reverse = c.attributes
    x = b.cast(c.operands[0], c.dtype)
    axis = axis % x.ndim
    (result,) = scan(
        b, [x], axis, bool(reverse), [_constant_state(b, x, axis, 1)],
        lambda state, elements: [b.binary("Mul", state[0], elements[0])],
    )  # fmt: skip
    if not exclusive:
        return result
    extent = x.sizes[axis]
    start, end = (1, extent) if reverse else (0, extent - 1)
    inner = b.slice(result, [axis], [start], [end])
    pairs = [(0, 0)] * x.ndim
    pairs[axis] = (0, 1) if reverse else (1, 0)
    from .shapes import padded

    return padded(b, inner, pairs, b.scalar(1, x.dtype), x.sizes)


@translates("logcumsumexp")
def logcumsumexp(b: Builder, c: Call) -> Made:
    from .arithmetic import log_one_plus

    x = b.cast(c.operands[0], c.dtype)
    axis = int(c.attributes[0]) % x.ndim

    def step(state: list[Made], elements: list[Made]) -> list[Made]:
        before, new = state[0], elements[0]
        larger = b.binary("Max", before, new)
        distance = b.same("Abs", b.binary("Sub", before, new))
        distance = b.where(b.is_nan(distance), b.scalar(0, x.dtype), distance)  # of two infinities
        sum_ = b.binary("Add", larger, log_one_plus(b, b.same("Exp", b.same("Neg", distance))))
        return [b.where(b.with_number("Equal", larger, -math.inf, "bool"), larger, sum_)]

    return scan(b, [x], axis, False, [_constant_state(b, x, axis, -math.inf)], step)[0]


@translates("cumulative_extreme")
def cumulative_extreme(b: Builder, c: Call) -> list[Made]:
    """The extreme up to each element and where it stands (the last of equal ones)."""
    x = c.operands[0]
    axis, largest, _ = c.attributes
    axis = axis % x.ndim
    from .creation import counted

    view = [1] * x.ndim
    view[axis] = x.sizes[axis]
    places = b.expand(b.reshape(counted(b, x.sizes[axis]), view), x.sizes)
    if not is_symbolic(x.sizes[axis]) and x.sizes[axis] == 0:
        return [b.copied(x), b.expand(b.scalar(0, c.types[1][0]), x.sizes)]
    first = b.reshape(b.slice(x, [axis], [0], [1]), reduced_sizes(x.sizes, [axis], False))

    def step(state: list[Made], elements: list[Made]) -> list[Made]:
        better = b.binary("GreaterOrEqual" if largest else "LessOrEqual", elements[0], state[0], "bool")
        better = b.binary("Or", better, b.is_nan(elements[0]))
        return [b.where(better, new, old) for new, old in zip(elements, state, strict=True)]

    values, found = scan(b, [x, places], axis, False, [first, _constant_state(b, x, axis, 0, "int64")], step)
    return [values, b.cast(found, c.types[1][0])]


@translates("linear_recurrence")
def linear_recurrence(b: Builder, c: Call) -> Made:
    first, second = (b.expand(c.tensor(b, position, c.dtype), c.sizes) for position in (0, 1))
    axis, reverse = c.attributes
    axis = axis % first.ndim
    return scan(
        b, [first, second], axis, bool(reverse), [_constant_state(b, first, axis, 0)],
        lambda state, given: [b.binary("Add", b.binary("Mul", given[0], state[0]), given[1])],
    )[0]  # fmt: skip
