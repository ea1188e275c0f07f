"""Native pooling against plain loops."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from proa.kernels.cpu import library
from proa.ops.basic import sum_over
from proa.ops.math.reduction import mean_over
from proa.ops.neural.windowed import pooling_kernels as ops
from tests.kernels.cases import references as r

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")

CASES = [
    # shape, kernel, stride, padding
    ((2, 8, 28, 28), (3, 3), (2, 2), ((1, 1), (1, 1))),
    ((3, 17, 17, 19), (2, 2), (2, 2), ((0, 0), (0, 0))),
    ((2, 5, 13, 33), (2, 2), (2, 2), ((0, 1), (0, 1))),
    ((2, 9, 15, 33), (3, 5), (1, 1), ((1, 2), (0, 3))),
    ((2, 9, 15, 33), (2, 3), (4, 7), ((0, 1), (2, 2))),
    ((1, 200, 6, 6), (3, 3), (3, 3), ((0, 0), (0, 0))),  # channels are divided among threads
    ((4, 33, 61), (4,), (3,), ((2, 1),)),
    ((4, 33, 61), (61,), (1,), ((0, 0),)),
    ((2, 18, 7, 8, 9), (2, 3, 2), (2, 2, 1), ((0, 0), (1, 1), (0, 1))),
]


def _cpu(primitive: Any) -> Any:
    return primitive.operation.kernel_for("cpu")


def _windows(x: np.ndarray, kernel: Any, stride: Any, padding: Any) -> Any:
    """For each place of the result, which part of the image its window sees."""
    extents = x.shape[2:]
    size = [(n + a + b - k) // s + 1 for n, (a, b), k, s in zip(extents, padding, kernel, stride, strict=True)]
    for place in np.ndindex(*size):
        starts = [p * s - a for p, s, (a, _) in zip(place, stride, padding, strict=True)]
        part = [slice(max(a, 0), max(min(a + k, n), 0)) for a, k, n in zip(starts, kernel, extents, strict=True)]
        yield place, size, tuple(part)


def _case(case: Any) -> tuple[np.ndarray, Any]:
    shape, *window = case
    x = np.random.default_rng(len(shape) + shape[-1]).integers(-40, 40, shape).astype(np.float32)
    return x, window


@pytest.mark.parametrize(("case", "channels_last"), list(zip(CASES, itertools.cycle([False, True]))))
def test_maxima(case: Any, channels_last: bool) -> None:
    x, window = _case(case)
    x[0, 1] = -np.inf
    x[-1, 2, ..., 3] = np.nan
    expected: Any = None
    for place, size, part in _windows(x, *window):
        expected = np.empty((*x.shape[:2], *size), x.dtype) if expected is None else expected
        expected[(..., *place)] = x[(..., *part)].max(axis=tuple(range(2, x.ndim)))
    given = np.moveaxis(x, 1, -1).copy() if channels_last else x
    attributes = (*window, channels_last)
    assert r.calls_native(_cpu(ops.max_pool), [given], attributes)
    found = r.jitted(_cpu(ops.max_pool), [given], attributes)[0]
    np.testing.assert_array_equal(np.moveaxis(found, -1, 1) if channels_last else found, expected)


@pytest.mark.parametrize("case", CASES)
def test_gradient_of_maxima_goes_to_the_first_of_equals(case: Any) -> None:
    x, window = _case(case)
    x = np.trunc(x / 10)
    places = list(_windows(x, *window))
    grad = r.draw(np.random.default_rng(1), *x.shape[:2], *places[0][1])
    expected = np.zeros(x.shape)
    for place, _, part in places:
        seen = x[(..., *part)]
        winner = np.eye(seen[0, 0].size)[seen.reshape(*seen.shape[:2], -1).argmax(-1)].reshape(seen.shape)
        expected[(..., *part)] += winner * grad[(..., *place)].reshape(*x.shape[:2], *(1 for _ in place))
    assert r.calls_native(_cpu(ops.max_pool_grad), [x, grad], (*window, False))
    found = r.jitted(_cpu(ops.max_pool_grad), [x, grad], (*window, False))[0]
    assert r.error_of(found, expected) < 1e-6


@pytest.mark.parametrize(
    ("case", "divisor"), list(zip(CASES, itertools.cycle(["exclusive", "inclusive", 5.0, "exclusive"])))
)
def test_means_and_their_gradient(case: Any, divisor: Any) -> None:
    x, window = _case(case)
    places = list(_windows(x, *window))
    grad = r.draw(np.random.default_rng(1), *x.shape[:2], *places[0][1])
    means, grads = np.empty(grad.shape), np.zeros(x.shape)
    kernel, stride, padding = window
    for place, _, part in places:
        asked = [min(k, n + 2 * a - p * s) for k, n, (a, _), p, s in zip(kernel, x.shape[2:], padding, place, stride)]
        seen = x[(..., *part)].astype(np.float64)
        count = seen[0, 0].size if divisor == "exclusive" else np.prod(asked) if divisor == "inclusive" else divisor
        means[(..., *place)] = seen.sum(axis=tuple(range(2, x.ndim))) / count
        grads[(..., *part)] += grad[(..., *place)].reshape(*x.shape[:2], *(1 for _ in place)) / count
    attributes = (*window, divisor, False)
    assert r.calls_native(_cpu(ops.avg_pool), [x], attributes)
    assert r.error_of(r.jitted(_cpu(ops.avg_pool), [x], attributes)[0], means) < 1e-6
    found = r.jitted(_cpu(ops.avg_pool_grad), [grad], (x.shape, *attributes))[0]
    assert r.error_of(found, grads) < 1e-6


@pytest.mark.parametrize("counts", [(1, 1), (3, 4), (7, 9), (14, 20)])
def test_adaptive_means(counts: tuple[int, int]) -> None:
    x = r.draw(np.random.default_rng(0), 2, 37, 14, 15)
    expected, grads = np.empty((2, 37, *counts)), np.zeros(x.shape)
    grad = r.draw(np.random.default_rng(1), *expected.shape)
    for place in itertools.product(*map(range, counts)):
        part = tuple(slice(i * n // c, -(-(i + 1) * n // c)) for i, n, c in zip(place, x.shape[2:], counts))
        seen = x[(..., *part)].astype(np.float64)
        expected[(..., *place)] = seen.mean((2, 3))
        grads[(..., *part)] += grad[(..., *place)][:, :, None, None] / seen[0, 0].size
    assert r.calls_native(_cpu(ops.adaptive_average), [x], (counts, (2, 3)))
    assert r.error_of(r.jitted(_cpu(ops.adaptive_average), [x], (counts, (2, 3)))[0], expected) < 1e-6
    found = r.jitted(_cpu(ops.adaptive_average_grad), [grad], ((14, 15), (2, 3)))[0]
    assert r.error_of(found, grads) < 1e-6


@pytest.mark.parametrize("shape", [(2, 16, 50, 60), (1, 300, 7, 7), (2, 9, 9, 16, 17), (3, 8, 1, 3000)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_whole_images(shape: tuple[int, ...], keepdim: bool) -> None:
    x, axes = r.draw(np.random.default_rng(0), *shape) + np.float32(1), tuple(range(2, len(shape)))
    for primitive, reference in ((mean_over, np.mean), (sum_over, np.sum)):
        assert r.calls_native(_cpu(primitive), [x], (axes, keepdim))
        found = r.jitted(_cpu(primitive), [x], (axes, keepdim))[0]
        assert r.error_of(found, reference(x.astype(np.float64), axes, keepdims=keepdim)) < 1e-6


def test_other_axes_are_left_to_xla() -> None:
    x = r.draw(np.random.default_rng(0), 4, 16, 16, 16)
    assert not r.calls_native(_cpu(mean_over), [x], ((1, 2), True))
    assert not r.calls_native(_cpu(mean_over), [x[0]], ((2,), True))
