"""Random cases of the fused kernels of inference: products and convolutions with all that stands behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from proa.core.dtype import BFLOAT16
from proa.kernels.cpu import fused as native
from proa.ops.neural import fused
from proa.ops.neural.windowed import convolution_kernels
from tests.kernels.cases import references as r
from tests.kernels.cases.light_cases import Case

_LOW, _HIGH = -0.5, 1.25


def _activated(x: np.ndarray, activation: str) -> np.ndarray:
    """The activation by its definition, in float64."""
    return {
        "": lambda: x,
        "relu": lambda: np.maximum(x, 0),
        "clip": lambda: np.clip(x, _LOW, _HIGH),
        "hardswish": lambda: x * np.clip(x + 3, 0, 6) / 6,
        "silu": lambda: x * scipy.special.expit(x),
        "sigmoid": lambda: scipy.special.expit(x),
        "gelu": lambda: x * scipy.special.ndtr(x),
        "gelu_tanh": lambda: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
        "tanh": lambda: np.tanh(x),
    }[activation]()


def tamed(x: np.ndarray, weight: np.ndarray, terms: int, outputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Operands whose sums are about 1, and not negative where there are few of them.

    Errors are relative to the largest result: it must not be much smaller than the sum that an activation was given.
    """
    weight = weight / np.float32(np.sqrt(terms))
    return (np.abs(x), np.abs(weight)) if outputs < 32 else (x, weight)


def _parts(generator: np.random.Generator, bias: np.ndarray, shape: tuple[int, ...]) -> tuple[Any, Any, str]:
    """A bias, a residual and an activation, each of which may be missing."""
    kept = generator.integers(0, 2, 2)
    residual = r.draw(generator, *shape) if kept[1] else None
    if np.prod(shape) < 32:
        bias, residual = np.abs(bias), None if residual is None else np.abs(residual)
    return bias if kept[0] else None, residual, str(generator.choice(native.ACTIVATIONS))


def _expected(result: np.ndarray, bias: Any, residual: Any, activation: str) -> np.ndarray:
    for term in (bias, residual):
        result = result if term is None else result + term
    return _activated(result, activation)


def _multiplied(array: np.ndarray, low: bool) -> np.ndarray:
    """In float64, what is multiplied: with `low` the nearest number of bfloat16."""
    return (array.astype(BFLOAT16) if low else array).astype(np.float64)


def linear_case(generator: np.random.Generator) -> Case:
    """Rows times a packed weight: one row, a few or many, columns that do not fill the last panel."""
    rows = int(generator.choice([1, 2, 3, int(generator.integers(4, 70))]))
    depth, columns = (r.some_size(generator, 256) for _ in range(2))
    x, weight, bias = r.draw(generator, rows, depth), r.draw(generator, depth, columns), r.draw(generator, columns)
    x, weight = tamed(x, weight, depth, rows * columns)
    bias, residual, activation = _parts(generator, bias, (rows, columns))
    low = bool(generator.integers(2))

    def run(xp: Any, x: Any, weight: Any, bias: Any, residual: Any) -> Any:
        panels = fused.packed_panels.operation.kernel(xp, weight, low)
        kernel = fused.fused_linear.operation.kernels["cpu"]
        return (kernel(xp, x, panels, bias, residual, columns, activation, _LOW, _HIGH),)

    product = _multiplied(x, low) @ _multiplied(weight, low)
    return [x, weight, bias, residual], run, [_expected(product, bias, residual, activation)]


def conv_case(generator: np.random.Generator) -> Case:
    """A convolution over one or two axes, grouped, strided and dilated as may be."""
    (x, weight, bias), (stride, padding, dilation, groups, channels_last) = r.convolution_case(generator)
    if channels_last:
        x = np.ascontiguousarray(np.moveaxis(x, -1, 1))
    size = native.out_size(x.shape, weight.shape, stride, padding, dilation)
    x, weight = tamed(x, weight, weight[0].size, x.shape[0] * weight.shape[0] * int(np.prod(size)))
    low = weight.shape[1] % 2 == 0 and bool(generator.integers(2))
    wide = convolution_kernels._numpy_conv(
        np, _multiplied(x, low), _multiplied(weight, low), None, stride, padding, dilation, groups, False
    )
    bias, residual, activation = _parts(generator, bias, wide.shape)

    after = 1 + np.abs(r.draw(generator, 2, weight.shape[0])) if generator.integers(2) else None

    def run(xp: Any, x: Any, weight: Any, bias: Any, residual: Any, after: Any) -> Any:
        filters = fused.packed_filters.operation.kernel(xp, weight, groups, low)
        kernel = fused.fused_conv.operation.kernels["cpu"]
        window = (weight.shape, stride, padding, dilation, groups)
        return (kernel(xp, x, filters, bias, residual, after, *window, activation, _LOW, _HIGH),)

    ones = [1] * (x.ndim - 2)
    expected = _expected(wide, None if bias is None else bias.reshape(-1, *ones), residual, activation)
    if after is not None:
        factor, shift = after.reshape(2, -1, *ones)
        expected = expected * factor + shift
    return [x, weight, bias, residual, after], run, [expected]


def squeeze_case(generator: np.random.Generator) -> Case:
    """A squeeze-and-excite block on an image of one to three axes; x is perhaps added again."""
    channels, hidden = (int(n) for n in generator.integers(1, 90, 2))
    space = [int(n) for n in generator.integers(1, 14, int(generator.integers(1, 4)))]
    x = np.abs(r.draw(generator, int(generator.integers(1, 4)), channels, *space))
    first, second = np.abs(r.draw(generator, hidden, channels)), np.abs(r.draw(generator, channels, hidden))
    first, second = first / np.float32(channels), second / np.float32(hidden)
    biases = [np.abs(r.draw(generator, size)) if generator.integers(2) else None for size in (hidden, channels)]
    endings = [(str(generator.choice(native.ACTIVATIONS)), _LOW, _HIGH) for _ in range(2)]
    adds = bool(generator.integers(2))

    def run(xp: Any, x: Any, first: Any, second: Any, *biases: Any) -> Any:
        packed = [fused.packed_filters.operation.kernel(xp, w[:, :, None, None], 1, False) for w in (first, second)]
        kernel = fused.squeeze_excite.operation.kernels["cpu"]
        return (kernel(xp, x, *packed, *biases, hidden, *endings, adds, False),)

    wide = x.astype(np.float64)
    gate = wide.reshape(*x.shape[:2], -1).mean(2)
    for weight, bias, (activation, _, _) in zip((first, second), biases, endings, strict=True):
        gate = _expected(gate @ weight.astype(np.float64).T, bias, None, activation)
    expected = wide * gate.reshape(*x.shape[:2], *[1] * len(space))
    return [x, first, second, *biases], run, [wide + expected if adds else expected]
