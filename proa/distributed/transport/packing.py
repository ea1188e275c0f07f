"""Many arrays as one piece, and back.

On a CPU this is done by NumPy, between the compiled programs. Arrays begin at addresses that XLA can use as they are, so
taking the piece apart costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.process.forking import host_array
from ...ir.xla import started_jax

_ALIGNMENT = 64  # bytes; what lies elsewhere XLA copies first


def _places(arrays: Sequence[Any]) -> tuple[list[int], int]:
    """Where each array begins in the piece, and the piece's length, in elements."""
    step = max(1, _ALIGNMENT // arrays[0].dtype.itemsize)
    begins, length = [], 0
    for array in arrays:
        begins.append(length)
        length += -(-int(np.prod(array.shape, dtype=np.int64)) // step) * step
    return begins, length


def _is_on_host(array: Any) -> bool:
    return isinstance(array, np.ndarray) or all(device.platform == "cpu" for device in array.sharding.device_set)


def pack(arrays: Sequence[Any]) -> Any:
    """The arrays, which have one dtype, as one vector; what lies between them is zero."""
    begins, length = _places(arrays)
    if not _is_on_host(arrays[0]):
        return _pack_on_device(tuple(begins), length)(list(arrays))
    piece = np.empty(length, arrays[0].dtype)
    ends = [*begins[1:], length]
    for array, begin, end in zip(arrays, begins, ends, strict=True):
        piece[begin : begin + array.size] = host_array(array).reshape(-1)
        piece[begin + array.size : end] = 0
    return piece


def unpack(piece: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The parts of a vector, in the shapes of the arrays that it was packed from."""
    begins, _ = _places(arrays)
    if not _is_on_host(piece):
        return _unpack_on_device(tuple(begins), tuple(tuple(array.shape) for array in arrays))(piece)
    host = host_array(piece)
    return tuple(
        host[begin : begin + array.size].reshape(array.shape) for begin, array in zip(begins, arrays, strict=True)
    )


_PROGRAMS: dict[Any, Any] = {}


def _pack_on_device(begins: tuple[int, ...], length: int) -> Any:
    def work(arrays: list[Any]) -> Any:
        from jax import numpy as jnp

        ends = [*begins[1:], length]
        return jnp.concatenate(
            [
                jnp.pad(a.reshape(-1), (0, end - begin - a.size))
                for a, begin, end in zip(arrays, begins, ends, strict=True)
            ]
        )

    return _PROGRAMS.setdefault((begins, length), started_jax().jit(work))


def _unpack_on_device(begins: tuple[int, ...], shapes: tuple[tuple[int, ...], ...]) -> Any:
    def work(piece: Any) -> tuple[Any, ...]:
        sizes = [int(np.prod(shape, dtype=np.int64)) for shape in shapes]
        return tuple(
            piece[begin : begin + size].reshape(shape) for begin, size, shape in zip(begins, sizes, shapes, strict=True)
        )

    return _PROGRAMS.setdefault((begins, shapes), started_jax().jit(work))
