"""Texts as vectors: the mean of the last states of a text's tokens, of length 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...eager.modes import no_grad
from ...eager.tensor import tensor_from_data
from ..encoder import Encoder

_MOST_TOKENS = 8192  # that are computed together, padding included
_LEAST_LENGTH = 16


class Embedder:
    """Gives a vector for each list of tokens.

    Lists are padded to a power of two and run together with others of that length, so that few shapes come up. What stands
    behind a text changes nothing: an encoder is told what is padding, and a decoder does not look ahead.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._most = model.config.max_positions

    def __call__(self, texts: Sequence[Sequence[int]]) -> list[np.ndarray]:
        found: list[np.ndarray] = [np.zeros(0)] * len(texts)
        by_length: dict[int, list[int]] = {}
        for index, tokens in enumerate(texts):
            by_length.setdefault(self._padded(len(tokens)), []).append(index)
        for length, indices in sorted(by_length.items()):
            rows = max(1, _MOST_TOKENS // length)
            for start in range(0, len(indices), rows):
                chosen = indices[start : start + rows]
                for index, vector in zip(chosen, self._vectors([texts[each] for each in chosen], length), strict=True):
                    found[index] = vector
        return found

    def _padded(self, length: int) -> int:
        return min(max(_LEAST_LENGTH, 1 << (length - 1).bit_length()), self._most)

    def _vectors(self, texts: Sequence[Sequence[int]], length: int) -> np.ndarray:
        pad = getattr(self._model.config, "pad", None) or 0
        ids = np.full((_next_power(len(texts)), length), pad, np.int64)
        mask = np.zeros(ids.shape, np.float32)
        for row, tokens in enumerate(texts):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1.0
        mask[len(texts) :, 0] = 1.0  # rows that nobody asked for: no mean of nothing
        with no_grad():
            if isinstance(self._model, Encoder):
                vectors = self._model.embed(tensor_from_data(ids), tensor_from_data(mask)).numpy()
                return vectors[: len(texts)].astype(np.float32)
            states = self._model.hidden(tensor_from_data(ids)).astype("float32").numpy()
        means = (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return (means / np.maximum(np.linalg.norm(means, axis=-1, keepdims=True), 1e-12))[: len(texts)]


def _next_power(count: int) -> int:
    return 1 << (count - 1).bit_length()
