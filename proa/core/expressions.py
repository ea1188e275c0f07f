"""Expressions over unknown sizes: polynomials with whole coefficients, whose atoms are symbols and rounded quotients.

They are kept in one normal form, so that equal ones are found equal (`(n - 1) + 1` is `n`, `6 * n // 3` is `2 * n`).
Floats are trees of operations instead: `(operation, part, ...)` with expressions, trees and plain numbers as parts.
"""

# The functions of `operator` have no types of their own.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any


class UnknownSize(ValueError):
    """Sizes for which a captured program does not hold, or which it cannot find; `guard`: what it was captured for."""

    guard: Any = None


class Symbol:
    """A size that is not known before a program runs; `owner` collects the guards of its capture.

    A `stated` one is the example unless a run has another: what `static.data("x", [2, 3])` says, and what follows from it.
    """

    __slots__ = ("example", "is_result", "name", "owner", "stated")

    def __init__(self, name: str, example: int, owner: Any, is_result: bool = False, stated: bool = False) -> None:
        self.stated = stated
        self.is_result = is_result  # the size of a result, not of an input
        self.name = name
        self.example = example
        self.owner = owner

    def __repr__(self) -> str:
        return self.name

    __reduce__ = None  # type: ignore[assignment]


class Call:
    """A function of expressions that is no polynomial: a quotient, a remainder, an extreme, a rounded float."""

    __slots__ = ("arguments", "name")

    def __init__(self, name: str, arguments: tuple[Any, ...]) -> None:
        self.name = name
        self.arguments = arguments

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Call) and self.name == other.name and self.arguments == other.arguments

    def __hash__(self) -> int:
        return hash((self.name, self.arguments))

    def __repr__(self) -> str:
        if self.name in ("//", "%"):
            return f"({self.arguments[0]!r}) {self.name} ({self.arguments[1]!r})"
        return f"{self.name}({', '.join(map(tree_text, self.arguments))})"

    def value(self, known: Mapping[Symbol, int]) -> int:
        return _CALLS[self.name](*[evaluate_tree(argument, known) for argument in self.arguments])

    @property
    def is_natural(self) -> bool:
        """Whether it is never negative, sizes being what they are."""
        if self.name == "//":
            return self.arguments[0].is_natural and self.arguments[1].is_natural
        if self.name == "%":
            return self.arguments[1].is_natural
        return self.name in ("min", "max") and all(argument.is_natural for argument in self.arguments)


_CALLS: dict[str, Any] = {
    "//": operator.floordiv, "%": operator.mod, "min": min, "max": max,
    "trunc": math.trunc, "floor": math.floor, "ceil": math.ceil, "round": round,
}  # fmt: skip
_TREES: dict[str, Any] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "sqrt": math.sqrt,
}  # fmt: skip
CALLS, TREES = frozenset(_CALLS), frozenset(_TREES)
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**"}

Product = tuple[Any, ...]  # of atoms, in the order of their texts


class Expression:
    """Products of atoms with their coefficients; none is 0."""

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Product, int]) -> None:
        self.terms = {product: factor for product, factor in terms.items() if factor}
        self._hash = hash(frozenset(self.terms.items()))

    @staticmethod
    def call(name: str, arguments: tuple[Any, ...]) -> Expression:
        return Expression({(Call(name, arguments),): 1})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self._hash == other._hash and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    # ---- looking -------------------------------------------------------------------------------------------------

    @property
    def is_constant(self) -> bool:
        return not self.terms or (len(self.terms) == 1 and () in self.terms)

    @property
    def constant(self) -> int:
        """The term without atoms."""
        return self.terms.get((), 0)

    @property
    def symbol(self) -> Symbol | None:
        """The symbol that this is, if it is just one."""
        if len(self.terms) == 1:
            ((product, factor),) = self.terms.items()
            if factor == 1 and len(product) == 1 and isinstance(product[0], Symbol):
                return product[0]
        return None

    @property
    def is_natural(self) -> bool:
        """Whether it cannot be negative."""
        return all(factor >= 0 and all(_is_natural(atom) for atom in product) for product, factor in self.terms.items())

    def proves(self, kind: str) -> bool | None:
        """Whether it is 0 (`==`) or negative (`<`) for all sizes; None where that depends on them."""
        if self.is_constant:
            return self.constant == 0 if kind == "==" else self.constant < 0
        rest = Expression({product: factor for product, factor in self.terms.items() if product})
        if rest.is_natural and self.constant >= (0 if kind == "<" else 1):
            return False
        if (-rest).is_natural and self.constant < 0:
            return kind == "<"
        return None

    def value(self, known: Mapping[Symbol, int]) -> int:
        total = 0
        for product, factor in self.terms.items():
            for atom in product:
                factor *= _value(atom, known)
            total += factor
        return total

    def substituted(self, others: Mapping[Symbol, Expression]) -> Expression:
        """With other expressions in the place of symbols."""
        total = Expression({})
        for product, factor in self.terms.items():
            term = Expression({(): factor})
            for atom in product:
                term = term * (_substituted(atom, others))
            total = total + term
        return total

    def __repr__(self) -> str:
        parts: list[str] = []
        for product, factor in sorted(self.terms.items(), key=lambda term: (not term[0], repr(term[0]))):
            text = " * ".join(map(_atom_text, product))
            shown = str(abs(factor)) if not text else text if abs(factor) == 1 else f"{abs(factor)} * {text}"
            parts.append(f"{'- ' if factor < 0 else '+ ' if parts else ''}{shown}")
        return " ".join(parts).replace("- ", "-", 1 if parts and parts[0].startswith("-") else 0) or "0"

    # ---- computing -----------------------------------------------------------------------------------------------

    def __add__(self, other: Expression) -> Expression:
        terms = dict(self.terms)
        for product, factor in other.terms.items():
            terms[product] = terms.get(product, 0) + factor
        return Expression(terms)

    def __neg__(self) -> Expression:
        return Expression({product: -factor for product, factor in self.terms.items()})

    def __sub__(self, other: Expression) -> Expression:
        return self + -other

    def __mul__(self, other: Expression) -> Expression:
        terms: dict[Product, int] = {}
        for first, one in self.terms.items():
            for second, two in other.terms.items():
                product = tuple(sorted((*first, *second), key=repr)) if first and second else first or second
                terms[product] = terms.get(product, 0) + one * two
        return Expression(terms)

    def extreme(self, name: str, other: Expression) -> Expression:
        difference = self - other
        if difference.is_constant:
            return self if (difference.constant < 0) == (name == "min") else other
        if difference.is_natural:
            return other if name == "min" else self
        if (-difference).is_natural:
            return self if name == "min" else other
        return Expression.call(name, (self, other))


def quotient(left: Expression, right: Expression) -> Expression:
    """left // right; what divides exactly is divided, so that reshaping there and back gives the same expression."""
    if right.is_constant and right.constant == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    if left.is_constant and right.is_constant:
        return as_expression(left.constant // right.constant)
    exact, rest = _split(left, right)
    if not rest.terms:
        return exact
    if rest.is_constant and right.is_constant:
        return exact + as_expression(rest.constant // right.constant)
    return exact + Expression.call("//", (rest, right))


def remainder(left: Expression, right: Expression) -> Expression:
    if right.is_constant and right.constant == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    if left.is_constant and right.is_constant:
        return as_expression(left.constant % right.constant)
    _, rest = _split(left, right)
    if not rest.terms:
        return rest
    if rest.is_constant and right.is_constant:
        return as_expression(rest.constant % right.constant)
    return Expression.call("%", (rest, right))


def _split(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """The terms of `left` that `right` (a single term) divides, divided by it; and the others."""
    if left == right:
        return as_expression(1), as_expression(0)
    if len(right.terms) != 1:
        return as_expression(0), left
    ((divisor, number),) = right.terms.items()
    exact: dict[Product, int] = {}
    rest: dict[Product, int] = {}
    for product, factor in left.terms.items():
        left_over = _without(product, divisor)
        if left_over is None or factor % number:
            rest[product] = factor
        else:
            exact[left_over] = exact.get(left_over, 0) + factor // number
    if () in rest and not divisor:  # (n + 7) // 2 is (n + 1) // 2 + 3
        whole, rest[()] = divmod(rest[()], number)
        exact[()] = exact.get((), 0) + whole
    return Expression(exact), Expression(rest)


def _without(product: Product, divisor: Product) -> Product | None:
    left = list(product)
    for atom in divisor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def as_expression(value: int | Symbol) -> Expression:
    return Expression({(value,): 1}) if isinstance(value, Symbol) else Expression({(): value})


def _substituted(atom: Any, others: Mapping[Symbol, Expression]) -> Expression:
    if isinstance(atom, Symbol):
        return others.get(atom) or as_expression(atom)
    arguments = tuple(substituted_tree(argument, others) for argument in atom.arguments)
    if atom.name in ("//", "%"):
        return (quotient if atom.name == "//" else remainder)(*arguments)
    if atom.name in ("min", "max"):
        return arguments[0].extreme(atom.name, arguments[1])
    return Expression.call(atom.name, arguments)


def _is_natural(atom: Any) -> bool:
    return isinstance(atom, Symbol) or atom.is_natural


def _value(atom: Any, known: Mapping[Symbol, int]) -> int:
    if isinstance(atom, Call):
        return atom.value(known)
    found = known.get(atom)
    if found is None:
        raise UnknownSize(f"the size {atom.name} is not known here")
    return found


def _atom_text(atom: Any) -> str:
    return f"({atom!r})" if isinstance(atom, Call) and atom.name in ("//", "%") else repr(atom)


# ---- floats --------------------------------------------------------------------------------------------------------


def evaluate_tree(tree: Any, known: Mapping[Symbol, int]) -> Any:
    """The number that a tree of operations (or an expression, or a number) gives for known sizes."""
    if isinstance(tree, Expression):
        return tree.value(known)
    if not isinstance(tree, tuple):
        return tree
    return _TREES[tree[0]](*[evaluate_tree(part, known) for part in tree[1:]])


def substituted_tree(tree: Any, others: Mapping[Symbol, Expression]) -> Any:
    """A tree with other expressions in the place of symbols."""
    if isinstance(tree, Expression):
        return tree.substituted(others)
    return (tree[0], *(substituted_tree(part, others) for part in tree[1:])) if isinstance(tree, tuple) else tree


def tree_text(tree: Any) -> str:
    if not isinstance(tree, tuple):
        return repr(tree)
    parts = [tree_text(part) for part in tree[1:]]
    return f"({f' {_SIGNS[tree[0]]} '.join(parts)})" if tree[0] in _SIGNS else f"{tree[0]}({', '.join(parts)})"


def symbols_of(value: Any) -> dict[Symbol, None]:
    """All symbols in an expression or a tree, in order."""
    found: dict[Symbol, None] = {}
    if isinstance(value, Symbol):
        found[value] = None
    elif isinstance(value, Expression):
        for product in value.terms:
            for atom in product:
                found |= symbols_of(atom)
    elif isinstance(value, Call):
        for argument in value.arguments:
            found |= symbols_of(argument)
    elif isinstance(value, tuple):
        for part in value[1:]:
            found |= symbols_of(part)
    return found
