"""Two paths that differ in sizes alone become one Program with symbols.

Eager code has plain numbers everywhere: nobody says which of them follow from the size of an input. Comparing two walks
shows it. Sizes of inputs that differ become symbols; a number in an attribute that differs must follow from them by a
formula (a dimension of an operand, a product or a shift of one), and shapes of results follow by the operations' own rules.
An input as long as several times another (labels of a whole batch in one row) has a formula for its size, too.

A formula that fits two walks may still be wrong. So it is never trusted: `General.match` compares a path, number by number,
with what the formulas give for its sizes, and only a path that is spelled exactly so is taken for a member.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.aval import Aval, make_aval
from ...core.symbols import Symbol, SymbolicSize, UnknownSize, is_symbolic, plain
from ..editing import Editor
from ..keys import attribute_key
from ..program import Instruction, Program
from .assumptions import Assumptions
from .dimensions import Known, symbols_in

# Sizes that mean something else than others: nothing, and what is broadcast.
_SPECIAL = 1
_INTEGER = object()


class NotGeneral(Exception):
    """Two programs differ in something that does not follow from the sizes of their inputs."""


def signature(program: Program) -> Any:
    """What programs have in common that may differ in sizes alone."""
    return (
        tuple([(aval.dtype, aval.ndim) for aval in program.inputs]),
        tuple([(i.operation, i.operands, i.flagged, _skeleton(i.attributes)) for i in program.instructions]),
        program.outputs,
    )


def _skeleton(value: Any) -> Any:
    kind = value.__class__
    if kind is int:
        return _INTEGER
    return tuple([_skeleton(part) for part in value]) if kind is tuple else attribute_key(value)


class General:
    """A Program whose inputs have symbols for sizes; the numbers in it are formulas of these."""

    __slots__ = ("_steps", "has_multiples", "program", "symbols")

    def __init__(self, program: Program, symbols: tuple[Symbol, ...], has_multiples: bool) -> None:
        self.program = program
        self.symbols = symbols
        self.has_multiples = has_multiples  # whether sizes of inputs are multiples of others
        spellings: dict[str, int] = {}
        # Each instruction with the number of its attributes, if these have formulas: many are spelled alike.
        self._steps = [
            (i, spellings.setdefault(repr(_spelled(i.attributes)), len(spellings)) if symbols_in(i.attributes) else -1)
            for i in program.instructions
        ]

    def match(self, program: Program) -> Known | None:
        """The sizes for which this is a program, instruction by instruction; None where it is not.

        Every new path of a family comes through here, so what is alike is computed once.
        """
        own = self.program
        if len(own.instructions) != len(program.instructions) or own.outputs != program.outputs:
            return None
        known = Known()
        try:
            if not self._learn_inputs(known, program):
                return None
            attributes: dict[int, Any] = {}
            shapes: dict[Aval, Aval] = {}
            for (general, number), actual in zip(self._steps, program.instructions, strict=True):
                if general.operation is not actual.operation or general.operands != actual.operands:
                    return None
                wanted = general.attributes
                if number >= 0:
                    wanted = attributes.get(number)
                    if wanted is None:
                        wanted = attributes[number] = known.resolve(general.attributes)
                if general.flagged != actual.flagged or not _same(wanted, actual.attributes):
                    return None
                outputs = actual.outputs
                if len(general.outputs) != len(outputs):
                    return None
                for before, now in zip(general.outputs, outputs, strict=True):
                    if before is not now and shapes.get(before) is not now:
                        known.learn(before, now)
                        shapes[before] = now
        except UnknownSize:
            return None
        return known

    def _learn_inputs(self, known: Known, program: Program) -> bool:
        if len(self.program.inputs) != len(program.inputs):
            return False
        for before, now in zip(self.program.inputs, program.inputs, strict=True):
            if before is not now and (before.dtype != now.dtype or before.ndim != now.ndim):
                return False
        known.learn_inputs(self.program.inputs, program.inputs)
        return all(known[symbol] > _SPECIAL for symbol in self.symbols)


def _spelled(value: Any) -> Any:
    """Attributes with the expressions of their sizes to see."""
    if value.__class__ is tuple:
        return tuple([_spelled(part) for part in value])
    return (
        value.expression if isinstance(value, SymbolicSize) else value if is_symbolic(value) else attribute_key(value)
    )


def _same(one: Any, other: Any) -> bool:
    """Whether two attributes are the same for a kernel, types and signs of zero included."""
    if one is other:
        return True
    kind = one.__class__
    if kind is not other.__class__:
        return False
    if kind is tuple:
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other if kind is int or kind is str else attribute_key(one) == attribute_key(other)


def generalise(first: Program, second: Program, multiples: bool = True) -> General:
    """The Program of which both are cases; NotGeneral where there is none.

    `multiples`: sizes of inputs that are several times others in both are taken to be that always.
    """
    return _Comparison(first, second, multiples).run()


class _Comparison:
    def __init__(self, first: Program, second: Program, multiples: bool) -> None:
        self.first, self.second = first, second
        self.assumptions = Assumptions()
        self.known = Known()  # what the symbols are in the second program; in the first they are the examples
        self.symbols: dict[tuple[int, int], Any] = {}
        self.multiples = _multiples(first, second) if multiples else {}

    def run(self) -> General:
        first, second = self.first, self.second
        inputs = [self._input(n, *pair) for n, pair in enumerate(zip(first.inputs, second.inputs, strict=True))]
        if not self.symbols:
            raise NotGeneral("no size of an input differs")
        editor = Editor(inputs)
        for one, two in zip(first.instructions, second.instructions, strict=True):
            self._visit(editor, one, two)
        symbols = tuple(size.expression.symbol for size in self.symbols.values())
        program = Program(editor.inputs, editor.instructions, first.outputs)
        return General(program, symbols, bool(self.multiples))

    def _input(self, number: int, one: Aval, two: Aval) -> Aval:
        if one is two:
            return one
        shape = tuple(
            [
                a if a == b else self._symbol(f"input {number}, axis {axis}", a, b)
                for axis, (a, b) in enumerate(zip(one.shape, two.shape, strict=True))
            ]
        )
        return make_aval(shape, one.dtype, one.place)

    def _symbol(self, name: str, one: int, two: int) -> Any:
        """Sizes that are equal in both programs are taken to be one size."""
        if min(one, two) <= _SPECIAL:
            raise NotGeneral(f"a size of {min(one, two)} ({name}) is not like others")
        factor = self.multiples.get((one, two), 1)
        pair = one // factor, two // factor
        found = self.symbols.get(pair)
        if found is None:
            found = self.symbols[pair] = self.assumptions.symbol(name if factor == 1 else f"{name} / {factor}", pair[0])
            symbol = found.expression.symbol
            assert symbol is not None  # just made: nothing but a symbol
            self.known[symbol] = pair[1]
        return found if factor == 1 else found * factor

    def _visit(self, editor: Editor, one: Instruction, two: Instruction) -> None:
        operation, outputs, attributes = one.operation, one.outputs, one.attributes
        kinds = tuple([editor.kind_of(operand) for operand in one.operands])
        if attributes is not two.attributes and attributes != two.attributes:
            attributes = self._merged(attributes, two.attributes, kinds, operation.name)
        if symbols_in(kinds) or symbols_in(attributes):
            outputs, _ = self.assumptions.plan(operation, kinds, attributes, outputs[0].place)
        self._check(one, two, outputs)
        editor.add(operation, one.operands, attributes, outputs, one.flagged)

    def _check(self, one: Instruction, two: Instruction, outputs: tuple[Aval, ...]) -> None:
        """The shapes of results are those of both programs."""
        name = one.operation.name
        if not len(outputs) == len(one.outputs) == len(two.outputs):
            raise NotGeneral(f"{name} has another number of results")
        for general, a, b in zip(outputs, one.outputs, two.outputs, strict=True):
            if plain(general.shape) != a.shape or general.dtype != a.dtype:
                raise NotGeneral(f"{name} gives a shape that its rule does not explain")
            try:
                self.known.learn(general, b)
            except UnknownSize:
                raise NotGeneral(f"{name} gives a shape that does not follow from the sizes of the inputs") from None

    def _merged(self, one: Any, two: Any, kinds: tuple[Any, ...], name: str) -> Any:
        """Attributes with formulas where they differ."""
        if one.__class__ is not two.__class__:
            raise NotGeneral(f"{name} has attributes of other types")
        if one.__class__ is tuple and len(one) == len(two):
            return tuple([self._merged(a, b, kinds, name) for a, b in zip(one, two, strict=True)])
        if one.__class__ is int and one != two:
            return self._formula(one, two, kinds, name)
        if attribute_key(one) != attribute_key(two):
            raise NotGeneral(f"{name} has an attribute that does not follow from the sizes of the inputs")
        return one

    def _formula(self, one: int, two: int, kinds: tuple[Any, ...], name: str) -> Any:
        """The first formula that gives one number in the first program and another in the second."""
        for candidate in self._candidates(kinds):
            if self._gives(candidate, one, two):
                return candidate
        for size in self._sizes(kinds):
            a, b = plain(size), size.expression.value(self.known)
            if one > 1 and a > one and self._gives(size // (a // one), one, two):
                return size // (a // one)
            slope, rest = divmod(two - one, b - a) if b != a else (0, 1)
            if slope and not rest:
                return size * slope + (one - slope * a)
        raise NotGeneral(f"{name}: {one}, then {two}, does not follow from the sizes of the inputs")

    def _gives(self, size: SymbolicSize, one: int, two: int) -> bool:
        return plain(size) == one and size.expression.value(self.known) == two

    def _sizes(self, kinds: tuple[Any, ...]) -> Iterator[Any]:
        """Sizes that a number may follow from: those of the operands, then those of the inputs."""
        for kind in kinds:
            if isinstance(kind, Aval) and kind.symbolic:
                yield from [size for size in kind.shape if isinstance(size, SymbolicSize)]
        yield from self.symbols.values()

    def _candidates(self, kinds: tuple[Any, ...]) -> Iterator[Any]:
        """Those sizes themselves, and products of neighbouring dimensions (a reshape joins them)."""
        yield from self._sizes(kinds)
        for kind in kinds:
            if isinstance(kind, Aval) and kind.symbolic:
                for start in range(kind.ndim):
                    product: Any = 1
                    for size in kind.shape[start:]:
                        product = product * size
                        if isinstance(product, SymbolicSize):
                            yield product
        sizes = list(self.symbols.values())
        yield from [a * b for number, a in enumerate(sizes) for b in sizes[number:]]


def _multiples(first: Program, second: Program) -> dict[tuple[int, int], int]:
    """Sizes of inputs that are several times another one in both programs, and how many times."""
    pairs = {
        (a, b)
        for one, two in zip(first.inputs, second.inputs, strict=True)
        if one is not two and one.ndim == two.ndim
        for a, b in zip(one.shape, two.shape, strict=True)
        if a != b and min(a, b) > _SPECIAL
    }
    single: list[tuple[int, int]] = []
    found: dict[tuple[int, int], int] = {}
    for one, two in sorted(pairs):
        factor = next((one // a for a, b in single if one % a == two % b == 0 and one // a == two // b), 0)
        if factor:
            found[one, two] = factor
        else:
            single.append((one, two))
    return found
