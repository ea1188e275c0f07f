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
    """One captured kind of call. `StaticFunction.concrete_program` gives one.

    Examples:
        >>> layer = paddle.jit.to_static(paddle.nn.Linear(2, 3), input_spec=[paddle.static.InputSpec([None, 2])])
        >>> len(layer.forward.concrete_program.parameters)
        2
    """

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
        """The tensors that the function finds in attributes which it sets: further inputs of the graph.

        Examples:
            >>> double = paddle.jit.to_static(lambda x: x * 2, input_spec=[paddle.static.InputSpec([None, 2])])
            >>> double.concrete_program.state()
            []
        """
        return [getattr(owner, name) for owner, name, _ in self.guard.states]

    def set_attributes(self, values: list[Any]) -> None:
        """Sets what the function has set.

        Examples:
            >>> double = paddle.jit.to_static(lambda x: x * 2, input_spec=[paddle.static.InputSpec([None, 2])])
            >>> print(double.concrete_program.set_attributes([]))
            None
        """
        for (owner, name), value in zip(self.attributes, values, strict=True):
            setattr(owner, name, value)

    @property
    def main_program(self) -> Any:
        """The Program of the call.

        Examples:
            >>> double = paddle.jit.to_static(lambda x: x * 2, input_spec=[paddle.static.InputSpec([None, 2])])
            >>> double.concrete_program.main_program is not None
            True
        """
        return self.graph.program

    program = main_program

    @property
    def outputs(self) -> list[Any]:
        """The results of the call.

        Examples:
            >>> double = paddle.jit.to_static(lambda x: x * 2, input_spec=[paddle.static.InputSpec([None, 2])])
            >>> len(double.concrete_program.outputs)
            1
        """
        return self.graph.output_avals[: self.graph.num_results]

    @property
    def parameters(self) -> list[Tensor]:
        """The parameters that the call uses.

        Examples:
            >>> layer = paddle.jit.to_static(paddle.nn.Linear(2, 3), input_spec=[paddle.static.InputSpec([None, 2])])
            >>> sorted(parameter.shape for parameter in layer.forward.concrete_program.parameters)
            [paddle.Size([2, 3]), paddle.Size([3])]
        """
        return [tensor for tensor in self.graph.captured if not tensor.stop_gradient]

    @property
    def name(self) -> str:
        """The name of the function.

        Examples:
            >>> def double(x):
            ...     return x * 2
            >>> paddle.jit.to_static(double, input_spec=[paddle.static.InputSpec([None, 2])]).concrete_program.name
            'double'
        """
        return self.graph.name

    def __str__(self) -> str:
        return str(self.graph)
