"""`paddle.sparse.nn.functional`: the functions behind the sparse layers."""

from __future__ import annotations

import inspect

from ....eager.declare import PUBLIC
from .activation import leaky_relu, relu, relu6, softmax
from .attention import attention
from .convolution import conv2d, conv3d, subm_conv2d, subm_conv2d_igemm, subm_conv3d, subm_conv3d_igemm
from .pooling import max_pool3d

__all__ = [
    "attention", "conv2d", "conv3d", "leaky_relu", "max_pool3d", "relu", "relu6", "softmax", "subm_conv2d",
    "subm_conv2d_igemm", "subm_conv3d", "subm_conv3d_igemm",
]  # fmt: skip

PUBLIC.update(
    {f"sparse.nn.functional.{name}": f for name, f in globals().items() if name in __all__ and inspect.isfunction(f)}
)
