"""ShuffleNet V2 (Ma et al. 2018): half of the channels pass through, then the halves are shuffled."""

from __future__ import annotations

from typing import Any

from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...nn import AdaptiveAvgPool2D, Layer, Linear, MaxPool2D, ReLU, Swish
from ...nn import functional as F
from ...ops.shape.joining import chunk, concat
from ...ops.shape.manipulation import flatten
from ..ops.blocks import ConvNormActivation
from .weights import build

_REPEATS = (4, 8, 4)
# Channels: first convolution, the three stages, last convolution.
_WIDTHS = {
    0.25: (24, 24, 48, 96, 512),
    0.33: (24, 32, 64, 128, 512),
    0.5: (24, 48, 96, 192, 1024),
    1.0: (24, 116, 232, 464, 1024),
    1.5: (24, 176, 352, 704, 1024),
    2.0: (24, 224, 488, 976, 2048),
}
_ACTIVATIONS = {"relu": ReLU, "swish": Swish, None: None}


class InvertedResidual(Layer):
    """Half of the channels go through three convolutions, the other half stays."""

    def __init__(self, channels: int, activation: Any) -> None:
        super().__init__()
        half = channels // 2
        self._conv_pw = ConvNormActivation(half, half, 1, 1, 0, activation_layer=activation)
        self._conv_dw = ConvNormActivation(half, half, 3, 1, 1, groups=half, activation_layer=None)
        self._conv_linear = ConvNormActivation(half, half, 1, 1, 0, activation_layer=activation)

    def forward(self, inputs: Tensor) -> Tensor:
        kept, changed = chunk(inputs, 2, 1)
        changed = self._conv_linear(self._conv_dw(self._conv_pw(changed)))
        return F.channel_shuffle(concat([kept, changed], 1), 2)


class InvertedResidualDS(Layer):
    """The block that halves the size: both halves of the result are computed from all channels."""

    def __init__(self, in_channels: int, out_channels: int, activation: Any) -> None:
        super().__init__()
        half = out_channels // 2
        self._conv_dw_1 = ConvNormActivation(in_channels, in_channels, 3, 2, 1, in_channels, activation_layer=None)
        self._conv_linear_1 = ConvNormActivation(in_channels, half, 1, 1, 0, activation_layer=activation)
        self._conv_pw_2 = ConvNormActivation(in_channels, half, 1, 1, 0, activation_layer=activation)
        self._conv_dw_2 = ConvNormActivation(half, half, 3, 2, 1, half, activation_layer=None)
        self._conv_linear_2 = ConvNormActivation(half, half, 1, 1, 0, activation_layer=activation)

    def forward(self, inputs: Tensor) -> Tensor:
        first = self._conv_linear_1(self._conv_dw_1(inputs))
        second = self._conv_linear_2(self._conv_dw_2(self._conv_pw_2(inputs)))
        return F.channel_shuffle(concat([first, second], 1), 2)


class ShuffleNetV2(Layer):
    """ShuffleNet V2; `scale` is one of 0.25, 0.33, 0.5, 1, 1.5 and 2, `act` "relu" or "swish".

    `num_classes` of 0 leaves the linear layer out, `with_pool=False` the mean over the image.

    Example:
        >>> model = paddle.vision.models.ShuffleNetV2(scale=0.5, num_classes=10)
        >>> model(paddle.rand([1, 3, 64, 64])).shape
        paddle.Size([1, 10])
    """

    def __init__(
        self, scale: float = 1.0, act: str | None = "relu", num_classes: int = 1000, with_pool: bool = True
    ) -> None:
        super().__init__()
        if scale not in _WIDTHS:
            raise NotImplementedError(
                f"(ShuffleNetV2) scale must be one of {', '.join(map(str, _WIDTHS))}; received scale: {scale}."
            )
        if act not in _ACTIVATIONS:
            raise value_error("ShuffleNetV2", "act must be 'relu', 'swish' or None", f"act: {act!r}")
        self.scale = scale
        self.num_classes = num_classes
        self.with_pool = with_pool
        activation = _ACTIVATIONS[act]
        first, *stages, last = _WIDTHS[scale]
        self._conv1 = ConvNormActivation(3, first, 3, 2, 1, activation_layer=activation)
        self._max_pool = MaxPool2D(3, 2, 1)
        self._block_list: list[Layer] = []
        channels = first
        for stage, (width, count) in enumerate(zip(stages, _REPEATS, strict=True), 2):
            for number in range(count):
                block = (
                    InvertedResidual(width, activation) if number else InvertedResidualDS(channels, width, activation)
                )
                self.add_sublayer(f"{stage}_{number + 1}", block)
                self._block_list.append(block)
            channels = width
        self._last_conv = ConvNormActivation(channels, last, 1, 1, 0, activation_layer=activation)
        if with_pool:
            self._pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self._fc = Linear(last, num_classes)

    def forward(self, inputs: Tensor) -> Tensor:
        """The class scores of images.

        Args:
            inputs: images, `[batch, 3, height, width]`.

        Returns:
            A tensor of scores, `[batch, num_classes]`; features where `num_classes` is 0.

        Examples:
            >>> model = paddle.vision.models.ShuffleNetV2(scale=0.5, num_classes=10)
            >>> model(paddle.rand([1, 3, 64, 64])).shape
            paddle.Size([1, 10])
        """
        x = self._max_pool(self._conv1(inputs))
        for block in self._block_list:
            x = block(x)
        x = self._last_conv(x)
        if self.with_pool:
            x = self._pool2d_avg(x)
        if self.num_classes > 0:
            x = self._fc(flatten(x, 1))
        return x


def _shufflenet(name: str, pretrained: bool, options: dict[str, Any], **form: Any) -> ShuffleNetV2:
    return build(ShuffleNetV2, name, pretrained, f"{name}.pdparams", **form, **options)


def shufflenet_v2_x0_25(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet V2 of scale 0.25.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ShuffleNetV2`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.shufflenet_v2_x0_25(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        99842
    """
    return _shufflenet("shufflenet_v2_x0_25", pretrained, kwargs, scale=0.25)


def shufflenet_v2_x0_33(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet V2 of scale 0.33.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ShuffleNetV2`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.shufflenet_v2_x0_33(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        144394
    """
    return _shufflenet("shufflenet_v2_x0_33", pretrained, kwargs, scale=0.33)


def shufflenet_v2_x0_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet V2 of scale 0.5.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ShuffleNetV2`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.shufflenet_v2_x0_5(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        359994
    """
    return _shufflenet("shufflenet_v2_x0_5", pretrained, kwargs, scale=0.5)


def shufflenet_v2_x1_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet V2 of scale 1.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ShuffleNetV2`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.shufflenet_v2_x1_0(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        1280034
    """
    return _shufflenet("shufflenet_v2_x1_0", pretrained, kwargs, scale=1.0)


def shufflenet_v2_x1_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet V2 of scale 1.5.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ShuffleNetV2`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.shufflenet_v2_x1_5(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        2512314
    """
    return _shufflenet("shufflenet_v2_x1_5", pretrained, kwargs, scale=1.5)


def shufflenet_v2_x2_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet V2 of scale 2.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ShuffleNetV2`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.shufflenet_v2_x2_0(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        5371442
    """
    return _shufflenet("shufflenet_v2_x2_0", pretrained, kwargs, scale=2.0)


def shufflenet_v2_swish(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet V2 of scale 1 with swish instead of ReLU.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ShuffleNetV2`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.shufflenet_v2_swish(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        1280034
    """
    return _shufflenet("shufflenet_v2_swish", pretrained, kwargs, scale=1.0, act="swish")
