"""What a capture takes for granted where sizes are unknown: its symbols, the guards that it left, and shapes of results.

Shape rules are not asked to know of symbols. `Assumptions.plan` runs a rule on symbolic sizes and then on other plain
ones: where its formula does not agree (it compared, rounded through a float, broadcast two sizes that happened to be
equal), that dimension of the result is a new symbol, which is read off the shape when the program runs.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from ...core.aval import Aval, expect_symbols, make_aval
from ...core.errors import asked_by_user, user_location
from ...core.expressions import as_expression
from ...core.place import Place
from ...core.symbols import Expression, Symbol, SymbolicSize, plain, size_from, sizes_in_words, symbols_of
from ..operation import OperandKind, Operation, Plan
from .dimensions import Known, Location, symbols_in

# Sizes that stand for unknown ones where there is no data: divisible by what strides, heads and windows usually are.
_UNIT = 3360
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)
_MOST_SINGLE = 4  # symbols that are set to 1 one by one when a rule is tried


class Guard:
    """What a capture took for granted: that an expression is 0 (`==`) or negative (`<`), or that it is not."""

    __slots__ = ("answer", "by_user", "expression", "kind", "location")

    def __init__(
        self, kind: str, expression: Expression, answer: bool, location: Location = None, by_user: bool = True
    ) -> None:
        self.by_user = by_user  # asked by the user's code itself, not by a function of ours that checks its arguments
        self.kind = kind
        self.expression = expression
        self.answer = answer
        self.location = location

    def holds(self, known: Mapping[Symbol, int]) -> bool:
        """Whether sizes answer as those of the capture did; a guard on sizes that are not known here is no concern."""
        if any(symbol not in known for symbol in symbols_of(self.expression)):
            return True
        try:
            value = self.expression.value(known)
        except ZeroDivisionError:  # it divides by what was not 0 in the capture
            return False
        return (value == 0 if self.kind == "==" else value < 0) == self.answer

    @property
    def fixes(self) -> Symbol | None:
        """The symbol that is a single number because of this guard."""
        left = Expression({product: factor for product, factor in self.expression.terms.items() if product})
        return (left.symbol or (-left).symbol) if self.kind == "==" and self.answer else None

    @property
    def is_certain(self) -> bool:
        """Whether all sizes but 0 keep it."""
        one = {symbol: as_expression(symbol) + as_expression(1) for symbol in symbols_of(self.expression)}
        return self.expression.substituted(one).proves(self.kind) is self.answer

    def __str__(self) -> str:
        sign = {("==", True): "==", ("==", False): "!=", ("<", True): "<", ("<", False): ">="}[self.kind, self.answer]
        left = Expression({p: f for p, f in self.expression.terms.items() if p})
        right = -self.expression.constant
        if all(factor < 0 for factor in left.terms.values()):
            left, right, sign = -left, -right, {"<": ">", ">=": "<="}.get(sign, sign)
        where = f" ({self.location[0]}:{self.location[1]})" if self.location else ""
        return f"{left!r} {sign} {right}{where}"


class Assumptions:
    """The symbols of a capture, and the guards that it left."""

    def __init__(self) -> None:
        self.guards: dict[tuple[str, Expression], Guard] = {}
        self.count = 0
        self.is_open = True
        self._muted = 0

    def symbol(self, name: str, example: int, is_result: bool = False, stated: bool = False) -> SymbolicSize:
        """A size of its own; `is_result`: that of a result, which no formula gives; `stated`: see Symbol."""
        expect_symbols()
        self.count += 1
        return size_from(as_expression(Symbol(name, example, self, is_result, stated)), example)

    def shape(self, shape: Sequence[int | None], name: str, examples: Sequence[int] | None = None) -> tuple[int, ...]:
        """A shape with a symbol for each unknown dimension (None or negative)."""
        return tuple(
            self.symbol(f"{name}.shape[{axis}]", example_size(axis) if examples is None else int(plain(examples[axis])))
            if size is None or size < 0
            else int(size)
            for axis, size in enumerate(shape)
        )

    def stated_shape(self, shape: Sequence[int], name: str) -> tuple[int, ...]:
        """A shape of known sizes that a run may have others for."""
        return tuple(
            self.symbol(f"{name}.shape[{axis}]", size, False, True) if size else 0 for axis, size in enumerate(shape)
        )

    def note(self, kind: str, expression: Expression, answer: bool, by_user: bool = False) -> None:
        """Called by a size that is compared, or whose expression is lost; `by_user`: a function asks for the user."""
        if self.is_open and not self._muted and (kind, expression) not in self.guards:
            by_user = by_user or asked_by_user(2)
            self.guards[kind, expression] = Guard(kind, expression, answer, user_location(2), by_user)

    @contextmanager
    def muted(self) -> Generator[None]:
        """Inside, comparisons leave no guards."""
        self._muted += 1
        try:
            yield
        finally:
            self._muted -= 1

    @contextmanager
    def collected(self) -> Generator[dict[tuple[str, Expression], Guard]]:
        """Inside, guards go into a table of their own."""
        before = self.guards, self.is_open
        self.guards, self.is_open = {}, True
        try:
            yield self.guards
        finally:
            self.guards, self.is_open = before

    @property
    def question(self) -> Guard | None:
        """The first guard that the user's code left and that not all sizes keep: for others it goes another way."""
        return next((guard for guard in self.guards.values() if guard.by_user and not guard.is_certain), None)

    @property
    def depends_on_signs(self) -> bool:
        """Whether it was asked if some number is negative, for which sizes it may be and for which not."""
        return any(guard.kind == "<" and not guard.by_user and not guard.is_certain for guard in self.guards.values())

    def broken(self, known: Mapping[Symbol, int]) -> Guard | None:
        """The first guard that sizes do not keep."""
        return next((guard for guard in self.guards.values() if not guard.holds(known)), None)

    # ---- shapes of results -----------------------------------------------------------------------------------------

    def plan(
        self, operation: Operation, kinds: tuple[OperandKind, ...], attributes: tuple[Any, ...], place: Place
    ) -> Plan:
        """`Operation.plan` for sizes of which some are symbols."""
        symbols = symbols_in(kinds) | symbols_in(attributes)
        if not symbols:
            return operation.plan(kinds, attributes, place)
        example = {symbol: symbol.example for symbol in symbols}
        with self.muted():
            outputs, dtypes = self._planned(operation, kinds, attributes, place, Known(example))
            moved = disagreements(operation, kinds, attributes, place, outputs, symbols)
            return self._with_symbols(operation.name, outputs, moved, all(s.stated for s in symbols)), dtypes

    def _planned(
        self, operation: Operation, kinds: tuple[OperandKind, ...], attributes: Any, place: Place, known: Known
    ) -> Plan:
        if operation.infer_rule is None:
            return operation.plan(known.resolve(kinds), known.resolve(attributes), place)
        try:
            result: Any = operation.infer_rule(operation, kinds, attributes, place)
        except Exception:
            # The user's error, or a rule that wants plain numbers.
            try:
                return operation.plan(known.resolve(kinds), known.resolve(attributes), place)
            except Exception:
                with sizes_in_words():  # the same error, without the numbers that stand for unknown sizes
                    operation.infer_rule(operation, kinds, attributes, place)
                raise
        outputs = cast("tuple[Aval, ...]", result if isinstance(result, tuple) else (result,))
        return outputs, operation.scalar_dtypes(kinds)

    def _with_symbols(
        self, name: str, outputs: tuple[Aval, ...], moved: set[tuple[int, int]], stated: bool
    ) -> tuple[Aval, ...]:  # fmt: skip
        found = list(outputs)
        for position, axis in sorted(moved):
            aval = found[position]
            shape = list(aval.shape)
            shape[axis] = self.symbol(f"{name}_{self.count}.shape[{axis}]", plain(shape[axis]), True, stated)
            found[position] = make_aval(tuple(shape), aval.dtype, aval.place)
        return tuple(found)


def example_size(axis: int) -> int:
    """The size that stands for an unknown one at this axis, where there is no data."""
    return _UNIT * _PRIMES[min(axis, len(_PRIMES) - 1)]


def _trials(example: dict[Symbol, int]) -> Iterator[dict[Symbol, int]]:
    """Other sizes that show whether the formulas of a rule hold in general."""
    yield {symbol: size + 1 + number for number, (symbol, size) in enumerate(example.items())}
    yield {symbol: 2 * size for symbol, size in example.items()}
    yield dict.fromkeys(example, 1)
    if len(example) > 1:
        for symbol in list(example)[:_MOST_SINGLE]:
            yield {**example, symbol: 1}


def disagreements(
    operation: Operation,
    kinds: Any,
    attributes: Any,
    place: Place,
    outputs: tuple[Aval, ...],
    symbols: Iterable[Symbol],
) -> set[tuple[int, int]]:
    """Where (result, axis) the shapes of results are not what their expressions say, for some of the sizes tried."""
    found: set[tuple[int, int]] = set()
    for known in _trials({symbol: symbol.example for symbol in symbols}):
        found |= _disagreements(operation, kinds, attributes, place, outputs, Known(known))
    return found


def _disagreements(
    operation: Operation, kinds: Any, attributes: Any, place: Place, outputs: tuple[Aval, ...], known: Known
) -> set[tuple[int, int]]:
    try:
        real, _ = operation.plan(known.resolve(kinds), known.resolve(attributes), place)
    except Exception:  # these sizes do not fit: they say nothing
        return set()
    if len(real) != len(outputs):
        return set()
    found: set[tuple[int, int]] = set()
    for position, (before, now) in enumerate(zip(outputs, real, strict=True)):
        if before.ndim == now.ndim:
            pairs = zip(before.shape, now.shape, strict=True)
            found |= {(position, axis) for axis, (size, other) in enumerate(pairs) if not _agrees(size, other, known)}
    return found


def _agrees(size: int, other: int, known: Known) -> bool:
    symbols = symbols_in(size)
    if any(symbol not in known for symbol in symbols):
        return False  # the symbol of a result, in a file
    return known.resolve(size) == other
