"""`proa/eager/tensor.pyi`: the class as it is written, with everything that other modules attach to it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Collection
from typing import Any

from proa.eager.attaching import attached
from proa.eager.tensor import Tensor

from .annotations import Imports, moved
from .functions import attribute, definition

SOURCE = "proa/eager/tensor.py"
HOME = "proa.eager.tensor"
# Comparisons give tensors, which `object` does not allow for these two.
_OVERRIDES = {"__eq__": "override", "__ne__": "override"}


def tensor_stub() -> str:
    """The text of the stub, formatted by nobody yet."""
    with open(SOURCE, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    imports = Imports(HOME, ())
    imports.need("builtins")
    hidden = {*vars(Tensor)}
    body: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            lines = _Stub(imports, hidden).class_body(node)
            for name in sorted(attached()):
                lines += _member(name, vars(Tensor)[name], imports, hidden)
            body += ["class Tensor:", textwrap.indent("\n".join(lines), "    ")]
        elif isinstance(node, ast.FunctionDef):
            body.append(_Stub(imports, ()).text(node))
    return "\n".join([*imports.lines(), *body])


def _member(name: str, value: Any, imports: Imports, hidden: set[str]) -> list[str]:
    if isinstance(value, property):
        return attribute(name, value, imports, hidden)
    if isinstance(value, staticmethod):
        return definition(name, value.__func__, imports, hidden, decorator="@staticmethod")
    if inspect.isfunction(value):
        lines = definition(name, value, imports, hidden, method=True)
        if name in _OVERRIDES:
            lines[0] += f"  # type: ignore[{_OVERRIDES[name]}]"
        return lines
    kind = type(value).__name__
    known = kind in ("bool", "int", "str")
    return [f"{name}: {'builtins.' + kind if known else imports.need('typing', 'Any')}"]


class _Stub(ast.NodeTransformer):
    """A definition without its body: the docstring's first line is left of it."""

    def __init__(self, imports: Imports, hidden: Collection[str]) -> None:
        self.imports, self.hidden = imports, hidden

    def text(self, node: ast.stmt) -> str:
        return ast.unparse(ast.fix_missing_locations(self.visit(node)))

    def class_body(self, node: ast.ClassDef) -> list[str]:
        lines = [f'"""{ast.get_docstring(node)}"""']
        for each in node.body:
            if isinstance(each, ast.FunctionDef):
                lines.append(self.text(each))
            elif isinstance(each, ast.AnnAssign):
                lines.append(f"{ast.unparse(each.target)}: {ast.unparse(self._annotation(each.annotation))}")
            elif isinstance(each, ast.Assign) and isinstance(each.value, ast.Name):
                lines.append(ast.unparse(each))  # another name of a method
            elif isinstance(each, ast.Assign) and isinstance(each.value, ast.Tuple):
                lines.append(f"{ast.unparse(each.targets[0])}: builtins.tuple[builtins.str, ...]")
            elif isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant):
                lines.append(f"{ast.unparse(each.targets[0])}: builtins.{type(each.value.value).__name__}")
        return lines

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        doc = (ast.get_docstring(node) or "").partition("\n")[0]
        node.body = [ast.Expr(ast.Constant(doc or ...))]
        every = node.args
        for argument in [*every.posonlyargs, *every.args, *every.kwonlyargs, every.vararg, every.kwarg]:
            if argument is not None and argument.annotation is not None:
                argument.annotation = self._annotation(argument.annotation)
        node.returns = None if node.returns is None else self._annotation(node.returns)
        return node

    def _annotation(self, node: ast.expr) -> ast.expr:
        return ast.parse(moved(ast.unparse(node), HOME, self.imports, self.hidden), mode="eval").body
