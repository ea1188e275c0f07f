"""Random cases of the native kernels that go over images channel by channel: depthwise convolutions and means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from proa.kernels.cpu import depthwise, fused
from proa.ops.basic import sum_over
from proa.ops.math.reduction import mean_over
from proa.ops.neural import fused as fused_ops
from proa.ops.neural.windowed import convolution_kernels, pooling_kernels
from tests.kernels.cases import fused_cases
from tests.kernels.cases import references as r

Case = tuple[list[Any], Callable[..., Any], list[np.ndarray]]
_MOST = {1: 70, 2: 24, 3: 10}  # extents by the number of axes


def _sizes(generator: np.random.Generator, choices: list[int], count: int) -> tuple[int, ...]:
    return tuple(int(n) for n in generator.choice(choices, count))


def _depthwise(generator: np.random.Generator) -> tuple[list[np.ndarray], Any]:
    """Image, weight and bias of a convolution with filters for each channel, over one to three axes, and its window."""
    spatial = int(generator.integers(1, 4))
    channels, filters = int(generator.choice([1, 3, 8, 16, 17, 24, 72])), int(generator.choice([1, 1, 1, 2, 3]))
    kernel = _sizes(generator, [1, 2, 3, 3, 4, 5, 5, 7, 9], spatial)
    stride, dilation = _sizes(generator, [1, 1, 2, 2, 3], spatial), _sizes(generator, [1, 1, 1, 2, 3], spatial)
    padding = tuple((int(a), int(b)) for a, b in generator.integers(0, 6, (spatial, 2)))
    extents = [
        max(int(generator.integers(1, _MOST[spatial])), spread * (width - 1) + 1 - before - after, 1)
        for width, spread, (before, after) in zip(kernel, dilation, padding, strict=True)
    ]
    x = r.draw(generator, int(generator.integers(1, 4)), channels, *extents)
    weight, bias = r.draw(generator, channels * filters, 1, *kernel), r.draw(generator, channels * filters)
    return [x, weight, bias], (stride, padding, dilation, channels, False)


def depthwise_case(generator: np.random.Generator) -> Case:
    """The result and the gradients."""
    ops = convolution_kernels
    (x, weight, bias), window = _depthwise(generator)
    wide: Any = [a.astype(np.float64) for a in (x, weight, bias)]
    y = ops._numpy_conv(np, *wide, *window)
    dy = r.draw(generator, *y.shape)

    def run(xp: Any, x: Any, weight: Any, bias: Any, dy: Any) -> Any:
        return (
            depthwise.forward(x, weight, bias, window),
            depthwise.grad_input(dy, weight, x.shape, window),
            depthwise.grad_weight(x, dy, weight.shape, window),
        )

    dx = ops._numpy_grad_input(np, dy.astype(np.float64), wide[1], x.shape, *window)
    dw = ops._numpy_grad_weight(np, wide[0], dy.astype(np.float64), weight.shape, *window)
    return [x, weight, bias, dy], run, [y, dx, dw]


def fused_depthwise_case(generator: np.random.Generator) -> Case:
    """With a bias, a residual and an activation, each of which may be missing."""
    (x, weight, bias), window = _depthwise(generator)
    size = fused.out_size(x.shape, weight.shape, *window[:3])
    x, weight = fused_cases.tamed(x, weight, weight[0].size, x.shape[0] * weight.shape[0] * int(np.prod(size)))
    y = convolution_kernels._numpy_conv(np, x.astype(np.float64), weight.astype(np.float64), None, *window)
    bias, residual, activation = fused_cases._parts(generator, bias, y.shape)

    stride, padding, dilation, groups, _ = window

    def run(xp: Any, x: Any, weight: Any, bias: Any, residual: Any) -> Any:
        filters = fused_ops.packed_filters.operation.kernel(xp, weight, groups)
        kernel = fused_ops.fused_conv.operation.kernels["cpu"]
        epilogue = (activation, fused_cases._LOW, fused_cases._HIGH)
        window = (weight.shape, stride, padding, dilation, groups)
        return (kernel(xp, x, filters, bias, residual, None, *window, *epilogue),)

    along = None if bias is None else bias.reshape(-1, *[1] * (x.ndim - 2))
    return [x, weight, bias, residual], run, [fused_cases._expected(y, along, residual, activation)]


def average_case(generator: np.random.Generator) -> Case:
    """Means of windows, of parts of equal size and of whole images, with their gradients."""
    ops, spatial = pooling_kernels, int(generator.integers(1, 4))
    kernel, stride = _sizes(generator, [1, 2, 3, 4], spatial), _sizes(generator, [1, 2, 3, 4], spatial)
    padding = tuple((int(generator.integers(0, k)), int(generator.integers(0, k))) for k in kernel)
    extents = [int(n) for n in generator.integers(4, _MOST[spatial], spatial)]
    channels_last = bool(generator.integers(2))
    images, channels = int(generator.integers(1, 4)), int(generator.integers(8, 60))
    divisor = [2.5, "inclusive", "exclusive"][int(generator.integers(3))]
    x = r.draw(generator, images, *((*extents, channels) if channels_last else (channels, *extents)))
    axes = tuple(range(1, 1 + spatial)) if channels_last else tuple(range(2, 2 + spatial))
    counts = tuple(int(generator.integers(1, n + 2)) for n in extents)
    window = (kernel, stride, padding, divisor, channels_last)
    kernels: Any = [ops.avg_pool, ops.avg_pool_grad, ops.adaptive_average, ops.adaptive_average_grad]
    kernels += [mean_over, sum_over]

    def compute(which: list[Any], xp: Any, x: Any, means: Any, parts: Any) -> Any:
        pool, pool_grad, adapt, adapt_grad, mean, total = which
        return (
            pool(xp, x, *window),
            pool_grad(xp, means, x.shape, *window),
            adapt(xp, x, counts, axes),
            adapt_grad(xp, parts, tuple(extents), axes),
            mean(xp, x, axes, True),
            total(xp, x, axes, False),
        )

    plain = [k.operation.kernel for k in kernels]
    wide = x.astype(np.float64)
    means, parts = plain[0](np, wide, *window), plain[2](np, wide, counts, axes)
    grads = [r.draw(generator, *np.shape(a)) for a in (means, parts)]
    expected = compute(plain, np, wide, *[g.astype(np.float64) for g in grads])
    native = [k.operation.kernel_for("cpu") for k in kernels]
    return [x, *grads], lambda xp, *given: compute(native, xp, *given), [np.asarray(e) for e in expected]
