"""Other shapes of the same numbers: axes added, removed, merged, divided, moved.

All of these share memory with their source in Paddle; here they are reshapes and transposes, which
are views (see eager/views.py). `reshape` and `transpose` themselves are in `basic.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import strides
from ...core.aval import Aval
from ...core.dtype import DType, to_numpy_dtype
from ...core.errors import failed_check, value_error
from ...core.namespaces import can_write
from ...core.symbols import plain
from ...eager.annotations import AxisLike, DTypeLike, ShapeLike
from ...eager.attaching import attach
from ...eager.calling import MISSING
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...eager.views import check_in_place, see_otherwise, strides_of, take_over
from ...ir.padding import rules
from ...ir.recorder import recording_gradients
from ..arguments import integers, listed, one_axis, require_tensor, several_axes
from ..basic import reshape_to, resolve_shape, transpose, transpose_to

# ---- axes of extent one --------------------------------------------------------------------------


def _squeezed(x: Tensor, axis: Any) -> tuple[int, ...]:
    aval = require_tensor("squeeze", "x", x)._aval
    given = () if axis is None else integers("squeeze", "axis", axis)
    if not given:
        return tuple(n for n in aval.shape if n != 1)
    axes = {one_axis("squeeze", a, aval.ndim) for a in given}
    return tuple(n for a, n in enumerate(aval.shape) if n != 1 or a not in axes)


@samples(
    S(A(1, 2, 1)),
    S(A(1, 2, 1), 0),
    S(A(1, 2, 1), axis=[0, -1]),
    S(A(1, 2, 1), 1),
    S(A()),
    S(A(1, 0)),
    reference=lambda x, axis=None: x.reshape(
        [n for a, n in enumerate(x.shape) if n != 1 or (axis is not None and a not in np.atleast_1d(axis) % x.ndim)]
    ),
    reshapes=True,
)
@public(method=True)
def squeeze(x: Tensor, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
    """A tensor without axes of one element; the result shares memory with `x`.

    Args:
        x: the tensor.
        axis: the axes that go, as far as they have one element; all such by default.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.squeeze(paddle.zeros([1, 3, 1])).shape
        paddle.Size([3])
        >>> paddle.squeeze(paddle.zeros([1, 3, 1]), axis=0).shape
        paddle.Size([3, 1])
    """
    return reshape_to(x, _squeezed(x, axis))


def _unsqueezed(x: Tensor, axis: Any) -> tuple[int, ...]:
    shape = list(require_tensor("unsqueeze", "x", x)._aval.shape)
    for a in integers("unsqueeze", "axis", axis):  # one after the other, as Paddle does
        shape.insert(one_axis("unsqueeze", a, len(shape), extra=1), 1)
    return tuple(shape)


@samples(
    S(A(2, 3), 0),
    S(A(2, 3), [0, 2]),
    S(A(2, 3), axis=-1),
    S(A(2, 3), [-1, 0]),
    S(A(), 0),
    S(A(0, 2), 1),
    reference=lambda x, axis: _reference_unsqueeze(x, axis),
    reshapes=True,
)
@public(method=True)
def unsqueeze(x: Tensor, axis: AxisLike | None, name: str | None = None) -> Tensor:
    """A tensor with new axes of one element; the result shares memory with `x`.

    Args:
        x: the tensor.
        axis: where they are, one or several.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.unsqueeze(paddle.zeros([3]), axis=0).shape
        paddle.Size([1, 3])
        >>> paddle.unsqueeze(paddle.zeros([3]), axis=[0, 2]).shape
        paddle.Size([1, 3, 1])
    """
    return reshape_to(x, _unsqueezed(x, axis))


def _reference_unsqueeze(x: Any, axis: Any) -> Any:
    for a in np.atleast_1d(axis):
        x = np.expand_dims(x, int(a))
    return x


def _flattened(x: Tensor, start_axis: Any, stop_axis: Any) -> tuple[int, ...]:
    aval = require_tensor("flatten", "x", x)._aval
    if aval.ndim == 0:
        return (1,)
    start, stop = (
        one_axis("flatten", start_axis, aval.ndim),
        one_axis("flatten", stop_axis, aval.ndim),
    )
    if start > stop:
        raise value_error(
            "flatten",
            "start_axis comes after stop_axis",
            f"x: {aval}, axes: {start_axis}, {stop_axis}",
        )
    return (*aval.shape[:start], math.prod(aval.shape[start : stop + 1]), *aval.shape[stop + 1 :])


@samples(
    S(A(2, 3, 4)),
    S(A(2, 3, 4), 1),
    S(A(2, 3, 4), start_axis=-3, stop_axis=-2),
    S(A()),
    S(A(0, 3)),
    S(A(3)),
    reference=lambda x, start_axis=0, stop_axis=-1: x.reshape(
        [
            *x.shape[: start_axis % max(x.ndim, 1)],
            int(np.prod(x.shape[start_axis % max(x.ndim, 1) : stop_axis % max(x.ndim, 1) + 1])),
            *x.shape[stop_axis % max(x.ndim, 1) + 1 :],
        ]
    ),
    reshapes=True,
)
@public(method=True, aliases="start_axis=start_dim stop_axis=end_dim")
def flatten(x: Tensor, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Tensor:
    """A tensor with some neighbouring axes merged into one; the result shares memory with `x`.

    Args:
        x: the tensor.
        start_axis: the first of them.
        stop_axis: the last of them.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.flatten(paddle.zeros([2, 3, 4]), start_axis=1).shape
        paddle.Size([2, 12])
    """
    return reshape_to(x, _flattened(x, start_axis, stop_axis))


@samples(
    S(A(2, 6), 1, [2, 3]),
    S(A(2, 6), -1, [3, -1]),
    S(A(4, 0), 0, [2, 2]),
    reference=lambda x, axis, shape: x.reshape([*x.shape[: axis % x.ndim], *shape, *x.shape[axis % x.ndim + 1 :]]),
)
@public(method=True, aliases="shape=sizes")
def unflatten(x: Tensor, axis: AxisLike | None, shape: ShapeLike, name: str | None = None) -> Tensor:
    """A tensor with one axis divided into several; the result shares memory with `x`.

    Args:
        x: the tensor.
        axis: the axis.
        shape: what it becomes; one of the dimensions may be -1.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.unflatten(paddle.zeros([2, 6]), 1, [3, -1]).shape
        paddle.Size([2, 3, 2])
    """
    aval = require_tensor("unflatten", "x", x)._aval
    along = one_axis("unflatten", axis, aval.ndim)
    part = aval.with_shape((aval.shape[along],))
    extents = resolve_shape("unflatten", part, integers("unflatten", "shape", shape))
    return reshape_to(x, (*aval.shape[:along], *extents, *aval.shape[along + 1 :]))


# ---- in place ------------------------------------------------------------------------------------


def _reshaped_in_place(x: Tensor, shape: tuple[int, ...], name: str) -> Tensor:
    """`x` itself gets another shape, and goes on sharing memory with whatever it shared it with."""
    return _seen_otherwise(x, reshape_to, shape, name)


def _seen_otherwise(x: Tensor, relabel: Callable[..., Tensor], attribute: tuple[int, ...], name: str) -> Tensor:
    """`x` itself becomes `relabel(x, attribute)`, the same numbers in another order of axes or another shape."""
    check_in_place(x, name)
    shape = tuple(x._aval.shape[a] for a in attribute) if relabel is transpose_to else attribute
    before = see_otherwise(x, relabel.operation, (attribute,), shape)
    is_leaf, stop, gradient = x._node is None, x.stop_gradient, x.__dict__.get("_grad")
    # Numbers may change under no_grad() and the history stay; a shape may not, or gradients would
    # not fit: so this one step of the history is recorded anyway. A leaf stays a leaf.
    with recording_gradients(not is_leaf):
        take_over(x, relabel(before, attribute))
    if is_leaf:
        x._node, x.stop_gradient = None, stop
        if gradient is not None:
            x._grad = relabel(gradient, attribute)
    return x


@public(method=True)
def squeeze_(x: Tensor, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
    """As `paddle.squeeze`, in place: `x` itself gets the other shape and is returned.

    Args:
        x: the tensor.
        axis: the axes that go, as far as they have one element; all such by default.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.zeros([1, 3, 1]).squeeze_().shape
        paddle.Size([3])
    """
    return _reshaped_in_place(x, _squeezed(x, axis), "squeeze_")


@public(method=True)
def unsqueeze_(x: Tensor, axis: AxisLike | None, name: str | None = None) -> Tensor:
    """As `paddle.unsqueeze`, in place: `x` itself gets the other shape and is returned.

    Args:
        x: the tensor.
        axis: where the new axes are.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.zeros([3]).unsqueeze_(0).shape
        paddle.Size([1, 3])
    """
    return _reshaped_in_place(x, _unsqueezed(x, axis), "unsqueeze_")


@public(method=True)
def flatten_(x: Tensor, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Tensor:
    """As `paddle.flatten`, in place: `x` itself gets the other shape and is returned.

    Args:
        x: the tensor.
        start_axis: the first axis to merge.
        stop_axis: the last of them.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.zeros([2, 3]).flatten_().shape
        paddle.Size([6])
    """
    return _reshaped_in_place(x, _flattened(x, start_axis, stop_axis), "flatten_")


@public(method=True)
@listed("shape", 1)
def reshape_(x: Tensor, shape: ShapeLike, name: str | None = None) -> Tensor:
    """As `paddle.reshape`, in place: `x` itself gets the other shape and is returned.

    Args:
        x: the tensor.
        shape: the dimensions; one may be -1.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.zeros([2, 3])
        >>> _ = x.reshape_([3, 2])
        >>> x.shape
        paddle.Size([3, 2])
    """
    wanted = resolve_shape("reshape_", require_tensor("reshape_", "x", x)._aval, integers("reshape_", "shape", shape))
    return _reshaped_in_place(x, wanted, "reshape_")


@public(method=True)
def transpose_(x: Tensor, perm: Sequence[int] | int, name: str | None = None) -> Tensor:
    """As `paddle.transpose`, in place: `x` itself gets the other order of axes and is returned.

    Args:
        x: the tensor.
        perm: the axes in their new order.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.zeros([2, 3]).transpose_([1, 0]).shape
        paddle.Size([3, 2])
    """
    ndim = require_tensor("transpose_", "x", x)._aval.ndim
    order = several_axes("transpose_", perm, ndim)
    if len(order) != ndim:
        raise value_error("transpose_", f"perm must name each of the {ndim} axes once", f"perm: {perm}, x: {x._aval}")
    return _seen_otherwise(x, transpose_to, order, "transpose_")


@public(method=True)
def t_(input: Tensor, name: str | None = None) -> Tensor:
    """As `paddle.t`, in place: the tensor itself is transposed and returned.

    Args:
        input: a tensor of at most two axes.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.to_tensor([[1, 2], [3, 4]]).t_().tolist()
        [[1, 3], [2, 4]]
    """
    ndim = require_tensor("t_", "input", input)._aval.ndim
    if ndim > 2:
        raise value_error("t_", "input must have at most two dimensions", f"input: {input._aval}", "use transpose_()")
    return _seen_otherwise(input, transpose_to, (1, 0), "t_") if ndim == 2 else input


# ---- axes in another order -----------------------------------------------------------------------


@samples(
    S(A(2, 3, 4), 0, 2),
    S(A(2, 3, 4), [0, 1], [1, 2]),
    S(A(2, 3), -1, 0),
    S(A(0, 2), 1, 0),
    reference=lambda x, source, destination: np.moveaxis(x, source, destination),
)
@public(method=True)
def moveaxis(
    x: Tensor, source: int | Sequence[int], destination: int | Sequence[int], name: str | None = None
) -> Tensor:
    """A tensor with some axes moved to other places, the rest in order; the result shares memory with `x`.

    Args:
        x: the tensor.
        source: the axis, or several.
        destination: where they go.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.moveaxis(paddle.zeros([2, 3, 4]), 0, -1).shape
        paddle.Size([3, 4, 2])
    """
    ndim = require_tensor("moveaxis", "x", x)._aval.ndim
    old, new = several_axes("moveaxis", source, ndim), several_axes("moveaxis", destination, ndim)
    if len(old) != len(new):
        raise failed_check(
            "moveaxis",
            "source and destination must have the same length",
            f"{source}, {destination}",
        )
    rest = iter([axis for axis in range(ndim) if axis not in old])
    moved = dict(zip(new, old))
    return transpose_to(x, tuple(moved[axis] if axis in moved else next(rest) for axis in range(ndim)))


def _swapped(where: str, x: Tensor, first: Any, second: Any) -> Tensor:
    perm = list(range(require_tensor(where, "x", x)._aval.ndim))
    a, b = one_axis(where, first, len(perm)), one_axis(where, second, len(perm))
    perm[a], perm[b] = perm[b], perm[a]
    return transpose_to(x, tuple(perm))


def _swapped_by_name(*arguments: Any, **named: Any) -> Any:
    """`swapaxes(x, axis0=0, axis1=1)`, also with `dim0` and `dim1`."""
    for first, second in (("axis0", "axis1"), ("dim0", "dim1")):
        if first in named and second in named:
            x = named["x"] if "x" in named else named["input"] if "input" in named else arguments[0]
            return _swapped("swapaxes", x, named[first], named[second])
    return MISSING


@samples(
    S(A(2, 3, 4), 0, 2),
    S(A(2, 3, 4), [2, 0, 1]),
    S(A(2, 3), -1, -2),
    reference=lambda x, a, b=None: np.transpose(x, a) if b is None else np.swapaxes(x, a, b),
)
@public(method="swapaxes swapdims", otherwise=_swapped_by_name)
def swapaxes(x: Tensor, perm: Sequence[int] | int, *axes: Any, name: str | None = None) -> Tensor:
    """A tensor with two axes exchanged; the result shares memory with `x`.

    Args:
        x: the tensor.
        perm: the first axis; a list of all axes gives their new order instead.
        name: a label; it changes nothing.
        *axes: the second axis.

    Examples:
        >>> paddle.swapaxes(paddle.zeros([2, 3, 4]), 0, 2).shape
        paddle.Size([4, 3, 2])
    """
    if not axes:
        return transpose(x, list(integers("swapaxes", "perm", perm)))
    if len(axes) != 1:
        raise value_error("swapaxes", "give two axes, or the order of all in one list", f"{(perm, *axes)}")
    return _swapped("swapaxes", x, perm, axes[0])


swapdims = public(name="swapdims", otherwise=_swapped_by_name)(swapaxes)


def _all_reversed(x: Tensor) -> Tensor:
    """The tensor with its axes in reverse order; the result shares memory with it.

    Examples:
        >>> paddle.zeros([2, 3, 4]).T.shape
        paddle.Size([4, 3, 2])
    """
    return transpose_to(x, tuple(reversed(range(x._aval.ndim))))


def _matrices_transposed(x: Tensor) -> Tensor:
    """The tensor with its last two axes exchanged; the result shares memory with it.

    Examples:
        >>> paddle.zeros([2, 3, 4]).mT.shape
        paddle.Size([2, 4, 3])
    """
    if x._aval.ndim < 2:
        raise value_error("mT", "there must be two axes at least", f"x: {x._aval}")
    return _swapped("mT", x, -1, -2)


attach(__name__, T=property(_all_reversed))
attach(__name__, mT=property(_matrices_transposed))


# ---- seen as another shape or type ---------------------------------------------------------------


def _infer_bits(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    aval, (dtype,) = operands[0], attributes
    old, new = aval.dtype.itemsize, dtype.itemsize
    if old == new:
        return aval.with_dtype(dtype)
    if not aval.ndim or aval.shape[-1] * old % new:
        raise operation.error(
            ValueError,
            f"the last dimension cannot be read as elements of {new} bytes",
            operands,
            fix="pad or reshape it",
        )
    return aval.with_shape((*aval.shape[:-1], aval.shape[-1] * old // new)).with_dtype(dtype)


@op(
    infer=_infer_bits,
    view=lambda base, view, dtype: _bits_back(base, view),
    name="view_dtype",
    amp="never",
    padding=rules.refused("another type of other width makes more or fewer elements of the same bytes"),
)
def same_bits(xp: Any, x: Any, dtype: np.dtype) -> Any:
    """The same bytes as elements of another type."""
    if can_write(xp):
        return (
            xp.ascontiguousarray(x)
            .view(dtype)
            .reshape(x.shape if dtype.itemsize == x.dtype.itemsize else (*x.shape[:-1], -1))
        )
    from jax import lax

    old, new = x.dtype.itemsize, dtype.itemsize
    if x.dtype == np.bool_:
        x = x.astype(np.uint8)
    if new > old:
        x = x.reshape((*x.shape[:-1], -1, new // old))
    if dtype == np.bool_:
        return lax.bitcast_convert_type(x, np.dtype(np.uint8)).astype(bool)
    bits = lax.bitcast_convert_type(x, dtype)
    return bits.reshape((*x.shape[:-1], -1)) if new < old else bits


def _bits_back(base: Tensor, view: Tensor) -> Tensor:
    return same_bits(view, base._aval.dtype)


@samples(
    S(A(2, 6), [3, 4]),
    S(A(2, 6), [-1]),
    S(A(2, 4, dtype="int32"), "float32"),
    S(A(2, 4, dtype="int16"), "int32"),
    S(A(2, 3, dtype="int64"), "uint8"),
    reference=lambda x, to: x.view(to) if isinstance(to, str) else x.reshape(to),
)
@public(method=True, aliases="shape_or_dtype=dtype shape_or_dtype=size")
@listed("shape_or_dtype", 1)
def view(x: Tensor, shape_or_dtype: ShapeLike | DTypeLike, name: str | None = None) -> Tensor:
    """A tensor in another shape, or its bytes as another type; the result shares memory with `x`.

    Args:
        x: the tensor.
        shape_or_dtype: the shape (one dimension may be -1), or the type.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.view(paddle.arange(6), [3, 2]).shape
        paddle.Size([3, 2])
        >>> paddle.view(paddle.to_tensor([1.0]), "int32").tolist()
        [1065353216]
    """
    aval = require_tensor("view", "x", x)._aval
    if isinstance(shape_or_dtype, (str, DType, np.dtype, type)):
        dtype = to_numpy_dtype(shape_or_dtype)
        return x if dtype == aval.dtype else same_bits(x, dtype)
    shape = resolve_shape("view", aval, integers("view", "shape_or_dtype", shape_or_dtype))
    steps = strides_of(x)
    if strides.reshaped(plain(aval.shape), steps, plain(shape)) is None:
        raise value_error(
            "view",
            f"the memory of a tensor with strides {list(steps)} cannot be seen in the shape {list(shape)}",
            f"x: {aval}",
            "use reshape(), which copies where it must",
        )
    return reshape_to(x, shape)


@samples(
    S(A(2, 3), A(3, 2)),
    S(A(4), A(2, 2)),
    S(A(0, 3), A(3, 0)),
    reference=lambda x, other: x.reshape(other.shape),
)
@public(method=True)
def view_as(x: Tensor, other: Tensor, name: str | None = None) -> Tensor:
    """A tensor in the shape of another; the result shares memory with `x`.

    Args:
        x: the tensor.
        other: the tensor whose shape is taken.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.view_as(paddle.arange(6), paddle.zeros([2, 3])).tolist()
        [[0, 1, 2], [3, 4, 5]]
    """
    return view(x, list(require_tensor("view_as", "other", other)._aval.shape))
