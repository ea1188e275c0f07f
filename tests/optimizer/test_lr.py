"""Learning-rate schedules against numbers that Paddle 3.3.1 printed, and their state."""

from __future__ import annotations

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
    for _ in range(4):
        first.step()
    second.set_state_dict(first.state_dict())
    for _ in range(3):
        assert second() == first()
        first.step()
        second.step()


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
    assert "sets the learning rate to 0.5" in capsys.readouterr().out


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
    ],
)
def test_bad_arguments(make, error):
    with pytest.raises(error):
        make()
