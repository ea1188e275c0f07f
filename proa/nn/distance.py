"""Layers of two inputs: their likeness, their distance, a bilinear form."""

from __future__ import annotations

from ..eager.annotations import AttrLike
from ..eager.tensor import Tensor
from . import functional as F
from .base.sizes import whole_sizes
from .layer import Layer


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


__all__ = ["Bilinear", "CosineSimilarity", "PairwiseDistance"]
