"""Inner names of `paddle.distributed.fleet.recompute.recompute`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ......distributed.fleet.recompute import recompute, recompute_sequential

__all__ = ["recompute", "recompute_sequential"]


def check_recompute_necessary(inputs: Any) -> None:
    """Nothing: inputs without gradient may be recomputed too."""


@contextlib.contextmanager
def switch_rng_state_tracker(*states: Any) -> Iterator[None]:
    """Recomputation draws the same numbers by itself."""
    yield
