"""A batch as a short pickle and the memory of its arrays apart: any structure of Python objects, arrays not copied."""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

from ...eager.tensor import Tensor, wrap

# Shorter arrays travel inside the pickle: a buffer of its own costs more than the copy.
_SMALL = 256
# So do those of a batch of very many: an answer of a worker has to stay short.
_MOST_BUFFERS = 64


class _Pickler(pickle.Pickler):
    def __init__(self, file: Any, buffers: list[np.ndarray]) -> None:
        super().__init__(file, protocol=5, buffer_callback=None)
        self.buffers = buffers

    def persistent_id(self, obj: Any) -> Any:
        is_large = type(obj) is np.ndarray and obj.nbytes > _SMALL and not obj.dtype.hasobject
        if is_large and len(self.buffers) < _MOST_BUFFERS:
            self.buffers.append(np.ascontiguousarray(obj).reshape(-1).view(np.uint8))
            return len(self.buffers) - 1, obj.dtype, obj.shape
        return None

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            return _tensor, (np.asarray(obj._data()), obj.stop_gradient)
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: Any, buffers: list[np.ndarray]) -> None:
        super().__init__(io.BytesIO(data))
        self.buffers = buffers

    def persistent_load(self, pid: Any) -> np.ndarray:
        number, dtype, shape = pid
        return self.buffers[number].view(dtype).reshape(shape)


def _tensor(array: np.ndarray, stop_gradient: bool) -> Tensor:
    tensor = wrap(array)
    tensor.stop_gradient = stop_gradient
    return tensor


def pack(batch: Any) -> tuple[bytes, list[np.ndarray]]:
    """The pickle, and the arrays' bytes in the order in which `unpack` wants them."""
    file = io.BytesIO()
    buffers: list[np.ndarray] = []
    _Pickler(file, buffers).dump(batch)
    return file.getvalue(), buffers


def unpack(data: Any, buffers: list[np.ndarray]) -> Any:
    return _Unpickler(data, buffers).load()
