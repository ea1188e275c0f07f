"""Native convolutions and their gradients against float64 and against the definition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from proa.kernels.cpu import library
from proa.ops.neural.windowed import convolution_kernels as kernels
from tests.kernels.cases.references import calls_native, draw, error_of, jitted

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")

CONV, GRAD_INPUT, GRAD_WEIGHT = (
    primitive.operation.kernels["cpu"]
    for primitive in (kernels.conv, kernels.conv_grad_input, kernels.conv_grad_weight)
)


def references(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, dy: Any, window: tuple[Any, ...]) -> list[Any]:
    """Result and gradients in float64 by NumPy (tier 0's kernels, tested on their own)."""
    x, weight, bias = (a.astype(np.float64) for a in (x, weight, bias))
    y = kernels._numpy_conv(np, x, weight, bias, *window)
    dy = dy(y.shape).astype(np.float64)
    return [
        y, dy, kernels._numpy_grad_input(np, dy, weight, x.shape, *window),
        kernels._numpy_grad_weight(np, x, dy, weight.shape, *window),
    ]  # fmt: skip


def check(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, window: tuple[Any, ...], seed: int) -> None:
    generator = np.random.default_rng(seed)
    y, dy, dx, dw = references(x, weight, bias, lambda shape: draw(generator, *shape), window)
    dy = dy.astype(np.float32)

    def all_three(xp: Any, x: Any, weight: Any, bias: Any, dy: Any) -> Any:
        return (
            CONV(xp, x, weight, bias, *window), GRAD_INPUT(xp, dy, weight, x.shape, *window),
            GRAD_WEIGHT(xp, x, dy, weight.shape, *window),
        )  # fmt: skip

    found = jitted(all_three, [x, weight, bias, dy])
    for what, one, reference in zip(("y", "dx", "dw"), found, (y, dx, dw)):
        assert error_of(one, reference) < 1e-5, (what, x.shape, weight.shape, window)


@pytest.mark.parametrize(
    ("shape", "filters", "kernel", "stride", "padding", "groups"),
    [
        ((2, 64, 14, 14), 64, 3, 1, 1, 1), ((2, 3, 40, 40), 24, 7, 2, 3, 1), ((3, 64, 7, 7), 96, 1, 1, 0, 1),
        ((2, 32, 14, 14), 64, 1, 2, 0, 1), ((2, 40, 15, 15), 40, 3, 2, 1, 40), ((2, 40, 15, 15), 40, 5, 1, 2, 40),
        ((1, 32, 9, 9), 64, 3, 2, 1, 4), ((1, 17, 1, 1), 33, 1, 1, 0, 1), ((2, 4, 30, 5), 6, 9, 1, 8, 1),
        ((8, 96, 7, 7), 40, 3, 1, 1, 1), ((2, 16, 40, 40), 20, 1, 3, 0, 1), ((1, 8, 70, 70), 9, 3, 1, 1, 1),
        ((2, 24, 40, 40), 24, 5, 2, 2, 24), ((4, 24, 9, 9), 24, 3, 1, 0, 24), ((2, 24, 9, 9), 24, 3, 1, 4, 24),
        ((2, 24, 20, 20), 48, 3, 1, 1, 24), ((1, 1024, 10, 10), 70, 1, 1, 0, 1), ((1, 512, 20, 20), 33, 1, 2, 0, 1),
        ((2, 300, 7, 7), 100, 3, 1, 1, 1), ((1, 2048, 3, 3), 64, 1, 1, 0, 1), ((1, 5, 6, 900), 33, 3, 1, 1, 1),
    ],
)  # fmt: skip
def test_layers_of_known_networks(
    shape: tuple[int, ...], filters: int, kernel: int, stride: int, padding: int, groups: int
) -> None:
    generator = np.random.default_rng(math.prod(shape))
    x, weight = draw(generator, *shape), draw(generator, filters, shape[1] // groups, kernel, kernel)
    window = ((stride,) * 2, ((padding,) * 2,) * 2, (1, 1), groups, False)
    if math.prod(shape) > 1000:
        assert calls_native(CONV, [x, weight, None], window)
    check(x, weight, draw(generator, filters), window, 0)


def test_what_has_no_native_form_stays_with_xla() -> None:
    generator = np.random.default_rng(0)
    x, weight = draw(generator, 2, 16, 9, 9), draw(generator, 16, 16, 3, 3)
    window = ((1, 1), ((1, 1), (1, 1)), (1, 1), 1, False)
    assert calls_native(CONV, [x, weight, None], window)
    assert not calls_native(CONV, [x.astype(np.float64), weight.astype(np.float64), None], window)
    assert not calls_native(CONV, [x[:0], weight, None], window)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize(("extents", "stride", "groups"), [((6, 9, 15), (1, 2, 1), 1), ((120,), (3,), 2)])
def test_one_and_three_axes_of_space(
    extents: tuple[int, ...], stride: tuple[int, ...], groups: int, channels_last: bool
) -> None:
    generator = np.random.default_rng(len(extents))
    shape = (2, *extents, 12) if channels_last else (2, 12, *extents)
    x, weight = draw(generator, *shape), draw(generator, 20, 12 // groups, *[3] * len(extents))
    window = (stride, ((1, 2),) * len(extents), (2,) * len(extents), groups, channels_last)
    assert calls_native(CONV, [x, weight, None], window)
    check(x, weight, draw(generator, 20), window, 1)


@pytest.mark.parametrize("channels_last", [False, True])
def test_windows_gathered_a_few_samples_at_a_time_give_the_same(
    channels_last: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(3)
    x = draw(generator, *((5, 9, 8, 4) if channels_last else (5, 4, 9, 8))).astype(np.float64)
    weight, bias = draw(generator, 6, 2, 3, 3).astype(np.float64), draw(generator, 6).astype(np.float64)
    window = ((2, 1), ((1, 0), (2, 1)), (1, 2), 2, channels_last)
    whole = references(x, weight, bias, lambda shape: np.ones(shape), window)
    monkeypatch.setattr(kernels, "_MOST_GATHERED", 2 * whole[0][0].size // 6 * 36)  # two samples' windows
    parts = references(x, weight, bias, lambda shape: np.ones(shape), window)
    for one, other in zip(whole, parts, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
