"""Random recurrent layers and both directions of them, shared by the tests and the long random run."""

from __future__ import annotations

from typing import Any

import numpy as np

from proa.ops.neural import recurrent
from tests.kernels.cases.references import draw, some_size

FORWARD, BACKWARD = recurrent.recurrence.operation, recurrent.recurrence_grad.operation
KINDS = sorted(recurrent.GATES)


def recurrence_case(
    generator: np.random.Generator, kind: str, sizes: tuple[int, int, int] | None = None
) -> tuple[list[np.ndarray], tuple[Any, ...]]:
    """Operands of `recurrence` (time, batch and hidden units of random size unless they are given)."""
    if sizes is None:
        steps, batch = int(generator.integers(1, 9)), some_size(generator, 40)
        hidden = max(4, some_size(generator, 90))
    else:
        steps, batch, hidden = sizes
    gates = recurrent.GATES[kind]
    reverse, has_bias, has_lengths, keeps = (bool(b) for b in generator.integers(0, 2, 4))
    arrays = [draw(generator, steps, batch, gates * hidden), draw(generator, batch, hidden)]
    if kind == "LSTM":
        arrays.append(draw(generator, batch, hidden))
    arrays.append(draw(generator, gates * hidden, hidden) / np.float32(np.sqrt(hidden)))
    if has_bias:
        arrays.append(draw(generator, gates * hidden))
    if has_lengths:
        arrays.append(generator.integers(0, steps + 1, batch))
    return arrays, (kind, reverse, has_bias, has_lengths, keeps and kind == "LSTM")


def wide(arrays: list[Any]) -> list[Any]:
    return [a.astype(np.float64) if a.dtype == np.float32 else a for a in arrays]


def both(xp: Any, arrays: tuple[Any, ...], grads: int, native: bool, attributes: tuple[Any, ...]) -> Any:
    """States, and the gradients of everything from those of the states (the last operands)."""
    forward, backward = (op.kernels["cpu"] if native else op.kernel for op in (FORWARD, BACKWARD))
    operands, seeds = list(arrays[:-grads]), list(arrays[-grads:])
    states = forward(xp, operands, *attributes)
    kept = ()
    if attributes[-1]:  # the gates take the place of the input
        *states, gates = states
        # A step that a sequence no longer has leaves nothing of its gates; what stands there is not used.
        operands, kept = [gates, *operands[1:]], () if attributes[3] else (gates,)
    return (*states, *kept, *backward(xp, [*operands, *states, *seeds], *attributes))
