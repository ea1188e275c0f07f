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
from ..ir.recorder import recording_gradients
from ..ir.sizes.assumptions import Assumptions, example_size
from ..ir.trace import grow_leaf
from ..ops.create.creation import assign_to
from .graph import Graph, GraphInput
from .stops import Stops
from .structure import flatten


def placeholder(segment: CaptureSegment, aval: Aval, stop_gradient: bool = True) -> Tensor:
    """A tensor without a value: the next input of a capture."""
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
    examples: Sequence[Sequence[int]] | None = None,
) -> Graph:
    """The Graph of `function(*placeholders)`.

    A spec has `shape` (None or -1: unknown), `dtype` and perhaps `name` (an InputSpec does). With `build`, the placeholders
    are handed to it as a list instead. `examples` are shapes of a call at hand: unknown dimensions have these sizes while
    the code runs, and it may depend on them (the Graph then holds for other sizes that answer alike). Without examples, a
    dimension that the code takes as a fixed number is an error.
    """
    call = build if build is not None else lambda tensors: function(*tensors)
    own_name = name or getattr(function, "__name__", type(function).__name__)
    if examples is not None or not any(size is None or size < 0 for spec in specs for size in spec.shape):
        return _capture_once(call, specs, own_name, place, examples)
    state, failure = default_generator.get_state(), None
    for sizes in _STAND_INS:
        shapes = [[sizes(axis) for axis in range(len(spec.shape))] for spec in specs]
        try:
            graph = _capture_once(call, specs, own_name, place, shapes)
        except CaptureError:
            raise
        except (ValueError, TypeError, IndexError, ArithmeticError) as error:
            # The code may not hold for these sizes (they cannot be divided as it wants, or must be equal).
            failure = failure or error
            default_generator.set_state(state)
        else:
            _refuse_fixed(graph.assumptions, own_name)
            return graph
    assert failure is not None
    raise failure


# What unknown dimensions are where there is no data, by axis; each is tried where the code refuses the one before.
_STAND_INS: tuple[Callable[[int], int], ...] = (example_size, lambda axis: 4 + 2 * axis, lambda _axis: 6)


def _capture_once(
    call: Callable[[list[Tensor]], Any], specs: Sequence[Any], name: str, place: Place | None,
    examples: Sequence[Sequence[int]] | None,
) -> Graph:  # fmt: skip
    with Capturing(place) as segment:
        inputs: list[GraphInput] = []
        tensors: list[Tensor] = []
        for position, spec in enumerate(specs):
            title = getattr(spec, "name", None) or f"x{position}"
            sizes = segment.assumptions.shape(spec.shape, title, None if examples is None else examples[position])
            aval = make_aval(sizes, to_numpy_dtype(spec.dtype), segment.root.place)
            tensors.append(placeholder(segment, aval, getattr(spec, "stop_gradient", True)))
            inputs.append(GraphInput(title, aval))
        try:
            result = call(tensors)
        except BaseException:
            segment.updates()  # gives tensors from outside their values back
            raise
        graph = finish(segment, result, inputs, name)
    if segment.outer is None:
        segment.assumptions.is_open = False
    return graph


def _refuse_fixed(assumptions: Assumptions, name: str) -> None:
    """CaptureError for a dimension that the specs call unknown and the code took as a number."""
    for guard in assumptions.guards.values():
        if guard.fixes is not None:
            raise CaptureError(
                f"({name}) {guard.fixes.name} may be any size, but the code uses it as a fixed number here; give the "
                "dimension a fixed size in the InputSpec, or compute with sizes (+ - * // %) and tensors (paddle.shape).",
                guard.location,
            )


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
        segment.locations, segment.assumptions,
    )  # fmt: skip
    graph.stops = Stops(segment, program, results)
    return graph


def number_of(segment: CaptureSegment, tensor: Tensor) -> int:
    """The number of a tensor's value in a capture; an input, or a tensor from outside, is passed through."""
    if tensor._segment is segment and tensor._value is None and tensor._index >= 0:
        return tensor._index
    with recording_gradients(True):  # passing through is no place where a gradient ends
        return assign_to(tensor)._index


__all__ = ["capture", "finish", "number_of", "placeholder"]
