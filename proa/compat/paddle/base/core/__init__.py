"""`paddle.base.core`: what programs ask Paddle's C++ core for. Everything else there exists and raises."""

from __future__ import annotations

import enum
import types
from typing import Any

import numpy as np

from .....autograd.saved_hooks import saved_tensors_hooks
from .....core.dtype import BFLOAT16, to_numpy_dtype
from .....core.generator import Generator, default_generator
from .....core.place import Place, make_place
from .....device.memory import max_memory_allocated, max_memory_reserved, memory_allocated, memory_reserved
from .....device.select import (
    get_all_custom_device_type,
    get_all_device_type,
    get_available_device,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
)
from .....eager.modes import is_grad_enabled, set_grad_enabled
from .....eager.tensor import Tensor
from ....layout import resolve

__all__ = [
    "Place", "get_all_custom_device_type", "get_all_device_type", "get_available_device", "is_compiled_with_cinn",
    "is_compiled_with_cuda", "is_compiled_with_distribute", "is_compiled_with_ipu", "is_compiled_with_rocm",
    "is_compiled_with_xpu",
]  # fmt: skip

# ---- kinds of variables --------------------------------------------------------------------------

_DTYPES = {
    "BOOL": (0, "bool"), "INT16": (1, "int16"), "INT32": (2, "int32"), "INT64": (3, "int64"), "FP16": (4, "float16"),
    "FP32": (5, "float32"), "FP64": (6, "float64"), "UINT8": (20, "uint8"), "INT8": (21, "int8"), "BF16": (22, "bfloat16"),
    "COMPLEX64": (23, "complex64"), "COMPLEX128": (24, "complex128"), "FP8_E4M3FN": (32, "float8_e4m3fn"),
    "FP8_E5M2": (33, "float8_e5m2"), "UINT16": (36, "uint16"), "UINT32": (37, "uint32"), "UINT64": (38, "uint64"),
}  # fmt: skip
_OTHERS = {
    "DENSE_TENSOR": 7, "LOD_TENSOR": 7, "SELECTED_ROWS": 8, "FEED_MINIBATCH": 9, "FETCH_LIST": 10, "STEP_SCOPES": 11,
    "DENSE_TENSOR_ARRAY": 13, "LOD_TENSOR_ARRAY": 13, "PLACE_LIST": 14, "READER": 15, "RAW": 17, "STRING": 25,
    "STRINGS": 26, "VOCAB": 27, "SPARSE_COO": 30,
}  # fmt: skip


class _VarTypeBase(enum.IntEnum):
    """Paddle's numbers of kinds; one that is a data type can be used as one (`dtype`)."""

    @property
    def dtype(self) -> np.dtype:
        known = dict(_DTYPES.values())
        if self.value not in known:
            raise AttributeError(f"VarType.{self.name} is no data type")
        return to_numpy_dtype(known[self.value])


class VarDesc:
    """Descriptions of variables; programs use the kinds in it."""

    VarType = _VarTypeBase("VarType", {name: number for name, (number, _) in _DTYPES.items()} | _OTHERS)  # type: ignore[misc]


class AmpLevel(enum.IntEnum):
    """Levels of mixed precision."""

    O0 = 0
    O1 = 2
    O2 = 3
    OD = 1


class AttrType(enum.IntEnum):
    """Kinds of attributes of operators in saved programs."""

    INT, FLOAT, STRING, INTS, FLOATS, STRINGS, BOOL, BOOLS, BLOCK, LONG, BLOCKS, LONGS, FLOAT64S, VAR, VARS, FLOAT64 = (
        range(16)
    )


op_proto_and_checker_maker = types.SimpleNamespace(
    OpRole=enum.IntEnum(
        "OpRole", {"Forward": 0, "Backward": 1, "Optimize": 2, "RPC": 4, "Dist": 8, "LRSched": 16, "Loss": 256}
    ),
    kOpRoleAttrName=lambda: "op_role", kOpRoleVarAttrName=lambda: "op_role_var", kOpNameScopeAttrName=lambda: "op_namescope",
    kOpDeviceAttrName=lambda: "op_device", kOpCreationCallstackAttrName=lambda: "op_callstack",
)  # fmt: skip


def size_of_dtype(dtype: Any) -> int:
    """Bytes of an element."""
    return to_numpy_dtype(dtype).itemsize


# ---- tensors -------------------------------------------------------------------------------------


class _Eager(types.ModuleType):
    """Tensors and the operators behind them."""

    Tensor = Tensor

    @property
    def ops(self) -> Any:
        operators = resolve("_C_ops")
        operators.legacy = resolve("_legacy_C_ops")
        return operators


eager: Any = _Eager("paddle.base.core.eager")
LoDTensor = DenseTensor = Tensor


class _Hooks:
    """The hooks that are set by hand, one pair at a time."""

    current: Any = None


def register_saved_tensors_hooks(pack_hook: Any, unpack_hook: Any) -> None:
    """From now on what is kept for the backward pass goes through these two functions."""
    reset_saved_tensors_hooks()
    _Hooks.current = saved_tensors_hooks(pack_hook, unpack_hook)
    _Hooks.current.__enter__()


def reset_saved_tensors_hooks() -> None:
    """Ends what `register_saved_tensors_hooks` began."""
    if _Hooks.current is not None:
        _Hooks.current.__exit__(None, None, None)
        _Hooks.current = None


def _run_custom_op(name: str, *inputs: Any) -> Any:
    """Operations that were compiled for Paddle's own C++ core cannot be loaded."""
    raise NotImplementedError(
        f"(_run_custom_op) {name!r} is an operation compiled for Paddle's C++ core, which this package does not have. Build "
        "it with paddle.utils.cpp_extension.load, see docs/custom_operations.md, or take the path without custom operations."
    )


eager.register_saved_tensors_hooks = register_saved_tensors_hooks
eager.reset_saved_tensors_hooks = reset_saved_tensors_hooks
eager._run_custom_op = _run_custom_op


def _has_grad() -> bool:
    """Whether operations are being recorded for the backward pass."""
    return is_grad_enabled()


def _set_has_grad(on: bool) -> None:
    """Switches that on or off."""
    set_grad_enabled(on)


# ---- devices, memory, random numbers -------------------------------------------------------------


def _count(kind: str) -> int:
    return sum(1 for name in get_available_device() if name.split(":")[0] == kind)


def get_cuda_device_count() -> int:
    return _count("gpu")


def get_xpu_device_count() -> int:
    return 0


def get_custom_device_count(device_type: str) -> int:
    """How many devices of a plug-in there are; RuntimeError where there is no such plug-in."""
    if device_type not in get_all_custom_device_type():
        raise RuntimeError(f"(get_custom_device_count) there is no device of kind {device_type!r}; see `proa doctor`.")
    return _count(device_type)


def is_compiled_with_custom_device(device_type: str) -> bool:
    return device_type in get_all_custom_device_type()


def device_memory_stat_current_value(stat: str, device_id: int) -> int:
    """Bytes in use ("Allocated") or held ("Reserved") on a device."""
    return (memory_reserved if stat == "Reserved" else memory_allocated)(_device(device_id))


def device_memory_stat_peak_value(stat: str, device_id: int) -> int:
    """The most bytes so far."""
    return (max_memory_reserved if stat == "Reserved" else max_memory_allocated)(_device(device_id))


def _device(number: int) -> Any:
    return make_place("gpu", number) if is_compiled_with_cuda() else None


def default_cpu_generator() -> Generator:
    """Where random numbers come from; there is one for all devices."""
    return default_generator


def default_cuda_generator(device_id: int = 0) -> Generator:
    return default_generator


def default_xpu_generator(device_id: int = 0) -> Generator:
    return default_generator


def default_custom_device_generator(place: Any = None) -> Generator:
    return default_generator


def get_cuda_current_device_id() -> int:
    return 0


def nvprof_nvtx_push(name: str) -> None:
    """Marks for NVIDIA's profiler; use paddle.profiler.RecordEvent."""


def nvprof_nvtx_pop() -> None:
    """Ends a mark."""


def nvprof_start() -> None:
    """Use paddle.profiler.Profiler."""


nvprof_stop = nvprof_enable_record_event = nvprof_start


def set_prim_eager_enabled(on: bool) -> None:
    """Operations are always made of primitives here."""


_set_prim_all_enabled = _set_prim_forward_enabled = _set_prim_backward_enabled = set_prim_eager_enabled


def _is_fwd_prim_enabled() -> bool:
    return False


_is_bwd_prim_enabled = _is_eager_prim_enabled = _is_all_prim_enabled = _is_fwd_prim_enabled


def is_bfloat16_supported(place: Any = None) -> bool:
    return BFLOAT16.itemsize == 2
