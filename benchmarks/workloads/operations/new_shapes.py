"""Five operations on each of 20 shapes never seen before: the price of a new shape."""

from __future__ import annotations

from typing import Any

import numpy as np

NUM_SHAPES = 20


def new_inputs(round_number: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Two matrices and a row for each shape; no shape comes twice, also not in a later round."""
    generator = np.random.default_rng(round_number)
    inputs = []
    for position in range(NUM_SHAPES):
        number = round_number * NUM_SHAPES + position
        rows, inner, columns = 16 + number, 24 + number, 32 + number
        inputs.append(
            (
                generator.standard_normal((rows, inner), dtype=np.float32),
                generator.standard_normal((inner, columns), dtype=np.float32),
                generator.standard_normal((columns,), dtype=np.float32),
            )
        )
    return inputs


class PaddleNewShapes:
    """matmul, add, relu, mean over an axis, softmax, then the value is read."""

    def __init__(self, paddle: Any) -> None:
        self.paddle = paddle
        self.round_number = 0
        self.inputs: list[tuple[Any, Any, Any]] = []

    def prepare(self) -> None:
        self.inputs = [
            tuple(self.paddle.to_tensor(array) for array in arrays) for arrays in new_inputs(self.round_number)
        ]
        self.round_number += 1

    def run(self) -> float:
        paddle, functional = self.paddle, self.paddle.nn.functional
        total = 0.0
        for left, right, row in self.inputs:
            x = paddle.matmul(left, right)
            x = paddle.add(x, row)
            x = functional.relu(x)
            x = paddle.mean(x, axis=0)
            x = functional.softmax(x, axis=-1)
            total += float(x.numpy()[0])
        return total


class TorchNewShapes:
    """The same in PyTorch."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.round_number = 0
        self.inputs: list[tuple[Any, Any, Any]] = []

    def prepare(self) -> None:
        self.inputs = [
            tuple(self.torch.from_numpy(array) for array in arrays) for arrays in new_inputs(self.round_number)
        ]
        self.round_number += 1

    def run(self) -> float:
        torch, functional = self.torch, self.torch.nn.functional
        total = 0.0
        for left, right, row in self.inputs:
            x = torch.matmul(left, right)
            x = torch.add(x, row)
            x = functional.relu(x)
            x = torch.mean(x, dim=0)
            x = functional.softmax(x, dim=-1)
            total += float(x.numpy()[0])
        return total


FAMILIES = {"paddle": PaddleNewShapes, "torch": TorchNewShapes}
