"""Native softmax, GELU and the gradient of maximum pooling."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from proa.kernels.cpu import library
from proa.ops.neural import activation, softmax
from proa.ops.neural.windowed import pooling_kernels
from tests.kernels.cases.references import calls_native, draw, error_of, jitted, pool_case

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")

SOFTMAX, GELU, GELU_SLOPE, POOL_GRAD = (
    primitive.operation.kernels["cpu"]
    for primitive in (softmax.softmax_along, activation.gelu_of, activation.gelu_slope, pooling_kernels.max_pool_grad)
)


@pytest.mark.parametrize("shape", [(70, 100), (3, 40, 129), (5000, 1), (4, 1031)])
def test_softmax(shape: tuple[int, ...]) -> None:
    x = draw(np.random.default_rng(0), *shape) * 20
    assert calls_native(SOFTMAX, [x], (len(shape) - 1,))
    (found,) = jitted(SOFTMAX, [x], (-1,))
    assert error_of(found, scipy.special.softmax(x.astype(np.float64), -1)) < 1e-6


def test_softmax_of_infinities_and_nans() -> None:
    x = draw(np.random.default_rng(1), 64, 80)
    x[3, 5:70], x[4], x[5, 7], x[6, 79] = -np.inf, -np.inf, np.nan, np.inf
    (found,) = jitted(SOFTMAX, [x], (1,))
    assert (found[3, 5:70] == 0).all()
    assert found[3].sum() == pytest.approx(1)
    assert np.isnan(found[[4, 5]]).all()
    assert np.isnan(found[6, 79])
    assert np.isfinite(found[[0, 1, 2, 3, 7]]).all()


def test_softmax_along_another_axis_stays_with_xla() -> None:
    x = draw(np.random.default_rng(2), 80, 80)
    assert calls_native(SOFTMAX, [x], (1,))
    assert not calls_native(SOFTMAX, [x], (0,))


def test_gelu_and_its_slope() -> None:
    x = np.concatenate([np.linspace(-12, 12, 9001), [0.0, -0.0, 1e-30, 100, -100, 3e38, -3e38]]).astype(np.float32)
    outer = draw(np.random.default_rng(3), *x.shape)
    wide = x.astype(np.float64)
    share = scipy.special.ndtr(wide)
    (found,) = jitted(GELU, [x], (False,))
    assert calls_native(GELU, [x], (False,))
    np.testing.assert_allclose(found, wide * share, rtol=1e-6, atol=5e-7)
    (slope,) = jitted(GELU_SLOPE, [outer, x], (False,))
    with np.errstate(over="ignore"):
        expected = outer * (share + wide * np.exp(-0.5 * wide * wide) / np.sqrt(2 * np.pi))
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=2e-6)


def test_gelu_is_exact_relative_to_itself_far_from_zero() -> None:
    x = np.linspace(-12.5, 12.5, 20001).astype(np.float32)
    wide = x.astype(np.float64)
    (found,) = jitted(GELU, [x], (False,))
    np.testing.assert_allclose(found, wide * scipy.special.ndtr(wide), rtol=5e-6)
    (slope,) = jitted(GELU_SLOPE, [np.ones_like(x), x], (False,))
    tail = wide < -2  # further in it has a zero
    expected = scipy.special.ndtr(wide) + wide * np.exp(-0.5 * wide * wide) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(slope[tail], expected[tail], rtol=5e-6)


def test_gelu_of_special_values_is_that_of_xla() -> None:
    x = np.zeros(5000, np.float32)
    x[:3] = np.nan, np.inf, -np.inf
    (found,) = jitted(GELU, [x], (False,))
    (reference,) = jitted(activation.gelu_of.operation.kernel, [x], (False,))
    np.testing.assert_array_equal(found, reference)


@pytest.mark.parametrize("seed", range(8))
def test_gradient_of_maximum_pooling(seed: int) -> None:
    (x, y), window = pool_case(np.random.default_rng(seed))
    (found,) = jitted(POOL_GRAD, [x, y], window)
    assert x.size < 4096 or calls_native(POOL_GRAD, [x, y], window)
    reference = pooling_kernels.max_pool_grad.operation.kernel(np, x, y.astype(np.float64), *window)
    assert error_of(found, reference) < 1e-6, (x.shape, window)


def test_windows_of_minus_infinity_give_their_gradient_to_the_first_element() -> None:
    x = np.full((2, 8, 20, 20), -np.inf, np.float32)
    y = np.ones((2, 8, 10, 10), np.float32)
    window = ((3, 3), (2, 2), ((1, 1), (1, 1)), False)
    expected = np.zeros_like(x)
    for row in range(10):
        for column in range(10):
            expected[:, :, max(2 * row - 1, 0), max(2 * column - 1, 0)] += 1
    (found,) = jitted(POOL_GRAD, [x, y], window)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(pooling_kernels.max_pool_grad.operation.kernel(np, x, y, *window), expected)
