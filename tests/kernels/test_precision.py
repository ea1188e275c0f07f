"""Products of 16-bit floats on the CPU: summed in float32, rounded once, native like those of float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.core.dtype import BFLOAT16, FLOAT16
from proa.kernels.cpu import compiled, library
from proa.ops.neural.windowed.convolution_kernels import conv
from tests.kernels.cases.references import calls_native, jitted

functional = paddle.nn.functional
needs_native = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")
LOW = {"bfloat16": (BFLOAT16, 2.0**-8), "float16": (FLOAT16, 2.0**-11)}
STEPS = 4  # the third is compiled


def drawn(seed: int, *shape: int, dtype: Any) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape).astype(dtype)


@pytest.mark.parametrize("dtype", LOW)
def test_a_product_is_rounded_once(dtype: str) -> None:
    kind, unit = LOW[dtype]
    x, y, bias = drawn(0, 70, 300, dtype=kind), drawn(1, 300, 90, dtype=kind), drawn(2, 90, dtype=kind)
    exact = x.astype(np.float64) @ y.astype(np.float64) + bias.astype(np.float64)
    tensors = [paddle.to_tensor(array) for array in (x, y, bias)]
    for step in range(STEPS):
        found = functional.linear(*tensors)
        assert str(found.dtype) == f"paddle.{dtype}"
        error = np.abs(found.astype("float64").numpy() / exact - 1).max()
        assert error <= 1.01 * unit, step


@pytest.mark.parametrize("dtype", LOW)
def test_gradients_of_a_convolution(dtype: str) -> None:
    kind, unit = LOW[dtype]
    x, weight = drawn(0, 2, 8, 12, 12, dtype=kind), drawn(1, 16, 8, 3, 3, dtype=kind)
    upper = drawn(2, 2, 16, 12, 12, dtype=kind)

    def gradients(cast: str) -> list[np.ndarray]:
        tensors = [paddle.to_tensor(array).astype(cast) for array in (x, weight)]
        for tensor in tensors:
            tensor.stop_gradient = False
        functional.conv2d(*tensors, padding=1).backward(paddle.to_tensor(upper).astype(cast))
        return [tensor.grad.astype("float64").numpy() for tensor in tensors]

    expected = gradients("float64")
    for step in range(STEPS):
        for found, exact in zip(gradients(dtype), expected, strict=True):
            assert np.abs(found / exact - 1).max() <= 1.01 * unit, step


@pytest.mark.parametrize("dtype", LOW)
def test_the_gradient_of_a_pool(dtype: str) -> None:
    # Different numbers that every type holds exactly: each window has one greatest.
    pixels = np.stack([np.random.default_rng(k).permutation(256).reshape(16, 16) for k in range(6)])[None]
    windows = pixels.reshape(1, 6, 8, 2, 8, 2)
    expected = (windows == windows.max(axis=(3, 5), keepdims=True)).reshape(pixels.shape)
    for _ in range(STEPS):
        x = paddle.to_tensor(pixels).astype(dtype)
        x.stop_gradient = False
        functional.max_pool2d(x, 2).sum().backward()
        assert str(x.grad.dtype) == f"paddle.{dtype}"
        np.testing.assert_array_equal(x.grad.astype("float64").numpy(), expected)


def test_attention_in_bfloat16() -> None:
    arrays = [drawn(seed, 2, 32, 4, 16, dtype=BFLOAT16) for seed in range(3)]
    wide = [paddle.to_tensor(array.astype(np.float64)) for array in arrays]
    expected = functional.scaled_dot_product_attention(*wide, is_causal=True).numpy()
    tensors = [paddle.to_tensor(array) for array in arrays]
    for _ in range(STEPS):
        found = functional.scaled_dot_product_attention(*tensors, is_causal=True)
        assert str(found.dtype) == "paddle.bfloat16"
        # The result is rounded once; where weights are multiplied as bfloat16, as all operands of products, they were too.
        roundings = 2 if compiled.multiplies_bfloat16() else 1
        assert np.abs(found.astype("float64").numpy() / expected - 1).max() <= 1.01 * roundings * 2.0**-8


@needs_native
@pytest.mark.parametrize("dtype", LOW)
def test_native_code_takes_them(dtype: str) -> None:
    kind, _ = LOW[dtype]
    product = paddle.matmul.operation.kernels["cpu"]
    arrays = [drawn(0, 64, 300, dtype=kind), drawn(1, 300, 64, dtype=kind)]
    assert calls_native(product, arrays, (False, False))
    images = [drawn(0, 2, 16, 12, 12, dtype=kind), drawn(1, 16, 16, 3, 3, dtype=kind)]
    attributes = (None, (1, 1), ((1, 1), (1, 1)), (1, 1), 1, False)
    assert calls_native(conv.operation.kernels["cpu"], images, attributes)
    (found,) = jitted(product, arrays, (False, False))
    low = dtype == "bfloat16" and compiled.multiplies_bfloat16()
    assert found.dtype == (kind if low else np.float32)  # whoever runs a kernel casts to the inferred type
