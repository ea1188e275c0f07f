"""What can be set of a server of language models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ...serving.settings import HostSettings

# Logarithms of probabilities that OpenAI's API gives for each token, at most.
MOST_ALTERNATIVES = 20


@dataclass(frozen=True)
class Settings(HostSettings):
    """Where it listens, as for every server, and how much one caller may ask for."""

    max_request_mb: float = 8.0
    max_memory_mb: float = 256.0
    max_queue: int = 256  # answers that are being written or wait; more are refused with 429
    max_prompt_tokens: int | None = None  # None: as many as the model can read
    max_tokens: int | None = None  # of an answer; None: as many as the model has room for
    max_choices: int = 16  # answers to one request: prompts times n
    timeout_seconds: float = 600.0  # from the arrival of a request to the end of its answer

    def checked(self) -> Self:
        for name in ("max_queue", "max_choices", "timeout_seconds"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be greater than 0; received {getattr(self, name)}")
        for name in ("max_prompt_tokens", "max_tokens"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1; received {getattr(self, name)}")
        return super().checked()
