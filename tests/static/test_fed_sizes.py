"""Inputs of other sizes than `static.data` states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import static
from proa.nn import functional as F
from proa.optimizer import SGD


@pytest.fixture(autouse=True)
def _static_mode() -> Any:
    paddle.enable_static()
    yield
    paddle.disable_static()


def program_of(build: Callable[[], Any]) -> Callable[..., list[Any]]:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        fetches = list(build())
    executor = static.Executor()
    executor.run(startup)
    return lambda **feed: executor.run(main, feed=feed, fetch_list=fetches)


def x(shape: Any = (2, 3), name: str = "x", dtype: str = "float32") -> Any:
    return static.data(name, list(shape), dtype)


def counted(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + int(np.prod(shape)), dtype="float32").reshape(shape)


@pytest.mark.parametrize("shape", [(2, 3), (4, 3), (1, 3), (4, 5), (0, 3)])
def test_sizes_are_those_that_are_fed(shape: tuple[int, int]) -> None:
    def build() -> Any:
        data = x()
        assert data.shape == (data * 2).shape == [2, 3]
        return data * 2, data.sum(axis=1), paddle.flatten(data), F.softmax(data), paddle.shape(data), data.T

    array = counted(*shape)
    exp = np.exp(array - array.max(1, keepdims=True))
    expected = (array * 2, array.sum(1), array.ravel(), exp / exp.sum(1, keepdims=True), shape, array.T)
    for found, wanted in zip(program_of(build)(x=array), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_means_and_gradients_count_what_is_fed() -> None:
    def build() -> Any:
        data = x()
        data.stop_gradient = False
        loss = (data * data).mean()
        return loss, static.gradients(loss, data)[0]

    run = program_of(build)
    for array in (counted(2, 3), counted(4, 3), counted(1, 7)):
        loss, gradient = run(x=array)
        assert loss == pytest.approx(np.mean(array**2))
        np.testing.assert_allclose(gradient, 2 * array / array.size, rtol=1e-6)


def test_the_last_batch_of_an_epoch_is_smaller() -> None:
    def build() -> Any:
        data, label = x((4, 3)), x((4, 1), "label", "int64")
        zeros = paddle.nn.initializer.Constant(0.0)
        logits = static.nn.fc(data, 2, weight_attr=paddle.ParamAttr(name="w", initializer=zeros), bias_attr=False)
        loss = F.cross_entropy(logits, label)
        SGD(0.5).minimize(loss)
        return [loss]

    run, weight = program_of(build), np.zeros((3, 2))
    for rows in (4, 2, 4, 1):
        array, label = counted(rows, 3) / 10, np.arange(rows).reshape(-1, 1) % 2
        logits = array @ weight
        chances = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        picked = chances[np.arange(rows), label[:, 0]]
        assert run(x=array, label=label)[0] == pytest.approx(-np.log(picked).mean(), rel=1e-5)
        weight -= 0.5 * array.T @ (chances - np.eye(2)[label[:, 0]]) / rows


def test_what_was_computed_from_a_shape_stays() -> None:
    def build() -> Any:
        data = x()
        rows, columns = data.shape
        return paddle.zeros([rows, 2]), paddle.reshape(data, [rows * columns]), data / columns

    run = program_of(build)
    array = counted(3, 2)
    for found, wanted in zip(run(x=array), (np.zeros((2, 2)), array.ravel(), array / 3), strict=True):
        np.testing.assert_allclose(found, wanted)
    with pytest.raises(
        ValueError, match=r"holds only for the input x: float32\[2, 3\]; received x: float32\[4, 3\]"
    ) as caught:
        run(x=counted(4, 3))
    assert "it takes x.shape[0] * x.shape[1] == 6" in str(caught.value)


def test_images_conditions_and_loops() -> None:
    def build() -> Any:
        data = x((2, 1, 4, 4))
        pooled = F.max_pool2d(data, 2)
        chosen = static.nn.cond(data.sum() > 10, lambda: data * 2, lambda: data - 1)
        _, summed = static.nn.while_loop(
            lambda i, total: i < 3, lambda i, total: [i + 1, total + data], [paddle.zeros([], "int64"), data]
        )
        return pooled, chosen, summed

    run = program_of(build)
    for array in (counted(2, 1, 4, 4), counted(3, 1, 6, 4)):
        rows, _, height, width = array.shape
        pooled = array.reshape(rows, 1, height // 2, 2, width // 2, 2).max((3, 5))
        for found, wanted in zip(run(x=array), (pooled, array * 2, array * 4), strict=True):
            np.testing.assert_allclose(found, wanted)


def test_a_loop_variable_takes_the_sizes_of_another_input_that_states_the_same() -> None:
    def build() -> Any:
        start, given = x(), x(name="given")
        _, last = static.nn.while_loop(
            lambda i, value: i < 2, lambda i, value: [i + 1, given * 2 + value], [paddle.zeros([], "int64"), start]
        )
        _, other = static.nn.while_loop(
            lambda i, value: i < 2, lambda i, value: [i + 1, given * 2], [paddle.zeros([], "int64"), start]
        )
        assert last.shape == other.shape == [2, 3]
        return last, other.reshape([6])

    run = program_of(build)
    found = run(x=counted(2, 3), given=counted(2, 3))
    np.testing.assert_allclose(found[0], counted(2, 3) * 5)
    np.testing.assert_allclose(found[1], counted(6) * 2)
    with pytest.raises(ValueError, match="given"):
        run(x=counted(2, 3), given=counted(4, 3))


def test_other_numbers_of_dimensions_where_everything_is_elementwise() -> None:
    run = program_of(lambda: [F.relu(x() - 3) * 2])
    for array in (counted(6), counted(2, 2, 3), np.float32(5).reshape(())):
        np.testing.assert_allclose(run(x=array)[0], np.maximum(array - 3, 0) * 2)
    run = program_of(lambda: [x((-1, 3)) * 2])
    for array in (counted(6), counted(4, 2)):
        np.testing.assert_allclose(run(x=array)[0], array * 2)
    with pytest.raises(
        ValueError, match=r"holds only for the input x: float32\[2, 3\]; received x: float32\[6\]"
    ) as caught:
        program_of(lambda: [x().sum()])(x=counted(6))
    assert "sum takes float32[6]" in str(caught.value)


def test_sizes_that_break_the_program_are_refused() -> None:
    run = program_of(lambda: [x() + x((2, 3), "y"), static.nn.fc(x(), 4)])
    assert run(x=counted(4, 3), y=counted(4, 3))[0].shape == (4, 3)
    assert run(x=counted(4, 3), y=counted(1, 3))[0].shape == (4, 3)
    for feed in ({"x": counted(4, 3), "y": counted(2, 3)}, {"x": counted(2, 2), "y": counted(2, 2)}):
        with pytest.raises(ValueError, match=r"holds only for the input x: float32\[2, 3\]"):
            run(**feed)
    for dtype in ("float64", "int64"):
        with pytest.raises(ValueError, match="another data type"):
            run(x=counted(2, 3).astype(dtype), y=counted(2, 3))


def test_squeezing_holds_for_what_was_squeezed() -> None:
    run = program_of(lambda: [paddle.squeeze(x((1, 3)))])
    np.testing.assert_array_equal(run(x=counted(1, 4))[0], counted(4))
    with pytest.raises(ValueError, match="holds only for"):
        run(x=counted(2, 3))


def test_values_that_decide_shapes_beside_other_sizes() -> None:
    run = program_of(lambda: [paddle.nonzero(x()), x()[x() > 2]])
    for array in (counted(2, 3), counted(5, 3)):
        for found, wanted in zip(run(x=array), (np.argwhere(array), array[array > 2]), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_files_have_the_stated_sizes(tmp_path: Any) -> None:
    main = static.Program()
    with static.program_guard(main):
        data, free = x(), x((-1, 2), "free")
        out = paddle.concat([paddle.reshape(data, [-1, 2]).mean(axis=1), free.sum(axis=1)])
        assert out.shape == [-1]
    executor = static.Executor()
    for legacy in (False, True):
        path = str(tmp_path / f"model{legacy}")
        static.save_inference_model(path, [data, free], [out], executor, program=main, legacy_format=legacy)
        program, names, fetches = static.load_inference_model(path, executor)
        assert [list(program.data[name].shape) for name in names] == [[2, 3], [-1, 2]]
        feed = {"x": counted(2, 3), "free": counted(3, 2)}
        (found,) = executor.run(program, feed=feed, fetch_list=fetches)
        np.testing.assert_allclose(found, [1.5, 3.5, 5.5, 3, 7, 11])
