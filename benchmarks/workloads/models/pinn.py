"""The inner loop of physics-informed networks: residual of an equation, gradient, Adam step.

A five-layer tanh network u(x, y) is trained to satisfy a differential equation at given points. Its derivatives come
from `grad(..., create_graph=True)`, nested as often as the equation needs, and the loss is differentiated once more
for the parameters: second to fifth derivatives of a small network, thousands of times. Written as users write it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.workloads.common import SEED, set_paddle_parameters, set_torch_parameters

LEARNING_RATE = 1e-3
Derivative = Callable[[Any, Any], Any]


def burgers(u: Any, x: Any, t: Any, derivative: Derivative) -> Any:
    """`u_t + u u_x - 0.01 / pi u_xx`."""
    u_x = derivative(u, x)
    return derivative(u, t) + u * u_x - (0.01 / np.pi) * derivative(u_x, x)


def allen_cahn(u: Any, x: Any, t: Any, derivative: Derivative) -> Any:
    """`u_t - 0.0001 u_xx + 5 u^3 - 5 u`."""
    u_xx = derivative(derivative(u, x), x)
    return derivative(u, t) - 0.0001 * u_xx + 5.0 * u**3 - 5.0 * u


def biharmonic(u: Any, x: Any, y: Any, derivative: Derivative) -> Any:
    """`u_xxxx + 2 u_xxyy + u_yyyy - 1`, the bending of a plate."""
    laplacian = derivative(derivative(u, x), x) + derivative(derivative(u, y), y)
    return derivative(derivative(laplacian, x), x) + derivative(derivative(laplacian, y), y) - 1.0


EQUATIONS = {"burgers": burgers, "allen_cahn": allen_cahn, "biharmonic": biharmonic}


def points(num_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Two columns of coordinates, drawn from [-1, 1]."""
    generator = np.random.default_rng(SEED + 2)
    drawn = generator.uniform(-1.0, 1.0, (2, num_points, 1)).astype(np.float32)
    return drawn[0], drawn[1]


def layer_sizes(width: int) -> list[tuple[int, int]]:
    return list(pairwise([2, width, width, width, width, 1]))


class PaddlePINN:
    """`num_steps` training steps on one equation."""

    def __init__(
        self,
        paddle: Any,
        equation: str = "burgers",
        num_steps: int = 10,
        num_points: int = 1024,
        width: int = 64,
    ) -> None:
        layers: list[Any] = []
        for fan_in, fan_out in layer_sizes(width):
            layers += [paddle.nn.Linear(fan_in, fan_out), paddle.nn.Tanh()]
        self.paddle = paddle
        self.model = paddle.nn.Sequential(*layers[:-1])
        set_paddle_parameters(self.model)
        self.optimizer = paddle.optimizer.Adam(learning_rate=LEARNING_RATE, parameters=self.model.parameters())
        self.x, self.y = (paddle.to_tensor(column, stop_gradient=False) for column in points(num_points))
        self.residual = EQUATIONS[equation]
        self.num_steps = num_steps

    def run(self) -> float:
        paddle, x, y = self.paddle, self.x, self.y

        def derivative(u: Any, x: Any) -> Any:
            return paddle.grad(u, x, create_graph=True)[0]

        loss: Any = None
        for _ in range(self.num_steps):
            u = self.model(paddle.concat([x, y], axis=1))
            loss = paddle.mean(self.residual(u, x, y, derivative) ** 2)
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()
            x.clear_gradient(False)
            y.clear_gradient(False)
        self.model[0].weight.numpy()
        return loss.item()


class TorchPINN:
    """The same in PyTorch."""

    def __init__(
        self,
        torch: Any,
        equation: str = "burgers",
        num_steps: int = 10,
        num_points: int = 1024,
        width: int = 64,
    ) -> None:
        layers: list[Any] = []
        for fan_in, fan_out in layer_sizes(width):
            layers += [torch.nn.Linear(fan_in, fan_out), torch.nn.Tanh()]
        self.torch = torch
        self.model = torch.nn.Sequential(*layers[:-1])
        set_torch_parameters(torch, self.model)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=LEARNING_RATE)
        self.x, self.y = (torch.from_numpy(column).requires_grad_() for column in points(num_points))
        self.residual = EQUATIONS[equation]
        self.num_steps = num_steps

    def run(self) -> float:
        torch, x, y = self.torch, self.x, self.y

        def derivative(u: Any, x: Any) -> Any:
            return torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]

        loss: Any = None
        for _ in range(self.num_steps):
            u = self.model(torch.cat([x, y], dim=1))
            loss = torch.mean(self.residual(u, x, y, derivative) ** 2)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            x.grad = None
            y.grad = None
        self.model[0].weight.detach().numpy()
        return loss.item()


FAMILIES = {"paddle": PaddlePINN, "torch": TorchPINN}
