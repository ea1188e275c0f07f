"""GoogLeNet (Szegedy et al. 2014): inception modules and two auxiliary classifiers."""

from __future__ import annotations

import math
from typing import Any

from ...eager.tensor import Tensor
from ...nn import AdaptiveAvgPool2D, AvgPool2D, Conv2D, Dropout, Layer, Linear, MaxPool2D, ParamAttr
from ...nn import functional as F
from ...nn.initializer import Uniform
from ...ops.shape.joining import concat
from ...ops.shape.manipulation import flatten, squeeze
from .weights import build

# Channels: in, 1 x 1, before 3 x 3, 3 x 3, before 5 x 5, 5 x 5, behind the maximum (table 1 of the paper).
_MODULES = {
    "3a": (192, 64, 96, 128, 16, 32, 32), "3b": (256, 128, 128, 192, 32, 96, 64),
    "4a": (480, 192, 96, 208, 16, 48, 64), "4b": (512, 160, 112, 224, 24, 64, 64),
    "4c": (512, 128, 128, 256, 24, 64, 64), "4d": (512, 112, 144, 288, 32, 64, 64),
    "4e": (528, 256, 160, 320, 32, 128, 128),
    "5a": (832, 256, 160, 320, 32, 128, 128), "5b": (832, 384, 192, 384, 48, 128, 128),
}  # fmt: skip


def _linear(width_in: int, width_out: int, fan: int) -> Linear:
    bound = math.sqrt(3.0 / fan)
    return Linear(width_in, width_out, weight_attr=ParamAttr(initializer=Uniform(-bound, bound)))


class ConvLayer(Layer):
    """A convolution without bias that keeps the size for a stride of 1."""

    def __init__(self, num_channels: int, num_filters: int, filter_size: int, stride: int = 1) -> None:
        super().__init__()
        self._conv = Conv2D(num_channels, num_filters, filter_size, stride, (filter_size - 1) // 2, bias_attr=False)

    def forward(self, inputs: Tensor) -> Tensor:
        return self._conv(inputs)


class Inception(Layer):
    """Four paths beside one another; ReLU where they meet."""

    def __init__(
        self, num_channels: int, one: int, reduced3: int, three: int, reduced5: int, five: int, projected: int
    ) -> None:
        super().__init__()
        self._conv1 = ConvLayer(num_channels, one, 1)
        self._conv3r = ConvLayer(num_channels, reduced3, 1)
        self._conv3 = ConvLayer(reduced3, three, 3)
        self._conv5r = ConvLayer(num_channels, reduced5, 1)
        self._conv5 = ConvLayer(reduced5, five, 5)
        self._pool = MaxPool2D(3, 1, 1)
        self._convprj = ConvLayer(num_channels, projected, 1)

    def forward(self, inputs: Tensor) -> Tensor:
        paths = [
            self._conv1(inputs),
            self._conv3(self._conv3r(inputs)),
            self._conv5(self._conv5r(inputs)),
            self._convprj(self._pool(inputs)),
        ]
        return F.relu(concat(paths, 1))


class GoogLeNet(Layer):
    """GoogLeNet; gives the scores and those of the two auxiliary classifiers. Images of 224 x 224.

    `num_classes` of 0 leaves the classifiers out, `with_pool=False` the mean over the image.

    Example:
        >>> model = paddle.vision.models.GoogLeNet(num_classes=10)
        >>> out, first, second = model(paddle.rand([1, 3, 224, 224]))
        >>> out.shape
        paddle.Size([1, 10])
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.with_pool = with_pool
        self._conv = ConvLayer(3, 64, 7, 2)
        self._pool = MaxPool2D(3, 2)
        self._conv_1 = ConvLayer(64, 64, 1)
        self._conv_2 = ConvLayer(64, 192, 3)
        for name, channels in _MODULES.items():
            self.add_sublayer(f"_ince{name}", Inception(*channels))
        if with_pool:
            self._pool_5 = AdaptiveAvgPool2D(1)
            self._pool_o1 = AvgPool2D(5, 3)
            self._pool_o2 = AvgPool2D(5, 3)
        if num_classes > 0:
            self._drop = Dropout(0.4, mode="downscale_in_infer")
            self._fc_out = _linear(1024, num_classes, 1024)
            self._conv_o1 = ConvLayer(512, 128, 1)
            self._fc_o1 = _linear(1152, 1024, 2048)
            self._drop_o1 = Dropout(0.7, mode="downscale_in_infer")
            self._out1 = _linear(1024, num_classes, 1024)
            self._conv_o2 = ConvLayer(528, 128, 1)
            self._fc_o2 = _linear(1152, 1024, 2048)
            self._drop_o2 = Dropout(0.7, mode="downscale_in_infer")
            self._out2 = _linear(1024, num_classes, 1024)

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The class scores of images.

        Args:
            inputs: images, `[batch, 3, height, width]`.

        Returns:
            The scores of the classes, and of the two side branches.

        Examples:
            >>> model = paddle.vision.models.GoogLeNet(num_classes=10)
            >>> out, first, second = model(paddle.rand([1, 3, 224, 224]))
            >>> out.shape
            paddle.Size([1, 10])
        """
        x = self._pool(self._conv(inputs))
        x = self._pool(self._conv_2(self._conv_1(x)))
        x = self._pool(self._ince3b(self._ince3a(x)))
        first = self._ince4a(x)
        second = self._ince4d(self._ince4c(self._ince4b(first)))
        x = self._pool(self._ince4e(second))
        x = self._ince5b(self._ince5a(x))
        if self.with_pool:
            x, first, second = self._pool_5(x), self._pool_o1(first), self._pool_o2(second)
        if self.num_classes > 0:
            x = self._fc_out(squeeze(self._drop(x), [2, 3]))
            first = F.relu(self._fc_o1(flatten(self._conv_o1(first), 1)))
            first = self._out1(self._drop_o1(first))
            second = self._fc_o2(flatten(self._conv_o2(second), 1))  # Paddle has no ReLU here
            second = self._out2(self._drop_o2(second))
        return x, first, second


def googlenet(pretrained: bool = False, **kwargs: Any) -> GoogLeNet:
    """GoogLeNet (Inception V1).

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `GoogLeNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.googlenet(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        8491486
    """
    return build(GoogLeNet, "googlenet", pretrained, "GoogLeNet_pretrained.pdparams", **kwargs)
