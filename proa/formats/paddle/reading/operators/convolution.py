"""Convolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....detection import deform_conv2d as deformable_convolution
from .....eager.tensor import Tensor
from ..functions import F
from ..registry import reads

if TYPE_CHECKING:
    from ..registry import Integers


def padding_of(paddings: list[int], padding_algorithm: str) -> Any:
    """The padding as our functions take it: a word, or numbers (one or two for each axis)."""
    return list(paddings) if padding_algorithm == "EXPLICIT" else padding_algorithm


def layout_of(data_format: str, ndim: int) -> str:
    """Some operations say "NCHW" or "AnyLayout" whatever the number of dimensions is."""
    last = data_format.endswith("C") and data_format != "NC"
    return {3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}[ndim][last]


@reads("conv2d", "depthwise_conv2d", "conv3d")
def conv(
    x: Tensor, weight: Tensor, *, strides: list[int], paddings: list[int], padding_algorithm: str = "EXPLICIT",
    dilations: list[int], groups: int = 1, data_format: str = "NCHW",
) -> Tensor:  # fmt: skip
    function = F.conv2d if x.ndim == 4 else F.conv3d
    return function(
        x, weight, None, stride=list(strides), padding=padding_of(paddings, padding_algorithm),
        dilation=list(dilations), groups=groups, data_format=layout_of(data_format, x.ndim),
    )  # fmt: skip


@reads("depthwise_conv2d_bias", "conv2d_transpose_bias")
def conv_with_bias(x: Tensor, weight: Tensor, bias: Tensor, **attributes: Any) -> Tensor:
    shape = [1, -1, 1, 1] if layout_of(attributes["data_format"], 4) == "NCHW" else [1, 1, 1, -1]
    chosen = {k: v for k, v in attributes.items() if k in _CONVOLUTION}
    return conv(x, weight, **chosen) + bias.reshape(shape)


_CONVOLUTION = ("strides", "paddings", "padding_algorithm", "dilations", "groups", "data_format")


@reads("conv2d_transpose", "depthwise_conv2d_transpose", "conv3d_transpose")
def conv_transpose(
    x: Tensor, weight: Tensor, size: Integers | None = None, *, strides: list[int], paddings: list[int],
    output_padding: Any = None, output_size: Any = None, padding_algorithm: str = "EXPLICIT", groups: int = 1,
    dilations: list[int], data_format: str = "NCHW",
) -> Tensor:  # fmt: skip
    function = F.conv2d_transpose if x.ndim == 4 else F.conv3d_transpose
    wanted = list(size or output_size or ())
    return function(
        x, weight, None, stride=list(strides), padding=padding_of(paddings, padding_algorithm),
        output_padding=0 if wanted else list(output_padding or ()) or 0, dilation=list(dilations), groups=groups,
        output_size=wanted or None, data_format=layout_of(data_format, x.ndim),
    )  # fmt: skip


@reads("deformable_conv")
def deformable_conv(
    x: Tensor, offset: Tensor, weight: Tensor, mask: Tensor | None = None, *, strides: list[int], paddings: list[int],
    dilations: list[int], deformable_groups: int = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    return deformable_convolution(
        x, offset, weight, None, list(strides), list(paddings), list(dilations), deformable_groups, groups, mask
    )


@reads("unfold")
def unfold(
    x: Tensor, *, kernel_sizes: list[int], strides: list[int], paddings: list[int], dilations: list[int]
) -> Tensor:
    return F.unfold(x, kernel_sizes, strides, paddings, dilations)


@reads("fold")
def fold(
    x: Tensor, *, output_sizes: list[int], kernel_sizes: list[int], strides: list[int], paddings: list[int],
    dilations: list[int],
) -> Tensor:  # fmt: skip
    return F.fold(x, output_sizes, kernel_sizes, strides, paddings, dilations)


@reads("row_conv")
def row_conv(x: Tensor, weight: Tensor) -> Tensor:
    # Each step sees itself and the steps ahead, feature by feature.
    ahead = weight._aval.shape[0]
    padded = F.pad(x, [0, ahead - 1], data_format="NLC")
    length = x._aval.shape[1]
    return sum((padded[:, i : i + length] * weight[i] for i in range(1, ahead)), padded[:, :length] * weight[0])  # type: ignore[return-value]
