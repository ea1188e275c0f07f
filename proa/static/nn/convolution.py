"""Convolutions as functions."""

from __future__ import annotations

import math
from typing import Any

from ... import detection
from ...core.errors import value_error
from ...eager.annotations import AttrLike, PaddingLike, SizesLike
from ...eager.tensor import Tensor
from ...nn import functional as F
from ...nn.initializer import Normal, XavierUniform
from .parameters import Parameters, activated


def _several(value: Any, count: int) -> list[int]:
    return [int(v) for v in value] if isinstance(value, (list, tuple)) else [int(value)] * count


def _channels(where: str, x: Tensor, data_format: str, dimensions: int) -> int:
    if x._aval.ndim != dimensions + 2:
        raise value_error(where, f"the input must have {dimensions + 2} dimensions", f"input: {x._aval}")
    return x.shape[1 if data_format.startswith("NC") else -1]


def _conv(
    dimensions: int, input: Tensor, num_filters: int, filter_size: Any, stride: Any, padding: Any, dilation: Any,
    groups: int | None, param_attr: Any, bias_attr: Any, act: str | None, name: str | None, data_format: str,
) -> Tensor:  # fmt: skip
    make = Parameters(f"conv{dimensions}d", input, name)
    channels = _channels(make.where, input, data_format, dimensions)
    parts = groups or 1
    if channels % parts or num_filters % parts:
        raise value_error(make.where, "channels and filters must be multiples of groups", f"{channels}, {num_filters}")
    kernel = _several(filter_size, dimensions)
    deviation = math.sqrt(2.0 / (math.prod(kernel) * channels))
    weight = make.weight([num_filters, channels // parts, *kernel], param_attr, Normal(0.0, deviation))
    bias = make.bias([num_filters], bias_attr)
    function = F.conv2d if dimensions == 2 else F.conv3d
    out = function(input, weight, bias, stride, padding, dilation, parts, data_format)
    return activated(make.where, out, act)


def conv2d(
    input: Tensor,
    num_filters: int,
    filter_size: SizesLike,
    stride: SizesLike = 1,
    padding: PaddingLike = 0,
    dilation: SizesLike = 1,
    groups: int | None = None,
    param_attr: AttrLike | None = None,
    bias_attr: AttrLike | None = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Tensor:
    """A convolution of images with filters of its own.

    Args:
        input: `[batch, channels, height, width]`.
        num_filters: how many channels the result has.
        filter_size: how large the filters are.
        stride: how far they move.
        padding: how much is added around the images.
        dilation: how far their elements lie apart.
        groups: into how many groups channels are divided; None: one.
        param_attr: the filters' ParamAttr.
        bias_attr: the bias's; False: no bias.
        use_cudnn: taken; it changes nothing.
        act: the name of a function that is applied in the end, or None.
        name: a label; it changes nothing.
        data_format: "NCHW" or "NHWC".

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.conv2d(paddle.static.data("x", [None, 3, 8, 8]), 4, 3)
        >>> y.shape
        paddle.Size([-1, 4, 6, 6])
    """
    return _conv(
        2, input, num_filters, filter_size, stride, padding, dilation, groups, param_attr, bias_attr, act, name, data_format
    )  # fmt: skip


def conv3d(
    input: Tensor,
    num_filters: int,
    filter_size: SizesLike,
    stride: SizesLike = 1,
    padding: PaddingLike = 0,
    dilation: SizesLike = 1,
    groups: int | None = None,
    param_attr: AttrLike | None = None,
    bias_attr: AttrLike | None = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCDHW",
) -> Tensor:
    """A convolution of volumes with filters of its own.

    Args:
        input: `[batch, channels, depth, height, width]`.
        num_filters: how many channels the result has.
        filter_size: how large the filters are.
        stride: how far they move.
        padding: how much is added around the volumes.
        dilation: how far their elements lie apart.
        groups: into how many groups channels are divided; None: one.
        param_attr: the filters' ParamAttr.
        bias_attr: the bias's; False: no bias.
        use_cudnn: taken; it changes nothing.
        act: the name of a function that is applied in the end, or None.
        name: a label; it changes nothing.
        data_format: "NCDHW" or "NDHWC".

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.conv3d(paddle.static.data("x", [None, 3, 8, 8, 8]), 4, 3)
        >>> y.shape
        paddle.Size([-1, 4, 6, 6, 6])
    """
    return _conv(
        3, input, num_filters, filter_size, stride, padding, dilation, groups, param_attr, bias_attr, act, name, data_format
    )  # fmt: skip


def _transposed(
    dimensions: int, input: Tensor, num_filters: int, output_size: Any, filter_size: Any, padding: Any, stride: Any,
    dilation: Any, groups: int | None, param_attr: Any, bias_attr: Any, act: str | None, name: str | None,
    data_format: str,
) -> Tensor:  # fmt: skip
    make = Parameters(f"conv{dimensions}d_transpose", input, name)
    channels = _channels(make.where, input, data_format, dimensions)
    steps, dilations = _several(stride, dimensions), _several(dilation, dimensions)
    if filter_size is None:
        if output_size is None:
            raise value_error(make.where, "filter_size or output_size must be given", "None and None")
        wanted, pads = _several(output_size, dimensions), _several(padding, dimensions)
        start = 2 if data_format.startswith("NC") else 1
        sizes = input.shape[start : start + dimensions]
        make._check(sizes)
        kernel = [
            (o - (i - 1) * s + 2 * p - 1) // d + 1
            for o, i, s, p, d in zip(wanted, sizes, steps, pads, dilations, strict=True)
        ]
    else:
        kernel = _several(filter_size, dimensions)
    parts = groups or 1
    weight = make.weight([channels, num_filters // parts, *kernel], param_attr, XavierUniform())
    bias = make.bias([num_filters], bias_attr)
    function = F.conv2d_transpose if dimensions == 2 else F.conv3d_transpose
    size = None if output_size is None else _several(output_size, dimensions)
    out = function(
        input, weight, bias, stride=steps, padding=padding, groups=parts, dilation=dilations, output_size=size,
        data_format=data_format,
    )  # fmt: skip
    return activated(make.where, out, act)


def conv2d_transpose(
    input: Tensor,
    num_filters: int,
    output_size: SizesLike | None = None,
    filter_size: SizesLike | None = None,
    padding: PaddingLike = 0,
    stride: SizesLike = 1,
    dilation: SizesLike = 1,
    groups: int | None = None,
    param_attr: AttrLike | None = None,
    bias_attr: AttrLike | None = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Tensor:
    """A transposed convolution of images; without `filter_size` the filters are as large as `output_size` asks.

    Args:
        input: `[batch, channels, height, width]`.
        num_filters: how many channels the result has.
        output_size: how large the result is; None: as follows from the rest.
        filter_size: how large the filters are.
        padding: how much is taken away around the result.
        stride: how far the filters move.
        dilation: how far their elements lie apart.
        groups: into how many groups channels are divided; None: one.
        param_attr: the filters' ParamAttr.
        bias_attr: the bias's; False: no bias.
        use_cudnn: taken; it changes nothing.
        act: the name of a function that is applied in the end, or None.
        name: a label; it changes nothing.
        data_format: "NCHW" or "NHWC".

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.conv2d_transpose(paddle.static.data("x", [None, 3, 8, 8]), 4, filter_size=3)
        >>> y.shape
        paddle.Size([-1, 4, 10, 10])
    """
    return _transposed(
        2, input, num_filters, output_size, filter_size, padding, stride, dilation, groups, param_attr, bias_attr, act,
        name, data_format,
    )  # fmt: skip


def conv3d_transpose(
    input: Tensor,
    num_filters: int,
    output_size: SizesLike | None = None,
    filter_size: SizesLike | None = None,
    padding: PaddingLike = 0,
    stride: SizesLike = 1,
    dilation: SizesLike = 1,
    groups: int | None = None,
    param_attr: AttrLike | None = None,
    bias_attr: AttrLike | None = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCDHW",
) -> Tensor:
    """A transposed convolution of volumes; the arguments are those of `conv2d_transpose`.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.conv3d_transpose(paddle.static.data("x", [None, 3, 4, 4, 4]), 2, filter_size=3)
        >>> y.shape
        paddle.Size([-1, 2, 6, 6, 6])
    """
    return _transposed(
        3, input, num_filters, output_size, filter_size, padding, stride, dilation, groups, param_attr, bias_attr, act,
        name, data_format,
    )  # fmt: skip


def deform_conv2d(
    x: Tensor, offset: Tensor, mask: Tensor | None, num_filters: int, filter_size: SizesLike, stride: SizesLike = 1,
    padding: PaddingLike = 0, dilation: SizesLike = 1, groups: int = 1, deformable_groups: int = 1, im2col_step: int = 1,
    weight_attr: AttrLike | None = None, bias_attr: AttrLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A convolution whose sampling points are moved by `offset`.

    Args:
        x: `[batch, channels, height, width]`.
        offset: how far each point is moved, two numbers for each element of a filter.
        mask: a weight for each point; None: none.
        num_filters: how many channels the result has.
        filter_size: how large the filters are.
        stride: how far they move.
        padding: how much is added around the images.
        dilation: how far their elements lie apart.
        groups: into how many groups channels are divided.
        deformable_groups: into how many groups offsets are divided.
        im2col_step: taken; it changes nothing.
        weight_attr: the filters' ParamAttr.
        bias_attr: the bias's; False: no bias.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x, offset = paddle.static.data("x", [None, 3, 8, 8]), paddle.static.data("offset", [None, 18, 6, 6])
        ...     y = paddle.static.nn.deform_conv2d(x, offset, None, 4, 3)
        >>> y.shape
        paddle.Size([-1, 4, 6, 6])
    """
    make = Parameters("deform_conv2d", x, name)
    channels = _channels(make.where, x, "NCHW", 2)
    kernel = _several(filter_size, 2)
    deviation = math.sqrt(2.0 / (math.prod(kernel) * channels))
    weight = make.weight([num_filters, channels // groups, *kernel], weight_attr, Normal(0.0, deviation))
    bias = make.bias([num_filters], bias_attr)
    return detection.deform_conv2d(x, offset, weight, bias, stride, padding, dilation, deformable_groups, groups, mask)
