"""Which lines are upside down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .cutting import fill
from .networks import Network

HEIGHT, WIDTH = 48, 192
BATCH = 8
DOUBTFUL = 0.3  # a line that is this likely upside down is looked at more closely


class Orienter:
    """Says for each line how likely it is upside down."""

    def __init__(self, path: str, engine: str | None = None) -> None:
        self.network = Network(path, "classifier", engine)

    def __call__(self, lines: Sequence[np.ndarray]) -> list[float]:
        pieces = [(number, piece) for number, line in enumerate(lines) for piece in _pieces(line)]
        evidence = np.zeros(len(lines))
        for start in range(0, len(pieces), BATCH):
            part = pieces[start : start + BATCH]
            batch = np.zeros((BATCH, 3, HEIGHT, WIDTH), np.float32)
            for place, (_, piece) in enumerate(part):
                batch[place] = fill(piece, HEIGHT, WIDTH)
            probabilities = np.clip(self.network(batch)[: len(part), 1].astype(np.float64), 1e-6, 1 - 1e-6)
            np.add.at(evidence, [number for number, _ in part], np.log(probabilities / (1 - probabilities)))
        return (1 / (1 + np.exp(-evidence))).tolist()


def _pieces(line: np.ndarray) -> list[np.ndarray]:
    """The line, or parts of a long one that need not be squeezed to fit: squeezed text is misjudged."""
    height, width = line.shape[:2]
    piece = height * WIDTH // HEIGHT
    if width <= 1.5 * piece:
        return [line]
    starts = [0, width - piece] if width <= 3 * piece else [0, (width - piece) // 2, width - piece]
    return [line[:, start : start + piece] for start in starts]
