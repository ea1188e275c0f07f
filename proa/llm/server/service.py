"""What is done for a request, whatever path it came by: the model found, the limits kept, the answer counted."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from ...serving.admission import Memory
from ...serving.refusals import Kind, Refused
from ..engine.request import Sampling
from .errors import Problem
from .generation import Generation
from .metrics import Metrics, Times
from .requests import Wish
from .served import Served
from .settings import Settings
from .tools import Tools

logger = logging.getLogger("proa.serving")

T = TypeVar("T")


class Exchange:
    """One request from its arrival to its end, which is counted and logged once."""

    def __init__(self, service: Service, path: str, request_id: str) -> None:
        self._service = service
        self._path = path
        self._id = request_id
        self._ended = False
        self.goes_on = False  # as a stream, behind the request's own function
        self.started = time.perf_counter()
        self.deadline = asyncio.get_running_loop().time() + service.settings.timeout_seconds
        self.model = ""
        self.num_prompt = 0
        self.num_answers = 0
        self.times: Times | None = None
        self.generation: Generation | None = None

    def end(self, outcome: str) -> None:
        if self._ended:
            return
        self._ended = True
        written = 0
        if self.generation is not None:
            self.generation.end()
            written = self.generation.num_written
        self._service.num_answers -= self.num_answers
        seconds = time.perf_counter() - self.started
        metrics = self._service.metrics
        metrics.requests.labels(self.model, self._path, outcome).inc()
        if self.model:
            metrics.whole.labels(self.model, self._path).observe(seconds)
            metrics.prompt_tokens.labels(self.model).inc(self.num_prompt)
            metrics.written_tokens.labels(self.model).inc(written)
        if self._service.settings.log_requests:
            facts = {
                "request_id": self._id, "path": self._path, "model": self.model, "outcome": outcome,
                "prompt_tokens": self.num_prompt, "written_tokens": written, "milliseconds": round(seconds * 1e3, 1),
            }  # fmt: skip
            if self.times is not None and self.times.to_first is not None:
                facts["first_token_milliseconds"] = round(self.times.to_first * 1e3, 1)
            logger.info("%s %s %s", self._path, self.model, outcome, extra={"facts": facts})


class Service:
    """The models, the limits and the metrics of one server."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.models: dict[str, Served] = {}  # replaced as a whole once all are loaded
        self.loaded = False
        self.stopping = False
        self.num_answers = 0
        self.max_bytes = int(settings.max_request_mb * (1 << 20))
        self.memory = Memory(int(settings.max_memory_mb * (1 << 20)))
        self.metrics = Metrics(lambda: self.models.values())
        # Tokenizers and templates run beside the event loop, which would stand still meanwhile.
        self._readers = ThreadPoolExecutor(2, "proa reads prompts")
        self._embedding = ThreadPoolExecutor(1, "proa embeds")

    @property
    def ready(self) -> bool:
        return self.loaded and not self.stopping

    def check_open(self) -> None:
        if not self.ready:
            state = "about to stop" if self.stopping else "loading its models; GET /health says when it is ready"
            raise Problem(f"the server is {state}.", kind=Kind.BUSY)

    def find(self, name: str) -> tuple[Served, str | None]:
        """The model of a name, and the adapter where it is one's."""
        for served in self.models.values():
            if name == served.name or name in served.adapters:
                return served, None if name == served.name else name
        known = ", ".join(self.names())
        raise Problem(
            f"there is no model {name[:80]!r}; there are: {known}.", "model", "model_not_found", Kind.NOT_FOUND
        )

    def names(self) -> list[str]:
        return [name for served in self.models.values() for name in (served.name, *served.adapters)]

    @asynccontextmanager
    async def exchange(self, path: str, request_id: str) -> AsyncIterator[Exchange]:
        """A request within its time, counted by how it ends; one that goes on as a stream ends itself."""
        exchange = Exchange(self, path, request_id)
        outcome = Kind.FAILED.name
        try:
            self.check_open()
            async with asyncio.timeout_at(exchange.deadline):
                yield exchange
            outcome = "OK"
        except TimeoutError:
            outcome = Kind.TOO_LATE.name
            raise Problem("the answer took too long.", kind=Kind.TOO_LATE) from None
        except Refused as refused:
            outcome = refused.kind.name
            raise
        except asyncio.CancelledError:
            outcome = Kind.GONE.name
            raise
        finally:
            if not exchange.goes_on or outcome != "OK":
                exchange.end(outcome)

    async def reading(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, work)

    # ---- text ----------------------------------------------------------------------------------------------------------

    async def generate(
        self, exchange: Exchange, wish: Wish, served: Served, adapter: str | None, prompts: Iterable[list[int]],
        tools: Tools | None = None,
    ) -> Generation:  # fmt: skip
        """Hands a request's prompts to the engine, if there is room for them."""
        requests: list[tuple[list[int], Sampling]] = []
        exchange.model = served.name
        for tokens in prompts:
            room = self._room(served, len(tokens), wish.prompt_field)
            requests += [(tokens, wish.sampling_of(choice, room)) for choice in range(wish.num_choices)]
            exchange.num_prompt += len(tokens)
        if self.num_answers + len(requests) > self.settings.max_queue:
            raise Problem(
                "as many answers as are allowed are being written or wait; ask again later.", kind=Kind.TOO_MANY
            )
        exchange.times = times = Times(self.metrics, served.name, exchange.started)
        exchange.num_answers = len(requests)
        self.num_answers += len(requests)
        # A grammar is compiled when its request is submitted, which may take a second.
        starting = asyncio.ensure_future(self.reading(lambda: Generation(served, requests, tools, adapter, times)))
        try:
            generation = await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(lambda done: done.exception() or done.result().end())
            raise
        exchange.generation = generation
        return generation

    def _room(self, served: Served, length: int, field: str) -> int:
        """How many tokens may be written behind a prompt of this length."""
        most = served.context - 1
        if self.settings.max_prompt_tokens is not None:
            most = min(most, self.settings.max_prompt_tokens)
        if not 0 < length <= most:
            text = f"a prompt has from 1 to {most} tokens for {served.name}; this one has {length}."
            raise Problem(text, field, "context_length_exceeded" if length else "invalid_prompt")
        room = served.context - length
        return room if self.settings.max_tokens is None else min(room, self.settings.max_tokens)

    # ---- embeddings ----------------------------------------------------------------------------------------------------

    async def embed(self, served: Served, batches: list[list[int]]) -> list[Any]:
        if served.embedder is None:
            raise Problem(f"{served.name} gives no embeddings.", "model", "unsupported")
        for tokens in batches:
            if not 0 < len(tokens) <= served.context:
                text = f"an input has from 1 to {served.context} tokens for {served.name}; this one has {len(tokens)}."
                raise Problem(text, "input", "context_length_exceeded")
        return await asyncio.get_running_loop().run_in_executor(self._embedding, served.embedder, batches)

    def close(self) -> None:
        for executor in (self._readers, self._embedding):
            executor.shutdown(wait=False, cancel_futures=True)
        for served in self.models.values():
            if served.engine is not None:
                served.engine.close(drain=False)
