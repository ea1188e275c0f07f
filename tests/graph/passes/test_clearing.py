"""Passes that only take away: copies, dead code, common subexpressions, chains. Results are bit for bit the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.graph.passes.chains import loses_nothing
from tests.graph.passes.support import assert_unchanged, graph_of, kinds, random


def test_dead_code_goes() -> None:
    def function(x: Any) -> Any:
        _unused = (x.exp() + 1.0).matmul(x.transpose([1, 0]))
        return x * 2.0

    graph = graph_of(function, [3, 4])
    assert dict(kinds(graph, 1)) == {"multiply": 1}
    assert_unchanged(graph, random(3, 4))


def test_what_may_raise_stays_though_nobody_uses_it() -> None:
    table = random(5, 2)

    def function(x: Any) -> Any:
        paddle.nn.functional.embedding(x, table)
        return x + 1

    graph = graph_of(function, [3], dtype="int64")
    assert kinds(graph)["embedding"] == 1
    with pytest.raises(ValueError, match="embedding"):
        graph(paddle.to_tensor([0, 1, 9]))


def test_equal_expressions_are_computed_once() -> None:
    graph = graph_of(lambda x: x.exp() * 2.0 + x.exp() * 2.0 + x.exp() * 3.0, [2, None])
    assert kinds(graph, 1)["exp"] == 1
    assert kinds(graph, 1)["multiply"] == 2
    assert_unchanged(graph, random(2, 5))


def test_zero_and_minus_zero_are_different_numbers() -> None:
    graph = graph_of(lambda x: [x / (x * 0.0), x / (x * -0.0)], [2])
    x = paddle.to_tensor([1.0, 2.0])
    first, second = graph(x)
    assert np.isposinf(first.numpy()).all()
    assert np.isneginf(second.numpy()).all()


def test_random_numbers_are_neither_shared_nor_fixed() -> None:
    graph = graph_of(lambda x: x + paddle.rand([4]) - paddle.rand([4]), [4])
    assert kinds(graph)["uniform"] == 2
    x = paddle.zeros([4])
    one, two = graph(x).numpy(), graph(x).numpy()
    assert np.abs(one).min() > 0
    assert not np.array_equal(one, two)


def test_the_same_seed_gives_the_numbers_that_the_code_gives() -> None:
    def function(x: Any) -> Any:
        paddle.rand([7])  # nobody uses it, but it takes numbers
        return x + paddle.rand([4])

    graph = graph_of(function, [4])
    x = paddle.zeros([4])
    paddle.seed(3)
    expected = function(x).numpy()
    paddle.seed(3)
    np.testing.assert_array_equal(graph(x).numpy(), expected)


def test_transposes_that_cancel() -> None:
    def function(x: Any) -> Any:
        return x.transpose([2, 0, 1]).transpose([1, 2, 0]).exp().transpose([1, 0, 2]).transpose([2, 1, 0])

    graph = graph_of(function, [2, 3, 4])
    assert dict(kinds(graph, 1)) == {"exp": 1, "transpose": 1}
    assert_unchanged(graph, random(2, 3, 4))


def test_reshapes_in_a_chain_with_unknown_sizes() -> None:
    graph = graph_of(lambda x: x.reshape([-1, 12]).reshape([-1, 3, 4]).reshape([x.shape[0], 2, 6]), [None, 3, 4])
    assert dict(kinds(graph, 1)) == {"reshape": 1}
    for batch in (1, 5):
        assert_unchanged(graph, random(batch, 3, 4))


def test_a_size_known_from_dead_code_only() -> None:
    weight = paddle.ones([1, 1, 3])

    def function(x: Any) -> Any:
        half = paddle.nn.functional.conv1d(
            x, weight, stride=2, padding=1
        )  # its length rounds up; only its size is used
        return x.sum() + paddle.ones([half.shape[2]])

    graph = graph_of(function, [1, 1, None])
    assert kinds(graph)["conv"] == 0
    for length in (4, 5):
        assert graph(random(1, 1, length)).shape == [(length + 1) // 2]


@pytest.mark.parametrize(
    ("chain", "left"),
    [(("float64", "float32"), 0), (("float16", "float32"), 2), (("int32", "float32"), 2), (("float64", "int64"), 1)],
)
def test_casts_that_lose_nothing_go(chain: tuple[str, ...], left: int) -> None:
    def function(x: Any) -> Any:
        for dtype in chain:
            x = x.astype(dtype)
        return x.sum()

    graph = graph_of(function, [4])
    assert kinds(graph)["cast"] == left
    assert_unchanged(graph, random(4))


def test_which_casts_lose_nothing() -> None:
    def loses(one: str, other: str) -> bool:
        return not loses_nothing(np.dtype(one), np.dtype(other))

    assert not loses("bool", "float32")
    assert not loses("int16", "float32")
    assert loses("int32", "float32")
    assert not loses("int32", "float64")
    assert loses("int64", "float64")
    assert loses("float32", "float16")
    assert loses("int8", "uint8")
    assert not loses("uint8", "int16")


def test_an_input_that_is_a_result() -> None:
    graph = graph_of(lambda x: [x, x + 1.0, paddle.assign(x)], [3])
    assert_unchanged(graph, random(3))


def test_conditions_and_loops_are_kept() -> None:
    from proa.graph.control import cond_of, while_of

    def function(x: Any) -> Any:
        (y,) = cond_of(x.sum() > 0, lambda: [x * 2.0], lambda: [x - 1.0])
        (z,) = while_of(lambda v: v.sum() < 10.0, lambda v: [v * 2.0 + 1.0], [y.abs()])
        return y + z

    graph = graph_of(function, [3])
    for sign in (1.0, -1.0):
        assert_unchanged(graph, random(3).abs() * sign)


def test_updates_of_buffers_are_kept() -> None:
    layer, other = paddle.nn.BatchNorm1D(3), paddle.nn.BatchNorm1D(3)
    graph = graph_of(layer, [None, 3])
    for seed in range(3):
        x = random(4, 3, seed=seed)
        np.testing.assert_allclose(graph(x).numpy(), other(x).numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(layer._mean.numpy(), other._mean.numpy(), rtol=1e-6)


def _random_function(seed: int) -> Any:
    """A program of random operations over a few shapes, with shared and unused values."""
    unary = [
        lambda x: x.exp().tanh(), lambda x: x * 0.5, lambda x: 1.0 + x, lambda x: x / 3.0, lambda x: x.transpose([1, 0]),
        lambda x: x.reshape([x.shape[1], x.shape[0]]), lambda x: x.astype("float64").astype("float32"), paddle.assign,
        lambda x: x * paddle.nn.functional.sigmoid(x), lambda x: x - x.mean(-1, keepdim=True), lambda x: x @ weight,
        lambda x: paddle.scale(x, 2.0, 0.25), lambda x: paddle.nn.functional.softmax(x, -1),
        lambda x: x.sum(0, keepdim=True) + x,
    ]  # fmt: skip
    weight = random(4, 4, seed=seed)

    def function(x: Any) -> Any:
        choose = np.random.default_rng(seed)
        values = [x]
        for _ in range(25):
            value = unary[choose.integers(len(unary))](values[choose.integers(len(values))])
            if choose.random() < 0.5:
                value = value + values[choose.integers(len(values))]
            values.append(value)
        return [values[-1], values[choose.integers(len(values))]]

    return function


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs_give_the_same(seed: int) -> None:
    graph = graph_of(_random_function(seed), [4, 4])
    assert_unchanged(graph, random(4, 4, seed=seed))
    assert len(graph.optimised().program.instructions) < len(graph.program.instructions)
