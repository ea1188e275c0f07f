"""Ctrl-C while buffers change hands.

A donated buffer is gone as soon as the executable runs; an interrupt between that and the moment when the tensors hold
the results would lose both. So it waits for that moment.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # the C module: the Python one makes every number an enum, which costs microseconds here


@contextmanager
def uninterrupted(needed: bool) -> Generator[None, None, None]:
    """Holds SIGINT back until the block has ended (in the main thread; others never receive it)."""
    if not needed or threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        yield
        return
    received: list[Any] = []

    def hold_back(*arguments: Any) -> None:
        received.append(arguments)

    signal.signal(signal.SIGINT, hold_back)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if received:
            handler(*received[0])
