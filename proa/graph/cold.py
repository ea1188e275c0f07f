"""A graph run operation by operation: nothing is compiled for the sizes at hand, so sizes that come once cost little.

A static program runs so until compiling it pays, by the rule that eager code follows (`ir/tiers/cost.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import job
from ..core.errors import locate
from ..core.place import CPU
from ..eager.tensor import Tensor, wrap
from ..ir.program import Program
from ..ir.recording.mode import Mode
from ..ir.tiers import cost, cupy_tier
from ..ir.tiers.executables import pays_for_start
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


def run_as_it_pays(graph: Graph, tensors: Sequence[Tensor]) -> Any:
    """The results of a graph without unknown sizes: operation by operation at first, compiled once that has paid."""
    if not _may_run_cold(graph) or _is_worth_compiling(graph):
        return graph(*tensors)
    graph.check_inputs(tensors)
    graph.cold_runs += 1
    return run_op_by_op(graph, tensors)


def _may_run_cold(graph: Graph) -> bool:
    """Whether something runs it without a compiler: not arrays on many devices, nor what processes do together."""
    is_alone = not Mode.sharded and job.size() == 1 and not Mode.deterministic
    return is_alone and not graph.is_staged and not graph.has_unknown_sizes and graph.place is CPU


def _is_worth_compiling(graph: Graph) -> bool:
    if Mode.threshold:
        return graph.cold_runs + 1 >= Mode.threshold
    if graph.cold_runs == 0 or graph.is_worth_compiling:
        return graph.is_worth_compiling
    if graph.costs is None:  # not before it is run again
        graph.costs = cost.cold_work(graph.program, CPU), cost.compiling_work(graph.program, None, CPU)
    saved, price = graph.costs
    graph.is_worth_compiling = graph.cold_runs * saved >= price and pays_for_start(CPU, saved)
    return graph.is_worth_compiling


__all__ = ["run_as_it_pays", "run_op_by_op"]
