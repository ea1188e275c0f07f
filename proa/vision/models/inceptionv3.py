"""Inception V3 (Szegedy et al. 2015): factorised convolutions in five kinds of modules."""

from __future__ import annotations

import math
from typing import Any

from ...eager.tensor import Tensor
from ...nn import AdaptiveAvgPool2D, AvgPool2D, Dropout, Layer, LayerList, Linear, MaxPool2D, ParamAttr
from ...nn.initializer import Uniform
from ...ops.shape.joining import concat
from ...ops.shape.manipulation import flatten
from ..ops.blocks import ConvNormActivation
from .weights import build


def _conv(channels_in: int, channels_out: int, kernel: Any, stride: int = 1, padding: Any = 0) -> ConvNormActivation:
    return ConvNormActivation(channels_in, channels_out, kernel, stride, padding)


class InceptionStem(Layer):
    """Convolutions and maxima before the modules."""

    def __init__(self) -> None:
        super().__init__()
        self.conv_1a_3x3 = _conv(3, 32, 3, 2)
        self.conv_2a_3x3 = _conv(32, 32, 3)
        self.conv_2b_3x3 = _conv(32, 64, 3, padding=1)
        self.max_pool = MaxPool2D(3, 2, 0)
        self.conv_3b_1x1 = _conv(64, 80, 1)
        self.conv_4a_3x3 = _conv(80, 192, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv_2b_3x3(self.conv_2a_3x3(self.conv_1a_3x3(x)))
        x = self.conv_4a_3x3(self.conv_3b_1x1(self.max_pool(x)))
        return self.max_pool(x)


class InceptionA(Layer):
    """1 x 1, 5 x 5, two 3 x 3, and a mean, beside one another (figure 5 of the paper)."""

    def __init__(self, num_channels: int, pool_features: int) -> None:
        super().__init__()
        self.branch1x1 = _conv(num_channels, 64, 1)
        self.branch5x5_1 = _conv(num_channels, 48, 1)
        self.branch5x5_2 = _conv(48, 64, 5, padding=2)
        self.branch3x3dbl_1 = _conv(num_channels, 64, 1)
        self.branch3x3dbl_2 = _conv(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = _conv(96, 96, 3, padding=1)
        self.branch_pool = AvgPool2D(3, 1, 1, exclusive=False)
        self.branch_pool_conv = _conv(num_channels, pool_features, 1)

    def forward(self, x: Tensor) -> Tensor:
        five = self.branch5x5_2(self.branch5x5_1(x))
        double = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        pooled = self.branch_pool_conv(self.branch_pool(x))
        return concat([self.branch1x1(x), five, double, pooled], 1)


class InceptionB(Layer):
    """Halves the size between A and C."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.branch3x3 = _conv(num_channels, 384, 3, 2)
        self.branch3x3dbl_1 = _conv(num_channels, 64, 1)
        self.branch3x3dbl_2 = _conv(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = _conv(96, 96, 3, 2)
        self.branch_pool = MaxPool2D(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        double = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return concat([self.branch3x3(x), double, self.branch_pool(x)], 1)


class InceptionC(Layer):
    """7 x 7 convolutions factorised into rows and columns (figure 6 of the paper)."""

    def __init__(self, num_channels: int, channels_7x7: int) -> None:
        super().__init__()
        width = channels_7x7
        row: dict[str, Any] = {"kernel": (1, 7), "padding": (0, 3)}
        column: dict[str, Any] = {"kernel": (7, 1), "padding": (3, 0)}
        self.branch1x1 = _conv(num_channels, 192, 1)
        self.branch7x7_1 = _conv(num_channels, width, 1)
        self.branch7x7_2 = _conv(width, width, **row)
        self.branch7x7_3 = _conv(width, 192, **column)
        self.branch7x7dbl_1 = _conv(num_channels, width, 1)
        self.branch7x7dbl_2 = _conv(width, width, **column)
        self.branch7x7dbl_3 = _conv(width, width, **row)
        self.branch7x7dbl_4 = _conv(width, width, **column)
        self.branch7x7dbl_5 = _conv(width, 192, **row)
        self.branch_pool = AvgPool2D(3, 1, 1, exclusive=False)
        self.branch_pool_conv = _conv(num_channels, 192, 1)

    def forward(self, x: Tensor) -> Tensor:
        seven = self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x)))
        double = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        double = self.branch7x7dbl_5(self.branch7x7dbl_4(double))
        pooled = self.branch_pool_conv(self.branch_pool(x))
        return concat([self.branch1x1(x), seven, double, pooled], 1)


class InceptionD(Layer):
    """Halves the size between C and E."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.branch3x3_1 = _conv(num_channels, 192, 1)
        self.branch3x3_2 = _conv(192, 320, 3, 2)
        self.branch7x7x3_1 = _conv(num_channels, 192, 1)
        self.branch7x7x3_2 = _conv(192, 192, (1, 7), padding=(0, 3))
        self.branch7x7x3_3 = _conv(192, 192, (7, 1), padding=(3, 0))
        self.branch7x7x3_4 = _conv(192, 192, 3, 2)
        self.branch_pool = MaxPool2D(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        three = self.branch3x3_2(self.branch3x3_1(x))
        seven = self.branch7x7x3_4(self.branch7x7x3_3(self.branch7x7x3_2(self.branch7x7x3_1(x))))
        return concat([three, seven, self.branch_pool(x)], 1)


class InceptionE(Layer):
    """Rows and columns beside one another at the coarsest size (figure 7 of the paper)."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.branch1x1 = _conv(num_channels, 320, 1)
        self.branch3x3_1 = _conv(num_channels, 384, 1)
        self.branch3x3_2a = _conv(384, 384, (1, 3), padding=(0, 1))
        self.branch3x3_2b = _conv(384, 384, (3, 1), padding=(1, 0))
        self.branch3x3dbl_1 = _conv(num_channels, 448, 1)
        self.branch3x3dbl_2 = _conv(448, 384, 3, padding=1)
        self.branch3x3dbl_3a = _conv(384, 384, (1, 3), padding=(0, 1))
        self.branch3x3dbl_3b = _conv(384, 384, (3, 1), padding=(1, 0))
        self.branch_pool = AvgPool2D(3, 1, 1, exclusive=False)
        self.branch_pool_conv = _conv(num_channels, 192, 1)

    def forward(self, x: Tensor) -> Tensor:
        three = self.branch3x3_1(x)
        double = self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        paths = [
            self.branch1x1(x),
            self.branch3x3_2a(three),
            self.branch3x3_2b(three),
            self.branch3x3dbl_3a(double),
            self.branch3x3dbl_3b(double),
            self.branch_pool_conv(self.branch_pool(x)),
        ]
        return concat(paths, 1)


class InceptionV3(Layer):
    """Inception V3; made for images of 299 x 299, at least 75 x 75.

    `num_classes` of 0 leaves dropout and the linear layer out, `with_pool=False` the mean over the image.

    Example:
        >>> model = paddle.vision.models.InceptionV3(num_classes=10)
        >>> model(paddle.rand([1, 3, 96, 96])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.inception_stem = InceptionStem()
        self.inception_block_list = LayerList(
            [InceptionA(192, 32), InceptionA(256, 64), InceptionA(288, 64), InceptionB(288)]
            + [InceptionC(768, width) for width in (128, 160, 160, 192)]
            + [InceptionD(768), InceptionE(1280), InceptionE(2048)]
        )
        if with_pool:
            self.avg_pool = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.dropout = Dropout(0.2, mode="downscale_in_infer")
            bound = 1.0 / math.sqrt(2048)
            self.fc = Linear(2048, num_classes, weight_attr=ParamAttr(initializer=Uniform(-bound, bound)))

    def forward(self, x: Tensor) -> Tensor:
        """The class scores of images.

        Args:
            x: images, `[batch, 3, height, width]`.

        Returns:
            A tensor of scores, `[batch, num_classes]`; features where `num_classes` is 0.

        Examples:
            >>> model = paddle.vision.models.InceptionV3(num_classes=10)
            >>> model(paddle.rand([1, 3, 96, 96])).shape
            paddle.Size([1, 10])
        """
        x = self.inception_stem(x)
        for block in self.inception_block_list:
            x = block(x)
        if self.with_pool:
            x = self.avg_pool(x)
        if self.num_classes > 0:
            x = self.fc(self.dropout(flatten(x, 1)))
        return x


def inception_v3(pretrained: bool = False, **kwargs: Any) -> InceptionV3:
    """Inception V3.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `InceptionV3`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.inception_v3(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        21840490
    """
    return build(InceptionV3, "inception_v3", pretrained, "inception_v3.pdparams", **kwargs)
