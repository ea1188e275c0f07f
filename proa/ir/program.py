"""Program: the one intermediate representation.

A Program is a list of instructions over numbered values. Values `0, 1, 2 …` are instruction outputs in order;
a negative operand `~k` is input number `k`; a `DynamicScalar` is a number that every run is given anew; None is an absent
optional tensor. Tier 0 interprets Programs, tier 1 lowers them to XLA.

Whoever walks over a Program calls `evaluate`, and says what a call, an input and a scalar are: arrays, XLA's tracers,
abstract values, tensors that are recorded. Whoever writes one uses an `Editor` (editing.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ..core.aval import Aval
from ..core.dtype import name_of
from ..core.symbols import SymbolicSize
from .operation import OperandKind, Operation

if TYPE_CHECKING:
    from .editing import Editor


_ndarray = np.ndarray


class DynamicScalar(NamedTuple):
    """An operand that is a Python number: which of the numbers that a run is given, and what it becomes."""

    number: int
    kind: type  # the Python type
    dtype: np.dtype


def numbered(operands: tuple[Any, ...], dtypes: Sequence[np.dtype], first: int) -> tuple[Any, ...]:
    """Operands as instructions hold them: every Python type among them becomes the next scalar, from `first` on."""
    made: list[Any] = []
    given = iter(dtypes)
    for operand in operands:
        if operand.__class__ is DynamicScalar:
            next(given)  # has its number already
        elif isinstance(operand, type):
            operand = DynamicScalar(first, operand, next(given))
            first += 1
        made.append(operand)
    return tuple(made)


class Instruction:
    """One operation applied: operands as explained above, attributes, and where its outputs are numbered from."""

    __slots__ = ("attributes", "flagged", "index", "kinds", "operands", "operation", "outputs", "plain", "scalars")

    def __init__(
        self,
        operation: Operation,
        operands: tuple[Any, ...],
        attributes: tuple[Any, ...],
        outputs: tuple[Aval, ...],
        index: int,
        kinds: tuple[OperandKind, ...],
        flagged: bool,
    ) -> None:
        self.operation = operation
        self.operands = operands
        self.attributes = attributes
        self.outputs = outputs
        self.index = index
        self.kinds = kinds
        # Whether its values are checked when it runs (not where the check already ran at the call).
        self.flagged = flagged
        self.scalars = _scalars_among(operands) if DynamicScalar in map(type, operands) else ()
        # Whether all its operands are values and inputs.
        self.plain = not self.scalars and None not in operands

    @property
    def made(self) -> range:
        """The numbers of its results."""
        return range(self.index, self.index + len(self.outputs))

    @property
    def read(self) -> list[int]:
        """The values and inputs among its operands."""
        return [operand for operand in self.operands if operand.__class__ is int]

    @property
    def used(self) -> list[int]:
        """The values among its operands: what other instructions made."""
        return [operand for operand in self.operands if operand.__class__ is int and operand >= 0]

    def value_error(self) -> Exception:
        """The error for values that its check rejects."""
        check = self.operation.check
        assert check is not None
        text = check.explain(self.kinds, self.attributes)
        return self.operation.error(check.error, text, self.kinds, self.attributes)

    def __repr__(self) -> str:
        names = [_operand_name(operand) for operand in self.operands]
        names += [f"{n}={_shown(a)}" for n, a in zip(self.operation.attribute_names, self.attributes, strict=False)]
        results = ", ".join(f"%{self.index + i}: {type_text(aval)}" for i, aval in enumerate(self.outputs))
        return f"{results} = {self.operation.name}({', '.join(names)})"


def _scalars_among(operands: tuple[Any, ...]) -> tuple[DynamicScalar, ...]:
    return tuple([operand for operand in operands if operand.__class__ is DynamicScalar])


def type_text(aval: Aval) -> str:
    """Shape and data type, with expressions for sizes that are not known."""
    return f"{name_of(aval.dtype)}[{', '.join(str(_shown(size)) for size in aval.shape)}]"


def _shown(value: Any) -> Any:
    if isinstance(value, SymbolicSize):
        return value.expression
    return tuple([_shown(part) for part in cast("tuple[Any, ...]", value)]) if isinstance(value, tuple) else value


def _operand_name(operand: Any) -> str:
    if isinstance(operand, int):
        return f"%{operand}" if operand >= 0 else f"in{~operand}"
    return "none" if operand is None else f"<{operand.kind.__name__}>"


class Program:
    """Instructions, the abstract values of the inputs, and which values are wanted."""

    __slots__ = ("_is_known", "_last_uses", "_scalars", "_size", "inputs", "instructions", "num_values", "outputs")

    def __init__(self, inputs: list[Aval], instructions: list[Instruction], outputs: tuple[int, ...]) -> None:
        self.inputs = inputs
        self.instructions = instructions
        self.outputs = outputs
        last = instructions[-1] if instructions else None
        self.num_values = last.index + len(last.outputs) if last else 0
        self._scalars: list[DynamicScalar] | None = None
        self._last_uses: list[tuple[int, ...]] | None = None
        self._size: int | None = None
        self._is_known = False  # it was evaluated before

    @property
    def scalars(self) -> list[DynamicScalar]:
        """The dynamic scalars that it takes, by their numbers, each once."""
        if self._scalars is None:
            found = {scalar.number: scalar for instruction in self.instructions for scalar in instruction.scalars}
            self._scalars = [found[number] for number in sorted(found)]
        return self._scalars

    @property
    def num_scalars(self) -> int:
        """How many numbers a run must be given: some may be of no use to it."""
        return self.scalars[-1].number + 1 if self.scalars else 0

    @property
    def size(self) -> int:
        """Elements made by all instructions: a rough measure of the work."""
        if self._size is None:  # every new path is asked
            self._size = sum([aval.size for instruction in self.instructions for aval in instruction.outputs])
        return self._size

    @property
    def mean_size(self) -> float:
        """Elements made by an instruction, on average: small where recording it takes longer than running it."""
        return self.size / max(1, len(self.instructions))

    def evaluate(
        self,
        call: Callable[[Instruction, list[Any]], Sequence[Any] | np.ndarray],
        inputs: Sequence[Any],
        scalar: Callable[[DynamicScalar], Any],
        keeps: bool = False,
    ) -> list[Any]:
        """All values by number, computed in order; those that nobody needs any more are dropped on the way.

        `call(instruction, arguments)` gives the results of one instruction (or an array of NumPy's, which is its only one),
        `scalar(operand)` what a dynamic scalar is.
        With `keeps` all stay the first time: for few and small values, finding out which are needed is worth it only where a
        path comes again.
        """
        values: list[Any] = [None] * self.num_values
        at_hand = inputs.__class__ is list or inputs.__class__ is tuple
        if at_hand:
            values += inputs[::-1]  # so that operand ~k, a negative number, finds input k from the end
        get = values.__getitem__
        keeps, self._is_known = keeps and not self._is_known, True
        ends = itertools.repeat(()) if keeps else self.last_uses()
        for instruction, ended in zip(self.instructions, ends):
            if at_hand and instruction.plain:
                arguments = list(map(get, instruction.operands))
            elif at_hand:
                arguments = [
                    None if o is None else values[o] if o.__class__ is int else scalar(o) for o in instruction.operands
                ]
            else:
                arguments = [
                    (values[o] if o >= 0 else inputs[~o]) if o.__class__ is int else None if o is None else scalar(o)
                    for o in instruction.operands
                ]
            made = call(instruction, arguments)
            if made.__class__ is _ndarray:
                values[instruction.index] = made
            else:
                for index, result in enumerate(made, instruction.index):
                    values[index] = result
            for index in ended:
                values[index] = None
        del values[self.num_values :]
        return values

    def edit(self) -> Editor:
        """An editor that has this Program's inputs; scalars that it adds come behind those of this one."""
        from .editing import Editor

        return Editor(self.inputs, first_scalar=self.num_scalars)

    def last_uses(self) -> list[tuple[int, ...]]:
        """For each instruction, the values that nobody needs after it: lets memory be freed on the way."""
        if self._last_uses is None:
            seen = set(self.outputs)
            result: list[tuple[int, ...]] = []
            for instruction in reversed(self.instructions):
                # Written out: every new path comes through here before it first runs.
                ends: list[int] = []
                for operand in instruction.operands:
                    if operand.__class__ is int and operand >= 0 and operand not in seen:
                        seen.add(operand)
                        ends.append(operand)
                index = instruction.index
                for number in range(index, index + len(instruction.outputs)):
                    if number not in seen:
                        ends.append(number)
                result.append(tuple(ends))
            result.reverse()
            self._last_uses = result
        return self._last_uses

    def slice(self, outputs: tuple[int, ...], also: Iterable[int] = ()) -> Program:
        """The part of the Program that the given values depend on, with the same numbering.

        What the values in `also` depend on stays, though they are no outputs.
        """
        needed: set[Any] = {*outputs, *also}
        kept: list[Instruction] = []
        for instruction in reversed(self.instructions):
            if instruction.index in needed or (
                len(instruction.outputs) > 1 and not needed.isdisjoint(instruction.made)
            ):
                kept.append(instruction)
                needed.update(instruction.operands)  # what is no value among them is no result's number either
        kept.reverse()
        sliced = Program(self.inputs, kept, outputs)
        sliced.num_values = self.num_values
        return sliced

    def dependents(self, index: int) -> set[int]:
        """The results of the instruction that makes a value, and all values that depend on them."""
        found: set[int] = set()
        for instruction in self.instructions:
            if index in instruction.made or not found.isdisjoint(instruction.used):
                found.update(instruction.made)
        return found

    def __str__(self) -> str:
        header = ", ".join(f"in{i}: {type_text(aval)}" for i, aval in enumerate(self.inputs))
        body = "\n".join(f"  {instruction!r}" for instruction in self.instructions)
        results = ", ".join(f"%{i}" for i in self.outputs)
        return f"program({header}):\n{body}\n  return {results}"
