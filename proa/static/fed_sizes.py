"""Inputs of other sizes than a program states.

`static.data("x", [2, 3])` may be fed [4, 3]: what is stated are symbols with an example (`core/expressions.py`), so the
program is made anew for the sizes that arrive. What was computed from `x.shape` while the program was built stays as it
was. A size beside one that may be any (`[-1, 3]`) is a plain number, and so is the number of dimensions: others are possible
where all that they reach works element by element.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.aval import is_stated
from ..core.errors import value_error
from ..core.symbols import SymbolicSize
from ..eager.tensor import Tensor
from ..graph.graph import Graph, GraphInput
from ..ir.sizes.dimensions import UnknownSize, specialise
from ..ir.sizes.known import sizes_held

_MOST_KEPT = 16  # graphs for shapes that no symbols stand for


def fitted(graph: Graph, tensors: Sequence[Tensor]) -> Graph:
    """The graph for inputs of these sizes; an error names the inputs that are not as the program says."""
    pairs = list(zip(graph.inputs, tensors, strict=True))
    others = [n for n, (given, tensor) in enumerate(pairs) if not _may_be(given.aval.shape, tensor._aval.shape)]
    try:
        return _with_others(graph, tensors, others) if others else graph.fitted(tensors)
    except (ValueError, TypeError, IndexError, ArithmeticError) as problem:
        different = [(given, tensor._aval) for given, tensor in pairs if not is_stated(given.shape, tensor._aval.shape)]
        if not different:
            raise
        raise value_error(
            "Executor.run",
            f"the program holds only for the input {', '.join(repr(given) for given, _ in different)}",
            ", ".join(f"{given.name}: {aval}" for given, aval in different),
            f"feed what static.data() states, or state -1 where sizes may differ; it takes {_taken(problem)}",
        ) from problem


def _taken(problem: Exception) -> str:
    """What the program takes for granted and these sizes do not keep."""
    return str(getattr(problem, "guard", None) or problem).rstrip(".")


def _may_be(captured: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether symbols stand for all sizes that differ."""
    return is_stated([-1 if isinstance(size, SymbolicSize) else size for size in captured], shape)


def _with_others(graph: Graph, tensors: Sequence[Tensor], others: Sequence[int]) -> Graph:
    if graph.is_staged:
        raise UnknownSize("values decide shapes in the program")
    if any(sizes_held(tensor) is not None for tensor in graph.captured):
        raise UnknownSize("the program computes with sizes of its inputs")
    key = ("others", *(tensor._aval for tensor in tensors))
    found = graph._fitted.get(key)
    if found is None:
        actual = [tensor._aval for tensor in (*tensors, *graph.captured)]
        program, known = specialise(graph.program, actual, None, graph.locations, others)
        broken = graph.assumptions.broken(known)
        if broken is not None:
            raise UnknownSize(str(broken))
        inputs = [GraphInput(given.name, tensor._aval) for given, tensor in zip(graph.inputs, tensors, strict=True)]
        scalars = [known.resolve(number) for number in graph.scalars]
        found = Graph(
            graph.name, program, inputs, graph.captured, scalars, graph.structure, graph.updates, graph.locations
        )
        _refuse_other_updates(found)
        found.generator = graph.generator
        while len(graph._fitted) >= _MOST_KEPT:
            graph._fitted.pop(next(iter(graph._fitted)))
        graph._fitted[key] = found
    return found


def _refuse_other_updates(graph: Graph) -> None:
    for tensor, aval in zip(graph.updates, graph.output_avals[graph.num_results :], strict=True):
        if tensor._aval.shape != aval.shape:
            raise UnknownSize(f"{tensor.name}, which is {tensor._aval}, would become {aval}")


__all__ = ["fitted"]
