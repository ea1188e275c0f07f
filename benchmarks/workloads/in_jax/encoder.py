"""The encoder's training step hand-written in plain JAX: one jitted function, state donated."""

from __future__ import annotations

from itertools import cycle, islice
from typing import Any

import numpy as np

from benchmarks.workloads.common import SEED, draw_parameter
from benchmarks.workloads.in_jax.adam import adam_state, adam_update
from benchmarks.workloads.models.encoder import NUM_HEADS, NUM_LABELS, WIDTH
from benchmarks.workloads.training import LEARNING_RATE, Batches

EPSILON = 1e-5
DECAY = 0.01


def starting_parameters(jnp: Any, num_layers: int) -> dict[str, Any]:
    """The shared starting values, drawn in the order in which the other families hold them."""
    generator = np.random.default_rng(SEED)

    def linear(fan_in: int, fan_out: int) -> dict[str, Any]:
        return {"weight": jnp.asarray(draw_parameter(generator, (fan_in, fan_out))), "bias": jnp.zeros(fan_out)}

    def norm() -> dict[str, Any]:
        return {"weight": jnp.ones(WIDTH), "bias": jnp.zeros(WIDTH)}

    layers = [
        {
            "query": linear(WIDTH, WIDTH), "key": linear(WIDTH, WIDTH), "value": linear(WIDTH, WIDTH),
            "output": linear(WIDTH, WIDTH), "widen": linear(WIDTH, 4 * WIDTH), "narrow": linear(4 * WIDTH, WIDTH),
            "first_norm": norm(), "second_norm": norm(),
        }
        for _ in range(num_layers)
    ]  # fmt: skip
    return {"layers": layers, "head": linear(WIDTH, NUM_LABELS)}


class JaxEncoder:
    """`num_steps` training steps, the loss read at the end."""

    def __init__(self, jax: Any, batches: Batches, num_layers: int, num_steps: int) -> None:
        jnp = jax.numpy

        def normalise(p: Any, x: Any) -> Any:
            mean = x.mean(-1, keepdims=True)
            variance = jnp.square(x - mean).mean(-1, keepdims=True)
            return (x - mean) * jax.lax.rsqrt(variance + EPSILON) * p["weight"] + p["bias"]

        def linear(p: Any, x: Any) -> Any:
            return x @ p["weight"] + p["bias"]

        def encode(p: Any, x: Any) -> Any:
            by_head = (x.shape[0], x.shape[1], NUM_HEADS, WIDTH // NUM_HEADS)
            query, key, value = [linear(p[name], x).reshape(by_head) for name in ("query", "key", "value")]
            scores = jnp.einsum("bthd,bshd->bhts", query, key) * (WIDTH // NUM_HEADS) ** -0.5
            mixed = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores, axis=-1), value).reshape(x.shape)
            x = normalise(p["first_norm"], x + linear(p["output"], mixed))
            return normalise(
                p["second_norm"], x + linear(p["narrow"], jax.nn.gelu(linear(p["widen"], x), approximate=False))
            )

        def loss_function(parameters: Any, x: Any, y: Any) -> Any:
            for p in parameters["layers"]:
                x = encode(p, x)
            logits = linear(parameters["head"], x).reshape(-1, NUM_LABELS)
            chosen = (logits * jax.nn.one_hot(y, NUM_LABELS)).sum(-1)
            return (jax.nn.logsumexp(logits, axis=-1) - chosen).mean()

        def step(parameters: Any, state: Any, x: Any, y: Any) -> Any:
            loss, gradients = jax.value_and_grad(loss_function)(parameters, x, y)
            parameters, state = adam_update(jax, parameters, gradients, state, LEARNING_RATE, DECAY)
            return parameters, state, loss

        self.step = jax.jit(step, donate_argnums=(0, 1))
        self.parameters = starting_parameters(jnp, num_layers)
        self.state = adam_state(jax, self.parameters)
        self.batches = [(jnp.asarray(x), jnp.asarray(y)) for x, y in batches]
        self.num_steps = num_steps

    def run(self) -> float:
        loss: Any = None
        for x, y in islice(cycle(self.batches), self.num_steps):
            self.parameters, self.state, loss = self.step(self.parameters, self.state, x, y)
        np.asarray(self.parameters["layers"][0]["first_norm"]["bias"])
        return float(loss)
