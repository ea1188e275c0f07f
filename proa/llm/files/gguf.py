"""GGUF files: models as llama.cpp reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ...core.dtype import to_numpy_dtype
from ...core.errors import value_error
from ...core.tracebacks import boundary
from .dequantising import dequantise
from .header import Header
from .kinds import Kind
from .mapped import MappedFile

_PART = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf")


@dataclass(frozen=True)
class GGUFTensor:
    """One tensor of a file. `shape` is in NumPy's order: a weight is [outputs, inputs], its blocks lie along the inputs."""

    name: str
    kind: Kind
    shape: tuple[int, ...]
    num_bytes: int
    _file: MappedFile
    _start: int

    @property
    def blocks(self) -> np.ndarray:
        """The bare bytes, [..., bytes of a row], as a read-only view of the file."""
        *rows, row = self.shape or (1,)
        shape = (*rows, row // self.kind.elements * self.kind.num_bytes)
        return self._file.array(self._start, np.dtype(np.uint8), shape)

    def dequantised(self, dtype: Any = "float32") -> np.ndarray:
        """The numbers, in memory of their own."""
        return dequantise(self.blocks, self.kind, to_numpy_dtype(dtype)).reshape(self.shape)

    def __repr__(self) -> str:
        return f"GGUFTensor({self.name!r}, {self.kind}, {list(self.shape)})"


class GGUF:
    """A GGUF file, or several that llama.cpp's splitter made of one (name the first).

    `metadata` holds numbers, texts, arrays of numbers (NumPy's) and lists of texts; `tensors` what the files hold, read
    when asked for. A file that is damaged or cut off is refused when it is opened.
    """

    @boundary
    def __init__(self, path: Any) -> None:
        self.path = os.fspath(path)
        first = Header(MappedFile("GGUF", path))
        self.metadata: Mapping[str, Any] = MappingProxyType(first.metadata)
        tensors = dict(_tensors(first))
        for header in _further_parts(first):
            for name, tensor in _tensors(header):
                if name in tensors:
                    raise header.file.damaged(f"the tensor {name!r:.80} is in another part as well")
                tensors[name] = tensor
        expected = self.metadata.get("split.tensors.count", len(tensors))
        if expected != len(tensors):
            raise first.file.damaged(f"its parts have {len(tensors)} tensors instead of {expected!r:.40}")
        self.tensors: Mapping[str, GGUFTensor] = MappingProxyType(tensors)

    @property
    def architecture(self) -> str:
        """What kind of model it is, by llama.cpp's name: llama, qwen2, gemma3 …"""
        return str(self.get("general.architecture", ""))

    def get(self, key: str, default: Any = None) -> Any:
        """A value of the metadata; a key that begins with a dot is one of the architecture's (`.block_count`)."""
        return self.metadata.get(f"{self.architecture}{key}" if key.startswith(".") else key, default)

    def __repr__(self) -> str:
        return f"GGUF({self.path!r}, {self.architecture or 'no model'}, {len(self.tensors)} tensors)"


def _tensors(header: Header) -> Iterator[tuple[str, GGUFTensor]]:
    for name, place in header.places.items():
        yield name, GGUFTensor(name, place.kind, place.shape, place.num_bytes, header.file, place.start)


def _further_parts(first: Header) -> Iterator[Header]:
    """The heads of the other files of a model that was split."""
    count = first.metadata.get("split.count", 0)
    if type(count) is not int or count < 2:
        return
    name = _PART.fullmatch(first.file.path)
    if name is None or int(name[3]) != count or int(name[2]) != 1 or first.metadata.get("split.no", 0) != 0:
        raise value_error(
            "GGUF", f"the model lies in {count} files, of which the first must be named", repr(first.file.path),
            "the files are called NAME-00001-of-0000N.gguf; keep their names, and keep them together",
        )  # fmt: skip
    for number in range(2, count + 1):
        path = f"{name[1]}-{number:05d}-of-{name[3]}.gguf"
        if not os.path.isfile(path):
            raise FileNotFoundError(f"(GGUF) a part of the model is missing; received {path!r}.")
        header = Header(MappedFile("GGUF", path))
        if header.metadata.get("split.no") != number - 1:
            raise header.file.damaged(f"it is not part {number} of its model")
        yield header
