"""`x[index]` and `x[index] = value`, and the functions that slice.

An index is read into a plan of at most four stages, each of which can get its part of a tensor and
put a new part back: the basic part (integers, slices, None), positions that are tensors without
dimensions, index tensors, and a mask. Integers are basic beside arrays too: `x[0, :, [0, 1]]` has
the shape [3, 2] for `x` of [2, 3, 4], as in Paddle, where NumPy says [2, 3].

A mask has to be looked at on the host to know how many elements it takes, except in `x[mask] =
value` with one value for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...core.errors import failed_type_check, index_error, type_error, value_error
from ...core.symbols import fixed
from ...core.tracebacks import trim
from ...eager.annotations import AxisLike, SizesLike
from ...eager.attaching import attach
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ...eager.views import assign_in_place, register_view
from ...ir.capture import CaptureError, put_off
from ..arguments import integers, require_tensor
from ..basic import cast_to, full_of
from ..shape.slicing import ROW, read_at
from .index_reading import basic_index, of_one_tensor, out_of_range, read_index
from .index_stages import Basic, BasicView, Plan, PlanView

# More rows than this are not taken apart at once by a loop over a tensor.
_MOST_ROWS = 1024


# ---- x[index] ------------------------------------------------------------------------------------


def get_item(self: Tensor, item: Any) -> Tensor:
    """`x[item]`; basic indexing shares memory with `x`."""
    x, index = self, item
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
    try:
        if index.__class__ is Tensor:
            stage = of_one_tensor(x._aval, index)
            if stage is not None:
                return stage.get(x)
        basic = basic_index(x._aval, index if index.__class__ is tuple else (index,))
        if basic is not None:
            part = read_at(x, *basic)
            register_view(x, part, BasicView, basic)
            return part
        plan = read_index(x._aval, index)
        result = plan.read(x)
    except CaptureError as refusal:  # it looked at a value: a program may put off the call
        return put_off(get_item, (x, index), {}, refusal)
    if plan.shares:
        stage = plan.stages[0]
        if len(plan.stages) == 1 and isinstance(stage, Basic):
            register_view(x, result, BasicView, (stage.position, stage.spec))
        else:
            register_view(x, result, PlanView, (plan,))
    return result


def set_item(self: Tensor, item: Any, value: Any) -> None:
    """`x[item] = value`: in place, with gradients to what is left of `x` and to `value`."""
    x, index = self, item
    try:
        basic = basic_index(x._aval, index if index.__class__ is tuple else (index,))
        plan = read_index(x._aval, index) if basic is None else Plan([Basic(*basic)], True)
        assign_in_place(x, plan.write(x, as_value(x, value)), "setitem")
    except Exception as failure:
        trim(failure)
        raise


def as_value(x: Tensor, value: Any) -> Tensor:
    """What is to be written into `x`, as a tensor of its type."""
    dtype = x._aval.dtype
    if isinstance(value, Tensor):
        tensor = value
    elif isinstance(value, (bool, int, float, complex, np.bool_)):
        if isinstance(value, complex) and dtype.kind != "c":
            raise type_error("setitem", "a complex number cannot be written into a real tensor", f"x: {x._aval}")
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


def iterate(x: Tensor) -> Iterator[Tensor]:
    """The slices of `x` along its first axis; they share memory with it."""
    aval = x._aval
    if not aval.ndim:
        raise failed_type_check("iter", "a 0-d tensor has nothing to iterate over", f"x: {aval}")
    if 0 < aval.shape[0] <= _MOST_ROWS:
        return iter(x.unbind(0))
    return (get_item(x, position) for position in range(fixed(aval.shape[0])))


def contains(x: Tensor, item: Any) -> bool:
    """`item in x`: whether some element equals it; looks at the values."""
    item = item._data() if isinstance(item, Tensor) else item
    return bool((np.asarray(x._data()) == np.asarray(item)).any())


attach(__name__, __getitem__=get_item)
attach(__name__, __setitem__=set_item)
attach(__name__, __iter__=iterate)
attach(__name__, __contains__=contains)


# ---- functions that slice ------------------------------------------------------------------------


def _sliced(where: str, x: Tensor, axes: Any, starts: Any, ends: Any, strides: Any) -> Tensor:
    aval = require_tensor(where, "x", x)._aval
    parts = [integers(where, n, v) for n, v in (("axes", axes), ("starts", starts), ("ends", ends))]
    parts.append(integers(where, "strides", strides) if strides is not None else (1,) * len(parts[0]))
    if len(set(map(len, parts))) != 1:
        raise value_error(where, "axes, starts, ends and strides must have the same length", f"{parts}")
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
def slice_axes(
    input: Tensor, axes: AxisLike, starts: Sequence[int | Tensor] | Tensor, ends: Sequence[int | Tensor] | Tensor
) -> Tensor:
    """The part of a tensor between two positions along some axes; it shares memory with the tensor.

    Args:
        input: the tensor.
        axes: the axes.
        starts: where the part begins along each.
        ends: where it ends.

    Examples:
        >>> paddle.slice(paddle.to_tensor([[1, 2, 3], [4, 5, 6]]), axes=[1], starts=[1], ends=[3]).tolist()
        [[2, 3], [5, 6]]
    """
    return _sliced("slice", input, axes, starts, ends, None)


@samples(
    S(A(3, 4), [0, 1], [0, 3], [3, 0], [2, -1]),
    S(A(3, 5), [1], [-1], [-10], [-2]),
    S(A(3, 4), [0], [0], [9], [1]),
    reference=_reference_slice,
)
@public(method=True)
def strided_slice(
    x: Tensor,
    axes: AxisLike,
    starts: Sequence[int | Tensor] | Tensor,
    ends: Sequence[int | Tensor] | Tensor,
    strides: SizesLike,
    name: str | None = None,
) -> Tensor:
    """Every n-th element between two positions along some axes; it shares memory with `x`.

    Args:
        x: the tensor.
        axes: the axes.
        starts: where the part begins along each.
        ends: where it ends.
        strides: every how many elements one is taken; negative ones go backwards.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.strided_slice(paddle.arange(6), axes=[0], starts=[0], ends=[6], strides=[2]).tolist()
        [0, 2, 4]
    """
    return _sliced("strided_slice", x, axes, starts, ends, strides)
