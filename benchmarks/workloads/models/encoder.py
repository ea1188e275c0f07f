"""Training a transformer encoder (768 wide, 12 heads) that gives each token a label, with AdamW.

The Paddle family uses `nn.TransformerEncoder`; PyTorch's version is the same arithmetic around its own
`scaled_dot_product_attention`, which is quicker there than `nn.TransformerEncoder`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workloads.common import NUM_BATCHES, SEED, set_paddle_parameters, set_torch_parameters
from benchmarks.workloads.training import Batches, training_families

WIDTH = 768
NUM_HEADS = 12
NUM_LABELS = 32


def batches(batch: int = 8, num_tokens: int = 128, **sizes: int) -> Batches:
    """Random vectors [batch, tokens, width], and a label for each of them, in one row."""
    generator = np.random.default_rng(SEED + 5)
    return [
        (
            generator.standard_normal((batch, num_tokens, WIDTH), dtype=np.float32),
            generator.integers(0, NUM_LABELS, batch * num_tokens, dtype=np.int64),
        )
        for _ in range(NUM_BATCHES)
    ]


def paddle_encoder(paddle: Any, num_layers: int = 4, **sizes: int) -> Any:
    """The encoder and a linear layer."""
    nn = paddle.nn

    class Tagger(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            layer = nn.TransformerEncoderLayer(WIDTH, NUM_HEADS, 4 * WIDTH, dropout=0.0, activation="gelu")
            self.encoder = nn.TransformerEncoder(layer, num_layers)
            self.head = nn.Linear(WIDTH, NUM_LABELS)

        def forward(self, x: Any) -> Any:
            return paddle.reshape(self.head(self.encoder(x)), [-1, NUM_LABELS])

    model = Tagger()
    set_paddle_parameters(model)
    return model


def torch_encoder(torch: Any, num_layers: int = 4, **sizes: int) -> Any:
    """The same in PyTorch."""
    nn, functional = torch.nn, torch.nn.functional

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.query, self.key, self.value, self.output = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
            self.widen, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
            self.first_norm, self.second_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

        def forward(self, x: Any) -> Any:
            by_head = (x.shape[0], x.shape[1], NUM_HEADS, WIDTH // NUM_HEADS)
            parts = [part(x).reshape(by_head).transpose(1, 2) for part in (self.query, self.key, self.value)]
            mixed = functional.scaled_dot_product_attention(*parts).transpose(1, 2).reshape(x.shape)
            x = self.first_norm(x + self.output(mixed))
            return self.second_norm(x + self.narrow(functional.gelu(self.widen(x))))

    class Tagger(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.Sequential(*[Layer() for _ in range(num_layers)])
            self.head = nn.Linear(WIDTH, NUM_LABELS)

        def forward(self, x: Any) -> Any:
            return self.head(self.encoder(x)).reshape(-1, NUM_LABELS)

    model = Tagger()
    set_torch_parameters(torch, model)
    return model


def jax_encoder(jax: Any, num_steps: int = 1, num_layers: int = 4, **sizes: int) -> Any:
    """The hand-written JAX version, kept in its own file."""
    from benchmarks.workloads.in_jax.encoder import JaxEncoder

    return JaxEncoder(jax, batches(**sizes), num_layers, num_steps)


FAMILIES = {**training_families(paddle_encoder, torch_encoder, batches, "AdamW"), "jax": jax_encoder}
