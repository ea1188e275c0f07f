"""break, continue and return as flags: afterwards every block is entered at its top and left at its end.

    while t:                      _break = False
        if a: break       ->      while t:                      (the loop also stops when `_break` is set)
        b                             if a: _break = True
                                      else: b

Where a branch always jumps, what follows becomes the other branch; elsewhere it is guarded by the flags. Such guards are
marked (`is_guard`), since what they skip may stay undefined without harm.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

RETURNED, RESULT = "_jst_returned", "_jst_result"
_BLOCKS = (ast.If, ast.While, ast.For, ast.With, ast.Try, ast.Match)


@dataclass
class _Loop:
    number: int
    broke: bool = False
    continued: bool = False
    returned: bool = False


@dataclass
class Lowering:
    """Rewrites the body of one function."""

    num_loops: int = 0
    loops: list[_Loop] = field(default_factory=list)

    def function_body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        if not any(_holds(statement, ast.Return) for statement in body[:-1]) and not (
            body and isinstance(body[-1], _BLOCKS) and _holds(body[-1], ast.Return)
        ):
            return self.statements(body)[0] if not isinstance(body[-1], ast.Return) else [
                *self.statements(body[:-1])[0], body[-1],
            ]  # fmt: skip
        last = body[-1]
        if not always_jumps(body):
            body = [*body, ast.copy_location(ast.Return(ast.copy_location(ast.Constant(None), last)), last)]
        first = body[0]
        lowered, _ = self.statements(body)
        ending = ast.copy_location(ast.Return(_name(RESULT, last)), last)
        return [_assign(RETURNED, ast.Constant(False), first), *lowered, ending]

    def statements(self, body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], set[str]]:
        """The statements without jumps, and the flags that they may set."""
        result: list[ast.stmt] = []
        flags: set[str] = set()
        for position, statement in enumerate(body):
            rest = body[position + 1 :]
            if isinstance(statement, (ast.Break, ast.Continue)):
                flag = self._jump_flag(statement)
                return [*result, _assign(flag, ast.Constant(True), statement)], flags | {flag}
            if isinstance(statement, ast.Return):
                for loop in self.loops:
                    loop.returned = True
                value = statement.value or ast.copy_location(ast.Constant(None), statement)
                result += [_assign(RESULT, value, statement), _assign(RETURNED, ast.Constant(True), statement)]
                return result, flags | {RETURNED}
            if isinstance(statement, ast.If) and _jumps(statement):
                if rest and always_jumps(statement.body):
                    statement.orelse, rest = [*statement.orelse, *rest], []
                elif rest and statement.orelse and always_jumps(statement.orelse):
                    statement.body, rest = [*statement.body, *rest], []
            made, set_here = self._block(statement)
            result += made
            flags |= set_here
            if set_here and rest:
                lowered, more = self.statements(rest)
                guard = ast.copy_location(ast.If(_none_of(sorted(set_here), rest[0]), lowered, []), rest[0])
                guard.is_guard = True  # type: ignore[attr-defined]
                return [*result, guard], flags | more
            if not rest:
                break
        return result, flags

    def _block(self, statement: ast.stmt) -> tuple[list[ast.stmt], set[str]]:
        node: Any = statement
        if isinstance(statement, (ast.While, ast.For)):
            return self._loop(statement)
        if isinstance(statement, (ast.If, ast.With)):
            node.body, flags = self.statements(node.body)
            if isinstance(statement, ast.If):
                node.orelse, more = self.statements(node.orelse)
                flags |= more
            return [statement], flags
        if isinstance(statement, ast.Try):
            flags: set[str] = set()
            for name in ("body", "orelse", "finalbody"):
                lowered, more = self.statements(getattr(statement, name))
                setattr(statement, name, lowered)
                flags |= more
            for handler in statement.handlers:
                handler.body, more = self.statements(handler.body)
                flags |= more
            return [statement], flags
        if isinstance(statement, ast.Match):
            flags = set()
            for case in statement.cases:
                case.body, more = self.statements(case.body)
                flags |= more
            return [statement], flags
        return [statement], set()

    def _loop(self, statement: ast.While | ast.For) -> tuple[list[ast.stmt], set[str]]:
        loop = _Loop(self.num_loops)
        self.num_loops += 1
        self.loops.append(loop)
        body, _ = self.statements(statement.body)
        self.loops.pop()
        broke, continued = f"_jst_break_{loop.number}", f"_jst_continue_{loop.number}"
        before: list[ast.stmt] = []
        stops: list[str] = []
        if loop.continued:
            body = [_assign(continued, ast.Constant(False), statement), *body]
        if loop.broke:
            before.append(_assign(broke, ast.Constant(False), statement))
            stops.append(broke)
        if loop.returned:
            stops.append(RETURNED)
        statement.body = body
        statement.stops = stops  # type: ignore[attr-defined]
        after, flags = self.statements(statement.orelse)
        statement.orelse = []
        if after and stops:
            guard = ast.copy_location(ast.If(_none_of(stops, after[0]), after, []), after[0])
            guard.is_guard = True  # type: ignore[attr-defined]
            after = [guard]
        return [*before, statement, *after], flags | ({RETURNED} if loop.returned else set())

    def _jump_flag(self, statement: ast.stmt) -> str:
        loop = self.loops[-1]
        if isinstance(statement, ast.Break):
            loop.broke = True
            return f"_jst_break_{loop.number}"
        loop.continued = True
        return f"_jst_continue_{loop.number}"


def _name(name: str, at: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(name, ast.Load()), at)


def _assign(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    target = ast.copy_location(ast.Name(name, ast.Store()), at)
    if not hasattr(value, "lineno"):
        ast.copy_location(value, at)
    return ast.copy_location(ast.Assign([target], value), at)


def _none_of(flags: Sequence[str], at: ast.AST) -> ast.expr:
    tested: list[ast.expr] = [_name(flag, at) for flag in flags]
    any_of = tested[0] if len(tested) == 1 else ast.copy_location(ast.BoolOp(ast.Or(), tested), at)
    return ast.copy_location(ast.UnaryOp(ast.Not(), any_of), at)


def _holds(statement: ast.AST, kind: type) -> bool:
    """Whether a statement holds another of this kind, not counting functions inside it."""
    if isinstance(statement, kind):
        return True
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return False
    return any(_holds(child, kind) for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.expr))


def _jumps(statement: ast.stmt) -> bool:
    """Whether control may leave a statement for somewhere else than behind it."""
    if isinstance(statement, (ast.Break, ast.Continue, ast.Return)):
        return True
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    if isinstance(statement, (ast.While, ast.For)):
        return any(_holds(part, ast.Return) for part in statement.body) or any(map(_jumps, statement.orelse))
    return any(
        _jumps(child) if isinstance(child, ast.stmt) else _child_jumps(child)
        for child in ast.iter_child_nodes(statement)
    )


def _child_jumps(node: ast.AST) -> bool:
    if isinstance(node, (ast.ExceptHandler, ast.match_case)):
        return any(_jumps(statement) for statement in node.body)
    return False


def always_jumps(body: Sequence[ast.stmt]) -> bool:
    """Whether control never reaches the end of these statements."""
    for statement in body:
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return True
        if isinstance(statement, ast.If) and always_jumps(statement.body) and always_jumps(statement.orelse):
            return True
        if isinstance(statement, ast.With) and always_jumps(statement.body):
            return True
    return False
