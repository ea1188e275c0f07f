"""Memory that a worker writes and the loader's process reads: segments without a name, used again and again.

A segment is an anonymous file in memory. Its descriptor goes to the parent once, over the worker's socket; then both map it
and close the descriptor. So nothing is left in /dev/shm whoever is killed and how, containers with a small /dev/shm do not
matter, many batches never exhaust file descriptors, and a page is touched for the first time once, not once a batch.

The parent hands a batch out as arrays that lie in the segment. When the last of them is gone, so is their `Lease`, and the
segment's number goes back to the worker with the next request.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import tempfile
from collections import deque
from typing import Any

import numpy as np

ALIGNMENT = 64  # XLA takes over host arrays that are aligned so without copying them
_PAGE = mmap.PAGESIZE


class Mapped:
    """A file mapped into memory, as bytes for NumPy. Python's own `mmap` would keep a descriptor open for each."""

    __slots__ = ("__array_interface__", "_address", "_num_bytes", "_unmap")

    def __init__(self, descriptor: int, num_bytes: int) -> None:
        library = _c_library()
        read_and_write, shared = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED
        address = library.mmap(None, num_bytes, read_and_write, shared, descriptor, 0)
        if address is None or address == ctypes.c_void_p(-1).value:
            error = ctypes.get_errno()
            raise OSError(error, f"(DataLoader) {num_bytes} bytes of shared memory: {os.strerror(error)}")
        self._address, self._num_bytes, self._unmap = address, num_bytes, library.munmap
        self.__array_interface__ = {
            "shape": (num_bytes,), "typestr": "|u1", "data": (address, False), "version": 3,
        }  # fmt: skip

    def __del__(self) -> None:
        if hasattr(self, "_unmap"):
            self._unmap(self._address, self._num_bytes)


@functools.cache
def _c_library() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    integer, size, pointer = ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p
    library.mmap.restype = pointer
    library.mmap.argtypes = (pointer, size, integer, integer, integer, ctypes.c_longlong)
    library.munmap.argtypes = (pointer, size)
    return library


class Segment:
    """One piece of shared memory in the worker."""

    def __init__(self, number: int, num_bytes: int) -> None:
        self.number = number
        self.num_bytes = -(-num_bytes // _PAGE) * _PAGE
        self.descriptor = _anonymous_file(self.num_bytes)
        self.memory = np.asarray(Mapped(self.descriptor, self.num_bytes))
        self.address: int = self.memory.ctypes.data

    def close_descriptor(self) -> None:
        os.close(self.descriptor)
        self.descriptor = -1


def _anonymous_file(num_bytes: int) -> int:
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("proa-loader")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    try:
        os.ftruncate(descriptor, num_bytes)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


class Store:
    """The worker's segments: where the batch that is being made goes."""

    def __init__(self) -> None:
        self.segments: dict[int, Segment] = {}
        self.free: list[Segment] = []
        self.current: Segment | None = None
        self.cursor = 0
        self.wanted = 0  # bytes asked for since `begin`, whether there was room or not
        self._numbers = 0

    def give_back(self, numbers: list[int], forgotten: list[int]) -> None:
        """Segments that the parent has no more use for now; the forgotten ones for good."""
        self.free.extend(self.segments[number] for number in numbers)
        for number in forgotten:
            del self.segments[number]

    def begin(self) -> None:
        """Starts a batch, in the largest segment that is free."""
        if self.current is None and self.free:
            self.current = max(self.free, key=lambda segment: segment.num_bytes)
            self.free.remove(self.current)
        self.cursor = self.wanted = 0

    def allocate(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """An array in the current segment, or an ordinary one where there is no room."""
        dtype = np.dtype(dtype)
        num_bytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        segment, start = self.current, self.cursor
        self.wanted += num_bytes + ALIGNMENT
        if dtype.hasobject or segment is None or num_bytes == 0 or start + num_bytes > segment.num_bytes:
            return np.empty(shape, dtype)
        self.cursor = -(-(start + num_bytes) // ALIGNMENT) * ALIGNMENT
        return segment.memory[start : start + num_bytes].view(dtype).reshape(shape)

    def place(self, buffers: list[np.ndarray]) -> tuple[Segment | None, list[tuple[int, int]], bool]:
        """Brings the buffers of a finished batch (one-dimensional, of bytes) into one segment.

        Gives the segment, the position and length of each buffer in it, and whether the parent has not seen it yet.
        """
        if not buffers:
            return None, [], False
        needed = self.cursor + sum(len(buffer) + ALIGNMENT for buffer in buffers if not self._offset(buffer) >= 0)
        source, is_new = self.current, False
        if source is None or needed > source.num_bytes:
            # What lies in a too small segment already moves along. A little more than needed: batches differ in size.
            needed = max(self.wanted, sum(len(buffer) + ALIGNMENT for buffer in buffers))
            target = Segment(self._numbers, needed + needed // 16)
            self._numbers += 1
            self.segments[target.number] = target
            self.cursor, is_new = 0, True
            if source is not None:
                self.free.append(source)
        else:
            target = source
        spans = []
        for buffer in buffers:
            offset = -1 if is_new else self._offset(buffer)
            if offset < 0:
                offset = self.cursor
                target.memory[offset : offset + len(buffer)] = buffer
                self.cursor = -(-(offset + len(buffer)) // ALIGNMENT) * ALIGNMENT
            spans.append((offset, len(buffer)))
        self.current = None
        return target, spans, is_new

    def _offset(self, buffer: np.ndarray) -> int:
        """Where in the current segment the buffer lies already; -1 if it lies elsewhere."""
        if self.current is None:
            return -1
        offset: int = buffer.ctypes.data - self.current.address
        return offset if offset >= 0 and offset + len(buffer) <= self.current.num_bytes else -1


class Lease:
    """The right to read one batch in a segment; arrays made of it keep it, and it goes back with the last of them."""

    __slots__ = ("__array_interface__", "_memory", "_number", "_returned")

    def __init__(self, memory: np.ndarray, number: int, returned: deque[int]) -> None:
        self.__array_interface__ = memory.__array_interface__
        self._memory = memory
        self._number = number
        self._returned = returned

    def __del__(self) -> None:
        # May run anywhere, in any thread: appending to a deque is all that is safe here.
        self._returned.append(self._number)


class Mappings:
    """The parent's side of one worker's segments."""

    def __init__(self, keep: int) -> None:
        self.memory: dict[int, np.ndarray] = {}
        self.returned: deque[int] = deque()
        self.keep = keep  # how many segments are worth keeping when nobody reads them
        self._num_out = 0

    def add(self, number: int, num_bytes: int, descriptor: int) -> None:
        try:
            self.memory[number] = np.asarray(Mapped(descriptor, num_bytes))
        finally:
            os.close(descriptor)

    def lease(self, number: int) -> np.ndarray:
        self._num_out += 1
        return np.asarray(Lease(self.memory[number], number, self.returned))

    def take_returned(self) -> tuple[list[int], list[int]]:
        """Segments to use again, and segments to forget because many more were once in use than are now."""
        numbers = []
        while self.returned:
            numbers.append(self.returned.popleft())
        self._num_out -= len(numbers)
        num_forgotten = min(len(numbers), max(0, len(self.memory) - self._num_out - self.keep))
        forgotten = numbers[:num_forgotten]
        for number in forgotten:
            del self.memory[number]
        return numbers[num_forgotten:], forgotten
