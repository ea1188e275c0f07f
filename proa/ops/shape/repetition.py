"""Numbers repeated or moved: expand, tile, repeat_interleave, flip, roll. All of these copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.errors import type_error, value_error
from ...eager import series
from ...eager.annotations import AxisLike, ShapeLike, TensorLike
from ...eager.declare import op, public
from ...eager.infer import broadcast_shapes as common_shape_of
from ...eager.infer import same_shape
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ...ir.padding import rules
from ..arguments import integer, integers, listed, one_axis, require_tensor, several_axes
from ..basic import expand_to, reshape_to, sum_over
from ..index.indexing_kernels import take_elements

# ---- broadcast and repeat ------------------------------------------------------------------------


def _expanded(where: str, x: Tensor, shape: Any) -> Tensor:
    aval = require_tensor(where, "x", x)._aval
    wanted = integers(where, "shape", shape)
    extra = len(wanted) - aval.ndim
    received = f"x: {aval}, shape: {list(wanted)}"
    if extra < 0:
        raise value_error(where, "the shape has fewer dimensions than x", received)
    target = []
    for axis, n in enumerate(wanted):
        old = aval.shape[axis - extra] if axis >= extra else 1
        if n == -1 and axis >= extra:
            n = old
        # A literal 1 first: an unknown size must not be asked whether it is 1.
        if n < 0 or not ((old.__class__ is int and old == 1) or old == n):
            raise value_error(
                where,
                f"dimension {axis} is {n}, which {old} cannot be expanded to",
                received,
                "only dimensions of 1 can be expanded; -1 keeps a dimension",
            )
        target.append(n)
    return expand_to(x, tuple(target))


def _reference_expand(x: Any, shape: Any) -> Any:
    old = (1,) * (len(shape) - x.ndim) + x.shape
    return np.broadcast_to(x, [o if n == -1 else n for n, o in zip(shape, old)])


@samples(
    S(A(2, 3), [4, 2, 3]),
    S(A(1, 3), [2, -1]),
    S(A(), [2]),
    S(A(1, 3), [0, 3]),
    S(A(2, 1, dtype="int64"), (2, 2)),
    reference=_reference_expand,
)
@public(method=True, aliases="shape=size")
@listed("shape", 1)
def expand(x: Tensor, shape: ShapeLike, name: str | None = None) -> Tensor:
    """A tensor repeated along axes of one element, and along new ones in front.

    Args:
        x: the tensor.
        shape: the shape that `x` broadcasts to; -1 keeps a dimension.
        name: a label; it changes nothing.

    Raises:
        ValueError: it does not broadcast to that shape.

    Examples:
        >>> paddle.expand(paddle.to_tensor([[1], [2]]), [-1, 3]).tolist()
        [[1, 1, 1], [2, 2, 2]]
    """
    return _expanded("expand", x, shape)


@samples(
    S(A(3), A(2, 3)),
    S(A(1, 1), A(2, 3)),
    S(A(), A(2)),
    reference=lambda x, y: np.broadcast_to(x, y.shape),
)
@public(method=True)
def expand_as(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """A tensor repeated to the shape of another.

    Args:
        x: the tensor.
        y: the tensor whose shape is taken.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.expand_as(paddle.to_tensor([1, 2]), paddle.zeros([2, 2])).tolist()
        [[1, 2], [1, 2]]
    """
    return _expanded("expand_as", x, require_tensor("expand_as", "y", y)._aval.shape)


@samples(S(A(2, 3), [4, 2, 3]), S(A(1, 3), [2, -1]), S(A(2), [2]), reference=_reference_expand)
@public(method=True, aliases="shape=size")
def broadcast_to(x: Tensor, shape: ShapeLike, name: str | None = None) -> Tensor:
    """A tensor repeated to a shape; see `expand`.

    Args:
        x: the tensor.
        shape: the shape that `x` broadcasts to.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.broadcast_to(paddle.to_tensor([1, 2]), [2, 2]).tolist()
        [[1, 2], [1, 2]]
    """
    return _expanded("broadcast_to", x, shape)


@samples(
    S([A(2, 3), A(4, 1, 1)]),
    S([A(), A(2)]),
    S([A(3)]),
    S([A(0, 1), A(3)]),
    reference=lambda x: np.broadcast_arrays(*x),
)
@public(method=True)
def broadcast_tensors(input: TensorLike, name: str | None = None) -> list[Tensor]:
    """Tensors expanded to their common shape.

    Args:
        input: a list of tensors.
        name: a label; it changes nothing.

    Raises:
        ValueError: their shapes do not broadcast.

    Examples:
        >>> [x.shape for x in paddle.broadcast_tensors([paddle.zeros([2, 1]), paddle.zeros([3])])]
        [paddle.Size([2, 3]), paddle.Size([2, 3])]
    """
    if isinstance(input, Tensor) or not isinstance(input, (list, tuple)) or not input:
        raise type_error("broadcast_tensors", "input must be a list of tensors", type(input).__name__)
    avals = [require_tensor("broadcast_tensors", f"input[{i}]", t)._aval for i, t in enumerate(input)]
    shape = common_shape_of(expand_to.operation, avals, [aval.shape for aval in avals])
    return [expand_to(t, shape) for t in input]


def _common_extent(first: int, second: int, shapes: Any) -> int:
    """One extent for two; -1 is one that is not known yet."""
    if first == second or second == 1:
        return first
    if first in (1, -1) or second == -1:
        return second if first in (1, -1) else first
    raise value_error("broadcast_shape", f"{first} and {second} cannot be broadcast together", f"shapes: {shapes}")


def _common_shape(where: str, shapes: Any) -> list[int]:
    given = [[integer(where, "a dimension", n) for n in shape] for shape in shapes]
    result: list[int] = []
    for shape in given:
        ndim = max(len(shape), len(result))
        shape = [1] * (ndim - len(shape)) + shape
        result = [1] * (ndim - len(result)) + result
        result = [_common_extent(a, b, given) for a, b in zip(result, shape)]
    return result


@samples(
    S([2, 1, 3], [3, 1]), S([], [2]), S([0, 3], (1, 3)), S([-1, 3], [3, 3]),
    gradient=False, why="the result is a list",
)  # fmt: skip
@public(method=True)
def broadcast_shape(x_shape: Sequence[int], y_shape: Sequence[int]) -> list[int]:
    """The shape that two shapes broadcast to.

    Args:
        x_shape: one shape.
        y_shape: the other.

    Raises:
        ValueError: they do not broadcast.

    Examples:
        >>> paddle.broadcast_shape([2, 1, 3], [4, 1])
        [2, 4, 3]
    """
    return _common_shape("broadcast_shape", (x_shape, y_shape))


@samples(S([2, 1], [3], (1,)), S(), S([3, 1]), gradient=False, why="the result is a list")
@public(method=True)
def broadcast_shapes(*shapes: Any) -> list[int]:
    """The shape that any number of shapes broadcast to.

    Args:
        *shapes: the shapes.

    Raises:
        ValueError: they do not broadcast.

    Examples:
        >>> paddle.broadcast_shapes([2, 1], [3], [1, 1, 3])
        [1, 2, 3]
    """
    return _common_shape("broadcast_shapes", shapes)


def _infer_tile(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    (repeats,) = attributes
    return operands[0].with_shape(tuple(n * r for n, r in zip(operands[0].shape, repeats)))


def _untiled(g: Tensor, aval: Aval, repeats: tuple[int, ...]) -> Tensor:
    pairs = tuple(k for r, n in zip(repeats, aval.shape) for k in (r, n))
    return sum_over(reshape_to(g, pairs), tuple(range(0, len(pairs), 2)), False)


@op(
    infer=_infer_tile,
    grad={"x": lambda g, x_aval, repeats: _untiled(g, x_aval, repeats)},
    name="tile",
    family="movement",
    padding=rules.shapes.tile,
    series=series.algebra.linear("x"),
)
def tile_by(xp: Any, x: Any, repeats: tuple[int, ...]) -> Any:
    return xp.tile(x, repeats)


@samples(
    S(A(2, 3), [2]),
    S(A(2, 3), [2, 1, 2]),
    S(A(2, 3), repeat_times=(1, 2)),
    S(A(), [2]),
    S(A(2, 3), [0, 2]),
    S(A(2), []),
    reference=lambda x, repeat_times: np.tile(x, repeat_times),
)
@public(method=True, aliases="repeat_times=dims")
@listed("repeat_times", 1)
def tile(x: Tensor, repeat_times: ShapeLike, name: str | None = None) -> Tensor:
    """A tensor repeated as a whole.

    Args:
        x: the tensor.
        repeat_times: how often along each axis; the numbers belong to the last axes.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.tile(paddle.to_tensor([1, 2]), [2, 2]).tolist()
        [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    aval = require_tensor("tile", "x", x)._aval
    repeats = integers("tile", "repeat_times", repeat_times)
    if any(r < 0 for r in repeats):
        raise value_error(
            "tile",
            "a number of repetitions cannot be negative",
            f"repeat_times: {list(repeats)}, x: {aval}",
        )
    ndim = max(len(repeats), aval.ndim)
    if ndim > aval.ndim:
        x = reshape_to(x, (1,) * (ndim - aval.ndim) + aval.shape)
    return tile_by(x, (1,) * (ndim - len(repeats)) + repeats)


@samples(
    S(A(2, 3), 2),
    S(A(2, 3), 2, 0),
    S(A(2, 3), A(3, dtype="int64", values=[1, 2, 0]), axis=-1),
    S(A(0, 2), 3, axis=0),
    reference=lambda x, repeats, axis=None: np.repeat(x, repeats, axis),
)
@public(method=True)
def repeat_interleave(
    x: Tensor,
    repeats: int | Tensor,
    axis: AxisLike | None = None,
    name: str | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Each slice along an axis repeated in its place.

    Args:
        x: the tensor.
        repeats: how often, one number or a tensor with one for each slice; it is looked at, because it decides the shape.
        axis: the axis; without one, each element of the flattened tensor.
        name: a label; it changes nothing.
        output_size: accepted; the size of the result is worked out.

    Examples:
        >>> paddle.repeat_interleave(paddle.to_tensor([1, 2]), 2).tolist()
        [1, 1, 2, 2]
        >>> paddle.repeat_interleave(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 1])).tolist()
        [1, 1, 1, 2]
    """
    require_tensor("repeat_interleave", "x", x)
    if axis is None:
        x = reshape_to(x, (x._aval.size,))
    along = one_axis("repeat_interleave", 0 if axis is None else axis, x._aval.ndim)
    extent = x._aval.shape[along]
    if isinstance(repeats, (Tensor, np.ndarray, list, tuple)):
        counts = np.asarray(integers("repeat_interleave", "repeats", repeats))
        if counts.shape != (extent,):
            raise value_error(
                "repeat_interleave",
                f"there must be one number of repetitions for each of the {extent} slices",
                f"x: {x._aval}, repeats: {len(counts)}",
            )
    else:
        count = integer("repeat_interleave", "repeats", repeats)
        if count == 0:
            raise value_error("repeat_interleave", "repeats must be positive", f"repeats: {count}")
        if count > 0:
            return _each_repeated(x, along, count)
        counts = np.full(1, count)
    if (counts < 0).any():
        raise value_error("repeat_interleave", "repeats cannot be negative", f"repeats: {counts.tolist()}")
    places = tensor_from_data(np.repeat(np.arange(extent), counts), place=x._aval.place)
    return take_elements(x, [places], [along], trusted=True)


def _each_repeated(x: Tensor, axis: int, count: int) -> Tensor:
    """Every slice as often: an axis more, spread out and joined again, so that the gradient is a sum and no scattering."""
    shape = x._aval.shape
    before, extent, after = shape[:axis], shape[axis], shape[axis + 1 :]
    apart = expand_to(reshape_to(x, (*before, extent, 1, *after)), (*before, extent, count, *after))
    return reshape_to(apart, (*before, extent * count, *after))


# ---- turned around -------------------------------------------------------------------------------


@op(
    infer=same_shape,
    grad={"x": lambda g, axes: flip_axes(g, axes)},
    name="flip",
    family="movement",
    padding=rules.moving.flip,
    series=series.algebra.linear("x"),
)
def flip_axes(xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
    return xp.flip(x, axes)


@samples(
    S(A(2, 3), 0),
    S(A(2, 3), [0, -1]),
    S(A(2, 3), axis=[]),
    S(A(0, 2), 1),
    reference=lambda x, axis: np.flip(x, tuple(axis) if isinstance(axis, list) else axis),
)
@public(method="flip reverse")
def flip(x: Tensor, axis: AxisLike | None, name: str | None = None) -> Tensor:
    """A tensor with the order of elements along some axes reversed.

    Args:
        x: the tensor.
        axis: the axis, or several.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.flip(paddle.to_tensor([[1, 2], [3, 4]]), axis=1).tolist()
        [[2, 1], [4, 3]]
    """
    axes = several_axes("flip", axis, require_tensor("flip", "x", x)._aval.ndim)
    return flip_axes(x, axes)


reverse = public(name="reverse")(flip)


@op(
    infer=same_shape,
    grad={"x": lambda g, shifts, axes: roll_axes(g, tuple(-s for s in shifts), axes)},
    name="roll",
    family="movement",
    padding=rules.moving.roll,
    series=series.algebra.linear("x"),
)
def roll_axes(xp: Any, x: Any, shifts: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    return xp.roll(x, shifts, axes)


@samples(
    S(A(2, 3), 1),
    S(A(2, 3), 1, 0),
    S(A(2, 3), [1, -7], [0, 1]),
    S(A(0, 3), 2, 1),
    S(A(4), -1),
    reference=lambda x, shifts, axis=None: np.roll(x, shifts, axis),
)
@public(method=True, aliases="axis=dims")
def roll(x: Tensor, shifts: AxisLike, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
    """A tensor moved along axes; what falls off one end comes in at the other.

    Args:
        x: the tensor.
        shifts: by how many elements, one number for each axis.
        axis: the axes; without them the flattened tensor is moved.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.roll(paddle.to_tensor([1, 2, 3, 4]), 1).tolist()
        [4, 1, 2, 3]
    """
    aval = require_tensor("roll", "x", x)._aval
    steps = integers("roll", "shifts", shifts)
    if axis is None:
        flat = roll_axes(reshape_to(x, (aval.size,)), (sum(steps),), (0,))
        return reshape_to(flat, aval.shape)
    axes = tuple(one_axis("roll", a, aval.ndim) for a in integers("roll", "axis", axis))
    if len(axes) != len(steps):
        raise value_error(
            "roll",
            "there must be one shift for each axis",
            f"shifts: {list(steps)}, axis: {list(axes)}",
        )
    return roll_axes(x, steps, axes)
