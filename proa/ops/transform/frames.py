"""`paddle.signal.frame` and `overlap_add`: a signal as overlapping pieces, and pieces added up to a signal.

Each is the gradient of the other. The primitives work along the last axis, where a frame lies in the last but one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.errors import value_error
from ...core.namespaces import can_write
from ...eager import series
from ...eager.annotations import AxisLike
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ..arguments import require_tensor
from ..basic import transpose_to

_FEW = 32  # pieces over one place up to which adding shifted copies is better than scattering


def num_frames(length: int, frame_length: int, hop_length: int) -> int:
    return (length - frame_length) // hop_length + 1


def _infer_frames(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    frame_length, hop_length = attributes
    *outer, length = operands[0].shape
    return operands[0].with_shape((*outer, frame_length, num_frames(length, frame_length, hop_length)))


def _places(xp: Any, frame_length: int, count: int, hop_length: int) -> Any:
    return xp.arange(frame_length)[:, None] + hop_length * xp.arange(count)[None, :]


@op(
    infer=_infer_frames,
    grad={"x": lambda g, x_aval, hop_length: add_frames(g, hop_length, x_aval.shape[-1])},
    name="frame",
    padding=rules.refused("windows over a signal are not laid out as it is"),
    series=series.algebra.linear("x"),
)
def frames_of(xp: Any, x: Any, frame_length: int, hop_length: int) -> Any:
    """[…, length] to […, frame_length, count]."""
    if xp is np:
        windows = np.lib.stride_tricks.sliding_window_view(x, frame_length, axis=-1)
        return np.ascontiguousarray(np.swapaxes(windows[..., ::hop_length, :], -1, -2))
    count = num_frames(x.shape[-1], frame_length, hop_length)
    return x[..., _places(xp, frame_length, count, hop_length)]


def _infer_sum(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape((*operands[0].shape[:-2], attributes[1]))


@op(
    infer=_infer_sum,
    grad={"x": lambda g, x_aval, hop_length: _frames_of_gradient(g, x_aval, hop_length)},
    name="overlap_add",
    padding=rules.refused("windows over a signal are not laid out as it is"),
    series=series.algebra.linear("x"),
)
def add_frames(xp: Any, x: Any, hop_length: int, length: int) -> Any:
    """[…, frame_length, count] to […, length], of which the end may be covered by no frame."""
    *outer, frame_length, count = x.shape
    if can_write(xp):
        out = xp.zeros((*outer, length), x.dtype)
        for place in range(frame_length if count else 0):
            out[..., place : place + hop_length * (count - 1) + 1 : hop_length] += x[..., place, :]
        return out
    layers = -(-frame_length // hop_length)
    if layers > _FEW:
        return xp.zeros((*outer, length), x.dtype).at[..., _places(xp, frame_length, count, hop_length)].add(x)
    # Frames cut into pieces of a hop: piece number k of frame t lies where piece 0 of frame t + k does.
    none = [(0, 0)] * len(outer)
    pieces = xp.pad(x, [*none, (0, layers * hop_length - frame_length), (0, 0)])
    pieces = xp.swapaxes(pieces, -1, -2).reshape(*outer, count, layers, hop_length)
    total: Any = sum(xp.pad(pieces[..., k, :], [*none, (k, layers - 1 - k), (0, 0)]) for k in range(layers))
    flat = total.reshape(*outer, (count + layers - 1) * hop_length)
    if flat.shape[-1] < length:
        flat = xp.pad(flat, [*none, (0, length - flat.shape[-1])])
    return flat[..., :length]


def _frames_of_gradient(g: Tensor, x_aval: Aval, hop_length: int) -> Tensor:
    frames = frames_of(g, x_aval.shape[-2], hop_length)
    extra = frames._aval.shape[-1] - x_aval.shape[-1]
    return frames if extra == 0 else frames[..., : x_aval.shape[-1]]


def positive(where: str, name: str, value: Any) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value <= 0:
        raise value_error(where, f"{name} must be a positive integer", f"{name}: {value!r}")
    return int(value)


def _end(where: str, axis: Any) -> bool:
    """Whether the axis is the last one (-1) rather than the first (0)."""
    if axis not in (0, -1) or isinstance(axis, bool):
        raise value_error(where, "axis is 0 or -1", f"axis: {axis!r}")
    return axis == -1


def _turned(x: Tensor, first: int) -> Tensor:
    """The first `first` axes moved to the end, in reversed order, or the other way round."""
    ndim = x._aval.ndim
    return transpose_to(x, (*range(first, ndim), *range(first - 1, -1, -1)))


def _turned_back(x: Tensor, last: int) -> Tensor:
    ndim = x._aval.ndim
    return transpose_to(x, (*range(ndim - 1, ndim - 1 - last, -1), *range(ndim - last)))


def _reference_frame(x: Any, frame_length: int, hop_length: int, axis: int = -1) -> Any:
    length = x.shape[axis]
    starts = range(0, length - frame_length + 1, hop_length)
    pieces = [np.take(x, range(start, start + frame_length), axis=axis) for start in starts]
    return np.stack(pieces, axis=axis)


@samples(
    S(A(10), 4, 3), S(A(2, 3, 9), 3, 2), S(A(9), 3, 2, 0), S(A(7, 2), 3, 5, 0), S(A(6, dtype="int32"), 6, 1),
    S(A(0, 5), 2, 2),
    reference=_reference_frame,
)  # fmt: skip
@public(module="signal")
def frame(x: Tensor, frame_length: int, hop_length: int, axis: int = -1, name: str | None = None) -> Tensor:
    """A signal as overlapping pieces.

    Args:
        x: `[..., length]`, or `[length, ...]` with `axis=0`.
        frame_length: the length of a piece.
        hop_length: from piece to piece.
        axis: -1 or 0: where the signal runs.
        name: a label; it changes nothing.

    Returns:
        `[..., frame_length, pieces]`; `[pieces, frame_length, ...]` with `axis=0`.

    Examples:
        >>> paddle.signal.frame(paddle.arange(5), frame_length=3, hop_length=1).tolist()
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        >>> paddle.signal.frame(paddle.arange(5), frame_length=3, hop_length=2, axis=0).tolist()
        [[0, 1, 2], [2, 3, 4]]
    """
    aval = require_tensor("frame", "x", x)._aval
    at_end = _end("frame", axis)
    size, hop = positive("frame", "frame_length", frame_length), positive("frame", "hop_length", hop_length)
    if aval.ndim == 0 or aval.shape[axis] < size:
        raise value_error("frame", "a frame is longer than the signal", f"x: {aval}, frame_length: {size}")
    if at_end:
        return frames_of(x, size, hop)
    return _turned_back(frames_of(_turned(x, 1), size, hop), 2)


def _reference_overlap_add(x: Any, hop_length: int, axis: int = -1) -> Any:
    if axis == 0:
        x = np.moveaxis(x, (0, 1), (-1, -2))
    *outer, size, count = x.shape
    out = np.zeros((*outer, (count - 1) * hop_length + size), x.dtype)
    for t in range(count):
        out[..., t * hop_length : t * hop_length + size] += x[..., t]
    return out if axis == -1 else np.moveaxis(out, -1, 0)


@samples(
    S(A(4, 5), 3), S(A(2, 3, 4), 2), S(A(5, 4), 2, 0), S(A(5, 4, 2), 4, 0), S(A(3, 2, dtype="int32"), 1), S(A(0, 5, 2), 2),
    S(A(40, 3), 1),
    reference=_reference_overlap_add,
)  # fmt: skip
@public(module="signal")
def overlap_add(x: Tensor, hop_length: int, axis: AxisLike = -1, name: str | None = None) -> Tensor:
    """Pieces added up to a signal: the shapes are those of `frame` reversed.

    Args:
        x: `[..., frame_length, pieces]`, or `[pieces, frame_length, ...]` with `axis=0`.
        hop_length: from piece to piece.
        axis: -1 or 0: where the signal runs.
        name: a label; it changes nothing.

    Returns:
        `[..., length]`, or `[length, ...]` with `axis=0`.

    Examples:
        >>> pieces = paddle.signal.frame(paddle.arange(5), frame_length=3, hop_length=1)
        >>> paddle.signal.overlap_add(pieces, hop_length=1).tolist()
        [0, 2, 6, 6, 4]
    """
    aval = require_tensor("overlap_add", "x", x)._aval
    at_end = _end("overlap_add", axis)
    hop = positive("overlap_add", "hop_length", hop_length)
    if aval.ndim < 2:
        raise value_error("overlap_add", "x must have at least two dimensions", f"x: {aval}")
    size, count = aval.shape[-2:] if at_end else aval.shape[1::-1]
    if hop > size:
        raise value_error("overlap_add", "hop_length is longer than a frame", f"x: {aval}, hop_length: {hop}")
    if not count:
        raise value_error("overlap_add", "there is no frame", f"x: {aval}")
    length = (count - 1) * hop + size
    if at_end:
        return add_frames(x, hop, length)
    return _turned_back(add_frames(_turned(x, 2), hop, length), 1)
