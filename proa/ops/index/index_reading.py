"""From what stands in the brackets of `x[…]` to the stages that it means (see `indexing.py`)."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.errors import AxisOutOfRange, index_error, message, value_error
from ...core.symbols import SymbolicSize, from_start, maximum, minimum, same_sizes, whole
from ...eager.tensor import Tensor, tensor_from_data
from ..arguments import integer
from ..shape.slicing import POSITION, Spec, sliced_shape
from .index_stages import Basic, Elements, Mask, Plan, Stage


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
    if isinstance(item, SymbolicSize):
        return whole(item)
    if hasattr(item, "__index__"):
        return int(item.__index__())
    if hasattr(item, "__array__"):
        return _simplified(np.asarray(item))
    raise _bad_index(item)


def _bound(part: Any) -> int | None:
    if part is None or part.__class__ is int:
        return part
    if isinstance(part, SymbolicSize):
        return whole(part)
    try:
        return integer("getitem", "the bound of a slice", part)
    except TypeError as error:
        raise ValueError(str(error)) from None


@functools.lru_cache(maxsize=4096)
def _slice_entry(
    start: int | None, stop: int | None, step: int | None, extent: int
) -> tuple[tuple[int, ...], int, int]:
    """The entry of a slice in a spec, its datum, and how many values the datum may have (1: it has
    none)."""
    if step == 0:
        raise value_error("getitem", "the step of a slice cannot be 0", f"{slice(start, stop, step)}")
    first, last, by = slice(start, stop, step).indices(extent)
    length = len(range(first, last, by))
    if length == 0:
        return (0, 0, 1), 0, 1
    if by == 1 and start is not None and stop is not None and start >= 0 and stop >= 0 and length < extent:
        # Both ends given: a window, which is likely to be somewhere else on the next call.
        return (length,), first, extent - length + 1
    return (first, length, by), 0, 1


def _entry_of(start: Any, stop: Any, step: Any, extent: int) -> tuple[tuple[int, ...], int, int]:
    """The same, where any of the numbers may depend on an unknown size."""
    start = start if start is None else whole(start)
    stop = stop if stop is None else whole(stop)
    if extent.__class__ is int and not (isinstance(start, SymbolicSize) or isinstance(stop, SymbolicSize)):
        return _slice_entry(start, stop, step, extent)
    by = 1 if step is None else step
    if by == 0:
        raise value_error("getitem", "the step of a slice cannot be 0", f"{slice(start, stop, step)}")
    lowest, highest = (0, extent) if by > 0 else (-1, extent - 1)
    # Where the first element lies beyond the last, the length is 0 and the place does not matter.
    if start is None:
        first = lowest if by > 0 else highest
    else:
        first = from_start(start, extent)
        first = first if first is start else maximum(first, lowest)
    last = (highest if by > 0 else lowest) if stop is None else from_start(stop, extent)
    first = first if by > 0 else minimum(first, highest)
    last = minimum(last, highest) if by > 0 else maximum(last, lowest)
    room = last - first if by > 0 else first - last
    length = maximum((room + abs(by) - 1) // abs(by), 0)
    return (first, length, by), 0, 1


def _takes_all(entry: Any, extent: int) -> bool:
    if entry.__class__ is not tuple or len(entry) != 3:
        return False
    if extent.__class__ is int and entry[1].__class__ is int:
        return entry == (0, extent, 1)
    return same_sizes(entry, (0, extent, 1))


def basic_index(aval: Aval, items: tuple[Any, ...]) -> tuple[int, Spec] | None:
    """Position and spec of an index of plain integers, slices, None and Ellipsis; None for any
    other.

    What `_Reader` does, for the indices that loops are made of.
    """
    shape = aval.shape
    position = axis = all_of_them = 0  # the last: how many entries at the end take their axes whole
    spec: list[Any] = []
    for number, item in enumerate(items):
        kind = item.__class__
        if kind is int and axis < len(shape):
            extent = shape[axis]
            if not -extent <= item < extent:
                raise out_of_range(item, axis, extent, aval)
            position = position * extent + (item + extent if item < 0 else item)
            spec.append(POSITION)
            all_of_them = 0
            axis += 1
        elif kind is slice and axis < len(shape):
            extent = shape[axis]
            start, stop, step = item.start, item.stop, item.step
            if (
                (start is None or start.__class__ is int)
                and (stop is None or stop.__class__ is int)
                and (step is None or step.__class__ is int)
                and extent.__class__ is int
            ):
                entry, datum, choices = _slice_entry(start, stop, step, extent)
                all_of_them = all_of_them + 1 if entry == (0, extent, 1) else 0
            elif all(part is None or isinstance(part, int) for part in (start, stop, step)):
                entry, datum, choices = _entry_of(start, stop, step, extent)
                all_of_them = all_of_them + 1 if _takes_all(entry, extent) else 0
            else:
                return None
            position = position * choices + datum
            spec.append(entry)
            axis += 1
        elif item is None:
            spec.append(None)
            all_of_them = 0
        elif item is Ellipsis:
            rest = items[number + 1 :]
            if not all(r is None or r.__class__ is int or r.__class__ is slice for r in rest):
                return None
            count = len(shape) - axis - sum(r is not None for r in rest)
            if count < 0:
                return None
            spec += [(0, n, 1) for n in shape[axis : axis + count]]
            all_of_them += count
            axis += count
        else:
            return None
    return position, tuple(spec[: len(spec) - all_of_them] if all_of_them else spec)


def of_one_tensor(aval: Aval, index: Tensor) -> Elements | Mask | None:
    """The stage of an index that is one tensor along the first axis: positions, or a mask of its length; None for any
    other.

    What `_Reader` does, for the indices that loops are made of.
    """
    given = index._aval
    if not given.ndim or not aval.ndim:
        return None
    if given.dtype.kind == "b":
        length = given.shape[0]
        return Mask(index, 0) if given.ndim == 1 and length.__class__ is int and length == aval.shape[0] else None
    return Elements([index], [0]) if given.dtype.kind in "iu" else None


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
        self.booleans: list[tuple[int, bool]] = []
        self.copies = False

    def read(self, item: Any) -> None:
        if item is None or item is True or item is False:
            self.spec.append(None)
            if item is not None:
                self.booleans.append((self.place, item))
                self.copies = True
            self.place += 1
        elif isinstance(item, int):
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
        self._datum(from_start(item, extent), extent)
        self.spec.append(POSITION)
        self.axis += 1

    def _slice(self, item: slice) -> None:
        bounds = _bound(item.start), _bound(item.stop), _bound(item.step)
        entry, datum, choices = _entry_of(*bounds, self.shape[self.axis])
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
        while self.axis and _takes_all(spec[-1], self.shape[self.axis - 1]):
            spec.pop()  # what is not mentioned is taken whole
            self.axis -= 1
        if any(e is None or e == POSITION or len(e) == 1 for e in spec) or any(
            not _takes_all(e, n) for e, n in zip(spec, self.shape)
        ):
            stages.append(Basic(self.position, tuple(spec)))
        if self.arrays or self.masks or len(self.booleans) > 1:
            # Beside others a boolean is an index itself: of the new axis, its one element or none.
            for place, taken in self.booleans:
                self.arrays.append((place, tensor_from_data(np.zeros(int(taken), np.int64))))
        elif self.booleans and not self.booleans[0][1]:
            shape = sliced_shape(self.shape, tuple(spec))
            emptied = (((0, 0, 1) if i == self.booleans[0][0] else (0, n, 1)) for i, n in enumerate(shape))
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
        return [Elements([index for _, index in found], [place for place, _ in found])] if found else []


def out_of_range(item: int, axis: int, extent: int, aval: Aval) -> IndexError:
    allowed = f"{-extent} to {extent - 1}" if extent else "none, it has no elements"
    return index_error("getitem", f"index {item} is out of range for axis {axis}; allowed: {allowed}", f"x: {aval}")


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
        raise AxisOutOfRange(
            message("getitem", f"the index names {used} axes, the tensor has {aval.ndim}", f"x: {aval}")
        )
    reader = _Reader(aval)
    for number, item in enumerate(items):
        if number == dots:
            reader.whole_axes(aval.ndim - used)
        else:
            reader.read(item)
    return reader.plan()
