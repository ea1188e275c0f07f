"""Memory that copies for saves in the background lie in, kept from save to save.

Getting memory takes several times as long as copying into it: the system clears every page, and a virtual machine may have
to ask its host for it. So it is got beside the training, before the first save, and kept. While no copy lies there the
system may take it back whenever it is short of memory (`MADV_FREE`), so that keeping it costs nobody anything.
"""

from __future__ import annotations

import mmap
import pathlib
import threading
from typing import Any

import numpy as np

from ...core.locks import new_lock

_CHUNK = 1 << 22  # bytes touched at a time: as long as a save may have to wait for the thread that gets memory
_ALIGNMENT = 64
_PLENTY = 4  # times as much must be there if memory is got that nobody asked for
_LIMITS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)

Kind = tuple[tuple[int, ...], np.dtype]


class Reserve:
    """One piece of memory, in use by at most one save."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._map: Any = None  # None while it is lent, too

    def num_bytes(self) -> int:
        """How much is kept."""
        with self._lock:
            return 0 if self._map is None else len(self._map)

    def lend(self, kinds: list[Kind]) -> tuple[Any, list[np.ndarray]]:
        """Arrays of some shapes and dtypes, and what to give back when they are not needed any more."""
        sizes = [_rounded(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize) for shape, dtype in kinds]
        total = sum(sizes)
        with self._lock:
            memory, self._map = self._map, None
        if memory is None or not total <= len(memory) <= 2 * total:  # what a much larger state left is not kept
            memory = _new(total)
        whole = np.frombuffer(memory, np.uint8)
        begins = np.cumsum([0, *sizes])
        return memory, [
            whole[begin : begin + int(np.prod(shape, dtype=np.int64)) * dtype.itemsize].view(dtype).reshape(shape)
            for (shape, dtype), begin in zip(kinds, begins)
        ]

    def give_back(self, memory: Any) -> None:
        """Keeps what was lent for the next save."""
        with self._lock:
            self._map = memory
            _let_the_system_have(memory)

    def get(self, num_bytes: int) -> None:
        """Gets memory from the system now; ends early when a save wants it."""
        with self._lock:
            if self._map is None or len(self._map) < num_bytes:
                self._map = _new(num_bytes)
            memory = self._map
        for begin in range(0, num_bytes, _CHUNK):
            with self._lock:
                if self._map is not memory:
                    return  # lent: what is missing is got by copying
                np.frombuffer(memory, np.uint8)[begin : begin + _CHUNK] = 0
        with self._lock:
            if self._map is memory:
                _let_the_system_have(memory)

    def get_beside(self, num_bytes: int) -> None:
        """Gets memory in a thread, if there is plenty of it."""
        if available_bytes() > _PLENTY * num_bytes:
            threading.Thread(target=self.get, args=(num_bytes,), name="reserve", daemon=True).start()


def available_bytes() -> int:
    """Memory that the system could give without taking it from somebody; 0 where it does not tell."""
    try:
        table = dict(line.split(":") for line in pathlib.Path("/proc/meminfo").read_text().splitlines())
        available = int(table["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        return 0
    for limit, used in _LIMITS:
        try:
            most, now = pathlib.Path(limit).read_text().strip(), pathlib.Path(used).read_text()
        except OSError:
            continue
        if most != "max":
            available = min(available, int(most) - int(now))
    return available


def _new(num_bytes: int) -> Any:
    if hasattr(mmap, "MAP_ANONYMOUS"):
        return mmap.mmap(-1, max(1, num_bytes), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, max(1, num_bytes))


def _let_the_system_have(memory: Any) -> None:
    if hasattr(mmap, "MADV_FREE"):
        for begin in range(0, len(memory), _CHUNK):  # other threads wait while it is told
            memory.madvise(mmap.MADV_FREE, begin, min(_CHUNK, len(memory) - begin))


def _rounded(num_bytes: int) -> int:
    return -(-num_bytes // _ALIGNMENT) * _ALIGNMENT
