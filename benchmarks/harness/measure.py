"""How a benchmark is measured: rounds alternate between worker processes, one at work at a time."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmarks.harness.processes import Contender, Worker, WorkerError
from benchmarks.harness.ratios import Series, judge, ratio, value_differences
from benchmarks.harness.registry import Benchmark


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def rotated(items: Sequence[Any], by: int) -> list[Any]:
    """The same items, starting elsewhere: nobody always runs right after the same neighbour."""
    shift = by % len(items) if items else 0
    return [*items[shift:], *items[:shift]]


def expand_threads(benchmark: Benchmark, peers: list[Contender]) -> list[Contender]:
    """Each peer once for each thread count that the benchmark gives it."""
    return [replace(peer, threads=n) for peer in peers for n in benchmark.peer_threads]


def new_series(contender: Contender) -> Series:
    return Series(contender.name, contender.label, contender.threads)


@contextmanager
def awake(worker: Worker) -> Iterator[Worker]:
    """Wake a sleeping worker for the length of a block."""
    worker.wake()
    try:
        yield worker
    finally:
        worker.sleep()


def attempt(series: Series, action: Callable[[], None]) -> bool:
    """Run an action of one contender; a failure is written down and ends only that contender."""
    try:
        action()
    except WorkerError as error:
        series.error = str(error)
        progress(f"  {series.label} gave up: {series.error.splitlines()[0]}")
        return False
    return True


def note_peak(worker: Worker, series: Series, timeout: float) -> None:
    """The most memory the process had during the rounds, and in all."""
    with awake(worker):
        series.round_peak_bytes = worker.ask("memory", timeout)["peak_bytes"]
    if series.round_peak_bytes is not None:
        series.peak_bytes = max(series.peak_bytes or 0, series.round_peak_bytes)


def measure_hot(benchmark: Benchmark, contenders: list[Contender], rounds: int, timeout: float = 600.0) -> list[Series]:
    """Long-lived workers, warmed up, then one round of each in turn."""
    all_series = [new_series(contender) for contender in contenders]
    with ExitStack() as stack:
        workers: list[tuple[Series, Worker]] = []
        for contender, series in zip(contenders, all_series, strict=True):
            worker = stack.enter_context(Worker(contender))

            def begin(worker: Worker = worker, series: Series = series) -> None:
                options = {**benchmark.options, **worker.contender.options}
                answer = worker.ask("load", timeout, workload=benchmark.workload, options=options)
                series.version = answer["version"]
                runs = worker.contender.warm_runs or benchmark.warm_runs
                answer = worker.ask("warm", timeout, runs=runs, seconds=benchmark.warm_seconds)
                series.first_run_seconds = answer["first_run_seconds"]
                series.first_value = answer["first_value"]
                series.peak_bytes = worker.ask("memory", timeout, forget=True)["peak_bytes"]
                worker.sleep()

            if attempt(series, begin):
                workers.append((series, worker))
            else:
                worker.close()  # It may still be busy, and would disturb the others.
        for number in range(rounds):
            for series, worker in rotated(workers, number):
                if series.error is not None:
                    continue

                def one_round(worker: Worker = worker, series: Series = series) -> None:
                    with awake(worker):
                        answer = worker.ask("round", timeout, repeats=benchmark.repeats)
                    series.seconds.append(answer["seconds"] / benchmark.repeats)

                if not attempt(series, one_round):
                    worker.close()
        for series, worker in workers:
            if series.usable:
                attempt(series, lambda worker=worker, series=series: note_peak(worker, series, timeout))
    return all_series


def measure_fresh(benchmark: Benchmark, contenders: list[Contender], rounds: int) -> list[Series]:
    """A new process for every round of every contender; only its first pass (or import) counts."""
    all_series = [new_series(contender) for contender in contenders]
    pairs = list(zip(contenders, all_series, strict=True))
    for number in range(rounds):
        for contender, series in rotated(pairs, number):
            if series.error is not None:
                continue

            def one_process(contender: Contender = contender, series: Series = series) -> None:
                # An empty cache folder: nothing that an earlier process compiled may help.
                with (
                    tempfile.TemporaryDirectory() as cache,
                    Worker(contender, cache=Path(cache)) as worker,
                ):
                    if benchmark.mode == "import":
                        answer = worker.ask("import")
                        series.version = answer["version"]
                        series.seconds.append(answer["import_seconds"])
                        return
                    options = {**benchmark.options, **contender.options}
                    answer = worker.ask("load", workload=benchmark.workload, options=options)
                    series.version = answer["version"]
                    answer = worker.ask("round", repeats=1)
                    series.first_value = answer["value"]
                    series.seconds.append(answer["seconds"])

            attempt(series, one_process)
    return all_series


def measure(benchmark: Benchmark, subject: Contender, peers: list[Contender], rounds: int) -> dict[str, Any]:
    """Measure one benchmark (of any mode but `memory`) and return its record."""
    progress(f"{benchmark.name}: {benchmark.title}, {rounds} rounds")
    contenders = [subject, *expand_threads(benchmark, peers)]
    if benchmark.mode == "import":
        # What proa stands on, in proa's own environment; a bar is set against it.
        plain_jax = Contender("jax", "jax", "jax", subject.python)
        contenders = [subject, plain_jax, *[peer for peer in peers if peer.name != "jax"]]
    run = measure_hot if benchmark.mode == "hot" else measure_fresh
    series = run(benchmark, contenders, rounds)
    ours, others = series[0], series[1:]
    record: dict[str, Any] = {
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "mode": benchmark.mode,
        "unit": benchmark.unit.name,
        "work": benchmark.work,
        "rounds": rounds,
        "repeats": benchmark.repeats,
        "contenders": [one.as_json() for one in series],
        "ratios": [asdict(ratio(ours, other)) for other in others if ours.usable and other.usable],
        "bar": judge(ours, others, benchmark.bar) if benchmark.bar else None,
        "value_differences": value_differences(series),
    }
    return record
