"""Recurrent layers over whole sequences: one recurrence for each layer and direction, as our own layers have."""

from __future__ import annotations

from typing import Any

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import paddle
from ....ops.neural.recurrent import run_recurrence
from ..registry import reads


def _run(
    kind: str, x: Tensor, firsts: list[Tensor], weights: list[Tensor], has_biases: bool, num_layers: int,
    bidirectional: bool, batch_first: bool,
) -> tuple[Tensor, list[Tensor]]:  # fmt: skip
    """The gates of torch stand in the order of our recurrence."""
    x = paddle.swapaxes(x, 0, 1) if batch_first else x
    directions, each = 2 if bidirectional else 1, 4 if has_biases else 2
    lasts: list[list[Tensor]] = [[] for _ in firsts]
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            number = layer * directions + direction
            own, hidden, *biases = weights[number * each : (number + 1) * each]
            projected = paddle.matmul(x, own, transpose_y=True)
            projected = projected + biases[0] if biases else projected
            state = [first[number] for first in firsts]
            found = run_recurrence(projected, state, hidden, biases[1] if biases else None, None, kind, bool(direction))
            outputs.append(found[0])
            for into, part in zip(lasts, found, strict=True):
                into.append(part[0] if direction else part[-1])
        x = outputs[0] if directions == 1 else paddle.concat(outputs, -1)
    return paddle.swapaxes(x, 0, 1) if batch_first else x, [paddle.stack(parts, 0) for parts in lasts]


@reads("lstm.input")
def lstm(
    x: Tensor, firsts: list[Tensor], weights: list[Tensor], has_biases: bool, num_layers: int, dropout: float,
    train: bool, bidirectional: bool, batch_first: bool,
) -> Any:  # fmt: skip
    if len(weights) != num_layers * (2 if bidirectional else 1) * (4 if has_biases else 2):
        raise NotImplementedError("(lstm) a layer whose states are projected is not here yet.")
    made, (hidden, cell) = _run("LSTM", x, firsts, weights, has_biases, num_layers, bidirectional, batch_first)
    return made, hidden, cell


def _simple(kind: str) -> Any:
    def call(
        x: Tensor, first: Tensor, weights: list[Tensor], has_biases: bool, num_layers: int, dropout: float, train: bool,
        bidirectional: bool, batch_first: bool,
    ) -> Any:  # fmt: skip
        made, (hidden,) = _run(kind, x, [first], weights, has_biases, num_layers, bidirectional, batch_first)
        return made, hidden

    return call


for _name, _kind in (("gru.input", "GRU"), ("rnn_tanh.input", "RNN_TANH"), ("rnn_relu.input", "RNN_RELU")):
    reads(_name)(_simple(_kind))
