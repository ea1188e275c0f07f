"""Conditions, loops and Python functions in programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle

static = paddle.static
nn = paddle.static.nn


def run(build: Any, **feed: Any) -> list[Any]:
    main, startup, executor = static.Program(), static.Program(), static.Executor()
    with static.program_guard(main, startup):
        fetches = build()
    main.verify()
    executor.run(startup)
    return executor.run(main, feed=feed, fetch_list=fetches)


def floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, "float32")


@pytest.mark.usefixtures("static")
def test_while_loop_sums_up_to_a_number_that_is_fed() -> None:
    def build() -> Any:
        limit = static.data("n", [1], "int64")
        start = [paddle.full([1], 0, "int64"), paddle.zeros([1])]
        return nn.while_loop(lambda i, s: i < limit, lambda i, s: [i + 1, s + i.astype("float32")], start)

    for limit in (0, 1, 10):
        count, total = run(build, n=np.array([limit]))
        assert (int(count[0]), float(total[0])) == (limit, limit * (limit - 1) / 2)


@pytest.mark.usefixtures("static")
def test_gradients_go_through_a_loop_and_a_condition() -> None:
    def build() -> Any:
        x = static.data("x", [None, 3])
        x.stop_gradient = False
        _, power = nn.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, y * x], [paddle.full([1], 0, "int64"), x])
        chosen = nn.cond(x.sum() > 0, lambda: power * 2, lambda: -power)
        return [chosen, static.gradients(chosen.sum(), [x])[0]]

    for sign in (1.0, -1.0):
        array = sign * np.array([[1.0, 2, 3], [0.5, 1, 2]], "float32")
        value, grad = run(build, x=array)
        factor = 2 if sign > 0 else -1
        np.testing.assert_allclose(value, factor * array**4, rtol=1e-6)
        np.testing.assert_allclose(grad, factor * 4 * array**3, rtol=1e-6)


@pytest.mark.usefixtures("static")
def test_a_loop_over_unknown_sizes_divides_by_the_real_ones() -> None:
    def build() -> Any:
        x = static.data("x", [None, 2])
        start = [paddle.full([], 0), paddle.zeros([])]
        return nn.while_loop(lambda i, s: i < 2, lambda i, s: [i + 1, s + x.mean()], start)[1]

    array = np.random.RandomState(0).rand(5, 2).astype("float32")
    assert float(run(build, x=array)[0]) == pytest.approx(2 * array.mean(), rel=1e-5)


@pytest.mark.usefixtures("static")
def test_cond_gives_structures_and_names_what_does_not_fit() -> None:
    def build(otherwise: Any = lambda a: {"sum": a - 1, "flag": 0.0}) -> Any:
        a = static.data("a", [1])
        made = nn.cond(a.sum() > 0, lambda: {"sum": a * 2, "flag": 1.0}, lambda: otherwise(a))
        return [made["sum"], made["flag"]]

    assert [float(v.reshape(-1)[0]) for v in run(build, a=floats(3))] == [6, 1]
    assert [float(v.reshape(-1)[0]) for v in run(build, a=floats(-3))] == [-4, 0]
    with pytest.raises(TypeError, match="same structure"):
        run(lambda: build(lambda a: [a]), a=floats(1))
    with pytest.raises(ValueError, match="same shape and type"):
        run(lambda: build(lambda a: {"sum": paddle.zeros([2, 2]), "flag": 0.0}), a=floats(1))
    with pytest.raises(TypeError, match="boolean"):
        run(lambda: nn.cond(static.data("p", [1]), lambda: 1, lambda: 2), p=floats(1))


@pytest.mark.usefixtures("static")
def test_switch_case_and_case_choose_the_branch() -> None:
    def constant(number: float) -> Any:
        return lambda: paddle.full([2], number)

    def switch(default: Any = None) -> Any:
        return nn.switch_case(static.data("k", [1], "int32"), {1: constant(1), 3: constant(3)}, default)

    def first_true() -> Any:
        x = static.data("x", [1])
        return nn.case([(x < 1, constant(1)), (x < 2, constant(2))], constant(3))

    for index, expected in ((1, 1), (3, 3), (7, 9)):
        assert run(lambda: switch(constant(9)), k=np.array([index], "int32"))[0].tolist() == [expected] * 2
    assert run(switch, k=np.array([7], "int32"))[0].tolist() == [3, 3]
    for value, expected in ((0.5, 1), (1.5, 2), (7, 3)):
        assert run(first_true, x=floats(value))[0].tolist() == [expected] * 2
    with pytest.raises(TypeError, match="integer"):
        run(lambda: nn.switch_case(static.data("f", [1]), [constant(1)]), f=floats(1))
    for wrong in (lambda i: i, lambda i: i + paddle.ones([2]) > 0):
        with pytest.raises(TypeError, match="boolean of one element"):
            run(lambda wrong=wrong: nn.while_loop(wrong, lambda i: [i], [static.data("i", [1])]), i=floats(1))
    with pytest.raises(ValueError, match="as many variables"):
        run(lambda: nn.while_loop(lambda i: i < 3, lambda i: [i, i], [static.data("i", [1])]), i=floats(1))


def test_control_flow_is_pythons_own_in_dynamic_mode() -> None:
    x = paddle.to_tensor([2.0], stop_gradient=False)
    assert nn.cond(x > 1, lambda: "yes", lambda: "no") == "yes"
    count, value = nn.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, y * x], [paddle.to_tensor(0), x])
    value.backward()
    assert (int(count), float(value), float(x.grad)) == (3, 16.0, 32.0)
    assert nn.switch_case(paddle.to_tensor([5]), [lambda: 1, lambda: 2], lambda: 3) == 3


@pytest.mark.usefixtures("static")
def test_py_func_runs_python_with_its_own_gradient() -> None:
    def build() -> Any:
        x = static.data("x", [None, 2])
        x.stop_gradient = False
        out = static.default_main_program().global_block().create_var("tanh_out", [-1, 2], "float32")
        made = static.py_func(
            np.tanh, x, out, backward_func=lambda y, dy: dy * (1 - y * y), skip_vars_in_backward_input=x
        )
        return [made, static.gradients(made.sum(), [x])[0]]

    array = np.array([[0.1, 0.2], [0.3, 0.4], [1, 2]], "float32")
    value, grad = run(build, x=array)
    np.testing.assert_allclose(value, np.tanh(array), rtol=1e-6)
    np.testing.assert_allclose(grad, 1 - np.tanh(array) ** 2, rtol=1e-5)


@pytest.mark.usefixtures("static")
def test_print_shows_values_when_the_program_runs(capfd: pytest.CaptureFixture[str]) -> None:
    def build() -> Any:
        return static.Print(static.data("x", [None]), message="here:", summarize=2) * 2

    assert capfd.readouterr().out == ""
    np.testing.assert_array_equal(run(build, x=floats(1, 2, 3))[0], [2, 4, 6])
    shown = capfd.readouterr().out
    assert "here:" in shown
    assert "[1.0 2.0 …]" in shown


@pytest.mark.usefixtures("static")
def test_static_pylayer_uses_the_gradient_it_is_given() -> None:
    def build() -> Any:
        x = static.data("x", [3])
        x.stop_gradient = False
        made = nn.static_pylayer(lambda t: t * 3, [x], lambda grad: grad * 100)
        return [made, static.gradients(made.sum(), [x])[0]]

    value, grad = run(build, x=floats(1, 2, 3))
    assert (value.tolist(), grad.tolist()) == ([3, 6, 9], [100, 100, 100])


@pytest.mark.usefixtures("static")
def test_sequences_in_padded_form() -> None:
    kinds = ("sum", "average", "sqrt", "max", "last", "first")

    def build() -> Any:
        x = static.data("x", [None, 4, 3])
        pooled = [nn.sequence_pool(x, kind) for kind in kinds]
        return [*pooled, nn.sequence_softmax(x), nn.sequence_expand(x[:, 0], x), nn.sequence_conv(x, 5, param_attr=one)]

    one = paddle.nn.initializer.Constant(1.0)
    x = np.random.RandomState(0).rand(2, 4, 3).astype("float32")
    *pooled, softmax, expanded, windows = run(build, x=x)
    expected = [x.sum(1), x.mean(1), x.sum(1) / 2, x.max(1), x[:, -1], x[:, 0]]
    for value, reference in zip(pooled, expected, strict=True):
        np.testing.assert_allclose(value, reference, rtol=1e-5)
    np.testing.assert_allclose(softmax.sum(1), np.ones((2, 3)), rtol=1e-5)
    np.testing.assert_allclose(expanded, np.repeat(x[:, 0], 4, 0))
    sums = np.pad(x.sum(-1), ((0, 0), (1, 1)))
    reference = sums[:, :-2] + sums[:, 1:-1] + sums[:, 2:]
    np.testing.assert_allclose(windows, np.repeat(reference[:, :, None], 5, 2), rtol=1e-5)
    with pytest.raises(ValueError, match="ragged"):
        run(lambda: nn.sequence_pool(static.data("v", [3]), "sum"), v=floats(1, 2, 3))


@pytest.mark.usefixtures("static")
def test_nce_is_close_to_its_expectation() -> None:
    """With zero parameters every output is 1/2, so the loss is known whatever is drawn."""
    zero = paddle.nn.initializer.Constant(0.0)

    def build() -> Any:
        x, y = static.data("x", [None, 4]), static.data("y", [None, 1], "int64")
        return nn.nce(x, y, 20, num_neg_samples=5, param_attr=zero, bias_attr=zero)

    (loss,) = run(build, x=np.ones((3, 4), "float32"), y=np.array([[1], [2], [3]]))
    expected = 5 / 20
    reference = -np.log(0.5 / (0.5 + expected)) - 5 * np.log(expected / (0.5 + expected))
    np.testing.assert_allclose(loss, np.full((3, 1), reference), rtol=1e-5)


@pytest.mark.usefixtures("static")
def test_nce_with_a_seed_draws_the_same_classes_at_each_run() -> None:
    def losses(seed: int) -> list[np.ndarray]:
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            x, y = static.data("x", [4, 6]), static.data("y", [4, 1], "int64")
            weight = paddle.nn.initializer.Assign(np.sin(np.arange(120, dtype="float32")).reshape(20, 6))
            loss = nn.nce(x, y, 20, num_neg_samples=3, param_attr=weight, bias_attr=False, seed=seed)
        executor = static.Executor()
        executor.run(startup)
        feed = {"x": np.ones((4, 6), "float32"), "y": np.array([[1], [2], [3], [4]])}
        return [executor.run(main, feed=feed, fetch_list=[loss])[0] for _ in range(2)]

    first, second = losses(7)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(losses(7)[0], first)
    assert not np.array_equal(losses(8)[0], first)
    first, second = losses(0)
    assert not np.array_equal(first, second)


@pytest.mark.usefixtures("static")
def test_py_func_writes_to_the_variables_it_is_given_or_gives_nothing() -> None:
    seen: list[np.ndarray] = []

    def build() -> Any:
        x = static.data("x", [None, 2])
        block = static.default_main_program().current_block()
        first = block.create_var("first", [-1, 2], "float32")
        both = [first, block.create_var("second", [-1, 2], "float32")]
        assert static.py_func(lambda a: (a + 1, a * 2), x, both) is both
        assert static.py_func(seen.append, first * 10, None) is None
        return [both[0] + 1, both[1]]

    array = np.array([[1, 2], [3, 4], [5, 6]], "float32")
    np.testing.assert_array_equal(run(build, x=array), [array + 2, array * 2])
    np.testing.assert_array_equal(seen, [(array + 1) * 10])


@pytest.mark.usefixtures("static")
@pytest.mark.parametrize("otherwise", [None, lambda: None])
def test_what_a_run_prints_it_prints_whatever_is_fetched(capfd: pytest.CaptureFixture[str], otherwise: Any) -> None:
    def build() -> Any:
        x = static.data("x", [1])
        static.Print(x * 3, message="outside")
        assert nn.cond(x.sum() > 0, lambda: [static.Print(x, message="inside"), None][1], otherwise) is None
        return x * 2

    for value, inside in ((1.0, 1), (-1.0, 0)):
        assert run(build, x=np.array([value], "float32"))[0].tolist() == [2 * value]
        out = capfd.readouterr().out
        assert (out.count("outside"), out.count("inside")) == (1, inside)
