"""The stages of an index: each gets its part of a tensor and puts a new part back.

What they are for is said in `indexing.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.errors import value_error
from ...core.place import CPU
from ...core.strides import Strides
from ...eager.declare import op
from ...eager.tensor import Tensor, tensor_from_data, wrap
from ...eager.views import register_view
from ...ir.padding import rules
from ..basic import full_of, reshape_to
from ..shape.slicing import POSITION, Spec, overwrite_at, read_at, sliced_shape, sliced_strides
from .indexing_kernels import check_fits, put_elements, take_elements


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

    def __init__(self, indices: Sequence[Tensor], axes: Sequence[int], trusted: bool = False) -> None:
        self.indices = list(indices)
        self.axes = list(axes)
        self.trusted = trusted

    def get(self, x: Tensor) -> Tensor:
        return take_elements(x, self.indices, self.axes, self.trusted)

    def put(self, x: Tensor, value: Tensor) -> Tensor:
        depth = max(index._aval.ndim for index in self.indices)
        value = without_leading_ones(value, x._aval.ndim - len(self.axes) + depth)
        return put_elements(x, value, self.indices, self.axes, self.trusted)


class Mask:
    """A boolean tensor over one or more neighbouring axes."""

    def __init__(self, mask: Tensor, axis: int) -> None:
        self.mask = mask
        self.axis = axis

    def _merge(self, x: Tensor) -> tuple[Tensor, Elements]:
        """`x` with the masked axes as one, and the places where the mask is true."""
        shape, depth = x._aval.shape, self.mask._aval.ndim
        values = np.asarray(self.mask._data())
        places = (values if depth == 1 else values.ravel()).nonzero()[0]
        if depth != 1:
            x = reshape_to(x, (*shape[: self.axis], self.mask._aval.size, *shape[self.axis + depth :]))
        return x, Elements([_beside(x, places)], [self.axis], trusted=True)

    def get(self, x: Tensor) -> Tensor:
        merged, elements = self._merge(x)
        return elements.get(merged)

    def put(self, x: Tensor, value: Tensor) -> Tensor:
        depth = self.mask._aval.ndim
        taken = x._aval.ndim - depth + 1
        value = without_leading_ones(value, taken)
        shape = value._aval.shape
        counted = self.axis - taken + len(shape)  # the value's axis that runs over the true elements
        if counted < 0 or shape[counted] == 1:
            if counted >= 0:
                value = reshape_to(value, (*shape[:counted], *(1,) * depth, *shape[counted + 1 :]))
            return put_where(x, value, self.mask, self.axis, True)
        merged, elements = self._merge(x)
        return reshape_to(elements.put(merged, value), x._aval.shape)


def _beside(x: Tensor, array: np.ndarray) -> Tensor:
    """An array that is nobody else's, as a tensor where `x` lies."""
    place = x._aval.place
    if place is CPU:
        return wrap(array, make_aval(array.shape, array.dtype, CPU))
    return tensor_from_data(array, place=place)


def _infer_where(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, value, _ = operands
    check_fits(operation, operands, value.shape, x.shape)
    return x


@op(
    "x value mask",
    infer=_infer_where,
    grad={
        "x": lambda g, mask, axis, when: _cleared(g, mask, axis, when),
        "value": lambda g, mask, axis, when: _cleared(g, mask, axis, not when),
    },
    amp="never",
    padding=rules.indexing.put_where,
)
def put_where(xp: Any, x: Any, value: Any, mask: Any, axis: int, when: bool) -> Any:
    """`x` with `value` where the mask, laid over the axes from `axis` on, is `when`."""
    mask = mask.reshape((1,) * axis + mask.shape + (1,) * (x.ndim - axis - mask.ndim))
    return xp.where(mask, value, x) if when else xp.where(mask, x, value)


def _cleared(g: Tensor, mask: Tensor, axis: int, when: bool) -> Tensor:
    return put_where(g, full_of(0, (), g._aval.dtype), mask, axis, when)


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
        return write(self.stages, x, value)

    def strides(self, shape: tuple[int, ...], strides: Strides) -> Strides | None:
        """Strides of the result where it shares memory: a slice, then positions that are tensors without dimensions."""
        for stage in self.stages:
            if isinstance(stage, Basic):
                strides, shape = sliced_strides(shape, strides, stage.spec), sliced_shape(shape, stage.spec)
            elif isinstance(stage, Elements):
                strides = tuple(step for axis, step in enumerate(strides) if axis not in stage.axes)
                shape = tuple(extent for axis, extent in enumerate(shape) if axis not in stage.axes)
        return strides


def write(stages: list[Stage], x: Tensor, value: Tensor) -> Tensor:
    first, *rest = stages
    return first.put(x, write(rest, first.get(x), value) if rest else value)


class PlanView:
    """How the views that indexing makes are refreshed and written back (see eager/views.py)."""

    copies = False

    @staticmethod
    def strides(shape: tuple[int, ...], strides: Strides, plan: Any) -> Strides | None:
        return plan.strides(shape, strides)

    @staticmethod
    def remake(base: Tensor, plan: Plan) -> Tensor:
        return plan.read(base)

    @staticmethod
    def view(base: Tensor, view: Tensor, plan: Plan) -> Tensor:
        return plan.write(base, view)


class BasicView:
    """The same for the common case, whose plan is two plain values."""

    copies = False

    @staticmethod
    def strides(shape: tuple[int, ...], strides: Strides, position: int, spec: Spec) -> Strides:
        return sliced_strides(shape, strides, spec)

    @staticmethod
    def remake(base: Tensor, position: int, spec: Spec) -> Tensor:
        return read_at(base, position, spec)

    @staticmethod
    def view(base: Tensor, view: Tensor, position: int, spec: Spec) -> Tensor:
        return overwrite_at(base, view, position, spec)


def register_rows(base: Tensor, rows: Sequence[Tensor], axis: int) -> None:
    """Says that these are the slices of `base` along an axis, all of them in order."""
    spec = (*[(0, n, 1) for n in base._aval.shape[:axis]], POSITION)
    for position, row in enumerate(rows):
        register_view(base, row, BasicView, (position, spec))


def without_leading_ones(value: Tensor, ndim: int) -> Tensor:
    shape = value._aval.shape
    extra = len(shape) - ndim
    return reshape_to(value, shape[extra:]) if extra > 0 and set(shape[:extra]) == {1} else value


def fitted(value: Tensor, target: tuple[int, ...]) -> Tensor:
    """A value that can be broadcast to a shape, rid of leading ones; ValueError when it cannot."""
    value = without_leading_ones(value, len(target))
    shape = value._aval.shape
    aligned = target[len(target) - len(shape) :]
    if len(shape) > len(target) or any(n not in (1, m) for n, m in zip(shape, aligned)):
        raise value_error(
            "setitem",
            f"a value of shape {list(shape)} cannot be broadcast to the indexed {list(target)}",
        )
    return value
