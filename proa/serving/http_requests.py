"""What every HTTP server of ours does with a request: who asks, how much, and whether they are still there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from .guard import check_origin, check_token
from .refusals import Kind, Refused
from .settings import HostSettings

logger = logging.getLogger("proa.serving")

Endpoint = Callable[[Request], Awaitable[Response]]
Paths: TypeAlias = list[tuple[str, Endpoint, str]]  # path, what answers, method
ErrorResponse = Callable[[Refused], Response]

_PATIENCE = 0.03  # seconds until it is asked whether the caller is still there
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'"


def application(paths: Paths, guard: Callable[[Endpoint], Guarded]) -> Starlette:
    """An ASGI application; what is found at no path goes through the guard as well."""

    async def refuse(request: Request, error: Exception) -> Response:
        if getattr(error, "status_code", 404) == 405:
            refused = Refused(Kind.WRONG_METHOD, "this path takes another method.")
        else:
            refused = Refused(Kind.NOT_FOUND, f"there is nothing at {request.url.path[:200]}.")
        return await guard(_raising(refused)).answer(request)

    routes = [Route(path, guard(endpoint), methods=[method]) for path, endpoint, method in paths]
    return Starlette(routes=routes, exception_handlers={HTTPException: refuse})


def _raising(refused: Refused) -> Endpoint:
    async def endpoint(_request: Request) -> Response:
        raise refused

    return endpoint


class Guarded:
    """An endpoint as an ASGI application that checks who asks, and answers whatever goes wrong in the server's form."""

    def __init__(
        self, endpoint: Endpoint, settings: HostSettings, open_paths: Sequence[str], error: ErrorResponse
    ) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._open_paths = open_paths
        self._error = error

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        response = await self.answer(Request(scope, receive, send))
        await response(scope, receive, send)

    async def answer(self, request: Request) -> Response:
        settings = self._settings
        try:
            check_origin(settings, request.headers.get("host", ""), request.headers.get("origin"))
            if request.scope["path"] not in self._open_paths:
                check_token(request.headers.get("authorization"), settings.tokens)
            return await self._endpoint(request)
        except Refused as refused:
            return self._error(refused)
        except Exception as error:
            logger.exception("%s %s failed", request.method, request.scope["path"])
            return self._error(Refused(Kind.FAILED, f"{type(error).__name__}: {str(error)[:300]}"))


def headers_of(kind: Kind) -> dict[str, str]:
    """What a refusal of this kind says beside its text."""
    if kind is Kind.NO_TOKEN:
        return {"www-authenticate": "Bearer"}
    return {"retry-after": "1"} if kind in (Kind.BUSY, Kind.TOO_MANY) else {}


def page_response(content: bytes) -> Response:
    """A page that brings everything with it and asks this server alone."""
    headers = {"content-security-policy": f"{_POLICY}; frame-ancestors 'none'", "cache-control": "no-store"}
    return Response(content, media_type="text/html", headers=headers)


def content_length(request: Request, most: int) -> int | None:
    """The number of bytes that a request says it has; Refused if they are too many."""
    length = number(request.headers.get("content-length", ""))
    if length is not None and length > most:
        raise _too_large(most)
    return length


def number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else None


async def read_body(request: Request, most: int, seconds: float) -> bytes:
    """All bytes of a request, unless they are too many, too slow, or the caller is gone."""
    chunks, size = [], 0
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size > most:
                    raise _too_large(most)
                chunks.append(chunk)
    except TimeoutError:
        raise Refused(Kind.TOO_LATE, "the request did not arrive in time.") from None
    except ClientDisconnect:
        raise Refused(Kind.GONE, "the caller went away.") from None
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _too_large(most: int) -> Refused:
    return Refused(Kind.TOO_LARGE, f"the request has more than the {most} bytes that are allowed.")


async def unless_gone(request: Request, asking: Awaitable[Any]) -> Any:
    """The answer, unless the caller goes away before it is there: then nobody need compute it.

    Whether he is still there is watched only after a while: most answers come sooner than that.
    """
    answering, watching, gone = asyncio.current_task(), [], False
    assert answering is not None

    async def watch() -> None:
        nonlocal gone
        await left(request.receive)
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


async def left(receive: Callable[[], Awaitable[Any]]) -> None:
    """Returns when the caller has gone away."""
    while (await receive())["type"] != "http.disconnect":
        pass
