"""The data files of a checkpoint, written so that Paddle reads them and that one part can be read by itself.

`.distcp` is what `paddle.save` of Paddle writes for a dictionary of arrays, a pickle. It is put together here rather than by
the pickler: the numbers go from the array to the file without a copy, and where they begin is known, so that a part is
read, and its checksum compared, without the rest of the file. `.safetensors` files say themselves where everything lies.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import zlib
from collections.abc import Iterable
from typing import Any, BinaryIO

import numpy as np

from ...core.dtype import BFLOAT16, to_numpy_dtype
from ...core.errors import value_error
from ...framework import safetensors
from ...framework.content import NAME_TABLE
from ...framework.io import load
from .metadata import Part

SUFFIXES = (".distcp", ".safetensors")


def write(file: BinaryIO, name: str, arrays: dict[str, np.ndarray]) -> dict[str, tuple[int, int, int]]:
    """Writes named arrays; gives for each where its numbers begin, how many bytes they are, and their CRC-32."""
    begins = safetensors.write(file, arrays) if name.endswith(".safetensors") else _write_pickle(file, arrays)
    return {key: (begins[key], array.nbytes, zlib.crc32(_numbers(array))) for key, array in arrays.items()}


def _numbers(array: np.ndarray) -> Any:
    """The bytes of an array that lies without gaps."""
    return array.reshape(-1).view(np.uint8).data if array.nbytes else b""


def _write_pickle(file: BinaryIO, arrays: dict[str, np.ndarray]) -> dict[str, int]:
    begins: dict[str, int] = {}
    file.write(pickle.PROTO + b"\x04" + pickle.EMPTY_DICT)
    for key, array in arrays.items():
        stored = array.view(np.uint16) if array.dtype == BFLOAT16 else array  # as Paddle stores bfloat16
        file.write(_commands(key) + _array_commands(stored))
        begins[key] = file.tell()
        file.write(_numbers(stored))
        file.write(pickle.TUPLE + pickle.BUILD + pickle.SETITEM)
    file.write(_commands(NAME_TABLE) + _commands({key: key for key in arrays}) + pickle.SETITEM + pickle.STOP)
    return begins


def _array_commands(array: np.ndarray) -> bytes:
    """Up to where the numbers begin: `_reconstruct(ndarray, (0,), b"b")`, then of its state all that stands before them."""
    reconstruct, arguments, _ = array.__reduce__()  # type: ignore[misc]
    state = _commands(1) + _commands(array.shape) + _commands(array.dtype) + _commands(False)
    length = pickle.BINBYTES8 + array.nbytes.to_bytes(8, "little")
    return _commands(reconstruct) + _commands(arguments) + pickle.REDUCE + pickle.MARK + state + length


def _commands(value: Any) -> bytes:
    """The commands of a pickle that make a value, for use within another one: they refer to nothing that came before."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, 4)
    pickler.fast = True
    pickler.dump(value)
    commands = buffer.getvalue()[2:-1]  # without the protocol and the end
    return commands[9:] if commands[:1] == pickle.FRAME else commands


class Reader:
    """Reads parts out of the files of one checkpoint; every part's checksum is compared."""

    def __init__(self, folder: str, sizes: dict[str, int]) -> None:
        self._folder = folder
        self._sizes = sizes
        self._maps: dict[str, Any] = {}
        self._whole: dict[str, dict[str, np.ndarray]] = {}

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: Any) -> None:
        self._maps.clear()  # the maps close when the last array in them dies
        self._whole.clear()

    def check(self, files: Iterable[str]) -> None:
        """Every file must be there, with the size it was written with."""
        for file in sorted(set(files)):
            path = os.path.join(self._folder, file)
            if os.path.basename(file) != file or not os.path.isfile(path):
                raise FileNotFoundError(
                    f"(load_state_dict) a file of the checkpoint is missing; received {path!r}; load another one by its "
                    "unique_id."
                )
            expected = self._sizes.get(file)
            if expected is not None and os.path.getsize(path) != expected:
                raise _damaged(path, f"it has {os.path.getsize(path)} bytes, and {expected} were written")

    def read(self, part: Part) -> np.ndarray:
        """The numbers of a part, which must not be written to."""
        path = os.path.join(self._folder, part.file)
        dtype = to_numpy_dtype(part.dtype)
        shape = part.shape if part.flat is None else (part.flat[1] - part.flat[0],)
        if part.begin is None or part.num_bytes is None:
            array = self._read_whole(part.file, path).get(part.key)
            if array is None:
                raise _damaged(path, f"it has no {part.key!r}")
            array = array.view(dtype) if array.dtype.itemsize == dtype.itemsize else array.astype(dtype)
        else:
            data = self._map(part.file, path)
            if part.begin + part.num_bytes > len(data):
                raise _damaged(path, f"it ends before the numbers of {part.key!r}")
            raw = np.frombuffer(data, np.uint8, part.num_bytes, part.begin)
            if part.checksum is not None and zlib.crc32(raw.data) != part.checksum:
                raise _damaged(path, f"the checksum of {part.key!r} does not fit")
            array = raw.view(dtype)
        if array.size != int(np.prod(shape)):
            raise _damaged(path, f"{part.key!r} has {array.size} numbers, and {list(shape)} are said to be there")
        return array.reshape(shape)

    def _map(self, file: str, path: str) -> Any:
        if file not in self._maps:
            with open(path, "rb") as opened:
                empty = os.fstat(opened.fileno()).st_size == 0
                self._maps[file] = b"" if empty else mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        return self._maps[file]

    def _read_whole(self, file: str, path: str) -> dict[str, np.ndarray]:
        """A file of Paddle's: it does not say where its parts begin."""
        if file not in self._whole:
            self._whole[file] = load(path, return_numpy=True)
        return self._whole[file]


def _damaged(path: str, reason: str) -> ValueError:
    return value_error(
        "load_state_dict", f"a file of the checkpoint is damaged: {reason}", repr(path),
        "load an older checkpoint by its unique_id; tensors before this one have been loaded",
    )  # fmt: skip
