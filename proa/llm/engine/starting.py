"""A thread that starts steps, one behind the other, while the engine's own thread does something else.

Not a pool of `concurrent.futures`: at the end of a program it takes no more calls, while an engine that nobody closed is
still at work; a daemon's thread just stands still with the rest.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

from ...core.locks import new_lock

Call = Callable[[], Any]


class Starter:
    """Runs calls in their order. The thread begins with the first of them."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[Call, Future[Any]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = new_lock()

    def begin(self, call: Call) -> Future[Any]:
        """What a call gives, or raises, once it had its turn."""
        future: Future[Any] = Future()
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="proa-engine-start", daemon=True)
                self._thread.start()
            self._calls.put((call, future))
        return future

    def close(self) -> None:
        """Ends the thread behind all that was begun; another call begins it anew."""
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._calls.put(None)
                thread.join()

    def _work(self) -> None:
        while (begun := self._calls.get()) is not None:
            call, future = begun
            try:
                future.set_result(call())
            except Exception as error:
                future.set_exception(error)
            del begun, call, future  # the last step's arrays are not kept until the next one
