"""Passes and patterns of users: registered in Python, checked, taken out again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.graph import capture, passes
from proa.graph.passes import Draft, Number, PassError, node, pattern, register_pass, unregister_pass
from proa.static import InputSpec
from tests.graph.passes.support import assert_unchanged, graph_of, kinds, random

X = passes.Any("x")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = {entry.name for entry in passes.passes(3)}
    yield
    for entry in passes.passes(3):
        if entry.name not in before:
            unregister_pass(entry.name)


def test_the_documented_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The text of the package is the documentation: what stands there must work."""
    text = passes.__doc__ or ""
    example = re.search(r"A pass of your own:\n\n(.*?)\n\nIt holds", text, re.S)
    assert example is not None
    exec("\n".join(line[4:] for line in example[1].splitlines()), {})
    graph = graph_of(lambda x: x.exp().log() + 1.0, [3])
    assert dict(kinds(graph)) == {"add": 1}
    assert capsys.readouterr().out.split()[-1] == "1"


def test_a_pattern_applies_to_graphs_that_ran_before_it_was_registered() -> None:
    graph = graph_of(lambda x: paddle.sqrt(x * x), [3])
    x = random(3)
    expected = graph(x).numpy()
    assert kinds(graph)["abs"] == 0

    @pattern(node.sqrt(node.multiply(X, X)))
    def absolute(x: Any) -> Any:
        return x.abs()

    np.testing.assert_allclose(graph(x).numpy(), expected, rtol=1e-6)
    assert dict(kinds(graph)) == {"abs": 1}
    unregister_pass("absolute")
    assert kinds(graph)["abs"] == 0


def test_numbers_attributes_and_refusal() -> None:
    seen: list[Any] = []

    @pattern(node.cumsum(node.multiply(X, Number("factor")), axis=passes.Attribute("axis"), reverse=False))
    def scaled_after(x: Any, factor: float, axis: int) -> Any:
        seen.append((factor, axis))
        return None if factor < 0 else paddle.cumsum(x, axis) * factor

    graph = graph_of(lambda x: [paddle.cumsum(x * 3.0, 1), paddle.cumsum(x * -2.0, 0)], [3, 4])
    assert_unchanged(graph, random(3, 4))
    assert (3.0, 1) in seen
    assert (-2.0, 0) in seen


def test_a_constant_that_was_looked_at_may_change_later() -> None:
    half = paddle.to_tensor(0.5)
    graph = graph_of(lambda x: x * half * (1 + paddle.erf(x * 0.70710678)), [4])
    x = random(4)
    assert dict(kinds(graph)) == {"gelu": 1}
    graph(x)
    half.set_value(np.asarray(0.25, "float32"))
    expected = paddle.nn.functional.gelu(x).numpy() / 2
    np.testing.assert_allclose(graph(x).numpy(), expected, rtol=1e-5, atol=1e-6)
    assert kinds(graph)["gelu"] == 0


def test_mistakes_of_a_pass_are_named() -> None:
    graph = graph_of(lambda x: x.exp() + 1.0, [3])

    @register_pass(name="loses the order")
    def reverse(draft: Draft) -> int:
        draft.nodes.reverse()
        return 1

    with pytest.raises(PassError, match="loses the order broke the graph"):
        graph(random(3))
    unregister_pass("loses the order")

    @register_pass
    def says_nothing(draft: Draft) -> Any:
        return None

    with pytest.raises(PassError, match="says_nothing must give the number"):
        graph(random(3))
    unregister_pass("says_nothing")

    @pattern(node.exp(X))
    def wrong_shape(x: Any) -> Any:
        return x.sum()

    with pytest.raises(PassError, match=r"wrong_shape must give float32\[3\]"):
        graph(random(3))
    unregister_pass("wrong_shape")

    @pattern(node.exp(X))
    def wants_more(x: Any, y: Any) -> Any:
        return x

    with pytest.raises(PassError, match="wants y"):
        graph(random(3))


def test_bad_registrations() -> None:
    with pytest.raises(ValueError, match="exists already"):
        register_pass(lambda draft: 0, name="dead_code")
    with pytest.raises(ValueError, match="no pass named nothing"):
        unregister_pass("nothing")
    with pytest.raises(TypeError, match="begins with an operation"):
        pattern(X)
    with pytest.raises(TypeError, match="a pattern, a number or None"):
        node.add(X, "y")
    with pytest.raises(ValueError, match="level must be"):
        graph_of(lambda x: x, [2]).optimised(7)


def test_levels() -> None:
    graph = graph_of(lambda x: paddle.assign(x) * paddle.nn.functional.sigmoid(x), [3])
    assert sum(kinds(graph, 0).values()) == 3
    assert sum(kinds(graph, 1).values()) == 2
    assert sum(kinds(graph, 2).values()) == 1
    for level in (0, 1, 2):
        assert_unchanged(graph, random(3), level=level)


def test_a_scope_around_the_first_run_does_not_enter_the_graph() -> None:
    def function(x: Any) -> Any:
        return paddle.nn.functional.softmax(x @ x.transpose([0, 1, 3, 2]) * 0.5, -1) @ x

    graph = graph_of(function, [1, 2, 3, 4])
    x = random(1, 2, 3, 4)
    with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):
        found = graph(x)
    assert kinds(graph)["attention"] == 1
    np.testing.assert_allclose(found.numpy(), graph.run([x]).numpy(), rtol=1e-5, atol=1e-5)


def test_a_capture_that_needs_a_pending_value_leaves_the_thread_recording() -> None:
    one, two = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])
    pending = one + two
    graph = capture(lambda x: x + pending, [InputSpec([2])])
    later = two * 3.0
    np.testing.assert_array_equal(later.numpy(), [9.0, 12.0])
    np.testing.assert_array_equal(graph(paddle.zeros([2])).numpy(), [4.0, 6.0])
