"""Learning-rate schedules against numbers that Paddle 3.3.1 printed, and their state."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle

lr = paddle.optimizer.lr

OBSERVED = [
    (lambda: lr.StepDecay(0.5, 3, 0.1), [0.5, 0.5, 0.5, 0.05, 0.05, 0.05, 0.005, 0.005]),
    (lambda: lr.MultiStepDecay(0.5, [2, 5], 0.1), [0.5, 0.5, 0.05, 0.05, 0.05, 0.005, 0.005]),
    (lambda: lr.ExponentialDecay(0.5, 0.9), [0.5, 0.45, 0.405, 0.3645, 0.32805, 0.295245]),
    (
        lambda: lr.CosineAnnealingDecay(0.5, 5, 0.01),
        [0.5, 0.45320916, 0.33070916, 0.17929084, 0.05679084, 0.01, 0.05679084, 0.17929084,
         0.33070916, 0.45320916, 0.5, 0.45320916],
    ),
    (lambda: lr.LinearWarmup(0.5, 4, 0.0, 0.5), [0.0, 0.125, 0.25, 0.375, 0.5, 0.5]),
    (
        lambda: lr.LinearWarmup(lr.StepDecay(0.5, 2), 3, 0.1, 0.4),
        [0.1, 0.2, 0.3, 0.5, 0.5, 0.05, 0.05, 0.005],
    ),
    (
        lambda: lr.NoamDecay(64, 4, 1.0),
        [0.0, 0.015625, 0.03125, 0.046875, 0.0625, 0.0559017, 0.05103104, 0.04724556],
    ),
    (lambda: lr.PolynomialDecay(0.5, 5), [0.5, 0.40002, 0.30004, 0.20006, 0.10008, 0.0001, 0.0001]),
    (
        lambda: lr.PolynomialDecay(0.5, 3, cycle=True, power=2.0),
        [0.5, 0.22227778, 0.05564444, 0.0001, 0.05564444, 0.01398611, 0.0001, 0.02478642],
    ),
    (lambda: lr.PiecewiseDecay([2, 4], [0.1, 0.2, 0.3]), [0.1, 0.1, 0.2, 0.2, 0.3, 0.3]),
    (lambda: lr.InverseTimeDecay(0.5, 0.1), [0.5, 0.45454545, 0.41666667, 0.38461538]),
    (lambda: lr.NaturalExpDecay(0.5, 0.1), [0.5, 0.45241871, 0.40936538, 0.37040911]),
    (lambda: lr.LambdaDecay(0.5, lambda e: 0.9**e), [0.5, 0.45, 0.405, 0.3645]),
    (lambda: lr.MultiplicativeDecay(0.5, lambda e: 0.9), [0.5, 0.45, 0.405, 0.3645]),
    (
        lambda: lr.OneCycleLR(0.5, 10),
        [0.02, 0.26, 0.5, 0.475247169, 0.405891276, 0.305669107, 0.194430893, 0.094208724, 0.024852831, 0.0001],
    ),
    (
        lambda: lr.OneCycleLR(0.5, 10, 10, 0.01, 0.3, "linear", True),
        [0.05, 0.275, 0.5, 0.275, 0.05, 0.042, 0.034, 0.026, 0.018, 0.01],
    ),
    (
        lambda: lr.OneCycleLR(0.5, 12, phase_pct=0.25, three_phase=True),
        [0.02, 0.26, 0.5, 0.26, 0.02, 0.01901464, 0.016253724, 0.012264083, 0.007835917, 0.003846276, 0.00108536,
         0.0001],
    ),
    (
        lambda: lr.OneCycleLR(0.5, 7, phase_pct=0.45),
        [0.02, 0.23375091, 0.494258211, 0.442249184, 0.265337357, 0.078798828, 0.0001],
    ),
    (lambda: lr.OneCycleLR(0.5, 4, phase_pct=0.0), [0.42679134, 0.25005, 0.07330866, 0.0001]),
    (lambda: lr.OneCycleLR(0.5, 4, phase_pct=1.0), [0.02, 0.14, 0.38, 0.5]),
    (lambda: lr.LinearLR(0.5, 5), [0.166666667, 0.233333333, 0.3, 0.366666667, 0.433333333, 0.5, 0.5, 0.5]),
    (lambda: lr.LinearLR(0.5, 5, 0.2, 0.8), [0.1, 0.16, 0.22, 0.28, 0.34, 0.4, 0.4, 0.4]),
    (lambda: lr.LinearLR(0.5, 3, 1.0, 0.0), [0.5, 0.333333333, 0.166666667, 0.0, 0.0, 0.0]),
    (lambda: lr.LinearLR(0.5, 5, last_epoch=2), [0.611111111, 0.722222222]),
    (
        lambda: lr.CyclicLR(0.1, 0.5, 2, 3),
        [0.1, 0.3, 0.5, 0.366666667, 0.233333333, 0.1, 0.3, 0.5, 0.366666667, 0.233333333, 0.1, 0.3, 0.5],
    ),
    (
        lambda: lr.CyclicLR(0.1, 0.5, 2, 3, "triangular2"),
        [0.1, 0.3, 0.5, 0.366666667, 0.233333333, 0.1, 0.2, 0.3, 0.233333333, 0.166666667, 0.1, 0.15, 0.2],
    ),
    (
        lambda: lr.CyclicLR(0.1, 0.5, 2, 3, "exp_range", 0.9),
        [0.1, 0.28, 0.424, 0.2944, 0.18748, 0.1, 0.2062882, 0.29131876, 0.214791256, 0.151656065, 0.1],
    ),
    (
        lambda: lr.CyclicLR(0.1, 0.5, 2, scale_fn=lambda x: 0.5**x, scale_mode="iterations"),
        [0.1, 0.2, 0.2, 0.125, 0.1, 0.10625, 0.10625, 0.1015625, 0.1],
    ),
    (
        lambda: lr.CyclicLR(0.1, 0.5, 2, mode="any", scale_fn=lambda x: 0.5**x),
        [0.1, 0.2, 0.3, 0.2, 0.1, 0.15, 0.2, 0.15, 0.1],
    ),
    (
        lambda: lr.CyclicLR(0.1, 0.5, 2, mode="exp_range", exp_gamma=0.9, scale_mode="cycle"),
        [0.1, 0.28, 0.424, 0.2458, 0.1, 0.218098, 0.3125764, 0.19565938, 0.1],
    ),
    (lambda: lr.CosineAnnealingWarmRestarts(0.5, 3), [0.5, 0.375, 0.125, 0.5, 0.375, 0.125, 0.5, 0.375]),
    (
        lambda: lr.CosineAnnealingWarmRestarts(0.5, 2, 2, 0.1),
        [0.5, 0.3, 0.5, 0.441421356, 0.3, 0.158578644, 0.5, 0.484775907, 0.441421356],
    ),
    (lambda: lr.CosineAnnealingWarmRestarts(0.5, 2, 2, 0.1, last_epoch=4), [0.158578644, 0.5]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "expected"), OBSERVED, ids=lambda v: getattr(v, "__name__", ""))
def test_schedule_is_paddles(make, expected):
    schedule = make()
    seen = []
    for _ in expected:
        seen.append(schedule())
        schedule.step()
    assert seen == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("make", "expected"), OBSERVED, ids=lambda v: getattr(v, "__name__", ""))
def test_state_round_trip(make, expected):
    first, second = make(), make()
    for _ in range(min(4, len(expected) - 1)):
        first.step()
    second.set_state_dict(first.state_dict())
    assert second() == first()
    for _ in range(len(expected) - 5):
        first.step()
        second.step()
        assert second() == first()


def test_state_has_paddles_keys():
    schedule = lr.LinearWarmup(lr.StepDecay(0.5, 2), 3, 0.1, 0.4)
    state = schedule.state_dict()
    assert state["last_epoch"] == 0
    assert state["last_lr"] == 0.1
    assert set(state["LinearWarmup_LR"]) == {"last_epoch", "last_lr"}
    with pytest.raises(RuntimeError, match="last_lr"):
        lr.StepDecay(0.5, 2).set_state_dict({"last_epoch": 2})


def test_step_to_an_epoch():
    schedule = lr.StepDecay(0.5, 3)
    schedule.step(7)
    assert (schedule.last_epoch, schedule()) == (7, pytest.approx(0.005))


def test_the_base_class_is_for_deriving():
    class Rising(lr.LRScheduler):
        def get_lr(self):
            return 0.1 * (self.last_epoch + 1)

    schedule = Rising()
    schedule.step()
    assert schedule() == pytest.approx(0.2)
    with pytest.raises(NotImplementedError):
        lr.LRScheduler(0.1)


def test_verbose_prints(capsys):
    lr.StepDecay(0.5, 2, verbose=True).step()
    assert "set learning rate to 0.5" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: lr.StepDecay("a", 3), TypeError),
        (lambda: lr.StepDecay(-0.1, 3), ValueError),
        (lambda: lr.StepDecay(0.1, 3, 2.0), ValueError),
        (lambda: lr.StepDecay(0.1, "a"), TypeError),
        (lambda: lr.StepDecay(0.1, 0), ValueError),
        (lambda: lr.MultiStepDecay(0.1, [5, 2]), ValueError),
        (lambda: lr.MultiStepDecay(0.1, 3), TypeError),
        (lambda: lr.CosineAnnealingDecay(0.1, 1.5), TypeError),
        (lambda: lr.NoamDecay(0, 4), ValueError),
        (lambda: lr.LinearWarmup(0.1, 4, 0.5, 0.1), ValueError),
        (lambda: lr.LinearWarmup("a", 4, 0.1, 0.5), TypeError),
        (lambda: lr.PiecewiseDecay([1], [0.1]), ValueError),
        (lambda: lr.ExponentialDecay(0.1, 1.5), ValueError),
        (lambda: lr.LambdaDecay(0.1, 3), TypeError),
        (lambda: lr.OneCycleLR("a", 10), TypeError),
        (lambda: lr.OneCycleLR(-1.0, 10), ValueError),
        (lambda: lr.OneCycleLR(0.1, 1.5), TypeError),
        (lambda: lr.OneCycleLR(0.1, 0), ValueError),
        (lambda: lr.OneCycleLR(0.1, 10, phase_pct=2.0), ValueError),
        (lambda: lr.OneCycleLR(0.1, 10, phase_pct=1), TypeError),
        (lambda: lr.OneCycleLR(0.1, 10, divide_factor="a"), TypeError),
        (lambda: lr.OneCycleLR(0.1, 10, divide_factor=0.0), ValueError),
        (lambda: lr.OneCycleLR(0.1, 10, end_learning_rate=-1.0), ValueError),
        (lambda: lr.OneCycleLR(0.1, 10, anneal_strategy="a"), ValueError),
        (lambda: lr.OneCycleLR(0.1, 10, phase_pct=0.5, three_phase=True), ValueError),
        (lambda: lr.OneCycleLR(0.1, 10).step(11), ValueError),
        (lambda: lr.ReduceOnPlateau("a"), TypeError),
        (lambda: lr.ReduceOnPlateau(0.1, mode="a"), ValueError),
        (lambda: lr.ReduceOnPlateau(0.1, factor=1.0), ValueError),
        (lambda: lr.ReduceOnPlateau(0.1, threshold_mode="a"), ValueError),
        (lambda: lr.ReduceOnPlateau(0.1).step("a"), TypeError),
        (lambda: lr.ReduceOnPlateau(0.1).step([1.0]), TypeError),
        (lambda: lr.ReduceOnPlateau(0.1).step(paddle.ones([2])), ValueError),
        (lambda: lr.LinearLR(0.1, 0), ValueError),
        (lambda: lr.LinearLR(0.1, 5, start_factor=0.0), ValueError),
        (lambda: lr.LinearLR(0.1, 5, end_factor=2.0), ValueError),
        (lambda: lr.CyclicLR(0.1, "a", 3), TypeError),
        (lambda: lr.CyclicLR(-0.1, 0.5, 3), ValueError),
        (lambda: lr.CyclicLR(0.1, 0.5, 2.5), TypeError),
        (lambda: lr.CyclicLR(0.1, 0.5, 0), ValueError),
        (lambda: lr.CyclicLR(0.1, 0.5, 3, 0), ValueError),
        (lambda: lr.CyclicLR(0.1, 0.5, 3, mode="a"), ValueError),
        (lambda: lr.CyclicLR(0.1, 0.5, 3, scale_mode="a"), ValueError),
        (lambda: lr.CyclicLR(0.1, 0.5, 3, exp_gamma="a"), TypeError),
        (lambda: lr.CyclicLR(0.1, 0.5, 3, scale_fn=3), TypeError),
        (lambda: lr.CosineAnnealingWarmRestarts(0.1, 0), ValueError),
        (lambda: lr.CosineAnnealingWarmRestarts(0.1, 1.5), ValueError),
        (lambda: lr.CosineAnnealingWarmRestarts(0.1, 3, T_mult=0), ValueError),
        (lambda: lr.CosineAnnealingWarmRestarts(0.1, 3, eta_min="a"), TypeError),
        (lambda: lr.CosineAnnealingWarmRestarts(0.1, 3).step(-1), ValueError),
    ],
)
def test_bad_arguments(make, error):
    with pytest.raises(error):
        make()


def test_restarts_at_fractions_of_epochs():
    """Learning rate, place in the period, its length and the epoch, as Paddle 3.3.1 had them."""
    schedule = lr.CosineAnnealingWarmRestarts(0.5, 2, 2, 0.1)
    seen = []
    for epoch in (0, 1.5, 2, 5.5, 6, 7, 13.9, 14, 3):
        schedule.step(epoch)
        seen += [schedule(), schedule.T_cur, schedule.T_i, schedule.last_epoch]
    expected = [
        0.5, 0, 2, 0, 0.15857864, 1.5, 2, 1, 0.5, 0, 4, 2, 0.11522409, 3.5, 4, 5, 0.5, 0, 8, 6, 0.48477591, 1, 8, 7,
        0.10015419, 7.9, 8, 13, 0.5, 0, 16, 14, 0.44142136, 1, 4, 3,
    ]  # fmt: skip
    assert seen == pytest.approx(expected, abs=1e-7)


METRICS = [1.0, 0.9, 0.9, 0.95, 0.8999, 0.89, 0.89, 0.9, 0.9, 0.9, 0.5, 0.6, 0.6, 0.6]


@pytest.mark.parametrize(
    ("options", "metrics", "expected"),
    [
        (
            {"patience": 1}, METRICS,
            [0.5, 0.5, 0.5, 0.05, 0.05, 0.05, 0.05, 0.005, 0.005, 0.0005, 0.0005, 0.0005, 5e-5, 5e-5],
        ),
        (
            {"patience": 0, "cooldown": 2, "factor": 0.5, "min_lr": 0.1}, METRICS,
            [0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.125, 0.125, 0.125, 0.1, 0.1, 0.1, 0.1, 0.1],
        ),
        (
            {"patience": 1, "mode": "MAX", "threshold": 0.1}, METRICS[:8],
            [0.5, 0.5, 0.05, 0.05, 0.005, 0.005, 0.0005, 0.0005],
        ),
        (
            {"patience": 1, "threshold": 0.1, "threshold_mode": "abs"}, METRICS,
            [0.5, 0.5, 0.05, 0.05, 0.05, 0.05, 0.005, 0.005, 0.0005, 0.0005, 0.0005, 0.0005, 5e-5, 5e-5],
        ),
        ({"patience": 0, "epsilon": 0.04, "factor": 0.5}, [1.0] * 6, [0.5, 0.25, 0.125, 0.0625, 0.0625, 0.0625]),
        ({"patience": 1}, [float("nan"), 1.0, 2.0, 3.0], [0.5, 0.5, 0.05, 0.05]),
    ],
)  # fmt: skip
def test_plateau_is_paddles(options, metrics, expected):
    schedule = lr.ReduceOnPlateau(0.5, **options)
    again = lr.ReduceOnPlateau(0.5, **options)
    for value, rate in zip(metrics, expected, strict=True):
        schedule.step(value)
        assert schedule() == pytest.approx(rate)
        # Every state can be saved and gone on from, with a tensor as well as with a number.
        again.step(paddle.to_tensor([value]).astype("float64") if value == 1.0 else value)
        again.set_state_dict(schedule.state_dict())
        assert again() == schedule()


def test_plateau_state_and_epochs(capsys):
    schedule = lr.ReduceOnPlateau(0.5, patience=0, verbose=True)
    assert schedule.state_dict() == {
        "cooldown_counter": 0, "best": None, "num_bad_epochs": 0, "last_epoch": 0, "last_lr": 0.5,
    }  # fmt: skip
    schedule.step(1.0, epoch=5)
    schedule.step(np.array([1.0]))
    assert schedule.last_epoch == 6
    assert schedule() == pytest.approx(0.05)
    assert "Epoch 6: ReduceOnPlateau" in capsys.readouterr().out


def test_a_saved_restart_goes_on_in_its_period():
    """Paddle saves the epoch but not the place in the period; here it is found again."""
    schedule = lr.CosineAnnealingWarmRestarts(0.5, 2, 3)
    for _ in range(11):
        schedule.step()
    other = lr.CosineAnnealingWarmRestarts(0.5, 2, 3)
    other.set_state_dict(schedule.state_dict())
    assert (other.T_cur, other.T_i) == (schedule.T_cur, schedule.T_i) == (3, 18)


def test_stepping_past_one_cycle():
    schedule = lr.OneCycleLR(0.5, 3)
    for _ in range(3):
        schedule.step()
    with pytest.raises(ValueError, match="has 3 steps"):
        schedule.step()
