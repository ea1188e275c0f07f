"""`paddle.incubate.optimizer`: LookAhead, ModelAverage, and BFGS as functions; paths are in the reference trajectories."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle

incubate, optimizer = paddle.incubate, paddle.optimizer
functional = incubate.optimizer.functional


def fresh(values=(1.0, 2.0), dtype="float64"):
    parameter = paddle.create_parameter([len(values)], dtype)
    parameter.set_value(paddle.to_tensor(list(values), dtype="float64").astype(dtype))
    return parameter


def backward(parameter):
    (parameter**3 * 0.3).sum().backward()


def test_names():
    assert incubate.LookAhead is incubate.optimizer.LookAhead
    assert incubate.ModelAverage is incubate.optimizer.ModelAverage
    assert incubate.optimizer.LBFGS is optimizer.LBFGS
    assert issubclass(incubate.LookAhead, optimizer.Optimizer)


# ---- LookAhead -------------------------------------------------------------------------------------------------------


def test_look_ahead_by_hand():
    """SGD on a straight line: the slow parameters begin after the first step."""
    parameter = fresh((0.0,))
    made = incubate.LookAhead(optimizer.SGD(1.0, parameters=[parameter]), alpha=0.25, k=3)
    seen = []
    for _ in range(6):
        parameter.grad = paddle.to_tensor([-1.0], dtype="float64")
        made.step()
        made.clear_grad()
        seen.append(parameter.item())
    assert seen == [1.0, 2.0, 1.5, 2.5, 3.5, 2.25]


@pytest.mark.parametrize("values", [3, 5])
def test_look_ahead_state(values):
    def made_for(parameter):
        inner = optimizer.Momentum(0.1, parameters=[parameter])
        return inner, incubate.LookAhead(inner, alpha=0.3, k=2)

    def run(parameter, made, steps):
        for _ in range(steps):
            backward(parameter)
            made.step()
            made.clear_grad()

    with paddle.utils.unique_name.guard():
        straight = fresh()
    _, made = made_for(straight)
    run(straight, made, 8)
    with paddle.utils.unique_name.guard():
        first = fresh()
    inner, made = made_for(first)
    run(first, made, values)
    assert f"{first.name}_slow_0" in made.state_dict()
    with paddle.utils.unique_name.guard():
        second = fresh(first.numpy().tolist())
    other_inner, other = made_for(second)
    other.set_state_dict(made.state_dict())
    other_inner.set_state_dict(inner.state_dict())
    run(second, other, 8 - values)
    np.testing.assert_allclose(second.numpy(), straight.numpy(), rtol=1e-12)


def test_look_ahead_keeps_masters_in_step():
    half = fresh((1.0,), "bfloat16")
    inner = optimizer.SGD(1e-3, parameters=[half], multi_precision=True)
    made = incubate.LookAhead(inner, alpha=0.5, k=2)
    for _ in range(4):
        half.grad = paddle.to_tensor([1.0], dtype="bfloat16")
        made.step()
    master = inner.state_dict()["master_weights"][half.name]
    slow = made.state_dict()[f"{half.name}_slow_0"]
    np.testing.assert_array_equal(master.numpy(), slow.numpy())


def test_look_ahead_shows_the_inner_learning_rate():
    made = incubate.LookAhead(optimizer.SGD(0.1, parameters=[fresh()]))
    made.set_lr(0.3)
    assert made.get_lr() == made.inner_optimizer.get_lr() == 0.3
    made.set_lr_scheduler(optimizer.lr.StepDecay(0.7, 2))
    assert made.get_lr() == 0.7


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"inner_optimizer": None}, ValueError), ({"inner_optimizer": 3}, TypeError), ({"alpha": 2.0}, ValueError),
        ({"alpha": -0.1}, ValueError), ({"k": 0}, ValueError), ({"k": 1.5}, ValueError),
    ],
)  # fmt: skip
def test_look_ahead_bad_arguments(arguments, error):
    given = {"inner_optimizer": optimizer.SGD(0.1, parameters=[fresh()]), **arguments}
    with pytest.raises(error, match="LookAhead"):
        incubate.LookAhead(**given)


# ---- ModelAverage ----------------------------------------------------------------------------------------------------

# The first element of the mean after each of 14 steps, as Paddle 3.3.1 had it: (rate, smallest, largest window).
MEANS = {
    (0.15, 2, 10): [0.91000003, 0.8727355, 0.83937371, 0.74578542, 0.72132522, 0.65205896, 0.63330525, 0.57982379,
                    0.56496137, 0.52234501, 0.5102616, 0.47546169, 0.46543539, 0.43645635],
    (0.5, 1, 3): [0.91000003, 0.83547097, 0.77264994, 0.74578542, 0.69566286, 0.67434639, 0.65470916, 0.59712029,
                  0.58164936, 0.5672102, 0.5102616, 0.49890333, 0.48819923, 0.44591379],
    (1.0, 4, 6): [0.91000003, 0.8727355, 0.83937371, 0.80926049, 0.78188926, 0.75686002, 0.73385102, 0.71260095,
                  0.69289374, 0.58474261, 0.57065004, 0.5574224, 0.54497355, 0.53322917],
}  # fmt: skip


@pytest.mark.parametrize("window", sorted(MEANS))
def test_means_are_paddles(window):
    rate, smallest, largest = window
    parameter = fresh()
    sgd = optimizer.SGD(0.1, parameters=[parameter])
    made = incubate.ModelAverage(rate, [parameter], smallest, largest)
    seen = []
    for _ in MEANS[window]:
        backward(parameter)
        sgd.step()
        made.step()
        sgd.clear_grad()
        before = parameter.numpy()
        with made.apply():
            seen.append(parameter.numpy()[0])
        np.testing.assert_array_equal(parameter.numpy(), before)
    np.testing.assert_allclose(seen, MEANS[window], rtol=1e-6)
    other = incubate.ModelAverage(rate, [parameter], smallest, largest)
    other.set_state_dict({key: value.numpy() for key, value in made.state_dict().items()})
    with other.apply(need_restore=False):
        pass
    assert parameter.numpy()[0] == pytest.approx(seen[-1])
    other.restore()
    np.testing.assert_array_equal(parameter.numpy(), before)


def test_model_average_names_and_edges():
    parameter, left_out = fresh(), fresh()
    left_out.do_model_average = False
    made = incubate.ModelAverage(0.5, [parameter, left_out])
    with made.apply():
        assert parameter.numpy().tolist() == [1.0, 2.0]  # nothing was summed up yet
    made.minimize(parameter.sum())
    names = ["sum_1", "sum_2", "sum_3", "restore", "num_accumulates", "old_num_accumulates", "num_updates"]
    assert list(made.state_dict()) == [f"{parameter.name}_{name}_0" for name in names]
    made.step()
    with pytest.raises(ZeroDivisionError), made.apply():
        raise ZeroDivisionError
    assert parameter.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "arguments",
    [{"parameters": None}, {"average_window_rate": -1.0}, {"min_average_window": 0}, {"max_average_window": 1.5}],
)
def test_model_average_bad_arguments(arguments):
    given = {"average_window_rate": 0.1, "parameters": [fresh()], **arguments}
    with pytest.raises(ValueError, match="ModelAverage"):
        incubate.ModelAverage(**given)


# ---- BFGS ------------------------------------------------------------------------------------------------------------


def bowl(x):
    return (x * x * paddle.to_tensor([1.0, 3.0], dtype=x.dtype)).sum()


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


BOTH = pytest.mark.parametrize("minimize", [functional.minimize_bfgs, functional.minimize_lbfgs])


@BOTH
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bfgs_finds_known_minima(minimize, dtype):
    for function, start, lowest in ((bowl, [1.0, 2.0], [0.0, 0.0]), (rosenbrock, [-1.2, 1.0], [1.0, 1.0])):
        converged, calls, position, value, gradient, *_ = minimize(
            function, paddle.to_tensor(start, dtype=dtype), dtype=dtype
        )
        assert (converged.shape, calls.shape, value.shape) == ([1], [1], [])
        assert converged.item() is True
        assert calls.item() < 80
        np.testing.assert_allclose(position.numpy(), lowest, atol=1e-5)
        assert (position.dtype, value.dtype, gradient.dtype) == (dtype, dtype, dtype)


@BOTH
def test_the_first_step_is_paddles(minimize):
    """One iteration on Rosenbrock's function: calls, position and value as Paddle 3.3.1 gave them."""
    found = minimize(rosenbrock, paddle.to_tensor([-1.2, 1.0], dtype="float64"), max_iters=1, dtype="float64")
    assert found[0].item() is False
    assert found[1].item() == 9
    np.testing.assert_allclose(found[2].numpy(), [-1.0298468880142106, 1.0694502497901182], rtol=1e-12)
    assert found[3].item() == pytest.approx(4.128138340789158)


def test_bfgs_estimates_the_inverse_of_the_second_derivatives():
    *_, estimate = functional.minimize_bfgs(bowl, paddle.to_tensor([1.0, 2.0], dtype="float64"), dtype="float64")
    np.testing.assert_allclose(estimate.numpy(), [[0.5, 0.0], [0.0, 1 / 6]], atol=1e-6)


@BOTH
def test_bfgs_edges(minimize):
    start = paddle.to_tensor([1.0, 2.0])
    assert minimize(bowl, start, max_iters=0)[1].item() == 1
    converged, calls, *_ = minimize(bowl, paddle.to_tensor([0.0, 0.0]))
    assert (converged.item(), calls.item()) == (True, 1)
    half_inverse = paddle.to_tensor([[0.5, 0.0], [0.0, 1 / 6]])
    _, calls, position, *_ = minimize(bowl, start, initial_inverse_hessian_estimate=half_inverse)
    assert calls.item() <= 4  # the estimate is right: the first step arrives
    np.testing.assert_allclose(position.numpy(), 0.0, atol=1e-6)


@BOTH
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"line_search_fn": "a"}, NotImplementedError),
        ({"dtype": "int32"}, ValueError),
        ({"initial_position": np.array([1.0, 2.0])}, ValueError),
        ({"initial_position": paddle.ones([1, 2])}, ValueError),
        ({"initial_inverse_hessian_estimate": paddle.to_tensor([[1.0, 2.0], [0.0, 1.0]])}, ValueError),
        ({"initial_inverse_hessian_estimate": paddle.to_tensor([[-1.0, 0.0], [0.0, 1.0]])}, ValueError),
        ({"initial_inverse_hessian_estimate": paddle.to_tensor(np.eye(3, dtype="float32"))}, ValueError),
        ({"objective_func": 3}, TypeError),
        ({"objective_func": lambda x: x}, ValueError),
    ],
)
def test_bfgs_bad_arguments(minimize, arguments, error):
    given = {"objective_func": bowl, "initial_position": paddle.to_tensor([1.0, 2.0]), **arguments}
    with pytest.raises(error, match="minimize_"):
        minimize(**given)
