"""Graph -> Model: every instruction by its translator, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ....core.dtype import name_of
from ....eager.tensor import Tensor
from ....graph.graph import Graph
from ....graph.written_programs import Translator, WrittenProgram
from ....ir.sizes.assumptions import Guard
from ....ir.sizes.known import sizes_held
from ..model import Model
from .builder import Builder, Made
from .registry import TRANSLATORS, Call


class Translation(WrittenProgram):
    """One Program on its way into a Model."""

    call = Call
    format = "Paddle"
    not_given = "the state of every step of a recurrent layer, which Paddle's rnn does not give"

    def translator(self, call: Call) -> Translator:
        found = TRANSLATORS.get(call.name)
        if found is None:
            raise NotImplementedError("it has no counterpart in Paddle's operations yet")
        return found

    def worded(self, text: str) -> str:
        return (
            f"(jit.save) {text}; save it as proa's own artifact (a path that ends in .proa), which holds every operation, "
            "or compute this part outside of the model."
        )


def graph_to_model(graph: Graph, names: dict[int, str] | None = None) -> Model:
    """The Model of a graph's results. `names` gives captured tensors (by id) the names their values are saved under."""
    from . import (  # noqa: F401
        control,
        deferred,
        elementwise,
        helpers,
        indexing,
        linear,
        losses,
        neural,
        quantised,
        randomness,
        recurrent,
        shapes,
    )

    question = graph.assumptions.question
    if question is not None:
        raise NotImplementedError(
            f"(jit.save) the code asks whether {question}, and Paddle's operations would hold for sizes that answer as "
            "the captured ones did only; save it as proa's own artifact (a path that ends in .proa), which checks, or "
            "decide by tensors (paddle.shape)."
        )
    with graph.assumptions.collected() as taken:
        return _to_model(graph, names or {}, taken)


def _to_model(graph: Graph, names: dict[int, str], taken: Mapping[Any, Guard]) -> Model:
    builder = Builder()
    builder.taken = taken
    inputs: list[Any] = [
        builder.made((name_of(given.aval.dtype), given.aval.shape), given.name) for given in graph.inputs
    ]
    given_values = list(inputs)
    for tensor in graph.captured:
        inputs.append(_captured(builder, tensor, names.get(id(tensor))))
    translation = Translation(builder, graph.program, inputs, graph.scalars, graph.locations)
    outputs = translation.run(graph.program.outputs[: graph.num_results])
    own = {id(value) for value in (*given_values, *builder.parameter_values.values())}
    for position, value in enumerate(outputs):
        if id(value) not in own:
            own.add(id(value))
            value.name = builder.new_name(f"output_{position}")
    return Model(given_values, builder.parameters, builder.parameter_values, builder.block, list(outputs))


def _captured(builder: Builder, tensor: Tensor, name: str | None) -> Callable[[], Made]:
    """A tensor from outside: becomes a parameter when it is first used."""

    def make() -> Made:
        array = np.asarray(tensor._data())
        numbers = sizes_held(tensor)
        if numbers is not None:
            parts = [builder.scalar(number, name_of(array.dtype)) for number in numbers]
            stacked = builder.emit("stack", [parts], {"axis": 0}, (name_of(array.dtype), (len(parts),)))
            return builder.reshape(stacked, array.shape)
        value = builder.parameter(array, name_of(tensor._aval.dtype), name or f"constant_{len(builder.parameters)}")
        value.trainable = not tensor.stop_gradient
        return value

    return make
