"""Random cases of the kernels of bfloat16: operands hold numbers that bfloat16 has, results are float32, so that they are as
near to the reference as those of float32. Whether the processor multiplies bfloat16 by itself does not matter here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from proa.core.dtype import BFLOAT16
from proa.kernels.cpu import choice, library
from proa.kernels.cpu.convolution import back, first, first_shape
from proa.kernels.cpu.low_precision import bfloat
from proa.ops.neural.windowed import convolution_kernels
from tests.kernels.cases import references as r

Case = tuple[list[Any], Callable[..., Any], list[np.ndarray]]


def _rounded(array: np.ndarray) -> np.ndarray:
    """The nearest numbers of bfloat16, as float32."""
    return array.astype(BFLOAT16).astype(np.float32)


def _in_some_type(generator: np.random.Generator, array: np.ndarray) -> np.ndarray:
    return array.astype(BFLOAT16) if generator.random() < 0.5 else array


def _forced(compute: Callable[[], Any]) -> Any:
    """Native code, whatever the size."""
    before, choice._THREAD.forced = choice._THREAD.forced, True
    try:
        return compute()
    finally:
        choice._THREAD.forced = before


def product_case(generator: np.random.Generator) -> Case:
    """A product, either operand transposed or not."""
    arrays, flags = r.product_case(generator)
    x, y = map(_rounded, arrays)
    if x.ndim < 2 or y.ndim < 2 or x.shape[:-2] != y.shape[:-2]:
        x, y = x.reshape(-1, x.shape[-1])[:40], r.draw(generator, x.shape[-1], 23)
        y, flags = _rounded(y), (False, False)

    def run(xp: Any, x: Any, y: Any) -> Any:
        return (_forced(lambda: bfloat._multiply(x, y, *flags)),)

    return [x, _in_some_type(generator, y)], run, [r.product_reference([x, y], flags)]


def convolution_case(generator: np.random.Generator) -> Case:
    """A convolution of pairs of channels and its gradients."""
    ops = convolution_kernels
    (x, weight, bias), window = r.convolution_case(generator)
    axis = x.ndim - 1 if window[-1] else 1
    x, weight = np.concatenate([x, x], axis), np.concatenate([weight, weight], 1)  # an even number of channels
    weight, bias = np.concatenate([weight, -weight], 0), np.concatenate([bias, bias])  # and of filters
    x, weight, bias = map(_rounded, (x, weight, bias))
    wide = [a.astype(np.float64) for a in (x, weight, bias)]
    y = ops._numpy_conv(np, *wide, *window)
    dy = _rounded(r.draw(generator, *y.shape))
    shapes = [first_shape(shape, window) for shape in (y.shape, x.shape)]

    def call(symbol: str, shape: Any, operands: list[Any]) -> Any:
        image = library.Image(library.shaped(shape))
        return back(bfloat._call(symbol, image, operands, weight.shape, window), window)

    def run(xp: Any, x: Any, weight: Any, bias: Any, dy: Any) -> Any:
        images = [library.Image(first(a, window)) for a in (x, dy)]
        grad = [images[0], images[1]]
        return (
            call("BfloatConvolution", shapes[0], [images[0], weight, bias]),
            call("BfloatConvolutionGradInput", shapes[1], [images[1], weight]),
            bfloat._call("BfloatConvolutionGradWeight", library.shaped(weight.shape), grad, weight.shape, window),
        )

    grads = dy.astype(np.float64)
    expected = [
        y, ops._numpy_grad_input(np, grads, wide[1], x.shape, *window),
        ops._numpy_grad_weight(np, wide[0], grads, weight.shape, *window),
    ]  # fmt: skip
    given = [_in_some_type(generator, a) for a in (x, weight, bias, dy)]
    return given, run, expected


CASES = {"bfloat product": product_case, "bfloat convolution": convolution_case}
