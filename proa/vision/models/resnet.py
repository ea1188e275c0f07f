"""ResNet (He et al. 2015), with its kin ResNeXt (Xie et al. 2016) and Wide ResNet (Zagoruyko, Komodakis 2016)."""

from __future__ import annotations

from typing import Any

from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...nn import AdaptiveAvgPool2D, BatchNorm2D, Conv2D, Layer, Linear, MaxPool2D, ReLU, Sequential
from ...ops.shape.manipulation import flatten
from .weights import build

# How many blocks stand in each of the four stages.
_STAGES = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


class BasicBlock(Layer):
    """Two 3 x 3 convolutions beside the shortcut."""

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Any = None,
    ) -> None:
        super().__init__()
        if dilation > 1:
            raise NotImplementedError("(BasicBlock) dilation is for BottleneckBlock; received dilation above 1.")
        norm = norm_layer or BatchNorm2D
        self.conv1 = Conv2D(inplanes, planes, 3, stride, 1, bias_attr=False)
        self.bn1 = norm(planes)
        self.relu = ReLU()
        self.conv2 = Conv2D(planes, planes, 3, 1, 1, bias_attr=False)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(out)) + shortcut)


class BottleneckBlock(Layer):
    """A 3 x 3 convolution between two 1 x 1 ones, beside the shortcut; the stride is at the 3 x 3 one."""

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Any = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or BatchNorm2D
        width = int(planes * (base_width / 64.0)) * groups
        wide = planes * self.expansion
        self.conv1 = Conv2D(inplanes, width, 1, bias_attr=False)
        self.bn1 = norm(width)
        self.conv2 = Conv2D(width, width, 3, stride, dilation, dilation=dilation, groups=groups, bias_attr=False)
        self.bn2 = norm(width)
        self.conv3 = Conv2D(width, wide, 1, bias_attr=False)
        self.bn3 = norm(wide)
        self.relu = ReLU()
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        return self.relu(self.bn3(self.conv3(out)) + shortcut)


class ResNet(Layer):
    """Four stages of residual blocks of one kind.

    `width` is a bottleneck's channels for each 64 of its stage and group, `groups` those of its 3 x 3 convolution
    (ResNeXt). `num_classes` of 0 leaves the linear layer out, `with_pool=False` the mean over the image.

    Example:
        >>> models = paddle.vision.models
        >>> model = models.ResNet(models.resnet.BottleneckBlock, 50, num_classes=10)
        >>> model(paddle.rand([1, 3, 64, 64])).shape
        paddle.Size([1, 10])
    """

    def __init__(
        self,
        block: type[BasicBlock] | type[BottleneckBlock],
        depth: int = 50,
        width: int = 64,
        num_classes: int = 1000,
        with_pool: bool = True,
        groups: int = 1,
    ) -> None:
        super().__init__()
        if depth not in _STAGES:
            raise value_error("ResNet", f"depth must be one of {', '.join(map(str, _STAGES))}", f"depth: {depth}")
        self.groups = groups
        self.base_width = width
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.inplanes = 64
        self.dilation = 1
        self.conv1 = Conv2D(3, 64, 7, 2, 3, bias_attr=False)
        self.bn1 = BatchNorm2D(64)
        self.relu = ReLU()
        self.maxpool = MaxPool2D(3, 2, 1)
        counts = _STAGES[depth]
        self.layer1 = self._stage(block, 64, counts[0], 1)
        self.layer2 = self._stage(block, 128, counts[1], 2)
        self.layer3 = self._stage(block, 256, counts[2], 2)
        self.layer4 = self._stage(block, 512, counts[3], 2)
        if with_pool:
            self.avgpool = AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = Linear(512 * block.expansion, num_classes)

    def _stage(self, block: Any, planes: int, count: int, stride: int) -> Sequential:
        wide = planes * block.expansion
        downsample = None
        if stride != 1 or self.inplanes != wide:
            downsample = Sequential(Conv2D(self.inplanes, wide, 1, stride, bias_attr=False), BatchNorm2D(wide))
        blocks = [block(self.inplanes, planes, stride, downsample, self.groups, self.base_width)]
        self.inplanes = wide
        for _ in range(1, count):
            blocks.append(block(wide, planes, groups=self.groups, base_width=self.base_width))
        return Sequential(*blocks)

    def forward(self, x: Tensor) -> Tensor:
        """The class scores of images.

        Args:
            x: images, `[batch, 3, height, width]`.

        Returns:
            A tensor of scores, `[batch, num_classes]`; features where `num_classes` is 0.

        Examples:
            >>> model = paddle.vision.models.resnet18(num_classes=10)
            >>> model(paddle.rand([1, 3, 32, 32])).shape
            paddle.Size([1, 10])
        """
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            x = self.fc(flatten(x, 1))
        return x


def _resnet(name: str, depth: int, pretrained: bool, options: dict[str, Any], **shape: int) -> ResNet:
    block = BasicBlock if depth < 50 else BottleneckBlock
    return build(ResNet, name, pretrained, f"{name}.pdparams", block=block, depth=depth, **{**shape, **options})


def resnet18(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 18 layers.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ResNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.resnet18(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        11191242
    """
    return _resnet("resnet18", 18, pretrained, kwargs)


def resnet34(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 34 layers.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ResNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.resnet34(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        21306826
    """
    return _resnet("resnet34", 34, pretrained, kwargs)


def resnet50(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 50 layers.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ResNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.resnet50(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        23581642
    """
    return _resnet("resnet50", 50, pretrained, kwargs)


def resnet101(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 101 layers.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ResNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.resnet101(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        42625994
    """
    return _resnet("resnet101", 101, pretrained, kwargs)


def resnet152(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 152 layers.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ResNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.resnet152(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        58315722
    """
    return _resnet("resnet152", 152, pretrained, kwargs)


def resnext50_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 50 layers, 32 groups of 4 channels.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ResNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.resnext50_32x4d(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        23068618
    """
    return _resnet("resnext50_32x4d", 50, pretrained, kwargs, groups=32, width=4)


def resnext50_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 50 layers, 64 groups of 4 channels.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ResNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.resnext50_64x4d(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        43262410
    """
    return _resnet("resnext50_64x4d", 50, pretrained, kwargs, groups=64, width=4)


def resnext101_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 101 layers, 32 groups of 4 channels.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ResNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.resnext101_32x4d(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        42287050
    """
    return _resnet("resnext101_32x4d", 101, pretrained, kwargs, groups=32, width=4)


def resnext101_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 101 layers, 64 groups of 4 channels.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ResNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.resnext101_64x4d(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        81629642
    """
    return _resnet("resnext101_64x4d", 101, pretrained, kwargs, groups=64, width=4)


def resnext152_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 152 layers, 32 groups of 4 channels.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ResNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.resnext152_32x4d(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        58122186
    """
    return _resnet("resnext152_32x4d", 152, pretrained, kwargs, groups=32, width=4)


def resnext152_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 152 layers, 64 groups of 4 channels.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ResNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.resnext152_64x4d(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        113238474
    """
    return _resnet("resnext152_64x4d", 152, pretrained, kwargs, groups=64, width=4)


def wide_resnet50_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 50 layers and bottlenecks twice as wide.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ResNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.wide_resnet50_2(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        66922954
    """
    return _resnet("wide_resnet50_2", 50, pretrained, kwargs, width=128)


def wide_resnet101_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 101 layers and bottlenecks twice as wide.

    Args:
        pretrained: whether weights are read from the local folder of published ones.
        kwargs: arguments of `ResNet`, such as `num_classes`.

    Returns:
        The model.

    Examples:
        >>> with paddle.LazyGuard():  # no memory is taken yet
        ...     model = paddle.vision.models.wide_resnet101_2(num_classes=10)
        >>> sum(parameter.size for parameter in model.parameters())
        124996042
    """
    return _resnet("wide_resnet101_2", 101, pretrained, kwargs, width=128)
