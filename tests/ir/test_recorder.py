"""The recorder: two tiers, what is compiled and when, donation, threads, failures, interruption."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import proa as paddle
from proa.ir import recorder, report
from proa.ir.recorder import LOCAL
from proa.ir.tiers import executables, kept, worth
from proa.ir.transforms import donation


def tensor(values: object, **options: object) -> paddle.Tensor:
    return paddle.to_tensor(np.asarray(values, "float32"), **options)


@pytest.fixture(autouse=True)
def _clean() -> None:
    recorder.flush_current()


def compiles() -> int:
    return report.STATISTICS.compiles


def test_work_waits_until_somebody_looks() -> None:
    y = tensor([1.0, 2.0]) * 3.0 + 1.0
    assert y._value is None
    assert y.shape == [2]
    np.testing.assert_array_equal(y.numpy(), [4.0, 7.0])
    assert y._value is not None


def test_cold_code_is_not_compiled_and_hot_code_is() -> None:
    x = tensor(np.arange(7.0))
    before = compiles()
    results = []
    for _ in range(6):
        results.append((x * 1.25 + x * x + 0.5).numpy())
        if len(results) == 2:
            assert compiles() == before, "two runs are not hot"
    assert compiles() == before + 1
    for result in results:
        np.testing.assert_allclose(result, np.arange(7.0) * 1.25 + np.arange(7.0) ** 2 + 0.5, rtol=1e-6)


def test_a_changing_python_number_never_recompiles() -> None:
    x = tensor(np.arange(5.0))
    before = None
    for step in range(12):
        rate = 0.1 / (step + 1)
        y = (x * rate + step).numpy()
        np.testing.assert_allclose(y, np.arange(5.0) * rate + step, rtol=1e-6)
        if step == 4:
            before = compiles()
    assert compiles() == before


def test_new_shapes_are_not_compiled_one_by_one() -> None:
    before = compiles()
    for size in range(2, 20):
        np.testing.assert_array_equal((tensor(np.ones(size)) + 1.0).numpy(), np.full(size, 2.0))
    assert compiles() == before


def test_only_live_results_are_kept() -> None:
    x = tensor(np.ones(3))
    a = x + 1.0
    b = a * 2.0
    del a
    c = b + 1.0
    segment = LOCAL.segment
    c.numpy()
    assert segment.done
    assert b._value is not None


def test_an_executable_with_more_outputs_serves() -> None:
    x = tensor(np.ones(4))
    for _ in range(5):
        a = x * 2.0
        b = a + 3.0
        b.numpy()
    before = compiles()
    for _ in range(5):
        b = (x * 2.0) + 3.0
        np.testing.assert_array_equal(b.numpy(), np.full(4, 5.0))
    assert compiles() == before, "the program that also keeps `a` could have been used"


def test_buffers_nobody_refers_to_are_donated() -> None:
    state = tensor(np.zeros((64, 64)))
    for _ in range(6):
        state = state + 1.0
        recorder.flush_current()
    np.testing.assert_array_equal(state.numpy(), np.full((64, 64), 6.0))
    assert any(record.donated for record in kept.PROGRAMS.values())


def test_a_donated_buffer_that_somebody_kept_is_copied() -> None:
    def round_(state: paddle.Tensor) -> paddle.Tensor:
        state = state * 1.5 + 0.25
        recorder.flush_current()
        return state

    state = tensor(np.ones(9))
    for _ in range(6):
        state = round_(state)
    kept = state
    expected = kept.numpy()
    state = round_(state)
    state = round_(state)
    np.testing.assert_array_equal(kept.numpy(), expected)


def test_host_arrays_are_never_overwritten() -> None:
    source = np.ones((128, 128), "float32")
    x = paddle.to_tensor(source)
    for _ in range(6):
        x = x + 1.0
        recorder.flush_current()
        source_copy = source.copy()
        np.testing.assert_array_equal(source, source_copy)
    assert source[0, 0] == 1.0


def test_window_is_bounded_and_aligned_to_the_loop() -> None:
    before = paddle.get_flags("FLAGS_window")["FLAGS_window"]
    paddle.set_flags({"FLAGS_window": 100})
    try:
        x = tensor(np.zeros(3))
        LOCAL.window = 0
        start = compiles()
        for _ in range(1000):
            x = x + 1.0
            x = x * 1.0
            x = x - 0.5
            assert len(LOCAL.segment.refs) <= 110
        assert 1 <= compiles() - start <= 3, "whole rounds of the loop are one program"
        np.testing.assert_allclose(x.numpy(), np.full(3, 500.0))
    finally:
        paddle.set_flags({"FLAGS_window": before})
        LOCAL.window = 0


def test_immediate_mode_runs_at_once_and_compiles_nothing() -> None:
    before = compiles()
    with paddle.jit.eager_mode("immediate"):
        x = tensor(np.ones(3))
        for _ in range(10):
            x = x * 1.5
            assert x._value is not None
    assert compiles() == before
    np.testing.assert_allclose(x.numpy(), np.full(3, 1.5**10), rtol=1e-6)


def test_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="auto"), paddle.jit.eager_mode("sometimes"):
        pass
    paddle.set_flags({"FLAGS_eager_mode": "auto"})


def test_threads_hand_over_pending_tensors() -> None:
    x = tensor(np.arange(6.0))
    handed: list[paddle.Tensor] = []
    ready, finish = threading.Event(), threading.Event()

    def work() -> None:
        y = x * 2.0
        handed.append(y + 1.0)
        ready.set()
        finish.wait(30)
        handed.append(handed[0] + y)

    thread = threading.Thread(target=work)
    thread.start()
    assert ready.wait(30)
    np.testing.assert_array_equal(handed[0].numpy(), np.arange(6.0) * 2 + 1)
    np.testing.assert_array_equal((handed[0] * 1.0).numpy(), np.arange(6.0) * 2 + 1)
    finish.set()
    thread.join(30)
    np.testing.assert_array_equal(handed[1].numpy(), np.arange(6.0) * 4 + 1)


def test_many_threads_share_inputs() -> None:
    x = tensor(np.arange(32.0))
    failures: list[str] = []

    def work(number: int) -> None:
        for step in range(60):
            y = (x * float(number) + float(step)) * x
            expected = (np.arange(32.0, dtype="float32") * number + step) * np.arange(32.0, dtype="float32")
            if not np.allclose(y.numpy(), expected, rtol=1e-5):
                failures.append(f"thread {number}, step {step}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failures


def test_explain_says_what_was_compiled_and_why() -> None:
    x = tensor(np.ones((3, 5)))
    for _ in range(4):
        (x * x * 0.5).numpy()
    x = tensor(np.ones((4, 5)))
    for _ in range(4):
        (x * x * 0.5).numpy()
    explanation = paddle.jit.explain()
    assert explanation.num_programs >= 2
    assert "float32[3, 5], now float32[4, 5]" in explanation.programs[-1].reason
    text = str(explanation)
    assert "multiply x2" in text
    assert "compile s" in text


def test_compiled_programs_are_bounded() -> None:
    before = paddle.get_flags("FLAGS_max_programs")
    paddle.set_flags({"FLAGS_max_programs": 4})
    try:
        for size in range(30, 40):
            x = tensor(np.ones(size))
            for _ in range(4):
                (x * 0.5 + 0.125).numpy()
        assert paddle.jit.explain().num_programs <= 4
    finally:
        paddle.set_flags(before)


def test_nan_check_names_operation_and_line_in_both_tiers() -> None:
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        x = tensor([1.0, 0.0])
        for _ in range(4):
            (x * 2.0 + 1.0).numpy()
        for attempt in range(5):
            y = x * float("inf" if attempt in (0, 4) else "1")  # the line that is named
            line = sys._getframe().f_lineno - 1
            z = y + 1.0
            if attempt in (0, 4):
                with pytest.raises(FloatingPointError, match=r"\(multiply\)") as caught:
                    z.numpy()
                assert caught.value.proa_location == (__file__, line)
            else:
                z.numpy()
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})


def test_a_failed_value_raises_the_same_error_when_used_later() -> None:
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        y = tensor([1.0]) * float("nan")
        with pytest.raises(FloatingPointError):
            y.numpy()
        with pytest.raises(FloatingPointError):
            (y + 1.0).numpy()
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})


def test_huge_results_are_refused_at_the_call() -> None:
    x = tensor(np.ones((1 << 20, 1)))
    with pytest.raises(MemoryError, match="add"):
        x + tensor(np.ones((1, 1 << 24)))
    np.testing.assert_array_equal((tensor([1.0]) + 1.0).numpy(), [2.0])


def test_donatable_counts_references_exactly() -> None:
    import jax.numpy as jnp

    held = jnp.ones(3)
    assert donation.donatable([held]) == ()
    values = [jnp.ones(3), held, np.ones(3)]
    assert donation.donatable(values) == (0, 2)


def test_no_reference_cycles_from_recording() -> None:
    gc.collect()
    gc.disable()
    try:
        x = tensor(np.ones(4))
        x.stop_gradient = False
        for _ in range(5):
            y = (x * 2.0 + 1.0) * x
            y.sum().backward()
            x.clear_grad()
            del y
        recorder.flush_current()
        assert gc.collect() == 0
    finally:
        gc.enable()


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
import proa as paddle

signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background may have been told to ignore it
x = paddle.to_tensor(np.ones((256, 256), "float32"))
state = x
stopped = threading.Event()


def press() -> None:
    # Python drops an interrupt that arrives inside a garbage collector's callback: a person presses again.
    time.sleep(float(sys.argv[1]))
    while not stopped.is_set():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(2.0)


threading.Thread(target=press, daemon=True).start()
rounds = 0
try:
    while rounds < 1000000:
        state = (state + x) * 0.5
        if rounds % 5 == 0:
            paddle.device.synchronize()
        rounds += 1
except KeyboardInterrupt:
    stopped.set()
assert stopped.is_set()
assert np.isfinite(state.numpy()).all()
assert (x * 2.0).numpy()[0, 0] == 2.0
print("usable")
"""


@pytest.mark.parametrize("delay", [0.02, 0.3, 1.0, 2.5])
def test_interrupting_leaves_the_process_usable(delay: float) -> None:
    result = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(delay)],
        capture_output=True,
        text=True,
        timeout=120,
        env=dict(os.environ),
    )
    assert "usable" in result.stdout, result.stderr


def test_signal_handler_is_restored() -> None:
    before = signal.getsignal(signal.SIGINT)
    state = tensor(np.ones(5))
    for _ in range(6):
        state = state + 1.0
        recorder.flush_current()
    assert signal.getsignal(signal.SIGINT) is before
    assert time.perf_counter() > 0


def test_what_cannot_be_compiled_runs_op_by_op(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> None:
        raise RuntimeError("no compiler today")

    monkeypatch.setattr(executables, "compile_program", refuse)

    def run() -> None:
        for _ in range(6):
            np.testing.assert_allclose((x * 3.0 + 2.0).numpy(), np.arange(11.0) * 3 + 2)

    x = tensor(np.arange(11.0))
    with pytest.warns(RuntimeWarning, match="no compiler today") as caught:
        run()
    assert len(caught) == 1, "told once, not at every run"


def test_heavy_work_is_compiled_when_first_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worth, "_HEAVY", 3 * 700)
    for length, compiles in ((701, 1), (699, 0)):  # three operations make just more, and just less, than that
        x = paddle.ones([length])
        paddle.sum(x).item()
        before = report.STATISTICS.compiles
        total = float(((x + 1.0) * 2.0 - 3.0)[-1])
        assert total == 1.0
        assert report.STATISTICS.compiles - before == compiles
