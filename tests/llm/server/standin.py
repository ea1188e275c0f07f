"""A tokenizer of bytes and an engine without a model, whose answers the prompt decides.

A prompt that holds `say(...)yas` is answered with what stands between, `slow` makes tokens slow, `fail` makes the engine
fail after three tokens. Every other answer is a text made from the prompt (and the seed where the temperature is not 0),
so that a mixed-up answer is a wrong one.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from proa.llm.engine.request import Piece, Request
from proa.llm.engine.stops import Stops
from proa.llm.engine.stream import Stream
from proa.llm.server import Served

END = 256


class ByteTokenizer:
    vocab_size = 257
    eos = (END,)

    def encode(self, text: str, special: bool = True) -> list[int]:
        return list(text.encode())

    def decode(self, tokens: Sequence[int], skip_special: bool = True) -> str:
        return bytes(token for token in tokens if token < END).decode(errors="replace")

    def bytes_of(self, token: int) -> bytes:
        return bytes([token]) if token < END else b""

    def chat(self, messages: Any, tools: Any = None, add_generation_prompt: bool = True) -> list[int]:
        return self.encode(rendered(messages, tools))


def rendered(messages: Any, tools: Any = None) -> str:
    """A conversation as the stand-in reads it."""
    if messages[0]["role"] == "tool":
        raise ValueError("a conversation does not begin with a tool")
    calls = [json.dumps(each["tool_calls"]) if "tool_calls" in each else "" for each in messages]
    text = "".join(f"[{each['role']}]{each['content']}{call}\n" for each, call in zip(messages, calls))
    return f"{json.dumps(tools)}\n{text}" if tools else text


def expected_text(prompt: str, seed: int | None = None) -> str:
    """What is answered to a prompt that says nothing about it."""
    return hashlib.sha256(f"{prompt}|{seed}".encode()).hexdigest()


class Written:
    """One request while it is answered."""

    def __init__(self, request: Request) -> None:
        self.request, self.sampling = request, request.sampling
        prompt = bytes(request.prompt).decode(errors="replace")
        said = re.findall(r"say\((.*?)\)yas", prompt, re.DOTALL)
        seed = self.sampling.seed if self.sampling.temperature else None
        self.answer = (said[-1] if said else expected_text(prompt, seed)).encode()
        self.slow, self.fails = "slow" in prompt, "fail" in prompt
        self.stops = Stops(self.sampling.stop)
        self.cancelled = False
        self.position = 0
        self.pending = b""
        self.stream = Stream(self.cancel)

    def cancel(self) -> None:
        self.cancelled = True

    def step(self) -> bool:
        """Writes one token; whether there are more."""
        if self.cancelled:
            self.stream.put(Piece(None, finish="cancelled"))
            return False
        if self.fails and self.position == 3:
            self.stream.put(Piece(None, finish="error", error=RuntimeError("the engine broke")))
            return False
        ended = self.position == len(self.answer)
        token = END if ended else self.answer[self.position]
        self.position += 1
        text = "" if ended else self.stops.add(self._decoded(token))
        finish = (
            "stop" if ended or self.stops.found else "length" if self.position == self.sampling.max_tokens else None
        )
        if finish is not None and not self.stops.found:
            text += self.stops.rest()
        logprob, top = None, ()
        if self.sampling.logprobs is not None:
            logprob, top = -0.5, ((token, -0.5), (65, float("-inf")))[: self.sampling.logprobs]
        self.stream.put(Piece(token, text, logprob, top, finish))
        return finish is None

    def _decoded(self, token: int) -> str:
        self.pending += bytes([token])
        try:
            text, self.pending = self.pending.decode(), b""
        except UnicodeDecodeError:
            return ""
        return text


class StandIn:
    """Answers all requests, a token each in turn."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.num_cancelled = 0
        self._live: list[Written] = []
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def submit(self, request: Request) -> Stream:
        with self._lock:
            written = Written(request)
            self.requests.append(request)
            self._live.append(written)
        return written.stream

    def statistics(self) -> dict[str, Any]:
        return {"running": len(self._live), "waiting": 0, "pages": 64, "pages_free": 60, "kind": "stand-in"}

    def close(self, drain: bool = True) -> None:
        self._closed = True
        self._thread.join(5)

    def _run(self) -> None:
        while not self._closed:
            with self._lock:
                live = list(self._live)
            ended = [each for each in live if not each.step()]
            self.num_cancelled += sum(each.cancelled for each in ended)
            with self._lock:
                self._live = [each for each in self._live if each not in ended]
            time.sleep(0.02 if any(each.slow for each in live) else 0.0005)


def embedded(batches: list[list[int]]) -> list[np.ndarray]:
    """How often each byte occurs."""
    return [np.bincount(batch, minlength=257).astype("float32") / len(batch) for batch in batches]


def served(name: str = "small", context: int = 2048) -> Served:
    return Served(name, StandIn(), ByteTokenizer(), context, embedded, adapters=(f"{name}-tuned",))
