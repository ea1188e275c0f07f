"""Program: the one intermediate representation.

A Program is a list of instructions over numbered values. Values `0, 1, 2 …` are instruction outputs in order;
a negative operand `~k` is input number `k`; a Python type stands for the next dynamic scalar of that type; None is an
absent optional tensor. Tier 0 interprets Programs, tier 1 lowers them to XLA.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..core.aval import Aval
from ..core.dtype import name_of
from ..core.symbols import SymbolicSize
from .operation import OperandKind, Operation


class Instruction:
    """One operation applied: operands as explained above, attributes, and where its outputs are numbered from."""

    __slots__ = ("attributes", "flagged", "index", "kinds", "operands", "operation", "outputs", "scalar_dtypes")

    def __init__(
        self,
        operation: Operation,
        operands: tuple[Any, ...],
        attributes: tuple[Any, ...],
        outputs: tuple[Aval, ...],
        index: int,
        scalar_dtypes: tuple[np.dtype, ...],
        kinds: tuple[OperandKind, ...],
        flagged: bool,
    ) -> None:
        self.operation = operation
        self.operands = operands
        self.attributes = attributes
        self.outputs = outputs
        self.index = index
        self.scalar_dtypes = scalar_dtypes
        self.kinds = kinds
        # Whether its values are checked when it runs (not where the check already ran at the call).
        self.flagged = flagged

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
    return "none" if operand is None else f"<{operand.__name__}>"


class Program:
    """Instructions, the abstract values of the inputs, and which values are wanted."""

    __slots__ = ("_last_uses", "inputs", "instructions", "num_values", "outputs", "scalar_kinds")

    def __init__(self, inputs: list[Aval], instructions: list[Instruction], outputs: tuple[int, ...]) -> None:
        self.inputs = inputs
        self.instructions = instructions
        self.outputs = outputs
        last = instructions[-1] if instructions else None
        self.num_values = last.index + len(last.outputs) if last else 0
        self.scalar_kinds = [
            operand for instruction in instructions for operand in instruction.operands if isinstance(operand, type)
        ]
        self._last_uses: list[tuple[int, ...]] | None = None

    @property
    def size(self) -> int:
        """Elements made by all instructions: a rough measure of the work."""
        return sum(aval.size for instruction in self.instructions for aval in instruction.outputs)

    @property
    def mean_size(self) -> float:
        """Elements made by an instruction, on average: small where recording it takes longer than running it."""
        return self.size / max(1, len(self.instructions))

    def last_uses(self) -> list[tuple[int, ...]]:
        """For each instruction, the values that nobody needs after it: lets tier 0 free memory as it goes."""
        if self._last_uses is None:
            seen = set(self.outputs)
            result: list[tuple[int, ...]] = []
            for instruction in reversed(self.instructions):
                ends: list[int] = []
                for operand in instruction.operands:
                    if operand.__class__ is int and operand >= 0 and operand not in seen:
                        seen.add(operand)
                        ends.append(operand)
                for index in range(instruction.index, instruction.index + len(instruction.outputs)):
                    if index not in seen:
                        ends.append(index)
                result.append(tuple(ends))
            result.reverse()
            self._last_uses = result
        return self._last_uses

    def slice(self, outputs: tuple[int, ...]) -> Program:
        """The part of the Program that the given values depend on, with the same numbering."""
        needed = set(outputs)
        kept: list[Instruction] = []
        for instruction in reversed(self.instructions):
            produced = range(instruction.index, instruction.index + len(instruction.outputs))
            if any(index in needed for index in produced):
                kept.append(instruction)
                needed.update(o for o in instruction.operands if isinstance(o, int) and o >= 0)
        kept.reverse()
        sliced = Program(self.inputs, kept, outputs)
        sliced.num_values = self.num_values
        return sliced

    def __str__(self) -> str:
        header = ", ".join(f"in{i}: {type_text(aval)}" for i, aval in enumerate(self.inputs))
        body = "\n".join(f"  {instruction!r}" for instruction in self.instructions)
        results = ", ".join(f"%{i}" for i in self.outputs)
        return f"program({header}):\n{body}\n  return {results}"
