"""Whole training steps (forward, backward, clipping, update) with longer inputs than their data: losses, gradients and new
parameters are those of the sizes themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import proa as paddle
from proa import nn
from tests.jit.padding_harness import Padded

F = nn.functional


def step_of(net: nn.Layer, loss_of: Callable[..., Any]) -> Callable[..., Any]:
    """A training step that gives its loss and its gradients; new parameters and statistics are results of its capture."""
    # Not Adam, whose steps are as large for gradients that are nothing but rounding (of the biases of keys).
    optimizer = paddle.optimizer.Momentum(
        1e-2, parameters=net.parameters(), weight_decay=0.1, grad_clip=nn.ClipGradByGlobalNorm(0.5)
    )

    def step(*inputs: Any) -> Any:
        loss = loss_of(*inputs)
        loss.backward()
        gradients = [parameter.grad for parameter in net.parameters()]
        optimizer.step()
        optimizer.clear_grad()
        return loss, gradients

    return step


def captured(step: Callable[..., Any], inputs: list[tuple[str, Any]], examples: dict[str, int]) -> Padded:
    """The step as a capture: the first call makes the optimiser's state."""
    warm = [paddle.to_tensor(Padded.example(kind, shape, examples)) for shape, kind in inputs]
    step(*warm)
    return Padded(step, inputs, examples)


class Block(nn.Layer):
    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        q, k, v = self.qkv(self.before(x)).reshape([batch, length, 3, 2, width // 2]).unbind(2)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).reshape([batch, length, width])
        x = x + self.dropout(self.out(mixed))
        return x + self.dropout(self.down(F.gelu(self.up(self.between(x)))))


class Gpt(nn.Layer):
    """Two blocks; positions are rows of a table, and the last word has nothing to predict."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(20, 8), nn.Embedding(32, 8)
        self.blocks = nn.LayerList([Block(8, dropout), Block(8, dropout)])
        self.norm, self.out = nn.LayerNorm(8), nn.Linear(8, 20)

    def loss(self, words: Any) -> Any:
        x = self.words(words) + self.places.weight[: words.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = self.out(self.norm(x))
        return F.cross_entropy(logits[:, :-1].reshape([-1, 20]), words[:, 1:].reshape([-1]))


def check_language_model(dropout: float, compiled: bool) -> None:
    net = Gpt(dropout)
    step = captured(step_of(net, net.loss), [("bt", 20)], {"b": 2, "t": 7})
    assert (step.padded, step.plan.reasons) == ("bt", [])
    for seed, (batch, length) in enumerate(((2, 7), (3, 11), (4, 2), (1, 13))):
        step.check({"b": batch, "t": length}, {"b": 4, "t": 14}, seed, compiled and seed == 1)
    assert not step.plan.holds_for(dict.fromkeys(step.plan.sizes, 33))  # the table has 32 places


def test_a_language_model_of_any_batch_and_length() -> None:
    check_language_model(0.0, compiled=True)


def test_a_language_model_with_dropout_draws_the_numbers_of_its_own_size() -> None:
    check_language_model(0.3, compiled=False)


def test_a_recurrent_classifier() -> None:
    words = nn.Embedding(20, 6)
    cells = nn.LSTM(6, 5, num_layers=2, direction="bidirect")
    out = nn.Linear(20, 3)
    net = nn.LayerList([words, cells, out])

    def loss_of(x: Any, label: Any) -> Any:
        sequence, (hidden, _) = cells(words(x))
        last = hidden[-2:].transpose([1, 0, 2]).flatten(1)
        return F.cross_entropy(out(paddle.concat([sequence.mean(axis=1), last], axis=-1)), label)

    step = captured(step_of(net, loss_of), [("bt", 20), ("b", 3)], {"b": 3, "t": 6})
    assert (step.padded, step.plan.reasons) == ("bt", [])
    for seed, (batch, length) in enumerate(((3, 6), (2, 9), (5, 1))):
        step.check({"b": batch, "t": length}, {"b": 5, "t": 10}, seed, compiled=seed == 1)


class Residual(nn.Layer):
    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2D(before, after, 3, stride=stride, padding=1, bias_attr=False)
        self.second = nn.Conv2D(after, after, 3, padding=1, bias_attr=False)
        self.norms = nn.LayerList([nn.BatchNorm2D(after), nn.BatchNorm2D(after)])
        self.short = nn.Conv2D(before, after, 1, stride=stride)

    def forward(self, x: Any) -> Any:
        y = F.relu(self.norms[0](self.first(x)))
        return F.relu(self.norms[1](self.second(y)) + self.short(x))


def test_pictures_of_any_size_and_number() -> None:
    net = nn.Sequential(
        nn.Conv2D(3, 4, 5, stride=2, padding=2), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(3, 2, 1), Residual(4, 4, 1),
        nn.AvgPool2D(3, 1, 1), Residual(4, 8, 2), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 3),
    )  # fmt: skip
    step = captured(
        step_of(net, lambda x, label: F.cross_entropy(net(x), label)),
        [("b3hw", "p"), ("b", 3)],
        {"b": 3, "h": 14, "w": 17},
    )
    assert (step.padded, step.plan.reasons) == ("bhw", [])
    for seed, (batch, height, width) in enumerate(((3, 14, 17), (2, 19, 13), (4, 16, 20), (3, 15, 18))):
        step.check(
            {"b": batch, "h": height, "w": width}, {"b": 4, "h": 20, "w": 24}, seed, compiled=seed == 1, tolerance=1e-4
        )


def test_an_encoder_that_masks_what_is_no_word() -> None:
    words = nn.Embedding(20, 8, padding_idx=0)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1), 2)
    out = nn.Linear(8, 4)
    net = nn.LayerList([words, encoder, out])

    def loss_of(x: Any, label: Any) -> Any:
        is_word = (x > 0).astype("float32")
        hidden = encoder(words(x), (1 - is_word).unsqueeze([1, 2]) * -1e9)
        pooled = (hidden * is_word.unsqueeze(-1)).sum(axis=1) / (is_word.sum(axis=1, keepdim=True) + 1e-6)
        return F.cross_entropy(out(pooled), label, label_smoothing=0.1)

    step = captured(step_of(net, loss_of), [("bt", 20), ("b", 4)], {"b": 3, "t": 6})
    assert (step.padded, step.plan.reasons) == ("bt", [])
    for seed, (batch, length) in enumerate(((3, 6), (2, 9), (5, 4))):
        step.check({"b": batch, "t": length}, {"b": 5, "t": 10}, seed, compiled=seed == 1)


def test_sizes_stay_unknown_in_mixed_precision() -> None:
    """Which operands are cast is remembered; an unknown size must not be compared with one that was there before."""
    net = Gpt(0.1)

    def loss_of(words: Any) -> Any:
        with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):
            return net.loss(words)

    step = captured(step_of(net, loss_of), [("bt", 20)], {"b": 2, "t": 7})
    assert [str(guard) for guard in step.graph.assumptions.guards.values() if guard.fixes is not None] == []
    assert (step.padded, step.plan.reasons) == ("bt", [])
    # Products in bfloat16 have 8 bits; a row of them has 32 parts.
    step.check({"b": 3, "t": 9}, {"b": 4, "t": 14}, tolerance=32 * 2.0**-9)
