"""A program with deferred calls, run in pieces: the instructions between two calls are a Graph of their own.

Every value has one number, that of the whole program. A piece takes the values that it needs from before and gives those
that are needed later, so nothing is computed twice and a random mask is the same one everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import locate, value_error
from ..core.generator import Generator
from ..eager.modes import no_grad
from ..eager.tensor import Tensor
from ..ir.editing import extracted
from ..ir.program import Instruction, Program
from ..ir.sizes.dimensions import Known, missing_symbols, size_sources, symbols_in
from ..ir.sizes.known import sizes_held
from .deferred import CALL
from .graph import Graph, GraphInput
from .replay import with_known_sizes
from .structure import Leaf

Step = Callable[[dict[int, Tensor]], None]


class Stages:
    """How a Graph runs that cannot be one executable."""

    def __init__(self, graph: Graph) -> None:
        self.program = program = graph.program
        self.inputs = graph.inputs
        self.captured = graph.captured
        self.locations = graph.locations
        self.assumptions = graph.assumptions
        self.scalars = graph.scalars
        self.graphs: list[Graph] = []
        self._avals = {n: aval for i in program.instructions for n, aval in zip(i.made, i.outputs, strict=True)}
        self._avals.update((~k, aval) for k, aval in enumerate(program.inputs))
        self.steps = self._make_steps(program.instructions)

    def __call__(self, tensors: Sequence[Tensor], generator: Generator) -> list[Tensor]:
        """The program's outputs; random numbers come from the generator."""
        values: dict[int, Tensor] = {~k: tensor for k, tensor in enumerate((*tensors, *self.captured))}
        for graph in self.graphs:
            graph.generator = generator
        with no_grad():
            for step in self.steps:
                step(values)
        return [values[number] for number in self.program.outputs]

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
        for tensor in (self.captured[~o - len(self.inputs)] for o in instruction.operands if self._is_captured(o)):
            symbols |= symbols_in(sizes_held(tensor) or ()).keys()  # a constant that holds sizes
        sources = self._sources(symbols)
        needed.update(sources)
        location = self.locations.get(instruction.index)

        def step(values: dict[int, Tensor]) -> None:
            known = Known()
            for number in sources:
                known.learn(self._avals[number], values[number]._aval)
            try:
                operands = [with_known_sizes(values[operand], known) for operand in instruction.operands]
                results = call.bound(known)(operands)
                for result in results:
                    result._data()
            except Exception as error:
                locate(error, location)
                raise
            if [r._aval.dtype for r in results] != [aval.dtype for aval in instruction.outputs]:
                found = ", ".join(str(result._aval) for result in results)
                raise value_error("program", f"{call.name} gives other results than when it was put off", found)
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


__all__ = ["Stages"]
