"""Further layers: distances, Bilinear, dropouts, response, spectral and synchronised normalisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.errors import value_error
from ..eager.annotations import AttrLike
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
    """The cosine of the angle between vectors along an axis.

    Args:
        axis: the axis; PyTorch's `dim` is taken too.
        eps: the smallest divisor.

    Examples:
        >>> layer = paddle.nn.CosineSimilarity(axis=1)
        >>> layer(paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[3.0, 4.0]])).numpy().round(4).tolist()
        [0.6000000238418579]
    """

    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self._axis, self._eps = axis, eps
        self.dim, self.eps = axis, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The cosine of each pair of vectors.

        Examples:
            >>> paddle.nn.CosineSimilarity(0).forward(paddle.to_tensor([1.0, 0.0]), paddle.to_tensor([0.0, 2.0])).item()
            0.0
        """
        return F.cosine_similarity(x1, x2, self._axis, self._eps)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.CosineSimilarity()
            CosineSimilarity(axis=1, eps=1e-08)
        """
        return f"axis={self._axis}, eps={self._eps}"


class PairwiseDistance(Layer):
    """The p-norm of the differences of two tensors' rows.

    Args:
        p: the p of the norm.
        epsilon: added to each difference; PyTorch's `eps` is taken too.
        keepdim: keeps the last axis, with one element.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.PairwiseDistance(epsilon=0.0)
        >>> layer(paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([[3.0, 4.0]])).tolist()
        [5.0]
    """

    def __init__(self, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None) -> None:
        super().__init__()
        self.p, self.epsilon, self.keepdim, self.name = p, epsilon, keepdim, name

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """The distance of each pair of rows.

        Examples:
            >>> paddle.nn.PairwiseDistance(p=1.0, epsilon=0.0).forward(paddle.zeros([2, 3]), paddle.ones([2, 3])).tolist()
            [3.0, 3.0]
        """
        return F.pairwise_distance(x, y, self.p, self.epsilon, self.keepdim)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.PairwiseDistance(p=1.0)
            PairwiseDistance(p=1.0)
        """
        text = f"p={self.p}"
        if self.epsilon != 1e-6:
            text += f", epsilon={self.epsilon}"
        return text + (f", keepdim={self.keepdim}" if self.keepdim else "")


class Bilinear(Layer):
    """x1ᵀ W x2 + b, with a matrix W for each output feature.

    Args:
        in1_features: the size of the first input.
        in2_features: the size of the second input.
        out_features: the size of the result.
        weight_attr: how the weight is made: a `ParamAttr`, an initializer or a name.
        bias_attr: the same for the bias; False leaves the bias out.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.Bilinear(2, 3, 4)
        >>> layer(paddle.ones([5, 2]), paddle.ones([5, 3])).shape
        paddle.Size([5, 4])
        >>> layer.weight.shape
        paddle.Size([4, 2, 3])
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
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
        """The bilinear form of each pair of rows.

        Examples:
            >>> layer = paddle.nn.Bilinear(1, 1, 1, weight_attr=paddle.nn.initializer.Constant(2.0))
            >>> layer.forward(paddle.to_tensor([[3.0]]), paddle.to_tensor([[5.0]])).tolist()
            [[30.0]]
        """
        return F.bilinear(x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.Bilinear(2, 3, 4)
            Bilinear(in1_features=2, in2_features=3, out_features=4, dtype=float32)
        """
        return (
            f"in1_features={self._in1_features}, in2_features={self._in2_features}, "
            f"out_features={self._out_features}, dtype={self._dtype}"
        )


class Dropout3D(Layer):
    """Sets whole channels of volumes to zero with probability `p` while training.

    Args:
        p: the probability of a channel being dropped; the others are divided by `1 - p`.
        data_format: where the channels are: 'NCDHW' or 'NDHWC'.
        name: a label; it changes nothing.

    Examples:
        >>> dropped = paddle.nn.Dropout3D(0.5)(paddle.ones([1, 8, 1, 2, 2]))
        >>> sorted(set(dropped.sum([2, 3, 4]).flatten().tolist()))
        [0.0, 8.0]
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__()
        self.p, self.data_format, self.name = p, data_format, name

    def forward(self, input: Tensor) -> Tensor:
        """The volumes with dropped channels while training, the volumes themselves otherwise.

        Examples:
            >>> paddle.nn.Dropout3D(0.5).eval().forward(paddle.ones([1, 1, 1, 1, 2])).flatten().tolist()
            [1.0, 1.0]
        """
        return F.dropout3d(input, self.p, self.training, self.data_format)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.Dropout3D(0.1)
            Dropout3D(p=0.1, data_format=NCDHW)
        """
        return f"p={self.p}, data_format={self.data_format}" + (f", name={self.name}" if self.name else "")


class AlphaDropout(Layer):
    """Dropout for `SELU` networks: dropped elements become a number that keeps mean and variance.

    Args:
        p: the probability of being dropped.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.AlphaDropout(0.5)
        >>> len(set(layer(paddle.ones([100])).tolist())), layer.eval()(paddle.ones([2])).tolist()
        (2, [1.0, 1.0])
    """

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self.p, self.name = p, name

    def forward(self, input: Tensor) -> Tensor:
        """The input with dropped elements while training, the input itself otherwise.

        Examples:
            >>> paddle.nn.AlphaDropout(0.5).eval().forward(paddle.ones([3])).tolist()
            [1.0, 1.0, 1.0]
        """
        return F.alpha_dropout(input, self.p, self.training)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.AlphaDropout(0.1)
            AlphaDropout(p=0.1)
        """
        return f"p={self.p}" + (f", name={self.name}" if self.name else "")


class FeatureAlphaDropout(AlphaDropout):
    """`AlphaDropout` of whole channels.

    Args:
        p: the probability of a channel being dropped.

    Examples:
        >>> dropped = paddle.nn.FeatureAlphaDropout(0.5)(paddle.ones([1, 8, 2, 2]))
        >>> bool((dropped.max([2, 3]) == dropped.min([2, 3])).all())
        True
    """

    def forward(self, input: Tensor) -> Tensor:
        """The input with dropped channels while training, the input itself otherwise.

        Examples:
            >>> paddle.nn.FeatureAlphaDropout(0.5).eval().forward(paddle.ones([1, 2, 1])).tolist()
            [[[1.0], [1.0]]]
        """
        return F.feature_alpha_dropout(input, self.p, self.training)


class LocalResponseNorm(Layer):
    """Divides each element by the strength of its place in neighbouring channels.

    The divisor is `(k + alpha * mean of squares) ** beta`, over `size` channels.

    Args:
        size: how many channels are looked at.
        alpha: the factor of the squares.
        beta: the power.
        k: what is added.
        data_format: where the channels are: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.LocalResponseNorm(2, alpha=1.0, beta=1.0)
        >>> print(layer(paddle.ones([1, 2, 1, 1])).flatten().numpy().round(4))
        [0.6667 0.5   ]
    """

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
        """The normalised tensor.

        Examples:
            >>> paddle.nn.LocalResponseNorm(3).forward(paddle.ones([2, 4, 5, 5])).shape
            paddle.Size([2, 4, 5, 5])
        """
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k, self.data_format)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.LocalResponseNorm(3)
            LocalResponseNorm(size=3, alpha=0.0001, beta=0.75, k=1.0)
        """
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
        fixed: Any = matrix.detach()
        left: Any = alias(u)
        right: Any = alias(v)
        for _ in range(rounds):
            right = matmul(fixed, left, True, False)
            right = right / (right.norm() + eps)
            left = matmul(fixed, right, False, False)
            left = left / (left.norm() + eps)
        return left, right


class SpectralNorm(Layer):
    """Divides a weight by its largest singular value, which is followed by power iteration.

    `paddle.nn.utils.spectral_norm` does this to the weight of a layer.

    Args:
        weight_shape: the extents of the weight.
        dim: the axis that stands for the rows of the matrix.
        power_iters: rounds of power iteration at each call.
        eps: the smallest divisor.
        dtype: the data type.

    Raises:
        ValueError: the weight would have no elements, or `dim` is none of its axes.

    Examples:
        >>> layer = paddle.nn.SpectralNorm([2, 2], power_iters=20)
        >>> print(layer(paddle.to_tensor([[4.0, 0.0], [0.0, 2.0]])).numpy().round(3))
        [[1.  0. ]
         [0.  0.5]]
    """

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
        """The weight, divided by its largest singular value.

        Examples:
            >>> paddle.nn.SpectralNorm([4, 3, 3]).forward(paddle.randn([4, 3, 3])).shape
            paddle.Size([4, 3, 3])
        """
        matrix = as_matrix(x, self._dim)
        u, v = power_iteration(matrix, self.weight_u, self.weight_v, self._power_iters, self._epsilon)
        sigma: Any = (u * matmul(matrix, v, False, False)).sum()
        return x / sigma  # type: ignore[operator]


# ---- batch norm over all devices -----------------------------------------------------------------


class SyncBatchNorm(_BatchNormBase):
    """Batch normalisation over the batches of all devices.

    A tensor that is sharded over devices is one tensor here, so that its statistics are those of the whole batch anyway:
    this is BatchNorm of any rank.

    Args:
        num_features: the number of channels.
        momentum: the share of the old running statistics at each step.
        epsilon: added to the variance.
        weight_attr: how the scales are made (`ParamAttr`); False leaves them out.
        bias_attr: the same for the shifts.
        data_format: where the channels are: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.SyncBatchNorm(3)(paddle.ones([2, 3, 4, 4])).shape
        paddle.Size([2, 3, 4, 4])
    """

    _default_format = "NCHW"

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """The layer with every BatchNorm in it replaced by a SyncBatchNorm with the same parameters.

        Args:
            layer: a layer; its sub-layers are replaced in place.

        Examples:
            >>> model = paddle.nn.Sequential(paddle.nn.Conv2D(3, 4, 1), paddle.nn.BatchNorm2D(4))
            >>> paddle.nn.SyncBatchNorm.convert_sync_batchnorm(model)[1]
            SyncBatchNorm(num_features=4, momentum=0.9, epsilon=1e-05)
        """
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
