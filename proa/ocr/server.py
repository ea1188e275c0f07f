"""`proa ocr --serve`: pictures come over HTTP, text goes back as JSON.

    POST /read    the bytes of a picture; answers what `Page.as_dictionary` says
    GET  /health  whether it lives
    GET  /        a page to drop pictures on

Two pictures are read at a time and a few wait; more are refused at once (503), so that a crowd makes nobody wait for ever
and memory stays bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from typing import Any

from .reader import Reader

LARGEST = 32 << 20  # bytes of a picture
AT_ONCE, WAITING = 2, 16


class TooLarge(Exception):
    """More bytes than a picture may have."""


def make_app(reader: Reader, largest: int = LARGEST, waiting: int = WAITING) -> Any:
    """The ASGI application."""
    try:
        from starlette.applications import Starlette
        from starlette.responses import HTMLResponse, JSONResponse
        from starlette.routing import Route
    except ImportError as error:
        raise ImportError("(ocr) Starlette and uvicorn are needed: pip install 'proa[ocr,serve]'.") from error
    pool = ThreadPoolExecutor(AT_ONCE, "proa ocr")
    busy = 0

    async def read(request: Any) -> Any:
        nonlocal busy
        if busy >= AT_ONCE + waiting:
            return JSONResponse({"error": "too many pictures are waiting; try again"}, 503, {"Retry-After": "1"})
        busy += 1
        try:
            body = await _body(request, largest)
            page = await asyncio.get_running_loop().run_in_executor(pool, reader.read, body)
            return JSONResponse(page.as_dictionary())
        except TooLarge:
            return JSONResponse({"error": f"a picture may have {largest} bytes"}, 413)
        except (ValueError, TypeError, OSError) as error:
            return JSONResponse({"error": str(error)}, 400)
        except MemoryError:
            return JSONResponse({"error": "there is not enough memory for this picture"}, 507)
        finally:
            busy -= 1

    async def health(_: Any) -> Any:
        return JSONResponse({"alive": True, "busy": busy})

    async def page(_: Any) -> Any:
        return HTMLResponse(files("proa.ocr").joinpath("page.html").read_text(encoding="utf-8"))

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        yield
        pool.shutdown(cancel_futures=True)

    routes = [Route("/read", read, methods=["POST"]), Route("/health", health), Route("/", page)]
    return Starlette(routes=routes, lifespan=lifespan)


async def _body(request: Any, largest: int) -> bytes:
    """The request's bytes; what is too long is not even taken in."""
    parts, length = [], 0
    async for part in request.stream():
        length += len(part)
        if length > largest:
            raise TooLarge
        parts.append(part)
    return b"".join(parts)


def serve(reader: Reader, host: str, port: int) -> None:
    """Serves until Ctrl-C or SIGTERM. OSError if the port cannot be had."""
    import socket

    app = make_app(reader)
    import uvicorn

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        shown = f"[{host}]" if ":" in host else host
        print(f"proa ocr: reading pictures at http://{shown}:{listener.getsockname()[1]}/ (POST /read)", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run([listener])
