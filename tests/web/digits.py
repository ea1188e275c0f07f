"""A classifier of handwritten digits, trained in a few seconds, saved as a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import proa as paddle
import proa.nn.functional as F
from proa import nn


def train_digits(path: Path) -> None:
    """The network of examples/digits.py on all of scikit-learn's digits, varied a little."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    images = np.asarray(pixels, "float32").reshape(-1, 1, 8, 8) / 16
    generator = np.random.default_rng(7)
    paddle.seed(7)
    model = nn.Sequential(
        nn.Conv2D(1, 16, 3, padding=1), nn.BatchNorm2D(16), nn.ReLU(), nn.Conv2D(16, 32, 3, padding=1),
        nn.BatchNorm2D(32), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10),
    )  # fmt: skip
    optimizer = paddle.optimizer.Adam(2e-3, parameters=model.parameters())
    for _ in range(8):
        order = generator.permutation(len(images))
        for start in range(0, len(images) - 63, 64):
            chosen = order[start : start + 64]
            loss = F.cross_entropy(
                model(paddle.to_tensor(varied(images[chosen], generator))), paddle.to_tensor(labels[chosen])
            )
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
    model.eval()
    paddle.jit.save(model, str(path), input_spec=[paddle.static.InputSpec([None, 1, 8, 8], "float32", "image")])


def varied(images: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Shifted by at most a pixel, lighter or darker: hands and pens differ."""
    moved = np.roll(images, generator.integers(-1, 2, 2), (2, 3)) if generator.random() < 0.5 else images
    return np.clip(moved * generator.uniform(0.7, 1.4, (len(images), 1, 1, 1)), 0, 1).astype("float32")
