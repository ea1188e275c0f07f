"""CuPy as the array namespace that kernels expect: what it spells otherwise than NumPy 2 and `jax.numpy`.

Everything that is not written here is CuPy's own function.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class CupyNamespace:
    """`xp` on an NVIDIA GPU."""

    __name__ = "cupy"

    def __init__(self, cupy: Any, device: int = 0, stream: int = 0) -> None:
        self._cupy = cupy
        # For libraries that are called beside CuPy: the device, the address of the stream, memory for their own use.
        self.device, self.stream = device, stream
        self._workspace: Any = None

    def workspace(self, size: int) -> int:
        """The address of so many bytes, for the kernel that is started next: those behind it may get the same."""
        if self._workspace is None or self._workspace.nbytes < size:
            self._workspace = None
            self._workspace = self._cupy.empty(size, np.uint8)
        return int(self._workspace.data.ptr)

    def give_back(self) -> None:
        self._workspace = None

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._cupy, name)
        setattr(self, name, found)  # the next look finds it at once
        return found

    def asarray(self, a: Any, dtype: Any = None) -> Any:
        return self._cupy.asarray(a, dtype)

    def take(self, a: Any, indices: Any, axis: int | None = None, mode: str = "wrap") -> Any:
        """Out of range, CuPy's `take` wraps around; the kernels that ask for "clip" mean it."""
        if isinstance(indices, np.ndarray):
            indices = self._cupy.asarray(indices)
        if mode == "clip" and not isinstance(indices, int):
            size = a.size if axis is None else a.shape[axis]
            indices = self._cupy.clip(indices, 0, max(size - 1, 0))
        return self._cupy.take(a, indices, axis=axis)

    def sort(self, a: Any, axis: int | None = -1, stable: bool = True, kind: str | None = None) -> Any:
        return self._cupy.sort(a, axis=axis)

    def argsort(self, a: Any, axis: int | None = -1, stable: bool = True, kind: str | None = None) -> Any:
        return self._cupy.argsort(a, axis=axis)  # always a stable one

    def max(self, a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
        return self._extreme(self._cupy.max, self._cupy.maximum, a, axis, keepdims, initial)

    def min(self, a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
        return self._extreme(self._cupy.min, self._cupy.minimum, a, axis, keepdims, initial)

    def _extreme(self, reduce: Any, of_two: Any, a: Any, axis: Any, keepdims: bool, initial: Any) -> Any:
        if initial is None:
            return reduce(a, axis=axis, keepdims=keepdims)
        start = a.dtype.type(initial)
        if a.size:
            return of_two(reduce(a, axis=axis, keepdims=keepdims), start)
        shape = np.empty(a.shape, np.bool_).sum(axis=axis, keepdims=keepdims).shape
        return self._cupy.full(shape, start, a.dtype)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        return self._cupy.where(self._own(condition), self._own(x), self._own(y))

    def broadcast_to(self, array: Any, shape: Any) -> Any:
        return self._cupy.broadcast_to(self._array(array), shape)

    def stack(self, arrays: Any, axis: int = 0) -> Any:
        return self._cupy.stack([self._array(array) for array in arrays], axis)

    def concatenate(self, arrays: Any, axis: int = 0) -> Any:
        return self._cupy.concatenate([self._array(array) for array in arrays], axis)

    def _own(self, value: Any) -> Any:
        """An array of NumPy's among CuPy's: a constant that a kernel has made."""
        if value.__class__ is not np.ndarray:
            return value
        return value[()] if not value.ndim else self._cupy.asarray(value)

    def _array(self, value: Any) -> Any:
        return value if isinstance(value, self._cupy.ndarray) else self._cupy.asarray(value)
