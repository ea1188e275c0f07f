"""ONNX's tensors as arrays. Sizes are checked against the bytes that are there before anything is made of them."""

from __future__ import annotations

import math
import os
from typing import Any

import ml_dtypes
import numpy as np

from ...core.errors import value_error

# Numbers of ONNX's data types. Those of four bits and fewer are held as the next wider type that programs compute with.
DTYPES: dict[int, Any] = {
    1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64, 9: np.bool_,
    10: np.float16, 11: np.float64, 12: np.uint32, 13: np.uint64, 14: np.complex64, 15: np.complex128,
    16: ml_dtypes.bfloat16, 17: ml_dtypes.float8_e4m3fn, 18: ml_dtypes.float8_e4m3fnuz, 19: ml_dtypes.float8_e5m2,
    20: ml_dtypes.float8_e5m2fnuz, 21: ml_dtypes.uint4, 22: ml_dtypes.int4, 23: ml_dtypes.float4_e2m1fn,
}  # fmt: skip
_STRING, _FOUR_BITS = 8, {21: np.uint8, 22: np.int8}
_FAR = 1 << 40  # bytes; no file of this format is longer


def dtype_name(number: int) -> str:
    """Our name of a data type; ValueError for one that programs cannot compute with."""
    if number in _FOUR_BITS:
        return np.dtype(_FOUR_BITS[number]).name
    if number in DTYPES:
        return np.dtype(DTYPES[number]).name
    raise value_error("onnx", "the model has a tensor of a data type without numbers", f"data type {number}")


class Folder:
    """Where files beside the model are found. None of them may lie outside the model's own folder."""

    def __init__(self, path: str | None) -> None:
        self.path = None if path is None else os.path.realpath(path)

    def read(self, location: str, offset: int, length: int | None, title: str) -> bytes:
        if self.path is None:
            raise value_error(
                "onnx", f"{title} lies in the file {location!r}, and the model came without a folder", "bytes",
                "give the path of the model instead",
            )  # fmt: skip
        full = os.path.realpath(os.path.join(self.path, location))
        if os.path.isabs(location) or os.path.commonpath([full, self.path]) != self.path:
            raise value_error("onnx", f"{title} may not lie outside the model's folder", f"location: {location!r}")
        if not os.path.isfile(full):
            raise FileNotFoundError(f"(onnx) {title} lies in {location!r}, which is not beside the model.")
        size = os.path.getsize(full)
        count = size - offset if length is None else length
        if offset < 0 or count < 0 or offset + count > size:
            raise value_error(
                "onnx",
                f"{title} reaches past the end of {location!r}",
                f"offset {offset}, length {length}, file {size}",
            )
        with open(full, "rb") as file:
            file.seek(offset)
            return file.read(count)


def tensor_array(message: dict[str, Any], folder: Folder) -> np.ndarray:
    """The array of a TensorProto."""
    title = f"the tensor {message.get('name', '')!r}"
    number = message.get("data_type", 0)
    shape = tuple(message.get("dims", ()))
    if any(size < 0 for size in shape) or math.prod(shape) > _FAR:
        raise value_error("onnx", f"{title} has an impossible shape", f"{list(shape)[:10]}")
    if number == _STRING:
        texts = [text.decode("utf-8", "replace") for text in message.get("string_data", ())]
        return _shaped(np.array(texts, object), shape, title)
    if number not in DTYPES:
        raise value_error("onnx", f"{title} has an unknown data type", f"{number}")
    if message.get("data_location", 0) == 1:
        where = {entry.get("key", ""): entry.get("value", "") for entry in message.get("external_data", ())}
        length = where.get("length")
        raw = folder.read(
            where.get("location", ""), _count(where.get("offset", "0"), title),
            None if length is None else _count(length, title), title,
        )  # fmt: skip
        return _from_bytes(raw, number, shape, title)
    if "raw_data" in message:
        return _from_bytes(message["raw_data"], number, shape, title)
    return _from_numbers(message, number, shape, title)


def _count(text: str, title: str) -> int:
    if not text.isdigit():
        raise value_error("onnx", f"{title} has no number where its place in a file is said", repr(text)[:40])
    return int(text)


def _shaped(array: np.ndarray, shape: tuple[int, ...], title: str) -> np.ndarray:
    if array.size != math.prod(shape):
        raise value_error(
            "onnx", f"{title} has another number of elements than its shape says", f"{array.size}, {shape}"
        )
    return array.reshape(shape)


def _from_bytes(raw: bytes, number: int, shape: tuple[int, ...], title: str) -> np.ndarray:
    if number in _FOUR_BITS:
        return _shaped(_unpacked(np.frombuffer(raw, np.uint8), number)[: math.prod(shape)], shape, title)
    if number == 23:
        return _shaped(_four_bit_floats(np.frombuffer(raw, np.uint8))[: math.prod(shape)], shape, title)
    dtype = np.dtype(DTYPES[number])
    if len(raw) != dtype.itemsize * math.prod(shape):
        raise value_error("onnx", f"{title} has {len(raw)} bytes", f"{dtype.name}{list(shape)}", "the file is damaged")
    return np.frombuffer(raw, dtype).reshape(shape).copy()


def _unpacked(pairs: np.ndarray, number: int) -> np.ndarray:
    """Two numbers of four bits a byte, the lower half first."""
    both = np.stack([pairs & 15, pairs >> 4], -1).reshape(-1).astype(np.int16)
    return (both.astype(np.uint8) if number == 21 else np.where(both > 7, both - 16, both).astype(np.int8))  # fmt: skip


def _four_bit_floats(pairs: np.ndarray) -> np.ndarray:
    both = np.stack([pairs & 15, pairs >> 4], -1).reshape(-1).astype(np.uint8)
    return both.view(ml_dtypes.float4_e2m1fn).astype(np.float32)


def _from_numbers(message: dict[str, Any], number: int, shape: tuple[int, ...], title: str) -> np.ndarray:
    dtype = np.dtype(DTYPES[number])
    if number in (1, 14):
        array = _floats(message.get("float_data", []), np.float32)
    elif number in (11, 15):
        array = _floats(message.get("double_data", []), np.float64)
    elif number == 7:
        return _shaped(np.array(message.get("int64_data", []), np.int64), shape, title)
    elif number in (12, 13):
        values = [value & 0xFFFFFFFFFFFFFFFF for value in message.get("uint64_data", [])]
        return _shaped(np.array(values, np.uint64).astype(dtype), shape, title)
    else:
        array = np.array(message.get("int32_data", []), np.int64)
        if number in _FOUR_BITS:
            return _shaped(_unpacked(array.astype(np.uint8), number)[: math.prod(shape)], shape, title)
        if number == 23:
            return _shaped(_four_bit_floats(array.astype(np.uint8))[: math.prod(shape)], shape, title)
        if number in (10, 16):  # these hold bit patterns
            array = array.astype(np.uint16)
        elif number in (17, 18, 19, 20):
            array = array.astype(np.uint8)
        else:
            return _shaped(array.astype(dtype), shape, title)
    return _shaped(array.view(dtype), shape, title)


def _floats(parts: list[Any], dtype: Any) -> np.ndarray:
    if parts and isinstance(parts[0], bytes):
        if any(len(part) % np.dtype(dtype).itemsize for part in parts):
            raise value_error("onnx", "packed numbers end in the middle of one", "", "the file is damaged")
        return np.frombuffer(b"".join(parts), dtype)
    return np.array(parts, dtype)


def sparse_array(message: dict[str, Any], folder: Folder) -> np.ndarray:
    """A SparseTensorProto as a dense array."""
    values = tensor_array(message.get("values", {}), folder)
    indices = tensor_array(message.get("indices", {}), folder)
    shape = tuple(message.get("dims", ()))
    if any(size < 0 for size in shape) or math.prod(shape) > 1 << 32:
        raise value_error("onnx", "a sparse tensor has an impossible shape", f"{list(shape)[:10]}")
    dense = np.zeros(math.prod(shape), values.dtype)
    flat = indices.reshape(-1) if indices.ndim == 1 else np.ravel_multi_index(tuple(indices.T), shape)
    dense[flat] = values
    return dense.reshape(shape)


__all__ = ["DTYPES", "Folder", "dtype_name", "sparse_array", "tensor_array"]
