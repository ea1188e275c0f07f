"""Captured graphs give what the code itself gives: for any size, with gradients, buffers and random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.graph import capture
from proa.graph.replay import replay
from proa.ir.capture import CaptureError
from proa.static import InputSpec

nn = paddle.nn


def small_net() -> Any:
    paddle.seed(1)
    return nn.Sequential(
        nn.Conv2D(3, 8, 3, stride=2, padding=1), nn.BatchNorm2D(8), nn.ReLU(), nn.AdaptiveAvgPool2D(1), nn.Flatten(),
        nn.Linear(8, 4),
    )  # fmt: skip


IMAGE = InputSpec([None, 3, None, None], "float32", "image")


@pytest.mark.parametrize(("batch", "size"), [(1, 8), (2, 17), (5, 32)])
def test_one_graph_serves_every_size(batch: int, size: int) -> None:
    model = small_net()
    model.eval()
    graph = capture(model, [IMAGE])
    x = paddle.randn([batch, 3, size, size])
    np.testing.assert_allclose(graph(x).numpy(), model(x).numpy(), rtol=1e-5, atol=1e-6)


def test_nothing_runs_and_nothing_changes_during_a_capture() -> None:
    model = small_net()
    before = {name: value.numpy() for name, value in model.state_dict().items()}
    graph = capture(model, [IMAGE])
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[name])
    assert [tensor.name for tensor in graph.updates] == [model[1]._mean.name, model[1]._variance.name]


def test_a_run_updates_buffers_as_the_code_does() -> None:
    model, other = small_net(), small_net()
    graph = capture(model, [IMAGE])
    for seed in range(3):
        x = paddle.to_tensor(np.random.default_rng(seed).normal(size=(4, 3, 8, 8)).astype("float32"))
        np.testing.assert_allclose(graph(x).numpy(), other(x).numpy(), rtol=1e-4, atol=1e-5)
    for one, two in zip(model[1].buffers(), other[1].buffers(), strict=True):
        np.testing.assert_allclose(one.numpy(), two.numpy(), rtol=1e-5)


def test_new_weights_are_seen_without_capturing_again() -> None:
    layer = nn.Linear(3, 2)
    graph = capture(layer, [InputSpec([None, 3])])
    x = paddle.ones([2, 3])
    graph(x)
    layer.weight.set_value(np.full((3, 2), 2.0, "float32"))
    np.testing.assert_allclose(graph(x).numpy(), np.full((2, 2), 6.0))


def test_gradients_flow_through_a_replayed_graph() -> None:
    model = small_net()
    model.eval()
    graph = capture(model, [IMAGE])
    x = paddle.randn([2, 3, 8, 8])
    x.stop_gradient = False
    replay(graph, [x]).square().sum().backward()
    found = [x.grad.numpy(), *(p.grad.numpy() for p in model.parameters() if p.trainable)]
    x.clear_gradient(False)
    model.clear_gradients(False)
    model(x).square().sum().backward()
    expected = [x.grad.numpy(), *(p.grad.numpy() for p in model.parameters() if p.trainable)]
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-6)


def test_sizes_in_python_arithmetic_are_understood() -> None:
    def function(x: Any) -> Any:
        batch, length, width = x.shape
        y = x.reshape([batch * length, width // 2, 2]).transpose([1, 0, 2])
        return y.reshape([width // 2, batch, length * 2])[:, :, : length - 1] / length

    graph = capture(function, [InputSpec([None, None, 6])])
    for shape in ((2, 3, 6), (1, 9, 6), (4, 4, 6)):
        x = paddle.randn(list(shape))
        np.testing.assert_allclose(graph(x).numpy(), function(x).numpy(), rtol=1e-6)


def test_a_shape_made_into_a_tensor_is_understood() -> None:
    def function(x: Any) -> Any:
        return x * paddle.to_tensor(x.shape)[0].astype("float32") + paddle.shape(x)[1].astype("float32")

    graph = capture(function, [InputSpec([None, None])])
    x = paddle.randn([3, 5])
    np.testing.assert_allclose(graph(x).numpy(), x.numpy() * 3 + 5, rtol=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * int(x.shape[0]),
        lambda x: x + paddle.to_tensor(np.ones([3], "float32") * np.asarray(x.shape[0])).sum(),
        lambda x: sum([x[0]] * x.shape[0]),
    ],
)
def test_a_dimension_that_the_code_makes_fixed_is_an_error_that_names_the_line(function: Any) -> None:
    with pytest.raises(CaptureError, match=r"(?s)x0.shape\[0\] may be any size, but .*test_capture.py"):
        capture(function, [InputSpec([None, 2])])


def test_a_float_computed_from_a_size_follows_it() -> None:
    graph = capture(lambda x: (x * (1 / x.shape[0]), x / (x.shape[0] * 0.5)), [InputSpec([None, 2])])
    for rows in (2, 28):
        one, other = graph(paddle.ones([rows, 2]))
        np.testing.assert_allclose(one.numpy(), 1 / rows, rtol=1e-6)
        np.testing.assert_allclose(other.numpy(), 2 / rows, rtol=1e-6)


def test_reading_a_value_names_the_line() -> None:
    def function(x: Any) -> Any:
        return x if x.sum().item() > 0 else -x

    with pytest.raises(CaptureError, match=rf"test_capture.py:{function.__code__.co_firstlineno + 1}"):
        capture(function, [InputSpec([2])])
    assert float((paddle.ones([2]) + 1).sum()) == 4.0, "the thread records as before"


def test_dropout_draws_new_numbers_in_each_run() -> None:
    graph = capture(lambda x: paddle.nn.functional.dropout(x, 0.5), [InputSpec([None])])
    x = paddle.ones([64])
    first, second = graph(x).numpy(), graph(x).numpy()
    assert set(np.unique(first)) <= {0.0, 2.0}
    assert (first != second).any()


def test_inputs_that_do_not_fit_are_named() -> None:
    graph = capture(lambda x: x + 1, [InputSpec([None, 3], "float32", "features")])
    with pytest.raises(ValueError, match="features"):
        graph(paddle.ones([2, 4]))
    with pytest.raises(ValueError, match="features"):
        graph(paddle.ones([2, 3], "int64"))


def test_an_index_out_of_range_is_an_error_in_a_graph_too() -> None:
    table = paddle.randn([5, 2])
    graph = capture(lambda i: paddle.nn.functional.embedding(i, table), [InputSpec([None], "int64")])
    assert graph(paddle.to_tensor([0, 4])).shape == [2, 2]
    with pytest.raises(Exception, match="embedding"):
        graph(paddle.to_tensor([0, 5]))


def test_results_keep_their_structure() -> None:
    graph = capture(lambda x: {"a": [x + 1, 3], "b": (x, None)}, [InputSpec([2])])
    result = graph(paddle.ones([2]))
    assert result["a"][1] == 3
    assert result["b"][1] is None
    np.testing.assert_array_equal(result["a"][0].numpy(), [2, 2])
    np.testing.assert_array_equal(result["b"][0].numpy(), [1, 1])


def test_half_of_an_odd_size_is_rounded_as_the_code_does() -> None:
    graph = capture(lambda x: (x[::2], x[: x.shape[0] // 2]), [InputSpec([None])])
    assert [part.shape for part in graph(paddle.ones([4]))] == [[2], [2]]
    assert [part.shape for part in graph(paddle.ones([5]))] == [[3], [2]]


def test_other_sizes_stand_in_where_the_code_refuses_the_first() -> None:
    graph = capture(lambda x, y: x + y, [InputSpec([None, None]), InputSpec([None])])
    assert graph(paddle.ones([2, 3]), paddle.ones([3])).shape == [2, 3], "sizes at different axes that must be equal"
    divided = capture(lambda x: x.reshape([-1, -(-(x.shape[0] // 3) // 3)]), [InputSpec([None])])
    assert divided(paddle.ones([12])).shape == [6, 2]
    with pytest.raises(ValueError, match="broadcast"):
        capture(lambda x: x + paddle.ones([7]), [InputSpec([None, 3])])


def test_unknown_dimensions_of_two_inputs_are_two_sizes() -> None:
    specs = [InputSpec([None, 2]), InputSpec([None, 2])]
    x, y = paddle.ones([3, 2]), paddle.ones([5, 2])
    joined = capture(lambda x, y: paddle.matmul(x, y, transpose_y=True), specs)
    assert joined(x, y).shape == [3, 5]
    repeated = capture(lambda x, y: y.reshape([y.shape[0] * 2]) + x.sum(), specs)
    assert repeated(x, x).shape == [6]
    assert repeated(x, y).shape == [10]
    added = capture(lambda x, y: (x + y).reshape([(x + y).shape[0] * 2]), specs)
    assert added(x, x).shape == [6]
    assert added(paddle.ones([1, 2]), y).shape == [10], "one of them may be broadcast"
