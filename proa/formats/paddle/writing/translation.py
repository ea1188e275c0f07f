"""Graph -> Model: every instruction by its translator, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ....core.dtype import name_of
from ....core.symbols import UnknownSize, plain
from ....eager.tensor import Tensor
from ....graph.graph import Graph
from ....ir.assumptions import Guard
from ....ir.block import Block as GraphBlock
from ....ir.dimensions import used_sources
from ....ir.known import sizes_held
from ....ir.program import DynamicScalar, Instruction, Program
from ..model import Model
from .builder import Builder, Made
from .registry import TRANSLATORS, Call


class Translation:
    """One Program on its way into a Model. Translators may ask who makes and who uses a value."""

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
        self.ready: dict[int, list[Made]] = {}
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
        inner = Translation(self.builder, block.program, inputs, block.scalars, {})
        return inner.run(block.program.outputs)

    # ---- the walk --------------------------------------------------------------------------------------------------

    def run(self, outputs: Sequence[int]) -> list[Made]:
        wanted = (*outputs, *used_sources(self.program, self._scalars))
        needed = {instruction.index for instruction in self.program.slice(wanted).instructions}
        for instruction in self.program.instructions:
            if instruction.index in needed:
                self._translate(instruction)
        found = [self.values.get(number) for number in outputs]
        if None in found:
            raise NotImplementedError(
                "(writing) a result is the state of every step of a recurrent layer, which Paddle's rnn does not give"
            )
        return [value for value in found if value is not None]

    def _translate(self, instruction: Instruction) -> None:
        results: Any = self.ready.get(instruction.index)
        if results is None:
            translator = TRANSLATORS.get(instruction.operation.name)
            if translator is None:
                raise self._error(
                    instruction, f"{instruction.operation.name} has no counterpart in Paddle's operations yet"
                )
            operands = [
                self._scalars[operand.number] if operand.__class__ is DynamicScalar else self.value(operand)
                for operand in instruction.operands
            ]
            missing = any(o.__class__ is int and v is None for o, v in zip(instruction.operands, operands, strict=True))
            if missing:
                raise self._error(
                    instruction, "it reads the cells of every step of an LSTM, which Paddle's rnn does not give"
                )
            try:
                results = translator(self.builder, Call(instruction, operands, self))
            except NotImplementedError as error:
                raise self._error(instruction, f"{instruction.operation.name} cannot be written: {error}") from None
            except UnknownSize as error:
                raise self._error(instruction, f"{instruction.operation.name} cannot be written: {error}") from None
            if any(guard.kind == "==" and guard.answer for guard in self.builder.taken.values()):
                raise self._error(
                    instruction,
                    f"{instruction.operation.name} cannot be written: Paddle takes a number of it as a fixed one, and it "
                    "depends on an unknown dimension",
                )
        if isinstance(results, Made):
            results = [results]
        for offset, (result, aval) in enumerate(zip(results, instruction.outputs, strict=True)):
            if result is not None and (
                plain(tuple(result.sizes)) != plain(aval.shape) or result.dtype != name_of(aval.dtype)
            ):
                raise AssertionError(
                    f"(writing) {instruction.operation.name} is {aval}, but its translation is "
                    f"{result.dtype}{list(result.sizes)}"
                )
            self.values[instruction.index + offset] = result

    def _error(self, instruction: Instruction, text: str) -> NotImplementedError:
        where = self.locations.get(instruction.index)
        line = f"\n  at {where[0]}:{where[1]}" if where else ""
        return NotImplementedError(
            f"(jit.save) {text}; save it as proa's own artifact (a path that ends in .proa), which holds every operation, "
            f"or compute this part outside of the model.{line}"
        )


def graph_to_model(graph: Graph, names: dict[int, str] | None = None) -> Model:
    """The Model of a graph's results. `names` gives captured tensors (by id) the names their values are saved under."""
    from . import (  # noqa: F401
        control,
        deferred,
        elementwise,
        helpers,
        indexing,
        linear,
        losses,
        neural,
        quantised,
        randomness,
        recurrent,
        shapes,
    )

    for guard in graph.assumptions.guards.values():
        if guard.by_user and not guard.is_certain:
            raise NotImplementedError(
                f"(jit.save) the code asks whether {guard}, and Paddle's operations would hold for sizes that answer as "
                "the captured ones did only; save it as proa's own artifact (a path that ends in .proa), which checks, or "
                "decide by tensors (paddle.shape)."
            )
    with graph.assumptions.collected() as taken:
        return _to_model(graph, names or {}, taken)


def _to_model(graph: Graph, names: dict[int, str], taken: Mapping[Any, Guard]) -> Model:
    builder = Builder()
    builder.taken = taken
    inputs: list[Any] = [
        builder.made((name_of(given.aval.dtype), given.aval.shape), given.name) for given in graph.inputs
    ]
    given_values = list(inputs)
    for tensor in graph.captured:
        inputs.append(_captured(builder, tensor, names.get(id(tensor))))
    translation = Translation(builder, graph.program, inputs, graph.scalars, graph.locations)
    outputs = translation.run(graph.program.outputs[: graph.num_results])
    own = {id(value) for value in (*given_values, *builder.parameter_values.values())}
    for position, value in enumerate(outputs):
        if id(value) not in own:
            own.add(id(value))
            value.name = builder.new_name(f"output_{position}")
    return Model(given_values, builder.parameters, builder.parameter_values, builder.block, list(outputs))


def _captured(builder: Builder, tensor: Tensor, name: str | None) -> Callable[[], Made]:
    """A tensor from outside: becomes a parameter when it is first used."""

    def make() -> Made:
        array = np.asarray(tensor._data())
        numbers = sizes_held(tensor)
        if numbers is not None:
            parts = [builder.scalar(number, name_of(array.dtype)) for number in numbers]
            stacked = builder.emit("stack", [parts], {"axis": 0}, (name_of(array.dtype), (len(parts),)))
            return builder.reshape(stacked, array.shape)
        value = builder.parameter(array, name_of(tensor._aval.dtype), name or f"constant_{len(builder.parameters)}")
        value.trainable = not tensor.stop_gradient  # type: ignore[attr-defined]
        return value

    return make
