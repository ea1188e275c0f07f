"""The pattern language: describes a piece of a graph by operations, operands and attributes, and what takes its place.

    x = Any("x")

    @pattern(node.multiply(x, node.sigmoid(x)))
    def silu_by_hand(x):
        return paddle.nn.functional.silu(x)

A pattern is an expression of `node.<operation>(*operands, **attributes)`. Operands are patterns; a Python number stands for
that number, None for an absent tensor. The function gets, by name, a tensor for each `Any` and `Constant`, a Python number
for each `Number` and the value of each `Attribute`; what it records takes the place of the match. A parameter
with a default may be missing from the match (one side of an `Either`). If the function gives None, the graph stays.

What a match would throw away must be used inside the match only. Operands of commutative operations match in either order.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any as Anything

import numpy as np

from ...core.aval import Aval
from ...core.errors import type_error
from .draft import Draft, Node, Operand, PassError, Scalar, Value
from .nature import constants, is_pure
from .registry import register_pass

_CLOSE = 1e-6  # numbers written by hand, and those that went through float32


class Constants:
    """The ids of a graph's constant values, found when somebody asks: few patterns do."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.found: set[int] | None = None

    def __contains__(self, number: int) -> bool:
        if self.found is None:
            self.found = constants(self.draft)
        return number in self.found


class Match:
    """What a pattern found so far: bindings by name, and the nodes it covers. Never changed, only extended."""

    __slots__ = ("bindings", "draft", "fixed", "nodes")

    def __init__(self, draft: Draft, fixed: Constants, bindings: dict[str, Anything], nodes: tuple[Node, ...]) -> None:
        self.draft = draft
        self.fixed = fixed
        self.bindings = bindings
        self.nodes = nodes

    def bind(self, name: str, value: Anything) -> Match | None:
        if name in self.bindings:
            known = self.bindings[name]
            return self if known is value or (not isinstance(value, Value) and known == value) else None
        return Match(self.draft, self.fixed, {**self.bindings, name: value}, self.nodes)

    def cover(self, node: Node) -> Match:
        return Match(self.draft, self.fixed, self.bindings, (*self.nodes, node))


class Pattern:
    """Something that an operand may match, in one way or several."""

    def found(self, operand: Operand, match: Match) -> Iterator[Match]:
        raise NotImplementedError


class Any(Pattern):
    """Any tensor; the same name means the same tensor. `where` is asked with its abstract value."""

    def __init__(self, name: str, where: Callable[[Anything], bool] | None = None) -> None:
        self.name = name
        self.where = where

    def found(self, operand: Operand, match: Match) -> Iterator[Match]:
        if isinstance(operand, Value) and (self.where is None or self.where(operand.aval)):
            bound = match.bind(self.name, operand)
            if bound is not None:
                yield bound


class Constant(Any):
    """A tensor that does not depend on the graph's inputs: a parameter, or computed from such."""

    def found(self, operand: Operand, match: Match) -> Iterator[Match]:
        if isinstance(operand, Value) and id(operand) in match.fixed:
            yield from super().found(operand, match)


class Number(Pattern):
    """A number: a Python scalar, or a tensor of one element that is made or given as a constant."""

    def __init__(
        self, name: str | None = None, value: float | None = None, where: Callable[[Anything], bool] | None = None
    ) -> None:
        self.name = name
        self.value = value
        self.where = where

    def found(self, operand: Operand, match: Match) -> Iterator[Match]:
        number = number_in(operand, match.draft)
        if number is None or (self.where is not None and not self.where(number)):
            return
        if self.value is not None and abs(number - self.value) > _CLOSE * max(1.0, abs(self.value)):
            return
        bound = match if self.name is None else match.bind(self.name, number)
        if bound is not None:
            _assume(operand, match.draft)
            yield bound


def number_in(operand: Operand, draft: Draft) -> float | int | None:
    """The number that an operand is known to be, if any."""
    if isinstance(operand, Scalar):
        return operand.value if isinstance(operand.value, (int, float)) and not operand.is_live else None
    if not isinstance(operand, Value) or operand.aval.size != 1:
        return None
    if operand.maker is not None:
        node = operand.maker
        if node.name == "full":
            return number_in(node.operands[0], draft)
        if node.name in ("ones", "zeros"):
            return 1.0 if node.name == "ones" else 0.0
        if node.name in ("reshape", "expand", "assign"):
            return number_in(node.operands[0], draft)
        return None
    tensor = operand.tensor
    if tensor is None or id(tensor) in draft.updated or getattr(tensor, "persistable", False):
        return None
    if operand.aval.dtype.kind not in "fi" and operand.aval.dtype.name != "bfloat16":
        return None
    number = np.asarray(tensor._data()).reshape(()).item()
    return number if abs(number) < 50_000 or isinstance(number, float) else None


def _assume(operand: Operand, draft: Draft) -> None:
    """Remembers that the value of a tensor from outside was looked at."""
    while isinstance(operand, Value) and operand.maker is not None:
        operand = operand.maker.operands[0] if operand.maker.operands else None
    if isinstance(operand, Value) and operand.tensor is not None:
        draft.assumed[id(operand.tensor)] = operand.tensor


class Absent(Pattern):
    """An optional tensor that is not given."""

    def found(self, operand: Operand, match: Match) -> Iterator[Match]:
        if operand is None:
            yield match


class Either(Pattern):
    """Whatever one of several patterns matches."""

    def __init__(self, *patterns: Anything) -> None:
        self.patterns = [as_pattern(p) for p in patterns]

    def found(self, operand: Operand, match: Match) -> Iterator[Match]:
        for one in self.patterns:
            yield from one.found(operand, match)


class Attribute:
    """Stands for an attribute whose value the function wants to have (and `where` accepts)."""

    def __init__(self, name: str, where: Callable[[Anything], bool] | None = None) -> None:
        self.name = name
        self.where = where


class NodePattern(Pattern):
    """The first result of an operation applied to operands that match."""

    def __init__(self, operation: str, operands: tuple[Anything, ...], attributes: dict[str, Anything]) -> None:
        self.operation = operation
        self.operands = [as_pattern(operand) for operand in operands]
        self.attributes = attributes

    def found(self, operand: Operand, match: Match) -> Iterator[Match]:
        if isinstance(operand, Value) and operand.maker is not None and operand is operand.maker.output:
            yield from self.found_at(operand.maker, match)

    def found_at(self, node: Node, match: Match) -> Iterator[Match]:
        if node.name != self.operation or len(node.operands) < len(self.operands) or not is_pure(node):
            return
        if any(operand is not None for operand in node.operands[len(self.operands) :]):
            return
        covered: Match | None = match.cover(node)
        for name, wanted in self.attributes.items():
            value = node.attribute(name)
            if isinstance(wanted, Attribute):
                accepted = wanted.where is None or wanted.where(value)
                covered = covered.bind(wanted.name, value) if accepted else None
            elif not (wanted(value) if callable(wanted) else value == wanted):
                covered = None
            if covered is None:
                return
        orders = [list(node.operands[: len(self.operands)])]
        if node.operation.traits.commutative:
            orders.append([orders[0][1], orders[0][0]])
        for order in orders:
            yield from _all(self.operands, order, covered)

    def __repr__(self) -> str:
        return f"node.{self.operation}"


def _all(patterns: list[Pattern], operands: list[Operand], match: Match) -> Iterator[Match]:
    if not patterns:
        yield match
        return
    for first in patterns[0].found(operands[0], match):
        yield from _all(patterns[1:], operands[1:], first)


class _NodeMaker:
    """`node.add(x, y)`: the pattern of an operation by its name in the op table."""

    def __getattr__(self, name: str) -> Callable[..., NodePattern]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *operands, **attributes: NodePattern(name, operands, attributes)


node = _NodeMaker()


def as_pattern(thing: Anything) -> Pattern:
    if isinstance(thing, Pattern):
        return thing
    if thing is None:
        return Absent()
    if isinstance(thing, (int, float)):
        return Number(value=thing)
    raise type_error("pattern", "an operand is a pattern, a number or None", f"{thing!r}")


def matches(pattern: Pattern, root: Node, draft: Draft, fixed: Constants) -> Iterator[Match]:
    """The ways in which a pattern fits at a node, of which nothing is used elsewhere that would be lost."""
    for match in pattern.found(root.output, Match(draft, fixed, {}, ())):
        if all(n is root or all(draft.used_only_by(v, match.nodes) for v in n.outputs) for n in match.nodes):
            yield match


class Rewrite:
    """A pattern and the function whose operations take its place: a pass."""

    def __init__(self, pattern: Pattern, function: Callable[..., Anything]) -> None:
        self.pattern = pattern
        self.function = function
        self.parameters = inspect.signature(function).parameters

    def __call__(self, draft: Draft) -> int:
        changes = 0
        roots = _root_names(self.pattern)
        candidates = [n for n in draft.nodes if n.name in roots]
        if not candidates:
            return 0
        fixed = Constants(draft)
        for root in candidates:
            for match in matches(self.pattern, root, draft, fixed):
                if self._rewrite(draft, root, match):
                    changes += 1
                    fixed = Constants(draft)
                    break
        return changes

    def _rewrite(self, draft: Draft, root: Node, match: Match) -> bool:
        name = getattr(self.function, "__name__", "pattern")
        arguments = []
        for parameter in self.parameters.values():
            value = match.bindings.get(parameter.name, parameter.default)
            if value is inspect.Parameter.empty:
                raise PassError(f"(pattern) {name} wants {parameter.name}, which its pattern does not bind.")
            arguments.append(value)
        made = draft.record(root, self.function, *arguments)
        if not made:
            return False
        if made[0].aval is not root.output.aval:
            maker = made[0].maker
            if maker is not None and _only_symbols_differ(made[0].aval, root.output.aval):
                _clear(draft, maker)
                return False
            raise PassError(f"(pattern) {name} must give {root.output.aval}; its replacement gives {made[0].aval}.")
        draft.replace(root.output, made[0])
        _clear(draft, root)
        return True


def _only_symbols_differ(first: Aval, second: Aval) -> bool:
    """Whether sizes are the same but come from unknown dimensions of different inputs, whose equality only a run shows."""
    return first.symbolic and first.dtype == second.dtype and tuple(first.shape) == tuple(second.shape)


def _clear(draft: Draft, root: Node) -> None:
    """Takes out what nobody uses any more, from a node upwards."""
    waiting, gone = [root], []
    while waiting:
        node = waiting.pop()
        if node in gone or not is_pure(node) or any(draft.is_output(v) or _used(v, gone) for v in node.outputs):
            continue
        gone.append(node)
        waiting += [o.maker for o in node.operands if isinstance(o, Value) and o.maker is not None]
    draft.remove(gone)


def _used(value: Value, gone: list[Node]) -> bool:
    return any(not any(user is node for node in gone) for user in value.users)


def _root_names(pattern: Pattern) -> set[str]:
    if isinstance(pattern, Either):
        return set().union(*(_root_names(p) for p in pattern.patterns))
    if not isinstance(pattern, NodePattern):
        raise type_error("pattern", "a pattern begins with an operation: node.<operation>(...)", f"{pattern!r}")
    return {pattern.operation}


def pattern(
    expression: Pattern, *, name: str | None = None, level: int = 2, order: float = 35.0
) -> Callable[[Callable[..., Anything]], Callable[..., Anything]]:
    """Registers a rewriting: where `expression` matches, what the decorated function records is put instead."""
    _root_names(expression)  # says at once what is wrong with it

    def register(function: Callable[..., Anything]) -> Callable[..., Anything]:
        register_pass(Rewrite(expression, function), name=name or function.__name__, level=level, order=order)
        return function

    return register
