"""`proa doctor --script train.py`: which names a Paddle program uses that are missing here or differ, with the line.

The program is read, not run. Names are followed through its imports (`from paddle.nn import functional as F`); methods of
objects are not, since what an object is shows only when the program runs. What differs stands in docs/differences.md, the
page that people read: a row of its tables belongs to the names in its first column.
"""

from __future__ import annotations

import ast
import importlib
import json
import pathlib
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

MISSING, RAISES, DIFFERS = "missing", "raises", "differs"


@dataclass(frozen=True)
class Finding:
    """One name at one line, and what is to be said of it."""

    path: str
    line: int
    name: str
    verdict: str
    text: str


def run(path: str, as_json: bool) -> int:
    findings, count = examine(pathlib.Path(path))
    if as_json:
        print(json.dumps({"names": count, "findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        for found in findings:
            print(f"{found.path}:{found.line}: {found.name} {found.verdict}: {found.text}")
        kinds = [sum(found.verdict == kind for found in findings) for kind in (MISSING, RAISES, DIFFERS)]
        print(
            f"{count} names of paddle are used; {kinds[0]} are missing, {kinds[1]} raise when they are called, "
            f"{kinds[2]} differ deliberately (docs/differences.md)."
        )
    return 1 if any(found.verdict != DIFFERS for found in findings) else 0


def examine(path: pathlib.Path) -> tuple[list[Finding], int]:
    """What is to be said of a program, or of all programs in a folder; and how many names were looked up."""
    if not path.exists():
        raise FileNotFoundError(f"(doctor) there is no such file or folder: {path}")
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    differences = _differences()
    findings, names = [], set()
    for file in files:
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
        except (SyntaxError, UnicodeDecodeError) as error:
            findings.append(Finding(str(file), getattr(error, "lineno", 1) or 1, "", MISSING, f"not Python: {error}"))
            continue
        seen, told = set(), set()
        for line, name in used_names(tree):
            names.add(name)
            if (line, name) not in seen:
                seen.add((line, name))
                said = [Finding(str(file), line, name, *said) for said in _judge(name, differences)]
                # What is meant to differ is said at its first line.
                findings += [one for one in said if one.verdict != DIFFERS or name not in told]
                told.add(name)
    return findings, len(names)


# ---- what a program uses -------------------------------------------------------------------------


class _Uses(ast.NodeVisitor):
    """Collects dotted names below `paddle`, the longest of each expression."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.found: list[tuple[int, str]] = []

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.split(".")[0] == "paddle":
                self.known[alias.asname or "paddle"] = alias.name if alias.asname else "paddle"
                self.found.append((node.lineno, alias.name))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level == 0 and (node.module or "").split(".")[0] == "paddle":
            for alias in node.names:
                name = f"{node.module}.{alias.name}" if alias.name != "*" else str(node.module)
                self.known[alias.asname or alias.name] = name
                self.found.append((node.lineno, name))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        parts: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in self.known:
            self.found.append((node.lineno, ".".join([self.known[inner.id], *reversed(parts)])))
        else:
            self.generic_visit(node)


def used_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    uses = _Uses()
    for node in ast.walk(tree):  # imports inside functions count for the whole file
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            uses.visit(node)
    uses.generic_visit(tree)
    yield from sorted(set(uses.found))


# ---- what is to be said of them ------------------------------------------------------------------


def _judge(name: str, differences: dict[str, str]) -> Iterator[tuple[str, str]]:
    found, resolved = _resolve(name)
    if found is None:
        yield MISSING, f"there is no {resolved} here"
    elif (getattr(found, "__doc__", None) or "").startswith("Not there: "):
        yield RAISES, str(found.__doc__).removeprefix("Not there: ")
    elif name.rpartition(".")[2] in differences and callable(found):
        yield DIFFERS, differences[name.rpartition(".")[2]]


def _resolve(name: str) -> tuple[Any, str]:
    """What a dotted name stands for, as far as it is a module, class or function; None and the part that is missing."""
    proa = importlib.import_module("proa")

    current: Any = proa
    path = "proa"
    for part in name.split(".")[1:]:
        path = f"{path}.{part}"
        try:
            current = getattr(current, part)
        except AttributeError:
            try:
                current = importlib.import_module(path)
            except ImportError:
                return None, path.replace("proa", "paddle", 1)
        if not isinstance(current, type) and not hasattr(current, "__dict__"):
            break  # a value: what hangs on it is Python's
    return current, name


def _differences() -> dict[str, str]:
    """For the last part of a name, the row of docs/differences.md that speaks of it."""
    here = pathlib.Path(__file__)
    pages = (here.with_name("differences.md"), here.parents[2] / "docs" / "differences.md")  # in a wheel, in a clone
    page = next((page for page in pages if page.is_file()), None)
    found: dict[str, str] = {}
    for line in page.read_text(encoding="utf-8").splitlines() if page else ():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 4 and not line.startswith("| where"):
            where, paddle, here_, _ = cells
            for quoted in re.findall(r"`([A-Za-z_.]+)[^`]*`", where):
                found.setdefault(quoted.rpartition(".")[2], f"{where}: Paddle: {paddle}; here: {here_}")
    return found
