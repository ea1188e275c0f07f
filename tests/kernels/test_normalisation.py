"""Native normalisation, its gradients and running statistics against float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proa.kernels.cpu import library
from proa.ops.neural import normalization as ops
from tests.kernels.cases.references import calls_native, draw, error_of, jitted, norm_references

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")

NORMALISE, GRAD_INPUT, GRAD_WEIGHT, STATISTICS = (
    primitive.operation.kernels["cpu"]
    for primitive in (ops.normalise, ops.normalise_grad_input, ops.normalise_grad_weight, ops.running_statistics)
)


def compute(arrays: list[Any], attributes: tuple[Any, ...]) -> list[np.ndarray]:
    def all_three(xp: Any, x: Any, grad: Any, weight: Any, bias: Any) -> Any:
        epsilon = 1e-3
        return (
            NORMALISE(xp, x, weight, bias, epsilon, *attributes), GRAD_INPUT(xp, x, grad, weight, epsilon, *attributes),
            GRAD_WEIGHT(xp, x, grad, epsilon, *attributes),
        )  # fmt: skip

    return jitted(all_three, arrays)


@pytest.mark.parametrize("shape", [(4, 32, 9, 9), (64, 40), (6, 5, 5, 48)])
def test_a_large_mean_costs_no_accuracy(shape: tuple[int, ...]) -> None:
    generator = np.random.default_rng(0)
    channel = 1 if shape[1] > shape[-1] or len(shape) == 2 else 3
    axes = tuple(axis for axis in range(len(shape)) if axis != channel)
    broadcast = tuple(n if axis == channel else 1 for axis, n in enumerate(shape))
    x = draw(generator, *shape) + np.float32(1000)
    arrays, attributes = [x, draw(generator, *shape), None, None], (shape, axes, broadcast, True)
    assert calls_native(NORMALISE, [x, None, None], (1e-3, *attributes))
    for one, reference in zip(compute(arrays, attributes), norm_references(arrays, 1e-3, attributes)):
        assert error_of(one, reference) < 2e-4  # x itself has only four digits behind the point


@pytest.mark.parametrize(("shape", "axes"), [((8, 24, 5, 5), (0, 2, 3)), ((300, 33), (0,)), ((8, 5, 5, 24), (0, 1, 2))])
def test_running_statistics_move_towards_those_of_the_batch(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    generator = np.random.default_rng(1)
    x = draw(generator, *shape) * 3 + 2
    channels = next(n for axis, n in enumerate(shape) if axis not in axes)
    mean, variance = draw(generator, channels), draw(generator, channels) ** 2
    assert calls_native(STATISTICS, [x, mean, variance, np.float64(0.7)], (axes,))
    found = jitted(STATISTICS, [x, mean, variance, np.float64(0.7)], (axes,))
    wide = x.astype(np.float64)
    assert error_of(found[0], 0.7 * mean + 0.3 * wide.mean(axes)) < 1e-5
    assert error_of(found[1], 0.7 * variance + 0.3 * wide.var(axes)) < 1e-5


def test_sums_that_several_operations_need_are_computed_once() -> None:
    from proa.ir.xla import started_jax

    jax = started_jax()
    shape, axes, broadcast = (4, 16, 9, 9), (0, 2, 3), (1, 16, 1, 1)

    def step(x: Any, grad: Any, mean: Any) -> Any:
        xp, epsilon = jax.numpy, 1e-5
        return (
            STATISTICS(xp, x, mean, mean, xp.asarray(0.9), axes),
            NORMALISE(xp, x, None, None, epsilon, shape, axes, broadcast, True),
            GRAD_INPUT(xp, x, grad, None, epsilon, shape, axes, broadcast, True),
            GRAD_WEIGHT(xp, x, grad, epsilon, shape, axes, broadcast, True),
        )  # fmt: skip

    generator = np.random.default_rng(2)
    arrays = [draw(generator, *shape), draw(generator, *shape), draw(generator, 16)]
    text = jax.jit(step).lower(*arrays).compile().as_text()
    assert text.count('ChannelMoments"') == 1
    assert text.count('ChannelGradSums"') == 1


def test_small_tensors_and_other_types_stay_with_xla() -> None:
    generator = np.random.default_rng(3)
    attributes = (1e-5, (2, 3, 4), (2,), (4,), True)
    assert not calls_native(NORMALISE, [draw(generator, 2, 3, 4), None, None], attributes)
    wide = generator.standard_normal((64, 128))
    assert not calls_native(NORMALISE, [wide, None, None], (1e-5, (64, 128), (1,), (128,), True))
