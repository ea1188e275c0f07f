"""Native products and convolutions with packed weights against float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.core.dtype import BFLOAT16, FLOAT32
from proa.kernels.cpu import fused as native
from proa.kernels.cpu import library
from proa.ops.neural import fused
from tests.kernels.cases import references as r

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")
CONV_CASES = [
    # x, weight, stride, padding, dilation, groups
    ((1, 8, 9, 7), (13, 8, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ((2, 6, 11, 10), (28, 6, 1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ((3, 5, 7, 7), (64, 5, 1, 1), (2, 2), ((0, 0), (0, 0)), (1, 1), 1),
    ((2, 4, 12, 9), (6, 2, 3, 5), (2, 1), ((0, 2), (3, 1)), (2, 1), 2),
    ((2, 12, 15, 17), (12, 1, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 12),
    ((2, 10, 15, 14), (20, 1, 5, 5), (2, 2), ((2, 2), (2, 2)), (1, 1), 10),
    ((1, 400, 7, 7), (40, 400, 1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    # Divided among threads: by filters, by filters of a single position, by positions in equal blocks.
    ((1, 90, 5, 6), (500, 90, 1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ((1, 16, 6, 5), (450, 16, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ((1, 672, 1, 1), (168, 672, 1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ((1, 40, 28, 28), (70, 40, 1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ((2, 5, 33), (9, 5, 4), (3,), ((1, 2),), (2,), 1),
    ((2, 6, 33), (6, 1, 3), (1,), ((1, 1),), (1,), 6),
]


def _activated(x: np.ndarray, activation: str, low: float, high: float) -> np.ndarray:
    from scipy.special import erf

    return {
        "": lambda: x,
        "relu": lambda: np.maximum(x, 0),
        "clip": lambda: np.clip(x, low, high),
        "hardswish": lambda: x * np.clip(x + 3, 0, 6) / 6,
        "silu": lambda: x / (1 + np.exp(-x)),
        "sigmoid": lambda: 1 / (1 + np.exp(-x)),
        "gelu": lambda: x * (1 + erf(x / np.sqrt(2))) / 2,
        "gelu_tanh": lambda: x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2,
        "tanh": lambda: np.tanh(x),
    }[activation]()


def _numbers(array: np.ndarray, low: bool) -> np.ndarray:
    """In float64, what is multiplied: of bfloat16 the nearest, by the bits."""
    if not low:
        return array.astype(np.float64)
    bits = array.view(np.uint32)
    nearest = (bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)
    return nearest.view(np.float32).astype(np.float64)


def _close(found: np.ndarray, expected: np.ndarray, terms: int) -> None:
    np.testing.assert_allclose(found, expected, rtol=2e-6 * np.sqrt(terms) + 2e-6, atol=1e-6 * np.sqrt(terms))


@pytest.mark.parametrize("low", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 3, 14, 15, 47, 200])
@pytest.mark.parametrize(("depth", "columns"), [(1, 16), (7, 33), (321, 100), (768, 65)])
def test_product(rows: int, depth: int, columns: int, low: bool) -> None:
    generator = np.random.default_rng(rows * depth + columns)
    x, weight, bias, residual = (
        r.draw(generator, *shape) for shape in ((rows, depth), (depth, columns), (columns,), (rows, columns))
    )
    activation = native.ACTIVATIONS[(rows + columns) % len(native.ACTIVATIONS)]
    panels = fused.packed_panels.operation.kernel(np, weight, low)
    assert panels.dtype == (BFLOAT16 if low else FLOAT32)
    kernel = fused.fused_linear.operation.kernels["cpu"]
    attributes = (columns, activation, -0.5, 0.75)
    arrays: list[Any] = [x, panels, bias if rows % 2 else None, residual if columns % 2 else None]
    assert r.calls_native(kernel, arrays, attributes)
    found = r.jitted(kernel, arrays, attributes)[0]
    expected = _numbers(x, low) @ _numbers(weight, low)
    expected = expected + (bias if rows % 2 else 0) + (residual if columns % 2 else 0)
    _close(found, _activated(expected, *attributes[1:]), depth)
    with np.errstate(over="ignore"):  # of exp(-x), where the result is 0
        reference = fused.fused_linear.operation.kernel(np, *arrays, *attributes)
    _close(reference, _activated(expected, *attributes[1:]), depth)


@pytest.mark.parametrize("activation", native.ACTIVATIONS)
def test_activations(activation: str) -> None:
    values = np.concatenate([np.linspace(-12, 12, 997), [0.0, -0.0, 1e-6, -1e-6, 80, -80, np.inf]]).astype(np.float32)
    x = values[:, None]
    panels = fused.packed_panels.operation.kernel(np, np.ones((1, 16), np.float32))
    kernel, attributes = fused.fused_linear.operation.kernels["cpu"], (16, activation, 0.0, 6.0)
    found = r.jitted(kernel, [x, panels, None, None], attributes)[0]
    expected = _activated(x.astype(np.float64), activation, 0.0, 6.0)
    np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), rtol=3e-6, atol=3e-7)
    lost = r.jitted(kernel, [np.full((3, 1), np.nan, np.float32), panels, None, None], attributes)[0]
    assert np.isnan(lost).all()


EVEN = [case for case in CONV_CASES if case[1][1] % 2 == 0]


@pytest.mark.parametrize(("case", "low"), [*((case, False) for case in CONV_CASES), *((case, True) for case in EVEN)])
@pytest.mark.parametrize(
    ("activation", "with_bias", "with_residual"), [("relu", True, True), ("hardswish", False, False)]
)
def test_convolution(case: Any, low: bool, activation: str, with_bias: bool, with_residual: bool) -> None:
    from proa.ops.neural.windowed.convolution_kernels import _numpy_conv

    x_shape, shape, stride, padding, dilation, groups = case
    generator = np.random.default_rng(sum(x_shape))
    x, weight, bias = (r.draw(generator, *s) for s in (x_shape, shape, shape[:1]))
    plain = _numpy_conv(np, _numbers(x, low), _numbers(weight, low), None, stride, padding, dilation, groups, False)
    residual = r.draw(generator, *plain.shape)
    after = r.draw(generator, 2, shape[0])
    filters = fused.packed_filters.operation.kernel(np, weight, groups, low)
    attributes = (shape, stride, padding, dilation, groups, activation, 0.0, 0.0)
    arrays: list[Any] = [x, filters, bias if with_bias else None, residual if with_residual else None]
    arrays.append(after if with_residual != low else None)
    kernel = fused.fused_conv.operation.kernels["cpu"]
    assert r.calls_native(kernel, arrays, attributes)
    along = bias.reshape(-1, *[1] * len(stride))
    expected = plain + (along if with_bias else 0) + (residual if with_residual else 0)
    expected = _activated(expected, activation, 0.0, 0.0)
    if arrays[-1] is not None:
        factor, shift = after.astype(np.float64).reshape(2, -1, *[1] * len(stride))
        expected = expected * factor + shift
    terms = int(np.prod(shape[1:]))
    _close(r.jitted(kernel, arrays, attributes)[0], expected, terms)
    _close(fused.fused_conv.operation.kernel(np, *arrays, *attributes), expected, terms)


@pytest.mark.parametrize("case", [*EVEN, *(case for case in CONV_CASES if case[1][1] == 1 and case[5] > 1)])
@pytest.mark.parametrize("rounded", [False, True])
def test_convolution_between_images_of_bfloat16(case: Any, rounded: bool) -> None:
    """Image and residual lie in memory as bfloat16, and so does the result if it is to be rounded."""
    from proa.ops.neural.windowed.convolution_kernels import _numpy_conv

    x_shape, shape, stride, padding, dilation, groups = case
    generator = np.random.default_rng(sum(x_shape))
    weight, bias = r.draw(generator, *shape), r.draw(generator, shape[0])
    low = not native.is_depthwise(shape, groups)
    x = r.draw(generator, *x_shape).astype(BFLOAT16)
    window = (stride, padding, dilation, groups, False)
    plain = _numpy_conv(np, x.astype(np.float64), _numbers(weight, low), None, *window)
    residual = r.draw(generator, *plain.shape).astype(BFLOAT16)
    filters = fused.packed_filters.operation.kernel(np, weight, groups, low)
    attributes = (shape, *window[:4], "hardswish", 0.0, 0.0, rounded)
    arrays: list[Any] = [x, filters, bias, residual, None]
    kernel = fused.fused_conv.operation.kernels["cpu"]
    assert r.calls_native(kernel, arrays, attributes)
    along = bias.reshape(-1, *[1] * len(stride))
    expected = _activated(plain + along + residual.astype(np.float64), "hardswish", 0.0, 0.0)
    for found in (r.jitted(kernel, arrays, attributes)[0], fused.fused_conv.operation.kernel(np, *arrays, *attributes)):
        assert found.dtype == (BFLOAT16 if rounded else FLOAT32)
        if rounded:
            np.testing.assert_allclose(found.astype(np.float64), expected, rtol=2**-8 + 1e-4, atol=1e-5)
        else:
            _close(found, expected, int(np.prod(shape[1:])))


def test_odd_channels_are_not_packed_as_pairs() -> None:
    with pytest.raises(ValueError, match="only an even number of channels can be packed as bfloat16"):
        fused.packed_filters(paddle.ones([16, 3, 3, 3]), 1, True)


def test_weights_of_other_types_are_refused() -> None:
    panels = fused.packed_panels(paddle.ones([6, 48]), True)
    assert fused.fused_linear(paddle.ones([2, 6]), panels, columns=48).numpy().tolist() == [[6.0] * 48] * 2
    for wrong in (paddle.ones([2, 6], "float64"), paddle.ones([2, 8])):
        with pytest.raises(ValueError, match="the operands do not fit each other"):
            fused.fused_linear(wrong, panels, columns=48)


@pytest.mark.parametrize("low", [False, True])
@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize(
    ("shape", "hidden"),
    [((2, 20, 5, 7), 6), ((1, 16, 1, 1), 34), ((1, 480, 14, 14), 120), ((3, 36, 90), 8), ((1, 24, 70, 70), 40)],
)
def test_squeeze_and_excite(shape: tuple[int, ...], hidden: int, low: bool, rounded: bool) -> None:
    generator = np.random.default_rng(hidden)
    channels = shape[1]
    x = r.draw(generator, *shape) + 0.5
    weights = [r.draw(generator, hidden, channels) / np.sqrt(channels), r.draw(generator, channels, hidden) / hidden]
    biases = [r.draw(generator, hidden), r.draw(generator, channels) if not low else None]
    endings = [("relu", 0.0, 0.0), ("clip", -0.25, 0.75) if low else ("sigmoid", 0.0, 0.0)]
    packed = [
        fused.packed_filters.operation.kernel(np, w[:, :, None, None].astype(np.float32), 1, low) for w in weights
    ]
    given = x.astype(BFLOAT16) if rounded else x
    arrays: list[Any] = [given, *packed, *biases]
    attributes = (hidden, *endings, low != rounded, rounded)
    kernel = fused.squeeze_excite.operation.kernels["cpu"]
    assert r.calls_native(kernel, arrays, attributes)
    wide = given.astype(np.float64)
    gate = wide.reshape(*shape[:2], -1).mean(2)
    for weight, bias, ending in zip(weights, biases, endings, strict=True):
        used = _numbers(gate.astype(np.float32), True) if low else gate
        gate = used @ _numbers(weight.astype(np.float32), low).T + (0 if bias is None else bias)
        gate = _activated(gate, *ending)
    expected = wide * gate.reshape(*shape[:2], *[1] * (len(shape) - 2))
    expected = wide + expected if low != rounded else expected
    for found in (
        r.jitted(kernel, arrays, attributes)[0],
        fused.squeeze_excite.operation.kernel(np, *arrays, *attributes),
    ):
        assert found.dtype == (BFLOAT16 if rounded else FLOAT32)
        # A mean in another order may be rounded to the next bfloat16, at each of the two products.
        tolerance = 2**-7 if low else 2**-8 if rounded else 1e-5
        np.testing.assert_allclose(found.astype(np.float64), expected, rtol=tolerance, atol=tolerance)


def test_what_a_squeeze_does_not_fit_is_refused() -> None:
    first, second = (fused.packed_filters(paddle.ones(shape)) for shape in ([4, 6, 1, 1], [6, 4, 1, 1]))
    x = paddle.ones([1, 6, 2, 2])
    assert fused.squeeze_excite(x, first, second, hidden=4).numpy().max() == 24.0
    for wrong in ((x, first, second, 5), (x, second, first, 4), (paddle.ones([1, 6]), first, second, 4)):
        with pytest.raises(ValueError, match="the operands do not fit each other"):
            fused.squeeze_excite(*wrong[:3], hidden=wrong[3])
