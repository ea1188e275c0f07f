"""A small network that reads handwritten digits, trained once for all tests that ask for it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import proa as paddle
import proa.nn.functional as F
from proa import nn

NUM_TRAIN = 800
BATCH = 100


class Digits(nn.Layer):
    """Convolutions with batch norms and a residual, a depthwise one, two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Conv2D(1, 16, 3, padding=1), nn.BatchNorm2D(16)
        self.second, self.second_norm = nn.Conv2D(16, 16, 3, padding=1, bias_attr=False), nn.BatchNorm2D(16)
        self.alone = nn.Conv2D(16, 16, 3, padding=1, groups=16)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2D(2)
        self.hidden, self.output = nn.Linear(256, 32), nn.Linear(32, 10)

    def forward(self, x: Any) -> Any:
        x = self.relu(self.norm(self.first(x)))
        x = self.relu(self.second_norm(self.second(x)) + x)
        x = self.pool(self.relu(self.alone(x)))
        return self.output(self.relu(self.hidden(x.flatten(1))))


@functools.cache
def data() -> tuple[np.ndarray, np.ndarray]:
    pixels, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    return pixels.reshape(-1, 1, 8, 8).astype("float32")[order] / 16.0, labels.astype("int64")[order]


def batches() -> list[tuple[paddle.Tensor, paddle.Tensor]]:
    images, labels = data()
    return [
        (paddle.to_tensor(images[i : i + BATCH]), paddle.to_tensor(labels[i : i + BATCH]))
        for i in range(0, NUM_TRAIN, BATCH)
    ]


def train(model: nn.Layer, epochs: int, rate: float = 4e-3) -> None:
    model.train()
    optimizer = paddle.optimizer.Adam(learning_rate=rate, parameters=model.parameters())
    for _ in range(epochs):
        for x, y in batches():
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            optimizer.clear_grad()


@functools.cache
def trained() -> Digits:
    """Do not change it."""
    paddle.seed(1)
    model = Digits()
    train(model, 12)
    model.eval()
    return model


def accuracy(model: Any) -> float:
    """In points, on the 997 images that were not trained on."""
    images, labels = data()
    with paddle.no_grad():
        found = model(paddle.to_tensor(images[NUM_TRAIN:])).numpy().argmax(axis=1)
    return 100.0 * float((found == labels[NUM_TRAIN:]).mean())
