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


def _parameter(*shape: int) -> Any:
    made = paddle.create_parameter(list(shape), "float32")
    made.set_value(paddle.randn(list(shape)))
    return made


@pytest.mark.parametrize("groups", [1, 16])
@pytest.mark.parametrize("shape", [(1,), (), (1, 16, 1, 1), (16, 1, 1), (1, 1, 1, 1)])
def test_affine_functions_before_and_behind_an_activation(shape: tuple[int, ...], groups: int) -> None:
    """As in models whose activations learn a scale and a shift, one for all channels or one for each."""
    paddle.seed(2)
    layer = paddle.nn.Conv2D(16, 16, 3, padding=1, groups=groups)
    a, b, c, d, e = (_parameter(*shape) for _ in range(5))
    graph = _graph(lambda x: d + (F.hardswish(layer(x) * a + b) * c + e) * a, (2, 16, 6, 7))
    assert _names(graph) == ["fused_conv"]
    _same(graph, (2, 16, 6, 7))
    c.set_value(paddle.full(list(shape), 3.0))  # what was computed beforehand is computed again
    _same(graph, (2, 16, 6, 7))


@pytest.mark.parametrize("shape", [(7,), (6, 1), (2, 1, 1, 1), (2, 16, 6, 7)])
def test_other_factors_behind_an_activation_stay_apart(shape: tuple[int, ...]) -> None:
    layer, factor = paddle.nn.Conv2D(16, 16, 3, padding=1), _parameter(*shape)
    graph = _graph(lambda x: F.relu(layer(x)) * factor, (2, 16, 6, 7))
    assert _names(graph) == ["fused_conv", "multiply"]
    _same(graph, (2, 16, 6, 7))


def test_what_others_need_behind_an_activation_stays_apart() -> None:
    layer, factor = paddle.nn.Conv2D(16, 16, 3, padding=1), _parameter(1)

    def both(x: Any) -> Any:
        y = F.relu(layer(x))
        return y * factor + y

    graph = _graph(both, (2, 16, 6, 7))
    assert _names(graph) == ["fused_conv", "multiply", "add"]
    _same(graph, (2, 16, 6, 7))
    squared = _graph(lambda x: F.relu(layer(x)) * F.relu(layer(x)), (2, 16, 6, 7))
    assert "multiply" in _names(squared)
    _same(squared, (2, 16, 6, 7))


@pytest.mark.skipif(not fused.is_low_available(), reason="the processor does not multiply bfloat16 by itself")
def test_weights_become_bfloat16_where_the_graph_allows_it() -> None:
    paddle.seed(1)
    layers = paddle.nn.Sequential(
        paddle.nn.Conv2D(3, 16, 3, padding=1), paddle.nn.Conv2D(16, 32, 3, groups=2), paddle.nn.Conv2D(32, 32, 3, groups=32),
        paddle.nn.Flatten(), paddle.nn.Linear(32 * 16, 48),
    )  # fmt: skip
    given = paddle.randn([2, 3, 8, 8])
    graphs = [_graph(layers, (2, 3, 8, 8)) for _ in range(2)]
    graphs[1].low_products = True
    types = [_weight_types(graph) for graph in graphs]
    assert types == [["float32"] * 4, ["float32", "bfloat16", "float32", "bfloat16"]]  # odd channels, and one by one
    exact, found = (graph(given).numpy() for graph in graphs)
    assert 1e-5 < np.abs(found - exact).max() / np.abs(exact).max() < 1e-2
    fitted = _graph(layers, (None, 3, 8, 8))
    fitted.low_products = True
    np.testing.assert_allclose(fitted.fit([given])(given).numpy(), found, rtol=1e-6, atol=1e-6)


def test_between_convolutions_in_bfloat16_images_are_rounded() -> None:
    """Not those that somebody else reads: here a mean, and the caller."""
    paddle.seed(5)
    wide, each, narrow = (
        paddle.nn.Conv2D(16, 32, 1),
        paddle.nn.Conv2D(32, 32, 3, padding=1, groups=32),
        paddle.nn.Conv2D(32, 16, 1),
    )

    def layers(x: Any) -> Any:
        between = narrow(F.relu(each(F.hardswish(wide(x)))))
        return wide(between) * between.mean()

    graph = _graph(layers, (1, 16, 12, 12))
    graph.low_products = True
    program = graph.optimised().program
    made = [i.outputs[0].dtype.name for i in program.instructions if i.operation.name == "fused_conv"]
    assert made == ["bfloat16", "bfloat16", "float32", "float32"]
    given = paddle.randn([1, 16, 12, 12])
    exact, found = layers(given).numpy(), graph(given).numpy()
    assert 1e-5 < np.abs(found - exact).max() / np.abs(exact).max() < 2e-2


class _Squeeze(paddle.nn.Layer):
    """As in MobileNetV3; `adds` as in the necks of PP-OCR."""

    def __init__(self, channels: int, adds: bool = False) -> None:
        super().__init__()
        self.first, self.second = paddle.nn.Conv2D(channels, 16, 1), paddle.nn.Conv2D(16, channels, 1)
        self.adds = adds

    def forward(self, x: Any) -> Any:
        gate = F.hardsigmoid(self.second(F.relu(self.first(F.adaptive_avg_pool2d(x, 1)))))
        return x + x * gate if self.adds else gate * x


@pytest.mark.parametrize("adds", [False, True])
def test_a_squeeze_and_excite_block_is_one_operation(adds: bool) -> None:
    paddle.seed(6)
    block, layer = _Squeeze(16, adds), paddle.nn.Conv2D(16, 32, 1)
    graph = _graph(lambda x: layer(block(x)), (2, 16, 6, 7))
    assert _names(graph) == ["squeeze_excite", "fused_conv"]
    _same(graph, (2, 16, 6, 7))


@pytest.mark.skipif(not fused.is_low_available(), reason="the processor does not multiply bfloat16 by itself")
def test_the_result_of_a_squeeze_is_rounded_for_a_convolution() -> None:
    paddle.seed(7)
    block, layer = _Squeeze(16), paddle.nn.Conv2D(16, 32, 1)
    graph = _graph(lambda x: layer(block(x)), (1, 16, 6, 7))
    graph.low_products = True
    program = graph.optimised().program
    assert [i.outputs[0].dtype.name for i in program.instructions] == ["bfloat16", "float32"]
    given = paddle.randn([1, 16, 6, 7])
    exact, found = layer(block(given)).numpy(), graph(given).numpy()
    assert 1e-5 < np.abs(found - exact).max() / np.abs(exact).max() < 2e-2


def test_what_others_need_of_a_squeeze_stays_apart() -> None:
    paddle.seed(8)
    block = _Squeeze(16)

    def with_gate(x: Any) -> Any:
        gate = F.sigmoid(block.second(F.relu(block.first(x.mean([2, 3], keepdim=True)))))
        return x * gate + gate.sum()

    def with_another(x: Any) -> Any:
        return (x + 1) * F.sigmoid(block.second(F.relu(block.first(x.mean([2, 3], keepdim=True)))))

    def of_rows(x: Any) -> Any:
        return x * F.sigmoid(block.second(F.relu(block.first(x.mean(3, keepdim=True)))))

    for function in (with_gate, with_another, of_rows):
        graph = _graph(function, (2, 16, 5, 5))
        assert "squeeze_excite" not in _names(graph)
        _same(graph, (2, 16, 5, 5))
    assert "squeeze_excite" not in _names(_graph(block, (None, 16, None, None)))


def _weight_types(graph: Any) -> list[str]:
    program = graph.optimised().program
    layers = [i for i in program.instructions if i.operation.name in ("fused_conv", "fused_linear")]
    return [program.inputs[~i.operands[1]].dtype.name for i in layers]


@pytest.mark.parametrize("activation", [F.gelu, F.silu, F.sigmoid, F.hardswish, F.hardsigmoid, paddle.tanh, F.relu])
def test_linear_with_activation(activation: Any) -> None:
    layer = paddle.nn.Linear(40, 48)
    graph = _graph(lambda x: activation(layer(x)), (3, 5, 40))
    assert "fused_linear" in _names(graph)
    _same(graph, (3, 5, 40))


@pytest.mark.parametrize("transposed", [False, True])
def test_a_product_with_a_row_added_to_it(transposed: bool) -> None:
    """As saved programs have a linear layer; x may lie the other way round."""
    paddle.seed(3)
    weight, row = _parameter(40, 48), _parameter(48)
    shape = (2, 40, 5) if transposed else (2, 5, 40)
    graph = _graph(lambda x: F.relu(row + paddle.matmul(x, weight, transpose_x=transposed)), shape)
    assert [name for name in _names(graph) if name != "transpose"] == ["fused_linear"]
    _same(graph, shape)
    squares = _graph(lambda x: paddle.matmul(x, weight, transpose_x=transposed) + _SQUARE, shape)
    assert _names(squares)[-1] == "add"
    _same(squares, shape)


_SQUARE = paddle.ones([5, 48])


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
