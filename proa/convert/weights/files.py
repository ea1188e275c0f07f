"""State dictionaries of PyTorch as arrays by name.

A `.pt` file is a zip with a pickle that says how each tensor lies in the raw data beside it. A pickle names functions to be
called; only the few that put tensors together are found here, and they are ours, so nothing of the file is run.
"""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from ...core.errors import value_error
from ...framework import safetensors
from ...framework.unpickler import Damaged, RestrictedUnpickler, scan

_STORAGES: dict[str, Any] = {
    "FloatStorage": np.float32, "DoubleStorage": np.float64, "HalfStorage": np.float16, "LongStorage": np.int64,
    "IntStorage": np.int32, "ShortStorage": np.int16, "CharStorage": np.int8, "ByteStorage": np.uint8,
    "BoolStorage": np.bool_, "BFloat16Storage": ml_dtypes.bfloat16, "ComplexFloatStorage": np.complex64,
    "ComplexDoubleStorage": np.complex128, "UntypedStorage": np.uint8,
}  # fmt: skip
_FORMATS = ("float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64", "int8", "int16", "int32", "int64",
            "uint8", "bool", "complex64", "complex128")  # fmt: skip


def read_torch_weights(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The arrays of a `.safetensors`, `.pt` or `.pth` file by their names; those of a nested dictionary by dotted names.

    Examples:
        >>> from safetensors.numpy import save_file
        >>> save_file({"fc.weight": np.ones((3, 2), "float32")}, "model.safetensors")
        >>> {name: array.shape for name, array in paddle.convert.read_torch_weights("model.safetensors").items()}
        {'fc.weight': (3, 2)}
    """
    path = os.fspath(path)
    with open(path, "rb") as file:
        head = file.read(16)
    if safetensors.looks_like(head):
        with open(path, "rb") as file:
            return safetensors.read(file.read())
    if not zipfile.is_zipfile(path):
        raise value_error(
            "convert", f"{path} is neither a safetensors file nor one that torch.save writes since version 1.6",
            f"it begins with {head[:8]!r}", "save it again with a newer torch: torch.save(model.state_dict(), path)",
        )  # fmt: skip
    try:
        return dict(_named(_TorchFile(path).content()))
    except (
        pickle.UnpicklingError,
        Damaged,
        zipfile.BadZipFile,
        EOFError,
        KeyError,
        IndexError,
        AttributeError,
    ) as error:
        raise value_error(
            "convert", f"{path} cannot be read: {_first_sentence(error)}", "",
            "only tensors, numbers and text are read from such a file: torch.save(model.state_dict(), path) writes these",
        ) from None  # fmt: skip


def _first_sentence(error: Exception) -> str:
    return str(error).split(", and only")[0].removeprefix("(load) ")


def _named(content: Any, prefix: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Arrays of nested dictionaries; what is no array (a step count, settings) is left out."""
    if isinstance(content, np.ndarray):
        yield prefix.removesuffix("."), content
    elif isinstance(content, dict):
        for key, value in content.items():
            yield from _named(value, f"{prefix}{key}.")


class _Storage:
    """Stands for a class of torch's storages: a type of numbers."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)


class _TorchFile:
    """One zip file of torch's."""

    def __init__(self, path: str) -> None:
        self.archive = zipfile.ZipFile(path)
        names = [name for name in self.archive.namelist() if name.endswith("/data.pkl")]
        if len(names) != 1:
            raise Damaged("it holds no weights (data.pkl); a program of torch.export is converted as a .pt2 file")
        self.folder = names[0].removesuffix("data.pkl")
        self.size = os.path.getsize(path)
        self.read_already: dict[str, bytes] = {}
        if f"{self.folder}byteorder" in self.archive.namelist() and self.entry("byteorder") != b"little":
            raise Damaged("its numbers are big-endian")

    def entry(self, name: str) -> bytes:
        info = self.archive.getinfo(self.folder + name)
        # torch compresses nothing, so that no entry can be longer than the file.
        if info.compress_type != zipfile.ZIP_STORED or info.file_size > self.size:
            raise Damaged(f"the entry {name} is compressed")
        return self.archive.read(info)

    def content(self) -> Any:
        data = self.entry("data.pkl")
        scan(data)
        return _Unpickler(io.BytesIO(data), self).load()

    def storage(self, key: str) -> bytes:
        if key not in self.read_already:
            self.read_already[key] = self.entry(f"data/{key}")
        return self.read_already[key]


def _tensor(storage: Any, offset: Any, size: Any, stride: Any, *_rest: Any) -> np.ndarray:
    """A tensor as a copy of its part of a storage; every element must lie within it."""
    if not isinstance(storage, np.ndarray) or not isinstance(size, tuple) or not isinstance(stride, tuple):
        raise Damaged("a tensor in an unknown form")
    numbers = (offset, *size, *stride)
    if len(size) != len(stride) or not all(type(n) is int and n >= 0 for n in numbers):
        raise Damaged(f"a tensor with the shape {size!r:.60} and the strides {stride!r:.60}")
    if 0 in size:
        return np.zeros(size, storage.dtype)
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if last >= storage.size:
        raise Damaged(f"a tensor that reaches to element {last} of {storage.size}")
    steps = tuple(step * storage.itemsize for step in stride)
    return np.lib.stride_tricks.as_strided(storage[offset:], size, steps, writeable=False).copy()


def _parameter(tensor: Any, *_rest: Any) -> Any:
    return tensor


def _typed_tensor(
    storage: Any, offset: Any, size: Any, stride: Any, _grad: Any, _hooks: Any, dtype: Any, *_rest: Any
) -> Any:
    """A tensor of a type that has no storage class of its own."""
    if not isinstance(storage, np.ndarray) or not isinstance(dtype, _Storage):
        raise Damaged("a tensor in an unknown form")
    return _tensor(storage.view(np.uint8).view(dtype.dtype), offset, size, stride)


_FUNCTIONS: dict[tuple[str, str], Any] = {
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_tensor_v3"): _typed_tensor,
    ("torch._utils", "_rebuild_parameter"): _parameter,
    **{("torch", name): _Storage(dtype) for name, dtype in _STORAGES.items()},
    ("torch.storage", "UntypedStorage"): _Storage(np.uint8),
    **{
        ("torch", name): _Storage(getattr(ml_dtypes, name, None) or np.dtype(name)) for name in _FORMATS
    },
}  # fmt: skip


class _Unpickler(RestrictedUnpickler):
    def __init__(self, stream: Any, file: _TorchFile) -> None:
        super().__init__(stream, _FUNCTIONS)
        self.file = file

    def persistent_load(self, pid: Any) -> Any:
        if not isinstance(pid, tuple) or len(pid) != 5 or pid[0] != "storage" or not isinstance(pid[1], _Storage):
            raise Damaged(f"an object outside of the pickle: {str(pid)[:60]}")
        _, kind, key, _, count = pid
        if not isinstance(key, str) or not key.isalnum() or type(count) is not int:
            raise Damaged(f"a storage with the name {str(key)[:40]!r}")
        data = self.file.storage(key)
        if len(data) % kind.dtype.itemsize:
            raise Damaged(f"a storage of {len(data)} bytes for {kind.dtype}")
        return np.frombuffer(data, kind.dtype)


__all__ = ["read_torch_weights"]
