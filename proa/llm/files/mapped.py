"""A file as a memory map: arrays that are views of it, read by the system when they are looked at."""

from __future__ import annotations

import mmap
import os
from typing import Any

import numpy as np

from ...core.errors import value_error

_MOST_DIMENSIONS = 32


class MappedFile:
    """A file that is open for reading.

    An array of it stays good when the file is deleted or replaced, as everything here writes files. What no reader can
    bear is a file that is cut short in place under an array in use: that ends the process. The length is compared each
    time an array is asked for, so that it takes both at the same time.
    """

    def __init__(self, where: str, path: Any) -> None:
        self.where, self.path = where, os.fspath(path)
        if os.path.isdir(self.path):
            raise IsADirectoryError(f"({where}) the path is a folder; received {self.path!r}; name a file in it.")
        with open(self.path, "rb") as file:
            self.size = os.fstat(file.fileno()).st_size
            if not self.size:
                raise self.damaged("it is empty")
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def damaged(self, what: str) -> ValueError:
        return value_error(self.where, f"{self.path!r} cannot be read: {what}", "", "fetch or write the file again")

    def array(self, start: int, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """A read-only view of the file; the caller has checked that it lies within it."""
        if self.data.size() < self.size:  # of the file, as it is now
            raise self.damaged(f"it has been cut to {self.data.size()} bytes of {self.size} since it was opened")
        count = 1
        for length in shape:
            count *= length
        if not count:
            return np.zeros(shape, dtype)
        return np.frombuffer(self.data, dtype, count, start).reshape(shape)

    def check_shape(self, name: str, shape: tuple[int, ...]) -> None:
        """Refuses shapes that no array can have (one without elements needs no bytes, so nothing else bounds it)."""
        size = 1
        for length in shape:
            size *= length or 1
        if len(shape) > _MOST_DIMENSIONS or size >= 2**56:
            raise self.damaged(f"the tensor {name!r:.80} has the shape {list(shape[:8])}")
