"""LBFGS besides its path (test_reference_trajectories): state, many parameters, and the line search."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa.ir.report import STATISTICS
from proa.optimizer.line_search import Point, interpolate, strong_wolfe

LBFGS = paddle.optimizer.LBFGS


def quadratic(**options):
    """Three parameters of different shapes whose loss is lowest at 3."""
    parameters = []
    for shape in ([2, 2], [3], []):
        parameter = paddle.create_parameter(shape, "float64")
        parameter.set_value(np.full(shape, -1.0))
        parameters.append(parameter)
    made = LBFGS(parameters=parameters, **options)

    def closure():
        made.clear_grad()
        loss = paddle.zeros([], "float64")
        for weight, parameter in enumerate(parameters, 1):
            loss = loss + weight * ((parameter - 3.0) ** 2).sum()
        loss.backward()
        return loss

    return parameters, made, closure


@pytest.mark.parametrize("line_search", [None, "strong_wolfe"])
def test_a_quadratic_is_solved_in_one_step(line_search):
    parameters, made, closure = quadratic(line_search_fn=line_search)
    first = made.step(closure)
    assert first.item() == pytest.approx(16.0 * (4 + 2 * 3 + 3))
    for parameter in parameters:
        np.testing.assert_allclose(parameter.numpy(), 3.0, atol=1e-5)


def test_state_goes_on_where_it_was():
    start = np.array([-1.2, 1.0])

    def made_for(parameter):
        made = LBFGS(parameters=[parameter], line_search_fn="strong_wolfe", max_iter=4, history_size=5)

        def closure():
            made.clear_grad()
            loss = 100 * (parameter[1] - parameter[0] ** 2) ** 2 + (1 - parameter[0]) ** 2
            loss.backward()
            return loss

        return made, closure

    def fresh(values):
        parameter = paddle.create_parameter([2], "float64")
        parameter.set_value(values)
        return parameter

    straight = fresh(start)
    made, closure = made_for(straight)
    assert made.state_dict() == {"state": {}}
    for _ in range(6):
        made.step(closure)
    first = fresh(start)
    made, closure = made_for(first)
    for _ in range(3):
        made.step(closure)
    state = made.state_dict()
    names = {"func_evals", "n_iter", "d", "alpha", "H_diag", "prev_flat_grad", "prev_loss", "old_yk", "old_sk", "ro"}
    assert set(state["state"]) == names
    assert state["state"]["n_iter"] == 11  # one step of four iterations ran out of evaluations
    assert len(state["state"]["old_yk"]) == 5
    second = fresh(first.numpy())
    made, closure = made_for(second)
    made.set_state_dict(state)
    for _ in range(3):
        made.step(closure)
    np.testing.assert_allclose(second.numpy(), straight.numpy(), rtol=1e-9)


def test_a_growing_history_needs_few_programs():
    """Fifty iterations have fifty lengths of history, and must not be fifty programs."""
    parameter = paddle.create_parameter([6], "float64")

    def run():
        parameter.set_value(np.linspace(-1.0, 1.0, 6))
        made = LBFGS(0.05, max_iter=10, parameters=[parameter])

        def closure():
            made.clear_grad()
            loss = (parameter**4 * paddle.arange(1.0, 7.0, dtype="float64")).sum() + (parameter**2).sum()
            loss.backward()
            return loss

        for _ in range(5):
            made.step(closure)

    before = STATISTICS.compiles
    for _ in range(4):
        run()
    assert STATISTICS.compiles - before < 25


def test_bad_closures():
    parameters, made, _ = quadratic()
    with pytest.raises(TypeError, match="needs a function"):
        made.step(3)
    with pytest.raises(TypeError, match="loss as a Tensor"):
        made.step(lambda: 1.0)
    with pytest.raises(TypeError):
        made.step()
    with pytest.raises(NotImplementedError, match="closure"):
        made.minimize(parameters[0].sum())
    with pytest.raises(ValueError, match="state"):
        made.set_state_dict({})


def test_zero_gradients_end_at_once():
    parameter = paddle.create_parameter([2], "float32")
    parameter.set_value(np.zeros(2, "float32"))
    made = LBFGS(parameters=[parameter])
    calls = []

    def closure():
        calls.append(1)
        made.clear_grad()
        loss = (parameter**2).sum()
        loss.backward()
        return loss

    made.step(closure)
    assert len(calls) == 1
    assert parameter.numpy().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("start", [0.001, 0.3, 1.0, 50.0])
@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (lambda t: (t - 2) ** 2, lambda t: 2 * (t - 2)),
        (lambda t: np.sin(t) + 0.1 * t, lambda t: np.cos(t) + 0.1),
        (lambda t: -t / (t * t + 2), lambda t: (t * t - 2) / (t * t + 2) ** 2),
    ],
)
def test_the_strong_wolfe_conditions_hold(function, slope, start):
    offset = 0.0 if slope(0.0) < 0 else 2.0  # begin where it goes down
    look = lambda t: Point(t, float(function(t + offset)), None, float(slope(t + offset)))  # noqa: E731
    origin = look(0.0)
    found, used = strong_wolfe(look, origin, start, 1.0)
    assert found.loss <= origin.loss + 1e-4 * found.step * origin.slope
    assert abs(found.slope) <= 0.9 * abs(origin.slope)
    assert used <= 26


def test_interpolation_finds_the_lowest_point_of_a_cubic():
    look = lambda t: Point(t, t**3 - 3 * t, None, 3 * t**2 - 3)  # noqa: E731
    assert interpolate(look(0.0), look(3.0)) == pytest.approx(1.0)
    assert interpolate(look(3.0), look(0.0)) == pytest.approx(1.0)
    assert interpolate(look(0.0), look(3.0), (2.0, 5.0)) == 2.0
    assert interpolate(look(2.0), look(2.0)) == 2.0
    flat = Point(0.0, 0.0, None, 1.0), Point(1.0, 5.0, None, 1.0)
    assert 0.0 <= interpolate(*flat) <= 1.0
