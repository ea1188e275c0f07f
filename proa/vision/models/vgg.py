"""VGG (Simonyan, Zisserman 2014): stacks of 3 x 3 convolutions with 11, 13, 16 or 19 layers with weights."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from ...nn import AdaptiveAvgPool2D, BatchNorm2D, Conv2D, Dropout, Layer, Linear, MaxPool2D, ReLU, Sequential
from ...ops.shape.manipulation import flatten
from .weights import build

# How many convolutions stand in each of the five stages.
_STAGES = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
_WIDTHS = (64, 128, 256, 512, 512)
_PUBLISHED = (16, 19)


class VGG(Layer):
    """The given `features` (512 channels out), a mean to 7 x 7, and three linear layers.

    `num_classes` of 0 leaves the linear layers out, `with_pool=False` the mean.

    Example:
        >>> model = paddle.vision.models.vgg11(num_classes=10)
        >>> model(paddle.rand([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, features: Layer, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.features = features
        self.num_classes = num_classes
        self.with_pool = with_pool
        if with_pool:
            self.avgpool = AdaptiveAvgPool2D((7, 7))
        if num_classes > 0:
            self.classifier = Sequential(
                Linear(512 * 7 * 7, 4096), ReLU(), Dropout(),
                Linear(4096, 4096), ReLU(), Dropout(),
                Linear(4096, num_classes),
            )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        """The class scores of images.

        Args:
            x: images, `[batch, 3, height, width]`.

        Returns:
            A tensor of scores, `[batch, num_classes]`; features where `num_classes` is 0.

        Examples:
            >>> model = paddle.vision.models.vgg11(num_classes=0)
            >>> model(paddle.rand([1, 3, 32, 32])).shape
            paddle.Size([1, 512, 7, 7])
        """
        x = self.features(x)
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            x = self.classifier(flatten(x, 1))
        return x


def _features(layers: int, batch_norm: bool) -> Sequential:
    made: list[Layer] = []
    channels = 3
    for count, width in zip(_STAGES[layers], _WIDTHS, strict=True):
        for _ in range(count):
            made.append(Conv2D(channels, width, 3, padding=1))
            if batch_norm:
                made.append(BatchNorm2D(width))
            made.append(ReLU())
            channels = width
        made.append(MaxPool2D(2, 2))
    return Sequential(*made)


def _vgg(layers: int, pretrained: bool, batch_norm: bool, options: dict[str, Any]) -> VGG:
    file = f"vgg{layers}.pdparams" if layers in _PUBLISHED and not batch_norm else None

    def create(**arguments: Any) -> VGG:
        return VGG(_features(layers, batch_norm), **arguments)

    return build(create, f"vgg{layers}", pretrained, file, **options)


def vgg11(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 11 layers.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        batch_norm: whether every convolution is followed by a batch norm.
        kwargs: arguments of `VGG`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.vgg11(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        128807306
    """
    return _vgg(11, pretrained, batch_norm, kwargs)


def vgg13(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 13 layers.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        batch_norm: whether every convolution is followed by a batch norm.
        kwargs: arguments of `VGG`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.vgg13(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        128991818
    """
    return _vgg(13, pretrained, batch_norm, kwargs)


def vgg16(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 16 layers.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        batch_norm: whether every convolution is followed by a batch norm.
        kwargs: arguments of `VGG`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.vgg16(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        134301514
    """
    return _vgg(16, pretrained, batch_norm, kwargs)


def vgg19(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 19 layers.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        batch_norm: whether every convolution is followed by a batch norm.
        kwargs: arguments of `VGG`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.vgg19(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        139611210
    """
    return _vgg(19, pretrained, batch_norm, kwargs)
