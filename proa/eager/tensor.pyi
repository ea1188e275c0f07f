# Written by `python -m tools.stubs`; changes made by hand are lost.
import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy

from proa.core.aval import Aval
from proa.core.dtype import DType
from proa.core.place import Place
from proa.core.size import Size, TensorSize
from proa.device.handle import Device
from proa.distributed.meshes.mesh import ProcessMesh
from proa.distributed.meshes.placement import Placement
from proa.eager.annotations import AxisLike, DeviceLike, DTypeLike, Number, ShapeLike, SizesLike, TensorLike
from proa.eager.backward.hooks import Hook, RemovableHandle
from proa.nn.initializer import Initializer
from proa.ops.create.storage import VarType

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
               [1., 2.])"""

    __slots__: builtins.tuple[builtins.str, ...]
    _grad: Tensor | None
    _zeroed: builtins.bool
    _name: str | None
    _hooks: Any
    _view: Any
    _views: Any
    _strides: Any
    _retain: builtins.bool
    _layout: Any
    _holds_sizes: Any
    persistable: builtins.bool
    is_distributed: builtins.bool
    _aval: Aval
    _value: Any
    _segment: Any
    _index: builtins.int
    _node: Any
    _version: builtins.int
    stop_gradient: builtins.bool
    __array_priority__: builtins.int
    def __init__(
        self,
        data: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        place: DeviceLike | None = None,
        stop_gradient: builtins.bool = True,
    ) -> None: ...
    @property
    def shape(self) -> Size:
        """The dimensions, as a list."""
    @property
    def dtype(self) -> DType:
        """The type of the elements."""
    @property
    def ndim(self) -> builtins.int:
        """The number of axes."""
    @property
    def size(self) -> TensorSize:
        """The number of elements; called, the shape or one dimension of it."""
    @property
    def place(self) -> Place:
        """Where the tensor lies."""
    @property
    def itemsize(self) -> builtins.int:
        """How many bytes an element has."""
    @property
    def nbytes(self) -> builtins.int:
        """How many bytes all elements have together."""
    def dim(self) -> builtins.int:
        """The number of axes."""
    ndimension = dim
    def element_size(self) -> builtins.int:
        """How many bytes an element has."""
    def is_dense(self) -> builtins.bool:
        """Whether all elements are stored; true for every tensor but sparse ones."""
    def is_sparse(self) -> builtins.bool:
        """Whether only elements that are not zero are stored."""
    def is_selected_rows(self) -> builtins.bool:
        """Whether only some rows are stored: never, gradients are dense here."""
    def __len__(self) -> builtins.int: ...
    @property
    def name(self) -> str:
        """The name of the tensor; one is made where none was given."""
    @name.setter
    def name(self, value: str) -> None: ...
    @property
    def inplace_version(self) -> builtins.int:
        """How many times the value was changed in place."""
    @property
    def is_leaf(self) -> builtins.bool:
        """Whether the tensor is no result of an operation on the tape."""
    @property
    def grad_fn(self) -> Any:
        """The operation that the tensor came from, on the tape; None for one that was not computed."""
    @property
    def requires_grad(self) -> builtins.bool:
        """Whether the gradient is wanted; the opposite of `stop_gradient`."""
    @requires_grad.setter
    def requires_grad(self, value: builtins.bool) -> None: ...
    @property
    def is_cpu(self) -> builtins.bool:
        """Whether the tensor lies in the memory of the host."""
    @property
    def is_cuda(self) -> builtins.bool:
        """Whether the tensor lies on a GPU."""
    def _data(self) -> Any:
        """The value itself, a NumPy or JAX array; runs what it waits for."""
    def numpy(self, writable_ref: builtins.bool = False) -> numpy.ndarray:
        """The value as a new NumPy array of its own."""
    def _read(self) -> Any:
        """The value for code outside of the package: sizes in it lose their expressions there."""
    def item(self, *args: builtins.int) -> Any:
        """The one element, or the one at a position, as a Python number."""
    def tolist(self) -> Any:
        """The elements as Python numbers, in nested lists."""
    def _scalar(self, what: str) -> Any: ...
    def __bool__(self) -> builtins.bool: ...
    def __int__(self) -> builtins.int: ...
    def __float__(self) -> builtins.float: ...
    def __complex__(self) -> complex: ...
    def __index__(self) -> builtins.int: ...
    def __format__(self, spec: str) -> str:
        """A 0-d tensor is formatted as its number (`f"{loss:.3f}"`), any other one as its text, without a format."""
    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> numpy.ndarray: ...
    def __jax_array__(self) -> Any: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[builtins.int, builtins.int]: ...
    def __repr__(self) -> str: ...
    _print_prefix: builtins.str
    def __hash__(self) -> builtins.int: ...
    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have added up, or None."""
    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...
    @grad.deleter
    def grad(self) -> None: ...
    def gradient(self) -> numpy.ndarray | None:
        """The gradient as a NumPy array, or None."""
    def clear_gradient(self, set_to_zero: builtins.bool = True) -> None:
        """Sets a gradient that is there to zeros, or takes it away."""
    def clear_grad(self) -> None:
        """Sets a gradient that is there to zeros."""
    def _gradient_carrier(self) -> Tensor:
        """The tensor at whose place in the graph gradients arrive."""
    def _as_gradient(self, grad: Tensor) -> Tensor:
        """The carrier's gradient as this tensor's."""
    def _carried_seed(self, where: str, grad: Any) -> Any:
        """A gradient of this tensor as one of the carrier's."""
    def _to_place(self, place: Place) -> Tensor:
        """The same numbers on another device (a new tensor; the same one if it is there already)."""
    def __copy__(self) -> Tensor: ...
    def __deepcopy__(self, memo: dict[builtins.int, Any]) -> Tensor: ...
    def __reduce__(self) -> Any: ...
    @property
    def T(self) -> Tensor:
        """The tensor with its axes in reverse order; the result shares memory with it."""
    def __abs__(self, name: str | None = None) -> Tensor:
        """The absolute value of each element; of complex numbers, their modulus."""
    def __add__(self, y: Tensor | complex, name: str | None = None) -> Tensor: ...
    def __and__(self, y: Tensor | builtins.int, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """The bits that both have; of booleans, logical and. `x & y` means the same."""
    __array_ufunc__: Any
    __c_dlpack_exchange_api__: Any
    def __contains__(self, item: Any) -> builtins.bool:
        """`item in x`: whether some element equals it; looks at the values."""
    @property
    def __cuda_array_interface__(self) -> Any:
        """The description of the memory on a GPU; AttributeError on other devices."""
    def __div__(self, other: Any) -> Tensor: ...
    __dlpack_c_exchange_api__: Any
    def __eq__(self, y: Any) -> Any: ...  # type: ignore[override]
    def __floordiv__(self, y: TensorLike) -> Tensor:
        """The quotient rounded down, as `x // y` gives it."""
    def __ge__(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """Whether `x >= y`, element by element."""
    def __getitem__(self, item: Any) -> Tensor:
        """`x[item]`; basic indexing shares memory with `x`."""
    def __gt__(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """Whether `x > y`, element by element."""
    def __invert__(self, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """All bits turned; of booleans, logical not. `~x` means the same."""
    def __iter__(self) -> Iterator[Tensor]:
        """The slices of `x` along its first axis; they share memory with it."""
    def __le__(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """Whether `x <= y`, element by element."""
    def __long__(self) -> builtins.int: ...
    def __lshift__(self, y: Any, is_arithmetic: builtins.bool = True) -> Tensor: ...
    def __lt__(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """Whether `x < y`, element by element."""
    def __matmul__(
        self, y: Tensor, transpose_x: builtins.bool = False, transpose_y: builtins.bool = False, name: str | None = None
    ) -> Tensor:
        """The matrix product over the last two axes, the others broadcast; `x @ y` means the same."""
    def __mod__(self, y: Any) -> Tensor: ...
    def __mul__(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """`x * y`, element by element."""
    def __ne__(self, y: Any) -> Any: ...  # type: ignore[override]
    def __neg__(self, name: str | None = None) -> Tensor:
        """Each element with the other sign; `-x` means the same."""
    def __nonzero__(self) -> builtins.bool: ...
    def __or__(self, y: Tensor | builtins.int, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """The bits that at least one of them has; of booleans, logical or. `x | y` means the same."""
    def __pos__(self, name: str | None = None) -> Tensor:
        """`+x`: the same tensor."""
    def __pow__(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x` to the power `y`, element by element."""
    def __radd__(self, other: Any) -> Tensor: ...
    def __rand__(self, y: Any) -> Tensor: ...
    def __rdiv__(self, other: Any) -> Tensor: ...
    def __rfloordiv__(self, other: Any) -> Tensor: ...
    def __rlshift__(self, y: Any, is_arithmetic: builtins.bool = True) -> Tensor: ...
    def __rmatmul__(self, other: Any) -> Tensor: ...
    def __rmod__(self, other: Any) -> Tensor: ...
    def __rmul__(self, other: Any) -> Tensor: ...
    def __ror__(self, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor: ...
    def __rpow__(self, other: Any) -> Tensor: ...
    def __rrshift__(self, y: Any, is_arithmetic: builtins.bool = True) -> Tensor: ...
    def __rshift__(self, y: Any, is_arithmetic: builtins.bool = True) -> Tensor: ...
    def __rsub__(self, other: Any) -> Tensor: ...
    def __rtruediv__(self, other: Any) -> Tensor: ...
    def __rxor__(self, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor: ...
    def __setitem__(self, item: Any, value: Any) -> None:
        """`x[item] = value`: in place, with gradients to what is left of `x` and to `value`."""
    def __sub__(self, y: Tensor | complex, name: str | None = None) -> Tensor: ...
    def __truediv__(self, y: Tensor | complex, name: str | None = None) -> Tensor: ...
    def __tvm_ffi_env_stream__(self) -> Any:
        """RuntimeError: XLA does not hand out its streams."""
    def __xor__(self, y: Tensor | builtins.int, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """The bits that exactly one of them has; of booleans, exclusive or. `x ^ y` means the same."""
    def _bump_inplace_version(self) -> None:
        """Counts a change that was made from outside."""
    def _clear(self) -> None:
        """Lets the memory go; the tensor has no elements then."""
    def _clear_data(self) -> None:
        """Lets the memory go; the tensor has no elements then."""
    def _copy_to(self, place: Any, blocking: builtins.bool = True) -> Tensor: ...
    def _grad_ivar(self) -> Tensor | None: ...
    def _grad_name(self) -> str: ...
    def _holder_size(self) -> builtins.int: ...
    def _inplace_version(self) -> builtins.int: ...
    def _is_initialized(self) -> builtins.bool: ...
    def _is_shared_buffer_with(self, other: Tensor) -> builtins.bool: ...
    def _is_unseen(self, others: builtins.int) -> builtins.bool:
        """Whether the value of a root is of no use: only views refer to it (`others` says how many do), and just one of"""
    @property
    def _local_shape(self) -> list[builtins.int]:
        """The shape of this process's part."""
    def _local_value(self) -> Tensor: ...
    def _md5sum(self) -> str:
        """The MD5 sum of the values, as bytes in memory."""
    @staticmethod
    def _new_shared_filename(*arguments: Any, **named: Any) -> Any:
        """Not there: (paddle.base.core.LoDTensor._new_shared_filename) this inner part of Paddle has no counterpart here: it belongs to Paddle's C++ core, which this package does not have; use the public API."""
    def _numel(self) -> builtins.int: ...
    def _offset(self) -> builtins.int: ...
    @property
    def _place_str(self) -> str: ...
    def _register_backward_hook(self, hook: Callable[[], Any]) -> RemovableHandle:
        """Calls `hook()` each time after a gradient was added to the `.grad` of this leaf."""
    def _repr_html_(self) -> str:
        """A line on the tensor and a small table of its values. Never raises: what cannot be read is said in words."""
    def _reset_grad_inplace_version(self, set_to_zero: builtins.bool = False) -> None:
        """Gradients have no history of changes."""
    def _share_buffer_to(self, other: Tensor) -> None:
        """The other tensor takes this one's value."""
    def _slice(self, begin_idx: builtins.int, end_idx: builtins.int) -> Tensor: ...
    def _to(self, device: Any = None, dtype: Any = None, blocking: Any = None) -> Tensor: ...
    def _unsafe_local_value(self) -> Tensor: ...
    def _unset_fake_empty(self) -> None:
        """Tensors without values know their shape."""
    def _use_gpudnn(self, use_gpudnn: builtins.bool = True) -> Tensor:
        """Which library computes is the compiler's choice."""
    def _zero_grads(self) -> None: ...
    def abs(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The absolute value of each element; of complex numbers, their modulus."""
    def abs_(self, name: str | None = None) -> Tensor:
        """As `abs`, in place: the tensor takes the result and is returned."""
    def acos(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The angle, in radians, whose cosine is `x`; NaN outside [-1, 1]."""
    def acos_(self, name: str | None = None) -> Tensor:
        """As `acos`, in place: the tensor takes the result and is returned."""
    def acosh(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The number, not below 0, whose hyperbolic cosine is `x`; NaN below 1."""
    def acosh_(self, name: str | None = None) -> Tensor:
        """As `acosh`, in place: the tensor takes the result and is returned."""
    def add(
        self, y: Tensor | complex, name: str | None = None, *, alpha: Number = 1, out: Tensor | None = None
    ) -> Tensor:
        """`x + alpha * y`, element by element."""
    def add_(self, y: Tensor | complex, name: str | None = None, *, alpha: Number = 1) -> Tensor:
        """As `add`, in place: the tensor takes the result and is returned."""
    def add_n(self, name: str | None = None) -> Tensor:
        """The sum of several tensors of one shape and type, element by element."""
    def addmm(
        self, x: Tensor, y: Tensor, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None
    ) -> Tensor:
        """`beta * input + alpha * (x @ y)` for matrices."""
    def addmm_(
        self, x: Tensor, y: Tensor, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None
    ) -> Tensor:
        """As `addmm`, in place: the tensor takes the result and is returned."""
    def all(
        self,
        axis: AxisLike | None = None,
        keepdim: builtins.bool = False,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Whether all elements over some axes are true, that is not zero."""
    def allclose(
        self,
        y: Tensor | complex,
        rtol: complex = 1e-05,
        atol: complex = 1e-08,
        equal_nan: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """Whether all elements are close, as `isclose` judges."""
    def amax(
        self,
        axis: AxisLike | None = None,
        keepdim: builtins.bool = False,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """The largest element over some axes; equal ones share the gradient."""
    def amin(
        self,
        axis: AxisLike | None = None,
        keepdim: builtins.bool = False,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """The smallest element over some axes; equal ones share the gradient."""
    def angle(self, name: str | None = None) -> Tensor:
        """The angle of complex numbers, from -pi to pi; of real ones, 0 or pi."""
    def any(
        self,
        axis: AxisLike | None = None,
        keepdim: builtins.bool = False,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Whether any element over some axes is true, that is not zero."""
    def apply(self, func: Callable[[Tensor], Any]) -> Tensor:
        """`func(x)`; the tensor itself where `func` gives None."""
    def apply_(self, func: Callable[[Tensor], Any]) -> Tensor:
        """Lets the tensor become `func(x)`, whatever its shape and type, and returns it."""
    def argmax(
        self,
        axis: AxisLike | None = None,
        keepdim: builtins.bool = False,
        dtype: DTypeLike = "int64",
        name: str | None = None,
    ) -> Tensor:
        """The position of the largest element along an axis."""
    def argmin(
        self,
        axis: AxisLike | None = None,
        keepdim: builtins.bool = False,
        dtype: DTypeLike = "int64",
        name: str | None = None,
    ) -> Tensor:
        """The position of the smallest element along an axis."""
    def argsort(
        self,
        axis: builtins.int = -1,
        descending: builtins.bool = False,
        stable: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """Positions that sort a tensor along an axis. Equal elements keep their order."""
    def argwhere(self) -> Tensor:
        """Positions of the elements that are not zero, one row each. It looks at the values."""
    def as_complex(self, name: str | None = None) -> Tensor:
        """Pairs in the last axis as complex numbers; the result shares memory with `x`."""
    def as_real(self, name: str | None = None) -> Tensor:
        """Complex numbers as pairs in a new last axis; the result shares memory with `x`."""
    def as_strided(
        self, shape: ShapeLike, stride: SizesLike, offset: builtins.int = 0, name: str | None = None
    ) -> Tensor:
        """A tensor with a shape and strides of one's own; the result shares memory with `x`."""
    def asin(self, name: str | None = None) -> Tensor:
        """The angle, in radians, whose sine is `x`; NaN outside [-1, 1]."""
    def asin_(self, name: str | None = None) -> Tensor:
        """As `asin`, in place: the tensor takes the result and is returned."""
    def asinh(self, name: str | None = None) -> Tensor:
        """The number whose hyperbolic sine is `x`."""
    def asinh_(self, name: str | None = None) -> Tensor:
        """As `asinh`, in place: the tensor takes the result and is returned."""
    def astype(self, dtype: DTypeLike | None) -> Tensor:
        """The numbers in another type; the tensor itself if it has that type already."""
    def atan(self, name: str | None = None) -> Tensor:
        """The angle, in radians between -pi/2 and pi/2, whose tangent is `x`."""
    def atan2(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """The angle in radians, between -pi and pi, of the point whose ordinate is `x` and whose abscissa is `y`."""
    def atan_(self, name: str | None = None) -> Tensor:
        """As `atan`, in place: the tensor takes the result and is returned."""
    def atanh(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The number whose hyperbolic tangent is `x`; NaN outside [-1, 1], infinite at the ends."""
    def atanh_(self, name: str | None = None) -> Tensor:
        """As `atanh`, in place: the tensor takes the result and is returned."""
    def atleast_1d(self, *inputs: Any, name: str | None = None) -> Any:
        """Tensors with one axis at least."""
    def atleast_2d(self, *inputs: Any, name: str | None = None) -> Any:
        """Tensors with two axes at least; new ones are in front."""
    def atleast_3d(self, *inputs: Any, name: str | None = None) -> Any:
        """Tensors with three axes at least: [n] becomes [1, n, 1], [m, n] becomes [m, n, 1]."""
    def backward(
        self,
        grad_tensor: Tensor | None = None,
        retain_graph: builtins.bool = False,
        *,
        dump_backward_graph_path: str | None = None,
    ) -> None:
        """Adds the gradients of this tensor to the `.grad` of the leaves that it was computed from."""
    def baddbmm(
        self, x: Tensor, y: Tensor, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None
    ) -> Tensor:
        """`beta * input + alpha * (x @ y)` for batches of matrices."""
    def baddbmm_(
        self, x: Tensor, y: Tensor, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None
    ) -> Tensor:
        """As `baddbmm`, in place: the tensor takes the result and is returned."""
    def bernoulli_(self, p: Number = 0.5, name: str | None = None) -> Tensor:
        """Fills `x` with ones, each with probability `p`, and zeros, and returns it."""
    def bfloat16(self) -> Tensor:
        """The numbers as bfloat16; the tensor itself if they are that already."""
    def bincount(
        self, weights: Tensor | None = None, minlength: builtins.int | Tensor = 0, name: str | None = None
    ) -> Tensor:
        """How often each of the numbers 0, 1, 2 … occurs in a vector."""
    def bitwise_and(self, y: Tensor | builtins.int, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """The bits that both have; of booleans, logical and. `x & y` means the same."""
    def bitwise_and_(self, y: Tensor | builtins.int, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """As `bitwise_and`, in place: the tensor takes the result and is returned."""
    def bitwise_invert(self, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """All bits turned; of booleans, logical not. `~x` means the same."""
    def bitwise_invert_(self, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """As `bitwise_invert`, in place: the tensor takes the result and is returned."""
    def bitwise_left_shift(
        self,
        y: Tensor | builtins.int,
        is_arithmetic: builtins.bool = True,
        out: Tensor | None = None,
        name: str | None = None,
    ) -> Tensor:
        """`x << y`; 0 where `y` is negative or as large as the number of bits."""
    def bitwise_left_shift_(
        self,
        y: Tensor | builtins.int,
        is_arithmetic: builtins.bool = True,
        out: Tensor | None = None,
        name: str | None = None,
    ) -> Tensor:
        """As `bitwise_left_shift`, in place: the tensor takes the result and is returned."""
    def bitwise_not(self, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """All bits turned; of booleans, logical not. `~x` means the same."""
    def bitwise_not_(self, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """As `bitwise_not`, in place: the tensor takes the result and is returned."""
    def bitwise_or(self, y: Tensor | builtins.int, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """The bits that at least one of them has; of booleans, logical or. `x | y` means the same."""
    def bitwise_or_(self, y: Tensor | builtins.int, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """As `bitwise_or`, in place: the tensor takes the result and is returned."""
    def bitwise_right_shift(
        self,
        y: Tensor | builtins.int,
        is_arithmetic: builtins.bool = True,
        out: Tensor | None = None,
        name: str | None = None,
    ) -> Tensor:
        """`x >> y`, filled with the sign, or with zeros."""
    def bitwise_right_shift_(
        self,
        y: Tensor | builtins.int,
        is_arithmetic: builtins.bool = True,
        out: Tensor | None = None,
        name: str | None = None,
    ) -> Tensor:
        """As `bitwise_right_shift`, in place: the tensor takes the result and is returned."""
    def bitwise_xor(self, y: Tensor | builtins.int, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """The bits that exactly one of them has; of booleans, exclusive or. `x ^ y` means the same."""
    def bitwise_xor_(self, y: Tensor | builtins.int, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """As `bitwise_xor`, in place: the tensor takes the result and is returned."""
    @property
    def block(self) -> Any:
        """The block of a program that the tensor belongs to; of a tensor of eager code, the one that would take it."""
    def block_diag(self, name: str | None = None) -> Tensor:
        """One matrix with the given ones along its diagonal."""
    def bmm(self, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Products of two batches of matrices, one by one; nothing is broadcast."""
    def bool(self) -> Tensor:
        """The numbers as bool; the tensor itself if they are that already."""
    def broadcast_shape(self, y_shape: Sequence[builtins.int]) -> list[builtins.int]:
        """The shape that two shapes broadcast to."""
    def broadcast_shapes(self, *shapes: Any) -> list[builtins.int]:
        """The shape that any number of shapes broadcast to."""
    def broadcast_tensors(self, name: str | None = None) -> list[Tensor]:
        """Tensors expanded to their common shape."""
    def broadcast_to(self, shape: ShapeLike, name: str | None = None) -> Tensor:
        """A tensor repeated to a shape; see `expand`."""
    def bucketize(
        self,
        sorted_sequence: Tensor,
        out_int32: builtins.bool = False,
        right: builtins.bool = False,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """The number of the interval between sorted boundaries that each element is in."""
    def byte(self) -> Tensor:
        """The numbers as uint8; the tensor itself if they are that already."""
    def cast(self, dtype: DTypeLike | None) -> Tensor:
        """A new tensor with the numbers of `x` in another type."""
    def cast_(self, dtype: DTypeLike | None) -> Tensor:
        """As `cast`, in place: the tensor takes the result and is returned."""
    def cauchy_(self, loc: Number = 0, scale: Number = 1, name: str | None = None) -> Tensor:
        """Fills `x` with numbers from a Cauchy distribution and returns it."""
    def cdist(
        self,
        y: Tensor,
        p: builtins.float = 2.0,
        compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
        name: str | None = None,
    ) -> Tensor:
        """The distances of every row of `x` from every row of `y`."""
    def cdouble(self) -> Tensor:
        """The numbers as complex128; the tensor itself if they are that already."""
    def ceil(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Each element rounded up to a whole number."""
    def ceil_(self, name: str | None = None) -> Tensor:
        """As `ceil`, in place: the tensor takes the result and is returned."""
    def cfloat(self) -> Tensor:
        """The numbers as complex64; the tensor itself if they are that already."""
    def char(self) -> Tensor:
        """The numbers as int8; the tensor itself if they are that already."""
    def cholesky(self, upper: builtins.bool = False, name: str | None = None) -> Tensor:
        """The triangular factor of positive definite matrices: `x = L L^H`."""
    def cholesky_inverse(self, upper: builtins.bool = False, name: str | None = None) -> Tensor:
        """The inverse of a matrix, given the factor that `cholesky` makes of it."""
    def cholesky_solve(self, y: Tensor, upper: builtins.bool = False, name: str | None = None) -> Tensor:
        """The solution of `A z = x`, given the factor of `A` that `cholesky` makes."""
    def chunk(self, chunks: builtins.int, axis: AxisLike = 0, name: str | None = None) -> list[Tensor]:
        """A tensor cut along an axis into equal parts."""
    def clamp(
        self,
        min: Number | None = None,
        max: Number | None = None,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Every element moved into the range from `min` to `max`."""
    def clamp_(self, min: Number | None = None, max: Number | None = None, name: str | None = None) -> Tensor:
        """As `paddle.clip`, in place: `x` takes the result, in its own type, and is returned."""
    def clip(
        self,
        min: Number | None = None,
        max: Number | None = None,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Every element moved into the range from `min` to `max`."""
    def clip_(self, min: Number | None = None, max: Number | None = None, name: str | None = None) -> Tensor:
        """As `paddle.clip`, in place: `x` takes the result, in its own type, and is returned."""
    def clone(self, name: str | None = None) -> Tensor:
        """A copy of `x` through which its gradient flows back."""
    def coalesce(self, name: str | None = None) -> Tensor:
        """The elements in order, those at the same position added up."""
    def cols(self) -> Any:
        """Of a sparse CSR tensor only; see `paddle.sparse`."""
    def combinations(
        self, r: builtins.int = 2, with_replacement: builtins.bool = False, name: str | None = None
    ) -> Tensor:
        """Every way of taking some elements of a vector, in their order, a row for each."""
    def complex128(self) -> Tensor:
        """The numbers as complex128; the tensor itself if they are that already."""
    def complex64(self) -> Tensor:
        """The numbers as complex64; the tensor itself if they are that already."""
    def concat(self, axis: AxisLike = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tensors joined along an existing axis."""
    def cond(self, p: builtins.float | str | None = None, name: str | None = None) -> Tensor:
        """The condition number: the norm of matrices times the norm of their inverses."""
    def conj(self, name: str | None = None) -> Tensor:
        """The complex conjugate of each element; real numbers stay as they are."""
    def contiguous(self) -> Tensor:
        """The tensor itself; where its elements did not lie one after the other, it has a memory of its own from now on."""
    def copy_(self, other: TensorLike, blocking: builtins.bool = True) -> Tensor:
        """Copies the numbers of another tensor and returns the tensor. Neither its history nor its version changes."""
    def copysign(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """The magnitude of `x` with the sign of `y`; a zero has a sign as well."""
    def copysign_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `copysign`, in place: the tensor takes the result and is returned."""
    def corrcoef(self, rowvar: builtins.bool = True, name: str | None = None) -> Tensor:
        """The correlations of variables: their covariances divided by their deviations."""
    def cos(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The cosine of each element, in radians."""
    def cos_(self, name: str | None = None) -> Tensor:
        """As `cos`, in place: the tensor takes the result and is returned."""
    def cosh(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The hyperbolic cosine of each element."""
    def cosh_(self, name: str | None = None) -> Tensor:
        """As `cosh`, in place: the tensor takes the result and is returned."""
    def count_nonzero(
        self, axis: AxisLike | None = None, keepdim: builtins.bool = False, name: str | None = None
    ) -> Tensor:
        """How many elements over some axes are not zero."""
    def cov(
        self,
        rowvar: builtins.bool = True,
        ddof: builtins.bool = True,
        fweights: Tensor | None = None,
        aweights: Tensor | None = None,
        name: str | None = None,
    ) -> Tensor:
        """The covariances of variables over observations."""
    def cpu(self) -> Tensor:
        """The tensor in the memory of the host; itself if it is there."""
    @staticmethod
    def create_parameter(
        shape: ShapeLike,
        dtype: DTypeLike | None,
        name: str | None = None,
        attr: Any = None,
        is_bias: builtins.bool = False,
        default_initializer: Initializer | None = None,
    ) -> Any:
        """A new parameter; the same as `paddle.create_parameter`."""
    @staticmethod
    def create_tensor(dtype: DTypeLike | None, name: str | None = None, persistable: builtins.bool = False) -> Tensor:
        """A tensor of a type without elements, to be filled later."""
    def cross(self, y: Tensor, axis: builtins.int = 9, name: str | None = None) -> Tensor:
        """The vector product along an axis of three elements."""
    def crows(self) -> Any:
        """Of a sparse CSR tensor only; see `paddle.sparse`."""
    def cuda(self, device_id: builtins.int | None = None, blocking: builtins.bool = True) -> Tensor:
        """The tensor on a GPU."""
    def cummax(
        self, axis: AxisLike | None = None, dtype: DTypeLike = "int64", name: str | None = None
    ) -> tuple[Tensor, Tensor]:
        """The largest element so far along an axis, and its position."""
    def cummin(
        self, axis: AxisLike | None = None, dtype: DTypeLike = "int64", name: str | None = None
    ) -> tuple[Tensor, Tensor]:
        """The smallest element so far along an axis, and its position."""
    def cumprod(
        self,
        dim: builtins.int | None = None,
        *,
        dtype: DTypeLike | None = None,
        out: Tensor | None = None,
        name: str | None = None,
    ) -> Tensor:
        """Running products along an axis."""
    def cumprod_(self, dim: AxisLike | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """As `paddle.cumprod`, in place: `x` takes the result and is returned."""
    def cumsum(
        self,
        axis: builtins.int | None = None,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Running sums along an axis. Booleans and integers give int64."""
    def cumsum_(
        self, axis: builtins.int | None = None, dtype: DTypeLike | None = None, name: str | None = None
    ) -> Tensor:
        """As `paddle.cumsum`, in place: `x` takes the result and is returned. Numbers keep their type unless another is named."""
    def cumulative_trapezoid(
        self, x: Tensor | None = None, dx: Number | None = None, axis: builtins.int = -1, name: str | None = None
    ) -> Tensor:
        """The area under the polygon through `y`, up to each point but the first."""
    @property
    def data(self) -> Tensor:
        """The value outside the graph, as `detach()` gives it; setting it gives the tensor other numbers."""
    @data.setter
    def data(self, value: Any) -> None: ...
    def data_ptr(self) -> builtins.int:
        """The address of the value: of a host array, or of the buffer on a device."""
    def deg2rad(self, name: str | None = None) -> Tensor:
        """Angles in degrees as radians; integers give the default floating type."""
    def dense_dim(self) -> builtins.int:
        """How many dimensions are dense."""
    def detach(self) -> Tensor:
        """The same value outside the graph: no gradient is wanted for it, and the memory is shared."""
    def detach_(self) -> Tensor:
        """Takes the tensor itself out of the graph and returns it."""
    @property
    def device(self) -> Device:
        """Where the tensor lies, as PyTorch names it."""
    def diag(self, offset: builtins.int = 0, padding_value: builtins.float = 0, name: str | None = None) -> Tensor:
        """A matrix with a vector on a diagonal; of a matrix, its diagonal."""
    def diag_embed(self, offset: builtins.int = 0, dim1: builtins.int = -2, dim2: builtins.int = -1) -> Tensor:
        """Matrices with the last axis of `input` on a diagonal, and zeros elsewhere."""
    def diagflat(self, offset: builtins.int = 0, name: str | None = None) -> Tensor:
        """A square matrix with all elements of `x` on a diagonal, and zeros elsewhere."""
    def diagonal(
        self, offset: builtins.int = 0, axis1: builtins.int = 0, axis2: builtins.int = 1, name: str | None = None
    ) -> Tensor:
        """The diagonal of the matrices that two axes span, as the last axis; it shares memory with `x`."""
    def diagonal_scatter(
        self,
        y: Tensor,
        offset: builtins.int = 0,
        axis1: builtins.int = 0,
        axis2: builtins.int = 1,
        name: str | None = None,
    ) -> Tensor:
        """`x` with `y` on a diagonal of the matrices that two axes span."""
    def diff(
        self,
        n: builtins.int = 1,
        axis: builtins.int = -1,
        prepend: Tensor | None = None,
        append: Tensor | None = None,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Differences of neighbours along an axis; of booleans, whether they differ."""
    def digamma(self, name: str | None = None) -> Tensor:
        """The derivative of `lgamma`, element by element; NaN at negative integers."""
    def digamma_(self, name: str | None = None) -> Tensor:
        """As `digamma`, in place: the tensor takes the result and is returned."""
    def dist(self, y: Tensor, p: builtins.float = 2, name: str | None = None) -> Tensor:
        """The `p`-norm of `x - y`."""
    def div(
        self,
        y: Tensor | complex,
        name: str | None = None,
        *,
        rounding_mode: str | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """`x / y`, element by element."""
    def div_(self, y: Tensor | complex, name: str | None = None, *, rounding_mode: str | None = None) -> Tensor:
        """As `div`, in place: the tensor takes the result and is returned."""
    def divide(
        self,
        y: Tensor | complex,
        name: str | None = None,
        *,
        rounding_mode: str | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """`x / y`, element by element."""
    def divide_(self, y: Tensor | complex, name: str | None = None, *, rounding_mode: str | None = None) -> Tensor:
        """As `divide`, in place: the tensor takes the result and is returned."""
    def dot(self, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The sum of the products of two vectors, or of each row of two matrices."""
    def double(self) -> Tensor:
        """The numbers as float64; the tensor itself if they are that already."""
    def dsplit(self, num_or_indices: AxisLike, name: str | None = None) -> list[Tensor]:
        """A tensor cut along the third axis; see `tensor_split`."""
    def eig(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Eigenvalues and eigenvectors of square matrices."""
    def eigvals(self, name: str | None = None) -> Tensor:
        """Eigenvalues of square matrices."""
    def eigvalsh(self, UPLO: str = "L", name: str | None = None) -> Tensor:
        """Eigenvalues, rising, of symmetric or Hermitian matrices."""
    def elu_(self, alpha: builtins.float = 1.0, name: str | None = None) -> Tensor:
        """As `elu`, in place: the tensor takes the result and is returned."""
    def empty_like(
        self,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        *,
        device: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """A tensor like `x` whose numbers mean nothing yet."""
    def eq(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether `x == y`, element by element."""
    def equal(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether `x == y`, element by element."""
    def equal_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `equal`, in place: the tensor takes the result and is returned."""
    def equal_all(self, y: Tensor, name: str | None = None) -> Tensor:
        """Whether two tensors have the same shape and the same elements."""
    def erf(self, name: str | None = None) -> Tensor:
        """The error function of each element, between -1 and 1."""
    def erf_(self, name: str | None = None) -> Tensor:
        """As `erf`, in place: the tensor takes the result and is returned."""
    def erfinv(self, name: str | None = None) -> Tensor:
        """The number whose error function is `x`; NaN outside [-1, 1], infinite at the ends."""
    def erfinv_(self, name: str | None = None) -> Tensor:
        """As `erfinv`, in place: the tensor takes the result and is returned."""
    def exp(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """e to the power of each element."""
    def exp_(self, name: str | None = None) -> Tensor:
        """As `exp`, in place: the tensor takes the result and is returned."""
    def expand(self, shape: ShapeLike, name: str | None = None) -> Tensor:
        """A tensor repeated along axes of one element, and along new ones in front."""
    def expand_as(self, y: Tensor, name: str | None = None) -> Tensor:
        """A tensor repeated to the shape of another."""
    def expm1(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`exp(x) - 1`, exact near 0 as well."""
    def expm1_(self, name: str | None = None) -> Tensor:
        """As `expm1`, in place: the tensor takes the result and is returned."""
    def exponential_(self, lam: Number = 1.0, name: str | None = None) -> Tensor:
        """Fills `x` with numbers from an exponential distribution and returns it."""
    def fill_(self, value: Number) -> Tensor:
        """Sets every element to a number and returns the tensor."""
    def fill_diagonal_(
        self, value: Number, offset: builtins.int = 0, wrap: builtins.bool = False, name: str | None = None
    ) -> Tensor:
        """Puts a number on a diagonal and returns the tensor."""
    def fill_diagonal_tensor(
        self,
        y: Tensor,
        offset: builtins.int = 0,
        dim1: builtins.int = 0,
        dim2: builtins.int = 1,
        name: str | None = None,
    ) -> Tensor:
        """The tensor with `y` on a diagonal of the matrices that two axes span."""
    def fill_diagonal_tensor_(
        self,
        y: Tensor,
        offset: builtins.int = 0,
        dim1: builtins.int = 0,
        dim2: builtins.int = 1,
        name: str | None = None,
    ) -> Tensor:
        """As `fill_diagonal_tensor`, in place: the tensor takes the result and is returned."""
    def flatten(self, start_axis: builtins.int = 0, stop_axis: builtins.int = -1, name: str | None = None) -> Tensor:
        """A tensor with some neighbouring axes merged into one; the result shares memory with `x`."""
    def flatten_(self, start_axis: builtins.int = 0, stop_axis: builtins.int = -1, name: str | None = None) -> Tensor:
        """As `paddle.flatten`, in place: `x` itself gets the other shape and is returned."""
    def flip(self, axis: AxisLike | None, name: str | None = None) -> Tensor:
        """A tensor with the order of elements along some axes reversed."""
    def float(self) -> Tensor:
        """The numbers as float32; the tensor itself if they are that already."""
    def float16(self) -> Tensor:
        """The numbers as float16; the tensor itself if they are that already."""
    def float32(self) -> Tensor:
        """The numbers as float32; the tensor itself if they are that already."""
    def float64(self) -> Tensor:
        """The numbers as float64; the tensor itself if they are that already."""
    def floor(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Each element rounded down to a whole number."""
    def floor_(self, name: str | None = None) -> Tensor:
        """As `floor`, in place: the tensor takes the result and is returned."""
    def floor_divide(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The quotient rounded down."""
    def floor_divide_(self, y: TensorLike) -> Tensor:
        """As `floor_divide`, in place: the tensor takes the result and is returned."""
    def floor_mod(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """What a division that rounds down leaves; it has the sign of `y`."""
    def floor_mod_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `floor_mod`, in place: the tensor takes the result and is returned."""
    def fmax(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """The larger of each pair, or the one that is not NaN. At ties the gradient goes to `x`."""
    def fmin(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """The smaller of each pair, or the one that is not NaN. At ties the gradient goes to `x`."""
    def frac(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """What stands behind the point, with the sign of `x`."""
    def frac_(self, name: str | None = None) -> Tensor:
        """As `frac`, in place: the tensor takes the result and is returned."""
    def frexp(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Mantissa and exponent of each element, so that `x = mantissa * 2 ** exponent`."""
    def full_like(
        self,
        fill_value: Number | complex | builtins.bool,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        *,
        device: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """A tensor of the shape of `x`, filled with one number."""
    def gammainc(self, y: Tensor, name: str | None = None) -> Tensor:
        """The regularised lower incomplete gamma function; it can be differentiated in `y`."""
    def gammainc_(self, y: Tensor, name: str | None = None) -> Tensor:
        """As `gammainc`, in place: the tensor takes the result and is returned."""
    def gammaincc(self, y: Tensor, name: str | None = None) -> Tensor:
        """The regularised upper incomplete gamma function, `1 - gammainc(x, y)`; it can be differentiated in `y`."""
    def gammaincc_(self, y: Tensor, name: str | None = None) -> Tensor:
        """As `gammaincc`, in place: the tensor takes the result and is returned."""
    def gammaln(self, name: str | None = None) -> Tensor:
        """The logarithm of the absolute value of the gamma function; infinite at its poles."""
    def gammaln_(self, name: str | None = None) -> Tensor:
        """As `gammaln`, in place: the tensor takes the result and is returned."""
    def gather(
        self, index: Tensor, axis: AxisLike | None = None, name: str | None = None, out: Tensor | None = None
    ) -> Tensor:
        """The slices of a tensor along an axis that `index` names."""
    def gather_nd(self, index: Tensor, name: str | None = None) -> Tensor:
        """The elements, or slices, at several positions: `x[index[..., 0], index[..., 1], …]`."""
    def gcd(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """The greatest common divisor of each pair of integers; of two zeros, 0."""
    def gcd_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `gcd`, in place: the tensor takes the result and is returned."""
    def ge(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether `x >= y`, element by element."""
    def geometric_(self, probs: Number, name: str | None = None) -> Tensor:
        """Fills `x` with the numbers of trials up to the first success (1, 2, …) and returns it."""
    def get_device(self) -> builtins.int:
        """The number of the tensor's device; -1 on the CPU."""
    def get_map_tensor(self) -> Any:
        """Raises RuntimeError: only a vocabulary has this."""
    def get_selected_rows(self) -> None:
        """The selected rows behind the tensor: None, it is dense."""
    def get_strides(self) -> list[builtins.int]:
        """How many elements lie between neighbours along each axis."""
    def get_tensor(self) -> Tensor:
        """The tensor itself."""
    @property
    def grad_(self) -> Tensor | None:
        """The gradient; see `grad`."""
    @grad_.setter
    def grad_(self, value: Any) -> None: ...
    def greater(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether `x > y`, element by element."""
    def greater_equal(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether `x >= y`, element by element."""
    def greater_equal_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `greater_equal`, in place: the tensor takes the result and is returned."""
    def greater_than(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether `x > y`, element by element."""
    def greater_than_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `greater_than`, in place: the tensor takes the result and is returned."""
    def gt(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether `x > y`, element by element."""
    def half(self) -> Tensor:
        """The numbers as float16; the tensor itself if they are that already."""
    def hardtanh_(self, min: builtins.float = -1.0, max: builtins.float = 1.0, name: str | None = None) -> Tensor:
        """As `hardtanh`, in place: the tensor takes the result and is returned."""
    def heaviside(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """The step function: 0 for negative `x`, 1 for positive, `y` at zero. NaN is not positive, so it gives 0."""
    def histogram(
        self,
        bins: builtins.int | Tensor = 100,
        min: Number = 0.0,
        max: Number = 0.0,
        weight: Tensor | None = None,
        density: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """How many elements lie in each of a number of equal intervals."""
    def histogram_bin_edges(
        self, bins: builtins.int | Tensor = 100, min: Number = 0.0, max: Number = 0.0, name: str | None = None
    ) -> Tensor:
        """The edges of equal intervals."""
    def histogramdd(
        self,
        bins: builtins.int | Sequence[builtins.int] | Sequence[Tensor] = 10,
        ranges: Sequence[builtins.float] | None = None,
        density: builtins.bool = False,
        weights: Tensor | None = None,
        name: str | None = None,
    ) -> tuple[Tensor, list[Tensor]]:
        """Counts of points in a grid, and the edges of the grid."""
    def householder_product(self, tau: Tensor, name: str | None = None) -> Tensor:
        """The first columns of a product of reflections `H1 H2 … Hk`."""
    def hsplit(self, num_or_indices: AxisLike, name: str | None = None) -> list[Tensor]:
        """A tensor cut along the second axis, or the first if it has one only; see `tensor_split`."""
    def hypot(self, y: Tensor, name: str | None = None) -> Tensor:
        """The length of the hypotenuse, `sqrt(x * x + y * y)`, without overflow on the way."""
    def hypot_(self, y: Tensor, name: str | None = None) -> Tensor:
        """As `hypot`, in place: the tensor takes the result and is returned."""
    def i0(self, name: str | None = None) -> Tensor:
        """The modified Bessel function of the first kind of order 0."""
    def i0_(self, name: str | None = None) -> Tensor:
        """As `i0`, in place: the tensor takes the result and is returned."""
    def i0e(self, name: str | None = None) -> Tensor:
        """`exp(-|x|) * i0(x)`, which does not overflow."""
    def i1(self, name: str | None = None) -> Tensor:
        """The modified Bessel function of the first kind of order 1."""
    def i1e(self, name: str | None = None) -> Tensor:
        """`exp(-|x|) * i1(x)`, which does not overflow."""
    def imag(self, name: str | None = None) -> Tensor:
        """The imaginary part of complex numbers; it shares memory with `x`."""
    def increment(self, value: builtins.float = 1.0, name: str | None = None) -> Tensor:
        """Adds a number to the one element of `x`, in place."""
    def index_add(
        self,
        index: Tensor,
        axis: AxisLike | None,
        value: Tensor,
        alpha: Number = 1,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """A tensor with slices added where `index` says."""
    def index_add_(
        self, index: Tensor, axis: AxisLike | None, value: Tensor, alpha: Number = 1, name: str | None = None
    ) -> Tensor:
        """As `index_add`, in place: the tensor takes the result and is returned."""
    def index_fill(self, index: Tensor, axis: AxisLike | None, value: Number, name: str | None = None) -> Tensor:
        """A tensor with one number in the slices that `index` names."""
    def index_fill_(self, index: Tensor, axis: AxisLike | None, value: Number, name: str | None = None) -> Tensor:
        """As `index_fill`, in place: the tensor takes the result and is returned."""
    def index_put(
        self, indices: Any, value: Tensor, accumulate: builtins.bool = False, name: str | None = None
    ) -> Tensor:
        """A tensor with values at `x[indices]`."""
    def index_put_(
        self, indices: Any, value: Tensor, accumulate: builtins.bool = False, name: str | None = None
    ) -> Tensor:
        """As `index_put`, in place: the tensor takes the result and is returned."""
    def index_sample(self, index: Tensor) -> Tensor:
        """For each row of `x`, the elements that the same row of `index` names."""
    def index_select(
        self, index: Tensor, axis: AxisLike = 0, name: str | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """The slices of a tensor along an axis that a vector of integers names."""
    def indices(self) -> Any:
        """Of a sparse COO tensor only; see `paddle.sparse`."""
    def inner(self, y: Tensor, name: str | None = None) -> Tensor:
        """Products summed over the last axis of both; an operand without axes scales the other."""
    def int(self) -> Tensor:
        """The numbers as int32; the tensor itself if they are that already."""
    def int16(self) -> Tensor:
        """The numbers as int16; the tensor itself if they are that already."""
    def int32(self) -> Tensor:
        """The numbers as int32; the tensor itself if they are that already."""
    def int64(self) -> Tensor:
        """The numbers as int64; the tensor itself if they are that already."""
    def int8(self) -> Tensor:
        """The numbers as int8; the tensor itself if they are that already."""
    def inverse(self, name: str | None = None) -> Tensor:
        """The inverse of square matrices."""
    def is_coalesced(self) -> Any:
        """Of a sparse COO tensor only; see `paddle.sparse`."""
    def is_complex(self) -> builtins.bool:
        """Whether a tensor has a complex type."""
    def is_contiguous(self) -> builtins.bool:
        """Whether the elements lie one after the other in memory, as Paddle has it: not so for most slices and transposes."""
    is_data: builtins.bool
    def is_dist(self) -> builtins.bool:
        """Whether the tensor lies on a mesh of devices. What is computed from such tensors does, too."""
    def is_empty(self, name: str | None = None) -> Tensor:
        """Whether a tensor has no elements, as a bool tensor."""
    def is_floating_point(self) -> builtins.bool:
        """Whether a tensor has a floating type."""
    def is_integer(self) -> builtins.bool:
        """Whether a tensor has an integer type; bool is none."""
    def is_same(self, other: Tensor) -> builtins.bool:
        """Whether two names stand for one tensor."""
    def is_same_shape(self, y: Tensor) -> builtins.bool:
        """Whether two tensors, sparse or dense, have the same shape."""
    def is_sparse_coo(self) -> builtins.bool:
        """Whether the tensor is a sparse one in coordinate form."""
    def is_sparse_csr(self) -> builtins.bool:
        """Whether the tensor is a sparse one in compressed rows."""
    def is_tensor(self) -> builtins.bool:
        """Whether `x` is a Tensor."""
    def isclose(
        self,
        y: Tensor | complex,
        rtol: complex = 1e-05,
        atol: complex = 1e-08,
        equal_nan: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """Whether `|x - y| <= atol + rtol * |y|`, element by element."""
    def isfinite(self, name: str | None = None) -> Tensor:
        """Whether each element is neither NaN nor infinite."""
    def isin(
        self,
        test_x: Tensor,
        assume_unique: builtins.bool = False,
        invert: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """Whether each element of `x` is among the elements of `test_x`."""
    def isinf(self, name: str | None = None) -> Tensor:
        """Whether each element is plus or minus infinity."""
    def isnan(self, name: str | None = None) -> Tensor:
        """Whether each element is NaN."""
    def isneginf(self, name: str | None = None) -> Tensor:
        """Whether each element is minus infinity."""
    def isposinf(self, name: str | None = None) -> Tensor:
        """Whether each element is plus infinity."""
    def isreal(self, name: str | None = None) -> Tensor:
        """Whether each element has no imaginary part; true for all real numbers."""
    def istft(
        self,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: Tensor | None = None,
        center: builtins.bool = True,
        normalized: builtins.bool = False,
        onesided: builtins.bool = True,
        length: builtins.int | None = None,
        return_complex: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """The signal whose `stft` is (closest to) `x`."""
    def kron(self, y: Tensor, name: str | None = None) -> Tensor:
        """The Kronecker product: every element of `x` times all of `y`, as blocks."""
    def kthvalue(
        self, k: builtins.int, axis: AxisLike | None = None, keepdim: builtins.bool = False, name: str | None = None
    ) -> tuple[Tensor, Tensor]:
        """The `k`-th smallest element along an axis, and its position."""
    @property
    def layout(self) -> str:
        """Paddle's name for the order of dimensions in memory; the same for every tensor, sparse ones too."""
    def lcm(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """The least common multiple of each pair of integers; 0 where one of them is 0."""
    def lcm_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `lcm`, in place: the tensor takes the result and is returned."""
    def ldexp(self, y: Tensor, name: str | None = None) -> Tensor:
        """`x * 2 ** y`, element by element."""
    def ldexp_(self, y: Tensor, name: str | None = None) -> Tensor:
        """As `ldexp`, in place: the tensor takes the result and is returned."""
    def le(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether `x <= y`, element by element."""
    def leaky_relu_(self, negative_slope: builtins.float = 0.01, name: str | None = None) -> Tensor:
        """As `leaky_relu`, in place: the tensor takes the result and is returned."""
    def lerp(self, y: Tensor, weight: Number, name: str | None = None) -> Tensor:
        """Between `x` (weight 0) and `y` (weight 1): `x + weight * (y - x)`."""
    def lerp_(self, y: Tensor, weight: Number, name: str | None = None) -> Tensor:
        """As `lerp`, in place: the tensor takes the result and is returned."""
    def less(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether `x < y`, element by element."""
    def less_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `less`, in place: the tensor takes the result and is returned."""
    def less_equal(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether `x <= y`, element by element."""
    def less_equal_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `less_equal`, in place: the tensor takes the result and is returned."""
    def less_than(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether `x < y`, element by element."""
    def less_than_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `less_than`, in place: the tensor takes the result and is returned."""
    def lgamma(self, name: str | None = None) -> Tensor:
        """The logarithm of the absolute value of the gamma function; infinite at its poles."""
    def lgamma_(self, name: str | None = None) -> Tensor:
        """As `lgamma`, in place: the tensor takes the result and is returned."""
    lod_level: builtins.int
    def log(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The natural logarithm of each element; NaN for negative numbers, minus infinity at 0."""
    def log10(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The logarithm to base 10; NaN for negative numbers."""
    def log10_(self, name: str | None = None) -> Tensor:
        """As `log10`, in place: the tensor takes the result and is returned."""
    def log1p(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`log(1 + x)`, exact near 0 as well; NaN below -1."""
    def log1p_(self, name: str | None = None) -> Tensor:
        """As `log1p`, in place: the tensor takes the result and is returned."""
    def log2(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The logarithm to base 2; NaN for negative numbers."""
    def log2_(self, name: str | None = None) -> Tensor:
        """As `log2`, in place: the tensor takes the result and is returned."""
    def log_(self, name: str | None = None) -> Tensor:
        """As `log`, in place: the tensor takes the result and is returned."""
    def log_normal_(self, mean: Number = 1.0, std: Number = 2.0, name: str | None = None) -> Tensor:
        """Fills `x` with numbers whose logarithm has a normal distribution and returns it."""
    def logaddexp(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """`log(exp(x) + exp(y))`, without overflow."""
    def logcumsumexp(
        self, axis: AxisLike | None = None, dtype: DTypeLike | None = None, name: str | None = None
    ) -> Tensor:
        """The logarithm of the running sums of `exp(x)` along an axis, without overflow."""
    def logical_and(self, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether both are true, that is not zero, element by element."""
    def logical_and_(self, y: Tensor, name: str | None = None) -> Tensor:
        """As `logical_and`, in place: the tensor takes the result and is returned."""
    def logical_not(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether each element is not true, that is zero."""
    def logical_not_(self, name: str | None = None) -> Tensor:
        """As `logical_not`, in place: the tensor takes the result and is returned."""
    def logical_or(self, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether at least one of them is true, that is not zero, element by element."""
    def logical_or_(self, y: Tensor, name: str | None = None) -> Tensor:
        """As `logical_or`, in place: the tensor takes the result and is returned."""
    def logical_xor(self, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether exactly one of them is true, that is not zero, element by element."""
    def logical_xor_(self, y: Tensor, name: str | None = None) -> Tensor:
        """As `logical_xor`, in place: the tensor takes the result and is returned."""
    def logit(self, eps: builtins.float | None = None, name: str | None = None) -> Tensor:
        """`log(x / (1 - x))`, the inverse of `sigmoid`; NaN outside [0, 1]."""
    def logit_(self, eps: builtins.float | None = None, name: str | None = None) -> Tensor:
        """As `logit`, in place: the tensor takes the result and is returned."""
    def logsumexp(
        self, axis: Any = None, keepdim: builtins.bool = False, name: str | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """`log(sum(exp(x)))` over some axes, without overflow."""
    def long(self) -> Tensor:
        """The numbers as int64; the tensor itself if they are that already."""
    def lstsq(
        self, y: Tensor, rcond: builtins.float | None = None, driver: str | None = None, name: str | None = None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The shortest `z` with the least `|x z - y|`."""
    def lt(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether `x < y`, element by element."""
    def lu(
        self, pivot: builtins.bool = True, get_infos: builtins.bool = False, name: str | None = None
    ) -> tuple[Tensor, ...]:
        """`x = P L U` by elimination with row exchanges."""
    def lu_unpack(
        self,
        y: Tensor,
        unpack_ludata: builtins.bool = True,
        unpack_pivots: builtins.bool = True,
        name: str | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """`P`, `L` and `U` from what `lu` gives."""
    @property
    def mT(self) -> Tensor:
        """The tensor with its last two axes exchanged; the result shares memory with it."""
    def masked_fill(self, mask: Tensor, value: Number, name: str | None = None) -> Tensor:
        """`value` where the mask is true, else `x`."""
    def masked_fill_(self, mask: Tensor, value: Number, name: str | None = None) -> Tensor:
        """As `masked_fill`, in place: the tensor takes the result and is returned."""
    def masked_scatter(self, mask: Tensor, value: Tensor, name: str | None = None) -> Tensor:
        """`x` with the elements of `value`, one after the other, where the mask is true."""
    def masked_scatter_(self, mask: Tensor, value: Tensor, name: str | None = None) -> Tensor:
        """As `masked_scatter`, in place: the tensor takes the result and is returned."""
    def masked_select(self, mask: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The elements of `x` where the mask is true, along one axis."""
    def matmul(
        self,
        y: Tensor,
        transpose_x: builtins.bool = False,
        transpose_y: builtins.bool = False,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """The matrix product over the last two axes, the others broadcast; `x @ y` means the same."""
    def matrix_power(self, n: builtins.int, name: str | None = None) -> Tensor:
        """Square matrices multiplied with themselves."""
    def matrix_transpose(self, name: str | None = None) -> Tensor:
        """A tensor with its last two axes exchanged; the result shares memory with `x`."""
    def max(self, axis: AxisLike | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """The largest element over some axes. NaN counts as largest."""
    def maximum(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The larger of each pair; NaN if one of them is NaN. Equal ones share the gradient."""
    def mean(
        self,
        axis: AxisLike | None = None,
        keepdim: builtins.bool = False,
        name: str | None = None,
        *,
        dtype: DTypeLike | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The average over some axes, in the type of `x`."""
    def median(
        self,
        axis: AxisLike | None = None,
        keepdim: builtins.bool = False,
        mode: str = "avg",
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The middle element along an axis; NaN if there is one among them."""
    def min(self, axis: AxisLike | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """The smallest element over some axes. NaN counts as smallest."""
    def minimum(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The smaller of each pair; NaN if one of them is NaN. Equal ones share the gradient."""
    def mm(self, mat2: Tensor, name: str | None = None) -> Tensor:
        """The matrix product; `matmul` without its flags."""
    def mod(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """What a division that rounds down leaves; it has the sign of `y`."""
    def mod_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `mod`, in place: the tensor takes the result and is returned."""
    def mode(
        self, axis: builtins.int = -1, keepdim: builtins.bool = False, name: str | None = None
    ) -> tuple[Tensor, Tensor]:
        """The commonest element along an axis, and its last position."""
    def moveaxis(
        self,
        source: builtins.int | Sequence[builtins.int],
        destination: builtins.int | Sequence[builtins.int],
        name: str | None = None,
    ) -> Tensor:
        """A tensor with some axes moved to other places, the rest in order; the result shares memory with `x`."""
    def msort(self, *, out: Tensor | None = None) -> Tensor:
        """The elements in order along the first axis."""
    def mul(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x * y`, element by element."""
    def mul_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `mul`, in place: the tensor takes the result and is returned."""
    def multi_dot(self, name: str | None = None) -> Tensor:
        """The product of two or more matrices in the order that takes the least work."""
    def multigammaln(self, p: builtins.int, name: str | None = None) -> Tensor:
        """The logarithm of the multivariate gamma function."""
    def multigammaln_(self, p: builtins.int, name: str | None = None) -> Tensor:
        """As `multigammaln`, in place: the tensor takes the result and is returned."""
    def multinomial(
        self,
        num_samples: Any = 1,
        replacement: builtins.bool = False,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Numbers of categories, drawn by weight."""
    def multiplex(self, index: Tensor, name: str | None = None) -> Tensor:
        """Row `i` of the result is row `i` of the input that `index[i]` names."""
    def multiply(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x * y`, element by element."""
    def multiply_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `multiply`, in place: the tensor takes the result and is returned."""
    def mv(self, vec: Tensor, name: str | None = None) -> Tensor:
        """A matrix times a vector."""
    def nan_to_num(
        self,
        nan: builtins.float = 0.0,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
        name: str | None = None,
    ) -> Tensor:
        """NaN and infinities replaced by numbers."""
    def nan_to_num_(
        self,
        nan: builtins.float = 0.0,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
        name: str | None = None,
    ) -> Tensor:
        """As `nan_to_num`, in place: the tensor takes the result and is returned."""
    def nanmean(self, axis: AxisLike | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """The average over some axes of the elements that are not NaN."""
    def nanmedian(
        self, axis: AxisLike | None = None, keepdim: builtins.bool = False, mode: str = "avg", name: str | None = None
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The middle of the elements that are not NaN."""
    def nanquantile(
        self, q: Any, axis: AxisLike | None = None, keepdim: builtins.bool = False, interpolation: str = "linear"
    ) -> Tensor:
        """What a fraction `q` of the elements that are not NaN lies below."""
    def nansum(
        self,
        axis: AxisLike | None = None,
        dtype: DTypeLike | None = None,
        keepdim: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """The sum over some axes, with NaN taken as zero."""
    def narrow(self, dim: Any, start: Any, length: Any) -> Tensor:
        """Some neighbouring elements of an axis; the result shares memory with the tensor."""
    def ne(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether `x != y`, element by element."""
    def neg(self, name: str | None = None) -> Tensor:
        """Each element with the other sign; `-x` means the same."""
    def neg_(self, name: str | None = None) -> Tensor:
        """As `neg`, in place: the tensor takes the result and is returned."""
    def negative(self, name: str | None = None) -> Tensor:
        """Each element with the other sign; `-x` means the same."""
    def new_empty(
        self,
        size: SizesLike,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """A tensor whose numbers mean nothing yet, in the type and on the device of this one."""
    def new_full(
        self,
        size: SizesLike,
        fill_value: Number | complex | builtins.bool,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """One number everywhere, in the type and on the device of this tensor."""
    def new_ones(
        self,
        size: SizesLike,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """Ones in the type and on the device of this tensor."""
    def new_zeros(
        self,
        size: SizesLike,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """Zeros in the type and on the device of this tensor."""
    def nextafter(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """The floating number next to `x` in the direction of `y`."""
    def nnz(self) -> Any:
        """Of a sparse COO or CSR tensor only; see `paddle.sparse`."""
    def nonzero(self, as_tuple: builtins.bool = False, *, out: Tensor | None = None) -> Tensor | tuple[Tensor, ...]:
        """Positions of the elements that are not zero."""
    def norm(
        self,
        p: builtins.float | str | None = None,
        axis: AxisLike | None = None,
        keepdim: builtins.bool = False,
        out: Tensor | None = None,
        dtype: DTypeLike | None = None,
        name: str | None = None,
    ) -> Tensor:
        """The length of vectors, or the norm of matrices."""
    def normal_(self, mean: Number = 0.0, std: Number = 1.0, name: str | None = None) -> Tensor:
        """Fills `x` with numbers from a normal distribution and returns it."""
    def not_equal(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether `x != y`, element by element."""
    def not_equal_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `not_equal`, in place: the tensor takes the result and is returned."""
    @property
    def num_shard(self) -> builtins.int | None:
        """Into how many parts the tensor is cut, or None where it lies on no mesh."""
    def numel(self, name: str | None = None) -> Tensor:
        """The number of elements, as an integer tensor without axes; its value is known at once."""
    @property
    def offset(self) -> builtins.int:
        """Bytes before the first element: none, each value has its own memory."""
    def ones_like(
        self,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        *,
        device: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """Ones in the shape of `x`."""
    @property
    def op(self) -> Any:
        """The operator of a program that gives this variable, or None."""
    def ormqr(
        self,
        tau: Tensor,
        y: Tensor,
        left: builtins.bool = True,
        transpose: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """`Q y` or `y Q`, for `Q = householder_product(x, tau)`."""
    def outer(self, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Every element of `x` times every element of `y`, both flattened."""
    def pca_lowrank(
        self,
        q: builtins.int | None = None,
        center: builtins.bool = True,
        niter: builtins.int = 2,
        name: str | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Principal components: `svd_lowrank` of `x` less the mean of its rows."""
    def permute(self, dims: Sequence[builtins.int] | builtins.int) -> Tensor:
        """A tensor with its axes in another order; the result shares memory with it."""
    def pin_memory(self, blocking: builtins.bool = True) -> Tensor:
        """The tensor itself: transfers to a device need no pinned memory here."""
    def pinv(self, rcond: Number = 1e-15, hermitian: builtins.bool = False, name: str | None = None) -> Tensor:
        """The pseudo-inverse: the inverse on what `x` reaches, zero elsewhere."""
    @property
    def placements(self) -> list[Placement] | None:
        """How the tensor lies on each axis of its mesh, or None."""
    def polar(self, angle: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The complex numbers that have a magnitude and an angle."""
    def polygamma(self, n: builtins.int, name: str | None = None) -> Tensor:
        """The derivative number `n` of `digamma`, for positive `x`."""
    def polygamma_(self, n: builtins.int, name: str | None = None) -> Tensor:
        """As `polygamma`, in place: the tensor takes the result and is returned."""
    def pow(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x` to the power `y`, element by element."""
    def pow_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `pow`, in place: the tensor takes the result and is returned."""
    @property
    def process_mesh(self) -> ProcessMesh | None:
        """The mesh that the tensor lies on, or None."""
    def prod(
        self,
        axis: AxisLike | None = None,
        keepdim: builtins.bool = False,
        dtype: DTypeLike | None = None,
        out: Tensor | None = None,
        name: str | None = None,
    ) -> Tensor:
        """The product over some axes."""
    def put_along_axis(
        self,
        indices: Tensor,
        values: Number,
        axis: AxisLike | None,
        reduce: str = "assign",
        include_self: builtins.bool = True,
        broadcast: builtins.bool = True,
    ) -> Tensor:
        """A tensor with values put at positions along an axis."""
    def put_along_axis_(
        self,
        indices: Tensor,
        values: Number,
        axis: AxisLike | None,
        reduce: str = "assign",
        include_self: builtins.bool = True,
        broadcast: builtins.bool = True,
    ) -> Tensor:
        """As `put_along_axis`, in place: the tensor takes the result and is returned."""
    def qr(self, mode: str = "reduced", name: str | None = None) -> Any:
        """`x = Q R` with orthonormal columns in `Q` and `R` upper triangular."""
    def quantile(
        self,
        q: Number | Sequence[builtins.float],
        axis: AxisLike | None = None,
        keepdim: builtins.bool = False,
        interpolation: str = "linear",
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """What a fraction `q` of the elements lies below; NaN if one of them is NaN."""
    def rad2deg(self, name: str | None = None) -> Tensor:
        """Angles in radians as degrees; integers give the default floating type."""
    def randint_like(
        self,
        low: builtins.int | Tensor = 0,
        high: builtins.int | Tensor | None = None,
        dtype: DTypeLike | None = None,
        name: str | None = None,
    ) -> Tensor:
        """Integers drawn uniformly from [low, high), in the shape of a tensor."""
    def random_(self, from_: builtins.int = 0, to: builtins.int | None = None, *, generator: None = None) -> Tensor:
        """Fills `x` with integers drawn uniformly and returns it."""
    def rank(self) -> Tensor:
        """The number of axes of a tensor, as an int32 tensor."""
    def ravel(self) -> Tensor:
        """All elements along one axis; the result shares memory with the tensor."""
    def real(self, name: str | None = None) -> Tensor:
        """The real part of complex numbers; it shares memory with `x`."""
    def reciprocal(self, name: str | None = None) -> Tensor:
        """`1 / x`, element by element; infinity at 0."""
    def reciprocal_(self, name: str | None = None) -> Tensor:
        """As `reciprocal`, in place: the tensor takes the result and is returned."""
    def reconstruct_from_(self, other: Tensor) -> None:
        """The tensor becomes another name of `other`: its value, shape and type, sharing memory."""
    def reduce_as(self, target: Tensor, name: str | None = None) -> Tensor:
        """`x` summed down to the shape of another tensor, the reverse of broadcasting."""
    def register_hook(self, hook: Hook) -> RemovableHandle:
        """Calls a function in every backward pass that reaches this tensor."""
    def relu_(self, name: str | None = None) -> Tensor:
        """As `relu`, in place: the tensor takes the result and is returned."""
    def remainder(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """What a division that rounds down leaves; it has the sign of `y`."""
    def remainder_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """As `remainder`, in place: the tensor takes the result and is returned."""
    def renorm(self, p: builtins.float, axis: builtins.int, max_norm: builtins.float) -> Tensor:
        """Every slice along an axis whose norm is too large scaled down to `max_norm`."""
    def renorm_(self, p: builtins.float, axis: builtins.int, max_norm: builtins.float) -> Tensor:
        """As `renorm`, in place: the tensor takes the result and is returned."""
    def repeat(self, *repeats: Any) -> Tensor:
        """The tensor repeated as a whole along its axes; see `tile`."""
    def repeat_interleave(
        self,
        repeats: builtins.int | Tensor,
        axis: AxisLike | None = None,
        name: str | None = None,
        *,
        output_size: builtins.int | None = None,
    ) -> Tensor:
        """Each slice along an axis repeated in its place."""
    def requires_grad_(self, requires_grad: builtins.bool = True) -> Tensor:
        """Sets whether the gradient of this tensor is wanted, and returns it."""
    def reshape(self, shape: ShapeLike, *more: builtins.int, name: str | None = None) -> Tensor:
        """The same numbers in another shape; the result shares memory with `x`."""
    def reshape_(self, shape: ShapeLike, name: str | None = None) -> Tensor:
        """As `paddle.reshape`, in place: `x` itself gets the other shape and is returned."""
    def resize_(self, shape: ShapeLike, fill_zero: builtins.bool = False, name: str | None = None) -> Tensor:
        """The tensor itself gets another shape, with fewer elements or with zeros behind the old ones, and is returned."""
    def retain_grads(self) -> None:
        """Lets a result of an operation keep its gradient in `.grad`, as leaves do anyway."""
    def reverse(self, axis: AxisLike | None, name: str | None = None) -> Tensor:
        """A tensor with the order of elements along some axes reversed."""
    def roll(self, shifts: AxisLike, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
        """A tensor moved along axes; what falls off one end comes in at the other."""
    def rot90(self, k: builtins.int = 1, axes: Sequence[builtins.int] = (0, 1), name: str | None = None) -> Tensor:
        """A tensor turned by 90 degrees in the plane of two axes."""
    def round(self, decimals: builtins.int = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Each element rounded to the nearest number with `decimals` places, halves to the even neighbour."""
    def round_(self, decimals: builtins.int = 0, name: str | None = None) -> Tensor:
        """As `round`, in place: the tensor takes the result and is returned."""
    def rows(self) -> Any:
        """Raises RuntimeError: only selected rows have these."""
    def rsqrt(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`1 / sqrt(x)`, element by element; NaN for negative numbers."""
    def rsqrt_(self, name: str | None = None) -> Tensor:
        """As `rsqrt`, in place: the tensor takes the result and is returned."""
    def scale(
        self,
        scale: Number = 1.0,
        bias: Number = 0.0,
        bias_after_scale: builtins.bool = True,
        act: str | None = None,
        name: str | None = None,
    ) -> Tensor:
        """`x * scale + bias`, or `(x + bias) * scale`; an integer tensor stays one."""
    def scale_(
        self,
        scale: Number = 1.0,
        bias: Number = 0.0,
        bias_after_scale: builtins.bool = True,
        act: str | None = None,
        name: str | None = None,
    ) -> Tensor:
        """As `scale`, in place: the tensor takes the result and is returned."""
    def scatter(
        self,
        index: Tensor,
        updates: Tensor,
        overwrite: builtins.bool = True,
        name: str | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """A tensor with the rows that `index` names replaced."""
    def scatter_(
        self,
        index: Tensor,
        updates: Tensor,
        overwrite: builtins.bool = True,
        name: str | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """As `scatter`, in place: the tensor takes the result and is returned."""
    def scatter_add(self, dim: AxisLike, index: Tensor, src: Tensor) -> Tensor:
        """A tensor with the elements of `src` added where `index` points along an axis."""
    def scatter_add_(self, dim: AxisLike, index: Tensor, src: Tensor) -> Tensor:
        """As `scatter_add`, in place: the tensor takes the result and is returned."""
    def scatter_nd(self, updates: Tensor, shape: ShapeLike, name: str | None = None) -> Tensor:
        """Zeros with values added at several positions."""
    def scatter_nd_add(self, index: Tensor, updates: Tensor, name: str | None = None) -> Tensor:
        """A tensor with values added at several positions."""
    def scatter_reduce(
        self, dim: AxisLike, index: Tensor, src: Tensor, reduce: str, *, include_self: builtins.bool = True
    ) -> Tensor:
        """A tensor combined with the elements of `src` where `index` points along an axis."""
    def select_scatter(
        self, values: Tensor, axis: AxisLike | None, index: builtins.int | Tensor, name: str | None = None
    ) -> Tensor:
        """`x` with another tensor as one of its slices."""
    def set_(
        self,
        source: Tensor | None = None,
        shape: ShapeLike | None = None,
        stride: SizesLike | None = None,
        offset: builtins.int = 0,
        name: str | None = None,
    ) -> Tensor:
        """The tensor itself becomes a view of another, or one without elements, and is returned."""
    def set_string_list(self, value: Any) -> None:
        """Raises NotImplementedError: tensors hold numbers."""
    def set_tensor(self, value: Tensor) -> None:
        """The tensor becomes another name of `value`; see `reconstruct_from_`."""
    def set_value(self, value: TensorLike) -> None:
        """Gives the tensor other numbers of the same shape and type. Neither its history nor its version changes."""
    def set_vocab(self, value: Any) -> None:
        """Raises NotImplementedError: tensors hold numbers."""
    def sgn(self, name: str | None = None) -> Tensor:
        """The sign of each element: -1, 0 or 1; of complex numbers `x / |x|`, and 0 for 0."""
    def shard_index(
        self, index_num: builtins.int, nshards: builtins.int, shard_id: builtins.int, ignore_value: builtins.int = -1
    ) -> Tensor:
        """Indices of a whole as they are within one of its shards."""
    def short(self) -> Tensor:
        """The numbers as int16; the tensor itself if they are that already."""
    def sigmoid(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`1 / (1 + exp(-x))`, element by element: any number mapped into (0, 1)."""
    def sigmoid_(self, name: str | None = None) -> Tensor:
        """As `sigmoid`, in place: the tensor takes the result and is returned."""
    def sign(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """-1, 0 or 1 by the sign of each element; of complex numbers `x / |x|`."""
    def signbit(self, name: str | None = None) -> Tensor:
        """Whether the sign bit of each element is set: true for negative numbers and for -0."""
    def sin(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The sine of each element, in radians."""
    def sin_(self, name: str | None = None) -> Tensor:
        """As `sin`, in place: the tensor takes the result and is returned."""
    def sinc(self, name: str | None = None) -> Tensor:
        """`sin(pi x) / (pi x)`, and 1 at zero."""
    def sinc_(self, name: str | None = None) -> Tensor:
        """As `sinc`, in place: the tensor takes the result and is returned."""
    def sinh(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The hyperbolic sine of each element."""
    def sinh_(self, name: str | None = None) -> Tensor:
        """As `sinh`, in place: the tensor takes the result and is returned."""
    def slice(
        self,
        axes: AxisLike,
        starts: Sequence[builtins.int | Tensor] | Tensor,
        ends: Sequence[builtins.int | Tensor] | Tensor,
    ) -> Tensor:
        """The part of a tensor between two positions along some axes; it shares memory with the tensor."""
    def slice_scatter(
        self,
        value: Tensor,
        axes: AxisLike,
        starts: Sequence[builtins.int | Tensor] | Tensor,
        ends: Sequence[builtins.int | Tensor] | Tensor,
        strides: SizesLike,
        name: str | None = None,
    ) -> Tensor:
        """`x` with another tensor as the part from `starts` to `ends` along some axes."""
    def slogdet(self, name: str | None = None) -> Tensor:
        """The sign of the determinant and the logarithm of its size."""
    def softmax(
        self, dim: builtins.int | None = None, dtype: DTypeLike | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """`exp(x) / sum(exp(x))` along an axis; see `nn.functional.softmax`."""
    def softmax_(self, axis: builtins.int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """As `softmax`, in place: the tensor takes the result and is returned."""
    def solve(
        self, y: Tensor, left: builtins.bool = True, name: str | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """The solution of `x z = y`, or of `z x = y` with `left=False`, for square invertible `x`."""
    def sort(
        self,
        axis: builtins.int = -1,
        descending: builtins.bool = False,
        stable: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """The elements in order along an axis; NaN counts as largest."""
    def sparse_dim(self) -> builtins.int:
        """How many dimensions are sparse."""
    def split(
        self,
        num_or_sections: builtins.int | Sequence[builtins.int | Tensor],
        axis: AxisLike = 0,
        name: str | None = None,
    ) -> list[Tensor]:
        """A tensor cut along an axis."""
    def split_with_sizes(self, split_sizes: Sequence[builtins.int], dim: AxisLike = 0) -> list[Tensor]:
        """The tensor cut along an axis into parts of the given sizes."""
    def sqrt(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The square root of each element; NaN for negative numbers."""
    def sqrt_(self, name: str | None = None) -> Tensor:
        """As `sqrt`, in place: the tensor takes the result and is returned."""
    def square(self, name: str | None = None) -> Tensor:
        """Each element times itself."""
    def square_(self, name: str | None = None) -> Tensor:
        """As `square`, in place: the tensor takes the result and is returned."""
    def squeeze(self, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
        """A tensor without axes of one element; the result shares memory with `x`."""
    def squeeze_(self, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
        """As `paddle.squeeze`, in place: `x` itself gets the other shape and is returned."""
    def stack(self, axis: AxisLike = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tensors of one shape joined along a new axis."""
    def stanh(
        self, scale_a: builtins.float = 0.67, scale_b: builtins.float = 1.7159, name: str | None = None
    ) -> Tensor:
        """`scale_b * tanh(scale_a * x)`, element by element."""
    def std(
        self,
        axis: AxisLike | None = None,
        unbiased: builtins.bool = True,
        keepdim: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """The standard deviation over some axes."""
    def stft(
        self,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: Tensor | None = None,
        center: builtins.bool = True,
        pad_mode: str = "reflect",
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        name: str | None = None,
    ) -> Tensor:
        """The Fourier transforms of windowed pieces of a signal."""
    def stride(self, dim: builtins.int | None = None) -> Any:
        """How many elements lie between neighbours along an axis, or a list of that for all of them."""
    def strided_slice(
        self,
        axes: AxisLike,
        starts: Sequence[builtins.int | Tensor] | Tensor,
        ends: Sequence[builtins.int | Tensor] | Tensor,
        strides: SizesLike,
        name: str | None = None,
    ) -> Tensor:
        """Every n-th element between two positions along some axes; it shares memory with `x`."""
    @property
    def strides(self) -> list[builtins.int]:
        """Elements between neighbours along each axis, as Paddle's memory has them."""
    def sub(
        self, y: Tensor | complex, name: str | None = None, *, alpha: Number = 1, out: Tensor | None = None
    ) -> Tensor:
        """`x - alpha * y`, element by element."""
    def sub_(self, y: Tensor | complex, name: str | None = None, *, alpha: Number = 1) -> Tensor:
        """As `sub`, in place: the tensor takes the result and is returned."""
    def subtract(
        self, y: Tensor | complex, name: str | None = None, *, alpha: Number = 1, out: Tensor | None = None
    ) -> Tensor:
        """`x - alpha * y`, element by element."""
    def subtract_(self, y: Tensor | complex, name: str | None = None, *, alpha: Number = 1) -> Tensor:
        """As `subtract`, in place: the tensor takes the result and is returned."""
    def sum(
        self,
        axis: AxisLike | None = None,
        dtype: DTypeLike | builtins.bool | None = None,
        keepdim: builtins.bool = False,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """The sum over some axes."""
    def svd_lowrank(
        self, q: builtins.int | None = None, niter: builtins.int = 2, M: Tensor | None = None, name: str | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The largest singular values of a matrix with their vectors, nearly."""
    def swapaxes(self, perm: Sequence[builtins.int] | builtins.int, *axes: Any, name: str | None = None) -> Tensor:
        """A tensor with two axes exchanged; the result shares memory with `x`."""
    def swapdims(self, perm: Sequence[builtins.int] | builtins.int, *axes: Any, name: str | None = None) -> Tensor:
        """A tensor with two axes exchanged; the result shares memory with `x`."""
    def t(self, name: str | None = None) -> Tensor:
        """A matrix transposed; it shares memory. A vector, or a tensor without axes, as it is."""
    def t_(self, name: str | None = None) -> Tensor:
        """As `paddle.t`, in place: the tensor itself is transposed and returned."""
    def take(self, index: Tensor, mode: str = "raise", name: str | None = None) -> Tensor:
        """Elements of a tensor by their number in row-major order."""
    def take_along_axis(
        self, indices: Tensor, axis: AxisLike | None, broadcast: builtins.bool = True, *, out: Tensor | None = None
    ) -> Tensor:
        """The elements of a tensor at positions along an axis."""
    def take_along_dim(
        self, indices: Tensor, axis: AxisLike | None, broadcast: builtins.bool = True, *, out: Tensor | None = None
    ) -> Tensor:
        """The elements of a tensor at positions along an axis."""
    def tan(self, name: str | None = None) -> Tensor:
        """The tangent of each element, in radians."""
    def tan_(self, name: str | None = None) -> Tensor:
        """As `tan`, in place: the tensor takes the result and is returned."""
    def tanh(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The hyperbolic tangent: any number mapped into (-1, 1)."""
    def tanh_(self, name: str | None = None) -> Tensor:
        """As `tanh`, in place: the tensor takes the result and is returned."""
    def tensor_split(self, num_or_indices: AxisLike, axis: AxisLike = 0, name: str | None = None) -> list[Tensor]:
        """A tensor cut along an axis into parts as equal as possible, or at given positions."""
    def tensordot(self, y: Tensor, axes: AxisLike = 2, name: str | None = None) -> Tensor:
        """Products summed over pairs of axes; the axes that remain are those of `x`, then those of `y`."""
    def thresholded_relu_(
        self, threshold: builtins.float = 1.0, value: builtins.float = 0.0, name: str | None = None
    ) -> Tensor:
        """As `thresholded_relu`, in place: the tensor takes the result and is returned."""
    def tile(self, repeat_times: ShapeLike, name: str | None = None) -> Tensor:
        """A tensor repeated as a whole."""
    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """The tensor on another device, in another type, or both."""
    def to_dense(self) -> Tensor:
        """The tensor with all its positions; a dense one is returned as it is."""
    def to_sparse_coo(self, sparse_dim: builtins.int) -> Tensor:
        """The elements that are not zero, by their coordinates."""
    def to_sparse_csr(self) -> Tensor:
        """The elements that are not zero, by compressed rows: of a matrix, or of a batch of matrices."""
    def top_p_sampling(
        self,
        ps: Tensor,
        threshold: Tensor | None = None,
        topp_seed: Tensor | None = None,
        seed: builtins.int = -1,
        k: builtins.int = 0,
        mode: str = "truncated",
        return_top: builtins.bool = False,
        name: str | None = None,
    ) -> tuple[Tensor, ...]:
        """Draws from each row of probabilities, among the likeliest that together reach `ps`."""
    def topk(
        self,
        k: builtins.int | Tensor,
        axis: AxisLike | None = None,
        largest: builtins.bool = True,
        sorted: builtins.bool = True,
        name: str | None = None,
        *,
        out: tuple[Tensor, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """The `k` largest elements along an axis, in order, and their positions."""
    def trace(
        self, offset: builtins.int = 0, axis1: builtins.int = 0, axis2: builtins.int = 1, name: str | None = None
    ) -> Tensor:
        """The sum of the diagonal of the matrices that two axes span."""
    def transpose(self, perm: Sequence[builtins.int] | builtins.int, name: Any = None) -> Tensor:
        """A tensor with its axes in another order; the result shares memory with `x`."""
    def transpose_(self, perm: Sequence[builtins.int] | builtins.int, name: str | None = None) -> Tensor:
        """As `paddle.transpose`, in place: `x` itself gets the other order of axes and is returned."""
    def trapezoid(
        self, x: Tensor | None = None, dx: Number | None = None, axis: builtins.int = -1, name: str | None = None
    ) -> Tensor:
        """The area under the polygon through `y`."""
    def tril(self, diagonal: builtins.int = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The lower triangle of matrices, with zeros above it."""
    def tril_(self, diagonal: builtins.int = 0, name: str | None = None) -> Tensor:
        """As `tril`, in place: the tensor takes the result and is returned."""
    def triu(self, diagonal: builtins.int = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The upper triangle of matrices, with zeros below it."""
    def triu_(self, diagonal: builtins.int = 0, name: str | None = None) -> Tensor:
        """As `triu`, in place: the tensor takes the result and is returned."""
    def true_divide(self, other: Tensor | complex, *, out: Tensor | None = None) -> Tensor:
        """`input / other`, element by element; integers give float32."""
    def trunc(self, name: str | None = None) -> Tensor:
        """Each element rounded towards zero."""
    def trunc_(self, name: str | None = None) -> Tensor:
        """As `trunc`, in place: the tensor takes the result and is returned."""
    @property
    def type(self) -> VarType:
        """The kind of variable; the data type is `dtype`."""
    def type_as(self, other: Tensor) -> Tensor:
        """The numbers in the type of another tensor."""
    def uint8(self) -> Tensor:
        """The numbers as uint8; the tensor itself if they are that already."""
    def unbind(self, axis: builtins.int = 0) -> list[Tensor]:
        """The slices of a tensor along an axis, without that axis; they share memory with it."""
    def unflatten(self, axis: AxisLike | None, shape: ShapeLike, name: str | None = None) -> Tensor:
        """A tensor with one axis divided into several; the result shares memory with `x`."""
    def unfold(self, axis: AxisLike | None, size: SizesLike, step: builtins.int, name: str | None = None) -> Tensor:
        """Windows along an axis, each as a new last axis; the result shares memory with `x`."""
    def uniform_(self, min: Number = 0, max: Number = 1.0, seed: builtins.int = 0, name: str | None = None) -> Tensor:
        """Fills `x` with numbers drawn uniformly from [min, max) and returns it."""
    def unique(
        self,
        return_index: builtins.bool = False,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        axis: AxisLike | None = None,
        dtype: DTypeLike = "int64",
        sorted: builtins.bool = True,
        name: str | None = None,
    ) -> Tensor | tuple[Tensor, ...]:
        """The different elements, in order."""
    def unique_consecutive(
        self,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        axis: AxisLike | None = None,
        dtype: DTypeLike = "int64",
        name: str | None = None,
    ) -> Tensor | tuple[Tensor, ...]:
        """The elements without those equal to the one before."""
    def unsqueeze(self, axis: AxisLike | None, name: str | None = None) -> Tensor:
        """A tensor with new axes of one element; the result shares memory with `x`."""
    def unsqueeze_(self, axis: AxisLike | None, name: str | None = None) -> Tensor:
        """As `paddle.unsqueeze`, in place: `x` itself gets the other shape and is returned."""
    def unstack(self, axis: AxisLike = 0, num: builtins.int | None = None) -> list[Tensor]:
        """The slices of a tensor along an axis, without that axis, as new tensors."""
    def value(self) -> Tensor:
        """The tensor itself."""
    def values(self) -> Any:
        """Of a sparse COO or CSR tensor only; see `paddle.sparse`."""
    def vander(
        self, n: builtins.int | None = None, increasing: builtins.bool = False, name: str | None = None
    ) -> Tensor:
        """The powers of a vector as the columns of a matrix."""
    def var(
        self,
        axis: AxisLike | None = None,
        unbiased: builtins.bool | None = None,
        keepdim: builtins.bool = False,
        name: str | None = None,
        *,
        correction: builtins.float = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """The variance over some axes."""
    def view(self, shape_or_dtype: ShapeLike | DTypeLike, name: str | None = None) -> Tensor:
        """A tensor in another shape, or its bytes as another type; the result shares memory with `x`."""
    def view_as(self, other: Tensor, name: str | None = None) -> Tensor:
        """A tensor in the shape of another; the result shares memory with `x`."""
    def view_as_complex(self) -> Tensor:
        """Pairs in the last axis as complex numbers; the same as `as_complex`."""
    def view_as_real(self) -> Tensor:
        """Complex numbers as pairs in a new last axis; the same as `as_real`."""
    def vsplit(self, num_or_indices: AxisLike, name: str | None = None) -> list[Tensor]:
        """A tensor of two axes or more cut along the first; see `tensor_split`."""
    def where(
        self,
        x: TensorLike | None = None,
        y: TensorLike | None = None,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Any:
        """`x` where the condition holds, else `y`; without both, the positions where it holds."""
    def where_(self, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None) -> Tensor:
        """As `paddle.where`, in place: `x` takes the result and is returned."""
    def zero_(self) -> Tensor:
        """Sets every element to 0 and returns the tensor."""
    def zeros_like(
        self,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        *,
        device: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """Zeros in the shape of `x`."""

def _rebuild(
    cls: type[Tensor], array: numpy.ndarray, dtype: str, stop_gradient: bool, name: str | None, extra: dict[str, Any]
) -> Tensor: ...
def adopt(target: Tensor, source: Tensor) -> None:
    """Gives `target` the value (present or pending) of `source`; not its history."""

def state_of(source: Tensor) -> tuple[Any, Any, int]:
    """Value, segment and index for another tensor that shall stand for the same value."""

def new_like(source: Tensor) -> Tensor:
    """Another tensor (of the same class) with the same value and no history."""

def new_results(segment: Any, avals: Iterable[Aval], index: int) -> list[Tensor]:
    """The tensors of results that were just recorded, numbered from `index`, without history."""

def alias(source: Tensor) -> Tensor:
    """A plain tensor with the same value and no history."""

def wrap(value: Any, aval: Aval | None = None) -> Tensor:
    """A tensor around an array that exists. The array must not be changed afterwards."""

def aval_of(value: Any) -> Aval: ...
def jax_value(value: Any) -> Any:
    """The value as a JAX array where it is; JAX's own default device does not matter."""

def move_value(value: Any, place: Place) -> Any: ...
def _sizes_in(data: Any) -> list[Any] | None:
    """The numbers in Python data, in order, if some depend on an unknown size."""

def _without_symbols(data: Any) -> Any: ...
def tensor_from_data(data: Any, dtype: DTypeLike | None = None, place: DeviceLike | None = None) -> Tensor:
    """A new tensor from host data: Python numbers and nested lists, NumPy or JAX arrays, anything with DLPack."""
