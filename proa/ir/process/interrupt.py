"""Ctrl-C while buffers change hands.

A donated buffer is gone as soon as the executable runs; an interrupt between that and the moment when the tensors hold
the results would lose both. So it waits for that moment.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # the C module: the Python one makes every number an enum, which costs microseconds here


class uninterrupted:
    """Holds SIGINT back until the block has ended (in the main thread; others never receive it)."""

    __slots__ = ("_handler", "_received")

    def __init__(self, needed: bool) -> None:
        handler = None
        if needed and threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
        self._handler: Any = handler if callable(handler) else None
        self._received: list[Any] = []

    def __enter__(self) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._hold_back)

    def _hold_back(self, *arguments: Any) -> None:
        self._received.append(arguments)

    def __exit__(self, *_: object) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            if self._received:
                self._handler(*self._received[0])
