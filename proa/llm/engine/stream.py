"""The answer to one request while it is made: pieces go from the engine's thread to whoever asked, thread or asyncio."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from ...core.locks import new_condition
from .request import Piece


class Stream:
    """Iterates over pieces, with `for` or `async for`; the last one says why it ended.

    Pieces wait here until they are taken: there are at most `max_tokens` of them. A reader that goes away calls `cancel`.
    """

    def __init__(self, cancel: Callable[[], None]) -> None:
        self.scores: list[
            float
        ] = []  # of the prompt's tokens from the second on; complete when the first piece is there
        self._pieces: deque[Piece] = deque()
        self._ready = new_condition()
        self._finished = False
        self._cancel = cancel
        self._listeners: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def put(self, piece: Piece) -> None:
        """From the engine."""
        with self._ready:
            if self._finished:
                return
            self._pieces.append(piece)
            self._finished = piece.finish is not None
            self._ready.notify_all()
            listeners = list(self._listeners)
        for loop, event in listeners:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    @property
    def finished(self) -> bool:
        """Whether the last piece is there, taken or not."""
        return self._finished

    def cancel(self) -> None:
        """Ends the request; pieces that are there can still be taken. May be called at any time, from any thread."""
        self._cancel()

    def _next(self) -> Piece | None:
        """A piece that is there; None: not yet. StopIteration behind the last one."""
        with self._ready:
            if self._pieces:
                return self._pieces.popleft()
            if self._finished:
                raise StopIteration
            return None

    def next(self, timeout: float | None = None) -> Piece | None:
        """The next piece, None behind the last one; TimeoutError if none comes in time."""
        with self._ready:
            if not self._ready.wait_for(lambda: bool(self._pieces) or self._finished, timeout):
                raise TimeoutError("(Stream) no token came in time.")
            return self._pieces.popleft() if self._pieces else None

    def __iter__(self) -> Iterator[Piece]:
        while (piece := self.next()) is not None:
            yield piece
            if piece.error is not None:
                raise piece.error

    async def __aiter__(self) -> AsyncIterator[Piece]:
        loop, event = asyncio.get_running_loop(), asyncio.Event()
        listener: Any = (loop, event)
        self._listeners.append(listener)
        try:
            while True:
                event.clear()
                try:
                    piece = self._next()
                except StopIteration:
                    return
                if piece is None:
                    await event.wait()
                    continue
                yield piece
                if piece.error is not None:
                    raise piece.error
        finally:
            self._listeners.remove(listener)

    def tokens(self) -> list[int]:
        """Waits for the whole answer; its tokens."""
        return [piece.token for piece in self if piece.token is not None]

    def text(self) -> str:
        """Waits for the whole answer; its text."""
        return "".join(piece.text for piece in self)
