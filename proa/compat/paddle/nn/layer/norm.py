"""Inner names of `paddle.nn.layer.norm`."""

from .....nn.normalization.layers import _BatchNormBase, _InstanceNormBase

__all__ = ["_BatchNormBase", "_InstanceNormBase"]
