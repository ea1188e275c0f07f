"""`paddle.nn.functional.pad`: a border around a tensor, of a constant or of its own elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.errors import failed_check, value_error
from ...core.namespaces import can_write
from ...eager import series
from ...eager.annotations import Number, PaddingLike
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ..arguments import integers, require_tensor
from ..basic import expand_to
from ..create.creation import scalar_of
from .joining import concat_along
from .repetition import tile_by
from .slicing import read_at

Pairs = tuple[tuple[int, int], ...]
_FORMATS = {3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}
_MODES = ("constant", "reflect", "replicate", "circular")


def _infer_pad(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    (pairs,) = attributes
    shape = tuple(n + before + after for n, (before, after) in zip(operands[0].shape, pairs))
    if any(n < 0 for n in shape):
        raise operation.error(
            ValueError,
            f"more is cut off than there is; the shape would be {list(shape)}",
            operands,
            attributes,
        )
    return operands[0].with_shape(shape)


def _negated(pairs: Pairs) -> Pairs:
    return tuple((-before, -after) for before, after in pairs)


@op(
    scalars="value",
    infer=_infer_pad,
    follow_scalars=True,
    grad={"x": lambda g, pairs: pad_with(g, 0, _negated(pairs))},
    name="pad",
    family="movement",
    padding=rules.moving.pad,
    series=series.algebra.padded,
)
def pad_with(xp: Any, x: Any, value: Any, pairs: Pairs) -> Any:
    """A border of `value` (before, after) around each axis; a negative one cuts off."""
    if can_write(xp):
        out = xp.full([n + before + after for n, (before, after) in zip(x.shape, pairs)], value, x.dtype)
        source = tuple(slice(max(-b, 0), n - max(-a, 0)) for n, (b, a) in zip(x.shape, pairs))
        target = tuple(slice(max(b, 0), n - max(a, 0)) for n, (b, a) in zip(out.shape, pairs))
        out[target] = x[source]
        return out
    from jax import lax

    return lax.pad(x, value.astype(x.dtype), [(before, after, 0) for before, after in pairs])


def _part(x: Tensor, axis: int, start: int, length: int, step: int = 1) -> Tensor:
    whole = tuple((0, n, 1) for n in x._aval.shape[:axis])
    return read_at(x, 0, (*whole, (start, length, step)))


def _pad_axis(x: Tensor, axis: int, before: int, after: int, mode: str) -> Tensor:
    """A border made of the tensor's own elements."""
    extent = x._aval.shape[axis]
    received = f"x: {x._aval}, axis {axis} by ({before}, {after})"
    limit = extent - 1 if mode == "reflect" else None
    if before < 0 or after < 0 or extent == 0 or (limit is not None and max(before, after) > limit):
        largest = f"at most {limit}" if limit is not None else "not negative"
        raise failed_check("pad", f"the border of mode {mode!r} must be {largest} here", received)
    if mode == "circular":
        start = -before % extent
        total = before + extent + after
        repeats = [1] * x._aval.ndim
        repeats[axis] = -(-(start + total) // extent)
        return _part(tile_by(x, tuple(repeats)), axis, start, total)
    if mode == "reflect":
        first = _part(x, axis, before, before, -1) if before else None
        last = _part(x, axis, extent - 2, after, -1) if after else None
    else:
        first = _repeated(_part(x, axis, 0, 1), axis, before) if before else None
        last = _repeated(_part(x, axis, extent - 1, 1), axis, after) if after else None
    pieces = [piece for piece in (first, x, last) if piece is not None]
    return concat_along(pieces, axis)


def _repeated(x: Tensor, axis: int, count: int) -> Tensor:
    shape = x._aval.shape
    return expand_to(x, (*shape[:axis], count, *shape[axis + 1 :]))


def _pairs(aval: Aval, pad: Any, mode: str, data_format: str | None, from_left: bool) -> Pairs:
    """The borders of each axis, from Paddle's order.

    Twice as many numbers as axes (constant mode only) are the axes in order; fewer are the last
    axes, the very last one first, where the channels are left out if they come last.
    """
    ndim = aval.ndim
    numbers = integers("pad", "pad", pad)
    received = f"x: {aval}, pad: {pad}, mode: {mode!r}, data_format: {data_format!r}"
    if len(numbers) == 1 and not isinstance(pad, (list, tuple)) and ndim > 2:
        numbers = numbers * (2 * (ndim - 2))
    if len(numbers) % 2 or len(numbers) > 2 * ndim:
        raise failed_check("pad", f"pad takes pairs of integers, at most {ndim} of them", received)
    given = list(zip(numbers[::2], numbers[1::2]))
    if len(given) == ndim and mode == "constant":
        return tuple(given if from_left else reversed(given))
    if data_format is not None and ndim in _FORMATS and data_format not in _FORMATS[ndim]:
        raise failed_check("pad", f"data_format of {ndim} dimensions is one of {_FORMATS[ndim]}", received)
    channels_last = data_format is not None and data_format.endswith("C")
    axes = list(range(ndim - 1 if not channels_last else ndim - 2, -1, -1))
    if len(given) > (len(axes) if mode == "constant" else max(ndim - 2, 1)):
        raise failed_check("pad", "there are more pairs than axes that can be padded", received)
    pairs = [(0, 0)] * ndim
    for axis, pair in zip(axes, given):
        pairs[axis] = pair
    return tuple(pairs)


def _reference_pad(
    x: Any,
    pad: Any,
    mode: str = "constant",
    value: float = 0.0,
    data_format: Any = None,
    pad_from_left_axis: bool = True,
) -> Any:
    pairs = list(zip(pad[::2], pad[1::2]))
    if len(pairs) == x.ndim and mode == "constant":
        pairs = pairs if pad_from_left_axis else pairs[::-1]
    else:
        channels = [(0, 0)] if data_format in ("NLC", "NHWC", "NDHWC") else []
        pairs = pairs[::-1] + channels
        pairs = [(0, 0)] * (x.ndim - len(pairs)) + pairs
    names: dict[str, Any] = {
        "constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"
    }  # fmt: skip
    return np.pad(x, pairs, names[mode], **({"constant_values": value} if mode == "constant" else {}))


@samples(
    S(A(2, 3), [1, 0, 2, 1]),
    S(A(2, 3), [1, 0, 2, 1], pad_from_left_axis=False),
    S(A(1, 2, 4), [1, 2], value=5.0),
    S(A(1, 2, 2, 3), [1, 2, 1, 0], mode="reflect"),
    S(A(1, 2, 4), [1, 2], "replicate"),
    S(A(1, 2, 4), [5, 2], "circular"),
    S(A(1, 2, 3, 1), [1, 2, 0, 1], data_format="NHWC"),
    S(A(2, dtype="int32"), [1, 1], value=2),
    S(A(0, 3), [1, 1, 0, 0]),
    S(A(1, 1, 2, 2, 2), [1, 0, 0, 1, 1, 1], mode="replicate"),
    reference=_reference_pad,
)
@public(module="nn.functional")
def pad(
    x: Tensor,
    pad: Sequence[int | Tensor] | Tensor | int,
    mode: str = "constant",
    value: Number = 0.0,
    data_format: str | None = None,
    pad_from_left_axis: bool = True,
    name: str | None = None,
) -> Tensor:
    """`x` with a border.

    Args:
        x: the tensor.
        pad: pairs (before, after). As many pairs as axes belong to the axes in order; fewer belong to the last axes,
            the very last one first.
        mode: "constant", "reflect" (mirrored without the edge), "replicate" (the edge) or "circular" (the other end).
        value: what a constant border holds.
        data_format: a name such as 'NCHW' that says whether the channels come last and are left out; None for
            channels first.
        pad_from_left_axis: whether as many pairs as axes begin with the first axis; otherwise with the last.
        name: a label; it changes nothing.

    Returns:
        A tensor of the dtype of `x`.

    Examples:
        >>> paddle.nn.functional.pad(paddle.to_tensor([[1, 2]]), [0, 1, 1, 0]).tolist()
        [[0, 1, 2], [0, 0, 0]]
        >>> paddle.nn.functional.pad(paddle.to_tensor([[[1.0, 2.0, 3.0]]]), [2, 1], mode="reflect").tolist()
        [[[3.0, 2.0, 1.0, 2.0, 3.0, 2.0]]]
    """
    aval = require_tensor("pad", "x", x)._aval
    if mode not in _MODES:
        raise failed_check("pad", f"mode is one of {', '.join(map(repr, _MODES))}", repr(mode))
    if aval.ndim == 0:
        raise failed_check("pad", "a tensor without dimensions has no border", f"x: {aval}")
    pairs = _pairs(aval, pad, mode, data_format, bool(pad_from_left_axis))
    if mode == "constant":
        number = scalar_of("pad", "value", value)
        return pad_with(x, int(number) if aval.dtype.kind in "biu" else number, pairs)
    for axis, (before, after) in enumerate(pairs):
        if before or after:
            x = _pad_axis(x, axis, before, after, mode)
    return x


@samples(
    S(A(1, 1, 2, 3), [1, 2, 0, 1]),
    S(A(1, 2, 3, 1), [1, 0, 0, 1], data_format="NHWC"),
    S(A(1, 1, 1, 1), [0, 0, 0, 0]),
    reference=lambda x, padding, data_format=None: _reference_pad(x, padding, data_format=data_format),
)
@public(module="nn.functional")
def zeropad2d(x: Tensor, padding: PaddingLike, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Images with a border of zeros.

    Args:
        x: `[batch, channels, height, width]`, or with the channels last.
        padding: left, right, top, bottom.
        data_format: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor of the dtype of `x`.

    Examples:
        >>> paddle.nn.functional.zeropad2d(paddle.to_tensor([[[[1.0]]]]), [1, 0, 0, 1]).tolist()
        [[[[0.0, 1.0], [0.0, 0.0]]]]
    """
    if require_tensor("zeropad2d", "x", x)._aval.ndim != 4:
        raise value_error("zeropad2d", "x must have four dimensions", f"x: {x._aval}")
    sides = integers("zeropad2d", "padding", padding)
    return pad(x, list(sides * 4 if len(sides) == 1 else sides), data_format=data_format)
