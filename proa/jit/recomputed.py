"""A graph in evaluation mode whose results may still be differentiated.

Outside `no_grad`, a layer in evaluation mode is mostly asked for results alone. So the graph runs as one executable that
keeps nothing for a backward pass; should one come, the graph is replayed on the tape and differentiated then.
"""

from __future__ import annotations

from typing import Any

from ..autograd import PyLayer, grad
from ..eager.modes import enable_grad, no_grad
from ..eager.tensor import Tensor
from ..graph import Graph
from ..graph.replay import replay
from ..graph.structure import flatten, rebuild


def run_and_recompute(graph: Graph, tensors: list[Tensor]) -> Any:
    """The results of a graph; their gradients are computed from a replay."""
    parameters = [tensor for tensor in graph.captured if not tensor.stop_gradient]
    structure: list[Any] = []
    results = _Recomputed.apply(graph, structure, len(tensors), *tensors, *parameters)
    return rebuild(structure[0], list(results) if isinstance(results, (list, tuple)) else [results])


class _Recomputed(PyLayer):
    @staticmethod
    def forward(ctx: Any, graph: Graph, structure: list[Any], count: int, *tensors: Tensor) -> Any:
        with no_grad():
            results: list[Tensor] = []
            structure.append(flatten(graph(*tensors[:count]), results))
        ctx.graph, ctx.count = graph, count
        ctx.save_for_backward(*tensors)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        tensors = ctx.saved_tensor()
        wanted = [tensor for tensor in tensors if not tensor.stop_gradient]
        results: list[Tensor] = []
        with enable_grad():
            flatten(replay(ctx.graph, list(tensors[: ctx.count])), results)
        pairs = [(r, g) for r, g in zip(results, gradients, strict=True) if not r.stop_gradient]
        found = iter(grad([r for r, _ in pairs], wanted, [g for _, g in pairs], allow_unused=True))
        return tuple(None if tensor.stop_gradient else next(found) for tensor in tensors)


def may_recompute(graph: Graph, layers: list[Any]) -> bool:
    """Whether a replay later gives the same results: evaluation mode, nothing random, nothing changed by a run."""
    return bool(layers) and not any(layer.training for layer in layers) and not graph.updates and not graph._draws
