"""The training loop that the larger workloads share: Adam or AdamW, the loss read at every tenth step."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle, islice
from typing import Any

import numpy as np

READ_EVERY = 10
LEARNING_RATE = 1e-3

Batches = list[tuple[np.ndarray, np.ndarray]]


class PaddleTraining:
    """`num_steps` steps of a model whose call gives rows of scores, one row for each label."""

    def __init__(self, paddle: Any, model: Any, batches: Batches, optimizer: str, num_steps: int) -> None:
        self.cross_entropy = paddle.nn.functional.cross_entropy
        self.model = model
        make = getattr(paddle.optimizer, optimizer)
        self.optimizer = make(learning_rate=LEARNING_RATE, parameters=model.parameters())
        self.batches = [(paddle.to_tensor(x), paddle.to_tensor(y)) for x, y in batches]
        self.num_steps = num_steps

    def run(self) -> float:
        value = 0.0
        for number, (x, y) in enumerate(islice(cycle(self.batches), self.num_steps), start=1):
            loss = self.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()
            if number % READ_EVERY == 0 or number == self.num_steps:
                value = loss.item()
        # The first layer's weight is the last thing that a step brings up to date.
        next(iter(self.model.parameters())).numpy()
        return value


class TorchTraining:
    """The same loop in PyTorch."""

    def __init__(self, torch: Any, model: Any, batches: Batches, optimizer: str, num_steps: int) -> None:
        self.cross_entropy = torch.nn.functional.cross_entropy
        self.model = model
        self.optimizer = getattr(torch.optim, optimizer)(model.parameters(), lr=LEARNING_RATE)
        self.batches = [(torch.from_numpy(x), torch.from_numpy(y)) for x, y in batches]
        self.num_steps = num_steps

    def run(self) -> float:
        value = 0.0
        for number, (x, y) in enumerate(islice(cycle(self.batches), self.num_steps), start=1):
            loss = self.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            if number % READ_EVERY == 0 or number == self.num_steps:
                value = loss.item()
        next(iter(self.model.parameters())).detach().numpy()
        return value


def training_families(
    paddle_model: Callable[[Any], Any],
    torch_model: Callable[[Any], Any],
    batches: Callable[[], Batches],
    optimizer: str,
) -> dict[str, Any]:
    """The table of versions for a model written once for Paddle's API and once for PyTorch's."""

    def paddle_version(paddle: Any, num_steps: int = READ_EVERY) -> PaddleTraining:
        return PaddleTraining(paddle, paddle_model(paddle), batches(), optimizer, num_steps)

    def torch_version(torch: Any, num_steps: int = READ_EVERY) -> TorchTraining:
        return TorchTraining(torch, torch_model(torch), batches(), optimizer, num_steps)

    return {"paddle": paddle_version, "torch": torch_version}
