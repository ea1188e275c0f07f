"""Values that are known while code is captured: what is computed from sizes of tensors alone.

`paddle.shape(x)` is a tensor, and so is `paddle.shape(x)[0] * 2`. Inside a capture operations are recorded and not run, but
such a tensor is wanted as a number when it is the size of another one. Its few instructions are then run on the host, on
arrays of Python integers, so that unknown sizes keep their expressions (`core/symbols.py`). An operation whose NumPy kernel
would look at the numbers has one of its own for that (`kernels["sizes"]`).

A constant that holds unknown sizes remembers them; a run puts the real ones in their place.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ...core.symbols import is_symbolic, note_loss, plain
from ..block import blocks_in
from ..program import Program

_MOST_ELEMENTS = 64
_MOST_INSTRUCTIONS = 64


def mark_sizes(tensor: Any, sizes: Any) -> Any:
    """Says that a constant holds these sizes of other tensors, in its order."""
    tensor._holds_sizes = tuple(sizes)
    return tensor


def sizes_held(tensor: Any) -> tuple[Any, ...] | None:
    """The sizes in a constant, where some are not known before a run; None for any other tensor."""
    held = tensor._holds_sizes
    return held if held is not None and any(map(is_symbolic, held)) else None


def objects_held(tensor: Any) -> np.ndarray:
    """The sizes in a constant as an array of Python integers."""
    return _objects(tensor._holds_sizes, tensor._aval.shape)


def lose_sizes(tensor: Any) -> None:
    """Called when the value of a constant is read by code that cannot know of sizes."""
    for number in sizes_held(tensor) or ():
        if is_symbolic(number):
            note_loss(number)


def known_value(tensor: Any) -> np.ndarray | None:
    """The integers (an array of objects) that a captured tensor was computed to from sizes; None for any other tensor, and
    outside a capture."""
    if tensor._value is not None:
        return None if sizes_held(tensor) is None else objects_held(tensor)
    if tensor._segment is None or not tensor._segment.captures:
        return None
    found = _evaluated(tensor)
    return found[0] if found is not None and found[1] else None


def _evaluated(tensor: Any) -> tuple[np.ndarray, bool] | None:
    """The value and whether sizes went into it; None where it needs something that is not known or not small."""
    if plain(tensor._aval.size) > _MOST_ELEMENTS or tensor._aval.symbolic:
        return None
    if tensor._value is not None:
        if tensor._aval.dtype.kind not in "iub" or tensor.persistable:
            return None
        held = tensor._holds_sizes
        return _objects(np.asarray(tensor._data()) if held is None else held, tensor._aval.shape), held is not None
    segment, index = tensor._segment, tensor._index
    if not segment.captures:
        return None
    if index < 0:
        source = segment.inputs[~index]
        return None if source is tensor else _evaluated(source)
    return _run(segment, index)


def _objects(values: Any, shape: tuple[int, ...]) -> np.ndarray:
    """An array of Python integers."""
    array = np.empty(shape, object)
    flat = cast("list[Any]", values.reshape(-1).tolist() if hasattr(values, "reshape") else list(values))
    for place, number in zip(np.ndindex(*shape), flat, strict=True):
        array[place] = number
    return array


class _NotKnown(Exception):
    """The value needs something that is not known or not small."""


def _run(segment: Any, index: int) -> tuple[np.ndarray, bool] | None:
    program: Program = segment.node.program(()).slice((index,))
    if len(program.instructions) > _MOST_INSTRUCTIONS:
        return None
    inputs: list[Any] = [None] * len(program.inputs)
    from_sizes = False
    for number in {~o for instruction in program.instructions for o in instruction.read if o < 0}:
        source = segment.inputs[number]
        found = None if source._segment is segment and source._value is None else _evaluated(source)
        if found is None:
            return None
        inputs[number] = found[0]
        from_sizes |= found[1]
    numbers = [segment.scalars[scalar.number] for scalar in program.scalars]
    from_sizes |= any(map(is_symbolic, numbers))
    try:
        values = program.evaluate(_apply, inputs, lambda operand: _objects((segment.scalars[operand.number],), ()))
    except _NotKnown:
        return None
    return values[index], from_sizes


def _apply(instruction: Any, arguments: list[Any]) -> tuple[np.ndarray]:
    """One instruction on integers; _NotKnown where it does something else than compute with them."""
    operation, (aval, *others) = instruction.operation, instruction.outputs
    if others or aval.symbolic or aval.dtype.kind not in "iu" or "seed" in operation.operand_names:
        raise _NotKnown
    if aval.size > _MOST_ELEMENTS or blocks_in(instruction.attributes):
        raise _NotKnown
    kernel = operation.kernels.get("sizes") or operation.kernel_for("numpy")
    given = [arguments] if operation.variadic else arguments
    try:
        result: Any = kernel(np, *given, *instruction.attributes)
    except (TypeError, ValueError, AttributeError):  # a kernel for numbers of fixed width
        raise _NotKnown from None
    made: np.ndarray = cast(Any, result) if isinstance(result, np.ndarray) else _objects((result,), ())
    if made.dtype != object or made.shape != tuple(aval.shape):
        raise _NotKnown
    return (made,)


__all__ = ["known_value", "lose_sizes", "mark_sizes", "objects_held", "sizes_held"]
