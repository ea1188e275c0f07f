"""What can be exported, as a Graph: layers, functions, graphs, loaded models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import type_error, value_error
from ..core.symbols import UnknownSize
from ..eager.tensor import Tensor
from ..formats.paddle.reading import LoadedModel, read_graph
from ..formats.proa import Artifact
from ..graph.graph import Graph
from ..graph.optimised import optimise
from ..ir.capture import CaptureError
from ..jit.saving import TranslatedLayer, captured_forward


class Source:
    """A graph with the names that its results and weights get in a file."""

    def __init__(
        self, graph: Graph, output_names: list[str] | None = None, weights: dict[int, str] | None = None
    ) -> None:
        self.graph = graph
        count = graph.num_results
        self.output_names = output_names or [f"output_{position}" for position in range(count)]
        self.weights = weights or {}
        self.loaded: LoadedModel | None = None

    def graph_for(self, tensors: Sequence[Tensor]) -> Graph:
        """The graph that says what results are right: Paddle's files are read anew for the sizes at hand."""
        found = self.loaded.graph_for(tensors) if self.loaded is not None else None
        return self.graph if found is None else found


def source_of(model: Any, input_spec: Any = None, output_spec: Any = None) -> Source:
    """The graph of a Layer or function (with `input_spec`), a Graph, an Artifact, or a model that was loaded from files.

    For a model of Paddle's files `input_spec` may be a list of shapes, where the sizes in the file are too general.
    """
    if isinstance(model, Source):
        return model
    if isinstance(model, TranslatedLayer):
        runner = model._runners["forward"]
        return source_of(getattr(runner, "loaded", runner), input_spec)
    if isinstance(model, Graph):
        return Source(model)
    if isinstance(model, LoadedModel):
        return _of_paddle(model, input_spec)
    if isinstance(model, Artifact):
        if "forward" not in model.methods:
            raise value_error(
                "onnx.export", "the artifact has no method forward", f"methods: {', '.join(model.methods)}"
            )
        return Source(model.methods["forward"].graph)
    graph = getattr(model, "graph", None)
    if isinstance(graph, Graph):  # what a predictor has loaded
        return Source(graph, list(getattr(model, "output_names", ())) or None)
    if not callable(model) or isinstance(model, type):
        raise type_error(
            "onnx.export", "a Layer, a function, a Graph or a loaded model is needed", type(model).__name__
        )
    graph, names = captured_forward(model, input_spec, output_spec)
    return Source(graph, weights=names)


def _of_paddle(loaded: LoadedModel, shapes: Sequence[Sequence[int]] | None) -> Source:
    try:
        graph = read_graph(loaded.model, loaded.parameters, shapes, place=loaded.place, name=loaded.name)
    except (CaptureError, UnknownSize) as error:
        raise NotImplementedError(
            f"(onnx.export) {loaded.name} cannot be captured as one graph: {error}. Give fixed shapes for its inputs, or "
            "compute what depends on values outside of the model."
        ) from None
    weights = {id(tensor): name for name, tensor in loaded.parameters.items()}
    source = Source(graph, loaded.output_names, weights)
    source.loaded = loaded
    return source


def prepared(graph: Graph) -> Graph:
    """The graph after the passes that hold for every size: batch norms folded, constants computed."""
    for level in (2, 1):
        made = optimise(graph, level, native=False)
        if all(guard.is_certain for guard in made.assumptions.guards.values()):
            return made
    return graph


__all__ = ["Source", "prepared", "source_of"]
