"""Conditions and loops inside an executable: what they check, and the random numbers they draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.graph import Graph, capture
from proa.graph.control import cond_of, while_of
from proa.ir.tiers.interpreter import Problem, run_on_numpy
from proa.static import InputSpec

ROWS = np.arange(8, dtype="float32").reshape(4, 2)


def rows_if(x: Any, index: Any, wanted: Any) -> Any:
    return cond_of(wanted.sum() > 0, lambda: [paddle.gather(x, index)], lambda: [x[:2]])[0]


def sum_of_rows(x: Any, count: Any) -> Any:
    def body(i: Any, total: Any) -> list[Any]:
        return [i + 1, total + paddle.gather(x, i)]

    return while_of(lambda i, _: i < count, body, [paddle.zeros([1], "int64"), paddle.zeros([1, 2])])[1]


def drawn_sum(count: Any) -> Any:
    def body(i: Any, total: Any) -> list[Any]:
        return [i + 1, total + paddle.rand([64]) * 10.0 ** i.astype("float32")]

    return while_of(lambda i, _: i < count, body, [paddle.zeros([1], "int64"), paddle.zeros([64])])[1]


@pytest.fixture
def condition() -> Graph:
    return capture(rows_if, [InputSpec([None, 2]), InputSpec([2], "int64"), InputSpec([1])])


@pytest.fixture
def loop() -> Graph:
    return capture(sum_of_rows, [InputSpec([None, 2]), InputSpec([1], "int64")])


def test_an_index_out_of_range_in_the_branch_that_is_taken(condition: Graph) -> None:
    x, far = paddle.to_tensor(ROWS), paddle.to_tensor([1, 30])
    np.testing.assert_array_equal(condition(x, paddle.to_tensor([1, 3]), paddle.ones([1])).numpy(), ROWS[[1, 3]])
    with pytest.raises(IndexError, match="allowed: -4 to 3"):
        condition(x, far, paddle.ones([1]))
    np.testing.assert_array_equal(condition(x, far, -paddle.ones([1])).numpy(), ROWS[:2])


def test_checks_that_are_taken_wait_until_they_are_called(condition: Graph) -> None:
    """Who starts several runs before looking at the first one's results is not made to wait for it."""
    x, checks = paddle.to_tensor(ROWS), list[Any]()
    good = condition.run([x, paddle.to_tensor([1, 3]), paddle.ones([1])], checks)
    condition.run([x, paddle.to_tensor([1, 30]), paddle.ones([1])], checks)
    assert len(checks) == 2
    checks[0]()
    np.testing.assert_array_equal(good.numpy(), ROWS[[1, 3]])
    with pytest.raises(IndexError, match="allowed: -4 to 3"):
        checks[1]()
    with pytest.raises(IndexError, match="allowed: -4 to 3"):
        condition.run([x, paddle.to_tensor([1, 30]), paddle.ones([1])])


def test_an_index_out_of_range_in_some_round_ends_the_loop(loop: Graph) -> None:
    x = paddle.to_tensor(ROWS)
    np.testing.assert_array_equal(loop(x, paddle.to_tensor([3])).numpy(), ROWS[:3].sum(0, keepdims=True))
    with pytest.raises(IndexError, match="allowed: -4 to 3"):
        loop(x, paddle.to_tensor([1 << 40]))  # would never end otherwise
    np.testing.assert_array_equal(loop(x, paddle.to_tensor([0])).numpy(), [[0, 0]])


def test_the_line_of_the_user_is_named(loop: Graph) -> None:
    with pytest.raises(IndexError) as caught:
        loop(paddle.to_tensor(ROWS), paddle.to_tensor([9]))
    notes = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    line = sum_of_rows.__code__.co_firstlineno + 2
    assert f"test_blocks.py:{line}" in notes or f'test_blocks.py", line {line}' in notes


def test_a_condition_inside_a_loop_is_checked() -> None:
    def function(x: Any, count: Any) -> Any:
        def body(i: Any, total: Any) -> list[Any]:
            return [i + 1, total + cond_of(i > 1, lambda: [paddle.gather(x, i * 2)], lambda: [x[:1]])[0]]

        return while_of(lambda i, _: i < count, body, [paddle.zeros([1], "int64"), paddle.zeros([1, 2])])[1]

    graph = capture(function, [InputSpec([4, 2]), InputSpec([1], "int64")])
    np.testing.assert_array_equal(graph(paddle.to_tensor(ROWS), paddle.to_tensor([2])).numpy(), 2 * ROWS[:1])
    with pytest.raises(IndexError):
        graph(paddle.to_tensor(ROWS), paddle.to_tensor([3]))


def test_rounds_and_runs_draw_different_numbers() -> None:
    graph = capture(drawn_sum, [InputSpec([1], "int64")])
    one, two = (graph(paddle.to_tensor([1])).numpy() for _ in range(2))
    assert (one != two).any()
    assert ((one >= 0) & (one < 1)).all()
    both = graph(paddle.to_tensor([2])).numpy()
    tens, ones = np.divmod(both, 1.0)
    assert np.abs(np.corrcoef(tens, ones)[0, 1]) < 0.9
    assert 2 < both.mean() < 9


def test_the_same_seed_draws_the_same_numbers() -> None:
    graph = capture(drawn_sum, [InputSpec([1], "int64")])
    found = []
    for _ in range(2):
        paddle.seed(7)
        found.append(graph(paddle.to_tensor([3])).numpy())
    np.testing.assert_array_equal(*found)


def test_both_tiers_draw_the_same_numbers() -> None:
    graph = capture(drawn_sum, [InputSpec([1], "int64")])
    count = paddle.to_tensor([3])
    paddle.seed(7)
    compiled = graph(count).numpy()
    paddle.seed(7)
    values = run_on_numpy(graph.program, [count.numpy(), *graph.held_values()], graph.fresh_scalars(graph.scalars))
    np.testing.assert_allclose(values[graph.program.outputs[0]], compiled, 1e-5)


def test_numpy_raises_at_once(loop: Graph) -> None:
    tensors = [paddle.to_tensor(ROWS), paddle.to_tensor([9])]
    program, scalars, held = loop.specialised(tensors)
    with pytest.raises(Problem) as caught:
        run_on_numpy(program, [*(t.numpy() for t in tensors), *held], scalars)
    assert isinstance(caught.value.error, IndexError)


def test_gradients_see_the_numbers_of_the_forward_pass() -> None:
    """In a static program the backward pass is part of the graph: it must draw what the forward pass drew."""
    paddle.enable_static()
    try:
        static = paddle.static
        with static.program_guard(static.Program(), static.Program()):
            x, flag = static.data("x", [64]), static.data("flag", [1])
            x.stop_gradient = False
            y = static.nn.cond(flag.sum() > 0, lambda: paddle.nn.functional.dropout(x, 0.5), lambda: x * 1.0)
            (grad,) = static.gradients([y.sum()], [x])
            executor = static.Executor()
            feed = {"x": np.ones(64, "float32"), "flag": np.ones(1, "float32")}
            runs = [executor.run(feed=feed, fetch_list=[y, grad]) for _ in range(2)]
        for value, gradient in runs:
            np.testing.assert_array_equal(value, gradient)
            assert sorted(set(value.tolist())) == [0.0, 2.0]
        assert (runs[0][0] != runs[1][0]).any()
    finally:
        paddle.disable_static()
