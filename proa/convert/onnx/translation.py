"""Goes through an ONNX model and calls the translators: on placeholders this gives a Graph, on tensors the results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.symbols import is_symbolic
from ...eager.tensor import Tensor
from ...formats.paddle.model import Block, Model, Op
from ...formats.paddle.reading.known import Known, NotKnown, computed_now, known_inputs, may_compute
from ...formats.paddle.reading.registry import Reader
from ...formats.paddle.reading.translation import Translation
from ...ir.recorder import LOCAL
from ...ir.sizes.known import known_value
from .reading import Node
from .registry import READERS
from .sizes import with_sizes

_RANDOM = frozenset({
    "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial", "Dropout",
})  # fmt: skip


class OnnxTranslation(Translation):
    """One pass over a model. Small values that are known are computed at once, also outside a capture."""

    def __init__(self, model: Model, held: dict[str, Any]) -> None:
        super().__init__(model, held)
        # What is read while nothing is captured has a value; the flag of the class above says so.
        self.immediate = not LOCAL.segment.captures

    def reader_of(self, op: Op) -> Reader:
        reader = READERS.get(op.name)
        if reader is None:
            raise uncovered(op)
        return reader

    def operation(self, op: Op) -> None:
        op.attributes.setdefault("opset", op.version if isinstance(op, Node) else 1)
        super().operation(op)

    def computed(self, op: Op, reader: Reader, inputs: list[Any]) -> Any:
        if op.name in _RANDOM or not op.outputs:
            return None
        if op.name in ("Shape", "Size") and isinstance(inputs[0], Tensor):
            return self.sizes(op, inputs[0])
        given = known_inputs(inputs)
        if given is None:
            return None
        if not may_compute(given):
            return with_sizes(op.name, inputs, op.attributes)
        if (reader.creates or not given) and not self.is_small(op, given):
            return None
        with computed_now():
            result = self.called(op, reader, inputs)
            results = result if isinstance(result, tuple) else (result,)
            return tuple(self.known(None, part) for part in results)

    def sizes(self, op: Op, tensor: Tensor) -> Known:
        shape = tensor._aval.shape
        if op.name == "Size":
            size: Any = 1
            for number in shape:
                size = size * number
            return Known.of_sizes(size, "int64")
        return Known.of_sizes(tuple(shape[op.attributes.get("start", 0) : op.attributes.get("end")]), "int64")

    def integers(self, value: Any) -> list[int]:
        return [n if is_symbolic(n) else int(n) for n in super().integers(value)]

    def number(self, value: Any) -> Any:
        found = super().number(value)
        if found is None and isinstance(value, Tensor) and value._value is not None and value._aval.size == 1:
            return value.item()
        return found

    def inner(self, block: Block, arguments: Sequence[Any]) -> list[Any]:
        """What a subgraph gives for its arguments."""
        self.values.update(zip(block.arguments, arguments, strict=False))
        self.block(block)
        return [self.held(value) for value in block.results]


def uncovered(op: Op) -> NotImplementedError:
    return NotImplementedError(
        f"(onnx) the model needs the operator {op}, which has no translator; write one and register it: "
        f"from proa.convert.onnx import reads; @reads({op.name!r}) def {op.name.split('.')[-1].lower()}"
        "(x, *, attribute): return …"
    )


def array_of(value: Any, what: str) -> np.ndarray:
    """The numbers of a value that must be known before the model runs."""
    if isinstance(value, Known) and not value.has_sizes:
        return value.array
    if isinstance(value, Tensor):
        if value._value is not None or value._segment is None or not value._segment.captures:
            return value.numpy()
        found = known_value(value)
        if found is not None:
            return found
    if isinstance(value, Known):
        return value.array
    raise NotKnown(f"(onnx) {what} is computed from the values of tensors.")


__all__ = ["OnnxTranslation", "array_of", "uncovered"]
