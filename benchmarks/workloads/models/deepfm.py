"""Training DeepFM, a recommendation model (26 sparse fields, 13 numbers, batch 2048), with Adam.

Each field has a table of vectors and one of weights; pairs of vectors are multiplied (the factorisation machine), and all
vectors go through an MLP. Tables and their gradients are dense, as all frameworks have them unless asked otherwise: most of
a step is memory traffic.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.workloads.common import NUM_BATCHES, SEED, set_paddle_parameters, set_torch_parameters
from benchmarks.workloads.training import Batches, training_families

NUM_FIELDS = 26
NUM_NUMBERS = 13
MOST_ROWS = 100_000
BATCH = 2048
VECTOR = 16
WIDTHS = (400, 400, 400)


def table_sizes(rows: int) -> list[int]:
    """The number of rows of each field's table: from a tenth of `rows` to all of them."""
    return [int(size) for size in np.linspace(rows // 10, rows, NUM_FIELDS)]


def batches(batch: int = BATCH, rows: int = MOST_ROWS) -> Batches:
    """Row numbers [batch, fields], small ones more often, numbers [batch, 13], and labels 0 or 1."""
    generator = np.random.default_rng(SEED + 4)
    sizes = np.array(table_sizes(rows))
    return [
        (
            (
                (generator.random((batch, NUM_FIELDS)) ** 3 * sizes).astype(np.int64),
                generator.standard_normal((batch, NUM_NUMBERS), dtype=np.float32),
            ),
            generator.integers(0, 2, batch, dtype=np.int64),
        )
        for _ in range(NUM_BATCHES)
    ]


def paddle_deepfm(paddle: Any, rows: int = MOST_ROWS, **sizes: int) -> Any:
    """The model as a Paddle layer; its scores are those of two classes, of which the first is always 0."""
    nn = paddle.nn

    class DeepFM(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.weights = nn.LayerList([nn.Embedding(size, 1) for size in table_sizes(rows)])
            self.vectors = nn.LayerList([nn.Embedding(size, VECTOR) for size in table_sizes(rows)])
            self.linear = nn.Linear(NUM_NUMBERS, 1)
            widths = [NUM_FIELDS * VECTOR + NUM_NUMBERS, *WIDTHS]
            self.hidden = nn.LayerList([nn.Linear(a, b) for a, b in pairwise(widths)])
            self.head = nn.Linear(WIDTHS[-1], 1)

        def forward(self, fields: Any, numbers: Any) -> Any:
            columns = [fields[:, i] for i in range(NUM_FIELDS)]
            score = self.linear(numbers)
            for table, column in zip(self.weights, columns, strict=True):
                score = score + table(column)
            vectors = paddle.stack([table(c) for table, c in zip(self.vectors, columns, strict=True)], axis=1)
            total = vectors.sum(axis=1)
            score = score + 0.5 * (total * total - (vectors * vectors).sum(axis=1)).sum(axis=1, keepdim=True)
            x = paddle.concat([vectors.reshape([-1, NUM_FIELDS * VECTOR]), numbers], axis=1)
            for layer in self.hidden:
                x = nn.functional.relu(layer(x))
            score = score + self.head(x)
            return paddle.concat([paddle.zeros_like(score), score], axis=1)

    model = DeepFM()
    set_paddle_parameters(model)
    return model


def torch_deepfm(torch: Any, rows: int = MOST_ROWS, **sizes: int) -> Any:
    """The same in PyTorch."""
    nn = torch.nn

    class DeepFM(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weights = nn.ModuleList([nn.Embedding(size, 1) for size in table_sizes(rows)])
            self.vectors = nn.ModuleList([nn.Embedding(size, VECTOR) for size in table_sizes(rows)])
            self.linear = nn.Linear(NUM_NUMBERS, 1)
            widths = [NUM_FIELDS * VECTOR + NUM_NUMBERS, *WIDTHS]
            self.hidden = nn.ModuleList([nn.Linear(a, b) for a, b in pairwise(widths)])
            self.head = nn.Linear(WIDTHS[-1], 1)

        def forward(self, fields: Any, numbers: Any) -> Any:
            columns = [fields[:, i] for i in range(NUM_FIELDS)]
            score = self.linear(numbers)
            for table, column in zip(self.weights, columns, strict=True):
                score = score + table(column)
            vectors = torch.stack([table(c) for table, c in zip(self.vectors, columns, strict=True)], dim=1)
            total = vectors.sum(dim=1)
            score = score + 0.5 * (total * total - (vectors * vectors).sum(dim=1)).sum(dim=1, keepdim=True)
            x = torch.cat([vectors.reshape(-1, NUM_FIELDS * VECTOR), numbers], dim=1)
            for layer in self.hidden:
                x = nn.functional.relu(layer(x))
            score = score + self.head(x)
            return torch.cat([torch.zeros_like(score), score], dim=1)

    model = DeepFM()
    set_torch_parameters(torch, model)
    return model


FAMILIES = training_families(paddle_deepfm, torch_deepfm, batches, "Adam")
