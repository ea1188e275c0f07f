"""Writing files whole or not at all.

A file is written beside its place, brought to the disk and moved there in one step. Whoever is interrupted (an error, a
full disk, a killed process, a power cut) leaves the old file, or none.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from ..core.errors import naming, value_error


def writable_target(where: str, path: Any) -> str:
    """The file that `path` means, with its folder made."""
    name = os.fspath(path)
    if not isinstance(name, str) or not os.path.basename(name):
        raise value_error(where, "the path must end with a file name", f"path: {path!r}")
    folder = os.path.dirname(name)
    if folder:
        os.makedirs(folder, exist_ok=True)
    if os.path.isdir(name):
        raise IsADirectoryError(f"({where}) the path is a folder; received {name!r}; name a file in it.")
    return os.path.realpath(name)  # behind a link: the file itself is replaced


@contextlib.contextmanager
def replacing(target: str) -> Iterator[BinaryIO]:
    """A file that appears at `target` when the block ends well, and never otherwise."""
    temporary = f"{target}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    file = open(temporary, "xb")  # noqa: SIM115 (closed below, before it is moved)
    try:
        with naming(target), file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(os.path.dirname(target))


def sync_folder(folder: str) -> None:
    """Brings the new name to the disk too, where the system lets a folder be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class SummingWriter:
    """Passes bytes on to a file and keeps their CRC-32 and number."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.checksum = 0
        self.length = 0

    def write(self, data: Any) -> int:
        self.checksum = zlib.crc32(data, self.checksum)
        self.length += memoryview(data).nbytes
        return self._file.write(data)
