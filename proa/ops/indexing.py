"""`x[index]` and `x[index] = value`, and the functions that slice.

An index is read into a plan of at most four stages, each of which can get its part of a tensor and
put a new part back: the basic part (integers, slices, None), positions that are tensors without
dimensions, index tensors, and a mask. Integers are basic beside arrays too: `x[0, :, [0, 1]]` has
the shape [3, 2] for `x` of [2, 3, 4], as in Paddle, where NumPy says [2, 3].

A mask has to be looked at on the host to know how many elements it takes, except in `x[mask] =
value` with one value for all of them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval
from ..core.errors import index_error, type_error, value_error
from ..eager.declare import op, public
from ..eager.samples import A, S, samples
from ..eager.tensor import Tensor, tensor_from_data
from ..eager.views import assign_in_place, register_view
from .arguments import integer, integers, require_tensor
from .basic import cast_to, full_of, reshape_to
from .gathering import check_fits, put_elements, take_elements
from .slicing import POSITION, ROW, Spec, overwrite_at, read_at, sliced_shape

# More rows than this are not taken apart at once by a loop over a tensor.
_MOST_ROWS = 1024


# ---- stages --------------------------------------------------------------------------------------


class Basic:
    """Integers, slices and new axes."""

    def __init__(self, position: int, spec: Spec) -> None:
        self.position = position
        self.spec = spec

    def get(self, x: Tensor) -> Tensor:
        return read_at(x, self.position, self.spec)

    def put(self, x: Tensor, value: Tensor) -> Tensor:
        value = fitted(value, sliced_shape(x._aval.shape, self.spec))
        return overwrite_at(x, value, self.position, self.spec)


class Elements:
    """Index tensors at some axes."""

    def __init__(
        self, indices: Sequence[Tensor], axes: Sequence[int], trusted: bool = False
    ) -> None:
        self.indices = list(indices)
        self.axes = list(axes)
        self.trusted = trusted

    def get(self, x: Tensor) -> Tensor:
        return take_elements(x, self.indices, self.axes, self.trusted)

    def put(self, x: Tensor, value: Tensor) -> Tensor:
        depth = max(index._aval.ndim for index in self.indices)
        value = _without_leading_ones(value, x._aval.ndim - len(self.axes) + depth)
        return put_elements(x, value, self.indices, self.axes, self.trusted)


class Mask:
    """A boolean tensor over one or more neighbouring axes."""

    def __init__(self, mask: Tensor, axis: int) -> None:
        self.mask = mask
        self.axis = axis

    def _merge(self, x: Tensor) -> tuple[Tensor, Elements]:
        """`x` with the masked axes as one, and the places where the mask is true."""
        shape, depth = x._aval.shape, self.mask._aval.ndim
        places = np.flatnonzero(np.asarray(self.mask._data()))
        merged = (*shape[: self.axis], self.mask._aval.size, *shape[self.axis + depth :])
        return reshape_to(x, merged), Elements([_beside(x, places)], [self.axis], trusted=True)

    def get(self, x: Tensor) -> Tensor:
        merged, elements = self._merge(x)
        return elements.get(merged)

    def put(self, x: Tensor, value: Tensor) -> Tensor:
        depth = self.mask._aval.ndim
        taken = x._aval.ndim - depth + 1
        value = _without_leading_ones(value, taken)
        shape = value._aval.shape
        counted = (
            self.axis - taken + len(shape)
        )  # the value's axis that runs over the true elements
        if counted < 0 or shape[counted] == 1:
            if counted >= 0:
                value = reshape_to(value, (*shape[:counted], *(1,) * depth, *shape[counted + 1 :]))
            return put_where(x, value, self.mask, self.axis, True)
        merged, elements = self._merge(x)
        return reshape_to(elements.put(merged, value), x._aval.shape)


def _beside(x: Tensor, array: np.ndarray) -> Tensor:
    return tensor_from_data(array, place=x._aval.place)


def _infer_where(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, value, _ = operands
    check_fits(operation, operands, value.shape, x.shape)
    return x


@op(
    "x value mask",
    infer=_infer_where,
    grad={
        "x": lambda g, mask, axis, when: put_where(
            g, full_of(0, (), g._aval.dtype), mask, axis, when
        ),
        "value": lambda g, mask, axis, when: put_where(
            g, full_of(0, (), g._aval.dtype), mask, axis, not when
        ),
    },
)
def put_where(xp: Any, x: Any, value: Any, mask: Any, axis: int, when: bool) -> Any:
    """`x` with `value` where the mask, laid over the axes from `axis` on, is `when`."""
    mask = mask.reshape((1,) * axis + mask.shape + (1,) * (x.ndim - axis - mask.ndim))
    return xp.where(mask, value, x) if when else xp.where(mask, x, value)


Stage = Basic | Elements | Mask


class Plan:
    """What an index means for tensors of one shape."""

    def __init__(self, stages: list[Stage], shares: bool) -> None:
        self.stages = stages
        self.shares = shares  # whether the result shares memory with its source in Paddle

    def read(self, x: Tensor) -> Tensor:
        for stage in self.stages:
            x = stage.get(x)
        return x

    def write(self, x: Tensor, value: Tensor) -> Tensor:
        return _write(self.stages, x, value)


def _write(stages: list[Stage], x: Tensor, value: Tensor) -> Tensor:
    first, *rest = stages
    return first.put(x, _write(rest, first.get(x), value) if rest else value)


class PlanView:
    """How the views that indexing makes are refreshed and written back (see eager/views.py)."""

    @staticmethod
    def remake(base: Tensor, plan: Plan) -> Tensor:
        return plan.read(base)

    @staticmethod
    def view(base: Tensor, view: Tensor, plan: Plan) -> Tensor:
        return plan.write(base, view)


class BasicView:
    """The same for the common case, whose plan is two plain values."""

    @staticmethod
    def remake(base: Tensor, position: int, spec: Spec) -> Tensor:
        return read_at(base, position, spec)

    @staticmethod
    def view(base: Tensor, view: Tensor, position: int, spec: Spec) -> Tensor:
        return overwrite_at(base, view, position, spec)


def register_row(base: Tensor, row: Tensor, axis: int, position: int) -> None:
    """Says that `row` is the slice of `base` at `position` along an axis."""
    spec = (*((0, n, 1) for n in base._aval.shape[:axis]), POSITION)
    register_view(base, row, BasicView, (position, spec))


# ---- reading an index ----------------------------------------------------------------------------


def _bad_index(item: Any) -> ValueError:
    shown = str(item._aval) if isinstance(item, Tensor) else repr(item)
    return value_error(
        "getitem",
        "an index is made of integers, slices, None, Ellipsis, booleans, and tensors or lists of integers or booleans",
        shown,
    )


def _simplified(item: Any) -> Any:
    """None, Ellipsis, a bool, an int, a slice, or a tensor of integers or booleans."""
    if item is None or item is Ellipsis or item.__class__ in (int, bool, slice):
        return item
    if isinstance(item, Tensor):
        kind = item._aval.dtype.kind
        if kind not in "biu":
            raise _bad_index(item)
        return bool(item) if kind == "b" and item._aval.ndim == 0 else item
    if isinstance(item, (list, range, tuple)):
        try:
            item = np.asarray([i.numpy() if isinstance(i, Tensor) else i for i in item])
        except (ValueError, TypeError):
            raise _bad_index(item) from None
        item = item.astype(np.int64) if item.size == 0 else item
    if isinstance(item, (np.ndarray, np.generic)):
        if item.dtype.kind not in "biu":
            raise _bad_index(item)
        if item.ndim == 0:
            return bool(item) if item.dtype.kind == "b" else int(item)
        return tensor_from_data(item)
    if hasattr(item, "__index__"):
        return int(item.__index__())
    if hasattr(item, "__array__"):
        return _simplified(np.asarray(item))
    raise _bad_index(item)


def _bound(part: Any) -> int | None:
    if part is None or part.__class__ is int:
        return part
    try:
        return integer("getitem", "the bound of a slice", part)
    except TypeError as error:
        raise ValueError(str(error)) from None


@functools.lru_cache(maxsize=4096)
def _slice_entry(
    start: int | None, stop: int | None, step: int | None, extent: int
) -> tuple[tuple[int, ...], int, int]:
    """The entry of a slice in a spec, its datum, and how many values the datum may have (1: it has none)."""
    if step == 0:
        raise value_error(
            "getitem", "the step of a slice cannot be 0", f"{slice(start, stop, step)}"
        )
    first, last, by = slice(start, stop, step).indices(extent)
    length = len(range(first, last, by))
    if length == 0:
        return (0, 0, 1), 0, 1
    if (
        by == 1
        and start is not None
        and stop is not None
        and start >= 0
        and stop >= 0
        and length < extent
    ):
        # Both ends given: a window, which is likely to be somewhere else on the next call.
        return (length,), first, extent - length + 1
    return (first, length, by), 0, 1


def _basic_index(aval: Aval, items: tuple[Any, ...]) -> tuple[int, Spec] | None:
    """Position and spec of an index of plain integers, slices, None and Ellipsis; None for any other.

    What `_Reader` does, for the indices that loops are made of.
    """
    shape = aval.shape
    position = axis = whole = 0  # whole: how many entries at the end take their axes whole
    spec: list[Any] = []
    for number, item in enumerate(items):
        kind = item.__class__
        if kind is int and axis < len(shape):
            extent = shape[axis]
            if not -extent <= item < extent:
                raise out_of_range(item, axis, extent, aval)
            position = position * extent + (item + extent if item < 0 else item)
            spec.append(POSITION)
            whole = 0
            axis += 1
        elif kind is slice and axis < len(shape):
            extent = shape[axis]
            start, stop, step = item.start, item.stop, item.step
            if not (
                (start is None or start.__class__ is int)
                and (stop is None or stop.__class__ is int)
                and (step is None or step.__class__ is int)
            ):
                return None
            entry, datum, choices = _slice_entry(start, stop, step, extent)
            position = position * choices + datum
            spec.append(entry)
            whole = whole + 1 if entry == (0, extent, 1) else 0
            axis += 1
        elif item is None:
            spec.append(None)
            whole = 0
        elif item is Ellipsis:
            rest = items[number + 1 :]
            if not all(r is None or r.__class__ is int or r.__class__ is slice for r in rest):
                return None
            count = len(shape) - axis - sum(r is not None for r in rest)
            if count < 0:
                return None
            spec += [(0, n, 1) for n in shape[axis : axis + count]]
            whole += count
            axis += count
        else:
            return None
    return position, tuple(spec[: len(spec) - whole] if whole else spec)


class _Reader:
    """Walks along an index and collects what the stages need."""

    def __init__(self, aval: Aval) -> None:
        self.shape = aval.shape
        self.aval = aval
        self.axis = 0  # of the source
        self.place = 0  # of the result of the basic stage
        self.position = 0
        self.spec: list[Any] = []
        self.points: list[tuple[int, Tensor]] = []
        self.arrays: list[tuple[int, Tensor]] = []
        self.masks: list[tuple[int, Tensor]] = []
        self.emptied: list[int] = []
        self.copies = False

    def read(self, item: Any) -> None:
        if item is None or item is True or item is False:
            self.spec.append(None)
            self.copies = self.copies or item is not None
            if item is False:
                self.emptied.append(self.place)
            self.place += 1
        elif item.__class__ is int:
            self._integer(item)
        elif item.__class__ is slice:
            self._slice(item)
        else:
            self._tensor(item)

    def whole_axes(self, count: int) -> None:
        for _ in range(count):
            self.spec.append((0, self.shape[self.axis], 1))
            self.axis += 1
            self.place += 1

    def _datum(self, value: int, choices: int) -> None:
        self.position = self.position * choices + value

    def _integer(self, item: int) -> None:
        extent = self.shape[self.axis]
        if not -extent <= item < extent:
            raise out_of_range(item, self.axis, extent, self.aval)
        self._datum(item + extent if item < 0 else item, extent)
        self.spec.append(POSITION)
        self.axis += 1

    def _slice(self, item: slice) -> None:
        bounds = _bound(item.start), _bound(item.stop), _bound(item.step)
        entry, datum, choices = _slice_entry(*bounds, self.shape[self.axis])
        self._datum(datum, choices)
        self.spec.append(entry)
        self.axis += 1
        self.place += 1

    def _tensor(self, item: Tensor) -> None:
        aval = item._aval
        if aval.dtype.kind != "b":
            (self.arrays if aval.ndim else self.points).append((self.place, item))
            self.copies = self.copies or aval.ndim > 0
            self.whole_axes(1)
            return
        covered = self.shape[self.axis : self.axis + aval.ndim]
        if covered != aval.shape:
            raise index_error(
                "getitem",
                f"a mask of shape {list(aval.shape)} does not fit the axes from {self.axis} on, {list(covered)}",
                f"x: {self.aval}",
            )
        self.masks.append((self.place, item))
        self.copies = True
        self.whole_axes(aval.ndim)

    def plan(self) -> Plan:
        stages: list[Stage] = []
        spec = self.spec
        while self.axis and spec[-1] == (0, self.shape[self.axis - 1], 1):
            spec.pop()  # what is not mentioned is taken whole
            self.axis -= 1
        if any(e is None or e == POSITION or len(e) == 1 for e in spec) or any(
            e != (0, n, 1) for e, n in zip(spec, self.shape)
        ):
            stages.append(Basic(self.position, tuple(spec)))
        if self.emptied:
            shape = sliced_shape(self.shape, tuple(spec))
            emptied = (((0, 0, 1) if i in self.emptied else (0, n, 1)) for i, n in enumerate(shape))
            stages.append(Basic(0, tuple(emptied)))
        for place, index in reversed(self.points):
            stages.append(Elements([index], [place]))
        gone = [place for place, _ in self.points]
        stages += self._collected(gone)
        return Plan(stages or [Basic(0, ())], not self.copies)

    def _collected(self, gone: list[int]) -> list[Stage]:
        """The stage of arrays and masks; axes shift to the left by the points before them."""

        def shifted(place: int) -> int:
            return place - sum(g < place for g in gone)

        if len(self.masks) == 1 and not self.arrays:
            place, mask = self.masks[0]
            return [Mask(mask, shifted(place))]
        found = [(shifted(place), index) for place, index in self.arrays]
        for place, mask in self.masks:
            for depth, places in enumerate(np.nonzero(np.asarray(mask._data()))):
                found.append((shifted(place) + depth, tensor_from_data(places)))
        found.sort(key=lambda pair: pair[0])
        return (
            [Elements([index for _, index in found], [place for place, _ in found])]
            if found
            else []
        )


def out_of_range(item: int, axis: int, extent: int, aval: Aval) -> IndexError:
    allowed = f"{-extent} to {extent - 1}" if extent else "none, it has no elements"
    return index_error(
        "getitem", f"index {item} is out of range for axis {axis}; allowed: {allowed}", f"x: {aval}"
    )


def read_index(aval: Aval, index: Any) -> Plan:
    """The plan for an index; IndexError or ValueError when it does not fit the tensor."""
    items = [_simplified(item) for item in (index if index.__class__ is tuple else (index,))]
    used = 0
    dots = None
    for number, item in enumerate(items):
        if item is Ellipsis:
            if dots is not None:
                raise value_error("getitem", "an index may have one Ellipsis", f"x: {aval}")
            dots = number
        elif isinstance(item, Tensor) and item._aval.dtype.kind == "b":
            used += item._aval.ndim
        elif item is not None and item.__class__ is not bool:
            used += 1
    if used > aval.ndim:
        raise index_error(
            "getitem", f"the index names {used} axes, the tensor has {aval.ndim}", f"x: {aval}"
        )
    reader = _Reader(aval)
    for number, item in enumerate(items):
        if number == dots:
            reader.whole_axes(aval.ndim - used)
        else:
            reader.read(item)
    return reader.plan()


# ---- x[index] ------------------------------------------------------------------------------------


def get_item(x: Tensor, index: Any) -> Tensor:
    """`x[index]`; basic indexing shares memory with `x`."""
    if index.__class__ is int:
        aval = x._aval
        if not aval.ndim:
            raise index_error(
                "getitem",
                "a tensor without dimensions cannot be indexed by an integer",
                f"x: {aval}",
            )
        extent = aval.shape[0]
        if not -extent <= index < extent:
            raise out_of_range(index, 0, extent, aval)
        position = index + extent if index < 0 else index
        row = read_at(x, position, ROW)
        register_view(x, row, BasicView, (position, ROW))
        return row
    basic = _basic_index(x._aval, index if index.__class__ is tuple else (index,))
    if basic is not None:
        part = read_at(x, *basic)
        register_view(x, part, BasicView, basic)
        return part
    plan = read_index(x._aval, index)
    result = plan.read(x)
    if plan.shares:
        stage = plan.stages[0]
        if len(plan.stages) == 1 and isinstance(stage, Basic):
            register_view(x, result, BasicView, (stage.position, stage.spec))
        else:
            register_view(x, result, PlanView, (plan,))
    return result


def set_item(x: Tensor, index: Any, value: Any) -> None:
    """`x[index] = value`: in place, with gradients to what is left of `x` and to `value`."""
    basic = _basic_index(x._aval, index if index.__class__ is tuple else (index,))
    stages = read_index(x._aval, index).stages if basic is None else [Basic(*basic)]
    assign_in_place(x, _write(stages, x, as_value(x, value)), "setitem")


def as_value(x: Tensor, value: Any) -> Tensor:
    """What is to be written into `x`, as a tensor of its type."""
    dtype = x._aval.dtype
    if isinstance(value, Tensor):
        tensor = value
    elif isinstance(value, (bool, int, float, complex, np.bool_)):
        if isinstance(value, complex) and dtype.kind != "c":
            raise type_error(
                "setitem", "a complex number cannot be written into a real tensor", f"x: {x._aval}"
            )
        return full_of(int(value) if isinstance(value, (bool, np.bool_)) else value, (), dtype)
    elif isinstance(value, (np.ndarray, np.generic, list, tuple)):
        tensor = tensor_from_data(np.asarray(value).astype(dtype), place=x._aval.place)
    else:
        raise value_error(
            "setitem",
            "the value must be a tensor, an array or a number",
            f"{type(value).__name__}, x: {x._aval}",
        )
    return tensor if tensor._aval.dtype == dtype else cast_to(tensor, dtype)


def _without_leading_ones(value: Tensor, ndim: int) -> Tensor:
    shape = value._aval.shape
    extra = len(shape) - ndim
    return reshape_to(value, shape[extra:]) if extra > 0 and set(shape[:extra]) == {1} else value


def fitted(value: Tensor, target: tuple[int, ...]) -> Tensor:
    """A value that can be broadcast to a shape, rid of leading ones; ValueError when it cannot."""
    value = _without_leading_ones(value, len(target))
    shape = value._aval.shape
    aligned = target[len(target) - len(shape) :]
    if len(shape) > len(target) or any(n not in (1, m) for n, m in zip(shape, aligned)):
        raise value_error(
            "setitem",
            f"a value of shape {list(shape)} cannot be broadcast to the indexed shape {list(target)}",
        )
    return value


def iterate(x: Tensor) -> Iterator[Tensor]:
    """The slices of `x` along its first axis; they share memory with it."""
    aval = x._aval
    if not aval.ndim:
        raise TypeError("(iter) a 0-d tensor has nothing to iterate over.")
    if 0 < aval.shape[0] <= _MOST_ROWS:
        return iter(x.unbind(0))  # type: ignore[attr-defined]
    return (get_item(x, position) for position in range(aval.shape[0]))


def contains(x: Tensor, item: Any) -> bool:
    """`item in x`: whether some element equals it; looks at the values."""
    item = item._data() if isinstance(item, Tensor) else item
    return bool((np.asarray(x._data()) == np.asarray(item)).any())


Tensor.__getitem__ = get_item  # type: ignore[attr-defined]
Tensor.__setitem__ = set_item  # type: ignore[attr-defined]
Tensor.__iter__ = iterate  # type: ignore[attr-defined]
Tensor.__contains__ = contains  # type: ignore[attr-defined]


# ---- functions that slice ------------------------------------------------------------------------


def _sliced(where: str, x: Tensor, axes: Any, starts: Any, ends: Any, strides: Any) -> Tensor:
    aval = require_tensor(where, "x", x)._aval
    parts = [integers(where, n, v) for n, v in (("axes", axes), ("starts", starts), ("ends", ends))]
    parts.append(
        integers(where, "strides", strides) if strides is not None else (1,) * len(parts[0])
    )
    if len(set(map(len, parts))) != 1:
        raise value_error(
            where, "axes, starts, ends and strides must have the same length", f"{parts}"
        )
    index = [slice(None)] * aval.ndim
    for axis, start, end, stride in zip(*parts):
        if not -aval.ndim <= axis < aval.ndim:
            raise value_error(where, f"there is no axis {axis}", f"x: {aval}")
        if stride == 0:
            raise value_error(where, "a stride cannot be 0", f"strides: {list(parts[3])}")
        index[axis] = slice(start, end, stride)
    return get_item(x, tuple(index))


def _reference_slice(x: Any, axes: Any, starts: Any, ends: Any, strides: Any = None) -> Any:
    index = [slice(None)] * x.ndim
    for number, axis in enumerate(axes):
        index[axis] = slice(starts[number], ends[number], strides[number] if strides else 1)
    return x[tuple(index)]


@samples(
    S(A(3, 4), [0, 1], [1, 0], [3, 2]),
    S(A(3, 4), [-1], [-2], [100]),
    S(A(3, 4), [0], [2], [1]),
    S(A(0, 4), [1], [1], [3]),
    reference=_reference_slice,
)
@public(name="slice", method="slice")
def slice_axes(input: Tensor, axes: Any, starts: Any, ends: Any) -> Tensor:
    """The part of a tensor from `starts` to `ends` along `axes`; it shares memory with the tensor."""
    return _sliced("slice", input, axes, starts, ends, None)


@samples(
    S(A(3, 4), [0, 1], [0, 3], [3, 0], [2, -1]),
    S(A(3, 5), [1], [-1], [-10], [-2]),
    S(A(3, 4), [0], [0], [9], [1]),
    reference=_reference_slice,
)
@public(method=True)
def strided_slice(
    x: Tensor, axes: Any, starts: Any, ends: Any, strides: Any, name: str | None = None
) -> Tensor:
    """The part of `x` from `starts` to `ends` along `axes`, every `strides`-th element; shares memory with `x`."""
    return _sliced("strided_slice", x, axes, starts, ends, strides)
