"""A request while it is being answered: its tokens, its pages, and what chooses and ends it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from ...ops.generation.choosing import NUMBERS
from .request import MOST_BIASES, Piece, Request
from .stops import Stops
from .stream import Stream

_MASK = (1 << 64) - 1


def uniform(seed: int, index: int) -> float:
    """A number in [0, 1) for the token `index` of a request: the same whatever runs beside it, and after a pause."""
    state = (seed * 0x9E3779B97F4A7C15 + (index + 1) * 0xD1342543DE82EF95) & _MASK
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = ((state ^ (state >> shift)) * factor) & _MASK
    return ((state ^ (state >> 31)) >> 40) / (1 << 24)


class Sequence:
    """What the scheduler moves about. `computed` tokens have their keys and values in `pages`."""

    def __init__(
        self,
        number: int,
        request: Request,
        stream: Stream,
        decoder: Any,
        context: int,
        adapter: int = 0,
        root: Any = 0,
    ) -> None:
        sampling = request.sampling
        self.number = number  # of arrival: smaller is older
        self.sampling, self.stream, self.adapter = sampling, stream, adapter
        self.ids = [int(token) for token in request.prompt]
        self.prompt = len(self.ids)
        self.limit = min(self.prompt + sampling.max_tokens, context)  # the longest that it may become
        self.scores = request.scores  # whether those of the prompt are wanted; each is computed, no page reused
        self.computed = 0
        self.pages: list[int] = []
        self.identity, self.num_kept = 0, 0  # of the pages that are kept as a prefix
        self.root = root  # what its prefixes are kept under
        self.drafts: list[int] = []
        self.ngrams: Any = None
        self.cancelled = False
        self.guide: Any = None  # through a grammar
        self.failure: Exception | None = None  # that ends it
        self.mask: np.ndarray | None = None  # what the grammar allows next
        self._decoder = decoder
        self._stops = Stops(sampling.stop)
        self.seed = random.getrandbits(63) if sampling.seed is None else sampling.seed
        self.numbers = self._numbers()
        self.biases = self._biases()

    @property
    def remaining(self) -> int:
        """Tokens that are not computed yet; at least the last one, whose successor is wanted."""
        return len(self.ids) - self.computed

    @property
    def generated(self) -> int:
        return len(self.ids) - self.prompt

    def _numbers(self) -> np.ndarray:
        given = self.sampling
        values = (given.temperature, given.top_p, given.min_p, given.repetition_penalty, given.presence_penalty,
                  given.frequency_penalty, 0.0)  # fmt: skip
        assert len(values) == len(NUMBERS)
        return np.array(values, np.float32)

    def _biases(self) -> tuple[np.ndarray, np.ndarray] | None:
        if not self.sampling.logit_bias:
            return None
        tokens, values = np.full(MOST_BIASES, -1, np.int32), np.zeros(MOST_BIASES, np.float32)
        tokens[: len(self.sampling.logit_bias)] = list(self.sampling.logit_bias)
        values[: len(self.sampling.logit_bias)] = list(self.sampling.logit_bias.values())
        return tokens, values

    def add(
        self, token: int, logprob: float | None, top: tuple[tuple[int, float], ...], is_end: bool, ends: bool
    ) -> bool:
        """Appends a token and streams it; True when the answer is complete. `is_end`: it is no text but says that the answer
        ends; `ends`: nothing may follow it."""
        self.ids.append(token)
        text = "" if is_end or self._decoder is None else self._stops.add(self._decoder.step(token))
        finish = "stop" if is_end or ends or self._stops.found is not None else None
        if finish is None and len(self.ids) >= self.limit:
            finish = "length"
        if finish is not None:
            text += self._rest()
        self.stream.put(Piece(token, text, logprob, top, finish))
        return finish is not None

    def _rest(self) -> str:
        """What was still held back when the answer ends."""
        if self._decoder is None or self._stops.found is not None:
            return ""
        return self._stops.add(self._decoder.flush()) + self._stops.rest()

    def end(self, finish: str, error: Exception | None = None) -> None:
        """Ends it without another token."""
        text = self._rest() if finish == "length" else ""
        self.stream.put(Piece(None, text, finish=finish, error=error))
