"""Check that imports inside proa point downwards, and that jax is imported lazily.

    python tools/check_imports.py            # checks proa/
    python tools/check_imports.py some/tree  # checks another package laid out like it

A *room* is a folder or a single module directly under the package. A module may import from its own
room and from rooms on lower layers, wherever in the file the import stands. `if TYPE_CHECKING`
blocks are free: they never run.

The source is only parsed, never executed, so the check works on a tree that cannot be imported.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

# Lowest first; rooms on one layer are siblings. Every room that is named nowhere here (optimizer, jit, metric ...)
# stands on the layer `OTHERS`.
OTHERS = "everything else"
LAYERS: tuple[tuple[str, ...], ...] = (
    ("core",),
    ("ir",),
    ("eager",),
    ("kernels",),
    ("ops",),
    ("graph",),
    ("autograd", "device", "distribution", "framework", "io", "utils", "version"),
    ("nn",),
    ("detection",),
    ("formats",),
    ("static",),
    ("amp",),
    (OTHERS,),
    ("onnx",),
    ("audio", "convert", "hapi", "hub", "inference", "text", "vision"),
    ("ocr", "serving"),
    ("llm",),
    ("export",),
    ("callbacks", "cli", "compat"),
)
# `proa/__init__.py`, what it collects the namespace with, and `proa/__main__.py` are above everything.
TOP_FILES = ("__init__.py", "__main__.py", "_namespace.py")

_LAYER_OF_OTHERS = next(n for n, rooms in enumerate(LAYERS) if OTHERS in rooms)

# (importing sibling, imported sibling): why it cannot be otherwise.
ALLOWED_SIBLINGS: dict[tuple[str, str], str] = {}

# Module, or folder with a slash at its end: why it may import jax as soon as it is imported.
# Whatever is named here must be imported lazily by everyone else.
ALLOWED_TO_IMPORT_JAX: dict[str, str] = {}
LAZY_PACKAGES = ("jax", "jaxlib")


@dataclass(frozen=True)
class Problem:
    """One import that breaks a rule."""

    path: Path
    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.sentence}"


@dataclass(frozen=True)
class Import:
    """One import statement as written; `runs_at_import` is false inside a function."""

    line: int
    level: int
    module: str
    names: tuple[str, ...]
    runs_at_import: bool


class ImportCollector(ast.NodeVisitor):
    """Collects the imports of one module, without those for type checkers only."""

    def __init__(self) -> None:
        self.imports: list[Import] = []
        self._function_depth = 0

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(node.lineno, 0, alias.name, ())

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        names = tuple(alias.name for alias in node.names)
        self._add(node.lineno, node.level, node.module or "", names)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._function_depth += 1
        self.generic_visit(node)
        self._function_depth -= 1

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_If(self, node: ast.If) -> None:
        statements: list[ast.stmt] = []
        if not _is_type_checking(node.test):
            statements += node.body
        if not (isinstance(node.test, ast.UnaryOp) and _is_type_checking(node.test.operand)):
            statements += node.orelse
        for statement in statements:
            self.visit(statement)

    def _add(self, line: int, level: int, module: str, names: tuple[str, ...]) -> None:
        self.imports.append(Import(line, level, module, names, self._function_depth == 0))


def _is_type_checking(test: ast.expr) -> bool:
    if isinstance(test, ast.Attribute):
        return test.attr == "TYPE_CHECKING"
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


class Checker:
    """Knows one package's rooms and judges its files."""

    def __init__(
        self,
        package: Path,
        allowed_siblings: Mapping[tuple[str, str], str] = ALLOWED_SIBLINGS,
        allowed_to_import_jax: Mapping[str, str] = ALLOWED_TO_IMPORT_JAX,
    ) -> None:
        self.package = package
        self.name = package.name
        self.allowed_siblings = allowed_siblings
        self.allowed_to_import_jax = allowed_to_import_jax
        self.rooms = {path.stem for path in package.iterdir() if path.name not in TOP_FILES}

    def problems(self) -> Iterator[Problem]:
        for path in sorted(self.package.rglob("*.py")):
            yield from self._problems_of(path)

    def _problems_of(self, path: Path) -> Iterator[Problem]:
        shown = path.relative_to(self.package.parent)
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        except SyntaxError as error:
            yield Problem(shown, error.lineno or 1, f"this is not valid Python: {error.msg}.")
            return
        collector = ImportCollector()
        collector.visit(tree)
        for statement in collector.imports:
            for sentence in self._sentences(shown, statement):
                yield Problem(shown, statement.line, sentence)

    def _sentences(self, path: Path, statement: Import) -> Iterator[str]:
        """What is wrong with one statement; each room it reaches is judged once."""
        base = self._absolute(path, statement)
        if base is None:
            yield f"this relative import reaches out of the package {self.name}."
            return
        root = base.split(".")[0]
        if root in LAZY_PACKAGES and statement.runs_at_import and not self._may_import_jax(path):
            yield (
                f"{root} is imported as soon as this module is, but `import {self.name}` must stay "
                "fast: import it inside the function that needs it, or name this module with a "
                "reason in ALLOWED_TO_IMPORT_JAX in tools/check_imports.py."
            )
        if root == self.name:
            own_room = self._room_of_file(path)
            for room in dict.fromkeys(self._rooms_reached(base, statement.names)):
                sentence = self.judge(own_room, room)
                if sentence:
                    yield sentence

    def _absolute(self, path: Path, statement: Import) -> str | None:
        """The module's full name, or None when a relative import has too many dots."""
        if statement.level == 0:
            return statement.module
        folder = path.parent.parts
        climbed = statement.level - 1
        if climbed >= len(folder):
            return None
        parts = folder[: len(folder) - climbed]
        return ".".join([*parts, statement.module] if statement.module else parts)

    def _rooms_reached(self, base: str, names: tuple[str, ...]) -> Iterator[str]:
        parts = base.split(".")
        if len(parts) > 1:
            yield parts[1]
        elif not names:
            yield self.name
        else:
            # `from proa import nn` reaches a room; `from proa import Tensor` the package's top.
            for name in names:
                yield name if name in self.rooms else self.name

    def judge(self, own: str, other: str) -> str | None:
        """What is wrong with an import of room `other` in room `own`, if anything."""
        if own == other or self._layer(other) < self._layer(own):
            return None
        if other == self.name:
            return (
                f"{own} may not import from {self.name}/__init__.py, which stands above "
                "everything: import the name from the module that defines it."
            )
        if self._layer(other) > self._layer(own):
            return (
                f"{own} may not import {other}: {other} stands above {own}, and imports point "
                f"downwards. Move what both need down, or let {other} pass it in."
            )
        if (own, other) in self.allowed_siblings:
            return None
        return (
            f"{own} may not import {other}: they are siblings. Move what both need to a lower "
            "layer, or name the pair with a reason in ALLOWED_SIBLINGS in tools/check_imports.py."
        )

    def _layer(self, room: str) -> int:
        if room == self.name:
            return len(LAYERS)
        return next((n for n, rooms in enumerate(LAYERS) if room in rooms), _LAYER_OF_OTHERS)

    def _room_of_file(self, path: Path) -> str:
        """`path` begins with the package's own folder."""
        if len(path.parts) > 2:
            return path.parts[1]
        return self.name if path.name in TOP_FILES else path.stem

    def _may_import_jax(self, path: Path) -> bool:
        text = path.as_posix()
        return any(
            text.startswith(entry) if entry.endswith("/") else text == entry for entry in self.allowed_to_import_jax
        )


def main(arguments: list[str]) -> int:
    package = Path(arguments[0]) if arguments else Path(__file__).parents[1] / "proa"
    if not package.is_dir():
        print(f"{package} is not a folder: name the package to check.", file=sys.stderr)
        return 2
    problems = list(Checker(package.resolve()).problems())
    for problem in problems:
        print(problem)
    if problems:
        print(f"{len(problems)} import(s) break a rule; see tools/check_imports.py.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
