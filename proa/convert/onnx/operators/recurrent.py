"""Recurrent layers.

Layers with the usual activations run as one recurrence, as our own do; the others step by step.
"""

from __future__ import annotations

from typing import Any

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import F, paddle
from ....ops.neural.recurrent import run_recurrence
from ..registry import reads
from .activation import hard_sigmoid, leaky_relu, thresholded_relu

_USUAL = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
# Gates in the order of our recurrence, by their place in ONNX's (LSTM: input, output, forget, cell; GRU: update, reset).
_ORDER = {"LSTM": [0, 2, 3, 1], "GRU": [1, 0, 2], "RNN": [0]}
_KIND = {"LSTM": "LSTM", "GRU": "GRU", "RNN": "RNN_TANH"}


@reads("LSTM", "GRU", "RNN", translates_blocks=True)
def recurrent(translation: Any, op: Any, inputs: list[Any]) -> Any:
    tensors = [None if value is None else translation.tensor(value) for value in inputs]
    tensors += [None] * (8 - len(tensors))
    x, weights, recurrence, biases, lengths = tensors[:5]
    given, kind = op.attributes, op.name
    by_batch = bool(given.get("layout", 0))
    directions = 2 if given.get("direction", "forward") == "bidirectional" else 1
    firsts = tensors[5:7] if kind == "LSTM" else tensors[5:6]
    if by_batch:
        x = paddle.transpose(x, [1, 0, 2])
        firsts = [None if first is None else paddle.transpose(first, [1, 0, 2]) for first in firsts]
    size = recurrence._aval.shape[-1]
    outputs, lasts = [], []
    for number in range(directions):
        batch = x._aval.shape[1]
        state = [paddle.zeros([batch, size], x.dtype) if first is None else first[number] for first in firsts]
        direction = _Direction(kind, given, number, weights[number], recurrence[number], lengths, size)
        direction.biases = None if biases is None else biases[number]
        direction.peepholes = None if tensors[7] is None else tensors[7][number]
        output, last = direction.run(x, state)
        outputs.append(output)
        lasts.append(last)
    made = paddle.stack(outputs, 1)  # time, directions, batch, size
    ends = [paddle.stack([last[part] for last in lasts], 0) for part in range(len(firsts))]
    if by_batch:
        made = paddle.transpose(made, [2, 0, 1, 3])
        ends = [paddle.transpose(end, [1, 0, 2]) for end in ends]
    return (made, *ends)


class _Direction:
    """One direction of a layer."""

    biases: Tensor | None
    peepholes: Tensor | None

    def __init__(
        self, kind: str, given: dict[str, Any], number: int, weight: Tensor, recurrence: Tensor, lengths: Tensor | None,
        size: int,
    ) -> None:  # fmt: skip
        self.kind, self.given, self.size, self.lengths = kind, given, size, lengths
        self.weight, self.recurrence = weight, recurrence
        usual = _USUAL[kind]
        names = given.get("activations") or usual * 2
        self.activations = names[number * len(usual) : (number + 1) * len(usual)]
        self.reverse = bool(number) or given.get("direction") == "reverse"
        self.alphas = list(given.get("activation_alpha") or ())
        self.betas = list(given.get("activation_beta") or ())

    def run(self, x: Tensor, state: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        usual = [name.lower() for name in self.activations] == [name.lower() for name in _USUAL[self.kind]]
        plain = usual and self.peepholes is None and not self.given.get("clip") and not self.given.get("input_forget")
        if self.kind == "GRU":
            plain = plain and bool(self.given.get("linear_before_reset", 0))
        return self._whole(x, state) if plain else self._by_steps(x, state)

    def _ordered(self, weight: Tensor) -> Tensor:
        parts = paddle.split(weight, len(_ORDER[self.kind]), 0) if self.kind != "RNN" else [weight]
        return paddle.concat([parts[place] for place in _ORDER[self.kind]], 0)

    def _whole(self, x: Tensor, state: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        projected = paddle.matmul(x, self._ordered(self.weight), transpose_y=True)
        hidden_bias = None
        if self.biases is not None:
            own, hidden_bias = (self._ordered(part) for part in paddle.split(self.biases, 2, 0))
            projected = projected + own
        lengths = None if self.lengths is None else self.lengths.astype("int64")
        found = run_recurrence(
            projected, state, self._ordered(self.recurrence), hidden_bias, lengths, _KIND[self.kind], self.reverse
        )
        output = found[0]
        if self.lengths is not None:
            output = output * self._mask(x).astype(output.dtype)
        return output, [part[0] if self.reverse else part[-1] for part in found]

    def _mask(self, x: Tensor) -> Tensor:
        steps = paddle.arange(x._aval.shape[0], dtype="int64").reshape([-1, 1])
        return (steps < self.lengths.astype("int64").reshape([1, -1])).unsqueeze(-1)  # type: ignore[union-attr]

    def _by_steps(self, x: Tensor, state: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        length = x._aval.shape[0]
        mask = None if self.lengths is None else self._mask(x)
        outputs: list[Any] = [None] * length
        for step in range(length)[:: -1 if self.reverse else 1]:
            new = getattr(self, f"_{self.kind.lower()}")(x[step], state)
            if mask is not None:
                new = [paddle.where(mask[step], after, before) for after, before in zip(new, state, strict=True)]
                outputs[step] = paddle.where(mask[step], new[0], paddle.zeros_like(new[0]))
            else:
                outputs[step] = new[0]
            state = new
        return paddle.stack(outputs, 0), state

    def _activate(self, place: int, x: Tensor) -> Tensor:
        name = self.activations[place].lower()
        alpha = {"alpha": self.alphas[place]} if place < len(self.alphas) else {}
        beta = {"beta": self.betas[place]} if place < len(self.betas) else {}
        if name in ("sigmoid", "tanh", "relu", "softsign", "softplus"):
            return getattr(F, name)(x)
        if name in ("leakyrelu", "thresholdedrelu", "elu"):
            chosen = {"leakyrelu": leaky_relu, "thresholdedrelu": thresholded_relu}.get(name, F.elu)
            return chosen(x, **alpha)
        if name == "hardsigmoid":
            return hard_sigmoid(x, **alpha, **beta)
        if name == "affine":
            return alpha.get("alpha", 1.0) * x + beta.get("beta", 0.0)
        if name == "scaledtanh":
            return alpha.get("alpha", 1.0) * paddle.tanh(beta.get("beta", 1.0) * x)
        raise NotImplementedError(f"(onnx) there is no activation {self.activations[place]!r} for a recurrent layer.")

    def _clipped(self, x: Tensor) -> Tensor:
        limit = self.given.get("clip")
        return x if not limit else paddle.clip(x, -limit, limit)

    def _parts(self, count: int) -> tuple[list[Any], list[Any]]:
        """Biases of the input's and of the state's part, gate by gate."""
        if self.biases is None:
            return [0.0] * count, [0.0] * count
        parts = paddle.split(self.biases, 2 * count, 0)
        return list(parts[:count]), list(parts[count:])

    def _rnn(self, x: Tensor, state: list[Tensor]) -> list[Tensor]:
        own, hidden = (0.0, 0.0) if self.biases is None else paddle.split(self.biases, 2, 0)
        total = paddle.matmul(x, self.weight, transpose_y=True) + own
        total = total + paddle.matmul(state[0], self.recurrence, transpose_y=True) + hidden
        return [self._activate(0, self._clipped(total))]

    def _gru(self, x: Tensor, state: list[Tensor]) -> list[Tensor]:
        hidden = state[0]
        own, inner = self._parts(3)
        w, r = paddle.split(self.weight, 3, 0), paddle.split(self.recurrence, 3, 0)

        def gate(place: int) -> Tensor:
            total = paddle.matmul(x, w[place], transpose_y=True) + paddle.matmul(hidden, r[place], transpose_y=True)
            return self._activate(0, self._clipped(total + own[place] + inner[place]))

        update, reset = gate(0), gate(1)
        if self.given.get("linear_before_reset", 0):
            remembered = reset * (paddle.matmul(hidden, r[2], transpose_y=True) + inner[2])
        else:
            remembered = paddle.matmul(reset * hidden, r[2], transpose_y=True) + inner[2]
        new = self._activate(1, self._clipped(paddle.matmul(x, w[2], transpose_y=True) + own[2] + remembered))
        return [(1 - update) * new + update * hidden]

    def _lstm(self, x: Tensor, state: list[Tensor]) -> list[Tensor]:
        hidden, cell = state
        own, inner = self._parts(4)
        w, r = paddle.split(self.weight, 4, 0), paddle.split(self.recurrence, 4, 0)
        looks = [0.0] * 3 if self.peepholes is None else paddle.split(self.peepholes, 3, 0)

        def total(place: int) -> Tensor:
            made = paddle.matmul(x, w[place], transpose_y=True) + paddle.matmul(hidden, r[place], transpose_y=True)
            return made + own[place] + inner[place]

        put = self._activate(0, self._clipped(total(0) + looks[0] * cell))
        keep = (
            1 - put if self.given.get("input_forget") else self._activate(0, self._clipped(total(2) + looks[2] * cell))
        )
        cell = keep * cell + put * self._activate(1, self._clipped(total(3)))
        show = self._activate(0, self._clipped(total(1) + looks[1] * cell))
        return [show * self._activate(2, cell), cell]
