"""The head of a GGUF file: metadata by name, and where each tensor lies.

Written here rather than taken from the `gguf` package, whose reader makes two arrays of every token (seconds, and hundreds
of megabytes, for a vocabulary of 150,000) and follows whatever counts a damaged file holds. Here a count is compared with
the bytes that are left before anything is made of it, so that the memory used is bounded by the size of the file.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from .kinds import BY_NUMBER, Kind
from .mapped import MappedFile

MAGIC = b"GGUF"
_STRING, _ARRAY, _BOOL = 8, 9, 7
_NUMBERS = {
    0: "<u1", 1: "<i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", _BOOL: "?", 10: "<u8", 11: "<i8", 12: "<f8",
}  # fmt: skip
_DTYPES = {number: np.dtype(code) for number, code in _NUMBERS.items()}
_DEEPEST = 4  # arrays within arrays
_MOST_DIMENSIONS = 4
_LENGTH, _WORD = struct.Struct("<Q"), struct.Struct("<I")


@dataclass(frozen=True)
class Place:
    """Where a tensor lies; `shape` is in NumPy's order, the elements of a row last."""

    kind: Kind
    shape: tuple[int, ...]
    start: int
    num_bytes: int


class Header:
    """Reads the head of a file from its beginning to its end."""

    def __init__(self, file: MappedFile) -> None:
        self.file = file
        self.position = 0
        self.metadata: dict[str, Any] = {}
        self.places: dict[str, Place] = {}
        num_tensors, num_values = self._opening()
        self._read_metadata(num_values)
        self._read_tensors(num_tensors)

    def _opening(self) -> tuple[int, int]:
        if bytes(self.file.data[:4]) != MAGIC:
            raise self.file.damaged(f"it is no GGUF file, but begins with {bytes(self.file.data[:4])!r}")
        self.position = 4
        self.version = self._word()
        if self.version not in (2, 3):
            big_endian = self.version & 0xFFFF == 0
            raise self.file.damaged(
                "its numbers are big-endian; convert the model again for this machine"
                if big_endian
                else f"its version of the format is {self.version}; versions 2 and 3 are read"
            )
        return self._length(), self._length()

    # ---- numbers and text --------------------------------------------------------------------

    def _need(self, num_bytes: int, what: str) -> int:
        """The present position, after making sure that so many bytes follow it; moves behind them."""
        start = self.position
        if num_bytes > self.file.size - start:
            raise self.file.damaged(
                f"{what} at byte {start} needs {num_bytes} bytes, and {self.file.size - start} are left"
            )
        self.position = start + num_bytes
        return start

    def _word(self) -> int:
        return _WORD.unpack_from(self.file.data, self._need(4, "a number"))[0]

    def _length(self) -> int:
        return _LENGTH.unpack_from(self.file.data, self._need(8, "a length"))[0]

    def _text(self) -> str:
        length = self._length()
        start = self._need(length, "a text")
        # A broken character in a description is no reason to refuse a model.
        return self.file.data[start : start + length].decode("utf-8", "replace")

    def _texts(self, count: int) -> list[str]:
        """Many texts, in one loop without further calls: a vocabulary has some hundred thousand."""
        data, end, position, unpack = self.file.data, self.file.size, self.position, _LENGTH.unpack_from
        found = []
        for _ in range(count):
            stop = position + 8
            if stop > end:
                break
            length = unpack(data, position)[0]
            position = stop + length
            if position > end:
                break
            found.append(data[stop:position].decode("utf-8", "replace"))
        if len(found) < count:
            raise self.file.damaged(f"{count} texts are announced, and it ends within number {len(found) + 1}")
        self.position = position
        return found

    def _value(self, kind: int, depth: int = 0) -> Any:
        if kind == _STRING:
            return self._text()
        if kind == _ARRAY and depth < _DEEPEST:
            return self._array(depth)
        dtype = _DTYPES.get(kind)
        if dtype is None:
            raise self.file.damaged(f"the value before byte {self.position} has the unknown type {kind}")
        start = self._need(dtype.itemsize, "a value")
        # A byte that is neither 0 nor 1 is no valid bool of NumPy's.
        return self.file.data[start] != 0 if kind == _BOOL else np.frombuffer(self.file.data, dtype, 1, start)[0].item()

    def _array(self, depth: int) -> Any:
        kind, count = self._word(), self._length()
        dtype = _DTYPES.get(kind)
        if dtype is not None:
            start = self._need(count * dtype.itemsize, f"an array of {count} numbers")
            if kind == _BOOL:
                return np.frombuffer(self.file.data, np.uint8, count, start) != 0
            return np.frombuffer(self.file.data, dtype, count, start).copy()
        left = self.file.size - self.position
        if kind not in (_STRING, _ARRAY) or count * (8 if kind == _STRING else 12) > left:
            raise self.file.damaged(
                f"an array of {count} values of type {kind} at byte {self.position}, {left} are left"
            )
        return self._texts(count) if kind == _STRING else [self._value(kind, depth + 1) for _ in range(count)]

    # ---- the two tables ----------------------------------------------------------------------

    def _read_metadata(self, count: int) -> None:
        for _ in range(count):
            key = self._text()
            if key in self.metadata:
                raise self.file.damaged(f"the key {key!r:.80} is there twice")
            self.metadata[key] = self._value(self._word())

    def _read_tensors(self, count: int) -> None:
        for _ in range(count):
            name = self._text()
            if name in self.places:
                raise self.file.damaged(f"the tensor {name!r:.80} is there twice")
            self.places[name] = self._place(name)
        self._align()

    def _place(self, name: str) -> Place:
        """A tensor, its place still counted from where the tensors begin."""
        num_dimensions = self._word()
        if num_dimensions > _MOST_DIMENSIONS:
            raise self.file.damaged(f"the tensor {name!r:.80} has {num_dimensions} dimensions")
        shape = tuple(reversed([self._length() for _ in range(num_dimensions)]))
        number, start = self._word(), self._length()
        kind = BY_NUMBER.get(number)
        if kind is None:
            raise self.file.damaged(f"the tensor {name!r:.80} is of the unknown kind {number}")
        self.file.check_shape(name, shape)
        row = shape[-1] if shape else 1
        if row % kind.elements:
            raise self.file.damaged(
                f"the rows of {name!r:.80} have {row} elements, which is no number of {kind} blocks of {kind.elements}"
            )
        num_elements = 1
        for length in shape:
            num_elements *= length
        return Place(kind, shape, start, num_elements // kind.elements * kind.num_bytes)

    def _align(self) -> None:
        """Counts places from the beginning of the file, and compares them with it and with each other."""
        alignment = self.metadata.get("general.alignment", 32)
        if type(alignment) is not int or alignment < 1 or alignment & (alignment - 1) or alignment > 2**20:
            raise self.file.damaged(f"its alignment is {alignment!r:.40}")
        begin = -(-self.position // alignment) * alignment
        end = 0
        for name, place in sorted(self.places.items(), key=lambda item: item[1].start):
            if place.start % alignment or place.start < end:
                raise self.file.damaged(f"the tensor {name!r:.80} lies at {place.start}, within another or unaligned")
            end = place.start + place.num_bytes
            if begin + end > self.file.size:
                raise self.file.damaged(
                    f"the tensor {name!r:.80} reaches to byte {begin + end}, and the file has {self.file.size}; "
                    "it was probably not fetched to its end"
                )
            self.places[name] = Place(place.kind, place.shape, begin + place.start, place.num_bytes)
