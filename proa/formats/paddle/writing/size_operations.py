"""Unknown sizes as operations of a Paddle program: read off a shape, or computed from others.

What Paddle has no integers for (rounded quotients with fractions) is computed in float64, which holds every size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.expressions import Call, Expression
from ....core.symbols import is_symbolic
from ....graph.written_sizes import WrittenSizes

_CALLS = {"//": "floor_divide", "%": "remainder", "min": "minimum", "max": "maximum"}
_ROUNDING = {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "round"}
_TREES = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "elementwise_pow"}


class SizeOperations(WrittenSizes):
    """The part of a Builder that computes sizes: 0-d tensors."""

    def shape_of(self: Any, sizes: Sequence[int], near: Any = None) -> Any:
        """A tensor of sizes, for operations that take one."""
        if not any(map(is_symbolic, sizes)):
            return self.integers(sizes)
        parts = [self.size(size, near) for size in sizes]
        return self.emit("stack", [parts], {"axis": 0}, ("int64", (len(sizes),)))

    def _whole(self: Any, number: int) -> Any:
        return self.full((), number, "int64", "cpu")

    def _read(self: Any, value: Any, axis: int) -> Any:
        shape = self.emit("shape64", [value], {}, ("int64", (value.ndim,)))
        attributes = {"axes": [0], "infer_flags": [1], "decrease_axis": [0]}
        inputs = [shape, self.integers([axis]), self.integers([axis + 1])]
        return self.emit("slice", inputs, attributes, ("int64", ()))

    def _called(self: Any, atom: Call) -> Any:
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
