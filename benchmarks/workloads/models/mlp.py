"""Training a three-layer perceptron (64-128-128-10, batch 64) with Adam: the small-model loop."""

from __future__ import annotations

from itertools import cycle, islice, pairwise
from typing import Any

import numpy as np

from benchmarks.workloads.common import (
    SEED,
    classification_batches,
    draw_parameter,
    set_paddle_parameters,
    set_torch_parameters,
)

SIZES = (64, 128, 128, 10)
BATCH = 64
LEARNING_RATE = 1e-3


def paddle_mlp(paddle: Any) -> Any:
    """The model as a Paddle layer with the shared starting parameters."""
    nn, relu = paddle.nn, paddle.nn.functional.relu

    class MLP(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(SIZES[0], SIZES[1])
            self.second = nn.Linear(SIZES[1], SIZES[2])
            self.third = nn.Linear(SIZES[2], SIZES[3])

        def forward(self, x: Any) -> Any:
            return self.third(relu(self.second(relu(self.first(x)))))

    model = MLP()
    set_paddle_parameters(model)
    return model


class PaddleMLP:
    """`num_steps` training steps; `read_loss` says whether every step looks at its loss."""

    def __init__(
        self,
        paddle: Any,
        num_steps: int = 100,
        read_loss: bool = True,
        device: str | None = None,
    ) -> None:
        if device is not None:
            paddle.set_device(device)
        self.cross_entropy = paddle.nn.functional.cross_entropy
        self.model = paddle_mlp(paddle)
        self.optimizer = paddle.optimizer.Adam(learning_rate=LEARNING_RATE, parameters=self.model.parameters())
        self.batches = [
            (paddle.to_tensor(x), paddle.to_tensor(y)) for x, y in classification_batches((BATCH, SIZES[0]), SIZES[-1])
        ]
        self.num_steps = num_steps
        self.read_loss = read_loss

    def run(self) -> float:
        value = 0.0
        loss: Any = None
        for x, y in islice(cycle(self.batches), self.num_steps):
            loss = self.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()
            if self.read_loss:
                value = loss.item()
        # The first layer's weight is the last thing that a step brings up to date.
        self.model.first.weight.numpy()
        return value if self.read_loss else loss.item()


class TorchMLP:
    """The same in PyTorch."""

    def __init__(
        self,
        torch: Any,
        num_steps: int = 100,
        read_loss: bool = True,
        device: str | None = None,
    ) -> None:
        nn, relu = torch.nn, torch.nn.functional.relu
        if device not in (None, "cpu"):
            torch.set_float32_matmul_precision("high")  # TF32, which is XLA's default on a GPU.

        class MLP(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.first = nn.Linear(SIZES[0], SIZES[1])
                self.second = nn.Linear(SIZES[1], SIZES[2])
                self.third = nn.Linear(SIZES[2], SIZES[3])

            def forward(self, x: Any) -> Any:
                return self.third(relu(self.second(relu(self.first(x)))))

        self.cross_entropy = torch.nn.functional.cross_entropy
        self.model = MLP()
        set_torch_parameters(torch, self.model)
        self.model.to(device or "cpu")
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=LEARNING_RATE)
        self.batches = [
            (torch.from_numpy(x).to(device or "cpu"), torch.from_numpy(y).to(device or "cpu"))
            for x, y in classification_batches((BATCH, SIZES[0]), SIZES[-1])
        ]
        self.num_steps = num_steps
        self.read_loss = read_loss

    def run(self) -> float:
        value = 0.0
        loss: Any = None
        for x, y in islice(cycle(self.batches), self.num_steps):
            loss = self.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            if self.read_loss:
                value = loss.item()
        self.model.first.weight.detach().cpu().numpy()
        return value if self.read_loss else loss.item()


class JaxMLP:
    """The same step hand-written in JAX: one jitted function, state donated."""

    def __init__(
        self,
        jax: Any,
        num_steps: int = 100,
        read_loss: bool = True,
        device: str | None = None,
    ) -> None:
        del device  # JAX takes its best device by itself.
        from benchmarks.workloads.in_jax.adam import adam_state, adam_update

        jnp = jax.numpy
        generator = np.random.default_rng(SEED)
        parameters = []
        for fan_in, fan_out in pairwise(SIZES):
            weight = draw_parameter(generator, (fan_in, fan_out))
            parameters.append((jnp.asarray(weight), jnp.zeros(fan_out, jnp.float32)))

        def loss_function(parameters: Any, x: Any, y: Any) -> Any:
            for position, (weight, bias) in enumerate(parameters):
                x = x @ weight + bias
                if position < len(parameters) - 1:
                    x = jax.nn.relu(x)
            log_probabilities = jax.nn.log_softmax(x)
            return -jnp.take_along_axis(log_probabilities, y[:, None], axis=1).mean()

        def step(parameters: Any, state: Any, x: Any, y: Any) -> Any:
            loss, gradients = jax.value_and_grad(loss_function)(parameters, x, y)
            parameters, state = adam_update(jax, parameters, gradients, state, LEARNING_RATE)
            return parameters, state, loss

        self.step = jax.jit(step, donate_argnums=(0, 1))
        self.parameters = parameters
        self.state = adam_state(jax, parameters)
        self.batches = [
            (jnp.asarray(x), jnp.asarray(y)) for x, y in classification_batches((BATCH, SIZES[0]), SIZES[-1])
        ]
        self.num_steps = num_steps
        self.read_loss = read_loss

    def run(self) -> float:
        value = 0.0
        loss: Any = None
        for x, y in islice(cycle(self.batches), self.num_steps):
            self.parameters, self.state, loss = self.step(self.parameters, self.state, x, y)
            if self.read_loss:
                value = float(loss)
        np.asarray(self.parameters[0][0])
        return value if self.read_loss else float(loss)


FAMILIES = {"paddle": PaddleMLP, "torch": TorchMLP, "jax": JaxMLP}
