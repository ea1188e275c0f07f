"""The syntax tree of a function, found in the file that it was written in."""

from __future__ import annotations

import ast
import linecache
from collections import OrderedDict
from types import CodeType, FunctionType
from typing import Any

from .state import ConversionError

FunctionNode = ast.FunctionDef | ast.Lambda
_MOST_FILES = 32
_TREES: OrderedDict[tuple[str, int], ast.Module] = OrderedDict()


def function_node(function: FunctionType) -> FunctionNode:
    """The node of a function (a fresh copy that may be changed); ConversionError where there is no source."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise ConversionError("its source is not available", (code.co_filename, code.co_firstlineno))
    text = "".join(lines)
    key = (code.co_filename, hash(text))
    tree = _TREES.get(key)
    if tree is None:
        try:
            tree = ast.parse(text)
        except SyntaxError as error:
            raise ConversionError(
                f"its source cannot be parsed ({error.msg})", (code.co_filename, code.co_firstlineno)
            ) from None
        _TREES[key] = tree
        while len(_TREES) > _MOST_FILES:
            _TREES.popitem(last=False)
    found = _find(tree, code)
    if found is None:
        raise ConversionError("its source has changed since it was imported", (code.co_filename, code.co_firstlineno))
    return _copy(found)


def _copy(node: Any) -> Any:
    """A deep copy of a syntax tree (copy.deepcopy takes ten times as long)."""
    if isinstance(node, ast.AST):
        new = node.__class__.__new__(node.__class__)  # the fields follow; since Python 3.13 the constructor wants them
        for name in node._fields:
            if hasattr(node, name):
                setattr(new, name, _copy(getattr(node, name)))
        for name in node._attributes:
            if hasattr(node, name):
                setattr(new, name, getattr(node, name))
        return new
    if isinstance(node, list):
        return [_copy(part) for part in node]
    return node


def _find(tree: ast.Module, code: CodeType) -> FunctionNode | None:
    is_lambda = code.co_name == "<lambda>"
    candidates: list[FunctionNode] = []
    for node in ast.walk(tree):
        if is_lambda:
            if isinstance(node, ast.Lambda) and node.lineno <= code.co_firstlineno <= (node.end_lineno or node.lineno):
                candidates.append(node)
        elif isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first <= code.co_firstlineno <= node.lineno:
                candidates.append(node)
    same: list[Any] = [
        node for node in candidates if _argument_names(node) == list(code.co_varnames[: _num_arguments(code)])
    ]
    if is_lambda and len(same) > 1:
        same = [node for node in same if _contains_positions(node, code)] or same[:0]
    return same[0] if same else None


def _num_arguments(code: CodeType) -> int:
    return code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)


def _argument_names(node: FunctionNode) -> list[str]:
    a = node.args
    names = [arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    return names + [arg.arg for arg in (a.vararg, a.kwarg) if arg is not None]


def _contains_positions(node: ast.Lambda, code: CodeType) -> bool:
    """Whether the instructions of a lambda lie within this one (of several on a line)."""
    body = node.body
    starts = [(line, column) for line, _, column, _ in code.co_positions() if line is not None and column is not None]
    starts = [start for start in starts if start != (code.co_firstlineno, 0)]
    ends = (body.end_lineno or body.lineno, body.end_col_offset or 0)
    return bool(starts) and min(starts) >= (body.lineno, body.col_offset) and max(starts) < ends


class Mangler(ast.NodeTransformer):
    """What the compiler does inside a class body: `__name` becomes `_Class__name`; `super()` gets its arguments."""

    def __init__(self, class_name: str | None, first_argument: str | None) -> None:
        self.class_name = class_name.lstrip("_") if class_name else None
        self.first_argument = first_argument

    def _mangled(self, name: str) -> str:
        if self.class_name and name.startswith("__") and not name.endswith("__") and "." not in name:
            return f"_{self.class_name}{name}"
        return name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._mangled(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        node.attr = self._mangled(node.attr)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._mangled(node.arg)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args and self.first_argument:
            node.args = [
                ast.copy_location(ast.Name("__class__", ast.Load()), node),
                ast.copy_location(ast.Name(self.first_argument, ast.Load()), node),
            ]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node
