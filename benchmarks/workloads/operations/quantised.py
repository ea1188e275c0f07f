"""One layer of bytes: uint8 in, int8 weights with a scale for each output, bias, relu, uint8 out; or the same in float32.

Scales are powers of two, so that every framework that adds up exactly computes the same bytes.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from benchmarks.workloads.common import SEED

# Rows, inputs, outputs: an encoder of width 768 with 128 tokens, eight sentences and one; one row.
LINEAR = {
    "encoder-attention": (1024, 768, 768), "encoder-widen": (1024, 768, 3072), "encoder-narrow": (1024, 3072, 768),
    "sentence-widen": (128, 768, 3072), "row-4096": (1, 4096, 4096),
}  # fmt: skip
# Images, channels, size, filters, kernel, stride, groups: layers of ResNet-50, and one channel at a time.
CONV = {
    "first": (1, 3, 224, 64, 7, 2, 1), "56-1x1": (1, 256, 56, 64, 1, 1, 1), "56-3x3": (1, 64, 56, 64, 3, 1, 1),
    "28-3x3": (1, 128, 28, 128, 3, 1, 1), "28-1x1": (1, 512, 28, 128, 1, 1, 1), "14-3x3": (1, 256, 14, 256, 3, 1, 1),
    "14-1x1": (1, 1024, 14, 256, 1, 1, 1), "7-3x3": (1, 512, 7, 512, 3, 1, 1), "7-1x1": (1, 512, 7, 2048, 1, 1, 1),
    "28-3x3-batch": (8, 128, 28, 128, 3, 1, 1), "depthwise": (1, 144, 56, 144, 3, 1, 144),
}  # fmt: skip
LAYERS = (*LINEAR, *CONV)
ZERO = 128
X_SCALE = 2.0**-4


class Layer:
    """The numbers of a layer, the same for every framework."""

    def __init__(self, layer: str, tiny: bool) -> None:
        generator = np.random.default_rng(SEED + len(layer))
        self.is_conv = layer in CONV
        if self.is_conv:
            images, channels, size, filters, kernel, self.stride, self.groups = CONV[layer]
            size = max(size // 4, kernel) if tiny else size
            self.padding = kernel // 2
            shape, weight = (images, channels, size, size), (filters, channels // self.groups, kernel, kernel)
        else:
            rows, inputs, outputs = LINEAR[layer]
            shape, weight = (min(rows, 16) if tiny else rows, inputs), (outputs, inputs)
        self.x = generator.integers(0, 256, shape).astype(np.uint8)
        self.weight = generator.integers(-127, 128, weight).astype(np.int8)
        spread = 5400 * X_SCALE * math.sqrt(math.prod(weight[1:])) / 40
        exponent = -round(math.log2(spread))
        self.scales = (2.0 ** (exponent + generator.integers(-1, 2, weight[0]))).astype(np.float32)
        self.bias = generator.integers(-16, 17, weight[0]).astype(np.float32)

    @property
    def float_x(self) -> np.ndarray:
        return (self.x.astype(np.float32) - ZERO) * np.float32(X_SCALE)

    @property
    def float_weight(self) -> np.ndarray:
        return self.weight * self.scales.reshape(-1, *(1,) * (self.weight.ndim - 1))


def value_of(result: np.ndarray) -> float:
    """The first row, or all channels of the first place of an image, added up."""
    return float(result[(0, slice(None), *(0,) * (result.ndim - 2))].astype(np.float64).sum())


class PaddleLayer:
    """proa's own operations; Paddle has none for a CPU."""

    def __init__(self, paddle: Any, layer: str = "56-3x3", way: str = "int8", tiny: bool = False) -> None:
        self.paddle, self.numbers, self.way = paddle, Layer(layer, tiny), way
        self.layer = paddle.jit.to_static(self._bytes() if way == "int8" else self._floats())

    def _floats(self) -> Any:
        n, to, functional = self.numbers, self.paddle.to_tensor, self.paddle.nn.functional
        weight, bias = to(n.float_weight if n.is_conv else np.ascontiguousarray(n.float_weight.T)), to(n.bias)
        self.x = to(n.float_x)
        if n.is_conv:
            return lambda x: functional.relu(functional.conv2d(x, weight, bias, n.stride, n.padding, 1, n.groups))
        return lambda x: functional.relu(functional.linear(x, weight, bias))

    def _bytes(self) -> Any:
        n, to = self.numbers, self.paddle.to_tensor
        ops = importlib.import_module(f"{self.paddle.__name__}.ops.quantised.layers")
        self.x = to(n.x)
        scale, zero, one = to(np.float32([X_SCALE])), to(np.int32([ZERO])), to(np.float32([1]))
        scales, bias, weight = to(n.scales), to(n.bias), to(n.weight)
        behind = (scale, zero, scales, bias, None, None, None, one, zero)
        shape = n.weight.shape
        if not n.is_conv:
            packed = ops.packed_bytes(weight, 1)
            return lambda x: ops.quantised_linear(x, packed, *behind, shape[0], "uint8", "relu")
        alone = ops.is_depthwise(shape, n.groups)
        packed = weight.reshape([shape[0], -1]).transpose([1, 0]) if alone else ops.packed_bytes(weight, n.groups)
        window = ((n.stride,) * 2, ((n.padding,) * 2,) * 2, (1, 1), n.groups)
        # Between layers images lie with their channels side by side; so does the input here.
        self.x = to(np.ascontiguousarray(n.x.transpose(0, 2, 3, 1)))

        def convolve(x: Any) -> Any:
            y = ops.quantised_conv(x.transpose([0, 3, 1, 2]), packed, *behind, shape, *window, "uint8", "relu")
            return y.transpose([0, 2, 3, 1])

        return convolve

    def run(self) -> float:
        with self.paddle.no_grad():
            found = self.layer(self.x).numpy()
        return value_of(found.transpose(0, 3, 1, 2) if self.way == "int8" and found.ndim == 4 else found)


class TorchLayer:
    """`torch.ops.quantized` with the engine for x86, images with their channels side by side; or modules in float32."""

    def __init__(self, torch: Any, layer: str = "56-3x3", way: str = "int8", tiny: bool = False) -> None:
        self.torch, self.numbers, self.way = torch, Layer(layer, tiny), way
        n = self.numbers
        with torch.no_grad():
            self.layer = self._bytes() if way == "int8" else self._floats()
        last = torch.channels_last if n.is_conv else torch.contiguous_format
        self.x = self.x.contiguous(memory_format=last)

    def _floats(self) -> Any:
        torch, n = self.torch, self.numbers
        self.x = torch.from_numpy(n.float_x)
        weight, bias = torch.from_numpy(n.float_weight), torch.from_numpy(n.bias)
        if n.is_conv:
            weight = weight.contiguous(memory_format=torch.channels_last)
            return lambda x: torch.relu(torch.conv2d(x, weight, bias, n.stride, n.padding, 1, n.groups))
        return lambda x: torch.relu(torch.nn.functional.linear(x, weight, bias))

    def _bytes(self) -> Any:
        torch, n = self.torch, self.numbers
        torch.backends.quantized.engine = "x86"
        self.x = torch._make_per_tensor_quantized_tensor(torch.from_numpy(n.x), X_SCALE, ZERO)
        scales = torch.from_numpy(n.scales).double()
        zeros = torch.zeros(len(n.scales), dtype=torch.long)
        weight = torch._make_per_channel_quantized_tensor(torch.from_numpy(n.weight), scales, zeros, 0)
        bias, ops = torch.from_numpy(n.bias), torch.ops.quantized
        if n.is_conv:
            packed = ops.conv2d_prepack(weight, bias, [n.stride] * 2, [n.padding] * 2, [1, 1], n.groups)
            return lambda x: ops.conv2d_relu(x, packed, 1.0, ZERO)
        packed = ops.linear_prepack(weight, bias)
        return lambda x: ops.linear_relu(x, packed, 1.0, ZERO)

    def run(self) -> float:
        with self.torch.no_grad():
            found = self.layer(self.x)
            return value_of((found.int_repr() if self.way == "int8" else found).numpy())


FAMILIES = {"paddle": PaddleLayer, "torch": TorchLayer}
