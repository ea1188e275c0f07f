"""Training a GPT with AdamW as a user writes it: attention is each framework's own `scaled_dot_product_attention`.

Without options it is a small one over characters; with other sizes it has GPT-2's shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.workloads.common import NUM_BATCHES, SEED, set_paddle_parameters, set_torch_parameters
from benchmarks.workloads.training import Batches, training_families


@dataclass(frozen=True)
class Sizes:
    """The model's and the batch's measures."""

    num_layers: int = 6
    width: int = 192
    num_heads: int = 6
    num_tokens: int = 128
    batch: int = 16
    vocabulary: int = 96


def batches(**sizes: int) -> Batches:
    """Random tokens, and the same shifted by one, in one row."""
    s = Sizes(**sizes)
    generator = np.random.default_rng(SEED + 4)
    tokens = generator.integers(0, s.vocabulary, (NUM_BATCHES, s.batch, s.num_tokens + 1), dtype=np.int64)
    return [(np.ascontiguousarray(t[:, :-1]), np.ascontiguousarray(t[:, 1:]).reshape(-1)) for t in tokens]


def paddle_gpt(paddle: Any, **sizes: int) -> Any:
    """The model as Paddle layers."""
    s = Sizes(**sizes)
    nn, functional = paddle.nn, paddle.nn.functional

    class Block(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.attention_norm = nn.LayerNorm(s.width)
            self.query_key_value = nn.Linear(s.width, 3 * s.width)
            self.output = nn.Linear(s.width, s.width)
            self.feed_norm = nn.LayerNorm(s.width)
            self.widen = nn.Linear(s.width, 4 * s.width)
            self.narrow = nn.Linear(4 * s.width, s.width)

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape
            parts = self.query_key_value(self.attention_norm(x)).reshape([batch, length, 3, s.num_heads, -1])
            query, key, value = paddle.unbind(parts, axis=2)
            mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            x = x + self.output(mixed.reshape([batch, length, s.width]))
            return x + self.narrow(functional.gelu(self.widen(self.feed_norm(x))))

    class GPT(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(s.vocabulary, s.width)
            self.positions = nn.Embedding(s.num_tokens, s.width)
            self.blocks = nn.Sequential(*[Block() for _ in range(s.num_layers)])
            self.norm = nn.LayerNorm(s.width)
            self.head = nn.Linear(s.width, s.vocabulary)

        def forward(self, tokens: Any) -> Any:
            x = self.tokens(tokens) + self.positions(paddle.arange(tokens.shape[1]))
            return self.head(self.norm(self.blocks(x))).reshape([-1, s.vocabulary])

    model = GPT()
    set_paddle_parameters(model)
    return model


def torch_gpt(torch: Any, **sizes: int) -> Any:
    """The same in PyTorch, whose attention wants the heads before the time."""
    s = Sizes(**sizes)
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention_norm = nn.LayerNorm(s.width)
            self.query_key_value = nn.Linear(s.width, 3 * s.width)
            self.output = nn.Linear(s.width, s.width)
            self.feed_norm = nn.LayerNorm(s.width)
            self.widen = nn.Linear(s.width, 4 * s.width)
            self.narrow = nn.Linear(4 * s.width, s.width)

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape
            parts = self.query_key_value(self.attention_norm(x)).reshape(batch, length, 3, s.num_heads, -1)
            query, key, value = [part.transpose(1, 2) for part in parts.unbind(2)]
            mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True).transpose(1, 2)
            x = x + self.output(mixed.reshape(batch, length, s.width))
            return x + self.narrow(functional.gelu(self.widen(self.feed_norm(x))))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(s.vocabulary, s.width)
            self.positions = nn.Embedding(s.num_tokens, s.width)
            self.blocks = nn.Sequential(*[Block() for _ in range(s.num_layers)])
            self.norm = nn.LayerNorm(s.width)
            self.head = nn.Linear(s.width, s.vocabulary)

        def forward(self, tokens: Any) -> Any:
            x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
            return self.head(self.norm(self.blocks(x))).reshape(-1, s.vocabulary)

    model = GPT()
    set_torch_parameters(torch, model)
    return model


def jax_gpt(jax: Any, num_steps: int = 10, **sizes: int) -> Any:
    """The hand-written JAX version of the same model."""
    from dataclasses import asdict

    from benchmarks.workloads.in_jax.transformer import JaxTransformer

    return JaxTransformer(jax, batches=batches(**sizes), decay=0.01, num_steps=num_steps, **asdict(Sizes(**sizes)))


FAMILIES = {**training_families(paddle_gpt, torch_gpt, batches, "AdamW"), "jax": jax_gpt}
