"""AlexNet (Krizhevsky, Sutskever, Hinton 2012), the narrower one-column form."""

from __future__ import annotations

import math
from typing import Any

from ...eager.tensor import Tensor
from ...nn import Conv2D, Dropout, Layer, Linear, MaxPool2D, ParamAttr, ReLU
from ...nn import functional as F
from ...nn.initializer import Uniform
from ...ops.shape.manipulation import flatten
from .weights import build


def _within(bound: float) -> ParamAttr:
    return ParamAttr(initializer=Uniform(-bound, bound))


def _convolution(in_channels: int, out_channels: int, kernel: int, stride: int, padding: int) -> Conv2D:
    bound = 1.0 / math.sqrt(in_channels * kernel * kernel)
    return Conv2D(
        in_channels, out_channels, kernel, stride, padding, weight_attr=_within(bound), bias_attr=_within(bound)
    )


class ConvPoolLayer(Layer):
    """Convolution, ReLU, and a maximum over 3 x 3 places."""

    def __init__(self, in_channels: int, out_channels: int, kernel: int, stride: int, padding: int) -> None:
        super().__init__()
        self.relu = ReLU()
        self._conv = _convolution(in_channels, out_channels, kernel, stride, padding)
        self._pool = MaxPool2D(3, 2, 0)

    def forward(self, inputs: Tensor) -> Tensor:
        return self._pool(self.relu(self._conv(inputs)))


class AlexNet(Layer):
    """Five convolutions and three linear layers; images of 224 x 224.

    Example:
        >>> model = paddle.vision.models.AlexNet(num_classes=10)
        >>> model(paddle.rand([1, 3, 224, 224])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.num_classes = num_classes
        self._conv1 = ConvPoolLayer(3, 64, 11, 4, 2)
        self._conv2 = ConvPoolLayer(64, 192, 5, 1, 2)
        self._conv3 = _convolution(192, 384, 3, 1, 1)
        self._conv4 = _convolution(384, 256, 3, 1, 1)
        self._conv5 = ConvPoolLayer(256, 256, 3, 1, 1)
        if num_classes > 0:
            wide = 256 * 6 * 6
            bound = 1.0 / math.sqrt(wide)  # for all three, as Paddle starts them

            def linear(width_in: int, width_out: int) -> Linear:
                return Linear(width_in, width_out, weight_attr=_within(bound), bias_attr=_within(bound))

            self._drop1 = Dropout(0.5, mode="downscale_in_infer")
            self._fc6 = linear(wide, 4096)
            self._drop2 = Dropout(0.5, mode="downscale_in_infer")
            self._fc7 = linear(4096, 4096)
            self._fc8 = linear(4096, num_classes)

    def forward(self, inputs: Tensor) -> Tensor:
        """The class scores of images.

        Args:
            inputs: images, `[batch, 3, height, width]`.

        Returns:
            A tensor of scores, `[batch, num_classes]`; features where `num_classes` is 0.

        Examples:
            >>> model = paddle.vision.models.AlexNet(num_classes=10)
            >>> model(paddle.rand([1, 3, 224, 224])).shape
            paddle.Size([1, 10])
        """
        x = self._conv2(self._conv1(inputs))
        x = F.relu(self._conv3(x))
        x = F.relu(self._conv4(x))
        x = self._conv5(x)
        if self.num_classes > 0:
            x = F.relu(self._fc6(self._drop1(flatten(x, 1))))
            x = F.relu(self._fc7(self._drop2(x)))
            x = self._fc8(x)
        return x


def alexnet(pretrained: bool = False, **kwargs: Any) -> AlexNet:
    """AlexNet.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `AlexNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.alexnet(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        57044810
    """
    return build(AlexNet, "alexnet", pretrained, "AlexNet_pretrained.pdparams", **kwargs)
