"""What is written into templates when they are compiled, and the names that they may give."""

from __future__ import annotations

from typing import Any

from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer


class Counting(NodeTransformer):
    """Writes the counting into a parsed template."""

    def _call(self, name: str, *arguments: nodes.Expr) -> nodes.Call:
        return nodes.Call(nodes.EnvironmentAttribute(name), list(arguments), [], None, None)

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self.generic_visit(node)
        node.body.insert(0, nodes.ExprStmt(self._call("tick")))
        if node.test is not None:
            node.test = nodes.And(self._call("tick"), node.test)
        return node

    def _visit_body(self, node: Any) -> nodes.Node:
        self.generic_visit(node)
        node.body.insert(0, nodes.ExprStmt(self._call("tick")))
        return node

    visit_Macro = visit_CallBlock = _visit_body

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return self._call("joined", *node.nodes)

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:
        self.generic_visit(node)
        node.expr = self._call("walked", node.expr)
        for operand in node.ops:
            operand.expr = self._call("walked", operand.expr)
        return node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        self.generic_visit(node)
        if isinstance(node.arg, nodes.Slice):
            return self._call("counted", node)
        node.arg = self._call("walked", node.arg) if not isinstance(node.arg, nodes.Const) else node.arg
        return node

    def visit_Pair(self, node: nodes.Pair) -> nodes.Node:
        self.generic_visit(node)
        node.key = self._call("walked", node.key)
        return node


class Generation(Extension):
    """`{% generation %} … {% endgeneration %}`, which marks what the model is to say; its content is shown as it is."""

    tags = {"generation"}  # noqa: RUF012 (as the base class has it)

    def parse(self, parser: Any) -> Any:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body).set_lineno(line)


class SafeNamespace(Namespace):
    """Without names that begin with an underscore, which could be taken for Python's own."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        Namespace.__init__(*args, **kwargs)
        for name in dict(*args[1:], **kwargs):
            _checked_name(name)

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(_checked_name(name), value)

    def __repr__(self) -> str:
        return "<Namespace>"  # not what it holds, which may be much


def _checked_name(name: Any) -> Any:
    if not isinstance(name, str) or name.startswith("_"):
        raise SecurityError(f"a namespace cannot have the name {name!r:.40}")
    return name
