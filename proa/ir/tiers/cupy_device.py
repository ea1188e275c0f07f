"""CuPy on a GPU: its memory beside XLA's, and how arrays go from one to the other (see `cupy_tier.py`)."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from ...core.locks import new_reentrant_lock
from ...core.place import Place, jax_device
from ..xla import started_jax
from .cupy_namespace import CupyNamespace
from .lent import Lent
from .lowering import KEEPERS

_USUAL_SHARE = 0.75  # of the device's memory that XLA takes, unless told otherwise
_SPARE_SHARE = 0.04  # of it that is left to the driver, to libraries and to other processes
_LEAST_POOL = 1 << 28
_RESERVE = 1 << 28
_CUDA = 2  # DLPack's number for memory of NVIDIA GPUs

LENT: dict[int, Any] = {}  # arrays of JAX's whose memory is CuPy's, by identity
LOCK = new_reentrant_lock()
DEVICES: list[CupyDevice] = []


class UnknownType(Exception):
    """A data type that CuPy does not have (the floats of 8 bits)."""


class CupyDevice:
    """CuPy on one GPU: its namespace, its stream and its memory."""

    def __init__(self, cupy: Any, place: Place) -> None:
        self.cupy, self.place = cupy, place
        self.array_type = cupy.ndarray
        self.unowned, self.pointer = cupy.cuda.UnownedMemory, cupy.cuda.MemoryPointer
        self.full: type[Exception] = cupy.cuda.memory.OutOfMemoryError
        self.number = jax_device(place).local_hardware_id or 0
        self.device = cupy.cuda.Device(self.number)
        with self.device:
            self.stream = cupy.cuda.Stream(non_blocking=True)
            self.xp = CupyNamespace(cupy, self.number, self.stream.ptr)
            self.pool = cupy.cuda.MemoryPool()
            self.pool.set_limit(size=_pool_size(cupy.cuda.runtime.memGetInfo()[1]))
        self.reserve()
        self.lend = _find_lending(cupy, place)
        self.unseen = True  # whether CuPy was given work since XLA was told to wait for it
        self.borrowed: list[Any] = []  # arrays of XLA's that the run at hand reads
        self.seen: dict[int, tuple[Any, Any]] = {}  # those that are alive, by identity, as CuPy sees them
        DEVICES.append(self)
        KEEPERS.append(self.give_back)

    def reserve(self) -> None:
        """Has the pool take one block, from which it then cuts what new shapes need: asking the driver takes much longer."""
        with suppress(self.full), self.device, self.stream:
            self.pool.malloc(min(_RESERVE, self.pool.get_limit() // 8))

    def give_back(self) -> None:
        """Lets go of the memory that no array uses, but for the reserve."""
        self.xp.give_back()
        with self.device:
            self.pool.free_all_blocks()
        self.reserve()

    def entered(self, value: Any) -> Any:
        """An input, as CuPy sees it."""
        if value.__class__ is Lent:
            if value.lender is self:
                return value.own
            value = value.get()
        if value.dtype.kind == "V" and value.dtype.name != "bfloat16":
            raise UnknownType(value.dtype.name)
        if value.__class__ is np.ndarray:
            return self.cupy.asarray(value)
        if not value.size:  # there is no memory to share
            return self.cupy.empty(value.shape, value.dtype)
        self.borrowed.append(value)
        key = id(value)
        known = self.seen.get(key)
        if known is not None and known[0]() is value and not value.is_deleted():
            return known[1]
        if value.is_ready():  # there is nothing to wait for: its address is enough, and DLPack's handshake takes long
            # Its owner is `borrowed`, not this array: parameters come again and again, and are found again here.
            memory = self.unowned(value.unsafe_buffer_pointer(), value.nbytes, None)
            made = self.array_type(value.shape, value.dtype, self.pointer(memory, 0))
            self.seen[key] = weakref.ref(value, lambda _: self.seen.pop(key, None)), made
            return made
        return self.cupy.from_dlpack(value)

    def left(self, value: Any, exported: set[int]) -> Any:
        """A result as a JAX array."""
        return self.as_jax(self.alone(value, exported))

    def alone(self, value: Any, exported: set[int]) -> Any:
        """A result that has its memory to itself: XLA may write over it one day."""
        if not value.size:
            return value
        memory = value.data.mem
        if value.base is not None or id(memory) in exported or not value.flags.c_contiguous or _is_foreign(memory):
            value = value.copy(order="C")
            memory = value.data.mem
        exported.add(id(memory))
        return value

    def as_jax(self, value: Any) -> Any:
        """An array of CuPy's that has its memory to itself, as one of JAX's."""
        if not value.size:
            return started_jax().device_put(np.empty(value.shape, value.dtype), jax_device(self.place))
        with LOCK, self.device, self.stream:
            waits, self.unseen = self.unseen, False
            result = self.lend(value, self.stream if waits else None)
        key = id(result)

        def forget(_: Any, lent: Any = LENT, seen: Any = self.seen) -> None:  # called when modules are gone, too
            lent.pop(key, None)
            seen.pop(key, None)

        reference = LENT[key] = weakref.ref(result, forget)
        self.seen[key] = reference, value
        return result


def _find_lending(cupy: Any, place: Place) -> Callable[[Any, Any], Any]:
    """What makes an array of JAX's of CuPy's memory; told which stream XLA has to wait for, if it was not told before.

    JAX's own function makes XLA wait anew for each of a model's parameters, and looks at things that are known here: 50 us,
    where what it calls in the end takes a few. Should that be another one day, it is left to JAX's own.
    """
    jax = started_jax()
    device = jax_device(place)

    def usual(value: Any, stream: Any) -> Any:
        return jax.dlpack.from_dlpack(value)

    try:
        from jax._src.lib import _jax  # pyright: ignore

        made_of: Any = _jax.dlpack_managed_tensor_to_buffer
        ready = device.get_stream_for_external_ready_events()
        waiting = cupy.cuda.ExternalStream(ready)

        def quick(value: Any, stream: Any) -> Any:
            if stream is not None:
                waiting.wait_event(stream.record())
            return made_of(value.__dlpack__(stream=-1), device, ready, None, _CUDA)

        tried = quick(cupy.arange(3, dtype=np.float32), cupy.cuda.get_current_stream())
        if isinstance(tried, jax.Array) and tried.devices() == {device} and tried.tolist() == [0.0, 1.0, 2.0]:
            return quick
    except Exception:  # another version of JAX's
        pass
    return usual


def _is_foreign(memory: Any) -> bool:
    """Whether CuPy has got this memory from somebody else: a view of an input."""
    return type(memory).__name__ != "PooledMemory"


def _pool_size(total: int) -> int:
    share = os.environ.get("XLA_PYTHON_CLIENT_MEM_FRACTION") or os.environ.get("XLA_CLIENT_MEM_FRACTION")
    try:
        taken = float(share) if share else _USUAL_SHARE
    except ValueError:
        taken = _USUAL_SHARE
    return max(_LEAST_POOL, int(total * (1.0 - min(taken, 1.0) - _SPARE_SHARE)))
