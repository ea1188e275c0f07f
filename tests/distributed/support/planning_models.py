"""The twelve models that `planning.py` measures: small, and of shapes that want different plans."""

from __future__ import annotations

from typing import Any

import numpy as np

import proa as paddle
from proa import nn
from proa.nn import functional as F


class Block(nn.Layer):
    def __init__(self, width: int, heads: int, experts: int = 0) -> None:
        super().__init__()
        self.width, self.heads, self.experts = width, heads, experts
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        if experts:
            self.gate = nn.Linear(width, experts)
            self.first = self.create_parameter([experts, width, 2 * width])
            self.second = self.create_parameter([experts, 2 * width, width])
        else:
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        qkv = self.qkv(self.before(x)).reshape([batch, length, self.heads, 3 * width // self.heads])
        mixed = F.scaled_dot_product_attention(*paddle.split(qkv, 3, axis=-1), is_causal=True)
        x = x + self.out(mixed.reshape([batch, length, width]))
        inner = self.between(x)
        if not self.experts:
            return x + self.down(F.gelu(self.up(inner)))
        weight = F.softmax(self.gate(inner), axis=-1)
        hidden = F.gelu(paddle.einsum("bld,edh->eblh", inner, self.first))
        return x + paddle.einsum("eblh,ehd,ble->bld", hidden, self.second, weight)


class GPT(nn.Layer):
    def __init__(self, vocabulary: int, width: int, heads: int, layers: int, experts: int = 0) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.blocks = nn.LayerList([Block(width, heads, experts) for _ in range(layers)])
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids: Any) -> Any:
        x = self.tokens(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Pair(nn.Layer):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x: Any) -> Any:
        return x + self.down(F.relu(self.up(x)))


class MLP(nn.Layer):
    def __init__(self, width: int, inner: int, layers: int) -> None:
        super().__init__()
        self.blocks = nn.LayerList([Pair(width, inner) for _ in range(layers)])
        self.head = nn.Linear(width, 16)

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Recommender(nn.Layer):
    """Large tables and little arithmetic."""

    def __init__(self) -> None:
        super().__init__()
        self.users, self.items = nn.Embedding(20000, 32), nn.Embedding(40000, 32)
        self.up, self.down = nn.Linear(64, 64), nn.Linear(64, 16)

    def forward(self, ids: Any) -> Any:
        both = paddle.concat([self.users(ids[:, 0]), self.items(ids[:, 1])], axis=-1)
        return self.down(F.relu(self.up(both)))


class Convolutions(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2D(3, 16, 3, padding=1), nn.Conv2D(16, 32, 3, padding=1, stride=2)
        self.third, self.head = nn.Conv2D(32, 32, 3, padding=1, stride=2), nn.Linear(32, 16)

    def forward(self, x: Any) -> Any:
        x = F.relu(self.third(F.relu(self.second(F.relu(self.first(x))))))
        return self.head(x.mean([2, 3]))


def _vectors(samples: int, width: int) -> Any:
    draw = np.random.default_rng(0)
    return lambda: (draw.normal(size=(samples, width)).astype("float32"), draw.integers(0, 16, (samples,)))


def _tokens(samples: int, length: int, vocabulary: int) -> Any:
    draw = np.random.default_rng(0)
    return lambda: (draw.integers(0, vocabulary, (samples, length)), draw.integers(0, vocabulary, (samples, length)))


def _pairs() -> tuple[Any, Any]:
    draw = np.random.default_rng(0)
    return draw.integers(0, 20000, (256, 2)), draw.integers(0, 16, (256,))


def _pictures() -> tuple[Any, Any]:
    draw = np.random.default_rng(0)
    return draw.normal(size=(32, 3, 16, 16)).astype("float32"), draw.integers(0, 16, (32,))


def _loss(logits: Any, labels: Any) -> Any:
    return F.cross_entropy(logits.reshape([-1, logits.shape[-1]]), labels.reshape([-1]))


MODELS: dict[str, tuple[Any, Any, Any]] = {
    "mlp": (lambda: MLP(64, 128, 4), _vectors(512, 64), _loss),
    "mlp-wide": (lambda: MLP(256, 2048, 2), _vectors(16, 256), _loss),
    "mlp-deep": (lambda: MLP(64, 64, 12), _vectors(128, 64), _loss),
    "mlp-batch": (lambda: MLP(32, 64, 2), _vectors(4096, 32), _loss),
    "gpt": (lambda: GPT(64, 32, 8, 4), _tokens(16, 32, 64), _loss),
    "gpt-wide": (lambda: GPT(64, 256, 8, 2), _tokens(8, 16, 64), _loss),
    "gpt-long": (lambda: GPT(64, 32, 8, 2), _tokens(8, 256, 64), _loss),
    "gpt-deep": (lambda: GPT(64, 32, 8, 8), _tokens(16, 16, 64), _loss),
    "gpt-words": (lambda: GPT(8192, 64, 8, 2), _tokens(8, 16, 8192), _loss),
    "moe": (lambda: GPT(64, 64, 8, 2, experts=8), _tokens(8, 32, 64), _loss),
    "recommender": (Recommender, _pairs, _loss),
    "convolutions": (Convolutions, _pictures, _loss),
}
