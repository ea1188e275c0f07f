"""The Llama of `llama.py` written by hand in JAX: one jitted step, everything donated, moments in float32."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.workloads.on_gpu.llama import Llama, peak_gib

RATE, DECAY, BETA1, BETA2, EPSILON = 1e-4, 0.1, 0.9, 0.999, 1e-8


def _parameters(jax: Any, sizes: Llama) -> dict[str, Any]:
    jnp = jax.numpy
    keys = iter(jax.random.split(jax.random.key(0), 1000))

    def normal(shape: tuple[int, ...]) -> Any:
        return (jax.random.normal(next(keys), shape, jnp.float32) * shape[0] ** -0.5).astype(jnp.bfloat16)

    def layer() -> dict[str, Any]:
        made = {name: normal(shape) for name, shape in sizes.shapes().items()}
        return made | {name: jnp.ones((sizes.width,), jnp.bfloat16) for name in ("before", "between")}

    return {
        "table": normal((sizes.vocabulary, sizes.width)), "norm": jnp.ones((sizes.width,), jnp.bfloat16),
        "head": normal((sizes.width, sizes.vocabulary)), "layers": [layer() for _ in range(sizes.num_layers)],
    }  # fmt: skip


def _loss(jax: Any, sizes: Llama, implementation: str | None) -> Any:
    jnp = jax.numpy
    cos, sin = (jnp.asarray(a[None, :, None, :], jnp.bfloat16) for a in sizes.angles())

    def normalised(x: Any, scale: Any) -> Any:
        wide = x.astype(jnp.float32)
        return (wide * jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * scale

    def turned(x: Any) -> Any:
        first, second = jnp.split(x, 2, axis=-1)
        return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)

    def block(x: Any, w: dict[str, Any]) -> Any:
        h = normalised(x, w["before"])
        q, k, v = ((h @ w[name]).reshape(sizes.batch, sizes.num_tokens, -1, sizes.head_width) for name in "qkv")
        mixed = jax.nn.dot_product_attention(turned(q), turned(k), v, is_causal=True, implementation=implementation)
        x = x + mixed.reshape(sizes.batch, sizes.num_tokens, sizes.width) @ w["o"]
        h = normalised(x, w["between"])
        return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]

    def loss(parameters: Any, tokens: Any, targets: Any) -> Any:
        x = parameters["table"][tokens]
        for w in parameters["layers"]:
            x = block(x, w)
        scores = (normalised(x, parameters["norm"]) @ parameters["head"]).reshape(-1, sizes.vocabulary)
        logarithms = jax.nn.log_softmax(scores.astype(jnp.float32))
        return -jnp.take_along_axis(logarithms, targets[:, None], 1).mean()

    return loss


def jax_loop(jax: Any, sizes: Llama, steps: int) -> dict[str, Any]:
    """Tokens a second and the largest memory in use."""
    jnp = jax.numpy
    on_gpu = jax.local_devices()[0].platform == "gpu"
    loss_of = _loss(jax, sizes, "cudnn" if on_gpu else None)

    def step(parameters: Any, first: Any, second: Any, number: Any, tokens: Any, targets: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(parameters, tokens, targets)
        number = number + 1

        def updated(p: Any, g: Any, m: Any, v: Any) -> Any:
            p32, g = p.astype(jnp.float32), g.astype(jnp.float32)
            m, v = BETA1 * m + (1 - BETA1) * g, BETA2 * v + (1 - BETA2) * g * g
            moved = (m / (1 - BETA1**number)) / (jnp.sqrt(v / (1 - BETA2**number)) + EPSILON)
            return (p32 - RATE * (moved + DECAY * p32)).astype(p.dtype), m, v

        results = jax.tree.map(updated, parameters, grads, first, second)
        parts = [jax.tree.map(lambda _, r, i=i: r[i], parameters, results) for i in range(3)]
        return (*parts, number, loss)

    jitted = jax.jit(step, donate_argnums=(0, 1, 2, 3))
    parameters = _parameters(jax, sizes)
    first, second = (jax.tree.map(lambda p: jnp.zeros(p.shape, jnp.float32), parameters) for _ in range(2))
    tokens, targets = (jnp.asarray(array) for array in sizes.batches())
    state = (parameters, first, second, jnp.zeros((), jnp.float32))
    del parameters, first, second
    started = time.perf_counter()
    for _ in range(3):
        *state, loss = jitted(*state, tokens, targets)
    begin = float(loss)
    warm = time.perf_counter() - started
    for _ in range(steps - steps // 4):
        *state, loss = jitted(*state, tokens, targets)
    float(loss)
    started = time.perf_counter()
    for _ in range(steps // 4):
        *state, loss = jitted(*state, tokens, targets)
    last = float(loss)
    seconds = (time.perf_counter() - started) / (steps // 4)
    count = sum(int(np.prod(leaf.shape)) for leaf in jax.tree.leaves(state[0]))
    return {
        "tokens_per_s": sizes.batch * sizes.num_tokens / seconds, "peak_gib": peak_gib(), "first_steps_s": warm,
        "first_loss": begin, "last_loss": last, "parameters": count,
    }  # fmt: skip
