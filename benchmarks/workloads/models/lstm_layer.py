"""Training a tagger on nn.LSTM (two layers, 256 wide, 64 steps, batch 32) with Adam: every step of time has a label."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workloads.common import NUM_BATCHES, SEED, set_paddle_parameters, set_torch_parameters
from benchmarks.workloads.training import Batches, training_families

NUM_LAYERS = 2
WIDTH = 256
NUM_STEPS = 64
BATCH = 32
NUM_TAGS = 32


def batches(batch: int = BATCH, length: int = NUM_STEPS) -> Batches:
    """Random vectors [batch, time, width], and a label for each of them, in one row."""
    generator = np.random.default_rng(SEED + 3)
    return [
        (
            generator.standard_normal((batch, length, WIDTH), dtype=np.float32),
            generator.integers(0, NUM_TAGS, batch * length, dtype=np.int64),
        )
        for _ in range(NUM_BATCHES)
    ]


def paddle_tagger(paddle: Any, **sizes: int) -> Any:
    """The LSTM and a linear layer, as a Paddle layer."""
    nn = paddle.nn

    class Tagger(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=NUM_LAYERS)
            self.head = nn.Linear(WIDTH, NUM_TAGS)

        def forward(self, x: Any) -> Any:
            hidden, _ = self.lstm(x)
            return paddle.reshape(self.head(hidden), [-1, NUM_TAGS])

    model = Tagger()
    set_paddle_parameters(model)
    for name, parameter in model.named_parameters():
        if "bias" in name:
            parameter.set_value(np.zeros(tuple(parameter.shape), np.float32))
    return model


def torch_tagger(torch: Any, **sizes: int) -> Any:
    """The same in PyTorch, whose LSTM keeps its matrices and gates as Paddle's does."""
    nn = torch.nn

    class Tagger(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=NUM_LAYERS, batch_first=True)
            self.head = nn.Linear(WIDTH, NUM_TAGS)

        def forward(self, x: Any) -> Any:
            hidden, _ = self.lstm(x)
            return self.head(hidden).reshape(-1, NUM_TAGS)

    model = Tagger()
    set_torch_parameters(torch, model)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "bias" in name:
                parameter.zero_()
    return model


FAMILIES = training_families(paddle_tagger, torch_tagger, batches, "Adam")
