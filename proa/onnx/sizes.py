"""Unknown sizes inside an ONNX graph: read off a shape, or computed from others when the model runs.

Sizes are int64 tensors of one element, ready to be joined to a shape. What has no integers (rounded quotients with
fractions) is computed in float64, which holds every size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.expressions import Call, Expression
from ..core.symbols import is_symbolic
from ..graph.written_sizes import WrittenSizes

_ONE = (1,)
_ROUNDING = {"floor": "Floor", "ceil": "Ceil", "round": "Round"}
_TREES = {"add": "Add", "sub": "Sub", "mul": "Mul", "truediv": "Div", "pow": "Pow"}


class Sizes(WrittenSizes):
    """The part of a Builder that computes sizes: tensors of one element."""

    _SUM, _PRODUCT = "Add", "Mul"

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

    def _whole(self: Any, number: int) -> Any:
        return self.integers([number])

    def _read(self: Any, value: Any, axis: int) -> Any:
        key = (value.name, axis)
        found = self._computed.get(key)
        if found is None:
            found = self._computed[key] = self.emit("Shape", [value], ("int64", _ONE), start=axis, end=axis + 1)
        return found

    def _called(self: Any, atom: Call) -> Any:
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
