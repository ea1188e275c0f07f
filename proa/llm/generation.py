"""Plain generation, one batch at a time, for tests and short scripts: a growing text on a plain cache.

A service uses `proa.llm.engine`. What both have in common is the model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import value_error
from ..eager.modes import recording_gradients
from ..eager.tensor import Tensor, tensor_from_data
from .config import Config

Step = Callable[[Tensor], Any]  # ids [batch, length] -> logits of what follows the last one [batch, vocabulary]


def extended(
    config: Config, step: Step, ids: Tensor, max_tokens: int, *, temperature: float = 0.0, top_k: int = 0,
    top_p: float = 1.0, seed: int | None = None, ends: tuple[int, ...] | None = None,
) -> Tensor:  # fmt: skip
    """The tokens that follow `ids`, int64 `[batch, up to max_tokens]`.

    A row ends at one of `ends` (the model's own by default, `()`: never), and is filled up with the pad token or the end.
    """
    if max_tokens < 1 or temperature < 0 or top_k < 0 or not 0 < top_p <= 1:
        raise value_error(
            "generate", "max_tokens is at least 1, temperature and top_k are not negative, top_p is within (0, 1]",
            f"max_tokens: {max_tokens}, temperature: {temperature}, top_k: {top_k}, top_p: {top_p}",
        )  # fmt: skip
    ends = config.eos if ends is None else ends
    fill = config.pad if config.pad is not None else ends[0] if ends else 0
    random = np.random.default_rng(seed)
    batch = ids._aval.shape[0]
    found, over = np.full((batch, max_tokens), fill, np.int64), np.zeros(batch, bool)
    with recording_gradients(False):
        for number in range(max_tokens):
            logits = step(ids)
            drawn = logits.argmax(-1).numpy() if temperature == 0 else _drawn(logits, temperature, top_k, top_p, random)
            found[~over, number] = drawn[~over]
            over |= np.isin(drawn, ends)
            if over.all():
                return tensor_from_data(found[:, : number + 1].copy())
            ids = tensor_from_data(found[:, number : number + 1].copy())
    return tensor_from_data(found)


def _drawn(logits: Any, temperature: float, top_k: int, top_p: float, random: np.random.Generator) -> np.ndarray:
    """A token for each row, drawn from the likeliest ones."""
    scores = logits.astype("float32").numpy().astype(np.float64) / temperature
    order = np.argsort(-scores, axis=-1, kind="stable")
    ranked = np.take_along_axis(scores, order, -1)
    probabilities = np.exp(ranked - ranked[:, :1])
    probabilities /= probabilities.sum(-1, keepdims=True)
    kept = np.cumsum(probabilities, -1) - probabilities < top_p  # the first one always
    if top_k:
        kept[:, top_k:] = False
    probabilities = np.where(kept, probabilities, 0.0)
    totals = np.cumsum(probabilities, -1)
    place = (totals < random.random((len(probabilities), 1)) * totals[:, -1:]).sum(-1)
    place = np.minimum(place, kept.sum(-1) - 1)
    return np.take_along_axis(order, place[:, None], -1)[:, 0]
