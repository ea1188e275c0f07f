"""Layers that resize or rearrange: Upsample, PixelShuffle, ChannelShuffle, Fold, Unfold; Maxout, Softmax2D, GLU, RReLU."""

from __future__ import annotations

from typing import Any

from ..core.errors import failed_check, value_error
from ..eager.annotations import PaddingLike, SizesLike
from ..eager.tensor import Tensor
from . import functional as F
from .layer import Layer
from .pooling import _Pool


class Upsample(Layer):
    """`nn.functional.interpolate` with its arguments fixed."""

    def __init__(
        self,
        size: SizesLike | None = None,
        scale_factor: Any = None,
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
        return F.interpolate(
            x, self.size, self.scale_factor, self.mode, self.align_corners, self.align_mode, self.data_format,
            self.recompute_scale_factor,
        )  # fmt: skip

    def extra_repr(self) -> str:
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
        main = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{main}, data_format={self.data_format}" + (f", name={self.name}" if self.name else "")


class UpsamplingNearest2D(_Upsampling2D):
    """Resizes images, taking the nearest element."""

    _mode = "nearest"


class UpsamplingBilinear2D(_Upsampling2D):
    """Resizes images by bilinear interpolation, the corners keeping their places."""

    _mode = "bilinear"


def _image_format(where: str, data_format: str) -> str:
    if data_format not in ("NCHW", "NHWC"):
        raise value_error(where, "data_format must be 'NCHW' or 'NHWC'", f"data_format: {data_format!r}")
    return data_format


class PixelShuffle(Layer):
    """Channels become a finer image."""

    def __init__(self, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        if not isinstance(upscale_factor, int):
            raise TypeError(f"(PixelShuffle) upscale_factor must be an int; received {upscale_factor!r}.")
        self._upscale_factor, self._name = upscale_factor, name
        self._data_format = _image_format("PixelShuffle", data_format)

    def forward(self, x: Tensor) -> Tensor:
        return F.pixel_shuffle(x, self._upscale_factor, self._data_format)

    def extra_repr(self) -> str:
        text = f"upscale_factor={self._upscale_factor}"
        return text + (f", data_format={self._data_format}" if self._data_format != "NCHW" else "")


class PixelUnshuffle(Layer):
    """A fine image becomes channels."""

    def __init__(self, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        if not isinstance(downscale_factor, int):
            raise TypeError(f"(PixelUnshuffle) downscale_factor must be an int; received {downscale_factor!r}.")
        if downscale_factor <= 0:
            raise value_error("PixelUnshuffle", "downscale_factor must be positive", f"{downscale_factor}")
        self._downscale_factor, self._name = downscale_factor, name
        self._data_format = _image_format("PixelUnshuffle", data_format)

    def forward(self, x: Tensor) -> Tensor:
        return F.pixel_unshuffle(x, self._downscale_factor, self._data_format)

    def extra_repr(self) -> str:
        text = f"downscale_factor={self._downscale_factor}"
        return text + (f", data_format={self._data_format}" if self._data_format != "NCHW" else "")


class ChannelShuffle(Layer):
    """Deals the channels of groups out anew."""

    def __init__(self, groups: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        if not isinstance(groups, int):
            raise TypeError(f"(ChannelShuffle) groups must be an int; received {groups!r}.")
        if groups <= 0:
            raise value_error("ChannelShuffle", "groups must be positive", f"groups: {groups}")
        self._groups, self._name = groups, name
        self._data_format = _image_format("ChannelShuffle", data_format)

    def forward(self, x: Tensor) -> Tensor:
        return F.channel_shuffle(x, self._groups, self._data_format)

    def extra_repr(self) -> str:
        text = f"groups={self._groups}"
        return text + (f", data_format={self._data_format}" if self._data_format != "NCHW" else "")


class Unfold(Layer):
    """Each window of an image as a column."""

    def __init__(
        self, kernel_sizes: Any, dilations: Any = 1, paddings: Any = 0, strides: SizesLike = 1, name: str | None = None
    ) -> None:
        super().__init__()
        self.kernel_sizes, self.dilations, self.paddings, self.strides = kernel_sizes, dilations, paddings, strides
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_sizes, self.strides, self.paddings, self.dilations)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, padding={self.paddings}, stride={self.strides}"


class Fold(Layer):
    """Columns put back to where the windows of an image were."""

    def __init__(
        self,
        output_sizes: Any,
        kernel_sizes: Any,
        dilations: Any = 1,
        paddings: Any = 0,
        strides: SizesLike = 1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.output_sizes, self.kernel_sizes = output_sizes, kernel_sizes
        self.dilations, self.paddings, self.strides, self.name = dilations, paddings, strides, name

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_sizes, self.kernel_sizes, self.strides, self.paddings, self.dilations)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, padding={self.paddings}, stride={self.strides}"


# ---- activations over channels -------------------------------------------------------------------


class Maxout(Layer):
    """The largest of every `groups` neighbouring channels."""

    def __init__(self, groups: int, axis: int = 1, name: str | None = None) -> None:
        super().__init__()
        self._groups, self._axis, self._name = groups, axis, name

    def forward(self, x: Tensor) -> Tensor:
        return F.maxout(x, self._groups, self._axis)

    def extra_repr(self) -> str:
        return f"groups={self._groups}, axis={self._axis}" + (f", name={self._name}" if self._name else "")


class GLU(Layer):
    """Half of the elements, gated by the sigmoid of the other half."""

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis, self._name = axis, name

    def forward(self, x: Tensor) -> Tensor:
        return F.glu(x, self._axis)

    def extra_repr(self) -> str:
        return f"axis={self._axis}" + (f", name={self._name}" if self._name else "")


class RReLU(Layer):
    """x, with negative numbers scaled by slopes that are drawn while training."""

    def __init__(self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, name: str | None = None) -> None:
        super().__init__()
        self._lower, self._upper, self._name = lower, upper, name

    def forward(self, x: Tensor) -> Tensor:
        return F.rrelu(x, self._lower, self._upper, self.training)

    def extra_repr(self) -> str:
        named = f", name={self._name}" if self._name else ""
        return f"lower={self._lower}, upper={self._upper}, training={self.training}, dtype={self._dtype}{named}"


class Softmax2D(Layer):
    """Softmax over the channels of images."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        if x._aval.ndim not in (3, 4):
            raise failed_check("Softmax2D", "the input must have 3 or 4 dimensions", f"x: {x._aval}")
        return F.softmax(x, axis=-3)

    def extra_repr(self) -> str:
        return f"name={self._name}" if self._name else ""


# ---- pooling -------------------------------------------------------------------------------------


class LPPool1D(_Pool):
    """(Σ x^p)^(1/p) of each window of [batch, channels, length]."""

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
        super().__init__(**locals())


class LPPool2D(_Pool):
    """(Σ x^p)^(1/p) of each window of [batch, channels, height, width]."""

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
        super().__init__(**locals())


LPPool1d, LPPool2d = LPPool1D, LPPool2D


class FractionalMaxPool2D(_Pool):
    """Maxima of windows of slightly different, drawn widths."""

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
    """Maxima of windows of slightly different, drawn widths."""

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
    def forward(self, x: Tensor, indices: Tensor) -> Any:  # type: ignore[override]
        return getattr(F, self._function)(x, indices, **self._arguments)


class MaxUnPool1D(_Unpool):
    """Puts the maxima of `MaxPool1D` back to where they were."""

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
    """Puts the maxima of `MaxPool2D` back to where they were."""

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
    """Puts the maxima of `MaxPool3D` back to where they were."""

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
