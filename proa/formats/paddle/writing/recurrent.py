"""Recurrent layers: Paddle's `rnn` operation, one for each layer and direction.

Ours (proa/ops/neural/recurrent.py) takes the input already multiplied by its weight and gives the states of all steps.
The product in front is recognised and handed to `rnn` as its first weight; where something else stands there, that weight
is the identity. `rnn` gives the last states only, so whoever reads the last step gets those.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ops.neural.recurrent import GATES
from ....ops.shape.slicing import POSITION
from .builder import Builder, Made
from .registry import Call, translates


@translates("recurrence")
def recurrence(b: Builder, c: Call) -> list[Made | None]:
    kind, reverse, has_bias, has_lengths = c.attributes[:4]
    given = iter(c.operands)
    projected, hidden = next(given), next(given)
    cell = next(given) if kind == "LSTM" else None
    weight = next(given)
    bias = next(given) if has_bias else None
    lengths = next(given) if has_lengths else None
    x, weight_in, bias_in = _projection(b, c, projected, GATES[kind] * hidden.sizes[-1])
    if bias is None:
        bias = b.constant(np.zeros(weight.sizes[0], weight.dtype))
    weights, biases = [weight_in, weight], [bias_in, bias]
    both = has_lengths and reverse  # a direction that starts at the end of each sequence exists beside the other only
    if both:
        nothing = [b.constant(np.zeros(part.sizes, part.dtype)) for part in (*weights, *biases)]
        weights, biases = [*nothing[:2], *weights], [*nothing[2:], *biases]
    turned = reverse and not both
    states = [_stacked(b, state, both) for state in (hidden, cell) if state is not None]
    if lengths is not None:
        lengths = b.cast(lengths, "int32")
    attributes = {
        "dropout_prob": 0.0, "is_bidirec": bool(both), "input_size": int(x.sizes[-1]), "hidden_size": int(hidden.sizes[-1]),
        "num_layers": 1, "mode": kind, "seed": 0, "is_test": True,
    }  # fmt: skip
    steps = c.types[0][1]
    width = steps[-1]
    out_type = (c.dtype, (*steps[:-1], 2 * width if both else width))
    dropout_state = b.full((), 0, "uint8")
    inputs = [b.flip(x, [0]) if turned else x, states, [*weights, *biases], lengths, dropout_state]
    unused = (c.dtype, ())
    types = [out_type, unused, [state.type for state in states], unused]
    out, _, last, _ = b.emit_all("rnn", inputs, attributes, *types)
    if both:
        out = b.slice(out, [2], [width], [2 * width])
        last = [b.slice(state, [0], [1], [2]) for state in last]
    if turned:
        out = b.flip(out, [0])
    finals = [b.reshape(state, state.sizes[1:]) for state in last]
    _hand_out(c, finals, 0 if reverse else steps[0] - 1)
    # The cells of every step, and the gates that are kept for a gradient, do not exist there.
    return [out, *[None] * (len(c.types) - 1)]


def _stacked(b: Builder, state: Made, both: bool) -> Made:
    row = b.reshape(state, (1, *state.sizes))
    return b.concat([row, row], 0) if both else row


def _projection(b: Builder, c: Call, projected: Made, width: int) -> tuple[Made, Made, Made]:
    """The input, weight and bias whose product `projected` is; else `projected` itself and the identity."""
    context = c.context
    number = c.instruction.operands[0]
    bias: Made | None = None
    maker = context.maker(number)
    if maker is not None and maker.operation.name == "add" and all(isinstance(o, int) for o in maker.operands):
        candidate = context.value(maker.operands[1])
        if candidate is not None and candidate.sizes == (width,):
            bias, maker = candidate, context.maker(maker.operands[0])
    if maker is not None and maker.operation.name == "matmul" and maker.attributes == (False, True):
        x, weight = (context.value(operand) for operand in maker.operands)
        if x is not None and weight is not None and x.ndim == 3 and weight.ndim == 2:
            return x, weight, bias or b.constant(np.zeros(width, projected.dtype))
    eye = b.constant(np.eye(width, dtype=projected.dtype))
    return projected, eye, b.constant(np.zeros(width, projected.dtype))


def _hand_out(c: Call, finals: list[Made], last: int) -> None:
    """Instructions that read the last step of a result get the last state."""
    for place, state in enumerate(finals):
        for user in c.context.users(c.instruction.index + place):
            if user.operation.name == "getitem" and user.attributes[0] == (POSITION,):
                position: Any = c.context.scalars_of(user)[0] if user.kinds[1] is int else None
                if position == last:
                    c.context.ready[user.index] = [state]
