"""Tier 0 on a real GPU: order of work, memory and donation between CuPy and XLA."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.core.place import make_place
from proa.ir.report import STATISTICS
from proa.ir.tiers import cupy_tier

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(importlib.util.find_spec("cupy") is None, reason="CuPy is not installed"),
]


@pytest.fixture(autouse=True)
def on_gpu() -> Iterator[None]:
    before, flags = paddle.get_device(), paddle.get_flags("FLAGS_hot_threshold")
    paddle.set_device("gpu")
    paddle.set_flags({"FLAGS_hot_threshold": 0})
    yield
    paddle.set_device(before)
    paddle.set_flags(flags)


def train(device: str, steps: int) -> list[float]:
    paddle.set_device(device)
    paddle.seed(1)
    nn = paddle.nn
    net = nn.Sequential(nn.Linear(8, 32), nn.LayerNorm(32), nn.GELU(), nn.Dropout(0.3), nn.Linear(32, 5))
    optimizer = paddle.optimizer.AdamW(0.01, parameters=net.parameters())
    random = np.random.default_rng(0)
    losses = []
    for _ in range(steps):
        x = paddle.to_tensor(random.normal(size=(16, 8)).astype("float32"))
        loss = nn.functional.cross_entropy(net(x), paddle.to_tensor(random.integers(0, 5, 16)))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return losses


def test_training_is_the_same_as_on_a_cpu_and_compiles_nothing() -> None:
    expected = train("cpu", 20)
    before = STATISTICS.compiles
    np.testing.assert_allclose(train("gpu", 20), expected, rtol=2e-4)
    assert STATISTICS.compiles == before


def test_training_goes_on_when_it_is_compiled() -> None:
    """Parameters and moments that CuPy has made are taken over by a program that writes over them."""
    paddle.set_flags({"FLAGS_hot_threshold": 0})
    expected = train("cpu", 60)
    paddle.set_flags({"FLAGS_hot_threshold": 10})
    before = STATISTICS.compiles
    found = train("gpu", 60)
    assert STATISTICS.compiles > before
    np.testing.assert_allclose(found, expected, rtol=2e-3)


def test_new_lengths_compile_nothing() -> None:
    weight = paddle.ones([64, 64]) / 64
    before = STATISTICS.compiles
    for length in range(1, 60):
        x = paddle.full([length, 64], 2.0)
        np.testing.assert_allclose(float((paddle.nn.functional.softmax(x @ weight, -1) * 64).mean()), 1.0, rtol=1e-5)
    assert STATISTICS.compiles == before


def test_the_order_of_work_holds() -> None:
    """Compiled and cold work take turns on the same values, nobody waits, and memory is let go of at once."""
    paddle.set_flags({"FLAGS_hot_threshold": 3})
    x = paddle.zeros([1024, 1024])

    def hot(x: Any) -> Any:
        for _ in range(6):
            x = x * 0.5 + x * 0.5
        x._data()
        return x

    for _ in range(4):
        hot(x)
    for trial in range(300):
        y = hot(x + float(trial))
        paddle.set_flags({"FLAGS_hot_threshold": 0})
        z = (y.reshape([-1])[: 1000 + trial] * 2.0).sum()
        del y
        paddle.set_flags({"FLAGS_hot_threshold": 3})
        hot(x - 7.0)  # may get the memory that was let go of
        assert float(z) == 2.0 * trial * (1000 + trial)


def test_more_memory_than_the_pool_has() -> None:
    device = cupy_tier._device(make_place("gpu", 0))
    assert device is not None
    before = device.pool.get_limit()
    device.pool.set_limit(size=64 << 20)
    device.give_back()  # all but a reserve, which is an eighth of the limit at most
    try:
        kept = [paddle.full([4 << 20], float(number)) + 1.0 for number in range(12)]
        for number, tensor in enumerate(kept):
            assert float(tensor.sum()) == pytest.approx((number + 1.0) * (4 << 20), rel=1e-6)
        assert device.pool.total_bytes() <= 64 << 20
    finally:
        device.pool.set_limit(size=before)


def test_what_cupy_cannot_do_is_done_by_xla() -> None:
    x = paddle.to_tensor(np.array([3.0, 1.0, 4.0, 1.0, 5.0], "float32"))
    running, _ = paddle.cummax(x * 2.0)
    np.testing.assert_array_equal((running + 1.0).numpy(), [7, 7, 9, 9, 11])
    assert any(operation.name == "cumulative_extreme" for operation, _ in cupy_tier.REFUSED)


def test_a_bad_index_is_named() -> None:
    table = paddle.ones([5, 2])
    with pytest.raises((IndexError, ValueError), match="out of range"):
        paddle.nn.functional.embedding(paddle.to_tensor([1, 2]) + 9, table).numpy()


def test_floats_of_8_bits() -> None:
    x = paddle.to_tensor(np.array([1.0, 2.5], "float32"))
    np.testing.assert_array_equal(x.astype("float8_e4m3fn").astype("float32").numpy(), [1.0, 2.5])


def test_a_users_array_may_change_at_once() -> None:
    data = np.ones((512, 1024), "float32")
    for number in range(50):
        data[:] = number
        x = paddle.to_tensor(data)
        data[:] = -1
        assert float(x.mean()) == number
