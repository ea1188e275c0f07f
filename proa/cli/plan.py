"""`proa plan train.py --devices 64 --device h200`: how the model of a script is best trained on many devices."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from proa_command.run import folder

from ..distributed.planner import plan_traced
from ..distributed.planner.script import trace_script
from .problems import complain


def run(arguments: argparse.Namespace) -> int:
    if folder() not in sys.path:
        sys.path.append(folder())  # a script written for Paddle is planned for unchanged
    try:
        traced = trace_script(arguments.script, arguments.arguments)
        plan = plan_traced(
            traced, arguments.devices, arguments.device, arguments.memory, arguments.batch, _settled(arguments.fix)
        )
    except (ValueError, TypeError, RuntimeError, FileNotFoundError) as error:
        return complain("plan", error)
    print(plan.table(arguments.count))
    try:
        _write(plan, arguments)
    except OSError as error:
        return complain("plan", error, arguments.output or arguments.picture)
    return 0


def _write(plan: Any, arguments: argparse.Namespace) -> None:
    if arguments.output:
        plan.save(arguments.output)
        print(
            f"The plan is in {arguments.output}; dist.load_plan({arguments.output!r}).apply(model, optimizer) does it."
        )
    if arguments.picture:
        plan.picture(arguments.picture)
        print(f"The picture is in {arguments.picture}.")


def _settled(words: list[str]) -> dict[str, Any]:
    """`["model=8", "recompute=true"]` as a dictionary."""
    found = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            found[name] = json.loads(value.lower())
        except json.JSONDecodeError:
            raise ValueError(f"--fix takes NAME=NUMBER or NAME=true; received {word!r}") from None
    return found
