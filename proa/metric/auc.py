"""Auc: the area under the curve of true against false positives, from a histogram of the predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import value_error
from .metric import LateMetric, check_name, to_array

if TYPE_CHECKING:
    from ..eager.tensor import Tensor


class Auc(LateMetric):
    """The area under the ROC curve of a binary classifier.

    Predictions are sorted into `num_thresholds + 1` bins, so the area is exact up to the width of a bin. As in Paddle,
    the ROC curve is used whatever `curve` says.

    Args:
        curve: accepted for compatibility.
        num_thresholds: the number of thresholds.
        name: the metric's name.

    Raises:
        ValueError: `num_thresholds` is no positive integer.

    Examples:
        >>> metric = paddle.metric.Auc()
        >>> metric.update(np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]]), np.array([[0], [1], [0]]))
        >>> metric.accumulate()
        0.5
    """

    def __init__(
        self, curve: str = "ROC", num_thresholds: int = 4095, name: str = "auc", *args: Any, **kwargs: Any
    ) -> None:
        super().__init__()
        if not isinstance(num_thresholds, int) or num_thresholds < 1:
            raise value_error("Auc", "num_thresholds must be a positive integer", f"num_thresholds: {num_thresholds!r}")
        self._curve = curve
        self._num_thresholds = num_thresholds
        self._name = check_name("Auc", name)
        self._stat_pos = np.zeros(num_thresholds + 1, np.int64)
        self._stat_neg = np.zeros(num_thresholds + 1, np.int64)

    def update(self, preds: Tensor | np.ndarray, labels: Tensor | np.ndarray) -> None:
        """Adds a batch.

        Args:
            preds: probabilities of both classes, [samples, 2], or of the class 1 alone, [samples, 1].
            labels: 0 or 1 for each sample.

        Raises:
            ValueError: a shape does not fit, or something is no probability.

        Examples:
            >>> metric = paddle.metric.Auc()
            >>> metric.update(np.array([[0.1], [0.9]]), np.array([0, 1]))
            >>> metric.accumulate()
            1.0
        """
        found, wanted = to_array("Auc.update", preds, "preds"), to_array("Auc.update", labels, "labels")
        self._read()
        self._add(found, wanted)

    def _add(self, preds: np.ndarray, labels: np.ndarray, *_: Any) -> None:
        if preds.ndim != 2 or preds.shape[1] not in (1, 2) or labels.size != preds.shape[0]:
            raise value_error(
                "Auc.update", "preds must be [samples, 2] (or [samples, 1]) with a label for every sample",
                f"preds: {list(preds.shape)}, labels: {list(labels.shape)}",
            )  # fmt: skip
        probabilities = preds[:, -1].astype(np.float64)
        if probabilities.size and not (probabilities.min() >= 0 and probabilities.max() <= 1):
            raise value_error("Auc.update", "preds must be probabilities between 0 and 1", "", "apply a softmax first")
        bins = (probabilities * self._num_thresholds).astype(np.int64)
        positive = labels.reshape(-1).astype(bool)
        size = self._num_thresholds + 1
        self._stat_pos += np.bincount(bins[positive], minlength=size)
        self._stat_neg += np.bincount(bins[~positive], minlength=size)

    @staticmethod
    def trapezoid_area(x1: float, x2: float, y1: float, y2: float) -> float:
        """The area between two points of a curve and the horizontal axis.

        Args:
            x1, x2: the places.
            y1, y2: the heights there.

        Examples:
            >>> paddle.metric.Auc.trapezoid_area(0.0, 2.0, 1.0, 3.0)
            4.0
        """
        return abs(x1 - x2) * (y1 + y2) / 2.0

    def accumulate(self) -> float:
        """The area over all updates; 0 until both classes were seen.

        Examples:
            >>> paddle.metric.Auc().accumulate()
            0.0
        """
        self._read()
        # From the highest threshold down; the first point is the origin.
        positives = np.concatenate([[0], np.cumsum(self._stat_pos[::-1])])
        negatives = np.concatenate([[0], np.cumsum(self._stat_neg[::-1])])
        if not positives[-1] or not negatives[-1]:
            return 0.0
        area = np.sum(np.diff(negatives) * (positives[1:] + positives[:-1]) / 2.0)
        return float(area / positives[-1] / negatives[-1])

    def reset(self) -> None:
        """Forgets all updates.

        Examples:
            >>> metric = paddle.metric.Auc()
            >>> metric.update(np.array([[0.1], [0.9]]), np.array([0, 1]))
            >>> metric.reset()
            >>> metric.accumulate()
            0.0
        """
        super().reset()
        self._stat_pos[:] = 0
        self._stat_neg[:] = 0

    def name(self) -> str:
        """The metric's name.

        Examples:
            >>> paddle.metric.Auc().name()
            'auc'
        """
        return self._name
