"""What is asked of the engine, and what comes back, piece by piece."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import type_error, value_error

MOST_BIASES = 512
MOST_TOPS = 20
MOST_STOPS = 16


@dataclass(frozen=True)
class Grammar:
    """What an answer must look like: `kind` is "json_schema" (a schema as dict or text), "json" (any object), "regex" or
    "lark"."""

    kind: str
    text: Any = None

    def __post_init__(self) -> None:
        if self.kind not in ("json_schema", "json", "regex", "lark"):
            raise value_error("Grammar", "kind is json_schema, json, regex or lark", repr(self.kind))


@dataclass(frozen=True)
class Sampling:
    """How tokens are chosen. A temperature of 0 takes the likeliest token; `seed` None draws one for the request."""

    max_tokens: int = 128
    temperature: float = 0.0
    top_k: int = 0  # 0: all
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int | None = None
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    stop: Sequence[str] = ()
    stop_tokens: Sequence[int] = ()  # beside the model's own ends
    ignore_end: bool = False  # go on behind the model's ends, to max_tokens
    logprobs: int | None = None  # None: none; n: of the chosen token and the n likeliest
    grammar: Grammar | None = None

    def __post_init__(self) -> None:
        _within("max_tokens", self.max_tokens, 1, math.inf, whole=True)
        _within("temperature", self.temperature, 0.0, 100.0)
        _within("top_k", self.top_k, 0, math.inf, whole=True)
        _within("top_p", self.top_p, 0.0, 1.0, above=True)
        _within("min_p", self.min_p, 0.0, 1.0)
        _within("repetition_penalty", self.repetition_penalty, 0.0, 100.0, above=True)
        _within("presence_penalty", self.presence_penalty, -100.0, 100.0)
        _within("frequency_penalty", self.frequency_penalty, -100.0, 100.0)
        if self.logprobs is not None:
            _within("logprobs", self.logprobs, 0, MOST_TOPS, whole=True)
        if self.seed is not None and type(self.seed) is not int:
            raise type_error("Sampling", "seed is a whole number or None", repr(self.seed))
        stops = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)
        if len(stops) > MOST_STOPS or not all(isinstance(stop, str) and stop for stop in stops):
            raise value_error("Sampling", f"stop has at most {MOST_STOPS} texts, none of them empty", repr(self.stop))
        object.__setattr__(self, "stop", stops)
        if len(self.logit_bias) > MOST_BIASES:
            raise value_error("Sampling", f"logit_bias has at most {MOST_BIASES} tokens", f"{len(self.logit_bias)}")
        for token, value in self.logit_bias.items():
            if type(token) is not int or not -math.inf < float(value) < math.inf:
                raise value_error("Sampling", "logit_bias maps tokens to finite numbers", f"{token!r}: {value!r}")

    @property
    def has_penalties(self) -> bool:
        return self.repetition_penalty != 1.0 or bool(self.presence_penalty or self.frequency_penalty)


def _within(name: str, value: Any, low: float, high: float, whole: bool = False, above: bool = False) -> None:
    kinds = (int,) if whole else (int, float)
    if type(value) not in kinds:
        raise type_error("Sampling", f"{name} is a {'whole ' if whole else ''}number", repr(value))
    if not low <= value <= high or (above and value == low):
        border = f"above {low}" if above else f"at least {low}"
        raise value_error("Sampling", f"{name} is {border}, at most {high}", repr(value))


@dataclass(frozen=True)
class Request:
    """A prompt and how to go on from it. `adapter` names a LoRA adapter of the engine; None is the model itself. `scores`:
    the log-probability of each token of the prompt is wanted, too (`Stream.scores`)."""

    prompt: Sequence[int]
    sampling: Sampling = field(default_factory=Sampling)
    adapter: str | None = None
    scores: bool = False


@dataclass(frozen=True)
class Piece:
    """One token of an answer.

    `text` is what can be shown since the piece before: a token may end inside a character, or what it says may be the
    beginning of a stop text. `finish`, in the last piece: "stop", "length", "cancelled" or "error".
    """

    token: int | None
    text: str = ""
    logprob: float | None = None
    top: tuple[tuple[int, float], ...] = ()
    finish: str | None = None
    error: Exception | None = None
