"""Tensor methods that are no mathematics: other types and devices, copies, values set from outside.

Each is attached to `Tensor` only. What returns the tensor itself when nothing changes does so in
Paddle too (`astype` to the same type, `cpu()` of a tensor on the CPU); `cast` and `to(dtype)`
always copy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtype import DType, to_numpy_dtype
from ...core.errors import failed_check, runtime_error, type_error, value_error
from ...core.place import CPU, Place, make_place, parse_place
from ...eager.annotations import DeviceLike, DTypeLike, Number, SizesLike, TensorLike
from ...eager.attaching import attach
from ...eager.moving import moved
from ...eager.tensor import Tensor, alias, tensor_from_data
from ...eager.views import register_detached, replace_value
from ..arguments import finish, listed, new_shape, require_tensor
from ..basic import cast_to, full_of
from ..shape.repetition import tile
from .creation import filled

_CASTS = {
    "float": "float32",
    "float32": "float32",
    "half": "float16",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "double": "float64",
    "float64": "float64",
    "int": "int32",
    "int32": "int32",
    "long": "int64",
    "int64": "int64",
    "short": "int16",
    "int16": "int16",
    "char": "int8",
    "int8": "int8",
    "byte": "uint8",
    "uint8": "uint8",
    "bool": "bool",
    "cfloat": "complex64",
    "complex64": "complex64",
    "cdouble": "complex128",
    "complex128": "complex128",
}


def method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Attaches a function to Tensor under its own name."""
    attach(__name__, **{function.__name__: function})
    return function


# ---- types ---------------------------------------------------------------------------------------


@method
def astype(self: Tensor, dtype: DTypeLike | None) -> Tensor:
    """The numbers in another type; the tensor itself if it has that type already.

    Args:
        dtype: the type.

    Examples:
        >>> paddle.to_tensor([1.7, -1.7]).astype("int32").tolist()
        [1, -1]
    """
    wanted = to_numpy_dtype(dtype)
    return self if wanted == self._aval.dtype else cast_to(self, wanted)


@method
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The numbers in the type of another tensor.

    Args:
        other: that tensor.

    Examples:
        >>> paddle.to_tensor([1.7]).type_as(paddle.to_tensor([1])).tolist()
        [1]
    """
    return astype(self, require_tensor("type_as", "other", other).dtype)


def _cast_method(name: str, dtype: str) -> None:
    wanted = to_numpy_dtype(dtype)

    def convert(self: Tensor) -> Tensor:
        return self if wanted == self._aval.dtype else cast_to(self, wanted)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"""The numbers as {dtype}; the tensor itself if they are that already.

    Examples:
        >>> paddle.to_tensor([1]).{name}().dtype
        paddle.{dtype}
    """
    attach(__name__, **{name: convert})


for _name, _dtype in _CASTS.items():
    _cast_method(_name, _dtype)


# ---- devices -------------------------------------------------------------------------------------


@method
def cpu(self: Tensor) -> Tensor:
    """The tensor in the memory of the host; itself if it is there.

    Examples:
        >>> paddle.ones([2]).cpu().is_cpu
        True
    """
    return moved(self, CPU)


@method
def cuda(self: Tensor, device_id: int | None = None, blocking: bool = True) -> Tensor:
    """The tensor on a GPU.

    Args:
        device_id: which; the first by default, or the one where it is.
        blocking: accepted; a copy is waited for when it is used.

    Raises:
        ValueError: there is no GPU.

    Examples:
        >>> x = paddle.ones([2])
        >>> x = x.cuda() if paddle.device.cuda.device_count() else x
        >>> x.tolist()
        [1.0, 1.0]
    """
    if isinstance(device_id, (Place, str)):
        return moved(self, parse_place(device_id))
    if device_id is None and self._aval.place.kind == "gpu":
        return self
    return moved(self, make_place("gpu", device_id or 0))


def _is_dtype(value: Any) -> bool:
    if isinstance(value, (DType, np.dtype, type)):
        return True
    if isinstance(value, str):
        try:
            to_numpy_dtype(value)
        except TypeError:
            return False
        return True
    return False


@method
def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor on another device, in another type, or both.

    All usual orders are understood: `to('gpu:0')`, `to('float64')`, `to('cpu', 'int32', True)`, `to(other)`,
    `to(device=…, dtype=…, blocking=…)`.

    Args:
        *args: a device, a type, or a tensor whose device and type are meant.
        **kwargs: the same by name.

    Raises:
        TypeError: nothing is given, or two devices or types.

    Examples:
        >>> x = paddle.to_tensor([1.7]).to("cpu", "int32")
        >>> x.tolist(), x.dtype
        ([1], paddle.int32)
    """
    unknown = set(kwargs) - {"device", "dtype", "blocking", "other"}
    if unknown or not (args or kwargs):
        raise type_error(
            "to",
            "give a device, a dtype, or both (and blocking)",
            f"{', '.join(sorted(unknown)) or 'nothing'}",
        )
    device, dtype = kwargs.get("device"), kwargs.get("dtype")
    other = kwargs.get("other")
    for value in args:
        if isinstance(value, Tensor):
            other = value
        elif _is_dtype(value) and dtype is None:
            dtype = value
        elif isinstance(value, bool) or value is None:
            pass  # blocking, which changes nothing here
        elif device is None:
            device = value
        else:
            raise type_error("to", "there is one device and one dtype", repr(args))
    if other is not None:
        require_tensor("to", "other", other)
        device = other._aval.place if device is None else device
        dtype = other._aval.dtype if dtype is None else dtype
    result = self
    if dtype is not None:
        result = cast_to(result, to_numpy_dtype(dtype))
    if device is not None:
        result = moved(result, _place_of(device))
    return result


def _place_of(device: Any) -> Place:
    if isinstance(device, int):
        raise value_error("to", "a device is a string or a place", repr(device), "write 'gpu:0'")
    return parse_place(device)


@method
def get_device(self: Tensor) -> int:
    """The number of the tensor's device; -1 on the CPU.

    Examples:
        >>> paddle.ones([2]).cpu().get_device()
        -1
    """
    return -1 if self._aval.place is CPU else self._aval.place.index


# ---- the value, apart from its history -----------------------------------------------------------


@method
def detach(self: Tensor) -> Tensor:
    """The same value outside the graph: no gradient is wanted for it, and the memory is shared.

    Examples:
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> (x * 2).detach().stop_gradient
        True
    """
    result = alias(self)
    register_detached(self, result)
    return result


@method
def detach_(self: Tensor) -> Tensor:
    """Takes the tensor itself out of the graph and returns it.

    Examples:
        >>> x = paddle.to_tensor([1.0], stop_gradient=False) * 2
        >>> x.detach_().stop_gradient
        True
    """
    self._node = None
    self.stop_gradient = True
    return self


attach(
    __name__,
    data=property(
        detach,
        lambda self, value: set_value(self, value),
        doc="""The value outside the graph, as `detach()` gives it; setting it gives the tensor other numbers.

    Examples:
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> x.data.stop_gradient
        True
        >>> x.data = paddle.to_tensor([5.0])
        >>> x.tolist()
        [5.0]
    """,
    ),
)


@method
def set_value(self: Tensor, value: TensorLike) -> None:
    """Gives the tensor other numbers of the same shape and type. Neither its history nor its version changes.

    Args:
        value: a tensor, an array, a list or a number.

    Raises:
        ValueError: shape or type differ.

    Examples:
        >>> x = paddle.zeros([2])
        >>> x.set_value([3.0, 4.0])
        >>> x.tolist()
        [3.0, 4.0]
    """
    aval = self._aval
    if isinstance(value, Tensor):
        source = alias(value)
    elif isinstance(value, (np.ndarray, np.generic)):
        source = tensor_from_data(value, place=aval.place)
    elif isinstance(value, (bool, int, float, complex, list, tuple)):
        source = tensor_from_data(value, aval.dtype, aval.place)
    else:
        raise type_error("set_value", "the value must be a tensor, an array or a list", type(value).__name__)
    received = f"x: {aval}, value: {source._aval}"
    if source._aval.shape != aval.shape:
        raise failed_check("set_value", "the value must have the shape of the tensor", received)
    if source._aval.dtype != aval.dtype:
        raise failed_check(
            "set_value",
            "the value must have the type of the tensor",
            received,
            "convert it with astype()",
        )
    replace_value(self, source._to_place(aval.place))


@method
def copy_(self: Tensor, other: TensorLike, blocking: bool = True) -> Tensor:
    """Copies the numbers of another tensor and returns the tensor. Neither its history nor its version changes.

    Args:
        other: a tensor of the same shape and type.
        blocking: accepted; a copy is waited for when it is used.

    Raises:
        ValueError: the shapes differ.
        RuntimeError: the types differ.

    Examples:
        >>> paddle.zeros([2]).copy_(paddle.ones([2])).tolist()
        [1.0, 1.0]
    """
    if not isinstance(other, Tensor):
        other = tensor_from_data(other, place=self._aval.place)
    received = f"x: {self._aval}, other: {other._aval}"
    if other._aval.dtype != self._aval.dtype:
        raise runtime_error("copy_", "both tensors must have the same type", received, "convert one with astype()")
    if other._aval.shape != self._aval.shape:
        raise value_error("copy_", "both tensors must have the same shape", received)
    replace_value(self, alias(other)._to_place(self._aval.place))
    return self


@method
def value(self: Tensor) -> Tensor:
    """The tensor itself.

    Examples:
        >>> x = paddle.ones([2])
        >>> x.value() is x
        True
    """
    return self


@method
def get_tensor(self: Tensor) -> Tensor:
    """The tensor itself.

    Examples:
        >>> x = paddle.ones([2])
        >>> x.get_tensor() is x
        True
    """
    return self


@method
def _bump_inplace_version(self: Tensor) -> None:
    """Counts a change that was made from outside."""
    self._version += 1


@method
def data_ptr(self: Tensor) -> int:
    """The address of the value: of a host array, or of the buffer on a device.

    Examples:
        >>> paddle.ones([2]).data_ptr() > 0
        True
    """
    value = self._data()
    return value.ctypes.data if isinstance(value, np.ndarray) else value.unsafe_buffer_pointer()


# ---- tensors like this one -----------------------------------------------------------------------


def _new(x: Tensor, where: str, size: Any, fill: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    wanted = x._aval.dtype if dtype is None else to_numpy_dtype(dtype)
    dims = new_shape(where, size)
    made = full_of(fill, dims, wanted) if fill.__class__ in (int, float) else filled(where, dims, fill, wanted)
    return finish(made, None, x._aval.place if device is None else device, requires_grad)


@method
@listed("size", 1)
def new_zeros(
    self: Tensor,
    size: SizesLike,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros in the type and on the device of this tensor.

    Args:
        size: their shape.
        dtype: another type.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.ones([2], dtype="int32").new_zeros([3]).tolist()
        [0, 0, 0]
    """
    return _new(self, "new_zeros", size, 0, dtype, device, requires_grad)


@method
@listed("size", 1)
def new_ones(
    self: Tensor,
    size: SizesLike,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Ones in the type and on the device of this tensor.

    Args:
        size: their shape.
        dtype: another type.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.zeros([2], dtype="int32").new_ones([3]).tolist()
        [1, 1, 1]
    """
    return _new(self, "new_ones", size, 1, dtype, device, requires_grad)


@method
@listed("size", 1)
def new_empty(
    self: Tensor,
    size: SizesLike,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor whose numbers mean nothing yet, in the type and on the device of this one.

    Args:
        size: its shape.
        dtype: another type.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.zeros([2]).new_empty([2, 3]).shape
        paddle.Size([2, 3])
    """
    return _new(self, "new_empty", size, 0, dtype, device, requires_grad)


@method
def new_full(
    self: Tensor,
    size: SizesLike,
    fill_value: Number | complex | bool,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """One number everywhere, in the type and on the device of this tensor.

    Args:
        size: the shape.
        fill_value: the number.
        dtype: another type.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.zeros([2], dtype="int32").new_full([3], 7).tolist()
        [7, 7, 7]
    """
    return _new(self, "new_full", size, fill_value, dtype, device, requires_grad)


@method
def repeat(self: Tensor, *repeats: Any) -> Tensor:
    """The tensor repeated as a whole along its axes; see `tile`.

    Args:
        *repeats: how often along each axis.

    Examples:
        >>> paddle.to_tensor([1, 2]).repeat(2, 2).tolist()
        [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    return tile(self, repeats[0] if len(repeats) == 1 else list(repeats))
