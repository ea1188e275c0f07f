"""Memory statistics: PJRT's own where the plug-in reports them, the sum of live arrays where it does not (the CPU)."""

from __future__ import annotations

from typing import Any

from ..eager.annotations import DeviceLike
from ..ir.xla import jax_module
from .select import _device_of

# Peaks at the last reset: PJRT's peak cannot be set back, so differences are reported.
_PEAK_AT_RESET: dict[tuple[Any, str], int] = {}


def _statistic(device: Any, name: str) -> int:
    found = _device_of(device)
    statistics = found.memory_stats()
    if statistics:
        return int(statistics.get(name, 0))
    live = jax_module().live_arrays(found.platform)
    return sum(shard.data.nbytes for array in live for shard in array.addressable_shards if shard.device == found)


def memory_allocated(device: DeviceLike | None = None) -> int:
    """Bytes in use on a device.

    Examples:
        >>> paddle.device.memory_allocated("cpu") >= 0
        True
    """
    return _statistic(device, "bytes_in_use")


def max_memory_allocated(device: DeviceLike | None = None) -> int:
    """The most bytes that were in use at once since start (or since the last reset, if that was exceeded).

    Examples:
        >>> paddle.device.max_memory_allocated("cpu") >= 0
        True
    """
    peak = _statistic(device, "peak_bytes_in_use")
    return peak if peak != _PEAK_AT_RESET.get((device, "allocated")) else memory_allocated(device)


def reset_max_memory_allocated(device: DeviceLike | None = None) -> None:
    """Counts the most bytes in use anew.

    Examples:
        >>> paddle.device.reset_max_memory_allocated("cpu")
        >>> paddle.device.max_memory_allocated("cpu") >= 0
        True
    """
    _PEAK_AT_RESET[(device, "allocated")] = _statistic(device, "peak_bytes_in_use")


def memory_reserved(device: DeviceLike | None = None) -> int:
    """Bytes that the device's allocator holds.

    Examples:
        >>> paddle.device.memory_reserved("cpu") >= 0
        True
    """
    return _statistic(device, "bytes_reserved") or _statistic(device, "pool_bytes") or memory_allocated(device)


def max_memory_reserved(device: DeviceLike | None = None) -> int:
    """The most bytes that the device's allocator held at once since start, or since the last reset.

    Examples:
        >>> paddle.device.max_memory_reserved("cpu") >= 0
        True
    """
    peak = _statistic(device, "peak_pool_bytes") or max_memory_allocated(device)
    return peak if peak != _PEAK_AT_RESET.get((device, "reserved")) else memory_reserved(device)


def reset_max_memory_reserved(device: DeviceLike | None = None) -> None:
    """Counts the most bytes held anew.

    Examples:
        >>> paddle.device.reset_max_memory_reserved("cpu")
        >>> paddle.device.max_memory_reserved("cpu") >= 0
        True
    """
    _PEAK_AT_RESET[(device, "reserved")] = max_memory_reserved(device)


def empty_cache() -> None:
    """Frees what nothing refers to; XLA's allocator keeps its pool, which is not an error.

    Examples:
        >>> print(paddle.device.empty_cache())
        None
    """
    import gc

    gc.collect()


def reset_peak_memory_stats(device: DeviceLike | None = None) -> None:
    """Counts the most bytes in use anew, allocated and reserved.

    Examples:
        >>> paddle.device.reset_peak_memory_stats("cpu")
        >>> paddle.device.max_memory_allocated("cpu") >= 0
        True
    """
    reset_max_memory_allocated(device)
    reset_max_memory_reserved(device)


def mem_get_info(device: DeviceLike | None = None) -> tuple[int, int]:
    """Free and total bytes of a device; ValueError where the plug-in does not tell (the CPU).

    Examples:
        >>> paddle.cuda.mem_get_info("cpu")
        Traceback (most recent call last):
            ...
        ValueError: (mem_get_info) this device does not tell how much memory it has; name a GPU.
    """
    statistics = _device_of(device).memory_stats() or {}
    total = int(statistics.get("bytes_limit", 0))
    if not total:
        raise ValueError("(mem_get_info) this device does not tell how much memory it has; name a GPU.")
    return total - int(statistics.get("bytes_in_use", 0)), total


def memory_summary(device: DeviceLike | None = None) -> str:
    """What is known of the memory of a device, as a table of text.

    Examples:
        >>> print(paddle.cuda.memory_summary("cpu"))
        Memory of cpu
        bytes_in_use ...
    """
    found = _device_of(device)
    numbers = dict(found.memory_stats() or {}) or {"bytes_in_use": memory_allocated(device)}
    width = max(map(len, numbers))
    lines = [f"{name:<{width}}  {value:>20,}" for name, value in sorted(numbers.items())]
    return "\n".join([f"Memory of {found.device_kind}", *lines])


def vmm_compact(device: DeviceLike | None = None) -> int:
    """Bytes that moving memory together has freed: none, XLA's allocator does not move memory.

    Examples:
        >>> paddle.device.cuda.vmm_compact()
        0
    """
    return 0
