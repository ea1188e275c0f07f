"""Layers with what stands behind them as one operation, and what must stay apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.graph import capture
from proa.kernels.cpu import fused
from proa.static import InputSpec

F = paddle.nn.functional
pytestmark = pytest.mark.skipif(not fused.is_available(), reason="no native kernels")


def _graph(function: Any, *shapes: Any) -> Any:
    return capture(function, [InputSpec(list(shape), "float32", f"x{i}") for i, shape in enumerate(shapes)])


def _names(graph: Any) -> list[str]:
    return [i.operation.name for i in graph.optimised().program.instructions]


def _same(graph: Any, *shapes: Any) -> None:
    arrays = [np.random.default_rng(i).standard_normal(s).astype(np.float32) for i, s in enumerate(shapes)]
    tensors = [paddle.to_tensor(array) for array in arrays]
    found, expected = graph(*tensors), graph.optimised(1).run(tensors)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=2e-5, atol=2e-5)


def test_residual_block_is_two_operations() -> None:
    paddle.seed(1)
    first, second = paddle.nn.Conv2D(16, 32, 1), paddle.nn.Conv2D(32, 16, 3, padding=1)
    norms = [paddle.nn.BatchNorm2D(32), paddle.nn.BatchNorm2D(16)]
    for norm in norms:
        norm.eval()
    graph = _graph(lambda x: F.relu(x + norms[1](second(F.relu6(norms[0](first(x)))))), (2, 16, 6, 6))
    assert _names(graph) == ["fused_conv", "fused_conv"]
    _same(graph, (2, 16, 6, 6))


@pytest.mark.parametrize("activation", [F.gelu, F.silu, F.sigmoid, F.hardswish, F.hardsigmoid, paddle.tanh, F.relu])
def test_linear_with_activation(activation: Any) -> None:
    layer = paddle.nn.Linear(40, 48)
    graph = _graph(lambda x: activation(layer(x)), (3, 5, 40))
    assert "fused_linear" in _names(graph)
    _same(graph, (3, 5, 40))


def test_what_others_need_stays_apart() -> None:
    layer = paddle.nn.Linear(40, 48)

    def both(x: Any) -> Any:
        y = layer(x)
        return F.relu(y) + y.sum()

    graph = _graph(both, (3, 40))
    assert "relu" in _names(graph)
    _same(graph, (3, 40))


def test_unknown_rows_and_changed_parameters() -> None:
    layer = paddle.nn.Linear(40, 48)
    graph = _graph(lambda x: F.relu(layer(x)), (None, 40))
    assert "fused_linear" in _names(graph)
    for rows in (1, 5):
        _same(graph, (rows, 40))
    layer.weight.set_value(np.ones((40, 48), np.float32))
    x = np.ones((2, 40), np.float32)
    np.testing.assert_allclose(
        graph(paddle.to_tensor(x)).numpy(), 40 + layer.bias.numpy() + np.zeros((2, 48)), rtol=1e-6
    )


def test_a_sum_that_broadcasts_is_no_residual() -> None:
    layer = paddle.nn.Linear(40, 48)
    graph = _graph(lambda x, y: F.relu(layer(x) + y), (3, 40), (3, 1))
    assert "add" in _names(graph)
    _same(graph, (3, 40), (3, 1))


def test_small_and_other_dtypes_stay() -> None:
    layer = paddle.nn.Linear(4, 4)
    assert _names(_graph(lambda x: F.relu(layer(x)), (3, 4))) == ["linear", "relu"]
    wide = paddle.nn.Linear(40, 48).to(dtype="float64")
    graph = capture(lambda x: F.relu(wide(x)), [InputSpec([3, 40], "float64", "x")])
    assert _names(graph) == ["linear", "relu"]
