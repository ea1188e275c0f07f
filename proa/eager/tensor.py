"""The Tensor: a handle to a value that exists or is going to.

The hot path touches the slots only (see `binder.py`). Everything rare (gradient, name, hooks, views) lives in the
instance dictionary with a default on the class. Methods that are operations are attached by `declare.py`, others with
`attaching.py`; type checkers see all of them in `tensor.pyi` (`python -m tools.stubs`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.aval import Aval, make_aval
from ..core.dtype import DType, dtype_of, is_supported
from ..core.errors import AxisOutOfRange, failed_type_check, message, type_error, value_error
from ..core.place import CPU, Place, jax_device, jax_devices, parse_place, plain_place
from ..core.printing import tensor_to_string
from ..core.size import Size, TensorSize
from ..core.symbols import is_symbolic, plain, tensor_size
from ..ir import recorder
from ..ir.meshes import devices_of, readable
from ..ir.process.forking import State as ForkState
from ..ir.process.forking import host_array
from ..ir.recorder import LOCAL, Failure, value_of
from ..ir.recording.mode import Mode
from ..ir.sizes.known import known_value, lose_sizes, mark_sizes, objects_held, sizes_held
from ..ir.tiers import cupy_tier
from ..ir.tiers.lent import Lent
from ..ir.xla import started_jax
from .annotations import DeviceLike, DTypeLike, TensorLike
from .convert import host_array as own_array

_names = itertools.count()


class Tensor:
    """An array of numbers of one type, on one device, with a gradient if that is wanted.

    Tensors are made by `to_tensor`, by creation functions and by operations. Operations are recorded and run when a value
    is looked at.

    Args:
        data: numbers to copy.
        dtype: their type.
        place: where they lie.
        stop_gradient: whether no gradient is wanted.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> (x * x).sum().backward()
        >>> x.grad.tolist()
        [2.0, 4.0]
        >>> x
        Tensor(shape=[2], dtype=float32, place=Place(cpu), stop_gradient=False,
               [1., 2.])
    """

    __slots__ = (
        "__dict__", "__weakref__", "_aval", "_index", "_node", "_segment", "_value", "_version", "stop_gradient",
    )  # fmt: skip

    # Defaults of what is rarely set; see the module docstring.
    _grad: Tensor | None = None
    _zeroed: bool = False  # whether an absent gradient counts as zeros: so `clear_grad()` costs nothing
    _name: str | None = None
    _hooks: Any = None
    _view: Any = None
    _views: Any = None
    _strides: Any = None  # where they are not those of a memory without gaps (see `views.py`)
    _retain: bool = False
    _layout: Any = None  # where it was laid out on a mesh by the user (see ops/layout.py)
    _holds_sizes: Any = None  # of a constant: the sizes that it was made of (see ir/sizes/known.py)
    persistable: bool = False
    is_distributed: bool = False

    _aval: Aval
    _value: Any
    _segment: Any
    _index: int
    _node: Any
    _version: int
    stop_gradient: bool

    __array_priority__ = 1000

    def __init__(
        self,
        data: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        place: DeviceLike | None = None,
        stop_gradient: bool = True,
    ) -> None:
        value = np.zeros((0,), np.float32) if data is None else data
        source = value if isinstance(value, Tensor) else tensor_from_data(value, dtype, place)
        adopt(self, source)
        self._version = 0
        self.stop_gradient = stop_gradient

    # ---- description -------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The dimensions, as a list.

        Examples:
            >>> paddle.zeros([2, 3]).shape
            paddle.Size([2, 3])
        """
        segment = self._segment
        if segment is not None and segment.captures:
            return Size(segment.shape_of(self._aval))
        return Size(self._aval.shape)

    @property
    def dtype(self) -> DType:
        """The type of the elements.

        Examples:
            >>> paddle.zeros([2], dtype="int32").dtype
            paddle.int32
        """
        return dtype_of(self._aval.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes.

        Examples:
            >>> paddle.zeros([2, 3]).ndim
            2
        """
        return self._aval.ndim

    @property
    def size(self) -> TensorSize:
        """The number of elements; called, the shape or one dimension of it.

        Examples:
            >>> x = paddle.zeros([2, 3])
            >>> x.size, x.size(0)
            (6, 2)
        """
        aval = self._aval
        return tensor_size(aval.shape) if aval.symbolic else TensorSize(aval.shape)  # type: ignore[return-value]

    @property
    def place(self) -> Place:
        """Where the tensor lies.

        Examples:
            >>> paddle.zeros([2]).cpu().place
            Place(cpu)
        """
        return plain_place(self._aval.place)

    @property
    def itemsize(self) -> int:
        """How many bytes an element has.

        Examples:
            >>> paddle.zeros([2], dtype="float64").itemsize
            8
        """
        return self._aval.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """How many bytes all elements have together.

        Examples:
            >>> paddle.zeros([2, 3]).nbytes
            24
        """
        return self._aval.nbytes

    def dim(self) -> int:
        """The number of axes.

        Examples:
            >>> paddle.zeros([2, 3]).dim()
            2
        """
        return self._aval.ndim

    ndimension = dim

    def element_size(self) -> int:
        """How many bytes an element has.

        Examples:
            >>> paddle.zeros([2], dtype="float16").element_size()
            2
        """
        return self._aval.dtype.itemsize

    def is_dense(self) -> bool:
        """Whether all elements are stored; true for every tensor but sparse ones.

        Examples:
            >>> paddle.zeros([2]).is_dense()
            True
        """
        return True

    def is_sparse(self) -> bool:
        """Whether only elements that are not zero are stored.

        Examples:
            >>> paddle.zeros([2, 2]).is_sparse(), paddle.eye(2).to_sparse_coo(2).is_sparse()
            (False, True)
        """
        return False

    def is_selected_rows(self) -> bool:
        """Whether only some rows are stored: never, gradients are dense here.

        Examples:
            >>> paddle.zeros([2]).is_selected_rows()
            False
        """
        return False

    def __len__(self) -> int:
        if not self._aval.shape:
            raise failed_type_check("len", "a 0-d tensor has no length", f"x: {self._aval}")
        return self._aval.shape[0]

    @property
    def name(self) -> str:
        """The name of the tensor; one is made where none was given.

        Examples:
            >>> x = paddle.zeros([2])
            >>> x.name = "kept"
            >>> x.name
            'kept'
        """
        if self._name is None:
            self._name = f"generated_tensor_{next(_names)}"
        return self._name

    @name.setter
    def name(self, value: str) -> None:
        self._name = value

    @property
    def inplace_version(self) -> int:
        """How many times the value was changed in place.

        Examples:
            >>> x = paddle.zeros([2])
            >>> _ = x.add_(paddle.ones([2]))
            >>> x.inplace_version
            1
        """
        return self._version

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor is no result of an operation on the tape.

        Examples:
            >>> x = paddle.to_tensor([3.0], stop_gradient=False)
            >>> x.is_leaf, (x * x).is_leaf
            (True, False)
        """
        return self.stop_gradient or self._node is None

    @property
    def grad_fn(self) -> Any:
        """The operation that the tensor came from, on the tape; None for one that was not computed.

        Examples:
            >>> x = paddle.to_tensor([3.0], stop_gradient=False)
            >>> x.grad_fn is None, (x * x).grad_fn is None
            (True, False)
        """
        return self._node

    @property
    def requires_grad(self) -> bool:
        """Whether the gradient is wanted; the opposite of `stop_gradient`.

        Examples:
            >>> paddle.to_tensor([1.0], stop_gradient=False).requires_grad
            True
        """
        return not self.stop_gradient

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.stop_gradient = not value

    @property
    def is_cpu(self) -> bool:
        """Whether the tensor lies in the memory of the host.

        Examples:
            >>> paddle.zeros([2]).cpu().is_cpu
            True
        """
        return self._aval.place is CPU

    @property
    def is_cuda(self) -> bool:
        """Whether the tensor lies on a GPU.

        Examples:
            >>> paddle.zeros([2]).cpu().is_cuda
            False
        """
        return self._aval.place.kind == "gpu"

    # ---- values ------------------------------------------------------------------------------------------------

    def _data(self) -> Any:
        """The value itself, a NumPy or JAX array; runs what it waits for."""
        value: Any = self._value
        if value is None or LOCAL.recent is not None or value.__class__ is Lent:
            value = recorder.read(self)
        if LOCAL.unchecked:
            if hasattr(value, "copy_to_host_async"):
                value.copy_to_host_async()  # together with the flags that are fetched now
            recorder.verify_values()
        if value.__class__ is Failure:
            raise value.error.with_traceback(None)
        return host_array(value) if ForkState.lost else value

    def numpy(self, writable_ref: bool = False) -> np.ndarray:
        """The value as a new NumPy array of its own.

        Args:
            writable_ref: accepted; the array can always be written to.

        Examples:
            >>> paddle.to_tensor([1.0, 2.0]).numpy()
            array([1., 2.], dtype=float32)
        """
        return np.array(self._read())

    def _read(self) -> Any:
        """The value for code outside of the package: sizes in it lose their expressions there."""
        if self._holds_sizes is not None:
            lose_sizes(self)
        value = self._data()
        return readable(value) if Mode.sharded else value

    def item(self, *args: int) -> Any:
        """The one element, or the one at a position, as a Python number.

        Args:
            *args: the position: one number for the flattened tensor, or one for each axis.

        Raises:
            ValueError: there are several elements and no position is given.

        Examples:
            >>> paddle.to_tensor([7.5]).item()
            7.5
            >>> paddle.to_tensor([[1, 2], [3, 4]]).item(1, 0)
            3
        """
        array = np.asarray(self._read())
        if args:
            try:
                return array.item(*args)
            except (IndexError, ValueError) as error:
                kind = AxisOutOfRange if isinstance(error, IndexError) else ValueError  # Paddle: ValueError
                raise kind(f"(item) {error}; received x: {self._aval}, position: {args}.") from None
        if array.size != 1:
            raise value_error("item", "only a tensor with one element has an item", f"x: {self._aval}")
        return array.item()

    def tolist(self) -> Any:
        """The elements as Python numbers, in nested lists.

        Examples:
            >>> paddle.to_tensor([[1, 2], [3, 4]]).tolist()
            [[1, 2], [3, 4]]
        """
        return np.asarray(self._read()).tolist() if sizes_held(self) is None else objects_held(self).tolist()

    def _scalar(self, what: str) -> Any:
        if self._aval.size != 1:
            raise failed_type_check(
                what, "only a tensor with one element can be converted to a Python number", f"x: {self._aval}",
                "use any(), all() or an index",
            )  # fmt: skip
        return np.asarray(self._read()).item()

    def __bool__(self) -> bool:
        return bool(self._scalar("bool"))

    def __int__(self) -> int:
        return int(self._scalar("int"))

    def __float__(self) -> float:
        return float(self._scalar("float"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        if self._aval.dtype.kind not in "iub":
            raise failed_type_check("index", "only an integer tensor can be an index", f"x: {self._aval}")
        if (known := known_value(self)) is not None and known.size == 1:
            return int(known.item())  # a size, while the code is captured
        return int(self._scalar("index"))

    def __format__(self, spec: str) -> str:
        """A 0-d tensor is formatted as its number (`f"{loss:.3f}"`), any other one as its text, without a format."""
        if not self._aval.shape:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._read(), dtype=dtype, copy=True if copy is None else copy or None)

    def __jax_array__(self) -> Any:
        return jax_value(self._data())

    def __dlpack__(self, **options: Any) -> Any:
        if not self.stop_gradient:
            raise BufferError(
                message("__dlpack__", "gradients do not flow through DLPack", f"x: {self._aval}", "use detach()")
            )
        # NumPy has no DLPack form for bfloat16 and float8; JAX has.
        return jax_value(self._data()).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return jax_value(self._data()).__dlpack_device__()

    def __repr__(self) -> str:
        aval = self._aval
        if self._value is None and self._segment.captures:
            return self._segment.describe(self)
        return tensor_to_string(
            np.asarray(self._read()), shape=list(aval.shape), dtype_name=self.dtype.name,
            place_text=repr(aval.place), stop_gradient=self.stop_gradient, prefix=self._print_prefix,
            layout="" if self._layout is None else f" {self._layout}, GlobalDenseTensor=",
        )  # fmt: skip

    _print_prefix = "Tensor"

    def __hash__(self) -> int:
        return id(self)

    # ---- gradient ----------------------------------------------------------------------------------------------

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have added up, or None.

        Examples:
            >>> x = paddle.to_tensor([3.0], stop_gradient=False)
            >>> (x * x).backward()
            >>> x.grad.tolist()
            [6.0]
        """
        found: Any = self._grad
        if found is None and self._zeroed:
            from .backward.engine import zeros_of

            found = zeros_of(self._aval)
            self._grad = found
        return found

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise type_error("grad", "a gradient is a Tensor or None", type(value).__name__)
        if value is not None and value._aval.shape != self._aval.shape:
            raise value_error("grad", "a gradient has the shape of its tensor", f"{value._aval} for {self._aval}")
        self._grad = value
        self._zeroed = False

    @grad.deleter
    def grad(self) -> None:
        self._grad = None
        self._zeroed = False

    def gradient(self) -> np.ndarray | None:
        """The gradient as a NumPy array, or None.

        Examples:
            >>> x = paddle.to_tensor([3.0], stop_gradient=False)
            >>> (x * x).backward()
            >>> x.gradient()
            array([6.], dtype=float32)
        """
        return None if self.grad is None else self.grad.numpy()

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Sets a gradient that is there to zeros, or takes it away.

        Args:
            set_to_zero: zeros (True), or None.

        Examples:
            >>> x = paddle.to_tensor([1.0], stop_gradient=False)
            >>> (x * 2).backward()
            >>> x.clear_gradient(set_to_zero=False)
            >>> x.grad is None
            True
        """
        if self._grad is not None or self._zeroed:
            self._grad = None
            self._zeroed = set_to_zero

    def clear_grad(self) -> None:
        """Sets a gradient that is there to zeros.

        Examples:
            >>> x = paddle.to_tensor([1.0], stop_gradient=False)
            >>> (x * 2).backward()
            >>> x.clear_grad()
            >>> x.grad.tolist()
            [0.0]
        """
        self.clear_gradient()

    # A tensor made of others (a sparse one) has its place in the graph through one of them; these three say which, and
    # turn gradients into its own form and back.

    def _gradient_carrier(self) -> Tensor:
        """The tensor at whose place in the graph gradients arrive."""
        return self

    def _as_gradient(self, grad: Tensor) -> Tensor:
        """The carrier's gradient as this tensor's."""
        return grad

    def _carried_seed(self, where: str, grad: Any) -> Any:
        """A gradient of this tensor as one of the carrier's."""
        return grad

    # ---- copies, devices ---------------------------------------------------------------------------------------

    def _to_place(self, place: Place) -> Tensor:
        """The same numbers on another device (a new tensor; the same one if it is there already)."""
        if place is self._aval.place:
            return self
        return wrap(move_value(self._data(), place), make_aval(self._aval.shape, self._aval.dtype, place))

    def __copy__(self) -> Tensor:
        copied = new_like(self)
        copied.__dict__.update({k: v for k, v in self.__dict__.items() if not k.startswith("_")})
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        copied = new_like(self)  # a leaf: history is not copied
        memo[id(self)] = copied
        import copy

        for key, value in self.__dict__.items():
            if key not in ("_hooks", "_view", "_views", "_strides", "_grad"):
                copied.__dict__[key] = copy.deepcopy(value, memo)
        if self._name is not None:
            copied._name = self._name + "_deepcopy"
        return copied

    def __reduce__(self) -> Any:
        extra = {k: v for k, v in self.__dict__.items() if not k.startswith("_")}
        return _rebuild, (type(self), self.numpy(), self.dtype.name, self.stop_gradient, self._name, extra)


def _rebuild(
    cls: type[Tensor], array: np.ndarray, dtype: str, stop_gradient: bool, name: str | None, extra: dict[str, Any]
) -> Tensor:
    tensor = cls.__new__(cls)
    adopt(tensor, tensor_from_data(array, dtype))
    tensor._version = 0
    tensor.stop_gradient = stop_gradient
    tensor.__dict__.update(extra)
    if name is not None:
        tensor._name = name
    return tensor


def adopt(target: Tensor, source: Tensor) -> None:
    """Gives `target` the value (present or pending) of `source`; not its history."""
    target._aval = source._aval
    target._value, target._segment, target._index = state_of(source)
    target._node = None
    if target._value is None:
        target._segment.refs.append(target)


def state_of(source: Tensor) -> tuple[Any, Any, int]:
    """Value, segment and index for another tensor that shall stand for the same value.

    What waits in another thread's segment is computed first: that segment is not ours to add to. The value is read last:
    whoever gives the tensor one does so before it changes the other two.
    """
    index, segment, value = source._index, source._segment, source._value
    if value is None and segment is not LOCAL.segment:
        if LOCAL.segment.captures:
            return None, LOCAL.segment, LOCAL.segment.input_index(source)
        value = value_of(source)
    return (None, segment, index) if value is None else (value, None, -1)


def new_like(source: Tensor) -> Tensor:
    """Another tensor (of the same class) with the same value and no history."""
    target = source.__class__.__new__(source.__class__)
    adopt(target, source)
    target._version = 0
    target.stop_gradient = source.stop_gradient
    return target


def new_results(segment: Any, avals: Iterable[Aval], index: int) -> list[Tensor]:
    """The tensors of results that were just recorded, numbered from `index`, without history.

    The segment keeps them until they have their values.
    """
    new, keep = Tensor.__new__, segment.refs.append
    made: list[Tensor] = []
    for aval in avals:
        tensor = new(Tensor)
        tensor._aval = aval
        tensor._value = None
        tensor._segment = segment
        tensor._index = index
        tensor._version = 0
        tensor._node = None
        tensor.stop_gradient = True
        keep(tensor)
        made.append(tensor)
        index += 1
    return made


def alias(source: Tensor) -> Tensor:
    """A plain tensor with the same value and no history."""
    target = Tensor.__new__(Tensor)
    adopt(target, source)
    target._version = source._version
    target.stop_gradient = True
    return target


def wrap(value: Any, aval: Aval | None = None) -> Tensor:
    """A tensor around an array that exists. The array must not be changed afterwards.

    Examples:
        >>> paddle.utils.dlpack.wrap(np.array([1.0, 2.0], "float32")).tolist()
        [1.0, 2.0]
    """
    tensor = Tensor.__new__(Tensor)
    tensor._aval = aval if aval is not None else aval_of(value)
    tensor._value = value
    tensor._segment = None
    tensor._index = -1
    tensor._node = None
    tensor._version = 0
    tensor.stop_gradient = True
    return tensor


def aval_of(value: Any) -> Aval:
    if isinstance(value, np.ndarray):
        return make_aval(value.shape, value.dtype, CPU)
    if devices_of(value) is not None:
        recorder.note_sharded()
    return make_aval(tuple(value.shape), value.dtype, parse_place(next(iter(value.sharding.device_set))))


def jax_value(value: Any) -> Any:
    """The value as a JAX array where it is; JAX's own default device does not matter.

    Examples:
        >>> paddle.utils.dlpack.jax_value(np.ones(2, "float32")).shape
        (2,)
    """
    jax = started_jax()
    return jax.device_put(value, jax_devices("cpu")[0]) if isinstance(value, np.ndarray) else value


def move_value(value: Any, place: Place) -> Any:
    if place is CPU:
        return np.array(value)
    return started_jax().device_put(value, jax_device(place))


def _sizes_in(data: Any) -> list[Any] | None:
    """The numbers in Python data, in order, if some depend on an unknown size."""
    if is_symbolic(data):
        return [data]
    if not isinstance(data, (list, tuple)):
        return None
    flat, waiting = [], [data]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (list, tuple)):
            waiting += reversed(part)
        else:
            flat.append(part)
    return flat if any(map(is_symbolic, flat)) else None


def _without_symbols(data: Any) -> Any:
    return [_without_symbols(part) for part in data] if isinstance(data, (list, tuple)) else plain(data)


def tensor_from_data(data: Any, dtype: DTypeLike | None = None, place: DeviceLike | None = None) -> Tensor:
    """A new tensor from host data: Python numbers and nested lists, NumPy or JAX arrays, anything with DLPack."""
    target = LOCAL.place if place is None else parse_place(place)
    if LOCAL.segment.stepped:
        recorder.boundary()
    if LOCAL.segment.captures and (sizes := _sizes_in(data)) is not None:
        return mark_sizes(tensor_from_data(_without_symbols(data), dtype, place), sizes)
    array = own_array(data, dtype, own=target is CPU)
    if isinstance(array, np.ndarray):
        if not is_supported(array.dtype):
            raise type_error("to_tensor", f"no tensor has the data type {array.dtype}", type(data).__name__)
        if target is CPU:
            return wrap(array, make_aval(array.shape, array.dtype, CPU))
        value = cupy_tier.from_host(array, target)
        if value is None:
            value = move_value(array, target)
            if isinstance(data, np.ndarray) and np.may_share_memory(array, data):
                value.block_until_ready()  # the user may change his array afterwards
        return wrap(value, make_aval(array.shape, array.dtype, target))
    tensor = wrap(array)
    return tensor if place is None else tensor._to_place(target)
