"""Loss curves of a small network from given weights on given batches: the same source for proa and for Paddle.

    python -m benchmarks.workloads.trajectories MODULE INPUT.npz OUTPUT.npz

Started by `benchmarks.trajectories` in each framework's own interpreter. The input holds `images`, `labels` (a row for each
step) and the starting value of each parameter under its name; the output one curve for each optimiser.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np

# Rates at which the network learns well in 200 steps, without leaving a smooth descent.
OPTIMIZERS: dict[str, dict[str, Any]] = {
    "SGD": {"learning_rate": 0.1},
    "Momentum": {"learning_rate": 0.02, "momentum": 0.9},
    "Adam": {"learning_rate": 1e-3},
    "AdamW": {"learning_rate": 1e-3, "weight_decay": 0.05},
    "Lamb": {"learning_rate": 3e-3, "lamb_weight_decay": 0.01},
}


def build(paddle: Any) -> Any:
    """A convolutional network for pictures of 8 x 8 points and 10 classes."""
    nn = paddle.nn
    return nn.Sequential(
        nn.Conv2D(1, 16, 3, padding=1),
        nn.BatchNorm2D(16),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Conv2D(16, 32, 3, padding=1),
        nn.GELU(),
        nn.Flatten(),
        nn.LayerNorm(32 * 4 * 4),
        nn.Linear(32 * 4 * 4, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def curve(paddle: Any, optimizer_name: str, given: dict[str, np.ndarray]) -> np.ndarray:
    """The loss of each step."""
    model = build(paddle)
    for name, parameter in model.named_parameters():
        parameter.set_value(given[name])
    make = getattr(paddle.optimizer, optimizer_name)
    optimizer = make(parameters=model.parameters(), **OPTIMIZERS[optimizer_name])
    losses = []
    for images, labels in zip(given["images"], given["labels"], strict=True):
        loss = paddle.nn.functional.cross_entropy(model(paddle.to_tensor(images)), paddle.to_tensor(labels))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return np.array(losses)


def starting_values(paddle: Any, seed: int) -> dict[str, np.ndarray]:
    """A starting value for each parameter, drawn by NumPy."""
    generator = np.random.default_rng(seed)
    values = {}
    for name, parameter in build(paddle).named_parameters():
        shape = tuple(parameter.shape)
        if len(shape) > 1:
            fan_in = shape[0] if len(shape) == 2 else int(np.prod(shape[1:]))
            values[name] = generator.standard_normal(shape).astype("float32") * np.float32(fan_in**-0.5)
        else:
            values[name] = np.array(parameter.numpy())
    return values


def main() -> None:
    module, source, target = sys.argv[1:]
    paddle = importlib.import_module(module)
    with np.load(source) as file:
        given = {name: file[name] for name in file.files}
    curves: dict[str, Any] = {name: curve(paddle, name, given) for name in OPTIMIZERS}
    np.savez(target, **curves)


if __name__ == "__main__":
    main()
