"""Layers that resize or rearrange: Upsample, PixelShuffle, ChannelShuffle, Fold, Unfold; Maxout, Softmax2D, GLU, RReLU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import failed_check, value_error
from ..eager.annotations import Number, PaddingLike, SizesLike
from ..eager.tensor import Tensor
from . import functional as F
from .layer import Layer
from .pooling import _Pool


class Upsample(Layer):
    """Resizes a tensor: `paddle.nn.functional.interpolate` with its options fixed.

    Args:
        size: the extents of the result.
        scale_factor: the factor instead, one or one for each axis.
        mode: 'nearest', 'linear', 'bilinear', 'bicubic', 'trilinear' or 'area'.
        align_corners: keeps the outermost elements in their places.
        align_mode: 0 puts elements at the middle of their cells, 1 at the beginning.
        data_format: where the channels are, such as 'NCHW'.
        recompute_scale_factor: computes the factor anew from the extents of the result.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.Upsample(scale_factor=2)(paddle.to_tensor([[[[1.0, 2.0]]]])).tolist()
        [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]
        >>> paddle.nn.Upsample(size=[5, 5], mode="bilinear")(paddle.ones([1, 3, 2, 2])).shape
        paddle.Size([1, 3, 5, 5])
    """

    def __init__(
        self,
        size: SizesLike | None = None,
        scale_factor: Number | Sequence[Number] | None = None,
        mode: str = "nearest",
        align_corners: bool = False,
        align_mode: int = 0,
        data_format: str | None = None,
        recompute_scale_factor: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode.lower()
        self.align_corners, self.align_mode, self.data_format = align_corners, align_mode, data_format
        self.recompute_scale_factor, self.name = recompute_scale_factor, name

    def forward(self, x: Tensor) -> Tensor:
        """The resized tensor.

        Examples:
            >>> paddle.nn.Upsample(size=[4, 4]).forward(paddle.ones([1, 3, 2, 2])).shape
            paddle.Size([1, 3, 4, 4])
        """
        return F.interpolate(
            x, self.size, self.scale_factor, self.mode, self.align_corners, self.align_mode, self.data_format,
            self.recompute_scale_factor,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.Upsample(scale_factor=2)
            Upsample(scale_factor=2, mode=nearest, align_corners=False, align_mode=0, data_format=None)
        """
        main = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return (
            f"{main}, mode={self.mode}, align_corners={self.align_corners}, align_mode={self.align_mode}, "
            f"data_format={self.data_format}" + (f", name={self.name}" if self.name else "")
        )


class _Upsampling2D(Upsample):
    _mode = "nearest"

    def __init__(
        self, size: Any = None, scale_factor: Any = None, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        corners = self._mode == "bilinear"
        super().__init__(size, scale_factor, self._mode, corners, data_format=data_format, name=name)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.UpsamplingNearest2D(scale_factor=2)
            UpsamplingNearest2D(scale_factor=2, data_format=NCHW)
        """
        main = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{main}, data_format={self.data_format}" + (f", name={self.name}" if self.name else "")


class UpsamplingNearest2D(_Upsampling2D):
    """Resizes images, taking the nearest element.

    Args:
        size: height and width of the result.
        scale_factor: the factor instead, one or two.
        data_format: where the channels are: 'NCHW' or 'NHWC'.

    Examples:
        >>> paddle.nn.UpsamplingNearest2D(scale_factor=2)(paddle.to_tensor([[[[1.0, 2.0]]]])).tolist()
        [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]
    """

    _mode = "nearest"


class UpsamplingBilinear2D(_Upsampling2D):
    """Resizes images by bilinear interpolation, the corners keeping their places.

    Args:
        size: height and width of the result.
        scale_factor: the factor instead, one or two.
        data_format: where the channels are: 'NCHW' or 'NHWC'.

    Examples:
        >>> paddle.nn.UpsamplingBilinear2D(size=[1, 3])(paddle.to_tensor([[[[1.0, 2.0]]]])).tolist()
        [[[[1.0, 1.5, 2.0]]]]
    """

    _mode = "bilinear"


def _image_format(where: str, data_format: str) -> str:
    if data_format not in ("NCHW", "NHWC"):
        raise value_error(where, "data_format must be 'NCHW' or 'NHWC'", f"data_format: {data_format!r}")
    return data_format


class PixelShuffle(Layer):
    """Channels become a finer image: [N, C r², H, W] becomes [N, C, H r, W r].

    Args:
        upscale_factor: the r.
        data_format: where the channels are: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Raises:
        TypeError: `upscale_factor` is no int.
        ValueError: the format is unknown, or the channels do not divide by r².

    Examples:
        >>> paddle.nn.PixelShuffle(2)(paddle.to_tensor([[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]])).tolist()
        [[[[1.0, 2.0], [3.0, 4.0]]]]
    """

    def __init__(self, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        if not isinstance(upscale_factor, int):
            raise TypeError(f"(PixelShuffle) upscale_factor must be an int; received {upscale_factor!r}.")
        self._upscale_factor, self._name = upscale_factor, name
        self._data_format = _image_format("PixelShuffle", data_format)

    def forward(self, x: Tensor) -> Tensor:
        """The finer image.

        Examples:
            >>> paddle.nn.PixelShuffle(3).forward(paddle.ones([2, 9, 4, 4])).shape
            paddle.Size([2, 1, 12, 12])
        """
        return F.pixel_shuffle(x, self._upscale_factor, self._data_format)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.PixelShuffle(2)
            PixelShuffle(upscale_factor=2)
        """
        text = f"upscale_factor={self._upscale_factor}"
        return text + (f", data_format={self._data_format}" if self._data_format != "NCHW" else "")


class PixelUnshuffle(Layer):
    """A fine image becomes channels: [N, C, H r, W r] becomes [N, C r², H, W].

    Args:
        downscale_factor: the r.
        data_format: where the channels are: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Raises:
        TypeError: `downscale_factor` is no int.
        ValueError: it is not positive, the format is unknown, or an extent does not divide by it.

    Examples:
        >>> paddle.nn.PixelUnshuffle(2)(paddle.to_tensor([[[[1.0, 2.0], [3.0, 4.0]]]])).flatten().tolist()
        [1.0, 2.0, 3.0, 4.0]
    """

    def __init__(self, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        if not isinstance(downscale_factor, int):
            raise TypeError(f"(PixelUnshuffle) downscale_factor must be an int; received {downscale_factor!r}.")
        if downscale_factor <= 0:
            raise value_error("PixelUnshuffle", "downscale_factor must be positive", f"{downscale_factor}")
        self._downscale_factor, self._name = downscale_factor, name
        self._data_format = _image_format("PixelUnshuffle", data_format)

    def forward(self, x: Tensor) -> Tensor:
        """The channels.

        Examples:
            >>> paddle.nn.PixelUnshuffle(3).forward(paddle.ones([2, 1, 12, 12])).shape
            paddle.Size([2, 9, 4, 4])
        """
        return F.pixel_unshuffle(x, self._downscale_factor, self._data_format)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.PixelUnshuffle(2)
            PixelUnshuffle(downscale_factor=2)
        """
        text = f"downscale_factor={self._downscale_factor}"
        return text + (f", data_format={self._data_format}" if self._data_format != "NCHW" else "")


class ChannelShuffle(Layer):
    """Deals the channels of groups out anew: the first of each group, then the second of each, and so on.

    Args:
        groups: the number of groups.
        data_format: where the channels are: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Raises:
        TypeError: `groups` is no int.
        ValueError: it is not positive, the format is unknown, or the channels do not divide.

    Examples:
        >>> paddle.nn.ChannelShuffle(2)(paddle.arange(6).reshape([1, 6, 1, 1])).flatten().tolist()
        [0, 3, 1, 4, 2, 5]
    """

    def __init__(self, groups: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        if not isinstance(groups, int):
            raise TypeError(f"(ChannelShuffle) groups must be an int; received {groups!r}.")
        if groups <= 0:
            raise value_error("ChannelShuffle", "groups must be positive", f"groups: {groups}")
        self._groups, self._name = groups, name
        self._data_format = _image_format("ChannelShuffle", data_format)

    def forward(self, x: Tensor) -> Tensor:
        """The tensor with its channels in the new order.

        Examples:
            >>> paddle.nn.ChannelShuffle(3).forward(paddle.arange(6).reshape([1, 6, 1, 1])).flatten().tolist()
            [0, 2, 4, 1, 3, 5]
        """
        return F.channel_shuffle(x, self._groups, self._data_format)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.ChannelShuffle(2)
            ChannelShuffle(groups=2)
        """
        text = f"groups={self._groups}"
        return text + (f", data_format={self._data_format}" if self._data_format != "NCHW" else "")


class Unfold(Layer):
    """Each window of an image as a column: [N, C, H, W] becomes [N, C * window, number of windows].

    Args:
        kernel_sizes: the window: one number, or height and width.
        dilations: the distance between its elements.
        paddings: how much is added on all sides.
        strides: how far it moves at each step.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.Unfold(2)(paddle.arange(6, dtype="float32").reshape([1, 1, 2, 3])).tolist()
        [[[0.0, 1.0], [1.0, 2.0], [3.0, 4.0], [4.0, 5.0]]]
    """

    def __init__(
        self,
        kernel_sizes: SizesLike,
        dilations: SizesLike = 1,
        paddings: SizesLike = 0,
        strides: SizesLike = 1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.kernel_sizes, self.dilations, self.paddings, self.strides = kernel_sizes, dilations, paddings, strides
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        """The windows.

        Examples:
            >>> paddle.nn.Unfold([3, 3]).forward(paddle.ones([2, 4, 8, 8])).shape
            paddle.Size([2, 36, 36])
        """
        return F.unfold(input, self.kernel_sizes, self.strides, self.paddings, self.dilations)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.Unfold(2)
            Unfold(kernel_size=2, dilation=1, padding=0, stride=1)
        """
        return f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, padding={self.paddings}, stride={self.strides}"


class Fold(Layer):
    """Columns put back to where the windows of an image were; overlapping ones are added.

    Args:
        output_sizes: height and width of the image.
        kernel_sizes: the window: one number, or height and width.
        dilations: the distance between its elements.
        paddings: how much was added on all sides.
        strides: how far it moved at each step.
        name: a label; it changes nothing.

    Examples:
        >>> columns = paddle.nn.Unfold(2)(paddle.ones([1, 1, 2, 3]))
        >>> paddle.nn.Fold([2, 3], 2)(columns).tolist()
        [[[[1.0, 2.0, 1.0], [1.0, 2.0, 1.0]]]]
    """

    def __init__(
        self,
        output_sizes: SizesLike,
        kernel_sizes: SizesLike,
        dilations: SizesLike = 1,
        paddings: SizesLike = 0,
        strides: SizesLike = 1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.output_sizes, self.kernel_sizes = output_sizes, kernel_sizes
        self.dilations, self.paddings, self.strides, self.name = dilations, paddings, strides, name

    def forward(self, input: Tensor) -> Tensor:
        """The images.

        Examples:
            >>> paddle.nn.Fold([4, 4], [2, 2], strides=2).forward(paddle.ones([1, 12, 4])).shape
            paddle.Size([1, 3, 4, 4])
        """
        return F.fold(input, self.output_sizes, self.kernel_sizes, self.strides, self.paddings, self.dilations)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.Fold([4, 4], 2)
            Fold(kernel_size=2, dilation=1, padding=0, stride=1)
        """
        return f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, padding={self.paddings}, stride={self.strides}"


# ---- activations over channels -------------------------------------------------------------------


class Maxout(Layer):
    """The largest of every `groups` neighbouring channels.

    Args:
        groups: how many channels become one.
        axis: the axis of the channels.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.Maxout(2)(paddle.to_tensor([1.0, 4.0, 3.0, 2.0]).reshape([1, 4, 1, 1])).flatten().tolist()
        [4.0, 3.0]
    """

    def __init__(self, groups: int, axis: int = 1, name: str | None = None) -> None:
        super().__init__()
        self._groups, self._axis, self._name = groups, axis, name

    def forward(self, x: Tensor) -> Tensor:
        """The largest channels.

        Examples:
            >>> paddle.nn.Maxout(3).forward(paddle.ones([2, 6, 4, 4])).shape
            paddle.Size([2, 2, 4, 4])
        """
        return F.maxout(x, self._groups, self._axis)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.Maxout(2)
            Maxout(groups=2, axis=1)
        """
        return f"groups={self._groups}, axis={self._axis}" + (f", name={self._name}" if self._name else "")


class GLU(Layer):
    """The first half of the elements along an axis, times the sigmoid of the other half.

    Args:
        axis: the axis that is halved; PyTorch's `dim` is taken too.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.GLU()(paddle.to_tensor([[6.0, 0.0]])).tolist()
        [[3.0]]
    """

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis, self._name = axis, name

    def forward(self, x: Tensor) -> Tensor:
        """The gated half.

        Examples:
            >>> paddle.nn.GLU(axis=1).forward(paddle.ones([2, 8, 3])).shape
            paddle.Size([2, 4, 3])
        """
        return F.glu(x, self._axis)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.GLU()
            GLU(axis=-1)
        """
        return f"axis={self._axis}" + (f", name={self._name}" if self._name else "")


class RReLU(Layer):
    """x where it is positive, x times a slope elsewhere; while training the slopes are drawn for each element.

    Args:
        lower: the smallest slope.
        upper: the largest slope; in `eval()` the mean of both is used.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.RReLU(0.25, 0.75)
        >>> layer.eval()(paddle.to_tensor([-2.0, 3.0])).tolist()
        [-1.0, 3.0]
    """

    def __init__(self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, name: str | None = None) -> None:
        super().__init__()
        self._lower, self._upper, self._name = lower, upper, name

    def forward(self, x: Tensor) -> Tensor:
        """x, with negative numbers scaled.

        Examples:
            >>> out = paddle.nn.RReLU(0.1, 0.2).forward(paddle.to_tensor([-1.0]))
            >>> -0.2 <= out.item() <= -0.1
            True
        """
        return F.rrelu(x, self._lower, self._upper, self.training)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.RReLU(0.1, 0.2)
            RReLU(lower=0.1, upper=0.2, training=True, dtype=float32)
        """
        named = f", name={self._name}" if self._name else ""
        return f"lower={self._lower}, upper={self._upper}, training={self.training}, dtype={self._dtype}{named}"


class Softmax2D(Layer):
    """Softmax over the channels of images: [N, C, H, W] or [C, H, W].

    Examples:
        >>> paddle.nn.Softmax2D()(paddle.zeros([1, 4, 1, 2])).flatten().tolist()
        [0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        """The shares of the channels, at each place of the image.

        Raises:
            AssertionError: the input has neither 3 nor 4 axes.

        Examples:
            >>> paddle.nn.Softmax2D().forward(paddle.ones([2, 1, 3])).tolist()
            [[[0.5, 0.5, 0.5]], [[0.5, 0.5, 0.5]]]
        """
        if x._aval.ndim not in (3, 4):
            raise failed_check("Softmax2D", "the input must have 3 or 4 dimensions", f"x: {x._aval}")
        return F.softmax(x, axis=-3)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.Softmax2D()
            Softmax2D()
        """
        return f"name={self._name}" if self._name else ""


# ---- pooling -------------------------------------------------------------------------------------


class LPPool1D(_Pool):
    """(Σ x^p)^(1/p) of each window of [batch, channels, length].

    Args:
        norm_type: the p.
        kernel_size: the width of the window.
        stride: how far it moves at each step; its width if left out.
        padding: how much is added at both ends.
        ceil_mode: a last window that does not fill is kept.
        data_format: where the channels are: 'NCL' or 'NLC'.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.LPPool1D(2, kernel_size=2)(paddle.to_tensor([[[3.0, 4.0, 6.0, 8.0]]])).tolist()
        [[[5.0, 10.0]]]
    """

    _function, _shown = "lp_pool1d", ("norm_type", "kernel_size", "stride", "padding")

    def __init__(
        self,
        norm_type: float,
        kernel_size: SizesLike,
        stride: SizesLike | None = None,
        padding: PaddingLike = 0,
        ceil_mode: bool = False,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        norm_type = float(norm_type)
        super().__init__(**locals())


class LPPool2D(_Pool):
    """(Σ x^p)^(1/p) of each window of [batch, channels, height, width].

    Args:
        norm_type: the p.
        kernel_size: the window: one number, or height and width.
        stride: how far it moves at each step; its size if left out.
        padding: how much is added on all sides.
        ceil_mode: last windows that do not fill are kept.
        data_format: where the channels are: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.LPPool2D(1, kernel_size=2)(paddle.ones([1, 1, 2, 4])).tolist()
        [[[[4.0, 4.0]]]]
    """

    _function, _shown = "lp_pool2d", ("norm_type", "kernel_size", "stride", "padding")

    def __init__(
        self,
        norm_type: float,
        kernel_size: SizesLike,
        stride: SizesLike | None = None,
        padding: PaddingLike = 0,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        norm_type, stride = float(norm_type), kernel_size if stride is None else stride
        super().__init__(**locals())


LPPool1d, LPPool2d = LPPool1D, LPPool2D


class FractionalMaxPool2D(_Pool):
    """Maxima of windows of slightly different, drawn widths, over [batch, channels, height, width].

    Args:
        output_size: height and width of the result.
        kernel_size: the window, where windows are to overlap; they lie side by side if left out.
        random_u: a number between 0 and 1 that the widths come from; drawn if left out.
        return_mask: gives the places of the maxima too.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.FractionalMaxPool2D([3, 3], random_u=0.5)
        >>> layer(paddle.arange(25, dtype="float32").reshape([1, 1, 5, 5])).tolist()
        [[[[6.0, 8.0, 9.0], [16.0, 18.0, 19.0], [21.0, 23.0, 24.0]]]]
    """

    _function, _shown = "fractional_max_pool2d", ("output_size", "return_mask")

    def __init__(
        self,
        output_size: SizesLike,
        kernel_size: SizesLike | None = None,
        random_u: float | None = None,
        return_mask: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class FractionalMaxPool3D(_Pool):
    """Maxima of windows of slightly different, drawn widths, over [batch, channels, depth, height, width].

    Args:
        output_size: depth, height and width of the result.
        kernel_size: the window, where windows are to overlap; they lie side by side if left out.
        random_u: a number between 0 and 1 that the widths come from; drawn if left out.
        return_mask: gives the places of the maxima too.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.FractionalMaxPool3D(3, random_u=0.3)(paddle.ones([1, 2, 5, 6, 7])).shape
        paddle.Size([1, 2, 3, 3, 3])
    """

    _function, _shown = "fractional_max_pool3d", ("output_size", "return_mask")

    def __init__(
        self,
        output_size: SizesLike,
        kernel_size: SizesLike | None = None,
        random_u: float | None = None,
        return_mask: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class _Unpool(_Pool):
    _shown = ("output_size",)

    def forward(  # type: ignore[override]
        self, x: Tensor, indices: Tensor, output_size: SizesLike | None = None
    ) -> Any:
        """The tensor with the maxima in their old places, and zeros elsewhere.

        Args:
            x: the maxima.
            indices: their places, from a pooling with `return_mask=True`.
            output_size: the sizes of the result; those the layer was made with if left out.

        Examples:
            >>> layer = paddle.nn.MaxUnPool1D(2)
            >>> layer.forward(paddle.to_tensor([[[5.0, 3.0]]]), paddle.to_tensor([[[1, 2]]])).tolist()
            [[[0.0, 5.0, 3.0, 0.0]]]
        """
        arguments = self._arguments if output_size is None else {**self._arguments, "output_size": output_size}
        return getattr(F, self._function)(x, indices, **arguments)


class MaxUnPool1D(_Unpool):
    """Puts the maxima of `MaxPool1D` back to where they were, with zeros elsewhere.

    Args:
        kernel_size: the window of the pooling.
        stride: how far it moved at each step; its width if left out.
        padding: how much was added.
        data_format: where the channels are: 'NCL' or 'NLC'.
        output_size: the length of the result, where several are possible.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([[[1.0, 5.0, 3.0, 2.0]]])
        >>> maxima, places = paddle.nn.MaxPool1D(2, return_mask=True)(x)
        >>> paddle.nn.MaxUnPool1D(2)(maxima, places).tolist()
        [[[0.0, 5.0, 3.0, 0.0]]]
    """

    _function = "max_unpool1d"

    def __init__(
        self,
        kernel_size: SizesLike,
        stride: SizesLike | None = None,
        padding: PaddingLike = 0,
        data_format: str = "NCL",
        output_size: SizesLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class MaxUnPool2D(_Unpool):
    """Puts the maxima of `MaxPool2D` back to where they were, with zeros elsewhere.

    Args:
        kernel_size: the window of the pooling.
        stride: how far it moved at each step; its size if left out.
        padding: how much was added.
        data_format: where the channels are: 'NCHW' or 'NHWC'.
        output_size: the extents of the result, where several are possible.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([[[[1.0, 5.0], [3.0, 2.0]]]])
        >>> maxima, places = paddle.nn.MaxPool2D(2, return_mask=True)(x)
        >>> paddle.nn.MaxUnPool2D(2)(maxima, places).tolist()
        [[[[0.0, 5.0], [0.0, 0.0]]]]
    """

    _function = "max_unpool2d"

    def __init__(
        self,
        kernel_size: SizesLike,
        stride: SizesLike | None = None,
        padding: PaddingLike = 0,
        data_format: str = "NCHW",
        output_size: SizesLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class MaxUnPool3D(_Unpool):
    """Puts the maxima of `MaxPool3D` back to where they were, with zeros elsewhere.

    Args:
        kernel_size: the window of the pooling.
        stride: how far it moved at each step; its size if left out.
        padding: how much was added.
        data_format: where the channels are: 'NCDHW' or 'NDHWC'.
        output_size: the extents of the result, where several are possible.
        name: a label; it changes nothing.

    Examples:
        >>> maxima, places = paddle.nn.MaxPool3D(2, return_mask=True)(paddle.ones([1, 1, 4, 4, 4]))
        >>> paddle.nn.MaxUnPool3D(2)(maxima, places).shape
        paddle.Size([1, 1, 4, 4, 4])
    """

    _function = "max_unpool3d"

    def __init__(
        self,
        kernel_size: SizesLike,
        stride: SizesLike | None = None,
        padding: PaddingLike = 0,
        data_format: str = "NCDHW",
        output_size: SizesLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


__all__ = [
    "GLU", "ChannelShuffle", "Fold", "FractionalMaxPool2D", "FractionalMaxPool3D", "LPPool1D", "LPPool1d", "LPPool2D",
    "LPPool2d", "MaxUnPool1D", "MaxUnPool2D", "MaxUnPool3D", "Maxout", "PixelShuffle", "PixelUnshuffle", "RReLU",
    "Softmax2D", "Unfold", "Upsample", "UpsamplingBilinear2D", "UpsamplingNearest2D",
]  # fmt: skip
