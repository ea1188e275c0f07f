"""What is lost when an operation fails after its call, and what is not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import proa as paddle


@pytest.fixture(params=["cold", "compiled"])
def tier(request: pytest.FixtureRequest) -> Iterator[str]:
    before = paddle.get_flags("FLAGS_hot_threshold")
    paddle.set_flags({"FLAGS_hot_threshold": 2 if request.param == "compiled" else 1000})
    yield request.param
    paddle.set_flags(before)


def test_only_what_depends_on_a_failed_operation_is_lost(tier: str) -> None:
    for _ in range(4):
        source = paddle.ones([4])  # not read yet: all of this runs together
        good = source * 3
        bad = paddle.gather(source, paddle.to_tensor([8]) + 1)
        worse = bad * 2 + good.sum()
        with pytest.raises(IndexError, match="allowed: -4 to 3"):
            good.numpy()  # the first to look is told
        np.testing.assert_array_equal(good.numpy(), np.full(4, 3.0))
        np.testing.assert_array_equal(source.numpy(), np.ones(4))
        for lost in (bad, worse):
            with pytest.raises(IndexError, match="allowed: -4 to 3"):
                lost.numpy()
        np.testing.assert_array_equal((good + source).numpy(), np.full(4, 4.0))


def test_two_failures_in_one_run_cost_what_depends_on_them(tier: str) -> None:
    for _ in range(4):
        source = paddle.ones([4])
        first = paddle.gather(source, paddle.to_tensor([8]) + 1)
        second = paddle.gather(source, paddle.to_tensor([6]) + 1)
        with pytest.raises(IndexError):
            source.numpy()
        np.testing.assert_array_equal(source.numpy(), np.ones(4))
        for lost in (first, second):
            with pytest.raises(IndexError):
                lost.numpy()


def test_parameters_beside_a_failed_operation_stay(tier: str) -> None:
    layer = paddle.nn.Linear(3, 2)
    counted = layer.weight.numpy()
    for _ in range(4):
        predicted = layer(paddle.ones([1, 3]))
        wrong = paddle.gather(predicted, paddle.to_tensor([4]) + 1)
        with pytest.raises(IndexError):
            wrong.numpy()
        np.testing.assert_array_equal(layer.weight.numpy(), counted)
        np.testing.assert_allclose(predicted.numpy(), counted.sum(0, keepdims=True), rtol=1e-6)
