"""Which inputs of a program can be donated: those that nobody but the segment refers to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from sys import getrefcount
from typing import Any, cast

import numpy as np

from ..program import Program
from ..recording.references import HELD_BY_A_LIST_AND_A_NAME
from ..tiers.cupy_device import LENT
from ..tiers.cupy_tier import READING
from ..tiers.cupy_tier import settle as cupy_settle
from ..tiers.lowering import give_back_freed_memory

_MUCH_MEMORY = 1 << 26  # bytes that were freed and should go back to the system
# What waits until those who read values beside the programs, for a moment only, refer to none of them any more: saves in the
# background, which copy them.
READERS: list[Callable[[], None]] = []


def settle() -> None:
    """Waits for everybody who reads values beside the programs: before it is counted who refers to them."""
    if READING:
        cupy_settle()
    for wait in tuple(READERS):
        wait()


def donatable(inputs: list[Any]) -> tuple[int, ...]:
    """Positions of the inputs that only the segment still refers to : their memory can hold results."""
    found: list[int] = []
    for position in range(len(inputs)):
        value = inputs[position]
        if getrefcount(value) == HELD_BY_A_LIST_AND_A_NAME:
            found.append(position)
    return tuple(found)


def choose(inputs: list[Any], program: Program) -> tuple[int, ...]:
    """Positions of the inputs that a program is to be given for its results.

    Parts of a larger array of NumPy's (gradients that came from other processes in one piece) would have to be copied to
    memory of XLA's at every run, and free nothing by that. They are taken only for results that no other input fits.
    """
    found = donatable(inputs)
    parts = {position for position in found if _is_part(inputs[position])}
    if not parts:
        return found
    wanted = set(program.outputs)
    room = Counter(
        (tuple(aval.shape), aval.dtype)
        for instruction in program.instructions
        for number, aval in zip(instruction.made, instruction.outputs, strict=True)
        if number in wanted
    )
    chosen: list[int] = []
    for position in sorted(found, key=lambda position: (position in parts, position)):
        kind = (tuple(inputs[position].shape), inputs[position].dtype)
        room[kind] -= 1
        if room[kind] >= 0 or position not in parts:
            chosen.append(position)
    return tuple(sorted(chosen))


def _is_part(value: Any) -> bool:
    base: Any = value.base if value.__class__ is np.ndarray else None
    while base.__class__ is np.ndarray and base.base is not None:
        base = base.base
    return base is not None and getattr(base, "nbytes", 0) > value.nbytes


def protect(inputs: list[Any], compiled: Any) -> list[Any]:
    """Inputs for an executable that donates: what somebody still refers to is copied first.

    NumPy arrays and arrays in memory of CuPy's, the state of the runs before this one, are copied to memory of XLA's. Where
    nobody else refers to one, the copy takes its place in `inputs` and it is freed before the next is copied: a model's
    state is not there twice.
    """
    if not compiled.donated:
        return inputs
    if READING:
        cupy_settle()
    if READERS and _is_shared(inputs, compiled):
        settle()
    shared = _move_to_device(inputs, compiled)
    if not shared:
        return inputs
    import jax.numpy as jnp

    safe = list(inputs)
    for position in shared:
        safe[position] = jnp.array(inputs[position], copy=True)  # pyright: ignore[reportUnknownMemberType]
    compiled.copies += len(shared)
    return safe


def _is_shared(inputs: list[Any], compiled: Any) -> bool:
    """Whether somebody else refers to what a program is to write over."""
    for position in compiled.donated:
        value = inputs[position]
        if getrefcount(value) > HELD_BY_A_LIST_AND_A_NAME:
            return True
    return False


def _moved(value: Any) -> Any:
    import jax
    import jax.numpy as jnp

    if value.__class__ is np.ndarray:
        return cast(Any, jnp).array(value, copy=True)
    copy = cast(Any, jax).device_put(value, value.sharding, may_alias=False)  # compiles nothing
    copy.block_until_ready()  # then the memory that it was in is free
    return copy


def _move_to_device(inputs: list[Any], compiled: Any) -> list[int]:
    """Replaces the donated arrays of NumPy's and CuPy's that only the list refers to; the positions of what others refer
    to."""
    shared: list[int] = []
    freed = 0
    for position in compiled.donated:
        value = inputs[position]
        if getrefcount(value) > HELD_BY_A_LIST_AND_A_NAME:
            shared.append(position)
        elif value.__class__ is np.ndarray or (LENT and id(value) in LENT):
            inputs[position] = _moved(value)
            compiled.copies += 1
            freed += value.nbytes
            if freed > _MUCH_MEMORY:
                del value
                _give_back()
                freed = 0
    value = None
    if freed > _MUCH_MEMORY // 8:
        _give_back()
    return shared


def _give_back() -> None:
    give_back_freed_memory()
