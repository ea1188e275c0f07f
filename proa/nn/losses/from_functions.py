"""Losses that are layers of a function with some options: margins, likelihoods, transducers."""

from __future__ import annotations

import inspect
from typing import Any

from ...core.errors import value_error
from ...eager.tensor import Tensor
from .. import functional as F
from ..layer import Layer
from .common import _reduction

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


__all__ = [
    "CosineEmbeddingLoss", "GaussianNLLLoss", "HingeEmbeddingLoss", "MarginRankingLoss", "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss", "MultiMarginLoss", "PoissonNLLLoss", "RNNTLoss", "SoftMarginLoss", "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]  # fmt: skip
