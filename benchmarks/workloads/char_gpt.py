"""Training a character-level GPT (6 layers, 192 wide, 128 characters, batch 16) with AdamW, as a user writes it:
attention is each framework's own `scaled_dot_product_attention`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workloads.common import NUM_BATCHES, SEED, set_paddle_parameters, set_torch_parameters
from benchmarks.workloads.training import Batches, training_families

NUM_LAYERS = 6
WIDTH = 192
NUM_HEADS = 6
CONTEXT = 128
BATCH = 16
VOCABULARY = 96


def batches() -> Batches:
    """Random characters, and the same shifted by one, in one row."""
    generator = np.random.default_rng(SEED + 4)
    tokens = generator.integers(0, VOCABULARY, (NUM_BATCHES, BATCH, CONTEXT + 1), dtype=np.int64)
    return [(np.ascontiguousarray(t[:, :-1]), np.ascontiguousarray(t[:, 1:]).reshape(-1)) for t in tokens]


def paddle_gpt(paddle: Any) -> Any:
    """The model as Paddle layers."""
    nn, functional = paddle.nn, paddle.nn.functional

    class Block(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.attention_norm = nn.LayerNorm(WIDTH)
            self.query_key_value = nn.Linear(WIDTH, 3 * WIDTH)
            self.output = nn.Linear(WIDTH, WIDTH)
            self.feed_norm = nn.LayerNorm(WIDTH)
            self.widen = nn.Linear(WIDTH, 4 * WIDTH)
            self.narrow = nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape
            parts = self.query_key_value(self.attention_norm(x)).reshape([batch, length, 3, NUM_HEADS, -1])
            query, key, value = paddle.unbind(parts, axis=2)
            mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            x = x + self.output(mixed.reshape([batch, length, WIDTH]))
            return x + self.narrow(functional.gelu(self.widen(self.feed_norm(x))))

    class GPT(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(VOCABULARY, WIDTH)
            self.positions = nn.Embedding(CONTEXT, WIDTH)
            self.blocks = nn.Sequential(*[Block() for _ in range(NUM_LAYERS)])
            self.norm = nn.LayerNorm(WIDTH)
            self.head = nn.Linear(WIDTH, VOCABULARY)

        def forward(self, tokens: Any) -> Any:
            x = self.tokens(tokens) + self.positions(paddle.arange(tokens.shape[1]))
            return self.head(self.norm(self.blocks(x))).reshape([-1, VOCABULARY])

    model = GPT()
    set_paddle_parameters(model)
    return model


def torch_gpt(torch: Any) -> Any:
    """The same in PyTorch, whose attention wants the heads before the time."""
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention_norm = nn.LayerNorm(WIDTH)
            self.query_key_value = nn.Linear(WIDTH, 3 * WIDTH)
            self.output = nn.Linear(WIDTH, WIDTH)
            self.feed_norm = nn.LayerNorm(WIDTH)
            self.widen = nn.Linear(WIDTH, 4 * WIDTH)
            self.narrow = nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape
            parts = self.query_key_value(self.attention_norm(x)).reshape(batch, length, 3, NUM_HEADS, -1)
            query, key, value = [part.transpose(1, 2) for part in parts.unbind(2)]
            mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True).transpose(1, 2)
            x = x + self.output(mixed.reshape(batch, length, WIDTH))
            return x + self.narrow(functional.gelu(self.widen(self.feed_norm(x))))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(VOCABULARY, WIDTH)
            self.positions = nn.Embedding(CONTEXT, WIDTH)
            self.blocks = nn.Sequential(*[Block() for _ in range(NUM_LAYERS)])
            self.norm = nn.LayerNorm(WIDTH)
            self.head = nn.Linear(WIDTH, VOCABULARY)

        def forward(self, tokens: Any) -> Any:
            x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
            return self.head(self.norm(self.blocks(x))).reshape(-1, VOCABULARY)

    model = GPT()
    set_torch_parameters(torch, model)
    return model


FAMILIES = training_families(paddle_gpt, torch_gpt, batches, "AdamW")
