"""Convolution layers."""

from __future__ import annotations

import math
from typing import Any

from ..core.errors import failed_check, value_error
from ..eager.annotations import AttrLike, DeviceLike, DTypeLike, PaddingLike, SizesLike
from ..eager.tensor import Tensor
from ..ops.neural.windowed.convolution_kernels import conv
from ..ops.neural.windowed.windows import is_channels_last, paddings, sizes
from . import functional as F
from .base import defaults
from .base.sizes import whole_sizes
from .initializer import Normal
from .layer import Layer

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _Convolution(Layer):
    """What convolutions over one, two and three axes share."""

    _num_spatial = 2
    _transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        groups: int,
        weight_attr: Any,
        bias_attr: Any,
        data_format: str,
        output_padding: Any = 0,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(dtype=dtype)
        name, count = type(self).__name__, self._num_spatial
        in_channels, out_channels, groups = whole_sizes(
            self, in_channels=in_channels, out_channels=out_channels, groups=groups
        )
        if in_channels < 1 or out_channels < 1 or groups < 1 or in_channels % groups:
            raise value_error(
                name,
                "in_channels must be divisible by groups, and all of them positive",
                f"in_channels: {in_channels}, out_channels: {out_channels}, groups: {groups}",
            )
        if not self._transposed and out_channels % groups:
            raise value_error(name, f"out_channels {out_channels} must be divisible by groups {groups}")
        if padding_mode not in _PADDING_MODES:
            raise value_error(name, f"padding_mode must be one of {', '.join(_PADDING_MODES)}", repr(padding_mode))
        self._in_channels, self._out_channels, self._groups = in_channels, out_channels, groups
        self._kernel_size = list(sizes(name, "kernel_size", kernel_size, count))
        self._stride = list(sizes(name, "stride", stride, count))
        self._dilation = list(sizes(name, "dilation", dilation, count))
        self._padding, self._padding_mode = padding, padding_mode
        self._data_format, self._device = data_format, device
        if weight_attr is False:
            raise failed_check(type(self).__name__, "a convolution has a weight", "weight_attr: False")
        self._param_attr, self._bias_attr = weight_attr, bias_attr
        self.output_padding = output_padding
        channels_last = is_channels_last(name, data_format, count)
        pads = paddings(name, padding, count, channels_last)
        # The arguments of the primitive, where they do not depend on the input's size.
        self._window = None
        if not isinstance(pads, str):
            self._reversed_padding = [extent for pair in reversed(pads) for extent in pair]
            self._window = (tuple(self._stride), pads, tuple(self._dilation), groups, channels_last)
        elif padding_mode != "zeros":
            raise value_error(name, "padding_mode needs padding in numbers", f"padding: {padding!r}")
        self._create(weight_attr, bias_attr, device)

    def _create(self, weight_attr: Any, bias_attr: Any, device: Any) -> None:
        if self._transposed:
            shape = [self._in_channels, self._out_channels // self._groups, *self._kernel_size]
            initializer = None
        else:
            shape = [self._out_channels, self._in_channels // self._groups, *self._kernel_size]
            fan_in = math.prod(self._kernel_size) * self._in_channels
            initializer = Normal(0.0, math.sqrt(2.0 / fan_in))
        self.weight = self.create_parameter(shape, weight_attr, default_initializer=initializer, device=device)
        self.bias = self.create_parameter([self._out_channels], bias_attr, is_bias=True, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """The convolution of `x`.

        Examples:
            >>> paddle.nn.Conv1D(1, 2, 3).forward(paddle.ones([1, 1, 10])).shape
            paddle.Size([1, 2, 8])
        """
        if self._padding_mode != "zeros":
            return self._forward_padded(x)
        window = self._window
        if window is not None and x._aval.ndim == self._num_spatial + 2:
            return conv(x, self.weight, self.bias, *window)
        return self._function(
            x,
            self.weight,
            bias=self.bias,
            stride=self._stride,
            padding=self._padding,
            dilation=self._dilation,
            groups=self._groups,
            data_format=self._data_format,
        )

    def _forward_padded(self, x: Tensor) -> Tensor:
        padded = F.pad(x, self._reversed_padding, mode=self._padding_mode, data_format=self._data_format)
        return self._function(
            padded,
            self.weight,
            bias=self.bias,
            stride=self._stride,
            dilation=self._dilation,
            groups=self._groups,
            data_format=self._data_format,
        )

    @property
    def _function(self) -> Any:
        suffix = "_transpose" if self._transposed else ""
        return getattr(F, f"conv{self._num_spatial}d{suffix}")

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.Conv2D(3, 8, 3, padding=1)
            Conv2D(3, 8, kernel_size=[3, 3], padding=1, data_format=NCHW)
        """
        ones = [1] * self._num_spatial
        parts = [f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"]
        if self._stride != ones:
            parts.append(f"stride={self._stride}")
        if self._padding != 0:
            parts.append(f"padding={self._padding}")
        if self._padding_mode != "zeros":
            parts.append(f"padding_mode={self._padding_mode}")
        if self.output_padding != 0:
            parts.append(f"output_padding={self.output_padding}")
        if self._dilation != ones:
            parts.append(f"dilation={self._dilation}")
        if self._groups != 1:
            parts.append(f"groups={self._groups}")
        return ", ".join([*parts, f"data_format={self._data_format}"])


class _Conv(_Convolution):
    """A convolution's arguments, as Paddle orders them."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        *,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        data_format: str | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, weight_attr,
            bias_attr if bias else False, data_format or self._default_format,
            padding_mode=padding_mode, device=device, dtype=dtype,
        )  # fmt: skip

    _default_format: str


@defaults.data_format("NCL")
class Conv1D(_Conv):
    """Convolution over [batch, channels, length].

    Args:
        in_channels: the channels of the input.
        out_channels: the channels of the result.
        kernel_size: the width of the window.
        stride: how far the window moves at each step.
        padding: how much is added at both ends: a number, a list, 'same' or 'valid'.
        dilation: the distance between the elements of the window.
        groups: into how many parts the channels are divided; a part sees its own channels only.
        bias: False leaves the bias out.
        padding_mode: what is added: 'zeros', 'reflect', 'replicate' or 'circular'.
        device: where the parameters lie.
        dtype: their data type.
        weight_attr: how the weight is made: a `ParamAttr`, an initializer or a name.
        bias_attr: the same for the bias; False leaves the bias out.
        data_format: where the channels are: 'NCL' or 'NLC'.

    Raises:
        ValueError: the channels do not divide into `groups`, or an option is unknown.

    Examples:
        >>> layer = paddle.nn.Conv1D(2, 4, 3, stride=2, padding=1)
        >>> layer(paddle.ones([1, 2, 10])).shape
        paddle.Size([1, 4, 5])
        >>> layer.weight.shape
        paddle.Size([4, 2, 3])
    """

    _num_spatial = 1


@defaults.data_format("NCHW")
class Conv2D(_Conv):
    """Convolution over [batch, channels, height, width].

    Args:
        in_channels: the channels of the input.
        out_channels: the channels of the result.
        kernel_size: the window: one number, or height and width.
        stride: how far the window moves at each step; one number or two.
        padding: how much is added on all sides: a number, a list, 'same' or 'valid'.
        dilation: the distance between the elements of the window.
        groups: into how many parts the channels are divided; `in_channels` makes it depthwise.
        bias: False leaves the bias out.
        padding_mode: what is added: 'zeros', 'reflect', 'replicate' or 'circular'.
        device: where the parameters lie.
        dtype: their data type.
        weight_attr: how the weight is made: a `ParamAttr`, an initializer or a name.
        bias_attr: the same for the bias; False leaves the bias out.
        data_format: where the channels are: 'NCHW' or 'NHWC'.

    Raises:
        ValueError: the channels do not divide into `groups`, or an option is unknown.

    Examples:
        >>> layer = paddle.nn.Conv2D(3, 8, kernel_size=3, padding=1)
        >>> layer(paddle.ones([2, 3, 16, 16])).shape
        paddle.Size([2, 8, 16, 16])
        >>> layer.weight.shape
        paddle.Size([8, 3, 3, 3])
        >>> paddle.nn.Conv2D(4, 4, 3, groups=3)
        Traceback (most recent call last):
            ...
        ValueError: (Conv2D) in_channels must be divisible by groups, and all of them positive; ...
    """


@defaults.data_format("NCDHW")
class Conv3D(_Conv):
    """Convolution over [batch, channels, depth, height, width].

    Args:
        in_channels: the channels of the input.
        out_channels: the channels of the result.
        kernel_size: the window: one number, or depth, height and width.
        stride: how far the window moves at each step; one number or three.
        padding: how much is added on all sides: a number, a list, 'same' or 'valid'.
        dilation: the distance between the elements of the window.
        groups: into how many parts the channels are divided; a part sees its own channels only.
        bias: False leaves the bias out.
        padding_mode: what is added: 'zeros', 'reflect', 'replicate' or 'circular'.
        device: where the parameters lie.
        dtype: their data type.
        weight_attr: how the weight is made: a `ParamAttr`, an initializer or a name.
        bias_attr: the same for the bias; False leaves the bias out.
        data_format: where the channels are: 'NCDHW' or 'NDHWC'.

    Examples:
        >>> paddle.nn.Conv3D(1, 2, 3)(paddle.ones([1, 1, 4, 5, 6])).shape
        paddle.Size([1, 2, 2, 3, 4])
    """

    _num_spatial = 3


class _ConvTranspose(_Convolution):
    """A transposed convolution; `forward` takes the wanted size of the result."""

    _transposed = True

    def forward(self, x: Tensor, output_size: Any = None) -> Tensor:
        """The transposed convolution of `x`.

        Args:
            x: the input.
            output_size: the wanted extents of the result, where several are possible.

        Examples:
            >>> layer = paddle.nn.Conv1DTranspose(1, 1, 3, stride=2)
            >>> layer.forward(paddle.ones([1, 1, 4])).shape, layer.forward(paddle.ones([1, 1, 4]), output_size=[10]).shape
            (paddle.Size([1, 1, 9]), paddle.Size([1, 1, 10]))
        """
        return self._function(
            x,
            self.weight,
            bias=self.bias,
            stride=self._stride,
            padding=self._padding,
            output_padding=0 if output_size is not None else self.output_padding,
            dilation=self._dilation,
            groups=self._groups,
            output_size=output_size,
            data_format=self._data_format,
        )


class Conv1DTranspose(_ConvTranspose):
    """Transposed convolution over [batch, channels, length]: it enlarges where `Conv1D` shrinks.

    Args:
        in_channels: the channels of the input.
        out_channels: the channels of the result.
        kernel_size: the width of the window.
        stride: how far apart neighbouring inputs are in the result.
        padding: how much is cut off at both ends: a number, a list, 'same' or 'valid'.
        output_padding: how much is added at the end of the result.
        groups: into how many parts the channels are divided.
        dilation: the distance between the elements of the window.
        weight_attr: how the weight is made: a `ParamAttr`, an initializer or a name.
        bias_attr: the same for the bias; False leaves the bias out.
        data_format: where the channels are: 'NCL' or 'NLC'.

    Examples:
        >>> layer = paddle.nn.Conv1DTranspose(2, 1, 3, stride=2)
        >>> layer(paddle.ones([1, 2, 4])).shape
        paddle.Size([1, 1, 9])
        >>> layer.weight.shape
        paddle.Size([2, 1, 3])
    """

    _num_spatial = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: SizesLike,
        stride: SizesLike = 1,
        padding: PaddingLike = 0,
        output_padding: SizesLike = 0,
        groups: int = 1,
        dilation: SizesLike = 1,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        data_format: str = "NCL",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, weight_attr,
            bias_attr, data_format, output_padding,
        )  # fmt: skip


class Conv2DTranspose(_ConvTranspose):
    """Transposed convolution over [batch, channels, height, width]: it enlarges where `Conv2D` shrinks.

    Args:
        in_channels: the channels of the input.
        out_channels: the channels of the result.
        kernel_size: the window: one number, or height and width.
        stride: how far apart neighbouring inputs are in the result.
        padding: how much is cut off on all sides: a number, a list, 'same' or 'valid'.
        output_padding: how much is added at the end of each axis of the result.
        dilation: the distance between the elements of the window.
        groups: into how many parts the channels are divided.
        weight_attr: how the weight is made: a `ParamAttr`, an initializer or a name.
        bias_attr: the same for the bias; False leaves the bias out.
        data_format: where the channels are: 'NCHW' or 'NHWC'.

    Examples:
        >>> layer = paddle.nn.Conv2DTranspose(4, 2, kernel_size=2, stride=2)
        >>> layer(paddle.ones([1, 4, 8, 8])).shape
        paddle.Size([1, 2, 16, 16])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: SizesLike,
        stride: SizesLike = 1,
        padding: PaddingLike = 0,
        output_padding: SizesLike = 0,
        dilation: SizesLike = 1,
        groups: int = 1,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, weight_attr,
            bias_attr, data_format, output_padding,
        )  # fmt: skip


class Conv3DTranspose(_ConvTranspose):
    """Transposed convolution over [batch, channels, depth, height, width].

    Args:
        in_channels: the channels of the input.
        out_channels: the channels of the result.
        kernel_size: the window: one number, or depth, height and width.
        stride: how far apart neighbouring inputs are in the result.
        padding: how much is cut off on all sides: a number, a list, 'same' or 'valid'.
        output_padding: how much is added at the end of each axis of the result.
        dilation: the distance between the elements of the window.
        groups: into how many parts the channels are divided.
        weight_attr: how the weight is made: a `ParamAttr`, an initializer or a name.
        bias_attr: the same for the bias; False leaves the bias out.
        data_format: where the channels are: 'NCDHW' or 'NDHWC'.

    Examples:
        >>> paddle.nn.Conv3DTranspose(1, 2, 2, stride=2)(paddle.ones([1, 1, 2, 3, 4])).shape
        paddle.Size([1, 2, 4, 6, 8])
    """

    _num_spatial = 3

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: SizesLike,
        stride: SizesLike = 1,
        padding: PaddingLike = 0,
        output_padding: SizesLike = 0,
        dilation: SizesLike = 1,
        groups: int = 1,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        data_format: str = "NCDHW",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, weight_attr,
            bias_attr, data_format, output_padding,
        )  # fmt: skip
