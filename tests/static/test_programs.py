"""Programs as users build and run them, against the same code in dynamic mode or NumPy."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.ir.capture import CaptureError

static = paddle.static
F = paddle.nn.functional

X = np.random.RandomState(0).rand(8, 1, 8, 8).astype("float32")
Y = np.random.RandomState(1).randint(0, 10, (8, 1)).astype("int64")


def new() -> tuple[Any, Any, Any]:
    return static.Program(), static.Program(), static.Executor(paddle.CPUPlace())


def _net() -> Any:
    nn = paddle.nn
    return nn.Sequential(
        nn.Conv2D(1, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Linear(36, 10)
    )


def _dynamic_losses(make: Any, steps: int) -> list[float]:
    paddle.seed(3)
    net = _net()
    optimizer = make(net.parameters())
    found = []
    for _ in range(steps):
        loss = F.cross_entropy(net(paddle.to_tensor(X)), paddle.to_tensor(Y))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        found.append(float(loss))
    return found


@pytest.mark.parametrize("batch", [None, 8])
def test_a_network_trains_as_in_dynamic_mode(batch: int | None) -> None:
    def make(parameters: Any = None) -> Any:
        return paddle.optimizer.Momentum(0.1, parameters=parameters)

    expected = _dynamic_losses(make, 4)
    paddle.enable_static()
    main, startup, executor = new()
    with static.program_guard(main, startup):
        image, label = static.data("image", [batch, 1, 8, 8]), static.data("label", [batch, 1], "int64")
        loss = F.cross_entropy(_net()(image), label)
        make().minimize(loss)
    paddle.seed(3)
    executor.run(startup)
    feed = {"image": X, "label": Y}
    found = [float(executor.run(main, feed=feed, fetch_list=[loss])[0]) for _ in range(4)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_an_embedding_with_an_lstm_trains_as_in_dynamic_mode() -> None:
    ids, target = np.random.RandomState(2).randint(0, 20, (3, 5)), np.ones((3, 1), "float32")

    def layers() -> Any:
        return paddle.nn.Embedding(20, 4), paddle.nn.LSTM(4, 6), paddle.nn.Linear(6, 1)

    def loss_of(parts: Any, x: Any, y: Any) -> Any:
        embedding, lstm, linear = parts
        _, (hidden, _) = lstm(embedding(x))
        return ((linear(hidden[-1]) - y) ** 2).mean()

    paddle.seed(5)
    parts = layers()
    parameters = [p for part in parts for p in part.parameters()]
    optimizer = paddle.optimizer.Adam(0.05, parameters=parameters)
    expected = []
    for _ in range(3):
        value = loss_of(parts, paddle.to_tensor(ids), paddle.to_tensor(target))
        value.backward()
        optimizer.step()
        optimizer.clear_grad()
        expected.append(float(value))
    paddle.enable_static()
    main, startup, executor = new()
    with static.program_guard(main, startup):
        x, y = static.data("x", [None, 5], "int64"), static.data("y", [None, 1])
        loss = loss_of(layers(), x, y)
        paddle.optimizer.Adam(0.05).minimize(loss)
    paddle.seed(5)
    executor.run(startup)
    found = [float(executor.run(main, {"x": ids, "y": target}, [loss])[0]) for _ in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.usefixtures("static")
def test_a_clone_for_tests_drops_updates_dropout_and_batch_statistics() -> None:
    main, startup, executor = new()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 3])
        hidden = static.nn.batch_norm(x, momentum=0.5)
        loss = F.dropout(hidden, 0.5).sum()
        scaled = F.dropout(x, 0.25, mode="downscale_in_infer")
        test = main.clone(for_test=True)
        paddle.optimizer.SGD(0.1).minimize(loss)
    executor.run(startup)
    array = np.array([[1.0, 2, 3], [3, 2, 1]], "float32")
    executor.run(main, {"x": array}, [loss])
    scope = static.global_scope()
    mean, variance, weight, bias = (
        scope.find_var(f"batch_norm_0.{n}").get_tensor().numpy() for n in ("w_1", "w_2", "w_0", "b_0")
    )
    np.testing.assert_allclose(mean, 0.5 * array.mean(0), rtol=1e-6)
    expected = (array - mean) / np.sqrt(variance + 1e-5) * weight + bias
    for _ in range(2):
        total, shown, scaled_now = executor.run(test, {"x": array}, [loss, hidden, scaled])
        np.testing.assert_allclose(shown, expected, rtol=1e-5)
        np.testing.assert_allclose(total, expected.sum(), rtol=1e-5)
        np.testing.assert_allclose(scaled_now, array * 0.75, rtol=1e-6)
    np.testing.assert_array_equal(scope.find_var("batch_norm_0.w_1").get_tensor().numpy(), mean)


@pytest.mark.usefixtures("static")
def test_dropout_draws_anew_at_each_run_and_repeats_under_a_seed() -> None:
    def draws(seed: int) -> list[Any]:
        main, _, executor = new()
        main.random_seed = seed
        with static.program_guard(main):
            out = F.dropout(static.data("x", [64]), 0.5)
        return [executor.run(main, {"x": np.ones(64, "float32")}, [out])[0] for _ in range(2)]

    first, second = draws(7)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal([first, second], draws(7))


@pytest.mark.usefixtures("static")
def test_shapes_show_unknown_dimensions_and_compute_with_them() -> None:
    main, _, executor = new()
    with static.program_guard(main):
        x = static.data("x", [None, 3, 4])
        assert x.shape == [-1, 3, 4]
        assert x.shape[0] < 0
        assert str(list(x.shape)) == "[-1, 3, 4]"
        flat = paddle.reshape(x, [x.shape[0], 12])
        assert flat.shape == [-1, 12]
        padded = paddle.concat([flat, paddle.zeros([x.shape[0], 2])], 1)
        mean = (flat.sum(0) / paddle.shape(x)[0].astype("float32")).sum()
        with pytest.raises(ValueError, match="unknown dimension"):
            1 / x.shape[0]
    array = np.random.RandomState(0).rand(5, 3, 4).astype("float32")
    found = executor.run(main, {"x": array}, [padded, mean])
    np.testing.assert_array_equal(found[0], np.pad(array.reshape(5, 12), ((0, 0), (0, 2))))
    np.testing.assert_allclose(found[1], array.reshape(5, 12).mean(0).sum(), rtol=1e-6)


@pytest.mark.usefixtures("static")
def test_gradients_scale_with_the_size_of_the_batch() -> None:
    """The gradient of a mean divides by a size that is not known when it is recorded."""
    main, startup, executor = new()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 2])
        x.stop_gradient = False
        grads = [
            static.gradients(x.mean() * 3, [x])[0],
            static.gradients(paddle.var(x), [x])[0],
            static.gradients(F.mse_loss(x, x * 0), [x])[0],
        ]
    for rows in (2, 7):
        array = np.random.RandomState(rows).rand(rows, 2).astype("float32")
        mean, variance, squares = executor.run(main, {"x": array}, grads)
        np.testing.assert_allclose(mean, np.full_like(array, 3 / array.size), rtol=1e-6)
        np.testing.assert_allclose(variance, 2 * (array - array.mean()) / (array.size - 1), rtol=1e-4, atol=1e-6)
        # The gradient flows to x through both arguments, one of which is multiplied by 0.
        np.testing.assert_allclose(squares, 2 * array / array.size, rtol=1e-5)


@pytest.mark.usefixtures("static")
def test_parameters_are_shared_between_programs_by_name() -> None:
    executor = static.Executor()
    startup = static.Program()
    outputs = []
    for _ in range(2):
        program = static.Program()
        with static.program_guard(program, startup), paddle.utils.unique_name.guard():
            outputs.append((program, static.nn.fc(static.data("x", [None, 2]), 3)))
    executor.run(startup)
    one, other = (executor.run(p, {"x": np.ones((1, 2), "float32")}, [out])[0] for p, out in outputs)
    np.testing.assert_array_equal(one, other)
    assert [p.name for p in outputs[0][0].all_parameters()] == ["fc_0.w_0", "fc_0.b_0"]
    assert outputs[0][0].all_parameters()[0] is outputs[1][0].all_parameters()[0]


@pytest.mark.usefixtures("static")
def test_two_optimisers_update_their_own_parameters() -> None:
    main, startup, executor = new()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 2])
        one = paddle.nn.initializer.Constant(1.0)
        first, second = (
            static.create_parameter([2], "float32", name=name, default_initializer=one) for name in ("first", "second")
        )
        loss = (x * first * second).sum()
        paddle.optimizer.SGD(0.1, parameters=[first]).minimize(loss)
        paddle.optimizer.SGD(0.5).minimize(-loss, parameters=[second])
    executor.run(startup)
    executor.run(main, {"x": np.ones((1, 2), "float32")})
    values = main.state_dict()
    np.testing.assert_allclose(values["first"].numpy(), 0.9)
    # Its gradient is x * first as the forward pass computed it, before the first one's update.
    np.testing.assert_allclose(values["second"].numpy(), 1.5)


@pytest.mark.usefixtures("static")
def test_gradients_from_elsewhere_are_applied_by_an_optimiser_that_was_made_without_parameters() -> None:
    main, startup, executor = new()
    with static.program_guard(main, startup):
        constant = paddle.nn.initializer.Constant(1.0)
        weight = static.create_parameter([2], "float32", name="weight", default_initializer=constant)
        pairs = static.append_backward((static.data("x", [2]) * weight).sum())
        paddle.optimizer.SGD(0.1).apply_gradients([*pairs, (paddle.create_parameter([1], "float32"), None)])
    executor.run(startup)
    executor.run(main, {"x": np.array([1, 2], "float32")})
    np.testing.assert_allclose(static.global_scope().find_var("weight").get_tensor(), [0.9, 0.8], rtol=1e-6)


@pytest.mark.usefixtures("static")
def test_fetching_a_parameter_gives_its_value_after_the_run_and_a_gradient_has_a_name() -> None:
    main, startup, executor = new()
    with static.program_guard(main, startup):
        weight = static.create_parameter([3], "float32", name="weight")
        pairs = static.append_backward((weight * 2).sum())
        assert [(p.name, g.name) for p, g in pairs] == [("weight", "weight@GRAD")]
        with paddle.no_grad():
            paddle.assign(weight - pairs[0][1], weight)
    executor.run(startup)
    before = static.global_scope().find_var("weight").get_tensor().numpy()
    after, grad = executor.run(main, fetch_list=["weight", "weight@GRAD"])
    np.testing.assert_array_equal(grad, [2, 2, 2])
    np.testing.assert_array_equal(after, before - 2)
    np.testing.assert_array_equal(static.global_scope().find_var("weight").get_tensor().numpy(), after)


@pytest.mark.usefixtures("static")
def test_a_global_variable_counts_runs_and_the_startup_program_resets_it() -> None:
    main, startup, executor = new()
    with static.program_guard(main, startup):
        counter = static.create_global_var([1], 0, "int64", persistable=True, name="counter")
        paddle.increment(counter)
    executor.run(startup)
    assert [int(executor.run(main, fetch_list=[counter])[0][0]) for _ in range(3)] == [1, 2, 3]
    executor.run(startup)
    assert int(executor.run(main, fetch_list=["counter"])[0][0]) == 1


@pytest.mark.usefixtures("static")
def test_errors_name_what_is_wrong() -> None:
    main, startup, executor = new()
    with static.program_guard(main, startup):
        x, y = static.data("x", [None, 4]), static.data("y", [None, 1])
        loss = (static.nn.fc(x, 1) - y).mean()
    executor.run(startup)
    good = {"x": np.ones((2, 4), "float32"), "y": np.ones((2, 1), "float32")}
    with pytest.raises(ValueError, match="needs the input y"):
        executor.run(main, {"x": good["x"]}, [loss])
    with pytest.raises(ValueError, match=r"input x: float32\[-1, 4\].*float32\[2, 3\]"):
        executor.run(main, {**good, "x": np.ones((2, 3), "float32")}, [loss])
    with pytest.raises(ValueError, match=r"input x.*float64"):
        executor.run(main, {**good, "x": np.ones((2, 4))}, [loss])
    with pytest.raises(ValueError, match="no variable named 'nothing'"):
        executor.run(main, good, ["nothing"])
    with pytest.raises(TypeError, match="fetch_list"):
        executor.run(main, good, [3])
    with pytest.raises(TypeError, match="Program"):
        executor.run(3)
    with pytest.warns(UserWarning, match="no input named 'z'"):
        executor.run(main, {**good, "z": 1}, [loss])
    with pytest.raises(CaptureError, match="value"):
        loss.numpy()
    with pytest.raises(ValueError, match="another program"), static.program_guard(static.Program()):
        _ = loss + 1
    with pytest.raises(ValueError, match="already"), static.program_guard(main):
        static.data("x", [None, 5])
    paddle.disable_static()
    with pytest.raises(RuntimeError, match="enable_static"):
        static.data("x", [1])
    assert paddle.in_dynamic_mode()


@pytest.mark.usefixtures("static")
def test_a_constant_as_large_as_an_unknown_dimension_is_refused() -> None:
    with static.program_guard(static.Program()):
        x = static.data("x", [None, 2])
        with pytest.raises(ValueError, match="negative dimensions"):  # the size is -1, as in Paddle
            _ = x + paddle.to_tensor(np.zeros((int(x.shape[0]), 1), "float32"))


def test_each_thread_has_a_mode_of_its_own_and_programs_run_in_all() -> None:
    found: dict[int, Any] = {}
    start = threading.Barrier(4)

    def work(number: int) -> None:
        paddle.enable_static()
        main, startup, executor = new()
        with static.program_guard(main, startup):
            weight = static.create_parameter(
                [2], "float32", name=f"of_thread_{number}", default_initializer=paddle.nn.initializer.Constant(1.0)
            )
            loss = (static.data("x", [None, 2]) * weight).sum()
            paddle.optimizer.SGD(0.1).minimize(loss)
        executor.run(startup)
        start.wait(60)
        feed = {"x": np.full((1, 2), number, "float32")}
        found[number] = [float(executor.run(main, feed, [loss])[0]) for _ in range(3)]
        paddle.disable_static()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    assert paddle.in_dynamic_mode()
    for thread in threads:
        thread.join(120)
    for number in range(4):
        weights = [1 - 0.1 * number * step for step in range(3)]
        np.testing.assert_allclose(found[number], [2 * number * weight for weight in weights], rtol=1e-5)


@pytest.mark.usefixtures("static")
def test_one_program_runs_in_several_threads() -> None:
    main, _, _ = new()
    with static.program_guard(main):
        out = static.data("x", [None, 3]).sum() * 2
    found: list[float] = [0.0] * 8

    def work(number: int) -> None:
        array = np.full((number % 3 + 1, 3), number, "float32")
        found[number] = float(static.Executor().run(main, {"x": array}, [out])[0])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert found == [6.0 * number * (number % 3 + 1) for number in range(8)]


@pytest.mark.usefixtures("static")
def test_the_default_programs_can_be_built_and_run_in_turns() -> None:
    x = static.data("x", [None, 2])
    weight = static.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(2.0))
    loss = (x * weight).mean()
    paddle.optimizer.SGD(1.0).minimize(loss)
    executor = static.Executor()
    executor.run(static.default_startup_program())
    array = np.ones((2, 2), "float32")
    assert float(executor.run(feed={"x": array}, fetch_list=[loss])[0]) == 2.0
    doubled = loss * 2 + weight.sum()  # sees the weight after the update
    first, second = executor.run(feed={"x": array}, fetch_list=[loss, doubled])
    assert (float(first), float(second)) == (1.5, 1.5 * 2 + 2.0)
    paddle.disable_static()
    np.testing.assert_array_equal(weight.numpy(), [1.0, 1.0])
    assert float((weight * 3).sum()) == 6.0


@pytest.mark.usefixtures("static")
def test_a_clone_goes_on_by_itself() -> None:
    main, startup, executor = new()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 2])
        weight = static.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        loss = (x * weight).sum()
        paddle.optimizer.SGD(0.5).minimize(loss)
    copy = main.clone()
    with static.program_guard(copy, startup):
        more = loss * 10
    executor.run(startup)
    array = np.ones((1, 2), "float32")
    assert float(executor.run(copy, {"x": array}, [more])[0]) == 20.0
    assert float(executor.run(main, {"x": array}, [loss])[0]) == 1.0  # the copy trains the same weight
    assert len(copy.global_block().ops) == len(main.global_block().ops) + 1
    with pytest.raises(ValueError, match="another program"):
        executor.run(main, {"x": array}, [more])
