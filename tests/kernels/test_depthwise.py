"""Native depthwise convolutions against plain loops in float64."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from proa.kernels.cpu import depthwise, direct, library
from tests.kernels.cases import references as r

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")

CASES = [
    # shape of x, filters of a channel, kernel, stride, padding, dilation
    ((2, 16, 14, 14), 1, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    ((2, 24, 15, 13), 1, (5, 5), (2, 2), ((2, 2), (2, 2)), (1, 1)),
    ((1, 40, 9, 23), 1, (7, 7), (1, 1), ((3, 3), (3, 3)), (1, 1)),
    ((2, 5, 11, 30), 1, (3, 5), (2, 3), ((0, 4), (7, 1)), (2, 3)),
    ((2, 17, 6, 4), 3, (3, 3), (2, 1), ((1, 1), (1, 1)), (1, 1)),
    ((1, 33, 2, 3), 1, (5, 5), (1, 1), ((2, 2), (2, 2)), (1, 1)),
    ((2, 8, 9, 9), 1, (2, 2), (4, 5), ((0, 0), (0, 0)), (1, 1)),  # windows with gaps between them
    ((3, 20, 61), 1, (9,), (2,), ((4, 4),), (1,)),
    ((3, 20, 61), 2, (4,), (3,), ((0, 9),), (4,)),
    ((2, 19, 5, 6, 7), 1, (3, 2, 3), (1, 2, 2), ((1, 1), (0, 1), (1, 1)), (2, 1, 1)),
    ((1, 4, 1, 2000), 1, (1, 3), (1, 1), ((0, 0), (1, 1)), (1, 1)),  # a line longer than a sum in float
]


def _loops(x: Any, weight: Any, bias: Any, dy: Any, window: Any) -> tuple[Any, Any, Any]:
    """The result, if dy is None; else the gradients of x and the weight."""
    stride, padding, dilation = window[:3]
    x, weight = x.astype(np.float64), weight.astype(np.float64)
    times = weight.shape[0] // x.shape[1]
    padded = np.pad(np.repeat(x, times, 1), ((0, 0), (0, 0), *padding))
    kernel, grads, weight_grads = weight.shape[2:], np.zeros_like(padded), np.zeros_like(weight)
    out = [
        (n - d * (k - 1) - 1) // s + 1 for n, d, k, s in zip(padded.shape[2:], dilation, kernel, stride, strict=True)
    ]
    y = np.zeros((x.shape[0], weight.shape[0], *out))
    for tap in itertools.product(*map(range, kernel)):
        starts = [t * d for t, d in zip(tap, dilation, strict=True)]
        part = [slice(a, a + s * (n - 1) + 1, s) for a, s, n in zip(starts, stride, out, strict=True)]
        seen, filters = (slice(None), slice(None), *part), (slice(None), 0, *tap)
        column = weight[filters].reshape(1, -1, *(1 for _ in out))
        y += column * padded[seen]
        if dy is not None:
            grads[seen] += column * dy
            weight_grads[filters] = (padded[seen] * dy).sum((0, *range(2, y.ndim)))
    inside = tuple(slice(a, a + n) for (a, _), n in zip(padding, x.shape[2:], strict=True))
    grads = grads[(slice(None), slice(None), *inside)]
    grads = grads.reshape(x.shape[0], x.shape[1], times, *x.shape[2:]).sum(2)
    return y + bias.reshape(1, -1, *(1 for _ in out)), grads, weight_grads


def _case(case: Any) -> Any:
    shape, times, kernel, *window = case
    generator = np.random.default_rng(len(shape) + shape[-1])
    x, weight = r.draw(generator, *shape), r.draw(generator, shape[1] * times, 1, *kernel)
    bias = r.draw(generator, shape[1] * times)
    full = (*window, shape[1], False)
    dy = r.draw(generator, *_loops(x, weight, bias, None, full)[0].shape)
    return x, weight, bias, dy, full, _loops(x, weight, bias, dy.astype(np.float64), full)


def _both(xp: Any, x: Any, weight: Any, bias: Any, dy: Any, window: Any) -> Any:
    return (
        depthwise.forward(x, weight, bias, window),
        depthwise.grad_input(dy, weight, x.shape, window),
        depthwise.grad_weight(x, dy, weight.shape, window),
    )


@pytest.mark.parametrize("case", CASES)
def test_result_and_gradients_are_those_of_loops(case: Any) -> None:
    x, weight, bias, dy, window, expected = _case(case)
    assert depthwise.fits(x.shape, weight.shape, window)
    for found, reference in zip(r.jitted(_both, [x, weight, bias, dy], (window,)), expected, strict=True):
        assert r.error_of(found, reference) < 1e-6


@pytest.mark.parametrize("case", [CASES[1], CASES[4]])
def test_without_xla_it_is_the_same(case: Any) -> None:
    x, weight, bias, dy, window, expected = _case(case)
    library.why_not()  # waits until all libraries are there
    run = direct.on_host(lambda plain: _both, None)  # type: ignore[arg-type]
    for found, reference in zip(run(np, x, weight, bias, dy, window), expected, strict=True):
        assert r.error_of(found, reference) < 1e-6


def test_without_a_bias() -> None:
    x, weight, bias, _, window, expected = _case(CASES[0])
    found = r.jitted(lambda xp, x, weight: depthwise.forward(x, weight, None, window), [x, weight])[0]
    assert r.error_of(found, expected[0] - bias.reshape(1, -1, 1, 1)) < 1e-6


def test_nothing_outside_the_window_matters() -> None:
    """An infinite element reaches only the outputs whose windows see it."""
    x, weight, bias, _, window, expected = _case(CASES[0])
    x[1, 3, 7, 7] = np.inf
    found = r.jitted(lambda xp, x, w, b: depthwise.forward(x, w, b, window), [x, weight, bias])[0]
    finite = np.isfinite(found)
    assert (~finite).sum() == 9
    assert not finite[1, 3, 6:9, 6:9].any()
    assert np.abs(found - expected[0])[finite].max() < 1e-5


def test_what_is_not_depthwise_is_left_alone() -> None:
    window = ((1, 1), ((1, 1), (1, 1)), (1, 1), 8, False)
    assert not depthwise.fits((2, 16, 8, 8), (16, 2, 3, 3), window)
    assert not depthwise.fits((2, 16, 8, 8), (16, 1, 3, 3), window)
    assert depthwise.fits((2, 8, 8, 8), (16, 1, 3, 3), window)
    assert not depthwise.fits((0, 8, 8, 8), (16, 1, 3, 3), window)
