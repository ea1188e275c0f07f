"""New tensors: from data, filled with a number, counting, and copies.

Random ones are in `random.py`. A tensor from data copies it, so a later change of the array is not
seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval, make_aval
from ..core.dtype import BOOL, COMPLEX128, INT64, default_float, is_floating, to_numpy_dtype
from ..core.errors import type_error, value_error
from ..core.place import parse_place
from ..eager.declare import op, public
from ..eager.infer import same
from ..eager.samples import A, S, samples
from ..eager.tensor import Tensor, tensor_from_data
from ..eager.views import assign_in_place, take_over
from .arguments import deliver, dtype_or_default, integer, listed, new_shape, require_tensor
from .basic import cast_to, expand_to, full_of, reshape_to


def _infer_new(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    shape, dtype = attributes
    return make_aval(shape, dtype, place)


# ---- from data -----------------------------------------------------------------------------------


@public()
def to_tensor(
    data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True
) -> Tensor:
    """A new tensor with a copy of `data`: a number, nested lists, an array, or another tensor.

    Python floats become the default floating type and Python integers int64; arrays keep their type.
    """
    if isinstance(data, Tensor):
        made = assign_to(data) if dtype is None else cast_to(data, to_numpy_dtype(dtype))
        if place is not None:
            made = made._to_place(parse_place(place))
        made._node = None
    else:
        if isinstance(data, (str, bytes, dict, set, range)):
            raise type_error(
                "to_tensor",
                "no tensor can be made of this",
                type(data).__name__,
                "give a number, nested lists of numbers, an array or a tensor",
            )
        made = tensor_from_data(data, dtype, place)
    made.stop_gradient = bool(stop_gradient)
    return made


@public()
def tensor(
    data: Any,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of `data`; see `to_tensor`."""
    return to_tensor(data, dtype, device, not requires_grad)


# ---- copies --------------------------------------------------------------------------------------


@op(infer=same, grad={"x": lambda g: g}, name="assign")
def assign_to(xp: Any, x: Any) -> Any:
    """The same numbers; values are never overwritten, so nothing has to be copied."""
    return x


@samples(S(A(2, 3)), S(A(0, 2)), S(A(dtype="int32")), reference=lambda x: x)
@public(method=True)
def clone(x: Tensor, name: str | None = None) -> Tensor:
    """A copy of `x` that its gradient flows back through."""
    return assign_to(x)


@samples(S(A(2, 3)), S(A()), S(A(2, dtype="bool")), reference=lambda x: x)
@public()
def assign(x: Any, output: Tensor | None = None) -> Tensor:
    """A copy of a tensor, array, list or number, written into `output` if one is given."""
    if isinstance(x, Tensor):
        copied = assign_to(x)
    elif isinstance(x, (bool, int, float, complex, np.generic, np.ndarray, list, tuple)):
        array = np.asarray(x)
        copied = tensor_from_data(
            array.reshape(1) if array.ndim == 0 and not isinstance(x, np.ndarray) else array
        )
    else:
        raise type_error(
            "assign", "x must be a Tensor, an array, a list or a number", type(x).__name__
        )
    if output is None:
        return copied
    require_tensor("assign", "output", output)
    if output._aval.shape == copied._aval.shape:
        return assign_in_place(output, copied, "assign")
    take_over(output, copied)  # Paddle lets the output take any shape
    return output


# ---- filled --------------------------------------------------------------------------------------


def filled(where: str, shape: Any, value: Any, dtype: np.dtype) -> Tensor:
    """A tensor of one number, which is data: another number does not make another program."""
    dims = new_shape(where, shape)
    if isinstance(value, Tensor):
        if value._aval.size != 1:
            raise value_error(where, "fill_value must be one number", f"fill_value: {value._aval}")
        return expand_to(reshape_to(cast_to(value.detach(), dtype), (1,) * len(dims)), dims)  # type: ignore[attr-defined]
    return full_of(scalar_of(where, "fill_value", value), dims, dtype)


def scalar_of(where: str, name: str, value: Any) -> Any:
    """A Python number, from a number of any kind or a string that spells one ('inf')."""
    if value.__class__ in (int, float, complex):
        return value
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, (Tensor, np.ndarray)) and value.size == 1:
        return scalar_of(where, name, value.item())
    if isinstance(value, np.generic):
        return scalar_of(where, name, value.item() if value.dtype.kind in "iufc" else float(value))
    if isinstance(value, (int, float)):
        return float(value) if isinstance(value, float) else int(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            pass
    raise type_error(where, f"{name} must be a number", f"{name}: {value!r}")


def real_of(where: str, name: str, value: Any) -> float:
    """A Python float; TypeError for a complex number."""
    number = scalar_of(where, name, value)
    if isinstance(number, complex):
        raise type_error(where, f"{name} must be a real number", f"{name}: {number}")
    return float(number)


@samples(
    S([2, 3], 1.5),
    S([], 7),
    S([0, 2], 1, "int64"),
    S([2], 2.7, dtype="int32"),
    S([2], True),
    S([1], 3, "float16"),
    reference=lambda shape, value, dtype=None: np.full(
        shape, value, dtype or ("bool" if isinstance(value, bool) else "float32")
    ),
)
@public()
def full(
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor filled with `fill_value`; of the default floating type unless it is a bool or complex number."""
    if dtype is not None:
        wanted = to_numpy_dtype(dtype)
    elif isinstance(fill_value, (bool, np.bool_)):
        wanted = BOOL
    else:
        wanted = COMPLEX128 if isinstance(fill_value, complex) else default_float()
    return deliver(filled("full", shape, fill_value, wanted), out, device, requires_grad)


@samples(
    S([2, 3]),
    S([], dtype="float64"),
    S([0, 3], "int32"),
    S([2], dtype="bool"),
    reference=lambda shape, dtype="float32": np.zeros(shape, dtype),
)
@public()
@listed("shape", 0)
def zeros(
    shape: Any,
    dtype: Any = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of zeros."""
    made = full_of(0, new_shape("zeros", shape), dtype_or_default(dtype))
    return deliver(made, out, device, requires_grad)


@samples(
    S([2, 3]),
    S([], dtype="float64"),
    S([0, 3], "int32"),
    S([2], dtype="complex64"),
    reference=lambda shape, dtype="float32": np.ones(shape, dtype),
)
@public()
@listed("shape", 0)
def ones(
    shape: Any,
    dtype: Any = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of ones."""
    made = full_of(1, new_shape("ones", shape), dtype_or_default(dtype))
    return deliver(made, out, device, requires_grad)


@samples(
    S([2, 3]),
    S([], dtype="float64"),
    S([0, 3], "int32"),
    gradient=False,
    why="the numbers are unspecified",
)
@public()
@listed("shape", 0)
def empty(
    shape: Any,
    dtype: Any = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor whose numbers mean nothing yet (they are zeros, so that a run can be repeated)."""
    made = full_of(0, new_shape("empty", shape), dtype_or_default(dtype))
    return deliver(made, out, device, requires_grad)


@samples(
    S(A(2, 3), 1.5),
    S(A(dtype="int64"), 2.5),
    S(A(0, 2), 1, "bool"),
    S(A(2), 3, dtype="int32"),
    reference=lambda x, value, dtype=None: np.full(x.shape, value, dtype or x.dtype),
    gradient=False,
    why="a constant",
)
@public(method=True)
def full_like(
    x: Tensor,
    fill_value: Any,
    dtype: Any = None,
    name: str | None = None,
    *,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor like `x`, filled with `fill_value`."""
    aval = require_tensor("full_like", "x", x)._aval
    wanted = aval.dtype if dtype is None else to_numpy_dtype(dtype)
    made = filled("full_like", aval.shape, fill_value, wanted)
    return deliver(_beside(x, made), None, device, requires_grad)


def _beside(x: Tensor, made: Tensor) -> Tensor:
    """`made` on the device of `x`."""
    return made if made._aval.place is x._aval.place else made._to_place(x._aval.place)


@samples(
    S(A(2, 3)),
    S(A(dtype="int64")),
    S(A(0, 2), "bool"),
    reference=lambda x, dtype=None: np.zeros(x.shape, dtype or x.dtype),
    gradient=False,
    why="a constant",
)
@public(method=True)
def zeros_like(
    x: Tensor,
    dtype: Any = None,
    name: str | None = None,
    *,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros in the shape (and type, unless another is named) of `x`."""
    return full_like(x, 0, dtype, device=device, requires_grad=requires_grad)


@samples(
    S(A(2, 3)),
    S(A(dtype="int64")),
    S(A(0, 2), "bool"),
    reference=lambda x, dtype=None: np.ones(x.shape, dtype or x.dtype),
    gradient=False,
    why="a constant",
)
@public(method=True)
def ones_like(
    x: Tensor,
    dtype: Any = None,
    name: str | None = None,
    *,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Ones in the shape (and type, unless another is named) of `x`."""
    return full_like(x, 1, dtype, device=device, requires_grad=requires_grad)


@public(method=True)
def empty_like(
    x: Tensor,
    dtype: Any = None,
    name: str | None = None,
    *,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor like `x` whose numbers mean nothing yet."""
    return full_like(x, 0, dtype, device=device, requires_grad=requires_grad)


# ---- counting ------------------------------------------------------------------------------------


@op("", scalars="start step", infer=_infer_new, follow_scalars=False, name="arange")
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
        dtype
        or (a[3] if len(a) > 3 else "float32" if any(isinstance(v, float) for v in a) else "int64")
    ),
)
@public()
def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    dtype: Any = None,
    *,
    out: Tensor | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    name: str | None = None,
) -> Tensor:
    """Numbers from `start` up to (not including) `end` in steps of `step`; from 0 when only one is given.

    Integers give int64, floats the default floating type, unless `dtype` is named.
    """
    if end is None:
        start, end = 0, start
    if dtype is not None:
        wanted = to_numpy_dtype(dtype)
    else:
        wanted = default_float() if any(_is_float(v) for v in (start, end, step)) else INT64
    if wanted.kind in "bc":
        raise type_error("arange", "only integer and floating types can count", f"dtype: {wanted}")
    first, last, by = (
        scalar_of("arange", n, v) for n, v in (("start", start), ("end", end), ("step", step))
    )
    if wanted.kind in "iu":
        first, last, by = int(first), int(last), int(by)
        num = -((first - last) // by) if by else 0
    else:
        # Counted in the type itself, as Paddle does: 0.1 in float32 is not 0.1 in float64.
        unit = np.float64 if wanted.itemsize == 8 else np.float32
        first, last, by = float(first), float(last), float(by)
        num = (
            math.ceil((unit(last) - unit(first)) / unit(by))
            if by and not _is_empty(first, last, by)
            else 0
        )
    if not by:
        raise value_error("arange", "step cannot be 0", f"start: {first}, end: {last}, step: {by}")
    return deliver(count_from(first, by, (max(num, 0),), wanted), out, device, requires_grad)


def _is_empty(first: float, last: float, step: float) -> bool:
    if not all(map(math.isfinite, (first, last, step))):
        raise value_error(
            "arange", "start, end and step must be finite", f"{first}, {last}, {step}"
        )
    return (last - first) * step <= 0


def _is_float(value: Any) -> bool:
    if isinstance(value, Tensor):
        return is_floating(value._aval.dtype)
    return isinstance(value, (float, np.floating)) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "f"
    )


@op("", scalars="start stop", infer=_infer_new, follow_scalars=False, name="linspace")
def space_between(xp: Any, start: Any, stop: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Counted from both ends towards the middle, so that both ends are exact."""
    num = shape[0]
    start, stop = start.astype(np.float64), stop.astype(np.float64)
    position = xp.arange(num)
    step = (stop - start) / max(num - 1, 1)
    values = xp.where(
        position < (num + 1) // 2, start + step * position, stop - step * (num - 1 - position)
    )
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
@public()
def linspace(
    start: Any,
    stop: Any,
    num: Any,
    dtype: Any = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`num` numbers at equal distances from `start` to `stop`, both included."""
    wanted = dtype_or_default(dtype)
    if wanted.kind in "bc":
        raise type_error(
            "linspace", "the type must be an integer or floating one", f"dtype: {dtype}"
        )
    count = integer("linspace", "num", int(num) if isinstance(num, float) else num)
    if count < 0:
        raise value_error("linspace", "num cannot be negative", f"num: {count}")
    first, last = real_of("linspace", "start", start), real_of("linspace", "stop", stop)
    return deliver(space_between(first, last, (count,), wanted), out, device, requires_grad)


@op("", infer=_infer_new, name="eye")
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
@public()
def eye(
    num_rows: Any,
    num_columns: Any = None,
    dtype: Any = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A matrix with ones on the diagonal and zeros elsewhere."""
    rows = integer("eye", "num_rows", num_rows)
    columns = rows if num_columns is None else integer("eye", "num_columns", num_columns)
    if rows < 0 or columns < 0:
        raise value_error(
            "eye", "a dimension cannot be negative", f"num_rows: {rows}, num_columns: {columns}"
        )
    return deliver(
        diagonal_ones((rows, columns), dtype_or_default(dtype)), out, device, requires_grad
    )


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

    Takes tensors with one dimension (or none), one by one or in a list. With `indexing="xy"` the first
    two axes of the results are exchanged.
    """
    indexing = kwargs.pop("indexing", None) or "ij"
    kwargs.pop("name", None)
    if kwargs or indexing not in ("ij", "xy"):
        raise value_error(
            "meshgrid",
            "indexing is 'ij' or 'xy', and there is no other option",
            f"{indexing!r}, {kwargs}",
        )
    given: Sequence[Any] = (
        args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    )
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


# ---- questions -----------------------------------------------------------------------------------


@public()
def shape(input: Tensor) -> Tensor:
    """The shape of a tensor, as an int64 tensor."""
    return tensor_from_data(np.array(require_tensor("shape", "input", input)._aval.shape, np.int64))


@public(method=True)
def rank(input: Tensor) -> Tensor:
    """The number of dimensions, as an int32 tensor."""
    return tensor_from_data(np.array(require_tensor("rank", "input", input)._aval.ndim, np.int32))


@public(method=True)
def is_tensor(x: Any) -> bool:
    """Whether `x` is a Tensor."""
    return isinstance(x, Tensor)


@public(method=True)
def is_floating_point(x: Tensor) -> bool:
    """Whether a tensor has a floating type."""
    return is_floating(require_tensor("is_floating_point", "x", x)._aval.dtype)


@public(method=True)
def is_integer(x: Tensor) -> bool:
    """Whether a tensor has an integer type (bool is none)."""
    return require_tensor("is_integer", "x", x)._aval.dtype.kind in "iu"


@public(method=True)
def is_complex(x: Tensor) -> bool:
    """Whether a tensor has a complex type."""
    return require_tensor("is_complex", "x", x)._aval.dtype.kind == "c"


@public(method=True)
def is_empty(x: Tensor, name: str | None = None) -> Tensor:
    """Whether a tensor has no elements, as a bool tensor."""
    return tensor_from_data(np.array(require_tensor("is_empty", "x", x)._aval.size == 0))
