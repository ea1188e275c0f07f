"""Check what the house looks like: folders one can survey, functions on one screen, no needless late imports, no side doors.

    python -m tools.check_structure            # checks this repository
    python -m tools.check_structure some/tree  # checks another one with a package proa/

The source is only parsed, never executed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.check_imports import Problem
from tools.late_imports import ModuleGraph
from tools.public_names import NAMESPACES
from tools.side_doors import SideDoors

TREES = ("proa", "proa_command", "tools", "tests", "benchmarks", "examples")
PACKAGES = ("proa", "proa_command", "tools")
MOST_ENTRIES = 25
MOST_LINES = 60  # of a function of the package, its docstring not counted: examples may be as long as they need to be


def large_folders(root: Path) -> Iterator[Problem]:
    """Folders with more entries than one can survey, without those whose names are decided elsewhere."""
    for tree in TREES:
        if not (root / tree).is_dir():
            continue
        for folder in sorted(
            [root / tree, *(path for path in (root / tree).rglob("*") if path.is_dir() and path.name != "__pycache__")]
        ):
            shown = folder.relative_to(root)
            given = _given_names(root, shown.as_posix())
            entries = [path for path in _entries(folder) if path.name.split(".")[0] not in given]
            if len(entries) > MOST_ENTRIES:
                yield Problem(shown, 1, f"{len(entries)} entries; divide it, so that there are at most {MOST_ENTRIES}.")


def _entries(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name != "__pycache__" and not path.name.startswith(".")]


def _given_names(root: Path, folder: str) -> set[str]:
    """Names in a folder that are not ours to group: users import `paddle.nn`, and its tests are looked for in `tests/nn`."""
    if folder == "proa":
        return {namespace.partition(".")[0] for namespace in NAMESPACES}
    if folder == "tests":
        return {path.stem for path in _entries(root / "proa") if not path.name.startswith("_")}
    return set()


def long_functions(root: Path) -> Iterator[Problem]:
    """Functions that do not fit on a screen."""
    for tree in PACKAGES:
        for path in sorted((root / tree).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                lines = (node.end_lineno or node.lineno) - node.lineno + 1 - _docstring_lines(node)
                if lines > MOST_LINES:
                    sentence = f"{node.name} has {lines} lines; a function has at most {MOST_LINES}."
                    yield Problem(path.relative_to(root), node.lineno, sentence)


def _docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return (first.end_lineno or first.lineno) - first.lineno + 1
    return 0


def problems(root: Path) -> Iterator[Problem]:
    """Everything that is wrong with a repository."""
    yield from large_folders(root)
    yield from long_functions(root)
    yield from ModuleGraph(root / "proa").needless()
    yield from SideDoors(root / "proa").problems()


def main(arguments: list[str]) -> int:
    """The command: prints what is wrong; 1 if anything is, 2 where there is nothing to check."""
    root = (Path(arguments[0]) if arguments else Path(__file__).parents[1]).resolve()
    if not (root / "proa").is_dir():
        print(f"{root} has no folder proa: name the repository to check.", file=sys.stderr)
        return 2
    found = list(problems(root))
    for problem in found:
        print(problem)
    if found:
        print(f"{len(found)} thing(s) break a rule; see tools/check_structure.py.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
