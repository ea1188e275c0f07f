"""How much memory this machine has; absurd allocations are refused at the call that asks for them."""

from __future__ import annotations

import functools
import os

from .aval import Aval


@functools.cache
def host_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 1 << 46


def check_allocation(name: str, outputs: tuple[Aval, ...]) -> None:
    """MemoryError at the user's call for a result that cannot exist on this machine."""
    for aval in outputs:
        if aval.size > (1 << 24) and aval.nbytes > host_memory():
            raise MemoryError(
                f"({name}) the result {aval} needs {aval.nbytes / 2**30:,.1f} GiB; this machine has "
                f"{host_memory() / 2**30:,.1f} GiB; use a smaller shape or split the work."
            )
