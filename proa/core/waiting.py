"""Waiting that explains itself: what takes longer than a second says what it is, how long that usually takes, where to read.

    with waiting("compiling a program of 3,500 operations", "5 to 30 s"):
        ...

One line, on a terminal only (`FLAGS_explain_waiting` switches it off). Where nobody is told, nothing is done; otherwise a
timer is set, so this belongs around work of at least some milliseconds. Of two that are nested the inner one, which knows
better, speaks for both.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from typing import Any

from . import flags

flags.define(
    "FLAGS_explain_waiting", True, "Say on a terminal what takes longer than a second.", "PROA_EXPLAIN_WAITING"
)

PATIENCE = 1.0  # seconds
READ_ON = "docs/everyday.md#waiting"


class _Local(threading.local):
    innermost: waiting | None = None


_LOCAL = _Local()


class waiting:
    """What the work inside is, in the present participle, and how long it usually takes."""

    __slots__ = ("_outer", "_timer", "_told", "usually", "what")

    def __init__(self, what: str, usually: str) -> None:
        self.what = what
        self.usually = usually
        self._timer: threading.Timer | None = None
        self._outer: waiting | None = None
        self._told = False

    def __enter__(self) -> waiting:
        if flags.get("FLAGS_explain_waiting") and _is_terminal(sys.stderr):
            self._outer, _LOCAL.innermost = _LOCAL.innermost, self
            if self._outer is not None:
                self._outer._stop()
            self._start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is None:
            return
        self._stop()
        self._timer = None
        outer = _LOCAL.innermost = self._outer
        if outer is not None:
            outer._told = outer._told or self._told
            outer._start()

    def _start(self) -> None:
        self._timer = threading.Timer(PATIENCE, self._tell)
        self._timer.daemon = True
        self._timer.start()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _tell(self) -> None:
        if self._told:
            return
        self._told = True
        with suppress(Exception):  # a terminal that was closed in the meantime is no reason to fail
            print(f"proa: {self.what} (usually {self.usually}; {READ_ON}) ...", file=sys.stderr, flush=True)


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # none at all, or a closed one
        return False
