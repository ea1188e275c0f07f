"""`python -m proa.kernels.cpu`: the native kernels by hand.

python -m proa.kernels.cpu                          compiles what is missing of them now (when an image is made, say)
python -m proa.kernels.cpu measure script.py ...    runs a script; each new shape is timed natively and by XLA, and the
                                                    quicker way is kept for all later runs
python -m proa.kernels.cpu table                    shows what was measured on this machine
python -m proa.kernels.cpu forget                   removes it
"""

from __future__ import annotations

import os
import pathlib
import runpy
import sys

from ...core import flags
from . import background, choice, compiled
from .library import why_not


def show(rows: dict[str, choice.Row]) -> None:
    """One line for each call: both times, what the rule of thumb said and what holds now."""
    for key, row in sorted(rows.items()):
        mark = "" if choice.winner(row) == row["rule"] else f" (the rule said {row['rule']})"
        print(
            f"{row['native'] * 1e6:10.0f} us native {row['xla'] * 1e6:10.0f} us xla  {choice.winner(row)}{mark}  {key}"
        )


def measure(script: str, arguments: list[str]) -> int:
    """Runs a script with measuring on, then says what was learned."""
    before = set(choice.table().rows)
    flags.set_flags({"FLAGS_native_measure": True})
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        new = {key: row for key, row in choice.table().rows.items() if key not in before}
        show(new)
        print(f"{len(new)} calls measured; kept in {choice.table().path}")
    return 0


def main(arguments: list[str]) -> int:
    command = arguments[0] if arguments else ""
    if command == "background":  # started by a program that found none
        return background.build()
    if command not in ("", "measure", "table", "forget") or (command == "measure") != (len(arguments) > 1):
        print(__doc__)
        return 0 if command in ("-h", "--help") else 2
    if command == "table":
        show(choice.table().rows)
        return 0
    if command == "forget":
        choice.table().path.unlink(missing_ok=True)
        return 0
    reason = why_not()
    if reason:
        print(f"No native kernels: {reason}")
        return 1
    if not command:
        kind, where = compiled.variant(), pathlib.Path(compiled.find(compiled.DIRECT)).parent
        print(f"The native kernels ({kind.name if kind else ''}) are in {where}.")
        return 0
    return measure(arguments[1], arguments[2:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
