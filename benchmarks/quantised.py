"""`python -m benchmarks.quantised`: layers of bytes beside our own float32 layers and PyTorch's quantised ones.

Layers of ResNet-50 and of an encoder (workloads/operations/quantised.py). The bar: as fast as PyTorch's own. The
line of a layer ends with how much faster than our own float32 it is. Results are kept in benchmarks/results/quantised.json,
one row for each layer and way; a run replaces the rows that it measured.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from benchmarks.harness.environments import subject_contender
from benchmarks.harness.measure import measure
from benchmarks.harness.ratios import Bar
from benchmarks.harness.registry import MILLISECONDS, Benchmark
from benchmarks.inference import find_peers, keep
from benchmarks.workloads.operations.quantised import CONV, LAYERS, LINEAR

RESULTS = Path(__file__).resolve().parent / "results" / "quantised.json"
WAYS = ("int8", "float32")


def operations_of(layer: str) -> float:
    """Multiplications and additions of a layer."""
    if layer in LINEAR:
        rows, inputs, outputs = LINEAR[layer]
        return 2.0 * rows * inputs * outputs
    images, channels, size, filters, kernel, stride, groups = CONV[layer]
    return 2.0 * images * (size // stride) ** 2 * filters * (channels // groups) * kernel**2


def benchmark_of(layer: str, way: str, peers: tuple[str, ...], tiny: bool) -> Benchmark:
    """The benchmark of one layer in bytes or in float32."""
    options: dict[str, Any] = {"layer": layer, "way": way}
    return Benchmark(
        name=f"{layer}-{way}",
        title=f"{layer}, {way}",
        mode="hot",
        unit=MILLISECONDS,
        workload="operations.quantised",
        options={**options, "tiny": True} if tiny else options,
        repeats=1 if tiny else 20,
        warm_seconds=0.0 if tiny else 0.3,
        warm_runs=1 if tiny else 4,
        bar=Bar(1.0, peers, "≥ 1 × PyTorch") if way == "int8" else None,
    )


def best(record: dict[str, Any], position: int) -> float | None:
    """The best seconds of one contender, the subject being the first."""
    contenders = record["contenders"]
    seconds = contenders[position].get("seconds") if position < len(contenders) else None
    return min(seconds) if seconds else None


def show(layer: str, records: dict[str, dict[str, Any]]) -> str:
    """A line: times, operations in a second, ratios."""
    ours, theirs = best(records["int8"], 0), best(records["int8"], 1)
    floats = best(records["float32"], 0) if "float32" in records else None
    if ours is None:
        return f"{layer:20}failed"
    text = f"{layer:20}{1e3 * ours:8.3f} ms {operations_of(layer) / ours / 1e9:6.0f} GOP/s"
    text += f"   torch {1e3 * theirs:8.3f} ms ({theirs / ours:.2f} x)" if theirs else ""
    return text + (f"   float32 {1e3 * floats:8.3f} ms ({floats / ours:.2f} x)" if floats else "")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quantised", description=__doc__)
    parser.add_argument("--only", default=",".join(LAYERS), help="comma-separated layers (default: all)")
    parser.add_argument("--ways", default=",".join(WAYS), help="comma-separated (default: %(default)s)")
    parser.add_argument("--peers", default="torch", help="comma-separated; empty for none")
    parser.add_argument("--rounds", type=int, default=8, help="rounds of each contender (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="small inputs and two rounds, to see that everything runs")
    parser.add_argument("--results", type=Path, help="the file to write (default: benchmarks/results/quantised.json)")
    arguments = parser.parse_args()
    arguments.layers = [name for name in arguments.only.split(",") if name]
    arguments.chosen = [name for name in arguments.ways.split(",") if name]
    unknown = sorted((set(arguments.layers) - set(LAYERS)) | (set(arguments.chosen) - set(WAYS)))
    if unknown or arguments.rounds < 1:
        parser.error(f"there is no {', '.join(unknown)}" if unknown else "--rounds has to be at least 1")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    subject = subject_contender()
    peers = find_peers([name for name in arguments.peers.split(",") if name], subject)
    rounds = 2 if arguments.quick else arguments.rounds
    path = arguments.results or (RESULTS.parent / "quick" / RESULTS.name if arguments.quick else RESULTS)
    met = True
    for layer in arguments.layers:
        records = {}
        for way in arguments.chosen:
            names = tuple(peer.name for peer in peers)
            record = measure(benchmark_of(layer, way, names, arguments.quick), subject, peers, rounds)
            keep([record], path)
            records[way] = record
            for difference in record["value_differences"]:
                print(f"  {difference}")
                met = False
            met = met and (record["bar"] or {}).get("met") is not False
        if "int8" in records:
            print(show(layer, records), flush=True)
    return 0 if met or arguments.quick else 1


if __name__ == "__main__":
    sys.exit(main())
