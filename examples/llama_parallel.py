"""A Llama-shaped model, on one device or on eight: tensor and data parallel by three annotations.

    python examples/llama_parallel.py                    # one device
    python examples/llama_parallel.py --devices 8        # the same losses, on eight (of a CPU: virtual ones)

The model knows nothing of devices. What the second run does more is in `spread`: a mesh, a plan for its layers, one call.
The data is a made-up language in which a token follows from the one before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import numpy as np
from common import options, start

import proa as paddle
import proa.nn.functional as F
from proa import distributed as dist
from proa import nn

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH, BATCH = 96, 64, 8, 4, 32, 16


class RMSNorm(nn.Layer):
    """Features divided by the root of their mean square."""

    def __init__(self) -> None:
        super().__init__()
        self.weight: paddle.Tensor = self.create_parameter([WIDTH], default_initializer=nn.initializer.Constant(1.0))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return x * paddle.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.weight


class Attention(nn.Layer):
    """Causal attention with rotary positions."""

    def __init__(self) -> None:
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (
            nn.Linear(WIDTH, WIDTH, bias_attr=False) for _ in range(4)
        )
        angle = np.outer(np.arange(LENGTH), 10000.0 ** (-np.arange(0, WIDTH // HEADS, 2) / (WIDTH // HEADS)))
        self.register_buffer("cos", paddle.to_tensor(np.cos(angle)[None, :, None, :].astype("float32")))
        self.register_buffer("sin", paddle.to_tensor(np.sin(angle)[None, :, None, :].astype("float32")))

    def turned(self, x: paddle.Tensor) -> paddle.Tensor:
        """Each pair of features, turned by an angle that grows with the position."""
        even, odd = x[..., 0::2], x[..., 1::2]
        return paddle.concat([even * self.cos - odd * self.sin, even * self.sin + odd * self.cos], axis=-1)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        shape = [x.shape[0], x.shape[1], HEADS, WIDTH // HEADS]
        q, k, v = (layer(x).reshape(shape) for layer in (self.q_proj, self.k_proj, self.v_proj))
        mixed = F.scaled_dot_product_attention(self.turned(q), self.turned(k), v, is_causal=True)
        return self.o_proj(mixed.reshape([x.shape[0], x.shape[1], WIDTH]))


class FeedForward(nn.Layer):
    """SwiGLU."""

    def __init__(self) -> None:
        super().__init__()
        self.gate_proj, self.up_proj = (nn.Linear(WIDTH, 3 * WIDTH, bias_attr=False) for _ in range(2))
        self.down_proj = nn.Linear(3 * WIDTH, WIDTH, bias_attr=False)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Decoder(nn.Layer):
    """One layer: attention and SwiGLU, each behind a norm and beside a residual path."""

    def __init__(self) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = RMSNorm(), RMSNorm()
        self.attention, self.mlp = Attention(), FeedForward()

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        x = x + self.attention(self.norm_1(x))
        return x + self.mlp(self.norm_2(x))


class Llama(nn.Layer):
    """Tokens in, logits of the next ones out."""

    def __init__(self) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.LayerList([Decoder() for _ in range(LAYERS)])
        self.norm = RMSNorm()
        self.lm_head = nn.Linear(WIDTH, VOCABULARY, bias_attr=False)

    def forward(self, ids: paddle.Tensor) -> paddle.Tensor:
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


def spread(
    model: Llama, optimizer: paddle.optimizer.Optimizer, devices: int
) -> tuple[Llama, paddle.optimizer.Optimizer]:
    """The model on a mesh: its matrices cut over four devices or fewer, its batches over the others."""
    mesh = dist.ProcessMesh(np.arange(devices).reshape(-1, min(4, devices)), dim_names=["dp", "mp"])
    plan = {".*(q|k|v|gate|up)_proj|lm_head": dist.ColWiseParallel(), ".*(o|down)_proj": dist.RowWiseParallel()}
    return dist.parallelize(model, optimizer, mesh, {"mp_config": {"parallelize_plan": plan}})


def batches(seed: int, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Sentences in which token t is followed by 5 t + 7, or now and then by any other."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        ids = draw.integers(0, VOCABULARY, (BATCH, LENGTH + 1))
        for place in range(LENGTH):
            follows = draw.random(BATCH) < 0.9
            ids[:, place + 1] = np.where(follows, (5 * ids[:, place] + 7) % VOCABULARY, ids[:, place + 1])
        yield ids[:, :-1], ids[:, 1:]


def main(arguments: list[str] | None = None) -> list[float]:
    """Trains; gives the losses."""
    parser = options(__doc__, epochs=1)
    parser.add_argument("--devices", type=int, default=1, help="how many devices to use (1)")
    parser.add_argument("--steps", type=int, default=60, help="steps of an epoch (60)")
    chosen = parser.parse_args(arguments)
    start(chosen.seed)
    if chosen.devices > 1:  # on a CPU: so many virtual devices, if nobody has asked for others
        os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={chosen.devices}")
    model = Llama()
    optimizer: paddle.optimizer.Optimizer = paddle.optimizer.AdamW(3e-3, parameters=model.parameters())
    if chosen.devices > 1:
        model, optimizer = spread(model, optimizer, chosen.devices)
    losses: list[float] = []
    started = time.perf_counter()
    for step, (ids, following) in enumerate(batches(chosen.seed, chosen.epochs * chosen.steps)):
        logits = model(paddle.to_tensor(ids))
        loss = F.cross_entropy(logits.reshape([-1, VOCABULARY]), paddle.to_tensor(following).reshape([-1]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
        if step % 10 == 0:
            print(f"step {step:4d}: loss {losses[-1]:.4f}, {time.perf_counter() - started:.1f} s")
    print(f"{chosen.devices} device(s): loss {losses[0]:.4f} -> {losses[-1]:.4f}")
    print(f"lm_head.weight: {model.lm_head.weight.placements or 'on one device'}")
    return losses


if __name__ == "__main__":
    main()
