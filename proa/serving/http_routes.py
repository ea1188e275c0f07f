"""The Open Inference Protocol over HTTP, metrics, and the page at `/`: an ASGI application made of Starlette's routes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .guard import OPEN_PATHS, check_origin, check_token
from .http_body import HEADER_LENGTH, parsed_json, read_question, unpacked, write_answer
from .refusals import Kind, Refused
from .service import Service

logger = logging.getLogger("proa.serving")

# Bytes from which on it is read and written beside the event loop, which would stand still meanwhile.
_MUCH_JSON = 1 << 16
_PATIENCE = 0.03  # seconds until it is asked whether the caller is still there

Endpoint = Callable[[Request], Awaitable[Response]]


class Routes:
    """What is answered at which path."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._page = files("proa.serving").joinpath("page.html").read_bytes()

    def application(self) -> Starlette:
        models = ("/v2/models/{name}", "/v2/models/{name}/versions/{version}")
        paths: list[tuple[str, Endpoint, str]] = [
            *((f"{model}/infer", self.infer, "POST") for model in models),  # first: routes are tried in turn
            ("/", self.page, "GET"),
            ("/metrics", self.metrics, "GET"),
            ("/v2", self.server_metadata, "GET"),
            ("/v2/health/live", self.live, "GET"),
            ("/v2/health/ready", self.ready, "GET"),
            ("/v2/models/stats", self.statistics, "GET"),
            ("/v2/repository/index", self.index, "POST"),
            ("/v2/repository/models/{name}/load", self.load, "POST"),
            ("/v2/repository/models/{name}/unload", self.unload, "POST"),
        ]
        for model in models:
            paths += [
                (model, self.model_metadata, "GET"),
                (f"{model}/ready", self.model_ready, "GET"),
                (f"{model}/config", self.model_config, "GET"),
                (f"{model}/stats", self.statistics, "GET"),
            ]
        routes = [Route(path, _Guarded(endpoint, self._service), methods=[method]) for path, endpoint, method in paths]
        return Starlette(routes=routes, exception_handlers={HTTPException: _not_found})

    # ---- results -----------------------------------------------------------------------------------------------------

    async def infer(self, request: Request) -> Response:
        service = self._service
        name, version = request.path_params["name"], request.path_params.get("version", "")
        if service.draining:
            raise Refused(Kind.BUSY, "the server is about to stop.")
        length = _content_length(request)
        if length is not None and length > service.max_bytes:
            raise _too_large(service)
        encoding, header_length = request.headers.get("content-encoding"), request.headers.get(HEADER_LENGTH)
        # What is packed, or comes in pieces of unknown number, may become as large as is allowed.
        with service.admitted(service.max_bytes if length is None or encoding else length):
            body = await self._body(request)
            if encoding:
                body = await asyncio.to_thread(unpacked, body, encoding, service.max_bytes)
            question = None
            if (len(body) if header_length is None else _number(header_length) or 0) > _MUCH_JSON:
                signature = service.repository.find(name, version).signature
                question = await asyncio.to_thread(read_question, body, header_length, signature)
            asking = service.infer(
                "http", name, version,
                lambda signature: read_question(body, header_length, signature) if question is None else question,
            )  # fmt: skip
            answer = await _unless_gone(request, asking)
            if sum(array.size for _, array, binary in answer.outputs if not binary) > _MUCH_JSON // 8:
                content, headers = await asyncio.to_thread(write_answer, answer)
            else:
                content, headers = write_answer(answer)
        return Response(content, headers=headers)

    async def _body(self, request: Request) -> bytes:
        chunks, size = [], 0
        try:
            async with asyncio.timeout(self._service.settings.model.timeout_ms / 1e3):
                async for chunk in request.stream():
                    size += len(chunk)
                    if size > self._service.max_bytes:
                        raise _too_large(self._service)
                    chunks.append(chunk)
        except TimeoutError:
            raise Refused(Kind.TOO_LATE, "the request did not arrive in time.") from None
        except ClientDisconnect:
            raise Refused(Kind.GONE, "the caller went away.") from None
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    # ---- questions ---------------------------------------------------------------------------------------------------

    async def live(self, _request: Request) -> Response:
        return Response()

    async def ready(self, _request: Request) -> Response:
        return Response(status_code=200 if self._service.ready else 503)

    async def server_metadata(self, _request: Request) -> Response:
        return JSONResponse(self._service.server_metadata())

    async def model_metadata(self, request: Request) -> Response:
        return JSONResponse(self._service.model_metadata(*_named(request)))

    async def model_config(self, request: Request) -> Response:
        return JSONResponse(self._service.model_config(*_named(request)))

    async def model_ready(self, request: Request) -> Response:
        name, version = _named(request)
        if name not in {entry["name"] for entry in self._service.repository.index()}:
            self._service.repository.find(name, version)
        return Response(status_code=200 if self._service.is_model_ready(name, version) else 503)

    async def statistics(self, request: Request) -> Response:
        name, version = _named(request) if "name" in request.path_params else ("", "")
        return JSONResponse({"model_stats": self._service.statistics(name, version)})

    async def metrics(self, _request: Request) -> Response:
        content, kind = self._service.metrics.text()
        return Response(content, headers={"content-type": kind})

    async def page(self, _request: Request) -> Response:
        policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'"
        headers = {"content-security-policy": f"{policy}; frame-ancestors 'none'", "cache-control": "no-store"}
        return Response(self._page, media_type="text/html", headers=headers)

    # ---- the repository ----------------------------------------------------------------------------------------------

    async def index(self, request: Request) -> Response:
        message = await self._message(request)
        return JSONResponse(self._service.repository.index(message.get("ready") is True))

    async def load(self, request: Request) -> Response:
        message = await self._message(request)
        await self._service.load(request.path_params["name"], message.get("parameters") or {})
        return JSONResponse({})

    async def unload(self, request: Request) -> Response:
        await self._message(request)
        await self._service.unload(request.path_params["name"])
        return JSONResponse({})

    async def _message(self, request: Request) -> dict[str, Any]:
        body = await self._body(request)
        return parsed_json(body) if body.strip() else {}


def _named(request: Request) -> tuple[str, str]:
    return request.path_params["name"], request.path_params.get("version", "")


def _content_length(request: Request) -> int | None:
    return _number(request.headers.get("content-length", ""))


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else None


def _too_large(service: Service) -> Refused:
    return Refused(Kind.TOO_LARGE, f"the request has more than the {service.max_bytes} bytes that are allowed.")


async def _unless_gone(request: Request, asking: Awaitable[Any]) -> Any:
    """The answer, unless the caller goes away before it is there: then nobody need compute it.

    Whether he is still there is watched only after a while: most answers come sooner than that.
    """
    answering, watching, gone = asyncio.current_task(), [], False
    assert answering is not None

    async def watch() -> None:
        nonlocal gone
        await _left(request)
        gone = True
        answering.cancel()

    timer = asyncio.get_running_loop().call_later(_PATIENCE, lambda: watching.append(asyncio.ensure_future(watch())))
    try:
        return await asking
    except asyncio.CancelledError:
        if not gone:
            raise
        answering.uncancel()
        raise Refused(Kind.GONE, "the caller went away.") from None
    finally:
        timer.cancel()
        for task in watching:
            task.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


class _Guarded:
    """An endpoint as an ASGI application that checks who asks, and answers with JSON whatever goes wrong."""

    def __init__(self, endpoint: Endpoint, service: Service) -> None:
        self._endpoint = endpoint
        self._service = service

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        response = await self._answer(Request(scope, receive, send))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        settings = self._service.settings
        try:
            check_origin(settings, request.headers.get("host", ""), request.headers.get("origin"))
            if request.scope["path"] not in OPEN_PATHS:
                check_token(request.headers.get("authorization"), settings.tokens)
            return await self._endpoint(request)
        except Refused as refused:
            return _error(refused.kind, str(refused))
        except Exception as error:
            logger.exception("%s %s failed", request.method, request.scope["path"])
            return _error(Kind.FAILED, f"{type(error).__name__}: {str(error)[:300]}")


def _error(kind: Kind, text: str) -> Response:
    headers = {}
    if kind is Kind.NO_TOKEN:
        headers["www-authenticate"] = "Bearer"
    if kind is Kind.BUSY:
        headers["retry-after"] = "1"
    return JSONResponse({"error": text}, status_code=kind.status, headers=headers)


async def _not_found(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    text = "this path takes another method" if status == 405 else f"there is nothing at {request.url.path[:200]}"
    return JSONResponse({"error": text + "."}, status_code=status)
