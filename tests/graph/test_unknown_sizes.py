"""Functions of unknown sizes: rounded parts, sizes that must be divisible, large literals, `paddle.shape` as a size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.formats.proa import load_graph, save_graph
from proa.graph import capture
from proa.ir.sizes.dimensions import UnknownSize
from proa.nn import functional as F
from proa.static import InputSpec

SHAPES = [(1, 1, 8, 8), (2, 1, 9, 7), (1, 1, 13, 10)]


def picture(shape: tuple[int, ...]) -> Any:
    return paddle.to_tensor(np.random.default_rng(sum(shape)).standard_normal(shape).astype("float32"))


def rows_one_by_one(x: Any) -> Any:
    total = paddle.zeros([x.shape[0], 1, x.shape[3]])
    for i in range(x.shape[2]):
        total = total + x[:, :, i] * i
    return total


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "rounded down": lambda x: x[:, :, : x.shape[2] // 2],
    "rounded up": lambda x: x[:, :, : -(-x.shape[2] // 2)],
    "scaled by a half": lambda x: F.interpolate(x, scale_factor=0.5),
    "scaled by 1.7": lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"),
    "halved and resized": lambda x: F.interpolate(F.avg_pool2d(x, 2, 2), size=x.shape[2:], mode="bilinear") + x,
    "halved and doubled": lambda x: F.conv2d_transpose(F.max_pool2d(x, 2, 2), paddle.ones([1, 1, 2, 2]), stride=2),
    "padded to stay the same": lambda x: F.conv2d(x, paddle.ones([1, 1, 3, 3]), stride=2, padding="SAME"),
    "pooled, rounded up": lambda x: F.max_pool2d(x, 2, 2, ceil_mode=True),
    "pooled to a size": lambda x: F.adaptive_avg_pool2d(x, [2, 3]),
    "divided by a size": lambda x: x.sum() / (x.shape[2] * 0.37),
    "a large literal": lambda x: x.sum() + paddle.arange(60_001).astype("float32").mean(),
    "paddle.shape": lambda x: x.reshape([paddle.shape(x)[0], 1, paddle.shape(x)[2] * paddle.shape(x)[3]]),
    "paddle.shape, all of it": lambda x: paddle.zeros(paddle.shape(x)) + x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_to_static_agrees_with_eager_code_for_every_size(name: str) -> None:
    function = FUNCTIONS[name]
    static = paddle.jit.to_static(function, input_spec=[InputSpec([None, 1, None, None])], full_graph=True)
    with paddle.no_grad():
        for shape in SHAPES:
            found, wanted = static(picture(shape)).numpy(), function(picture(shape)).numpy()
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, 1e-5, 1e-5)


def test_a_loop_over_an_unknown_dimension_is_a_loop_of_the_graph() -> None:
    static = paddle.jit.to_static(rows_one_by_one, input_spec=[InputSpec([None, 1, None, None])], full_graph=True)
    with paddle.no_grad():
        for shape in SHAPES:
            np.testing.assert_allclose(
                static(picture(shape)).numpy(), rows_one_by_one(picture(shape)).numpy(), 1e-4, 1e-4
            )
    assert any(i.operation.name == "while_loop" for i in static.concrete_program.graph.program.instructions)


def test_a_graph_refuses_sizes_that_it_was_not_captured_for() -> None:
    graph = capture(lambda x: x + 1 if x.shape[2] % 2 == 0 else x - 1, [InputSpec([None, 1, None, None])])
    assert float(graph(picture((3, 1, 8, 6)) * 0).max()) == 1
    with pytest.raises(UnknownSize, match=r"(?s)x0.shape\[2\].* % .*test_unknown_sizes.py.*x0.shape\[2\] = 9"):
        graph(picture((1, 1, 9, 8)))


@pytest.mark.parametrize("name", ["rounded down", "rounded up", "a large literal", "scaled by a half"])
def test_what_was_learnt_is_saved(name: str, tmp_path: Path) -> None:
    save_graph(capture(FUNCTIONS[name], [InputSpec([None, 1, None, None])]), tmp_path / "model.proa")
    graph = load_graph(tmp_path / "model.proa")
    for shape in SHAPES:
        np.testing.assert_allclose(graph(picture(shape)).numpy(), FUNCTIONS[name](picture(shape)).numpy(), 1e-5, 1e-5)


def test_saved_graphs_refuse_the_same_sizes(tmp_path: Path) -> None:
    graph = capture(lambda x: x + 1 if x.shape[2] % 2 == 0 else x - 1, [InputSpec([None, 1, None, None])])
    save_graph(graph, tmp_path / "model.proa")
    loaded = load_graph(tmp_path / "model.proa")
    assert loaded(picture((1, 1, 8, 9))).shape == [1, 1, 8, 9]
    with pytest.raises(UnknownSize, match=r"test_unknown_sizes\.py"):
        loaded(picture((1, 1, 9, 8)))


def test_what_asks_for_a_size_in_code_that_is_not_converted_is_not_written_as_operations_of_paddle(
    tmp_path: Path,
) -> None:
    @paddle.jit.not_to_static
    def larger(size: int) -> bool:
        return size > 8

    def function(x: Any) -> Any:
        return x + 1 if larger(x.shape[0]) else x - 1

    with pytest.raises(NotImplementedError, match=r"(?s)asks whether x.shape\[0\] > 8 .*test_unknown_sizes.py"):
        paddle.jit.save(paddle.jit.to_static(function), str(tmp_path / "model"), [InputSpec([None, 2], name="x")])


def test_padding_that_depends_on_a_size_follows_it() -> None:
    function = FUNCTIONS["padded to stay the same"]
    graph = capture(function, [InputSpec([None, 1, None, None])])
    for shape in SHAPES:
        np.testing.assert_allclose(graph(picture(shape)).numpy(), function(picture(shape)).numpy(), 1e-5, 1e-5)


def test_a_body_is_captured_once_for_sizes_that_answer_alike() -> None:
    runs: list[int] = []

    def function(x: Any) -> Any:
        runs.append(1)
        a, b, c = x.shape
        return x.reshape([a * b, c]) * (2.0 / c) if b > 4 else x.reshape([a, b * c]) / b

    static = paddle.jit.to_static(function, input_spec=[InputSpec([None, None, None])], full_graph=True)
    wanted = [1, 1, 2, 2, 2]
    for shape, captures in zip([(2, 3, 4), (5, 2, 7), (2, 5, 4), (1, 9, 3), (3, 4, 1)], wanted, strict=True):
        x = paddle.randn(list(shape))
        found = static(x)
        assert len(runs) == captures
        np.testing.assert_allclose(found.numpy(), function(x).numpy(), 1e-5, 1e-6)
        runs.pop()


def test_literals_of_every_size_stay_literals() -> None:
    @paddle.jit.to_static(input_spec=[InputSpec([None, None]), InputSpec([None, None])])
    def shorter(source: Any, target: Any) -> Any:
        return target[:, : target.shape[1] - 1] + source.sum() * 0

    assert shorter(paddle.ones([2, 3]), paddle.ones([2, 5])).shape == [2, 4]

    @paddle.jit.to_static(input_spec=[InputSpec([None, 2])])
    def scaled(x: Any) -> Any:
        return x * (1 / 73680) * 73680 + paddle.full([6720], 1.0).sum() - 6720

    np.testing.assert_allclose(scaled(paddle.ones([28, 2])).numpy(), 1, 1e-6)
    np.testing.assert_allclose(scaled(paddle.ones([2, 2])).numpy(), 1, 1e-6)


def test_literals_of_every_size_stay_literals_in_static_programs() -> None:
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            x = paddle.static.data("x", [None, 2])
            fetched = [
                paddle.full([73680], 1.0) + x.sum(),
                paddle.arange(100_000),
                paddle.full([x.shape[0], 6720], 2.0),
            ]
            found = paddle.static.Executor().run(feed={"x": np.ones((2, 2), "float32")}, fetch_list=fetched)
    finally:
        paddle.disable_static()
    assert [array.shape for array in found] == [(73680,), (100_000,), (2, 6720)]


@pytest.mark.parametrize(
    ("build", "wanted"),
    [
        (lambda x: paddle.full([x.shape[0], 2], 7.0), np.full((2, 2), 7.0)),
        (lambda x: paddle.full([paddle.shape(x)[0], 2], 7.0), np.full((2, 2), 7.0)),
        (lambda x: paddle.arange(paddle.shape(x)[2]), np.arange(5)),
        (lambda x: paddle.shape(x), np.array([2, 3, 5])),
        (lambda x: paddle.shape(x)[1:] * 2, np.array([6, 10])),
        (lambda x: paddle.expand(paddle.ones([1, 3]), [paddle.shape(x)[0], 3]), np.ones((2, 3))),
    ],
)
def test_sizes_of_an_input_that_is_not_used_otherwise(build: Any, wanted: np.ndarray) -> None:
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            result = build(paddle.static.data("x", [None, 3, None]))
            feed = {"x": np.zeros((2, 3, 5), "float32")}
            (found,) = paddle.static.Executor().run(feed=feed, fetch_list=[result])
        np.testing.assert_array_equal(found, wanted)
    finally:
        paddle.disable_static()
