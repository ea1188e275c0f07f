"""Same data and same starting parameters for every framework, drawn by NumPy from a fixed seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

SEED = 2026
NUM_BATCHES = 8


def draw_parameter(generator: np.random.Generator, shape: Sequence[int]) -> np.ndarray:
    """Values for a matrix or a convolution filter, scaled so that activations keep their size."""
    # A filter is [out, in, height, width], a matrix [in, out] (an embedding table counts as one).
    fan_in = int(np.prod(shape[1:])) if len(shape) > 2 else shape[0]
    values = generator.standard_normal(shape, dtype=np.float32)
    return values * np.float32(1.0 / np.sqrt(fan_in))


def set_paddle_parameters(model: Any) -> None:
    """Give a Paddle-family model the shared starting values, in order of its parameters."""
    generator = np.random.default_rng(SEED)
    for name, parameter in model.named_parameters():
        shape = tuple(parameter.shape)
        if name.endswith(("_mean", "_variance")):
            continue  # Paddle lists batch normalisation's running statistics among the parameters.
        if len(shape) > 1:
            parameter.set_value(draw_parameter(generator, shape))
        elif name.endswith("bias"):
            parameter.set_value(np.zeros(shape, np.float32))
        else:
            parameter.set_value(np.ones(shape, np.float32))


def set_torch_parameters(torch: Any, model: Any) -> None:
    """The same values in a PyTorch model, whose Linear keeps its matrix transposed."""
    generator = np.random.default_rng(SEED)
    with torch.no_grad():
        for module in model.modules():
            for name, parameter in module.named_parameters(recurse=False):
                shape = tuple(parameter.shape)
                if isinstance(module, torch.nn.Linear) and len(shape) == 2:
                    values = draw_parameter(generator, shape[::-1]).T
                    parameter.copy_(torch.from_numpy(np.ascontiguousarray(values)))
                elif len(shape) > 1:
                    parameter.copy_(torch.from_numpy(draw_parameter(generator, shape)))
                elif name.endswith("bias"):
                    parameter.zero_()
                else:
                    parameter.fill_(1.0)


def classification_batches(
    input_shape: tuple[int, ...], num_classes: int, num_batches: int = NUM_BATCHES
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Random inputs with random int64 labels."""
    generator = np.random.default_rng(SEED + 1)
    return [
        (
            generator.standard_normal(input_shape, dtype=np.float32),
            generator.integers(0, num_classes, input_shape[0], dtype=np.int64),
        )
        for _ in range(num_batches)
    ]
