"""The command line: `python -m tests.fuzz --help`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ..parity.environment import EnvironmentMissing, paddle_python
from .against import Against
from .execute import execute_all
from .generator import generate
from .minimise import minimise
from .pool import Worker, run_blocks
from .report import Progress, Summary, numbered, print_failure
from .worker import MODEL


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    add = result.add_argument
    add("--programs", type=int, default=200, help="how many programs (10000 for the full check)")
    add("--seed", type=int, default=0, help="seed of the first program")
    add("--jobs", type=int, default=2, help="processes at a time")
    add("--module", default="proa", help="module under test; paddle runs the programs only")
    add("--modes", help="comma-separated; the first is the reference (default immediate,auto)")
    add("--repeat", type=int, default=1, help="how often the modes after the first are run")
    add("--time-limit", type=float, default=60.0, help="seconds for one program in all modes")
    add("--block", type=int, default=100, help="programs that share a process and its caches")
    add("--most-failures", type=int, default=100, help="end the run after that many")
    add("--shown", type=int, default=10, help="how many failures are printed in full")
    add("--skip", action="append", default=[], metavar="FEATURE", help="leave out these programs")
    add("--save", type=Path, metavar="FOLDER", help="write failing programs to files there")
    add("--show", type=int, metavar="SEED", help="print a program")
    add("--run", type=int, metavar="SEED", help="run one program here and print what it records")
    add("--minimise", type=int, metavar="SEED", help="make a failing program shorter")
    add(
        "--against-paddle",
        nargs="?",
        const="",
        metavar="PYTHON",
        help="compare with Paddle, in that interpreter or in .venv-paddle, which is made where it is missing",
    )
    return result


def modes_of(arguments: argparse.Namespace) -> list[str | None]:
    if arguments.modes:
        return arguments.modes.split(",")
    if arguments.module in ("paddle", MODEL):
        return [None]
    return ["immediate"] + ["auto"] * arguments.repeat


def request_for(seed: int, arguments: argparse.Namespace) -> dict[str, Any]:
    return {"seed": seed, "module": arguments.module, "modes": modes_of(arguments)}


def main(words: list[str] | None = None) -> int:
    arguments = parser().parse_args(words)
    if arguments.show is not None:
        return show(arguments)
    if arguments.run is not None:
        return run_here(arguments)
    if arguments.minimise is not None:
        return minimise_seed(arguments)
    if arguments.against_paddle is not None:
        mode = modes_of(arguments)[0]
        try:
            python = arguments.against_paddle or paddle_python()
        except EnvironmentMissing as error:
            print(error, file=sys.stderr)
            return 2
        against = Against(arguments.module, mode, python, arguments.time_limit, arguments.shown)
        seeds = list(range(arguments.seed, arguments.seed + arguments.programs))
        return 0 if against.run(seeds, arguments.block, frozenset(arguments.skip)) else 1
    return run_many(arguments)


def run_many(arguments: argparse.Namespace) -> int:
    skip = frozenset(arguments.skip)
    last = arguments.seed + arguments.programs
    blocks = []
    for start in range(arguments.seed, last, arguments.block):
        seeds = range(start, min(last, start + arguments.block))
        blocks.append([request_for(seed, arguments) for seed in seeds if is_wanted(seed, arguments, skip)])
    summary = Summary()
    progress = Progress(max(1, sum(len(block) for block in blocks)))

    def report(answer: dict[str, Any]) -> bool:
        summary.add(answer)
        progress.advance(answer["seed"], bool(answer["differences"]))
        return len(summary.failed) < arguments.most_failures

    run_blocks(blocks, arguments.jobs, arguments.time_limit, report)
    for count, seed in enumerate(sorted(summary.failed)):
        explain_failure(arguments, summary.failed[seed], alone=count < arguments.shown)
    summary.print()
    if len(summary.failed) >= arguments.most_failures:
        print(f"the run ended early after {arguments.most_failures} failures")
    return 1 if summary.failed or is_empty(summary, modes_of(arguments)) else 0


def is_wanted(seed: int, arguments: argparse.Namespace, skip: frozenset[str]) -> bool:
    """Whether a program is to be run; writing it takes a while, so that it is done where something depends on it."""
    if not skip and arguments.module != "paddle":
        return True
    program = generate(seed, arguments.module)
    # What is not comparable may crash Paddle.
    return not program.features & skip and (arguments.module != "paddle" or program.comparable)


def is_empty(summary: Summary, modes: list[str | None]) -> bool:
    """Whether the run says nothing: no programs, or many and none of them ever compiled."""
    if summary.programs == 0:
        print("no program was run")
        return True
    if "auto" in modes and summary.programs >= 50 and not summary.programs_compiled:
        print("nothing was compiled, so that both modes did the same")
        return True
    return False


def explain_failure(arguments: argparse.Namespace, answer: dict[str, Any], alone: bool) -> None:
    """Print a failure, having tried whether it happens in a fresh process as well."""
    seed = answer["seed"]
    source = generate(seed, arguments.module).source
    if arguments.save:
        arguments.save.mkdir(parents=True, exist_ok=True)
        (arguments.save / f"program{seed}.py").write_text(source)
    if not alone:
        return
    worker = Worker(arguments.module)
    again = worker.ask(request_for(seed, arguments), arguments.time_limit)
    worker.close()
    if again["differences"]:
        note = f"(fails alone: --seed {seed} --programs 1)"
    else:
        first = arguments.seed + (seed - arguments.seed) // arguments.block * arguments.block
        note = f"(fails after others: --seed {first} --programs {seed - first + 1} --jobs 1)"
    print_failure(source, answer, note)


def show(arguments: argparse.Namespace) -> int:
    program = generate(arguments.show, arguments.module)
    print(numbered(program.source))
    print(f"\n# features: {', '.join(sorted(program.features))}")
    if program.wrong_line:
        print(f"# meant to fail in line {program.wrong_line}: {program.wrong_kind}")
    return 0


def run_here(arguments: argparse.Namespace) -> int:
    program = generate(arguments.run, arguments.module)
    for mode in modes_of(arguments):
        for repetition, outcome in enumerate(execute_all(program, arguments.module, mode)):
            print(f"\nmode {mode}, repetition {repetition}, {outcome.seconds:.2f} s")
            for entry in outcome.entries.values():
                print(f"{entry.key} (line {entry.line}) =", entry.value)
            if outcome.failure:
                print(f"line {outcome.failure.line}:\n{outcome.failure.trace}")
    return 0


def minimise_seed(arguments: argparse.Namespace) -> int:
    """Shorten the program of a seed; a hang is tried with a shorter limit."""
    request = request_for(arguments.minimise, arguments)
    source = generate(arguments.minimise, arguments.module).source
    workers = [Worker(arguments.module)]

    def ask(**more: Any) -> dict[str, Any]:
        if not workers[0].alive:
            workers[0] = Worker(arguments.module)
        return workers[0].ask({**request, **more}, min(arguments.time_limit, 20.0))

    whole = ask()
    if not whole["differences"]:
        print(f"seed {arguments.minimise} does not fail by itself")
        return 1
    wanted = signature(whole)

    def still_fails(candidate: str) -> bool:
        return signature(ask(source=candidate)) == wanted

    shortest = minimise(source, still_fails)
    print_failure(shortest, ask(source=shortest) if shortest != source else whole)
    workers[0].close()
    return 1


def signature(answer: dict[str, Any]) -> tuple[object, ...]:
    """What must stay the same: how the modes differ and which error, if any, the reference met."""
    plan = ("unplanned error", "no error")  # compared with the generator's plan, not between modes
    kinds = sorted({one["kind"] for one in answer["differences"]} - set(plan))
    failure = answer["failure"]
    return (*kinds, failure and (failure["kind"], failure["message"][:40]))
