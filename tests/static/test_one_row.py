"""Static programs of any batch, trained with batches that happen to hold one row: sizes may be 1, or be broadcast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import proa as paddle


@pytest.fixture(autouse=True)
def static_mode() -> Iterator[None]:
    paddle.enable_static()
    yield
    paddle.disable_static()


def trained(feeds: list[dict[str, np.ndarray]]) -> list[Any]:
    """Loss and weights after each step of `mean((x w - y)²)`, whose inputs have unknown batches of their own."""
    main, start = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, start):
        x = paddle.static.data("x", [None, 2], "float64")
        y = paddle.static.data("y", [None, 1], "float64")
        weight = paddle.static.create_parameter(
            [2, 1], "float64", default_initializer=paddle.nn.initializer.Constant(0.5)
        )
        loss = paddle.mean((paddle.matmul(x, weight) - y) ** 2)
        paddle.optimizer.SGD(0.1).minimize(loss)
    executor = paddle.static.Executor()
    executor.run(start)
    return [executor.run(main, feed=feed, fetch_list=[loss, weight]) for feed in feeds]


def expected(feeds: list[dict[str, np.ndarray]]) -> list[Any]:
    weight, found = np.full((2, 1), 0.5), []
    for feed in feeds:
        x, y = feed["x"], feed["y"]
        error = x @ weight - y
        slope = 2 * error / error.size
        if len(x) == 1:
            slope = slope.sum(0, keepdims=True)
        weight = weight - 0.1 * x.T @ slope
        found.append(((error**2).mean(), weight))
    return found


@pytest.mark.parametrize("rows", [((4, 4), (1, 1), (3, 3), (1, 1)), ((1, 1), (4, 4)), ((3, 3), (1, 5), (1, 1), (4, 4))])
def test_batches_of_one_row_and_rows_that_are_broadcast(rows: tuple[tuple[int, int], ...]) -> None:
    random = np.random.default_rng(0)
    feeds = [{"x": random.normal(size=(n, 2)), "y": random.normal(size=(m, 1))} for n, m in rows]
    for (loss, weight), (wanted, wanted_weight) in zip(trained(feeds), expected(feeds), strict=True):
        np.testing.assert_allclose(loss, wanted, rtol=1e-12)
        np.testing.assert_allclose(weight, wanted_weight, rtol=1e-12)
