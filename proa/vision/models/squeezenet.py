"""SqueezeNet (Iandola et al. 2016), versions 1.0 and 1.1."""

from __future__ import annotations

from typing import Any

from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...nn import AdaptiveAvgPool2D, Conv2D, Dropout, Layer, MaxPool2D
from ...nn import functional as F
from ...ops.shape.joining import concat
from ...ops.shape.manipulation import squeeze
from .weights import build

# Channels of the squeezing and of each expanding convolution.
_FIRES = ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256))
# First convolution (channels, kernel, padding), and the numbers of the fires before which the maximum is taken.
_VERSIONS = {"1.0": (96, 7, 0, (0, 3, 7)), "1.1": (64, 3, 1, (0, 2, 4))}


class MakeFireConv(Layer):
    """A convolution with ReLU."""

    def __init__(self, input_channels: int, output_channels: int, filter_size: int, padding: int = 0) -> None:
        super().__init__()
        self._conv = Conv2D(input_channels, output_channels, filter_size, padding=padding)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self._conv(x))


class MakeFire(Layer):
    """Squeezes the channels, then expands them on two paths of 1 x 1 and 3 x 3."""

    def __init__(self, input_channels: int, squeezed: int, expanded: int) -> None:
        super().__init__()
        self._conv = MakeFireConv(input_channels, squeezed, 1)
        self._conv_path1 = MakeFireConv(squeezed, expanded, 1)
        self._conv_path2 = MakeFireConv(squeezed, expanded, 3, 1)

    def forward(self, inputs: Tensor) -> Tensor:
        x = self._conv(inputs)
        return concat([self._conv_path1(x), self._conv_path2(x)], 1)


class SqueezeNet(Layer):
    """SqueezeNet of `version` "1.0" or "1.1".

    `num_classes` of 0 leaves the last convolution out of the calculation, `with_pool=False` the mean over the image.

    Example:
        >>> model = paddle.vision.models.SqueezeNet("1.1", num_classes=10)
        >>> model(paddle.rand([1, 3, 64, 64])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, version: str, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        if version not in _VERSIONS:
            raise value_error("SqueezeNet", "version must be '1.0' or '1.1'", f"version: {version!r}")
        self.version = version
        self.num_classes = num_classes
        self.with_pool = with_pool
        channels, kernel, padding, self._pooled_before = _VERSIONS[version]
        self._conv = Conv2D(3, channels, kernel, 2, padding)
        self._pool = MaxPool2D(3, 2, 0)
        self._fires: list[Layer] = []
        for number, (squeezed, expanded) in enumerate(_FIRES):
            fire = MakeFire(channels, squeezed, expanded)
            self.add_sublayer(f"_conv{number + 1}", fire)
            self._fires.append(fire)
            channels = 2 * expanded
        self._drop = Dropout(0.5, mode="downscale_in_infer")
        if num_classes > 0:
            self._conv9 = Conv2D(512, num_classes, 1)
        self._avg_pool = AdaptiveAvgPool2D(1)

    def forward(self, inputs: Tensor) -> Tensor:
        """The class scores of images.

        Args:
            inputs: images, `[batch, 3, height, width]`.

        Returns:
            A tensor of scores, `[batch, num_classes]`; features where `num_classes` is 0.

        Examples:
            >>> model = paddle.vision.models.SqueezeNet("1.1", num_classes=10)
            >>> model(paddle.rand([1, 3, 64, 64])).shape
            paddle.Size([1, 10])
        """
        x = F.relu(self._conv(inputs))
        for number, fire in enumerate(self._fires):
            if number in self._pooled_before:
                x = self._pool(x)
            x = fire(x)
        if self.num_classes > 0:
            x = self._conv9(self._drop(x))
        if self.with_pool:
            x = squeeze(self._avg_pool(F.relu(x)), [2, 3])
        return x


def squeezenet1_0(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.0.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `SqueezeNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.squeezenet1_0(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        740554
    """
    return build(SqueezeNet, "squeezenet1_0", pretrained, "SqueezeNet1_0_pretrained.pdparams", version="1.0", **kwargs)


def squeezenet1_1(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.1: as accurate with less work.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `SqueezeNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.squeezenet1_1(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        727626
    """
    return build(SqueezeNet, "squeezenet1_1", pretrained, "SqueezeNet1_1_pretrained.pdparams", version="1.1", **kwargs)
