"""When a path is compiled: by counted work, not by the clock and not by a number of sightings."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.core.place import CPU
from proa.ir.recorder import LOCAL, flush_current
from proa.ir.report import STATISTICS
from proa.ir.sizes import families
from proa.ir.tiers import cupy_tier, worth
from proa.ir.xla import started_jax


@pytest.fixture(autouse=True)
def by_cost() -> Iterator[None]:
    started_jax()  # which the first program of a process would pay for
    before = paddle.get_flags("FLAGS_hot_threshold")
    paddle.set_flags({"FLAGS_hot_threshold": 0})
    yield
    paddle.set_flags(before)


def compiles(function: object, times: int) -> int:
    """After how many calls something was compiled; `times` if nothing was."""
    before = STATISTICS.compiles
    for number in range(times):
        function()  # type: ignore[operator]
        if STATISTICS.compiles > before:
            return number
    return times


def test_light_work_that_comes_a_few_times_is_never_compiled() -> None:
    x = paddle.to_tensor(np.ones((7, 3), np.float32))
    assert compiles(lambda: float((x * 2 + 1).exp().sum()), 300) == 300


def test_the_heavier_the_work_the_sooner() -> None:
    def repeated(size: int, operations: int) -> int:
        x = paddle.to_tensor(np.full((size,), 0.5, np.float32))

        def work() -> None:
            y = x
            for _ in range(operations):
                y = y.tanh() * 0.9
            y.numpy()

        return compiles(work, 60)

    heavy, medium = repeated(2_000_000, 11), repeated(200_000, 11)
    assert heavy < medium < 60


def test_products_count_their_multiplications() -> None:
    x = paddle.to_tensor(np.ones((600, 600), np.float32) / 600)
    assert compiles(lambda: (x @ x).numpy(), 80) < 60


def test_shapes_that_keep_changing_are_not_compiled_and_leave_no_trace_for_ever() -> None:
    from proa.ir import trace

    net = paddle.nn.Linear(4, 4)
    before = STATISTICS.compiles
    trace.forget_traces()
    for size in range(1, 1200):
        net(paddle.ones([size, 4])).sum().backward()
        net.weight.grad.numpy()
        net.clear_gradients()
    assert STATISTICS.compiles == before
    assert trace._Count.nodes <= trace._FIRST_LIMIT + 100
    trace.forget_unused()
    assert 0 < trace._Count.nodes <= trace._FIRST_LIMIT // 2 + 100
    y = net(paddle.ones([3, 4]))  # grows again
    np.testing.assert_allclose(y.numpy(), net.weight.numpy().sum(0) + net.bias.numpy() + np.zeros((3, 4)), rtol=1e-6)


def test_a_compiled_path_survives_forgetting() -> None:
    from proa.ir import trace

    x = paddle.to_tensor(np.ones((500, 500), np.float32) / 500)

    def work() -> np.ndarray:
        return ((x @ x) * 3.0).numpy()

    assert compiles(work, 60) < 60
    for _ in range(3):
        trace.forget_unused()
    hits, made = STATISTICS.hits, STATISTICS.compiles
    np.testing.assert_allclose(work(), np.full((500, 500), 3 / 500), rtol=1e-5)
    assert STATISTICS.hits == hits + 1
    assert STATISTICS.compiles == made


def test_a_number_of_sightings_can_be_asked_for() -> None:
    paddle.set_flags({"FLAGS_hot_threshold": 2})
    x = paddle.to_tensor(np.ones((3, 11), np.float32))
    assert compiles(lambda: float((x * 2 - 7).sum()), 5) == 1


def test_what_the_cache_has_pays_sooner(tmp_path: pathlib.Path) -> None:
    """In a second process, with the folder of the first one."""
    script = """
import numpy as np, proa as paddle
from proa.ir.report import STATISTICS
from proa.ir.xla import started_jax
started_jax()
x = paddle.to_tensor(np.ones((300, 300), np.float32) / 300)
for number in range(1000):
    ((x @ x).tanh() @ x).numpy()
    if STATISTICS.compiles:
        break
print(number)
"""
    environment = {**os.environ, "PROA_CACHE_DIR": str(tmp_path), "PROA_HOT_THRESHOLD": "0"}

    def run() -> int:
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=300, check=True
        )
        return int(done.stdout)

    first, second = run(), run()
    assert 0 < second < first * 0.7
    assert first < 1000


def test_the_first_programs_pay_for_starting_xla_together(tmp_path: pathlib.Path) -> None:
    """In processes of their own: rounds until something is compiled, with XLA started, without, and with two paths."""
    script = """
import sys, numpy as np, proa as paddle
from proa.ir.report import STATISTICS
from proa.ir.xla import started_jax
if sys.argv[1] == "started":
    started_jax()
x = paddle.to_tensor(np.ones((100, 1000), np.float32))
for number in range(10_000):
    (x * 2 + 1).tanh().numpy()
    if sys.argv[1] == "two":
        (x * 3 - 1).tanh().numpy()
    if STATISTICS.compiles:
        break
print(number)
"""
    environment = {**os.environ, "PROA_CACHE_DIR": str(tmp_path), "PROA_HOT_THRESHOLD": "0"}

    def rounds(kind: str) -> int:
        command = [sys.executable, "-c", script, kind]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=True)
        return int(done.stdout)

    started, alone, two = rounds("started"), rounds("alone"), rounds("two")
    assert started < two < alone < 10_000
    assert two - started == pytest.approx((alone - started) / 2, abs=2)


def test_what_nobody_needs_is_not_run_again() -> None:
    x = paddle.to_tensor(np.arange(6.0, dtype=np.float32))

    def work() -> tuple[int, np.ndarray]:
        before = STATISTICS.cold_instructions
        doubled = x * 2
        ((doubled + 1).exp() * 5).sum()  # read by nobody
        found = (doubled - 3).numpy()
        return STATISTICS.cold_instructions - before, found

    counted = []
    for _ in range(3):
        count, found = work()
        counted.append(count)
        np.testing.assert_array_equal(found, np.arange(6) * 2 - 3)
    assert counted == [6, 2, 2]


def test_what_is_not_needed_is_checked_all_the_same() -> None:
    x, places = paddle.to_tensor(np.ones(4, np.float32)), paddle.to_tensor([8])
    for _ in range(4):
        doubled = x * 2
        paddle.gather(x, places + 1)  # which is not known at the call
        with pytest.raises(IndexError, match="allowed: -4 to 3"):
            doubled.numpy()


def test_a_gpu_has_prices_of_its_own() -> None:
    """Calls cost more there, elements less, and compiling much more than on a CPU."""
    from proa.core.place import CPU, make_place
    from proa.ir.recorder import LOCAL, flush_current
    from proa.ir.tiers import cost

    flush_current()
    x = paddle.ones([1000, 1000])
    y = (x * 2.0) @ x
    program = LOCAL.segment.node.program((y._index,))
    gpu = make_place("gpu", 0)
    assert cost.cold_work(program, gpu) < cost.cold_work(program, CPU) / 20
    assert cost.compiling_work(program, None, gpu) > 1.5 * cost.compiling_work(program, None, CPU)


def test_the_first_step_is_the_same_program_as_the_others() -> None:
    """Neither how parameters are filled nor the states that an optimiser makes belong to it."""
    paddle.set_flags({"FLAGS_hot_threshold": 1})
    net = paddle.nn.Sequential(paddle.nn.Linear(5, 7), paddle.nn.ReLU(), paddle.nn.Linear(7, 3))
    optimizer = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
    x = paddle.to_tensor(np.ones((4, 5), np.float32))
    x.numpy()
    before = STATISTICS.compiles
    for _ in range(3):
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    float(loss)
    assert STATISTICS.compiles == before + 1


def test_numbers_of_16_bits_are_compiled_sooner() -> None:
    """NumPy has no arithmetic for them: what runs uncompiled costs several times as much."""
    from proa.core.place import CPU
    from proa.ir.recorder import LOCAL, flush_current
    from proa.ir.tiers import cost

    def lost(dtype: str) -> float:
        flush_current()
        x = paddle.ones([1000, 1000], dtype)
        y = (x * x).exp() + x
        return cost.cold_work(LOCAL.segment.node.program((y._index,)), CPU)

    assert lost("bfloat16") > 3 * lost("float32")
    assert lost("float16") == lost("bfloat16")


def test_a_program_that_takes_longer_to_start_than_its_calls_saves_nothing() -> None:
    """Reading a sum is quicker op by op, however often it is done; a chain of twenty is not."""
    from proa.core.place import CPU
    from proa.ir.recorder import LOCAL, flush_current
    from proa.ir.tiers.executables import find_entry

    def pays(length: int) -> bool:
        flush_current()
        y = paddle.to_tensor(np.ones(8, np.float32))
        for _ in range(length):
            y = y.tanh()
        entry = find_entry(LOCAL.segment.node, (y._index,))
        entry.count = 10**6
        return entry.pays(CPU)

    assert [pays(length) for length in (1, 4, 20)] == [False, False, True]


# ---- large programs that run as well op by op: convolutions on a GPU, by cuDNN -------------------------


@pytest.fixture
def ready_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels of what is large are ready ones, and everything is large."""
    monkeypatch.setattr(worth, "_HEAVY", 1)
    monkeypatch.setattr(cupy_tier, "suits", lambda program, place: True)
    families.forget_families()


def _pooled(extent: int) -> None:
    x = paddle.to_tensor(np.ones((1, 2, extent, extent), np.float32))
    (x * 1.5).tanh().sum(axis=[2, 3]).numpy()


def test_what_runs_well_op_by_op_is_compiled_when_it_comes_again_in_its_size(ready_kernels: None) -> None:
    assert compiles(lambda: _pooled(13), 10) == 2


def test_what_runs_well_op_by_op_is_not_compiled_for_sizes_that_keep_changing(ready_kernels: None) -> None:
    sizes = iter(np.random.default_rng(0).permutation(np.repeat(np.arange(14, 25), 9)))
    assert compiles(lambda: _pooled(int(next(sizes))), 99) == 99


def test_what_does_not_is_compiled_at_first_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worth, "_HEAVY", 1)
    assert compiles(lambda: _pooled(26), 3) == 0


def _program_of(function: Any, *shapes: tuple[int, ...]) -> Any:
    """What is recorded of a function of arrays."""
    flush_current()
    results = function(*[paddle.ones(shape) for shape in shapes])
    segment = LOCAL.segment
    program = segment.node.program((results._index,))
    flush_current()
    return program


def test_programs_of_convolutions_run_well_where_cudnn_is(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = types.SimpleNamespace(get_limit=lambda: 1 << 20)
    monkeypatch.setattr(cupy_tier, "serves", lambda place: True)
    monkeypatch.setattr(cupy_tier, "_device", lambda place: types.SimpleNamespace(pool=pool))
    conv = paddle.nn.functional.conv2d
    small, large = [_program_of(lambda x, w: conv(x, w).tanh(), (1, 2, n, n), (3, 2, 3, 3)) for n in (17, 400)]
    products = _program_of(lambda x, w: (x @ w).tanh() @ w, (9, 9), (9, 9))
    assert not cupy_tier.suits(small, CPU)  # without cuDNN's front end
    (convolution,) = [i for i in small.instructions if i.operation.contracts]
    monkeypatch.setattr(convolution.operation.kernels["cupy"], "is_ready", lambda: True)
    assert cupy_tier.suits(small, CPU)
    assert not cupy_tier.suits(large, CPU)  # 1.9 MB at a time
    assert not cupy_tier.suits(products, CPU)
    monkeypatch.setitem(cupy_tier.REFUSED, (convolution.operation, cupy_tier._types(convolution)), "why")
    assert not cupy_tier.suits(small, CPU)
