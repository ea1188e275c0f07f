# Written by `python -m tools.stubs`; changes made by hand are lost.
"""`paddle.cuda`: functions of `proa.device` under the names that PyTorch gives them (collected at import)."""

from typing import Any

from proa.device.cuda import device_count as device_count
from proa.device.cuda import is_available as is_available
from proa.device.handle import device as device
from proa.device.memory import empty_cache as empty_cache
from proa.device.memory import max_memory_allocated as max_memory_allocated
from proa.device.memory import mem_get_info as mem_get_info
from proa.device.memory import memory_allocated as memory_allocated
from proa.device.memory import memory_reserved as memory_reserved
from proa.device.memory import memory_summary as memory_summary
from proa.device.memory import reset_peak_memory_stats as reset_peak_memory_stats
from proa.device.random_state import get_rng_state as get_rng_state
from proa.device.random_state import manual_seed as manual_seed
from proa.device.random_state import manual_seed_all as manual_seed_all
from proa.device.random_state import set_rng_state as set_rng_state
from proa.device.select import get_device_capability as get_device_capability
from proa.device.select import get_device_name as get_device_name
from proa.device.select import get_device_properties as get_device_properties
from proa.device.select import is_bf16_supported as is_bf16_supported
from proa.device.stream import Event as Event
from proa.device.stream import Stream as Stream
from proa.device.stream import StreamContext as StreamContext
from proa.device.stream import current_stream as current_stream
from proa.device.stream import get_stream_from_external as get_stream_from_external
from proa.device.stream import ipc_collect as ipc_collect
from proa.device.stream import is_current_stream_capturing as is_current_stream_capturing
from proa.device.stream import set_stream as set_stream
from proa.device.stream import stream as stream
from proa.device.stream import synchronize as synchronize
from proa.device.torch_names import check_error as check_error
from proa.device.torch_names import cudart as cudart
from proa.device.torch_names import current_device as current_device
from proa.device.torch_names import is_initialized as is_initialized
from proa.device.torch_names import set_device as set_device
from proa.eager.tensor import Tensor

def BFloat16Tensor(*args: Any, **kwargs: Any) -> Tensor:
    """A bfloat16 tensor of data, of a shape, or without elements."""

def BoolTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A bool tensor of data, of a shape, or without elements."""

def ByteTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A uint8 tensor of data, of a shape, or without elements."""

def CharTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A int8 tensor of data, of a shape, or without elements."""

def DoubleTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A float64 tensor of data, of a shape, or without elements."""

def FloatTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A float32 tensor of data, of a shape, or without elements."""

def HalfTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A float16 tensor of data, of a shape, or without elements."""

def IntTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A int32 tensor of data, of a shape, or without elements."""

def LongTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A int64 tensor of data, of a shape, or without elements."""

def ShortTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A int16 tensor of data, of a shape, or without elements."""
