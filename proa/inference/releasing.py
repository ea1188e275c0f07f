"""Parameters that are in memory only while somebody needs them.

An engine that has packed a model's weights, or handed them to another library, has no use for the originals. They are let
go, and read from the model's file again should they be needed: for a graph that packs otherwise, for hooks. The file stays
open from the beginning, so that it may be removed or replaced meanwhile; one that was written over is noticed.
"""

from __future__ import annotations

import os
import weakref
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.locks import new_reentrant_lock
from ..core.place import CPU
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor

_LARGE = 1 << 16  # bytes; what is smaller is not worth the trouble
_LOCK = new_reentrant_lock()
_SLOT: Any = Tensor._value  # type: ignore[misc]


class ReleasedParameter(Parameter):
    """A parameter whose numbers were let go. At the first look at its value it becomes an ordinary Parameter."""

    _read: Callable[[], np.ndarray]

    # Whoever reads an ordinary parameter takes no lock: at no moment may it be one without a value.

    @property
    def _value(self) -> Any:  # type: ignore[override]
        with _LOCK:
            if type(self) is ReleasedParameter:
                self._value = self._read()
            return _SLOT.__get__(self)

    @_value.setter
    def _value(self, value: Any) -> None:
        _SLOT.__set__(self, value)
        self.__class__ = Parameter  # type: ignore[assignment]


class ParameterStore:
    """The file that parameters were read from, and where in it each of them lies."""

    def __init__(self, path: str, offsets: dict[str, int]) -> None:
        self.path = path
        self.offsets = offsets
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        self._readers: dict[str, Callable[[], np.ndarray]] = {}
        weakref.finalize(self, os.close, self._descriptor)

    def release(self, name: str, parameter: Tensor) -> bool:
        """Lets the numbers of a parameter go, if they can be had again."""
        aval = parameter._aval
        if type(parameter) is not Parameter or aval.place is not CPU or name not in self.offsets:
            return False
        if aval.size * aval.dtype.itemsize < _LARGE:
            return False
        with _LOCK:
            value = parameter._value
            if value is None:
                return False
            if name not in self._readers:
                self._readers[name] = self._reader(name, np.asarray(value))
            parameter._read = self._readers[name]
            parameter.__class__ = ReleasedParameter
            _SLOT.__set__(parameter, None)
        return True

    def _reader(self, name: str, array: np.ndarray) -> Callable[[], np.ndarray]:
        checksum, shape, dtype = zlib.crc32(_bytes_of(array)), array.shape, array.dtype

        def read() -> np.ndarray:
            made = np.empty(shape, dtype)
            rest, offset = _bytes_of(made), self.offsets[name]
            while rest:
                count = os.preadv(self._descriptor, [rest], offset)
                if count == 0:
                    break
                rest, offset = rest[count:], offset + count
            if rest or zlib.crc32(_bytes_of(made)) != checksum:
                raise RuntimeError(
                    f"(inference) {self.path} was written over after the model was loaded, and {name!r} is needed again; "
                    "put new files in the place of old ones by renaming them, and create the predictor anew."
                )
            return made

        return read


def _bytes_of(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def open_store(path: str | None, offsets: dict[str, int]) -> ParameterStore | None:
    """The store of a parameters' file; None where parameters have to stay in memory."""
    if not path or not offsets or not hasattr(os, "preadv"):
        return None
    try:
        return ParameterStore(path, offsets)
    except OSError:
        return None


__all__ = ["ParameterStore", "ReleasedParameter", "open_store"]
