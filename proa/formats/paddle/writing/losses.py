"""Labels and losses, where a saved model computes one."""

from __future__ import annotations

from ....core.symbols import divided
from .builder import Builder, Made
from .registry import Call, translates


@translates("probability_cross_entropy")
def probability_cross_entropy(b: Builder, c: Call) -> Made:
    x, label = c.operands
    return b.emit("bce_loss", [x, label], {}, c.types[0])


@translates("sigmoid_cross_entropy")
def sigmoid_cross_entropy(b: Builder, c: Call) -> Made:
    attributes = {"normalize": False, "ignore_index": -100}
    return b.emit("sigmoid_cross_entropy_with_logits", [c.operands[0], c.operands[1], None], attributes, c.types[0])


def _valid(b: Builder, label: Made, classes: int, ignored: int) -> Made:
    """Where labels name a class and are not to be ignored."""
    limits = [("greater_equal", 0), ("less_than", classes), ("not_equal", ignored)]
    tests = [b.binary(name, label, b.scalar(number, label.dtype), "bool") for name, number in limits]
    return b.binary("logical_and", b.binary("logical_and", tests[0], tests[1], "bool"), tests[2], "bool")


def _indices(b: Builder, label: Made, sizes: list[int], classes: int, ignored: int) -> tuple[Made, Made]:
    """Labels with the class axis, 0 where they are ignored, and where they are not."""
    label = b.reshape(label, sizes)
    valid = _valid(b, label, classes, ignored)
    return b.where(valid, label, b.full((), 0, label.dtype)), valid


def _with_axis(x: Made, axis: int) -> list[int]:
    sizes = list(x.sizes)
    sizes[axis] = 1
    return sizes


@translates("pick_class", "pick_class_for_nll")
def pick_class(b: Builder, c: Call) -> Made:
    x, label = c.operands
    axis, classes, ignored, _ = c.attributes
    index, valid = _indices(b, label, _with_axis(x, axis), classes, ignored)
    picked = b.emit("take_along_axis", [x, index], {"axis": int(axis)}, (x.dtype, index.sizes))
    return b.reshape(b.where(valid, picked, b.full((), 0, x.dtype)), c.sizes)


@translates("class_weights")
def class_weights(b: Builder, c: Call) -> Made:
    weight, label = c.operands
    classes, ignored = c.attributes
    valid = _valid(b, label, classes, ignored)
    index = b.where(valid, label, b.full((), 0, label.dtype))
    count = 1
    for size in label.sizes:
        count *= size
    flat = b.reshape(index, (count,))
    taken = b.emit("gather", [weight, flat, b.argument(0, "int32")], {}, (weight.dtype, (count,)))
    return b.where(valid, b.reshape(taken, label.sizes), b.full((), 0, weight.dtype))


@translates("smoothed_labels")
def smoothed_labels(b: Builder, c: Call) -> Made:
    label, smoothing = c.operands
    _, axis, classes, ignored, _ = c.attributes
    sizes = list(c.sizes)
    sizes[axis] = 1
    index, valid = _indices(b, label, sizes, classes, ignored)
    rank = len(sizes)
    numbers = b.emit(
        "arange", [b.argument(n, "int64") for n in (0, classes, 1)], {"dtype": "int64", "place": "undefined"},
        ("int64", (classes,)),
    )  # fmt: skip
    numbers = b.reshape(numbers, [classes if a == axis else 1 for a in range(rank)])
    chosen = b.cast(b.binary("equal", b.cast(index, "int64"), numbers, "bool"), c.dtype)
    spread = b.scale(chosen, 1 - float(smoothing), divided(float(smoothing), classes))
    return b.binary("multiply", spread, b.cast(valid, c.dtype))


@translates("count_labels")
def count_labels(b: Builder, c: Call) -> Made:
    label = c.operands[0]
    counted = b.cast(b.binary("not_equal", label, b.full((), c.attributes[1], label.dtype), "bool"), c.dtype)
    total = b.reduce("sum", counted, list(range(counted.ndim)), dtype=c.dtype)
    return b.binary("maximum", total, b.full((), 1, c.dtype))


@translates("checked_labels")
def checked_labels(b: Builder, c: Call) -> Made:
    label = c.operands[0]
    lowest, classes = c.attributes
    return b.emit(
        "clip", [label, b.argument(lowest, label.dtype), b.argument(classes - 1, label.dtype)], {}, label.type
    )


@translates("softmax_cross_entropy")
def softmax_cross_entropy(b: Builder, c: Call) -> Made:
    logits, label = c.operands
    reduction, axis, classes, ignored, _ = c.attributes
    index, valid = _indices(b, label, _with_axis(logits, axis), classes, ignored)
    shares = b.same("log_softmax", logits, axis=int(axis))
    picked = b.emit("take_along_axis", [shares, index], {"axis": int(axis)}, (logits.dtype, index.sizes))
    loss = b.where(valid, b.scale(picked, -1), b.full((), 0, logits.dtype))
    if reduction == "none":
        return b.reshape(loss, c.sizes)
    every = list(range(loss.ndim))
    total = b.reduce("sum", loss, every, dtype=loss.dtype)
    if reduction == "mean":
        # As in Paddle, ignored labels count unless the ignored number could be a class.
        counted = b.cast(valid, loss.dtype) if ignored >= 0 else b.full_like(loss, 1)
        count = b.reduce("sum", counted, every, dtype=loss.dtype)
        total = b.binary("divide", total, b.binary("maximum", count, b.full((), 1, loss.dtype)))
    return b.reshape(total, c.sizes)
