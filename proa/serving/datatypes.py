"""The protocol's data types, and how the numbers of a tensor travel: as bytes or as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from .refusals import bad_request

# Protocol's name, our name, number in the enumeration of model configurations.
_TABLE = (
    ("BOOL", "bool", 1), ("UINT8", "uint8", 2), ("UINT16", "uint16", 3), ("UINT32", "uint32", 4),
    ("UINT64", "uint64", 5), ("INT8", "int8", 6), ("INT16", "int16", 7), ("INT32", "int32", 8), ("INT64", "int64", 9),
    ("FP16", "float16", 10), ("FP32", "float32", 11), ("FP64", "float64", 12), ("BF16", "bfloat16", 14),
)  # fmt: skip
NAMES = {ours: name for name, ours, _ in _TABLE}
NUMBERS = {name: number for name, _, number in _TABLE}
DTYPES = {
    name: np.dtype(ml_dtypes.bfloat16) if ours == "bfloat16" else np.dtype(ours).newbyteorder("<")
    for name, ours, _ in _TABLE
}
_WITHOUT_JSON = ("FP16", "BF16")
_MOST_DIMENSIONS = 32


def name_of(dtype: str) -> str:
    """The protocol's name of one of our data types; ValueError for those that it has none for."""
    found = NAMES.get(dtype)
    if found is None:
        raise ValueError(f"the protocol has no tensors of type {dtype}; it has {', '.join(NAMES)}")
    return found


def checked_shape(shape: Any, name: str) -> tuple[int, ...]:
    """The sizes as a tuple, if they are sizes."""
    if not isinstance(shape, Sequence) or isinstance(shape, (str, bytes)) or len(shape) > _MOST_DIMENSIONS:
        raise bad_request(f"input {name}: shape must be a list of sizes; received {str(shape)[:100]}")
    if any(not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 1 << 62 for size in shape):
        raise bad_request(f"input {name}: sizes must be whole numbers of at least 0; received {str(shape)[:100]}")
    return tuple(shape)


def from_bytes(data: Any, datatype: str, shape: tuple[int, ...], name: str) -> np.ndarray:
    """The tensor that lies in a buffer, little-endian and in row-major order; the buffer is not copied."""
    dtype = DTYPES[datatype]
    needed = math.prod(shape) * dtype.itemsize
    if len(data) != needed:
        raise bad_request(
            f"input {name}: {datatype}{list(shape)} takes {needed} bytes; received {len(data)}. "
            "Make shape, datatype and binary_data_size agree."
        )
    if datatype == "BOOL":
        return (np.frombuffer(data, np.uint8) != 0).reshape(shape)
    try:
        return np.frombuffer(data, dtype).reshape(shape)
    except ValueError as error:  # sizes whose product overflows beside a zero
        raise bad_request(f"input {name}: {error}") from None


def from_json(data: Any, datatype: str, shape: tuple[int, ...], name: str) -> np.ndarray:
    """The tensor that a JSON list holds, flat or nested as its shape."""
    if datatype in _WITHOUT_JSON:
        raise bad_request(f"input {name}: {datatype} travels as binary data only, not as JSON.")
    dtype = DTYPES[datatype]
    if not isinstance(data, list):
        raise bad_request(f"input {name}: data must be a list; received {str(data)[:60]}")
    return from_numbers(data, dtype, datatype, shape, name)


def from_numbers(
    data: Any, dtype: np.dtype[Any], datatype: str, shape: tuple[int, ...], name: str
) -> np.ndarray:  # fmt: skip
    try:
        found = np.array(data)
    except (ValueError, OverflowError) as error:
        raise bad_request(f"input {name}: data is no tensor: {str(error)[:120]}") from None
    if found.size and found.dtype.kind not in ("iuf" if dtype.kind == "f" else "iu" if dtype.kind in "iu" else "biu"):
        raise bad_request(f"input {name}: data must be numbers that {datatype} can hold; received {found.dtype} ones.")
    if found.size != math.prod(shape) or (found.ndim > 1 and found.shape != shape):
        raise bad_request(f"input {name}: data has the shape {list(found.shape)}, which is not {list(shape)}.")
    if found.size and not _fits(found, dtype):
        raise bad_request(f"input {name}: a number of data does not fit {datatype}.")
    try:
        return found.astype(dtype).reshape(shape)
    except ValueError as error:
        raise bad_request(f"input {name}: {error}") from None


def _fits(found: np.ndarray, dtype: np.dtype[Any]) -> bool:
    if dtype.kind == "f":
        largest = np.finfo(dtype).max
        with np.errstate(invalid="ignore"):
            return not np.any(np.isfinite(found) & (np.abs(found.astype(np.float64)) > largest))
    limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return limits[0] <= int(found.min()) and int(found.max()) <= limits[1]


def to_bytes(array: np.ndarray, datatype: str) -> bytes:
    return np.ascontiguousarray(array, DTYPES[datatype]).tobytes()


def to_json(array: np.ndarray, datatype: str, name: str) -> list[Any]:
    if datatype in _WITHOUT_JSON:
        raise bad_request(f"output {name}: {datatype} travels as binary data only; ask for it with binary_data: true.")
    return array.reshape(-1).tolist()
