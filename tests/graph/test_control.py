"""Conditions and loops in a graph: both ways, nested, with changes in place and with gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.graph import capture
from proa.graph.control import cond_of, while_of
from proa.graph.replay import replay
from proa.static import InputSpec


def branching(x: Any) -> Any:
    return cond_of(x.sum() > 0, lambda: [x * 2], lambda: [x - 1])[0]


def collatz(x: Any) -> Any:
    """Rounds until one is reached: a condition inside a loop."""
    steps = paddle.zeros([], "int64")

    def body(value: Any, steps: Any) -> Any:
        halved = cond_of(value % 2 == 0, lambda: [value // 2], lambda: [value * 3 + 1])[0]
        return [halved, steps + 1]

    return while_of(lambda value, steps: value > 1, body, [x, steps])[1]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_condition_takes_the_right_branch(sign: float) -> None:
    graph = capture(branching, [InputSpec([None])])
    x = paddle.to_tensor(np.full(4, sign, "float32"))
    expected = x.numpy() * 2 if sign > 0 else x.numpy() - 1
    np.testing.assert_array_equal(graph(x).numpy(), expected)
    np.testing.assert_array_equal(branching(x).numpy(), expected)
    x.stop_gradient = False
    replay(graph, [x]).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.full(4, 2.0 if sign > 0 else 1.0))


@pytest.mark.parametrize(("start", "steps"), [(1, 0), (6, 8), (27, 111)])
def test_a_loop_with_a_condition_inside(start: int, steps: int) -> None:
    graph = capture(collatz, [InputSpec([], "int64")])
    assert graph(paddle.to_tensor(start)).item() == steps
    assert replay(graph, [paddle.to_tensor(start)]).item() == steps


def test_gradient_through_a_loop() -> None:
    def function(x: Any) -> Any:
        i = paddle.zeros([], "int64")
        return while_of(lambda i, y: i < 4, lambda i, y: [i + 1, y * x], [i, x])[1]

    graph = capture(function, [InputSpec([None])])
    x = paddle.to_tensor([1.5, -2.0], stop_gradient=False)
    np.testing.assert_allclose(graph(x).numpy(), np.array([1.5, -2.0]) ** 5, rtol=1e-6)
    replay(graph, [x]).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 5 * np.array([1.5, -2.0]) ** 4, rtol=1e-5)


def test_a_tensor_changed_inside_a_branch() -> None:
    counter = paddle.zeros([2])

    def count() -> list[Any]:
        counter.add_(paddle.ones([2]))
        return [counter * 1]

    graph = capture(lambda x: cond_of(x > 0, count, lambda: [counter * 0 - 1])[0], [InputSpec([])])
    np.testing.assert_array_equal(counter.numpy(), [0, 0])
    np.testing.assert_array_equal(graph(paddle.to_tensor(1.0)).numpy(), [1, 1])
    np.testing.assert_array_equal(graph(paddle.to_tensor(-1.0)).numpy(), [-1, -1])
    np.testing.assert_array_equal(counter.numpy(), [1, 1])


def test_branches_that_do_not_agree_are_an_error() -> None:
    with pytest.raises(ValueError, match="same shape and type"):
        capture(lambda x: cond_of(x.sum() > 0, lambda: [x], lambda: [x[:1]])[0], [InputSpec([3])])
    with pytest.raises(TypeError, match="same number"):
        capture(lambda x: cond_of(x.sum() > 0, lambda: [x], list)[0], [InputSpec([3])])


def test_a_loop_variable_that_changes_its_shape_is_an_error() -> None:
    with pytest.raises(ValueError, match="keep its shape"):
        capture(lambda x: while_of(lambda y: y.sum() < 9, lambda y: [paddle.concat([y, y])], [x])[0], [InputSpec([3])])


def test_a_predicate_with_many_elements_is_an_error() -> None:
    with pytest.raises(ValueError, match="one element"):
        capture(lambda x: cond_of(x > 0, lambda: [x], lambda: [x])[0], [InputSpec([3])])


@pytest.mark.parametrize("rounds", [0, 1, 5, 63, 64, 65, 200])
def test_a_backward_pass_through_a_loop_can_be_captured(rounds: int) -> None:
    def function(x: Any, scale: Any, count: Any) -> Any:
        x.stop_gradient = scale.stop_gradient = False
        i = paddle.zeros([], "int64")
        y = while_of(lambda i, y: i < count, lambda i, y: [i + 1, paddle.sin(y) * scale], [i, x])[1]
        return paddle.grad(y.sum(), [x, scale])

    specs = [InputSpec([3]), InputSpec([]), InputSpec([], "int64")]
    graph = capture(function, specs)
    x, scale = np.array([0.5, -1.0, 2.0], "float32"), np.float32(1.01)
    found = graph(paddle.to_tensor(x), paddle.to_tensor(scale), paddle.to_tensor(rounds))

    def value(x: Any, scale: Any) -> Any:
        for _ in range(rounds):
            x = np.sin(x) * scale
        return x.sum()

    small = 1e-6
    wide = x.astype("float64")
    expected = [
        [
            (value(wide + small * e, float(scale)) - value(wide - small * e, float(scale))) / (2 * small)
            for e in np.eye(3)
        ],
        (value(wide, float(scale) + small) - value(wide, float(scale) - small)) / (2 * small),
    ]
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), two, rtol=2e-3, atol=1e-5)


def test_a_backward_pass_through_a_condition_can_be_captured() -> None:
    def function(x: Any) -> Any:
        x.stop_gradient = False
        return paddle.grad(branching(x).sum(), [x])[0]

    graph = capture(function, [InputSpec([2])])
    np.testing.assert_array_equal(graph(paddle.ones([2])).numpy(), [2, 2])
    np.testing.assert_array_equal(graph(-paddle.ones([2])).numpy(), [1, 1])
