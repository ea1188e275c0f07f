"""Losses over very many classes: a tree of them, or clusters of rare ones."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.errors import value_error
from ...eager.annotations import AttrLike
from ...eager.tensor import Tensor
from ...ops.neural.losses.class_loss import adaptive_log_probabilities
from ...ops.shape.joining import concat_along
from .. import functional as F
from ..base.sizes import whole_sizes
from ..initializer import XavierNormal
from ..layer import Layer


class HSigmoidLoss(Layer):
    """Hierarchical softmax: the loss of a path of two-way decisions through a tree, for very many classes.

    Args:
        feature_size: the size of the input.
        num_classes: the number of classes, at least 2.
        weight_attr: how the weight is made: a `ParamAttr`, an initializer or a name.
        bias_attr: the same for the bias; False leaves the bias out.
        is_custom: the tree comes with each call (`path_table`, `path_code`) instead of a complete binary one.
        is_sparse: accepted for compatibility.
        name: a label; it changes nothing.

    Raises:
        ValueError: there are fewer than two classes.

    Examples:
        >>> layer = paddle.nn.HSigmoidLoss(4, 6)
        >>> layer(paddle.ones([2, 4]), paddle.to_tensor([0, 5])).shape
        paddle.Size([2, 1])
        >>> layer.weight.shape
        paddle.Size([5, 4])
    """

    def __init__(
        self,
        feature_size: int,
        num_classes: int,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        is_custom: bool = False,
        is_sparse: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        feature_size, num_classes = whole_sizes(self, feature_size=feature_size, num_classes=num_classes)
        if num_classes < 2 and not is_custom:
            raise value_error("HSigmoidLoss", "num_classes must be at least 2", f"num_classes: {num_classes}")
        self._feature_size, self._num_classes, self._is_custom = feature_size, num_classes, is_custom
        nodes = num_classes if is_custom else num_classes - 1
        self.weight = self.create_parameter([nodes, feature_size], weight_attr)
        self.bias = self.create_parameter([nodes, 1], bias_attr, is_bias=True)

    def forward(
        self, input: Tensor, label: Tensor, path_table: Tensor | None = None, path_code: Tensor | None = None
    ) -> Tensor:
        """The loss of each sample.

        Args:
            input: the features, [batch, feature_size].
            label: the classes.
            path_table: for a tree of your own, the nodes on each class's path.
            path_code: and the decisions there.

        Examples:
            >>> layer = paddle.nn.HSigmoidLoss(4, 2, weight_attr=paddle.nn.initializer.Constant(0.0))
            >>> print(layer.forward(paddle.ones([1, 4]), paddle.to_tensor([1])).numpy().round(4))
            [[0.6931]]
        """
        return F.hsigmoid_loss(input, label, self._num_classes, self.weight, self.bias, path_table, path_code)


class AdaptiveLogSoftmaxWithLoss(Layer):
    """Softmax over frequent classes and clusters of rare ones, the clusters with smaller features.

    Args:
        in_features: the size of the input.
        n_classes: the number of classes, the frequent ones first.
        cutoffs: where each cluster begins, rising.
        weight_attr: how the weight is made: a `ParamAttr`, an initializer or a name.
        bias_attr: the same for the bias of the frequent classes.
        div_value: by how much the features of each further cluster are smaller.
        head_bias: whether the frequent classes have a bias.
        name: a label; it changes nothing.

    Raises:
        ValueError: `cutoffs` do not rise from 1 to below `n_classes`.

    Examples:
        >>> layer = paddle.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])
        >>> output, loss = layer(paddle.ones([3, 8]), paddle.to_tensor([0, 7, 19]))
        >>> output.shape, loss.shape
        (paddle.Size([3]), paddle.Size([]))
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        div_value: float = 4.0,
        head_bias: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        in_features, n_classes = whole_sizes(self, in_features=in_features, n_classes=n_classes)
        bounds = [int(c) for c in cutoffs]
        if not bounds or bounds != sorted(set(bounds)) or bounds[0] < 1 or bounds[-1] > n_classes - 1:
            raise value_error(
                "AdaptiveLogSoftmaxWithLoss", "cutoffs must rise, from 1 to below n_classes", f"cutoffs: {cutoffs}"
            )
        self.in_features, self.n_classes, self.div_value = in_features, n_classes, div_value
        self.cutoffs = [*bounds, n_classes]
        self.shortlist_size = bounds[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.is_head_bias = head_bias
        initializer = XavierNormal()
        self.head_weight = self.create_parameter(
            [in_features, self.head_size], weight_attr, default_initializer=initializer
        )
        self.head_bias = self.create_parameter([self.head_size], bias_attr, is_bias=True) if head_bias else None
        self.tail_weights = []
        for number in range(self.n_clusters):
            size = int(in_features // div_value ** (number + 1))
            width = self.cutoffs[number + 1] - self.cutoffs[number]
            pair = [
                self.create_parameter([in_features, size], weight_attr, default_initializer=initializer),
                self.create_parameter([size, width], weight_attr, default_initializer=initializer),
            ]
            self.add_parameter(f"_tail_weights_{number}_0", pair[0])
            self.add_parameter(f"_tail_weights_{number}_1", pair[1])
            self.tail_weights.append(pair)

    def forward(self, input: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        """The log probability of each sample's class, and the loss: the negative mean of them.

        Args:
            input: the features, [batch, in_features].
            label: the classes.

        Examples:
            >>> layer = paddle.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])
            >>> output, loss = layer.forward(paddle.ones([3, 8]), paddle.to_tensor([0, 7, 19]))
            >>> bool((loss + output.mean()).abs() < 1e-5)
            True
        """
        return F.adaptive_log_softmax_with_loss(
            input, label, self.head_weight, self.tail_weights, self.cutoffs, self.head_bias
        )

    def log_prob(self, input: Tensor) -> Tensor:
        """Log probabilities of all classes.

        Args:
            input: the features, [batch, in_features].

        Examples:
            >>> layer = paddle.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])
            >>> print(layer.log_prob(paddle.ones([3, 8])).exp().sum(1).numpy().round(4))
            [1. 1. 1.]
        """
        head, tails = adaptive_log_probabilities(
            input, self.head_weight, self.tail_weights, self.cutoffs, self.head_bias
        )
        short = self.shortlist_size
        parts = [head[:, :short]]
        parts += [tail + head[:, short + number].unsqueeze(1) for number, tail in enumerate(tails)]
        return concat_along(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row.

        Args:
            input: the features, [batch, in_features].

        Examples:
            >>> paddle.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10]).predict(paddle.ones([3, 8])).shape
            paddle.Size([3])
        """
        return self.log_prob(input).argmax(1)
