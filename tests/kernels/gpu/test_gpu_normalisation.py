"""The GPU's batch norm kernels against NumPy in float64: plain array code, so that any machine can run them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proa.kernels.gpu import normalisation as gpu

SHAPE, CHANNEL = (5, 3, 4, 2), 1
AXES, BROADCAST = (0, 2, 3), (1, 3, 1, 1)
EPSILON = 1e-5


def _never(*arguments: Any) -> Any:
    raise AssertionError("the fallback was taken")


@pytest.fixture
def numbers() -> Any:
    import jax.numpy

    return jax.numpy


def _draw(offset: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    x, y = generator.standard_normal((2, *SHAPE)).astype(np.float32)
    weight, bias = generator.standard_normal((2, 3)).astype(np.float32)
    return x + np.float32(offset), y, weight, bias


def _standard(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wide = x.astype(np.float64)
    factor = 1 / np.sqrt(wide.var(AXES, keepdims=True) + EPSILON)
    return (wide - wide.mean(AXES, keepdims=True)) * factor, factor


# A large mean would leave nothing of the variance without the shift: 1000² has a rounding error of 0.06.
@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_forward(numbers: Any, offset: float) -> None:
    x, _, weight, bias = _draw(offset)
    kernel = gpu.one_pass_normalise(_never)
    result = kernel(
        numbers,
        numbers.asarray(x),
        numbers.asarray(weight),
        numbers.asarray(bias),
        EPSILON,
        SHAPE,
        AXES,
        BROADCAST,
        True,
    )
    expected = _standard(x)[0] * weight.reshape(BROADCAST) + bias.reshape(BROADCAST)
    np.testing.assert_allclose(result, expected, rtol=2e-4, atol=2e-4 if offset else 2e-6)


def test_gradients(numbers: Any) -> None:
    x, y, weight, _ = _draw()
    standard, factor = _standard(x)
    wide = y.astype(np.float64)
    through = wide * weight.reshape(BROADCAST)
    expected = factor * (
        through - through.mean(AXES, keepdims=True) - standard * (through * standard).mean(AXES, keepdims=True)
    )
    arrays = [numbers.asarray(a) for a in (x, y, weight)]
    result = gpu.one_pass_grad_input(_never)(numbers, *arrays, EPSILON, SHAPE, AXES, BROADCAST, True)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=2e-6)
    scale = gpu.one_pass_grad_weight(_never)(numbers, *arrays[:2], EPSILON, SHAPE, AXES, BROADCAST, True)
    np.testing.assert_allclose(scale, (wide * standard).sum(AXES).reshape(BROADCAST), rtol=1e-5, atol=1e-5)


def test_running_statistics(numbers: Any) -> None:
    x, _, mean, _ = _draw()
    old = [numbers.asarray(mean), numbers.asarray(np.abs(mean))]
    result = gpu.one_pass_running_statistics(_never)(numbers, numbers.asarray(x), *old, numbers.float32(0.9), AXES)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(result[0], 0.9 * mean + 0.1 * wide.mean(AXES), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(result[1], 0.9 * np.abs(mean) + 0.1 * wide.var(AXES), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("shape", "view", "axes", "centred"),
    [
        (SHAPE, SHAPE, (3,), True),  # rows
        (SHAPE, SHAPE, AXES, False),  # root-mean-square
        ((0, 3, 4, 2), (0, 3, 4, 2), AXES, True),  # nothing to look at
    ],
)
def test_other_work_is_left_to_xla(numbers: Any, shape: Any, view: Any, axes: Any, centred: bool) -> None:
    kernel = gpu.one_pass_normalise(lambda *arguments: "fallback")
    result = kernel(numbers, numbers.zeros(shape, numbers.float32), None, None, EPSILON, view, axes, BROADCAST, centred)
    assert result == "fallback"
