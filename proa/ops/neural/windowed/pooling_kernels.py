"""The primitives of pooling, over any number of spatial axes.

Windows are small, so kernels walk over the positions inside a window (the "taps") and combine whole
strided slices: fast in NumPy and in XLA, where the same slices fuse into one loop. Huge windows go
to XLA's own windowed reduction.

Maximum pooling is `select` of x by x: the primitives `max_pool`, its transpose `max_pool_grad` and
`max_pool_select` (picks from another tensor at the places of the maxima) close under
differentiation; average pooling is linear and needs two.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ....core.aval import Aval, make_aval
from ....core.dtype import INT32, is_floating
from ....core.namespaces import can_write, constant
from ....eager import series
from ....eager.declare import op
from ....eager.tensor import Tensor
from ....ir.padding import rules
from ....kernels.cpu.direct import on_host
from ....kernels.cpu.low_precision.precision import in_float32
from ....kernels.cpu.pooling import (
    native_adaptive_average,
    native_adaptive_average_grad,
    native_avg_pool,
    native_avg_pool_grad,
    native_max_pool,
    native_max_pool_grad,
)
from ....kernels.gpu.cold import pooling as cold
from ...basic import reshape_to
from ...precision import wide
from .windows import Pairs, Sizes, join_shape, spatial_axes

# Above this many taps XLA's windowed reduction is used: unrolled code would take too long to
# compile.
_MOST_TAPS = 49


class Window:
    """A window sliding over the spatial axes of a shape."""

    def __init__(
        self,
        shape: Sequence[int],
        kernel: Sizes,
        stride: Sizes,
        padding: Pairs,
        channels_last: bool,
    ) -> None:
        self.axes = spatial_axes(len(kernel), channels_last)
        self.kernel, self.stride, self.padding = kernel, stride, padding
        self.extents = tuple(shape[axis] for axis in self.axes)
        self.out = tuple(
            (extent + before + after - width) // step + 1
            for extent, width, step, (before, after) in zip(self.extents, kernel, stride, padding, strict=True)
        )

    def all_axes(self, ndim: int, values: Sequence[Any], other: Any) -> list[Any]:
        """`values` at the spatial axes, `other` elsewhere."""
        found = [other] * ndim
        for axis, value in zip(self.axes, values, strict=True):
            found[axis] = value
        return found

    def pad(self, xp: Any, x: Any, value: Any) -> Any:
        if not any(before or after for before, after in self.padding):
            return x
        return xp.pad(x, self.all_axes(x.ndim, self.padding, (0, 0)), constant_values=value)

    def taps(self) -> Iterator[tuple[int, Sizes]]:
        return enumerate(itertools.product(*map(range, self.kernel)))

    def tap(self, xp: Any, padded: Any, position: Sizes) -> Any:
        """For every window the element at `position` inside it."""
        ends = [at + step * (count - 1) + 1 for at, step, count in zip(position, self.stride, self.out, strict=True)]
        return _cut(xp, padded, self, position, ends, self.stride)

    def spread(self, xp: Any, arrays: Sequence[tuple[Any, Any]], value: Callable[..., Any]) -> Any:
        """The transpose of `tap`, summed over the taps.

        `value(number of the tap, *arrays)` lands on the tap's element. Input elements are grouped
        by their remainder modulo the stride; in each group a tap is a shifted slice, and the groups
        are interleaved at the end. (Scattering with gaps instead defeats vectorisation.) `arrays`
        come with the number that fills them up at the border, for which `value` must give 0.
        """
        groups = [-(-(n + before + after) // step) for n, (before, after), step in self._each()]
        reach = [(width - 1) // step for width, step in zip(self.kernel, self.stride, strict=True)]
        borders = [(r, max(count - out, 0)) for r, count, out in zip(reach, groups, self.out, strict=True)]
        ndim = arrays[0][0].ndim
        padded = [xp.pad(a, self.all_axes(ndim, borders, (0, 0)), constant_values=fill) for a, fill in arrays]
        numbers = {position: number for number, position in self.taps()}
        planes = []
        for remainder in itertools.product(*map(range, self.stride)):
            plane: Any = None
            counts = [(w - 1 - r) // s + 1 for w, r, s in zip(self.kernel, remainder, self.stride, strict=True)]
            for shift in itertools.product(*map(range, counts)):
                position = tuple(r + m * s for r, m, s in zip(remainder, shift, self.stride, strict=True))
                starts = [r - m for r, m in zip(reach, shift, strict=True)]
                ends = [a + count for a, count in zip(starts, groups, strict=True)]
                parts = [_cut(xp, a, self, starts, ends, None) for a in padded]
                part = value(numbers[position], *parts)
                plane = part if plane is None else plane + part
            planes.append(plane)
        first = next(plane for plane in planes if plane is not None)
        planes = [xp.zeros_like(first) if plane is None else plane for plane in planes]
        full = _interleave(xp, planes, self)
        starts = [before for before, _ in self.padding]
        ends = [before + n for n, (before, _), _ in self._each()]
        return _cut(xp, full, self, starts, ends, None)

    def _each(self) -> Iterator[tuple[int, tuple[int, int], int]]:
        return zip(self.extents, self.padding, self.stride, strict=True)


def _cut(
    xp: Any,
    array: Any,
    window: Window,
    starts: Sequence[int],
    ends: Sequence[int],
    steps: Sequence[int] | None,
) -> Any:
    """A (strided) slice along the spatial axes."""
    steps = steps or (1,) * len(window.axes)
    if can_write(xp):
        cuts = [slice(a, b, s) for a, b, s in zip(starts, ends, steps, strict=True)]
        return array[tuple(window.all_axes(array.ndim, cuts, slice(None)))]
    from jax import lax

    limits = list(array.shape)
    for axis, end in zip(window.axes, ends, strict=True):
        limits[axis] = end
    return lax.slice(array, window.all_axes(array.ndim, starts, 0), limits, window.all_axes(array.ndim, steps, 1))


def _interleave(xp: Any, planes: list[Any], window: Window) -> Any:
    if len(planes) == 1:
        return planes[0]
    ndim = planes[0].ndim
    stacked = xp.stack(planes, axis=-1).reshape(*planes[0].shape, *window.stride)
    order: list[int] = []
    shape: list[int] = []
    for axis in range(ndim):
        order.append(axis)
        shape.append(planes[0].shape[axis])
        if axis in window.axes:
            number = window.axes.index(axis)
            order.append(ndim + number)
            shape[-1] *= window.stride[number]
    return stacked.transpose(order).reshape(shape)


def _is_huge(xp: Any, kernel: Sizes) -> bool:
    return not can_write(xp) and math.prod(kernel) > _MOST_TAPS


def _reduce_window(x: Any, start: Any, reducer: Any, window: Window) -> Any:
    from jax import lax

    return lax.reduce_window(
        x,
        np.asarray(start, x.dtype),
        reducer,
        window.all_axes(x.ndim, window.kernel, 1),
        window.all_axes(x.ndim, window.stride, 1),
        window.all_axes(x.ndim, window.padding, (0, 0)),
    )


# ---- maximum -------------------------------------------------------------------------------------


def _infer_pool(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x = operands[0]
    kernel, stride, padding, channels_last = *attributes[:3], attributes[-1]
    if not is_floating(x.dtype):
        raise operation.error(TypeError, "only floating tensors can be pooled", operands, fix="convert with astype()")
    out = Window(x.shape, kernel, stride, padding, channels_last).out
    if min(out) < 1:
        raise operation.error(
            ValueError,
            f"a window of {list(kernel)} does not fit into the padded input",
            operands,
            fix="use a smaller kernel_size or more padding",
        )
    channels = x.shape[-1] if channels_last else x.shape[1]
    return make_aval(join_shape(x.shape[0], channels, out, channels_last), x.dtype, place)


def _max_taps(xp: Any, x: Any, window: Window) -> Any:
    padded = window.pad(xp, x, -np.inf)
    best: Any = None
    for _, position in window.taps():
        value = window.tap(xp, padded, position)
        best = value if best is None else xp.maximum(best, value)
    return best


def _first_taps(window: Window) -> np.ndarray:
    """The number of the first tap of each window that lies inside the input."""
    numbers = np.zeros((), np.int64)
    for width, step, (before, _), out in zip(window.kernel, window.stride, window.padding, window.out, strict=True):
        first = np.clip(before - np.arange(out) * step, 0, width - 1)
        numbers = numbers[..., None] * width + first
    return numbers


def _winning_taps(xp: Any, x: Any, window: Window) -> Any:
    """For each window the number of the tap that holds its maximum, the first one of equals, never one of the padding."""
    kind = np.int8 if math.prod(window.kernel) < 128 else np.int32
    padded = window.pad(xp, x, -np.inf)
    best: Any = None
    winner: Any = None
    for number, position in window.taps():
        value = window.tap(xp, padded, position)
        if best is None:
            ones = window.all_axes(x.ndim, window.out, 1)
            best, winner = value, xp.broadcast_to(_first_taps(window).astype(kind).reshape(ones), value.shape)
        else:
            winner = xp.where(value > best, kind(number), winner)
            best = xp.maximum(best, value)
    return winner


@op(
    infer=_infer_pool,
    grad={
        "x": lambda g, x, kernel, stride, padding, channels_last: max_pool_grad(
            x, g, kernel, stride, padding, channels_last
        )
    },
    family="pooling",
    paddle_name="pool2d",
    padding=rules.pooling.max_pool,
)
def max_pool(xp: Any, x: Any, kernel: Sizes, stride: Sizes, padding: Pairs, channels_last: bool) -> Any:
    """The largest element of each window."""
    window = Window(x.shape, kernel, stride, padding, channels_last)
    if _is_huge(xp, kernel):
        from jax import lax

        return _reduce_window(x, -np.inf, lax.max, window)
    return _max_taps(xp, x, window)


@op(
    "x y",
    infer=lambda operation, operands, attributes, place: operands[0],
    grad={
        "y": lambda g, x, kernel, stride, padding, channels_last: max_pool_select(
            x, g, kernel, stride, padding, channels_last
        )
    },
    padding=rules.pooling.max_pool_grad,
)
def max_pool_grad(xp: Any, x: Any, y: Any, kernel: Sizes, stride: Sizes, padding: Pairs, channels_last: bool) -> Any:
    """Puts each element of `y` where its window of `x` has its maximum, and adds what meets."""
    window = Window(x.shape, kernel, stride, padding, channels_last)
    if _is_huge(xp, kernel):
        import jax

        _, pull = jax.vjp(
            lambda array: max_pool.operation.kernel(xp, array, kernel, stride, padding, channels_last),
            x,
        )
        return pull(y)[0]
    winner = _winning_taps(xp, x, window)
    zero = y.dtype.type(0)
    return window.spread(xp, [(winner, -1), (y, 0)], lambda number, w, value: xp.where(w == number, value, zero))


max_pool.operation.kernels["cupy"] = cold.max_pool(max_pool.operation.kernel)
max_pool_grad.operation.kernels["cupy"] = cold.max_pool_grad(max_pool_grad.operation.kernel)
max_pool.operation.kernels["cpu"] = in_float32(native_max_pool(max_pool.operation.kernel))
max_pool_grad.operation.kernels["cpu"] = in_float32(native_max_pool_grad(max_pool_grad.operation.kernel))
max_pool_grad.operation.kernels["numpy"] = on_host(native_max_pool_grad, max_pool_grad.operation.kernel)


def _infer_select(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return _infer_pool(operation, operands, attributes, place)


@op(
    "x y",
    infer=_infer_select,
    grad={
        "y": lambda g, x, kernel, stride, padding, channels_last: max_pool_grad(
            x, g, kernel, stride, padding, channels_last
        )
    },
    padding=rules.pooling.max_pool_select,
)
def max_pool_select(xp: Any, x: Any, y: Any, kernel: Sizes, stride: Sizes, padding: Pairs, channels_last: bool) -> Any:
    """The elements of `y` at the places where the windows of `x` have their maxima."""
    window = Window(x.shape, kernel, stride, padding, channels_last)
    if _is_huge(xp, kernel):
        import jax

        def put(array: Any) -> Any:
            return max_pool_grad.operation.kernel(xp, x, array, kernel, stride, padding, channels_last)

        shape = list(x.shape)
        for axis, extent in zip(window.axes, window.out, strict=True):
            shape[axis] = extent
        return jax.linear_transpose(put, jax.ShapeDtypeStruct(tuple(shape), y.dtype))(y)[0]
    winner = _winning_taps(xp, x, window)
    padded = window.pad(xp, y, 0)
    picked: Any = None
    for number, position in window.taps():
        value = window.tap(xp, padded, position)
        picked = value if picked is None else xp.where(winner == number, value, picked)
    return picked


# ---- average -------------------------------------------------------------------------------------


def _divisors(window: Window, divisor: str | float) -> np.ndarray:
    """How many elements each window counts, for broadcasting against a channels-first result.

    "exclusive" counts real elements only, "inclusive" also the padding (as far as it was asked for
    in front), a number is taken as it is.
    """
    if not isinstance(divisor, str):
        return np.asarray(divisor, np.float64)
    counts = np.ones((), np.float64)
    for extent, (before, _), width, step, out in zip(
        window.extents, window.padding, window.kernel, window.stride, window.out, strict=True
    ):
        start = np.arange(out) * step - before
        if divisor == "exclusive":
            along = np.minimum(start + width, extent) - np.maximum(start, 0)
        else:
            along = np.minimum(start + width, extent + before) - start
        counts = counts[..., None] * along
    return counts


def _scaling(window: Window, divisor: str | float, dtype: Any, channels_last: bool) -> np.ndarray:
    with np.errstate(divide="ignore"):
        scale = 1.0 / _divisors(window, divisor)
    if scale.size and (scale == scale.flat[0]).all():
        scale = np.asarray(scale.flat[0])
    elif channels_last:
        scale = scale[..., None]
    return scale.astype(dtype)


@op(
    infer=_infer_pool,
    grad={
        "x": lambda g, x_aval, kernel, stride, padding, divisor, channels_last: avg_pool_grad(
            g, x_aval.shape, kernel, stride, padding, divisor, channels_last
        )
    },
    family="pooling",
    paddle_name="pool2d",
    padding=rules.pooling.avg_pool,
    series=series.algebra.linear("x"),
)
def avg_pool(
    xp: Any,
    x: Any,
    kernel: Sizes,
    stride: Sizes,
    padding: Pairs,
    divisor: str | float,
    channels_last: bool,
) -> Any:
    """The mean of each window."""
    x = wide(x)
    window = Window(x.shape, kernel, stride, padding, channels_last)
    if _is_huge(xp, kernel):
        from jax import lax

        total = _reduce_window(x, 0, lax.add, window)
    else:
        padded = window.pad(xp, x, 0)
        total = None
        for _, position in window.taps():
            value = window.tap(xp, padded, position)
            total = value if total is None else total + value
    return total * constant(xp, _scaling(window, divisor, x.dtype, channels_last))


@op(
    "y",
    infer=lambda operation, operands, attributes, place: operands[0].with_shape(attributes[0]),
    grad={
        "y": lambda g, kernel, stride, padding, divisor, channels_last: avg_pool(
            g, kernel, stride, padding, divisor, channels_last
        )
    },
    padding=rules.pooling.avg_pool_grad,
)
def avg_pool_grad(
    xp: Any,
    y: Any,
    shape: tuple[int, ...],
    kernel: Sizes,
    stride: Sizes,
    padding: Pairs,
    divisor: str | float,
    channels_last: bool,
) -> Any:
    """The transpose of `avg_pool`: spreads each mean evenly over its window."""
    y = wide(y)
    window = Window(shape, kernel, stride, padding, channels_last)
    y = y * constant(xp, _scaling(window, divisor, y.dtype, channels_last))
    if _is_huge(xp, kernel):
        import jax
        from jax import lax

        transpose = jax.linear_transpose(
            lambda x: _reduce_window(x, 0, lax.add, window), jax.ShapeDtypeStruct(shape, y.dtype)
        )
        return transpose(y)[0]
    return window.spread(xp, [(y, 0)], lambda number, value: value)


def _native_scaling(shape: Sizes, kernel: Sizes, stride: Sizes, padding: Pairs, divisor: str | float) -> np.ndarray:
    return _scaling(Window(shape, kernel, stride, padding, False), divisor, np.float32, False)


avg_pool.operation.kernels["cpu"] = native_avg_pool(_native_scaling)(avg_pool.operation.kernel)
avg_pool_grad.operation.kernels["cpu"] = native_avg_pool_grad(_native_scaling)(avg_pool_grad.operation.kernel)


# ---- windows of unequal width: adaptive pooling, and maxima with their positions -----------------

# For each spatial axis, where the windows start and stop.
Ranges = tuple[tuple[tuple[int, int], ...], ...]


def adaptive_range(extent: int, count: int) -> tuple[tuple[int, int], ...]:
    return tuple((i * extent // count, -(-((i + 1) * extent) // count)) for i in range(count))


@functools.lru_cache(maxsize=256)
def _index_table(extents: tuple[int, ...], ranges: Ranges) -> np.ndarray:
    """Flat positions [window, element]; short windows repeat their first element."""
    rows = []
    strides = [math.prod(extents[i + 1 :]) for i in range(len(extents))]
    for window in itertools.product(*ranges):
        inside = [range(max(start, 0), min(stop, n)) for (start, stop), n in zip(window, extents, strict=True)]
        rows.append([sum(i * s for i, s in zip(at, strides, strict=True)) for at in itertools.product(*inside)])
    longest = max(map(len, rows))
    return np.array([row + row[:1] * (longest - len(row)) for row in rows], np.int32)


def _infer_window_max(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, Aval]:
    x = operands[0]
    values = x.with_shape((*x.shape[:2], *(len(along) for along in attributes[0])))
    return values, values.with_dtype(INT32)


@op(
    outputs=2,
    infer=_infer_window_max,
    grad={"x": lambda g0, out1, x_aval: _scatter_back(g0, out1, x_aval.shape)},
    differentiable_outputs=(0,),
    family="pooling",
    padding=rules.pooling.window_max,
)
def window_max(xp: Any, x: Any, ranges: Ranges) -> Any:
    """The maximum of each window of a channels-first tensor, and its position in the flattened
    spatial axes.
    """
    table = _index_table(x.shape[2:], ranges)
    gathered = x.reshape(*x.shape[:2], -1)[:, :, table] if x.size else xp.zeros((*x.shape[:2], *table.shape), x.dtype)
    winner = xp.argmax(gathered, axis=-1)
    shape = (*x.shape[:2], *(len(along) for along in ranges))
    positions = xp.asarray(table)[xp.arange(table.shape[0]), winner]
    return xp.max(gathered, axis=-1).reshape(shape), positions.reshape(shape).astype(np.int32)


def _scatter_back(g: Tensor, index: Tensor, shape: tuple[int, ...]) -> Tensor:
    flat = (*shape[:2], math.prod(g._aval.shape[2:]))
    spread = scatter_last(reshape_to(g, flat), reshape_to(index, flat), math.prod(shape[2:]))
    return reshape_to(spread, shape)


@op(
    "y index",
    infer=lambda operation, operands, attributes, place: operands[0].with_shape(
        (*operands[0].shape[:-1], attributes[0])
    ),
    grad={"y": lambda g, index: pick_last(g, index)},
    padding=rules.pooling.last,
)
def scatter_last(xp: Any, y: Any, index: Any, size: int) -> Any:
    """A zero tensor to which `y` is added at `index` along the last axis."""
    rows = y.reshape(-1, y.shape[-1])
    places = (xp.arange(rows.shape[0])[:, None], index.reshape(rows.shape))
    out = xp.zeros((rows.shape[0], size), y.dtype)
    if can_write(xp):
        xp.add.at(out, places, rows)
    else:
        out = out.at[places].add(rows)
    return out.reshape(*y.shape[:-1], size)


@op(
    "x index",
    infer=lambda operation, operands, attributes, place: operands[0].with_shape(operands[1].shape),
    grad={"x": lambda g, index, x_aval: scatter_last(g, index, x_aval.shape[-1])},
    padding=rules.pooling.last,
    series=series.algebra.linear("x"),
)
def pick_last(xp: Any, x: Any, index: Any) -> Any:
    """Elements of `x` at `index` along the last axis."""
    return xp.take_along_axis(x, index, axis=-1)


@functools.lru_cache(maxsize=256)
def _averaging_matrix(extent: int, count: int) -> np.ndarray:
    matrix = np.zeros((count, extent))
    for row, (start, stop) in enumerate(adaptive_range(extent, count)):
        matrix[row, start:stop] = 1.0 / (stop - start)
    return matrix


def _along_axes(xp: Any, x: Any, axes: Sequence[int], matrices: Sequence[np.ndarray]) -> Any:
    for axis, matrix in zip(axes, matrices, strict=True):
        x = xp.moveaxis(xp.tensordot(x, xp.asarray(matrix.astype(x.dtype)), ([axis], [1])), -1, axis)
    return x


def _infer_resized(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    shape = list(operands[0].shape)
    for axis, extent in zip(attributes[1], attributes[0], strict=True):
        shape[axis] = extent
    return operands[0].with_shape(tuple(shape))


def _in_blocks(shape: Sizes, counts: Sizes, axes: Sizes) -> tuple[Sizes, Sizes]:
    """The shape with each of the axes divided into so many blocks, and which axes then lie inside a block."""
    blocks: list[int] = []
    inner: list[int] = []
    for axis, extent in enumerate(shape):
        if axis not in axes:
            blocks.append(extent)
            continue
        count = counts[axes.index(axis)]
        blocks += [count, extent // count]
        inner.append(len(blocks) - 1)
    return tuple(blocks), tuple(inner)


@op(
    infer=_infer_resized,
    grad={"x": lambda g, x_aval, extents, axes: adaptive_average_grad(g, tuple(x_aval.shape[a] for a in axes), axes)},
    family="pooling",
    paddle_name="pool2d",
    padding=rules.pooling.adaptive_average,
    series=series.algebra.linear("x"),
)
def adaptive_average(xp: Any, x: Any, extents: Sizes, axes: Sizes) -> Any:
    """Means over windows of (almost) equal width: of blocks, or along each axis a product with a fixed matrix."""
    if all(x.shape[axis] % count == 0 for axis, count in zip(axes, extents, strict=True)):
        blocks, inner = _in_blocks(x.shape, extents, axes)
        return xp.mean(wide(x).reshape(blocks), axis=inner)
    matrices = [_averaging_matrix(x.shape[axis], count) for axis, count in zip(axes, extents, strict=True)]
    return _along_axes(xp, wide(x), axes, matrices)


@op(
    "y",
    infer=_infer_resized,
    grad={"y": lambda g, y_aval, extents, axes: adaptive_average(g, tuple(y_aval.shape[a] for a in axes), axes)},
    padding=rules.pooling.adaptive_average_grad,
)
def adaptive_average_grad(xp: Any, y: Any, extents: Sizes, axes: Sizes) -> Any:
    """The transpose of `adaptive_average`."""
    if all(extent % y.shape[axis] == 0 for axis, extent in zip(axes, extents, strict=True)):
        shape = list(y.shape)
        for axis, extent in zip(axes, extents, strict=True):
            shape[axis] = extent
        blocks, inner = _in_blocks(tuple(shape), tuple(y.shape[axis] for axis in axes), axes)
        share = wide(y) / math.prod(blocks[axis] for axis in inner)
        return xp.broadcast_to(xp.expand_dims(share, inner), blocks).reshape(shape)
    matrices = [_averaging_matrix(extent, y.shape[axis]).T for axis, extent in zip(axes, extents, strict=True)]
    return _along_axes(xp, wide(y), axes, matrices)


adaptive_average.operation.kernels["cpu"] = native_adaptive_average(adaptive_average.operation.kernel)
adaptive_average_grad.operation.kernels["cpu"] = native_adaptive_average_grad(adaptive_average_grad.operation.kernel)
