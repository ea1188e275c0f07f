"""Ways past the check of imports: modules reached by name instead of by an import statement.

`import_module`, `__import__` and `sys.modules` with the name of a module of the package are judged as an import of it would
be; a module's own package is free. A name that is worked out while the program runs is a door, unless it is handed through
`core/elsewhere.py`, which refuses names of this package. A function `provide` that is handed something from above is one
too: what a lower room needs enters itself into a table there. Rooms on the top layer may work names out: there is nothing
above them that they could reach.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tools.check_imports import LAYERS, TOP_FILES, Checker, Problem

GUARD = "from_elsewhere"  # of proa/core/elsewhere.py


class SideDoors:
    """Finds the doors of one package."""

    def __init__(self, package: Path) -> None:
        self.package = package
        self._checker = Checker(package)

    def problems(self) -> Iterator[Problem]:
        for path in sorted(self.package.rglob("*.py")):
            shown = path.relative_to(self.package.parent)
            if shown.parts[1] in TOP_FILES or shown.parts[1].removesuffix(".py") in LAYERS[-1]:
                continue
            for line, sentence in self._doors(shown, ast.parse(path.read_text(encoding="utf-8"))):
                yield Problem(shown, line, sentence)

    def _doors(self, shown: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
        guarded = _imports_guard(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == "provide":
                yield node.lineno, "`provide` lets rooms above hand something down past the check of imports."
                continue
            target = _target(node)
            if target is not None and not (guarded and _is_guarded(target)):
                sentence = self._judge(shown, target)
                if sentence:
                    yield target.lineno, sentence

    def _judge(self, shown: Path, target: ast.expr) -> str | None:
        start = _known_start(target)
        if start is None:
            return (
                "a module is reached by a name that is worked out: import it, or hand the name of a package from "
                "elsewhere through `core.elsewhere.from_elsewhere`."
            )
        parts = start.split(".")
        if parts[0] != self.package.name:
            return None  # its own package, or one from elsewhere
        if len(parts) == 1:
            return "the whole package is reached by name: import what is needed from the module that defines it."
        own = shown.parts[1].removesuffix(".py")
        return self._checker.judge(own, parts[1])


def _imports_guard(tree: ast.Module) -> bool:
    """Whether the module has the guard from where it is defined, and not a function of its own under that name."""
    return any(
        isinstance(node, ast.ImportFrom)
        and (node.module or "").split(".")[-1] == "elsewhere"
        and any(alias.name == GUARD and alias.asname is None for alias in node.names)
        for node in ast.walk(tree)
    )


def _is_guarded(target: ast.expr) -> bool:
    return isinstance(target, ast.Call) and isinstance(target.func, ast.Name) and target.func.id == GUARD


def _target(node: ast.AST) -> ast.expr | None:
    """What names the module, where one is imported or looked up by name."""
    if isinstance(node, ast.Call) and node.args:
        called = ast.unparse(node.func)
        if called in ("importlib.import_module", "import_module", "_importlib.import_module", "__import__"):
            return node.args[0]
        if called in ("sys.modules.get", "sys.modules.pop", "sys.modules.setdefault"):
            return node.args[0]
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "sys.modules":
        return node.slice
    if isinstance(node, ast.Compare) and ast.unparse(node.comparators[-1]) == "sys.modules":
        return node.left
    return None


def _known_start(target: ast.expr) -> str | None:
    """The part of a module's name that stands in the source; empty for names below the module's own."""
    if isinstance(target, ast.Constant) and isinstance(target.value, str):
        return target.value
    if isinstance(target, ast.Name) and target.id == "__name__":
        return ""
    if isinstance(target, ast.JoinedStr) and target.values:
        first = target.values[0]
        if isinstance(first, ast.FormattedValue):
            return _known_start(first.value)
        return str(first.value) if isinstance(first, ast.Constant) else None
    return None
