"""What the kinds of `proa export` have in common: an error is a line, not a traceback."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

_EXPECTED = (ValueError, TypeError, OSError, ImportError, NotImplementedError, RuntimeError, MemoryError)


def reported(work: Callable[[argparse.Namespace], None]) -> Callable[[argparse.Namespace], int]:
    """The work as a command: its exit status."""

    def run(arguments: argparse.Namespace) -> int:
        try:
            work(arguments)
        except _EXPECTED as error:
            print(f"proa export: {error}", file=sys.stderr)
            return 1
        return 0

    return run
