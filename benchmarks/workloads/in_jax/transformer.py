"""The transformer's training step hand-written in plain JAX: one jitted function, state donated.

Precision follows what the layers of the other families do inside: matrix products in the
parameters' dtype; normalisation, softmax and the loss computed in float32.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, islice
from typing import Any

import numpy as np

from benchmarks.workloads.common import SEED, draw_parameter
from benchmarks.workloads.in_jax.adam import adam_state, adam_update
from benchmarks.workloads.models.transformer import LEARNING_RATE, Sizes, causal_mask, token_batches

NORM_EPSILON = 1e-5


def starting_parameters(sizes: Sizes, jnp: Any) -> dict[str, Any]:
    """The shared starting values, drawn in the order in which the other families hold them."""
    generator = np.random.default_rng(SEED)
    width, dtype = sizes.width, sizes.dtype

    def table(rows: int) -> Any:
        return jnp.asarray(draw_parameter(generator, (rows, width)), dtype)

    def linear(fan_in: int, fan_out: int) -> dict[str, Any]:
        weight = jnp.asarray(draw_parameter(generator, (fan_in, fan_out)), dtype)
        return {"weight": weight, "bias": jnp.zeros(fan_out, dtype)}

    def norm() -> dict[str, Any]:
        return {"weight": jnp.ones(width, dtype), "bias": jnp.zeros(width, dtype)}

    parameters: dict[str, Any] = {
        "token_table": table(sizes.vocabulary),
        "position_table": table(sizes.num_tokens),
    }
    parameters["blocks"] = [
        {
            "attention_norm": norm(),
            "query_key_value": linear(width, 3 * width),
            "output": linear(width, width),
            "feed_norm": norm(),
            "widen": linear(width, 4 * width),
            "narrow": linear(4 * width, width),
        }
        for _ in range(sizes.num_layers)
    ]
    parameters["norm"] = norm()
    parameters["head"] = linear(width, sizes.vocabulary)
    return parameters


class JaxTransformer:
    """`num_steps` training steps, the loss read at the end."""

    def __init__(
        self, jax: Any, batches: Any = None, decay: float = 0.0, masters: bool = False, **options: Any
    ) -> None:
        sizes = self.sizes = Sizes(**options)
        jnp = jax.numpy
        mask = jnp.asarray(causal_mask(sizes))

        def normalise(p: Any, x: Any) -> Any:
            wide = x.astype(jnp.float32)
            mean = wide.mean(-1, keepdims=True)
            variance = jnp.square(wide - mean).mean(-1, keepdims=True)
            wide = (wide - mean) * jax.lax.rsqrt(variance + NORM_EPSILON)
            return wide.astype(x.dtype) * p["weight"] + p["bias"]

        def linear(p: Any, x: Any) -> Any:
            return x.astype(sizes.dtype) @ p["weight"] + p["bias"]

        def attention(p: Any, x: Any) -> Any:
            batch, num_tokens, width = x.shape
            by_head = (batch, num_tokens, sizes.num_heads, sizes.head_width)
            parts = jnp.split(linear(p["query_key_value"], x), 3, axis=-1)
            query, key, value = [part.reshape(by_head) for part in parts]  # BTHD
            if sizes.fused_attention:
                mixed = jax.nn.dot_product_attention(query, key, value, is_causal=True, implementation="cudnn")
                return linear(p["output"], mixed.reshape(batch, num_tokens, width))
            scores = jnp.einsum("bthd,bshd->bhts", query, key) * sizes.head_width**-0.5
            weights = jax.nn.softmax(scores.astype(jnp.float32) + mask, axis=-1).astype(x.dtype)
            mixed = jnp.einsum("bhts,bshd->bthd", weights, value)
            return linear(p["output"], mixed.reshape(batch, num_tokens, width))

        def loss_function(parameters: Any, inputs: Any, targets: Any) -> Any:
            parameters = jax.tree.map(lambda p: p.astype(sizes.dtype), parameters)
            table = parameters["token_table"]
            x = table.at[inputs].get(mode="promise_in_bounds") + parameters["position_table"]
            if masters:
                x = x.astype(jnp.float32)  # what level O2 does: sums with what a table gave stay in float32
            for p in parameters["blocks"]:
                x = x + attention(p, normalise(p["attention_norm"], x))
                wide = jax.nn.gelu(linear(p["widen"], normalise(p["feed_norm"], x)), approximate=False)
                x = x + linear(p["narrow"], wide)
            logits = linear(parameters["head"], normalise(parameters["norm"], x))
            logits = logits.reshape(-1, sizes.vocabulary).astype(jnp.float32)
            # A product with one-hot rows fuses, backward too; a gather's gradient is a scatter.
            chosen = (logits * jax.nn.one_hot(targets, sizes.vocabulary)).sum(-1)
            return (jax.nn.logsumexp(logits, axis=-1) - chosen).mean()

        def step(parameters: Any, state: Any, inputs: Any, targets: Any) -> Any:
            loss, gradients = jax.value_and_grad(loss_function)(parameters, inputs, targets)
            parameters, state = adam_update(jax, parameters, gradients, state, LEARNING_RATE, decay)
            return parameters, state, loss

        self.step = jax.jit(step, donate_argnums=(0, 1))
        # Master weights: what is updated is float32, what is multiplied is cast from it in every step.
        self.parameters = starting_parameters(replace(sizes, dtype="float32") if masters else sizes, jnp)
        self.state = adam_state(jax, self.parameters)
        self.batches = [
            (jnp.asarray(inputs), jnp.asarray(targets)) for inputs, targets in batches or token_batches(sizes)
        ]

    def run(self) -> float:
        loss: Any = None
        for inputs, targets in islice(cycle(self.batches), self.sizes.num_steps):
            self.parameters, self.state, loss = self.step(self.parameters, self.state, inputs, targets)
        np.asarray(self.parameters["position_table"])
        return float(loss)
