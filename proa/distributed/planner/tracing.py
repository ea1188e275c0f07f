"""What is planned for: the forward pass of one training step as a Program, from a model's inputs to its loss.

Nothing is computed and nothing is allocated for it. Parameters made under `paddle.LazyGuard` stay without numbers: while the
code is captured an array of stride zero stands for each.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.aval import make_aval
from ...core.dtype import to_numpy_dtype
from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor, tensor_from_data
from ...graph.capture import number_of, placeholder
from ...ir.capture import CaptureSegment, Capturing
from ...ir.observing import RUNTIME, Observer
from ...ir.program import Program
from ...ir.recorder import LOCAL
from ...nn.base.lazy_init import LateParameter
from ...nn.layer import Layer

PARAMETER, BATCH, CONSTANT = "parameter", "batch", "constant"


@dataclass(frozen=True)
class Source:
    """What an input of the Program is: a parameter by name, a part of the batch, or something that stays the same."""

    role: str
    name: str
    shape: tuple[int, ...]
    dtype: str
    trainable: bool = False

    @property
    def size(self) -> int:
        """Bytes."""
        return int(np.prod(self.shape, dtype=np.int64)) * np.dtype(to_numpy_dtype(self.dtype)).itemsize


@dataclass
class Traced:
    """A forward pass: the Program of its loss, what its inputs are, and which layer recorded what."""

    program: Program
    scalars: list[Any]
    sources: list[Source]
    scopes: list[tuple[str, int, int]]  # name of a layer, its first value and the first behind it
    samples: int  # in the batch that was traced
    optimizer: dict[str, Any] = field(default_factory=dict)


class LayerNotes(Observer):
    """Notes which values each layer of a model records, while a capture is open."""

    def __init__(self, model: Layer) -> None:
        self.names = {id(layer): name for name, layer in model.named_sublayers(include_self=True)}
        self.open: list[int] = []
        self.scopes: list[tuple[str, int, int]] = []

    def layer_entered(self, path: str, layer: Any) -> None:
        self.open.append(LOCAL.segment.node.next_index)

    def layer_left(self, path: str, layer: Any, begin: int, end: int) -> None:
        first = self.open.pop()
        name = self.names.get(id(layer))
        if name is not None:
            self.scopes.append((name, first, LOCAL.segment.node.next_index))


@contextlib.contextmanager
def without_numbers(model: Layer) -> Iterator[None]:
    """Parameters that have no numbers yet stay so, though code uses them: something without memory stands for them."""
    late = [parameter for parameter in model.parameters() if isinstance(parameter, LateParameter)]
    draws = [parameter.__dict__["_draw"] for parameter in late]
    for parameter in late:
        parameter._value = np.broadcast_to(np.zeros((), parameter._aval.dtype), parameter._aval.shape)
    try:
        yield
    finally:
        for parameter, draw in zip(late, draws, strict=True):
            parameter.__dict__["_draw"] = draw
            parameter.__class__ = LateParameter


def trace(model: Layer, loss: Any, optimizer: Any, inputs: Sequence[Any]) -> Traced:
    """The forward pass of `loss(model(*inputs[:-1]), inputs[-1])`; without `loss` of `model(*inputs)`."""
    if not isinstance(model, Layer):
        raise type_error("auto_parallel", "model must be a Layer", type(model).__name__)
    if loss is not None and not callable(loss):
        raise type_error("auto_parallel", "loss must be a Layer or a function", type(loss).__name__)
    if loss is not None and len(inputs) < 2:
        raise value_error(
            "auto_parallel", "with a loss, inputs are those of the model and a label", f"{len(inputs)} input(s)"
        )

    def step(tensors: list[Tensor]) -> Any:
        if loss is None:
            return model(*tensors)
        outputs = model(*tensors[:-1])
        return loss(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]), tensors[-1])

    notes = LayerNotes(model)
    with without_numbers(model), Capturing() as segment:
        tensors = [_placeholder(segment, one) for one in inputs]
        RUNTIME.attach(notes)
        try:
            result = step(tensors)
            return finish(segment, result, model, {id(one) for one in tensors}, notes, optimizer)
        finally:
            RUNTIME.detach(notes)
            segment.updates()


def _placeholder(segment: CaptureSegment, given: Any) -> Tensor:
    """An input of a capture like a tensor, an array or an InputSpec."""
    if not hasattr(given, "shape") or not hasattr(given, "dtype"):
        given = tensor_from_data(given)
    shape = tuple(given.shape)
    if any(size is None or size < 0 for size in shape):
        raise value_error(
            "auto_parallel", "plans are made for sizes that are known", f"an input of shape {list(shape)}"
        )
    dtype = given._aval.dtype if isinstance(given, Tensor) else to_numpy_dtype(given.dtype)
    return placeholder(segment, make_aval(shape, dtype, segment.root.place))


def finish(
    segment: CaptureSegment, loss: Any, model: Layer, batch: set[int], notes: LayerNotes, optimizer: Any
) -> Traced:
    """What a capture has recorded up to a loss; `batch` are the ids of the tensors that are cut over data parallelism."""
    if isinstance(loss, (list, tuple)) and loss:
        loss = loss[0]
    if not isinstance(loss, Tensor) or loss._aval.size != 1:
        received = loss._aval if isinstance(loss, Tensor) else type(loss).__name__
        raise value_error(
            "auto_parallel", "a training step ends in a loss of one element", f"{received}",
            "pass loss=, a function of the model's outputs and the label",
        )  # fmt: skip
    number = number_of(segment, loss)
    program = segment.program((number,)).slice((number,))
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    samples = max((t._aval.shape[0] for t in segment.inputs if id(t) in batch and t._aval.shape), default=1)
    sources = []
    for position, tensor in enumerate(segment.inputs):
        aval, name = tensor._aval, names.get(id(tensor))
        is_batch = id(tensor) in batch and aval.shape and aval.shape[0] == samples
        role = PARAMETER if name is not None else BATCH if is_batch else CONSTANT
        sources.append(
            Source(role, name or f"x{position}", aval.shape, aval.dtype.name, name is not None and tensor.trainable)
        )
    return Traced(program, list(segment.scalars), sources, notes.scopes, samples, describe_optimizer(optimizer))


def describe_optimizer(optimizer: Any) -> dict[str, Any]:
    """What an optimiser keeps for each element of a parameter, as far as plans want to know."""
    inner = getattr(optimizer, "_inner_opt", optimizer)
    if inner is None:
        return {"name": "Adam (assumed)", "states": 2, "master": False}
    names = getattr(inner, "_accumulator_names", ())
    # Powers of decay rates are one number a parameter, not one an element.
    states = sum("pow" not in name for name in names)
    return {"name": type(inner).__name__, "states": states, "master": bool(getattr(inner, "_multi_precision", False))}
