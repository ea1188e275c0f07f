"""What the kinds of `proa export` have in common: an error is a line, not a traceback."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from .problems import complain

_EXPECTED = (ValueError, TypeError, OSError, ImportError, NotImplementedError, RuntimeError, MemoryError)


def reported(work: Callable[[argparse.Namespace], None]) -> Callable[[argparse.Namespace], int]:
    """The work as a command: its exit status."""

    def run(arguments: argparse.Namespace) -> int:
        try:
            work(arguments)
        except _EXPECTED as error:
            return complain("export", error, getattr(arguments, "output", ""))
        return 0

    return run
