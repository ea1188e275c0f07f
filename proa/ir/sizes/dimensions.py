"""Dimensions of unknown size in a captured program.

An unknown size is a symbol (`core/symbols.py`) with an example: the size at hand, or a number that can be divided by much.
Shape rules and user code compute with it as with any integer, and the expression goes along. What a capture took for
granted, because code asked (`if x.shape[0] > 8`), is a guard in its `Assumptions` (`assumptions.py`).

When real sizes arrive, `specialise` makes the program anew: each instruction's shapes are inferred again, numbers in its
attributes are computed from their expressions. A shape that is not what its expression says is an error, never an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

from ...core.aval import Aval, make_aval
from ...core.expressions import tree_text
from ...core.symbols import (
    Symbol,
    SymbolicNumber,
    SymbolicSize,
    UnknownSize,
    evaluate,
    is_stated,
    is_symbolic,
    symbols_of,
)
from ..editing import changed
from ..program import Instruction, Program

Location = tuple[str, int] | None


# ---- real sizes ----------------------------------------------------------------------------------------------------


class SizedByOthers:
    """Something among the attributes that computes with sizes of the Program around it: a block (block.py)."""

    def symbols(self) -> dict[Symbol, None]:
        """Those sizes."""
        raise NotImplementedError

    def bound(self, known: Known) -> Any:
        """The same where they are known."""
        raise NotImplementedError

    def as_stated(self) -> Any:
        """The same with the sizes that are stated (`ir/sizes/stated.py`)."""
        raise NotImplementedError


class Known(dict[Symbol, int]):
    """What each symbol is, as far as that is known."""

    def learn(self, before: Aval, now: Aval, what: str = "", location: Location = None) -> None:
        """Takes over the sizes of a shape; UnknownSize where it is not what the capture says."""
        if before.ndim != now.ndim:
            raise _unexpected(before, now, what, location)
        for size, real in zip(before.shape, now.shape, strict=True):
            if isinstance(size, SymbolicSize):
                symbol = size.expression.symbol
                if symbol is not None and symbol not in self:
                    self[symbol] = real
                elif size.expression.value(self) != real:
                    raise _unexpected(before, now, what, location)
            elif size != real:
                raise _unexpected(before, now, what, location)

    def learn_inputs(self, before: Sequence[Aval], now: Sequence[Aval], others: Collection[int] = ()) -> None:
        """Takes over the sizes of inputs: first those that are symbols, which the sizes of others may be multiples of. The
        inputs in `others` are left out."""
        pairs = [(n, a, b) for n, (a, b) in enumerate(zip(before, now, strict=True)) if a is not b and n not in others]
        for _, general, actual in pairs:
            for size, real in zip(general.shape, actual.shape, strict=False):
                symbol = size.expression.symbol if isinstance(size, SymbolicSize) else None
                if symbol is not None:
                    self.setdefault(symbol, real)
        for number, general, actual in pairs:
            self.learn(general, actual, f"input {number}")

    def resolve(self, value: Any) -> Any:
        """A number, an abstract value, or what attributes hold, for these sizes."""
        if isinstance(value, Aval):
            return make_aval(self.resolve(value.shape), value.dtype, value.place) if value.symbolic else value
        if value.__class__ is tuple:
            return tuple([self.resolve(part) for part in value])
        if is_symbolic(value):
            return evaluate(value, self)
        if value.__class__ is slice:
            return slice(*[self.resolve(part) for part in (value.start, value.stop, value.step)])
        if isinstance(value, SizedByOthers):
            return value.bound(self)
        return value


def _unexpected(before: Aval, now: Aval, what: str, location: Location) -> UnknownSize:
    where = f"\n  at {location[0]}:{location[1]}" if location else ""
    return UnknownSize(
        f"{what or 'a result'} is {now}, where the capture took it to be {shown_shape(before.shape)}, with "
        f"{', '.join(repr(n.expression) for n in before.shape if isinstance(n, SymbolicSize)) or 'nothing unknown'}; "
        f"the code does not hold for these sizes.{where}"
    )


def specialise(
    program: Program, actual: Sequence[Aval], known: Known | None = None,
    locations: Mapping[int, tuple[str, int]] | None = None, others: Collection[int] = (),
) -> tuple[Program, Known]:  # fmt: skip
    """The program for inputs of other sizes than it was captured with; `known` may have sizes from elsewhere. The inputs in
    `others` have shapes that are none of the program's, which only what works element by element can take."""
    sizes = Known() if known is None else Known(known)
    sizes.learn_inputs(program.inputs, actual, others)
    strange = {~number for number in others}
    instructions: list[Instruction] = []

    def fit(instruction: Instruction, kinds: list[Any]) -> tuple[Aval, ...]:
        attributes = sizes.resolve(instruction.attributes)
        operation, where = instruction.operation, (locations or {}).get(instruction.index)
        outputs, _ = operation.plan(tuple(kinds), attributes, instruction.outputs[0].place)
        if len(outputs) != len(instruction.outputs):
            raise UnknownSize(
                f"{operation.name} has {len(outputs)} results for these sizes, and had {len(instruction.outputs)} when the "
                f"code was captured{f' at {where[0]}:{where[1]}' if where else ''}"
            )
        if strange and not strange.isdisjoint(instruction.read):
            if not getattr(operation.infer_rule, "elementwise", False) or symbols_in(instruction.attributes):
                raise UnknownSize(
                    f"{operation.name} takes {', '.join(str(kind) for kind in kinds if isinstance(kind, Aval))}"
                    f"{f' at {where[0]}:{where[1]}' if where else ''}"
                )
            strange.update(instruction.made)
        else:
            for before, now in zip(instruction.outputs, outputs, strict=True):
                sizes.learn(before, now, f"the result of {operation.name}", where)
        instructions.append(changed(instruction, attributes=attributes, outputs=outputs, kinds=tuple(kinds)))
        return outputs

    program.evaluate(fit, actual, lambda operand: operand.kind)
    return Program(list(actual), instructions, program.outputs), sizes


# ---- looking -------------------------------------------------------------------------------------------------------


def symbols_in(value: Any) -> dict[Symbol, None]:
    """The symbols in abstract values and attributes."""
    found: dict[Symbol, None] = {}
    if isinstance(value, SymbolicSize):
        return symbols_of(value.expression)
    if isinstance(value, SymbolicNumber):
        return symbols_of(value.tree)
    if isinstance(value, Aval):
        return symbols_in(value.shape) if value.symbolic else found
    if isinstance(value, (tuple, list)):
        for part in cast("Sequence[Any]", value):
            found |= symbols_in(part)
    elif value.__class__ is slice:
        found = symbols_in((value.start, value.stop, value.step))
    elif isinstance(value, SizedByOthers):
        found = value.symbols()
    return found


def has_symbols(value: Any) -> bool:
    return bool(symbols_in(value))


def size_sources(program: Program) -> dict[Symbol, int]:
    """For each size that only a result shows, the first value that does."""
    found: dict[Symbol, int] = {}
    for instruction in program.instructions:
        for symbol, number in _shown_by(instruction).items():
            found.setdefault(symbol, number)
    return found


def _shown_by(instruction: Instruction) -> dict[Symbol, int]:
    """The sizes of results that an instruction's results have, with the value that has them."""
    found: dict[Symbol, int] = {}
    for offset, aval in enumerate(instruction.outputs):
        for size in aval.shape if aval.symbolic else ():
            symbol = size.expression.symbol if isinstance(size, SymbolicSize) else None
            if symbol is not None and symbol.is_result:
                found.setdefault(symbol, instruction.index + offset)
    return found


def used_sources(program: Program, scalars: Sequence[Any]) -> tuple[int, ...]:
    """Those of these values whose sizes a program computes with."""
    needed = symbols_in(list(scalars))
    for instruction in program.instructions:
        needed |= symbols_in(instruction.attributes)
    return tuple(number for symbol, number in size_sources(program).items() if symbol in needed)


def missing_symbols(program: Program, scalars: Sequence[Any], others: Any = ()) -> set[Symbol]:
    """The symbols that a program computes with and that nothing in it shows."""
    shown, missing = symbols_in(program.inputs), set[Symbol]()
    for instruction in program.instructions:
        # What an instruction makes of a size does not show it, though its result has that size.
        missing |= symbols_in(instruction.attributes).keys() - shown.keys()
        shown |= dict.fromkeys(_shown_by(instruction))
    return missing | (symbols_in([*scalars, *others]).keys() - shown.keys())


def shown_shape(shape: Iterable[int]) -> list[int]:
    """A captured shape as users see it: -1 for what depends on an unknown dimension, the number for what is stated."""
    return [_shown(size) if isinstance(size, SymbolicSize) else size for size in shape]


def _shown(size: SymbolicSize) -> int:
    return size.bare() if is_stated(size) else -1


def shown_number(value: Any) -> Any:
    """A number of a captured program in words: its expression, if it has one."""
    if isinstance(value, SymbolicSize):
        return repr(value.expression)
    return tree_text(value.tree) if isinstance(value, SymbolicNumber) else value


class UnknownDimension(SymbolicSize):
    """An unknown size as users of a static program see it: -1 to look at and to compare, a size to compute with.

    It is -1 for code that is not written in Python too (`range`, NumPy), which cannot know of sizes.
    """

    example: int

    @classmethod
    def of_value(cls, value: int) -> Any:
        made = int.__new__(cls, -1)
        made.example = value
        return made

    def bare(self) -> int:
        return self.example

    def __eq__(self, other: object) -> bool:
        return self.expression == other.expression if isinstance(other, SymbolicSize) else int.__eq__(self, other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__
    __lt__, __le__, __gt__, __ge__, __bool__ = int.__lt__, int.__le__, int.__gt__, int.__ge__, int.__bool__

    def __format__(self, spec: str) -> str:
        return format(-1, spec)

    def __int__(self) -> int:
        return -1

    def _no_float(self, other: Any = None) -> Any:
        raise UnknownSize(
            "a float cannot be computed from an unknown dimension before the program runs; "
            "use paddle.shape(x), or give the dimension a fixed size"
        )

    __truediv__ = __rtruediv__ = __float__ = _no_float

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._no_float()
