"""Running a Program again as eager code: its instructions are recorded one by one, with history.

So captured code has gradients of any order, without a second implementation of them. Conditions and loops look at their
predicate and replay the branch that is taken (see `control.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval
from ..eager.dispatch import record
from ..eager.modes import no_grad
from ..eager.tensor import Tensor, alias, tensor_from_data, wrap
from ..ir.program import DynamicScalar, Instruction, Program
from ..ir.sizes.dimensions import Known, UnknownSize, symbols_in
from ..ir.sizes.known import sizes_held
from .graph import Graph
from .stops import Stops
from .structure import rebuild


def replay_program(
    program: Program, inputs: Sequence[Tensor], scalars: Sequence[Any], stops: Stops | None = None,
    known: Known | None = None,
) -> list[Tensor]:  # fmt: skip
    """The Program's outputs, computed from tensors by recorded operations.

    With `known` the Program is one for unknown sizes: they are learned from the inputs, and from results on the way.
    """
    stopped = stops.operands if stops is not None else {}

    def call(instruction: Instruction, operands: list[Any]) -> Sequence[Tensor]:
        if known is not None:
            operands = [with_known_sizes(o, known) if isinstance(o, Tensor) else o for o in operands]
        for position in stopped.get(instruction.index, ()):
            operands[position] = alias(operands[position])
        run = getattr(instruction.operation.kernel, "replay", None)
        attributes = instruction.attributes if known is None else known.resolve(instruction.attributes)
        if run is None:
            if known is not None and any(isinstance(o, Tensor) and sizes_held(o) is not None for o in operands):
                raise UnknownSize(f"{instruction.operation.name} takes a size that is not known there")
            results = record(instruction.operation, operands, attributes)
        else:
            results = run(operands, *attributes)
        made = (results,) if isinstance(results, Tensor) else results
        if known is not None:
            _learn(known, instruction.outputs, made, f"the result of {instruction.operation.name}")
        return made

    def scalar(operand: DynamicScalar) -> Any:
        number = scalars[operand.number]
        return number if known is None else known.resolve(number)

    if known is not None:
        _learn(known, program.inputs, inputs, "an input")
    values = program.evaluate(call, inputs, scalar)
    return [values[number] for number in program.outputs]


def with_known_sizes(tensor: Tensor, known: Known) -> Tensor:
    """A constant that holds sizes with the real ones, if all of them are known."""
    sizes = sizes_held(tensor)
    if sizes is None or any(symbol not in known for symbol in symbols_in(sizes)):
        return tensor
    array = np.array(known.resolve(sizes), tensor._aval.dtype).reshape(tensor._aval.shape)
    return tensor_from_data(array, tensor._aval.dtype, tensor._aval.place)


def _learn(known: Known, avals: Sequence[Aval], tensors: Sequence[Tensor], what: str) -> None:
    for aval, tensor in zip(avals, tensors, strict=True):
        known.learn(aval, tensor._aval, what)


def replay(graph: Graph, tensors: Sequence[Tensor]) -> Any:
    """Runs a graph op by op, so that gradients flow to its inputs and parameters."""
    graph.check_inputs(tensors)
    if graph.is_staged:  # sizes are found on the way
        known, inputs = graph.sizes(tensors), [*tensors, *graph.captured]
        outputs = replay_program(graph.program, inputs, graph.fresh_scalars(graph.scalars), graph.stops, known)
    else:
        program, scalars, held = graph.specialised(tensors)
        captured = [
            tensor if value is tensor._value else wrap(value)
            for value, tensor in zip(held, graph.captured, strict=True)
        ]
        outputs = replay_program(program, [*tensors, *captured], graph.fresh_scalars(scalars), graph.stops)
    results = outputs[: graph.num_results]
    with no_grad():
        updates = outputs[graph.num_results :]
        graph.deliver([*results, *updates])
    return rebuild(graph.structure, results)
