"""Running a Program again as eager code: its instructions are recorded one by one, with history.

So captured code has gradients of any order, without a second implementation of them. Conditions and loops look at their
predicate and replay the branch that is taken (see `control.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.aval import Aval
from ..eager.dispatch import record
from ..eager.tensor import Tensor, alias
from ..ir.dimensions import Known
from ..ir.program import DynamicScalar, Instruction, Program
from .graph import Graph
from .stops import Stops


def replay_program(
    program: Program, inputs: Sequence[Tensor], scalars: Sequence[Any], stops: Stops | None = None,
    known: Known | None = None,
) -> list[Tensor]:  # fmt: skip
    """The Program's outputs, computed from tensors by recorded operations.

    With `known` the Program is one for unknown sizes: they are learned from the inputs, and from results on the way.
    """
    stopped = stops.operands if stops is not None else {}

    def call(instruction: Instruction, operands: list[Any]) -> Sequence[Tensor]:
        for position in stopped.get(instruction.index, ()):
            operands[position] = alias(operands[position])
        run = getattr(instruction.operation.kernel, "replay", None)
        attributes = instruction.attributes if known is None else known.resolve(instruction.attributes)
        if run is None:
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


def _learn(known: Known, avals: Sequence[Aval], tensors: Sequence[Tensor], what: str) -> None:
    for aval, tensor in zip(avals, tensors, strict=True):
        known.learn(aval, tensor._aval, what)


def replay(graph: Graph, tensors: Sequence[Tensor]) -> Any:
    """Runs a graph op by op, so that gradients flow to its inputs and parameters."""
    graph.check_inputs(tensors)
    program, scalars, held = graph.specialised(tensors)
    from ..eager.tensor import wrap

    captured = [
        tensor if value is tensor._value else wrap(value) for value, tensor in zip(held, graph.captured, strict=True)
    ]
    outputs = replay_program(program, [*tensors, *captured], graph.fresh_scalars(scalars), graph.stops)
    from ..eager.modes import no_grad

    results = outputs[: graph.num_results]
    with no_grad():
        updates = outputs[graph.num_results :]
        graph.deliver([*results, *updates])
    from .structure import rebuild

    return rebuild(graph.structure, results)
