"""MobileNet (Howard et al. 2017): depthwise convolutions, each followed by a pointwise one."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from ...nn import AdaptiveAvgPool2D, Layer, Linear
from ...ops.shape.manipulation import flatten
from ..ops.blocks import ConvNormActivation
from .weights import build

# Name, channels in, channels out, stride; channels before scaling.
_BLOCKS = (
    ("conv2_1", 32, 64, 1), ("conv2_2", 64, 128, 2), ("conv3_1", 128, 128, 1), ("conv3_2", 128, 256, 2),
    ("conv4_1", 256, 256, 1), ("conv4_2", 256, 512, 2), ("conv5_1", 512, 512, 1), ("conv5_2", 512, 512, 1),
    ("conv5_3", 512, 512, 1), ("conv5_4", 512, 512, 1), ("conv5_5", 512, 512, 1), ("conv5_6", 512, 1024, 2),
    ("conv6", 1024, 1024, 1),
)  # fmt: skip


class DepthwiseSeparable(Layer):
    """A 3 x 3 convolution of each channel by itself, then a 1 x 1 convolution."""

    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self._depthwise_conv = ConvNormActivation(in_channels, in_channels, 3, stride, 1, groups=in_channels)
        self._pointwise_conv = ConvNormActivation(in_channels, out_channels, 1, 1, 0)

    def forward(self, x: Tensor) -> Tensor:
        return self._pointwise_conv(self._depthwise_conv(x))


class MobileNetV1(Layer):
    """MobileNet V1; `scale` multiplies the number of channels.

    `num_classes` of 0 leaves the linear layer out, `with_pool=False` the mean over the image.

    Example:
        >>> model = paddle.vision.models.MobileNetV1(scale=0.5, num_classes=10)
        >>> model(paddle.rand([1, 3, 64, 64])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.scale = scale
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.conv1 = ConvNormActivation(3, int(32 * scale), 3, 2, 1)
        self.dwsl: list[Layer] = []
        for name, width_in, width_out, stride in _BLOCKS:
            block = DepthwiseSeparable(int(width_in * scale), int(width_out * scale), stride)
            self.add_sublayer(name, block)
            self.dwsl.append(block)
        if with_pool:
            self.pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.fc = Linear(int(1024 * scale), num_classes)

    def forward(self, x: Tensor) -> Tensor:
        """The class scores of images.

        Args:
            x: images, `[batch, 3, height, width]`.

        Returns:
            A tensor of scores, `[batch, num_classes]`; features where `num_classes` is 0.

        Examples:
            >>> model = paddle.vision.models.MobileNetV1(scale=0.5, num_classes=10)
            >>> model(paddle.rand([1, 3, 64, 64])).shape
            paddle.Size([1, 10])
        """
        x = self.conv1(x)
        for block in self.dwsl:
            x = block(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        if self.num_classes > 0:
            x = self.fc(flatten(x, 1))
        return x


def mobilenet_v1(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV1:
    """MobileNet V1.

    Weights are published for a scale of 1.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        scale: the factor of all channels.
        kwargs: arguments of `MobileNetV1`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.mobilenet_v1(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        3239114
    """
    file = "mobilenetv1_1.0.pdparams" if scale == 1.0 else None
    return build(MobileNetV1, "mobilenet_v1", pretrained, file, scale=scale, **kwargs)
