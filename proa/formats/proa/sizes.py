"""Unknown sizes in an artifact: symbols, the expressions over them, and the guards of a capture.

    symbols  [{"name": "x.shape[0]", "example": 6720, "result": false}]; below, a symbol is its position here
    size     {"size": [[factor, atom, ...], ...]}: a sum of products; an atom is a symbol, or [function, argument, ...]
    float    {"real": tree}; a tree is a number, a size, or [operation, tree, ...]
    guard    {"kind": "<", "size": [...], "answer": true, "at": [file, line]?}

An argument of a function is a tree.
"""

from __future__ import annotations

import os
from typing import Any

from ...core.expressions import CALLS, TREES, Call, Expression, Symbol
from ...core.symbols import SymbolicNumber, SymbolicSize, evaluate, size_from
from ...ir.sizes.assumptions import Assumptions, Guard
from .archive import DamagedArtifact

_DEEPEST = 64
_MOST_TERMS = 1000
_LARGEST = 1 << 62


def _want(condition: bool, text: str) -> None:
    if not condition:
        raise DamagedArtifact(f"(load) {text}; the file is damaged")


class SizeWriter:
    """Numbers the symbols of a graph as they are met."""

    def __init__(self) -> None:
        self.numbers: dict[Symbol, int] = {}

    def number(self, value: SymbolicSize | SymbolicNumber) -> dict[str, Any]:
        if isinstance(value, SymbolicSize):
            return {"size": self._expression(value.expression)}
        return {"real": self._tree(value.tree)}

    def _expression(self, expression: Expression) -> list[Any]:
        return [[factor, *map(self._atom, product)] for product, factor in expression.terms.items()]

    def _atom(self, atom: Any) -> Any:
        if isinstance(atom, Symbol):
            return self.numbers.setdefault(atom, len(self.numbers))
        return [atom.name, *map(self._tree, atom.arguments)]

    def _tree(self, tree: Any) -> Any:
        if isinstance(tree, Expression):
            return {"size": self._expression(tree)}
        return [tree[0], *map(self._tree, tree[1:])] if isinstance(tree, tuple) else tree

    def guards(self, assumptions: Assumptions) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for guard in assumptions.guards.values():
            entry: dict[str, Any] = {
                "kind": guard.kind, "size": self._expression(guard.expression), "answer": guard.answer
            }  # fmt: skip
            if guard.location is not None:
                entry["at"] = [os.path.basename(guard.location[0]), guard.location[1]]
            found.append(entry)
        return found

    def symbols(self) -> list[dict[str, Any]]:
        return [{"name": s.name, "example": s.example, "result": s.is_result} for s in self.numbers]


class SizeReader:
    """The symbols of a file, and what is written with them."""

    def __init__(self, symbols: Any = ()) -> None:
        self.assumptions = Assumptions()
        self.assumptions.is_open = False
        self.symbols: list[Symbol] = []
        _want(isinstance(symbols, (list, tuple)), "the symbols are not a list")
        for entry in symbols:
            _want(isinstance(entry, dict), "a symbol is not an object")
            name, example = entry.get("name"), entry.get("example")
            _want(isinstance(name, str) and len(name) < 1000, "a symbol has no name")
            _want(example.__class__ is int and 0 <= example < _LARGEST, "the example of a symbol is no size")
            size = self.assumptions.symbol(name, example, entry.get("result") is True)
            symbol = size.expression.symbol
            assert symbol is not None
            self.symbols.append(symbol)
        self.examples = {symbol: symbol.example for symbol in self.symbols}

    def number(self, kind: str, content: Any) -> Any:
        """What `{"size": ...}` or `{"real": ...}` stands for."""
        try:
            if kind == "size":
                expression = self._expression(content, 0)
                value = expression.value(self.examples)
                _want(-_LARGEST < value < _LARGEST, "a size is an absurd number")
                return size_from(expression, value)
            made = SymbolicNumber(0.0)
            made.tree = self._tree(content, 0)
            value = evaluate(made, self.examples)
        except (ArithmeticError, ValueError) as error:
            raise DamagedArtifact(
                f"(load) a size cannot be computed: {str(error)[:200]}; the file is damaged"
            ) from None
        _want(isinstance(value, float), "a float is none")
        found = float.__new__(SymbolicNumber, value)
        found.tree = made.tree
        return found

    def _expression(self, content: Any, depth: int) -> Expression:
        _want(isinstance(content, list) and len(content) <= _MOST_TERMS and depth <= _DEEPEST, "a size is none")
        total = Expression({})
        for term in content:
            _want(isinstance(term, list) and 0 < len(term) <= 64, "a size is none")
            _want(term[0].__class__ is int and abs(term[0]) < _LARGEST, "a size has a factor that is no number")
            product = Expression({(): term[0]})
            for atom in term[1:]:
                product = product * Expression({(self._atom(atom, depth + 1),): 1})
            total = total + product
        return total

    def _atom(self, atom: Any, depth: int) -> Any:
        if atom.__class__ is int:
            _want(0 <= atom < len(self.symbols), "a size has a symbol that is not there")
            return self.symbols[atom]
        _want(isinstance(atom, list) and len(atom) in (2, 3) and atom[0] in CALLS, "a size has an unknown function")
        _want(len(atom) == (3 if atom[0] in ("//", "%", "min", "max") else 2), "a function has other arguments")
        arguments = tuple(self._tree(part, depth + 1) for part in atom[1:])
        _want(len(arguments) == 1 or all(isinstance(a, Expression) for a in arguments), "an argument is no size")
        return Call(atom[0], arguments)

    def _tree(self, content: Any, depth: int) -> Any:
        _want(depth <= _DEEPEST, "a number is nested too deep")
        if content.__class__ in (int, float):
            return content
        if isinstance(content, dict):
            _want(list(content) == ["size"], "a part of a float is none")
            return self._expression(content["size"], depth + 1)
        _want(isinstance(content, list) and len(content) > 1 and content[0] in TREES, "a float is computed oddly")
        _want(len(content) == (2 if content[0] == "sqrt" else 3), "an operation has other arguments")
        _want(content[0] != "pow" or content[2].__class__ in (int, float), "an exponent is no plain number")
        return (content[0], *(self._tree(part, depth + 1) for part in content[1:]))

    def guards(self, content: Any) -> None:
        _want(isinstance(content, list), "the guards are not a list")
        for entry in content:
            _want(isinstance(entry, dict) and entry.get("kind") in ("==", "<"), "a guard is of no known kind")
            _want(isinstance(entry.get("answer"), bool), "a guard has no answer")
            where = entry.get("at")
            expression = self._expression(entry.get("size"), 0)
            good = isinstance(where, list) and len(where) == 2 and isinstance(where[0], str)
            location = (where[0], where[1]) if where is not None and good else None
            self.assumptions.guards[entry["kind"], expression] = Guard(
                entry["kind"], expression, entry["answer"], location
            )
