"""Graph: a captured Program, what it needs from outside, and how it runs.

Inputs of the Program come in this order: the graph's own inputs (placeholders), then the tensors that the code used from
outside: parameters and buffers, whose values are read at each run, and constants. Dynamic scalars have the values they
had during the capture, except seeds of random operations, which are drawn anew for each run. Buffers that the code
changed (the statistics of a batch norm) get their new values after each run.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval
from ..core.errors import value_error
from ..core.generator import default_generator
from ..eager.tensor import Tensor, tensor_from_data, wrap
from ..eager.views import replace_value
from ..ir.dimensions import SMALLEST, Sizes, may_hold_sizes, shown_shape, specialise
from ..ir.lowering import CompiledProgram, flagged_instructions
from ..ir.program import Program
from .structure import rebuild

_MOST_COMPILED = 64


class GraphInput:
    """An input by name; `aval` has placeholder numbers where a dimension is unknown."""

    __slots__ = ("aval", "name")

    def __init__(self, name: str, aval: Aval) -> None:
        self.name = name
        self.aval = aval

    @property
    def shape(self) -> list[int]:
        """With -1 for unknown dimensions."""
        return shown_shape(self.aval.shape)

    def __repr__(self) -> str:
        return f"{self.name}: {self.aval.dtype.name}{self.shape}"


class Graph:
    """A captured function. `graph(*tensors)` runs it as one executable; gradients go through `replay`."""

    def __init__(
        self,
        name: str,
        program: Program,
        inputs: list[GraphInput],
        captured: list[Tensor],
        scalars: list[Any],
        structure: Any,
        updates: list[Tensor],
        locations: dict[int, tuple[str, int]] | None = None,
    ) -> None:
        self.name = name
        self.program = program
        self.inputs = inputs
        self.captured = captured
        self.scalars = scalars
        self.structure = structure  # of the results; the Program's first outputs are its tensors
        self.updates = updates  # changed by a run: the Program's last outputs are their new values
        self.locations = locations or {}
        self.num_results = len(program.outputs) - len(updates)
        self._draws = _positions_of_draws(program)
        self._compiled: dict[Any, tuple[CompiledProgram, list[Any], list[Any]]] = {}
        self._lock = threading.Lock()

    @property
    def has_unknown_sizes(self) -> bool:
        return any(size >= SMALLEST for given in self.inputs for size in given.aval.shape)

    @property
    def place(self) -> Any:
        avals = self.program.inputs or [aval for i in self.program.instructions for aval in i.outputs]
        return avals[0].place

    @property
    def output_avals(self) -> list[Aval]:
        by_number = {i.index + n: aval for i in self.program.instructions for n, aval in enumerate(i.outputs)}
        return [by_number[number] for number in self.program.outputs]

    def check_inputs(self, tensors: Sequence[Tensor]) -> None:
        """ValueError naming the input that does not fit."""
        if len(tensors) != len(self.inputs):
            raise value_error(self.name, f"{len(self.inputs)} inputs are needed", f"{len(tensors)}")
        for given, tensor in zip(self.inputs, tensors, strict=True):
            aval, wanted = tensor._aval, given.aval
            fits = aval.ndim == wanted.ndim and all(
                size == expected or expected >= SMALLEST for size, expected in zip(aval.shape, wanted.shape, strict=True)
            )
            if not fits or aval.dtype != wanted.dtype:
                raise value_error(self.name, f"input {given.name} must be {given!r}", f"{given.name}: {aval}")

    def specialised(self, tensors: Sequence[Tensor]) -> tuple[Program, list[Any], list[Any]]:
        """The Program, scalars and values from outside for inputs of these sizes."""
        held: list[Any] = [tensor._data() for tensor in self.captured]
        if not self.has_unknown_sizes:
            return self.program, self.scalars, held
        actual = [tensor._aval for tensor in tensors] + [tensor._aval for tensor in self.captured]
        program, sizes = specialise(self.program, actual)
        scalars = [sizes.resolve(s) if s.__class__ is int else s for s in self.scalars]
        for position, _ in self._draws:
            scalars[position] = self.scalars[position]
        return program, scalars, [_with_sizes(value, sizes) for value in held]

    def executable(self, tensors: Sequence[Tensor]) -> tuple[CompiledProgram, list[Any], list[Any]]:
        """The executable for inputs of these sizes, its scalars, and replacements of constants that hold sizes."""
        key = tuple(tensor._aval for tensor in tensors)
        found = self._compiled.get(key)
        if found is None:
            with self._lock:
                found = self._compiled.get(key)
                if found is None:
                    program, scalars, held = self.specialised(tensors)
                    values = [tensor._data() for tensor in tensors]
                    compiled = CompiledProgram(program, [*values, *held], scalars, self.place, (), False)
                    replaced = [
                        None if value is tensor._value else value
                        for value, tensor in zip(held, self.captured, strict=True)
                    ]
                    while len(self._compiled) >= _MOST_COMPILED:
                        self._compiled.pop(next(iter(self._compiled)))
                    found = self._compiled[key] = (compiled, scalars, replaced)
        return found

    def __call__(self, *tensors: Tensor) -> Any:
        """Runs the graph as one executable, without gradients."""
        self.check_inputs(tensors)
        compiled, scalars, replaced = self.executable(tensors)
        held = [t._data() if r is None else r for t, r in zip(self.captured, replaced, strict=True)]
        results = compiled([*(t._data() for t in tensors), *held], self.fresh_scalars(scalars))
        if compiled.num_flags:
            self._verify(compiled, results[-1], tensors)
        return self.deliver([wrap(value) for value in results[: len(self.program.outputs)]])

    def fresh_scalars(self, scalars: list[Any]) -> list[Any]:
        """The scalars with new seeds for the random operations."""
        if not self._draws:
            return scalars
        scalars = list(scalars)
        for seed, offset in self._draws:
            scalars[seed], scalars[offset] = default_generator.draw()
        return scalars

    def deliver(self, outputs: list[Tensor]) -> Any:
        """The results in their structure; the buffers take their new values."""
        for tensor, value in zip(self.updates, outputs[self.num_results :], strict=True):
            replace_value(tensor, value)
        return rebuild(self.structure, outputs[: self.num_results])

    def _verify(self, compiled: CompiledProgram, flags: Any, tensors: Sequence[Tensor]) -> None:
        good = np.asarray(flags)
        if not good.all():
            program, _, _ = self.specialised(tensors)
            raise flagged_instructions(program, False)[int(np.argmin(good))].value_error()

    def __str__(self) -> str:
        return f"graph {self.name}({', '.join(map(repr, self.inputs))})\n{self.program}"


def _positions_of_draws(program: Program) -> list[tuple[int, int]]:
    """Where among the scalars each random operation has its seed and offset."""
    found: list[tuple[int, int]] = []
    position = 0
    for instruction in program.instructions:
        places: dict[str, int] = {}
        for name, operand in zip(instruction.operation.operand_names, instruction.operands, strict=False):
            if isinstance(operand, type):
                places[name] = position
                position += 1
        rest = len(instruction.operands) - len(instruction.operation.operand_names)
        if rest > 0 and instruction.operation.variadic:
            position += sum(isinstance(o, type) for o in instruction.operands) - len(places)
        if "seed" in places and "offset" in places:
            found.append((places["seed"], places["offset"]))
    return found


def _with_sizes(value: Any, sizes: Sizes) -> Any:
    """A constant, with real sizes where it holds numbers of the capture."""
    array = np.asarray(value) if getattr(value, "ndim", 9) <= 1 else None
    if array is None or not may_hold_sizes(array):
        return value
    resolved = [sizes.resolve(int(number)) for number in array.reshape(-1)]
    return np.asarray(tensor_from_data(np.array(resolved, array.dtype).reshape(array.shape))._data())
