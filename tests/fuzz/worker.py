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
import re
import signal
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .compare import Difference, Statistics, check_expectations, check_plan, compare_runs
from .execute import Failure, Outcome, execute_all
from .generator import generate
from .known import KNOWN
from .program import Program
from .runtime import Entry

MODEL = "tests.fuzz.memory.strided"


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
    runs = [execute_all(program, module, mode) for mode in modes]
    after = compiled_so_far(module)
    if "dump" in request:
        save(request["dump"], runs[0])
    statistics = Statistics()
    planned = not (module == "paddle" and not program.comparable)
    differences: list[Difference] = []
    if "source" not in request:
        for outcome in runs[0]:
            differences += check_plan(program, outcome, planned)
    for mode, run in zip(modes, runs, strict=True):
        differences += [one for outcome in run for one in check_expectations(outcome, mode)]
    for mode, run in zip(modes[1:], runs[1:], strict=True):
        differences += compare_runs(program, runs[0], run, f"{modes[0]} against {mode}", statistics)
    if program.has_model:
        model = execute_all(modelled(program), MODEL)
        found = compare_runs(program, model, runs[0], f"the model against {modes[0]}", same_flags=False)
        differences += [
            dataclasses.replace(one, kind=f"model {one.kind}") for one in found if not is_open(program, one)
        ]
    failure = next((one.failure for one in runs[0] if one.failure), None)
    return {
        "seed": program.seed,
        "features": sorted(program.features),
        "differences": [dataclasses.asdict(one) for one in differences],
        "failure": dataclasses.asdict(failure) if failure else None,
        "statistics": dataclasses.asdict(statistics),
        "compiles": after[0] - before[0],
        "compiled_runs": after[1] - before[1],
        "seconds": [sum(outcome.seconds for outcome in run) for run in runs],
    }


def compiled_so_far(module_name: str) -> tuple[int, int]:
    """How many segments were compiled and how often compiled ones ran; zeros where unknown."""
    explain = getattr(getattr(sys.modules[module_name], "jit", None), "explain", None)
    account = explain() if explain else None
    return getattr(account, "compiles", 0), getattr(account, "hits", 0)


def modelled(program: Program) -> Program:
    """The program on the model instead of the module under test."""
    line = re.compile(r"^import \w+ as paddle$", re.MULTILINE)
    return dataclasses.replace(program, source=line.sub(f"import {MODEL} as paddle", program.source, count=1))


def is_open(program: Program, difference: Difference) -> bool:
    """What the model cannot tell: it never refuses a gradient, and knows no rule for some of them."""
    name = "change of a leaf through a view"
    return difference.kind.startswith("refused by") or (name in program.known and KNOWN[name].covers(difference))


def save(path: str, outcomes: Sequence[Outcome]) -> None:
    """Write the outcomes of a run as an .npz file; `load` reads it in another interpreter."""
    facts, arrays = [], {}
    for number, outcome in enumerate(outcomes):
        facts.append(facts_of(outcome))
        for position, entry in enumerate(outcome.entries.values()):
            if entry.value is not None:
                arrays[f"value{number}_{position}"] = entry.value
    np.savez(path, facts=np.array(json.dumps(facts)), **arrays)


def facts_of(outcome: Outcome) -> dict[str, Any]:
    return {
        "entries": [
            {"key": entry.key, "line": entry.line, "stop_gradient": entry.stop_gradient,
             "is_none": entry.value is None}
            for entry in outcome.entries.values()
        ],
        "failure": dataclasses.asdict(outcome.failure) if outcome.failure else None,
        "seconds": outcome.seconds,
    }  # fmt: skip


def load(path: str) -> list[Outcome]:
    outcomes = []
    with np.load(path) as file:
        for number, facts in enumerate(json.loads(str(file["facts"]))):
            entries = {
                fact["key"]: Entry(
                    fact["key"],
                    None if fact["is_none"] else file[f"value{number}_{position}"],
                    fact["line"],
                    fact["stop_gradient"],
                )
                for position, fact in enumerate(facts["entries"])
            }
            failure = Failure(**facts["failure"]) if facts["failure"] else None
            outcomes.append(Outcome(entries, failure, facts["seconds"]))
    return outcomes


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
