"""The Open Inference Protocol over HTTP, metrics, and the page at `/`: an ASGI application made of Starlette's routes."""

from __future__ import annotations

import asyncio
import functools
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from .guard import OPEN_PATHS
from .http_body import HEADER_LENGTH, parsed_json, read_question, unpacked, write_answer
from .http_requests import (
    Guarded,
    Paths,
    application,
    content_length,
    headers_of,
    number,
    page_response,
    read_body,
    unless_gone,
)
from .refusals import Kind, Refused
from .service import Service

# Bytes from which on JSON is read and written beside the event loop, which would stand still meanwhile.
_MUCH_JSON = 1 << 16


class Routes:
    """What is answered at which path."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._page = files("proa.serving").joinpath("page.html").read_bytes()

    def application(self) -> Starlette:
        models = ("/v2/models/{name}", "/v2/models/{name}/versions/{version}")
        paths: Paths = [
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
        guard = functools.partial(Guarded, settings=self._service.settings, open_paths=OPEN_PATHS, error=_error)
        return application(paths, guard)

    # ---- results -----------------------------------------------------------------------------------------------------

    async def infer(self, request: Request) -> Response:
        service = self._service
        name, version = request.path_params["name"], request.path_params.get("version", "")
        if service.draining:
            raise Refused(Kind.BUSY, "the server is about to stop.")
        length = content_length(request, service.max_bytes)
        encoding, header_length = request.headers.get("content-encoding"), request.headers.get(HEADER_LENGTH)
        # What is packed, or comes in pieces of unknown number, may become as large as is allowed.
        with service.memory.admitted(service.max_bytes if length is None or encoding else length):
            body = await read_body(request, service.max_bytes, service.settings.model.timeout_ms / 1e3)
            if encoding:
                body = await asyncio.to_thread(unpacked, body, encoding, service.max_bytes)
            question = None
            if (len(body) if header_length is None else number(header_length) or 0) > _MUCH_JSON:
                signature = service.repository.find(name, version).signature
                question = await asyncio.to_thread(read_question, body, header_length, signature)
            asking = service.infer(
                "http", name, version,
                lambda signature: read_question(body, header_length, signature) if question is None else question,
            )  # fmt: skip
            answer = await unless_gone(request, asking)
            if sum(array.size for _, array, binary in answer.outputs if not binary) > _MUCH_JSON // 8:
                content, headers = await asyncio.to_thread(write_answer, answer)
            else:
                content, headers = write_answer(answer)
        return Response(content, headers=headers)

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
        return page_response(self._page)

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
        service = self._service
        body = await read_body(request, service.max_bytes, service.settings.model.timeout_ms / 1e3)
        return parsed_json(body) if body.strip() else {}


def _named(request: Request) -> tuple[str, str]:
    return request.path_params["name"], request.path_params.get("version", "")


def _error(refused: Refused) -> Response:
    return JSONResponse({"error": str(refused)}, refused.kind.status, headers_of(refused.kind))
