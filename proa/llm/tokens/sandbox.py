"""A place to run templates of strangers in.

Jinja's sandbox keeps a template from reaching Python's inner life. It does not keep it from looping for ever or from asking
for all memory, and a template comes with every model that is fetched. Here every step that can take long or make something
large is counted, before it is done where its cost depends on its arguments:

- loops and macros count their rounds (a call is written into the body of each when the template is compiled);
- operators, `~`, slices, filters, methods and output count the characters and elements that they make;
- what walks through nested values (comparing, printing, JSON) counts every one that it will meet;
- of filters and methods there are those that templates use; none that makes much out of little.

A template that exceeds its budget is refused, whatever it was about to do.
"""

from __future__ import annotations

import functools
import json
import re
import threading
import time
from collections.abc import Iterable
from typing import Any

from jinja2 import filters as jinja_filters
from jinja2 import nodes
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment
from jinja2.utils import Namespace, pass_context
from jinja2.visitor import NodeTransformer


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_METHODS: dict[type, frozenset[str]] = {
    str: _words(
        """capitalize casefold count endswith find format index isalnum isalpha isdecimal isdigit islower isnumeric isspace
        istitle isupper join lower lstrip partition removeprefix removesuffix replace rfind rindex rpartition rsplit
        rstrip split splitlines startswith strip swapcase title upper"""
    ),
    dict: _words("copy get items keys values"),
    list: _words("copy count index"),
    tuple: _words("count index"),
    float: _words("is_integer"),
    int: _words("bit_length"),
}
_PLAIN_FILTERS = _words(
    """abs capitalize count d default e escape first float int items last length list lower map reject rejectattr reverse
    round safe select selectattr title trim upper wordcount"""
)
_COMPARING_FILTERS = _words("dictsort groupby max min sort unique")
_COMPARING_TESTS = _words("eq equalto == ne != lt lessthan < le <= gt greaterthan > ge >= in")
_WIDTHS = re.compile(r"%[^a-zA-Z%]*(?:\d{4}|\*)|\{[^}]*[:{]")  # fields that say how wide they are


class Budget:
    """What one rendering may take."""

    def __init__(self, units: int, rounds: int, seconds: float) -> None:
        self.units, self.rounds = units, rounds
        self.deadline = time.monotonic() + seconds

    def tick(self) -> bool:
        self.rounds -= 1
        if self.rounds < 0:
            raise SecurityError("the template goes round too often")
        if not self.rounds & 63 and time.monotonic() > self.deadline:
            raise SecurityError("the template takes too long")
        return True

    def take(self, units: int) -> None:
        """Before or after something of this size is made; every taking counts as a round too."""
        self.units -= units
        if self.units < 0:
            raise SecurityError("the template makes too much text")
        if units > 4096 and time.monotonic() > self.deadline:
            raise SecurityError("the template takes too long")

    def walk(self, value: Any) -> Any:
        """Takes what it costs to visit everything within a value, which may hold the same list many times over."""
        if isinstance(value, (dict, list, tuple)):
            left = [value]
            while left:
                each = left.pop()
                if isinstance(each, dict):
                    left.extend(each.keys())
                    left.extend(each.values())
                elif isinstance(each, (list, tuple)):
                    left.extend(each)
                self.take(_size(each) + 1)
                self.tick()
        return value


class _Local(threading.local):
    budget: Budget | None = None


_LOCAL = _Local()


def _budget() -> Budget:
    if _LOCAL.budget is None:
        raise SecurityError("a template is run outside of its sandbox")
    return _LOCAL.budget


class limited:
    """`with limited(budget):` what templates do inside is counted."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def __enter__(self) -> None:
        self._outer, _LOCAL.budget = _LOCAL.budget, self._budget

    def __exit__(self, *_: object) -> None:
        _LOCAL.budget = self._outer


def _size(value: Any) -> int:
    if isinstance(value, (str, bytes, list, tuple, dict)):
        return len(value)
    return value.bit_length() >> 3 if isinstance(value, int) else 0


def _counted(value: Any) -> Any:
    _budget().take(_size(value) + 1)
    return value


# ---- what is written into templates ----------------------------------------------------------------


class _Counting(NodeTransformer):
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

    def visit_Test(self, node: nodes.Test) -> nodes.Node:
        self.generic_visit(node)
        if node.name in _COMPARING_TESTS:
            node.node = self._call("walked", node.node)
            node.args = [self._call("walked", argument) for argument in node.args]
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


class _Generation(Extension):
    """`{% generation %} … {% endgeneration %}`, which marks what the model is to say; its content is shown as it is."""

    tags = {"generation"}  # noqa: RUF012 (as the base class has it)

    def parse(self, parser: Any) -> Any:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body).set_lineno(line)


class _Namespace(Namespace):
    """Without names that begin with an underscore, which could be taken for Python's own."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        Namespace.__init__(*args, **kwargs)
        for name in dict(*args[1:], **kwargs):
            _checked_name(name)

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(_checked_name(name), value)


def _checked_name(name: Any) -> Any:
    if not isinstance(name, str) or name.startswith("_"):
        raise SecurityError(f"a namespace cannot have the name {name!r:.40}")
    return name


# ---- the environment -------------------------------------------------------------------------------


class Environment(ImmutableSandboxedEnvironment):
    """Where chat templates are compiled and run: what transformers offers them, counted."""

    intercepted_binops = frozenset(["//", "%", "+", "*", "**", "-", "/"])

    def __init__(self) -> None:
        # Not optimized: constants would be computed when the template is compiled.
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, optimized=False, extensions=[loopcontrols, _Generation],
            finalize=_finalized,
        )  # fmt: skip
        known = jinja_filters.FILTERS
        self.filters = {name: _filter(known[name]) for name in _PLAIN_FILTERS}
        self.filters |= {name: _filter(known[name], walks=True) for name in _COMPARING_FILTERS}
        self.filters |= {"indent": _indent, "join": _join, "replace": _replace, "string": _string, "tojson": _tojson}
        self.globals = {
            "range": self.globals["range"], "dict": _dict, "namespace": _Namespace, "cycler": self.globals["cycler"],
            "joiner": self.globals["joiner"], "raise_exception": _raise_exception, "strftime_now": _strftime_now,
        }  # fmt: skip

    # What `_Counting` writes calls of into templates.
    counted = staticmethod(_counted)

    @staticmethod
    def tick() -> bool:
        return _budget().tick()

    @staticmethod
    def walked(value: Any) -> Any:
        return _budget().walk(value)

    @staticmethod
    def joined(*values: Any) -> str:
        return _counted("".join(_counted(str(_budget().walk(value))) for value in values))

    @staticmethod
    def concat(parts: Iterable[str]) -> str:
        """Puts together what a macro or a block has written."""
        listed = list(parts)
        _budget().take(sum(map(len, listed)))
        return "".join(listed)

    def _generate(self, source: Any, *args: Any, **kwargs: Any) -> str:
        return super()._generate(_Counting().visit(source), *args, **kwargs)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        _budget().take(_result_size(operator, left, right))
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        budget = _budget()
        if __obj in (__self.tick, __self.walked, __self.counted, __self.joined):
            return __obj(*args)
        budget.tick()
        owner = getattr(__obj, "__self__", None)
        methods = next((names for kind, names in _METHODS.items() if isinstance(owner, kind)), None)
        if methods is not None:
            _check_method(budget, owner, __obj.__name__, methods, args)
        found = SandboxedEnvironment.call(__self, __context, __obj, *args, **kwargs)
        return _counted(found)

    def wrap_str_format(self, value: Any) -> Any:
        wrapped = super().wrap_str_format(value)
        if wrapped is not None and (value.__name__ != "format" or _WIDTHS.search(value.__self__)):
            raise SecurityError("format() takes plain fields alone: {} or {name}")
        return wrapped


def _result_size(operator: str, left: Any, right: Any) -> int:
    """How large the result of an operator will be, at most."""
    sequences = (str, bytes, list, tuple)
    if operator == "**":
        small = not isinstance(left, int) or not isinstance(right, int) or left.bit_length() * max(right, 1) < 4096
        return 0 if small else 2**62
    if operator == "*" and (isinstance(left, sequences) or isinstance(right, sequences)):
        times, sequence = (left, right) if isinstance(left, int) else (right, left)
        return len(sequence) * max(int(times), 0) if isinstance(times, int) and isinstance(sequence, sequences) else 0
    if operator == "%" and isinstance(left, str):
        if _WIDTHS.search(left):
            raise SecurityError("a field may not be so wide")
        _budget().walk(right)
        parts = right if isinstance(right, tuple) else right.values() if isinstance(right, dict) else (right,)
        return len(left) + left.count("%") * max([_size(part) for part in parts] or [0])
    return _size(left) + _size(right) + 1


def _check_method(budget: Budget, owner: Any, name: str, allowed: frozenset[str], arguments: tuple[Any, ...]) -> None:
    if name not in allowed:
        raise SecurityError(f"templates cannot call {type(owner).__name__}.{name}()")
    if isinstance(owner, str) and name == "replace":
        budget.take(_replaced_size(owner, *arguments[:2]))
    elif isinstance(owner, str) and name == "join" and arguments and isinstance(arguments[0], (list, tuple)):
        budget.take(len(owner) * len(arguments[0]) + sum(_size(part) for part in arguments[0]))
    elif name in ("count", "index") and not isinstance(owner, str):
        budget.walk(owner)
        budget.walk(arguments)
    budget.take(_size(owner))


def _replaced_size(text: str, old: Any = "", new: Any = "") -> int:
    if not isinstance(old, str) or not isinstance(new, str):
        return 0
    return len(text) + text.count(old) * len(new)


# ---- filters and functions ---------------------------------------------------------------------------


def _filter(function: Any, walks: bool = False) -> Any:
    place = 1 if hasattr(function, "jinja_pass_arg") else 0

    @functools.wraps(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        budget = _budget()
        budget.tick()
        if len(args) > place:
            if walks:
                budget.walk(list(args[place]) if not isinstance(args[place], dict) else args[place])
            budget.take(_size(args[place]))
        return _counted(function(*args, **kwargs))

    return counted


def _finalize(_context: Any, value: Any) -> Any:
    """Called for everything that is shown."""
    if isinstance(value, (dict, list, tuple)):
        _budget().walk(value)
    return _counted(value)


_finalized = pass_context(_finalize)  # with the context, so that nothing is shown when the template is compiled


def _string(value: Any) -> str:
    return _counted(str(_budget().walk(value)))


def _join(values: Iterable[Any], separator: str = "", attribute: str | None = None) -> str:
    budget, parts = _budget(), []
    for value in values:
        budget.tick()
        found = value.get(attribute, "") if attribute is not None and isinstance(value, dict) else value
        parts.append(str(budget.walk(found)))
        budget.take(len(parts[-1]) + len(separator))
    return str(separator).join(parts)


def _replace(text: Any, old: Any, new: Any, count: int | None = None) -> str:
    text, old, new = _string(text), str(old), str(new)
    _budget().take(_replaced_size(text, old, new))
    return text.replace(old, new, -1 if count is None else count)


def _indent(text: Any, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    text = _string(text)
    size = len(width) if isinstance(width, str) else width
    if size > 1000:
        raise SecurityError(f"an indentation of {size} is too much")
    _budget().take(len(text) + (text.count("\n") + 1) * size)
    return jinja_filters.do_indent(text, width, first, blank)


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: Any = None,
    sort_keys: bool = False,
) -> str:
    """As transformers has it: JSON for a model to read, not for a web page, so nothing is escaped for HTML."""
    if len(indent) > 16 if isinstance(indent, str) else (indent or 0) > 16:
        raise SecurityError("an indentation of more than 16 is too much")
    _budget().walk(value)
    return _counted(
        json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    )


def _dict(*args: Any, **kwargs: Any) -> dict[Any, Any]:
    return dict(*args, **kwargs)


def _raise_exception(text: Any) -> Any:
    raise TemplateError(str(text)[:1000])


def _strftime_now(pattern: str) -> str:
    from datetime import datetime

    if len(pattern) > 100 or re.search(r"\d{3}", pattern):
        raise SecurityError("the form of a date is too long")
    return datetime.now().strftime(pattern)
