"""What the autograd tests compare with: central differences in float64."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import proa as paddle
from proa.ir.recorder import flush_current


def leaf(values, dtype="float64"):
    """A tensor whose gradient is wanted."""
    return paddle.to_tensor(np.array(values, dtype), stop_gradient=False)


def constant(values, dtype="float64"):
    return paddle.to_tensor(np.array(values, dtype))


def differences(function: Callable[..., float], arrays: Sequence[np.ndarray], step: float = 1e-6) -> list[np.ndarray]:
    """The gradient of a number-valued function of arrays, by central differences."""
    gradients = []
    for position, array in enumerate(arrays):
        gradient = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            moved = [a.copy() for a in arrays]
            moved[position][index] += step
            above = function(*moved)
            moved[position][index] -= 2 * step
            gradient[index] = (above - function(*moved)) / (2 * step)
        gradients.append(gradient)
    return gradients


def check_gradient(function: Callable[..., Any], *values, tolerance: float = 1e-7) -> None:
    """Compares backward() with differences, for a function of tensors that gives a tensor (its sum
    is taken).
    """
    arrays = [np.array(v, "float64") for v in values]
    leaves = [leaf(a) for a in arrays]
    function(*leaves).sum().backward()

    def number(*moved: np.ndarray) -> float:
        with paddle.no_grad():
            return float(function(*[constant(a) for a in moved]).sum())

    for got, expected in zip(leaves, differences(number, arrays)):
        np.testing.assert_allclose(got.grad.numpy(), expected, rtol=tolerance, atol=1e-8)


def count_garbage(function: Callable[[], object]) -> int:
    """How many objects a call leaves behind that only the garbage collector can free."""
    function()  # the first call imports and generates code, which leaves garbage of its own
    flush_current()
    gc.collect()
    gc.disable()
    try:
        function()
        flush_current()  # the recorder refers to what it has not computed yet
        return gc.collect()
    finally:
        gc.enable()
