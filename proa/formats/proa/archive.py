"""The `.proa` file: a zip without compression, so that weights can be mapped into memory as they lie.

What is accepted is narrow on purpose: the entries named here, each once, stored (not compressed: nothing can unfold to
more than the file holds), with the checksum that the zip format keeps for each. `meta.json` says the version of the
schema; a file of a later version is refused with a sentence, one of an earlier version is read.
"""

from __future__ import annotations

import io
import json
import os
import struct
import tempfile
import zipfile
from typing import Any, BinaryIO

import numpy as np

from ...core.errors import naming
from ...framework import safetensors

VERSION = 2
PROGRAM, SIGNATURE, META = "program.json", "signature.json", "meta.json"
WEIGHTS, TESTS = "weights.safetensors", "tests.safetensors"
_ENTRIES = (META, SIGNATURE, PROGRAM, WEIGHTS, TESTS)
_LONGEST_JSON = 256 << 20
_DATE = (1980, 1, 1, 0, 0, 0)  # equal contents make equal files


class DamagedArtifact(ValueError):
    """The file is not a whole artifact of a known version."""


def write_archive(path: str, documents: dict[str, Any], tensors: dict[str, dict[str, np.ndarray]]) -> None:
    """Writes all entries beside `path` and then puts the file in its place."""
    path = os.path.abspath(path)
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=os.path.basename(path) + ".", suffix=".part", dir=folder)
    try:
        with naming(path), os.fdopen(handle, "wb") as file:
            _write(file, documents, tensors)
        mask = os.umask(0o022)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _write(file: BinaryIO, documents: dict[str, Any], tensors: dict[str, dict[str, np.ndarray]]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name in _ENTRIES:
            entry = zipfile.ZipInfo(name, _DATE)
            if name in documents:
                text = json.dumps(documents[name], indent=None, separators=(",", ":"), allow_nan=False)
                archive.writestr(entry, text.encode())
            elif name in tensors:
                with archive.open(entry, "w", force_zip64=True) as target:
                    safetensors.write(target, tensors[name])  # type: ignore[arg-type]


class Archive:
    """An open artifact: its documents and tensors, each read when asked for."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._size = os.path.getsize(path)
        with open(path, "rb") as file:
            if file.read(4) != b"PK\x03\x04":
                raise DamagedArtifact(f"(load) {path} is not a .proa file (it does not begin as a zip)")
        try:
            self._zip = zipfile.ZipFile(path)
            self._entries = {entry.filename: entry for entry in self._zip.infolist()}
        except _ZIP_ERRORS as error:
            raise DamagedArtifact(f"(load) {path} is not a whole .proa file: {error}") from None
        if len(self._entries) != len(self._zip.infolist()):
            raise DamagedArtifact(f"(load) {path} has two entries of one name; it is damaged")
        for name, entry in self._entries.items():
            if name not in _ENTRIES:
                raise DamagedArtifact(f"(load) {path} has the entry {name!r}, which this version does not know")
            if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
                raise DamagedArtifact(
                    f"(load) {path}: {name} is compressed or encrypted; artifacts are stored as they are"
                )
            if entry.file_size != entry.compress_size or entry.file_size > self._size:
                raise DamagedArtifact(
                    f"(load) {path}: {name} is said to have {entry.file_size} bytes; the file is damaged"
                )
        self.meta = self.document(META)
        version = self.meta.get("version") if isinstance(self.meta, dict) else None
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise DamagedArtifact(f"(load) {path} does not say which version it is")
        if version > VERSION:
            raise DamagedArtifact(
                f"(load) {path} has version {version}, and this release reads up to {VERSION}; update proa to load it"
            )

    def has(self, name: str) -> bool:
        return name in self._entries

    def _bytes(self, name: str) -> bytes:
        entry = self._entries.get(name)
        if entry is None:
            raise DamagedArtifact(f"(load) {self.path} has no {name}; it is damaged")
        try:
            return self._zip.read(entry)  # checks the checksum
        except _ZIP_ERRORS as error:
            raise DamagedArtifact(f"(load) {self.path}: {name} is damaged: {error}") from None

    def document(self, name: str) -> Any:
        if name in self._entries and self._entries[name].file_size > _LONGEST_JSON:
            raise DamagedArtifact(f"(load) {self.path}: {name} is larger than 256 MiB: not a program")
        try:
            return json.loads(self._bytes(name), parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            if isinstance(error, DamagedArtifact):
                raise
            raise DamagedArtifact(f"(load) {self.path}: {name} is not JSON: {str(error)[:200]}") from None

    def tensors(self, name: str) -> dict[str, np.ndarray]:
        try:
            return safetensors.read(self._bytes(name))
        except DamagedArtifact:
            raise
        except (ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError, RecursionError) as error:
            raise DamagedArtifact(f"(load) {self.path}: {name} is damaged: {error}") from None

    def close(self) -> None:
        self._zip.close()


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


_ZIP_ERRORS = (
    zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, OSError,
    IndexError, KeyError, UnicodeError, OverflowError, io.UnsupportedOperation, struct.error,
)  # fmt: skip
