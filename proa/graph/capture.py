"""Capturing a function: it runs once on placeholders, and what it recorded is the Graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.aval import Aval, make_aval
from ..core.dtype import to_numpy_dtype
from ..core.generator import default_generator
from ..core.place import Place
from ..eager.tensor import Tensor
from ..ir.capture import CaptureError, CaptureSegment, Capturing
from ..ir.dimensions import SMALLEST, differences, placeholder_shape
from ..ir.recorder import LOCAL
from .graph import Graph, GraphInput
from .stops import Stops
from .structure import flatten


def placeholder(segment: CaptureSegment, aval: Aval, stop_gradient: bool = True) -> Tensor:
    """A tensor without a value: the next input of a capture."""
    from ..ir.trace import grow_leaf

    tensor = Tensor.__new__(Tensor)
    tensor._aval = aval
    tensor._value = None
    tensor._segment = segment
    tensor._index = ~len(segment.inputs)
    tensor._node = None
    tensor._version = 0
    tensor.stop_gradient = stop_gradient
    segment.node = segment.node.get(aval) or grow_leaf(segment.node, aval)
    segment.inputs.append(tensor)
    segment.refs.append(tensor)
    return tensor


def capture(
    function: Callable[..., Any],
    specs: Sequence[Any],
    *,
    name: str | None = None,
    place: Place | None = None,
    build: Callable[[list[Tensor]], Any] | None = None,
) -> Graph:
    """The Graph of `function(*placeholders)`.

    A spec has `shape` (None or -1: unknown), `dtype` and perhaps `name` (an InputSpec does). With `build`, the
    placeholders are handed to it as a list instead. With unknown dimensions the function runs twice, with different
    numbers for them: what depends on them in a way that is not understood is then an error, not a wrong answer.
    """
    call = build if build is not None else lambda tensors: function(*tensors)
    own_name = name or getattr(function, "__name__", type(function).__name__)
    state = default_generator.get_state()
    graph = _capture_once(call, specs, own_name, place, other=False)
    if graph.has_unknown_sizes:
        default_generator.set_state(state)
        second = _capture_once(call, specs, own_name, place, other=True)
        problems = differences(graph.program, graph.scalars, second.program, second.scalars)
        if problems:
            raise CaptureError(
                f"({own_name}) {problems[0]}; give the dimension a fixed size in the InputSpec, or compute with "
                "tensors (paddle.shape) instead of Python numbers."
            )
    return graph


def _capture_once(
    call: Callable[[list[Tensor]], Any], specs: Sequence[Any], name: str, place: Place | None, other: bool
) -> Graph:
    with Capturing(place) as segment:
        inputs: list[GraphInput] = []
        tensors: list[Tensor] = []
        for position, spec in enumerate(specs):
            aval = make_aval(placeholder_shape(spec.shape, other), to_numpy_dtype(spec.dtype), segment.root.place)
            tensor = placeholder(segment, aval, getattr(spec, "stop_gradient", True))
            tensors.append(tensor)
            inputs.append(GraphInput(getattr(spec, "name", None) or f"x{position}", aval))
        try:
            result = call(tensors)
        except BaseException:
            segment.updates()  # gives tensors from outside their values back
            raise
        return finish(segment, result, inputs, name)


def finish(segment: CaptureSegment, result: Any, inputs: list[GraphInput], name: str) -> Graph:
    """The Graph of what a capture has recorded, with the tensors in `result` as its results."""
    results: list[Tensor] = []
    structure = flatten(result, results)
    numbers = [number_of(segment, tensor) for tensor in results]
    updates = segment.updates()
    program = segment.program((*numbers, *(index for _, index in updates)))
    captured = segment.inputs[len(inputs) :]
    graph = Graph(
        name, program, inputs, captured, segment.scalars, structure, [tensor for tensor, _ in updates],
        segment.locations,
    )  # fmt: skip
    graph.stops = Stops(segment, program, results)
    return graph


def number_of(segment: CaptureSegment, tensor: Tensor) -> int:
    """The number of a tensor's value in a capture; an input, or a tensor from outside, is passed through."""
    from ..ops.create.creation import assign_to

    if tensor._segment is segment and tensor._value is None and tensor._index >= 0:
        return tensor._index
    before, LOCAL.grad_enabled = LOCAL.grad_enabled, True  # passing through is no place where a gradient ends
    try:
        return assign_to(tensor)._index
    finally:
        LOCAL.grad_enabled = before


__all__ = ["SMALLEST", "capture", "finish", "number_of", "placeholder"]
