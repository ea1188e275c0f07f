"""Random cases of the native sums over channels: gradients of a batch norm through its activation, and plain sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from proa.ops.basic import sum_over
from proa.ops.neural.activated_normalization import normalise_grad_through
from proa.ops.neural.normalization import normalise_grad_bias
from tests.kernels.cases import references as r

Case = tuple[list[Any], Callable[..., Any], list[np.ndarray]]
EPSILON = 1e-3
# What an activation multiplies a gradient with, and where that jumps.
SLOPES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], tuple[float, ...]]] = {
    "relu": (lambda z: (z > 0) * 1.0, (0.0,)),
    "hardswish": (lambda z: np.where(z <= -3, 0.0, np.where(z >= 3, 1.0, z / 3 + 0.5)), (-3.0, 3.0)),
}


def references(arrays: list[Any], activation: str, channel: int) -> list[np.ndarray]:
    """Gradients in input, weight and bias, in float64. Where the slope jumps the gradient in `arrays` is made 0."""
    inner, *terms = _terms(arrays, activation, channel)
    axes = tuple(axis for axis in range(inner.ndim) if axis != channel)
    return [inner, *(each.sum(axes, keepdims=True) for each in terms)]


def _terms(arrays: list[Any], activation: str, channel: int) -> list[np.ndarray]:
    """The gradient in the input, and what those in weight and bias are the sums of."""
    x, grad, weight, bias = (None if a is None else a.astype(np.float64) for a in arrays)
    axes = tuple(axis for axis in range(x.ndim) if axis != channel)
    shape = tuple(n if axis == channel else 1 for axis, n in enumerate(x.shape))
    scale = np.ones(shape) if weight is None else weight.reshape(shape)
    factor = 1 / np.sqrt(x.var(axes, keepdims=True) + EPSILON)
    standard = (x - x.mean(axes, keepdims=True)) * factor
    z = standard * scale + (0.0 if bias is None else bias.reshape(shape))
    slope, jumps = SLOPES[activation]
    for jump in jumps:
        near = np.abs(z - jump) < 1e-4
        arrays[1][near] = grad[near] = 0
    grad = grad * slope(z)
    inner = grad - grad.mean(axes, keepdims=True) - standard * (grad * standard).mean(axes, keepdims=True)
    return [inner * scale * factor, grad * standard, grad]


def _cancel(terms: np.ndarray, axes: tuple[int, ...]) -> bool:
    """Whether the sums nearly vanish beside their terms: float32 cannot hold their error, relative to themselves, small."""
    return bool(np.abs(terms.sum(axes)).max() < 2e-3 * np.abs(terms).sum(axes).max())


def channel_case(generator: np.random.Generator) -> Case:
    """One to three axes of space or none, channels first or last, with every remainder of the lanes."""
    spatial = tuple(int(n) for n in generator.integers(1, 14, int(generator.integers(0, 4))))
    channels = int(generator.choice([1, 2, 3, 16, 17, 24, 40, 64, 100, 129, 200, 257]))
    images = int(generator.integers(6, 40)) if len(spatial) < 2 else int(generator.integers(2, 5))
    images = max(images, -(-6 // math.prod(spatial)))  # with two numbers in a channel the gradient in x nearly vanishes
    last = bool(generator.integers(2)) or not spatial
    shape = (images, *spatial, channels) if last else (images, channels, *spatial)
    channel = len(shape) - 1 if last else 1
    axes = tuple(axis for axis in range(len(shape)) if axis != channel)
    broadcast = tuple(n if axis == channel else 1 for axis, n in enumerate(shape))
    x = r.draw(generator, *shape) * np.float32(generator.uniform(0.1, 5)) + np.float32(generator.uniform(-3, 3))
    weight, bias = (r.draw(generator, channels) if generator.random() < 0.8 else None for _ in range(2))
    arrays: list[Any] = [x, r.draw(generator, *shape) + np.float32(0.5), weight, bias]
    activation = str(generator.choice(list(SLOPES)))
    expected = references(arrays, activation, channel)
    grad = arrays[1].astype(np.float64)
    if any(_cancel(terms, axes) for terms in (*_terms(arrays, activation, channel)[1:], grad)):
        return channel_case(generator)

    def run(xp: Any, x: Any, y: Any, weight: Any, bias: Any) -> Any:
        through, attributes = _kernel(normalise_grad_through), (activation, EPSILON, axes, broadcast)
        return (
            *(through(xp, x, y, weight, bias, wanted, *attributes) for wanted in ("input", "weight", "bias")),
            _kernel(normalise_grad_bias)(xp, x, y, axes),
            _kernel(sum_over)(xp, y, axes, False),
        )

    return arrays, run, [*expected, grad.sum(axes, keepdims=True), grad.sum(axes)]


def _kernel(primitive: Any) -> Any:
    return primitive.operation.kernels["cpu"]
