"""Which names statements read and write."""

from __future__ import annotations

import ast
import dis
import functools
from collections.abc import Iterable, Sequence
from types import CodeType
from typing import Any

# Methods that change a list or dictionary.
CHANGING = frozenset(
    {"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "popitem", "sort", "reverse"}
)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def dotted(node: ast.AST) -> str | None:
    """`a.b.c` as text, or None for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return None if base is None else f"{base}.{node.attr}"
    return None


class Writes(ast.NodeVisitor):
    """Names and containers that statements change in the scope they stand in."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self.names: dict[str, None] = {}
        self.containers: dict[str, ast.expr] = {}
        self._comprehension_depth = 0
        for node in nodes:
            self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, (ast.Store, ast.Del)) and not self._comprehension_depth:
            self.names[node.id] = None

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self._note_container(node.value)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            self._note_container(node.func.value)
        self.generic_visit(node)

    def _note_container(self, node: ast.expr) -> None:
        while isinstance(node, ast.Subscript):
            node = node.value
        name = dotted(node)
        if name is not None and not self._comprehension_depth:
            self.containers[name] = node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.names[node.name] = None

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.names[node.name] = None

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names[node.name] = None

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        if isinstance(node.target, ast.Name):
            self.names[node.target.id] = None
        self.visit(node.value)

    def _visit_comprehension(self, node: ast.AST) -> None:
        self._comprehension_depth += 1
        self.generic_visit(node)
        self._comprehension_depth -= 1

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.names[alias.asname or alias.name.split(".")[0]] = None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.names[alias.asname or alias.name] = None

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.names[node.name] = None
        self.generic_visit(node)

    def visit_MatchAs(self, node: Any) -> None:
        if node.name:
            self.names[node.name] = None
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: Any) -> None:
        if node.rest:
            self.names[node.rest] = None
        self.generic_visit(node)


def declared(function: ast.FunctionDef | ast.Lambda, kind: type[ast.Global | ast.Nonlocal]) -> set[str]:
    """Names that a function's own scope declares `global` or `nonlocal`."""
    return {name for node in own_nodes(function) if isinstance(node, kind) for name in node.names}


def changed_by_inner_functions(function: ast.FunctionDef | ast.Lambda) -> set[str]:
    """Names that functions inside this one declare `nonlocal`: a call may change them."""
    inner = [node for node in ast.walk(function) if isinstance(node, ast.FunctionDef) and node is not function]
    return {name for f in inner for name in declared(f, ast.Nonlocal)}


def own_nodes(function: ast.AST) -> list[ast.AST]:
    """The nodes of a function without those of the functions and classes inside it."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))
    return found


def loads(nodes: Iterable[ast.AST]) -> list[str]:
    """Every name that is read, in inner functions too."""
    found: list[str] = []
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                found.append(part.id)
            elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
                found.append(part.target.id)
    return found


def read_before_written(statements: Sequence[ast.stmt], written: set[str]) -> set[str]:
    """Names that may be read before the statements have written them; `written` grows by what surely is written."""
    reads: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.If):
            reads |= set(loads([statement.test])) - written
            first, second = set(written), set(written)
            reads |= read_before_written(statement.body, first) | read_before_written(statement.orelse, second)
            written |= first & second
        elif isinstance(statement, (ast.While, ast.For)):
            reads |= set(loads([statement.test if isinstance(statement, ast.While) else statement.iter])) - written
            inner = set(written)
            if isinstance(statement, ast.For):
                inner |= set(Writes([statement.target]).names)
            reads |= read_before_written(statement.body, inner)
            reads |= read_before_written(statement.orelse, set(written))
        elif isinstance(statement, ast.With):
            reads |= set(loads(statement.items)) - written
            written |= set(Writes(statement.items).names)
            reads |= read_before_written(statement.body, written)
        elif isinstance(statement, (ast.Try, ast.Match)):
            reads |= set(loads([statement])) - written
        else:
            reads |= set(loads([statement])) - written
            if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Import, ast.ImportFrom)):
                written |= set(Writes([statement]).names)
    return reads


@functools.lru_cache(maxsize=1024)
def _outside(code: CodeType, kind: str) -> frozenset[str]:
    """Names from outside that a function, or one inside it, loads or stores, as the compiler has resolved them."""
    found = {
        instruction.argval
        for instruction in dis.get_instructions(code)
        if instruction.opname in (f"{kind}_GLOBAL", f"{kind}_NAME")
        or (instruction.opname.startswith(f"{kind}_") and instruction.argval in code.co_freevars)
    }
    for part in code.co_consts:
        if isinstance(part, CodeType):
            found |= _outside(part, kind) - set(code.co_cellvars)
    return frozenset(found)


def read_outside(code: CodeType) -> frozenset[str]:
    """Names of the module, or of functions around it, that a function reads."""
    return _outside(code, "LOAD") - {"__class__"}


def stored_outside(code: CodeType) -> frozenset[str]:
    """Names of the module, or of functions around it, that a function sets."""
    return _outside(code, "STORE")


@functools.lru_cache(maxsize=1024)
def named(code: CodeType) -> frozenset[str]:
    """Every name of an attribute or global that a function, or one inside it, has in its code."""
    inner = [named(part) for part in code.co_consts if isinstance(part, CodeType)]
    return frozenset(code.co_names).union(*inner)
