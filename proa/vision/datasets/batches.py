"""CIFAR's pickled batches, read without executing anything.

They were written by Python 2, whose strings are bytes here. Of everything a pickle can ask for, only NumPy arrays of
bytes are made, and those by hand.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

from ...framework.unpickler import Damaged, refusal, scan
from ...utils.dataset_files import damaged


class _Bytes:
    """Stands for the data type uint8, the only one there is."""

    __slots__ = ()

    def __setstate__(self, state: Any) -> None:
        pass  # bytes have no order


class _Array:
    """Stands for an array until all of it is read."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: np.ndarray | None = None

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, tuple) or len(state) != 5:
            raise refusal("an array in an unknown form")
        _, shape, dtype, is_fortran, data = state
        if not isinstance(dtype, _Bytes) or not isinstance(data, bytes) or not isinstance(shape, tuple):
            raise refusal("an array of something else than bytes")
        if not all(type(size) is int and size >= 0 for size in shape) or _product(shape) != len(data):
            raise Damaged(f"an array of the shape {shape!r} with {len(data)} bytes")
        self.value = np.frombuffer(data, np.uint8).reshape(shape, order="F" if is_fortran else "C")


def _product(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def _make_array(kind: Any, shape: Any, typecode: Any) -> _Array:
    return _Array()


def _make_dtype(name: Any, align: Any = False, copy: Any = False) -> _Bytes:
    if name not in ("u1", b"u1", "uint8", b"uint8"):
        raise refusal(f"an array of the type {name!r:.40}")
    return _Bytes()


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    """How Python 3 writes bytes for Python 2."""
    if not isinstance(text, str) or encoding not in ("latin1", b"latin1"):
        raise refusal(f"the text encoding {encoding!r:.40}")
    return text.encode("latin1")


_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"): _make_array,
    ("numpy._core.multiarray", "_reconstruct"): _make_array,
    ("numpy", "ndarray"): "numpy.ndarray",
    ("numpy", "dtype"): _make_dtype,
    ("_codecs", "encode"): _encode,
}


class _BatchUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        found = _ALLOWED.get((module, name))
        if found is None:
            raise refusal(f"{module}.{name}"[:200])
        return found

    def persistent_load(self, pid: Any) -> Any:
        raise refusal("an object kept outside of the file")


def read_batch(where: str, path: str, name: str, content: bytes, label_key: str) -> list[tuple[np.ndarray, Any]]:
    """(row of 3072 bytes, label) of every image in one pickled batch."""
    try:
        scan(content)
        batch = _BatchUnpickler(io.BytesIO(content), encoding="bytes").load()
    except (
        pickle.UnpicklingError,
        EOFError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        OverflowError,
    ) as error:
        raise damaged(where, path, f"{name}: {error}") from None
    if not isinstance(batch, dict):
        raise damaged(where, path, f"{name} holds no dictionary")
    fields = {key.decode("latin1") if isinstance(key, bytes) else key: value for key, value in batch.items()}
    data, labels = fields.get("data"), fields.get(label_key)
    images = data.value if isinstance(data, _Array) else None
    if images is None or images.ndim != 2 or images.shape[1] != 3072:
        raise damaged(where, path, f"{name} holds no images of 3072 bytes")
    if not isinstance(labels, list) or len(labels) != len(images) or not all(type(label) is int for label in labels):
        raise damaged(where, path, f"{name} has not one of its {label_key} for each image")
    return list(zip(images, labels, strict=True))
