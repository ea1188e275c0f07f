"""The primitives that everything leans on: cast, full, reshape, transpose, expand, sum.

The machinery itself uses some of them (see the end of this file).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import strides
from ..core.aval import Aval, make_aval
from ..core.dtype import BOOL, INT32, INT64, is_differentiable, to_numpy_dtype
from ..core.errors import failed_check, type_error, value_error
from ..core.symbols import SymbolicSize, divides, is_stated, is_zero_by_wish, same_size, same_sizes, whole
from ..eager import series
from ..eager.annotations import AxisLike, DTypeLike, ShapeLike
from ..eager.declare import op, public
from ..eager.infer import elementwise, normalise_axis, reduce
from ..eager.needed import needed
from ..eager.samples import A, S, samples
from ..eager.tensor import Tensor
from ..ir.padding import rules
from ..ir.sizes.known import known_value
from ..kernels.cpu.pooling import native_sum_over_space
from ..kernels.cpu.sums import native_sum
from ..kernels.gpu.cold import rows
from ..kernels.gpu.sums import sum_by_product
from .arguments import flag

_PLAIN = frozenset({int})


def shape_tuple(where: str, shape: Any) -> tuple[int, ...]:
    """A shape given as ints, tensors, a list of either, or one 1-D tensor; every entry a Python int."""
    if (shape.__class__ is list or shape.__class__ is tuple) and _PLAIN.issuperset(map(type, shape)):
        return tuple(shape)
    if isinstance(shape, Tensor):
        known = known_value(shape)
        shape = (shape if known is None else known).tolist()
    if isinstance(shape, (int, np.integer)):
        shape = [shape]
    try:
        return tuple(_size(n) for n in shape)
    except (TypeError, ValueError):  # ValueError: of a text
        raise type_error(where, "a shape is a list of integers", repr(shape)) from None


def _size(number: Any) -> int:
    if isinstance(number, Tensor):
        known = known_value(number)
        if known is not None and known.size == 1:
            return known.item()
        return operator.index(number) if number._value is None else int(number)
    return whole(number)


def creation_shape(where: str, shape: Any) -> tuple[int, ...]:
    """The shape of a new tensor: no negative dimension."""
    dims = shape_tuple(where, shape)
    if any(n < 0 for n in dims):
        raise failed_check(where, "a dimension cannot be negative", f"shape: {list(dims)}")
    return dims


# ---- cast --------------------------------------------------------------------------------------------------------


@elementwise
def _infer_cast(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_dtype(attributes[0])


@op(
    infer=_infer_cast,
    grad={"x": lambda g, x_aval: cast_to(g, x_aval.dtype)},
    name="cast",
    family="movement",
    amp="never",
    uniform=True,
    series=series.algebra.linear("x"),
)
def cast_to(xp: Any, x: Any, dtype: np.dtype) -> Any:
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = xp.real(x)
    return x.astype(dtype)


cast_to.operation.kernels["sizes"] = lambda xp, x, dtype: x


@samples(
    S(A(2, 3), "float64"), S(A(2, 3), "int32"), S(A(0, 3), "float16"), S(A(), "bool"), S(A(3, dtype="int64"), "float32"),
    reference=lambda x, dtype: x.astype(dtype),
)  # fmt: skip
@public(method="cast", inplace=True)
def cast(x: Tensor, dtype: DTypeLike | None) -> Tensor:
    """A new tensor with the numbers of `x` in another type.

    Args:
        x: the tensor.
        dtype: the type.

    Examples:
        >>> paddle.cast(paddle.to_tensor([1.7, -1.7]), "int32").tolist()
        [1, -1]
    """
    return cast_to(x, to_numpy_dtype(dtype))


# ---- full --------------------------------------------------------------------------------------------------------


def _infer_full(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    shape, dtype = attributes
    return make_aval(shape, dtype, place)


@op(
    "",
    scalars="value",
    infer=_infer_full,
    follow_scalars=False,
    name="full",
    family="creation",
    paddle_name="fill_constant",
    uniform=True,
    padding=rules.creation.filled,
)
def filled_with(xp: Any, value: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """A tensor full of one number, which is data: another number is the same program."""
    return xp.full(shape, value.astype(dtype) if dtype.kind != "b" else value != 0, dtype)


@op(
    "",
    infer=_infer_full,
    name="zeros",
    family="creation",
    paddle_name="fill_constant",
    uniform=True,
    padding=rules.creation.filled,
)
def zeros_of(xp: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    return xp.zeros(shape, dtype)


@op(
    "",
    infer=_infer_full,
    name="ones",
    family="creation",
    paddle_name="fill_constant",
    uniform=True,
    padding=rules.creation.filled,
)
def ones_of(xp: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    return xp.ones(shape, dtype)


def full_of(value: Any, shape: tuple[int, ...], dtype: np.dtype) -> Tensor:
    """The same for gradient rules, most of which mean just 0 or 1: these are part of the program, so that XLA can fold
    them and share what follows from them."""
    kind = value.__class__
    if kind is float or kind is int:
        if value == 1:
            return ones_of(shape, dtype)
        if value == 0 and math.copysign(1.0, value) > 0:
            return zeros_of(shape, dtype)
    return filled_with(value, shape, dtype)


# ---- reshape, transpose, expand --------------------------------------------------------------------------------------


def _infer_reshape(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape(attributes[0])


@op(
    infer=_infer_reshape,
    grad={"x": lambda g, x_aval: reshape_to(g, x_aval.shape)},
    view=lambda base, view, shape: reshape_to(view, base._aval.shape),
    strides=strides.reshaped,
    copies=True,
    name="reshape",
    family="movement",
    uniform=True,
    padding=rules.shapes.reshape,
    series=series.algebra.linear("x"),
    free=True,
)
def reshape_to(xp: Any, x: Any, shape: tuple[int, ...]) -> Any:
    return x.reshape(shape)  # (the function is a wrapper around the method)


def resolve_shape(where: str, aval: Aval, wanted: Sequence[int]) -> tuple[int, ...]:
    """Fills in one -1; 0 keeps the dimension at its place, as Paddle has it.

    Of an empty tensor 0 is 0, and -1 beside it what the other dimensions make: `[0, 3, 4]` as `[0, -1]` is `[0, 12]`, so
    that a batch of no examples takes the way of any other.
    """
    is_plain = wanted and aval.size.__class__ is int and _PLAIN.issuperset(map(type, wanted))
    if is_plain and min(wanted) > 0 and math.prod(wanted) == aval.size:
        return tuple(wanted)
    shape = [
        n if divides(n, aval.size) else aval.shape[i] if is_zero_by_wish(n) and i < aval.ndim and aval.size else n
        for i, n in enumerate(wanted)
    ]
    unknown = [i for i, n in enumerate(shape) if n == -1]
    known = math.prod(n for n in shape if n != -1)
    if len(unknown) > 1 or any(n < -1 for n in shape):
        raise value_error(
            where, "one dimension at most may be -1, and none may be below", f"shape: {list(wanted)}, x: {aval}"
        )
    if unknown and divides(known, aval.size):
        shape[unknown[0]] = aval.size // known
    elif unknown:
        if known == 0 and aval.size == 0 and shape.count(0) == 1:
            parts = [math.prod(n for n in dimensions if n > 0) for dimensions in (aval.shape, shape)]
            if parts[0] % parts[1] == 0:
                shape[unknown[0]] = parts[0] // parts[1]
                return tuple(shape)
        if known == 0 or aval.size % known:
            raise value_error(
                where, f"cannot reshape {aval.size} elements into {list(wanted)}", f"x: {aval}",
                f"make the product of the known dimensions divide {aval.size}",
            )  # fmt: skip
        shape[unknown[0]] = aval.size // known
    elif known != aval.size:
        raise value_error(
            where, f"cannot reshape {aval.size} elements into {list(wanted)}", f"x: {aval}",
            f"the dimensions must multiply to {aval.size}",
        )  # fmt: skip
    return tuple(shape)


@samples(
    S(A(2, 6), [3, 4]), S(A(2, 6), [-1, 3]), S(A(2, 6), [0, -1]), S(A(0, 6), [6, 0]), S(A(1, 1), []), S(A(), [1, 1]),
    S(A(0, 3, 4), [0, -1, 2]),
    reference=lambda x, shape: x.reshape([x.shape[i] if n == 0 and x.size else n for i, n in enumerate(shape)])
    if x.size or -1 not in shape else np.zeros([6 if n == -1 else n for n in shape], x.dtype),
    reshapes=True,
)  # fmt: skip
@public(method=True)
def reshape(x: Tensor, shape: ShapeLike, *more: int, name: str | None = None) -> Tensor:
    """The same numbers in another shape; the result shares memory with `x`.

    Args:
        x: the tensor.
        shape: the dimensions. One may be -1, which is worked out; 0 keeps the dimension at that place.
        name: a label; it changes nothing.
        *more: further dimensions, where they are given one by one.

    Raises:
        ValueError: the numbers of elements differ.

    Examples:
        >>> paddle.reshape(paddle.arange(6), [2, -1]).tolist()
        [[0, 1, 2], [3, 4, 5]]
        >>> paddle.ones([2, 3, 4]).reshape([0, -1]).shape
        paddle.Size([2, 12])
    """
    if not isinstance(x, Tensor):
        raise type_error("reshape", "x must be a Tensor", f"x: {type(x).__name__}")
    wanted = shape_tuple("reshape", (shape, *more) if more else shape)
    resolved = resolve_shape("reshape", x._aval, wanted)
    # As in Paddle: the very shape that it has gives the tensor itself, anything to be worked out another name for it.
    given = x._aval.shape
    same = same_sizes(wanted, given) if x._aval.symbolic else resolved == given == tuple(wanted)
    return x if same else reshape_to(x, resolved)


def _infer_transpose(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    aval = operands[0]
    return aval.with_shape(tuple(aval.shape[axis] for axis in attributes[0]))


def _inverse(perm: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(perm)), key=perm.__getitem__))


@op(
    infer=_infer_transpose,
    grad={"x": lambda g, perm: transpose_to(g, _inverse(perm))},
    view=lambda base, view, perm: transpose_to(view, _inverse(perm)),
    strides=lambda shape, steps, perm: strides.transposed(steps, perm),
    name="transpose",
    family="movement",
    paddle_name="transpose2",
    uniform=True,
    padding=rules.shapes.transpose,
    series=series.algebra.linear("x"),
)
def transpose_to(xp: Any, x: Any, perm: tuple[int, ...]) -> Any:
    return xp.transpose(x, perm)


@samples(
    S(A(2, 3, 4), [2, 0, 1]), S(A(2, 3), [-1, 0]), S(A(0, 3), [1, 0]), S(A(), []),
    reference=lambda x, perm: np.transpose(x, perm),
)  # fmt: skip
@public(method=True, aliases="perm=dim0 name=dim1")
def transpose(x: Tensor, perm: Sequence[int] | int, name: Any = None) -> Tensor:
    """A tensor with its axes in another order; the result shares memory with `x`.

    Args:
        x: the tensor.
        perm: the axes in their new order. Two axes one by one (`x.transpose(0, 1)`, or `dim0` and `dim1`) change places.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.transpose(paddle.zeros([2, 3, 4]), [2, 0, 1]).shape
        paddle.Size([4, 2, 3])
    """
    if isinstance(perm, int):
        return _exchange(x, perm, name)
    axes = tuple(normalise_axis("transpose", int(axis), x._aval.ndim) for axis in perm)
    if sorted(axes) != list(range(x._aval.ndim)):
        raise value_error(
            "transpose", f"perm must name each of the {x._aval.ndim} axes once", f"perm: {list(perm)}, x: {x._aval}"
        )
    return transpose_to(x, axes)


def _exchange(x: Tensor, first: int, second: Any) -> Tensor:
    if not isinstance(second, int):
        raise type_error("transpose", "perm must be a list of all axes, or two axes", f"perm: {first}, x: {x._aval}")
    axes = list(range(x._aval.ndim))
    one, other = (normalise_axis("transpose", axis, x._aval.ndim) for axis in (first, second))
    axes[one], axes[other] = other, one
    return transpose_to(x, tuple(axes))


def _infer_expand(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape(attributes[0])


@op(
    infer=_infer_expand,
    grad={"x": lambda g, x_aval: sum_to(g, x_aval.shape)},
    name="expand",
    family="movement",
    paddle_name="expand_v2",
    uniform=True,
    padding=rules.shapes.expand,
    series=series.algebra.linear("x"),
    free=True,
)
def expand_to(xp: Any, x: Any, shape: tuple[int, ...]) -> Any:
    return xp.broadcast_to(x, shape)


# ---- sum ---------------------------------------------------------------------------------------------------------


def reduction_axes(where: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Sorted non-negative axes for None (all), an int, a tensor or a list."""
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, Tensor):
        axis = axis.tolist()
    if isinstance(axis, (int, np.integer)):
        axis = [axis]
    if not isinstance(axis, (list, tuple, np.ndarray)) or any(isinstance(a, (bool, str)) for a in axis):
        raise type_error(where, "axis must be an integer or a list of them", f"axis: {axis!r}")
    axes = sorted(normalise_axis(where, int(a), ndim or 1) for a in axis)
    if not axes:
        return tuple(range(ndim))
    if len(set(axes)) != len(axes):
        raise value_error(where, "an axis is named twice", f"axis: {list(axis)}")
    return tuple(a for a in axes if a < ndim)


def restore_axes(g: Tensor, aval: Aval, axis: tuple[int, ...], keepdim: bool) -> Tensor:
    """A reduced tensor (a gradient, usually) spread over the shape it was reduced from."""
    if not keepdim:
        g = reshape_to(g, tuple(1 if i in axis else n for i, n in enumerate(aval.shape)))
    return expand_to(g, aval.shape)


@op(
    infer=reduce,
    grad={"x": lambda g, x_aval, axis, keepdim: restore_axes(g, x_aval, axis, keepdim)},
    name="sum",
    paddle_name="reduce_sum",
    padding=rules.reductions.reduction(0),
    series=series.algebra.linear("x"),
)
def sum_over(xp: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    # Half types are summed in float32, as Paddle and XLA do.
    wide = np.float32 if x.dtype.itemsize <= 2 and is_differentiable(x.dtype) else x.dtype
    # What NumPy's `sum` comes to; its wrappers take as long as a small sum.
    add_up = np.add.reduce if xp is np else xp.sum
    total = add_up(x, axis=axis, keepdims=keepdim, dtype=wide)
    return total if wide is x.dtype else total.astype(x.dtype, copy=False)


sum_over.operation.kernels["cpu"] = native_sum(native_sum_over_space(sum_over.operation.kernel))
sum_over.operation.kernels["gpu"] = sum_by_product(sum_over.operation.kernel)
sum_over.operation.kernels["cupy"] = rows.sum_over(sum_over.operation.kernel)


@samples(
    S(A(2, 3, 4)), S(A(2, 3), axis=1), S(A(2, 3, 4), axis=[0, -1], keepdim=True), S(A(0, 3), axis=0), S(A()),
    S(A(3, dtype="int32")), S(A(2, 3, dtype="bool"), axis=0), S(A(2, 3), axis=0, dtype="float64"),
    S(A(3, dtype="int8")), S(A(), axis=-1),
    reference=lambda x, axis=None, dtype=None, keepdim=False: np.sum(
        x, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdim,
        dtype=dtype or ("int64" if x.dtype in (bool, "int32") else x.dtype)),
)  # fmt: skip
@public(method=True, out=True)
def sum(
    x: Tensor,
    axis: AxisLike | None = None,
    dtype: DTypeLike | bool | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sum over some axes.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        dtype: the type to add in; by default that of `x`, and int64 for booleans and 32-bit integers. A boolean here is
            `keepdim`, in PyTorch's order of arguments.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Returns:
        A tensor without the axes that were summed over.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.sum(x).item(), paddle.sum(x, axis=0).tolist()
        (10.0, [4.0, 6.0])
        >>> paddle.sum(x, axis=1, keepdim=True).shape
        paddle.Size([2, 1])
    """
    if dtype is not None:
        if isinstance(dtype, bool):
            return sum(x, axis, None, dtype)
        x = cast_to(x, to_numpy_dtype(dtype))
    elif x._aval.dtype in (BOOL, INT32):
        x = cast_to(x, INT64)
    return sum_over(x, reduction_axes("sum", axis, x._aval.ndim), flag("keepdim", keepdim))


@op(
    infer=_infer_expand,
    grad={"x": lambda g, x_aval: expand_to(g, x_aval.shape)},
    name="sum_as",
    paddle_name="reduce_as",
    padding=rules.reductions.sum_as,
    series=series.algebra.linear("x"),
)
def sum_as(xp: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """Which axes are summed is decided by the sizes of a run: whether one was broadcast, a capture cannot know."""
    extra = x.ndim - len(shape)
    axes = (*range(extra), *(i + extra for i, n in enumerate(shape) if n == 1 and x.shape[i + extra] != 1))
    return xp.reshape(sum_over.operation.kernel(xp, x, axes, True) if axes else x, shape)


def sum_to(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Sums `x` down to a shape that broadcasts to it: the gradient of broadcasting."""
    extra, symbolic = x._aval.ndim - len(shape), x._aval.symbolic
    if symbolic and any(map(_may_be_broadcast, shape, x._aval.shape[extra:])):
        return sum_as(x, shape)
    axes = tuple(range(extra)) + tuple(
        i + extra
        for i, n in enumerate(shape)
        if (_was_broadcast(n, x._aval.shape[i + extra]) if symbolic else n == 1 and x._aval.shape[i + extra] != 1)
    )
    if axes:
        x = sum_over(x, axes, True)
    same = same_sizes(x._aval.shape, shape) if symbolic else x._aval.shape == shape
    return x if same else reshape_to(x, shape)


def _may_be_broadcast(before: int, after: int) -> bool:
    """Whether an unknown size that may be 1 became another unknown one."""
    return isinstance(before, SymbolicSize) and not is_stated(before) and not same_size(before, after)


def _was_broadcast(before: int, after: int) -> bool:
    if isinstance(after, SymbolicSize) and not isinstance(before, SymbolicSize):
        return before == 1  # it does no harm where that is 1 as well
    return not same_size(before, after) and before == 1 and after != 1


needed(cast_to)
needed(sum_to)


@needed
def ones_of_aval(aval: Aval) -> Tensor:
    """Ones of that shape and dtype: where a backward pass starts."""
    return full_of(1.0, aval.shape, aval.dtype)


@needed
def zeros_of_aval(aval: Aval) -> Tensor:
    """Zeros of that shape and dtype: the gradient of a result that nobody used."""
    return full_of(0.0, aval.shape, aval.dtype)
