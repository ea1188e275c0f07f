"""Further forms of Paddle's static functions: arrays of tensors, setitem, None among gradients, plain numbers as feeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import static

X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]], "float32")


def run(build: Any, **feed: Any) -> list[Any]:
    paddle.enable_static()
    try:
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            fetches = build()
        executor = static.Executor()
        executor.run(startup)
        return executor.run(main, feed=feed, fetch_list=list(fetches))
    finally:
        paddle.disable_static()


def data(name: str = "x", shape: Any = (-1, 3)) -> Any:
    return static.data(name, list(shape), "float32")


def test_arrays_of_tensors_in_a_program() -> None:
    def build() -> Any:
        x, i = data(), paddle.zeros([1], "int64")
        array = paddle.tensor.create_array("float32")
        paddle.tensor.array_write(x, i, array)
        paddle.tensor.array_write(x * 2, i + 1, array)
        paddle.tensor.array_write(x * 3, i, array)
        return [
            paddle.tensor.array_read(array, i),
            paddle.tensor.array_read(array, 1),
            paddle.tensor.array_length(array),
        ]

    first, second, length = run(build, x=X)
    np.testing.assert_allclose(first, X * 3)
    np.testing.assert_allclose(second, X * 2)
    np.testing.assert_array_equal(length, [2])


def test_arrays_of_tensors_in_eager_code() -> None:
    array = paddle.tensor.array_write(paddle.ones([2]), paddle.to_tensor([0]))
    assert paddle.tensor.array_length(array) == 1
    assert paddle.tensor.array_read(array, paddle.to_tensor(0)).tolist() == [1.0, 1.0]
    assert paddle.tensor.create_array("float32", [paddle.ones([1])])[0].tolist() == [1.0]
    with pytest.raises(IndexError, match="1 tensors"):
        paddle.tensor.array_read(array, 1)
    with pytest.raises(IndexError, match="1 tensors"):
        paddle.tensor.array_write(paddle.ones([2]), 5, array)
    with pytest.raises(TypeError, match="integer"):
        paddle.tensor.array_read(array, 0.5)
    with pytest.raises(TypeError, match="Tensor"):
        paddle.tensor.create_array("float32", [1.0])


def test_a_position_that_is_fed_is_refused() -> None:
    def build() -> Any:
        array = paddle.tensor.create_array("float32", [data()])
        return [paddle.tensor.array_read(array, static.data("i", [1], "int64"))]

    with pytest.raises(ValueError, match="known when the program is built"):
        run(build, x=X, i=np.array([0]))


def test_setitem_gives_a_new_variable() -> None:
    def build() -> Any:
        x = data()
        return [static.setitem(x, 0, 5.0), x]

    changed, before = run(build, x=X)
    np.testing.assert_allclose(changed, [[5, 5, 5], [0, 3, 0]])
    np.testing.assert_allclose(before, X)


def test_none_stands_for_a_gradient_of_ones() -> None:
    def build() -> Any:
        x = data()
        x.stop_gradient = False
        return static.gradients([x * x, x * 2], [x], [None, paddle.full_like(x, 3.0)])

    (found,) = run(build, x=X)
    np.testing.assert_allclose(found, 2 * X + 6)


def test_gradients_that_are_no_tensors_are_refused() -> None:
    def build() -> Any:
        x = data()
        x.stop_gradient = False
        return static.gradients([x * x], [x], [3.0])

    with pytest.raises(TypeError, match="target_gradients"):
        run(build, x=X)


def test_a_global_variable_outside_of_static_mode_is_a_tensor() -> None:
    variable = static.create_global_var([1, 2], 2.0, "float32", persistable=True, name="plain_global")
    assert (variable.tolist(), variable.name, variable.persistable) == ([[2.0, 2.0]], "plain_global", True)


def test_a_plain_number_is_fed_to_one_element() -> None:
    assert run(lambda: [data(shape=(1,)) * 2], x=3.0)[0].item() == 6.0
    assert run(lambda: [data(shape=(-1, 1)) * 2], x=np.float32(3))[0].shape == (1, 1)
    with pytest.raises(ValueError, match="holds only for"):
        run(lambda: [data(shape=(2,)).sum()], x=3.0)


def test_sizes_that_are_one_and_numbers_of_elements() -> None:
    def build() -> Any:
        x = data()
        n = paddle.shape(x)[0]
        count = paddle.numel(x)
        return [paddle.expand(paddle.ones([1, 3]), [n, 3]) + x, count, count * 2 + x.sum().astype("int64")]

    for rows in (X, X[:1]):
        expanded, count, further = run(build, x=rows)
        np.testing.assert_allclose(expanded, rows + 1)
        assert (int(count), int(further)) == (rows.size, rows.size * 2 + int(rows.sum()))


def test_one_program_for_one_row_and_several() -> None:
    def build() -> Any:
        return [paddle.expand(paddle.ones([1, 3]), [paddle.shape(data())[0], 3])]

    paddle.enable_static()
    try:
        main = static.Program()
        with static.program_guard(main):
            fetches = build()
        for rows in (2, 1, 3):
            (found,) = static.Executor().run(main, feed={"x": np.zeros((rows, 3), "float32")}, fetch_list=fetches)
            assert found.shape == (rows, 3)
    finally:
        paddle.disable_static()
