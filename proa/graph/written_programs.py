"""What writers of graphs into other formats have in common: the walk over a Program, each instruction by its translator.

A format (`formats/paddle/writing`, `onnx`) says what its values are (`made`: they have `dtype` and `sizes`), which
translators it has, and how it words what it cannot write. Translators are called with the format's builder and a Call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ..core.dtype import name_of
from ..core.symbols import UnknownSize, plain
from ..ir.block import Block
from ..ir.program import DynamicScalar, Instruction, Program
from ..ir.sizes.dimensions import used_sources

Translator = Callable[..., Any]


class NotWritten(NotImplementedError):
    """An operation, or a form of it, that a format cannot say. The text tells which, where, and what to do."""


class WrittenCall:
    """One instruction with its operands: values of the format, Python numbers (dynamic scalars) or None."""

    made: ClassVar[type]

    def __init__(self, instruction: Instruction, operands: list[Any], context: Any) -> None:
        self.instruction = instruction
        self.operands = operands
        self.attributes = instruction.attributes
        self.context = context  # the translation: producers and uses of values, for patterns

    @property
    def name(self) -> str:
        return self.instruction.operation.name

    @property
    def types(self) -> list[tuple[str, Any]]:
        """Element types and sizes of the results."""
        return [(name_of(aval.dtype), aval.shape) for aval in self.instruction.outputs]

    @property
    def dtype(self) -> str:
        return self.types[0][0]

    @property
    def sizes(self) -> Sequence[int]:
        return self.types[0][1]

    def tensor(self, builder: Any, position: int, dtype: str | None = None) -> Any:
        """An operand as a tensor; a number becomes a 0-d one of the type that it takes beside tensors."""
        operand = self.operands[position]
        if isinstance(operand, self.made):
            return operand
        return builder.scalar(operand, dtype or name_of(self.instruction.operands[position].dtype))


def registering(translators: dict[str, Translator], where: str) -> Callable[..., Callable[[Translator], Translator]]:
    """A decorator that puts `function(builder, call)` into a format's table; it gives the result or a list of them."""

    def translates(*names: str) -> Callable[[Translator], Translator]:
        def register(function: Translator) -> Translator:
            for name in names:
                if name in translators:
                    raise ValueError(f"({where}) {name} has two translators")
                translators[name] = function
            return function

        return register

    return translates


class WrittenProgram:
    """One Program on its way into another format. Translators may ask who makes and who uses a value."""

    call: ClassVar[type[WrittenCall]]
    format: ClassVar[str]  # its name in messages
    error: ClassVar[type[NotWritten]] = NotWritten
    not_given = "not known"  # what a value is that the format does not give, where no translator says more

    def __init__(
        self, builder: Any, program: Program, inputs: Sequence[Any], scalars: Sequence[Any],
        locations: dict[int, tuple[str, int]],
    ) -> None:  # fmt: skip
        self.builder = builder
        self.program = program
        self.inputs = list(inputs)  # a value, or a function that makes it when it is first used
        self.locations = locations
        self.values: dict[int, Any] = {}
        # Results that a translator found for instructions that come later.
        self.ready: dict[int, list[Any]] = {}
        self.missing: dict[int, str] = {}  # values that the format does not give: what they are
        self._makers: dict[int, Instruction] = {}
        self._users: dict[int, list[Instruction]] = {}
        self._scalars = scalars
        for instruction in program.instructions:
            self._makers.update((number, instruction) for number in instruction.made)
            for operand in instruction.read:
                self._users.setdefault(operand, []).append(instruction)

    # ---- what a format says ----------------------------------------------------------------------------------------

    def translator(self, call: Any) -> Translator:
        """What translates a call; NotImplementedError says why nothing does."""
        raise NotImplementedError

    def worded(self, text: str) -> str:
        """An error's text, with what to do about it."""
        raise NotImplementedError

    # ---- what translators ask --------------------------------------------------------------------------------------

    def maker(self, operand: Any) -> Instruction | None:
        return self._makers.get(operand) if operand.__class__ is int and operand >= 0 else None

    def users(self, number: int) -> list[Instruction]:
        return self._users.get(number, [])

    def scalars_of(self, instruction: Instruction) -> list[Any]:
        return [self._scalars[scalar.number] for scalar in instruction.scalars]

    def value(self, operand: Any) -> Any:
        if operand.__class__ is not int:
            return None
        if operand >= 0:
            return self.values.get(operand)
        found = self.inputs[~operand]
        if not isinstance(found, self.call.made):
            found = self.inputs[~operand] = found()
        return found

    def translate_block(self, block: Block, inputs: Sequence[Any]) -> list[Any]:
        """The results of a block's Program, translated into the builder's open block."""
        inner = type(self)(self.builder, block.program, inputs, block.scalars, block.locations)
        return inner.run(block.program.outputs)

    # ---- the walk --------------------------------------------------------------------------------------------------

    def run(self, outputs: Sequence[int]) -> list[Any]:
        wanted = (*outputs, *used_sources(self.program, self._scalars))
        needed = {instruction.index for instruction in self.program.slice(wanted).instructions}
        for instruction in self.program.instructions:
            if instruction.index in needed:
                self._translate(instruction)
        return [self._found(number) for number in outputs]

    def _found(self, number: int) -> Any:
        value = self.value(number)
        if value is None:
            text = f"a result of the model is {self.missing.get(number, self.not_given)}"
            raise self._error(self._makers[number], text)
        return value

    def _translate(self, instruction: Instruction) -> None:
        results = self.ready.get(instruction.index)
        if results is None:
            results = self._translated(instruction)
        for offset, (result, aval) in enumerate(zip(results, instruction.outputs, strict=True)):
            if result is not None and (
                plain(tuple(result.sizes)) != plain(aval.shape) or result.dtype != name_of(aval.dtype)
            ):
                raise AssertionError(
                    f"({self.format}) {instruction.operation.name} is {aval}, but its translation is "
                    f"{result.dtype}{list(result.sizes)}"
                )
            self.values[instruction.index + offset] = result

    def _translated(self, instruction: Instruction) -> list[Any]:
        name = instruction.operation.name
        call = self.call(instruction, self._operands(instruction), self)
        try:
            results = self.translator(call)(self.builder, call)
        except NotWritten:
            raise  # from a block: it says where already
        except (NotImplementedError, UnknownSize) as error:
            raise self._error(instruction, f"the operation {name} cannot be written: {error}") from None
        if any(guard.kind == "==" and guard.answer for guard in self.builder.taken.values()):
            raise self._error(
                instruction,
                f"the operation {name} cannot be written: {self.format} takes a number of it as a fixed one, and it depends "
                "on an unknown dimension",
            )
        return [results] if isinstance(results, self.call.made) else results

    def _operands(self, instruction: Instruction) -> list[Any]:
        found: list[Any] = []
        for operand in instruction.operands:
            if operand.__class__ is DynamicScalar:
                found.append(self._scalars[operand.number])
                continue
            value = self.value(operand)
            if value is None and operand is not None:
                text = f"the operation {instruction.operation.name} reads {self.missing.get(operand, self.not_given)}"
                raise self._error(instruction, text)
            found.append(value)
        return found

    def _error(self, instruction: Instruction, text: str) -> NotWritten:
        where = self.locations.get(instruction.index)
        line = f"\n  at {where[0]}:{where[1]}" if where else ""
        return self.error(self.worded(text) + line)


__all__ = ["NotWritten", "Translator", "WrittenCall", "WrittenProgram", "registering"]
