"""MobileNet V2 (Sandler et al. 2018): inverted residuals with linear bottlenecks."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from ...nn import AdaptiveAvgPool2D, BatchNorm2D, Conv2D, Dropout, Layer, Linear, ReLU6, Sequential
from ...ops.shape.manipulation import flatten
from ..ops.blocks import ConvNormActivation
from .weights import build

# Expansion, channels, repetitions, stride of the first: table 2 of the paper.
_STAGES = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
)  # fmt: skip


def to_multiple(channels: float, divisor: int = 8) -> int:
    """The nearest multiple of `divisor`, but never less than nine tenths of what was asked for."""
    nearest = max(divisor, int(channels + divisor / 2) // divisor * divisor)
    return nearest if nearest >= 0.9 * channels else nearest + divisor


class InvertedResidual(Layer):
    """Widens, filters each channel, narrows again without activation; with a shortcut where the shape is kept."""

    def __init__(self, in_channels: int, out_channels: int, stride: int, expand_ratio: int) -> None:
        super().__init__()
        hidden = in_channels * expand_ratio
        self.use_res_connect = stride == 1 and in_channels == out_channels
        layers: list[Layer] = []
        if expand_ratio != 1:
            layers.append(ConvNormActivation(in_channels, hidden, 1, activation_layer=ReLU6))
        layers += [
            ConvNormActivation(hidden, hidden, 3, stride, groups=hidden, activation_layer=ReLU6),
            Conv2D(hidden, out_channels, 1, 1, 0, bias_attr=False),
            BatchNorm2D(out_channels),
        ]
        self.conv = Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(Layer):
    """MobileNet V2; `scale` multiplies the number of channels, rounded to multiples of 8.

    `num_classes` of 0 leaves dropout and the linear layer out, `with_pool=False` the mean over the image.

    Example:
        >>> model = paddle.vision.models.MobileNetV2(scale=0.5, num_classes=10)
        >>> model(paddle.rand([1, 3, 64, 64])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.with_pool = with_pool
        channels = to_multiple(32 * scale)
        self.last_channel = to_multiple(1280 * max(1.0, scale))
        layers: list[Layer] = [ConvNormActivation(3, channels, 3, 2, activation_layer=ReLU6)]
        for expansion, width, count, stride in _STAGES:
            scaled = to_multiple(width * scale)
            for number in range(count):
                layers.append(InvertedResidual(channels, scaled, 1 if number else stride, expansion))
                channels = scaled
        layers.append(ConvNormActivation(channels, self.last_channel, 1, activation_layer=ReLU6))
        self.features = Sequential(*layers)
        if with_pool:
            self.pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = Sequential(Dropout(0.2), Linear(self.last_channel, num_classes))

    def forward(self, x: Tensor) -> Tensor:
        """The class scores of images.

        Args:
            x: images, `[batch, 3, height, width]`.

        Returns:
            A tensor of scores, `[batch, num_classes]`; features where `num_classes` is 0.

        Examples:
            >>> model = paddle.vision.models.MobileNetV2(scale=0.5, num_classes=10)
            >>> model(paddle.rand([1, 3, 64, 64])).shape
            paddle.Size([1, 10])
        """
        x = self.features(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        if self.num_classes > 0:
            x = self.classifier(flatten(x, 1))
        return x


def mobilenet_v2(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV2:
    """MobileNet V2.

    Weights are published for a scale of 1.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        scale: the factor of all channels.
        kwargs: arguments of `MobileNetV2`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.mobilenet_v2(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        2270794
    """
    file = "mobilenet_v2_x1.0.pdparams" if scale == 1.0 else None
    return build(MobileNetV2, "mobilenet_v2", pretrained, file, scale=scale, **kwargs)
