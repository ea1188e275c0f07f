"""A conversation with a model: what was said, and how answers are chosen. `proa chat` is a terminal around it."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any

from .engine.request import Request, Sampling

# What may be set by name while one talks, and of which kind it is.
SETTINGS: dict[str, type] = {
    "temperature": float, "top_p": float, "top_k": int, "min_p": float, "max_tokens": int, "repetition_penalty": float,
    "presence_penalty": float, "frequency_penalty": float, "seed": int,
}  # fmt: skip


@dataclass
class Figures:
    """How quickly the last answer came."""

    num_prompt: int = 0
    num_written: int = 0
    first: float | None = None  # seconds to the first token
    seconds: float = 0.0

    def __str__(self) -> str:
        if self.first is None:
            return "no token came"
        rate = (self.num_written - 1) / max(self.seconds - self.first, 1e-9)
        return (
            f"{self.num_prompt} tokens read, first token after {self.first * 1e3:.0f} ms, "
            f"{self.num_written} written, {rate:.1f} tokens/s"
        )


@dataclass
class Talk:
    """Messages so far. `sampling.max_tokens` is a wish: an answer also ends where the model has no more room."""

    engine: Any
    tokenizer: Any
    context: int
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0.7, top_p=0.95, max_tokens=1024))
    system: str = ""
    messages: list[dict[str, str]] = field(default_factory=list)
    figures: Figures = field(default_factory=Figures)
    num_forgotten: int = 0  # messages that the last answer did not see any more

    def ask(self, text: str) -> Generator[str, None, None]:
        """Says something; gives the answer piece by piece. Whoever stops early leaves what was said in the conversation."""
        self.messages.append({"role": "user", "content": text})
        return self.answer()

    def answer(self) -> Generator[str, None, None]:
        """The answer to the last message."""
        started = time.perf_counter()
        tokens = self._tokens()
        self.figures = figures = Figures(len(tokens))
        room = self.context - len(tokens)
        stream = self.engine.submit(
            Request(tokens, replace(self.sampling, max_tokens=min(self.sampling.max_tokens, room)))
        )
        said: list[str] = []
        try:
            for piece in stream:
                if piece.token is not None:
                    figures.num_written += 1
                    figures.first = figures.first or time.perf_counter() - started
                    figures.seconds = time.perf_counter() - started
                if piece.text:
                    said.append(piece.text)
                    yield piece.text
        finally:
            stream.cancel()
            self.messages.append({"role": "assistant", "content": "".join(said)})

    def retry(self) -> Generator[str, None, None] | None:
        """Another answer to the last question; None if there is none."""
        while self.messages and self.messages[-1]["role"] == "assistant":
            self.messages.pop()
        return self.answer() if self.messages else None

    def forget(self) -> None:
        self.messages.clear()
        self.num_forgotten = 0

    def set(self, name: str, text: str) -> None:
        """Changes how answers are chosen. ValueError says what can be."""
        if name not in SETTINGS:
            raise ValueError(f"there is no setting {name!r}; there are {', '.join(SETTINGS)}")
        try:
            value: Any = None if name == "seed" and text == "none" else SETTINGS[name](text)
        except ValueError:
            raise ValueError(
                f"{name} is a {'whole ' if SETTINGS[name] is int else ''}number; received {text!r}"
            ) from None
        self.sampling = replace(self.sampling, **{name: value})

    def _tokens(self) -> list[int]:
        """The conversation as the model reads it, without its oldest messages where it has become too long."""
        first = [{"role": "system", "content": self.system}] if self.system else []
        # An answer needs some room, or the model would be cut off in the middle of its first sentence.
        most = self.context - min(self.sampling.max_tokens, max(1, self.context // 4))
        for start in range(0, len(self.messages), 2):
            tokens = list(self.tokenizer.chat(first + self.messages[start:], add_generation_prompt=True))
            if len(tokens) <= most:
                self.num_forgotten = start
                return tokens
        length = len(tokens)
        self.messages.pop()
        raise ValueError(f"this message is too long: with it the model would read {length} tokens of at most {most}")
