"""A program with deferred calls, run in pieces: the instructions between two calls are a Graph of their own.

Every value has one number, that of the whole program. A piece takes the values that it needs from before and gives those
that are needed later, so nothing is computed twice and a random mask is the same one everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import locate
from ..core.generator import Generator, default_generator
from ..eager.modes import no_grad
from ..eager.tensor import Tensor
from ..eager.views import replace_value
from ..graph.graph import Graph, GraphInput
from ..graph.structure import Leaf
from ..ir.assumptions import Assumptions
from ..ir.dimensions import Known, missing_symbols, size_sources, symbols_in
from ..ir.editing import extracted
from ..ir.known import sizes_held
from ..ir.program import Instruction, Program
from .deferral import CALL

Step = Callable[[dict[int, Tensor]], None]


def has_deferred_calls(program: Program) -> bool:
    return any(instruction.operation is CALL for instruction in program.instructions)


class StagedGraph:
    """What a Graph is for an Executor, for a program that cannot be one executable."""

    def __init__(
        self, program: Program, inputs: list[GraphInput], captured: list[Tensor], scalars: list[Any], num_results: int,
        updates: list[Tensor], locations: dict[int, tuple[str, int]], assumptions: Assumptions,
    ) -> None:  # fmt: skip
        self.program = program
        self.inputs = inputs
        self.captured = captured
        self.updates = updates
        self.num_results = num_results
        self.locations = locations
        self.assumptions = assumptions
        self.graphs: list[Graph] = []
        self.scalars = scalars
        self._avals = {n: aval for i in program.instructions for n, aval in zip(i.made, i.outputs, strict=True)}
        self._avals.update((~k, aval) for k, aval in enumerate(program.inputs))
        self.steps = self._make_steps(program.instructions)

    @property
    def generator(self) -> Generator:
        return self.graphs[0].generator if self.graphs else default_generator

    @generator.setter
    def generator(self, chosen: Generator) -> None:
        for graph in self.graphs:
            graph.generator = chosen

    def fitted(self, tensors: Sequence[Tensor]) -> StagedGraph:
        """Itself: each piece is fitted to the sizes that arrive there."""
        return self

    def __call__(self, *tensors: Tensor) -> list[Tensor]:
        values: dict[int, Tensor] = {~k: tensor for k, tensor in enumerate((*tensors, *self.captured))}
        with no_grad():
            for step in self.steps:
                step(values)
            results = [values[number] for number in self.program.outputs]
            for tensor, value in zip(self.updates, results[self.num_results :], strict=True):
                replace_value(tensor, value)
        return results[: self.num_results]

    # ---- pieces ----------------------------------------------------------------------------------------------------

    def _make_steps(self, instructions: Sequence[Instruction]) -> list[Step]:
        pieces: list[list[Instruction]] = [[]]
        for instruction in instructions:
            if instruction.operation is CALL:
                pieces += [[instruction], []]
            else:
                pieces[-1].append(instruction)
        needed = set(self.program.outputs)
        steps: list[Step] = []
        for piece in reversed([piece for piece in pieces if piece]):
            if piece[0].operation is CALL:
                steps.append(self._call(piece[0], needed))
            else:
                steps.append(self._graph(piece, needed))
        return steps[::-1]

    def _call(self, instruction: Instruction, needed: set[int]) -> Step:
        (call,) = instruction.attributes
        needed.update(instruction.operands)
        symbols = set(call.symbols())
        sources = self._sources(symbols)
        needed.update(sources)
        location = self.locations.get(instruction.index)

        def step(values: dict[int, Tensor]) -> None:
            known = Known()
            for number in sources:
                known.learn(self._avals[number], values[number]._aval)
            try:
                results = call.bound(known)([values[operand] for operand in instruction.operands])
                for result in results:
                    result._data()
            except Exception as error:
                locate(error, location)
                raise
            for offset, (result, aval) in enumerate(zip(results, instruction.outputs, strict=True)):
                Known().learn(aval, result._aval, f"the result of {call.name}", location)
                values[instruction.index + offset] = result

        return step

    def _graph(self, piece: list[Instruction], needed: set[int]) -> Step:
        """A piece as a Graph; `needed` is what comes after it needs, and becomes what it needs itself."""
        own = {number for instruction in piece for number in instruction.made}
        outputs = sorted(own & needed)
        operands = {o for i in piece for o in i.operands if o.__class__ is int} - own
        scalars = [self.scalars[scalar.number] for instruction in piece for scalar in instruction.scalars]
        held = sorted(o for o in operands if self._is_captured(o))
        tensors = [self.captured[~o - len(self.inputs)] for o in held]
        missing = missing_symbols(Program([], piece, ()), scalars, [sizes_held(tensor) or () for tensor in tensors])
        given = sorted({o for o in operands if not self._is_captured(o)} | set(self._sources(missing)))
        program, _, numbers = extracted(piece, outputs, [(number, self._avals[number]) for number in (*given, *held)])
        graph = Graph(
            "program", program, [GraphInput(f"value {number}", self._avals[number]) for number in given],
            tensors, [self.scalars[number] for number in numbers],
            [Leaf(position) for position in range(len(outputs))], [], self._located(piece, program), self.assumptions,
        )  # fmt: skip
        self.graphs.append(graph)
        needed.update(given)

        def step(values: dict[int, Tensor]) -> None:
            if outputs:
                arguments = [values[number] for number in given]
                values.update(zip(outputs, graph.fitted(arguments)(*arguments), strict=True))

        return step

    def _is_captured(self, number: int) -> bool:
        return number < 0 and ~number >= len(self.inputs)

    def _sources(self, symbols: set[Any]) -> list[int]:
        """Values that show these sizes: inputs, or results."""
        found: list[int] = []
        shown = size_sources(self.program)
        for symbol in symbols:
            inputs = (~k for k, given in enumerate(self.inputs) if symbol in symbols_in(given.aval))
            number = shown.get(symbol, next(inputs, None))
            if number is not None and number not in found:
                found.append(number)
        return found

    def _located(self, piece: list[Instruction], program: Program) -> dict[int, tuple[str, int]]:
        pairs = zip(program.instructions, piece, strict=True)
        return {new.index: self.locations[old.index] for new, old in pairs if old.index in self.locations}


__all__ = ["StagedGraph", "has_deferred_calls"]
