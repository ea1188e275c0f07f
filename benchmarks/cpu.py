"""`python -m benchmarks.cpu` (or `make bench-cpu`): training steps on the CPU, proa beside every form of its peers.

Contenders: `proa` (plain eager code) and `proa-static` (`train_step`), `torch`, `torch-channels-last` (pictures),
`torch-compile`, `paddle` and `paddle-static` (`to_static`), `jax` (by hand, three models). All start from the same
weights and batches, and the first losses are compared. Rounds alternate; as many contenders are alive at a time as memory
allows, proa always among them, and a ratio compares only rounds that were run in turns. Beside each time stands the most
memory that the process had. Inference is measured by `python -m benchmarks.inference`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.harness.cpu_report import draw, print_table, table_text
from benchmarks.harness.environments import EnvironmentMissing, peer_contender, subject_contender
from benchmarks.harness.machine import machine_facts
from benchmarks.harness.measure import measure_hot, new_series, progress
from benchmarks.harness.processes import Contender
from benchmarks.harness.ratios import Bar, Series, judge, ratio, value_differences
from benchmarks.harness.registry import MILLISECONDS, Benchmark

RESULTS = Path(__file__).resolve().parent / "results"
EAGER = ("torch", "torch-channels-last", "paddle")
# What a contender is made of: the framework, and the form that the workload is asked for.
FORMS = {
    "proa": ("proa", "eager"),
    "proa-static": ("proa", "static"),
    "torch": ("torch", "eager"),
    "torch-channels-last": ("torch", "channels_last"),
    "torch-compile": ("torch", "compile"),
    "paddle": ("paddle", "eager"),
    "paddle-static": ("paddle", "static"),
    "jax": ("jax", ""),
}
# torch.compile needs a C++ compiler and minutes: only where it is asked for.
DEFAULT_PEERS = [name for name in FORMS if name not in ("proa", "torch-compile")]
# The first values of batch norm over small planes differ most.
TOLERANCE = 5e-3
LOW_TOLERANCE = 2e-2  # in bfloat16, whose roundings each framework places elsewhere


@dataclass(frozen=True)
class Row:
    """A model to train: how it is measured, with which options when tiny, and who takes part."""

    benchmark: Benchmark
    tiny: dict[str, Any]
    contenders: tuple[str, ...]
    gigabytes: float  # about what one process takes
    tolerance: float = TOLERANCE  # of the first losses


def row(
    name: str, title: str, workload: str, options: dict[str, Any], tiny: dict[str, Any], speed: float, *,
    steps: int = 1, rounds: int = 4, gigabytes: float = 1.5, without: tuple[str, ...] = (), tolerance: float = TOLERANCE,
) -> Row:  # fmt: skip
    """A row of the table; the bar is set against the fastest eager peer."""
    against = tuple(peer for peer in EAGER if peer not in without)
    benchmark = Benchmark(
        name=name, title=title, mode="hot", unit=MILLISECONDS, work=steps, workload=f"models.{workload}",
        options={"num_steps": steps, **options}, rounds=rounds, warm_seconds=0.0, warm_runs=4,
        bar=Bar(speed, against, f"≥ {speed} × the fastest eager peer"),
    )  # fmt: skip
    return Row(benchmark, tiny, tuple(form for form in FORMS if form not in without), gigabytes, tolerance)


GPT2 = {"num_layers": 12, "width": 768, "num_heads": 12, "num_tokens": 256, "batch": 2, "vocabulary": 50257}
TINY_GPT = {"num_layers": 2, "width": 64, "num_heads": 2, "num_tokens": 16, "batch": 2, "vocabulary": 128}
TINY_PICTURES = {"batch": 2, "extent": 64}
NOT_PICTURES = ("torch-channels-last",)
ROWS = [
    row(
        "resnet50-8", "ResNet-50, batch 8", "pictures", {"model": "resnet50", "batch": 8}, TINY_PICTURES, 1.0,
        gigabytes=2.3,
    ),
    row(
        "resnet50-32", "ResNet-50, batch 32", "pictures", {"model": "resnet50", "batch": 32}, TINY_PICTURES, 1.0,
        rounds=3, gigabytes=6.0, without=("proa-static", "torch-compile", "paddle-static", "jax"),
    ),
    row(
        "encoder", "transformer encoder, 4 layers, 768 wide, 128 tokens, batch 8", "encoder", {},
        {"batch": 2, "num_tokens": 8, "num_layers": 1}, 1.1, rounds=6, without=NOT_PICTURES,
    ),
    # Paddle's own auto_cast stays in float32 on a CPU.
    row(
        "resnet50-8-bf16", "ResNet-50, batch 8, auto_cast in bfloat16", "pictures",
        {"model": "resnet50", "batch": 8, "precision": "bfloat16"}, TINY_PICTURES, 1.0, gigabytes=2.3,
        without=("paddle", "paddle-static", "jax"), tolerance=LOW_TOLERANCE,
    ),
    row(
        "encoder-bf16", "the same encoder, auto_cast in bfloat16", "encoder", {"precision": "bfloat16"},
        {"batch": 2, "num_tokens": 8, "num_layers": 1}, 1.0, rounds=6,
        without=(*NOT_PICTURES, "paddle", "paddle-static", "jax"), tolerance=LOW_TOLERANCE,
    ),
    row(
        "gpt2", "GPT-2-small-shaped, 12 layers, 768 wide, 256 tokens, batch 2", "char_gpt", GPT2, TINY_GPT, 1.1,
        gigabytes=4.5, without=NOT_PICTURES,
    ),
    row(
        "mobilenet", "MobileNetV3-large, batch 16", "pictures", {"model": "mobilenet", "batch": 16}, TINY_PICTURES, 1.1,
        gigabytes=2.5, without=("jax",),
    ),
    row(
        "lstm", "nn.LSTM 2 × 256, 64 steps, batch 32", "lstm_layer", {}, {"batch": 2, "length": 4}, 1.2,
        steps=10, rounds=6, gigabytes=1.0, without=(*NOT_PICTURES, "jax"),
    ),
    row(
        "deepfm", "DeepFM, 26 sparse fields of up to 100,000 rows, batch 2048", "deepfm", {}, {"batch": 8, "rows": 100}, 1.2,
        steps=2, rounds=6, gigabytes=2.0, without=(*NOT_PICTURES, "jax"),
    ),
]  # fmt: skip


def parse_arguments() -> argparse.Namespace:
    names = [r.benchmark.name for r in ROWS]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="list the models and stop")
    parser.add_argument("--only", default="", help=f"comma-separated: {', '.join(names)} (default: all)")
    parser.add_argument(
        "--peers", default=",".join(DEFAULT_PEERS), help="comma-separated; also: torch-compile (default: %(default)s)"
    )
    parser.add_argument("--rounds", type=int, help="rounds of each contender (default: 3 to 6)")
    parser.add_argument(
        "--limit", type=float, default=1500.0, help="stop after this many seconds (default: %(default)s)"
    )
    parser.add_argument("--quick", action="store_true", help="tiny sizes and two rounds, to see that everything runs")
    parser.add_argument(
        "--results",
        type=Path,
        help="folder for JSON, table and PNG (default: benchmarks/results, or its folder `quick`)",
    )
    arguments = parser.parse_args()
    arguments.only = [name for name in arguments.only.split(",") if name] or names
    arguments.peers = [name for name in arguments.peers.split(",") if name]
    for given, known in ((arguments.only, names), (arguments.peers, list(FORMS))):
        unknown = [name for name in given if name not in known]
        if unknown:
            parser.error(f"there is no {', '.join(unknown)}; there are: {', '.join(known)}")
    if arguments.rounds is not None and arguments.rounds < 1:
        parser.error(f"--rounds has to be at least 1; received {arguments.rounds}")
    return arguments


def find_contenders(names: list[str]) -> dict[str, Contender]:
    """The contenders that can be had; one that cannot is named with the reason and left out."""
    subject = subject_contender()
    found: dict[str, Contender] = {}
    for name in ["proa", *[n for n in names if n != "proa"]]:
        framework, form = FORMS[name]
        try:
            base = subject if framework == "proa" else peer_contender(framework, subject)
        except EnvironmentMissing as error:
            progress(f"without {name}: {error}")
            continue
        options = {"form": form} if form else {}
        # proa compiles when it has seen a step often enough; the others need no more than one step.
        found[name] = replace(base, name=name, options=options, warm_runs=None if framework == "proa" else 2)
    return found


def free_gigabytes() -> float:
    """Memory that processes may still take."""
    try:
        with open("/proc/meminfo", encoding="utf-8") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("MemAvailable")) / 2**20
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**31


def heats(row: Row, subject: Contender, peers: list[Contender]) -> list[list[Contender]]:
    """Groups that fit into memory together, the subject in each of them."""
    room = max(1, int(0.75 * free_gigabytes() / row.gigabytes) - 1)
    return [[subject, *peers[i : i + room]] for i in range(0, len(peers), room)] or [[subject]]


def measure_row(row: Row, contenders: dict[str, Contender], rounds: int, deadline: float) -> dict[str, Any]:
    """All heats of one model, and what follows from them."""
    benchmark = row.benchmark
    progress(f"{benchmark.name}: {benchmark.title}, {rounds} rounds")
    peers = [contenders[name] for name in row.contenders if name in contenders and name != "proa"]
    ours: Series | None = None
    others: list[Series] = []
    pairs: list[tuple[Series, Series]] = []
    for heat in heats(row, contenders["proa"], peers):
        left = deadline - time.monotonic()
        if left < 20:
            others += [replace(new_series(c), error=f"{c.label}: no time left") for c in heat[1:]]
            continue
        subject, *found = measure_hot(benchmark, heat, rounds, timeout=left)
        pairs += [(subject, other) for other in found]
        others += found
        ours = subject if ours is None else joined(ours, subject)
    if ours is None:
        ours = replace(new_series(contenders["proa"]), error="proa: no time left")
    return {
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "work": benchmark.work,
        "rounds": rounds,
        "contenders": [one.as_json() for one in (ours, *others)],
        "ratios": [asdict(ratio(subject, other)) for subject, other in pairs if subject.usable and other.usable],
        "bar": judge_pairs(pairs, benchmark.bar) if benchmark.bar else None,
        "value_differences": value_differences([ours, *others], row.tolerance),
    }


def joined(first: Series, second: Series) -> Series:
    """Two heats of the same contender as one series."""
    peaks = [[p for p in pair if p is not None] for pair in (
        (first.peak_bytes, second.peak_bytes), (first.round_peak_bytes, second.round_peak_bytes)
    )]  # fmt: skip
    return replace(
        first,
        seconds=[*first.seconds, *second.seconds],
        error=first.error or second.error,
        peak_bytes=max(peaks[0], default=None),
        round_peak_bytes=max(peaks[1], default=None),
    )


def judge_pairs(pairs: list[tuple[Series, Series]], bar: Bar) -> dict[str, Any]:
    """The verdict against the hardest opponent, each compared within its own heat; and the memory beside it."""
    verdicts = [
        judge(ours, [other], replace(bar, against=(other.name,))) for ours, other in pairs if other.name in bar.against
    ]
    measured = [v for v in verdicts if "by_minimum" in v]
    missing = [name for name in bar.against if not any(o.name == name and o.usable for _, o in pairs)]
    result: dict[str, Any] = {"text": bar.text, "speed": bar.speed, "against": list(bar.against)}
    if not measured:
        return {**result, "met": None, "why": "not measured"}
    result["by_minimum"] = min(v["by_minimum"] for v in measured)
    result["by_rounds"] = min(v["by_rounds"] for v in measured)
    memory = [
        ours.peak_bytes / other.peak_bytes
        for ours, other in pairs
        if other.name in bar.against and ours.peak_bytes and other.peak_bytes
    ]
    result["memory"] = max(memory, default=None)
    if missing:
        return {**result, "met": None, "why": f"{', '.join(missing)} not measured"}
    reached = [result[key] >= bar.speed for key in ("by_minimum", "by_rounds")]
    return {**result, "met": all(reached), "why": "by one measure only" if any(reached) and not all(reached) else ""}


def save(records: list[dict[str, Any]], facts: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    """Writes the records beside those of earlier runs, which stay until they are measured again."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "cpu.json"
    kept: dict[str, Any] = {}
    if path.exists():
        kept = {record["benchmark"]: record for record in json.loads(path.read_text(encoding="utf-8"))["records"]}
    kept.update({record["benchmark"]: {**record, "machine": facts} for record in records})
    ordered = [kept[r.benchmark.name] for r in ROWS if r.benchmark.name in kept]
    path.write_text(json.dumps({"records": ordered}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "cpu.md").write_text(table_text(ordered), encoding="utf-8")
    draw(ordered, folder / "cpu.png")
    return ordered


def main() -> int:
    arguments = parse_arguments()
    if arguments.list:
        for one in ROWS:
            print(
                f"{one.benchmark.name:14}{one.benchmark.title:68}{one.benchmark.bar.text if one.benchmark.bar else ''}"
            )
        return 0
    deadline = time.monotonic() + arguments.limit
    contenders = find_contenders(arguments.peers)
    facts = machine_facts()
    folder = arguments.results or (RESULTS / "quick" if arguments.quick else RESULTS)
    records = []
    for one in ROWS:
        if one.benchmark.name not in arguments.only:
            continue
        if deadline - time.monotonic() < 20:
            progress(f"{one.benchmark.name}: left out, {arguments.limit:.0f} s are over")
            continue
        if arguments.quick:
            small = {**one.benchmark.options, **one.tiny, "num_steps": 1}
            one = replace(one, benchmark=replace(one.benchmark, options=small, work=1), gigabytes=0.7)
        rounds = arguments.rounds or (2 if arguments.quick else one.benchmark.rounds)
        records.append(measure_row(one, contenders, rounds, deadline))
        save(records, {**facts, "quick": arguments.quick}, folder)
    print_table(records)
    progress(f"saved in {folder}: cpu.json, cpu.md, cpu.png")
    return 1 if any(c["error"] for record in records for c in record["contenders"]) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted; what was finished is saved")
