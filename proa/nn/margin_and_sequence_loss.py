"""Further losses as layers: margins, likelihoods, alignments, very many classes."""

from __future__ import annotations

import inspect
from typing import Any

from ..core.errors import value_error
from ..eager.annotations import AttrLike
from ..eager.tensor import Tensor
from ..ops.neural.losses.class_loss import adaptive_log_probabilities
from ..ops.shape.joining import concat_along
from . import functional as F
from .base.sizes import whole_sizes
from .initializer import XavierNormal
from .layer import Layer
from .loss import _reduction

_OPTIONS = {
    "margin": "the distance that is wanted",
    "weight": "a factor for each class",
    "p": "the power",
    "epsilon": "a small number that keeps divisors and logarithms finite",
    "swap": "takes the distance from the second to the third input where it is smaller",
    "distance_function": "a function of two tensors; the distance of `paddle.nn.PairwiseDistance` if left out",
    "log_input": "the input is the logarithm of the rate",
    "full": "adds the constant, by Stirling's formula for Poisson",
    "blank": "the class that stands for no label",
    "fastemit_lambda": "how strongly early labels are favoured",
    "reduction": "'mean', 'sum', or 'none' for the loss of each sample",
    "name": "a label; it changes nothing",
}


def _example(name: str, tensors: str, value: float, method: str = "") -> str:
    return f"""

    Examples:
        >>> round(paddle.nn.{name}(){method}({tensors}).item(), 4)
        {value}
    """


def _loss(name: str, function: str, doc: str, tensors: str, value: float, **options: Any) -> Any:
    """The layer of a loss whose arguments behind the tensors are `options`, in order.

    `tensors` and `value` are those of its example.
    """
    taken = "\n        ".join(f"{option}: {_OPTIONS[option]}." for option in (*options, "reduction", "name"))
    doc += f"\n\n    Args:\n        {taken}{_example(name, tensors, value)}"
    parameters = [
        inspect.Parameter(option, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
        for option, default in {**options, "reduction": "mean", "name": None}.items()
    ]
    signature = inspect.Signature(parameters)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Layer.__init__(self)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        self._options = {key: value for key, value in bound.arguments.items() if key != "name"}
        _reduction(self, self._options["reduction"])
        for key, value in bound.arguments.items():
            setattr(self, key, value)
        margin = self._options.get("margin", 0)
        if name.startswith("TripletMargin") and margin < 0:
            raise value_error(name, "the margin cannot be negative", f"margin: {margin}")

    def forward(self: Any, *tensors: Tensor, **named: Tensor) -> Tensor:
        return getattr(F, function)(*tensors, **named, **self._options)

    said = f"The loss of the tensors that `nn.functional.{function}` takes."
    forward.__doc__ = said + _example(name, tensors, value, ".forward")
    cls = type(name, (Layer,), {"__init__": __init__, "forward": forward, "__doc__": doc, "__module__": __name__})
    cls.__signature__ = signature  # type: ignore[attr-defined]
    return cls


MarginRankingLoss = _loss(
    "MarginRankingLoss", "margin_ranking_loss",
    "The first input should be larger than the second by a margin where the label is 1, smaller where it is -1.",
    "paddle.to_tensor([1.0]), paddle.to_tensor([3.0]), paddle.to_tensor([1.0])",
    2.0, margin=0.0,
)  # fmt: skip
HingeEmbeddingLoss = _loss(
    "HingeEmbeddingLoss", "hinge_embedding_loss",
    "The input itself where the label is 1; what it lacks to a margin where the label is -1.",
    "paddle.to_tensor([0.5, 0.25]), paddle.to_tensor([1.0, -1.0])",
    0.625, margin=1.0,
)  # fmt: skip
CosineEmbeddingLoss = _loss(
    "CosineEmbeddingLoss", "cosine_embedding_loss",
    "1 - cos of two vectors where the label is 1; what cos exceeds a margin by where it is -1.",
    "paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[0.0, 1.0]]), paddle.to_tensor([1])",
    1.0, margin=0,
)  # fmt: skip
SoftMarginLoss = _loss(
    "SoftMarginLoss", "soft_margin_loss",
    "log(1 + exp(-label * input)), for labels 1 and -1.",
    "paddle.to_tensor([2.0, -1.0]), paddle.to_tensor([1.0, -1.0])",
    0.2201,
)  # fmt: skip
MultiLabelSoftMarginLoss = _loss(
    "MultiLabelSoftMarginLoss", "multi_label_soft_margin_loss",
    "The cross entropy of two classes for each label, from scores.",
    "paddle.to_tensor([[2.0, -1.0]]), paddle.to_tensor([[1.0, 0.0]])",
    0.2201, weight=None,
)  # fmt: skip
MultiLabelMarginLoss = _loss(
    "MultiLabelMarginLoss", "multi_label_margin_loss",
    "Each label's score should exceed those of all other classes by 1; labels end at -1.",
    "paddle.to_tensor([[0.5, 0.25, 1.0]]), paddle.to_tensor([[2, -1, -1]])",
    0.25,
)  # fmt: skip
MultiMarginLoss = _loss(
    "MultiMarginLoss", "multi_margin_loss",
    "The label's score should exceed those of all other classes by a margin.",
    "paddle.to_tensor([[0.5, 0.25, 1.0]]), paddle.to_tensor([2])",
    0.25, p=1, margin=1.0, weight=None,
)  # fmt: skip
TripletMarginLoss = _loss(
    "TripletMarginLoss", "triplet_margin_loss",
    "The first input should be nearer to the second than to the third by a margin.",
    "paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([[3.0, 4.0]]), paddle.to_tensor([[6.0, 8.0]])",
    0.0, margin=1.0, p=2.0, epsilon=1e-6, swap=False,
)  # fmt: skip
TripletMarginWithDistanceLoss = _loss(
    "TripletMarginWithDistanceLoss", "triplet_margin_with_distance_loss",
    "`TripletMarginLoss` with a distance of your own.",
    "paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([[3.0, 4.0]]), paddle.to_tensor([[3.0, 4.0]])",
    1.0, distance_function=None, margin=1.0, swap=False,
)  # fmt: skip
PoissonNLLLoss = _loss(
    "PoissonNLLLoss", "poisson_nll_loss",
    "The negative log likelihood of counts under Poisson distributions, up to a constant.",
    "paddle.to_tensor([0.0, 1.0]), paddle.to_tensor([1.0, 2.0])",
    0.8591, log_input=True, full=False, epsilon=1e-8,
)  # fmt: skip
GaussianNLLLoss = _loss(
    "GaussianNLLLoss", "gaussian_nll_loss",
    "The negative log likelihood under normal distributions of given means and variances, up to a constant.",
    "paddle.to_tensor([1.0]), paddle.to_tensor([3.0]), paddle.to_tensor([2.0])",
    1.3466, full=False, epsilon=1e-6,
)  # fmt: skip
RNNTLoss = _loss(
    "RNNTLoss", "rnnt_loss",
    "The loss of a sequence of labels under a transducer: scores [batch, time, labels + 1, classes].",
    "paddle.zeros([1, 2, 2, 3]), paddle.to_tensor([[1]]), paddle.to_tensor([2]), paddle.to_tensor([1])",
    2.6027, blank=0, fastemit_lambda=0.001,
)  # fmt: skip


class CTCLoss(Layer):
    """Connectionist temporal classification: the loss of a sequence of labels against longer scores without alignment.

    Args:
        blank: the class that stands for no label.
        reduction: 'mean' (of each loss divided by its label's length), 'sum' or 'none'.
        zero_infinity: gives 0 where no alignment is possible, instead of infinity.

    Examples:
        >>> loss = paddle.nn.CTCLoss(reduction="none")
        >>> scores = paddle.zeros([4, 1, 3])  # [time, batch, classes], before softmax
        >>> lengths = paddle.to_tensor([4]), paddle.to_tensor([2])
        >>> print(loss(scores, paddle.to_tensor([[1, 2]], dtype="int32"), *lengths).numpy().round(3))
        [1.686]
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__()
        self.blank, self.reduction, self.zero_infinity = blank, _reduction(self, reduction), zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        labels: Tensor,
        input_lengths: Tensor,
        label_lengths: Tensor,
        norm_by_times: bool = False,
    ) -> Tensor:
        """The loss.

        Args:
            log_probs: scores [time, batch, classes], before softmax.
            labels: the labels [batch, longest length].
            input_lengths: how many steps of each sequence count.
            label_lengths: how many labels each sequence has.
            norm_by_times: divides gradients by the number of steps.

        Examples:
            >>> lengths = paddle.to_tensor([3]), paddle.to_tensor([1])
            >>> loss = paddle.nn.CTCLoss().forward(paddle.zeros([3, 1, 2]), paddle.to_tensor([[1]], dtype="int32"), *lengths)
            >>> round(loss.item(), 4)
            0.2877
        """
        return F.ctc_loss(
            log_probs,
            labels,
            input_lengths,
            label_lengths,
            self.blank,
            self.reduction,
            norm_by_times,
            self.zero_infinity,
        )


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
        cutoffs: Any,
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


__all__ = [
    "AdaptiveLogSoftmaxWithLoss", "CTCLoss", "CosineEmbeddingLoss", "GaussianNLLLoss", "HSigmoidLoss",
    "HingeEmbeddingLoss", "MarginRankingLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss",
    "PoissonNLLLoss", "RNNTLoss", "SoftMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip
