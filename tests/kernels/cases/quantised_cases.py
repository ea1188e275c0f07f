"""Random cases of the kernels of bytes.

Scales are powers of two wherever the result goes onto a grid again: then everything before the rounding is exact, and the
result has to be the same to the last byte.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proa.kernels.cpu import fused as native
from proa.ops.neural.windowed import convolution_kernels
from proa.ops.quantised import few_bits
from proa.ops.quantised import layers as quantised
from tests.kernels.cases import references as r
from tests.kernels.cases.fused_cases import _HIGH, _LOW, _activated
from tests.kernels.cases.light_cases import Case

_OUTPUTS = ("float32", "int32", "uint8", "int8")
_EXACT = ("", "relu", "clip")


def _cpu(primitive: Any) -> Any:
    return primitive.operation.kernels["cpu"]


def _bytes(generator: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    bounds = np.iinfo(dtype)
    return generator.integers(bounds.min, bounds.max + 1, shape).astype(dtype)


def _grid(generator: np.random.Generator, dtype: str, count: int = 1) -> tuple[np.ndarray, np.ndarray]:
    zero = _bytes(generator, dtype, count).astype(np.int32)
    return (2.0 ** -generator.integers(4, 9, count)).astype(np.float32), zero


class _Epilogue:
    """What stands behind the sums, drawn at random, and its reference in float64."""

    def __init__(self, generator: np.random.Generator, shape: tuple[int, ...], axis: int, depth: int) -> None:
        channels = shape[axis]
        self.dtype = str(generator.choice(_OUTPUTS))
        on_grid = self.dtype in ("uint8", "int8")
        self.activation = str(generator.choice(_EXACT if on_grid else native.ACTIVATIONS))
        if np.prod(shape) < 8 and self.activation not in _EXACT:
            self.activation = ""  # errors are measured by the largest result, which may be the tail of an activation
        self.scales = (2.0 ** -generator.integers(6, 10, channels)).astype(np.float32) / np.float32(2 ** (depth > 64))
        self.bias = (
            (generator.integers(-64, 64, channels) / 16).astype(np.float32) if generator.random() < 0.5 else None
        )
        kind = str(generator.choice(["", "float32", "uint8"]))
        self.residual: Any = None
        self.residual_grid: tuple[Any, Any] = (None, None)
        if kind == "float32":
            self.residual = (generator.integers(-64, 64, shape) / 16).astype(np.float32)
        elif kind:
            self.residual, self.residual_grid = _bytes(generator, "uint8", *shape), _grid(generator, "uint8")
        self.out_grid = _grid(generator, self.dtype) if on_grid else (None, None)
        self.along = (channels, *(1,) * (len(shape) - 1 - axis))

    @property
    def operands(self) -> list[Any]:
        return [self.scales, self.bias, self.residual, *self.residual_grid, *self.out_grid]

    @property
    def attributes(self) -> tuple[Any, ...]:
        return self.dtype, self.activation, _LOW, _HIGH

    def expected(self, sums: np.ndarray, scale: np.ndarray) -> np.ndarray:
        if self.dtype == "int32":
            return sums
        value = sums * scale * self.scales.astype(np.float64).reshape(self.along)
        if self.bias is not None:
            value = value + self.bias.reshape(self.along)
        if self.residual is not None:
            residual = self.residual.astype(np.float64)
            step, zero = self.residual_grid
            value = value + (residual if step is None else (residual - zero) * step)
        value = _activated(value, self.activation)
        if self.dtype == "float32":
            return value
        step, zero = self.out_grid
        bounds = np.iinfo(self.dtype)
        return np.clip(np.rint(value / step) + zero, bounds.min, bounds.max)


def linear_case(generator: np.random.Generator) -> Case:
    """Rows of bytes times a packed weight: any number of rows, depths that are no multiple of four, grids of any kind."""
    rows = int(generator.choice([1, 2, 3, int(generator.integers(4, 70)), 150]))
    depth, columns = (int(n) for n in 2 ** generator.uniform(0, 8, 2))
    dtype = str(generator.choice(["uint8", "int8"]))
    x, weight = _bytes(generator, dtype, rows, depth), _bytes(generator, "int8", depth, columns)
    scale, zero = _grid(generator, dtype, int(generator.choice([1, rows])))
    epilogue = _Epilogue(generator, (rows, columns), 1, depth)

    def run(xp: Any, x: Any, weight: Any, scale: Any, zero: Any, *behind: Any) -> Any:
        panels = quantised.packed_bytes.operation.kernel(xp, weight.T, 1)
        return (_cpu(quantised.quantised_linear)(xp, x, panels, scale, zero, *behind, columns, *epilogue.attributes),)

    sums = (x.astype(np.float64) - zero[:, None]) @ weight.astype(np.float64)
    expected = epilogue.expected(sums, scale.astype(np.float64)[:, None])
    return [x, weight, scale, zero, *epilogue.operands], run, [expected]


def conv_case(generator: np.random.Generator) -> Case:
    """A convolution of bytes over one, two or three axes, grouped, each channel alone, strided and dilated as may be."""
    (x, weight, _), (stride, padding, dilation, groups, channels_last) = r.convolution_case(generator)
    if channels_last:
        x = np.moveaxis(x, -1, 1)
    if len(stride) < 3 and generator.random() < 0.25:  # a further axis
        x = np.repeat(x[:, :, None], 3, 2)
        weight = np.repeat(weight[:, :, None], 2, 2)
        stride, padding, dilation = (1, *stride), ((1, 0), *padding), (1, *dilation)
    dtype = str(generator.choice(["uint8", "int8"]))
    x, weight = _bytes(generator, dtype, *x.shape), _bytes(generator, "int8", *weight.shape)
    scale, zero = _grid(generator, dtype)
    shape = weight.shape
    sums = convolution_kernels._numpy_conv(
        np, x.astype(np.float64) - zero, weight.astype(np.float64), None, stride, padding, dilation, groups, False
    )
    epilogue = _Epilogue(generator, sums.shape, 1, int(np.prod(shape[1:])))

    def run(xp: Any, x: Any, weight: Any, scale: Any, zero: Any, *behind: Any) -> Any:
        if quantised.is_depthwise(shape, groups):
            filters = weight.reshape(shape[0], -1).T
        else:
            filters = quantised.packed_bytes.operation.kernel(xp, weight, groups)
        window = (shape, stride, padding, dilation, groups)
        return (_cpu(quantised.quantised_conv)(xp, x, filters, scale, zero, *behind, *window, *epilogue.attributes),)

    return [x, weight, scale, zero, *epilogue.operands], run, [epilogue.expected(sums, scale.astype(np.float64))]


def grid_case(generator: np.random.Generator) -> Case:
    """Floats onto a grid that just holds them, and back: never further away than half a step."""
    shape = tuple(int(n) for n in generator.integers(1, 90, int(generator.integers(1, 4))))
    x = (r.draw(generator, *shape) + np.float32(generator.normal())) * np.float32(10.0 ** generator.uniform(-4, 4))
    each_row, symmetric = (bool(b) for b in generator.integers(0, 2, 2))
    axes = -1 if each_row else None
    low, high = np.minimum(x.min(axes), 0).astype(np.float64), np.maximum(x.max(axes), 0).astype(np.float64)
    step = np.maximum(high, -low) / 127 if symmetric else (high - low) / 255
    along = np.reshape(step, (*shape[:-1], 1)) if each_row else step

    def run(xp: Any, x: Any) -> Any:
        numbers, scale, zero = _cpu(quantised.quantise_dynamic)(xp, x, each_row, symmetric)
        spread = [a[..., None] if each_row else a for a in (scale, zero)]
        back = (numbers.astype(np.int32) - spread[1]) * spread[0]
        beyond = xp.maximum(xp.abs(back - x) / xp.asarray(along, np.float32) - 0.501, 0)
        return scale, beyond  # 0 where nothing is further away

    return [x], run, [np.reshape(step, shape[:-1] if each_row else (1,)), np.zeros(shape)]


def few_bits_case(generator: np.random.Generator) -> Case:
    """Floats times weights in 8 or 4 bits, a few rows and many, scales for groups of inputs."""
    rows = int(generator.choice([1, 2, 3, 4, int(generator.integers(5, 70))]))
    bits, outputs = int(generator.choice([8, 4])), 2 * int(generator.integers(1, 50))
    groups = int(generator.choice([1, 1, 2, 5]))
    depth = groups * int(2 ** generator.uniform(0, 7))
    x, weight = r.draw(generator, rows, depth), _bytes(generator, "int8", outputs // (2 if bits == 4 else 1), depth)
    scales = np.abs(r.draw(generator, groups, outputs)) + np.float32(0.1)
    bias = r.draw(generator, outputs) if generator.random() < 0.5 else None

    def run(xp: Any, x: Any, weight: Any, scales: Any, bias: Any) -> Any:
        return (_cpu(few_bits.weight_only_product)(xp, x, weight, scales, bias, bits),)

    numbers = weight.astype(np.float64)
    if bits == 4:
        low, high = ((weight.astype(np.int64) & 15) + 8) % 16 - 8, weight.astype(np.int64) >> 4
        numbers = np.stack([low, high], 1).reshape(outputs, depth).astype(np.float64)
    table = numbers * np.repeat(scales.T.astype(np.float64), depth // groups, 1)
    expected = x.astype(np.float64) @ table.T + (0 if bias is None else bias)
    return [x, weight, scales, bias], run, [expected]


CASES = {
    "quantised product": linear_case,
    "quantised convolution": conv_case,
    "grids": grid_case,
    "weights in few bits": few_bits_case,
}
