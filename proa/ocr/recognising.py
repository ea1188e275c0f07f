"""What lines say: a network that gives a character for each small step along the line, and CTC's way to read that."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.errors import value_error
from .cutting import fill
from .models import read_characters
from .networks import Network

HEIGHT = 48
WIDTHS = (320, 480, 640, 960, 1280, 1920, 2560, 3840)  # a few, so that there are few executables
# How much probability of a space there is between two letters, over all steps, where there is one; and beside other signs.
SPACE, SPACE_BESIDE_SIGNS = 0.04, 0.2
FIRST_IDEOGRAPH = 0x2E80  # Unicode has the scripts of East Asia from here on


class Recogniser:
    """Reads lines that are cut out and upright."""

    def __init__(self, path: str, characters: str, engine: str | None = None) -> None:
        self.network = Network(path, "recogniser", engine)
        self.characters = read_characters(characters)

    def __call__(self, lines: Sequence[np.ndarray]) -> list[tuple[str, float]]:
        """The text of each line, and how sure the network is of it."""
        return [self._read(line) for line in lines]

    def _read(self, line: np.ndarray) -> tuple[str, float]:
        wanted = HEIGHT * line.shape[1] / line.shape[0]
        width = next((width for width in WIDTHS if width >= wanted), WIDTHS[-1])
        probabilities = self.network(fill(line, HEIGHT, width)[None])[0]
        if probabilities.shape[-1] != len(self.characters):
            raise value_error(
                "ocr", f"the recogniser tells {probabilities.shape[-1]} classes apart, its characters are another number",
                f"{len(self.characters) - 2} characters", "name the file of characters that belongs to the model",
            )  # fmt: skip
        return decode(probabilities, self.characters)


def decode(probabilities: np.ndarray, characters: Sequence[str]) -> tuple[str, float]:
    """[steps, classes] as text: the likeliest class of each step, repetitions merged, blanks (class 0) left out.

    PP-OCR's networks hesitate to say that there is a space (the last class), but between the letters of a word they are
    sure that there is none: where they are not, there is one.
    """
    best = probabilities.argmax(axis=1)
    kept = best != 0
    kept[1:] &= best[1:] != best[:-1]
    steps = np.flatnonzero(kept)
    if not len(steps):
        return "", 0.0
    letters = [characters[int(k)] for k in best[steps]]
    space = np.concatenate([[0.0], probabilities[:, -1].cumsum()])
    text = letters[0]
    for before, after, letter in zip(steps, steps[1:], letters[1:]):
        if space[after] - space[before + 1] >= _least_probability(text[-1], letter):
            text += " "
        text += letter
    return text, float(probabilities.max(axis=1)[steps].mean())


def _least_probability(before: str, after: str) -> float:
    """How likely a space must be to stand between two characters. Beside Chinese and Japanese ones there is none that the
    network does not say itself, beside a space no second one; beside signs (user@host) it hesitates more."""
    if " " in (before, after) or max(ord(before), ord(after[0])) >= FIRST_IDEOGRAPH:
        return float("inf")
    return SPACE if before.isalnum() and after.isalnum() else SPACE_BESIDE_SIGNS
