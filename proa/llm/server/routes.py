"""OpenAI's API over HTTP, metrics, and the page at `/`."""

from __future__ import annotations

import base64
import functools
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from importlib.resources import files
from typing import Any, TypeVar

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ...serving.http_body import parsed_json, unpacked
from ...serving.http_requests import (
    Guarded,
    Paths,
    application,
    content_length,
    headers_of,
    page_response,
    read_body,
    unless_gone,
)
from ...serving.refusals import Refused
from .errors import Problem, body_of
from .events import EventStream
from .generation import Generation
from .requests import ChatWish, EmbeddingWish, TextWish, Wish, read_chat, read_embedding, read_text
from .service import Exchange, Service
from .shapes import ChatShape, Shape, TextShape, usage_of

# Anybody may see whether the server lives, and the page, which knows nothing until it is given a key.
OPEN_PATHS = ("/", "/health")
_MOST_EMBEDDINGS = 2048
T = TypeVar("T")


class Routes:
    """What is answered at which path."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._page = files("proa.llm.server").joinpath("page.html").read_bytes()

    def application(self) -> Any:
        paths: Paths = [
            ("/", self.page, "GET"),
            ("/health", self.health, "GET"),
            ("/metrics", self.metrics, "GET"),
            ("/v1/models", self.models, "GET"),
            ("/v1/models/{name:path}", self.model, "GET"),
            ("/v1/chat/completions", self.chat, "POST"),
            ("/v1/completions", self.text, "POST"),
            ("/v1/embeddings", self.embeddings, "POST"),
        ]
        guard = functools.partial(Guarded, settings=self._service.settings, open_paths=OPEN_PATHS, error=_error)
        return RequestIds(application(paths, guard))

    # ---- text ----------------------------------------------------------------------------------------------------------

    async def chat(self, request: Request) -> Response:
        service = self._service

        async def start(exchange: Exchange) -> tuple[Wish, Shape]:
            wish: ChatWish = await self._wish(request, lambda message: read_chat(message, service.settings))
            served, adapter = service.find(wish.model)
            _check_writes(served)
            tokens = await service.reading(lambda: served.chat_tokens(wish.messages, wish.tools))
            await service.generate(exchange, wish, served, adapter, [tokens], wish.tools)
            return wish, ChatShape(wish.model, wish.with_logprobs)

        return await self._answer(request, "chat", start)

    async def text(self, request: Request) -> Response:
        service = self._service

        async def start(exchange: Exchange) -> tuple[Wish, Shape]:
            wish: TextWish = await self._wish(request, lambda message: read_text(message, service.settings))
            served, adapter = service.find(wish.model)
            _check_writes(served)
            prompts = await service.reading(lambda: [served.tokens(prompt, "prompt") for prompt in wish.prompts])
            echoes = [""] * len(prompts)
            if wish.echo:
                echoes = [given if isinstance(given, str) else served.tokenizer.decode(given) for given in wish.prompts]
            await service.generate(exchange, wish, served, adapter, prompts)
            echoes = [echo for echo in echoes for _ in range(wish.num_choices)]
            return wish, TextShape(wish.model, wish.with_logprobs, echoes)

        return await self._answer(request, "completions", start)

    async def _answer(self, request: Request, path: str, start: Callable[[Exchange], Any]) -> Response:
        """Starts to write, then sends the answer as a stream or as a whole."""
        async with self._service.exchange(path, request.scope["request_id"]) as exchange:
            wish, shape = await start(exchange)
            generation = exchange.generation
            assert generation is not None
            if wish.stream:
                exchange.goes_on = True
                return EventStream(_chunks(wish, shape, exchange, generation), exchange.deadline, exchange.end)
            deltas = await unless_gone(request, generation.collected())
            return JSONResponse(shape.whole(deltas, usage_of(exchange.num_prompt, generation.num_written)))

    async def _wish(self, request: Request, read: Callable[[Any], T]) -> T:
        """The request's body, read within the limits of size, time and memory."""
        service = self._service
        length, encoding = content_length(request, service.max_bytes), request.headers.get("content-encoding")
        # What is packed, or comes in pieces of unknown number, may become as large as is allowed.
        with service.memory.admitted(service.max_bytes if length is None or encoding else length):
            body = await read_body(request, service.max_bytes, service.settings.timeout_seconds)
            return await service.reading(lambda: read(parsed_json(unpacked(body, encoding, service.max_bytes))))

    # ---- embeddings ----------------------------------------------------------------------------------------------------

    async def embeddings(self, request: Request) -> Response:
        async with self._service.exchange("embeddings", request.scope["request_id"]) as exchange:
            return await self._embedded(request, exchange)

    async def _embedded(self, request: Request, exchange: Exchange) -> Response:
        service = self._service
        wish: EmbeddingWish = await self._wish(request, lambda message: read_embedding(message, _MOST_EMBEDDINGS))
        served, adapter = service.find(wish.model)
        exchange.model = served.name
        if adapter is not None:
            raise Problem(
                f"{adapter} is an adapter, which gives no embeddings; ask {served.name}.", "model", "unsupported"
            )
        batches = await service.reading(lambda: [served.tokens(given, "input") for given in wish.inputs])
        exchange.num_prompt = sum(map(len, batches))
        vectors = await unless_gone(request, service.embed(served, batches))
        size = len(vectors[0])
        if wish.dimensions not in (None, size):
            raise Problem(
                f"dimensions must be left out or {size}: {served.name} gives vectors of that length.", "dimensions"
            )
        data = [
            {"object": "embedding", "index": index, "embedding": _written(vector, wish.as_base64)}
            for index, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": exchange.num_prompt, "total_tokens": exchange.num_prompt}
        return JSONResponse({"object": "list", "model": wish.model, "data": data, "usage": usage})

    # ---- questions -----------------------------------------------------------------------------------------------------

    async def models(self, _request: Request) -> Response:
        data = [
            served.described(adapter)
            for served in self._service.models.values()
            for adapter in (None, *served.adapters)
        ]
        return JSONResponse({"object": "list", "data": data})

    async def model(self, request: Request) -> Response:
        served, adapter = self._service.find(request.path_params["name"])
        return JSONResponse(served.described(adapter))

    async def health(self, _request: Request) -> Response:
        return Response(status_code=200 if self._service.ready else 503)

    async def metrics(self, _request: Request) -> Response:
        content, kind = self._service.metrics.text()
        return Response(content, headers={"content-type": kind})

    async def page(self, _request: Request) -> Response:
        return page_response(self._page)


class RequestIds:
    """Gives every request an id, the caller's own where it sends one, and sends it back in the same header."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        given = dict(scope["headers"]).get(b"x-request-id", b"")
        usable = 0 < len(given) <= 128 and all(33 <= byte < 127 for byte in given)
        scope["request_id"] = given.decode() if usable else f"req_{secrets.token_hex(12)}"

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (b"x-request-id", scope["request_id"].encode())]
                message = {**message, "headers": headers}
            await send(message)

        await self._inner(scope, receive, sending)


async def _chunks(
    wish: Wish, shape: Shape, exchange: Exchange, generation: Generation
) -> AsyncIterator[dict[str, Any]]:
    for chunk in shape.first(len(generation.choices)):
        yield chunk
    async with aclosing(generation.deltas()) as deltas:  # type: ignore[type-var]
        async for delta in deltas:
            yield shape.chunk(delta)
    if wish.with_usage:
        yield shape.last(usage_of(exchange.num_prompt, generation.num_written))


def _check_writes(served: Any) -> None:
    if served.engine is None:
        raise Problem(f"{served.name} gives embeddings; it writes no text.", "model", "unsupported")


def _written(vector: np.ndarray, as_base64: bool) -> Any:
    little = np.ascontiguousarray(vector, "<f4")
    return base64.b64encode(little.tobytes()).decode() if as_base64 else little.tolist()


def _error(refused: Refused) -> Response:
    return JSONResponse(body_of(refused), refused.kind.status, headers_of(refused.kind))
