"""How the elements of a tensor would lie in Paddle's memory: strides, counted in elements.

Values lie without gaps here, whatever the strides say. They are computed all the same, because they decide what a user
can see: whether `reshape` shares memory with its source or copies it, and what `is_contiguous()` answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

Strides = tuple[int, ...]


@lru_cache(4096)
def contiguous_strides(shape: tuple[int, ...]) -> Strides:
    """Strides of a memory without gaps, the last axis running fastest."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


@lru_cache(4096)
def reshaped(shape: tuple[int, ...], strides: Strides, wanted: tuple[int, ...]) -> Strides | None:
    """Strides of the same memory in another shape; None where that needs a copy.

    From the back, axes that follow each other without a gap form a run; the new axes must divide into the same runs.
    """
    if strides == contiguous_strides(shape) or 0 in shape:
        return contiguous_strides(wanted)
    result = [0] * len(wanted)
    axis = len(wanted) - 1
    run, gap = 1, strides[-1]
    for old in reversed(range(len(shape))):
        run *= shape[old]
        if old and (shape[old - 1] == 1 or strides[old - 1] == run * gap):
            continue
        taken = 1
        while axis >= 0 and (taken < run or wanted[axis] == 1):
            result[axis] = taken * gap
            taken *= wanted[axis]
            axis -= 1
        if taken != run:
            return None
        if old:
            run, gap = 1, strides[old - 1]
    return tuple(result) if axis < 0 else None


def transposed(strides: Strides, perm: Sequence[int]) -> Strides:
    return tuple(strides[axis] for axis in perm)


def diagonal(strides: Strides, axis1: int, axis2: int) -> Strides:
    rest = [step for axis, step in enumerate(strides) if axis not in (axis1, axis2)]
    return (*rest, strides[axis1] + strides[axis2])
