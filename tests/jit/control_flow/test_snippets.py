"""Each snippet converts to one graph and gives the values and gradients of eager code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.eager.tensor import Tensor

from . import snippets_conditions, snippets_functions, snippets_loops  # noqa: F401 (they collect themselves)
from .collection import SNIPPETS


def test_there_are_at_least_sixty() -> None:
    assert len(SNIPPETS) >= 60
    assert len({function.__name__ for function, _ in SNIPPETS}) == len(SNIPPETS)


def _arguments(call: tuple[Any, ...]) -> list[Any]:
    made = []
    for value in call:
        if isinstance(value, list):
            integers = isinstance(value[0], int)
            value = paddle.to_tensor(np.array(value, "int64" if integers else "float32"), stop_gradient=integers)
        made.append(value)
    return made


def _value_and_gradients(function: Callable[..., Any], call: tuple[Any, ...]) -> tuple[np.ndarray, list[np.ndarray]]:
    arguments = _arguments(call)
    result = function(*arguments)
    inputs = [a for a in arguments if isinstance(a, Tensor) and not a.stop_gradient]
    if not result.stop_gradient:
        result.sum().backward()
    return result.numpy(), [np.zeros(a.shape) if a.grad is None else a.grad.numpy() for a in inputs]


@pytest.mark.parametrize(("function", "calls"), SNIPPETS, ids=[function.__name__ for function, _ in SNIPPETS])
def test_value_and_gradient_are_those_of_eager_code(function: Callable[..., Any], calls: tuple[Any, ...]) -> None:
    static = paddle.jit.to_static(function, full_graph=True)
    for call in calls:
        expected, expected_gradients = _value_and_gradients(function, call)
        with paddle.no_grad():
            as_one_program = static(*_arguments(call))
        np.testing.assert_allclose(as_one_program.numpy(), expected, rtol=1e-5, atol=1e-6)
        found, gradients = _value_and_gradients(static, call)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
        for gradient, wanted in zip(gradients, expected_gradients, strict=True):
            np.testing.assert_allclose(gradient, wanted, rtol=1e-5, atol=1e-6)
