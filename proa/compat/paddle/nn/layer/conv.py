"""Inner names of `paddle.nn.layer.conv`."""

from .....nn.conv import _Convolution as _ConvNd

__all__ = ["_ConvNd"]
