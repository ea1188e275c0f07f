"""Recurrent layers over whole sequences."""

from __future__ import annotations

from typing import Any

from .....eager.tensor import Tensor
from .....ops.neural.recurrent import run_recurrence
from ..functions import F, paddle
from ..registry import reads


@reads("rnn", "rnn_")
def rnn(
    x: Tensor, first_states: Any, weights: Any, lengths: Tensor | None = None, _dropout_state: Any = None, *,
    dropout_prob: float = 0.0, is_bidirec: bool = False, hidden_size: int = 0, num_layers: int = 1, mode: str = "LSTM",
    is_test: bool = True,
) -> Any:  # fmt: skip
    """Time comes first. The weights are those of all layers and directions (input, hidden), then all biases."""
    directions = 2 if is_bidirec else 1
    cells = num_layers * directions
    matrices, biases = weights[: 2 * cells], weights[2 * cells :]
    last: list[list[Tensor]] = [[] for _ in first_states]
    mask = None
    if lengths is not None:
        steps = paddle.arange(0, x._aval.shape[0], 1, "int64").reshape([-1, 1])
        mask = (steps < lengths.astype("int64").reshape([1, -1])).astype(x.dtype).unsqueeze(-1)
    for layer in range(num_layers):
        if layer and dropout_prob and not is_test:
            x = F.dropout(x, dropout_prob)
        outputs: list[Tensor] = []
        for direction in range(directions):
            number = layer * directions + direction
            projected = paddle.matmul(x, matrices[2 * number], transpose_y=True)
            if biases:
                projected = projected + biases[2 * number]
            states = run_recurrence(
                projected, [state[number] for state in first_states], matrices[2 * number + 1],
                biases[2 * number + 1] if biases else None, lengths, mode, bool(direction),
            )  # fmt: skip
            outputs.append(states[0] if mask is None else states[0] * mask)
            for kept, state in zip(last, states, strict=True):
                kept.append(state[0] if direction else state[-1])  # type: ignore[index]
        x = outputs[0] if directions == 1 else paddle.concat(outputs, -1)
    return x, None, [paddle.stack(states, 0) for states in last]


_ACTIVATIONS = {0: "identity", 1: "sigmoid", 2: "tanh", 3: "relu"}


@reads("gru_unit")
def gru_unit(
    x: Tensor, hidden: Tensor, weight: Tensor, bias: Tensor | None = None, *, activation: int = 2, gate_activation: int = 1,
    origin_mode: bool = False,
) -> Any:  # fmt: skip
    """One step of a GRU; x holds the input's part of the three gates."""
    size = hidden._aval.shape[-1]
    x = x if bias is None else x + bias
    gates = _activate(gate_activation, x[:, : 2 * size] + paddle.matmul(hidden, weight[:, : 2 * size]))
    update, reset = gates[:, :size], gates[:, size:]
    reset_hidden = reset * hidden
    candidate = _activate(activation, x[:, 2 * size :] + paddle.matmul(reset_hidden, weight[:, 2 * size :]))
    if origin_mode:
        new = update * hidden + (1 - update) * candidate
    else:
        new = (1 - update) * hidden + update * candidate
    return paddle.concat([gates, candidate], -1), reset_hidden, new


def _activate(number: int, x: Tensor) -> Tensor:
    name = _ACTIVATIONS[number]
    return x if name == "identity" else getattr(F, name)(x)
