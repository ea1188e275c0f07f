"""The safetensors format: a head in JSON that says where each tensor lies, then the bare numbers.

Written here rather than taken from the package of that name: the whole format is a page, and the package's NumPy side
knows neither bfloat16 nor float8. Files are checked as the format asks (tensors cover the data without gap or overlap);
those written here carry a checksum among their metadata, which other readers ignore.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import ml_dtypes
import numpy as np

from ..core.dtype import to_numpy_dtype
from ..core.errors import type_error, value_error
from .unpickler import Damaged

_CODES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "uint16": "U16", "int16": "I16", "uint32": "U32", "int32": "I32",
    "uint64": "U64", "int64": "I64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
    "complex64": "C64", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e8m0fnu": "F8_E8M0",
}  # fmt: skip
_DTYPES = {code: name for name, code in _CODES.items()}
# Types that files hold and tensors do not: they are read as arrays.
_NUMPY_ALONE = {
    "U16": np.dtype("uint16"), "U32": np.dtype("uint32"), "U64": np.dtype("uint64"),
    "F8_E8M0": np.dtype(ml_dtypes.float8_e8m0fnu),
}  # fmt: skip
_METADATA, _CHECKSUM = "__metadata__", "proa_crc32"
_LONGEST_HEAD = 100_000_000


def looks_like(data: Any) -> bool:
    return len(data) >= 10 and int.from_bytes(data[:8], "little") <= _LONGEST_HEAD and data[8:9] == b"{"


def write(file: BinaryIO, arrays: dict[str, np.ndarray], framework: str = "pd") -> dict[str, int]:
    """Writes named arrays, the widest types first, so that every one is aligned; gives where each one begins.

    `framework` is noted as whose tensors they are; some readers refuse those that they do not know.
    """
    ordered = sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    head: dict[str, Any] = {_METADATA: {"format": framework}}
    offset = 0
    for name, array in ordered:
        code = _CODES.get(array.dtype.name)
        if code is None:
            raise type_error("save", f"safetensors cannot hold the data type of {name!r}", str(array.dtype))
        head[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    parts = [a.reshape(-1).view(np.uint8).data for _, a in ordered if a.nbytes]
    head[_METADATA][_CHECKSUM] = _checksum(head, iter(parts))
    text = _json(head)
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for part in parts:
        file.write(part)
    begin = 8 + len(text)
    return {name: begin + entry["data_offsets"][0] for name, entry in head.items() if name != _METADATA}


def read(data: Any) -> dict[str, np.ndarray]:
    """The named arrays of a file, each with memory of its own."""
    return {
        name: np.frombuffer(data, np.uint8, stop - start, start).copy().view(dtype).reshape(shape)
        for name, (dtype, shape, start, stop) in contents(data).items()
    }


def contents(data: Any, verify: bool = True) -> dict[str, tuple[np.dtype, tuple[int, ...], int, int]]:
    """Type, shape and place of each tensor of a file, whose checksum is compared where it has one (unless not to
    `verify`: comparing reads all of the file)."""
    length = int.from_bytes(data[:8], "little")
    begin = 8 + length
    if begin > len(data):
        raise Damaged(f"{len(data)} bytes are there, and its head alone has {begin}")
    try:
        head = json.loads(bytes(data[8:begin]))
    except (ValueError, RecursionError) as error:
        raise Damaged(f"its head is not JSON: {error}") from error
    if not isinstance(head, dict):
        raise Damaged("its head is not a table")
    metadata = head.pop(_METADATA, {})
    places = _places(head, len(data) - begin)
    expected = metadata.get(_CHECKSUM) if isinstance(metadata, dict) else None
    if verify and expected is not None:
        rest = {key: value for key, value in metadata.items() if key != _CHECKSUM}
        with memoryview(data) as view, view[begin:] as numbers:
            if _checksum({_METADATA: rest, **head}, iter([numbers])) != expected:
                raise Damaged("its checksum does not fit: it was changed or damaged after it was written")
    return {name: (dtype, shape, begin + start, begin + stop) for name, (dtype, shape, start, stop) in places.items()}


def _places(head: dict[str, Any], num_bytes: int) -> dict[str, tuple[np.dtype, tuple[int, ...], int, int]]:
    """Type, shape and place of each tensor; they must cover the data exactly."""
    places: dict[str, tuple[np.dtype, tuple[int, ...], int, int]] = {}
    for name, entry in head.items():
        code, shape, (start, stop) = entry["dtype"], entry["shape"], entry["data_offsets"]
        if code not in _DTYPES:
            raise Damaged(f"{name!r} has the unknown data type {code!r}")
        dtype = _NUMPY_ALONE.get(code) or to_numpy_dtype(_DTYPES[code])
        if not all(type(number) is int and number >= 0 for number in (*shape, start, stop)):
            raise Damaged(f"{name!r} has sizes or places that are not counts")
        size = dtype.itemsize
        for number in shape:
            size *= number
        if stop - start != size:
            raise Damaged(f"{name!r} needs {size} bytes and has {stop - start}")
        places[name] = (dtype, tuple(shape), start, stop)
    end = 0
    for _, _, start, stop in sorted(places.values(), key=lambda place: place[2:]):
        if start != end:
            raise Damaged("its tensors do not lie one after another")
        end = stop
    if end != num_bytes:
        raise Damaged(f"its tensors have {end} bytes, and {num_bytes} are there")
    return places


def named_arrays(obj: Any, to_array: Any) -> dict[str, np.ndarray]:
    """A flat dictionary of tensors or arrays, as the format wants it."""
    found: dict[str, np.ndarray] = {}
    for key, value in obj.items() if isinstance(obj, dict) else [(None, obj)]:
        array = value if isinstance(value, np.ndarray) else to_array(value)
        if not isinstance(key, str) or key == _METADATA or array is None:
            raise value_error(
                "save", "a .safetensors file holds a dictionary of names and tensors and nothing else",
                f"{type(value).__name__} under {key!r}", "save a flat state dictionary, or choose another suffix",
            )  # fmt: skip
        found[key] = np.ascontiguousarray(array).reshape(array.shape)
    return found


def _json(head: dict[str, Any]) -> bytes:
    return json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()


def _checksum(head: dict[str, Any], parts: Iterator[Any]) -> str:
    """CRC-32 of the head (without the checksum) and the numbers."""
    checksum = zlib.crc32(_json(head))
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    return f"{checksum:08x}"
