"""Elementwise statements: unary, binary, with Python scalars, comparisons, integers, casts."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from ..model import APPROXIMATION, INTEGER_LIMIT, ROUNDING, Variable, broadcast_shapes
from ..scope import Scope
from .table import statement

Bound = Callable[[float], float]


@dataclasses.dataclass(frozen=True)
class Unary:
    """One unary operation: how it may be written and how it treats magnitude and noise."""

    name: str
    forms: tuple[str, ...]
    magnitude: Bound
    slope: Bound
    cost: float = APPROXIMATION
    limit: float | None = None  # the operand is shrunk to this magnitude first
    kink: bool = False  # not smooth at zero: an offset keeps the operand away from it
    smooth: bool = True


def one(_: float) -> float:
    return 1.0


def same(magnitude: float) -> float:
    return magnitude


UNARY = (
    Unary("tanh", ("paddle.tanh({0})", "{0}.tanh()"), one, one),
    Unary("sigmoid", ("F.sigmoid({0})",), one, lambda m: 0.25),
    Unary("exp", ("paddle.exp({0})", "{0}.exp()"), math.exp, math.exp, limit=1.3),
    Unary("sin", ("paddle.sin({0})", "{0}.sin()"), one, one),
    Unary("cos", ("paddle.cos({0})",), one, one),
    Unary("erf", ("paddle.erf({0})",), one, lambda m: 1.13, smooth=False),
    Unary("square", ("paddle.square({0})", "{0} ** 2"), lambda m: m * m, lambda m: 2 * m, ROUNDING),
    Unary("neg", ("-{0}",), same, one, 0.0),
    Unary("abs", ("paddle.abs({0})", "{0}.abs()"), same, one, 0.0, kink=True, smooth=False),
    Unary("relu", ("F.relu({0})",), same, one, 0.0, kink=True, smooth=False),
    Unary("leaky_relu", ("F.leaky_relu({0})",), same, one, ROUNDING, kink=True, smooth=False),
    Unary("log", ("paddle.log({0} * {0} + 1.1)",), lambda m: math.log(m * m + 1.1) + 0.1, one),
    Unary("log1p", ("paddle.log1p({0} * {0})",), lambda m: math.log1p(m * m), one, smooth=False),
    Unary("sqrt", ("paddle.sqrt({0} * {0} + 0.5)",), lambda m: m + 0.71, one),
    Unary("rsqrt", ("paddle.rsqrt({0} * {0} + 0.7)",), lambda m: 1.2, lambda m: 0.6, smooth=False),
    Unary("reciprocal", ("1.0 / ({0} * {0} + 0.9)",), lambda m: 1.12, lambda m: 0.8),
    Unary("softplus", ("F.softplus({0})",), lambda m: m + 0.7, one, smooth=False),
    Unary("gelu", ("F.gelu({0})",), same, lambda m: 1.13, smooth=False),
    Unary("silu", ("F.silu({0})",), same, lambda m: 1.1, smooth=False),
    Unary("pow", ("paddle.pow({0}, 3)",), lambda m: m**3, lambda m: 3 * m * m, limit=1.4),
    Unary("sign", ("paddle.sign({0})",), one, lambda m: 0.0, 0.0, kink=True, smooth=False),
    Unary("floor", ("paddle.floor({0})",), lambda m: m + 1, lambda m: 0.0, 0.0, kink=True,
          smooth=False),
    Unary("round", ("paddle.round({0})",), lambda m: m + 1, lambda m: 0.0, 0.0, kink=True,
          smooth=False),
)  # fmt: skip


@statement("elementwise", 6)
def unary(scope: Scope) -> bool:
    operand = scope.pick_float()
    if operand is None:
        return False
    entry = scope.chance.choice(UNARY)
    text, magnitude, noise, gain = scope.shrunk(operand, entry.limit)
    if entry.kink:
        offset = scope.odd(0.01, 0.05)
        text, magnitude = f"({text} + {offset})", magnitude + offset
        noise += ROUNDING * magnitude
    slope, result = entry.slope(magnitude), entry.magnitude(magnitude)
    scope.feature(entry.name)
    return bool(
        scope.assign(
            scope.chance.choice(entry.forms).format(text),
            operand.shape,
            [operand],
            dtype=operand.dtype,
            magnitude=result,
            noise=noise * slope + entry.cost * result,
            gain=gain * slope,
            smooth=entry.smooth,
        )
    )


def pick_pair(scope: Scope) -> tuple[Variable, Variable, tuple[int, ...]] | None:
    """Two different float variables that broadcast; the second may be a new literal."""
    first = scope.pick_float()
    if first is None:
        return None

    def fits(candidate: Variable) -> bool:
        shape = broadcast_shapes(first.shape, candidate.shape)
        return (
            candidate.storage is not first.storage
            and shape is not None
            and math.prod(shape) <= 60
            # What a tensor without dimensions promotes to differs from operation to operation.
            and (candidate.dtype == first.dtype or (scope.may_mix_precision and candidate.rank and first.rank))
        )

    second = scope.pick_float(fits)
    if second is None or scope.decide(0.1):
        second = scope.literal(first.shape[-scope.chance.randint(0, 2) or len(first.shape) :],
                               first.dtype)  # fmt: skip
    shape = broadcast_shapes(first.shape, second.shape)
    if shape is None or math.prod(shape) > 60:
        return None
    return first, second, shape


def result_dtype(scope: Scope, first: Variable, second: Variable) -> str:
    if first.dtype == second.dtype:
        return first.dtype
    scope.mixed_precision = True
    scope.feature("mixed precision")
    return "float64"


def repeats(variable: Variable, shape: tuple[int, ...]) -> int:
    """How often broadcasting uses each element."""
    return max(1, math.prod(shape) // max(1, variable.size))


@statement("elementwise", 6)
def binary(scope: Scope) -> bool:
    pair = pick_pair(scope)
    if pair is None:
        return False
    a, b, shape = pair
    dtype = result_dtype(scope, a, b)
    gains = a.gain * repeats(a, shape), b.gain * repeats(b, shape)
    operation = scope.chance.choice(("add", "subtract", "multiply", "divide", "maximum", "minimum"))
    symbol = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}.get(operation)
    left, right, smooth = a.name, b.name, True
    magnitude, noise, gain = a.magnitude + b.magnitude, a.noise + b.noise, sum(gains)
    if operation == "multiply":
        magnitude = a.magnitude * b.magnitude
        noise = a.noise * b.magnitude + b.noise * a.magnitude
        gain = gains[0] * b.magnitude + gains[1] * a.magnitude
    elif operation == "divide":
        right = f"({right} * {right} + 1.2)"
        magnitude = a.magnitude
        noise += a.magnitude * (b.noise + ROUNDING)
        gain = gains[0] + gains[1] * a.magnitude
    elif operation in ("maximum", "minimum"):
        smooth = False
        offset = scope.odd(0.01, 0.05)
        right = f"({right} + {offset})"
        magnitude = max(a.magnitude, b.magnitude + offset)
        noise = max(a.noise, b.noise + ROUNDING * b.magnitude)
    expression = f"paddle.{operation}({left}, {right})"
    if symbol and scope.decide(0.7):
        expression = f"{left} {symbol} {right}"
    scope.feature(operation)
    return bool(
        scope.assign(
            expression,
            shape,
            [a, b],
            dtype=dtype,
            magnitude=magnitude,
            noise=noise + ROUNDING * magnitude,
            gain=gain,
            smooth=smooth,
            saves=operation == "divide",
        )
    )


@statement("elementwise", 4)
def with_scalar(scope: Scope) -> bool:
    operand = scope.pick_float()
    if operand is None:
        return False
    scalar = scope.scalar()
    text, m, n, g = operand.name, operand.magnitude, operand.noise, operand.gain
    scaled = m * scalar.magnitude, n * scalar.magnitude + m * scalar.noise, g * scalar.magnitude
    moved = m + scalar.magnitude, n + scalar.noise, g
    divided = scalar.magnitude, (n + 1) * scalar.magnitude + scalar.noise, g * scalar.magnitude
    expression, (magnitude, noise, gain) = scope.chance.choice(
        (
            (f"{text} * {scalar.text}", scaled),
            (f"{scalar.text} * {text}", scaled),
            (f"{text} + {scalar.text}", moved),
            (f"{scalar.text} - {text}", moved),
            (f"{text} - {scalar.text}", moved),
            (f"{text} / ({scalar.text} + 3.5)", (m, n + m * scalar.noise, g)),
            (f"{scalar.text} / ({text} * {text} + 1.1)", divided),
            (f"paddle.scale({text}, scale={scalar.text}, bias=0.25)",
             (scaled[0] + 0.25, scaled[1], scaled[2])),
            (f"paddle.add({text}, paddle.full_like({text}, {scalar.text}))", moved),
        )
    )  # fmt: skip
    scope.feature("python scalar")
    return bool(
        scope.assign(
            expression,
            operand.shape,
            [operand],
            dtype=operand.dtype,
            magnitude=magnitude,
            noise=noise + ROUNDING * magnitude,
            gain=gain,
            saves=" / " in expression,
        )
    )


@statement("elementwise", 1)
def clip(scope: Scope) -> bool:
    operand = scope.pick_float()
    if operand is None:
        return False
    low, high = -scope.odd(0.3, 1.4), scope.odd(0.3, 1.4)
    expression = scope.chance.choice(
        (f"paddle.clip({operand.name}, {low}, {high})", f"{operand.name}.clip(max={high})")
    )
    return bool(
        scope.assign(
            expression, operand.shape, [operand], dtype=operand.dtype, magnitude=operand.magnitude,
            noise=operand.noise, smooth=False,
        )
    )  # fmt: skip


def condition(scope: Scope, shape: tuple[int, ...] | None = None) -> tuple[str, Variable] | None:
    """Text of a comparison that is no near-tie, and the variable whose shape it has."""
    operand = scope.pick_float(lambda variable: shape is None or variable.shape == shape)
    if operand is None:
        return None
    symbol = scope.chance.choice((">", "<", ">=", "<="))
    return f"({operand.name} {symbol} {scope.odd(-0.6, 0.6)})", operand


@statement("comparison", 2)
def comparison(scope: Scope) -> bool:
    found = condition(scope)
    if found is None:
        return False
    text, operand = found
    other = scope.pick(lambda variable: variable.dtype == "bool" and variable.shape == operand.shape)
    if other is not None and scope.decide(0.6):
        function = scope.chance.choice(("logical_and", "logical_or", "logical_xor"))
        text = f"paddle.{function}({text}, {other.name})"
    if scope.decide(0.2):
        text = f"paddle.logical_not({text})"
    return bool(scope.assign(text.strip(), operand.shape, [operand], dtype="bool"))


@statement("where", 2)
def where(scope: Scope) -> bool:
    pair = pick_pair(scope)
    if pair is None or pair[0].dtype != pair[1].dtype:
        return False
    a, b, shape = pair
    found = condition(scope, a.shape) or condition(scope, b.shape)
    if found is None or broadcast_shapes(found[1].shape, shape) != shape:
        return False
    return bool(
        scope.assign(
            f"paddle.where({found[0]}, {a.name}, {b.name})",
            shape,
            [a, b],
            dtype=a.dtype,
            magnitude=max(a.magnitude, b.magnitude),
            noise=max(a.noise, b.noise),
            gain=a.gain * repeats(a, shape) + b.gain * repeats(b, shape),
            smooth=False,
        )
    )


@statement("integer", 2)
def integer(scope: Scope) -> bool:
    operand = scope.pick(lambda variable: variable.dtype == "int64")
    if operand is None:
        return False
    number = scope.chance.randint(2, 7)
    other = scope.pick(lambda variable: variable.dtype == "int64" and variable.shape == operand.shape)
    forms = [
        (f"{operand.name} + {number}", operand.magnitude + number),
        (f"{operand.name} * {number}", operand.magnitude * number),
        (f"{operand.name} % {number}", number),
        (f"paddle.abs({operand.name})", operand.magnitude),
        (f"paddle.clip({operand.name}, -2, 3)", 3),
    ]
    if operand.rank:  # Paddle adds a dimension where there is none
        forms.append((f"{operand.name} // {number}", operand.magnitude))
    if other is not None:
        forms += [
            (f"{operand.name} + {other.name}", operand.magnitude + other.magnitude),
            (f"paddle.maximum({operand.name}, {other.name})",
             max(operand.magnitude, other.magnitude)),
            (f"{operand.name} - {other.name}", operand.magnitude + other.magnitude),
        ]  # fmt: skip
        if scope.decide(0.3):
            symbol = scope.chance.choice(("==", "!=", "<"))
            text = f"{operand.name} {symbol} {other.name}"
            return bool(scope.assign(text, operand.shape, [operand, other], dtype="bool"))
    expression, magnitude = scope.chance.choice(forms)
    if magnitude > INTEGER_LIMIT:
        expression, magnitude = f"({expression}) % 7", 7
    operands = [operand] if other is None else [operand, other]
    return bool(scope.assign(expression, operand.shape, operands, dtype="int64", magnitude=magnitude))


@statement("cast", 1)
def cast(scope: Scope) -> bool:
    operand = scope.pick(lambda variable: variable.depth < 7)
    if operand is None:
        return False
    magnitude = max(1.0, operand.magnitude)
    if operand.dtype == "bool":
        target = scope.chance.choice(("float32", "int64"))
        text = f"{operand.name}.astype('{target}')"
        return bool(scope.assign(text, operand.shape, [operand], dtype=target, gain=0.0))
    if operand.dtype == "int64":
        text = f"{operand.name}.astype('float32') / {max(2, int(magnitude))}.0"
        return bool(scope.assign(text, operand.shape, [operand], gain=0.0))
    if scope.may_mix_precision and scope.decide(0.5):
        scope.mixed_precision = True
        target = "float64" if operand.dtype == "float32" else "float32"
        scope.feature("mixed precision")
        return bool(
            scope.assign(
                f"paddle.cast({operand.name}, '{target}')", operand.shape, [operand], dtype=target,
                magnitude=operand.magnitude, noise=operand.noise + ROUNDING * operand.magnitude,
                smooth=False,
            )
        )  # fmt: skip
    # The offset is no multiple of the grid, so that truncation does not fall on a near-tie.
    text = f"({operand.name}.detach() * 3 + {scope.odd(0.01, 0.4)}).astype('int64')"
    return bool(scope.assign(text, operand.shape, [operand], dtype="int64", magnitude=3 * operand.magnitude + 1))
