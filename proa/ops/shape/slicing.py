"""The primitives of basic indexing: read a slice, put a slice among zeros, overwrite a slice.

What is sliced is said by a *spec*, a tuple with one entry for each axis from the first (axes that
it does not reach are taken whole) or None for a new axis:

    POSITION              one element of the axis, which then disappears; where is data
    (length,)             a window of the axis; where it starts is data
    (start, length, step) fixed elements of the axis

All that is data travels as one integer, `position`: the digits of a number whose radices are the
numbers of choices. So `x[i]` and `x[i : i + n]` in a loop are one program, whatever `i` is.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.strides import Strides
from ...eager import series
from ...eager.declare import op
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ..basic import full_of

POSITION = "position"
Spec = tuple[Any, ...]

# The spec of `x[i]`.
ROW: Spec = (POSITION,)


def choices(entry: Any, extent: int) -> int:
    """How many values the datum of a POSITION or window may have."""
    return extent if entry == POSITION else extent - entry[0] + 1


def is_dynamic(entry: Any) -> bool:
    return entry == POSITION or (entry is not None and len(entry) == 1)


def _entries(shape: tuple[int, ...], spec: Spec) -> list[Any]:
    """One entry for each axis of the shape; new axes are left out."""
    given = [entry for entry in spec if entry is not None]
    return given + [(0, extent, 1) for extent in shape[len(given) :]]


def _starts(shape: tuple[int, ...], entries: list[Any], position: Any) -> list[Any]:
    """Where each axis begins: the digits of `position`, and 0 for fixed axes."""
    starts: list[Any] = [0] * len(entries)
    for axis in reversed(range(len(entries))):
        if is_dynamic(entries[axis]):
            radix = choices(entries[axis], shape[axis])
            starts[axis] = position % radix
            position = position // radix
    return starts


def _extents(entries: list[Any]) -> tuple[int, ...]:
    """How many elements of each axis are taken; 1 where the axis disappears."""
    return tuple(1 if e == POSITION else e[0] if len(e) == 1 else e[1] for e in entries)


def sliced_shape(shape: tuple[int, ...], spec: Spec) -> tuple[int, ...]:
    result: list[int] = []
    axis = 0
    for entry in spec:
        if entry is None:
            result.append(1)
            continue
        axis += 1
        if entry != POSITION:
            result.append(entry[0] if len(entry) == 1 else entry[1])
    return (*result, *shape[axis:])


def sliced_strides(shape: tuple[int, ...], strides: Strides, spec: Spec) -> Strides:
    """Strides of the part, as if it shared memory with the whole (see core/strides.py)."""
    given: list[int | None] = []
    axis = 0
    for entry in spec:
        if entry is None:
            given.append(None)
            continue
        if entry != POSITION:
            given.append(strides[axis] * (entry[2] if len(entry) == 3 else 1))
        axis += 1
    given += strides[axis:]
    result: list[int] = []
    span = 1  # of what lies behind: the stride of a new axis
    for extent, step in zip(reversed(sliced_shape(shape, spec)), reversed(given), strict=True):
        result.append(span if step is None else step)
        span = extent * result[-1]
    return tuple(reversed(result))


# ---- NumPy, CuPy ---------------------------------------------------------------------------------------


def _numpy_index(shape: tuple[int, ...], spec: Spec, position: Any) -> tuple[Any, ...]:
    fixed, digits = _index_pattern(shape, spec)
    if not digits:
        return fixed
    index = list(fixed)
    rest = int(position)
    for number, radix, length in digits:
        rest, first = divmod(rest, radix)
        index[number] = first if length is None else slice(first, first + length)
    return tuple(index)


@functools.lru_cache(maxsize=4096)
def _index_pattern(shape: tuple[int, ...], spec: Spec) -> tuple[tuple[Any, ...], list[tuple[int, int, int | None]]]:
    """The index without what is data; and for each datum, the last digit first: where it goes, its radix, and the length of
    a window."""
    index: list[Any] = []
    digits: list[tuple[int, int, int | None]] = []
    axis = 0
    for number, entry in enumerate(spec):
        if entry is None:
            index.append(None)
            continue
        if is_dynamic(entry):
            index.append(0)
            digits.append((number, choices(entry, shape[axis]), None if entry == POSITION else entry[0]))
        else:
            start, length, step = entry
            stop = start + length * step
            index.append(slice(start, stop if stop >= 0 else None, step) if length else slice(0, 0))
        axis += 1
    digits.reverse()
    return tuple(index), digits


def _read_in_place(xp: Any, x: Any, position: Any, spec: Spec) -> Any:
    return x[_numpy_index(x.shape, spec, position)]


def _place_in_place(xp: Any, x: Any, position: Any, spec: Spec, shape: tuple[int, ...]) -> Any:
    out = xp.zeros(shape, x.dtype)
    out[_numpy_index(shape, spec, position)] = x
    return out


def _overwrite_in_place(xp: Any, x: Any, value: Any, position: Any, spec: Spec) -> Any:
    out = x.copy()
    out[_numpy_index(x.shape, spec, position)] = value
    return out


# ---- XLA -----------------------------------------------------------------------------------------


def _fixed(entry: Any, extent: int) -> tuple[int, int, int, bool]:
    """First element, one past the last, stride and direction of a fixed axis; the whole axis
    otherwise."""
    if is_dynamic(entry):
        return 0, extent, 1, False
    start, length, step = entry
    if length == 0:
        return 0, 0, 1, False
    last = start + (length - 1) * step
    return min(start, last), max(start, last) + 1, abs(step), step < 0


def _read(xp: Any, x: Any, position: Any, spec: Spec) -> Any:
    from jax import lax

    entries = _entries(x.shape, spec)
    shape = x.shape
    begins, ends, strides, turned = zip(*map(_fixed, entries, shape)) if entries else ((), (), (), ())
    if (begins, ends, strides) != ((0,) * len(shape), shape, (1,) * len(shape)):
        x = lax.slice(x, begins, ends, strides)
    if any(turned):
        x = lax.rev(x, [axis for axis, back in enumerate(turned) if back])
    if any(map(is_dynamic, entries)):
        x = lax.dynamic_slice(x, _starts(shape, entries, position), _extents(entries))
    return x.reshape(sliced_shape(shape, spec))


def _spread(x: Any, entries: list[Any], shape: tuple[int, ...]) -> Any:
    """Elements of the fixed axes at their places among zeros; axes that depend on data stay as they
    are."""
    from jax import lax

    padding = []
    turned = []
    for axis, (entry, extent) in enumerate(zip(entries, shape)):
        begin, end, stride, back = _fixed(entry, extent)
        padding.append((0, 0, 0) if is_dynamic(entry) else (begin, extent - end, stride - 1))
        if back:
            turned.append(axis)
    x = lax.rev(x, turned) if turned else x
    return lax.pad(x, np.zeros((), x.dtype), padding) if any(map(any, padding)) else x


def _place(xp: Any, x: Any, position: Any, spec: Spec, shape: tuple[int, ...]) -> Any:
    from jax import lax

    entries = _entries(shape, spec)
    extents = _extents(entries)
    if math.prod(extents) == 0:
        return xp.zeros(shape, x.dtype)
    x = _spread(x.reshape(extents), entries, shape)
    if not any(map(is_dynamic, entries)):
        return x
    return lax.dynamic_update_slice(xp.zeros(shape, x.dtype), x, _starts(shape, entries, position))


def _overwrite(xp: Any, x: Any, value: Any, position: Any, spec: Spec) -> Any:
    from jax import lax

    entries = _entries(x.shape, spec)
    extents = _extents(entries)
    if math.prod(extents) == 0:
        return x
    value = xp.broadcast_to(value, sliced_shape(x.shape, spec)).reshape(extents)
    starts = _starts(x.shape, entries, position)
    if all(is_dynamic(e) or e[2] == 1 for e in entries):
        starts = [s if is_dynamic(e) else e[0] for s, e in zip(starts, entries)]
        return lax.dynamic_update_slice(x, value, starts)
    # Strides: the region between the first and the last element is read, changed by a mask, and
    # written back.
    sizes = [extent if is_dynamic(e) else n for e, extent, n in zip(entries, extents, x.shape)]
    mask = np.ones((), bool)
    for axis, (entry, size) in enumerate(zip(entries, sizes)):
        if not is_dynamic(entry):
            begin, end, stride, _ = _fixed(entry, size)
            here = np.zeros(size, bool)
            here[begin:end:stride] = True
            mask = mask & here.reshape([size if a == axis else 1 for a in range(len(sizes))])
    region = xp.where(mask, _spread(value, entries, tuple(sizes)), lax.dynamic_slice(x, starts, sizes))
    return lax.dynamic_update_slice(x, region, starts)


# ---- the primitives ------------------------------------------------------------------------------


def _infer_read(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape(sliced_shape(operands[0].shape, attributes[0]))


def _infer_place(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape(attributes[1])


def _infer_overwrite(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0]


@op(
    scalars="position",
    infer=_infer_read,
    grad={"x": lambda g, position, spec, x_aval: place_at(g, position, spec, x_aval.shape)},
    name="getitem",
    family="movement",
    paddle_name="slice",
    padding=rules.slices.getitem,
    series=series.algebra.linear("x"),
)
def read_at(xp: Any, x: Any, position: Any, spec: Spec) -> Any:
    """The slice of `x` that spec and position describe."""
    return _read(xp, x, position, spec)


@op(
    scalars="position",
    infer=_infer_place,
    grad={"x": lambda g, position, spec: read_at(g, position, spec)},
    name="getitem_grad",
    padding=rules.slices.getitem_grad,
    series=series.algebra.linear("x"),
)
def place_at(xp: Any, x: Any, position: Any, spec: Spec, shape: tuple[int, ...]) -> Any:
    """Zeros of a shape, with `x` as the slice that spec and position describe."""
    return _place(xp, x, position, spec, shape)


def _cleared(g: Tensor, position: int, spec: Spec) -> Tensor:
    return overwrite_at(g, full_of(0, (), g._aval.dtype), position, spec)


@op(
    "x value",
    scalars="position",
    infer=_infer_overwrite,
    grad={
        "x": lambda g, position, spec: _cleared(g, position, spec),
        "value": lambda g, position, spec: read_at(g, position, spec),
    },
    name="setitem",
    family="movement",
    amp="never",
    padding=rules.slices.setitem,
    series=series.algebra.linear("x value"),
)
def overwrite_at(xp: Any, x: Any, value: Any, position: Any, spec: Spec) -> Any:
    """`x` with `value` (broadcast) in the slice that spec and position describe."""
    return _overwrite(xp, x, value, position, spec)


for _operation, _in_place in (
    (read_at, _read_in_place), (place_at, _place_in_place), (overwrite_at, _overwrite_in_place),
):  # fmt: skip
    _operation.operation.kernels.update(numpy=_in_place, cupy=_in_place)
