"""Training a GPT-shaped language model written from plain layers and matrix products.

Small on the CPU (2 layers, 128 wide), larger and in bfloat16 on a GPU (see benchmarks/gpu.py).
Shapes in comments: B batch, T tokens, H heads, D width of one head.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np

from benchmarks.workloads.common import (
    NUM_BATCHES,
    SEED,
    set_paddle_parameters,
    set_torch_parameters,
)

LEARNING_RATE = 1e-3
# Low enough that softmax gives zero, and still a finite number in bfloat16.
MASKED = -1e9


@dataclass(frozen=True)
class Sizes:
    """The model's and the batch's measures, and how it is run."""

    num_layers: int = 2
    width: int = 128
    num_heads: int = 4
    num_tokens: int = 64
    batch: int = 8
    vocabulary: int = 256
    num_steps: int = 10
    dtype: str = "float32"
    device: str | None = None
    fused_attention: bool = False

    @property
    def head_width(self) -> int:
        return self.width // self.num_heads


def token_batches(sizes: Sizes) -> list[tuple[np.ndarray, np.ndarray]]:
    """Random tokens, and the same tokens shifted by one as what is to be predicted."""
    generator = np.random.default_rng(SEED + 2)
    batches = []
    for _ in range(NUM_BATCHES):
        tokens = generator.integers(0, sizes.vocabulary, (sizes.batch, sizes.num_tokens + 1))
        inputs = np.ascontiguousarray(tokens[:, :-1])
        batches.append((inputs, np.ascontiguousarray(tokens[:, 1:]).reshape(-1)))
    return batches


def causal_mask(sizes: Sizes) -> np.ndarray:
    """Zero where a token may look, `MASKED` where it may not."""
    full = np.full((sizes.num_tokens, sizes.num_tokens), MASKED, np.float32)
    return np.triu(full, k=1)


def paddle_transformer(paddle: Any, sizes: Sizes) -> Any:
    """The model as Paddle layers."""
    nn, functional = paddle.nn, paddle.nn.functional

    class Attention(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.query_key_value = nn.Linear(sizes.width, 3 * sizes.width)
            self.output = nn.Linear(sizes.width, sizes.width)

        def forward(self, x: Any, mask: Any) -> Any:
            batch, num_tokens, width = x.shape
            by_head = [batch, num_tokens, sizes.num_heads, sizes.head_width]
            parts = [paddle.reshape(part, by_head) for part in paddle.split(self.query_key_value(x), 3, axis=-1)]
            if sizes.fused_attention:
                mixed = functional.scaled_dot_product_attention(*parts, is_causal=True)
                return self.output(paddle.reshape(mixed, [batch, num_tokens, width]))
            query, key, value = [paddle.transpose(part, [0, 2, 1, 3]) for part in parts]  # BHTD
            scores = paddle.matmul(query, key, transpose_y=True) * sizes.head_width**-0.5 + mask
            mixed = paddle.matmul(functional.softmax(scores, axis=-1), value)
            mixed = paddle.transpose(mixed, [0, 2, 1, 3])
            return self.output(paddle.reshape(mixed, [batch, num_tokens, width]))

    class Block(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.attention_norm = nn.LayerNorm(sizes.width)
            self.attention = Attention()
            self.feed_norm = nn.LayerNorm(sizes.width)
            self.widen = nn.Linear(sizes.width, 4 * sizes.width)
            self.narrow = nn.Linear(4 * sizes.width, sizes.width)

        def forward(self, x: Any, mask: Any) -> Any:
            x = x + self.attention(self.attention_norm(x), mask)
            return x + self.narrow(functional.gelu(self.widen(self.feed_norm(x))))

    class Transformer(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.token_table = nn.Embedding(sizes.vocabulary, sizes.width)
            self.position_table = nn.Embedding(sizes.num_tokens, sizes.width)
            self.blocks = nn.Sequential(*[Block() for _ in range(sizes.num_layers)])
            self.norm = nn.LayerNorm(sizes.width)
            self.head = nn.Linear(sizes.width, sizes.vocabulary)

        def forward(self, tokens: Any, positions: Any, mask: Any) -> Any:
            x = self.token_table(tokens) + self.position_table(positions)
            for block in self.blocks:
                x = block(x, mask)
            return self.head(self.norm(x))

    model = Transformer()
    set_paddle_parameters(model)
    return model


class PaddleTransformer:
    """`num_steps` training steps, the loss read at the end."""

    def __init__(self, paddle: Any, **options: Any) -> None:
        sizes = self.sizes = Sizes(**options)
        if sizes.device is not None:
            paddle.set_device(sizes.device)
        self.paddle = paddle
        self.model = paddle_transformer(paddle, sizes)
        if sizes.dtype != "float32":
            self.model.to(dtype=sizes.dtype)
        self.optimizer = paddle.optimizer.Adam(learning_rate=LEARNING_RATE, parameters=self.model.parameters())
        self.mask = paddle.to_tensor(causal_mask(sizes)).astype(sizes.dtype)
        self.positions = paddle.to_tensor(np.arange(sizes.num_tokens))
        self.batches = [
            (paddle.to_tensor(inputs), paddle.to_tensor(targets)) for inputs, targets in token_batches(sizes)
        ]

    def run(self) -> float:
        paddle, vocabulary = self.paddle, self.sizes.vocabulary
        loss: Any = None
        for inputs, targets in islice(cycle(self.batches), self.sizes.num_steps):
            logits = self.model(inputs, self.positions, self.mask)
            logits = paddle.reshape(logits, [-1, vocabulary])
            loss = paddle.nn.functional.cross_entropy(logits, targets)
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()
        # The tables at the input are the last thing that a step brings up to date.
        float(self.model.position_table.weight.astype("float32").numpy()[0, 0])
        return float(loss.astype("float32").item())


def torch_transformer(torch: Any, sizes: Sizes) -> Any:
    """The same model as PyTorch modules."""
    nn, functional = torch.nn, torch.nn.functional

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.query_key_value = nn.Linear(sizes.width, 3 * sizes.width)
            self.output = nn.Linear(sizes.width, sizes.width)

        def forward(self, x: Any, mask: Any) -> Any:
            batch, num_tokens, width = x.shape
            by_head = (batch, num_tokens, sizes.num_heads, sizes.head_width)
            query, key, value = [
                part.reshape(by_head).transpose(1, 2)  # BHTD
                for part in self.query_key_value(x).chunk(3, dim=-1)
            ]
            if sizes.fused_attention:
                mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            else:
                scores = query @ key.transpose(-2, -1) * sizes.head_width**-0.5 + mask
                mixed = functional.softmax(scores, dim=-1) @ value
            return self.output(mixed.transpose(1, 2).reshape(batch, num_tokens, width))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention_norm = nn.LayerNorm(sizes.width)
            self.attention = Attention()
            self.feed_norm = nn.LayerNorm(sizes.width)
            self.widen = nn.Linear(sizes.width, 4 * sizes.width)
            self.narrow = nn.Linear(4 * sizes.width, sizes.width)

        def forward(self, x: Any, mask: Any) -> Any:
            x = x + self.attention(self.attention_norm(x), mask)
            return x + self.narrow(functional.gelu(self.widen(self.feed_norm(x))))

    class Transformer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.token_table = nn.Embedding(sizes.vocabulary, sizes.width)
            self.position_table = nn.Embedding(sizes.num_tokens, sizes.width)
            self.blocks = nn.Sequential(*[Block() for _ in range(sizes.num_layers)])
            self.norm = nn.LayerNorm(sizes.width)
            self.head = nn.Linear(sizes.width, sizes.vocabulary)

        def forward(self, tokens: Any, positions: Any, mask: Any) -> Any:
            x = self.token_table(tokens) + self.position_table(positions)
            for block in self.blocks:
                x = block(x, mask)
            return self.head(self.norm(x))

    model = Transformer()
    set_torch_parameters(torch, model)
    return model


class TorchTransformer:
    """The same loop in PyTorch; `fused_attention` uses PyTorch's own attention function."""

    def __init__(self, torch: Any, **options: Any) -> None:
        sizes = self.sizes = Sizes(**options)
        device = sizes.device or "cpu"
        dtype = getattr(torch, sizes.dtype)
        self.torch = torch
        self.model = torch_transformer(torch, sizes).to(device=device, dtype=dtype)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=LEARNING_RATE)
        self.mask = torch.from_numpy(causal_mask(sizes)).to(device=device, dtype=dtype)
        self.positions = torch.arange(sizes.num_tokens, device=device)
        self.batches = [
            (torch.from_numpy(inputs).to(device), torch.from_numpy(targets).to(device))
            for inputs, targets in token_batches(sizes)
        ]

    def run(self) -> float:
        cross_entropy = self.torch.nn.functional.cross_entropy
        loss: Any = None
        for inputs, targets in islice(cycle(self.batches), self.sizes.num_steps):
            logits = self.model(inputs, self.positions, self.mask)
            loss = cross_entropy(logits.reshape(-1, self.sizes.vocabulary), targets)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
        self.model.position_table.weight.detach().float().cpu().numpy()
        return loss.item()


def jax_transformer(jax: Any, **options: Any) -> Any:
    """The hand-written JAX version, kept in its own file."""
    from benchmarks.workloads.in_jax.transformer import JaxTransformer

    return JaxTransformer(jax, **options)


FAMILIES = {"paddle": PaddleTransformer, "torch": TorchTransformer, "jax": jax_transformer}
