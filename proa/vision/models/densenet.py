"""DenseNet (Huang et al. 2016): every layer sees what all the layers of its block before it made."""

from __future__ import annotations

import math
from typing import Any

from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...nn import AdaptiveAvgPool2D, AvgPool2D, BatchNorm, Conv2D, Dropout, Layer, Linear, MaxPool2D, ParamAttr
from ...nn.initializer import Uniform
from ...ops.shape.joining import concat
from ...ops.shape.manipulation import flatten
from .weights import build

# Channels of the first convolution, growth, layers of the four blocks.
_FORMS = {
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
    264: (64, 32, (6, 12, 64, 48)),
}


class BNACConvLayer(Layer):
    """Normalisation and ReLU before the convolution."""

    def __init__(self, num_channels: int, num_filters: int, filter_size: int, pad: int = 0) -> None:
        super().__init__()
        self._batch_norm = BatchNorm(num_channels, act="relu")
        self._conv = Conv2D(num_channels, num_filters, filter_size, 1, pad, bias_attr=False)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv(self._batch_norm(input))


class ConvBNLayer(Layer):
    """The first convolution, with normalisation and ReLU behind it."""

    def __init__(self, num_channels: int, num_filters: int, filter_size: int, stride: int, pad: int) -> None:
        super().__init__()
        self._conv = Conv2D(num_channels, num_filters, filter_size, stride, pad, bias_attr=False)
        self._batch_norm = BatchNorm(num_filters, act="relu")

    def forward(self, input: Tensor) -> Tensor:
        return self._batch_norm(self._conv(input))


class DenseLayer(Layer):
    """Adds `growth_rate` channels to its input."""

    def __init__(self, num_channels: int, growth_rate: int, bn_size: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.bn_ac_func1 = BNACConvLayer(num_channels, bn_size * growth_rate, 1)
        self.bn_ac_func2 = BNACConvLayer(bn_size * growth_rate, growth_rate, 3, 1)
        if dropout:
            self.dropout_func = Dropout(dropout, mode="downscale_in_infer")

    def forward(self, input: Tensor) -> Tensor:
        made = self.bn_ac_func2(self.bn_ac_func1(input))
        if self.dropout:
            made = self.dropout_func(made)
        return concat([input, made], 1)


class DenseBlock(Layer):
    """Dense layers one after another."""

    def __init__(
        self, num_channels: int, num_layers: int, bn_size: int, growth_rate: int, dropout: float, name: str
    ) -> None:
        super().__init__()
        self.dense_layer_func: list[Layer] = []
        for number in range(num_layers):
            layer = DenseLayer(num_channels + number * growth_rate, growth_rate, bn_size, dropout)
            self.add_sublayer(f"{name}_{number + 1}", layer)
            self.dense_layer_func.append(layer)

    def forward(self, input: Tensor) -> Tensor:
        for layer in self.dense_layer_func:
            input = layer(input)
        return input


class TransitionLayer(Layer):
    """Between two blocks: half the channels, half the size."""

    def __init__(self, num_channels: int, num_output_features: int) -> None:
        super().__init__()
        self.conv_ac_func = BNACConvLayer(num_channels, num_output_features, 1)
        self.pool2d_avg = AvgPool2D(2, 2, 0)

    def forward(self, input: Tensor) -> Tensor:
        return self.pool2d_avg(self.conv_ac_func(input))


class DenseNet(Layer):
    """DenseNet of 121, 161, 169, 201 or 264 `layers`.

    `bn_size` is the width of a layer's first convolution in growths, `dropout` the probability behind each layer.
    `num_classes` of 0 leaves the linear layer out, `with_pool=False` the mean over the image.

    Example:
        >>> model = paddle.vision.models.DenseNet(layers=121, num_classes=10)
        >>> model(paddle.rand([1, 3, 64, 64])).shape
        paddle.Size([1, 10])
    """

    def __init__(
        self,
        layers: int = 121,
        bn_size: int = 4,
        dropout: float = 0.0,
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        super().__init__()
        if layers not in _FORMS:
            raise value_error("DenseNet", f"layers must be one of {', '.join(map(str, _FORMS))}", f"layers: {layers}")
        self.num_classes = num_classes
        self.with_pool = with_pool
        channels, growth, block_config = _FORMS[layers]
        self.block_config = list(block_config)
        self.conv1_func = ConvBNLayer(3, channels, 7, 2, 3)
        self.pool2d_max = MaxPool2D(3, 2, 1)
        self._stages: list[Layer] = []
        for number, count in enumerate(block_config):
            stage = number + 2  # the first convolution is stage 1
            block = DenseBlock(channels, count, bn_size, growth, dropout, f"conv{stage}")
            self.add_sublayer(f"db_conv_{stage}", block)
            self._stages.append(block)
            channels += count * growth
            if number < len(block_config) - 1:
                transition = TransitionLayer(channels, channels // 2)
                self.add_sublayer(f"tr_conv{stage}_blk", transition)
                self._stages.append(transition)
                channels //= 2
        self.batch_norm = BatchNorm(channels, act="relu")
        if with_pool:
            self.pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            bound = 1.0 / math.sqrt(channels)
            self.out = Linear(channels, num_classes, weight_attr=ParamAttr(initializer=Uniform(-bound, bound)))

    def forward(self, input: Tensor) -> Tensor:
        """The class scores of images.

        Args:
            input: images, `[batch, 3, height, width]`.

        Returns:
            A tensor of scores, `[batch, num_classes]`; features where `num_classes` is 0.

        Examples:
            >>> model = paddle.vision.models.DenseNet(layers=121, num_classes=10)
            >>> model(paddle.rand([1, 3, 64, 64])).shape
            paddle.Size([1, 10])
        """
        x = self.pool2d_max(self.conv1_func(input))
        for stage in self._stages:
            x = stage(x)
        x = self.batch_norm(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        if self.num_classes > 0:
            x = self.out(flatten(x, 1))
        return x


def _densenet(layers: int, pretrained: bool, options: dict[str, Any]) -> DenseNet:
    file = f"DenseNet{layers}_pretrained.pdparams"
    return build(DenseNet, f"densenet{layers}", pretrained, file, layers=layers, **options)


def densenet121(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 121 layers.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `DenseNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.densenet121(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        7047754
    """
    return _densenet(121, pretrained, kwargs)


def densenet161(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 161 layers.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `DenseNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.densenet161(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        26714026
    """
    return _densenet(161, pretrained, kwargs)


def densenet169(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 169 layers.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `DenseNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.densenet169(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        12659530
    """
    return _densenet(169, pretrained, kwargs)


def densenet201(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 201 layers.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `DenseNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.densenet201(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        18341194
    """
    return _densenet(201, pretrained, kwargs)


def densenet264(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 264 layers.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `DenseNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.densenet264(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        31074122
    """
    return _densenet(264, pretrained, kwargs)
