"""Functions of sequences in padded form, [batch, time, …]: every sequence is as long as the tensor says.

Mask padding before calling these. `sequence_pool` and the steps take rows of ragged inputs as well (`static/ragged.py`).
"""

from __future__ import annotations

from typing import Any

from ...core.errors import value_error
from ...eager.annotations import AttrLike
from ...eager.tensor import Tensor
from ...nn import functional as F
from ...nn.initializer import XavierUniform
from ...ops.create.creation import full, zeros
from ...ops.index.along import put_along_axis
from ...ops.index.gather import index_add
from ...ops.math.ternary import where
from ...ops.shape.joining import concat
from ..ragged import Sequences, sequences_of
from .parameters import Parameters, activated


def _checked(where: str, x: Any, ndim: int = 2) -> Tensor:
    if not isinstance(x, Tensor) or x._aval.ndim < ndim:
        given = x._aval if isinstance(x, Tensor) else type(x).__name__
        raise value_error(
            f"static.nn.{where}", f"the input must be a padded batch with at least {ndim} dimensions, [batch, time, …]",
            f"input: {given}", "ragged tensors are not supported; pad them with sequence lengths kept apart",
        )  # fmt: skip
    return x


def sequence_softmax(input: Tensor, use_cudnn: bool = False, name: str | None = None) -> Tensor:
    """A softmax over the time of each sequence.

    Args:
        input: `[batch, time, …]`.
        use_cudnn: taken; it changes nothing.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.sequence_softmax(paddle.static.data("x", [1, 2, 1]))
        >>> paddle.static.Executor().run(main, feed={"x": np.zeros((1, 2, 1), "float32")}, fetch_list=[y])[0].tolist()
        [[[0.5], [0.5]]]
    """
    return F.softmax(_checked("sequence_softmax", input), axis=1)


def sequence_pool(input: Tensor, pool_type: str, is_test: bool = False, pad_value: float = 0.0) -> Tensor:
    """One vector for each sequence: its "sum", "average", "sqrt" (sum / root of the length), "max", "last" or "first".

    Args:
        input: `[batch, time, …]`; or rows of an input of `lod_level` 1, whose sequences a dataset gives.
        pool_type: which.
        is_test: taken; it changes nothing.
        pad_value: what a sequence without rows gives, where there are such.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.sequence_pool(paddle.static.data("x", [1, 3, 1]), "max")
        >>> feed = {"x": np.array([[[1], [3], [2]]], "float32")}
        >>> paddle.static.Executor().run(main, feed=feed, fetch_list=[y])[0].tolist()
        [[3.0]]
    """
    kind = pool_type.lower()
    if isinstance(input, Tensor) and (sequences := sequences_of(input)) is not None:
        return _pooled(input, sequences, kind, pad_value)
    x: Any = _checked("sequence_pool", input)
    if kind == "sum":
        return x.sum(1)
    if kind == "average":
        return x.mean(1)
    if kind == "sqrt":
        # The length may be unknown here: the mean knows it.
        ones = x * 0 + 1
        return x.sum(1) / ones.sum(1).sqrt()
    if kind == "max":
        return x.max(1)
    if kind in ("last", "first"):
        return x[:, -1 if kind == "last" else 0]
    raise _unknown_pool(pool_type)


def _unknown_pool(pool_type: str) -> ValueError:
    return value_error(
        "static.nn.sequence_pool", "pool_type is sum, average, sqrt, max, last or first", repr(pool_type)
    )


def _pooled(x: Any, sequences: Sequences, kind: str, pad_value: float) -> Tensor:
    """One vector for each sequence of rows."""
    lengths, owners = sequences.lengths, sequences.owners
    rest = x._aval.shape[1:]
    count = lengths._aval.shape[0]
    each: Any = lengths.reshape([-1, *[1] * len(rest)])
    if kind in ("last", "first"):
        ends: Any = lengths.cumsum()
        found: Any = x[ends - (1 if kind == "last" else lengths)]
    elif kind == "max":
        places: Any = owners.reshape([-1, *[1] * len(rest)]).expand([x._aval.shape[0], *rest])
        lowest = full([count, *rest], float("-inf"), x.dtype)
        found = put_along_axis(lowest, places, x, 0, reduce="amax", include_self=True)
    elif kind in ("sum", "average", "sqrt"):
        found = index_add(zeros([count, *rest], x.dtype), owners, 0, x)
        if kind != "sum":
            divisor = each.astype(x.dtype)
            found = found / (divisor if kind == "average" else divisor.sqrt())
    else:
        raise _unknown_pool(kind)
    return found if not pad_value else where(each > 0, found, full([1], pad_value, x.dtype))


def sequence_first_step(input: Tensor) -> Tensor:
    """The first step of each sequence.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.sequence_first_step(paddle.static.data("x", [1, 3, 1]))
        >>> feed = {"x": np.array([[[1], [3], [2]]], "float32")}
        >>> paddle.static.Executor().run(main, feed=feed, fetch_list=[y])[0].tolist()
        [[1.0]]
    """
    return sequence_pool(input, "first")


def sequence_last_step(input: Tensor) -> Tensor:
    """The last step of each sequence.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.sequence_last_step(paddle.static.data("x", [1, 3, 1]))
        >>> feed = {"x": np.array([[[1], [3], [2]]], "float32")}
        >>> paddle.static.Executor().run(main, feed=feed, fetch_list=[y])[0].tolist()
        [[2.0]]
    """
    return sequence_pool(input, "last")


def sequence_expand(x: Tensor, y: Tensor, ref_level: int = -1, name: str | None = None) -> Tensor:
    """Each row of `x` as often as the sequences of `y` are long: [batch, …] becomes [batch * time, …].

    Args:
        x: `[batch, …]`.
        y: `[batch, time, …]`.
        ref_level: taken; there is one level.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x, y = paddle.static.data("x", [2, 3]), paddle.static.data("y", [2, 4, 1])
        ...     z = paddle.static.nn.sequence_expand(x, y)
        >>> z.shape
        paddle.Size([8, 3])
    """
    rows, like = _checked("sequence_expand", x, 1), _checked("sequence_expand", y)
    batch, length = like._aval.shape[:2]
    rest = rows._aval.shape[1:]
    repeated: Any = rows.unsqueeze(1).expand([batch, length, *rest])
    return repeated.reshape([-1, *rest])


def sequence_conv(
    input: Tensor,
    num_filters: int,
    filter_size: int = 3,
    filter_stride: int = 1,
    padding: bool = True,
    padding_start: int | None = None,
    bias_attr: AttrLike | None = None,
    param_attr: AttrLike | None = None,
    act: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Windows of `filter_size` steps, from `padding_start` steps off on, times a matrix.

    Args:
        input: `[batch, time, width]`.
        num_filters: how long the results are.
        filter_size: how many steps a window has.
        filter_stride: taken; it must be 1.
        padding: taken; what lies outside is zero.
        padding_start: where a window begins; None: half of it before its step.
        bias_attr: the bias's ParamAttr; False: no bias.
        param_attr: the matrix's.
        act: the name of a function that is applied in the end, or None.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.sequence_conv(paddle.static.data("x", [None, 5, 3]), 4)
        >>> y.shape
        paddle.Size([-1, 5, 4])
    """
    x: Any = _checked("sequence_conv", input, 3)
    make = Parameters("sequence_conv", x, name)
    if filter_stride != 1:
        raise value_error(make.where, "filter_stride must be 1", f"{filter_stride}")
    start = -(filter_size // 2) if padding_start is None else padding_start
    width, length = x.shape[-1], x._aval.shape[1]
    before, behind = max(0, -start), max(0, start + filter_size - 1)
    padded: Any = F.pad(x, [0, 0, before, behind, 0, 0])
    first = start + before
    windows = [padded[:, first + step : first + step + length] for step in range(filter_size)]
    weight = make.weight([filter_size * width, num_filters], param_attr, XavierUniform())
    bias = make.bias([num_filters], bias_attr)
    out = F.linear(concat(windows, -1), weight)
    return activated(make.where, out if bias is None else out + bias, act)


__all__ = [
    "sequence_conv", "sequence_expand", "sequence_first_step", "sequence_last_step", "sequence_pool", "sequence_softmax",
]  # fmt: skip
