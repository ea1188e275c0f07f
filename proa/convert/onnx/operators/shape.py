"""Shapes: reshaping, joining, splitting, slicing, padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....core.symbols import is_symbolic, maximum, minimum
from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import paddle
from ..registry import reads

if TYPE_CHECKING:
    from ....formats.paddle.reading.registry import Integer, Integers, Number


@reads("Shape")
def shape(x: Tensor, *, start: int = 0, end: Any = None) -> Tensor:
    return paddle.shape(x).astype("int64")[start:end]


@reads("Size")
def size(x: Tensor) -> Tensor:
    return paddle.numel(x).reshape([])


@reads("Reshape")
def reshape(x: Tensor, sizes: Integers | None = None, *, shape: Any = None, allowzero: int = 0) -> Tensor:
    wanted = list(sizes if sizes is not None else shape)
    own = x._aval.shape
    if not allowzero:  # 0 keeps the dimension of the input
        wanted = [own[axis] if _is(size, 0) else size for axis, size in enumerate(wanted)]
    if x._aval.size == 0 and -1 in wanted:
        known = 1
        for size in wanted:
            known *= size if size != -1 else 1
        wanted = [(0 if known == 0 else x._aval.size // known) if size == -1 else size for size in wanted]
    return paddle.reshape(x, wanted)


def _is(size: Any, number: int) -> bool:
    return not is_symbolic(size) and size == number


@reads("Flatten")
def flatten(x: Tensor, *, axis: int = 1) -> Tensor:
    axis = axis + x.ndim if axis < 0 else axis
    before: Any = 1
    for number in x._aval.shape[:axis]:
        before = before * number
    if x._aval.size == 0:
        after = 1
        for number in x._aval.shape[axis:]:
            after *= number
        return paddle.reshape(x, [before, after])
    return paddle.reshape(x, [before, -1])


@reads("Squeeze")
def squeeze(x: Tensor, wanted: Integers | None = None, *, axes: Any = None) -> Tensor:
    chosen = wanted if wanted is not None else axes
    return paddle.squeeze(x, None if chosen is None else list(chosen))


@reads("Unsqueeze")
def unsqueeze(x: Tensor, wanted: Integers | None = None, *, axes: Any = None) -> Tensor:
    chosen = list(wanted if wanted is not None else axes)
    rank = x.ndim + len(chosen)
    for axis in sorted(axis + rank if axis < 0 else axis for axis in chosen):
        x = paddle.unsqueeze(x, axis)
    return x


@reads("Transpose")
def transpose(x: Tensor, *, perm: Any = None) -> Tensor:
    return paddle.transpose(x, list(range(x.ndim))[::-1] if perm is None else list(perm))


@reads("Concat")
def concat(*tensors: Tensor, axis: int = 1) -> Tensor:
    return paddle.concat(list(tensors), axis)


@reads("Split", translates_blocks=True)
def split(translation: Any, op: Any, inputs: list[Any]) -> Any:
    """Into the sizes that are given, or into as many equal parts as there are results (the last one may be smaller)."""
    x = translation.tensor(inputs[0])
    axis = op.attributes.get("axis", 0) % x.ndim
    given = inputs[1] if len(inputs) > 1 else None
    sizes = translation.integers(given) if given is not None else op.attributes.get("split")
    if sizes is None:
        count = op.attributes.get("num_outputs", len(op.outputs))
        size = x._aval.shape[axis]
        part = -(-size // count)
        sizes = [minimum(part, maximum(size - part * number, 0)) for number in range(count)]
    return tuple(paddle.split(x, list(sizes), axis)) if len(sizes) > 1 else (paddle.assign(x),)


@reads("Slice")
def slice_(
    x: Tensor, first: Integers | None = None, last: Integers | None = None, along: Integers | None = None,
    by: Integers | None = None, *, starts: Any = None, ends: Any = None, axes: Any = None,
) -> Tensor:  # fmt: skip
    starts = list(first if first is not None else starts)
    ends = list(last if last is not None else ends)
    axes = along if along is not None else axes
    axes = list(range(len(starts))) if axes is None else list(axes)
    steps = [1] * len(starts) if by is None else by
    index: list[Any] = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        index[axis] = _range(start, end, step)
    return x[tuple(index)]


_FAR = 1 << 30


def _range(start: int, end: int, step: int) -> slice:
    """ONNX writes "to the end" as a number far away; going backwards, one far below zero."""
    if not is_symbolic(end) and (end > _FAR or end < -_FAR):
        end = None  # type: ignore[assignment]
    if not is_symbolic(start) and (start > _FAR or start < -_FAR):
        start = None  # type: ignore[assignment]
    return slice(start, end, step)


@reads("Expand", creates=True)
def expand(x: Tensor, sizes: Integers) -> Tensor:
    """Broadcast both ways: where the wanted size is 1, the tensor's own stays."""
    rank = max(x.ndim, len(sizes))
    own = [1] * (rank - x.ndim) + list(x._aval.shape)
    wanted = [1] * (rank - len(sizes)) + list(sizes)
    both = [own_size if _is(size, 1) else size for own_size, size in zip(own, wanted, strict=True)]
    return paddle.expand(x, both)


@reads("Tile", creates=True)
def tile(x: Tensor, times: Integers) -> Tensor:
    return paddle.tile(x, times)


@reads("Pad")
def pad(
    x: Tensor, widths: Integers | None = None, fill: Number = None, along: Integers | None = None, *, mode: str = "constant",
    pads: Any = None, paddings: Any = None, value: float = 0.0,
) -> Tensor:  # fmt: skip
    given = list(widths if widths is not None else pads if pads is not None else paddings)
    axes = range(x.ndim) if along is None else [axis % x.ndim for axis in along]
    half = len(given) // 2
    pairs = {axis: (given[n], given[half + n]) for n, axis in enumerate(axes)}
    return padded(x, pairs, mode, value if fill is None else fill)


def padded(x: Tensor, pairs: dict[int, tuple[int, int]], mode: str, fill: Any) -> Tensor:
    """Axis by axis; a negative width cuts."""
    for axis, (before, after) in pairs.items():
        if _is(before, 0) and _is(after, 0):
            continue
        size = x._aval.shape[axis]
        low, high = maximum(-before, 0), maximum(-after, 0)
        if not (_is(low, 0) and _is(high, 0)):
            x = paddle.slice(x, [axis], [low], [size - high])
            size = size - low - high
        before, after = maximum(before, 0), maximum(after, 0)
        x = (
            _with_constant(x, axis, before, after, fill)
            if mode == "constant"
            else _taken(x, axis, size, before, after, mode)
        )
    return x


def _with_constant(x: Tensor, axis: int, before: int, after: int, fill: Any) -> Tensor:
    parts = [x]
    for width, place in ((before, 0), (after, len)):
        if _is(width, 0):
            continue
        shape = [width if a == axis else s for a, s in enumerate(x._aval.shape)]
        value = fill.astype(x.dtype).reshape([1] * x.ndim) if isinstance(fill, Tensor) else None
        block = paddle.full(shape, fill, x.dtype) if value is None else paddle.expand(value, shape)
        parts.insert(0 if place == 0 else len(parts), block)
    return paddle.concat(parts, axis) if len(parts) > 1 else x


def _taken(x: Tensor, axis: int, size: int, before: int, after: int, mode: str) -> Tensor:
    """Positions outside are those of the mirror, of the edge, or of the next round."""
    places = paddle.arange(-before, size + after, dtype="int64")
    if mode == "edge":
        places = paddle.clip(places, 0, size - 1)
    elif mode == "wrap":
        places = paddle.mod(places, paddle.to_tensor(size, dtype="int64"))
    elif mode == "reflect":
        period = maximum(2 * (size - 1), 1)
        places = paddle.mod(places, paddle.to_tensor(period, dtype="int64"))
        places = paddle.minimum(places, period - places) if size > 1 else places * 0
    else:
        raise ValueError(f"(Pad) the mode is 'constant', 'edge', 'reflect' or 'wrap'; received {mode!r}.")
    return paddle.index_select(x, places, axis)


@reads("DepthToSpace")
def depth_to_space(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    n, c, h, w = x._aval.shape
    b = blocksize
    if mode == "DCR":
        x = paddle.transpose(paddle.reshape(x, [n, b, b, c // (b * b), h, w]), [0, 3, 4, 1, 5, 2])
    else:
        x = paddle.transpose(paddle.reshape(x, [n, c // (b * b), b, b, h, w]), [0, 1, 4, 2, 5, 3])
    return paddle.reshape(x, [n, c // (b * b), h * b, w * b])


@reads("SpaceToDepth")
def space_to_depth(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    n, c, h, w = x._aval.shape
    b = blocksize
    x = paddle.reshape(x, [n, c, h // b, b, w // b, b])
    x = paddle.transpose(x, [0, 3, 5, 1, 2, 4] if mode == "DCR" else [0, 1, 3, 5, 2, 4])
    return paddle.reshape(x, [n, c * b * b, h // b, w // b])


@reads("CenterCropPad")
def center_crop_pad(x: Tensor, sizes: Integers, *, axes: Any = None) -> Tensor:
    for axis, wanted in zip(range(x.ndim) if axes is None else axes, sizes, strict=True):
        own = x._aval.shape[axis]
        if own > wanted:
            start = (own - wanted) // 2
            x = paddle.slice(x, [axis % x.ndim], [start], [start + wanted])
        elif own < wanted:
            before = (wanted - own) // 2
            x = padded(x, {axis % x.ndim: (before, wanted - own - before)}, "constant", 0)
    return x


@reads("Trilu")
def trilu(x: Tensor, diagonal: Integer | None = None, *, upper: int = 1) -> Tensor:
    rows, columns = x._aval.shape[-2:]
    steps = paddle.arange(columns, dtype="int64").unsqueeze(0) - paddle.arange(rows, dtype="int64").unsqueeze(1)
    kept = steps >= (diagonal or 0) if upper else steps <= (diagonal or 0)
    return paddle.where(kept, x, paddle.zeros_like(x))


@reads("ReverseSequence")
def reverse_sequence(x: Tensor, lengths: Tensor, *, batch_axis: int = 1, time_axis: int = 0) -> Tensor:
    steps = x._aval.shape[time_axis]
    places = paddle.arange(steps, dtype="int64").unsqueeze(0)
    lengths = lengths.astype("int64").unsqueeze(1)
    places = paddle.where(places < lengths, lengths - 1 - places, places)  # batch, time
    rows = paddle.moveaxis(x, [batch_axis, time_axis], [0, 1])
    places = places.reshape([places.shape[0], steps, *[1] * (x.ndim - 2)])
    taken = paddle.take_along_axis(rows, paddle.expand(places, list(rows.shape)), 1)
    return paddle.moveaxis(taken, [0, 1], [batch_axis, time_axis])


__all__ = ["padded"]
