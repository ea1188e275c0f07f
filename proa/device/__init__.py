"""Devices: choosing one, counting them, their memory, streams and events (`paddle.device`).

Everything comes from PJRT: any installed plug-in is usable by its platform's name, `set_device("name:0")`. The module can be
called: `paddle.device("cuda:1")` is a `Device`.

Examples:
    >>> device = paddle.device("cuda:1")
    >>> device.type, device.index
    ('cuda', 1)
"""

import sys as _sys

from . import cpu, cuda, custom_device, torch_names, xpu
from .handle import (
    DEVICE_MODULES,
    CallableModule,
    Device,
    current_device,
    device,
    device_guard,
    get_default_device,
    get_device_module,
    set_default_device,
)
from .memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    reset_max_memory_allocated,
    reset_max_memory_reserved,
    reset_peak_memory_stats,
)
from .random_state import get_rng_state, manual_seed, manual_seed_all, set_rng_state
from .select import (
    IPUPlace,
    XPUPlace,
    device_count,
    get_all_custom_device_type,
    get_all_device_type,
    get_available_custom_device,
    get_available_device,
    get_cudnn_version,
    get_device,
    get_device_capability,
    get_device_name,
    get_device_properties,
    is_available,
    is_bf16_supported,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
    set_device,
)
from .stream import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    get_stream_from_external,
    ipc_collect,
    is_current_stream_capturing,
    set_stream,
    stream,
    stream_guard,
    synchronize,
)

DEVICE_MODULES.update({"cpu": cpu, "xpu": xpu, "plug-in": custom_device})  # `proa/cuda.py` enters itself

# `paddle.device("cuda:0")` is a Device: the module itself can be called.
_sys.modules[__name__].__class__ = CallableModule

__all__ = [
    "Device",
    "Event",
    "IPUPlace",
    "Stream",
    "StreamContext",
    "XPUPlace",
    "cpu",
    "cuda",
    "current_device",
    "current_stream",
    "custom_device",
    "device",
    "device_count",
    "device_guard",
    "empty_cache",
    "get_all_custom_device_type",
    "get_all_device_type",
    "get_available_custom_device",
    "get_available_device",
    "get_cudnn_version",
    "get_default_device",
    "get_device",
    "get_device_capability",
    "get_device_module",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_stream_from_external",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_distribute",
    "is_compiled_with_ipu",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
    "is_current_stream_capturing",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "reset_peak_memory_stats",
    "set_default_device",
    "set_device",
    "set_rng_state",
    "set_stream",
    "stream",
    "stream_guard",
    "synchronize",
    "torch_names",
    "xpu",
]
