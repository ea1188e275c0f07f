"""Gradients end in a replay where they end in the code that was captured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.autograd import PyLayer
from proa.graph import capture
from proa.graph.replay import replay
from proa.static import InputSpec


def under_no_grad(x: Any) -> Any:
    with paddle.no_grad():
        scale = x * 2
    return x * scale


def stopped(x: Any) -> Any:
    y = x * 3
    y.stop_gradient = True
    return x + y


FUNCTIONS: list[Callable[[Any], Any]] = [
    under_no_grad,
    stopped,
    lambda x: x * x.detach(),
    lambda x: (x * 2).detach() + x * 5,
    lambda x: x,
    lambda x: x * x,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_gradient_is_that_of_eager_code(function: Callable[[Any], Any]) -> None:
    graph = capture(function, [InputSpec([2])])
    gradients = []
    for run in (function, lambda x: replay(graph, [x])):
        x = paddle.to_tensor([2.0, -3.0], stop_gradient=False)
        (run(x) * paddle.to_tensor([1.0, 10.0])).sum().backward()
        gradients.append(x.grad.numpy())
    np.testing.assert_allclose(*gradients)


def test_what_has_no_gradient_is_known() -> None:
    assert not capture(lambda x: x.detach() * 2, [InputSpec([2])]).stops.results_want
    assert capture(lambda x: x * 2, [InputSpec([2])]).stops.results_want


def test_a_custom_gradient_is_noticed() -> None:
    class Twice(PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    assert capture(lambda x: Twice.apply(x), [InputSpec([2])]).stops.custom
    assert capture(lambda x: Twice.apply(x) + 1, [InputSpec([2])]).stops.custom
    assert not capture(lambda x: x * 2, [InputSpec([2])]).stops.custom
