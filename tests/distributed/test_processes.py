"""Several processes: what they exchange, in which order, and what happens when one of them does not come."""

from __future__ import annotations

import os
import threading
import time

import pytest

from proa.distributed.transport import exchange, store

from .support.processes import run_processes

# Several processes on two cores, beside whatever else runs there.
pytestmark = pytest.mark.timeout(300)
WORKER = "tests.distributed.workers.group_worker"


def test_two_processes_agree_with_numpy() -> None:
    outputs = run_processes(2, ["-m", "tests.distributed.collectives", "--worker", "--small"])
    assert [output.strip().splitlines()[-1] for output in outputs] == [
        "process 0 of 2: all agree",
        "process 1 of 2: all agree",
    ]


def test_gradients_and_memory_and_order() -> None:
    names = ["gradients", "in_place", "uneven_steps", "refusals"]
    for output in run_processes(2, ["-m", WORKER, ",".join(names)]):
        assert [line for line in output.splitlines() if line.endswith(" done")] == [f"{name} done" for name in names]


def test_data_is_divided_and_gradients_are_averaged() -> None:
    names = ["threads", "regression", "passes", "unused", "different", "mixed", "native", "in_place"]
    names += ["parallel_operators", "fleet_job"]
    arguments = ["-m", "tests.distributed.workers.data_parallel_worker", ",".join(names)]
    for output in run_processes(2, arguments, PROA_NUM_THREADS="1"):
        assert [line for line in output.splitlines() if line.endswith(" done")] == [f"{name} done" for name in names]


def test_groups_that_connect_at_once_keep_the_output(capfd: pytest.CaptureFixture[str]) -> None:
    """Gloo's greetings are taken out of what else is written meanwhile; the first to connect may be the first to be done."""
    both, first_is_done = threading.Barrier(2), threading.Event()

    def first() -> None:
        with exchange._GREETINGS:
            both.wait(10)
            os.write(1, b"loss [Gloo] Rank 0 is connected to 1 peer ranks.\n0.5\n")
        first_is_done.set()

    def second() -> None:
        with exchange._GREETINGS:
            both.wait(10)
            assert first_is_done.wait(10)
            os.write(1, b"[Gloo] Rank 1 is connected to 1 peer ranks.\nmeanwhile\n")

    threads = [threading.Thread(target=call) for call in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.write(1, b"afterwards\n")
    assert capfd.readouterr().out == "loss 0.5\nmeanwhile\nafterwards\n"


def test_who_is_missing_is_named() -> None:
    outputs = run_processes(2, ["-m", WORKER, "absent"])
    messages = [line for line in outputs[0].splitlines() if "waited" in line]
    assert len(messages) == 2
    assert "(all_reduce) waited 3 s for process 1; received a group of processes 0, 1, float32[2]" in messages[0]
    assert "(barrier) waited 3 s for process 1" in messages[1]


@pytest.mark.parametrize(
    ("what", "status", "words"), [("killed", -9, ""), ("failing", 1, "ArithmeticError: on purpose"), ("leaving", 7, "")]
)
def test_a_process_that_ends_does_not_leave_the_others_waiting(what: str, status: int, words: str) -> None:
    begin = time.monotonic()
    outputs = run_processes(2, ["-m", WORKER, what], expect=[1, status])
    assert time.monotonic() - begin < 60
    assert "(all_reduce) another process has ended or cannot be reached" in outputs[0]
    assert words in outputs[1]


def test_functions_are_called_in_another_process() -> None:
    for output in run_processes(2, ["-m", "tests.distributed.workers.rpc_worker"], PROA_JOB_KEY="secret"):
        assert output.strip().endswith("calls done")


def test_objects_of_strangers_are_not_unpickled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROA_JOB_KEY", "one")
    letter = store.signed(b"data")
    assert store.checked(letter) == b"data"
    monkeypatch.setenv("PROA_JOB_KEY", "another")
    with pytest.raises(RuntimeError, match="not signed with this job's PROA_JOB_KEY"):
        store.checked(letter)
