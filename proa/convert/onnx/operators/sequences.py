"""Sequences are Python lists while a model is translated; an optional that holds nothing is `Nothing`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....formats.paddle.reading.functions import paddle
from ....formats.paddle.reading.known import Known
from ..registry import reads


class Nothing:
    """An optional without a value."""


@reads("SequenceEmpty", translates_blocks=True)
def empty(translation: Any, op: Any, inputs: list[Any]) -> Any:
    return ([],)


@reads("SequenceConstruct", translates_blocks=True)
def construct(translation: Any, op: Any, inputs: list[Any]) -> Any:
    return (list(inputs),)


@reads("SequenceLength", translates_blocks=True)
def length(translation: Any, op: Any, inputs: list[Any]) -> Any:
    return Known(np.asarray(len(inputs[0]), np.int64), "int64")


@reads("SequenceAt", translates_blocks=True)
def at(translation: Any, op: Any, inputs: list[Any]) -> Any:
    return inputs[0][translation.integers(inputs[1])[0]]


@reads("SequenceInsert", translates_blocks=True)
def insert(translation: Any, op: Any, inputs: list[Any]) -> Any:
    sequence, value, *place = inputs
    made = list(sequence)
    made.insert(len(made) if not place or place[0] is None else translation.integers(place[0])[0], value)
    return (made,)


@reads("SequenceErase", translates_blocks=True)
def erase(translation: Any, op: Any, inputs: list[Any]) -> Any:
    made = list(inputs[0])
    made.pop(translation.integers(inputs[1])[0] if len(inputs) > 1 and inputs[1] is not None else -1)
    return (made,)


@reads("ConcatFromSequence", translates_blocks=True)
def concat(translation: Any, op: Any, inputs: list[Any]) -> Any:
    join = paddle.stack if op.attributes.get("new_axis", 0) else paddle.concat
    return join([translation.tensor(value) for value in inputs[0]], op.attributes["axis"])


@reads("SplitToSequence", translates_blocks=True)
def split(translation: Any, op: Any, inputs: list[Any]) -> Any:
    x = translation.tensor(inputs[0])
    axis = op.attributes.get("axis", 0) % x.ndim
    size = x._aval.shape[axis]
    given = inputs[1] if len(inputs) > 1 else None
    sizes = [1] * size if given is None else translation.integers(given)
    is_one = given is not None and (given.array.ndim if isinstance(given, Known) else given.ndim) == 0
    if is_one:
        sizes = [min(sizes[0], size - start) for start in range(0, size, sizes[0])]
    parts = list(paddle.split(x, sizes, axis)) if len(sizes) > 1 else [x]
    if given is None and not op.attributes.get("keepdims", 1):
        parts = [paddle.squeeze(part, axis) for part in parts]
    return (parts,)


@reads("SequenceMap", translates_blocks=True)
def map_(translation: Any, op: Any, inputs: list[Any]) -> Any:
    body = op.attributes["body"]
    made: list[list[Any]] = [[] for _ in op.outputs]
    for position, first in enumerate(inputs[0]):
        others = [part[position] if isinstance(part, list) else part for part in inputs[1:]]
        for into, value in zip(made, translation.inner(body, [first, *others]), strict=True):
            into.append(value)
    return tuple(made)


@reads("Identity", translates_blocks=True)
def identity(translation: Any, op: Any, inputs: list[Any]) -> Any:
    """Of anything: a tensor, a known number, a sequence, an optional."""
    return (inputs[0],)


@reads("Optional", translates_blocks=True)
def optional(translation: Any, op: Any, inputs: list[Any]) -> Any:
    return (inputs[0] if inputs and inputs[0] is not None else Nothing(),)


@reads("OptionalHasElement", translates_blocks=True)
def has_element(translation: Any, op: Any, inputs: list[Any]) -> Any:
    held = bool(inputs) and inputs[0] is not None and not isinstance(inputs[0], Nothing)
    return Known(np.asarray(held), "bool")


@reads("OptionalGetElement", translates_blocks=True)
def get_element(translation: Any, op: Any, inputs: list[Any]) -> Any:
    if isinstance(inputs[0], Nothing):
        raise ValueError("(OptionalGetElement) the optional holds nothing.")
    return (inputs[0],)
