"""A Llama of 1.1 billion parameters in bfloat16: its sizes, and its training loop in plain eager code.

22 layers, 2,048 wide, 32 heads of which 4 have keys and values, 5,632 wide inside, 32,000 words; 8 × 2,048 tokens a step.
Parameters and gradients are bfloat16, AdamW's moments float32 (as Paddle has them).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Llama:
    num_layers: int = 22
    width: int = 2048
    num_heads: int = 32
    num_key_heads: int = 4
    inner: int = 5632
    vocabulary: int = 32000
    batch: int = 8
    num_tokens: int = 2048

    @classmethod
    def tiny(cls) -> Llama:
        return cls(2, 64, 4, 2, 96, 128, 2, 16)

    @property
    def head_width(self) -> int:
        return self.width // self.num_heads

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The parameters of one layer, matrices as [in, out]."""
        keys = self.num_key_heads * self.head_width
        return {
            "q": (self.width, self.width), "k": (self.width, keys), "v": (self.width, keys), "o": (self.width, self.width),
            "gate": (self.width, self.inner), "up": (self.width, self.inner), "down": (self.inner, self.width),
        }  # fmt: skip

    def batches(self) -> tuple[np.ndarray, np.ndarray]:
        tokens = np.random.default_rng(8).integers(0, self.vocabulary, (self.batch, self.num_tokens + 1))
        return np.ascontiguousarray(tokens[:, :-1]), np.ascontiguousarray(tokens[:, 1:]).reshape(-1)

    def angles(self) -> tuple[np.ndarray, np.ndarray]:
        """Cosine and sine of the rotary positions, for half a head."""
        frequencies = 10000.0 ** (-np.arange(0, self.head_width, 2) / self.head_width)
        angle = np.arange(self.num_tokens)[:, None] * frequencies[None, :]
        return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def _model(paddle: Any, sizes: Llama) -> Any:
    nn, functional = paddle.nn, paddle.nn.functional
    cos, sin = (paddle.to_tensor(a[None, :, None, :]).astype("bfloat16") for a in sizes.angles())

    def turned(x: Any) -> Any:
        first, second = paddle.split(x, 2, axis=-1)
        return paddle.concat([first * cos - second * sin, second * cos + first * sin], axis=-1)

    def linear(name: str) -> Any:
        return nn.Linear(*sizes.shapes()[name], bias_attr=False)

    class Norm(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.scale = self.create_parameter([sizes.width], default_initializer=nn.initializer.Constant(1.0))

        def forward(self, x: Any) -> Any:
            wide = x.astype("float32")
            return (wide * ((wide * wide).mean(-1, keepdim=True) + 1e-6).rsqrt()).astype(x.dtype) * self.scale

    class Block(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.before, self.between = Norm(), Norm()
            self.q, self.k, self.v, self.o = (linear(name) for name in "qkvo")
            self.gate, self.up, self.down = linear("gate"), linear("up"), linear("down")

        def forward(self, x: Any) -> Any:
            h = self.before(x)
            shape = [sizes.batch, sizes.num_tokens, -1, sizes.head_width]
            q, k, v = turned(self.q(h).reshape(shape)), turned(self.k(h).reshape(shape)), self.v(h).reshape(shape)
            k, v = (paddle.repeat_interleave(t, sizes.num_heads // sizes.num_key_heads, axis=2) for t in (k, v))
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.o(mixed.reshape([sizes.batch, sizes.num_tokens, sizes.width]))
            h = self.between(x)
            return x + self.down(functional.silu(self.gate(h)) * self.up(h))

    class Model(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(sizes.vocabulary, sizes.width)
            self.blocks = nn.LayerList([Block() for _ in range(sizes.num_layers)])
            self.norm = Norm()
            self.head = nn.Linear(sizes.width, sizes.vocabulary, bias_attr=False)

        def forward(self, tokens: Any) -> Any:
            x = self.table(tokens)
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    return Model()


def paddle_loop(paddle: Any, sizes: Llama, steps: int) -> dict[str, Any]:
    """Tokens a second and the largest memory in use, first step included."""
    net = _model(paddle, sizes)
    net.to(dtype="bfloat16")
    optimizer = paddle.optimizer.AdamW(1e-4, parameters=net.parameters(), weight_decay=0.1)
    tokens, targets = map(paddle.to_tensor, sizes.batches())

    def step() -> Any:
        scores = net(tokens).reshape([-1, sizes.vocabulary])
        loss = paddle.nn.functional.cross_entropy(scores, targets)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    started = time.perf_counter()
    first = [float(step()) for _ in range(3)]
    warm = time.perf_counter() - started
    after_start = peak_gib()
    started = time.perf_counter()
    for _ in range(steps // 8):
        loss = step()
    float(loss)
    early = (time.perf_counter() - started) / (steps // 8)
    for _ in range(steps - steps // 8 - steps // 4):
        loss = step()
    float(loss)
    started = time.perf_counter()
    for _ in range(steps // 4):
        loss = step()
    last = float(loss)
    seconds = (time.perf_counter() - started) / (steps // 4)
    count = sizes.batch * sizes.num_tokens
    parameters = sum(int(np.prod(p.shape)) for p in net.parameters())
    return {
        "tokens_per_s": count / seconds, "first_tokens_per_s": count / early, "peak_gib": peak_gib(),
        "peak_after_3_gib": after_start, "first_steps_s": warm, "first_loss": first[0], "last_loss": last,
        "parameters": parameters,
    }  # fmt: skip


def peak_gib() -> float:
    """The largest memory that XLA and CuPy had in use."""
    import jax

    stats = jax.local_devices()[0].memory_stats() or {}
    total = stats.get("peak_bytes_in_use", 0)
    try:
        from proa.ir.tiers.cupy_tier import pool_bytes

        total += pool_bytes()
    except ImportError:
        pass
    return total / 2**30
