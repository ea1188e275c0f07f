"""Long loops compiled by the round: same numbers, few executables, scalars and checks in their places."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa.ir import report, tiling
from proa.ir.tiling import find_tiles


def recurrent(
    weight: paddle.Tensor, state: paddle.Tensor, rounds: int, rate: float
) -> tuple[paddle.Tensor, paddle.Tensor]:
    for number in range(rounds):
        state = paddle.tanh(paddle.matmul(state, weight) * rate + 0.01 * number)
    loss = (state * state).mean()
    loss.backward()
    grad = weight.grad
    weight.clear_gradient(False)
    return loss, grad


@pytest.mark.parametrize("rounds", [300, 331])
def test_a_long_loop_gives_the_numbers_of_immediate_mode(rounds: int) -> None:
    random = np.random.default_rng(rounds)
    weight = paddle.to_tensor(random.normal(size=(4, 4)).astype("float32"), stop_gradient=False)
    start = paddle.to_tensor(random.normal(size=(2, 4)).astype("float32"))
    for rate in (0.5, 0.4, 0.3, 0.2, 0.1):
        loss, grad = recurrent(weight, start, rounds, rate)
        values = loss.item(), grad.numpy()
        with paddle.jit.eager_mode("immediate"):
            expected_loss, expected_grad = recurrent(weight, start, rounds, rate)
        assert values[0] == pytest.approx(expected_loss.item(), rel=1e-5)
        np.testing.assert_allclose(values[1], expected_grad.numpy(), rtol=1e-4, atol=1e-6)
    longest = max(report.PROGRAMS.values(), key=lambda record: record.num_instructions)
    assert longest.num_instructions >= tiling.MINIMUM_LENGTH
    assert longest.tiles > 4
    assert longest.seconds < 60


def test_equal_tiles_share_an_executable() -> None:
    x = paddle.to_tensor(np.ones(3, "float32"))
    for _ in range(4):
        y = x
        for number in range(800):
            y = y * 0.999 + 0.001 * number
        y.numpy()
    ending = next(e for e, r in report.PROGRAMS.items() if r.num_instructions == 1600)
    executables = {id(tile.executable) for tile in ending.compiled.tiles}
    assert len(ending.compiled.tiles) >= 6
    assert len(executables) <= 3


def test_programs_without_repetition_stay_whole() -> None:
    x = paddle.to_tensor(np.ones(3, "float32"))
    y = x
    for number in range(60):
        y = (y + 1.0).reshape([3, 1]) if number % 7 == 0 else (y * 2.0).reshape([3])
    segment = y._segment
    instructions = segment.node.program(()).instructions
    y.numpy()
    assert find_tiles(instructions[:10]) is None
