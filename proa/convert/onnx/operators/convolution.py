"""Convolutions."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from .... import detection
from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import F, paddle
from ..registry import reads
from .shape import padded
from .windows import Windows

if TYPE_CHECKING:
    from ....formats.paddle.reading.registry import Integers


@reads("Conv")
def conv(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *, auto_pad: str = "NOTSET", dilations: Any = None,
    group: int = 1, kernel_shape: Any = None, pads: Any = None, strides: Any = None,
) -> Tensor:  # fmt: skip
    windows = Windows(x._aval.shape[2:], weight._aval.shape[2:], strides, dilations, pads, auto_pad)
    function = getattr(F, f"conv{x.ndim - 2}d")
    return function(x, weight, bias, windows.strides, windows.flat, windows.dilations, group)


@reads("ConvTranspose")
def conv_transpose(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *, auto_pad: str = "NOTSET", dilations: Any = None,
    group: int = 1, kernel_shape: Any = None, output_padding: Any = None, output_shape: Any = None, pads: Any = None,
    strides: Any = None,
) -> Tensor:  # fmt: skip
    """The whole result, then cut: what is cut from the two sides of an axis need not be the same."""
    rank = x.ndim - 2
    kernel = weight._aval.shape[2:]
    strides, dilations = list(strides or [1] * rank), list(dilations or [1] * rank)
    extra = list(output_padding or [0] * rank)
    sizes = x._aval.shape[2:]
    whole = [
        (size - 1) * s + (k - 1) * d + 1 + e
        for size, s, k, d, e in zip(sizes, strides, kernel, dilations, extra, strict=True)
    ]  # fmt: skip
    pairs = list(zip(pads[:rank], pads[rank:], strict=True)) if pads else [(0, 0)] * rank
    if output_shape or auto_pad.startswith("SAME"):
        wanted = list(output_shape or [size * s for size, s in zip(sizes, strides, strict=True)])[-rank:]
        totals = [w - o for w, o in zip(whole, wanted, strict=True)]
        upper = auto_pad == "SAME_UPPER"
        pairs = [(t // 2, t - t // 2) if upper else (t - t // 2, t // 2) for t in totals]
    function = getattr(F, f"conv{rank}d_transpose")
    made = function(x, weight, None, strides, 0, 0, groups=group, dilation=dilations)
    cuts = {axis + 2: (-before, e - after) for axis, ((before, after), e) in enumerate(zip(pairs, extra, strict=True))}
    made = padded(made, cuts, "constant", 0.0)
    return made if bias is None else made + bias.reshape([1, -1, *[1] * rank])


@reads("DeformConv")
def deform_conv(
    x: Tensor, weight: Tensor, offset: Tensor, bias: Tensor | None = None, mask: Tensor | None = None, *,
    dilations: Any = None, group: int = 1, kernel_shape: Any = None, offset_group: int = 1, pads: Any = None,
    strides: Any = None,
) -> Tensor:  # fmt: skip
    before, after = (pads or [0] * 4)[:2], (pads or [0] * 4)[2:]
    if before != after:
        x = padded(x, {2: (before[0], after[0]), 3: (before[1], after[1])}, "constant", 0.0)
        before = [0, 0]
    return detection.deform_conv2d(
        x, offset, weight, bias, strides or [1, 1], before, dilations or [1, 1], offset_group, group, mask
    )


@reads("Col2Im")
def col2im(
    x: Tensor, image: Integers, block: Integers, *, dilations: Any = None, pads: Any = None, strides: Any = None
) -> Tensor:
    """Columns put back to where the windows were, overlaps added up."""
    rank = len(block)
    windows = Windows(image, block, strides, dilations, pads, "NOTSET")
    batch, rows, _ = x._aval.shape
    count = rows
    for size in block:
        count //= size
    parts = x.reshape([batch, count, *block, *windows.counts])
    whole = [size + before + after for size, (before, after) in zip(image, windows.pairs, strict=True)]
    total = paddle.zeros([batch, count, *whole], x.dtype)
    for place in itertools.product(*(range(size) for size in block)):
        part = parts[(slice(None), slice(None), *place)]
        for axis in range(rank):  # spread by the stride, moved by the place in the window
            part = _spread(part, axis + 2, windows.strides[axis])
            start = place[axis] * windows.dilations[axis]
            part = padded(part, {axis + 2: (start, whole[axis] - start - part._aval.shape[axis + 2])}, "constant", 0)
        total = total + part
    return padded(total, {axis + 2: (-b, -a) for axis, (b, a) in enumerate(windows.pairs)}, "constant", 0)


def _spread(x: Tensor, axis: int, stride: int) -> Tensor:
    """Zeros between neighbours."""
    if stride == 1:
        return x
    size = x._aval.shape[axis]
    wide = paddle.stack([x, *[paddle.zeros_like(x)] * (stride - 1)], axis + 1)
    shape = list(x._aval.shape)
    shape[axis] = size * stride
    return paddle.slice(wide.reshape(shape), [axis], [0], [(size - 1) * stride + 1])


@reads("CausalConvWithState")
def causal_conv(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, state: Tensor | None = None, *, activation: str = "none",
    ndim: int = 1,
) -> Any:  # fmt: skip
    """Each channel by itself over the last axis, seeing what came before; the last steps are the next call's state."""
    reach = weight._aval.shape[-1] - 1
    if state is None:
        state = paddle.zeros([*x._aval.shape[:-1], reach], x.dtype)
    joined = paddle.concat([state, x], -1)
    made = F.conv1d(joined, weight, bias, groups=x._aval.shape[1])
    if activation in ("silu", "swish"):
        made = made * F.sigmoid(made)
    length = joined._aval.shape[-1]
    return made, paddle.slice(joined, [2], [length - reach], [length])


__all__ = ["conv"]
