"""Tensors that count: arange, linspace, logspace, eye, meshgrid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.aval import Aval, make_aval
from ....core.dtype import INT64, default_float, is_floating, to_numpy_dtype
from ....core.errors import type_error, value_error
from ....core.symbols import is_symbolic, maximum, whole_part
from ....eager.annotations import DeviceLike, DTypeLike, Number
from ....eager.declare import op, public
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor
from ....ir.padding import rules
from ...arguments import dtype_or_default, finish, integer, require_tensor
from ...basic import expand_to, reshape_to
from ...create.creation import real_of, scalar_of
from ...precision import as_kind


def _infer_new(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    shape, dtype = attributes
    return make_aval(shape, dtype, place)


@op(
    "",
    scalars="start step",
    infer=_infer_new,
    follow_scalars=False,
    name="arange",
    family="creation",
    padding=rules.creation.counted,
)
def count_from(xp: Any, start: Any, step: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """`start, start + step, …`, computed in 64 bits."""
    return (start + step * xp.arange(shape[0])).astype(dtype)


@samples(
    S(5),
    S(1, 7, 2),
    S(5, 0, -2),
    S(0.0, 1.0, 0.25),
    S(3, 3),
    S(1, 4, dtype="float64"),
    S(0, 4, 1, "int32"),
    reference=lambda *a, dtype=None: np.arange(*a[:3]).astype(
        dtype or (a[3] if len(a) > 3 else "float32" if any(isinstance(v, float) for v in a) else "int64")
    ),
)
@public(values=True)
def arange(
    start: Number = 0,
    end: Number | None = None,
    step: Number = 1,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    name: str | None = None,
) -> Tensor:
    """Numbers from `start` up to, not including, `end` in steps of `step`.

    Integers give int64, floats the default floating type, unless `dtype` is named.

    Args:
        start: the first number; where only one is given, that is `end` and this is 0.
        end: the limit.
        step: the distance of neighbours, not 0.
        dtype: the type of the result.
        out: a tensor that takes the result.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.arange(4).tolist()
        [0, 1, 2, 3]
        >>> paddle.arange(1.0, 2.0, 0.25).tolist()
        [1.0, 1.25, 1.5, 1.75]
    """
    if end is None:
        start, end = 0, start
    if dtype is not None:
        wanted = to_numpy_dtype(dtype)
    else:
        wanted = default_float() if any(_is_float(v) for v in (start, end, step)) else INT64
    if wanted.kind in "bc":
        raise type_error("arange", "only integer and floating types can count", f"dtype: {wanted}")
    first, last, by = (scalar_of("arange", n, v) for n, v in (("start", start), ("end", end), ("step", step)))
    if wanted.kind in "iu" or (
        any(map(is_symbolic, (first, last, by))) and all(isinstance(n, int) for n in (first, last, by))
    ):
        first, last, by = whole_part(first), whole_part(last), whole_part(by)
        num = -((first - last) // by) if by else 0
    else:
        # Counted in the type itself, as Paddle does: 0.1 in float32 is not 0.1 in float64.
        unit = np.float64 if wanted.itemsize == 8 else np.float32
        first, last, by = float(first), float(last), float(by)
        num = math.ceil((unit(last) - unit(first)) / unit(by)) if by and not _is_empty(first, last, by) else 0
    if not by:
        raise value_error("arange", "step cannot be 0", f"start: {first}, end: {last}, step: {by}")
    return finish(count_from(first, by, (maximum(num, 0),), wanted), out, device, requires_grad)


def _is_empty(first: float, last: float, step: float) -> bool:
    if not all(map(math.isfinite, (first, last, step))):
        raise value_error("arange", "start, end and step must be finite", f"{first}, {last}, {step}")
    return (last - first) * step <= 0


def _is_float(value: Any) -> bool:
    if isinstance(value, Tensor):
        return is_floating(value._aval.dtype)
    return isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


@op(
    "",
    scalars="start stop",
    infer=_infer_new,
    follow_scalars=False,
    name="linspace",
    family="creation",
    padding=rules.refused("the distance of its numbers depends on how many there are"),
)
def space_between(xp: Any, start: Any, stop: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Counted from both ends towards the middle, so that both ends are exact."""
    num = shape[0]
    start, stop = start.astype(np.float64), stop.astype(np.float64)
    position = xp.arange(num)
    step = (stop - start) / max(num - 1, 1)
    values = xp.where(position < (num + 1) // 2, start + step * position, stop - step * (num - 1 - position))
    return values.astype(dtype)


@samples(
    S(0, 1, 5),
    S(0.0, 10.0, 4, "float64"),
    S(0, 10, 4, dtype="int32"),
    S(0, 1, 1),
    S(0, 1, 0),
    S(3.0, -2.0, 6),
    reference=lambda start, stop, num, dtype="float32": np.linspace(start, stop, num).astype(dtype),
)
@public(aliases="stop=end num=steps")
def linspace(
    start: Any,
    stop: Any,
    num: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers at equal distances from `start` to `stop`, both included.

    Args:
        start: the first number.
        stop: the last.
        num: how many.
        dtype: the type; the default floating type if left out.
        name: a label; it changes nothing.
        out: a tensor that takes the result.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.

    Examples:
        >>> paddle.linspace(0, 1, 5).tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    wanted = dtype_or_default(dtype)
    if wanted.kind in "bc":
        raise type_error("linspace", "the type must be an integer or floating one", f"dtype: {dtype}")
    count = integer("linspace", "num", int(num) if isinstance(num, float) else num)
    if count < 0:
        raise value_error("linspace", "num cannot be negative", f"num: {count}")
    first, last = real_of("linspace", "start", start), real_of("linspace", "stop", stop)
    return finish(space_between(first, last, (count,), wanted), out, device, requires_grad)


@op(
    "",
    scalars="start stop base",
    infer=_infer_new,
    follow_scalars=False,
    name="logspace",
    padding=rules.refused("the distance of its numbers depends on how many there are"),
)
def powers_between(xp: Any, start: Any, stop: Any, base: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    exponents = space_between.operation.kernel(xp, start, stop, shape, np.dtype(np.float64))
    return as_kind(xp, xp.power(base.astype(np.float64), exponents), dtype)


@samples(
    S(0, 3, 4),
    S(0.0, 1.0, 3, dtype="float64"),
    S(0, 3, 4, 2, "int32"),
    S(1, 3, 1, base=2.0),
    S(2.0, -1.0, 5, 3.0),
    reference=lambda start, stop, num, base=10.0, dtype="float32": np.logspace(start, stop, num, base=base).astype(
        dtype
    ),
)
@public(values=True)
def logspace(
    start: Any, stop: Any, num: Any, base: Any = 10.0, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Powers of `base` whose exponents lie at equal distances.

    Args:
        start: the first exponent.
        stop: the last exponent.
        num: how many.
        base: the base.
        dtype: the type; the default floating type if left out.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.logspace(0, 3, 4).numpy().round(2).tolist()
        [1.0, 10.0, 100.0, 1000.0]
    """
    wanted = dtype_or_default(dtype)
    if wanted.kind in "bc":
        raise type_error("logspace", "the type must be an integer or floating one", f"dtype: {dtype}")
    count = integer("logspace", "num", int(num) if isinstance(num, float) else num)
    if count < 1:
        raise value_error("logspace", "num must be positive", f"num: {count}")
    ends = (real_of("logspace", label, value) for label, value in (("start", start), ("stop", stop), ("base", base)))
    return powers_between(*ends, (count,), wanted)


@op("", infer=_infer_new, name="eye", family="creation", padding=rules.creation.counted)
def diagonal_ones(xp: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    return xp.eye(*shape, dtype=dtype)


@samples(
    S(3),
    S(2, 3, "int32"),
    S(3, 2),
    S(0),
    S(1, dtype="bool"),
    reference=lambda n, m=None, dtype="float32": np.eye(n, m, dtype=dtype),
)
@public(aliases="num_rows=n num_columns=m")
def eye(
    num_rows: int | Tensor,
    num_columns: int | Tensor | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A matrix with ones on the diagonal and zeros elsewhere.

    Args:
        num_rows: the number of rows.
        num_columns: the number of columns; that of the rows by default.
        dtype: the type; the default floating type if left out.
        name: a label; it changes nothing.
        out: a tensor that takes the result.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.eye(2, 3).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    rows = integer("eye", "num_rows", num_rows)
    columns = rows if num_columns is None else integer("eye", "num_columns", num_columns)
    if rows < 0 or columns < 0:
        raise type_error("eye", "a dimension cannot be negative", f"num_rows: {rows}, num_columns: {columns}")
    return finish(diagonal_ones((rows, columns), dtype_or_default(dtype)), out, device, requires_grad)


@samples(
    S(A(2), A(3)),
    S([A(2), A(3), A(1)]),
    S(A(), A(3)),
    S(A(0), A(2)),
    reference=lambda *x: np.meshgrid(*(x[0] if isinstance(x[0], list) else x), indexing="ij"),
)
@public()
def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Coordinate tensors of a grid: the k-th varies along axis k and repeats along all others.

    Args:
        *args: tensors with one axis or none, one by one or in a list.
        indexing: "ij" (the default), or "xy" for results whose first two axes are exchanged.
        name: a label; it changes nothing.

    Returns:
        A list of tensors, one for each argument.

    Examples:
        >>> rows, columns = paddle.meshgrid(paddle.to_tensor([1, 2]), paddle.to_tensor([5, 6, 7]))
        >>> rows.tolist(), columns.tolist()
        ([[1, 1, 1], [2, 2, 2]], [[5, 6, 7], [5, 6, 7]])
    """
    indexing = kwargs.pop("indexing", None) or "ij"
    kwargs.pop("name", None)
    if kwargs or indexing not in ("ij", "xy"):
        raise value_error(
            "meshgrid",
            "indexing is 'ij' or 'xy', and there is no other option",
            f"{indexing!r}, {kwargs}",
        )
    given: Sequence[Any] = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    if not given:
        raise value_error("meshgrid", "at least one tensor is needed")
    axes = [require_tensor("meshgrid", f"args[{i}]", t) for i, t in enumerate(given)]
    for position, axis in enumerate(axes):
        if axis._aval.ndim > 1:
            raise value_error(
                "meshgrid",
                "each tensor has one dimension or none",
                f"args[{position}]: {axis._aval}",
            )
    swapped = indexing == "xy" and len(axes) > 1
    order = [1, 0, *range(2, len(axes))] if swapped else list(range(len(axes)))
    sizes = [axis._aval.size for axis in axes]
    shape = tuple(sizes[k] for k in order)
    return [
        expand_to(reshape_to(axis, tuple(sizes[k] if k == i else 1 for k in order)), shape)
        for i, axis in enumerate(axes)
    ]
