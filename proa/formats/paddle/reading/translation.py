"""Translates a Model operation by operation, by calling our own functions.

Run while capturing, this gives a Graph; run on real tensors, it computes the model directly (what cannot be captured,
such as a result whose size depends on values, works that way).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....eager.tensor import Tensor
from ....ir.sizes.known import known_value
from ..model import Block, Model, Op, Value
from .known import Known, NotKnown, computed_now, known_inputs, may_compute
from .registry import Reader, find_reader, unknown_operation

# Never computed while reading, whatever is known: their result is drawn anew at each run.
_RANDOM = frozenset({
    "uniform", "gaussian", "randint", "randperm", "bernoulli", "multinomial", "dropout", "poisson", "binomial",
    "standard_gamma", "exponential", "truncated_gaussian_random", "dirichlet", "rrelu", "gumbel_softmax",
})  # fmt: skip
_MOST_CREATED = 65_536  # elements of something that is created while reading
SKIPPED = frozenset({"data", "feed", "fetch", "builtin.shadow_output", "builtin.parameter", "cf.yield", "print", "nop"})


class Translation:
    """One pass over a model. `immediate`: nothing is captured, values can be read."""

    def __init__(self, model: Model, parameters: dict[str, Tensor], immediate: bool = False) -> None:
        self.model = model
        self.immediate = immediate
        self.values: dict[Value, Any] = {model.parameter_values[name]: p for name, p in parameters.items()}
        self.position = 0

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The model's results for its inputs."""
        self.values.update(zip(self.model.inputs, tensors, strict=True))
        self.block(self.model.block)
        return [self.tensor(self.held(value)) for value in self.model.outputs]

    def block(self, block: Block) -> None:
        for op in block.ops:
            if op.name not in SKIPPED:
                self.operation(op)

    def reader_of(self, op: Op) -> Reader:
        reader = find_reader(op.name)
        if reader is None:
            raise unknown_operation(op.name, self.position)
        return reader

    def operation(self, op: Op) -> None:
        self.position += 1
        reader = self.reader_of(op)
        inputs = [self.held(value) for value in op.inputs]
        try:
            if reader.translates_blocks:
                result = reader.function(self, op, inputs)
            else:
                result = self.computed(op, reader, inputs)
                if result is None:
                    result = self.called(op, reader, inputs)
        except Exception as error:
            if not getattr(error, "__notes__", None):
                error.add_note(f"while operation {self.position} of the model was translated: {op!s}")
            raise
        self.bind(op.outputs, result)

    # ---- calling a translator ------------------------------------------------------------------------------------

    def called(self, op: Op, reader: Reader, inputs: list[Any]) -> Any:
        arguments = [self.argument(kind, value) for (_, kind, _), value in zip(reader.inputs, inputs, strict=False)]
        extra = inputs[len(reader.inputs) :]
        if extra and reader.variadic:
            arguments += [self.argument("Tensor", value) for value in extra]
        missing = [name for name, _, required in reader.inputs[len(inputs) :] if required]
        if missing:
            raise ValueError(f"(load) {op.name} has {len(inputs)} inputs; {', '.join(missing)} is missing.")
        if reader.takes_all:
            return reader.function(*arguments, **op.attributes)
        chosen: dict[str, Any] = {}
        for name, required in reader.attributes:
            if name in op.attributes:
                chosen[name] = op.attributes[name]
            elif required:
                raise ValueError(f"(load) {op.name} lacks its attribute {name}; it has {', '.join(op.attributes)}.")
        return reader.function(*arguments, **chosen)

    def computed(self, op: Op, reader: Reader, inputs: list[Any]) -> Any:
        """What the operation gives as known values, or None if it is to become part of the graph."""
        if self.immediate or op.name.removesuffix("_") in _RANDOM or not op.outputs:
            return None
        if op.name in ("shape", "shape64", "numel") and isinstance(inputs[0], Tensor):
            return self.size_of(op, inputs[0])
        given = known_inputs(inputs)
        if given is None or not may_compute(given):
            return None
        if (reader.creates or not given) and not self.is_small(op, given):
            return None
        with computed_now():
            result = self.called(op, reader, inputs)
            results = result if isinstance(result, tuple) else (result,)
            declared = op.outputs
            return tuple(
                self.known(value, part) for value, part in zip(declared, results, strict=False)
            )  # fmt: skip

    def known(self, declared: Any, result: Any) -> Any:
        if isinstance(result, (list, tuple)):
            kinds = declared if isinstance(declared, list) else [declared] * len(result)
            return [self.known(kind, part) for kind, part in zip(kinds, result, strict=True)]
        if not isinstance(result, Tensor):
            return result
        array = result.numpy()
        dtype = result.dtype.name
        # A size that is cast to int32 stays what it is.
        if declared is not None and array.dtype.kind == "i" and declared.dtype in ("int32", "int64"):
            dtype = declared.dtype
        return Known(array, dtype)

    def size_of(self, op: Op, tensor: Tensor) -> Known:
        shape = tensor._aval.shape
        if op.name == "numel":
            return Known.of_sizes(math.prod(shape), "int64")
        return Known.of_sizes(shape, "int32" if op.name == "shape" else "int64")

    def is_small(self, op: Op, given: list[Known]) -> bool:
        """Whether what an operation creates is certainly small, whatever the file declares."""
        numbers = [n for known in given if known.array.dtype.kind == "i" for n in known.array.reshape(-1).tolist()]
        shape = op.attributes.get("shape")
        numbers += [n for n in shape if isinstance(n, int)] if isinstance(shape, (list, tuple)) else []
        elements = 1
        for number in numbers:
            elements *= max(abs(number), 1)
            if elements > _MOST_CREATED:
                return False
        return True

    # ---- values --------------------------------------------------------------------------------------------------

    def held(self, value: Any) -> Any:
        """What is held for a Value: a tensor, a `Known` value, or a list of such."""
        if value is None:
            return None
        if isinstance(value, list):
            return [self.held(part) for part in value]
        try:
            return self.values[value]
        except KeyError:
            raise NotImplementedError(
                f"(load) the model uses {value.name!r}, a result that inference does not compute (a saved statistic or "
                "a mask for training)."
            ) from None

    def bind(self, declared: Sequence[Any], result: Any) -> None:
        results = result if isinstance(result, tuple) else (result,)
        for value, part in zip(declared, results, strict=False):
            if isinstance(value, list):
                self.bind(value, tuple(part))
            elif value is not None and part is not None:
                self.values[value] = part

    def tensor(self, value: Any) -> Any:
        if isinstance(value, Known):
            return value.tensor()
        if isinstance(value, list):
            return [self.tensor(part) for part in value]
        return value

    def argument(self, kind: str, value: Any) -> Any:
        if value is None or kind == "Raw":
            return value
        if kind == "Tensor":
            return self.tensor(value)
        if kind == "Integers":
            return self.integers(value)
        if kind == "Integer":
            numbers = self.integers(value)
            return numbers[0] if numbers else None
        known = self.number(value)
        return self.tensor(value) if known is None else known

    def integers(self, value: Any) -> list[int]:
        """Python integers; in immediate mode a tensor's value is read."""
        if isinstance(value, list):
            return [number for part in value for number in self.integers(part)]
        if isinstance(value, Known):
            return value.array.reshape(-1).tolist()
        if self.immediate or value._value is not None:
            return [int(number) for number in np.asarray(value._data()).reshape(-1)]
        known = known_value(value)
        if known is not None:
            return known.reshape(-1).tolist()
        raise NotKnown("(load) a shape or an index is computed from the values of tensors.")

    def number(self, value: Any) -> Any:
        if isinstance(value, Known):
            return value.array.reshape(-1).tolist()[0] if value.array.size == 1 else None
        if isinstance(value, (int, float, complex)):
            return value
        if self.immediate and value._aval.size == 1:
            return value.item()
        return None
