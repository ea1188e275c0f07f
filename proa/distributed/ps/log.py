"""The write-ahead log of a server: an update is written here before it is acknowledged.

A record goes to the system in one write, so it survives the end of the process, by whatever signal (`sync=True` waits for
the disk as well, for machines that lose power). A record that was cut short was never acknowledged; reading ends there.
Segments are numbered; old ones are removed when all they say is in the store.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Iterator

_HEAD = struct.Struct("<4sIIQ")  # magic, length and CRC-32 of the content, sequence number
_MAGIC = b"proa"
_SEGMENT = re.compile(r"log\.(\d{8})")


class Log:
    """Records with increasing sequence numbers."""

    def __init__(self, folder: str, sync: bool = False) -> None:
        self._folder, self._sync = folder, sync
        os.makedirs(folder, exist_ok=True)
        self._numbers = sorted(int(match[1]) for match in map(_SEGMENT.fullmatch, os.listdir(folder)) if match)
        self._file = -1
        self.num_bytes = 0

    def _path(self, number: int) -> str:
        return os.path.join(self._folder, f"log.{number:08d}")

    def replay(self) -> Iterator[tuple[int, bytes]]:
        """Sequence number and content of every record, oldest first; cuts off what was not written to its end."""
        for number in self._numbers:
            with open(self._path(number), "rb+") as file:
                content = file.read()
                position = 0
                while (found := _record(content, position)) is not None:
                    sequence, payload, position = found
                    yield sequence, payload
                if position < len(content):
                    file.truncate(position)

    def open(self) -> None:
        """Begins a new segment, to which records are appended from now on."""
        number = 1 + max(self._numbers, default=-1)
        if self._file >= 0:
            os.close(self._file)
        self._file = os.open(self._path(number), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self._numbers.append(number)
        self.num_bytes = 0

    def append(self, sequence: int, payload: bytes) -> None:
        """Writes a record; when this returns, the end of the process cannot lose it."""
        record = memoryview(_HEAD.pack(_MAGIC, len(payload), zlib.crc32(payload), sequence) + payload)
        self.num_bytes += len(record)
        while len(record):
            record = record[os.write(self._file, record) :]
        if self._sync:
            os.fsync(self._file)

    def forget_old(self) -> None:
        """Removes all segments but the one that is being written."""
        for number in self._numbers[:-1]:
            os.unlink(self._path(number))
        self._numbers = self._numbers[-1:]

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _record(content: bytes, position: int) -> tuple[int, bytes, int] | None:
    """The record at a position and where it ends; None where no whole one is."""
    start = position + _HEAD.size
    if start > len(content):
        return None
    magic, length, checksum, sequence = _HEAD.unpack_from(content, position)
    payload = content[start : start + length]
    if magic != _MAGIC or len(payload) != length or zlib.crc32(payload) != checksum:
        return None
    return sequence, payload, start + length
