"""MobileNet V3 (Howard et al. 2019): inverted residuals with squeeze-and-excitation and hard swish."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from ...eager.tensor import Tensor
from ...nn import (
    AdaptiveAvgPool2D,
    BatchNorm2D,
    Conv2D,
    Dropout,
    Hardsigmoid,
    Hardswish,
    Layer,
    Linear,
    ReLU,
    Sequential,
)
from ...ops.shape.manipulation import flatten
from ..ops.blocks import ConvNormActivation
from .mobilenetv2 import to_multiple
from .weights import build

_norm = partial(BatchNorm2D, epsilon=0.001, momentum=0.99)


class Bottleneck(NamedTuple):
    """One row of the paper's tables: channels before scaling, `hard` for hard swish instead of ReLU."""

    in_channels: int
    kernel: int
    expanded: int
    out_channels: int
    squeeze: bool
    hard: bool
    stride: int


_SMALL = (
    Bottleneck(16, 3, 16, 16, True, False, 2), Bottleneck(16, 3, 72, 24, False, False, 2),
    Bottleneck(24, 3, 88, 24, False, False, 1), Bottleneck(24, 5, 96, 40, True, True, 2),
    Bottleneck(40, 5, 240, 40, True, True, 1), Bottleneck(40, 5, 240, 40, True, True, 1),
    Bottleneck(40, 5, 120, 48, True, True, 1), Bottleneck(48, 5, 144, 48, True, True, 1),
    Bottleneck(48, 5, 288, 96, True, True, 2), Bottleneck(96, 5, 576, 96, True, True, 1),
    Bottleneck(96, 5, 576, 96, True, True, 1),
)  # fmt: skip
_LARGE = (
    Bottleneck(16, 3, 16, 16, False, False, 1), Bottleneck(16, 3, 64, 24, False, False, 2),
    Bottleneck(24, 3, 72, 24, False, False, 1), Bottleneck(24, 5, 72, 40, True, False, 2),
    Bottleneck(40, 5, 120, 40, True, False, 1), Bottleneck(40, 5, 120, 40, True, False, 1),
    Bottleneck(40, 3, 240, 80, False, True, 2), Bottleneck(80, 3, 200, 80, False, True, 1),
    Bottleneck(80, 3, 184, 80, False, True, 1), Bottleneck(80, 3, 184, 80, False, True, 1),
    Bottleneck(80, 3, 480, 112, True, True, 1), Bottleneck(112, 3, 672, 112, True, True, 1),
    Bottleneck(112, 5, 672, 160, True, True, 2), Bottleneck(160, 5, 960, 160, True, True, 1),
    Bottleneck(160, 5, 960, 160, True, True, 1),
)  # fmt: skip


class SqueezeExcitation(Layer):
    """Weighs the channels by what their means say (Hu et al. 2017)."""

    def __init__(self, input_channels: int, squeeze_channels: int) -> None:
        super().__init__()
        self.avgpool = AdaptiveAvgPool2D(1)
        self.fc1 = Conv2D(input_channels, squeeze_channels, 1)
        self.fc2 = Conv2D(squeeze_channels, input_channels, 1)
        self.activation = ReLU()
        self.scale_activation = Hardsigmoid()

    def forward(self, input: Tensor) -> Tensor:
        scale = self.fc2(self.activation(self.fc1(self.avgpool(input))))
        return input * self.scale_activation(scale)


class InvertedResidual(Layer):
    """Widens (if that is asked for), filters, weighs channels, narrows; with a shortcut where the shape is kept."""

    def __init__(self, row: Bottleneck, scale: float) -> None:
        super().__init__()
        narrow_in = to_multiple(row.in_channels * scale)
        wide = to_multiple(row.expanded * scale)
        narrow_out = to_multiple(row.out_channels * scale)
        activation = Hardswish if row.hard else ReLU
        self.use_res_connect = row.stride == 1 and narrow_in == narrow_out
        self.expand = narrow_in != wide
        self.use_se = row.squeeze
        if self.expand:
            self.expand_conv = ConvNormActivation(narrow_in, wide, 1, norm_layer=_norm, activation_layer=activation)
        self.bottleneck_conv = ConvNormActivation(
            wide, wide, row.kernel, row.stride, groups=wide, norm_layer=_norm, activation_layer=activation
        )
        if self.use_se:
            self.mid_se = SqueezeExcitation(wide, to_multiple(wide // 4))
        self.linear_conv = ConvNormActivation(wide, narrow_out, 1, norm_layer=_norm, activation_layer=None)

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x
        if self.expand:
            x = self.expand_conv(x)
        x = self.bottleneck_conv(x)
        if self.use_se:
            x = self.mid_se(x)
        x = self.linear_conv(x)
        return shortcut + x if self.use_res_connect else x


class MobileNetV3(Layer):
    """What the small and the large model share: the rows of `config`, and `last_channel` hidden units at the end."""

    def __init__(
        self,
        config: tuple[Bottleneck, ...],
        last_channel: int,
        scale: float = 1.0,
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        super().__init__()
        self.config = config
        self.scale = scale
        self.last_channel = last_channel
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.firstconv_in_channels = config[0].in_channels
        self.lastconv_in_channels = to_multiple(config[-1].out_channels * scale)
        self.lastconv_out_channels = self.lastconv_in_channels * 6
        first = to_multiple(config[0].in_channels * scale)
        self.conv = ConvNormActivation(3, first, 3, 2, 1, norm_layer=_norm, activation_layer=Hardswish)
        self.blocks = Sequential(*[InvertedResidual(row, scale) for row in config])
        self.lastconv = ConvNormActivation(
            self.lastconv_in_channels, self.lastconv_out_channels, 1, norm_layer=_norm, activation_layer=Hardswish
        )
        if with_pool:
            self.avgpool = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = Sequential(
                Linear(self.lastconv_out_channels, last_channel),
                Hardswish(),
                Dropout(0.2),
                Linear(last_channel, num_classes),
            )

    def forward(self, x: Tensor) -> Tensor:
        x = self.lastconv(self.blocks(self.conv(x)))
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            x = self.classifier(flatten(x, 1))
        return x


class MobileNetV3Small(MobileNetV3):
    """MobileNet V3, small; `scale` multiplies the number of channels, rounded to multiples of 8.

    `num_classes` of 0 leaves the linear layers out, `with_pool=False` the mean over the image.

    Example:
        >>> model = paddle.vision.models.MobileNetV3Small(num_classes=10)
        >>> model(paddle.rand([1, 3, 64, 64])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(_SMALL, to_multiple(1024 * scale), scale, num_classes, with_pool)


class MobileNetV3Large(MobileNetV3):
    """MobileNet V3, large; `scale` multiplies the number of channels, rounded to multiples of 8.

    `num_classes` of 0 leaves the linear layers out, `with_pool=False` the mean over the image.

    Example:
        >>> model = paddle.vision.models.MobileNetV3Large(num_classes=10)
        >>> model(paddle.rand([1, 3, 64, 64])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(_LARGE, to_multiple(1280 * scale), scale, num_classes, with_pool)


def mobilenet_v3_small(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Small:
    """MobileNet V3 small.

    Weights are published for a scale of 1.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        scale: the factor of all channels.
        kwargs: arguments of `MobileNetV3Small`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.mobilenet_v3_small(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        1540218
    """
    file = "mobilenet_v3_small_x1.0.pdparams" if scale == 1.0 else None
    return build(MobileNetV3Small, "mobilenet_v3_small", pretrained, file, scale=scale, **kwargs)


def mobilenet_v3_large(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Large:
    """MobileNet V3 large.

    Weights are published for a scale of 1.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        scale: the factor of all channels.
        kwargs: arguments of `MobileNetV3Large`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.mobilenet_v3_large(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        4239242
    """
    file = "mobilenet_v3_large_x1.0.pdparams" if scale == 1.0 else None
    return build(MobileNetV3Large, "mobilenet_v3_large", pretrained, file, scale=scale, **kwargs)
