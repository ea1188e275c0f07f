"""Losses as layers."""

from __future__ import annotations

from typing import Any

from ...core.errors import value_error
from ...eager.tensor import Tensor
from .. import functional as F
from ..layer import Layer


def _reduction(layer: Layer, reduction: str, *more: str) -> str:
    allowed = ("mean", "sum", "none", *more)
    if reduction not in allowed:
        raise value_error(type(layer).__name__, f"reduction must be one of {', '.join(allowed)}", repr(reduction))
    return reduction


class CrossEntropyLoss(Layer):
    """The cross entropy of scores and classes: softmax and negative log likelihood in one.

    Args:
        weight: a factor for each class.
        ignore_index: labels with this number do not count.
        reduction: 'mean', 'sum', or 'none' for the loss of each sample.
        soft_label: labels are probabilities of all classes instead of class numbers.
        axis: the axis of the classes.
        use_softmax: False takes the input as probabilities already.
        label_smoothing: the share of each label that is spread over all classes.
        name: a label; it changes nothing.

    Raises:
        ValueError: the reduction is unknown.

    Examples:
        >>> loss = paddle.nn.CrossEntropyLoss()
        >>> round(loss(paddle.to_tensor([[2.0, 0.0, 0.0]]), paddle.to_tensor([0])).item(), 4)
        0.2395
    """

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
        """The loss.

        Args:
            input: scores, with the classes along `axis`.
            label: class numbers, or probabilities with `soft_label`.

        Examples:
            >>> loss = paddle.nn.CrossEntropyLoss(reduction="none")
            >>> print(loss.forward(paddle.zeros([2, 4]), paddle.to_tensor([0, 3])).numpy().round(4))
            [1.3863 1.3863]
        """
        return F.cross_entropy(
            input, label, self.weight, self.ignore_index, self.reduction, self.soft_label,
            self.axis, self.use_softmax, self.label_smoothing,
        )  # fmt: skip


class NLLLoss(Layer):
    """The negative log likelihood, for log probabilities.

    Args:
        weight: a factor for each class.
        ignore_index: labels with this number do not count.
        reduction: 'mean', 'sum', or 'none' for the loss of each sample.
        name: a label; it changes nothing.

    Raises:
        ValueError: the reduction is unknown.

    Examples:
        >>> log_probabilities = paddle.nn.LogSoftmax()(paddle.to_tensor([[2.0, 0.0, 0.0]]))
        >>> round(paddle.nn.NLLLoss()(log_probabilities, paddle.to_tensor([0])).item(), 4)
        0.2395
    """

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
        """The loss.

        Args:
            input: log probabilities, [batch, classes, …].
            label: class numbers, [batch, …].

        Examples:
            >>> paddle.nn.NLLLoss().forward(paddle.to_tensor([[-1.0, -2.0]]), paddle.to_tensor([1])).item()
            2.0
        """
        return F.nll_loss(input, label, self.weight, self.ignore_index, self.reduction)


class MSELoss(Layer):
    """The mean squared error.

    Args:
        reduction: 'mean', 'sum', or 'none' for the loss of each element.

    Raises:
        ValueError: the reduction is unknown.

    Examples:
        >>> paddle.nn.MSELoss()(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])).item()
        2.0
        >>> paddle.nn.MSELoss("median")
        Traceback (most recent call last):
            ...
        ValueError: (MSELoss) reduction must be one of mean, sum, none; received 'median'.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = _reduction(self, reduction)

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        """The squares of the differences, reduced.

        Args:
            input: the prediction.
            label: what it should be.

        Examples:
            >>> paddle.nn.MSELoss("none").forward(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])).tolist()
            [0.0, 4.0]
        """
        return F.mse_loss(input, label, self.reduction)


class L1Loss(Layer):
    """The mean absolute error.

    Args:
        reduction: 'mean', 'sum', or 'none' for the loss of each element.
        name: a label; it changes nothing.

    Raises:
        ValueError: the reduction is unknown.

    Examples:
        >>> paddle.nn.L1Loss()(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])).item()
        1.0
    """

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self.reduction, self.name = _reduction(self, reduction), name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        """The absolute differences, reduced.

        Args:
            input: the prediction.
            label: what it should be.

        Examples:
            >>> paddle.nn.L1Loss("sum").forward(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([0.0, 4.0])).item()
            3.0
        """
        return F.l1_loss(input, label, self.reduction)


class SmoothL1Loss(Layer):
    """Squared for differences below `delta`, linear above.

    Args:
        reduction: 'mean', 'sum', or 'none' for the loss of each element.
        delta: where the square ends.
        is_huber: False divides the loss by `delta`.
        name: a label; it changes nothing.

    Raises:
        ValueError: the reduction is unknown.

    Examples:
        >>> paddle.nn.SmoothL1Loss("none")(paddle.to_tensor([0.5, 3.0]), paddle.zeros([2])).tolist()
        [0.125, 2.5]
    """

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
        """The loss.

        Args:
            input: the prediction.
            label: what it should be.

        Examples:
            >>> paddle.nn.SmoothL1Loss(delta=2.0).forward(paddle.to_tensor([3.0]), paddle.zeros([1])).item()
            4.0
        """
        return F.smooth_l1_loss(input, label, self.reduction, self.delta, self.is_huber)


class BCELoss(Layer):
    """The cross entropy of two classes, for probabilities.

    Args:
        weight: a factor for each element.
        reduction: 'mean', 'sum', or 'none' for the loss of each element.
        name: a label; it changes nothing.

    Raises:
        ValueError: the reduction is unknown.

    Examples:
        >>> loss = paddle.nn.BCELoss()
        >>> round(loss(paddle.to_tensor([0.9, 0.2]), paddle.to_tensor([1.0, 0.0])).item(), 4)
        0.1643
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self.weight, self.reduction, self.name = weight, _reduction(self, reduction), name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        """The loss.

        Args:
            input: probabilities of the class 1.
            label: 0 or 1, or something between.

        Examples:
            >>> loss = paddle.nn.BCELoss(reduction="sum")
            >>> round(loss.forward(paddle.to_tensor([0.5, 0.5]), paddle.to_tensor([1.0, 0.0])).item(), 4)
            1.3863
        """
        return F.binary_cross_entropy(input, label, self.weight, self.reduction)


class BCEWithLogitsLoss(Layer):
    """The cross entropy of two classes, for scores before the sigmoid.

    Args:
        weight: a factor for each element.
        reduction: 'mean', 'sum', or 'none' for the loss of each element.
        pos_weight: a factor for the class 1.
        name: a label; it changes nothing.

    Raises:
        ValueError: the reduction is unknown.

    Examples:
        >>> loss = paddle.nn.BCEWithLogitsLoss()
        >>> round(loss(paddle.to_tensor([2.0, -2.0]), paddle.to_tensor([1.0, 0.0])).item(), 4)
        0.1269
    """

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
        """The loss.

        Args:
            logit: the scores.
            label: 0 or 1, or something between.

        Examples:
            >>> round(paddle.nn.BCEWithLogitsLoss(reduction="sum").forward(paddle.zeros([2]), paddle.ones([2])).item(), 4)
            1.3863
        """
        return F.binary_cross_entropy_with_logits(logit, label, self.weight, self.reduction, self.pos_weight)


class KLDivLoss(Layer):
    """The Kullback-Leibler divergence of log probabilities from probabilities.

    Args:
        reduction: 'mean', 'batchmean' (the sum over the batch size), 'sum' or 'none'.
        log_target: the labels are log probabilities too.

    Raises:
        ValueError: the reduction is unknown.

    Examples:
        >>> loss = paddle.nn.KLDivLoss(reduction="sum")
        >>> round(loss(paddle.to_tensor([0.5, 0.5]).log(), paddle.to_tensor([0.9, 0.1])).item(), 4)
        0.3681
    """

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__()
        self.reduction: Any = _reduction(self, reduction, "batchmean")
        self.log_target = log_target

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        """The loss.

        Args:
            input: log probabilities.
            label: probabilities, or log probabilities with `log_target`.

        Examples:
            >>> paddle.nn.KLDivLoss("none").forward(paddle.to_tensor([0.0]), paddle.to_tensor([1.0])).tolist()
            [0.0]
        """
        return F.kl_div(input, label, self.reduction, self.log_target)
