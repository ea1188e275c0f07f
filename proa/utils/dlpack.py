"""`paddle.utils.dlpack`: arrays to and from other libraries.

Values of tensors are never overwritten (recorded work may still need them), so memory that its owner may write to is
copied on the way in. What comes from a JAX array or a tensor, which nobody writes to, is shared.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np

from ..core.errors import type_error, value_error
from ..core.place import parse_place
from ..eager.annotations import DeviceLike
from ..eager.declare import public
from ..eager.tensor import Tensor, jax_value, wrap
from ..ir.xla import started_jax
from ..ops.arguments import require_tensor

__all__ = ["from_dlpack", "to_dlpack"]

_CPU_KINDS = (1, 3)  # DLPack's numbers for ordinary memory and for memory pinned by CUDA


# What capsules that nobody has taken yet stand for, by the address of their numbers: the tensor, and the array that keeps
# the address from being used for anything else.
_GIVEN: dict[int, tuple[weakref.ref[Tensor], Any]] = {}


@public()
def to_dlpack(x: Tensor) -> Any:
    """A DLPack capsule of a tensor's value.

    Other libraries must not write into it; `from_dlpack` gives a tensor that shares changes with `x`.

    Args:
        x: the tensor.

    Examples:
        >>> paddle.from_dlpack(paddle.to_dlpack(paddle.ones([2]))).tolist()
        [1.0, 1.0]
    """
    array = jax_value(require_tensor("to_dlpack", "x", x)._data())
    capsule = array.__dlpack__()
    address = _Capsule(capsule).address
    _GIVEN[address] = (weakref.ref(x, lambda _: _GIVEN.pop(address, None)), array)
    return capsule


@public()
def from_dlpack(dlpack: Any, *, device: DeviceLike | None = None, copy: bool | None = None) -> Tensor:
    """A tensor from a DLPack capsule, or from anything that has `__dlpack__` (arrays of NumPy, PyTorch, JAX …).

    Args:
        dlpack: the capsule or the array.
        device: where the tensor lies; where the data is by default.
        copy: False insists on sharing memory.

    Raises:
        BufferError: `copy` is False and the owner may write to the memory.

    Examples:
        >>> paddle.from_dlpack(np.arange(3)).tolist()
        [0, 1, 2]
    """
    source = _Capsule(dlpack) if type(dlpack).__name__ == "PyCapsule" else dlpack
    if isinstance(source, _Capsule):
        given, _ = _GIVEN.pop(source.address, (lambda: None, None))
        if (tensor := given()) is not None:
            _array(source, None)  # a capsule can be taken once
            dlpack = tensor
    if isinstance(source, Tensor) and not source.stop_gradient:
        source.__dlpack__()  # refuses: gradients do not flow this way
    if isinstance(dlpack, Tensor):
        made = dlpack.detach() if not copy else wrap(_copied(dlpack._data()))
        return made if device is None else made._to_place(parse_place(device))
    if not hasattr(source, "__dlpack__"):
        raise type_error(
            "from_dlpack", "a DLPack capsule or an object with __dlpack__ is wanted", type(dlpack).__name__,
            "use to_tensor() for numbers and lists",
        )  # fmt: skip
    made = wrap(_array(source, copy))
    return made if device is None else made._to_place(parse_place(device))


def _copied(value: Any) -> Any:
    return np.array(value) if isinstance(value, np.ndarray) else value.copy()


def _array(source: Any, copy: bool | None) -> Any:
    kind, _ = source.__dlpack_device__()
    if int(kind) in _CPU_KINDS:
        jax = None
        try:
            array = np.from_dlpack(source)
        except (BufferError, TypeError, RuntimeError):
            jax = started_jax()  # a type that NumPy has no DLPack form for, such as bfloat16
            array = np.asarray(jax.dlpack.from_dlpack(source))
        shared = type(source).__module__.partition(".")[0] in ("jax", "jaxlib")
        if copy is False and not shared:
            raise BufferError(
                "(from_dlpack) copy=False was asked for, but tensors share no memory that others may write to; "
                "leave copy out."
            )
        return array if shared and not copy else np.array(array)
    jax = started_jax()
    array = jax.dlpack.from_dlpack(source)
    # The owner of memory on a device may write to it as well.
    return array if copy is False else array.copy()


class _Capsule:
    """A bare capsule as an object with the two methods; which device it is on is read from it."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule
        get_name = ctypes.pythonapi.PyCapsule_GetName
        get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
        name = get_name(capsule)
        if name not in (b"dltensor", b"dltensor_versioned"):
            raise value_error(
                "from_dlpack", "this capsule holds no tensor (any more): a capsule can be used only once",
                f"a capsule named {name.decode() if name else None!r}",
            )  # fmt: skip
        get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
        get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        address = get_pointer(capsule, name)
        # Before the tensor itself a versioned capsule has: version, manager, deleter, flags.
        start = address + (32 if name == b"dltensor_versioned" else 0)
        self._device = tuple(ctypes.cast(start + 8, ctypes.POINTER(ctypes.c_int32))[:2])
        self.address = ctypes.cast(start, ctypes.POINTER(ctypes.c_void_p))[0]

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device  # type: ignore[return-value]
