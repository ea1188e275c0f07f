"""Layers between quantize_linear and dequantize_linear as operations on bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.graph import capture
from proa.kernels.cpu.low_precision import quantised
from proa.ops.quantised.levels import from_levels, to_levels
from proa.static import InputSpec

F = paddle.nn.functional
pytestmark = pytest.mark.skipif(not quantised.is_available(), reason="no native kernels")


def _grid(x: Any, scale: float, low: int = -128) -> Any:
    steps = paddle.to_tensor(np.float32([scale]))
    return from_levels(to_levels(x, steps, -1, 127, low, 127), steps, -1, 127)


def _weight(*shape: int, axis: int = 0, dtype: str = "int8", one: bool = False) -> Any:
    generator = np.random.default_rng(sum(shape))
    numbers = paddle.to_tensor(generator.integers(-127, 128, shape).astype(dtype))
    scale = paddle.to_tensor(generator.uniform(0.1, 0.3, 1 if one else shape[axis]).astype(np.float32))
    return lambda: from_levels(numbers, scale, -1 if one else axis, 127)


def _graph(function: Any, *shapes: Any) -> Any:
    return capture(function, [InputSpec(list(shape), "float32", f"x{i}") for i, shape in enumerate(shapes)])


def _names(graph: Any) -> list[str]:
    return [i.operation.name for i in graph.optimised().program.instructions if i.operation.name != "full"]


def _dtypes(graph: Any) -> list[str]:
    instructions = graph.optimised().program.instructions
    return [i.outputs[0].dtype.name for i in instructions if i.operation.name.startswith("quantised")]


def _same(graph: Any, function: Any, *shapes: Any, step: float) -> None:
    arrays = [np.random.default_rng(i).standard_normal(s).astype(np.float32) for i, s in enumerate(shapes)]
    tensors = [paddle.to_tensor(array) for array in arrays]
    found, expected = graph(*tensors).numpy(), function(*tensors).numpy()
    assert np.abs(found - expected).max() <= 1.01 * step
    assert (np.abs(found - expected) > 1e-5).mean() < 0.01


def test_a_residual_block_goes_from_bytes_to_bytes() -> None:
    first, alone, last = _weight(16, 8, 3, 3), _weight(16, 1, 3, 3, dtype="float32"), _weight(8, 16, 1, 1, one=True)
    norm = paddle.nn.BatchNorm2D(16)
    norm.eval()
    norm._mean.set_value(np.linspace(-1, 1, 16, dtype=np.float32))

    def block(x: Any) -> Any:
        x = _grid(x, 3.0)
        y = _grid(F.relu(norm(F.conv2d(x, first(), None, 1, 1))), 4.0)
        y = _grid(F.relu6(F.conv2d(y, alone(), None, 1, 1, groups=16)), 4.0)
        y = _grid(F.relu(F.conv2d(y, last()) + x), 6.0)
        return F.conv2d(y, first(), stride=2)

    graph = _graph(block, (None, 8, 9, 9))
    assert _names(graph) == ["quantise", *["quantised_conv"] * 4]
    assert _dtypes(graph) == ["uint8", "uint8", "uint8", "float32"]
    for images in (1, 3):
        _same(graph, block, (images, 8, 9, 9), step=6 / 127 * 12)


@pytest.mark.parametrize("turned", [False, True])
def test_products(turned: bool) -> None:
    wide, bias = _weight(*((24, 20) if turned else (20, 24)), axis=0 if turned else 1), paddle.linspace(-1, 1, 24)
    narrow = _weight(24, 6, axis=1)

    def layers(x: Any) -> Any:
        y = _grid(F.gelu(paddle.matmul(_grid(x, 3.0), wide(), transpose_y=turned) + bias), 4.0)
        return F.linear(y, narrow()), y.sum()

    graph = _graph(lambda x: layers(x)[0], (5, 20))
    assert _names(graph) == ["quantise", "quantised_linear", "quantised_linear"]
    assert _dtypes(graph) == ["uint8", "float32"]
    _same(graph, lambda x: layers(x)[0], (5, 20), step=4 / 127 * 0.3 * 24)
    both = _graph(lambda x: sum(layers(x)), (5, 20))  # the numbers on the grid are looked at by others, too
    assert _dtypes(both) == ["uint8", "float32"]
    _same(both, lambda x: sum(layers(x)), (5, 20), step=4 / 127 * 24 * 5)


def test_what_does_not_suit_stays() -> None:
    weight, halves = _weight(16, 8, 3, 3), paddle.to_tensor(np.full((16, 8, 3, 3), 0.5, np.float32))
    scale, whole = paddle.to_tensor(np.float32([1.0])), paddle.to_tensor(np.ones((16, 8, 3, 3), np.int8))
    across = paddle.to_tensor(np.linspace(0.1, 0.9, 8, dtype=np.float32))
    others = {
        "x on no grid": lambda x: F.conv2d(x, weight()),
        "another grid": lambda x: F.conv2d(_grid(x, 3.0, low=-127), weight()),
        "a weight on no grid": lambda x: F.conv2d(_grid(x, 3.0), halves),
        "a weight of halves": lambda x: F.conv2d(_grid(x, 3.0), from_levels(halves, scale, -1, 127)),
        "scales along another axis": lambda x: F.conv2d(_grid(x, 3.0), from_levels(whole, across, 1, 127)),
    }
    for why, function in others.items():
        graph = _graph(function, (2, 8, 6, 6))
        assert not _dtypes(graph), why
        _same(graph, function, (2, 8, 6, 6), step=1e-4)


def test_a_weight_that_changes_is_packed_again() -> None:
    numbers = paddle.to_tensor(np.ones((4, 4), np.float32))
    scale = paddle.to_tensor(np.float32([127.0]))
    graph = _graph(lambda x: F.linear(_grid(x, 127.0), from_levels(numbers, scale, -1, 127)), (1, 4))
    x = paddle.ones([1, 4])
    assert graph(x).tolist() == [[4.0] * 4]
    numbers.set_value(np.full((4, 4), 2, np.float32))
    assert graph(x).tolist() == [[8.0] * 4]
    numbers.set_value(np.full((4, 4), 0.5, np.float32))  # no whole numbers any more
    assert graph(x).tolist() == [[2.0] * 4]


def test_equal_scales_are_one_until_one_changes() -> None:
    there, back, other = (paddle.to_tensor(np.float32([3.0])) for _ in range(3))
    weight = _weight(8, 6, axis=1)

    def layers(x: Any) -> Any:
        rounded = from_levels(to_levels(x, there), back)
        again = from_levels(to_levels(x, other), back)
        return F.linear(rounded, weight()) + F.linear(again, weight())

    graph = _graph(layers, (4, 8))
    assert _names(graph) == ["quantise", "quantised_linear", "add"]
    _same(graph, layers, (4, 8), step=1e-3)
    other.set_value(np.float32([1.5]))
    _same(graph, layers, (4, 8), step=1e-3)
    assert "to_levels" in _names(graph)  # rounded on one grid, read on another: that is no byte
