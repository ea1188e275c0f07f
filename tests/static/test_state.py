"""What programs keep: scopes, files, averages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle

static = paddle.static
X = np.random.RandomState(0).rand(4, 3).astype("float32")
pytestmark = pytest.mark.usefixtures("static")


def _trained() -> tuple[Any, Any, Any, Any, Any]:
    main, startup, executor = static.Program(), static.Program(), static.Executor()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 3])
        out = static.nn.fc(x, 2, activation="tanh")
        loss = out.square().mean()
        paddle.optimizer.Adam(0.1).minimize(loss)
    executor.run(startup)
    executor.run(main, {"x": X}, [loss])
    return main, startup, executor, x, out


def _value(name: str) -> np.ndarray:
    return static.global_scope().find_var(name).get_tensor().numpy()


def test_a_scope_shows_and_sets_values() -> None:
    main, _, executor, _, out = _trained()
    scope = static.global_scope()
    assert scope.find_var("nothing") is None
    tensor = scope.find_var("fc_0.w_0").get_tensor()
    assert tensor.shape() == [3, 2]
    tensor.set(np.full((3, 2), 0.5, "float32"), paddle.CPUPlace())
    np.testing.assert_array_equal(np.array(tensor), np.full((3, 2), 0.5))
    scope.find_var("fc_0.b_0").get_tensor().set(np.zeros(2, "float32"), paddle.CPUPlace())
    (value,) = executor.run(main.clone(for_test=True), {"x": X}, [out])
    np.testing.assert_allclose(value, np.tanh(0.5 * X.sum(1, keepdims=True)) * np.ones((1, 2)), rtol=1e-5)
    with pytest.raises(ValueError, match="another shape"):
        tensor.set(np.zeros((2, 2), "float32"), paddle.CPUPlace())


@pytest.fixture
def always_compiled() -> Iterator[None]:
    before = paddle.get_flags("FLAGS_hot_threshold")
    paddle.set_flags({"FLAGS_hot_threshold": 1})
    yield
    paddle.set_flags(before)


def test_scopes_hold_values_of_their_own() -> None:
    main, startup, executor, _, _ = _trained()
    outside = _value("fc_0.w_0")
    scope = static.Scope()
    with static.scope_guard(scope):
        with pytest.raises(RuntimeError, match="startup"):
            executor.run(main, {"x": X})
        executor.run(startup)
        first = _value("fc_0.w_0")
        executor.run(main, {"x": X})
        assert not np.array_equal(_value("fc_0.w_0"), first)
    np.testing.assert_array_equal(_value("fc_0.w_0"), outside)


def test_saving_and_loading_continues_training_exactly(tmp_path: Path, always_compiled: None) -> None:
    """Both runs are compiled: what runs operation by operation adds in another order."""
    main, startup, executor, _, _ = _trained()
    static.save(main, str(tmp_path / "folder" / "model"))
    assert sorted(p.name for p in (tmp_path / "folder").iterdir()) == ["model.pdopt", "model.pdparams"]

    def steps() -> np.ndarray:
        for _ in range(3):
            executor.run(main, {"x": X})
        return _value("fc_0.w_0")

    expected = steps()
    executor.run(startup)
    assert not np.array_equal(_value("fc_0.w_0"), expected)
    static.load(main, str(tmp_path / "folder" / "model"), executor)
    np.testing.assert_array_equal(steps(), expected)
    state = static.load_program_state(str(tmp_path / "folder" / "model"))
    assert {"fc_0.w_0", "fc_0.b_0", "fc_0.w_0_moment1_0"} <= set(state)
    static.set_program_state(main, {"fc_0.b_0": np.array([1.0, 2.0], "float32")})
    np.testing.assert_array_equal(_value("fc_0.b_0"), [1, 2])
    with pytest.raises(FileNotFoundError, match="pdparams"):
        static.load_program_state(str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="another shape"):
        static.set_program_state(main, {"fc_0.b_0": np.zeros(3, "float32")})


@pytest.mark.parametrize("legacy", [False, True])
def test_a_model_for_inference_comes_back(tmp_path: Path, legacy: bool) -> None:
    main, _, executor, x, out = _trained()
    (expected,) = executor.run(main.clone(for_test=True), {"x": X}, [out])
    before = _value("fc_0.w_0")
    static.save_inference_model(str(tmp_path / "model"), [x], [out], executor, program=main, legacy_format=legacy)
    np.testing.assert_array_equal(_value("fc_0.w_0"), before)
    program, names, targets = static.load_inference_model(str(tmp_path / "model"), executor)
    assert names == ["x"]
    for rows in (4, 2):
        (value,) = executor.run(program, {"x": X[:rows]}, targets)
        np.testing.assert_allclose(value, expected[:rows], rtol=1e-6)
    with pytest.raises(ValueError, match="needs the input x"):
        executor.run(program, {}, targets)
    with pytest.raises(ValueError, match="no input"):
        static.save_inference_model(str(tmp_path / "bad"), [out], [out], executor)


def test_programs_and_parameters_as_bytes(tmp_path: Path) -> None:
    main, _, executor, x, out = _trained()
    (expected,) = executor.run(main.clone(for_test=True), {"x": X}, [out])
    path = str(tmp_path / "program")
    static.save_to_file(path, static.serialize_program([x], [out]))
    parameters = static.serialize_persistables([x], [out], executor)
    program = static.deserialize_program(static.load_from_file(path))
    static.deserialize_persistables(program, parameters, executor)
    (value,) = executor.run(program, {"x": X}, program.results)
    np.testing.assert_allclose(value, expected, rtol=1e-6)
    normal = static.normalize_program(main, [x], [out])
    np.testing.assert_allclose(executor.run(normal, {"x": X}, [out])[0], expected, rtol=1e-6)


def test_the_moving_average_takes_the_parameters_place_and_leaves_it() -> None:
    main, startup, executor = static.Program(), static.Program(), static.Executor()
    with static.program_guard(main, startup):
        weight = static.create_parameter([2], "float32", name="averaged")
        paddle.optimizer.SGD(0.1).minimize((weight * weight).sum())
        average = static.ExponentialMovingAverage(0.9)
        average.update()
    executor.run(startup)
    seen, reference = [], np.zeros(2)
    for _ in range(3):
        seen.append(executor.run(main, fetch_list=[weight])[0])
        reference = 0.9 * reference + 0.1 * seen[-1]
    with average.apply(executor):
        np.testing.assert_allclose(_value("averaged"), reference / (1 - 0.9**3), rtol=1e-5)
    np.testing.assert_array_equal(_value("averaged"), seen[-1])
    with pytest.raises(RuntimeError, match="apply"):
        average.restore(executor)


def test_weight_normalisation_keeps_the_first_weight_and_trains_both_parts() -> None:
    main, startup, executor = static.Program(), static.Program(), static.Executor()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 3])
        attr = static.WeightNormParamAttr(dim=1, initializer=paddle.nn.initializer.Assign(X[:2].T))
        out = static.nn.fc(x, 2, weight_attr=attr, bias_attr=False)
        names = [p.name for p, _ in static.append_backward(out.square().mean())]
    executor.run(startup)
    np.testing.assert_allclose(executor.run(main, {"x": X}, [out])[0], X @ X[:2].T, rtol=1e-5)
    assert names == ["fc_0.w_0", "fc_0.w_1"]


def test_an_initializer_of_the_users_own_is_no_part_of_the_program() -> None:
    calls = []

    def fill(parameter: Any, block: Any = None) -> None:
        calls.append(parameter.name)
        parameter.set_value(paddle.to_tensor(np.full(2, len(calls), "float32")))

    main, startup, executor = static.Program(), static.Program(), static.Executor()
    with static.program_guard(main, startup):
        attr = paddle.ParamAttr(name="filled", initializer=fill)
        out = static.create_parameter([2], "float32", attr=attr) * 1
    executor.run(startup)
    assert calls == ["filled", "filled"]
    np.testing.assert_array_equal(executor.run(main, fetch_list=[out])[0], [2, 2])
    executor.run(startup)
    np.testing.assert_array_equal(executor.run(main, fetch_list=[out])[0], [3, 3])
