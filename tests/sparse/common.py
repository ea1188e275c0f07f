"""Sparse tensors and references that the tests here share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import proa as paddle

sparse = paddle.sparse


def random_coo(
    *shape: int, density: float = 0.4, seed: int = 0, dense: tuple[int, ...] = (), dtype: str = "float64"
) -> tuple[Any, np.ndarray]:
    """A sparse tensor with elements in no order, and the same as an array."""
    random = np.random.default_rng(seed)
    count = max(1, int(np.prod(shape) * density))
    keys = random.choice(int(np.prod(shape)), count, replace=False)
    indices = np.stack(np.unravel_index(keys, shape))
    values = random.uniform(0.2, 0.9, (count, *dense)).astype(dtype)
    array = np.zeros((*shape, *dense), dtype)
    array[tuple(indices)] = values
    return sparse.sparse_coo_tensor(indices, values, [*shape, *dense], stop_gradient=False), array


def as_array(x: Any) -> np.ndarray:
    return x.to_dense().numpy() if x.is_sparse() else x.numpy()


def check_gradient(function: Callable[..., Any], *tensors: Any, step: float = 1e-6, tolerance: float = 1e-5) -> None:
    """Gradients of the sum of squares of a result against central differences in each tensor's (stored) values."""

    def loss(*changed: Any) -> Any:
        result = function(*changed)
        numbers = result.values() if result.is_sparse() else result
        return (numbers * numbers).sum()

    def with_values(tensor: Any, values: np.ndarray) -> Any:
        new = paddle.to_tensor(values)
        return tensor._with_values(new) if tensor.is_sparse() else new

    found = paddle.grad(loss(*tensors), list(tensors))
    for position, (tensor, gradient) in enumerate(zip(tensors, found, strict=True)):
        values = (tensor.values() if tensor.is_sparse() else tensor).numpy()
        expected = np.zeros_like(values)
        for place in np.ndindex(*values.shape):
            sides = []
            for sign in (1, -1):
                moved = values.copy()
                moved[place] += sign * step
                arguments = [with_values(tensor, moved) if i == position else t for i, t in enumerate(tensors)]
                sides.append(float(loss(*arguments)))
            expected[place] = (sides[0] - sides[1]) / (2 * step)
        got = (gradient.values() if gradient.is_sparse() else gradient).numpy()
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)
