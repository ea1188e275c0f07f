"""Which inputs of a program can be donated: those that nobody but the segment refers to."""

from __future__ import annotations

from sys import getrefcount
from typing import Any

import numpy as np


def donatable(inputs: list[Any]) -> tuple[int, ...]:
    """Positions of the inputs that only the segment still refers to : their memory can hold results."""
    found: list[int] = []
    for position in range(len(inputs)):
        value = inputs[position]
        # The list, the local name and getrefcount's argument.
        if getrefcount(value) == 3:
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
            safe[position] = jnp.array(value, copy=True)  # pyright: ignore[reportUnknownMemberType]
            compiled.copies += 1
    return inputs if safe is None else safe
