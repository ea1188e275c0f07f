"""Loss scaling: the schedule, steps that are left out, saving, and that a new scale recompiles nothing."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa.amp.casting import AmpState
from proa.ir import report


@pytest.fixture(autouse=True)
def _in_float16(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if mixed precision were in float16, which a CPU does not have: a scaler is for nothing else."""
    monkeypatch.setattr(AmpState, "last_dtype", "float16")


class Setup:
    def __init__(self, **options) -> None:
        self.weight = paddle.create_parameter([2], "float32")
        self.weight.set_value(np.array([1.0, 2.0], np.float32))
        self.optimizer = paddle.optimizer.SGD(0.25, parameters=[self.weight])
        self.scaler = paddle.amp.GradScaler(**options)

    def step(self, factor: float = 1.0) -> bool:
        """One step with the given gradient; whether the weight has changed."""
        before = self.weight.numpy()
        self.scaler.scale((self.weight * factor).sum()).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.clear_grad()
        return not np.array_equal(before, self.weight.numpy())

    def state(self) -> tuple[float, int, int]:
        found = self.scaler.state_dict()
        return float(found["scale"][0]), found["incr_count"], found["decr_count"]


def test_the_scale_comes_out_of_the_gradients_again() -> None:
    setup = Setup(init_loss_scaling=1024.0)
    scaled = setup.scaler.scale((setup.weight * 3.0).sum())
    assert float(scaled) == 9.0 * 1024
    scaled.backward()
    np.testing.assert_array_equal(setup.weight.grad.numpy(), [3072.0, 3072.0])
    setup.scaler.unscale_(setup.optimizer)
    np.testing.assert_array_equal(setup.weight.grad.numpy(), [3.0, 3.0])
    setup.scaler.step(setup.optimizer)
    np.testing.assert_array_equal(setup.weight.numpy(), [0.25, 1.25])


def test_schedule_of_growth_and_decay() -> None:
    setup = Setup(init_loss_scaling=1024.0, incr_every_n_steps=2, decr_every_n_nan_or_inf=2)
    inf = float("inf")
    seen = []
    for factor in (1.0, 1.0, inf, inf, 1.0, inf, 1.0, 1.0, float("nan")):
        changed = setup.step(factor)
        assert changed == np.isfinite(factor)
        seen.append(setup.state())
    assert seen == [
        (1024.0, 1, 0), (2048.0, 0, 0),  # two good steps: doubled
        (2048.0, 0, 1), (1024.0, 0, 0),  # two bad ones: halved
        (1024.0, 1, 0), (1024.0, 0, 1), (1024.0, 1, 0), (2048.0, 0, 0), (2048.0, 0, 1),
    ]  # fmt: skip
    assert np.isfinite(setup.weight.numpy()).all()


def test_the_scale_never_falls_below_one() -> None:
    setup = Setup(init_loss_scaling=1.5)
    setup.step(float("inf"))
    setup.step(float("inf"))
    assert setup.state()[0] == 1.0


def test_the_scale_never_grows_out_of_float32() -> None:
    setup = Setup(init_loss_scaling=2.0**127, incr_every_n_steps=1)
    setup.step(1e-30)
    assert setup.state()[0] == 2.0**127


def test_a_fixed_scale_stays_and_still_skips() -> None:
    setup = Setup(init_loss_scaling=8.0, use_dynamic_loss_scaling=False)
    assert setup.step()
    assert not setup.step(float("nan"))
    assert setup.state() == (8.0, 0, 0)


def test_a_new_scale_recompiles_nothing() -> None:
    setup = Setup(init_loss_scaling=4.0, incr_every_n_steps=1)
    for _ in range(4):
        setup.step()
    compiles = report.STATISTICS.compiles
    for _ in range(5):
        setup.step()
    assert setup.state()[0] == 4.0 * 2**9
    assert report.STATISTICS.compiles == compiles


def test_half_gradients_are_unscaled_in_float32() -> None:
    weight = paddle.create_parameter([3], "float16")
    optimizer = paddle.optimizer.SGD(0.1, parameters=[weight], multi_precision=True)
    scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0)
    weight.set_value(np.zeros(3, np.float16))
    loss = (weight * 0.25).sum()
    assert scaler.scale(loss).dtype == paddle.float32  # a scale of 65536 is no float16
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    assert weight.grad.dtype == paddle.float16
    np.testing.assert_allclose(weight.grad.astype("float32").numpy(), 0.25)


def test_order_of_calls() -> None:
    setup = Setup()
    setup.scaler.scale(setup.weight.sum()).backward()
    setup.scaler.unscale_(setup.optimizer)
    with pytest.raises(RuntimeError, match="unscaled already"):
        setup.scaler.unscale_(setup.optimizer)
    setup.scaler.step(setup.optimizer)
    with pytest.raises(RuntimeError, match="called already"):
        setup.scaler.step(setup.optimizer)
    with pytest.raises(RuntimeError, match="step"):
        setup.scaler.unscale_(setup.optimizer)
    setup.scaler.update()
    setup.scaler.step(setup.optimizer)


def test_minimize_steps_and_updates() -> None:
    setup = Setup(init_loss_scaling=8.0, incr_every_n_steps=1)
    scaled = setup.scaler.scale(setup.weight.sum())
    scaled.backward()
    _, pairs = setup.scaler.minimize(setup.optimizer, scaled)
    np.testing.assert_array_equal(pairs[0][1].numpy(), [1.0, 1.0])
    np.testing.assert_array_equal(setup.weight.numpy(), [0.75, 1.75])
    assert setup.state()[0] == 16.0


def test_several_optimisers_share_a_scale() -> None:
    first, second = Setup(init_loss_scaling=8.0), Setup()
    scaler = first.scaler
    loss = first.weight.sum() + (second.weight * float("inf")).sum()
    scaler.scale(loss).backward()
    scaler.step(first.optimizer)
    scaler.step(second.optimizer)
    scaler.update()
    np.testing.assert_array_equal(first.weight.numpy(), [0.75, 1.75])
    np.testing.assert_array_equal(second.weight.numpy(), [1.0, 2.0])
    assert first.state()[0] == 4.0


def test_parameters_without_gradients() -> None:
    setup = Setup()
    setup.scaler.step(setup.optimizer)
    setup.scaler.update()
    assert setup.state()[1] == 1


def test_state_round_trip() -> None:
    setup, other = Setup(init_loss_scaling=64.0, incr_every_n_steps=3, incr_ratio=4.0), Setup()
    setup.step()
    state = setup.scaler.state_dict()
    assert set(state) == {
        "scale", "incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf", "incr_count",
        "decr_count", "use_dynamic_loss_scaling",
    }  # fmt: skip
    other.scaler.load_state_dict(state)
    for _ in range(2):
        setup.step()
        other.step()
    assert setup.state() == other.state() == (256.0, 0, 0)
    with pytest.raises(RuntimeError, match="empty"):
        other.scaler.load_state_dict({})
    with pytest.raises(KeyError, match="incr_ratio"):
        other.scaler.load_state_dict({"scale": np.ones(1)})


def test_settings() -> None:
    scaler = paddle.amp.GradScaler()
    assert (scaler.get_init_loss_scaling(), scaler.get_incr_every_n_steps()) == (65536.0, 2000)
    assert paddle.amp.AmpScaler().get_init_loss_scaling() == 32768.0
    scaler.set_init_loss_scaling(32)
    scaler.set_incr_ratio(3.0)
    scaler.set_decr_ratio(0.25)
    scaler.set_incr_every_n_steps(7)
    scaler.set_decr_every_n_nan_or_inf(5)
    assert scaler.get_incr_ratio() == 3.0
    assert scaler.get_decr_ratio() == 0.25
    assert scaler.get_incr_every_n_steps() == 7
    assert scaler.get_decr_every_n_nan_or_inf() == 5
    assert float(scaler._scale.numpy()[0]) == 32.0
    for options in ({"incr_ratio": 0.5}, {"decr_ratio": 2.0}, {"init_loss_scaling": 0.0}):
        with pytest.raises(ValueError, match="GradScaler"):
            paddle.amp.GradScaler(**options)
    with pytest.raises(TypeError, match="Tensor"):
        scaler.scale(3.0)
    with pytest.raises(TypeError, match="optimizer"):
        scaler.unscale_("x")


def test_a_scaler_that_is_off_does_nothing() -> None:
    setup = Setup(enable=False)
    loss = setup.weight.sum()
    assert setup.scaler.scale(loss) is loss
    assert setup.scaler.state_dict() == {}
    assert not setup.scaler.is_enable()
    assert not setup.scaler.is_use_dynamic_loss_scaling()
    setup.scaler.load_state_dict({})
    assert setup.step()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_only_float16_needs_dynamic_scaling(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AmpState, "last_dtype", dtype)
    setup = Setup()
    with pytest.warns(UserWarning, match=dtype):
        assert setup.step()
    assert not setup.scaler.is_enable()
    np.testing.assert_array_equal(setup.weight.numpy(), [0.75, 1.75])
