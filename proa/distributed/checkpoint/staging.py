"""Copies for saves in the background: the values of one moment, in memory that nobody else writes to.

What lies on an accelerator with room for it is copied there, which takes milliseconds, and comes to the host while the
training goes on. Everything else is copied into memory of the host that is kept from save to save (`memory.py`). Arrays of
XLA's never change, so they are copied while the training goes on, too, until a program wants to write over one of them: that
waits (`donation.READERS`). Between the call and that moment lie the next forward and backward pass.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from ...core import job
from ...core.dtype import to_numpy_dtype
from ...core.tracebacks import boundary
from ...framework import background
from ...ir.observing import UPDATE_WATCHERS
from ...ir.transforms.donation import READERS
from .memory import Kind, Reserve
from .pieces import Piece, array_of, flatten, own_pieces
from .processes import Processes

_COPYING_THREADS = 2  # one cannot use the memory's whole width
_SPARE_ON_DEVICES = 0.9  # of an accelerator's memory, what may be full when the copies lie there
_WORTH_EXPECTING = 1 << 26  # bytes: the memory for less is had quickly


@boundary
def prepare_async_save(
    state_dict: dict[str, Any], process_group: Any = None, coordinator_rank: int = 0, save_replicas: bool = False
) -> None:
    """Gets the memory that `save_state_dict(async_save=True)` copies such a state dictionary into, in the background.

    Where `init_parallel_env` or `fleet.init` was called, memory for what the optimiser updates is got by itself when it
    makes its first step, if the system has plenty; this is for other programs and for states with more in them. Without
    memory the first save in the background takes longer than the later ones. To be called by all processes, at the start
    of the training. A save that comes before it is there waits for the rest. While nothing is saved the system may take it
    back.

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
    background.start(lambda: _get(kinds))


def _get(kinds: list[Kind]) -> None:
    memory, arrays = RESERVE.lend(kinds)
    for array in arrays:
        array.fill(0)  # the system gives memory when it is written to
    RESERVE.give_back(memory)


def expect_saves() -> None:
    """Gets memory for saves in the background when an optimiser makes its first step: called where a job begins.

    Processes that hold the same values share the writing, so each is given its share; what else a save needs it gets itself.
    """
    if _reserve_for not in UPDATE_WATCHERS:
        UPDATE_WATCHERS.append(_reserve_for)


def _reserve_for(tensors: list[Any]) -> None:
    total = sum(tensor._aval.size * np.dtype(tensor._aval.dtype).itemsize for tensor in tensors) // job.size()
    if total >= _WORTH_EXPECTING and RESERVE.num_bytes() < total:
        RESERVE.get_beside(total)


class Copying:
    """Arrays that threads copy into memory of the host; who wants to write over one of them waits for that."""

    def __init__(self, pairs: Iterable[tuple[Any, np.ndarray]], held: list[Any]) -> None:
        self._left = deque(pairs)
        self._held = held  # what the arrays are parts of
        self._failure: Exception | None = None
        count = min(_COPYING_THREADS, len(self._left))
        self._threads = [threading.Thread(target=self._copy, name="copying") for _ in range(count)]
        READERS.append(self.wait)
        for thread in self._threads:
            thread.start()

    def _copy(self) -> None:
        try:
            while self._left:
                array_of(*self._left.popleft())
        except IndexError:  # the other thread was quicker
            pass
        except Exception as error:
            self._failure = error
            self._left.clear()

    def wait(self) -> None:
        """Until nothing is read any more. (In a forked process the threads have ended.)"""
        for thread in self._threads:
            thread.join()
        self._left.clear()
        self._held = []
        with suppress(ValueError):  # another thread has waited as well
            READERS.remove(self.wait)

    def finish(self) -> None:
        """Waits, and raises what went wrong."""
        self.wait()
        if self._failure is not None:
            raise self._failure


class Snapshot:
    """The values of one moment."""

    def __init__(self, pieces: list[Piece]) -> None:
        sources = [piece.source for piece in pieces]
        self._copying: Copying | None = None
        if _room_on_devices(sources):
            self._memory, self._values = None, copies_on_devices(sources)
            return
        self._memory, self._values = RESERVE.lend([_kind(piece) for piece in pieces])
        now, later = [], []
        for pair in zip(sources, self._values, strict=True):
            (now if isinstance(pair[0], np.ndarray) else later).append(pair)
        self._copying = Copying(later, [piece.whole for piece in pieces])
        Copying(now, []).finish()

    def array(self, position: int) -> np.ndarray:
        """The numbers of a piece, on the host."""
        if self._copying is not None:
            self._copying.finish()
        return array_of(self._values[position])

    def close(self) -> None:
        """Lets them go; the memory is kept for the next save."""
        if self._copying is not None:
            self._copying.wait()
        self._values = []
        if self._memory is not None:
            RESERVE.give_back(self._memory)
            self._memory = None


RESERVE = Reserve()


def _room_on_devices(sources: list[Any]) -> bool:
    """Whether everything lies on accelerators that have room for it once more."""
    wanted: dict[Any, int] = {}
    for source in sources:
        devices = getattr(getattr(source, "sharding", None), "device_set", ())
        if not devices or any(device.platform == "cpu" for device in devices):
            return False
        for device in devices:
            wanted[device] = wanted.get(device, 0) + source.nbytes
    for device, num_bytes in wanted.items():
        memory = device.memory_stats() or {}
        if memory.get("bytes_in_use", 0) + num_bytes > _SPARE_ON_DEVICES * memory.get("bytes_limit", 0):
            return False
    return bool(wanted)


def copies_on_devices(sources: list[Any]) -> list[Any]:
    """Copies of arrays where they lie; the call does not wait for them."""
    import jax

    return [jax.device_put(source, source.sharding, may_alias=False) for source in sources]


def _kind(piece: Piece) -> Kind:
    shape = piece.shape if piece.flat is None else (piece.flat[1] - piece.flat[0],)
    return shape, to_numpy_dtype(piece.dtype)
