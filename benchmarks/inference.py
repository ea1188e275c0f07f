"""`python -m benchmarks.inference`: one call of a model, at batch 1 and 8.

By default saved models behind `paddle.inference`: proa's engines beside Paddle Inference, ONNX Runtime and OpenVINO
(engines.py). `--way to_static` measures six models beside Paddle's `to_static` and PyTorch's optimised modules; the bar
there: at least as fast as both. `--way predictor` puts a Predictor in the place of `to_static`. Results are kept in
benchmarks/results/inference.json, one row for each model, batch and way; a run replaces the rows that it measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.harness import saved_models as engines
from benchmarks.harness.environments import EnvironmentMissing, peer_contender, subject_contender
from benchmarks.harness.machine import machine_facts
from benchmarks.harness.measure import measure, progress
from benchmarks.harness.processes import Contender
from benchmarks.harness.ratios import Bar
from benchmarks.harness.registry import MILLISECONDS, Benchmark
from benchmarks.workloads.inference import MODELS

RESULTS = Path(__file__).resolve().parent / "results" / "inference.json"
# Calls in a round: enough of them that a round is not shorter than a hundredth of a second.
REPEATS = {"deepfm": 100, "lstm": 4, "mobilenet": 2}


def benchmark_of(model: str, batch: int, way: str, peers: tuple[str, ...], tiny: bool) -> Benchmark:
    """The benchmark of one model at one batch size."""
    options: dict[str, Any] = {"model": model, "batch": batch, "way": way}
    return Benchmark(
        name=f"{model}-{batch}-{way}",
        title=f"{model}, batch {batch}, {way}",
        mode="hot",
        unit=MILLISECONDS,
        workload="inference",
        options={**options, "tiny": True} if tiny else options,
        repeats=1 if tiny else REPEATS.get(model, 1),
        warm_seconds=0.0 if tiny else 0.5,
        warm_runs=1 if tiny else 4,
        bar=Bar(1.0, peers, "≥ 1 × the faster of both"),
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inference", description=__doc__)
    parser.add_argument("--only", default="", help="comma-separated models (default: all)")
    parser.add_argument("--batches", default="1,8", help="comma-separated batch sizes (default: %(default)s)")
    parser.add_argument("--way", choices=("engines", "to_static", "predictor"), default="engines")
    parser.add_argument("--precisions", default="float32,bfloat16", help="of engines, comma-separated (default: both)")
    parser.add_argument("--peers", help="comma-separated; empty for none (default: all)")
    parser.add_argument("--rounds", type=int, default=8, help="rounds of each contender (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="small inputs and two rounds, to see that everything runs")
    parser.add_argument("--results", type=Path, help="the file to write (default: benchmarks/results/inference.json)")
    arguments = parser.parse_args()
    known = engines.MODELS if arguments.way == "engines" else MODELS
    if arguments.peers is None:
        arguments.peers = ",".join(engines.OTHERS) if arguments.way == "engines" else "paddle,torch"
    arguments.models = [name for name in arguments.only.split(",") if name] or list(known)
    unknown = sorted(set(arguments.models) - set(known))
    if unknown:
        parser.error(f"--only: there is no model {', '.join(unknown)}; there are {', '.join(known)}")
    unknown = sorted(set(arguments.precisions.split(",")) - set(engines.PRECISIONS))
    if unknown:
        parser.error(f"--precisions: there is no {', '.join(unknown)}; there are {', '.join(engines.PRECISIONS)}")
    try:
        arguments.sizes = [int(size) for size in arguments.batches.split(",")]
    except ValueError:
        parser.error(f"--batches has to be a list of numbers; received {arguments.batches!r}")
    if arguments.rounds < 1 or min(arguments.sizes) < 1:
        parser.error("--rounds and --batches have to be at least 1")
    return arguments


def find_peers(names: list[str], subject: Contender) -> list[Contender]:
    """The peers that can be had; who is missing is named and left out."""
    found = []
    for name in names:
        try:
            found.append(peer_contender(name, subject))
        except EnvironmentMissing as error:
            progress(f"{name} is left out: {error}")
    return found


def keep(records: list[dict[str, Any]], path: Path) -> None:
    """Puts records into the file, in the place of older ones of the same name."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))["rows"]
    except (OSError, ValueError, KeyError):
        known = []
    new = {record["benchmark"]: record for record in records}
    rows = [new.pop(row["benchmark"], row) for row in known] + list(new.values())
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps({"machine": machine_facts(), "rows": rows}, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


def show(record: dict[str, Any]) -> str:
    """A line: the best times in milliseconds, and the ratio to the faster peer."""
    cells = []
    for contender in record["contenders"]:
        seconds = contender.get("seconds") or []
        text = f"{1e3 * min(seconds):9.2f} ms" if seconds else "      failed"
        cells.append(f"{contender['name']} {text}")
    bar = record["bar"] or {}
    ratio = f"{bar['by_minimum']:.2f} x" if "by_minimum" in bar else "-"
    return f"{record['benchmark']:24}{'   '.join(cells)}   {ratio}"


def main() -> int:
    arguments = parse_arguments()
    names = [name for name in arguments.peers.split(",") if name]
    rounds = 2 if arguments.quick else arguments.rounds
    path = arguments.results or (RESULTS.parent / "quick" / RESULTS.name if arguments.quick else RESULTS)
    if arguments.way == "engines":
        precisions = arguments.precisions.split(",")
        met = engines.measure_engines(
            arguments.models, arguments.sizes, precisions, names, rounds, arguments.quick, lambda row: keep([row], path)
        )
        return 0 if met or arguments.quick else 1
    subject = subject_contender()
    peers = find_peers(names, subject)
    met = True
    for model in arguments.models:
        for batch in arguments.sizes:
            names = tuple(peer.name for peer in peers)
            record = measure(benchmark_of(model, batch, arguments.way, names, arguments.quick), subject, peers, rounds)
            keep([record], path)
            print(show(record), flush=True)
            for difference in record["value_differences"]:
                print(f"  {difference}")
                met = False
            met = met and (record["bar"] or {}).get("met") is not False
    return 0 if met or arguments.quick else 1


if __name__ == "__main__":
    sys.exit(main())
