"""The answers to one request, written by the engine side by side."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

from ...serving.refusals import Kind
from ..engine import Busy
from ..engine.request import Piece, Request, Sampling
from .choices import Choice, Delta
from .errors import Problem
from .metrics import Times
from .served import Served
from .tools import Tools


class Generation:
    """Submits a request for each answer, and gives what they say as it comes. `end` must be called whatever happens."""

    def __init__(
        self, served: Served, requests: Sequence[tuple[list[int], Sampling]], tools: Tools | None, adapter: str | None,
        times: Times,
    ) -> None:  # fmt: skip
        self.choices = [Choice(index, served.tokenizer, tools) for index in range(len(requests))]
        self._times = times
        self._streams: list[Any] = []
        try:
            for tokens, sampling in requests:
                self._streams.append(_submit(served, Request(tokens, sampling, adapter)))
        except BaseException:
            self.end()
            raise

    @property
    def num_written(self) -> int:
        return sum(choice.num_tokens for choice in self.choices)

    async def deltas(self) -> AsyncIterator[Delta]:
        """What the answers say, each in its order, until all have ended."""
        before = [0.0] * len(self.choices)
        async with aclosing(_side_by_side(self._streams)) as pieces:  # type: ignore[type-var]
            async for index, piece in pieces:
                now = time.perf_counter()
                if piece.token is not None:
                    self._times.token(now - before[index] if before[index] else None)
                    before[index] = now
                _check_end(piece)
                if delta := self.choices[index].take(piece):
                    yield delta

    async def collected(self) -> list[list[Delta]]:
        """Everything that each answer says."""
        found: list[list[Delta]] = [[] for _ in self.choices]
        async with aclosing(self.deltas()) as deltas:  # type: ignore[type-var]
            async for delta in deltas:
                found[delta.index].append(delta)
        return found

    def end(self) -> None:
        """Nobody waits any more: what is not written yet need not be."""
        for stream in self._streams:
            stream.cancel()


def _submit(served: Served, request: Request) -> Any:
    try:
        return served.engine.submit(request)
    except Busy as error:
        raise Problem(str(error)[:500], kind=Kind.TOO_MANY) from None
    except (ValueError, TypeError, ImportError) as error:
        raise Problem(str(error)[:500]) from None


def _check_end(piece: Piece) -> None:
    """A piece that ends an answer for reasons that are not the model's own."""
    if piece.finish == "cancelled":
        raise Problem("the answer was cut off: the server is about to stop.", kind=Kind.BUSY)
    if piece.error is not None:
        raise piece.error


async def _side_by_side(streams: Sequence[Any]) -> AsyncIterator[tuple[int, Piece]]:
    """The pieces of several streams as they come."""
    if len(streams) == 1:
        async for piece in streams[0]:
            yield 0, piece
        return
    found: asyncio.Queue[tuple[int, Piece | Exception | None]] = asyncio.Queue()

    async def read(index: int, stream: Any) -> None:
        try:
            async for piece in stream:
                found.put_nowait((index, piece))
            found.put_nowait((index, None))
        except Exception as error:
            found.put_nowait((index, error))

    readers = [asyncio.ensure_future(read(index, stream)) for index, stream in enumerate(streams)]
    try:
        left = len(readers)
        while left:
            index, piece = await found.get()
            if isinstance(piece, Exception):
                raise piece
            if piece is None:
                left -= 1
            else:
                yield index, piece
    finally:
        for reader in readers:
            reader.cancel()
