"""Token files: documents as numbers, one behind another, read a piece at a time.

    head      64 bytes: what it is, how wide a token is, how many there are, a checksum of the head
    tokens    uint16 or uint32, little-endian
    ends      for each document where it ends, as uint64
    checksum  of the ends

A token of a document that is given and not to be learned (a question, whose answer is) has its highest bit set, so such
files are uint32. Pieces are read with `pread`: as cheap as a memory map (the system keeps the pages either way), and a file
that is cut short is an error here, where a map would end the process.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from ...core.errors import value_error
from ...framework.writing import replacing, writable_target

MAGIC = b"PROATOK1"
GIVEN = np.uint32(1 << 31)
_HEAD = struct.Struct("<8sIIQQQ")  # magic, bytes of a token, vocabulary, tokens, documents, reserved
_HEAD_BYTES = 64
_MAX_VOCABULARY = 1 << 31


class TokenWriter:
    """Takes documents; `token_writer` brings the file to its place when all were taken."""

    def __init__(self, file: BinaryIO, vocab_size: int, with_given: bool) -> None:
        self._file = file
        self._vocab_size = vocab_size
        self._dtype = np.dtype("<u4" if with_given or vocab_size > 1 << 16 else "<u2")
        self._with_given = with_given
        self._num_tokens = 0
        self._ends: list[int] = []
        file.write(bytes(_HEAD_BYTES))

    def add(self, ids: Any, given: Any = None) -> None:
        """One document: its tokens, and which of them are given (a truth value for each)."""
        where = "token_writer"
        tokens = np.asarray(ids)
        if tokens.ndim != 1 or not tokens.size or tokens.dtype.kind not in "iu":
            raise value_error(
                where, "a document must be a list of at least one token", f"{tokens.dtype}{list(tokens.shape)}"
            )
        lowest, highest = int(tokens.min()), int(tokens.max())
        if lowest < 0 or highest >= self._vocab_size:
            raise value_error(
                where, f"document {len(self._ends)} has a token outside the vocabulary, 0 to {self._vocab_size - 1}",
                f"tokens from {lowest} to {highest}", "use the tokenizer that belongs to the model",
            )  # fmt: skip
        kept = tokens.astype(self._dtype)
        if given is not None:
            marks = np.asarray(given, bool)
            if not self._with_given or marks.shape != tokens.shape:
                raise value_error(where, "given must be a truth value for each token", f"{list(marks.shape)}")
            kept[marks] |= GIVEN
        self._file.write(kept.tobytes())
        self._num_tokens += len(kept)
        self._ends.append(self._num_tokens)

    def finish(self) -> None:
        if not self._ends:
            raise value_error("token_writer", "there must be at least one document", "none")
        ends = np.array(self._ends, "<u8").tobytes()
        self._file.write(ends + struct.pack("<I", zlib.crc32(ends)))
        head = _HEAD.pack(MAGIC, self._dtype.itemsize, self._vocab_size, self._num_tokens, len(self._ends), 0)
        head = head.ljust(_HEAD_BYTES - 4, b"\0")
        self._file.seek(0)
        self._file.write(head + struct.pack("<I", zlib.crc32(head)))


@contextmanager
def token_writer(path: Any, vocab_size: int, with_given: bool = False) -> Iterator[TokenWriter]:
    """A token file that appears at `path` when the block ends well.

    Example:
        >>> with token_writer("corpus.tokens", vocab_size=1000) as writer:
        ...     writer.add([5, 17, 2])
    """
    if isinstance(vocab_size, bool) or not isinstance(vocab_size, int) or not 0 < vocab_size < _MAX_VOCABULARY:
        raise value_error("token_writer", "vocab_size must be a number from 1 to 2**31 - 1", repr(vocab_size))
    with replacing(writable_target("token_writer", path)) as file:
        writer = TokenWriter(file, vocab_size, with_given)
        yield writer
        writer.finish()


def write_tokens(path: Any, documents: Iterable[Any], vocab_size: int) -> None:
    """A token file of documents that are lists of numbers."""
    with token_writer(path, vocab_size) as writer:
        for document in documents:
            writer.add(document)


class TokenFile:
    """An open token file; any number of threads may read."""

    def __init__(self, path: Any) -> None:
        self.path = os.fspath(path)
        self._descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        head = self._read(0, _HEAD_BYTES, "its head")
        if head[:8] != MAGIC:
            raise self._damaged("it does not begin as one", "make it with `proa train --pack`")
        if struct.unpack("<I", head[-4:])[0] != zlib.crc32(head[:-4]):
            raise self._damaged("its head does not have its checksum")
        _, width, self.vocab_size, self.num_tokens, self.num_documents, _ = _HEAD.unpack_from(head)
        if width not in (2, 4):
            raise self._damaged(f"its tokens have {width} bytes")
        self._dtype = np.dtype(f"<u{width}")
        ends_at = _HEAD_BYTES + self.num_tokens * width
        wanted = ends_at + self.num_documents * 8 + 4
        if os.fstat(self._descriptor).st_size != wanted:
            raise self._damaged(f"it should have {wanted} bytes and has {os.fstat(self._descriptor).st_size}")
        ends = self._read(ends_at, self.num_documents * 8 + 4, "its list of documents")
        if struct.unpack("<I", ends[-4:])[0] != zlib.crc32(ends[:-4]):
            raise self._damaged("its list of documents does not have its checksum")
        self.ends = np.frombuffer(ends[:-4], "<u8").astype(np.int64)
        lengths = np.diff(self.ends, prepend=0)
        if not len(lengths) or lengths.min() < 1 or self.ends[-1] != self.num_tokens:
            raise self._damaged("its documents do not cover its tokens")

    def read(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """The tokens from `begin` up to `end`, as int64, and which of them are given."""
        begin, end = max(begin, 0), min(end, self.num_tokens)
        width = self._dtype.itemsize
        data = self._read(_HEAD_BYTES + begin * width, max(end - begin, 0) * width, "its tokens")
        tokens = np.frombuffer(data, self._dtype).astype(np.int64)
        given = tokens >= int(GIVEN)
        tokens &= int(GIVEN) - 1
        if tokens.size and int(tokens.max()) >= self.vocab_size:
            raise self._damaged(f"a token among {begin} to {end} is outside its vocabulary of {self.vocab_size}")
        return tokens, given

    def _read(self, offset: int, count: int, what: str) -> bytes:
        parts: list[bytes] = []
        while count:
            part = os.pread(self._descriptor, count, offset)
            if not part:
                raise self._damaged(f"{what} ends early")
            parts.append(part)
            offset, count = offset + len(part), count - len(part)
        return b"".join(parts)

    def _damaged(self, what: str, fix: str = "make it again") -> ValueError:
        return value_error("TokenFile", f"the file is not a whole token file: {what}", repr(self.path), fix)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        if getattr(self, "_descriptor", -1) >= 0:
            self.close()

    def __enter__(self) -> TokenFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
