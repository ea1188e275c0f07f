"""Precision and Recall of a binary classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import value_error
from .metric import LateMetric, check_name, to_array


class _Counting(LateMetric):
    """Counts of hits and misses over predictions between 0 and 1 and labels of 0 and 1."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = check_name(type(self).__name__, name)
        self._hits = 0
        self._misses = 0

    def update(self, preds: Any, labels: Any) -> None:
        """Adds a batch.

        Args:
            preds: predictions between 0 and 1, one for each sample.
            labels: 0 or 1 for each sample.

        Raises:
            ValueError: the numbers of both differ.

        Examples:
            >>> metric = paddle.metric.Recall()
            >>> metric.update(np.array([0.9, 0.2, 0.8]), np.array([1, 1, 0]))
            >>> metric.accumulate()
            0.5
        """
        where = f"{type(self).__name__}.update"
        found, wanted = to_array(where, preds, "preds"), to_array(where, labels, "labels")
        self._read()
        self._add(found, wanted)

    def _add(self, preds: np.ndarray, labels: np.ndarray, *_: Any) -> None:
        if preds.size != labels.size or any(array.ndim > 1 and array.shape[-1] != 1 for array in (preds, labels)):
            raise value_error(
                type(self).__name__, "preds and labels must be one number a sample",
                f"preds: {list(preds.shape)}, labels: {list(labels.shape)}", "give the probability of class 1 alone",
            )  # fmt: skip
        self._count(preds.reshape(-1), labels.reshape(-1))

    def _count(self, preds: np.ndarray, labels: np.ndarray) -> None:
        raise NotImplementedError

    def reset(self) -> None:
        """Forgets all updates.

        Examples:
            >>> metric = paddle.metric.Precision()
            >>> metric.update(np.array([0.9]), np.array([1]))
            >>> metric.reset()
            >>> metric.tp
            0
        """
        super().reset()
        self._hits = self._misses = 0

    def accumulate(self) -> float:
        """The share over all updates; 0 where there is nothing to count.

        Examples:
            >>> paddle.metric.Precision().accumulate()
            0.0
        """
        self._read()
        both = self._hits + self._misses
        return float(self._hits / both) if both else 0.0

    def name(self) -> str:
        """The metric's name.

        Examples:
            >>> paddle.metric.Precision().name()
            'precision'
        """
        return self._name

    @property
    def tp(self) -> int:
        """Samples of class 1 that were found.

        Examples:
            >>> metric = paddle.metric.Precision()
            >>> metric.update(np.array([0.9, 0.8]), np.array([1, 0]))
            >>> metric.tp
            1
        """
        self._read()
        return self._hits


class Precision(_Counting):
    """Of the samples predicted as class 1 (0.5 and more), the share that are.

    Args:
        name: the metric's name.

    Examples:
        >>> metric = paddle.metric.Precision()
        >>> metric.update(np.array([0.9, 0.2, 0.8]), np.array([1, 1, 0]))
        >>> metric.accumulate()
        0.5
    """

    def __init__(self, name: str = "precision", *args: Any, **kwargs: Any) -> None:
        super().__init__(name)

    def _count(self, preds: np.ndarray, labels: np.ndarray) -> None:
        found = np.floor(preds + 0.5) == 1
        right = int((labels[found] == 1).sum())
        self._hits += right
        self._misses += int(found.sum()) - right

    @property
    def fp(self) -> int:
        """Samples of class 0 that were taken for class 1.

        Examples:
            >>> metric = paddle.metric.Precision()
            >>> metric.update(np.array([0.9, 0.8]), np.array([1, 0]))
            >>> metric.fp
            1
        """
        self._read()
        return self._misses


class Recall(_Counting):
    """Of the samples of class 1, the share predicted as such (more than 0.5).

    Args:
        name: the metric's name.

    Examples:
        >>> metric = paddle.metric.Recall()
        >>> metric.update(np.array([0.9, 0.2, 0.8]), np.array([1, 1, 0]))
        >>> metric.accumulate()
        0.5
    """

    def __init__(self, name: str = "recall", *args: Any, **kwargs: Any) -> None:
        super().__init__(name)

    def _count(self, preds: np.ndarray, labels: np.ndarray) -> None:
        # Unlike Precision, a prediction of exactly 0.5 is rounded to the even 0: so does Paddle.
        found = np.rint(preds[labels == 1]) == 1
        self._hits += int(found.sum())
        self._misses += int((~found).sum())

    @property
    def fn(self) -> int:
        """Samples of class 1 that were missed.

        Examples:
            >>> metric = paddle.metric.Recall()
            >>> metric.update(np.array([0.9, 0.2]), np.array([1, 1]))
            >>> metric.fn
            1
        """
        self._read()
        return self._misses
