"""Labels and losses, where a saved model computes one."""

from __future__ import annotations

from ..builder import Builder, Made
from ..registry import Call, translates
from .arithmetic import log_one_plus, scaled
from .creation import counted
from .indexing import along

_SMALLEST = -100.0  # of a logarithm in a cross entropy, as Paddle has it


@translates("probability_cross_entropy")
def probability_cross_entropy(b: Builder, c: Call) -> Made:
    x, label = c.operands
    rest, unlikely = scaled(b, x, -1, 1), scaled(b, label, -1, 1)
    logarithms = [b.with_number("Max", b.same("Log", part), _SMALLEST) for part in (x, rest)]
    sums = b.binary("Add", b.binary("Mul", label, logarithms[0]), b.binary("Mul", unlikely, logarithms[1]))
    return b.same("Neg", sums)


@translates("sigmoid_cross_entropy")
def sigmoid_cross_entropy(b: Builder, c: Call) -> Made:
    x, label = c.operands
    rest = log_one_plus(b, b.same("Exp", b.same("Neg", b.same("Abs", x))))
    return b.binary("Add", b.binary("Sub", b.with_number("Max", x, 0), b.binary("Mul", x, label)), rest)


def _valid(b: Builder, label: Made, classes: int, ignored: int) -> Made:
    """Where labels name a class and are not to be ignored."""
    inside = b.binary(
        "And", b.with_number("GreaterOrEqual", label, 0, "bool"), b.with_number("Less", label, classes, "bool")
    )
    return b.binary("And", inside, b.invert(b.with_number("Equal", label, ignored, "bool")))


def _indices(b: Builder, label: Made, sizes: list[int], classes: int, ignored: int) -> tuple[Made, Made]:
    """Labels with the class axis, 0 where they are ignored, and where they are not."""
    label = b.cast(b.reshape(label, sizes), "int64")
    valid = _valid(b, label, classes, ignored)
    return b.where(valid, label, b.scalar(0, "int64")), valid


def _with_axis(x: Made, axis: int) -> list[int]:
    sizes = list(x.sizes)
    sizes[axis] = 1
    return sizes


@translates("pick_class", "pick_class_for_nll")
def pick_class(b: Builder, c: Call) -> Made:
    x, label = c.operands
    axis, classes, ignored, _ = c.attributes
    index, valid = _indices(b, label, _with_axis(x, axis), classes, ignored)
    picked = along(b, x, index, axis % x.ndim)
    return b.reshape(b.where(valid, picked, b.scalar(0, x.dtype)), c.sizes)


@translates("class_weights")
def class_weights(b: Builder, c: Call) -> Made:
    weight, label = c.operands
    classes, ignored = c.attributes
    index, valid = _indices(b, label, list(label.sizes), classes, ignored)
    return b.where(valid, b.gather(weight, index, 0), b.scalar(0, weight.dtype))


@translates("smoothed_labels")
def smoothed_labels(b: Builder, c: Call) -> Made:
    label, smoothing = c.operands
    _, axis, classes, ignored, _ = c.attributes
    sizes = list(c.sizes)
    sizes[axis] = 1
    index, valid = _indices(b, label, sizes, classes, ignored)
    rank = len(sizes)
    numbers = b.reshape(counted(b, classes), [classes if a == axis % rank else 1 for a in range(rank)])
    chosen = b.cast(b.binary("Equal", index, numbers, "bool"), c.dtype)
    # The size first: a float on the left would take it for a plain number.
    spread = scaled(b, chosen, 1 - float(smoothing), 1 / classes * float(smoothing))
    return b.binary("Mul", spread, b.cast(valid, c.dtype))


@translates("count_labels")
def count_labels(b: Builder, c: Call) -> Made:
    label = c.operands[0]
    counted_ones = b.cast(b.invert(b.with_number("Equal", label, c.attributes[1], "bool")), c.dtype)
    total = b.reduce("ReduceSum", counted_ones, list(range(label.ndim)))
    return b.with_number("Max", total, 1)


@translates("checked_labels")
def checked_labels(b: Builder, c: Call) -> Made:
    lowest, classes = c.attributes
    return b.with_number("Min", b.with_number("Max", c.operands[0], lowest), classes - 1)


@translates("softmax_cross_entropy")
def softmax_cross_entropy(b: Builder, c: Call) -> Made:
    logits, label = c.operands
    reduction, axis, classes, ignored, _ = c.attributes
    index, valid = _indices(b, label, _with_axis(logits, axis), classes, ignored)
    shares = b.same("LogSoftmax", logits, axis=int(axis))
    picked = along(b, shares, index, axis % logits.ndim)
    loss = b.where(valid, b.same("Neg", picked), b.scalar(0, logits.dtype))
    if reduction == "none":
        return b.reshape(loss, c.sizes)
    every = list(range(loss.ndim))
    total = b.reduce("ReduceSum", loss, every)
    if reduction == "mean":
        # As in Paddle, ignored labels count unless the ignored number could be a class.
        one = b.expand(b.scalar(1, loss.dtype), loss.sizes)
        counts = b.reduce("ReduceSum", b.cast(valid, loss.dtype) if ignored >= 0 else one, every)
        total = b.binary("Div", total, b.with_number("Max", counts, 1))
    return b.reshape(total, c.sizes)
