"""What the examples share: the digits that ship inside scikit-learn, and the command line's common options."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits  # type: ignore[import-untyped]

import proa as paddle

OUTPUT = Path(__file__).resolve().parents[1] / "build" / "examples"


def options(description: str | None, epochs: int) -> argparse.ArgumentParser:
    """A parser with `--epochs`, `--limit` and `--seed`; an example adds what it needs."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--epochs", type=int, default=epochs, help="passes over the training data (default: %(default)s)"
    )
    parser.add_argument("--limit", type=int, help="train on that many samples only, to see that everything runs")
    parser.add_argument("--seed", type=int, default=2024, help="of weights and shuffling (default: %(default)s)")
    return parser


def start(seed: int) -> None:
    """Fixes the random numbers of proa (weights, dropout) and of NumPy (samplers shuffle with them)."""
    paddle.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (samplers draw from this one, as in Paddle)


def digits() -> tuple[np.ndarray, np.ndarray]:
    """1,797 handwritten digits: images float32[count, 1, 8, 8] between 0 and 1 in a fixed random order, labels int64."""
    load: Any = load_digits  # scikit-learn has no types
    loaded = load(return_X_y=True)
    pixels: np.ndarray = loaded[0]
    labels: np.ndarray = loaded[1]
    order = np.random.default_rng(0).permutation(len(pixels))
    images = np.asarray(pixels, "float32").reshape(-1, 1, 8, 8) / 16.0
    return images[order], np.asarray(labels, "int64")[order]


class Arrays(paddle.io.Dataset):
    """Samples from the rows of some arrays."""

    def __init__(self, *arrays: np.ndarray) -> None:
        self.arrays = arrays

    def __getitem__(self, index: int) -> tuple[np.ndarray, ...]:
        return tuple(array[index] for array in self.arrays)

    def __len__(self) -> int:
        return len(self.arrays[0])
