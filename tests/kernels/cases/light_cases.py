"""Random cases of the native kernels that pass over memory once: softmax, activations and updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from proa.ops.neural import activation, softmax
from proa.optimizer import updates
from tests.kernels.cases import references as r

Case = tuple[list[Any], Callable[..., Any], list[np.ndarray]]


def _cpu(primitive: Any) -> Any:
    return primitive.operation.kernels["cpu"]


def rows_case(generator: np.random.Generator) -> Case:
    """Softmax of rows of any length, GELU of both kinds and SiLU, with their slopes."""
    length = r.some_size(generator, 512)
    count = r.some_size(generator, 64) if generator.integers(2) else -(-4096 // length) + int(generator.integers(0, 40))
    x, outer = (
        r.draw(generator, count, length) * np.float32(generator.uniform(0.5, 6)),
        r.draw(generator, count, length),
    )
    wide, above = x.astype(np.float64), outer.astype(np.float64)

    def run(xp: Any, x: Any, outer: Any) -> Any:
        return (
            _cpu(softmax.softmax_along)(xp, x, 1),
            _cpu(activation.gelu_of)(xp, x, False),
            _cpu(activation.gelu_slope)(xp, outer, x, False),
            _cpu(activation.gelu_of)(xp, x, True),
            _cpu(activation.gelu_slope)(xp, outer, x, True),
            _cpu(activation.silu_of)(xp, x),
            _cpu(activation.silu_slope)(xp, outer, x),
        )

    normal, density = scipy.special.ndtr(wide), np.exp(-wide * wide / 2) / np.sqrt(2 * np.pi)
    factor = np.sqrt(2 / np.pi)
    bent = np.tanh(factor * (wide + 0.044715 * wide**3))
    bent_slope = (1 - bent * bent) * factor * (1 + 3 * 0.044715 * wide**2)
    logistic = scipy.special.expit(wide)
    expected = [
        scipy.special.softmax(wide, 1),
        wide * normal,
        above * (normal + wide * density),
        0.5 * wide * (1 + bent),
        above * (0.5 * (1 + bent) + 0.5 * wide * bent_slope),
        wide * logistic,
        above * logistic * (1 + wide * (1 - logistic)),
    ]
    return [x, outer], run, expected


def update_case(generator: np.random.Generator) -> Case:
    """A step of SGD, momentum or Adam over tensors of random shapes."""
    shapes = [tuple(int(n) for n in generator.integers(1, 40, int(generator.integers(0, 4)))) for _ in range(3)]
    shapes.append((int(generator.integers(1, 90_000)),))
    count, decay = len(shapes), str(generator.choice(["", "l1", "l2"]))
    rule = int(generator.integers(3))
    if rule == 0:
        primitive, scalars, states, attributes = updates.sgd_update, [0.1, 0.03], 0, ()
    elif rule == 1:
        variant = bool(generator.integers(2))
        primitive, scalars, states, attributes = updates.momentum_update, [0.1, 0.03, 0.9, 0.5], 1, (variant,)
    else:
        variant = bool(generator.integers(2))
        decay = str(generator.choice([decay, "decoupled"]))
        primitive, scalars, states = updates.adam_update, [0.01, 1e-8, 0.03, 0.9, 0.999], 2 + variant
        attributes = (variant,)
    tensors = [r.draw(generator, *shape) for _ in range(2) for shape in shapes]
    tensors += [np.abs(r.draw(generator, *shape)) for _ in range(states) for shape in shapes]
    arrays: list[Any] = [*map(np.asarray, scalars), *map(np.asarray, tensors)]
    arrays += [np.float64(int(generator.integers(0, 50)))] if rule == 2 else []
    operation: Any = primitive.operation

    def run(xp: Any, *flat: Any) -> Any:
        return operation.kernels["cpu"](xp, list(flat), count, decay, False, *attributes)

    wide = [np.asarray(a, np.float64) for a in arrays]
    expected = operation.kernel(np, wide, count, decay, False, *attributes)
    return arrays, run, [np.asarray(e) for e in expected]
