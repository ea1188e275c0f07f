"""A static program runs operation by operation until compiling it pays."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import static
from proa.graph import graph as graphs
from proa.ir.xla import started_jax


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The programs that are compiled for graphs meanwhile, by the usual rule."""
    started_jax()  # which the first program would pay for
    before = paddle.get_flags("FLAGS_hot_threshold")
    paddle.set_flags({"FLAGS_hot_threshold": 0})
    made: list[Any] = []
    original = graphs.CompiledProgram

    def compile_program(program: Any, *rest: Any) -> Any:
        made.append(program)
        return original(program, *rest)

    monkeypatch.setattr(graphs, "CompiledProgram", compile_program)
    paddle.enable_static()
    yield made
    paddle.disable_static()
    paddle.set_flags(before)


def _line() -> tuple[Any, Any, Any, Any]:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 3])
        weight = static.create_parameter([3, 1], "float32", default_initializer=paddle.nn.initializer.Constant(0.5))
        loss = ((x @ weight) ** 2).mean()
        paddle.optimizer.SGD(0.1).minimize(loss)
    executor = static.Executor()
    executor.run(startup)
    return executor, main, loss, weight


def test_training_of_few_steps_and_many_sizes_compiles_nothing(compiled: list[Any]) -> None:
    executor, main, loss, weight = _line()
    expected = np.full((3, 1), 0.5)
    random = np.random.default_rng(0)
    for size in (4, 7, 4, 2, 9, 4):
        x = random.normal(size=(size, 3)).astype("float32")
        product = x.astype("float64") @ expected
        (found,) = executor.run(main, feed={"x": x}, fetch_list=[loss])
        np.testing.assert_allclose(found, (product**2).mean(), rtol=1e-5)
        expected = expected - 0.1 * 2 * x.T.astype("float64") @ product / size
        np.testing.assert_allclose(static.global_scope().find_var(weight.name).get_tensor(), expected, rtol=1e-5)
    assert compiled == []


def test_heavy_work_that_comes_again_is_compiled(compiled: list[Any]) -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 400])
        y = paddle.tanh(x @ x.T) * 2 + 1
    executor = static.Executor()
    feed = {"x": np.ones((400, 400), "float32") / 400}
    expected = np.tanh(np.full((400, 400), 1 / 400)) * 2 + 1
    runs = 0
    while not compiled and runs < 200:
        (found,) = executor.run(main, feed=feed, fetch_list=[y])
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        runs += 1
    assert 2 < runs < 200
    np.testing.assert_allclose(executor.run(main, feed=feed, fetch_list=[y])[0], expected, rtol=1e-5)
    assert len(compiled) == 1


def test_an_error_in_values_names_the_line(compiled: list[Any]) -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None], "int64")
        y = paddle.gather(paddle.arange(4), x)
    executor = static.Executor()
    with pytest.raises(IndexError, match="allowed: -4 to 3") as raised:
        executor.run(main, feed={"x": np.array([1, 5])}, fetch_list=[y])
    assert any("test_cold_runs.py" in note for note in raised.value.__notes__)
    assert compiled == []


def test_sizes_that_keep_changing_share_a_program_once_that_pays(compiled: list[Any]) -> None:
    from proa.ir.report import STATISTICS
    from proa.ir.sizes.families import forget_families

    forget_families()
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 400])
        total = static.create_global_var([400], 0.0, "float32", persistable=True)
        y = x
        for _ in range(12):
            y = paddle.tanh(y) * 2
        mean = y.mean(0)
        paddle.assign(total + mean, total)
    executor = static.Executor()
    executor.run(startup)
    expected_total = np.zeros(400)
    before = STATISTICS.compiles
    for number in range(60):
        fed = np.random.default_rng(number).normal(size=(600 + 7 * number, 400)).astype("float32")
        expected = fed.astype("float64")
        for _ in range(12):
            expected = np.tanh(expected) * 2
        expected_total += expected.mean(0)
        found, whole = executor.run(main, feed={"x": fed}, fetch_list=[mean, y])
        np.testing.assert_allclose(found, expected.mean(0), atol=1e-4)
        np.testing.assert_allclose(whole, expected, atol=1e-3)
    np.testing.assert_allclose(static.global_scope().find_var(total.name).get_tensor(), expected_total, atol=1e-2)
    assert compiled == []
    assert 1 <= STATISTICS.compiles - before <= 3


def test_what_the_cache_has_is_loaded_sooner(tmp_path: pathlib.Path) -> None:
    def runs_until_compiled() -> int:
        done = subprocess.run(
            [sys.executable, "-c", _REPEATED], env=os.environ | {"PROA_CACHE_DIR": str(tmp_path)}, text=True,
            capture_output=True, check=True,
        )  # fmt: skip
        return int(done.stdout)

    first, second = runs_until_compiled(), runs_until_compiled()
    assert 2 < second < 0.7 * first < 100


_REPEATED = """
import numpy as np
import proa as paddle
from proa import static
from proa.graph import graph as graphs
from proa.ir.xla import started_jax
started_jax()
made, original = [], graphs.CompiledProgram
graphs.CompiledProgram = lambda *rest: made.append(rest[0]) or original(*rest)
paddle.set_flags({"FLAGS_hot_threshold": 0})
paddle.enable_static()
main = static.Program()
with static.program_guard(main, static.Program()):
    x = static.data("x", [None, 400])
    y = x
    for _ in range(12):
        y = paddle.tanh(y) * 2
runs = 0
while not made and runs < 200:
    static.Executor().run(main, feed={"x": np.ones((500, 400), "float32") / 400}, fetch_list=[y])
    runs += 1
print(runs)
"""
