"""Which imports stand inside functions without need.

A late import is needed to break a cycle that is really there, or to spare an import that is not wanted yet. It is needless
when the module it names has been imported by then in any case, and importing it at the top would close no cycle.
What `import proa` imports is there in any case: everything below `proa/ops` and the rooms that `proa/_namespace.py` lists.

The source is only parsed, never executed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tools.check_imports import Import, ImportCollector, Problem


class ModuleGraph:
    """The modules of a package and which of them importing each one imports."""

    def __init__(self, package: Path) -> None:
        self.package = package
        self.paths = {self._module_name(path): path for path in sorted(package.rglob("*.py"))}
        self._imports = {name: self._imports_of(name) for name in self.paths}
        self.reached_from = cache(self._reached_from)
        self._next = cache(self._imported_with)

    def needless(self) -> Iterator[Problem]:
        """Late imports of modules that are there anyway, where importing them at the top closes no cycle."""
        always = self._always_imported()
        for name, statements in self._imports.items():
            for statement in statements:
                if statement.runs_at_import:
                    continue
                targets = self._targets(name, statement)
                there = always | self.reached_from(name)
                if targets and targets <= there and not any(name in self.reached_from(target) for target in targets):
                    shown = self.paths[name].relative_to(self.package.parent)
                    yield Problem(shown, statement.line, "this import can stand at the top of the file.")

    def _always_imported(self) -> set[str]:
        top = self.package.name
        roots = {top, *(name for name in self.paths if name.startswith(f"{top}.ops."))}
        roots |= {f"{top}.{room}" for room in _listed_rooms(self.package / "_namespace.py")} & self.paths.keys()
        return set().union(*(self.reached_from(root) for root in roots if root in self.paths))

    def _reached_from(self, name: str) -> set[str]:
        """All modules that are imported when `name` is; itself included."""
        seen, waiting = {name}, [name]
        while waiting:
            found = self._next(waiting.pop())
            waiting += found - seen
            seen |= found
        return seen

    def _imported_with(self, name: str) -> set[str]:
        """The modules that importing `name` imports itself: the packages around it, and those that it names at its top."""
        found = {parent for parent in _parents(name) if parent in self.paths and parent != self.package.name}
        for statement in self._imports.get(name, ()):
            if statement.runs_at_import:
                found |= self._targets(name, statement)
        return found

    def _targets(self, name: str, statement: Import) -> set[str]:
        """The modules of the package that one statement imports."""
        base = self._absolute(name, statement)
        below = {f"{base}.{imported}" for imported in statement.names}
        modules = below & self.paths.keys()
        if base in self.paths and (len(modules) < len(below) or not below):
            modules = modules | {base}
        return modules

    def _absolute(self, name: str, statement: Import) -> str:
        if statement.level == 0:
            return statement.module
        is_package = self.paths[name].name == "__init__.py"
        parts = name.split(".") if is_package else name.split(".")[:-1]
        parts = parts[: len(parts) - (statement.level - 1)]
        return ".".join([*parts, statement.module] if statement.module else parts)

    def _imports_of(self, name: str) -> list[Import]:
        collector = ImportCollector()
        collector.visit(ast.parse(self.paths[name].read_text(encoding="utf-8")))
        return collector.imports

    def _module_name(self, path: Path) -> str:
        parts = path.relative_to(self.package.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _parents(name: str) -> Iterable[str]:
    parts = name.split(".")
    return (".".join(parts[:length]) for length in range(1, len(parts)))


def _listed_rooms(namespace: Path) -> tuple[str, ...]:
    """The rooms that `_MODULES` of `proa/_namespace.py` names."""
    if not namespace.is_file():
        return ()
    for statement in ast.parse(namespace.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "_MODULES":
            return ast.literal_eval(statement.value)
    return ()
