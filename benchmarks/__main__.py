"""`python -m benchmarks`: measure proa beside PaddlePaddle and PyTorch on this machine."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import workloads
from benchmarks.harness import report
from benchmarks.harness.environments import EnvironmentMissing, peer_contender, subject_contender
from benchmarks.harness.machine import machine_facts
from benchmarks.harness.measure import measure, progress
from benchmarks.harness.memory import draw_memory, measure_memory
from benchmarks.harness.processes import Contender
from benchmarks.harness.registry import BENCHMARKS, Benchmark, select

RESULTS = Path(__file__).resolve().parent / "results"
BUSY_LOAD = 0.7
QUICK_ROUNDS = {"hot": 3, "fresh": 2, "import": 2, "memory": 10}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog="See benchmarks/README.md for how to read the table.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run (all when none is named)")
    parser.add_argument("--list", action="store_true", help="list the benchmarks and stop")
    parser.add_argument("--rounds", type=int, help="rounds of each contender (default: its own)")
    parser.add_argument(
        "--peers",
        default="paddle,torch",
        help="comma-separated: paddle, torch, jax (hand-written, where there is such a version), "
        "commit:HASH (proa as it was then); empty for none (default: %(default)s)",
    )
    parser.add_argument("--quick", action="store_true", help="few rounds, to see that everything runs")
    parser.add_argument("--json", action="store_true", help="print the records as JSON instead of the table")
    parser.add_argument(
        "--results",
        type=Path,
        help="folder for JSON and PNG (default: benchmarks/results, or its folder `quick`)",
    )
    arguments = parser.parse_args()
    if arguments.rounds is not None and arguments.rounds < 1:
        parser.error(f"--rounds has to be at least 1; received {arguments.rounds}")
    try:
        arguments.benchmarks = select(arguments.names)
    except ValueError as error:
        parser.error(str(error))
    return arguments


def find_peers(names: list[str], subject: Contender) -> list[Contender]:
    """The peers that can be had; one that cannot is named with the reason and left out."""
    peers = []
    for name in names:
        try:
            peers.append(peer_contender(name, subject))
        except EnvironmentMissing as error:
            progress(f"without {name}: {error}")
    return peers


def rounds_of(benchmark: Benchmark, arguments: argparse.Namespace) -> int:
    if arguments.rounds is not None:
        return arguments.rounds
    return QUICK_ROUNDS[benchmark.mode] if arguments.quick else benchmark.rounds


def has_family(benchmark: Benchmark, peer: Contender) -> bool:
    """Whether the workload has a version for this peer (hand-written JAX exists for few)."""
    return benchmark.mode == "import" or peer.family in workloads.families(benchmark.workload)


def run_one(benchmark: Benchmark, subject: Contender, peers: list[Contender], rounds: int) -> dict[str, Any]:
    if benchmark.mode == "memory":
        return measure_memory(benchmark, subject, rounds)
    return measure(benchmark, subject, [p for p in peers if has_family(benchmark, p)], rounds)


def main() -> int:
    arguments = parse_arguments()
    if arguments.list:
        widths = [max(len(getattr(benchmark, part)) for benchmark in BENCHMARKS) + 2 for part in ("name", "title")]
        for benchmark in BENCHMARKS:
            goal = benchmark.bar.text if benchmark.bar else ""
            print(f"{benchmark.name:{widths[0]}}{benchmark.title:{widths[1]}}{goal}")
        return 0
    folder = arguments.results or (RESULTS / "quick" if arguments.quick else RESULTS)
    subject = subject_contender()
    peers = find_peers([name for name in arguments.peers.split(",") if name], subject)
    facts = machine_facts()
    if facts["load_average"] > BUSY_LOAD:
        progress(f"the machine is busy (load {facts['load_average']}): trust ratios, not figures")
    records = []
    for benchmark in arguments.benchmarks:
        if arguments.quick:
            benchmark = replace(benchmark, warm_seconds=min(1.0, benchmark.warm_seconds))
        record = run_one(benchmark, subject, peers, rounds_of(benchmark, arguments))
        record.update(quick=arguments.quick, subject_module=subject.module, machine=facts)
        report.save(record, folder)
        records.append(record)
        if benchmark.mode == "memory" and record["samples"]:
            draw_memory(record, folder / "memory.png")
    report.draw_chart(report.saved_records(folder), folder / "benchmarks.png")
    if arguments.json:
        print(json.dumps(records, indent=1, ensure_ascii=False))
    else:
        print(f"{facts['processor']}, {facts['cores']} cores, {facts['date']}")
        report.print_table(records)
    progress(f"saved in {folder}")
    failed = any(contender["error"] for record in records for contender in record["contenders"])
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted; what was finished is saved")
