"""Statements that draw random numbers. Programs set a seed first, and threads draw none."""

from __future__ import annotations

from ..model import ROUNDING
from ..scope import Scope
from .table import statement


@statement("random", 4)
def drawn(scope: Scope) -> bool:
    dimensions = scope.dimensions
    shape = tuple(scope.chance.choice(dimensions) for _ in range(scope.chance.randint(1, 2)))
    text, dtype, magnitude = scope.chance.choice(
        (
            (f"paddle.rand({list(shape)})", "float32", 1.0),
            (f"paddle.uniform({list(shape)}, min=-1.0, max=1.0)", "float32", 1.0),
            (f"paddle.clip(paddle.randn({list(shape)}), -2.0, 2.0)", "float32", 2.0),
            (f"paddle.randint(0, 5, {list(shape)})", "int64", 4.0),
        )
    )
    return bool(scope.assign(text, shape, [], dtype=dtype, magnitude=magnitude, noise=ROUNDING))


@statement("random", 8)
def dropout(scope: Scope) -> bool:
    operand = scope.pick_float(lambda variable: variable.rank > 0 and variable.dtype == "float32")
    if operand is None:
        return False
    probability, factor = scope.chance.choice((("0.5", 2.0), ("0.25", 1.34)))
    scope.feature("dropout")
    return bool(
        scope.assign(
            f"F.dropout({operand.name}, {probability}, training=True)",
            operand.shape,
            [operand],
            magnitude=operand.magnitude * factor,
            noise=operand.noise * factor + ROUNDING * operand.magnitude * factor,
            gain=operand.gain * factor,
            smooth=False,
        )
    )


@statement("random", 2)
def bernoulli(scope: Scope) -> bool:
    shape = tuple(scope.chance.choice(scope.dimensions) for _ in range(2))
    text = f"paddle.bernoulli(paddle.full({list(shape)}, 0.5))"
    return bool(scope.assign(text, shape, [], magnitude=1.0))


@statement("random", 1.5)
def permutation(scope: Scope) -> bool:
    length = scope.chance.choice(scope.dimensions)
    scope.feature("permutation")
    return bool(scope.assign(f"paddle.randperm({length})", (length,), [], dtype="int64",
                             magnitude=length - 1))  # fmt: skip
