"""Recurrent layers over a whole sequence by native code, for the op table's CPU backend.

Native code walks the steps: the recurrent product, the gates and the states, and backwards their gradients. The products
that concern all steps at once (the gates again, and the gradient of the weight) are ordinary native products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import library
from .choice import chosen, enough
from .products import multiply

_KINDS = {"LSTM": 0, "GRU": 1, "RNN_TANH": 2, "RNN_RELU": 3}
# Fewer multiplications than this in all steps are left to XLA's loop.
_WORTHWHILE = 20_000


def _suits(symbol: str, arrays: Sequence[Any], has_lengths: bool, position: int) -> bool:
    """Whether native code should do it; `position` is that of the lengths, if there are any."""
    floats = [a for i, a in enumerate(arrays) if not (has_lengths and i == position)]
    if any(a.dtype != np.float32 or not a.size for a in floats):
        return False
    steps, batch, width = arrays[0].shape
    hidden = arrays[1].shape[-1]
    if hidden < 4 or not enough(steps * batch * width * hidden, _WORTHWHILE):
        return False
    return library.target(symbol) is not None and library.target("Product") is not None


def _lengths(xp: Any, arrays: Sequence[Any], has_lengths: bool, position: int) -> Any:
    return arrays[position].astype(np.int32) if has_lengths else xp.zeros(0, np.int32)


@chosen
def native_recurrence(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `recurrence`."""

    def kernel(
        xp: Any, arrays: Sequence[Any], kind: str, reverse: bool, has_bias: bool, has_lengths: bool, keep: bool
    ) -> Any:
        is_lstm = kind == "LSTM"
        count = 3 + is_lstm + has_bias  # operands before the lengths
        if not _suits("Recurrence", arrays, has_lengths, count):
            return fallback(xp, arrays, kind, reverse, has_bias, has_lengths, keep)
        states = (arrays[0].shape[0], *arrays[1].shape)
        projected = _rows(arrays[0])
        shapes = [*[states] * (1 + is_lstm), *[projected.shape] * keep]
        found = library.call(
            "Recurrence", tuple(map(library.shaped, shapes)), projected, _lengths(xp, arrays, has_lengths, count),
            *arrays[1:count], over={0: 2} if keep else {}, kind=np.int64(_KINDS[kind]), batch=np.int64(states[1]),
            reverse=bool(reverse), has_bias=bool(has_bias), keep=bool(keep),
        )  # fmt: skip
        return (*found[:-1], found[-1].reshape(arrays[0].shape)) if keep else tuple(found)

    return kernel


def _rows(sequence: Any) -> Any:
    """A row for each step and member of the batch. XLA copies what it finds reshaped before it lets a call write over it,
    and the product that it comes from gives rows."""
    return sequence.reshape(-1, sequence.shape[-1])


def _before(xp: Any, first: Any, sequence: Any, reverse: bool) -> Any:
    """The state that each step started from, one row for each step and each member of the batch."""
    parts = [sequence[1:], first[None]] if reverse else [first[None], sequence[:-1]]
    return xp.concatenate(parts).reshape(-1, first.shape[-1])


@chosen
def native_recurrence_grad(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `recurrence_grad`."""

    def kernel(
        xp: Any, arrays: Sequence[Any], kind: str, reverse: bool, has_bias: bool, has_lengths: bool, keep: bool
    ) -> Any:
        is_lstm = kind == "LSTM"
        count = 3 + is_lstm + has_bias
        if not _suits("RecurrenceGrad", arrays, has_lengths, count):
            return fallback(xp, arrays, kind, reverse, has_bias, has_lengths, keep)
        projected, hidden, weight = arrays[0], arrays[1], arrays[2 + is_lstm]
        bias = arrays[count - 1] if has_bias else None
        rest = arrays[count + has_lengths :]
        rows = _rows(projected)
        if keep:  # the gates stand in the place of the projected input
            recurrent = []
        elif kind in ("LSTM", "GRU"):
            recurrent = [multiply(_before(xp, hidden, rest[0], reverse), weight, False, True, bias, smallest=0)]
        else:  # simple layers need nothing but their states
            recurrent = [rows]
        outputs = [rows.shape, *[hidden.shape] * (1 + is_lstm), weight.shape[:1]]
        if kind == "GRU":
            outputs.append(rows.shape)
        found = library.call(
            "RecurrenceGrad", tuple(map(library.shaped, outputs)), rows, _lengths(xp, arrays, has_lengths, count),
            *recurrent, *arrays[1 : 2 + is_lstm], weight, *rest, over={0: 0} if kind in ("LSTM", "GRU") else {},
            kind=np.int64(_KINDS[kind]), batch=np.int64(hidden.shape[0]), reverse=bool(reverse), kept=bool(keep),
        )  # fmt: skip
        d_projected, *d_states, d_bias = found[: 3 + is_lstm]
        d_gates = found[-1] if kind == "GRU" else d_projected
        # Apart, so that XLA leaves it out where nobody wants it.
        d_weight = library.call(
            "RecurrenceWeightGrad", library.shaped(weight.shape), d_gates, hidden, rest[0], reverse=bool(reverse)
        )
        return (d_projected.reshape(projected.shape), *d_states, d_weight, *([d_bias] if has_bias else []))

    return kernel
