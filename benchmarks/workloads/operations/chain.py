"""A chain of small elementwise operations: what one eager operation costs, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np


def chain_inputs() -> tuple[np.ndarray, np.ndarray]:
    """A start, and an operand near one, so that a long chain neither overflows nor underflows."""
    generator = np.random.default_rng(7)
    start = generator.uniform(-1.0, 1.0, (8, 8)).astype(np.float32)
    operand = generator.uniform(0.99, 1.01, (8, 8)).astype(np.float32)
    return start, operand


class PaddleChain:
    """`x + b`, `x * b` alternating; with `gradient`, the backward pass through it as well."""

    def __init__(self, paddle: Any, num_ops: int = 1000, gradient: bool = False) -> None:
        start, operand = chain_inputs()
        self.start = paddle.to_tensor(start, stop_gradient=not gradient)
        self.operand = paddle.to_tensor(operand)
        self.num_ops = num_ops
        self.gradient = gradient

    def run(self) -> float:
        x, b = self.start, self.operand
        for _ in range(self.num_ops // 2):
            x = x + b
            x = x * b
        if not self.gradient:
            return float(x.numpy()[0, 0])
        x.sum().backward()
        # Read the gradient: a framework that computes lazily could otherwise skip the whole pass.
        value = float(self.start.grad.numpy()[0, 0])
        self.start.clear_grad()
        return value


class TorchChain:
    """The same chain in PyTorch."""

    def __init__(self, torch: Any, num_ops: int = 1000, gradient: bool = False) -> None:
        start, operand = chain_inputs()
        self.start = torch.from_numpy(start).requires_grad_(gradient)
        self.operand = torch.from_numpy(operand)
        self.num_ops = num_ops
        self.gradient = gradient

    def run(self) -> float:
        x, b = self.start, self.operand
        for _ in range(self.num_ops // 2):
            x = x + b
            x = x * b
        if not self.gradient:
            return float(x.numpy()[0, 0])
        x.sum().backward()
        value = float(self.start.grad.numpy()[0, 0])
        self.start.grad = None
        return value


FAMILIES = {"paddle": PaddleChain, "torch": TorchChain}
