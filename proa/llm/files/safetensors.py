"""Safetensors: one file, or several with an index. The format itself is in `framework/safetensors.py`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import numpy as np

from ...core.errors import type_error, value_error
from ...core.tracebacks import boundary
from ...eager.tensor import Tensor
from ...framework import safetensors as form
from ...framework import shards
from ...framework.unpickler import Damaged
from ...framework.writing import replacing
from .mapped import MappedFile


class SafeTensors(Mapping[str, np.ndarray]):
    """Arrays by name: read-only views of the files, read when they are looked at (`np.array(…)` makes a copy)."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._places: dict[str, tuple[MappedFile, np.dtype, tuple[int, ...], int]] = {}

    def add(self, path: str, verify: bool) -> list[str]:
        """Takes in what one file holds; gives the names."""
        file = MappedFile("read_safetensors", path)
        if not form.looks_like(file.data[:16]):
            raise file.damaged("it is no safetensors file")
        try:
            found = form.contents(file.data, verify)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            known = isinstance(error, Damaged)
            raise file.damaged(str(error) if known else f"its head is wrong: {error!r:.200}") from error
        for name, (dtype, shape, start, _) in found.items():
            file.check_shape(name, shape)
            self._places[name] = (file, dtype, shape, start)
        return list(found)

    def keep(self, names: Mapping[str, str]) -> None:
        """Only these names, in this order."""
        self._places = {name: self._places[name] for name in names}

    def __getitem__(self, name: str) -> np.ndarray:
        file, dtype, shape, start = self._places[name]
        return file.array(start, dtype, shape)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f"SafeTensors({self.path!r}, {len(self)} tensors)"


@boundary
def read_safetensors(path: Any, *, verify: bool = False) -> SafeTensors:
    """The tensors of a `.safetensors` file, of an index (`model.safetensors.index.json`), or of a folder with either.

    bfloat16 and float8 come in the types of ml_dtypes. With `verify`, the checksum of files written here is compared,
    which reads all of them once.
    """
    path = os.fspath(path)
    entry = os.path.join(path, _entry(path)) if os.path.isdir(path) else path
    found = SafeTensors(path)
    if not entry.endswith(shards.INDEX):
        found.add(entry, verify)
        return found
    index = shards.read_index("read_safetensors", entry)
    folder = os.path.dirname(entry)
    held = {
        name: file for file in sorted(set(index.values())) for name in found.add(os.path.join(folder, file), verify)
    }
    missing = [name for name, file in index.items() if held.get(name) != file]
    if missing:
        raise value_error(
            "read_safetensors", "tensors that the index names are not in their files", f"{entry!r}: {missing[:10]}",
            "fetch or write the files again, together with their index",
        )  # fmt: skip
    found.keep(index)
    return found


def _entry(folder: str) -> str:
    """The index of a folder, or its one file; `model…` is preferred, since adapters may lie beside it."""
    entries = sorted(os.listdir(folder))
    indices = [entry for entry in entries if entry.endswith(shards.INDEX)]
    files = [entry for entry in entries if entry.endswith(shards.SUFFIX)]
    for candidates, usual in ((indices, "model" + shards.INDEX), (files, "model" + shards.SUFFIX)):
        if usual in candidates:
            return usual
        if len(candidates) == 1 and not shards.is_part(candidates[0]):
            return candidates[0]
    raise FileNotFoundError(
        f"(read_safetensors) the folder must hold model{shards.SUFFIX}, or several files with model{shards.INDEX}; received "
        f"{folder!r} with {(indices + files)[:10]}; parts without their index are what an interrupted copy leaves."
    )


@boundary
def write_safetensors(
    folder: Any, tensors: Mapping[str, Any], shard_bytes: int = shards.FILE_BYTES, *, prefix: str = "model"
) -> list[str]:
    """Writes tensors or arrays as `model.safetensors`, or as several files of at most `shard_bytes` with an index.

    Files appear when all of them are written; whoever is interrupted leaves the old model, or parts that are refused when
    they are read. Files of an earlier model of that name go. Gives the names of the files.
    """
    if shard_bytes < 1:
        raise value_error("write_safetensors", "shard_bytes must be at least 1", repr(shard_bytes))
    for name, value in tensors.items():
        if not isinstance(name, str) or not isinstance(value, (Tensor, np.ndarray)):
            received = f"{type(value).__name__} as {name!r:.80}"
            raise type_error("write_safetensors", "names with tensors or arrays are needed", received)
    folder = os.path.realpath(os.fspath(folder))
    os.makedirs(folder, exist_ok=True)
    sizes = {name: _num_bytes(value) for name, value in tensors.items()}
    groups = list(shards.grouped(sizes, shard_bytes))
    if len(groups) > 1:
        return _write_parts(folder, tensors, sizes, groups, prefix)
    with replacing(os.path.join(folder, prefix + shards.SUFFIX)) as file:
        _write(file, tensors, groups[0])
    _remove_others(folder, prefix, [prefix + shards.SUFFIX])
    return [prefix + shards.SUFFIX]


def _write_parts(
    folder: str, tensors: Mapping[str, Any], sizes: dict[str, int], groups: list[list[str]], prefix: str
) -> list[str]:
    files = shards.file_names(prefix, len(groups))
    with contextlib.ExitStack() as stack:
        # The first to be opened is the last to appear: the index, when all parts are there.
        index = stack.enter_context(replacing(os.path.join(folder, prefix + shards.INDEX)))
        index.write(shards.index_text(sizes, files, groups))
        for name, group in zip(files, groups, strict=True):
            file = stack.enter_context(replacing(os.path.join(folder, name)))
            _write(file, tensors, group)
            file.flush()  # a full disk is noticed before anything of the old model is touched
            os.fsync(file.fileno())
        _remove_others(folder, prefix, files)
    return [*files, prefix + shards.INDEX]


def _write(file: BinaryIO, tensors: Mapping[str, Any], names: list[str]) -> None:
    # "pt", since transformers refuses whose tensors it does not know.
    form.write(file, form.named_arrays({name: _array(tensors[name]) for name in names}, None), "pt")


def _num_bytes(value: Any) -> int:
    """Of a tensor or an array."""
    return int(np.prod(value.shape, dtype=np.int64)) * value.dtype.itemsize


def _array(value: Any) -> np.ndarray:
    return value.numpy() if isinstance(value, Tensor) else value


def _remove_others(folder: str, prefix: str, kept: list[str]) -> None:
    """Removes the files of an earlier model: its index first, so that no part of it is taken for a model."""
    earlier = [prefix + shards.INDEX, prefix + shards.SUFFIX]
    earlier += [
        entry for entry in sorted(os.listdir(folder)) if entry.startswith(prefix + "-") and shards.is_part(entry)
    ]
    for entry in earlier:
        if entry not in kept:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, entry))
