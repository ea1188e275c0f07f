"""ResNet-50's training step hand-written in plain JAX: one jitted function, state donated, channels last inside."""

from __future__ import annotations

from itertools import cycle, islice
from typing import Any

import numpy as np

from benchmarks.workloads.common import SEED, draw_parameter
from benchmarks.workloads.training import LEARNING_RATE, Batches

EPSILON = 1e-5
MOMENTUM = 0.9
STAGES = (3, 4, 6, 3)


def starting_parameters(jnp: Any) -> dict[str, Any]:
    """The shared starting values, drawn in the order in which the other families hold them."""
    generator = np.random.default_rng(SEED)

    def convolution(fan_in: int, fan_out: int, extent: int) -> dict[str, Any]:
        weight = draw_parameter(generator, (fan_out, fan_in, extent, extent))
        filters = jnp.asarray(weight.transpose(2, 3, 1, 0))  # HWIO
        return {"weight": filters, "scale": jnp.ones(fan_out), "shift": jnp.zeros(fan_out)}

    parameters: dict[str, Any] = {"stem": convolution(3, 64, 7), "blocks": []}
    fan_in = 64
    for stage, count in enumerate(STAGES):
        width = 64 << stage
        for number in range(count):
            block = {
                "first": convolution(fan_in, width, 1),
                "second": convolution(width, width, 3),
                "third": convolution(width, 4 * width, 1),
            }
            if number == 0:
                block["shortcut"] = convolution(fan_in, 4 * width, 1)
            parameters["blocks"].append(block)
            fan_in = 4 * width
    parameters["head"] = {"weight": jnp.asarray(draw_parameter(generator, (fan_in, 1000))), "bias": jnp.zeros(1000)}
    return parameters


class JaxResNet:
    """`num_steps` training steps, the loss read at the end. Running statistics are left out: they take no time."""

    def __init__(self, jax: Any, batches: Batches, num_steps: int) -> None:
        jnp, lax = jax.numpy, jax.lax

        def convolve(p: Any, x: Any, stride: int = 1) -> Any:
            around = p["weight"].shape[0] // 2
            x = lax.conv_general_dilated(
                x, p["weight"], (stride, stride), [(around, around)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            mean = x.mean((0, 1, 2))
            variance = jnp.square(x - mean).mean((0, 1, 2))
            return (x - mean) * (lax.rsqrt(variance + EPSILON) * p["scale"]) + p["shift"]

        def forward(parameters: Any, x: Any) -> Any:
            x = jax.nn.relu(convolve(parameters["stem"], x, 2))
            padding = ((0, 0), (1, 1), (1, 1), (0, 0))
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), padding)
            blocks = iter(parameters["blocks"])
            for stage, count in enumerate(STAGES):
                for number in range(count):
                    p, stride = next(blocks), 2 if stage and not number else 1
                    y = jax.nn.relu(convolve(p["first"], x))
                    y = jax.nn.relu(convolve(p["second"], y, stride))
                    straight = convolve(p["shortcut"], x, stride) if "shortcut" in p else x
                    x = jax.nn.relu(convolve(p["third"], y) + straight)
            return x.mean((1, 2)) @ parameters["head"]["weight"] + parameters["head"]["bias"]

        def loss_function(parameters: Any, x: Any, y: Any) -> Any:
            logits = forward(parameters, x)
            chosen = jnp.take_along_axis(logits, y[:, None], axis=1)[:, 0]
            return (jax.nn.logsumexp(logits, axis=1) - chosen).mean()

        def step(parameters: Any, velocity: Any, x: Any, y: Any) -> Any:
            loss, gradients = jax.value_and_grad(loss_function)(parameters, x, y)
            velocity = jax.tree.map(lambda v, g: MOMENTUM * v + g, velocity, gradients)
            parameters = jax.tree.map(lambda p, v: p - LEARNING_RATE * v, parameters, velocity)
            return parameters, velocity, loss

        self.step = jax.jit(step, donate_argnums=(0, 1))
        self.parameters = starting_parameters(jnp)
        self.velocity = jax.tree.map(jnp.zeros_like, self.parameters)
        self.batches = [(jnp.asarray(np.moveaxis(np.asarray(x), 1, -1)), jnp.asarray(y)) for x, y in batches]
        self.num_steps = num_steps

    def run(self) -> float:
        loss: Any = None
        for x, y in islice(cycle(self.batches), self.num_steps):
            self.parameters, self.velocity, loss = self.step(self.parameters, self.velocity, x, y)
        np.asarray(self.parameters["stem"]["scale"])
        return float(loss)
