"""Further losses as layers: margins, likelihoods, alignments, very many classes."""

from __future__ import annotations

import inspect
from typing import Any

from ..core.errors import value_error
from ..eager.tensor import Tensor
from ..ops.neural.losses.class_loss import adaptive_log_probabilities
from ..ops.shape.joining import concat_along
from . import functional as F
from .base.sizes import whole_sizes
from .initializer import XavierNormal
from .layer import Layer
from .loss import _reduction


def _loss(name: str, function: str, doc: str, **options: Any) -> Any:
    """The layer of a loss whose arguments behind the tensors are `options`, in order."""
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

    cls = type(name, (Layer,), {"__init__": __init__, "forward": forward, "__doc__": doc, "__module__": __name__})
    cls.__signature__ = signature  # type: ignore[attr-defined]
    return cls


MarginRankingLoss = _loss(
    "MarginRankingLoss", "margin_ranking_loss", "`nn.functional.margin_ranking_loss`.", margin=0.0
)
HingeEmbeddingLoss = _loss(
    "HingeEmbeddingLoss", "hinge_embedding_loss", "`nn.functional.hinge_embedding_loss`.", margin=1.0
)
CosineEmbeddingLoss = _loss(
    "CosineEmbeddingLoss", "cosine_embedding_loss", "`nn.functional.cosine_embedding_loss`.", margin=0
)
SoftMarginLoss = _loss("SoftMarginLoss", "soft_margin_loss", "`nn.functional.soft_margin_loss`.")
MultiLabelSoftMarginLoss = _loss(
    "MultiLabelSoftMarginLoss",
    "multi_label_soft_margin_loss",
    "`nn.functional.multi_label_soft_margin_loss`.",
    weight=None,
)
MultiLabelMarginLoss = _loss(
    "MultiLabelMarginLoss", "multi_label_margin_loss", "`nn.functional.multi_label_margin_loss`."
)
MultiMarginLoss = _loss(
    "MultiMarginLoss", "multi_margin_loss", "`nn.functional.multi_margin_loss`.", p=1, margin=1.0, weight=None
)
TripletMarginLoss = _loss(
    "TripletMarginLoss",
    "triplet_margin_loss",
    "`nn.functional.triplet_margin_loss`.",
    margin=1.0,
    p=2.0,
    epsilon=1e-6,
    swap=False,
)
TripletMarginWithDistanceLoss = _loss(
    "TripletMarginWithDistanceLoss", "triplet_margin_with_distance_loss",
    "`nn.functional.triplet_margin_with_distance_loss`.", distance_function=None, margin=1.0, swap=False,
)  # fmt: skip
PoissonNLLLoss = _loss(
    "PoissonNLLLoss", "poisson_nll_loss", "`nn.functional.poisson_nll_loss`.", log_input=True, full=False, epsilon=1e-8
)
GaussianNLLLoss = _loss(
    "GaussianNLLLoss", "gaussian_nll_loss", "`nn.functional.gaussian_nll_loss`.", full=False, epsilon=1e-6
)
RNNTLoss = _loss("RNNTLoss", "rnnt_loss", "`nn.functional.rnnt_loss`.", blank=0, fastemit_lambda=0.001)


class CTCLoss(Layer):
    """`nn.functional.ctc_loss`."""

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
    """Hierarchical softmax with its parameters: a weight row and a bias for each inner node of the tree."""

    def __init__(
        self,
        feature_size: int,
        num_classes: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
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
        return F.hsigmoid_loss(input, label, self._num_classes, self.weight, self.bias, path_table, path_code)


class AdaptiveLogSoftmaxWithLoss(Layer):
    """Softmax over frequent classes and clusters of rare ones, the clusters with smaller features."""

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Any,
        weight_attr: Any = None,
        bias_attr: Any = None,
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
        return F.adaptive_log_softmax_with_loss(
            input, label, self.head_weight, self.tail_weights, self.cutoffs, self.head_bias
        )

    def log_prob(self, input: Tensor) -> Tensor:
        """Log probabilities of all classes."""
        head, tails = adaptive_log_probabilities(
            input, self.head_weight, self.tail_weights, self.cutoffs, self.head_bias
        )
        short = self.shortlist_size
        parts = [head[:, :short]]
        parts += [tail + head[:, short + number].unsqueeze(1) for number, tail in enumerate(tails)]
        return concat_along(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row."""
        return self.log_prob(input).argmax(1)  # type: ignore[attr-defined]


__all__ = [
    "AdaptiveLogSoftmaxWithLoss", "CTCLoss", "CosineEmbeddingLoss", "GaussianNLLLoss", "HSigmoidLoss",
    "HingeEmbeddingLoss", "MarginRankingLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss",
    "PoissonNLLLoss", "RNNTLoss", "SoftMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip
