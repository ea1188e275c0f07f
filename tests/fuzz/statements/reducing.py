"""Statements that reduce or contract: sums, extremes, softmax, matmul, losses, convolution."""

from __future__ import annotations

import math

from ..model import APPROXIMATION, ROUNDING, Variable
from ..scope import Scope
from .table import statement


def ramp(variable: Variable) -> str:
    """A different small number for each element, so that no two of them tie."""
    text = f"paddle.arange({variable.size}, dtype='{variable.dtype}')"
    return f"{text}.reshape({list(variable.shape)}) * 0.013713"


def reduced_shape(scope: Scope, variable: Variable, all_at_once: bool = True) -> tuple[str, tuple[int, ...], int]:
    """Text of random axis arguments, the shape they lead to and the number of merged elements."""
    if all_at_once and (variable.rank == 0 or scope.decide(0.25)):
        return "", (), variable.size
    count = 2 if variable.rank > 1 and all_at_once and scope.decide(0.2) else 1
    axes = scope.chance.sample(range(variable.rank), count)
    merged = math.prod(variable.shape[axis] for axis in axes)
    keep = scope.decide(0.4)
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(variable.shape) if keep or axis not in axes)
    written = [axis - variable.rank if scope.decide(0.4) else axis for axis in axes]
    axis_text = str(written) if count > 1 else str(written[0])
    return f"axis={axis_text}" + (", keepdim=True" if keep else ""), shape, merged


@statement("reduction", 5)
def reduction(scope: Scope) -> bool:
    operand = scope.pick_float(lambda variable: variable.size > 0)
    if operand is None:
        return False
    name = scope.chance.choice(("sum", "sum", "mean", "mean", "max", "min", "prod", "logsumexp"))
    axes, shape, merged = reduced_shape(scope, operand, all_at_once=name != "prod" or not operand.rank)
    text, m, n, g = scope.shrunk(operand, 1.2 if name == "prod" else None)
    smooth, cost = name in ("sum", "mean"), ROUNDING
    if name == "sum":
        m, n = m * merged, n * merged + ROUNDING * m * merged
    elif name in ("max", "min"):
        text, m, cost = f"({text} + {ramp(operand)})", m + 0.014 * operand.size, 2 * ROUNDING
    elif name == "prod":
        # No factor is near zero: Paddle's gradient divides by it.
        text, n, g, m = f"({text} * {text} * 0.3 + 0.6)", n * 0.8 + 1, g * 0.8, 1.04
        n, g, m = merged * n * m ** (merged - 1), g * m ** (merged - 1), max(1.0, m**merged)
    elif name == "logsumexp":
        m, cost = m + math.log(merged), APPROXIMATION
    expression = f"paddle.{name}({text}{', ' if axes else ''}{axes})"
    if not text.startswith("(") and scope.decide(0.5):
        expression = f"{text}.{name}({axes})"
    scope.feature(name)
    return bool(
        scope.assign(
            expression, shape, [operand], dtype=operand.dtype, magnitude=m, noise=n + cost * m,
            gain=g, smooth=smooth,
        )
    )  # fmt: skip


@statement("reduction", 1)
def running_sum(scope: Scope) -> bool:
    operand = scope.pick_float(lambda variable: variable.rank > 0)
    if operand is None:
        return False
    axis = scope.chance.randrange(operand.rank)
    length = operand.shape[axis]
    return bool(
        scope.assign(
            f"paddle.cumsum({operand.name}, axis={axis})", operand.shape, [operand],
            dtype=operand.dtype, magnitude=operand.magnitude * length,
            noise=length * (operand.noise + ROUNDING * operand.magnitude),
            gain=operand.gain * length, smooth=False,
        )
    )  # fmt: skip


@statement("reduction", 1)
def of_truth_values(scope: Scope) -> bool:
    operand = scope.pick(lambda variable: variable.dtype == "bool")
    if operand is None:
        return False
    axes, shape, _ = reduced_shape(scope, operand)
    name = scope.chance.choice(("any", "all"))
    return bool(scope.assign(f"paddle.{name}({operand.name}{', ' if axes else ''}{axes})", shape,
                             [operand], dtype="bool"))  # fmt: skip


@statement("reduction", 1)
def position_of_extreme(scope: Scope) -> bool:
    operand = scope.pick_float(lambda variable: variable.rank > 0)
    if operand is None:
        return False
    axis = scope.chance.randrange(operand.rank)
    name = scope.chance.choice(("argmax", "argmin"))
    shape = operand.shape[:axis] + operand.shape[axis + 1 :]
    text = f"paddle.{name}({operand.name} + {ramp(operand)}, axis={axis})"
    scope.feature(name)
    return bool(scope.assign(text, shape, [operand], dtype="int64", magnitude=operand.shape[axis] - 1))


@statement("sorting", 1)
def sorting(scope: Scope) -> bool:
    operand = scope.pick_float(lambda variable: variable.rank > 0)
    if operand is None:
        return False
    axis = scope.chance.randrange(operand.rank)
    text = f"{operand.name} + {ramp(operand)}"
    magnitude = operand.magnitude + 0.014 * operand.size
    if scope.decide(0.4):
        text = f"paddle.argsort({text}, axis={axis})"
        return bool(
            scope.assign(text, operand.shape, [operand], dtype="int64",
                         magnitude=operand.shape[axis] - 1)
        )  # fmt: skip
    shape = operand.shape
    if scope.decide(0.5):
        count = scope.chance.randint(1, operand.shape[axis])
        shape = (*shape[:axis], count, *shape[axis + 1 :])
        text = f"paddle.topk({text}, {count}, axis={axis})[0]"
    else:
        text = f"paddle.sort({text}, axis={axis}, descending={scope.decide(0.5)})"
    return bool(
        scope.assign(text, shape, [operand], dtype=operand.dtype, magnitude=magnitude,
                     noise=operand.noise + ROUNDING * magnitude, smooth=False)
    )  # fmt: skip


@statement("softmax", 2)
def softmax(scope: Scope) -> bool:
    operand = scope.pick_float(lambda variable: variable.rank > 0)
    if operand is None:
        return False
    axis = scope.chance.randrange(operand.rank)
    width = operand.shape[axis]
    if scope.decide(0.6):
        name, magnitude, slope = "softmax", 1.0, 0.5
    else:
        name, magnitude, slope = "log_softmax", 2 * operand.magnitude + math.log(width), 2.0
    return bool(
        scope.assign(
            f"F.{name}({operand.name}, axis={axis})", operand.shape, [operand],
            dtype=operand.dtype, magnitude=magnitude,
            noise=2 * slope * operand.noise + APPROXIMATION * magnitude,
            gain=operand.gain * slope * (1 if name == "softmax" else width), smooth=False,
        )
    )  # fmt: skip


@statement("matmul", 3)
def matmul(scope: Scope) -> bool:
    first = scope.pick_float(lambda variable: variable.rank in (1, 2, 3))
    if first is None:
        return False
    inner = first.shape[-1]
    second = scope.pick_float(
        lambda variable: (
            variable.rank == 2
            and variable.shape[0] == inner
            and variable.dtype == first.dtype
            and variable.storage is not first.storage
        )
    )
    if second is None or scope.decide(0.2):
        second = scope.literal((inner, scope.chance.choice(scope.dimensions)), first.dtype)
    rows = first.size // max(1, inner)
    shape = (*first.shape[:-1], second.shape[1])
    magnitude = inner * first.magnitude * second.magnitude
    noise = inner * (first.noise * second.magnitude + second.noise * first.magnitude)
    expression = scope.chance.choice(
        (
            f"paddle.matmul({first.name}, {second.name})",
            f"{first.name} @ {second.name}",
            f"paddle.matmul({first.name}, {second.name}.t(), transpose_y=True)",
            f"F.linear({first.name}, {second.name})",
        )
        if first.rank > 1
        else (f"paddle.matmul({first.name}, {second.name})",)
    )
    return bool(
        scope.assign(
            expression, shape, [first, second], dtype=first.dtype, magnitude=magnitude,
            noise=noise + ROUNDING * magnitude,
            gain=first.gain * second.shape[1] * second.magnitude
            + second.gain * rows * first.magnitude,
            saves=False,
        )
    )  # fmt: skip


@statement("loss", 1)
def cross_entropy(scope: Scope) -> bool:
    logits = scope.pick_float(lambda variable: variable.rank == 2 and variable.dtype == "float32")
    if logits is None:
        return False
    rows, classes = logits.shape
    labels = scope.literal((rows,), "int64", low=0, high=classes - 1, prefix="labels")
    reduction = scope.chance.choice(("mean", "sum", "none"))
    magnitude = 2 * logits.magnitude + math.log(classes)
    factor = rows if reduction == "sum" else 1
    result = scope.assign(
        f"F.cross_entropy({logits.name}, {labels.name}, reduction='{reduction}')",
        (rows,) if reduction == "none" else (),
        [logits, labels],
        magnitude=magnitude * factor,
        noise=(2 * logits.noise + APPROXIMATION * magnitude) * factor,
        gain=2 * logits.gain,
        smooth=False,
    )
    if result is None:
        return False
    result.repeatable = False  # Paddle's backward overwrites the softmax that it has kept
    return True


@statement("loss", 0.5)
def squared_error(scope: Scope) -> bool:
    operand = scope.pick_float()
    if operand is None:
        return False
    target = scope.pick_float(
        lambda variable: (
            variable.shape == operand.shape
            and variable.dtype == operand.dtype
            and variable.storage is not operand.storage
        )
    )
    if target is None:
        return False
    total = operand.magnitude + target.magnitude
    return bool(
        scope.assign(
            f"F.mse_loss({operand.name}, {target.name})", (), [operand, target],
            dtype=operand.dtype, magnitude=total * total,
            noise=2 * total * (operand.noise + target.noise) + 2 * ROUNDING * total * total,
            gain=2 * total * (operand.gain + target.gain), smooth=False,
        )
    )  # fmt: skip


@statement("convolution", 1)
def convolution(scope: Scope) -> bool:
    operand = scope.pick_float(lambda variable: variable.rank == 3 and min(variable.shape) >= 2)
    if operand is None or operand.dtype != "float32":
        return False
    channels, height, width = operand.shape
    kernel = scope.literal((2, channels, 2, 2), low=-0.5, high=0.5, prefix="kernel")
    merged = 4 * channels
    return bool(
        scope.assign(
            f"F.conv2d({operand.name}.unsqueeze(0), {kernel.name})",
            (1, 2, height - 1, width - 1),
            [operand, kernel],
            magnitude=merged * operand.magnitude * 0.5,
            noise=merged * (operand.noise * 0.5 + ROUNDING * operand.magnitude),
            gain=operand.gain * 8 * 0.5,
            smooth=False,
        )
    )
