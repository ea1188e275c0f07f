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
from proa.distributed.mesh import ProcessMesh
from proa.distributed.placement import Placement
from proa.eager.annotations import AxisLike, DeviceLike, DTypeLike, Number, ShapeLike, SizesLike, TensorLike
from proa.eager.hooks import Hook, RemovableHandle
from proa.ops.create.storage import VarType

class Tensor:
    """An n-dimensional array with Paddle's semantics."""

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
        self, data: Any = None, dtype: Any = None, place: DeviceLike | None = None, stop_gradient: builtins.bool = True
    ) -> None: ...
    @property
    def shape(self) -> Size: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def ndim(self) -> builtins.int: ...
    @property
    def size(self) -> TensorSize: ...
    @property
    def place(self) -> Place: ...
    @property
    def itemsize(self) -> builtins.int: ...
    @property
    def nbytes(self) -> builtins.int: ...
    def dim(self) -> builtins.int: ...
    ndimension = dim
    def element_size(self) -> builtins.int: ...
    def is_dense(self) -> builtins.bool: ...
    def is_sparse(self) -> builtins.bool: ...
    def is_selected_rows(self) -> builtins.bool: ...
    def __len__(self) -> builtins.int: ...
    @property
    def name(self) -> str: ...
    @name.setter
    def name(self, value: str) -> None: ...
    @property
    def inplace_version(self) -> builtins.int: ...
    @property
    def is_leaf(self) -> builtins.bool: ...
    @property
    def grad_fn(self) -> Any: ...
    @property
    def requires_grad(self) -> builtins.bool: ...
    @requires_grad.setter
    def requires_grad(self, value: builtins.bool) -> None: ...
    @property
    def is_cpu(self) -> builtins.bool: ...
    @property
    def is_cuda(self) -> builtins.bool: ...
    def _data(self) -> Any:
        """The value itself, a NumPy or JAX array; runs what it waits for."""
    def numpy(self, writable_ref: builtins.bool = False) -> numpy.ndarray:
        """The value as a new NumPy array of its own."""
    def _read(self) -> Any:
        """The value for code outside of the package: sizes in it lose their expressions there."""
    def item(self, *args: builtins.int) -> Any:
        """The one element (or the one at the given position) as a Python number."""
    def tolist(self) -> Any: ...
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
    def grad(self) -> Tensor | None: ...
    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...
    @grad.deleter
    def grad(self) -> None: ...
    def gradient(self) -> numpy.ndarray | None: ...
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
        """`x` with its axes in reverse order. Shares memory with `x`."""
    def __abs__(self, name: str | None = None) -> Tensor:
        """The absolute value; of complex numbers, their modulus. The gradient at 0 is 0."""
    def __add__(self, y: Tensor | complex, name: str | None = None) -> Tensor: ...
    def __and__(self, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """The bits that both have; of booleans, logical and."""
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
    def __floordiv__(self, y: TensorLike) -> Tensor: ...
    def __ge__(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """`x >= y`, element by element."""
    def __getitem__(self, item: Any) -> Tensor:
        """`x[item]`; basic indexing shares memory with `x`."""
    def __gt__(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """`x > y`, element by element."""
    def __invert__(self, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """The other bits; of booleans, logical not."""
    def __iter__(self) -> Iterator[Tensor]:
        """The slices of `x` along its first axis; they share memory with it."""
    def __le__(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """`x <= y`, element by element."""
    def __long__(self) -> builtins.int: ...
    def __lshift__(self, y: Any, is_arithmetic: builtins.bool = True) -> Tensor: ...
    def __lt__(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """`x < y`, element by element."""
    def __matmul__(
        self, y: Tensor, transpose_x: builtins.bool = False, transpose_y: builtins.bool = False, name: str | None = None
    ) -> Tensor:
        """The matrix product over the last two dimensions, the others broadcast."""
    def __mod__(self, y: Any) -> Tensor: ...
    def __mul__(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """`x * y`, element by element."""
    def __ne__(self, y: Any) -> Any: ...  # type: ignore[override]
    def __neg__(self, name: str | None = None) -> Tensor:
        """`-x`."""
    def __nonzero__(self) -> builtins.bool: ...
    def __or__(self, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """The bits that one of them has; of booleans, logical or."""
    def __pos__(self, name: str | None = None) -> Tensor:
        """`+x`: the same tensor."""
    def __pow__(self, y: Any, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x ** y`, element by element."""
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
    def __xor__(self, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """The bits that exactly one of them has; of booleans, exclusive or."""
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
        """The absolute value; of complex numbers, their modulus. The gradient at 0 is 0."""
    def abs_(self, name: str | None = None) -> Tensor:
        """In-place form of `abs`: changes and returns `x`."""
    def acos(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The angle whose cosine is `x`; NaN outside [-1, 1]."""
    def acos_(self, name: str | None = None) -> Tensor:
        """In-place form of `acos`: changes and returns `x`."""
    def acosh(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The number, not below 0, whose hyperbolic cosine is `x`; NaN below 1."""
    def acosh_(self, name: str | None = None) -> Tensor:
        """In-place form of `acosh`: changes and returns `x`."""
    def add(self, y: Any, name: str | None = None, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
        """`x + alpha * y`, element by element."""
    def add_(self, y: Any, name: str | None = None, *, alpha: Any = 1) -> Tensor:
        """In-place form of `add`: changes and returns `x`."""
    def add_n(self, name: str | None = None) -> Tensor:
        """The sum of tensors of one shape and data type, element by element."""
    def addmm(
        self, x: Tensor, y: Tensor, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None
    ) -> Tensor:
        """`beta * input + alpha * (x @ y)` for matrices; `input` is broadcast to the product."""
    def addmm_(
        self, x: Tensor, y: Tensor, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None
    ) -> Tensor:
        """In-place form of `addmm`: changes and returns `x`."""
    def all(
        self, axis: Any = None, keepdim: builtins.bool = False, name: str | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """Whether all elements over some axes (all by default) are true, that is not zero."""
    def allclose(
        self,
        y: Tensor | complex,
        rtol: complex = 1e-05,
        atol: complex = 1e-08,
        equal_nan: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """Whether all elements are close (see `isclose`): one boolean."""
    def amax(
        self, axis: Any = None, keepdim: builtins.bool = False, name: str | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """The largest element over some axes; the same as `max`."""
    def amin(
        self, axis: Any = None, keepdim: builtins.bool = False, name: str | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """The smallest element over some axes; the same as `min`."""
    def angle(self, name: str | None = None) -> Tensor:
        """The angle of complex numbers, from -pi to pi; of real ones, 0 or pi."""
    def any(
        self, axis: Any = None, keepdim: builtins.bool = False, name: str | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """Whether any element over some axes (all by default) is true, that is not zero."""
    def apply(self, func: Callable[[Tensor], Any]) -> Tensor:
        """`func(x)`, for a tensor whose gradient is not wanted; `x` itself where `func` gives None."""
    def apply_(self, func: Callable[[Tensor], Any]) -> Tensor:
        """Lets the tensor become `func(x)`, whatever its shape and data type."""
    def argmax(
        self,
        axis: AxisLike | None = None,
        keepdim: builtins.bool = False,
        dtype: DTypeLike = "int64",
        name: str | None = None,
    ) -> Tensor:
        """The position of the largest element along `axis` (in the flattened tensor by default)."""
    def argmin(
        self,
        axis: AxisLike | None = None,
        keepdim: builtins.bool = False,
        dtype: DTypeLike = "int64",
        name: str | None = None,
    ) -> Tensor:
        """The position of the smallest element along `axis` (in the flattened tensor by default)."""
    def argsort(
        self,
        axis: builtins.int = -1,
        descending: builtins.bool = False,
        stable: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """Positions that sort `x` along `axis`. Equal elements keep their order, `stable` or not."""
    def argwhere(self) -> Tensor:
        """Positions of the elements that are not zero, one row each. Looks at the values."""
    def as_complex(self, name: str | None = None) -> Tensor:
        """Pairs in the last axis as complex numbers. Shares memory with `x`."""
    def as_real(self, name: str | None = None) -> Tensor:
        """Complex numbers as pairs in a new last axis. Shares memory with `x`."""
    def as_strided(
        self, shape: ShapeLike, stride: SizesLike, offset: builtins.int = 0, name: str | None = None
    ) -> Tensor:
        """`x` with a shape and strides (counted in elements) of one's own, from `offset` (counted in bytes, as Paddle does)."""
    def asin(self, name: str | None = None) -> Tensor:
        """The angle whose sine is `x`; NaN outside [-1, 1]."""
    def asin_(self, name: str | None = None) -> Tensor:
        """In-place form of `asin`: changes and returns `x`."""
    def asinh(self, name: str | None = None) -> Tensor:
        """The number whose hyperbolic sine is `x`."""
    def asinh_(self, name: str | None = None) -> Tensor:
        """In-place form of `asinh`: changes and returns `x`."""
    def astype(self, dtype: DTypeLike | None) -> Tensor:
        """The numbers in another type; the tensor itself if it has that type already."""
    def atan(self, name: str | None = None) -> Tensor:
        """The angle whose tangent is `x`."""
    def atan2(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """The angle of the point (y, x), between -pi and pi; integers give float64."""
    def atan_(self, name: str | None = None) -> Tensor:
        """In-place form of `atan`: changes and returns `x`."""
    def atanh(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The number whose hyperbolic tangent is `x`; NaN outside [-1, 1]."""
    def atanh_(self, name: str | None = None) -> Tensor:
        """In-place form of `atanh`: changes and returns `x`."""
    def atleast_1d(self, *inputs: Any, name: str | None = None) -> Any:
        """Each input with one dimension at least; itself if it has that already, a list for several inputs."""
    def atleast_2d(self, *inputs: Any, name: str | None = None) -> Any:
        """Each input with two dimensions at least; new ones are in front."""
    def atleast_3d(self, *inputs: Any, name: str | None = None) -> Any:
        """Each input with three dimensions at least: [n] becomes [1, n, 1], [m, n] becomes [m, n, 1]."""
    def backward(
        self,
        grad_tensor: Tensor | None = None,
        retain_graph: builtins.bool = False,
        *,
        dump_backward_graph_path: str | None = None,
    ) -> None:
        """Adds the gradients of this tensor to the `.grad` of the leaves it was computed from."""
    def baddbmm(
        self, x: Tensor, y: Tensor, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None
    ) -> Tensor:
        """`beta * input + alpha * (x @ y)` for batches of matrices; `input` is broadcast to the product."""
    def baddbmm_(
        self, x: Tensor, y: Tensor, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None
    ) -> Tensor:
        """In-place form of `baddbmm`: changes and returns `x`."""
    def bernoulli_(self, p: Any = 0.5, name: str | None = None) -> Tensor:
        """Fills `x` with ones, each with probability `p`, and zeros."""
    def bfloat16(self) -> Tensor:
        """The numbers as bfloat16; the tensor itself if they are that already."""
    def bincount(self, weights: Tensor | None = None, minlength: Any = 0, name: str | None = None) -> Tensor:
        """How often each of the numbers 0, 1, 2 … occurs in a vector of integers; with `weights`, their sums."""
    def bitwise_and(self, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """The bits that both have; of booleans, logical and."""
    def bitwise_and_(self, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """In-place form of `bitwise_and`: changes and returns `x`."""
    def bitwise_invert(self, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """The other bits; of booleans, logical not."""
    def bitwise_invert_(self, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """In-place form of `bitwise_not`: changes and returns `x`."""
    def bitwise_left_shift(
        self, y: Any, is_arithmetic: builtins.bool = True, out: Tensor | None = None, name: str | None = None
    ) -> Tensor:
        """`x << y`; 0 where `y` is negative or as large as the number of bits."""
    def bitwise_left_shift_(
        self, y: Any, is_arithmetic: builtins.bool = True, out: Tensor | None = None, name: str | None = None
    ) -> Tensor:
        """In-place form of `bitwise_left_shift`: changes and returns `x`."""
    def bitwise_not(self, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """The other bits; of booleans, logical not."""
    def bitwise_not_(self, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """In-place form of `bitwise_not`: changes and returns `x`."""
    def bitwise_or(self, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """The bits that one of them has; of booleans, logical or."""
    def bitwise_or_(self, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """In-place form of `bitwise_or`: changes and returns `x`."""
    def bitwise_right_shift(
        self, y: Any, is_arithmetic: builtins.bool = True, out: Tensor | None = None, name: str | None = None
    ) -> Tensor:
        """`x >> y`; an arithmetic shift fills with the sign, a logical one with zeros."""
    def bitwise_right_shift_(
        self, y: Any, is_arithmetic: builtins.bool = True, out: Tensor | None = None, name: str | None = None
    ) -> Tensor:
        """In-place form of `bitwise_right_shift`: changes and returns `x`."""
    def bitwise_xor(self, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """The bits that exactly one of them has; of booleans, exclusive or."""
    def bitwise_xor_(self, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """In-place form of `bitwise_xor`: changes and returns `x`."""
    @property
    def block(self) -> Any:
        """The block of a variable; for a tensor of dynamic code the one that a program would get it into, as in Paddle."""
    def block_diag(self, name: str | None = None) -> Tensor:
        """One matrix with the given ones along its diagonal; a vector counts as a row, a number as 1 by 1."""
    def bmm(self, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Products of two batches of matrices, one by one; no broadcasting."""
    def bool(self) -> Tensor:
        """The numbers as bool; the tensor itself if they are that already."""
    def broadcast_shape(self, y_shape: Any) -> list[builtins.int]:
        """The shape that two shapes are broadcast to; ValueError if they cannot be."""
    def broadcast_shapes(self, *shapes: Any) -> list[builtins.int]:
        """The shape that any number of shapes are broadcast to; ValueError if they cannot be."""
    def broadcast_tensors(self, name: str | None = None) -> list[Tensor]:
        """Tensors expanded to their common shape."""
    def broadcast_to(self, shape: ShapeLike, name: str | None = None) -> Tensor:
        """`x` expanded to a shape; see `expand`."""
    def bucketize(
        self,
        sorted_sequence: Tensor,
        out_int32: builtins.bool = False,
        right: builtins.bool = False,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """The number of the interval between sorted boundaries (a vector) that elements are in."""
    def byte(self) -> Tensor:
        """The numbers as uint8; the tensor itself if they are that already."""
    def cast(self, dtype: DTypeLike | None) -> Tensor:
        """A new tensor with the numbers of `x` in another data type."""
    def cast_(self, dtype: DTypeLike | None) -> Tensor:
        """In-place form of `cast`: changes and returns `x`."""
    def cauchy_(self, loc: Any = 0, scale: Any = 1, name: str | None = None) -> Tensor:
        """Fills `x` with numbers from a Cauchy distribution."""
    def cdist(
        self,
        y: Tensor,
        p: builtins.float = 2.0,
        compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
        name: str | None = None,
    ) -> Tensor:
        """The `p`-norm of the difference of every row of `x` and every row of `y`, batches broadcast."""
    def cdouble(self) -> Tensor:
        """The numbers as complex128; the tensor itself if they are that already."""
    def ceil(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Rounds up."""
    def ceil_(self, name: str | None = None) -> Tensor:
        """In-place form of `ceil`: changes and returns `x`."""
    def cfloat(self) -> Tensor:
        """The numbers as complex64; the tensor itself if they are that already."""
    def char(self) -> Tensor:
        """The numbers as int8; the tensor itself if they are that already."""
    def cholesky(self, upper: builtins.bool = False, name: str | None = None) -> Tensor:
        """The triangular factor of positive definite matrices: `x = L L^H`, or `U^H U` with `upper`."""
    def cholesky_inverse(self, upper: builtins.bool = False, name: str | None = None) -> Tensor:
        """The inverse of a matrix, given the factor that `cholesky` makes of it."""
    def cholesky_solve(self, y: Tensor, upper: builtins.bool = False, name: str | None = None) -> Tensor:
        """The solution of `A z = x`, given the factor `y` of `A` that `cholesky` makes."""
    def chunk(self, chunks: Any, axis: AxisLike = 0, name: str | None = None) -> list[Tensor]:
        """`x` cut along an axis into `chunks` equal parts."""
    def clamp(self, min: Any = None, max: Any = None, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Every element moved into [min, max]. The gradient is 1 inside and at the limits, else 0."""
    def clamp_(self, min: Number | None = None, max: Number | None = None, name: str | None = None) -> Tensor:
        """In-place form of `clip`: changes and returns `x`, whose type stays."""
    def clip(self, min: Any = None, max: Any = None, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Every element moved into [min, max]. The gradient is 1 inside and at the limits, else 0."""
    def clip_(self, min: Number | None = None, max: Number | None = None, name: str | None = None) -> Tensor:
        """In-place form of `clip`: changes and returns `x`, whose type stays."""
    def clone(self, name: str | None = None) -> Tensor:
        """A copy of `x` that its gradient flows back through."""
    def coalesce(self, name: str | None = None) -> Tensor:
        """The elements in order, those at the same position added up."""
    def cols(self) -> Any:
        """Of a sparse CSR tensor only."""
    def combinations(
        self, r: builtins.int = 2, with_replacement: builtins.bool = False, name: str | None = None
    ) -> Tensor:
        """Every way of taking `r` elements of a vector, in their order, a row for each."""
    def complex128(self) -> Tensor:
        """The numbers as complex128; the tensor itself if they are that already."""
    def complex64(self) -> Tensor:
        """The numbers as complex64; the tensor itself if they are that already."""
    def concat(self, axis: AxisLike = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tensors joined along an existing axis; all other dimensions are equal."""
    def cond(self, p: Any = None, name: str | None = None) -> Tensor:
        """The condition number: the norm of matrices times the norm of their inverses."""
    def conj(self, name: str | None = None) -> Tensor:
        """The complex conjugate."""
    def contiguous(self) -> Tensor:
        """The tensor itself; where its elements did not lie one after the other, it has a memory of its own from now on."""
    def copy_(self, other: TensorLike, blocking: builtins.bool = True) -> Tensor:
        """Copies the numbers of another tensor of the same shape and type. Neither history nor version"""
    def copysign(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """The magnitude of `x` with the sign of `y`; a zero has a sign as well."""
    def copysign_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """In-place form of `copysign`: changes and returns `x`."""
    def corrcoef(self, rowvar: builtins.bool = True, name: str | None = None) -> Tensor:
        """The correlations of variables: their covariances divided by their deviations, from -1 to 1."""
    def cos(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The cosine."""
    def cos_(self, name: str | None = None) -> Tensor:
        """In-place form of `cos`: changes and returns `x`."""
    def cosh(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The hyperbolic cosine."""
    def cosh_(self, name: str | None = None) -> Tensor:
        """In-place form of `cosh`: changes and returns `x`."""
    def count_nonzero(
        self, axis: AxisLike | None = None, keepdim: builtins.bool = False, name: str | None = None
    ) -> Tensor:
        """How many elements over some axes (all by default) are not zero."""
    def cov(
        self,
        rowvar: builtins.bool = True,
        ddof: builtins.bool = True,
        fweights: Tensor | None = None,
        aweights: Tensor | None = None,
        name: str | None = None,
    ) -> Tensor:
        """The covariances of variables (rows of `x`, or columns with `rowvar=False`) over observations."""
    def cpu(self) -> Tensor:
        """The tensor on the CPU; itself if it is there."""
    @staticmethod
    def create_parameter(
        shape: ShapeLike,
        dtype: DTypeLike | None,
        name: str | None = None,
        attr: Any = None,
        is_bias: builtins.bool = False,
        default_initializer: Any = None,
    ) -> Any:
        """A new parameter; the same as `paddle.create_parameter`."""
    @staticmethod
    def create_tensor(dtype: DTypeLike | None, name: str | None = None, persistable: builtins.bool = False) -> Tensor:
        """A tensor of a type without elements, to be filled later."""
    def cross(self, y: Tensor, axis: builtins.int = 9, name: str | None = None) -> Tensor:
        """The vector product along an axis of three elements; the default is the first such axis."""
    def crows(self) -> Any:
        """Of a sparse CSR tensor only."""
    def cuda(self, device_id: builtins.int | None = None, blocking: builtins.bool = True) -> Tensor:
        """The tensor on a GPU (the first by default, or where it is); ValueError if there is none."""
    def cummax(
        self, axis: AxisLike | None = None, dtype: DTypeLike = "int64", name: str | None = None
    ) -> tuple[Tensor, Tensor]:
        """The largest element so far along `axis` and its position (of equal ones, the last)."""
    def cummin(
        self, axis: AxisLike | None = None, dtype: DTypeLike = "int64", name: str | None = None
    ) -> tuple[Tensor, Tensor]:
        """The smallest element so far along `axis` and its position (of equal ones, the last)."""
    def cumprod(
        self, dim: Any = None, *, dtype: Any = None, out: Tensor | None = None, name: str | None = None
    ) -> Tensor:
        """Running products along `dim`, or over the flattened tensor."""
    def cumprod_(self, dim: AxisLike | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """In-place form of `cumprod`."""
    def cumsum(
        self, axis: Any = None, dtype: Any = None, name: str | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """Running sums along `axis`, or over the flattened tensor. Booleans and integers give int64."""
    def cumsum_(self, axis: AxisLike | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """In-place form of `cumsum`; a data type of numbers stays unless another is named."""
    def cumulative_trapezoid(
        self, x: Tensor | None = None, dx: Any = None, axis: builtins.int = -1, name: str | None = None
    ) -> Tensor:
        """The area under the polygon through `y` up to each point but the first, along `axis`."""
    @property
    def data(self) -> Tensor:
        """The value outside the graph, as `detach()` gives it."""
    @data.setter
    def data(self, value: Any) -> None: ...
    def data_ptr(self) -> builtins.int:
        """The address of the value: of a host array, or of the buffer on a device."""
    def deg2rad(self, name: str | None = None) -> Tensor:
        """Angles in degrees as radians."""
    def dense_dim(self) -> builtins.int:
        """How many dimensions are dense."""
    def detach(self) -> Tensor:
        """The same value outside the graph: no gradient, shared memory."""
    def detach_(self) -> Tensor:
        """Takes the tensor itself out of the graph."""
    @property
    def device(self) -> Device:
        """Where the tensor is, as a Device."""
    def diag(self, offset: builtins.int = 0, padding_value: builtins.float = 0, name: str | None = None) -> Tensor:
        """A matrix with `x` on a diagonal and `padding_value` elsewhere; of a matrix, its diagonal."""
    def diag_embed(self, offset: builtins.int = 0, dim1: builtins.int = -2, dim2: builtins.int = -1) -> Tensor:
        """Matrices along two new axes that have the last axis of `input` on a diagonal, and zeros elsewhere."""
    def diagflat(self, offset: builtins.int = 0, name: str | None = None) -> Tensor:
        """A square matrix with all elements of `x` on a diagonal, and zeros elsewhere."""
    def diagonal(
        self, offset: builtins.int = 0, axis1: builtins.int = 0, axis2: builtins.int = 1, name: str | None = None
    ) -> Tensor:
        """The diagonal of the matrices that two axes span, as the last axis; a view of `x`."""
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
        """Differences of neighbours along `axis`, `n` times over; of booleans, whether they differ."""
    def digamma(self, name: str | None = None) -> Tensor:
        """The derivative of `lgamma`; NaN at negative integers."""
    def digamma_(self, name: str | None = None) -> Tensor:
        """In-place form of `digamma`: changes and returns `x`."""
    def dist(self, y: Tensor, p: builtins.float = 2, name: str | None = None) -> Tensor:
        """The `p`-norm of `x - y`, which are broadcast together."""
    def div(
        self, y: Any, name: str | None = None, *, rounding_mode: str | None = None, out: Tensor | None = None
    ) -> Tensor:
        """`x / y`, element by element; integers give float32, unless rounded ('trunc', 'floor')."""
    def div_(self, y: Any, name: str | None = None, *, rounding_mode: str | None = None) -> Tensor:
        """In-place form of `divide`: changes and returns `x`."""
    def divide(
        self, y: Any, name: str | None = None, *, rounding_mode: str | None = None, out: Tensor | None = None
    ) -> Tensor:
        """`x / y`, element by element; integers give float32, unless rounded ('trunc', 'floor')."""
    def divide_(self, y: Any, name: str | None = None, *, rounding_mode: str | None = None) -> Tensor:
        """In-place form of `divide`: changes and returns `x`."""
    def dot(self, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The sum of the products of two vectors, or of each row of two matrices."""
    def double(self) -> Tensor:
        """The numbers as float64; the tensor itself if they are that already."""
    def dsplit(self, num_or_indices: Any, name: str | None = None) -> list[Tensor]:
        """`x` cut along the third axis; see `tensor_split`."""
    def eig(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Eigenvalues and eigenvectors (columns) of square matrices, always complex."""
    def eigvals(self, name: str | None = None) -> Tensor:
        """Eigenvalues of square matrices, always complex."""
    def eigvalsh(self, UPLO: str = "L", name: str | None = None) -> Tensor:
        """Eigenvalues, rising, of symmetric or Hermitian matrices."""
    def elu_(self, alpha: builtins.float = 1.0, name: str | None = None) -> Tensor:
        """In-place form of `elu`: changes and returns `x`."""
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
        """`x == y`, element by element."""
    def equal(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x == y`, element by element."""
    def equal_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """In-place form of `equal`: changes and returns `x`."""
    def equal_all(self, y: Tensor, name: str | None = None) -> Tensor:
        """Whether two tensors have the same shape and the same elements: one boolean."""
    def erf(self, name: str | None = None) -> Tensor:
        """The error function."""
    def erf_(self, name: str | None = None) -> Tensor:
        """In-place form of `erf`: changes and returns `x`."""
    def erfinv(self, name: str | None = None) -> Tensor:
        """The inverse of the error function; NaN outside [-1, 1]."""
    def erfinv_(self, name: str | None = None) -> Tensor:
        """In-place form of `erfinv`: changes and returns `x`."""
    def exp(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """e to the power of `x`."""
    def exp_(self, name: str | None = None) -> Tensor:
        """In-place form of `exp`: changes and returns `x`."""
    def expand(self, shape: ShapeLike, name: str | None = None) -> Tensor:
        """`x` repeated along dimensions of 1 (and new ones in front) to a shape; -1 keeps a"""
    def expand_as(self, y: Tensor, name: str | None = None) -> Tensor:
        """`x` expanded to the shape of `y`."""
    def expm1(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`exp(x) - 1`, exact also near 0."""
    def expm1_(self, name: str | None = None) -> Tensor:
        """In-place form of `expm1`: changes and returns `x`."""
    def exponential_(self, lam: Any = 1.0, name: str | None = None) -> Tensor:
        """Fills `x` with numbers drawn from an exponential distribution of rate `lam`."""
    def fill_(self, value: Any) -> Tensor:
        """Sets every element of `x` to a number."""
    def fill_diagonal_(
        self, value: Any, offset: builtins.int = 0, wrap: builtins.bool = False, name: str | None = None
    ) -> Tensor:
        """In-place form of `_with_number_on_diagonal`: changes and returns `x`."""
    def fill_diagonal_tensor(
        self,
        y: Tensor,
        offset: builtins.int = 0,
        dim1: builtins.int = 0,
        dim2: builtins.int = 1,
        name: str | None = None,
    ) -> Tensor:
        """`x` with `y` on a diagonal of the matrices that two axes span."""
    def fill_diagonal_tensor_(
        self,
        y: Tensor,
        offset: builtins.int = 0,
        dim1: builtins.int = 0,
        dim2: builtins.int = 1,
        name: str | None = None,
    ) -> Tensor:
        """In-place form of `fill_diagonal_tensor`: changes and returns `x`."""
    def flatten(self, start_axis: Any = 0, stop_axis: Any = -1, name: str | None = None) -> Tensor:
        """`x` with the axes from `start_axis` to `stop_axis` merged into one. Shares memory with"""
    def flatten_(self, start_axis: Any = 0, stop_axis: Any = -1, name: str | None = None) -> Tensor:
        """In-place form of `flatten`."""
    def flip(self, axis: AxisLike | None, name: str | None = None) -> Tensor:
        """`x` with the order of elements along some axes reversed."""
    def float(self) -> Tensor:
        """The numbers as float32; the tensor itself if they are that already."""
    def float16(self) -> Tensor:
        """The numbers as float16; the tensor itself if they are that already."""
    def float32(self) -> Tensor:
        """The numbers as float32; the tensor itself if they are that already."""
    def float64(self) -> Tensor:
        """The numbers as float64; the tensor itself if they are that already."""
    def floor(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Rounds down."""
    def floor_(self, name: str | None = None) -> Tensor:
        """In-place form of `floor`: changes and returns `x`."""
    def floor_divide(self, y: Any, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The quotient rounded down. A zero among integer divisors raises ZeroDivisionError."""
    def floor_divide_(self, y: TensorLike) -> Tensor:
        """In-place form of `_floor_divide`: changes and returns `x`."""
    def floor_mod(self, y: Any, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """What division rounding down leaves: it has the sign of `y`. Integers: no zero divisor."""
    def floor_mod_(self, y: Any, name: str | None = None) -> Tensor:
        """In-place form of `remainder`: changes and returns `x`."""
    def fmax(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """The larger of each pair, or the one that is not NaN. At ties the gradient goes to `x`."""
    def fmin(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """The smaller of each pair, or the one that is not NaN. At ties the gradient goes to `x`."""
    def frac(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """What is behind the point, with the sign of `x`."""
    def frac_(self, name: str | None = None) -> Tensor:
        """In-place form of `frac`: changes and returns `x`."""
    def frexp(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Mantissa (at least 0.5, below 1) and exponent: `x = mantissa * 2 ** exponent`."""
    def full_like(
        self,
        fill_value: Any,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        *,
        device: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """A tensor like `x`, filled with `fill_value`."""
    def gammainc(self, y: Tensor, name: str | None = None) -> Tensor:
        """The regularised lower incomplete gamma function of order `x` at `y`; differentiable in `y`."""
    def gammainc_(self, y: Tensor, name: str | None = None) -> Tensor:
        """In-place form of `gammainc`: changes and returns `x`."""
    def gammaincc(self, y: Tensor, name: str | None = None) -> Tensor:
        """The regularised upper incomplete gamma function, `1 - gammainc(x, y)`; differentiable in `y`."""
    def gammaincc_(self, y: Tensor, name: str | None = None) -> Tensor:
        """In-place form of `gammaincc`: changes and returns `x`."""
    def gammaln(self, name: str | None = None) -> Tensor:
        """The logarithm of the absolute value of the gamma function; infinite at its poles."""
    def gammaln_(self, name: str | None = None) -> Tensor:
        """In-place form of `lgamma`: changes and returns `x`."""
    def gather(
        self, index: Tensor, axis: AxisLike | None = None, name: str | None = None, out: Tensor | None = None
    ) -> Tensor:
        """The slices of `x` along an axis (the first by default) that `index` names."""
    def gather_nd(self, index: Tensor, name: str | None = None) -> Tensor:
        """`x[index[..., 0], index[..., 1], …]`: the last dimension of `index` holds one position."""
    def gcd(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """The greatest common divisor; of two zeros, 0."""
    def gcd_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """In-place form of `gcd`: changes and returns `x`."""
    def ge(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x >= y`, element by element."""
    def geometric_(self, probs: Any, name: str | None = None) -> Tensor:
        """Fills `x` with the number of trials up to the first success: 1, 2, … with success probability `probs`."""
    def get_device(self) -> builtins.int:
        """The number of the tensor's device; -1 on the CPU."""
    def get_map_tensor(self) -> Any:
        """RuntimeError: only a vocabulary has this."""
    def get_selected_rows(self) -> None:
        """The selected rows behind the tensor: none, it is dense."""
    def get_strides(self) -> list[builtins.int]:
        """Elements between neighbours along each axis."""
    def get_tensor(self) -> Tensor:
        """The tensor itself."""
    @property
    def grad_(self) -> Tensor | None:
        """The gradient; see `grad`."""
    @grad_.setter
    def grad_(self, value: Any) -> None: ...
    def greater(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x > y`, element by element."""
    def greater_equal(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x >= y`, element by element."""
    def greater_equal_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """In-place form of `greater_equal`: changes and returns `x`."""
    def greater_than(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x > y`, element by element."""
    def greater_than_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """In-place form of `greater_than`: changes and returns `x`."""
    def gt(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x > y`, element by element."""
    def half(self) -> Tensor:
        """The numbers as float16; the tensor itself if they are that already."""
    def hardtanh_(self, min: builtins.float = -1.0, max: builtins.float = 1.0, name: str | None = None) -> Tensor:
        """In-place form of `hardtanh`: changes and returns `x`."""
    def heaviside(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """0 for negative `x`, 1 for positive, `y` at zero (and 0 for NaN, which is not positive)."""
    def histogram(
        self,
        bins: Any = 100,
        min: Number = 0.0,
        max: Number = 0.0,
        weight: Tensor | None = None,
        density: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """How many elements lie in each of `bins` equal intervals from `min` to `max`, both included."""
    def histogram_bin_edges(
        self, bins: Any = 100, min: Number = 0.0, max: Number = 0.0, name: str | None = None
    ) -> Tensor:
        """The edges of `bins` equal intervals from `min` to `max`, or over the range of the elements."""
    def histogramdd(
        self,
        bins: Any = 10,
        ranges: Sequence[builtins.float] | None = None,
        density: builtins.bool = False,
        weights: Tensor | None = None,
        name: str | None = None,
    ) -> tuple[Tensor, list[Tensor]]:
        """Counts of points (the last axis of `x` holds their coordinates) in a grid, and the grid's edges."""
    def householder_product(self, tau: Tensor, name: str | None = None) -> Tensor:
        """The first columns of `H1 H2 … Hk`, the `Q` that geqrf leaves in pieces."""
    def hsplit(self, num_or_indices: Any, name: str | None = None) -> list[Tensor]:
        """`x` cut along the second axis (the first, if it has one only); see `tensor_split`."""
    def hypot(self, y: Tensor, name: str | None = None) -> Tensor:
        """The length of the hypotenuse, `sqrt(x * x + y * y)`, without overflow on the way."""
    def hypot_(self, y: Tensor, name: str | None = None) -> Tensor:
        """In-place form of `hypot`: changes and returns `x`."""
    def i0(self, name: str | None = None) -> Tensor:
        """The modified Bessel function of the first kind, order 0."""
    def i0_(self, name: str | None = None) -> Tensor:
        """In-place form of `i0`: changes and returns `x`."""
    def i0e(self, name: str | None = None) -> Tensor:
        """`exp(-|x|) * i0(x)`, which does not overflow."""
    def i1(self, name: str | None = None) -> Tensor:
        """The modified Bessel function of the first kind, order 1."""
    def i1e(self, name: str | None = None) -> Tensor:
        """`exp(-|x|) * i1(x)`, which does not overflow."""
    def imag(self, name: str | None = None) -> Tensor:
        """The imaginary part, a view of `x`."""
    def increment(self, value: Any = 1.0, name: str | None = None) -> Tensor:
        """Adds `value` to the one element of `x`, in place."""
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
        """`x` plus `alpha * value`, the slices of `value` going where `index` says along an axis."""
    def index_add_(
        self, index: Tensor, axis: AxisLike | None, value: Tensor, alpha: Number = 1, name: str | None = None
    ) -> Tensor:
        """In-place form of `index_add`: changes and returns `x`."""
    def index_fill(self, index: Tensor, axis: AxisLike | None, value: Any, name: str | None = None) -> Tensor:
        """`x` with one number in the slices that `index` names along an axis."""
    def index_fill_(self, index: Tensor, axis: AxisLike | None, value: Any, name: str | None = None) -> Tensor:
        """In-place form of `index_fill`: changes and returns `x`."""
    def index_put(
        self, indices: Any, value: Tensor, accumulate: builtins.bool = False, name: str | None = None
    ) -> Tensor:
        """`x` with `value` at `x[indices]`, or added to what is there when `accumulate` is set."""
    def index_put_(
        self, indices: Any, value: Tensor, accumulate: builtins.bool = False, name: str | None = None
    ) -> Tensor:
        """In-place form of `index_put`: changes and returns `x`."""
    def index_sample(self, index: Tensor) -> Tensor:
        """For each row of `x` the elements that the same row of `index` names."""
    def index_select(
        self, index: Tensor, axis: AxisLike = 0, name: str | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """The slices of `x` along an axis that `index`, with one dimension, names."""
    def indices(self) -> Any:
        """Of a sparse COO tensor only."""
    def inner(self, y: Tensor, name: str | None = None) -> Tensor:
        """Products summed over the last dimension of both; a 0-d operand scales the other."""
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
        """The inverse of square matrices; a singular one raises ValueError."""
    def is_coalesced(self) -> Any:
        """Of a sparse COO tensor only."""
    def is_complex(self) -> builtins.bool:
        """Whether a tensor has a complex type."""
    def is_contiguous(self) -> builtins.bool:
        """Whether the elements lie one after the other in Paddle's memory: not so for most slices and transposes."""
    is_data: builtins.bool
    def is_dist(self) -> builtins.bool:
        """Whether the tensor lies on a mesh. What is computed from such tensors does, too."""
    def is_empty(self, name: str | None = None) -> Tensor:
        """Whether a tensor has no elements, as a bool tensor."""
    def is_floating_point(self) -> builtins.bool:
        """Whether a tensor has a floating type."""
    def is_integer(self) -> builtins.bool:
        """Whether a tensor has an integer type (bool is none)."""
    def is_same(self, other: Any) -> builtins.bool: ...
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
        """Whether an element is neither NaN nor infinite."""
    def isin(
        self,
        test_x: Tensor,
        assume_unique: builtins.bool = False,
        invert: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """Whether each element of `x` is among the elements of `test_x` (or, with `invert`, is not)."""
    def isinf(self, name: str | None = None) -> Tensor:
        """Whether an element is infinite."""
    def isnan(self, name: str | None = None) -> Tensor:
        """Whether an element is NaN."""
    def isneginf(self, name: str | None = None) -> Tensor:
        """Whether an element is minus infinity."""
    def isposinf(self, name: str | None = None) -> Tensor:
        """Whether an element is plus infinity."""
    def isreal(self, name: str | None = None) -> Tensor:
        """Whether an element has no imaginary part."""
    def istft(
        self,
        n_fft: Any,
        hop_length: Any = None,
        win_length: Any = None,
        window: Tensor | None = None,
        center: builtins.bool = True,
        normalized: builtins.bool = False,
        onesided: builtins.bool = True,
        length: Any = None,
        return_complex: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """The signal whose `stft` is (closest to) `x`, [frequencies, pieces] or [batch, frequencies, pieces]."""
    def kron(self, y: Tensor, name: str | None = None) -> Tensor:
        """The Kronecker product: every element of `x` times all of `y`, as blocks."""
    def kthvalue(
        self, k: Any, axis: AxisLike | None = None, keepdim: builtins.bool = False, name: str | None = None
    ) -> tuple[Tensor, Tensor]:
        """The `k`-th smallest element along `axis` (the last by default) and its position."""
    @property
    def layout(self) -> str:
        """Paddle's name for the order of dimensions in memory; the same for every tensor, sparse ones too."""
    def lcm(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """The least common multiple; 0 where one of the two is 0."""
    def lcm_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """In-place form of `lcm`: changes and returns `x`."""
    def ldexp(self, y: Tensor, name: str | None = None) -> Tensor:
        """`x * 2 ** y`; integers and half types give float32."""
    def ldexp_(self, y: Tensor, name: str | None = None) -> Tensor:
        """In-place form of `ldexp`: changes and returns `x`."""
    def le(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x <= y`, element by element."""
    def leaky_relu_(self, negative_slope: builtins.float = 0.01, name: str | None = None) -> Tensor:
        """In-place form of `leaky_relu`: changes and returns `x`."""
    def lerp(self, y: Tensor, weight: Any, name: str | None = None) -> Tensor:
        """`x + weight * (y - x)`: from `x` (weight 0) to `y` (weight 1)."""
    def lerp_(self, y: Tensor, weight: Any, name: str | None = None) -> Tensor:
        """In-place form of `lerp`: changes and returns `x`."""
    def less(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x < y`, element by element."""
    def less_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """In-place form of `less_than`: changes and returns `x`."""
    def less_equal(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x <= y`, element by element."""
    def less_equal_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """In-place form of `less_equal`: changes and returns `x`."""
    def less_than(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x < y`, element by element."""
    def less_than_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """In-place form of `less_than`: changes and returns `x`."""
    def lgamma(self, name: str | None = None) -> Tensor:
        """The logarithm of the absolute value of the gamma function; infinite at its poles."""
    def lgamma_(self, name: str | None = None) -> Tensor:
        """In-place form of `lgamma`: changes and returns `x`."""
    lod_level: builtins.int
    def log(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The natural logarithm; NaN for negative numbers."""
    def log10(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The logarithm to base 10."""
    def log10_(self, name: str | None = None) -> Tensor:
        """In-place form of `log10`: changes and returns `x`."""
    def log1p(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`log(1 + x)`, exact also near 0."""
    def log1p_(self, name: str | None = None) -> Tensor:
        """In-place form of `log1p`: changes and returns `x`."""
    def log2(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The logarithm to base 2."""
    def log2_(self, name: str | None = None) -> Tensor:
        """In-place form of `log2`: changes and returns `x`."""
    def log_(self, name: str | None = None) -> Tensor:
        """In-place form of `log`: changes and returns `x`."""
    def log_normal_(self, mean: Number = 1.0, std: Number = 2.0, name: str | None = None) -> Tensor:
        """Fills `x` with numbers whose logarithm has a normal distribution."""
    def logaddexp(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """`log(exp(x) + exp(y))` without overflow."""
    def logcumsumexp(
        self, axis: AxisLike | None = None, dtype: DTypeLike | None = None, name: str | None = None
    ) -> Tensor:
        """Logarithm of the running sums of `exp(x)` along `axis`, without overflow."""
    def logical_and(self, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether both are true, element by element."""
    def logical_and_(self, y: Tensor, name: str | None = None) -> Tensor:
        """In-place form of `logical_and`: changes and returns `x`."""
    def logical_not(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether an element is not true."""
    def logical_not_(self, name: str | None = None) -> Tensor:
        """In-place form of `logical_not`: changes and returns `x`."""
    def logical_or(self, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether one of them is true, element by element."""
    def logical_or_(self, y: Tensor, name: str | None = None) -> Tensor:
        """In-place form of `logical_or`: changes and returns `x`."""
    def logical_xor(self, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Whether exactly one of them is true, element by element."""
    def logical_xor_(self, y: Tensor, name: str | None = None) -> Tensor:
        """In-place form of `logical_xor`: changes and returns `x`."""
    def logit(self, eps: builtins.float | None = None, name: str | None = None) -> Tensor:
        """`log(x / (1 - x))`; NaN outside [0, 1], unless `eps` says to clip to [eps, 1 - eps] first."""
    def logit_(self, eps: builtins.float | None = None, name: str | None = None) -> Tensor:
        """In-place form of `logit`: changes and returns `x`."""
    def logsumexp(
        self, axis: Any = None, keepdim: builtins.bool = False, name: str | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """`log(sum(exp(x)))` over some axes (all by default), without overflow."""
    def long(self) -> Tensor:
        """The numbers as int64; the tensor itself if they are that already."""
    def lstsq(
        self, y: Tensor, rcond: builtins.float | None = None, driver: str | None = None, name: str | None = None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The shortest `z` with the least `|x z - y|`; also the residuals, the rank and the singular values."""
    def lt(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x < y`, element by element."""
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
        """`P`, `L` and `U` from what `lu` gives; empty tensors for those that are not asked for."""
    @property
    def mT(self) -> Tensor:
        """`x` with its last two axes exchanged. Shares memory with `x`."""
    def masked_fill(self, mask: Tensor, value: Any, name: str | None = None) -> Tensor:
        """`value` (a number or a tensor with one element) where the mask is true, else `x`."""
    def masked_fill_(self, mask: Tensor, value: Any, name: str | None = None) -> Tensor:
        """In-place form of `masked_fill`: changes and returns `x`."""
    def masked_scatter(self, mask: Tensor, value: Tensor, name: str | None = None) -> Tensor:
        """`x` with the elements of `value`, one after the other, where the mask is true; IndexError if they do not"""
    def masked_scatter_(self, mask: Tensor, value: Tensor, name: str | None = None) -> Tensor:
        """In-place form of `masked_scatter`: changes and returns `x`."""
    def masked_select(self, mask: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The elements of `x` where `mask` is true, in one dimension; the two are broadcast together."""
    def matmul(
        self,
        y: Tensor,
        transpose_x: builtins.bool = False,
        transpose_y: builtins.bool = False,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """The matrix product over the last two dimensions, the others broadcast."""
    def matrix_power(self, n: builtins.int, name: str | None = None) -> Tensor:
        """`x` multiplied with itself `n` times; for negative `n`, the inverse."""
    def matrix_transpose(self, name: str | None = None) -> Tensor:
        """The last two dimensions exchanged; the result shares memory with `x`."""
    def max(self, axis: AxisLike | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """The largest element over some axes (all by default). NaN counts as largest."""
    def maximum(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The larger of each pair; NaN if one of them is NaN. Equal ones share the gradient."""
    def mean(
        self,
        axis: Any = None,
        keepdim: builtins.bool = False,
        name: str | None = None,
        *,
        dtype: Any = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The average over some axes (all by default), in the type of `x`."""
    def median(
        self,
        axis: AxisLike | None = None,
        keepdim: builtins.bool = False,
        mode: str = "avg",
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The middle element along `axis` (of the flattened tensor by default); NaN if there is one."""
    def min(self, axis: AxisLike | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """The smallest element over some axes (all by default). NaN counts as smallest."""
    def minimum(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The smaller of each pair; NaN if one of them is NaN. Equal ones share the gradient."""
    def mm(self, mat2: Tensor, name: str | None = None) -> Tensor:
        """The matrix product; the same as `matmul` without its flags."""
    def mod(self, y: Any, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """What division rounding down leaves: it has the sign of `y`. Integers: no zero divisor."""
    def mod_(self, y: Any, name: str | None = None) -> Tensor:
        """In-place form of `remainder`: changes and returns `x`."""
    def mode(
        self, axis: builtins.int = -1, keepdim: builtins.bool = False, name: str | None = None
    ) -> tuple[Tensor, Tensor]:
        """The commonest element along `axis` (the smallest of several) and its last position."""
    def moveaxis(self, source: Any, destination: Any, name: str | None = None) -> Tensor:
        """`x` with some axes moved to other places, the rest in order. Shares memory with `x`."""
    def msort(self, *, out: Tensor | None = None) -> Tensor:
        """The elements in order along the first axis."""
    def mul(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x * y`, element by element."""
    def mul_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """In-place form of `multiply`: changes and returns `x`."""
    def multi_dot(self, name: str | None = None) -> Tensor:
        """The product of two or more matrices in the order that takes the least work."""
    def multigammaln(self, p: builtins.int, name: str | None = None) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension `p`, for `x > (p - 1) / 2`."""
    def multigammaln_(self, p: builtins.int, name: str | None = None) -> Tensor:
        """In-place form of `multigammaln`: changes and returns `x`."""
    def multinomial(
        self,
        num_samples: Any = 1,
        replacement: builtins.bool = False,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Numbers of categories, drawn with the weights that the last dimension of `x` holds."""
    def multiplex(self, index: Tensor, name: str | None = None) -> Tensor:
        """Row `i` of the result is row `i` of the input that `index[i]` names."""
    def multiply(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x * y`, element by element."""
    def multiply_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """In-place form of `multiply`: changes and returns `x`."""
    def mv(self, vec: Tensor, name: str | None = None) -> Tensor:
        """A matrix times a vector."""
    def nan_to_num(
        self,
        nan: builtins.float = 0.0,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
        name: str | None = None,
    ) -> Tensor:
        """NaN and infinities replaced by numbers (infinities by the largest finite ones)."""
    def nan_to_num_(
        self,
        nan: builtins.float = 0.0,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
        name: str | None = None,
    ) -> Tensor:
        """In-place form of `nan_to_num`: changes and returns `x`."""
    def nanmean(self, axis: AxisLike | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """The average over some axes (all by default) of the elements that are not NaN."""
    def nanmedian(
        self, axis: AxisLike | None = None, keepdim: builtins.bool = False, mode: str = "avg", name: str | None = None
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The middle of the elements that are not NaN, over `axis` (all by default)."""
    def nanquantile(
        self, q: Any, axis: AxisLike | None = None, keepdim: builtins.bool = False, interpolation: str = "linear"
    ) -> Tensor:
        """What a fraction `q` of the elements that are not NaN lies below, over `axis` (all by default)."""
    def nansum(
        self,
        axis: AxisLike | None = None,
        dtype: DTypeLike | None = None,
        keepdim: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """The sum over some axes (all by default), NaN taken as zero."""
    def narrow(self, dim: Any, start: Any, length: Any) -> Tensor:
        """`length` elements of an axis from `start` on. Shares memory with the tensor."""
    def ne(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x != y`, element by element."""
    def neg(self, name: str | None = None) -> Tensor:
        """`-x`."""
    def neg_(self, name: str | None = None) -> Tensor:
        """In-place form of `neg`: changes and returns `x`."""
    def negative(self, name: str | None = None) -> Tensor:
        """`-x`."""
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
        fill_value: Any,
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
        """Of a sparse COO or CSR tensor only."""
    def nonzero(self, as_tuple: builtins.bool = False, *, out: Tensor | None = None) -> Tensor | tuple[Tensor, ...]:
        """Positions of the elements that are not zero: one row each, or one tensor for each axis."""
    def norm(
        self,
        p: Any = None,
        axis: Any = None,
        keepdim: builtins.bool = False,
        out: Tensor | None = None,
        dtype: Any = None,
        name: str | None = None,
    ) -> Tensor:
        """The length of vectors, or the norm of matrices."""
    def normal_(self, mean: Number = 0.0, std: Number = 1.0, name: str | None = None) -> Tensor:
        """Fills `x` with numbers drawn from a normal distribution."""
    def not_equal(self, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x != y`, element by element."""
    def not_equal_(self, y: Tensor | complex, name: str | None = None) -> Tensor:
        """In-place form of `not_equal`: changes and returns `x`."""
    @property
    def num_shard(self) -> builtins.int | None:
        """Into how many parts the tensor is cut, or None."""
    def numel(self, name: str | None = None) -> Tensor:
        """The number of elements, as a 0-d integer tensor (on the host, its value is known at once)."""
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
        """Ones in the shape (and type, unless another is named) of `x`."""
    @property
    def op(self) -> Any: ...
    def ormqr(
        self,
        tau: Tensor,
        y: Tensor,
        left: builtins.bool = True,
        transpose: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """`Q y`, or `y Q` with `left=False`, for `Q = householder_product(x, tau)`; `Q^H` with `transpose`."""
    def outer(self, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Every element of `x` times every element of `y`, both flattened."""
    def pca_lowrank(
        self,
        q: builtins.int | None = None,
        center: builtins.bool = True,
        niter: builtins.int = 2,
        name: str | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Principal components: `svd_lowrank` of `x` less the mean of its rows (unless `center=False`)."""
    def permute(self, dims: Any) -> Tensor:
        """A tensor with its axes in the order `dims` (a list, or one after the other). Shares memory with it."""
    def pin_memory(self, blocking: builtins.bool = True) -> Tensor:
        """The tensor itself: transfers to a device need no pinned memory here."""
    def pinv(self, rcond: Any = 1e-15, hermitian: builtins.bool = False, name: str | None = None) -> Tensor:
        """The pseudo-inverse: the inverse on what `x` reaches, zero elsewhere."""
    @property
    def placements(self) -> list[Placement] | None:
        """How the tensor lies on each axis of its mesh, or None."""
    def polar(self, angle: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The complex numbers of a magnitude and an angle in radians."""
    def polygamma(self, n: builtins.int, name: str | None = None) -> Tensor:
        """The derivative number `n` of `digamma`, for positive `x`."""
    def polygamma_(self, n: builtins.int, name: str | None = None) -> Tensor:
        """In-place form of `polygamma`: changes and returns `x`."""
    def pow(self, y: Any, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`x ** y`, element by element."""
    def pow_(self, y: Any, name: str | None = None) -> Tensor:
        """In-place form of `pow`: changes and returns `x`."""
    @property
    def process_mesh(self) -> ProcessMesh | None:
        """The mesh that the tensor lies on, or None."""
    def prod(
        self,
        axis: Any = None,
        keepdim: builtins.bool = False,
        dtype: Any = None,
        out: Tensor | None = None,
        name: str | None = None,
    ) -> Tensor:
        """The product over some axes (all by default)."""
    def put_along_axis(
        self,
        indices: Tensor,
        values: Any,
        axis: AxisLike | None,
        reduce: str = "assign",
        include_self: builtins.bool = True,
        broadcast: builtins.bool = True,
    ) -> Tensor:
        """`arr` with `values` at `indices` along an axis: assigned, or combined with what is there."""
    def put_along_axis_(
        self,
        indices: Tensor,
        values: Any,
        axis: AxisLike | None,
        reduce: str = "assign",
        include_self: builtins.bool = True,
        broadcast: builtins.bool = True,
    ) -> Tensor:
        """In-place form of `put_along_axis`: changes and returns `x`."""
    def qr(self, mode: str = "reduced", name: str | None = None) -> Any:
        """`x = Q R` with orthonormal columns in `Q` and `R` upper triangular."""
    def quantile(
        self,
        q: Any,
        axis: AxisLike | None = None,
        keepdim: builtins.bool = False,
        interpolation: str = "linear",
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """What a fraction `q` of the elements over `axis` (all by default) lies below; NaN if one is NaN."""
    def rad2deg(self, name: str | None = None) -> Tensor:
        """Angles in radians as degrees."""
    def randint_like(
        self, low: Any = 0, high: Any = None, dtype: DTypeLike | None = None, name: str | None = None
    ) -> Tensor:
        """Integers drawn uniformly, in the shape (and type, unless another is named) of a tensor."""
    def random_(self, from_: Any = 0, to: Any = None, *, generator: None = None) -> Tensor:
        """Fills `x` with integers drawn uniformly from [from_, to)."""
    def rank(self) -> Tensor:
        """The number of dimensions, as an int32 tensor."""
    def ravel(self) -> Tensor:
        """All elements in one dimension. Shares memory with the tensor."""
    def real(self, name: str | None = None) -> Tensor:
        """The real part, a view of `x`."""
    def reciprocal(self, name: str | None = None) -> Tensor:
        """`1 / x`."""
    def reciprocal_(self, name: str | None = None) -> Tensor:
        """In-place form of `reciprocal`: changes and returns `x`."""
    def reconstruct_from_(self, other: Tensor) -> None:
        """The tensor becomes another name of `other`: its value, shape and type, sharing memory."""
    def reduce_as(self, target: Tensor, name: str | None = None) -> Tensor:
        """`x` summed down to the shape of `target`, which must broadcast to that of `x`."""
    def register_hook(self, hook: Hook) -> RemovableHandle:
        """Calls `hook(gradient)` in every backward pass that reaches this tensor."""
    def relu_(self, name: str | None = None) -> Tensor:
        """In-place form of `relu`: changes and returns `x`."""
    def remainder(self, y: Any, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """What division rounding down leaves: it has the sign of `y`. Integers: no zero divisor."""
    def remainder_(self, y: Any, name: str | None = None) -> Tensor:
        """In-place form of `remainder`: changes and returns `x`."""
    def renorm(self, p: builtins.float, axis: builtins.int, max_norm: builtins.float) -> Tensor:
        """`x` with every slice along `axis` whose `p`-norm is above `max_norm` scaled down to that norm."""
    def renorm_(self, p: builtins.float, axis: builtins.int, max_norm: builtins.float) -> Tensor:
        """In-place form of `renorm`: changes and returns `x`."""
    def repeat(self, *repeats: Any) -> Tensor:
        """The tensor repeated along its axes; see `tile`."""
    def repeat_interleave(
        self,
        repeats: Any,
        axis: AxisLike | None = None,
        name: str | None = None,
        *,
        output_size: builtins.int | None = None,
    ) -> Tensor:
        """Each slice along an axis (each element, without one) repeated in place."""
    def requires_grad_(self, requires_grad: builtins.bool = True) -> Tensor:
        """Sets whether the gradient of this tensor is wanted, and returns it."""
    def reshape(self, shape: ShapeLike, *more: builtins.int, name: str | None = None) -> Tensor:
        """The same numbers in another shape. One dimension may be -1 (worked out); 0 keeps the dimension at that place."""
    def reshape_(self, shape: ShapeLike, name: str | None = None) -> Tensor:
        """In-place form of `reshape`."""
    def resize_(self, shape: ShapeLike, fill_zero: builtins.bool = False, name: str | None = None) -> Tensor:
        """`x` itself gets another shape, with fewer elements or with zeros behind the old ones."""
    def retain_grads(self) -> None:
        """Lets a result of an operation keep its gradient in `.grad`, as leaves do anyway."""
    def reverse(self, axis: AxisLike | None, name: str | None = None) -> Tensor:
        """`x` with the order of elements along some axes reversed."""
    def roll(self, shifts: Any, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
        """`x` moved along axes, what falls off one end coming in at the other; without an axis in row-"""
    def rot90(self, k: builtins.int = 1, axes: Sequence[builtins.int] = (0, 1), name: str | None = None) -> Tensor:
        """`x` turned `k` times by 90 degrees in the plane of two axes, from the first towards the second."""
    def round(self, decimals: builtins.int = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Rounds to `decimals` places behind the point, halves to the even neighbour; integers stay as they are, complex"""
    def round_(self, decimals: builtins.int = 0, name: str | None = None) -> Tensor:
        """In-place form of `round`: changes and returns `x`."""
    def rows(self) -> Any:
        """RuntimeError: only selected rows have these."""
    def rsqrt(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`1 / sqrt(x)`."""
    def rsqrt_(self, name: str | None = None) -> Tensor:
        """In-place form of `rsqrt`: changes and returns `x`."""
    def scale(
        self,
        scale: Any = 1.0,
        bias: Any = 0.0,
        bias_after_scale: builtins.bool = True,
        act: str | None = None,
        name: str | None = None,
    ) -> Tensor:
        """`x * scale + bias`, or `(x + bias) * scale`; for an integer tensor, integers."""
    def scale_(
        self,
        scale: Any = 1.0,
        bias: Any = 0.0,
        bias_after_scale: builtins.bool = True,
        act: str | None = None,
        name: str | None = None,
    ) -> Tensor:
        """In-place form of `scale`: changes and returns `x`."""
    def scatter(
        self,
        index: Tensor,
        updates: Tensor,
        overwrite: builtins.bool = True,
        name: str | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """`x` with the rows that `index` names replaced by `updates`."""
    def scatter_(
        self,
        index: Tensor,
        updates: Tensor,
        overwrite: builtins.bool = True,
        name: str | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """In-place form of `scatter`: changes and returns `x`."""
    def scatter_add(self, dim: AxisLike, index: Tensor, src: Tensor) -> Tensor:
        """A tensor with the elements of `src` added where `index` points along an axis."""
    def scatter_add_(self, dim: AxisLike, index: Tensor, src: Tensor) -> Tensor:
        """In-place form of `scatter_add`: changes and returns `x`."""
    def scatter_nd(self, updates: Tensor, shape: ShapeLike, name: str | None = None) -> Tensor:
        """Zeros of a shape with `updates` added where the last dimension of `index` says."""
    def scatter_nd_add(self, index: Tensor, updates: Tensor, name: str | None = None) -> Tensor:
        """`x` with `updates` added where the last dimension of `index` says; equal places add up."""
    def scatter_reduce(
        self, dim: AxisLike, index: Tensor, src: Tensor, reduce: str, *, include_self: builtins.bool = True
    ) -> Tensor:
        """A tensor combined with the elements of `src` where `index` points along an axis."""
    def select_scatter(self, values: Tensor, axis: AxisLike | None, index: Any, name: str | None = None) -> Tensor:
        """`x` with `values` as its slice number `index` along an axis."""
    def set_(
        self,
        source: Tensor | None = None,
        shape: ShapeLike | None = None,
        stride: SizesLike | None = None,
        offset: builtins.int = 0,
        name: str | None = None,
    ) -> Tensor:
        """`x` itself becomes a view of `source` (see `as_strided`), or a tensor without elements."""
    def set_string_list(self, value: Any) -> None:
        """NotImplementedError: tensors hold numbers."""
    def set_tensor(self, value: Tensor) -> None:
        """The tensor becomes another name of `value`; see `reconstruct_from_`."""
    def set_value(self, value: Any) -> None:
        """Gives the tensor other numbers of the same shape and type. Neither its history nor its"""
    def set_vocab(self, value: Any) -> None:
        """NotImplementedError: tensors hold numbers."""
    def sgn(self, name: str | None = None) -> Tensor:
        """The sign; of complex numbers, `x / |x|` (0 for 0)."""
    def shard_index(
        self, index_num: builtins.int, nshards: builtins.int, shard_id: builtins.int, ignore_value: builtins.int = -1
    ) -> Tensor:
        """Indices below `index_num` as they are within shard `shard_id`; those of other shards are ignored."""
    def short(self) -> Tensor:
        """The numbers as int16; the tensor itself if they are that already."""
    def sigmoid(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """`1 / (1 + exp(-x))`."""
    def sigmoid_(self, name: str | None = None) -> Tensor:
        """In-place form of `sigmoid`: changes and returns `x`."""
    def sign(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """-1, 0 or 1 by the sign of each element; of complex numbers, `x / |x|`."""
    def signbit(self, name: str | None = None) -> Tensor:
        """Whether the sign bit of an element is set: true for negative numbers and -0."""
    def sin(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The sine."""
    def sin_(self, name: str | None = None) -> Tensor:
        """In-place form of `sin`: changes and returns `x`."""
    def sinc(self, name: str | None = None) -> Tensor:
        """`sin(pi x) / (pi x)`, and 1 at zero."""
    def sinc_(self, name: str | None = None) -> Tensor:
        """In-place form of `sinc`: changes and returns `x`."""
    def sinh(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The hyperbolic sine."""
    def sinh_(self, name: str | None = None) -> Tensor:
        """In-place form of `sinh`: changes and returns `x`."""
    def slice(self, axes: AxisLike, starts: Any, ends: Any) -> Tensor:
        """The part of a tensor from `starts` to `ends` along `axes`; it shares memory with the"""
    def slice_scatter(
        self, value: Tensor, axes: AxisLike, starts: Any, ends: Any, strides: SizesLike, name: str | None = None
    ) -> Tensor:
        """`x` with `value` (broadcast) as its slice from `starts` to `ends` along `axes`."""
    def slogdet(self, name: str | None = None) -> Tensor:
        """The sign of the determinant and the logarithm of its size, one above the other in one tensor."""
    def softmax(
        self, dim: builtins.int | None = None, dtype: DTypeLike | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """`exp(x) / sum(exp(x))` along `dim`; see `nn.functional.softmax`."""
    def softmax_(self, axis: builtins.int = -1, dtype: Any = None, name: str | None = None) -> Tensor:
        """In-place form of `softmax`: changes and returns `x`."""
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
        """The elements in order along `axis`; NaN counts as largest."""
    def sparse_dim(self) -> builtins.int:
        """How many dimensions are sparse."""
    def split(self, num_or_sections: Any, axis: AxisLike = 0, name: str | None = None) -> list[Tensor]:
        """`x` cut along an axis into a number of equal parts, or into parts of the given sizes (one may"""
    def split_with_sizes(self, split_sizes: Any, dim: AxisLike = 0) -> list[Tensor]:
        """The tensor cut along an axis into parts of the given sizes, which add up to it."""
    def sqrt(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The square root; NaN for negative numbers."""
    def sqrt_(self, name: str | None = None) -> Tensor:
        """In-place form of `sqrt`: changes and returns `x`."""
    def square(self, name: str | None = None) -> Tensor:
        """`x * x`."""
    def square_(self, name: str | None = None) -> Tensor:
        """In-place form of `square`: changes and returns `x`."""
    def squeeze(self, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
        """`x` without the named axes (all by default) as far as they have one element. Shares memory"""
    def squeeze_(self, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
        """In-place form of `squeeze`."""
    def stack(self, axis: AxisLike = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tensors of one shape joined along a new axis."""
    def stanh(
        self, scale_a: builtins.float = 0.67, scale_b: builtins.float = 1.7159, name: str | None = None
    ) -> Tensor:
        """`scale_b * tanh(scale_a * x)`."""
    def std(
        self,
        axis: AxisLike | None = None,
        unbiased: builtins.bool = True,
        keepdim: builtins.bool = False,
        name: str | None = None,
    ) -> Tensor:
        """The standard deviation over some axes (all by default)."""
    def stft(
        self,
        n_fft: Any,
        hop_length: Any = None,
        win_length: Any = None,
        window: Tensor | None = None,
        center: builtins.bool = True,
        pad_mode: str = "reflect",
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        name: str | None = None,
    ) -> Tensor:
        """The Fourier transforms of windowed pieces of a signal: [batch, frequencies, pieces]."""
    def stride(self, dim: builtins.int | None = None) -> Any:
        """How many elements lie between neighbours along an axis; a list of that for all of them without `dim`."""
    def strided_slice(
        self, axes: AxisLike, starts: Any, ends: Any, strides: SizesLike, name: str | None = None
    ) -> Tensor:
        """The part of `x` from `starts` to `ends` along `axes`, every `strides`-th element; shares"""
    @property
    def strides(self) -> list[builtins.int]:
        """Elements between neighbours along each axis, as Paddle's memory has them."""
    def sub(self, y: Any, name: str | None = None, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
        """`x - alpha * y`, element by element."""
    def sub_(self, y: Any, name: str | None = None, *, alpha: Any = 1) -> Tensor:
        """In-place form of `subtract`: changes and returns `x`."""
    def subtract(self, y: Any, name: str | None = None, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
        """`x - alpha * y`, element by element."""
    def subtract_(self, y: Any, name: str | None = None, *, alpha: Any = 1) -> Tensor:
        """In-place form of `subtract`: changes and returns `x`."""
    def sum(
        self,
        axis: Any = None,
        dtype: Any = None,
        keepdim: builtins.bool = False,
        name: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """The sum over some axes (all by default). Booleans and 32-bit integers give int64."""
    def svd_lowrank(
        self, q: builtins.int | None = None, niter: builtins.int = 2, M: Tensor | None = None, name: str | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The `q` largest singular values of `x` (of `x - M`) with their vectors, nearly: `U`, `S`, `V`."""
    def swapaxes(self, perm: Any, *axes: Any, name: str | None = None) -> Tensor:
        """Two axes exchanged (`swapaxes(x, 0, 1)`), or all axes in the order `perm`. Shares memory with"""
    def swapdims(self, perm: Any, *axes: Any, name: str | None = None) -> Tensor:
        """Two axes exchanged (`swapaxes(x, 0, 1)`), or all axes in the order `perm`. Shares memory with"""
    def t(self, name: str | None = None) -> Tensor:
        """A matrix transposed (it shares memory); a vector or 0-d tensor as it is."""
    def t_(self, name: str | None = None) -> Tensor:
        """In-place form of `t`."""
    def take(self, index: Tensor, mode: str = "raise", name: str | None = None) -> Tensor:
        """Elements of `x` by their number in row-major order."""
    def take_along_axis(
        self, indices: Tensor, axis: AxisLike | None, broadcast: builtins.bool = True, *, out: Tensor | None = None
    ) -> Tensor:
        """`arr` at `indices` along an axis."""
    def take_along_dim(
        self, indices: Tensor, axis: AxisLike | None, broadcast: builtins.bool = True, *, out: Tensor | None = None
    ) -> Tensor:
        """`arr` at `indices` along an axis."""
    def tan(self, name: str | None = None) -> Tensor:
        """The tangent."""
    def tan_(self, name: str | None = None) -> Tensor:
        """In-place form of `tan`: changes and returns `x`."""
    def tanh(self, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The hyperbolic tangent."""
    def tanh_(self, name: str | None = None) -> Tensor:
        """In-place form of `tanh`: changes and returns `x`."""
    def tensor_split(self, num_or_indices: Any, axis: AxisLike = 0, name: str | None = None) -> list[Tensor]:
        """`x` cut along an axis into a number of parts as equal as possible, or at the given positions."""
    def tensordot(self, y: Tensor, axes: AxisLike = 2, name: str | None = None) -> Tensor:
        """Products summed over pairs of axes; the axes that remain are those of `x`, then those of `y`."""
    def thresholded_relu_(
        self, threshold: builtins.float = 1.0, value: builtins.float = 0.0, name: str | None = None
    ) -> Tensor:
        """In-place form of `thresholded_relu`: changes and returns `x`."""
    def tile(self, repeat_times: Any, name: str | None = None) -> Tensor:
        """`x` repeated as a whole along each axis; the numbers belong to the last axes."""
    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """The tensor on another device and (or) in another type."""
    def to_dense(self) -> Tensor:
        """The tensor with all its positions; a dense one is returned as it is."""
    def to_sparse_coo(self, sparse_dim: builtins.int) -> Tensor:
        """By coordinates: the first `sparse_dim` dimensions are sparse, the others stay dense in the values."""
    def to_sparse_csr(self) -> Tensor:
        """By compressed rows: of a matrix, or of a batch of matrices."""
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
        k: Any,
        axis: AxisLike | None = None,
        largest: builtins.bool = True,
        sorted: builtins.bool = True,
        name: str | None = None,
        *,
        out: tuple[Tensor, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """The `k` largest (or smallest) elements along `axis`, in order, and their positions."""
    def trace(
        self, offset: builtins.int = 0, axis1: builtins.int = 0, axis2: builtins.int = 1, name: str | None = None
    ) -> Tensor:
        """The sum of the diagonal of the matrices that two axes span."""
    def transpose(self, perm: Any, name: Any = None) -> Tensor:
        """`x` with its axes in the order `perm`; two axes (`x.transpose(0, 1)`, `dim0=0, dim1=1`) change places."""
    def transpose_(self, perm: Any, name: str | None = None) -> Tensor:
        """In-place form of `transpose`."""
    def trapezoid(
        self, x: Tensor | None = None, dx: Any = None, axis: builtins.int = -1, name: str | None = None
    ) -> Tensor:
        """The area under the polygon through `y` along `axis`, at the places `x` or at distances `dx` (1)."""
    def tril(self, diagonal: builtins.int = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The lower triangle of matrices, zero above the given diagonal."""
    def tril_(self, diagonal: builtins.int = 0, name: str | None = None) -> Tensor:
        """In-place form of `tril`: changes and returns `x`."""
    def triu(self, diagonal: builtins.int = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The upper triangle of matrices, zero below the given diagonal."""
    def triu_(self, diagonal: builtins.int = 0, name: str | None = None) -> Tensor:
        """In-place form of `triu`: changes and returns `x`."""
    def true_divide(self, other: Any, *, out: Tensor | None = None) -> Tensor:
        """`input / other`, element by element; integers give float32."""
    def trunc(self, name: str | None = None) -> Tensor:
        """Rounds towards zero."""
    def trunc_(self, name: str | None = None) -> Tensor:
        """In-place form of `trunc`: changes and returns `x`."""
    @property
    def type(self) -> VarType:
        """The kind of variable; the data type is `dtype`."""
    def type_as(self, other: Tensor) -> Tensor:
        """The numbers in the type of another tensor."""
    def uint8(self) -> Tensor:
        """The numbers as uint8; the tensor itself if they are that already."""
    def unbind(self, axis: Any = 0) -> list[Tensor]:
        """The slices of a tensor along an axis, without that axis; they share memory with it."""
    def unflatten(self, axis: AxisLike | None, shape: ShapeLike, name: str | None = None) -> Tensor:
        """`x` with one axis divided into several of the given extents (one may be -1). Shares memory"""
    def unfold(self, axis: AxisLike | None, size: SizesLike, step: Any, name: str | None = None) -> Tensor:
        """Windows of `size` elements along an axis, one every `step` elements, each as a new last axis."""
    def uniform_(self, min: Number = 0, max: Number = 1.0, seed: builtins.int = 0, name: str | None = None) -> Tensor:
        """Fills `x` with numbers drawn uniformly from [min, max)."""
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
        """The different elements (or slices along `axis`), in order."""
    def unique_consecutive(
        self,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        axis: AxisLike | None = None,
        dtype: DTypeLike = "int64",
        name: str | None = None,
    ) -> Tensor | tuple[Tensor, ...]:
        """The elements (or slices along `axis`) without those equal to the one before."""
    def unsqueeze(self, axis: AxisLike | None, name: str | None = None) -> Tensor:
        """`x` with new axes of extent one at the named places. Shares memory with `x`."""
    def unsqueeze_(self, axis: AxisLike | None, name: str | None = None) -> Tensor:
        """In-place form of `unsqueeze`."""
    def unstack(self, axis: AxisLike = 0, num: Any = None) -> list[Tensor]:
        """The slices of `x` along an axis, without that axis, as new tensors. `num`, if given, is how"""
    def value(self) -> Tensor:
        """The tensor itself."""
    def values(self) -> Any:
        """Of a sparse COO or CSR tensor only."""
    def vander(
        self, n: builtins.int | None = None, increasing: builtins.bool = False, name: str | None = None
    ) -> Tensor:
        """The powers of `x` from `n - 1` down to 0 as columns, or rising with `increasing`."""
    def var(
        self,
        axis: Any = None,
        unbiased: builtins.bool | None = None,
        keepdim: builtins.bool = False,
        name: str | None = None,
        *,
        correction: builtins.float = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """The variance over some axes (all by default): squares divided by the count less `correction`."""
    def view(self, shape_or_dtype: Any, name: str | None = None) -> Tensor:
        """`x` in another shape, or its bytes as another type. Shares memory with `x`."""
    def view_as(self, other: Tensor, name: str | None = None) -> Tensor:
        """`x` in the shape of `other`. Shares memory with `x`."""
    def view_as_complex(self) -> Tensor:
        """Pairs in the last axis as complex numbers; see `as_complex`."""
    def view_as_real(self) -> Tensor:
        """Complex numbers as pairs in a new last axis; see `as_real`."""
    def vsplit(self, num_or_indices: Any, name: str | None = None) -> list[Tensor]:
        """`x` cut along the first axis; it must have two at least. See `tensor_split`."""
    def where(self, x: Any = None, y: Any = None, name: str | None = None, *, out: Tensor | None = None) -> Any:
        """`x` where the condition holds, else `y`. Without both: the positions where it holds."""
    def where_(self, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None) -> Tensor:
        """In-place form of `where`: changes and returns `x`."""
    def zero_(self) -> Tensor:
        """Sets every element of `x` to 0."""
    def zeros_like(
        self,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        *,
        device: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """Zeros in the shape (and type, unless another is named) of `x`."""

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
