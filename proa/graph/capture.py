"""Capturing a function: it runs once on placeholders, and what it recorded is the Graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.aval import Aval, make_aval
from ..core.dtype import to_numpy_dtype
from ..core.generator import default_generator
from ..core.place import Place
from ..eager.tensor import Tensor
from ..ir.capture import CaptureSegment, Capturing, DependsOnSize
from ..ir.dimensions import SMALLEST, Knowledge, differences, placeholder_shape
from ..ir.program import Program
from ..ir.recorder import LOCAL
from .graph import Graph, GraphInput
from .stops import Stops
from .structure import flatten

_DIVISORS = (1, 2, 4, 8, 16, 32, 64)


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
    placeholders are handed to it as a list instead. With unknown dimensions the function runs several times, with different
    numbers for them: what depends on them in a way that is not understood is then an error, not a wrong answer.
    """
    call = build if build is not None else lambda tensors: function(*tensors)
    own_name = name or getattr(function, "__name__", type(function).__name__)
    state = default_generator.get_state()

    def once(other: bool = False, divisors: dict[int, int] | None = None) -> Graph:
        default_generator.set_state(state)
        return _capture_once(call, specs, own_name, place, other, divisors)

    graph = once()
    if graph.has_unknown_sizes:
        second = once(other=True)
        problems = differences(graph.program, graph.scalars, second.program, second.scalars, graph.knowledge)
        if problems:
            raise DependsOnSize(
                f"({own_name}) {problems[0]}; give the dimension a fixed size in the InputSpec, or compute with "
                "tensors (paddle.shape) instead of Python numbers."
            )
        _learn_roundings(graph, once, specs)
        share_knowledge(graph.program, graph.knowledge)
    return graph


def _learn_roundings(graph: Graph, once: Callable[..., Graph], specs: Sequence[Any]) -> None:
    """Finds out how the code rounds parts of unknown sizes, by capturing it with sizes that cannot be divided.

    Where that fails or gives something else (a size that is halved and doubled again, a padding that depends on it), the
    sizes of that axis must be divisible by a power of two; for others the graph refuses to run.
    """

    def holds(divisors: dict[int, int]) -> bool:
        try:
            probe = once(True, divisors)
        except Exception:  # the code itself asks for sizes that can be divided
            return False
        learnt = Knowledge()
        if differences(graph.program, graph.scalars, probe.program, probe.scalars, learnt):
            return False
        return all(graph.knowledge.rounding.setdefault(n, up) == up for n, up in learnt.rounding.items())

    axes = sorted({axis for spec in specs for axis, size in enumerate(spec.shape) if size is None or size < 0})
    if holds(dict.fromkeys(axes, 1)):
        return
    for axis in axes:
        fitting = (divisor for divisor in _DIVISORS if holds({axis: divisor}))
        graph.knowledge.divisors[axis] = next(fitting, _DIVISORS[-1])


def share_knowledge(program: Program, knowledge: Knowledge) -> None:
    """Lets the blocks inside a Program know what is known of its numbers."""
    for instruction in program.instructions:
        for block in instruction.attributes:
            if hasattr(block, "program"):
                block.knowledge = knowledge
                share_knowledge(block.program, knowledge)


def _capture_once(
    call: Callable[[list[Tensor]], Any], specs: Sequence[Any], name: str, place: Place | None, other: bool,
    divisors: dict[int, int] | None,
) -> Graph:  # fmt: skip
    with Capturing(place) as segment:
        inputs: list[GraphInput] = []
        tensors: list[Tensor] = []
        for position, spec in enumerate(specs):
            shape = placeholder_shape(spec.shape, other, divisors)
            aval = make_aval(shape, to_numpy_dtype(spec.dtype), segment.root.place)
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


__all__ = ["SMALLEST", "capture", "finish", "number_of", "placeholder", "share_knowledge"]
