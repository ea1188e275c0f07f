"""Convolutions over one, two and three spatial axes, and transposed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.dtype import is_floating
from ....core.errors import type_error, value_error
from ....eager.annotations import PaddingLike, SizesLike
from ....eager.declare import public
from ....eager.one_operator import one_operator
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor
from ...arguments import require_tensor
from ...basic import reshape_to
from .convolution_kernels import conv, conv_grad_input
from .transposed_convolution import conv_transpose
from .window_references import reference_conv, reference_conv_transpose
from .windows import (
    Sizes,
    check_rank,
    is_channels_last,
    join_shape,
    paddings,
    same_padding,
    sizes,
    spatial_shape,
)


def _check_groups(where: str, groups: Any) -> int:
    if not isinstance(groups, (int, np.integer)) or groups < 1:
        raise value_error(where, "groups must be a positive int", f"groups: {groups!r}")
    return int(groups)


def _convolve(
    where: str,
    num_spatial: int,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
    data_format: str,
) -> Tensor:
    check_rank(where, x, num_spatial)
    require_tensor(where, "weight", weight)
    if bias is not None:
        require_tensor(where, "bias", bias)
    channels_last = is_channels_last(where, data_format, num_spatial)
    steps = sizes(where, "stride", stride, num_spatial)
    dilations = sizes(where, "dilation", dilation, num_spatial)
    pads = paddings(where, padding, num_spatial, channels_last)
    if isinstance(pads, str):
        if pads == "SAME":
            # Paddle's SAME means an undilated kernel, whatever `dilation` says.
            dilations = (1,) * num_spatial
            pads = same_padding(spatial_shape(x._aval, channels_last), weight._aval.shape[2:], steps)
        else:
            pads = ((0, 0),) * num_spatial
    return conv(x, weight, bias, steps, pads, dilations, _check_groups(where, groups), channels_last)


@samples(
    S(A(2, 3, 7), A(4, 3, 3), A(4), stride=2, padding=1),
    S(A(1, 4, 6), A(4, 2, 2), groups=2, dilation=2),
    S(A(2, 6, 3), A(4, 3, 3), A(4), padding=[2, 1], data_format="NLC"),
    reference=reference_conv,
)
@public(module="nn.functional")
def conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: SizesLike = 1,
    padding: PaddingLike = 0,
    dilation: SizesLike = 1,
    groups: int = 1,
    data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """Convolution over one spatial axis.

    Args:
        x: [batch, channels, length].
        weight: [out channels, channels / groups, kernel].
        bias: [out channels].
        stride: the step of the windows.
        padding: an int, a list of one or two, pairs for all axes, "SAME" or "VALID".
        dilation: the distance of the elements of a window.
        groups: into how many independent groups the channels are divided.
        data_format: "NCL", or "NLC" with the channels last.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.conv1d(paddle.to_tensor([[[1.0, 2.0, 3.0]]]), paddle.to_tensor([[[1.0, 1.0]]])).tolist()
        [[[3.0, 5.0]]]
    """
    return _convolve("conv1d", 1, x, weight, bias, stride, padding, dilation, groups, data_format)


@samples(
    S(A(2, 3, 6, 5), A(4, 3, 3, 2), A(4)),
    S(A(1, 3, 7, 7), A(2, 3, 3, 3), stride=2, padding=1),
    S(A(1, 4, 6, 6), A(6, 2, 3, 3), A(6), padding=[1, 0, 2, 1], groups=2),
    S(A(1, 2, 8, 8), A(2, 2, 3, 3), dilation=[2, 3]),
    S(A(2, 5, 5, 3), A(2, 3, 2, 2), A(2), padding="SAME", stride=2, data_format="NHWC"),
    S(A(0, 3, 4, 4), A(2, 3, 3, 3)),
    reference=reference_conv,
)
@public(module="nn.functional")
def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: SizesLike = 1,
    padding: PaddingLike = 0,
    dilation: SizesLike = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Convolution over two spatial axes.

    Args:
        x: [batch, channels, height, width].
        weight: [out channels, channels / groups, kernel height, kernel width].
        bias: [out channels].
        stride: the step of the windows, one number or two.
        padding: an int, two ints, four ints (top, bottom, left, right), pairs for all four axes, "SAME" or "VALID".
        dilation: the distance of the elements of a window, one number or two.
        groups: into how many independent groups the channels are divided.
        data_format: "NCHW", or "NHWC" with the channels last.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.conv2d(paddle.ones([1, 1, 3, 3]), paddle.ones([1, 1, 2, 2])).tolist()
        [[[[4.0, 4.0], [4.0, 4.0]]]]
        >>> paddle.conv2d(paddle.ones([1, 3, 8, 8]), paddle.ones([4, 3, 3, 3]), stride=2, padding=1).shape
        paddle.Size([1, 4, 4, 4])
    """
    return _convolve("conv2d", 2, x, weight, bias, stride, padding, dilation, groups, data_format)


@samples(
    S(A(1, 2, 4, 5, 4), A(3, 2, 2, 3, 2), A(3)),
    S(A(1, 2, 4, 4, 4), A(2, 1, 3, 3, 3), padding=1, stride=2, groups=2),
    S(A(1, 4, 4, 4, 2), A(2, 2, 2, 2, 2), padding="VALID", data_format="NDHWC"),
    reference=reference_conv,
)
@public(module="nn.functional")
def conv3d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: SizesLike = 1,
    padding: PaddingLike = 0,
    dilation: SizesLike = 1,
    groups: int = 1,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """Convolution over three spatial axes.

    Args:
        x: [batch, channels, depth, height, width].
        weight: [out channels, channels / groups, kernel depth, kernel height, kernel width].
        bias: [out channels].
        stride: the step of the windows, one number or three.
        padding: an int, three or six ints, pairs for all axes, "SAME" or "VALID".
        dilation: the distance of the elements of a window, one number or three.
        groups: into how many independent groups the channels are divided.
        data_format: "NCDHW", or "NDHWC" with the channels last.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.conv3d(paddle.ones([1, 1, 3, 3, 3]), paddle.ones([2, 1, 2, 2, 2])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """
    return _convolve("conv3d", 3, x, weight, bias, stride, padding, dilation, groups, data_format)


def _convolve_transposed(
    where: str,
    num_spatial: int,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    dilation: Any,
    groups: Any,
    output_size: Any,
    data_format: str,
) -> Tensor:
    check_rank(where, x, num_spatial)
    require_tensor(where, "weight", weight)
    if bias is not None:
        require_tensor(where, "bias", bias)
    channels_last = is_channels_last(where, data_format, num_spatial)
    steps = sizes(where, "stride", stride, num_spatial)
    dilations = sizes(where, "dilation", dilation, num_spatial)
    num_groups = _check_groups(where, groups)
    x_aval, w_aval = x._aval, weight._aval
    _check_transposed_weight(where, x_aval, w_aval, num_groups, channels_last)
    extents, kernel = spatial_shape(x_aval, channels_last), w_aval.shape[2:]
    pads = paddings(where, padding, num_spatial, channels_last)
    if isinstance(pads, str):
        if pads == "SAME":
            dilations = (1,) * num_spatial
            pads = same_padding(extents, kernel, steps)
        else:
            pads = ((0, 0),) * num_spatial
    spatial = [
        (extent - 1) * step - before - after + rate * (width - 1) + 1
        for extent, step, (before, after), rate, width in zip(extents, steps, pads, dilations, kernel, strict=True)
    ]
    least = spatial
    spatial = _final_extents(where, spatial, output_padding, output_size, steps, dilations)
    if min(spatial) < 1:
        raise value_error(
            where,
            f"the result would have the extents {spatial}",
            f"x: {x_aval}",
            "use less padding",
        )
    if output_size is None:
        extra = tuple(a - b for a, b in zip(spatial, least, strict=True))
        out = conv_transpose(x, weight, extra, steps, pads, dilations, num_groups, channels_last)
    else:
        shape = join_shape(x_aval.shape[0], w_aval.shape[1] * num_groups, spatial, channels_last)
        out = conv_grad_input(x, weight, shape, steps, pads, dilations, num_groups, channels_last)
    if bias is None:
        return out
    if bias._aval.shape != (w_aval.shape[1] * num_groups,):
        raise value_error(
            where,
            f"the bias must have the shape [{w_aval.shape[1] * num_groups}]",
            f"bias: {bias._aval}",
        )
    return out + (bias if channels_last else reshape_to(bias, (bias._aval.size,) + (1,) * num_spatial))


def _check_transposed_weight(where: str, x: Any, weight: Any, num_groups: int, channels_last: bool) -> None:
    """ValueError or TypeError unless a transposed convolution of `x` can have this weight."""
    channels = x.shape[-1] if channels_last else x.shape[1]
    if weight.ndim != x.ndim or weight.shape[0] != channels or channels % num_groups:
        raise value_error(
            where,
            "the weight must be [in_channels, out_channels / groups, kernel …], with in_channels divisible by groups",
            f"x: {x}, weight: {weight}, groups: {num_groups}",
        )
    if x.dtype != weight.dtype or not is_floating(x.dtype):
        raise type_error(
            where,
            "x and weight must have one floating data type",
            f"x: {x}, weight: {weight}",
            "convert with astype()",
        )


def _final_extents(
    where: str,
    least: Sequence[int],
    output_padding: Any,
    output_size: Any,
    steps: Sizes,
    dilations: Sizes,
) -> list[int]:
    """Extents of a transposed convolution: several inputs of `conv` give the same output, so the
    caller may choose.
    """
    count = len(steps)
    if output_size is not None:
        if output_padding not in (0, [0] * count, (0,) * count):
            raise value_error(
                where,
                "give output_size or output_padding, not both",
                f"output_padding: {output_padding!r}",
            )
        wanted = sizes(where, "output_size", output_size, count)
        for extent, lowest, step in zip(wanted, least, steps, strict=True):
            if not lowest <= extent < lowest + step:
                raise value_error(
                    where,
                    f"output_size must be {lowest} to {lowest + step - 1} here",
                    f"output_size: {output_size!r}",
                )
        return list(wanted)
    extra = sizes(where, "output_padding", output_padding, count, least=0)
    for more, step, rate in zip(extra, steps, dilations, strict=True):
        if more and more >= max(step, rate):
            raise value_error(
                where,
                f"output_padding must be less than the stride or dilation ({max(step, rate)})",
                f"output_padding: {output_padding!r}",
            )
    return [extent + more for extent, more in zip(least, extra, strict=True)]


@samples(
    S(A(2, 3, 5), A(3, 4, 3), A(4), stride=2, padding=1),
    S(A(1, 4, 4), A(4, 2, 3), groups=2),
    S(A(1, 4, 2), A(2, 3, 2), A(3), data_format="NLC"),
    reference=reference_conv_transpose,
)
@public(module="nn.functional")
@one_operator("conv2d_transpose")
def conv1d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: SizesLike = 1,
    padding: PaddingLike = 0,
    output_padding: SizesLike = 0,
    groups: int = 1,
    dilation: SizesLike = 1,
    output_size: SizesLike | None = None,
    data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """Transposed convolution over one spatial axis: the gradient of a convolution, as an operation.

    Args:
        x: `[batch, in, length]`, or `[batch, length, in]`.
        weight: `[in, out / groups, kernel]`.
        bias: `[out]`, or None.
        stride: how far the kernel moves.
        padding: how much is cut off at the ends: a number, a list, 'SAME' or 'VALID'.
        output_padding: how much longer the result is at its end.
        groups: into how many groups the channels are divided.
        dilation: the distance between the kernel's elements.
        output_size: the length of the result, in place of `output_padding`.
        data_format: 'NCL' or 'NLC'.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, out, length]`, in the layout of `x`.

    Examples:
        >>> x, weight = paddle.to_tensor([[[1.0, 2.0]]]), paddle.to_tensor([[[1.0, 10.0]]])
        >>> paddle.nn.functional.conv1d_transpose(x, weight, stride=2).tolist()
        [[[1.0, 10.0, 2.0, 20.0]]]
    """
    return _convolve_transposed(
        "conv1d_transpose",
        1,
        x,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        dilation,
        groups,
        output_size,
        data_format,
    )


@samples(
    S(A(1, 3, 4, 3), A(3, 2, 3, 3), A(2)),
    S(A(1, 2, 4, 4), A(2, 3, 3, 3), stride=2, padding=1, output_padding=1),
    S(A(1, 4, 3, 3), A(4, 2, 2, 2), A(4), stride=2, groups=2, dilation=2),
    S(A(1, 2, 5, 5), A(2, 3, 3, 3), stride=2, padding=1, output_size=[10, 10]),
    S(A(1, 3, 3, 2), A(2, 2, 2, 2), A(2), data_format="NHWC"),
    reference=reference_conv_transpose,
)
@public(module="nn.functional")
@one_operator("conv2d_transpose")
def conv2d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: SizesLike = 1,
    padding: PaddingLike = 0,
    output_padding: SizesLike = 0,
    dilation: SizesLike = 1,
    groups: int = 1,
    output_size: SizesLike | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Transposed convolution over two spatial axes: the gradient of a convolution, as an operation.

    With a stride several sizes are possible: `output_size` or `output_padding` chooses.

    Args:
        x: `[batch, in, height, width]`, or with the channels last.
        weight: `[in, out / groups, kernel height, kernel width]`.
        bias: `[out]`, or None.
        stride: how far the kernel moves; one number, or one for each axis.
        padding: how much is cut off at the borders: a number, a list, 'SAME' or 'VALID'.
        output_padding: how much larger the result is at its end.
        dilation: the distance between the kernel's elements.
        groups: into how many groups the channels are divided.
        output_size: the height and width of the result, in place of `output_padding`.
        data_format: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, out, height, width]`, in the layout of `x`.

    Examples:
        >>> x, weight = paddle.ones([1, 3, 4, 4]), paddle.ones([3, 2, 3, 3])
        >>> paddle.nn.functional.conv2d_transpose(x, weight, stride=2, padding=1).shape
        paddle.Size([1, 2, 7, 7])
        >>> paddle.nn.functional.conv2d_transpose(x, weight, stride=2, padding=1, output_size=[8, 8]).shape
        paddle.Size([1, 2, 8, 8])
    """
    return _convolve_transposed(
        "conv2d_transpose",
        2,
        x,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        dilation,
        groups,
        output_size,
        data_format,
    )


@samples(
    S(A(1, 2, 2, 3, 2), A(2, 2, 2, 2, 2), A(2)),
    S(A(1, 2, 2, 2, 2), A(2, 1, 2, 2, 2), stride=2, groups=2),
    S(A(1, 2, 2, 2, 2), A(2, 3, 3, 3, 3), stride=2, padding=1, output_padding=1),
    reference=reference_conv_transpose,
)
@public(module="nn.functional")
@one_operator("conv3d_transpose")
def conv3d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: SizesLike = 1,
    padding: PaddingLike = 0,
    output_padding: SizesLike = 0,
    groups: int = 1,
    dilation: SizesLike = 1,
    output_size: SizesLike | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """Transposed convolution over three spatial axes: the gradient of a convolution, as an operation.

    Args:
        x: `[batch, in, depth, height, width]`, or with the channels last.
        weight: `[in, out / groups, kernel ...]`.
        bias: `[out]`, or None.
        stride: how far the kernel moves; one number, or one for each axis.
        padding: how much is cut off at the borders: a number, a list, 'SAME' or 'VALID'.
        output_padding: how much larger the result is at its end.
        groups: into how many groups the channels are divided.
        dilation: the distance between the kernel's elements.
        output_size: the spatial sizes of the result, in place of `output_padding`.
        data_format: 'NCDHW' or 'NDHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, out, depth, height, width]`, in the layout of `x`.

    Examples:
        >>> x = paddle.ones([1, 2, 2, 2, 2])
        >>> weight = paddle.ones([2, 1, 2, 2, 2])
        >>> paddle.nn.functional.conv3d_transpose(x, weight, stride=2).shape
        paddle.Size([1, 1, 4, 4, 4])
    """
    return _convolve_transposed(
        "conv3d_transpose",
        3,
        x,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        dilation,
        groups,
        output_size,
        data_format,
    )
