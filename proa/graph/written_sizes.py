"""What writers of graphs into other formats have in common: unknown sizes become operations of the format.

A size is read off a value that has it, or computed from others when the model runs. How a format spells that is said by the
classes that build on this one (`formats/paddle/writing`, `onnx`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.expressions import Call, Expression, Symbol, as_expression, symbols_of
from ..core.symbols import SymbolicSize, UnknownSize, is_symbolic, same_size
from ..ir.block import is_loose
from ..ir.sizes.dimensions import symbols_in


class WrittenSizes:
    """The part of a Builder that computes sizes.

    A format says what a whole number is (`_whole`), how a dimension is read (`_read`), what a quotient, an extreme or a
    rounded number is (`_called`), what arithmetic on fractions is (`_tree`), and what it calls a sum and a product.
    """

    _SUM, _PRODUCT = "add", "multiply"

    # Where each unknown size can be read: expression -> (value, axis); and those already computed.
    _readable: dict[Any, tuple[Any, int]]
    _computed: dict[Any, Any]

    def computed(self: Any, number: Any) -> Any:
        """What a number that depends on unknown sizes is when the model runs: int64, or float64."""
        return self._expression(number.expression) if isinstance(number, SymbolicSize) else self._tree(number.tree)

    def size(self: Any, number: int, near: Any = None) -> Any:
        """A size; read off `near` where that has such a dimension."""
        if not is_symbolic(number):
            return self._whole(number)
        if near is not None:
            for axis, size in enumerate(near.sizes):
                if same_size(size, number):
                    return self._read(near, axis)
        return self.computed(number)

    def inside(self: Any) -> Inside:
        """`with builder.inside() as block:` what is emitted goes into a block of its own."""
        return Inside(self)

    def show(self: Any, shapes: Sequence[Sequence[int]], values: Sequence[Any]) -> None:
        """From here on the symbols in these shapes are the sizes of these values: a loop's variables, in another round."""
        symbols = {symbol for shape in shapes for size in shape if is_loose(size) for symbol in symbols_in(size)}
        for table in (self._readable, self._computed):
            for expression in [known for known in table if not symbols.isdisjoint(symbols_of(known))]:
                del table[expression]
        for shape, value in zip(shapes, values, strict=True):
            for axis, size in enumerate(shape):
                if isinstance(size, SymbolicSize) and is_loose(size):
                    self._readable.setdefault(size.expression, (value, axis))

    def _expression(self: Any, expression: Expression) -> Any:
        if expression.is_constant:
            return self._whole(expression.constant)
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
                term = part if term is None else self.binary(self._PRODUCT, term, part)
            if term is None or factor != 1:
                number = self._whole(factor)
                term = number if term is None else self.binary(self._PRODUCT, term, number)
            total = term if total is None else self.binary(self._SUM, total, term)
        return total

    def _atom(self: Any, atom: Symbol | Call) -> Any:
        if not isinstance(atom, Symbol):
            return self._called(atom)
        if as_expression(atom) not in self._readable:
            raise UnknownSize(f"the size {atom.name} cannot be read where it is needed")
        return self._expression(as_expression(atom))


class Inside:
    """Sizes that were found in a block can be read there only."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def __enter__(self) -> Any:
        b = self.builder
        self.before = b.block, b._readable, b._computed
        b.block, b._readable, b._computed = type(b.block)(), dict(b._readable), dict(b._computed)
        return b.block

    def __exit__(self, *_exception: Any) -> None:
        self.builder.block, self.builder._readable, self.builder._computed = self.before
