"""ConcreteProgram: one captured kind of call, and how it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..eager.tensor import Tensor
from ..graph import Graph
from ..ir.recorder import LOCAL
from .arguments import Input
from .bucketing import Buckets
from .guards import Guard
from .recomputed import may_recompute


class ConcreteProgram:
    """One captured kind of call."""

    def __init__(
        self,
        graph: Graph,
        inputs: list[Input],
        guard: Guard,
        changed: list[int],
        attributes: list[Any],
        max_programs: int,
    ) -> None:
        self.graph = graph
        self.inputs = inputs
        self.guard = guard
        self.changed = changed  # arguments that the function changes in place
        self.attributes = attributes  # (object, name) of attributes that it sets to tensors
        self.wants_gradient = graph.stops.results_want and LOCAL.grad_enabled
        self.run: Callable[..., Any] = graph
        if graph.has_unknown_sizes and not changed and not attributes and not graph.updates:
            self.run = Buckets(graph, max_programs)
        fixed = not changed and not attributes and self.run is graph
        self.recomputes = fixed and may_recompute(graph, guard.layers)

    def state(self) -> list[Tensor]:
        """The tensors that the function finds in attributes which it sets: further inputs of the graph."""
        return [getattr(owner, name) for owner, name, _ in self.guard.states]

    def set_attributes(self, values: list[Any]) -> None:
        """Sets what the function has set."""
        for (owner, name), value in zip(self.attributes, values, strict=True):
            setattr(owner, name, value)

    @property
    def main_program(self) -> Any:
        return self.graph.program

    program = main_program

    @property
    def outputs(self) -> list[Any]:
        return self.graph.output_avals[: self.graph.num_results]

    @property
    def parameters(self) -> list[Tensor]:
        return [tensor for tensor in self.graph.captured if not tensor.stop_gradient]

    @property
    def name(self) -> str:
        return self.graph.name

    def __str__(self) -> str:
        return str(self.graph)
