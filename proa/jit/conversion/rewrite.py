"""Blocks as local functions: `if`, `while` and `for` become calls of run-time helpers.

    if test:            def _jst_then_0(): nonlocal a; a = 1
        a = 1     ->    def _jst_else_0(): nonlocal a; a = 2
    else:               _jst.if_(test, _jst_then_0, _jst_else_0, <state of a>, <file and line>)
        a = 2

A variable that a block writes belongs to the function around it and is declared `nonlocal` in the block, so that plain
Python values take no detour. Variables that may be unbound begin as `Undefined`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from .jumps import RESULT, Lowering
from .names import Writes, changed_by_inner_functions, declared, dotted, loads, own_nodes, read_before_written

RUNTIME, SURROUNDINGS = "_jst", "_jst_surroundings"
_IN_PLACE = {
    ast.Add: "iadd", ast.Sub: "isub", ast.Mult: "imul", ast.Div: "itruediv", ast.FloorDiv: "ifloordiv", ast.Mod: "imod",
    ast.Pow: "ipow", ast.MatMult: "imatmul", ast.BitAnd: "iand", ast.BitOr: "ior", ast.BitXor: "ixor",
    ast.LShift: "ilshift", ast.RShift: "irshift",
}  # fmt: skip
_LEFT_ALONE = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})


def rewrite(function: ast.FunctionDef, filename: str, outside: frozenset[str], count: list[int] | None = None) -> None:
    """Rewrites a function in place; `outside` are names that it reads and that belong to the module or around it."""
    _Rewriter(function, filename, outside, count if count is not None else [0]).run()


def runtime(name: str, arguments: Sequence[ast.expr], at: ast.AST) -> ast.expr:
    """The node of `_jst.name(…)`."""
    attribute = ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load())
    call = ast.Call(attribute, list(arguments), [])
    return _located(call, at)


def _located(node: Any, at: ast.AST) -> Any:
    """Gives a node, and what in it was made here, the place of another one."""
    ast.copy_location(node, at)
    for child in ast.iter_child_nodes(node):
        if not hasattr(child, "lineno") and isinstance(child, (ast.expr, ast.stmt, ast.arg, ast.keyword)):
            _located(child, at)
        elif not isinstance(child, (ast.expr, ast.stmt)):
            _located(child, at) if isinstance(child, ast.arguments) else None
    return node


def _lambda(body: ast.expr, arguments: Sequence[str] = ()) -> ast.Lambda:
    return ast.Lambda(
        ast.arguments([], [ast.arg(name) for name in arguments], None, [], [], None, []), body
    )  # fmt: skip


def _strings(values: Sequence[str]) -> ast.expr:
    return ast.Tuple([ast.Constant(value) for value in values], ast.Load())


# Operators that a float on the left computes by itself: it does not ask a size on the right.
_ARITHMETIC = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow",
}  # fmt: skip
_COMPARISONS = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}


class _Rewriter(ast.NodeTransformer):
    def __init__(self, function: ast.FunctionDef, filename: str, outside: frozenset[str], count: list[int]) -> None:
        self.function = function
        self.filename = filename
        self.count = count
        self.globals = declared(function, ast.Global)
        self.nonlocals = declared(function, ast.Nonlocal)
        self.changed_inside = changed_by_inner_functions(function) - self.nonlocals
        arguments = function.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
        self.parameters = {argument.arg for argument in every if argument is not None}
        own = (self.parameters | set(Writes(function.body).names)) - self.globals - self.nonlocals
        self.outside = outside - own
        self.block_names: dict[str, None] = {}
        self.total_loads: list[str] = []

    def run(self) -> None:
        function = self.function
        # A loop target or a with-name is assigned anew at each round; a comprehension has its own scope.
        docstring = function.body[:1] if ast.get_docstring(function, clean=False) is not None else []
        body = function.body[len(docstring) :]
        body = Lowering().function_body(body) if body else [_located(ast.Pass(), function)]
        self.total_loads = loads(body)
        block_writes: dict[str, None] = {}
        for node in body:
            for part in [node, *own_nodes(node)]:
                if isinstance(part, (ast.If, ast.While, ast.For)):
                    block_writes.update(self._writes([part]).names)
        if any(isinstance(part, (ast.If, ast.While, ast.For)) for n in body for part in [n, *own_nodes(n)]):
            block_writes.update(dict.fromkeys(sorted(self.changed_inside)))
        outer = self.globals | self.nonlocals | self.parameters
        self.undefined = {name for name in block_writes if name not in outer}
        new_body = self._statements(body)
        declarations = [s for s in new_body if isinstance(s, (ast.Global, ast.Nonlocal))]
        rest = [s for s in new_body if not isinstance(s, (ast.Global, ast.Nonlocal))]
        prelude: list[ast.stmt] = []
        for name in sorted(self.undefined):
            value = ast.Call(
                ast.Attribute(ast.Name(RUNTIME, ast.Load()), "Undefined", ast.Load()), [ast.Constant(name)], []
            )
            prelude.append(_located(ast.Assign([ast.Name(name, ast.Store())], value), body[0]))
        function.body = [*docstring, *declarations, *prelude, *rest]

    # ---- statements ------------------------------------------------------------------------------------------------

    def _statements(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for statement in statements:
            made = self.visit(statement)
            if made is not None:
                result += made if isinstance(made, list) else [made]
        return result

    def _writes(self, nodes: Sequence[ast.AST]) -> Writes:
        return Writes(nodes)

    def _block(
        self, name: str, body: list[ast.stmt], names: Sequence[str], at: ast.AST, argument: str = ""
    ) -> ast.stmt:
        """A local function that runs statements of the function around it."""
        declarations: list[ast.stmt] = []
        for kind, chosen in (
            (ast.Global, [n for n in names if n in self.globals]),
            (ast.Nonlocal, [n for n in names if n not in self.globals]),
        ):
            if chosen:
                declarations.append(kind(chosen))
        arguments = ast.arguments([], [ast.arg(argument)] if argument else [], None, [], [], None, [])
        node: Any = ast.FunctionDef(name, arguments, [*declarations, *(body or [ast.Pass()])], [])
        if "type_params" in node._fields:
            node.type_params = []
        return _located(node, at)

    def _names_of(self, writes: Writes) -> list[str]:
        return [*writes.names, *(n for n in sorted(self.changed_inside) if n not in writes.names)]

    def _state(self, writes: Writes, number: int, at: ast.AST) -> tuple[list[ast.stmt], ast.expr]:
        """Statements that define how to read and write the variables of a block, and the State made of them."""
        names = self._names_of(writes)
        containers = {
            n: node for n, node in writes.containers.items()
            if n not in writes.names and n.split(".")[0] not in self.undefined - {n}
        }  # fmt: skip
        values: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names]
        read, write, given = f"_jst_read_{number}", f"_jst_write_{number}", f"_jst_values_{number}"
        reader = self._block(read, [ast.Return(ast.Tuple(values, ast.Load()))], [], at)
        stores: list[ast.stmt] = []
        for position, name in enumerate(names):
            item = ast.Subscript(ast.Name(given, ast.Load()), ast.Constant(position), ast.Load())
            stores.append(ast.Assign([ast.Name(name, ast.Store())], item))
        writer = self._block(write, stores, names, at, given)
        found = ast.Tuple([self._attempt(node, name) for name, node in containers.items()], ast.Load())
        state = runtime(
            "State",
            [
                _strings(names), ast.Name(read, ast.Load()), ast.Name(write, ast.Load()),
                _lambda(found), _strings(list(containers)),
            ],
            at,
        )  # fmt: skip
        return [reader, writer], state

    def _attempt(self, node: ast.expr, name: str) -> ast.expr:
        attribute = ast.Attribute(ast.Name(RUNTIME, ast.Load()), "attempt", ast.Load())
        return ast.Call(attribute, [_lambda(_as_loaded(node)), ast.Constant(name)], [])

    def _site(self, node: ast.AST, live: Sequence[str] = ()) -> ast.expr:
        is_guard = getattr(node, "is_guard", False)
        line = getattr(node, "lineno", 0)
        arguments = [ast.Constant(self.filename), ast.Constant(line), ast.Constant(is_guard), _strings(live)]
        return runtime("Site", arguments, node)

    def _next(self) -> int:
        self.count[0] += 1
        return self.count[0]

    def visit_If(self, node: ast.If) -> Any:
        number = self._next()
        writes = self._writes([*node.body, *node.orelse])
        defined, state = self._state(writes, number, node)
        names = self._names_of(writes)
        then, otherwise = f"_jst_then_{number}", f"_jst_else_{number}"
        test = self.visit(node.test)
        blocks = [
            self._block(then, self._statements(node.body), names, node),
            self._block(otherwise, self._statements(node.orelse), names, node),
        ]
        call = runtime(
            "if_", [test, ast.Name(then, ast.Load()), ast.Name(otherwise, ast.Load()), state, self._site(node)], node
        )
        return [*blocks, *defined, _located(ast.Expr(call), node)]

    def _loop(self, node: ast.While | ast.For, helper: str, first: ast.expr, item: str, extra: list[ast.stmt]) -> Any:
        number = self.count[0]
        parts: list[ast.AST] = [*node.body]
        parts.append(node.target if isinstance(node, ast.For) else node.test)
        writes = self._writes(parts)
        defined, state = self._state(writes, number, node)
        live = self._live(node, list(writes.names))
        body = f"_jst_body_{number}"
        block = self._block(body, [*extra, *self._statements(node.body)], self._names_of(writes), node, item)
        stops: list[ast.expr] = [ast.Name(stop, ast.Load()) for stop in getattr(node, "stops", [])]
        stop: ast.expr = ast.Constant(None)
        if stops:
            tested = stops[0] if len(stops) == 1 else self.visit(_located(ast.BoolOp(ast.Or(), stops), node))
            stop = _lambda(tested)
        call = runtime(helper, [first, ast.Name(body, ast.Load()), stop, state, self._site(node, live)], node)
        return [block, *defined, _located(ast.Expr(call), node)]

    def _live(self, node: ast.While | ast.For, names: list[str]) -> list[str]:
        """Variables whose value may be read behind the loop, or in a later round before it is written again."""
        inside = loads([node])
        elsewhere = {name for name in names if self.total_loads.count(name) > inside.count(name)}
        written = set(Writes([node.target]).names) if isinstance(node, ast.For) else set()
        again = read_before_written(node.body, written)
        if isinstance(node, ast.While):
            again |= set(loads([node.test]))
        return [name for name in names if name in elsewhere or name in again or name == RESULT]

    def visit_While(self, node: ast.While) -> Any:
        number = self._next()
        live_node = node
        test_names = self._names_of(self._writes([node.test]))
        test = f"_jst_test_{number}"
        result = self._loop(live_node, "while_", ast.Name(test, ast.Load()), "", [])
        tester = self._block(test, [ast.Return(self.visit(node.test))], test_names, node)
        return [tester, *result]

    def visit_For(self, node: ast.For) -> Any:
        number = self._next()
        item = f"_jst_item_{number}"
        assign = _located(ast.Assign([node.target], ast.Name(item, ast.Load())), node)
        iterated = self.visit(node.iter)
        return self._loop(node, "for_", iterated, item, [assign])

    def visit_Assert(self, node: ast.Assert) -> Any:
        message = node.msg if node.msg is not None else ast.Constant(None)
        arguments = [self.visit(node.test), _lambda(self.visit(message)), self._site(node)]
        return _located(ast.Expr(runtime("assert_", arguments, node)), node)

    def visit_Raise(self, node: ast.Raise) -> Any:
        self.generic_visit(node)
        if node.exc is not None:
            node.exc = runtime("raised", [node.exc], node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if any(isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await)) for part in own_nodes(node)):
            return node
        rewrite(node, self.filename, self.outside, self.count)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        # An annotation would make the name local to the block.
        if node.value is None:
            return None
        return self.visit(_located(ast.Assign([node.target], node.value), node))

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        node.value = self.visit(node.value)
        target = node.target
        if isinstance(target, ast.Attribute) and dotted(target) is not None:
            name = _IN_PLACE[type(node.op)]
            value = runtime("augmented", [ast.Constant(name), _as_loaded(target), node.value], node)
            return self._attribute_store(target, value, node, True)
        if isinstance(target, ast.Subscript):
            node.target = self.visit(target)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        node.value = self.visit(node.value)
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Attribute):
            return self._attribute_store(target, node.value, node)
        if any(isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) for part in ast.walk(node)):
            return self._unpacked(node)
        node.targets = [self.visit(part) for part in node.targets]
        return node

    def _attribute_store(self, target: ast.Attribute, value: ast.expr, at: ast.AST, updates: bool = False) -> ast.stmt:
        owner = self._look(target.value, False)
        arguments = [owner, ast.Constant(target.attr), value, ast.Constant(updates)]
        return _located(ast.Expr(runtime("set_attribute", arguments, at)), at)

    def _unpacked(self, node: ast.Assign) -> list[ast.stmt]:
        """`self.a, b = …` with a plain name for each attribute, which is then set by itself."""
        stores: list[ast.stmt] = []
        made: list[str] = []

        def replaced(part: Any) -> Any:
            if isinstance(part, ast.Attribute):
                name = f"_jst_part_{self._next()}"
                made.append(name)
                stores.append(self._attribute_store(part, ast.Name(name, ast.Load()), node))
                return _located(ast.Name(name, ast.Store()), node)
            if isinstance(part, (ast.Tuple, ast.List)):
                part.elts = [replaced(element) for element in part.elts]
                return part
            return ast.Starred(replaced(part.value), ast.Store()) if isinstance(part, ast.Starred) else self.visit(part)

        node.targets = [replaced(target) for target in node.targets]
        return [_located(node, node), *stores]

    # ---- expressions -----------------------------------------------------------------------------------------------

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        if not any(isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await)) for part in ast.walk(node.body)):
            given = node.args
            every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
            hidden = {argument.arg for argument in every if argument is not None}
            kept = self.undefined, self.outside
            self.undefined, self.outside = self.undefined - hidden, self.outside - hidden
            node.body = self.visit(node.body)
            self.undefined, self.outside = kept
        return node

    def visit_Name(self, node: ast.Name) -> Any:
        return self._look(node, True)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        return self._look(node, True)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        return self._look(node, True)

    def _look(self, node: ast.expr, whole: bool) -> ast.expr:
        """What reads a name, an attribute or an entry; not `whole`: a container's contents are not asked for here."""
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load) or node.id.startswith("_jst_"):
                return node
            if node.id in self.undefined:
                return runtime("load", [node], node)
            if node.id in self.outside:
                place = [ast.Name(SURROUNDINGS, ast.Load()), ast.Constant(node.id), node, ast.Constant(whole)]
                return runtime("outside", place, node)
            return node
        if isinstance(node, ast.Attribute):
            node.value = self._look(node.value, False)
            if isinstance(node.ctx, ast.Load):
                return runtime("attribute", [node.value, ast.Constant(node.attr), ast.Constant(whole)], node)
            return node
        if isinstance(node, ast.Subscript):
            sliced = any(isinstance(part, ast.Slice) for part in ast.walk(node.slice))
            node.slice = self.visit(node.slice)
            node.value = self._look(node.value, isinstance(node.ctx, ast.Load) and sliced)
            if not isinstance(node.ctx, ast.Load):
                node.value = runtime("changing", [node.value], node)
            elif not sliced:
                return runtime("entry", [node.value, node.slice, ast.Constant(whole)], node)
            return node
        return self.visit(node)

    def _visit_comprehension(self, node: Any) -> Any:
        hidden = {
            part.id
            for generator in node.generators
            for part in ast.walk(generator.target)
            if isinstance(part, ast.Name)
        }
        kept = self.undefined, self.outside
        self.undefined, self.outside = self.undefined - hidden, self.outside - hidden
        self.generic_visit(node)
        self.undefined, self.outside = kept
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension

    def visit_Call(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in _LEFT_ALONE and not (name == "vars" and node.args):
            node.args = [self.visit(argument) for argument in node.args]
            return node
        self.generic_visit(node)
        node.func = runtime("call", [node.func], node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        binds = _binds(node.body) or _binds(node.orelse)
        self.generic_visit(node)
        if binds:
            return node
        return runtime("choose", [node.test, _lambda(node.body), _lambda(node.orelse), self._site(node)], node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        binds = any(_binds(value) for value in node.values)
        self.generic_visit(node)
        if binds:
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return runtime(name, [_lambda(value) for value in node.values], node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return runtime("not_", [node.operand], node) if isinstance(node.op, ast.Not) else node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        name = _ARITHMETIC.get(type(node.op))
        return node if name is None else runtime("arithmetic", [ast.Constant(name), node.left, node.right], node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        binds = _binds(node)
        self.generic_visit(node)
        name = _COMPARISONS.get(type(node.ops[0]))
        if len(node.ops) == 1 and name is not None:
            return runtime("arithmetic", [ast.Constant(name), node.left, node.comparators[0]], node)
        if len(node.ops) == 1 or binds:
            return node
        return _chain(node.left, node.ops, node.comparators, node, 0)


def _chain(left: ast.expr, ops: Sequence[ast.cmpop], rights: Sequence[ast.expr], at: ast.AST, depth: int) -> ast.expr:
    """`a < b < c` as `(lambda a, b: and_(lambda: a < b, lambda: b < c))(a, b)`: b is computed once."""
    first, second = f"_jst_left_{depth}", f"_jst_right_{depth}"
    head = ast.Compare(ast.Name(first, ast.Load()), [ops[0]], [ast.Name(second, ast.Load())])
    if len(ops) == 2:
        tail: ast.expr = ast.Compare(ast.Name(second, ast.Load()), [ops[1]], [rights[1]])
    else:
        tail = _chain(ast.Name(second, ast.Load()), ops[1:], rights[1:], at, depth + 1)
    both = runtime("and_", [_lambda(head), _lambda(tail)], at)
    return _located(ast.Call(_lambda(both, [first, second]), [left, rights[0]], []), at)


def _binds(node: ast.AST) -> bool:
    return any(isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for part in ast.walk(node))


def _as_loaded(node: ast.expr) -> ast.expr:
    """A dotted name as an expression that reads it."""
    if isinstance(node, ast.Attribute):
        return ast.Attribute(_as_loaded(node.value), node.attr, ast.Load())
    return ast.Name(dotted(node) or "", ast.Load())
