"""Memory over a long run: samples of resident memory and of the number of compiled programs."""

from __future__ import annotations

from pathlib import Path
from statistics import linear_regression
from typing import Any

from benchmarks.harness.measure import new_series, progress
from benchmarks.harness.processes import Contender, Worker, WorkerError
from benchmarks.harness.registry import Benchmark

GOAL = "memory flat, programs bounded"
# The first part of the run, in which programs are compiled and pools filled.
WARM_UP_SHARE = 0.2
# "Flat": the fitted line climbs no more than this over the rest of the run.
ALLOWED_GROWTH_BYTES = 8 * 2**20


def measure_memory(benchmark: Benchmark, subject: Contender, rounds: int) -> dict[str, Any]:
    """Run the long loop on the subject alone, a sample after each round."""
    steps_per_round = int(benchmark.work)
    progress(f"{benchmark.name}: {benchmark.title}, {rounds * steps_per_round:,} steps")
    series = new_series(subject)
    samples: list[dict[str, Any]] = []
    try:
        with Worker(subject) as worker:
            answer = worker.ask("load", workload=benchmark.workload, options=benchmark.options)
            series.version = answer["version"]
            for number in range(rounds):
                answer = worker.ask("round", repeats=1)
                series.seconds.append(answer["seconds"])
                samples.append({"steps": (number + 1) * steps_per_round, **answer["samples"]})
    except WorkerError as error:
        series.error = str(error)
        progress(f"  {series.label} gave up: {series.error.splitlines()[0]}")
    return {
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "mode": benchmark.mode,
        "unit": benchmark.unit.name,
        "work": benchmark.work,
        "rounds": rounds,
        "contenders": [series.as_json()],
        "samples": samples,
        "bar": judge_memory(samples) if series.usable else {"text": GOAL, "met": None, "why": "not measured"},
    }


def judge_memory(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """Slope after warm-up, growth of the program count, and whether both are as they should be."""
    after = [s for s in samples if s["steps"] > WARM_UP_SHARE * samples[-1]["steps"]]
    if len(after) < 3:
        return {"text": GOAL, "met": None, "why": "too few samples"}
    steps = [sample["steps"] for sample in after]
    line = linear_regression(steps, [sample["resident_bytes"] for sample in after])
    growth = line.slope * (steps[-1] - steps[0])
    programs = [sample["num_programs"] for sample in after]
    # Programs may still come when a rare batch size turns up late, but not for ever.
    second_half = programs[len(programs) // 2 :]
    bounded = None if None in programs else second_half[-1] == second_half[0]
    flat = growth <= ALLOWED_GROWTH_BYTES
    verdict: dict[str, Any] = {
        "text": GOAL,
        "bytes_per_step": line.slope,
        "growth_bytes": growth,
        "allowed_growth_bytes": ALLOWED_GROWTH_BYTES,
        "resident_bytes": after[-1]["resident_bytes"],
        "num_programs": programs[-1],
        "flat": flat,
        "bounded": bounded,
    }
    if bounded is None:
        return {**verdict, "met": None, "why": "the framework does not count its programs"}
    complaints = [] if flat else [f"memory grew by {growth / 2**20:.1f} MiB"]
    if not bounded:
        complaints.append(f"programs still grew, to {programs[-1]}")
    return {**verdict, "met": not complaints, "why": "; ".join(complaints)}


def draw_memory(record: dict[str, Any], path: Path) -> None:
    """The curve of resident memory and, where it is known, of the program count."""
    from matplotlib.figure import Figure

    samples = record["samples"]
    steps = [sample["steps"] for sample in samples]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    resident = [sample["resident_bytes"] / 2**20 for sample in samples]
    axes.plot(steps, resident, color="#1f6f8b")
    axes.axvline(WARM_UP_SHARE * steps[-1], color="grey", linestyle=":", linewidth=1)
    axes.set(
        xlabel="training steps",
        ylabel="resident memory, MiB",
        title=f"{steps[-1]:,} steps, batch sizes among 8",
    )
    axes.set_ylim(0, 1.15 * max(resident))
    if samples[-1]["num_programs"] is not None:
        right = axes.twinx()
        right.plot(steps, [s["num_programs"] for s in samples], color="#c8553d", linestyle="--")
        right.set_ylabel("compiled programs (dashed)")
        right.set_ylim(0, 1.3 * max(s["num_programs"] for s in samples) + 1)
    figure.savefig(path, dpi=120)
