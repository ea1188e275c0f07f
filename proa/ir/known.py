"""Values that are known while code is captured: what is computed from sizes of tensors alone.

`paddle.shape(x)` is a tensor, and so is `paddle.shape(x)[0] * 2`. Inside a capture operations are recorded and not run, but
such a tensor is wanted as a number when it is the size of another one. Its few instructions are then run on the host,
with the numbers that stand for unknown sizes (`dimensions.py`), so that the result is understood like any other size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_MOST_ELEMENTS = 64
_MOST_INSTRUCTIONS = 64


def mark_sizes(tensor: Any) -> Any:
    """Says that a constant holds sizes of other tensors."""
    tensor._holds_sizes = True
    return tensor


def known_value(tensor: Any) -> np.ndarray | None:
    """The value of a captured tensor that was computed from sizes; None for any other, and outside a capture."""
    if tensor._value is not None or tensor._segment is None or not tensor._segment.captures:
        return None
    found = _evaluated(tensor)
    return found[0] if found is not None and found[1] else None


def _evaluated(tensor: Any) -> tuple[np.ndarray, bool] | None:
    """The value and whether sizes went into it; None where it needs something that is not known or not small."""
    if tensor._aval.size > _MOST_ELEMENTS:
        return None
    if tensor._value is not None:
        if tensor._aval.dtype.kind not in "iub" or tensor.persistable:
            return None
        return np.asarray(tensor._data()), getattr(tensor, "_holds_sizes", False)
    segment, index = tensor._segment, tensor._index
    if not segment.captures:
        return None
    if index < 0:
        source = segment.inputs[~index]
        return None if source is tensor else _evaluated(source)
    return _run(segment, index)


def _run(segment: Any, index: int) -> tuple[np.ndarray, bool] | None:
    from .interpreter import Problem, run_on_numpy

    whole = segment.node.program(())
    program = whole.slice((index,))
    needed = {id(instruction) for instruction in program.instructions}
    if len(needed) > _MOST_INSTRUCTIONS or any(
        aval.size > _MOST_ELEMENTS for instruction in program.instructions for aval in instruction.outputs
    ):
        return None
    inputs: list[Any] = [None] * len(segment.inputs)
    scalars: list[Any] = []
    from_sizes, position = False, 0
    for instruction in whole.instructions:
        count = len(instruction.scalar_dtypes)
        if id(instruction) in needed:
            if "seed" in instruction.operation.operand_names or any(
                hasattr(a, "program") for a in instruction.attributes
            ):
                return None
            scalars += segment.scalars[position : position + count]
            for operand in instruction.operands:
                if operand.__class__ is int and operand < 0 and inputs[~operand] is None:
                    source = segment.inputs[~operand]
                    found = None if source._segment is segment and source._value is None else _evaluated(source)
                    if found is None:
                        return None
                    inputs[~operand] = found[0]
                    from_sizes |= found[1]
        position += count
    given = [np.zeros(0) if value is None else value for value in inputs]
    try:
        return np.asarray(run_on_numpy(program, given, scalars)[index]), from_sizes
    except Problem:
        return None


__all__ = ["known_value", "mark_sizes"]
