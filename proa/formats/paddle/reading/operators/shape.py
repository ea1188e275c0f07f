"""Shapes: reshaping, joining, splitting, repeating."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....eager.tensor import Tensor
from ..functions import F, paddle
from ..registry import reads

if TYPE_CHECKING:
    from ..registry import Integer, Integers, Number


@reads("shape")
def shape(x: Tensor) -> Tensor:
    return paddle.shape(x)


@reads("shape64")
def shape64(x: Tensor) -> Tensor:
    return paddle.shape(x).astype("int64")


@reads("numel")
def numel(x: Tensor) -> Tensor:
    return paddle.numel(x)


@reads("reshape", "legacy_reshape", "view_shape")
def reshape(x: Tensor, sizes: Integers | None = None, *, shape: Any = None, dims: Any = None) -> Tensor:
    wanted = list(sizes if sizes is not None else shape if shape is not None else dims)
    # 0 keeps the dimension of the input.
    own = x._aval.shape
    if x._aval.size:
        wanted = [own[axis] if size == 0 and axis < len(own) else size for axis, size in enumerate(wanted)]
    return paddle.reshape(x, wanted)


@reads("squeeze")
def squeeze(x: Tensor, axes: Integers | None = None, *, axis: Any = None) -> Tensor:
    chosen = list(axes or axis or ())
    return paddle.squeeze(x, chosen or None)


@reads("unsqueeze")
def unsqueeze(x: Tensor, axes: Integers | None = None, *, axis: Any = None) -> Tensor:
    return paddle.unsqueeze(x, list(axes if axes is not None else axis))


@reads("flatten")
def flatten(x: Tensor, *, start_axis: int = 1, stop_axis: int = 1) -> Tensor:
    return paddle.flatten(x, start_axis, stop_axis)


@reads("transpose")
def transpose(x: Tensor, *, perm: list[int]) -> Tensor:
    return paddle.transpose(x, list(perm))


@reads("concat")
def concat(tensors: Tensor, place: Integer | None = None, *, axis: Any = 0) -> Tensor:
    return paddle.concat(tensors, axis if place is None else place)


@reads("stack")
def stack(tensors: Tensor, *, axis: int = 0) -> Tensor:
    return paddle.stack(tensors, axis)


@reads("split")
def split(x: Tensor, sections: Integers, place: Integer | None = None, *, axis: Any = 0) -> Any:
    return (paddle.split(x, sections, axis if place is None else place),)


@reads("split_with_num")
def split_with_num(x: Tensor, place: Integer | None = None, *, num: int, axis: Any = 0) -> Any:
    return (paddle.split(x, num, axis if place is None else place),)


@reads("unbind")
def unbind(x: Tensor, *, axis: int = 0) -> Any:
    return (list(paddle.unbind(x, axis)),)


@reads("unstack")
def unstack(x: Tensor, *, axis: int = 0, num: int = 0) -> Any:
    return (list(paddle.unstack(x, axis, num or None)),)


@reads("expand", creates=True)
def expand(x: Tensor, sizes: Integers | None = None, *, shape: Any = None) -> Tensor:
    wanted = list(sizes if sizes is not None else shape)
    return paddle.expand(x, wanted)


@reads("expand_as")
def expand_as(x: Tensor, y: Tensor | None = None, *, target_shape: Any = None) -> Tensor:
    return paddle.expand(x, list(target_shape) if y is None else list(y._aval.shape))


@reads("broadcast_tensors")
def broadcast_tensors(tensors: Tensor) -> Any:
    return (paddle.broadcast_tensors(tensors),)


@reads("shape_broadcast")
def shape_broadcast(x: Integers, y: Integers) -> Tensor:
    return paddle.to_tensor(paddle.broadcast_shape(x, y))


@reads("tile", creates=True)
def tile(x: Tensor, times: Integers | None = None, *, repeat_times: Any = None) -> Tensor:
    return paddle.tile(x, list(times if times is not None else repeat_times))


@reads("meshgrid")
def meshgrid(tensors: Tensor) -> Any:
    return (list(paddle.meshgrid(*tensors)),)


@reads("flip", "reverse")
def flip(x: Tensor, *, axis: Any) -> Tensor:
    return paddle.flip(x, list(axis) if isinstance(axis, (list, tuple)) else [axis])


@reads("roll")
def roll(x: Tensor, shifts: Integers | None = None, *, axis: Any = None) -> Tensor:
    return paddle.roll(x, shifts if shifts else 0, list(axis) if axis else None)


@reads("pad")
def pad(x: Tensor, value: Number = 0.0, *, paddings: list[int], pad_value: Any = None) -> Tensor:
    value = pad_value if pad_value is not None else value
    if isinstance(value, Tensor):
        value = value.reshape([])
    return F.pad(x, list(paddings), value=0.0 if value is None else value)


@reads("pad3d")
def pad3d(
    x: Tensor, paddings: Integers | None = None, *, mode: str = "constant", pad_value: float = 0.0,
    data_format: str = "NCDHW",
) -> Tensor:  # fmt: skip
    return F.pad(x, list(paddings or ()), mode=mode, value=pad_value, data_format=data_format)


@reads("crop")
def crop(x: Tensor, shape: Integers | None = None, offsets: Integers | None = None) -> Tensor:
    return paddle.crop(x, shape, offsets)


@reads("pixel_shuffle")
def pixel_shuffle(x: Tensor, *, upscale_factor: int, data_format: str = "NCHW") -> Tensor:
    return F.pixel_shuffle(x, upscale_factor, data_format)


@reads("pixel_unshuffle")
def pixel_unshuffle(x: Tensor, *, downscale_factor: int, data_format: str = "NCHW") -> Tensor:
    return F.pixel_unshuffle(x, downscale_factor, data_format)


@reads("channel_shuffle")
def channel_shuffle(x: Tensor, *, groups: int, data_format: str = "NCHW") -> Tensor:
    return F.channel_shuffle(x, groups, data_format)


@reads("shuffle_channel")
def shuffle_channel(x: Tensor, *, group: int = 1) -> Tensor:
    return F.channel_shuffle(x, group)


@reads("temporal_shift")
def temporal_shift(x: Tensor, *, seg_num: int, shift_ratio: float = 0.25, data_format: str = "NCHW") -> Tensor:
    return F.temporal_shift(x, seg_num, shift_ratio, data_format=data_format)


@reads("repeat_interleave")
def repeat_interleave(x: Tensor, *, repeats: int, axis: int = 0, output_size: int = -1) -> Tensor:
    return paddle.repeat_interleave(x, repeats, axis)


@reads("repeat_interleave_with_tensor_index")
def repeat_interleave_by(x: Tensor, repeats: Integers, *, axis: int = 0, output_size: int = -1) -> Tensor:
    return paddle.repeat_interleave(x, paddle.to_tensor(repeats, dtype="int64"), axis)


@reads("as_strided")
def as_strided(x: Tensor, *, dims: Any, stride: Any, offset: int = 0) -> Tensor:
    return paddle.as_strided(x, list(dims), list(stride), offset)


@reads("tensor_unfold")
def tensor_unfold(x: Tensor, *, axis: int, size: int, step: int) -> Tensor:
    return paddle.unfold(x, axis, size, step)


@reads("view_slice")
def view_slice(x: Tensor, *, begin_idx: int, end_idx: int) -> Tensor:
    return x[begin_idx:end_idx]


@reads("is_empty")
def is_empty(x: Tensor) -> Tensor:
    return paddle.is_empty(x)


@reads("partial_concat")
def partial_concat(tensors: Tensor, *, start_index: int = 0, length: int = -1) -> Tensor:
    return paddle.concat([_columns(x, start_index, length) for x in tensors], 1)  # type: ignore[union-attr]


@reads("partial_sum")
def partial_sum(tensors: Tensor, *, start_index: int = 0, length: int = -1) -> Tensor:
    return paddle.add_n([_columns(x, start_index, length) for x in tensors])  # type: ignore[union-attr]


def _columns(x: Tensor, start: int, length: int) -> Tensor:
    start = start + x._aval.shape[1] if start < 0 else start
    return x[:, start:] if length < 0 else x[:, start : start + length]
