"""Unknown sizes as operations of a Paddle program: read off a shape, or computed from others.

What Paddle has no integers for (rounded quotients with fractions) is computed in float64, which holds every size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.expressions import Call, Expression, Symbol, as_expression
from ....core.symbols import SymbolicSize, UnknownSize, is_symbolic, same_size

_CALLS = {"//": "floor_divide", "%": "remainder", "min": "minimum", "max": "maximum"}
_ROUNDING = {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "round"}
_TREES = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "elementwise_pow"}


class SizeOperations:
    """The part of a Builder that computes sizes."""

    _readable: dict[Any, tuple[Any, int]]
    _computed: dict[Any, Any]

    def computed(self: Any, number: Any) -> Any:
        """A 0-d tensor (int64, or float64) with what a number that depends on unknown sizes is when the model runs."""
        return self._expression(number.expression) if isinstance(number, SymbolicSize) else self._tree(number.tree)

    def size(self: Any, number: int, near: Any = None) -> Any:
        """A 0-d int64 tensor of a size; read off `near` where that has such a dimension."""
        if not is_symbolic(number):
            return self.full((), number, "int64", "cpu")
        if near is not None:
            for axis, size in enumerate(near.sizes):
                if same_size(size, number):
                    return self._read(near, axis)
        return self.computed(number)

    def shape_of(self: Any, sizes: Sequence[int], near: Any = None) -> Any:
        """A tensor of sizes, for operations that take one."""
        if not any(map(is_symbolic, sizes)):
            return self.integers(sizes)
        parts = [self.size(size, near) for size in sizes]
        return self.emit("stack", [parts], {"axis": 0}, ("int64", (len(sizes),)))

    def _read(self: Any, value: Any, axis: int) -> Any:
        shape = self.emit("shape64", [value], {}, ("int64", (value.ndim,)))
        attributes = {"axes": [0], "infer_flags": [1], "decrease_axis": [0]}
        inputs = [shape, self.integers([axis]), self.integers([axis + 1])]
        return self.emit("slice", inputs, attributes, ("int64", ()))

    def _expression(self: Any, expression: Expression) -> Any:
        if expression.is_constant:
            return self.full((), expression.constant, "int64", "cpu")
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
                term = part if term is None else self.binary("multiply", term, part)
            if term is None or factor != 1:
                number = self.full((), factor, "int64", "cpu")
                term = number if term is None else self.binary("multiply", term, number)
            total = term if total is None else self.binary("add", total, term)
        return total

    def _atom(self: Any, atom: Symbol | Call) -> Any:
        if isinstance(atom, Symbol):
            place = self._readable.get(as_expression(atom))
            if place is None:
                raise UnknownSize(f"the size {atom.name} cannot be read where it is needed")
            return self._expression(as_expression(atom))
        if atom.name in _CALLS:
            return self.binary(_CALLS[atom.name], *[self._expression(argument) for argument in atom.arguments])
        exact = self._tree(atom.arguments[0])
        attributes = {"decimals": 0} if atom.name == "round" else {}
        return self.cast(self.same(_ROUNDING[atom.name], exact, **attributes), "int64")

    def _tree(self: Any, tree: Any) -> Any:
        if isinstance(tree, Expression):
            return self.cast(self._expression(tree), "float64")
        if not isinstance(tree, tuple):
            return self.full((), float(tree), "float64")
        name, *parts = tree
        values = [self._tree(part) for part in parts]
        if name == "sqrt":
            return self.same("sqrt", values[0])
        if name in ("floordiv", "mod"):
            return self.binary("floor_divide" if name == "floordiv" else "remainder", *values)
        return self.binary(_TREES[name], *values)
