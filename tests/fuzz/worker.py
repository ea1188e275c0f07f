"""The process that runs programs; it is started by `pool` and talks in lines of JSON.

A request names a seed (or brings a program's text) and the modes; the answer says what differed.
With "dump" the outcome is written to a file instead, for a comparison across interpreters.
"""

from __future__ import annotations

import dataclasses
import faulthandler
import importlib
import json
import os
import signal
import sys
from typing import Any

import numpy as np

from .compare import Difference, Statistics, check_plan, compare
from .execute import Failure, Outcome, execute
from .generator import generate
from .program import Program
from .runtime import Entry


def program_of(request: dict[str, Any]) -> Program:
    program = generate(request["seed"], request["module"])
    if "source" in request:
        program = dataclasses.replace(program, source=request["source"], wrong_line=None)
    return program


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Run one program in all modes asked for and compare them with the first."""
    program = program_of(request)
    module, modes = request["module"], request["modes"]
    before = compiled_so_far(module)
    outcomes = [execute(program, module, mode) for mode in modes]
    after = compiled_so_far(module)
    reference = outcomes[0]
    if "dump" in request:
        save(request["dump"], reference)
    statistics = Statistics()
    planned = not (module == "paddle" and not program.comparable)
    differences: list[Difference] = []
    if "source" not in request:
        differences = check_plan(program, reference, planned)
    for mode, outcome in zip(modes[1:], outcomes[1:], strict=True):
        found = compare(program, reference, outcome, statistics)
        differences += [Difference(one.kind, f"{modes[0]} against {mode}: {one.text}") for one in found]
    failure = reference.failure
    return {
        "seed": program.seed,
        "features": sorted(program.features),
        "differences": [dataclasses.asdict(one) for one in differences],
        "failure": dataclasses.asdict(failure) if failure else None,
        "statistics": dataclasses.asdict(statistics),
        "compiles": after[0] - before[0],
        "compiled_runs": after[1] - before[1],
        "seconds": [outcome.seconds for outcome in outcomes],
    }


def compiled_so_far(module_name: str) -> tuple[int, int]:
    """How many segments were compiled and how often compiled ones ran; zeros where unknown."""
    explain = getattr(getattr(sys.modules[module_name], "jit", None), "explain", None)
    account = explain() if explain else None
    return getattr(account, "compiles", 0), getattr(account, "hits", 0)


def save(path: str, outcome: Outcome) -> None:
    """Write an outcome as an .npz file; `load` reads it in another interpreter."""
    facts = {
        "entries": [
            {"key": entry.key, "line": entry.line, "stop_gradient": entry.stop_gradient,
             "is_none": entry.value is None}
            for entry in outcome.entries.values()
        ],
        "failure": dataclasses.asdict(outcome.failure) if outcome.failure else None,
        "seconds": outcome.seconds,
    }  # fmt: skip
    arrays: dict[str, Any] = {
        f"value{position}": entry.value
        for position, entry in enumerate(outcome.entries.values())
        if entry.value is not None
    }
    np.savez(path, facts=np.array(json.dumps(facts)), **arrays)


def load(path: str) -> Outcome:
    with np.load(path) as file:
        facts = json.loads(str(file["facts"]))
        entries = {
            fact["key"]: Entry(
                fact["key"],
                None if fact["is_none"] else file[f"value{position}"],
                fact["line"],
                fact["stop_gradient"],
            )
            for position, fact in enumerate(facts["entries"])
        }
    failure = Failure(**facts["failure"]) if facts["failure"] else None
    return Outcome(entries, failure, facts["seconds"])


def main() -> None:
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # asked for when a program hangs
    # What programs and libraries print must not mix with the answers.
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    importlib.import_module(sys.argv[1])
    channel.write('{"ready": true}\n')
    for line in sys.stdin:
        request = json.loads(line)
        channel.write(json.dumps(answer(request)) + "\n")


if __name__ == "__main__":
    main()
