"""How much memory this machine has; absurd allocations are refused at the call that asks for them."""

from __future__ import annotations

import functools
import os

from .aval import Aval

_PLENTY = 1 << 46
# Results of so many elements and less are given to every machine: nobody needs to ask.
LARGE = 1 << 24
# Where Linux says how much memory a container may use, in its two versions.
_CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@functools.cache
def host_memory() -> int:
    """What this process may use: the machine's memory, or less where a container or a limit of the process says so."""
    return min(_machine(), _container(), _process())


def _machine() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return _PLENTY


def _container() -> int:
    for path in _CONTAINER_LIMITS:
        try:
            with open(path) as file:
                return int(file.read())
        except (OSError, ValueError):  # not there, or "max"
            continue
    return _PLENTY


def _process() -> int:
    try:
        import resource
    except ImportError:  # not on Windows
        return _PLENTY
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return _PLENTY if limit == resource.RLIM_INFINITY else limit


def check_allocation(name: str, outputs: tuple[Aval, ...]) -> None:
    """MemoryError at the user's call for a result that cannot exist on this machine."""
    for aval in outputs:
        if aval.size > LARGE and aval.nbytes > host_memory():
            raise MemoryError(
                f"({name}) the result {aval} needs {aval.nbytes / 2**30:,.1f} GiB; this machine has "
                f"{host_memory() / 2**30:,.1f} GiB; use a smaller shape or split the work."
            )
