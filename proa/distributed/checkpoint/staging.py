"""Copies for saves in the background: the values of one moment, in memory that nobody else writes to.

The memory is kept from save to save, as getting it takes longer than copying: the system clears every page, and a virtual
machine may have to ask its host for it. `prepare_async_save` gets it beside the training, before the first save needs it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...core.dtype import to_numpy_dtype
from ...core.locks import new_lock
from ...core.tracebacks import boundary
from ...framework import background
from .pieces import Piece, array_of, flatten, own_pieces
from .processes import Processes

_COPYING_THREADS = 2  # one cannot use the memory's whole width


@boundary
def prepare_async_save(
    state_dict: dict[str, Any], process_group: Any = None, coordinator_rank: int = 0, save_replicas: bool = False
) -> None:
    """Gets the memory that `save_state_dict(async_save=True)` copies such a state dictionary into, in the background.

    Without it the first save in the background takes longer than the later ones, which find the memory there. To be called
    by all processes, at the start of the training; the memory stays until something else is saved in the background. A save
    that comes before it is there waits for the rest.

    Args:
        state_dict: as it will be saved: shapes and dtypes count, not the values.
        process_group: the processes that save; all by default.
        coordinator_rank: as in `save_state_dict`.
        save_replicas: as in `save_state_dict`.

    Raises:
        ValueError: a process is not in the group, or two values have one name.

    Examples:
        >>> state = {"w": paddle.zeros([2])}
        >>> paddle.distributed.checkpoint.prepare_async_save(state)
        >>> paddle.distributed.save_state_dict(state, "checkpoints", async_save=True)
    """
    background.clear_async_save_task_queue()
    processes = Processes("prepare_async_save", process_group, coordinator_rank)
    values, _ = flatten(state_dict, "prepare_async_save")
    kinds = [_kind(piece) for piece in own_pieces(processes, values, save_replicas)]
    background.start(lambda: give_back(_touched(_BUFFERS.take(kinds))))


def snapshot(pieces: list[Piece]) -> list[np.ndarray]:
    """The values of now."""
    buffers = _BUFFERS.take([_kind(piece) for piece in pieces])
    sources = [piece.source for piece in pieces]
    with ThreadPoolExecutor(_COPYING_THREADS) as pool:
        return list(pool.map(array_of, sources, buffers))


def give_back(arrays: list[np.ndarray]) -> None:
    """Keeps memory for the next save."""
    _BUFFERS.give(arrays)


_Kind = tuple[tuple[int, ...], np.dtype]


class _Buffers:
    """Memory of the last save in the background, for the next one."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._free: dict[_Kind, list[np.ndarray]] = {}

    def take(self, kinds: list[_Kind]) -> list[np.ndarray]:
        with self._lock:
            found = [self._take(kind) for kind in kinds]
            self._free.clear()  # what another state dictionary left is not kept
        return found

    def _take(self, kind: _Kind) -> np.ndarray:
        waiting = self._free.get(kind)
        return waiting.pop() if waiting else np.empty(*kind)

    def give(self, arrays: list[np.ndarray]) -> None:
        with self._lock:
            self._free.clear()
            for array in arrays:
                self._free.setdefault((array.shape, array.dtype), []).append(array)


_BUFFERS = _Buffers()


def _kind(piece: Piece) -> _Kind:
    shape = piece.shape if piece.flat is None else (piece.flat[1] - piece.flat[0],)
    return shape, to_numpy_dtype(piece.dtype)


def _touched(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Arrays that have been written to: the system gives memory only then."""
    for array in arrays:
        array.fill(0)
    return arrays
