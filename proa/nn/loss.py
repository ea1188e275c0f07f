"""Losses as layers."""

from __future__ import annotations

from typing import Any

from ..core.errors import value_error
from ..eager.tensor import Tensor
from . import functional as F
from .layer import Layer


def _reduction(layer: Layer, reduction: str, *more: str) -> str:
    allowed = ("mean", "sum", "none", *more)
    if reduction not in allowed:
        raise value_error(type(layer).__name__, f"reduction must be one of {', '.join(allowed)}", repr(reduction))
    return reduction


class CrossEntropyLoss(Layer):
    """`nn.functional.cross_entropy` with its options fixed."""

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        soft_label: bool = False,
        axis: int = -1,
        use_softmax: bool = True,
        label_smoothing: float = 0.0,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.weight, self.reduction = weight, _reduction(self, reduction)
        self.ignore_index, self.soft_label, self.axis = ignore_index, soft_label, axis
        self.use_softmax, self.label_smoothing, self.name = use_softmax, label_smoothing, name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.cross_entropy(
            input, label, self.weight, self.ignore_index, self.reduction, self.soft_label,
            self.axis, self.use_softmax, self.label_smoothing,
        )  # fmt: skip


class NLLLoss(Layer):
    """`nn.functional.nll_loss` with its options fixed."""

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.weight, self.ignore_index = weight, ignore_index
        self.reduction, self.name = _reduction(self, reduction), name
        self._weight, self._name = weight, name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.nll_loss(input, label, self.weight, self.ignore_index, self.reduction)


class MSELoss(Layer):
    """The mean squared error."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = _reduction(self, reduction)

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.mse_loss(input, label, self.reduction)


class L1Loss(Layer):
    """The mean absolute error."""

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self.reduction, self.name = _reduction(self, reduction), name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.l1_loss(input, label, self.reduction)


class SmoothL1Loss(Layer):
    """Squared for small differences, linear for large ones."""

    def __init__(
        self,
        reduction: str = "mean",
        delta: float = 1.0,
        is_huber: bool = True,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.reduction, self.delta = _reduction(self, reduction), delta
        self.is_huber, self.name = is_huber, name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, label, self.reduction, self.delta, self.is_huber)


class BCELoss(Layer):
    """The cross entropy of two classes, for probabilities."""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self.weight, self.reduction, self.name = weight, _reduction(self, reduction), name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, label, self.weight, self.reduction)


class BCEWithLogitsLoss(Layer):
    """The cross entropy of two classes, for logits."""

    def __init__(
        self,
        weight: Tensor | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.weight, self.reduction = weight, _reduction(self, reduction)
        self.pos_weight, self.name = pos_weight, name

    def forward(self, logit: Tensor, label: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(logit, label, self.weight, self.reduction, self.pos_weight)


class KLDivLoss(Layer):
    """The Kullback-Leibler divergence."""

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__()
        self.reduction: Any = _reduction(self, reduction, "batchmean")
        self.log_target = log_target

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.kl_div(input, label, self.reduction, self.log_target)
