"""Layers in which values decide shapes (`nonzero`, `x[mask]`, suppression of boxes).

No capture of `jit` holds such a call. A static program does, as one instruction (`static/deferral.py`), whose results have
sizes of their own; ONNX has operators for some of them (`translators/deferred.py`). For the comparison it is run piece by
piece, as an Executor would.
"""

from __future__ import annotations

from typing import Any

from ..core.errors import value_error
from ..graph.graph import Graph
from ..graph.structure import Leaf, flatten
from ..jit.saving import _as_spec, _evaluating, _structured_names
from ..nn.layer import Layer
from ..static import InputSpec, mode
from ..static.program import Program
from ..static.variable import data


def staged_graph(layer: Any, input_spec: Any) -> tuple[Graph, Any, dict[int, str]]:
    """The graph of a layer or function, what runs it, and the names of its parameters and buffers, by id."""
    specs = [_as_spec(spec) for spec in (input_spec if isinstance(input_spec, (list, tuple)) else [input_spec])]
    if not all(isinstance(spec, InputSpec) for spec in specs):
        raise value_error(
            "onnx.export", "where values decide shapes, input_spec is a list of InputSpec", f"{specs!r:.200}"
        )
    program = Program()
    with _evaluating(layer), mode.recording(program):
        given = [data(spec.name or f"x{position}", list(spec.shape), spec.dtype) for position, spec in enumerate(specs)]
        fetches: list[Any] = []
        flatten(layer(*given), fetches)
    with mode.running():
        staged = program.graph_for(fetches)
    structure = [Leaf(position) for position in range(len(fetches))]
    graph = Graph(
        "model", staged.program, staged.inputs, staged.captured, staged.scalars, structure, staged.updates, staged.locations,
        staged.assumptions,
    )  # fmt: skip
    return graph, staged, _structured_names(layer) if isinstance(layer, Layer) else {}
