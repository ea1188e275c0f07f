"""One tensor in Paddle's binary form (`use_binary_format=True`): a small head, then the bare numbers.

    version (4 bytes) · levels of detail (8) · version (4) · length of the description (4) · description · numbers

All little-endian. The description says the data type and the sizes, as a protocol buffer: field 1 and repeated field 2.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.dtype import to_numpy_dtype
from ..core.errors import type_error
from .unpickler import Damaged

MAGIC = bytes(4)
_HEAD = struct.Struct("<IQIi")
_CODES = {
    "bool": 0, "int16": 1, "int32": 2, "int64": 3, "float16": 4, "float32": 5, "float64": 6, "uint8": 20, "int8": 21,
    "bfloat16": 22, "complex64": 23, "complex128": 24, "float8_e4m3fn": 32, "float8_e5m2": 33,
}  # fmt: skip
_DTYPES = {code: name for name, code in _CODES.items()}
_TYPE_FIELD, _SIZE_FIELD, _SIZES_FIELD = 0x08, 0x10, 0x12
_LONGEST_DESCRIPTION = 1 << 16


def encode(array: np.ndarray) -> tuple[bytes, memoryview]:
    """Head and numbers of a contiguous array."""
    code = _CODES.get(array.dtype.name)
    if code is None:
        raise type_error("save", "this data type has no binary form", str(array.dtype))
    description = bytes([_TYPE_FIELD]) + _number(code)
    for size in array.shape:
        description += bytes([_SIZE_FIELD]) + _number(size)
    head = _HEAD.pack(0, 0, 0, len(description)) + description
    return head, array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")


def decode(data: Any) -> tuple[np.ndarray, int]:
    """The array (with memory of its own) at the beginning of `data`, and where it ends."""
    if len(data) < _HEAD.size:
        raise Damaged(f"it has {len(data)} bytes, less than the head of a tensor")
    version, levels, tensor_version, length = _HEAD.unpack_from(data)
    begin = _HEAD.size + length
    if version or tensor_version or levels or not 2 <= length <= _LONGEST_DESCRIPTION or begin > len(data):
        raise Damaged("its head is not that of a dense tensor")
    dtype, shape = _description(bytes(data[_HEAD.size : begin]))
    num_bytes = dtype.itemsize
    for size in shape:
        num_bytes *= size
    if begin + num_bytes > len(data):
        raise Damaged(f"{len(data)} bytes are there, and {begin + num_bytes} belong to {dtype.name}{list(shape)}")
    numbers = np.frombuffer(bytes(data[begin : begin + num_bytes]), np.uint8)
    return numbers.view(dtype).reshape(shape).copy(), begin + num_bytes


def _description(data: bytes) -> tuple[np.dtype, tuple[int, ...]]:
    name, sizes = None, []
    numbers = _numbers(data)
    for field in numbers:
        if field == _TYPE_FIELD:
            name = _DTYPES.get(next(numbers, -1))
        elif field == _SIZE_FIELD:
            sizes.append(next(numbers, 1 << 63))
        elif field == _SIZES_FIELD:  # all sizes in one field
            next(numbers, 0)
            sizes += list(numbers)
        else:
            raise Damaged(f"its description has the unknown field {field}")
    if name is None or any(size >= 1 << 62 for size in sizes):
        raise Damaged("its description is not that of a tensor")
    return to_numpy_dtype(name), tuple(sizes)


def _number(value: int) -> bytes:
    """An integer in groups of seven bits."""
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])


def _numbers(data: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0
        elif shift > 63:
            raise Damaged("a number in its description is too long")
