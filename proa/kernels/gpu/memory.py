"""Reading an operand from memory instead of computing it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir.xla import started_jax


def from_memory(kernel: Callable[..., Any], position: int) -> Callable[..., Any]:
    """The same kernel with a barrier before one operand.

    XLA computes an operand again inside its consumer where that looks cheap. For the result of a ReLU after a residual
    block this means reading three arrays for a mask, instead of the one that is in memory anyway.
    """

    def with_barrier(xp: Any, *arguments: Any) -> Any:
        given = list(arguments)
        given[position] = started_jax().lax.optimization_barrier(given[position])
        return kernel(xp, *given)

    return with_barrier
