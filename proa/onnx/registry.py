"""The table of translators: for each primitive of ours, how it is said in ONNX's operators; or why it cannot be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.dtype import name_of
from ..ir.program import Instruction
from .builder import Builder, Made, Type


class Call:
    """One instruction with its operands: `Made` values, Python numbers (dynamic scalars) or None."""

    def __init__(self, instruction: Instruction, operands: list[Any], context: Any) -> None:
        self.instruction = instruction
        self.operands = operands
        self.attributes = instruction.attributes
        self.context = context  # the Translation: producers and uses of values, for patterns

    @property
    def name(self) -> str:
        return self.instruction.operation.name

    @property
    def types(self) -> list[Type]:
        """Element types and sizes of the results."""
        return [(name_of(aval.dtype), aval.shape) for aval in self.instruction.outputs]

    @property
    def dtype(self) -> str:
        return self.types[0][0]

    @property
    def sizes(self) -> Sequence[int]:
        return self.types[0][1]

    def tensor(self, builder: Builder, position: int, dtype: str | None = None) -> Made:
        """An operand as a tensor; a number becomes a 0-d one of the type that it takes beside tensors."""
        operand = self.operands[position]
        if isinstance(operand, Made):
            return operand if dtype is None else builder.cast(operand, dtype)
        if dtype is None:
            dtype = name_of(self.instruction.operands[position].dtype)
        return builder.scalar(operand, dtype)


Translator = Callable[..., Any]
TRANSLATORS: dict[str, Translator] = {}
# Primitives that no ONNX operators can say, or that belong to training: why.
REASONS: dict[str, str] = {}


def translates(*names: str) -> Callable[[Translator], Translator]:
    """Registers `function(builder, call)` for primitives of ours; it gives the result or a list of the results."""

    def register(function: Translator) -> Translator:
        for name in names:
            if name in TRANSLATORS:
                raise ValueError(f"(onnx) {name} has two translators")
            TRANSLATORS[name] = function
        return function

    return register


def no_counterpart(reason: str, *names: str) -> None:
    """Says why primitives have no translator."""
    for name in names:
        if name in TRANSLATORS or name in REASONS:
            raise ValueError(f"(onnx) {name} has a translator or a reason already")
        REASONS[name] = reason
