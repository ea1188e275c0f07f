"""Attributes and methods of Tensor that speak of its storage, its place in a cluster, and its other natures.

Values are never overwritten and lie without gaps here (see eager/views.py); `stride()` tells what Paddle's memory would
look like, because that decides what shares memory.
What exists in Paddle for tensors of another nature (selected rows, strings, programs) says so.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.dtype import to_numpy_dtype
from ...core.errors import runtime_error, type_error, value_error
from ...eager.annotations import DTypeLike, ShapeLike, SizesLike
from ...eager.attaching import attach
from ...eager.backward.tape import stand_in
from ...eager.declare import PUBLIC
from ...eager.tensor import Tensor, adopt, alias
from ...eager.views import (
    check_in_place,
    leave_storage,
    own_strides,
    register_detached,
    register_view,
    strides_of,
    take_over,
)
from ..arguments import integer, integers, new_shape, require_tensor
from ..basic import full_of, reshape_to
from ..index.index_stages import PlanView
from ..shape.joining import concat_along
from ..shape.manipulation import reshape_
from ..shape.slicing import read_at
from ..shape.strided import by_strides
from .attribute import method

if TYPE_CHECKING:
    from ...nn.initializer import Initializer

# ---- another storage -----------------------------------------------------------------------------


@method
def resize_(x: Tensor, shape: ShapeLike, fill_zero: bool = False, name: str | None = None) -> Tensor:
    """The tensor itself gets another shape, with fewer elements or with zeros behind the old ones, and is returned.

    With another number of elements it no longer shares memory with its views.

    Args:
        x: the tensor.
        shape: the shape.
        fill_zero: accepted; what is new is always zero.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.to_tensor([1, 2, 3]).resize_([2, 2]).tolist()
        [[1, 2], [3, 0]]
    """
    aval = require_tensor("resize_", "x", x)._aval
    if not isinstance(shape, (list, tuple)):
        raise value_error("resize_", "shape must be a list of integers", type(shape).__name__)
    dims = new_shape("resize_", shape)
    size = int(np.prod(dims))
    if size == aval.size:
        return reshape_(x, list(dims)) if size else _moved_into(x, full_of(0, dims, aval.dtype), "resize_")
    flat = reshape_(stand_in(x), [aval.size])
    if size < aval.size:
        flat = read_at(flat, 0, ((0, size, 1),))
    else:
        flat = concat_along([flat, full_of(0, (size - aval.size,), aval.dtype)], 0)
    return _moved_into(x, reshape_to(flat, dims), "resize_")


def _moved_into(x: Tensor, source: Tensor, where: str) -> Tensor:
    """`x` takes over a value of any shape or type, and leaves the memory that it shared."""
    check_in_place(x, where)
    leave_storage(x)
    take_over(x, source)
    return x


def _share(x: Tensor, source: Tensor, where: str) -> None:
    """`x` becomes another name of `source`, outside its history."""
    check_in_place(x, where)
    leave_storage(x)
    version = x._version
    adopt(x, source)
    x._version = version + 1
    register_detached(source, x)


@method
def set_(
    x: Tensor,
    source: Tensor | None = None,
    shape: ShapeLike | None = None,
    stride: SizesLike | None = None,
    offset: int = 0,
    name: str | None = None,
) -> Tensor:
    """The tensor itself becomes a view of another, or one without elements, and is returned.

    Args:
        x: the tensor.
        source: the other tensor, of the same type.
        shape: the shape of the view.
        stride: its strides; see `as_strided`.
        offset: how many bytes lie before its first element.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.zeros([1]).set_(paddle.arange(4.0), [2, 2], [2, 1]).tolist()
        [[0.0, 1.0], [2.0, 3.0]]
    """
    aval = require_tensor("set_", "x", x)._aval
    if source is None:
        return _moved_into(x, full_of(0, (0,), aval.dtype), "set_")
    other = require_tensor("set_", "source", source)._aval
    if other.dtype != aval.dtype:
        raise type_error("set_", "source must have the type of x", f"x: {aval}, source: {other}")
    if shape is None and stride is None and not offset:
        _share(x, source, "set_")
        return x
    dims = other.shape if shape is None else new_shape("set_", shape)
    steps = _steps(dims) if stride is None else integers("set_", "stride", stride)
    plan = by_strides("set_", other, dims, steps, integer("set_", "offset", offset))
    _moved_into(x, plan.read(alias(source)), "set_")
    register_view(source, x, PlanView, (plan,))
    return x


def _steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))


@method
def reconstruct_from_(self: Tensor, other: Tensor) -> None:
    """The tensor becomes another name of `other`: its value, shape and type, sharing memory.

    Args:
        other: a tensor.

    Examples:
        >>> x = paddle.zeros([1])
        >>> _ = x.reconstruct_from_(paddle.ones([2, 2]))
        >>> x.shape
        paddle.Size([2, 2])
    """
    _share(self, require_tensor("reconstruct_from_", "other", other), "reconstruct_from_")


@method
def set_tensor(self: Tensor, value: Tensor) -> None:
    """The tensor becomes another name of `value`; see `reconstruct_from_`.

    Args:
        value: a tensor.

    Examples:
        >>> x = paddle.zeros([1])
        >>> _ = x.set_tensor(paddle.ones([2]))
        >>> x.tolist()
        [1.0, 1.0]
    """
    _share(self, require_tensor("set_tensor", "value", value), "set_tensor")


def _strides(self: Tensor) -> list[int]:
    """Elements between neighbours along each axis, as Paddle's memory has them.

    Examples:
        >>> paddle.zeros([2, 3]).strides, paddle.zeros([2, 3]).t().strides
        ([3, 1], [1, 3])
    """
    return list(strides_of(self))


attach(__name__, strides=property(_strides))


@method
def get_strides(self: Tensor) -> list[int]:
    """How many elements lie between neighbours along each axis.

    Examples:
        >>> paddle.zeros([2, 3]).get_strides()
        [3, 1]
    """
    return self.strides


@method
def is_contiguous(self: Tensor) -> bool:
    """Whether the elements lie one after the other in memory, as Paddle has it: not so for most slices and transposes.

    Examples:
        >>> x = paddle.zeros([2, 3])
        >>> x.is_contiguous(), x.t().is_contiguous()
        (True, False)
    """
    return own_strides(self) is None


@method
def contiguous(self: Tensor) -> Tensor:
    """The tensor itself; where its elements did not lie one after the other, it has a memory of its own from now on.

    Examples:
        >>> paddle.zeros([2, 3]).t().contiguous().is_contiguous()
        True
    """
    if own_strides(self) is not None:
        leave_storage(self)
    return self


@method
def stride(self: Tensor, dim: int | None = None) -> Any:
    """How many elements lie between neighbours along an axis, or a list of that for all of them.

    Args:
        dim: the axis.

    Examples:
        >>> x = paddle.zeros([2, 3])
        >>> x.stride(), x.stride(0)
        ([3, 1], 3)
    """
    steps = self.strides
    if dim is None:
        return steps
    number = integer("stride", "dim", dim)
    if not -len(steps) <= number < len(steps):
        raise value_error("stride", f"there is no axis {number}", f"x: {self._aval}")
    return steps[number]


@method
def pin_memory(self: Tensor, blocking: bool = True) -> Tensor:
    """The tensor itself: transfers to a device need no pinned memory here.

    Args:
        blocking: accepted.

    Examples:
        >>> x = paddle.zeros([2])
        >>> x.pin_memory() is x
        True
    """
    return self


def _offset(self: Tensor) -> int:
    """Bytes before the first element: none, each value has its own memory.

    Examples:
        >>> paddle.zeros([2, 3])[1].offset
        0
    """
    return 0


def _layout(self: Tensor) -> str:
    """Paddle's name for the order of dimensions in memory; the same for every tensor, sparse ones too.

    Examples:
        >>> paddle.zeros([2]).layout
        'NCHW'
    """
    return "NCHW"


def _gradient(self: Tensor) -> Tensor | None:
    """The gradient; see `grad`.

    Examples:
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> (x * x).backward()
        >>> x.grad_.tolist()
        [6.0]
    """
    return self.grad


def _set_gradient(self: Tensor, value: Tensor | None) -> None:
    self.grad = value


attach(
    __name__,
    offset=property(_offset),
    layout=property(_layout),
    grad_=property(_gradient, _set_gradient),
)


class VarType(enum.Enum):
    """What kind of variable a tensor is, with Paddle's numbers."""

    DENSE_TENSOR = 7
    SELECTED_ROWS = 8
    STRINGS = 26
    VOCAB = 27
    RAW = 17


def _type(self: Tensor) -> VarType:
    """The kind of variable; the data type is `dtype`.

    Examples:
        >>> paddle.zeros([2]).type.name
        'DENSE_TENSOR'
    """
    return VarType.DENSE_TENSOR


attach(__name__, type=property(_type))

# ---- the place in a cluster: of a tensor that is whole, nothing ----------------------------------


def _is_dist(self: Tensor) -> bool:
    """Whether the tensor lies on a mesh of devices, which none does before `paddle.distributed` is imported.

    Examples:
        >>> paddle.zeros([2]).is_dist()
        False
    """
    return False


attach(__name__, placements=None, process_mesh=None, num_shard=None, is_dist=_is_dist)

# ---- made by a class -----------------------------------------------------------------------------


def create_tensor(dtype: DTypeLike | None, name: str | None = None, persistable: bool = False) -> Tensor:
    """A tensor of a type without elements, to be filled later.

    Args:
        dtype: the type.
        name: a label; it changes nothing.
        persistable: whether it is kept between runs of a program.

    Examples:
        >>> paddle.zeros([1]).create_tensor("float32").shape
        paddle.Size([0])
    """
    made = Tensor(np.zeros((0,), to_numpy_dtype(dtype)))
    if name is not None:
        made.name = name
    made.persistable = bool(persistable)
    return made


def create_parameter(
    shape: ShapeLike, dtype: DTypeLike | None, name: str | None = None, attr: Any = None, is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Any:  # fmt: skip
    """A new parameter; the same as `paddle.create_parameter`.

    Args:
        shape: its shape.
        dtype: its type.
        name: a label; it changes nothing.
        attr: its attributes, a ParamAttr or what stands for one.
        is_bias: whether it is a bias, which begins with zeros.
        default_initializer: how it begins where `attr` does not say.

    Examples:
        >>> paddle.zeros([1]).create_parameter([2], "float32", is_bias=True).tolist()
        [0.0, 0.0]
    """
    return PUBLIC["create_parameter"](shape, dtype, name, attr, is_bias, default_initializer)


# Functions on the class, not methods: Paddle has them so.
attach(__name__, create_tensor=staticmethod(create_tensor))
attach(__name__, create_parameter=staticmethod(create_parameter))


# ---- other natures -------------------------------------------------------------------------------


@method
def rows(self: Tensor) -> Any:
    """Raises RuntimeError: only selected rows have these.

    Examples:
        >>> paddle.zeros([1]).rows()
        Traceback (most recent call last):
            ...
        RuntimeError: (rows) only a tensor of selected rows has rows(); received x: float32[1].
    """
    raise runtime_error("rows", "only a tensor of selected rows has rows()", f"x: {self._aval}")


@method
def get_selected_rows(self: Tensor) -> None:
    """The selected rows behind the tensor: None, it is dense.

    Examples:
        >>> paddle.zeros([1]).get_selected_rows() is None
        True
    """
    return None


@method
def get_map_tensor(self: Tensor) -> Any:
    """Raises RuntimeError: only a vocabulary has this.

    Examples:
        >>> paddle.zeros([1]).get_map_tensor()
        Traceback (most recent call last):
            ...
        RuntimeError: (get_map_tensor) only a vocabulary has a map; received x: float32[1].
    """
    raise runtime_error("get_map_tensor", "only a vocabulary has a map", f"x: {self._aval}")


@method
def set_vocab(self: Tensor, value: Any) -> None:
    """Raises NotImplementedError: tensors hold numbers.

    Args:
        value: a vocabulary.

    Examples:
        >>> paddle.zeros([1]).set_vocab({"a": 0})
        Traceback (most recent call last):
            ...
        NotImplementedError: (set_vocab) a tensor holds numbers here, no vocabulary; keep a dict beside it.
    """
    raise NotImplementedError("(set_vocab) a tensor holds numbers here, no vocabulary; keep a dict beside it.")


@method
def set_string_list(self: Tensor, value: Any) -> None:
    """Raises NotImplementedError: tensors hold numbers.

    Args:
        value: strings.

    Examples:
        >>> paddle.zeros([1]).set_string_list(["a"])
        Traceback (most recent call last):
            ...
        NotImplementedError: (set_string_list) a tensor holds numbers here, no strings; keep a list beside it.
    """
    raise NotImplementedError("(set_string_list) a tensor holds numbers here, no strings; keep a list beside it.")


# ---- other libraries -----------------------------------------------------------------------------


def _cuda_array_interface(self: Tensor) -> Any:
    """The description of the memory on a GPU; AttributeError on other devices."""
    if self._aval.place.kind != "gpu":
        raise AttributeError(
            f"(__cuda_array_interface__) only a tensor on a GPU has this; received x on {self._aval.place}; "
            "move it with cuda()."
        )
    return self._data().__cuda_array_interface__


class _NotOffered:
    """An attribute that neither the class nor its instances have, but whose name is known."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        raise AttributeError(f"({self.name}) tensors are exchanged by __dlpack__ here, not by a table of C functions.")


def _no_stream(self: Tensor) -> Any:
    """RuntimeError: XLA does not hand out its streams."""
    raise runtime_error(
        "__tvm_ffi_env_stream__", "XLA orders its own work and hands out no stream", f"x: {self._aval}",
        "call paddle.device.synchronize() before another library reads the memory",
    )  # fmt: skip


def _reflected_division(self: Tensor, other: Any) -> Tensor:
    return self.__rtruediv__(other)


def _division(self: Tensor, other: Any) -> Tensor:
    return self.__truediv__(other)


attach(__name__, __cuda_array_interface__=property(_cuda_array_interface))
attach(__name__, __dlpack_c_exchange_api__=_NotOffered("__dlpack_c_exchange_api__"))
attach(__name__, __c_dlpack_exchange_api__=_NotOffered("__c_dlpack_exchange_api__"))
attach(__name__, __tvm_ffi_env_stream__=_no_stream)
attach(__name__, __div__=_division)
attach(__name__, __rdiv__=_reflected_division)
attach(__name__, __long__=Tensor.__int__)
attach(__name__, __nonzero__=Tensor.__bool__)
# Paddle 3.3.1: NumPy's own functions refuse tensors, operators of arrays leave the work to them.
attach(__name__, __array_ufunc__=None)
