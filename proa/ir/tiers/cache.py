"""Files that are kept between runs: written whole or not at all, and used only when they are intact.

A sealed file ends in its own size and checksum. A disk that was full, a process that was killed or a machine that lost its
power may leave anything behind: what does not carry its seal is removed and made anew, never used. A folder that cannot
be written costs time and not the program; it is named once.
"""

from __future__ import annotations

import errno
import hashlib
import os
import pathlib
import struct
import sys
import threading
import time
from contextlib import suppress
from typing import Any

_SEAL = struct.Struct("<8sQ32s")  # mark, size of what is before it, its SHA-256
_MARK = b"proaseal"
_PARTIAL = ".partial"
_PROGRAM = (
    ".program"  # not "-cache": JAX's own store, which others may keep in the same folder, would take it for its own
)
_ABANDONED = 3600.0  # seconds after which a partial file is nobody's any more
_REASONS = {
    errno.ENOSPC: "is full", errno.EDQUOT: "is full (the quota is used up)", errno.EROFS: "is read-only",
    errno.EACCES: "is not writable", errno.EPERM: "is not writable",
}  # fmt: skip


def sealed(content: bytes) -> bytes:
    """The content with its seal behind it."""
    return content + _SEAL.pack(_MARK, len(content), hashlib.sha256(content).digest())


def unsealed(data: bytes) -> bytes | None:
    """What was sealed, or None where it is not intact."""
    return data[: -_SEAL.size] if _is_right(data) else None


def _is_right(data: bytes) -> bool:
    """Whether data ends in its own seal."""
    end = len(data) - _SEAL.size
    if end < 0:
        return False
    mark, size, checksum = _SEAL.unpack_from(data, end)
    return mark == _MARK and size == end and hashlib.sha256(memoryview(data)[:end]).digest() == checksum


def is_intact(path: str | os.PathLike[str]) -> bool:
    """Whether there is such a file with a right seal."""
    try:
        with open(path, "rb") as file:
            return _is_right(file.read())
    except OSError:
        return False


def write(path: pathlib.Path, data: bytes) -> None:
    """Puts a whole file in the place of whatever was there; on a failure nothing is left behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}{_PARTIAL}")
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


def remove_abandoned(folder: pathlib.Path) -> None:
    """Removes what killed processes were writing."""
    with suppress(OSError):
        for partial in folder.glob(f"*{_PARTIAL}"):
            with suppress(OSError):
                if partial.stat().st_mtime < time.time() - _ABANDONED:
                    partial.unlink()


def check_room(folder: pathlib.Path, size: int) -> None:
    """Raises the OSError that writing so many bytes into the folder would end in."""
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / f"probe.{os.getpid()}.{threading.get_ident()}{_PARTIAL}"
    try:
        with open(probe, "wb") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):  # a disk that cannot be asked
            raise
    finally:
        with suppress(OSError):
            probe.unlink()


_TOLD: set[str] = set()


def tell_unusable(folder: pathlib.Path, error: OSError, consequence: str) -> None:
    """Names a folder that cannot be written, what follows from that, and what to do: one line in a process."""
    reason = _REASONS.get(error.errno or 0, f"cannot be used ({error.strerror or error})")
    if reason in _TOLD:  # the folders of programs and of kernels are mostly on one disk
        return
    _TOLD.add(reason)
    print(
        f"proa: the cache folder {folder} {reason}: {consequence}. Make room or give rights there, "
        "or set PROA_CACHE_DIR to another folder.",
        file=sys.stderr, flush=True,
    )  # fmt: skip


class Programs:
    """XLA's executables by JAX's keys, in place of JAX's own store: that one writes over nothing, checks nothing, and
    warns at every run of an entry that was damaged once."""

    def __init__(self, folder: pathlib.Path, most_bytes: int) -> None:
        self.folder = self._path = folder  # JAX prints the second
        self.most_bytes = most_bytes  # negative: no limit
        self.writing = True
        self.told = False

    def _file(self, key: str) -> pathlib.Path:
        return self.folder / f"{key}{_PROGRAM}"

    def get(self, key: str) -> bytes | None:
        path = self._file(key)
        try:
            content = unsealed(path.read_bytes())
        except OSError:
            return None
        with suppress(OSError):  # the folder may be read-only
            if content is None:
                path.unlink()
            else:
                os.utime(path)  # what was used last is removed last
        if content is None and not self.told:
            self.told = True
            print(f"proa: a damaged program in {self.folder} is compiled anew.", file=sys.stderr, flush=True)
        return content

    def put(self, key: str, value: bytes) -> None:
        data = sealed(value)
        if not self.writing or 0 <= self.most_bytes < len(data):
            return
        try:
            self._make_room(len(data))
            write(self._file(key), data)
        except OSError as error:
            self.writing = False
            tell_unusable(self.folder, error, "compiled programs are not kept for the next run")

    def _make_room(self, size: int) -> None:
        """Removes the programs that were not used for longest; other processes may do the same."""
        remove_abandoned(self.folder)
        if self.most_bytes < 0 or not self.folder.exists():
            return
        found: list[tuple[float, int, str]] = []
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.endswith(_PROGRAM):
                    with suppress(FileNotFoundError):
                        about = entry.stat()
                        found.append((about.st_mtime, about.st_size, entry.path))
        used = sum(entry[1] for entry in found)
        for _, bytes_freed, path in sorted(found):
            if used + size <= self.most_bytes:
                return
            with suppress(FileNotFoundError):
                os.unlink(path)
            used -= bytes_freed


def keep_programs(folder: pathlib.Path, most_bytes: int) -> None:
    """Has JAX keep its programs by `Programs`; a JAX that offers no place for that keeps them in its own way."""
    try:
        from jax._src import compilation_cache as store

        original: Any = store.get_file_cache
    except (ImportError, AttributeError):
        return

    def get_file_cache(path: str) -> Any:
        return (Programs(folder, most_bytes), path) if path == str(folder) else original(path)

    store.get_file_cache = get_file_cache  # type: ignore[assignment]
