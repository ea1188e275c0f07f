"""Graph -> nodes of ONNX: every instruction by its translator, in order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.dtype import name_of
from ..eager.tensor import Tensor
from ..graph.graph import Graph
from ..graph.written_programs import NotWritten, Translator, WrittenProgram
from ..ir.sizes.assumptions import Assumptions
from ..ir.sizes.known import sizes_held
from .builder import Builder, Made
from .registry import REASONS, TRANSLATORS, Call


class Unsupported(NotWritten):
    """A primitive, or a form of it, that cannot be said in ONNX's operators."""


class Translation(WrittenProgram):
    """One Program on its way into a graph of ONNX."""

    call = Call
    format = "ONNX"
    error = Unsupported

    def translator(self, call: Call) -> Translator:
        from .translators.complex_numbers import is_complex, translate_complex

        found = TRANSLATORS.get(call.name)
        if found is None:
            raise NotImplementedError(REASONS.get(call.name, "nobody wrote it yet"))
        return translate_complex if is_complex(call) else found

    def worded(self, text: str) -> str:
        return f"(onnx.export) {text}; compute this part outside of the model."


def load_translators() -> None:
    """Fills the table; only whoever translates needs it."""
    from . import translators  # noqa: F401


def translate_graph(
    graph: Graph, assumptions: Assumptions, opset: int, names: dict[int, str]
) -> tuple[Builder, list[Made], list[Made]]:
    """The builder that holds a graph's nodes, its inputs and its results.

    `assumptions` are those that its unknown sizes belong to, `names` those of captured tensors, by id.
    """
    load_translators()
    builder = Builder(opset)
    preparation = getattr(graph, "preparation", None)
    if preparation is not None:
        preparation.values(to_run=False)  # folded weights have their values from now on
    with assumptions.collected() as builder.taken:
        given = [builder.made((name_of(i.aval.dtype), i.aval.shape), i.name) for i in graph.inputs]
        captured = [_captured(builder, tensor, names.get(id(tensor))) for tensor in graph.captured]
        translation = Translation(builder, graph.program, [*given, *captured], graph.scalars, graph.locations)
        results = translation.run(graph.program.outputs[: graph.num_results])
    for value in (*given, *results):
        if value.dtype.startswith("complex"):
            raise Unsupported(
                f"(onnx.export) an input or result of the model is {value.dtype}, which ONNX's operators do not have; give "
                "and take the parts (paddle.as_real, paddle.as_complex)."
            )
    return builder, given, results


def _captured(builder: Builder, tensor: Tensor, name: str | None) -> Callable[[], Made]:
    """A tensor from outside: becomes an initialiser when it is first used."""

    def make() -> Made:
        numbers = sizes_held(tensor)
        array = np.asarray(tensor._data())
        if numbers is not None:
            parts = [builder.cast(builder.size(number), name_of(array.dtype)) for number in numbers]
            return builder.reshape(builder.concat(parts, 0), array.shape)
        if array.dtype.kind == "c":
            from .translators.complex_numbers import constant_pair

            return constant_pair(builder, array, name or "weight")
        return builder.parameter(array, name or "weight")

    return make
