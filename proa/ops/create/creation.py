"""New tensors: from data, filled with a number, and copies; and questions about tensors.

Those that count are in `counting.py`, random ones in `random.py`. A tensor from data copies it: a
later change of the array is not seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import BOOL, COMPLEX128, default_float, is_floating, to_numpy_dtype
from ...core.errors import type_error, value_error
from ...core.place import parse_place
from ...core.symbols import is_symbolic, plain
from ...core.tracebacks import trim
from ...eager import series
from ...eager.annotations import DeviceLike, DTypeLike, Number, ShapeLike, TensorLike
from ...eager.declare import op, public
from ...eager.infer import same
from ...eager.modes import no_grad
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ...eager.views import assign_in_place, take_over
from ...ir.sizes.known import known_value, mark_sizes
from ..arguments import dtype_or_default, finish, listed, new_shape, require_tensor
from ..basic import cast_to, expand_to, filled_with, full_of, reshape_to

# ---- from data -----------------------------------------------------------------------------------

_DATA = (S(A(2, 3)), S([[1, 2], [3, 4]]), S(2.5), S(True), S([]), S(1 + 2j), S(A(0, 2, dtype="int32")))


def _reference_data(data: Any, dtype: Any = None, stop_gradient: bool = True) -> Any:
    array = np.asarray(data)
    narrow = {"float64": "float32", "complex128": "complex64"}  # of Python numbers
    return array.astype(dtype or narrow.get(array.dtype.name, array.dtype))


@samples(
    *_DATA,
    S([1, 2], "float64", stop_gradient=False),
    reference=_reference_data,
    gradient=False,
    why="a copy outside the graph",
)
@public()
def to_tensor(
    data: TensorLike, dtype: DTypeLike | None = None, place: DeviceLike | None = None, stop_gradient: bool = True
) -> Tensor:
    """A new tensor with a copy of `data`.

    Python floats become the default floating type and Python integers int64; arrays keep their type.

    Args:
        data: a number, nested lists or tuples, an array, or another tensor.
        dtype: the type of the result; that of the data by default.
        place: where it lies; the current device by default.
        stop_gradient: whether no gradient is wanted for it.

    Raises:
        ValueError: nested lists have different lengths.

    Examples:
        >>> x = paddle.to_tensor([[1, 2], [3, 4]], dtype="float32", stop_gradient=False)
        >>> x.shape, x.dtype, x.stop_gradient
        (paddle.Size([2, 2]), paddle.float32, False)
        >>> paddle.to_tensor(3).dtype
        paddle.int64
    """
    try:
        if isinstance(data, Tensor):
            made = assign_to(data) if dtype is None else cast_to(data, to_numpy_dtype(dtype))
            if place is not None:
                made = made._to_place(parse_place(place))
            made._node = None
        else:
            if isinstance(data, (str, bytes, dict, set, range)):
                raise type_error(
                    "to_tensor",
                    "no tensor can be made of this",
                    type(data).__name__,
                    "give a number, nested lists of numbers, an array or a tensor",
                )
            made = tensor_from_data(data, dtype, place)
        made.stop_gradient = bool(stop_gradient)
        return made
    except Exception as failure:
        trim(failure)
        raise


@samples(*_DATA, S([1, 2], dtype="float64"), reference=_reference_data, gradient=False, why="a copy outside the graph")
@public()
def tensor(
    data: TensorLike,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of `data`, called as in PyTorch; see `to_tensor`.

    Args:
        data: a number, nested lists, an array, or another tensor.
        dtype: the type of the result; that of the data by default.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.tensor([1.0, 2.0], requires_grad=True).stop_gradient
        False
    """
    return to_tensor(data, dtype, device, not requires_grad)


# ---- copies --------------------------------------------------------------------------------------


@op(infer=same, grad={"x": lambda g: g}, name="assign", family="movement", series=series.algebra.linear("x"), free=True)
def assign_to(xp: Any, x: Any) -> Any:
    """The same numbers; values are never overwritten, so nothing has to be copied."""
    return x


@samples(S(A(2, 3)), S(A(0, 2)), S(A(dtype="int32")), reference=lambda x: x)
@public(method=True)
def clone(x: Tensor, name: str | None = None) -> Tensor:
    """A copy of `x` through which its gradient flows back.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> (x.clone() * 3).sum().backward()
        >>> x.grad.tolist()
        [3.0, 3.0]
    """
    return assign_to(x)


@samples(S(A(2, 3)), S(A()), S(A(2, dtype="bool")), reference=lambda x: x)
@public()
def assign(x: TensorLike, output: Tensor | None = None) -> Tensor:
    """A copy of a tensor, an array, a list or a number.

    Args:
        x: what is copied.
        output: a tensor that takes the values and is returned, if given.

    Examples:
        >>> paddle.assign([1.0, 2.0]).tolist()
        [1.0, 2.0]
        >>> kept = paddle.zeros([2])
        >>> paddle.assign(paddle.ones([2]), output=kept) is kept, kept.tolist()
        (True, [1.0, 1.0])
    """
    if isinstance(x, Tensor):
        copied = assign_to(x)
    elif isinstance(x, (bool, int, float, complex, np.generic, np.ndarray, list, tuple)):
        array = np.asarray(x)
        copied = tensor_from_data(array.reshape(1) if array.ndim == 0 and not isinstance(x, np.ndarray) else array)
    else:
        raise type_error("assign", "x must be a Tensor, an array, a list or a number", type(x).__name__)
    if output is None:
        return copied
    require_tensor("assign", "output", output)
    if output._aval.shape == copied._aval.shape:
        if not (copied.stop_gradient and output.is_leaf):
            return assign_in_place(output, copied, "assign")
        with no_grad():  # a parameter may be given other numbers, and stays a leaf
            return assign_in_place(output, copied, "assign")
    take_over(output, copied)  # Paddle lets the output take any shape
    return output


# ---- filled --------------------------------------------------------------------------------------


def filled(where: str, shape: Any, value: Any, dtype: np.dtype) -> Tensor:
    """A tensor of one number, which is data: another number does not make another program."""
    dims = new_shape(where, shape)
    if isinstance(value, Tensor):
        if value._aval.size != 1:
            raise value_error(where, "fill_value must be one number", f"fill_value: {value._aval}")
        return expand_to(reshape_to(cast_to(value.detach(), dtype), (1,) * len(dims)), dims)
    return filled_with(scalar_of(where, "fill_value", value), dims, dtype)


def scalar_of(where: str, name: str, value: Any) -> Any:
    """A Python number, from a number of any kind or a string that spells one ('inf')."""
    if value.__class__ in (int, float, complex):
        return value
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, Tensor) and (known := known_value(value)) is not None:
        value = known
    if isinstance(value, (Tensor, np.ndarray)) and value.size == 1:
        return scalar_of(where, name, value.item())
    if isinstance(value, np.generic):
        return scalar_of(where, name, value.item() if value.dtype.kind in "iufc" else float(value))
    if isinstance(value, (int, float)):
        return value if is_symbolic(value) else float(value) if isinstance(value, float) else int(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            pass
    raise type_error(where, f"{name} must be a number", f"{name}: {value!r}")


def real_of(where: str, name: str, value: Any) -> float:
    """A Python float; TypeError for a complex number."""
    number = scalar_of(where, name, value)
    if isinstance(number, complex):
        raise type_error(where, f"{name} must be a real number", f"{name}: {number}")
    return float(number)


@samples(
    S([2, 3], 1.5),
    S([], 7),
    S([0, 2], 1, "int64"),
    S([2], 2.7, dtype="int32"),
    S([2], True),
    S([1], 3, "float16"),
    reference=lambda shape, value, dtype=None: np.full(
        shape, value, dtype or ("bool" if isinstance(value, bool) else "float32")
    ),
)
@public(aliases="shape=size")
def full(
    shape: ShapeLike,
    fill_value: Number | complex | bool,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor filled with one number.

    Args:
        shape: a list, a tuple or a tensor of integers.
        fill_value: the number, or a tensor with one element.
        dtype: the type; by default the default floating type, or bool or complex where the number is one.
        name: a label; it changes nothing.
        out: a tensor that takes the result.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.full([2, 2], 7, dtype="int64").tolist()
        [[7, 7], [7, 7]]
    """
    if dtype is not None:
        wanted = to_numpy_dtype(dtype)
    elif isinstance(fill_value, (bool, np.bool_)):
        wanted = BOOL
    else:
        wanted = COMPLEX128 if isinstance(fill_value, complex) else default_float()
    return finish(filled("full", shape, fill_value, wanted), out, device, requires_grad)


@samples(
    S([2, 3]),
    S([], dtype="float64"),
    S([0, 3], "int32"),
    S([2], dtype="bool"),
    reference=lambda shape, dtype="float32": np.zeros(shape, dtype),
)
@public(aliases="shape=size")
@listed("shape", 0)
def zeros(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of zeros.

    Args:
        shape: a list, a tuple, a tensor of integers, or the dimensions one by one.
        dtype: the type; the default floating type if left out.
        name: a label; it changes nothing.
        out: a tensor that takes the result.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.zeros([2, 3]).tolist()
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    made = full_of(0, new_shape("zeros", shape), dtype_or_default(dtype))
    return finish(made, out, device, requires_grad)


@samples(
    S([2, 3]),
    S([], dtype="float64"),
    S([0, 3], "int32"),
    S([2], dtype="complex64"),
    reference=lambda shape, dtype="float32": np.ones(shape, dtype),
)
@public(aliases="shape=size")
@listed("shape", 0)
def ones(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of ones.

    Args:
        shape: a list, a tuple, a tensor of integers, or the dimensions one by one.
        dtype: the type; the default floating type if left out.
        name: a label; it changes nothing.
        out: a tensor that takes the result.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.ones([2, 2]).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
        >>> paddle.ones(3, dtype="int32").tolist()
        [1, 1, 1]
    """
    made = full_of(1, new_shape("ones", shape), dtype_or_default(dtype))
    return finish(made, out, device, requires_grad)


@samples(
    S([2, 3]),
    S([], dtype="float64"),
    S([0, 3], "int32"),
    gradient=False,
    why="the numbers are unspecified",
    unspecified=True,
)
@public(aliases="shape=size")
@listed("shape", 0)
def empty(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor whose numbers mean nothing yet; they are zeros, so that a run can be repeated.

    Args:
        shape: a list, a tuple, a tensor of integers, or the dimensions one by one.
        dtype: the type; the default floating type if left out.
        name: a label; it changes nothing.
        out: a tensor that takes the result.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.empty([2, 3]).shape
        paddle.Size([2, 3])
    """
    made = full_of(0, new_shape("empty", shape), dtype_or_default(dtype))
    return finish(made, out, device, requires_grad)


@samples(
    S(A(2, 3), 1.5),
    S(A(dtype="int64"), 2.5),
    S(A(0, 2), 1, "bool"),
    S(A(2), 3, dtype="int32"),
    reference=lambda x, value, dtype=None: np.full(x.shape, value, dtype or x.dtype),
    gradient=False,
    why="a constant",
)
@public(method=True)
def full_like(
    x: Tensor,
    fill_value: Number | complex | bool,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of the shape of `x`, filled with one number.

    Args:
        x: the tensor.
        fill_value: the number.
        dtype: the type; that of `x` by default.
        name: a label; it changes nothing.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.full_like(paddle.zeros([3]), 2.5).tolist()
        [2.5, 2.5, 2.5]
    """
    aval = require_tensor("full_like", "x", x)._aval
    wanted = aval.dtype if dtype is None else to_numpy_dtype(dtype)
    made = filled("full_like", aval.shape, fill_value, wanted)
    return finish(_beside(x, made), None, device, requires_grad)


def _beside(x: Tensor, made: Tensor) -> Tensor:
    """`made` on the device of `x`."""
    return made if made._aval.place is x._aval.place else made._to_place(x._aval.place)


@samples(
    S(A(2, 3)),
    S(A(dtype="int64")),
    S(A(0, 2), "bool"),
    reference=lambda x, dtype=None: np.zeros(x.shape, dtype or x.dtype),
    gradient=False,
    why="a constant",
)
@public(method=True)
def zeros_like(
    x: Tensor,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros in the shape of `x`.

    Args:
        x: the tensor.
        dtype: the type; that of `x` by default.
        name: a label; it changes nothing.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.zeros_like(paddle.to_tensor([5, 6])).tolist()
        [0, 0]
    """
    return full_like(x, 0, dtype, device=device, requires_grad=requires_grad)


@samples(
    S(A(2, 3)),
    S(A(dtype="int64")),
    S(A(0, 2), "bool"),
    reference=lambda x, dtype=None: np.ones(x.shape, dtype or x.dtype),
    gradient=False,
    why="a constant",
)
@public(method=True)
def ones_like(
    x: Tensor,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Ones in the shape of `x`.

    Args:
        x: the tensor.
        dtype: the type; that of `x` by default.
        name: a label; it changes nothing.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.ones_like(paddle.to_tensor([5, 6])).tolist()
        [1, 1]
    """
    return full_like(x, 1, dtype, device=device, requires_grad=requires_grad)


@samples(
    S(A(2, 3)), S(A(dtype="int64")), S(A(0, 2), "bool"), S(A(2), dtype="float64"),
    gradient=False, why="the numbers are unspecified", unspecified=True,
)  # fmt: skip
@public(method=True)
def empty_like(
    x: Tensor,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor like `x` whose numbers mean nothing yet.

    Args:
        x: the tensor.
        dtype: the type; that of `x` by default.
        name: a label; it changes nothing.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.empty_like(paddle.ones([2], dtype="int32")).dtype
        paddle.int32
    """
    return full_like(x, 0, dtype, device=device, requires_grad=requires_grad)


# ---- questions -----------------------------------------------------------------------------------


@samples(S(A(2, 3)), S(A()), S(A(0, 2, dtype="bool")), reference=lambda input: np.array(input.shape, np.int64))
@public()
def shape(input: Tensor) -> Tensor:
    """The shape of a tensor, as an int64 tensor; in a program it follows the sizes of a run.

    Args:
        input: the tensor.

    Examples:
        >>> paddle.shape(paddle.zeros([2, 3])).tolist()
        [2, 3]
    """
    sizes = require_tensor("shape", "input", input)._aval.shape
    return mark_sizes(tensor_from_data(np.array(plain(sizes), np.int64)), sizes)


@samples(S(A(2, 3)), S(A()), S(A(0, 2, dtype="bool")), reference=lambda input: np.array(input.ndim, np.int32))
@public(method=True)
def rank(input: Tensor) -> Tensor:
    """The number of axes of a tensor, as an int32 tensor.

    Args:
        input: the tensor.

    Examples:
        >>> paddle.rank(paddle.zeros([2, 3])).item()
        2
    """
    return tensor_from_data(np.array(require_tensor("rank", "input", input)._aval.ndim, np.int32))


@samples(
    S(A(2)),
    S(A(0, dtype="int64")),
    S(2.5),
    S([1, 2]),
    S("text"),
    S(None),
    reference=lambda x: isinstance(x, np.ndarray),
)
@public(method=True, aliases="x=obj")
def is_tensor(x: Any) -> bool:
    """Whether `x` is a Tensor.

    Args:
        x: anything.

    Examples:
        >>> paddle.is_tensor(paddle.ones([1])), paddle.is_tensor([1.0])
        (True, False)
    """
    return isinstance(x, Tensor)


@samples(
    S(A(2)), S(A(dtype="bfloat16")), S(A(0, dtype="int64")), S(A(2, dtype="complex64")), S(A(2, dtype="bool")),
    reference=lambda x: x.dtype.kind in "fV",
)  # fmt: skip
@public(method=True)
def is_floating_point(x: Tensor) -> bool:
    """Whether a tensor has a floating type.

    Args:
        x: the tensor.

    Examples:
        >>> paddle.is_floating_point(paddle.ones([1])), paddle.is_floating_point(paddle.to_tensor([1]))
        (True, False)
    """
    return is_floating(require_tensor("is_floating_point", "x", x)._aval.dtype)


@samples(
    S(A(2, dtype="int32")), S(A(dtype="uint8")), S(A(0)), S(A(2, dtype="complex64")), S(A(2, dtype="bool")),
    reference=lambda x: x.dtype.kind in "iu",
)  # fmt: skip
@public(method=True)
def is_integer(x: Tensor) -> bool:
    """Whether a tensor has an integer type; bool is none.

    Args:
        x: the tensor.

    Examples:
        >>> paddle.is_integer(paddle.to_tensor([1])), paddle.is_integer(paddle.to_tensor([True]))
        (True, False)
    """
    return require_tensor("is_integer", "x", x)._aval.dtype.kind in "iu"


@samples(
    S(A(2, dtype="complex64")), S(A(dtype="complex128")), S(A(0)), S(A(2, dtype="int64")), S(A(2, dtype="bool")),
    reference=np.iscomplexobj,
)  # fmt: skip
@public(method=True)
def is_complex(x: Tensor) -> bool:
    """Whether a tensor has a complex type.

    Args:
        x: the tensor.

    Examples:
        >>> paddle.is_complex(paddle.to_tensor([1j])), paddle.is_complex(paddle.ones([1]))
        (True, False)
    """
    return require_tensor("is_complex", "x", x)._aval.dtype.kind == "c"


@samples(S(A(2, 3)), S(A()), S(A(0, 2, dtype="int64")), S(A(2, 0)), reference=lambda x: np.array(x.size == 0))
@public(method=True)
def is_empty(x: Tensor, name: str | None = None) -> Tensor:
    """Whether a tensor has no elements, as a bool tensor.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.is_empty(paddle.zeros([0, 3])).item()
        True
    """
    return tensor_from_data(np.array(require_tensor("is_empty", "x", x)._aval.size == 0))
