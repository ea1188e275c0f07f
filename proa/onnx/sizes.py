"""Unknown sizes inside an ONNX graph: read off a shape, or computed from others when the model runs.

Sizes are int64 tensors of one element, ready to be joined to a shape. What has no integers (rounded quotients with
fractions) is computed in float64, which holds every size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.expressions import Call, Expression, Symbol, as_expression
from ..core.symbols import SymbolicSize, UnknownSize, is_symbolic, same_size

_ONE = (1,)
_ROUNDING = {"floor": "Floor", "ceil": "Ceil", "round": "Round"}
_TREES = {"add": "Add", "sub": "Sub", "mul": "Mul", "truediv": "Div", "pow": "Pow"}


class Sizes:
    """The part of a Builder that computes sizes."""

    # Where each unknown size can be read: expression -> (value, axis); and those already computed.
    _readable: dict[Any, tuple[Any, int]]
    _computed: dict[Any, Any]

    def size(self: Any, number: int, near: Any = None) -> Any:
        """A size as a tensor of one element; read off `near` where that has such a dimension."""
        if not is_symbolic(number):
            return self.integers([number])
        if near is not None:
            for axis, size in enumerate(near.sizes):
                if same_size(size, number):
                    return self._read(near, axis)
        return self.computed(number)

    def computed(self: Any, number: Any) -> Any:
        """What a number that depends on unknown sizes is when the model runs: int64, or float64, with one element."""
        return self._expression(number.expression) if isinstance(number, SymbolicSize) else self._tree(number.tree)

    def shape_of(self: Any, sizes: Sequence[int], near: Any = None) -> Any:
        """A tensor of sizes."""
        if not any(map(is_symbolic, sizes)):
            return self.integers(sizes)
        parts: list[Any] = []
        known: list[int] = []
        for size in sizes:
            if is_symbolic(size):
                parts += [self.integers(known)] if known else []
                parts.append(self.size(size, near))
                known = []
            else:
                known.append(size)
        parts += [self.integers(known)] if known else []
        return parts[0] if len(parts) == 1 else self.emit("Concat", parts, ("int64", (len(sizes),)), axis=0)

    def _read(self: Any, value: Any, axis: int) -> Any:
        key = (value.name, axis)
        found = self._computed.get(key)
        if found is None:
            found = self._computed[key] = self.emit("Shape", [value], ("int64", _ONE), start=axis, end=axis + 1)
        return found

    def _expression(self: Any, expression: Expression) -> Any:
        if expression.is_constant:
            return self.integers([expression.constant])
        found = self._computed.get(expression)
        if found is None:
            place = self._readable.get(expression)
            found = self._read(*place) if place is not None else self._sum(expression)
            self._computed[expression] = found
        return found

    def _sum(self: Any, expression: Expression) -> Any:
        total: Any = None
        for product, factor in sorted(expression.terms.items(), key=lambda term: not term[0]):
            term: Any = None
            for atom in product:
                part = self._atom(atom)
                term = part if term is None else self.binary("Mul", term, part)
            if term is None or factor != 1:
                number = self.integers([factor])
                term = number if term is None else self.binary("Mul", term, number)
            total = term if total is None else self.binary("Add", total, term)
        return total

    def _atom(self: Any, atom: Symbol | Call) -> Any:
        if isinstance(atom, Symbol):
            if as_expression(atom) not in self._readable:
                raise UnknownSize(f"the size {atom.name} cannot be read where it is needed")
            return self._expression(as_expression(atom))
        if atom.name in ("//", "%", "min", "max"):
            left, right = (self._expression(argument) for argument in atom.arguments)
            if atom.name == "//":
                return self.floor_divide(left, right)
            return self.binary({"%": "Mod", "min": "Min", "max": "Max"}[atom.name], left, right)
        exact = self._tree(atom.arguments[0])
        whole = exact if atom.name == "trunc" else self.same(_ROUNDING[atom.name], exact)
        return self.cast(whole, "int64")

    def floor_divide(self: Any, x: Any, y: Any) -> Any:
        """x // y of integers: ONNX divides towards zero, its remainder has the divisor's sign."""
        return self.binary("Div", self.binary("Sub", x, self.binary("Mod", x, y)), y)

    def _tree(self: Any, tree: Any) -> Any:
        if isinstance(tree, Expression):
            return self.cast(self._expression(tree), "float64")
        if not isinstance(tree, tuple):
            return self.filled(_ONE, float(tree), "float64")
        name, *parts = tree
        values = [self._tree(part) for part in parts]
        if name == "sqrt":
            return self.same("Sqrt", values[0])
        if name in ("floordiv", "mod"):
            whole = self.same("Floor", self.binary("Div", *values))
            return whole if name == "floordiv" else self.binary("Sub", values[0], self.binary("Mul", whole, values[1]))
        return self.binary(_TREES[name], *values)
