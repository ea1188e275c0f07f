"""Small models that the tests of distributed training share; nothing in them knows of devices."""

from __future__ import annotations

from typing import Any

import numpy as np

import proa as paddle
from proa import nn
from proa.nn import functional as F

VOCABULARY, LENGTH, WIDTH, HEADS, LAYERS, BATCH = 32, 8, 16, 4, 4, 8
EXPERTS = 4


class Attention(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Any) -> Any:
        batch, length = x.shape[0], x.shape[1]
        qkv = self.qkv(x).reshape([batch, length, HEADS, 3 * WIDTH // HEADS])
        q, k, v = paddle.split(qkv, 3, axis=-1)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.reshape([batch, length, WIDTH]))


class FeedForward(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Any) -> Any:
        return self.down(F.gelu(self.up(x)))


class Experts(nn.Layer):
    """A mixture of experts as plain arithmetic: the experts are the first dimension of two weights."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(WIDTH, EXPERTS)
        self.first = self.create_parameter([EXPERTS, WIDTH, 2 * WIDTH])
        self.second = self.create_parameter([EXPERTS, 2 * WIDTH, WIDTH])

    def forward(self, x: Any) -> Any:
        weight = F.softmax(self.gate(x), axis=-1)
        kept = paddle.where(
            weight >= paddle.topk(weight, 2, axis=-1)[0].min(-1, keepdim=True), weight, paddle.zeros_like(weight)
        )
        hidden = F.gelu(paddle.einsum("bld,edh->eblh", x, self.first))
        return paddle.einsum("eblh,ehd,ble->bld", hidden, self.second, kept)


class Block(nn.Layer):
    def __init__(self, experts: bool) -> None:
        super().__init__()
        self.before = nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.between = nn.LayerNorm(WIDTH)
        self.mlp = Experts() if experts else FeedForward()

    def forward(self, x: Any) -> Any:
        x = x + self.attention(self.before(x))
        return x + self.mlp(self.between(x))


class GPT(nn.Layer):
    def __init__(self, experts: bool = False) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.LayerList([Block(experts) for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids: Any) -> Any:
        x = self.tokens(ids) + self.positions(paddle.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class MLP(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.LayerList([nn.Linear(WIDTH, WIDTH) for _ in range(4)])
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = x + F.relu(block(x))
        return self.head(x)


def batch(step: int, is_text: bool) -> tuple[np.ndarray, np.ndarray]:
    """A batch that has something to learn: the next token is a function of the last."""
    draw = np.random.default_rng(step)
    if is_text:
        ids = draw.integers(0, VOCABULARY, (BATCH, LENGTH))
        return ids, (3 * ids + 1) % VOCABULARY
    x = draw.normal(size=(BATCH, WIDTH)).astype("float32")
    return x, (x[:, :8].argmax(1) * 4) % VOCABULARY


def loss_of(logits: Any, labels: Any) -> Any:
    return F.cross_entropy(logits.reshape([-1, VOCABULARY]), labels.reshape([-1]))
