"""`.pdiparams`: the numbers of all parameters, one after the other in the sorted order of their names.

The names themselves are only in the program. Each tensor is: version (uint32, 0), number of sequence levels (uint64, 0;
older files may have levels, each a byte count and its bytes), tensor version (uint32, 0), size of a description (int32),
the description (protobuf: element type and sizes) and the raw elements, little-endian. Files of Paddle's predecessors
keep one such tensor per file, in a folder.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterable
from io import BufferedReader
from typing import BinaryIO

import numpy as np

from proa.formats.paddle.files import dtypes
from proa.formats.paddle.files.wire import decode, encode
from proa.formats.paddle.model import Value

_DESCRIPTION = {1: ("data_type", "int"), 2: ("dims", "ints")}
_LARGEST_DESCRIPTION = 1024
_MOST_LEVELS = 16
_LARGEST_STATE = 1 << 20
_ALIGNMENT = 64


def _take(file: BufferedReader, size: int, left: int) -> bytes:
    if size < 0 or size > left:
        raise ValueError(
            f"(pdiparams) a piece of {size} bytes is announced, but {left} bytes are left; the file is damaged"
        )
    piece = file.read(size)
    if len(piece) != size:
        raise ValueError("(pdiparams) the file ends within a tensor; it is damaged or still being written")
    return piece


def _aligned(size: int) -> np.ndarray:
    """Bytes that begin where XLA wants its buffers to: it takes them as they are then, instead of copying them."""
    room = np.empty(size + _ALIGNMENT, np.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    return room[start : start + size]


def read_tensor(file: BufferedReader, end: int) -> np.ndarray:
    """The next tensor of an open file of `end` bytes."""
    version, levels = struct.unpack("<IQ", _take(file, 12, end - file.tell()))
    if version != 0 or levels > _MOST_LEVELS:
        raise ValueError(f"(pdiparams) not a tensor: version {version}, {levels} sequence levels; expected version 0")
    for _ in range(levels):
        (size,) = struct.unpack("<Q", _take(file, 8, end - file.tell()))
        _take(file, size, end - file.tell())
    version, size = struct.unpack("<Ii", _take(file, 8, end - file.tell()))
    if version != 0 or not 0 <= size <= _LARGEST_DESCRIPTION:
        raise ValueError(f"(pdiparams) not a tensor: version {version}, description of {size} bytes")
    description = decode(_take(file, size, end - file.tell()), _DESCRIPTION)
    number, dims = description.get("data_type", -1), description.get("dims", [])
    if number not in dtypes.NAMES_OF_NUMBERS:
        raise ValueError(f"(pdiparams) element type number {number} is not known")
    dtype = dtypes.numpy_dtype(dtypes.NAMES_OF_NUMBERS[number])
    if len(dims) > 64 or any(size < 0 or size >= 2**48 for size in dims):
        raise ValueError(f"(pdiparams) {dims[:8]} are not the sizes of a tensor")
    count = math.prod(dims)
    if count * dtype.itemsize > end - file.tell():
        raise ValueError(f"(pdiparams) a {dtype.name} tensor of sizes {dims} does not fit into the rest of the file")
    raw = _aligned(count * dtype.itemsize)
    if file.readinto(raw.data) != raw.size:
        raise ValueError("(pdiparams) the file ends within a tensor; it is damaged or still being written")
    if dtype == np.bool_:
        raw = raw != 0  # any other byte would be an invalid bool
    return raw.view(dtype).reshape(dims)


def write_tensor(file: BinaryIO, array: np.ndarray) -> None:
    name = array.dtype.name
    if name not in dtypes.NUMBERS:
        raise TypeError(f"(write_model) Paddle's files have no element type for {name}; cast the parameter first")
    description = encode({"data_type": dtypes.NUMBERS[name], "dims": list(array.shape)}, _DESCRIPTION)
    file.write(struct.pack("<IQIi", 0, 0, 0, len(description)))
    file.write(description)
    contiguous = np.ascontiguousarray(array).reshape(-1)
    file.write(contiguous.view(np.uint8).data if contiguous.size else b"")


def zeros(value: Value) -> np.ndarray:
    """A state that is not saved (a recurrent layer's dropout state) starts as zero."""
    sizes = value.shape or ()
    if any(size < 0 for size in sizes) or math.prod(sizes) > _LARGEST_STATE:
        raise ValueError(
            f"(read_model) the unsaved state {value.name!r} has the sizes {list(sizes)}; the file is damaged"
        )
    return np.zeros(sizes, dtypes.numpy_dtype(value.dtype))


def read_parameters(path: str, names: Iterable[str], offsets: dict[str, int] | None = None) -> dict[str, np.ndarray]:
    """The parameters of the given names from one combined file, or from a folder with a file for each.

    `offsets` is told where in a combined file the elements of each begin.
    """
    found: dict[str, np.ndarray] = {}
    if os.path.isdir(path):
        for name in names:
            if os.path.basename(name) != name or name in ("", ".", ".."):
                raise ValueError(f"(read_model) {name!r} is not the name of a parameter's file")
            single = os.path.join(path, name)
            if not os.path.isfile(single):
                raise FileNotFoundError(
                    f"(read_model) the parameter {name!r} has no file in the folder {path}; where one file holds all "
                    "parameters, pass its path as params"
                )
            with open(single, "rb") as file:
                found[name] = read_tensor(file, os.path.getsize(single))
        return found
    with open(path, "rb") as file:
        end = os.path.getsize(path)
        for name in sorted(names):
            try:
                found[name] = read_tensor(file, end)
                if offsets is not None and found[name].dtype != np.bool_:  # which are not kept as they are read
                    offsets[name] = file.tell() - found[name].nbytes
            except ValueError as error:
                raise ValueError(f"{error}; while reading the parameter {name!r} from {path}") from None
        if file.tell() != end:
            raise ValueError(
                f"(read_model) {path} has {end - file.tell()} bytes more than the program's {len(found)} parameters; "
                "is it the file of another model?"
            )
    return found


def write_parameters(file: BinaryIO, parameters: dict[str, np.ndarray]) -> None:
    for name in sorted(parameters):
        write_tensor(file, parameters[name])
