"""`paddle.cuda`: the functions of GPUs under the names that PyTorch has for them."""

from __future__ import annotations

import sys
from typing import Any

from ..core.errors import runtime_error
from ..core.place import CPU, make_place
from ..eager.annotations import DeviceLike
from ..eager.declare import PUBLIC
from ..ir.recorder import LOCAL
from . import cuda, handle, memory, random_state, select, stream


def set_device(device: DeviceLike) -> None:
    """Makes a GPU (by its number or name) the place of new tensors.

    Raises:
        ValueError: the device is not there.

    Examples:
        >>> paddle.cuda.set_device("cpu")
        >>> paddle.get_device()
        'cpu'
    """
    select.set_device(make_place("gpu", device) if isinstance(device, int) else device)


def current_device() -> int:
    """The number of the current device; 0 on the CPU.

    Examples:
        >>> paddle.cuda.current_device()
        0
    """
    return LOCAL.place.index


def is_initialized() -> bool:
    """Whether a GPU is in use: XLA has been started and new tensors go to one.

    Examples:
        >>> paddle.cuda.is_initialized()
        False
    """
    return "jax" in sys.modules and LOCAL.place is not CPU


def cudart() -> Any:
    """RuntimeError: XLA calls the CUDA runtime itself.

    Examples:
        >>> paddle.cuda.cudart()
        Traceback (most recent call last):
            ...
        RuntimeError: (cudart) the CUDA runtime is XLA's own affair and cannot be called from here.
    """
    raise runtime_error("cudart", "the CUDA runtime is XLA's own affair and cannot be called from here")


def check_error(res: int) -> None:
    """RuntimeError if a status code of the CUDA runtime says that something failed.

    Examples:
        >>> paddle.cuda.check_error(0)
        >>> paddle.cuda.check_error(2)
        Traceback (most recent call last):
            ...
        RuntimeError: (check_error) the CUDA runtime reports a failure; received status 2.
    """
    if int(res) != 0:
        raise runtime_error("check_error", "the CUDA runtime reports a failure", f"status {int(res)}")


_OFFERED = (
    set_device, current_device, is_initialized, cudart, check_error,
    cuda.device_count, cuda.is_available, handle.device, memory.empty_cache, memory.max_memory_allocated,
    memory.mem_get_info, memory.memory_allocated, memory.memory_reserved, memory.reset_peak_memory_stats,
    memory.memory_summary, random_state.get_rng_state, random_state.set_rng_state, random_state.manual_seed,
    random_state.manual_seed_all, select.get_device_capability, select.get_device_name, select.get_device_properties,
    select.is_bf16_supported, stream.Event, stream.Stream, stream.StreamContext, stream.current_stream,
    stream.get_stream_from_external, stream.ipc_collect, stream.is_current_stream_capturing, stream.set_stream,
    stream.stream, stream.synchronize,
)  # fmt: skip
for _function in _OFFERED:
    PUBLIC[f"cuda.{_function.__name__}"] = _function
