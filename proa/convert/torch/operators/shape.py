"""Shapes: views, joining, splitting, slicing, padding."""

from __future__ import annotations

from typing import Any

from ....core.symbols import is_symbolic
from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import F, paddle
from ..registry import reads

_FAR = 1 << 62


@reads("sym_size")
def sym_size(x: Tensor, axis: int | None = None) -> Any:
    return x._aval.shape[axis] if axis is not None else list(x._aval.shape)


@reads("sym_numel", "numel")
def sym_numel(x: Tensor) -> Any:
    total: Any = 1
    for size in x._aval.shape:
        total = total * size
    return total


@reads("view", "reshape", "_unsafe_view", "_reshape_alias", "view_copy", "unsafe_reshape")
def view(x: Tensor, shape: Any, *_rest: Any) -> Tensor:
    if isinstance(shape, str):
        return x.view(shape)
    if x._aval.size == 0 and -1 in shape:
        known = 1
        for size in shape:
            known *= size if size != -1 else 1
        shape = [(0 if known == 0 else x._aval.size // known) if size == -1 else size for size in shape]
    return paddle.reshape(x, list(shape))


@reads("flatten")
def flatten(x: Tensor, start: int = 0, end: int = -1) -> Tensor:
    return x.reshape([1]) if x.ndim == 0 else paddle.flatten(x, start, end)


@reads("unflatten")
def unflatten(x: Tensor, axis: int, sizes: Any) -> Tensor:
    return paddle.unflatten(x, axis, list(sizes))


@reads("transpose", "swapaxes", "swapdims")
def transpose(x: Tensor, first: int, second: int) -> Tensor:
    return paddle.swapaxes(x, first, second)


@reads("t", "numpy_T")
def turned(x: Tensor) -> Tensor:
    return paddle.transpose(x, list(range(x.ndim))[::-1])


@reads("mT")
def turned_matrix(x: Tensor) -> Tensor:
    return paddle.swapaxes(x, -1, -2)


@reads("permute")
def permute(x: Tensor, axes: Any) -> Tensor:
    return paddle.transpose(x, [axis % x.ndim for axis in axes]) if x.ndim else x


@reads("movedim", "moveaxis")
def moveaxis(x: Tensor, source: Any, target: Any) -> Tensor:
    return paddle.moveaxis(x, source, target)


@reads("unsqueeze")
def unsqueeze(x: Tensor, axis: int) -> Tensor:
    return paddle.unsqueeze(x, axis)


@reads("squeeze")
def squeeze(x: Tensor, axis: Any = None) -> Tensor:
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, list) else [axis]
    chosen = [a % x.ndim for a in axes if x.ndim and not is_symbolic(x._aval.shape[a]) and x._aval.shape[a] == 1]
    return paddle.squeeze(x, chosen) if chosen else x


@reads("expand", "broadcast_to")
def expand(x: Tensor, sizes: Any, implicit: bool = False) -> Tensor:
    own = [1] * (len(sizes) - x.ndim) + list(x._aval.shape)
    wanted = [o if not is_symbolic(s) and s == -1 else s for o, s in zip(own, sizes, strict=True)]
    return paddle.expand(x, wanted)


@reads("expand_as")
def expand_as(x: Tensor, other: Tensor) -> Tensor:
    return paddle.expand(x, list(other._aval.shape))


@reads("repeat")
def repeat(x: Tensor, times: Any) -> Tensor:
    return paddle.tile(x, list(times))


@reads("tile")
def tile(x: Tensor, times: Any) -> Tensor:
    return paddle.tile(x, list(times))


@reads("repeat_interleave.self_int")
def repeat_interleave(x: Tensor, times: int, axis: int | None = None, output_size: Any = None) -> Tensor:
    return paddle.repeat_interleave(x, times, axis)


@reads("cat", "concat", "concatenate")
def cat(tensors: list[Tensor], axis: int = 0) -> Tensor:
    from .promotion import promoted

    kept = [t for t in tensors if t.ndim != 1 or t._aval.size != 0] or tensors
    first = kept[0]
    for other in kept[1:]:
        first, _ = promoted(first, other)
    return paddle.concat([t.astype(first.dtype) if t.dtype != first.dtype else t for t in kept], axis)


@reads("stack")
def stack(tensors: list[Tensor], axis: int = 0) -> Tensor:
    return paddle.stack(list(tensors), axis)


@reads("split", "split_with_sizes", "unsafe_split", "split_copy", "split_with_sizes_copy")
def split(x: Tensor, sizes: Any, axis: int = 0) -> list[Tensor]:
    if isinstance(sizes, int):
        size, part = x._aval.shape[axis], sizes
        sizes = [min(part, size - start) for start in range(0, size, part)] or [0]
    return list(paddle.split(x, list(sizes), axis)) if len(sizes) > 1 else [x]


@reads("chunk")
def chunk(x: Tensor, count: int, axis: int = 0) -> list[Tensor]:
    return split(x, -(-x._aval.shape[axis] // count), axis)


@reads("tensor_split")
def tensor_split(x: Tensor, places: Any, axis: int = 0) -> list[Tensor]:
    return list(paddle.tensor_split(x, places, axis))


@reads("unbind", "unbind_copy")
def unbind(x: Tensor, axis: int = 0) -> list[Tensor]:
    return list(paddle.unbind(x, axis))


@reads("slice", "slice_copy")
def slice_(x: Tensor, axis: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Tensor:
    if not is_symbolic(end) and end is not None and end >= _FAR:
        end = None
    index: list[Any] = [slice(None)] * x.ndim
    index[axis] = slice(start, end, step)
    return x[tuple(index)]


@reads("narrow")
def narrow(x: Tensor, axis: int, start: Any, length: Any) -> Tensor:
    return slice_(x, axis, start, start + length)


@reads("select", "select_copy")
def select(x: Tensor, axis: int, index: Any) -> Tensor:
    return x[(*[slice(None)] * (axis % x.ndim), index)]


@reads("select_scatter")
def select_scatter(x: Tensor, values: Tensor, axis: int, index: int) -> Tensor:
    return paddle.select_scatter(x, values, axis, index)


@reads("slice_scatter")
def slice_scatter(
    x: Tensor, values: Tensor, axis: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor:
    size = x._aval.shape[axis]
    first = 0 if start is None else start + size if start < 0 else start
    last = size if end is None or end > size else end + size if end < 0 else end
    return paddle.slice_scatter(x, values, [axis], [first], [last], [step])


@reads("flip")
def flip(x: Tensor, axes: Any) -> Tensor:
    return paddle.flip(x, list(axes))


@reads("roll")
def roll(x: Tensor, shifts: Any, axes: Any = ()) -> Tensor:
    return paddle.roll(x, shifts, axes or None)


@reads("constant_pad_nd")
def constant_pad(x: Tensor, widths: Any, value: Any = 0) -> Tensor:
    return pad(x, widths, "constant", value)


@reads("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def reflection_pad(x: Tensor, widths: Any) -> Tensor:
    return pad(x, widths, "reflect")


@reads("pad")
def pad(x: Tensor, widths: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Pairs of widths, the last axis first."""
    from ...onnx.operators.shape import padded

    pairs = {x.ndim - 1 - n: (widths[2 * n], widths[2 * n + 1]) for n in range(len(widths) // 2)}
    kind = {"replicate": "edge", "circular": "wrap"}.get(mode, mode)
    return padded(x, pairs, kind, 0 if value is None else value)


@reads("replication_pad1d", "replication_pad2d", "replication_pad3d")
def replication_pad(x: Tensor, widths: Any) -> Tensor:
    return pad(x, widths, "replicate")


@reads("pixel_shuffle")
def pixel_shuffle(x: Tensor, factor: int) -> Tensor:
    return F.pixel_shuffle(x, factor)


@reads("pixel_unshuffle")
def pixel_unshuffle(x: Tensor, factor: int) -> Tensor:
    return F.pixel_unshuffle(x, factor)


@reads("channel_shuffle")
def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    return F.channel_shuffle(x, groups)


@reads("unfold")
def unfold(x: Tensor, axis: int, size: int, step: int) -> Tensor:
    return paddle.unfold(x, axis, size, step)


@reads("im2col")
def im2col(x: Tensor, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Tensor:
    return F.unfold(x, kernel, stride, padding, dilation)


@reads("col2im")
def col2im(x: Tensor, size: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Tensor:
    return F.fold(x, size, kernel, stride, padding, dilation)


@reads("tril")
def tril(x: Tensor, diagonal: int = 0) -> Tensor:
    return paddle.tril(x, diagonal)


@reads("triu")
def triu(x: Tensor, diagonal: int = 0) -> Tensor:
    return paddle.triu(x, diagonal)


@reads("diagonal")
def diagonal(x: Tensor, offset: int = 0, first: int = 0, second: int = 1) -> Tensor:
    return paddle.diagonal(x, offset, first, second)


@reads("meshgrid")
def meshgrid(tensors: list[Tensor], indexing: str = "ij") -> list[Tensor]:
    grids = list(paddle.meshgrid(*tensors))
    return [paddle.swapaxes(g, 0, 1) for g in grids] if indexing == "xy" else grids


@reads("view_as_complex")
def view_as_complex(x: Tensor) -> Tensor:
    return paddle.as_complex(x)


@reads("view_as_real")
def view_as_real(x: Tensor) -> Tensor:
    return paddle.as_real(x)


@reads("complex")
def complex_(x: Tensor, y: Tensor) -> Tensor:
    return paddle.complex(x, y)


@reads("polar")
def polar(size: Tensor, angle: Tensor) -> Tensor:
    return paddle.complex(size * paddle.cos(angle), size * paddle.sin(angle))


@reads("as_strided")
def as_strided(x: Tensor, size: Any, stride: Any, offset: Any = 0) -> Tensor:
    return paddle.as_strided(x, list(size), list(stride), (offset or 0) * x._aval.dtype.itemsize)
