"""Long loops compiled by the round: same numbers, few kept, scalars and checks in their places."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa.ir import report
from proa.ir.recorder import LOCAL, Segment, flush_current
from proa.ir.tiers import kept
from proa.ir.trace import forget_traces
from proa.ir.transforms import tiling
from proa.ir.transforms.tiling import find_rounds


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
    longest = max(kept.PROGRAMS.values(), key=lambda record: record.num_instructions)
    assert longest.num_instructions > 1500
    assert longest.tiles > 4
    assert longest.seconds < 60


def test_equal_tiles_share_an_executable() -> None:
    x = paddle.to_tensor(np.ones(3, "float32"))
    for _ in range(4):
        y = x
        for number in range(800):
            y = y * 0.999 + 0.001 * number
        y.numpy()
    entry = next(e for e, r in kept.PROGRAMS.items() if r.num_instructions == 1600)
    shared = {id(tile.executable) for tile in entry.compiled.tiles}
    assert len(entry.compiled.tiles) >= 6
    assert len(shared) <= 3


def test_programs_without_repetition_stay_whole() -> None:
    x = paddle.to_tensor(np.ones(3, "float32"))
    y = x
    for number in range(60):
        y = (y + 1.0).reshape([3, 1]) if number % 7 == 0 else (y * 2.0).reshape([3])
    segment = y._segment
    instructions = segment.node.program(()).instructions
    y.numpy()
    assert find_rounds(instructions) is None


@pytest.fixture
def weight() -> paddle.Tensor:
    flush_current()
    forget_traces()
    LOCAL.segment = Segment(LOCAL.place, LOCAL.lock)  # the open one still stands on the old tree
    values = np.random.default_rng(5).normal(size=(40, 40)) / 8
    return paddle.to_tensor(values.astype("float32"), stop_gradient=False)


def steps(weight: paddle.Tensor, rounds: int = 300) -> paddle.Tensor:
    """Work of which an instruction makes some hundred elements: light, yet worth starting early."""
    state = paddle.ones([16, 40])
    for number in range(rounds):
        state = paddle.tanh(paddle.matmul(state, weight) * 0.5 + 0.001 * number)
    return state


def launched() -> int:
    begun = LOCAL.segment.begun
    return 0 if begun is None else begun.launched


def immediately(function, *arguments):
    with paddle.jit.eager_mode("immediate"):
        return function(*arguments).numpy()


def make_hot(function, *arguments) -> None:
    for _ in range(5):
        function(*arguments).numpy()


def test_tiles_start_while_the_rest_is_recorded(weight: paddle.Tensor) -> None:
    make_hot(steps, weight)
    result = steps(weight)
    assert launched() >= 1
    np.testing.assert_allclose(result.numpy(), immediately(steps, weight), rtol=1e-5, atol=1e-7)
    assert launched() == 0


def test_another_turn_after_the_start_gives_its_own_numbers(weight: paddle.Tensor) -> None:
    make_hot(steps, weight)

    def other(weight: paddle.Tensor, factor: float) -> paddle.Tensor:
        return steps(weight, 200) * factor + paddle.exp(steps(weight, 3))

    for factor in (1.0, 2.0, 3.0):
        result = other(weight, factor)
        assert launched() >= 1
        np.testing.assert_allclose(result.numpy(), immediately(other, weight, factor), rtol=1e-5, atol=1e-7)


def test_starting_in_vain_is_given_up(weight: paddle.Tensor) -> None:
    make_hot(steps, weight)
    started = []
    for number in range(tiling._MOST_FORGOTTEN + 6):
        result = paddle.exp(steps(weight, 100)) + float(number)
        started.append(launched())
        result.numpy()
    assert started[0] >= 1
    assert started[-1] == 0
    np.testing.assert_allclose(steps(weight).numpy(), immediately(steps, weight), rtol=1e-5, atol=1e-7)


def test_other_inner_values_than_last_time_are_kept(weight: paddle.Tensor) -> None:
    make_hot(steps, weight)

    def with_history(weight: paddle.Tensor) -> tuple[list[paddle.Tensor], paddle.Tensor]:
        state, history = paddle.ones([16, 40]), []
        for number in range(300):
            state = paddle.tanh(paddle.matmul(state, weight) * 0.5 + 0.001 * number)
            history.append(state)
        return history, state

    history, _ = with_history(weight)
    assert launched() >= 1
    with paddle.jit.eager_mode("immediate"):
        expected, _ = with_history(weight)
    for one, other in zip(history, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5, atol=1e-7)


def test_a_scalar_that_changes_reaches_tiles_that_start_early(weight: paddle.Tensor) -> None:
    def scaled(weight: paddle.Tensor, factor: float) -> paddle.Tensor:
        state = paddle.ones([16, 40])
        for _ in range(300):
            state = paddle.tanh(paddle.matmul(state, weight) * factor)
        return state

    make_hot(scaled, weight, 0.5)
    compiles = report.STATISTICS.compiles
    for factor in (0.1, 0.9):
        result = scaled(weight, factor)
        assert launched() >= 1
        np.testing.assert_allclose(result.numpy(), immediately(scaled, weight, factor), rtol=1e-5, atol=1e-7)
    assert report.STATISTICS.compiles == compiles


def test_an_inplace_change_of_an_input_after_the_start(weight: paddle.Tensor) -> None:
    make_hot(steps, weight)
    expected = immediately(steps, weight)
    result = steps(weight)
    assert launched() >= 1
    with paddle.no_grad():
        weight.zero_()
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5, atol=1e-7)


def test_nan_in_a_tile_that_started_early_names_its_line(weight: paddle.Tensor) -> None:
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        make_hot(steps, weight)
        bad = paddle.to_tensor(np.full((40, 40), np.nan, "float32"))
        with pytest.raises(RuntimeError, match="matmul"):
            steps(bad).numpy()
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})


def test_a_long_step_writes_its_parameters_in_place() -> None:
    """The update is in the last tile, and what it replaces is not there twice."""
    weight = paddle.create_parameter([64, 64], "float32")
    optimizer = paddle.optimizer.Adam(1e-3, parameters=[weight])
    start = paddle.to_tensor(np.full((4, 64), 0.1, "float32"))

    def step() -> paddle.Tensor:
        state = start
        for number in range(300):
            state = paddle.tanh(paddle.matmul(state, weight) * 0.5 + 0.01 * number)
        loss = (state * state).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    losses = [float(loss) for loss in [step() for _ in range(6)]]
    assert np.isfinite(losses).all()
    assert losses[-1] < losses[0]
    records = [r for r in kept.PROGRAMS.values() if r.program.instructions[-1].operation.name == "adam_update"]
    record = max(records, key=lambda record: record.num_instructions)
    assert record.tiles > 4
    assert record.donated >= 3  # the parameter and both moments
    held = weight._data()
    before = np.array(held)
    step()
    assert not np.array_equal(weight.numpy(), before)
    np.testing.assert_array_equal(np.asarray(held), before)  # somebody refers to it: a copy was written over


def test_heavy_work_on_an_accelerator_stays_whole() -> None:
    from proa.core.place import CPU, make_place
    from proa.ir.program import Program

    x = paddle.to_tensor(np.ones((2, 3), "float32"))
    y = x
    for number in range(800):
        y = y * 0.999 + 0.001 * number
    program = y._segment.node.program((y._index,))
    assert tiling.find_tiles(program, make_place("gpu", 0)) is not None
    assert tiling.find_tiles(program, CPU) is not None

    class Heavy(Program):
        mean_size = float(1 << 20)

    heavy = Heavy(program.inputs, program.instructions, program.outputs)
    assert tiling.find_tiles(heavy, make_place("gpu", 0)) is None
    y.numpy()
