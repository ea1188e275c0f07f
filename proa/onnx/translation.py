"""Graph -> nodes of ONNX: every instruction by its translator, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.dtype import name_of
from ..core.symbols import UnknownSize, plain
from ..eager.tensor import Tensor
from ..graph.graph import Graph
from ..ir.assumptions import Assumptions
from ..ir.block import Block as GraphBlock
from ..ir.dimensions import used_sources
from ..ir.known import sizes_held
from ..ir.program import DynamicScalar, Instruction, Program
from .builder import Builder, Made
from .registry import REASONS, TRANSLATORS, Call


class Unsupported(NotImplementedError):
    """A primitive, or a form of it, that cannot be said in ONNX's operators."""


class Translation:
    """One Program on its way into a graph of ONNX. Translators may ask who makes and who uses a value."""

    def __init__(
        self, builder: Builder, program: Program, inputs: Sequence[Callable[[], Made] | Made], scalars: Sequence[Any],
        locations: dict[int, tuple[str, int]],
    ) -> None:  # fmt: skip
        self.builder = builder
        self.program = program
        self.inputs = list(inputs)
        self.locations = locations
        self.values: dict[int, Made | None] = {}
        # Results that a translator found for instructions that come later.
        self.ready: dict[int, list[Made | None]] = {}
        self.missing: dict[int, str] = {}  # values that ONNX's operators do not give: why
        self._makers: dict[int, Instruction] = {}
        self._users: dict[int, list[Instruction]] = {}
        self._scalars = scalars
        for instruction in program.instructions:
            self._makers.update((number, instruction) for number in instruction.made)
            for operand in instruction.read:
                self._users.setdefault(operand, []).append(instruction)

    # ---- what translators ask --------------------------------------------------------------------------------------

    def maker(self, operand: Any) -> Instruction | None:
        return self._makers.get(operand) if operand.__class__ is int and operand >= 0 else None

    def users(self, number: int) -> list[Instruction]:
        return self._users.get(number, [])

    def scalars_of(self, instruction: Instruction) -> list[Any]:
        return [self._scalars[scalar.number] for scalar in instruction.scalars]

    def value(self, operand: Any) -> Made | None:
        if operand.__class__ is not int:
            return None
        if operand >= 0:
            return self.values.get(operand)
        found = self.inputs[~operand]
        if not isinstance(found, Made):
            found = self.inputs[~operand] = found()
        return found

    def translate_block(self, block: GraphBlock, inputs: Sequence[Made]) -> list[Made]:
        """The results of a block's Program, translated into the builder's open block."""
        inner = Translation(self.builder, block.program, inputs, block.scalars, block.locations)
        return inner.run(block.program.outputs)

    # ---- the walk --------------------------------------------------------------------------------------------------

    def run(self, outputs: Sequence[int]) -> list[Made]:
        wanted = (*outputs, *used_sources(self.program, self._scalars))
        needed = {instruction.index for instruction in self.program.slice(wanted).instructions}
        for instruction in self.program.instructions:
            if instruction.index in needed:
                self._translate(instruction)
        return [self._found(number) for number in outputs]

    def _found(self, number: int) -> Made:
        value = self.value(number)
        if value is None:
            maker = self._makers[number]
            raise self._error(maker, f"a result of the model is {self.missing.get(number, 'not known')}")
        return value

    def _translate(self, instruction: Instruction) -> None:
        results: Any = self.ready.get(instruction.index)
        if results is None:
            name = instruction.operation.name
            translator = TRANSLATORS.get(name)
            if translator is None:
                raise self._error(
                    instruction, f"the operation {name} cannot be written: {REASONS.get(name, 'nobody wrote it yet')}"
                )
            try:
                results = translator(self.builder, Call(instruction, self._operands(instruction), self))
            except Unsupported:
                raise  # from a block: it says where already
            except (NotImplementedError, UnknownSize) as error:
                raise self._error(instruction, f"the operation {name} cannot be written: {error}") from None
            if any(guard.kind == "==" and guard.answer for guard in self.builder.taken.values()):
                raise self._error(
                    instruction,
                    f"the operation {name} cannot be written: ONNX takes a number of it as a fixed one, and it depends on "
                    "an unknown dimension",
                )
        self._keep(instruction, [results] if isinstance(results, Made) else results)

    def _operands(self, instruction: Instruction) -> list[Any]:
        found: list[Any] = []
        for operand in instruction.operands:
            if operand.__class__ is DynamicScalar:
                found.append(self._scalars[operand.number])
            else:
                value = self.value(operand)
                if value is None and operand is not None:
                    raise self._error(instruction, f"{instruction.operation.name} reads {self.missing.get(operand)}")
                found.append(value)
        return found

    def _keep(self, instruction: Instruction, results: Sequence[Made | None]) -> None:
        for offset, (result, aval) in enumerate(zip(results, instruction.outputs, strict=True)):
            if result is not None and (
                plain(tuple(result.sizes)) != plain(aval.shape) or result.dtype != name_of(aval.dtype)
            ):
                raise AssertionError(
                    f"(onnx) {instruction.operation.name} is {aval}, but its translation is "
                    f"{result.dtype}{list(result.sizes)}"
                )
            self.values[instruction.index + offset] = result

    def _error(self, instruction: Instruction, text: str) -> Unsupported:
        where = self.locations.get(instruction.index)
        line = f"\n  at {where[0]}:{where[1]}" if where else ""
        return Unsupported(f"(onnx.export) {text}; compute this part outside of the model.{line}")


def load_translators() -> None:
    """Fills the table; only whoever translates needs it."""
    from . import translators  # noqa: F401


def translate_graph(
    graph: Graph, assumptions: Assumptions, opset: int, names: dict[int, str]
) -> tuple[Builder, list[Made], list[Made]]:
    """The builder that holds a graph's nodes, its inputs and its results.

    `assumptions` are those that its unknown sizes belong to, `names` those of captured tensors, by id.
    """
    load_translators()
    builder = Builder(opset)
    preparation = getattr(graph, "preparation", None)
    if preparation is not None:
        preparation.values()  # folded weights have their values from now on
    with assumptions.collected() as builder.taken:
        given = [builder.made((name_of(i.aval.dtype), i.aval.shape), i.name) for i in graph.inputs]
        captured = [_captured(builder, tensor, names.get(id(tensor))) for tensor in graph.captured]
        translation = Translation(builder, graph.program, [*given, *captured], graph.scalars, graph.locations)
        results = translation.run(graph.program.outputs[: graph.num_results])
    return builder, given, results


def _captured(builder: Builder, tensor: Tensor, name: str | None) -> Callable[[], Made]:
    """A tensor from outside: becomes an initialiser when it is first used."""

    def make() -> Made:
        numbers = sizes_held(tensor)
        array = np.asarray(tensor._data())
        if numbers is not None:
            parts = [builder.cast(builder.size(number), name_of(array.dtype)) for number in numbers]
            return builder.reshape(builder.concat(parts, 0), array.shape)
        return builder.parameter(array, name or "weight")

    return make
