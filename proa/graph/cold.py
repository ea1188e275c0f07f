"""A graph run operation by operation: nothing is compiled for the sizes at hand, so sizes that come once cost little."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import locate
from ..core.place import CPU
from ..eager.tensor import Tensor, wrap
from ..ir.program import Program
from ..ir.tiers import cupy_tier
from ..ir.tiers.interpreter import Problem, run_on_jax, run_on_numpy
from ..ir.watch import watch_results
from .graph import Graph


def run_op_by_op(
    graph: Graph, tensors: Sequence[Tensor], specialised: tuple[Program, list[Any], list[Any]] | None = None
) -> Any:
    """The results in their structure; `specialised` is `graph.specialised(tensors)`, where it is known."""
    program, scalars, held = specialised or graph.specialised(tensors)
    inputs, scalars = [*(t._data() for t in tensors), *held], graph.fresh_scalars(scalars)
    place = graph.place
    watch = watch_results(False)
    try:
        if place is CPU:
            values = run_on_numpy(program, inputs, scalars, watch)
        elif cupy_tier.serves(place):
            watch = watch_results(False, cupy_tier.namespace(place))
            values = cupy_tier.run_on_cupy(program, inputs, scalars, place, watch)
        else:
            values = run_on_jax(program, inputs, scalars, place, watch)
    except Problem as problem:
        raise locate(problem.error, graph.locations.get(problem.index)) from None
    return graph.deliver([wrap(values[number]) for number in program.outputs])


__all__ = ["run_op_by_op"]
