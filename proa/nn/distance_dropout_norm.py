"""Further layers: distances, Bilinear, dropouts, response, spectral and synchronised normalisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.errors import value_error
from ..eager.tensor import Tensor, alias
from ..ir.recorder import recording_gradients
from ..ops.basic import reshape_to, transpose_to
from ..ops.linear.linalg import matmul
from . import functional as F
from .base.attributes import ParamAttr
from .base.sizes import whole_sizes
from .initializer import Normal
from .layer import Layer
from .norm import _BatchNormBase


class CosineSimilarity(Layer):
    """The cosine of the angle between vectors along an axis."""

    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self._axis, self._eps = axis, eps
        self.dim, self.eps = axis, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self._axis, self._eps)

    def extra_repr(self) -> str:
        return f"axis={self._axis}, eps={self._eps}"


class PairwiseDistance(Layer):
    """The p-norm of the differences of two tensors' rows."""

    def __init__(self, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None) -> None:
        super().__init__()
        self.p, self.epsilon, self.keepdim, self.name = p, epsilon, keepdim, name

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return F.pairwise_distance(x, y, self.p, self.epsilon, self.keepdim)

    def extra_repr(self) -> str:
        text = f"p={self.p}"
        if self.epsilon != 1e-6:
            text += f", epsilon={self.epsilon}"
        return text + (f", keepdim={self.keepdim}" if self.keepdim else "")


class Bilinear(Layer):
    """x1ᵀ W x2 + b, with a matrix W for each output feature."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        in1_features, in2_features, out_features = whole_sizes(
            self, in1_features=in1_features, in2_features=in2_features, out_features=out_features
        )
        self._in1_features, self._in2_features, self._out_features = in1_features, in2_features, out_features
        self.weight = self.create_parameter([out_features, in1_features, in2_features], weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.bilinear(x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self._in1_features}, in2_features={self._in2_features}, "
            f"out_features={self._out_features}, dtype={self._dtype}"
        )


class Dropout3D(Layer):
    """Sets whole channels of volumes to zero with probability `p` while training."""

    def __init__(self, p: float = 0.5, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__()
        self.p, self.data_format, self.name = p, data_format, name

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.data_format)

    def extra_repr(self) -> str:
        return f"p={self.p}, data_format={self.data_format}" + (f", name={self.name}" if self.name else "")


class AlphaDropout(Layer):
    """Dropout for SELU networks."""

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self.p, self.name = p, name

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)

    def extra_repr(self) -> str:
        return f"p={self.p}" + (f", name={self.name}" if self.name else "")


class FeatureAlphaDropout(AlphaDropout):
    """`AlphaDropout` of whole channels."""

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)


class LocalResponseNorm(Layer):
    """Divides by the strength of neighbouring channels."""

    def __init__(
        self,
        size: int,
        alpha: float = 1e-4,
        beta: float = 0.75,
        k: float = 1.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k
        self.data_format, self.name = data_format, name

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k, self.data_format)

    def extra_repr(self) -> str:
        text = f"size={self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
        return text + (f", data_format={self.data_format}" if self.data_format != "NCHW" else "")


# ---- spectral norm -------------------------------------------------------------------------------


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The axis `dim` against all others."""
    shape = weight._aval.shape
    moved = weight if dim == 0 else transpose_to(weight, (dim, *(a for a in range(len(shape)) if a != dim)))
    return reshape_to(moved, (shape[dim], math.prod(shape) // max(shape[dim], 1)))


def power_iteration(matrix: Tensor, u: Tensor, v: Tensor, rounds: int, eps: float) -> tuple[Any, Any]:
    """Better left and right singular vectors, outside of the gradient."""
    with recording_gradients(False):
        fixed: Any = matrix.detach()  # type: ignore[attr-defined]
        left: Any = alias(u)
        right: Any = alias(v)
        for _ in range(rounds):
            right = matmul(fixed, left, True, False)
            right = right / (right.norm() + eps)
            left = matmul(fixed, right, False, False)
            left = left / (left.norm() + eps)
        return left, right


class SpectralNorm(Layer):
    """Divides a weight by its largest singular value, which is followed by power iteration."""

    def __init__(
        self, weight_shape: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, dtype: str = "float32"
    ) -> None:
        super().__init__(dtype=dtype)
        shape = [int(n) for n in weight_shape]
        dim, power_iters = whole_sizes(self, dim=dim, power_iters=power_iters)
        if not shape or min(shape) < 1 or not -len(shape) <= dim < len(shape):
            raise value_error(
                "SpectralNorm", "the weight must have elements, and dim must be one of its axes", f"{shape}, dim: {dim}"
            )
        self._power_iters, self._epsilon, self._dim = power_iters, eps, dim % len(shape)
        rows = shape[self._dim]
        columns = int(np.prod(shape)) // rows
        self.weight_u = self.create_parameter([rows], ParamAttr(), default_initializer=Normal(0.0, 1.0))
        self.weight_v = self.create_parameter([columns], ParamAttr(), default_initializer=Normal(0.0, 1.0))
        self.weight_u.stop_gradient = self.weight_v.stop_gradient = True

    def forward(self, x: Tensor) -> Tensor:
        matrix = as_matrix(x, self._dim)
        u, v = power_iteration(matrix, self.weight_u, self.weight_v, self._power_iters, self._epsilon)
        sigma: Any = (u * matmul(matrix, v, False, False)).sum()
        return x / sigma  # type: ignore[operator]


# ---- batch norm over all devices -----------------------------------------------------------------


class SyncBatchNorm(_BatchNormBase):
    """Batch normalisation over the batches of all devices.

    A tensor that is sharded over devices is one tensor here, so that its statistics are those of the whole batch anyway:
    this is BatchNorm of any rank.
    """

    _default_format = "NCHW"

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """The layer with every BatchNorm in it replaced by a SyncBatchNorm with the same parameters."""
        result = layer
        if isinstance(layer, _BatchNormBase) and not isinstance(layer, SyncBatchNorm):
            result = cls(
                layer._num_features, layer._momentum, layer._epsilon,
                None if layer.weight is not None else False, None if layer.bias is not None else False,
                layer._data_format if layer._data_format in ("NCHW", "NHWC") else "NCHW", layer._name,
            )  # fmt: skip
            result.weight, result.bias = layer.weight, layer.bias
            result._mean, result._variance = layer._mean, layer._variance
            result.training = layer.training
        for name, child in list(layer._sub_layers.items()):
            if child is not None:
                result.add_sublayer(name, cls.convert_sync_batchnorm(child))
        return result


__all__ = [
    "AlphaDropout", "Bilinear", "CosineSimilarity", "Dropout3D", "FeatureAlphaDropout", "LocalResponseNorm",
    "PairwiseDistance", "SpectralNorm", "SyncBatchNorm",
]  # fmt: skip
