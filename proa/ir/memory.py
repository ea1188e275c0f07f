"""Memory rules of the recorder: refuse absurd allocations at the call, donate what nobody else holds."""

from __future__ import annotations

import functools
import os
from sys import getrefcount
from typing import Any

import numpy as np

from ..core.aval import Aval
from .operation import Operation


@functools.cache
def host_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 1 << 46


def check_allocation(operation: Operation, outputs: tuple[Aval, ...]) -> None:
    """MemoryError at the user's call for a result that cannot exist on this machine."""
    for aval in outputs:
        if aval.size > (1 << 24) and aval.nbytes > host_memory():
            raise MemoryError(
                f"({operation.name}) the result {aval} needs {aval.nbytes / 2**30:,.1f} GiB; this machine has "
                f"{host_memory() / 2**30:,.1f} GiB; use a smaller shape or split the work."
            )


def donatable(inputs: list[Any]) -> tuple[int, ...]:
    """Positions of the inputs that only the segment still refers to (device arrays; host arrays are copied anyway)."""
    found = []
    for position in range(len(inputs)):
        value = inputs[position]
        # The list, the local name and getrefcount's argument.
        if value.__class__ is not np.ndarray and getrefcount(value) == 3:
            found.append(position)
    return tuple(found)


def protect(inputs: list[Any], compiled: Any) -> list[Any]:
    """Inputs for an executable that donates: what somebody still refers to is copied first."""
    if not compiled.donated:
        return inputs
    safe: list[Any] | None = None
    for position in compiled.donated:
        value = inputs[position]
        if value.__class__ is np.ndarray or getrefcount(value) > 3:
            import jax.numpy as jnp

            safe = safe if safe is not None else list(inputs)
            safe[position] = jnp.array(value, copy=True)
            compiled.copies += 1
    return inputs if safe is None else safe
