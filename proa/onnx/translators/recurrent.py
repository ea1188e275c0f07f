"""Recurrent layers: ONNX's LSTM, GRU and RNN, one for each layer and direction.

Ours (`ops/neural/recurrent.py`) takes the input already multiplied by its weight and gives the states of all steps. The
product in front is recognised and handed over as the first weight; where something else stands there, that weight is the
identity. Of an LSTM's cells ONNX gives the last only, so whoever reads the last step gets that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops.neural.recurrent import GATES
from ...ops.shape.slicing import POSITION
from ..builder import Builder, Made
from ..registry import Call, translates
from .creation import counted

# Where ONNX's gates stand among ours: it has input, output, forget, cell and update, reset, hidden.
_ORDER = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN_TANH": (0,), "RNN_RELU": (0,)}
_CELLS = "the cells of every step of an LSTM, of which ONNX gives the last only"
_GATES = "the gates of a recurrent layer, which are kept for a gradient"


@translates("recurrence")
def recurrence(b: Builder, c: Call) -> list[Made | None]:
    kind, reverse, has_bias, has_lengths, _ = c.attributes
    given = iter(c.operands)
    projected, hidden = next(given), next(given)
    cell = next(given) if kind == "LSTM" else None
    weight = next(given)
    bias = next(given) if has_bias else None
    lengths = next(given) if has_lengths else None
    width = GATES[kind] * hidden.sizes[-1]
    x, weight_in, bias_in = _projection(b, c, projected, width)
    nothing = b.constant(np.zeros(width), projected.dtype)
    biases = b.concat([_ordered(b, part or nothing, kind) for part in (bias_in, bias)], 0)
    inputs = [
        x, _stacked(b, _ordered(b, weight_in, kind)), _stacked(b, _ordered(b, weight, kind)), _stacked(b, biases),
        None if lengths is None else b.cast(lengths, "int32"), _stacked(b, hidden),
        None if cell is None else _stacked(b, cell),
    ]  # fmt: skip
    steps, batch, size = c.types[0][1]
    attributes: dict[str, Any] = {"hidden_size": int(size), "direction": "reverse" if reverse else "forward"}
    if kind == "GRU":
        attributes["linear_before_reset"] = 1
    if kind.startswith("RNN"):
        attributes["activations"] = ["Tanh" if kind == "RNN_TANH" else "Relu"]
    types = [(c.dtype, (steps, 1, batch, size)), (c.dtype, (1, batch, size))]
    if cell is not None:
        types.append(types[1])
    else:
        inputs.pop()
    states, *lasts = b.emit_all(kind.partition("_")[0], inputs, types, **attributes)
    states = b.reshape(states, (steps, batch, size))
    finals = [b.reshape(last, (batch, size)) for last in lasts]
    if lengths is not None:
        states = _held(b, states, lengths, hidden if reverse else finals[0])
    _hand_out(c, finals, 0 if reverse else steps - 1)
    for place in range(1, len(c.types)):
        is_cell = cell is not None and place == 1
        c.context.missing[c.instruction.index + place] = _CELLS if is_cell else _GATES
    return [states, *[None] * (len(c.types) - 1)]


def _ordered(b: Builder, x: Made, kind: str) -> Made:
    """Rows of gates in ONNX's order."""
    order = _ORDER[kind]
    if order == tuple(range(len(order))):
        return x
    size = x.sizes[0] // len(order)
    if x.array is not None:
        parts = np.split(x.array, len(order))
        return b.constant(np.concatenate([parts[place] for place in order]))
    parts = b.split(x, [size] * len(order), 0)
    return b.concat([parts[place] for place in order], 0)


def _stacked(b: Builder, x: Made) -> Made:
    return b.reshape(x, (1, *x.sizes))


def _held(b: Builder, states: Made, lengths: Made, outside: Made) -> Made:
    """Behind the end of a sequence ONNX gives zeros; we give the state that was there last."""
    steps = states.sizes[0]
    numbers = b.reshape(counted(b, steps), (steps, 1, 1))
    limits = b.reshape(b.cast(lengths, "int64"), (1, lengths.sizes[0], 1))
    return b.where(b.binary("Less", numbers, limits, "bool"), states, outside)


def _projection(b: Builder, c: Call, projected: Made, width: int) -> tuple[Made, Made, Made | None]:
    """The input, weight and bias whose product `projected` is; else `projected` itself and the identity."""
    context = c.context
    maker = context.maker(c.instruction.operands[0])
    bias: Made | None = None
    if maker is not None and maker.operation.name == "linear":
        x, weight, bias = (context.value(operand) for operand in maker.operands)
        if x is not None and weight is not None and x.ndim == 3 and weight.ndim == 2:
            return x, b.transpose(weight, (1, 0)), bias
    if maker is not None and maker.operation.name == "add" and all(isinstance(o, int) for o in maker.operands):
        candidate = context.value(maker.operands[1])
        if candidate is not None and candidate.sizes == (width,):
            bias, maker = candidate, context.maker(maker.operands[0])
    if maker is not None and maker.operation.name == "matmul" and not maker.attributes[0]:
        x, weight = (context.value(operand) for operand in maker.operands)
        if x is not None and weight is not None and x.ndim == 3 and weight.ndim == 2:
            return x, weight if maker.attributes[1] else b.transpose(weight, (1, 0)), bias
    return projected, b.constant(np.eye(width), projected.dtype), None


def _hand_out(c: Call, finals: Sequence[Made], last: int) -> None:
    """Instructions that read the last step of a result get the last state."""
    for place, state in enumerate(finals):
        for user in c.context.users(c.instruction.index + place):
            reads_a_step = (
                user.operation.name == "getitem" and user.attributes[0] == (POSITION,) and user.kinds[1] is int
            )
            if reads_a_step and c.context.scalars_of(user)[0] == last:
                c.context.ready[user.index] = [state]
