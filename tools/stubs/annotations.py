"""Annotations moved to another file: with the imports that they need there, and past names that hide what they mean."""

from __future__ import annotations

import ast
import builtins
import functools
import importlib.util
import inspect
from collections.abc import Collection

PACKAGE = "proa"


class Imports:
    """The imports of a stub, collected while it is written."""

    def __init__(self, home: str, taken: Collection[str]) -> None:
        self._home = home  # the module that the stub is of
        self._taken = set(taken)  # names that the stub itself defines
        self._lines: dict[str, str] = {}  # local name -> import statement

    def need(self, module: str, name: str = "") -> str:
        """The local name for a name of a module, or for the module itself."""
        if name and module == self._home:
            return name
        wanted = name or module.rpartition(".")[2]
        local = f"_{wanted}" if wanted in self._taken else wanted
        if name:
            line = f"from {module} import {name}" + (f" as {local}" if local != name else "")
        else:
            line = f"import {module}" + (f" as {local}" if local != module else "")
        while self._lines.setdefault(local, line) != line:
            local += "_"
            line = f"from {module} import {name} as {local}" if name else f"import {module} as {local}"
        return local

    def lines(self) -> list[str]:
        return sorted(self._lines.values())


def moved(annotation: object, module: str, imports: Imports, hidden: Collection[str]) -> str:
    """An annotation of `module`, as it has to be written in a stub where the names `hidden` mean something else."""
    if annotation is inspect.Parameter.empty:
        return imports.need("typing", "Any")
    if annotation is None:
        return "None"
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    tree = ast.parse(text, mode="eval")
    return ast.unparse(_Mover(module, imports, hidden).visit(tree))


class _Mover(ast.NodeTransformer):
    def __init__(self, module: str, imports: Imports, hidden: Collection[str]) -> None:
        self.module, self.imports, self.hidden = module, imports, hidden

    def visit_Name(self, node: ast.Name) -> ast.expr:
        module, name = origin(self.module, node.id)
        if module == "builtins":
            text = f"{self.imports.need('builtins')}.{name}" if name in self.hidden else name
        else:
            text = self.imports.need(module, name)
        return ast.parse(text, mode="eval").body

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str):  # a forward reference inside of an annotation
            return self.visit(ast.parse(node.value, mode="eval").body)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == "Literal":
            node.value = self.visit(node.value)
            return node
        self.generic_visit(node)
        return node


def origin(module: str, name: str) -> tuple[str, str]:
    """Where a name that a module uses comes from: a module and the name there ("" for a module itself)."""
    if (found := _names(module).get(name)) is not None:
        return found
    if hasattr(builtins, name):
        return "builtins", name
    raise NameError(f"{module} uses {name!r} in an annotation and neither defines nor imports it.")


@functools.cache
def _names(module: str) -> dict[str, tuple[str, str]]:
    """The names at the top of a module, those for type checkers alone too, with where they come from."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    with open(spec.origin, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    package = module if spec.submodule_search_locations is not None else module.rpartition(".")[0]
    found: dict[str, tuple[str, str]] = {}
    blocks = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.If | ast.Try))]
    for node in [node for block in blocks for node in block]:
        if isinstance(node, ast.ImportFrom):
            target = _absolute(package, node.level, node.module or "")
            found.update((alias.asname or alias.name, (target, alias.name)) for alias in node.names)
        elif isinstance(node, ast.Import):
            found.update((alias.asname or alias.name, (alias.name, "")) for alias in node.names)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            found[node.name] = module, node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update((each.id, (module, each.id)) for each in targets if isinstance(each, ast.Name))
    return found


def _absolute(package: str, level: int, module: str) -> str:
    if not level:
        return module
    parts = package.split(".")[: len(package.split(".")) - level + 1]
    return ".".join([*parts, *([module] if module else [])])
