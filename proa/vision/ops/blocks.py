"""A convolution with its normalisation and activation, the brick most vision models are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...nn import BatchNorm2D, Conv2D, Layer, ReLU, Sequential


class ConvNormActivation(Sequential):
    """Conv2D, then `norm_layer`, then `activation_layer`; None leaves one out.

    Without `padding` the size is kept for a stride of 1; there is a bias unless something normalises behind it.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any = 3,
        stride: Any = 1,
        padding: Any = None,
        groups: int = 1,
        norm_layer: Callable[..., Layer] | None = BatchNorm2D,
        activation_layer: Callable[..., Layer] | None = ReLU,
        dilation: int = 1,
        bias: bool | None = None,
    ) -> None:
        if padding is None:
            padding = (kernel_size - 1) // 2 * dilation
        if bias is None:
            bias = norm_layer is None
        layers: list[Layer] = [
            Conv2D(
                in_channels,
                out_channels,
                kernel_size,
                stride,
                padding,
                dilation=dilation,
                groups=groups,
                bias_attr=None if bias else False,
            )
        ]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer())
        super().__init__(*layers)
