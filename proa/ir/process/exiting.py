"""The end of a process while other threads are still inside XLA.

When the interpreter ends, it ends a daemon thread at the moment when that wants to run Python again: by `pthread_exit`,
which unwinds the thread's stack. In the middle of that stack lies C++ of JAX that lets no such thing pass, and the process
aborts (as with plain JAX). Python 3.14 makes such threads wait for ever instead; here the same is done for the versions
before, by leading the interpreter's `pthread_exit` to `pause`. Then the C library's exit would destroy what the threads
still use, so the process leaves without that.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
import sys
from typing import Any

import numpy as np

_LOADED, _DYNAMIC = 1, 2  # kinds of program headers
_END, _TABLE_BYTES, _STRINGS, _SYMBOLS = 0, 2, 5, 6  # tags of the dynamic section
_RELOCATIONS, _RELOCATION_BYTES, _JUMP_RELOCATIONS = 7, 8, 23


def hold_threads() -> None:
    """Called when the interpreter is about to end: threads that are still there shall not end it badly."""
    if sys.platform == "linux" and sys.version_info < (3, 14):
        _let_threads_wait()
    leave_without_destructors()


def _let_threads_wait() -> None:
    library = ctypes.CDLL(None)
    try:
        slots = _slots_of(library, ctypes.pythonapi.PyThread_exit_thread, b"pthread_exit")
        pause = ctypes.cast(library.pause, ctypes.c_void_p).value
    except (AttributeError, ValueError, struct.error):
        return  # another way of linking: then it ends as with plain JAX
    writable = mmap.PROT_READ | mmap.PROT_WRITE
    for slot in slots:
        page = slot & -mmap.PAGESIZE
        if library.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(mmap.PAGESIZE), writable) == 0:
            ctypes.c_void_p.from_address(slot).value = pause


def leave_without_destructors(kept: Any = None) -> None:
    """The process ends as it would, with its exit code, but nothing of C++ is torn down any more; `kept` stays for good."""
    if kept is not None:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "on_exit"):  # the GNU C library: it hands the exit code over
        library.fflush(None)
        library.on_exit(library._exit, None)


class _Location(ctypes.Structure):
    """`Dl_info`: in which file a function lies."""

    _fields_ = [
        ("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p), ("address", ctypes.c_void_p),
    ]  # fmt: skip


def _slots_of(library: Any, function: Any, symbol: bytes) -> list[int]:
    """Where the library that a function belongs to keeps the addresses of another one that it calls."""
    location = _Location()
    if not library.dladdr(ctypes.cast(function, ctypes.c_void_p), ctypes.byref(location)):
        raise ValueError("the function lies in no library")
    offset, dynamic = _find_dynamic(int(location.base or 0))
    tags = _read_tags(dynamic)
    slots: list[int] = []
    for table, num_bytes in ((_JUMP_RELOCATIONS, _TABLE_BYTES), (_RELOCATIONS, _RELOCATION_BYTES)):
        if table not in tags:
            continue
        entries = np.frombuffer(ctypes.string_at(tags[table], tags[num_bytes]), np.uint64).reshape(-1, 3)
        numbers = entries[:, 1] >> np.uint64(32)
        for place, number in zip(entries[numbers > 0, 0].tolist(), numbers[numbers > 0].tolist(), strict=True):
            (name,) = struct.unpack("<I", ctypes.string_at(tags[_SYMBOLS] + 24 * number, 4))
            if ctypes.string_at(tags[_STRINGS] + name, len(symbol) + 1) == symbol + b"\0":
                slots.append(offset + place)
    return slots


def _find_dynamic(base: int) -> tuple[int, int]:
    """By how much a loaded ELF file was moved, and where its dynamic section lies now."""
    header = ctypes.string_at(base, 64)
    if header[:5] != b"\x7fELF\x02" or header[5] != 1:
        raise ValueError("not a 64-bit little-endian ELF file")
    (table,), (count,) = struct.unpack_from("<Q", header, 32), struct.unpack_from("<H", header, 56)
    headers = [struct.unpack("<IIQQQQQQ", ctypes.string_at(base + table + 56 * n, 56)) for n in range(count)]
    offset = base - min(entry[3] for entry in headers if entry[0] == _LOADED)
    dynamic = [offset + entry[3] for entry in headers if entry[0] == _DYNAMIC]
    if not dynamic:
        raise ValueError("the file was linked statically")
    return offset, dynamic[0]


def _read_tags(dynamic: int) -> dict[int, int]:
    tags: dict[int, int] = {}
    while True:
        tag, value = struct.unpack("<qQ", ctypes.string_at(dynamic, 16))
        if tag == _END:
            return tags
        tags[tag] = value
        dynamic += 16
