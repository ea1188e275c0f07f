"""A graph run operation by operation: nothing is compiled for the sizes at hand, so sizes that come once cost little.

A static program runs so until compiling it pays, by the rule that eager code follows (`ir/tiers/worth.py`).
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
from ..ir.tiers import cupy_tier, worth
from ..ir.tiers.interpreter import Problem, run_on_jax, run_on_numpy
from ..ir.tiers.worth import Account
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


class _Account(Account):
    """Of a graph, which is compiled after the passes."""

    __slots__ = ()
    form = "graph\n"


def run_as_it_pays(graph: Graph, tensors: Sequence[Tensor]) -> Any:
    """The results of a graph without unknown sizes: operation by operation at first, compiled once that has paid, for itself
    or for graphs of several sizes."""
    if not _may_run_cold(graph):
        return graph(*tensors)
    account = graph.account
    if account is None:
        account = graph.account = _Account(graph.program)
    if account.compiled:
        return graph(*tensors)
    graph.check_inputs(tensors)
    account.count += 1
    if account.member is None:
        account.member = worth.join(account, CPU, "graph")
    if account.member:
        values = [*(tensor._data() for tensor in tensors), *graph.held_values()]
        scalars = graph.fresh_scalars(graph.scalars)
        is_decided, shared = worth.find_shared(account, CPU, values, scalars, donates=False)
        if shared is not None:
            return graph.results_of(shared, values, scalars, tensors)
        if is_decided:
            return _run_cold(graph, tensors)
    return _run_hot(graph, tensors) if worth.pays(account, CPU) else _run_cold(graph, tensors)


def _run_cold(graph: Graph, tensors: Sequence[Tensor]) -> Any:
    graph.account.note_cold_run()
    return run_op_by_op(graph, tensors)


def _run_hot(graph: Graph, tensors: Sequence[Tensor]) -> Any:
    results = graph(*tensors)
    graph.account.compiled = True  # the executable is the graph's own
    graph.account.note_own_program()
    graph.account.note_stored(CPU)
    return results


def _may_run_cold(graph: Graph) -> bool:
    """Whether something runs it without a compiler: not arrays on many devices, nor what processes do together."""
    is_alone = not Mode.sharded and job.size() == 1 and not Mode.deterministic
    return is_alone and not graph.is_staged and not graph.has_unknown_sizes and graph.place is CPU


__all__ = ["run_as_it_pays", "run_op_by_op"]
