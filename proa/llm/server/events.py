"""Server-sent events: an answer that is sent while it is written, for as long as the caller is there."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from starlette.responses import Response

from ...serving.http_requests import left
from ...serving.refusals import Kind, Refused
from .errors import body_of

logger = logging.getLogger("proa.serving")

DONE = b"data: [DONE]\n\n"


def event(message: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"


class EventStream(Response):
    """Sends messages one by one. `ended` is told how it went: OK, or the name of a kind of refusal.

    When something goes wrong on the way, the status is sent already: the error is the last event then, which OpenAI's
    client raises.
    """

    def __init__(self, messages: AsyncIterator[dict[str, Any]], deadline: float, ended: Callable[[str], None]) -> None:
        super().__init__(
            media_type="text/event-stream", headers={"cache-control": "no-store", "x-accel-buffering": "no"}
        )
        del self.headers["content-length"]
        self._messages = messages
        self._deadline = deadline  # on the event loop's clock
        self._ended = ended

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        writing = asyncio.ensure_future(self._write(send))
        leaving = asyncio.ensure_future(left(receive))
        outcome = Kind.GONE.name
        try:
            await asyncio.wait((writing, leaving), return_when=asyncio.FIRST_COMPLETED)
            if writing.done():
                outcome = writing.result()
        except OSError:  # the connection broke while something was being sent
            pass
        finally:
            leaving.cancel()
            writing.cancel()
            self._ended(outcome)

    async def _write(self, send: Any) -> str:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        outcome, last = "OK", DONE
        try:
            async with asyncio.timeout_at(self._deadline), aclosing(self._messages) as messages:  # type: ignore[type-var]
                async for message in messages:
                    await send({"type": "http.response.body", "body": event(message), "more_body": True})
        except TimeoutError:
            outcome, last = Kind.TOO_LATE.name, event(body_of(Refused(Kind.TOO_LATE, "the answer took too long.")))
        except Refused as refused:
            outcome, last = refused.kind.name, event(body_of(refused))
        except OSError:
            raise
        except Exception as error:
            logger.exception("a stream failed")
            failed = Refused(Kind.FAILED, f"{type(error).__name__}: {str(error)[:300]}")
            outcome, last = Kind.FAILED.name, event(body_of(failed))
        await send({"type": "http.response.body", "body": last, "more_body": False})
        return outcome
