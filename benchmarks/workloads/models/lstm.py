"""An LSTM as a Python loop over time, forward and backward: many small dependent operations."""

from __future__ import annotations

from typing import Any

import numpy as np


def lstm_arrays(num_steps: int, batch: int, hidden: int) -> dict[str, Any]:
    """Inputs for every step and the cell's three parameters."""
    generator = np.random.default_rng(11)
    scale = np.float32(1.0 / np.sqrt(hidden))

    def normal(*shape: int) -> np.ndarray:
        return generator.standard_normal(shape, dtype=np.float32)

    return {
        "inputs": [normal(batch, hidden) for _ in range(num_steps)],
        "input_weight": normal(hidden, 4 * hidden) * scale,
        "hidden_weight": normal(hidden, 4 * hidden) * scale,
        "bias": np.zeros(4 * hidden, np.float32),
        "zeros": np.zeros((batch, hidden), np.float32),
    }


class PaddleLSTM:
    """Matrix products, a split and elementwise functions in a loop; backward to the parameters."""

    def __init__(self, paddle: Any, num_steps: int = 100, batch: int = 16, hidden: int = 64) -> None:
        arrays = lstm_arrays(num_steps, batch, hidden)
        self.paddle = paddle
        self.inputs = [paddle.to_tensor(array) for array in arrays["inputs"]]
        self.zeros = paddle.to_tensor(arrays["zeros"])
        self.parameters = [
            paddle.to_tensor(arrays[name], stop_gradient=False) for name in ("input_weight", "hidden_weight", "bias")
        ]

    def run(self) -> float:
        paddle = self.paddle
        sigmoid, tanh = paddle.nn.functional.sigmoid, paddle.tanh
        input_weight, hidden_weight, bias = self.parameters
        hidden = cell = self.zeros
        for x in self.inputs:
            gates = paddle.matmul(x, input_weight) + paddle.matmul(hidden, hidden_weight) + bias
            enter, forget, candidate, leave = paddle.split(gates, 4, axis=-1)
            cell = sigmoid(forget) * cell + sigmoid(enter) * tanh(candidate)
            hidden = sigmoid(leave) * tanh(cell)
        loss = (hidden * hidden).mean()
        loss.backward()
        value = loss.item() + float(hidden_weight.grad.numpy()[0, 0])
        for parameter in self.parameters:
            parameter.clear_grad()
        return value


class TorchLSTM:
    """The same in PyTorch."""

    def __init__(self, torch: Any, num_steps: int = 100, batch: int = 16, hidden: int = 64) -> None:
        arrays = lstm_arrays(num_steps, batch, hidden)
        self.torch = torch
        self.inputs = [torch.from_numpy(array) for array in arrays["inputs"]]
        self.zeros = torch.from_numpy(arrays["zeros"])
        self.parameters = [
            torch.from_numpy(arrays[name]).requires_grad_() for name in ("input_weight", "hidden_weight", "bias")
        ]

    def run(self) -> float:
        torch = self.torch
        sigmoid, tanh = torch.sigmoid, torch.tanh
        input_weight, hidden_weight, bias = self.parameters
        hidden = cell = self.zeros
        for x in self.inputs:
            gates = torch.matmul(x, input_weight) + torch.matmul(hidden, hidden_weight) + bias
            enter, forget, candidate, leave = torch.chunk(gates, 4, dim=-1)
            cell = sigmoid(forget) * cell + sigmoid(enter) * tanh(candidate)
            hidden = sigmoid(leave) * tanh(cell)
        loss = (hidden * hidden).mean()
        loss.backward()
        value = loss.item() + float(hidden_weight.grad.numpy()[0, 0])
        for parameter in self.parameters:
            parameter.grad = None
        return value


FAMILIES = {"paddle": PaddleLSTM, "torch": TorchLSTM}
