"""The same memory seen otherwise: by strides, through a sliding window, pairs of numbers as complex ones.

Values are stored without gaps here, so that strides are a rule for picking elements: such a view is a gather, and
writing into it a scatter, where Paddle has two names for one memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64
from ...core.errors import failed_check, value_error
from ...eager import series
from ...eager.annotations import AxisLike, ShapeLike, SizesLike
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ...eager.views import register_view
from ...ir.padding import rules
from ..arguments import integer, integers, listed, new_shape, one_axis, require_tensor
from ..basic import reshape_to, transpose_to
from ..index.index_stages import PlanView
from ..index.indexing import get_item
from ..index.indexing_kernels import put_elements, take_elements

# ---- by strides ----------------------------------------------------------------------------------


def by_strides(where: str, aval: Aval, shape: tuple[int, ...], stride: tuple[int, ...], offset: int) -> ByStrides:
    """What strides pick from a tensor; ValueError if they reach outside of it."""
    received = f"x: {aval}, shape: {list(shape)}, stride: {list(stride)}, offset: {offset} bytes"
    if len(shape) != len(stride):
        raise value_error(where, "shape and stride must have the same length", received)
    start, odd = divmod(offset, aval.dtype.itemsize)
    if odd:
        raise value_error(where, f"offset is counted in bytes, {aval.dtype.itemsize} for an element", received)
    low = start + sum(min((n - 1) * step, 0) for n, step in zip(shape, stride))
    high = start + sum(max((n - 1) * step, 0) for n, step in zip(shape, stride))
    if 0 not in shape and not 0 <= low <= high < aval.size:
        raise value_error(where, f"elements {low} to {high} are asked for, x has 0 to {aval.size - 1}", received)
    positions = np.full((), start, np.int64)
    for n, step in zip(shape, stride):
        positions = positions[..., None] + np.arange(n) * step
    return ByStrides(positions.reshape(shape), stride)


class ByStrides:
    """How a view by strides is read from its base and written back."""

    def __init__(self, positions: np.ndarray, stride: tuple[int, ...]) -> None:
        self.positions = positions
        self.stride = stride

    def strides(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
        return self.stride

    def read(self, x: Tensor) -> Tensor:
        places = tensor_from_data(self.positions.reshape(-1), place=x._aval.place)
        taken = take_elements(_flat(x), [places], [0], trusted=True)
        return reshape_to(taken, self.positions.shape)

    def write(self, x: Tensor, value: Tensor) -> Tensor:
        places = tensor_from_data(self.positions.reshape(-1), place=x._aval.place)
        return reshape_to(put_elements(_flat(x), _flat(value), [places], [0], trusted=True), x._aval.shape)


def _flat(x: Tensor) -> Tensor:
    return reshape_to(x, (x._aval.size,))


def _reference_strided(x: Any, shape: Any, stride: Any, offset: int = 0) -> Any:
    flat = np.ascontiguousarray(x).reshape(-1)[offset // x.itemsize :]
    return np.lib.stride_tricks.as_strided(flat, shape, [s * x.itemsize for s in stride])


@samples(
    S(A(2, 3, dtype="float64"), [2, 2], [1, 2], 8),
    S(A(6), [3, 2], [2, 1]),
    S(A(5), [3, 3], [1, 1]),
    S(A(4), [2, 3], [1, 0]),
    S(A(3, dtype="int64"), [0, 2], [1, 1]),
    S(A(3), [], []),
    reference=_reference_strided,
)
@public(method=True)
def as_strided(x: Tensor, shape: ShapeLike, stride: SizesLike, offset: int = 0, name: str | None = None) -> Tensor:
    """A tensor with a shape and strides of one's own; the result shares memory with `x`.

    Where two places of the result are one place of `x`, gradients add up.

    Args:
        x: the tensor.
        shape: the shape.
        stride: how many elements lie between neighbours along each axis.
        offset: how many bytes lie before the first element.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.as_strided(paddle.arange(5), [3, 3], [1, 1]).tolist()
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    """
    aval = require_tensor("as_strided", "x", x)._aval
    dims = new_shape("as_strided", shape)
    steps = integers("as_strided", "stride", stride)
    plan = by_strides("as_strided", aval, dims, steps, integer("as_strided", "offset", offset))
    result = plan.read(x)
    register_view(x, result, PlanView, (plan,))
    return result


# ---- through a window ----------------------------------------------------------------------------


class _Windows:
    """How overlapping windows are read from their base and written back."""

    def __init__(self, axis: int, positions: np.ndarray, step: int) -> None:
        self.axis = axis
        self.positions = positions
        self.step = step

    def strides(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
        along = strides[self.axis]
        return (*strides[: self.axis], along * self.step, *strides[self.axis + 1 :], along)

    def _places(self, x: Tensor) -> Tensor:
        return tensor_from_data(self.positions, place=x._aval.place)

    def read(self, x: Tensor) -> Tensor:
        taken = take_elements(x, [self._places(x)], [self.axis], trusted=True)
        inner = self.axis + 1
        order = [a for a in range(taken._aval.ndim) if a != inner]
        return transpose_to(taken, (*order, inner))

    def write(self, x: Tensor, value: Tensor) -> Tensor:
        ndim = value._aval.ndim
        order = list(range(ndim - 1))
        order.insert(self.axis + 1, ndim - 1)
        return put_elements(x, transpose_to(value, tuple(order)), [self._places(x)], [self.axis], trusted=True)


def _reference_unfold(x: Any, axis: int, size: int, step: int) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis)
    return np.moveaxis(np.moveaxis(windows, axis % x.ndim, 0)[::step], 0, axis % x.ndim)


@samples(
    S(A(9), 0, 2, 4),
    S(A(2, 5), 1, 3, 1),
    S(A(4, 2, 2), -3, 2, 2),
    S(A(3, 0), 0, 2, 1),
    S(A(4, dtype="int32"), 0, 4, 9),
    reference=_reference_unfold,
)
@public(method=True, aliases="axis=dimension")
def unfold(x: Tensor, axis: AxisLike | None, size: SizesLike, step: int, name: str | None = None) -> Tensor:
    """Windows along an axis, each as a new last axis; the result shares memory with `x`.

    Args:
        x: the tensor.
        axis: the axis.
        size: how many elements a window has.
        step: every how many elements one begins.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.unfold(paddle.arange(5), 0, 3, 1).tolist()
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    """
    aval = require_tensor("unfold", "x", x)._aval
    if not aval.ndim:
        raise value_error("unfold", "a tensor without dimensions has no axis to unfold", f"x: {aval}")
    along = one_axis("unfold", axis, aval.ndim)
    length, by = integer("unfold", "size", size), integer("unfold", "step", step)
    if not 0 <= length <= aval.shape[along] or by <= 0:
        raise value_error(
            "unfold",
            f"size must be from 0 to {aval.shape[along]} and step positive",
            f"size: {length}, step: {by}, axis: {axis}, x: {aval}",
        )
    starts = np.arange(0, aval.shape[along] - length + 1, by)
    plan = _Windows(along, starts[:, None] + np.arange(length), by)
    result = plan.read(x)
    register_view(x, result, PlanView, (plan,))
    return result


# ---- pairs as complex numbers --------------------------------------------------------------------


def _infer_as_complex(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x = operands[0]
    if x.dtype not in (FLOAT32, FLOAT64):
        raise operation.error(RuntimeError, "only float32 and float64 can be seen as complex", operands)
    if not x.ndim or x.shape[-1] != 2:
        raise operation.error(ValueError, "the last dimension must be 2: a real and an imaginary part", operands)
    return x.with_shape(x.shape[:-1]).with_dtype(COMPLEX64 if x.dtype == FLOAT32 else COMPLEX128)


def _infer_as_real(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x = operands[0]
    if x.dtype.kind != "c":
        raise operation.error(RuntimeError, "x is not complex", operands)
    return x.with_shape((*x.shape, 2)).with_dtype(FLOAT32 if x.dtype == COMPLEX64 else FLOAT64)


@samples(
    S(A(3, 2, dtype="float64")), S(A(2)), S(A(0, 2)), S(A(2, 1, 2)),
    reference=lambda x: x[..., 0] + 1j * x[..., 1],
)  # fmt: skip
@public(method=True)
@op(
    infer=_infer_as_complex,
    grad={"x": lambda g: as_real(g)},
    view=lambda base, view: as_real(view),
    strides=lambda shape, strides: tuple(step // 2 for step in strides[:-1]),
    padding=rules.shapes.as_complex,
    series=series.algebra.linear("x"),
)
def as_complex(xp: Any, x: Any) -> Any:
    """Pairs in the last axis as complex numbers; the result shares memory with `x`.

    Args:
        x: a floating tensor whose last axis has two elements.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.as_complex(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [(1+2j), (3+4j)]
    """
    return x[..., 0] + x.dtype.type(1) * 1j * x[..., 1]


@samples(
    S(A(3, dtype="complex128")), S(A(dtype="complex128")), S(A(0, 2, dtype="complex128")),
    reference=lambda x: np.stack([x.real, x.imag], -1),
)  # fmt: skip
@public(method=True)
@op(
    infer=_infer_as_real,
    grad={"x": lambda g: as_complex(g)},
    view=lambda base, view: as_complex(view),
    strides=lambda shape, strides: (*(2 * step for step in strides), 1),
    padding=rules.shapes.as_real,
    series=series.algebra.linear("x"),
)
def as_real(xp: Any, x: Any) -> Any:
    """Complex numbers as pairs in a new last axis; the result shares memory with `x`.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.as_real(paddle.to_tensor([1 + 2j, 3 + 4j])).tolist()
        [[1.0, 2.0], [3.0, 4.0]]
    """
    return xp.stack([xp.real(x), xp.imag(x)], axis=-1)


def _as_complex_numpy(xp: Any, x: Any) -> Any:
    # The bytes themselves: infinities and NaN stay in their part.
    return xp.ascontiguousarray(x).view(np.complex64 if x.dtype == FLOAT32 else np.complex128).reshape(x.shape[:-1])


def _as_complex_xla(xp: Any, x: Any) -> Any:
    from jax import lax

    return lax.complex(x[..., 0], x[..., 1])


as_complex.operation.kernels["numpy"] = _as_complex_numpy
as_complex.operation.kernels["cupy"] = _as_complex_numpy
as_complex.operation.kernels["xla"] = _as_complex_xla


@samples(S(A(3, 2, dtype="float64")), S(A(2)), S(A(0, 2)), reference=lambda input: input[..., 0] + 1j * input[..., 1])
@public(method=True)
def view_as_complex(input: Tensor) -> Tensor:
    """Pairs in the last axis as complex numbers; the same as `as_complex`.

    Args:
        input: a floating tensor whose last axis has two elements.

    Examples:
        >>> paddle.view_as_complex(paddle.to_tensor([[1.0, 2.0]])).tolist()
        [(1+2j)]
    """
    return as_complex(require_tensor("view_as_complex", "input", input))


@samples(
    S(A(3, dtype="complex128")), S(A(dtype="complex128")), S(A(0, 2, dtype="complex128")),
    reference=lambda input: np.stack([input.real, input.imag], -1),
)  # fmt: skip
@public(method=True)
def view_as_real(input: Tensor) -> Tensor:
    """Complex numbers as pairs in a new last axis; the same as `as_real`.

    Args:
        input: the tensor.

    Examples:
        >>> paddle.view_as_real(paddle.to_tensor([1 + 2j])).tolist()
        [[1.0, 2.0]]
    """
    return as_real(require_tensor("view_as_real", "input", input))


# ---- other names ---------------------------------------------------------------------------------


@samples(
    S(A(2, 3), [1, 0]), S(A(2, 3, 1), (-1, 0, 1)), S(A(), []),
    reference=lambda input, dims: np.transpose(input, dims),
)  # fmt: skip
@public(method=True)
@listed("dims", 1)
def permute(input: Tensor, dims: Sequence[int] | int) -> Tensor:
    """A tensor with its axes in another order; the result shares memory with it.

    Args:
        input: the tensor.
        dims: the axes in their new order, a list or one after the other.

    Examples:
        >>> paddle.permute(paddle.zeros([2, 3, 4]), [2, 0, 1]).shape
        paddle.Size([4, 2, 3])
    """
    ndim = require_tensor("permute", "input", input)._aval.ndim
    order = tuple(one_axis("permute", d, ndim) for d in integers("permute", "dims", dims))
    if sorted(order) != list(range(ndim)):
        raise value_error("permute", f"dims must name each of the {ndim} axes once", f"dims: {dims}, x: {input._aval}")
    return transpose_to(input, order)


@samples(S(A(2, 3)), S(A()), S(A(0, 2)), reference=np.ravel)
@public(method=True)
def ravel(input: Tensor) -> Tensor:
    """All elements along one axis; the result shares memory with the tensor.

    Args:
        input: the tensor.

    Examples:
        >>> paddle.ravel(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [1, 2, 3, 4]
    """
    return _flat(require_tensor("ravel", "input", input))


def _reference_narrow(x: Any, dim: int, start: int, length: int) -> Any:
    return np.take(x, np.arange(start, start + length) % x.shape[dim], dim)


@samples(S(A(2, 3), 1, 1, 2), S(A(4), -1, -3, 2), S(A(2, 3), 0, 2, 0), reference=_reference_narrow)
@public(values=True, method=True)
def narrow(input: Tensor, dim: Any, start: Any, length: Any) -> Tensor:
    """Some neighbouring elements of an axis; the result shares memory with the tensor.

    Args:
        input: the tensor.
        dim: the axis.
        start: the first element.
        length: how many.

    Examples:
        >>> paddle.narrow(paddle.arange(5), 0, 1, 3).tolist()
        [1, 2, 3]
    """
    aval = require_tensor("narrow", "input", input)._aval
    if not aval.ndim or not -aval.ndim <= integer("narrow", "dim", dim) < aval.ndim:
        raise IndexError(f"(narrow) there is no axis {dim}; received input: {aval}.")
    axis = int(dim) % aval.ndim
    first, count, extent = integer("narrow", "start", start), integer("narrow", "length", length), aval.shape[axis]
    begin = first + extent if first < 0 else first
    if count < 0 or not 0 <= begin <= extent or begin + count > extent:
        raise failed_check(
            "narrow",
            f"start and length must stay within the {extent} elements of axis {axis}",
            f"start: {first}, length: {count}, input: {aval}",
        )
    return get_item(input, (*(slice(None),) * axis, slice(begin, begin + count)))
