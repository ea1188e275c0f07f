"""Accuracy: how often the right class is among the likeliest ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor
from ..eager.views import replace_value
from ..ops.basic import cast_to
from ..ops.create.creation import full
from ..ops.index.search import argmax, topk
from .metric import LateMetric, to_array


class Accuracy(LateMetric):
    """The share of samples whose label is among the `k` largest outputs, for every `k` of `topk`.

    Args:
        topk: the numbers k.
        name: the metric's name; "acc" if left out.

    Raises:
        TypeError: `topk` is no tuple of positive integers.

    Examples:
        >>> metric = paddle.metric.Accuracy()
        >>> scores = paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]])
        >>> metric.update(metric.compute(scores, paddle.to_tensor([1, 1])))
        0.5
        >>> metric.accumulate()
        0.5
    """

    def __init__(self, topk: Sequence[int] = (1,), name: str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        if isinstance(topk, int) or not topk or not all(isinstance(k, int) and k > 0 for k in topk):
            raise type_error("Accuracy", "topk must be a tuple of positive integers", f"topk: {topk!r}", "give (1, 5)")
        self.topk = tuple(topk)
        self.maxk = max(topk)
        base = name or "acc"
        self._name = [base] if len(self.topk) == 1 else [f"{base}_top{k}" for k in self.topk]
        self._hits = np.zeros(len(self.topk), np.float64)
        self._seen = 0

    def compute(self, pred: Tensor, label: Tensor, *args: Any) -> Tensor:
        """For every sample, at which of the first places of `pred` its label stands: ones and zeros.

        Args:
            pred: scores, with the classes along the last axis.
            label: class numbers, with or without a last axis of 1, or one-hot.

        Raises:
            TypeError: something is no tensor.
            ValueError: the labels do not fit.

        Examples:
            >>> metric = paddle.metric.Accuracy(topk=(1, 2))
            >>> metric.compute(paddle.to_tensor([[0.1, 0.6, 0.3]]), paddle.to_tensor([2])).tolist()
            [[0.0, 1.0]]
        """
        if not isinstance(pred, Tensor) or not isinstance(label, Tensor):
            raise type_error(
                "Accuracy.compute", "pred and label must be Tensors", f"{type(pred).__name__}, {type(label).__name__}",
                "convert arrays with paddle.to_tensor",
            )  # fmt: skip
        classes = _class_numbers("Accuracy.compute", pred, label)
        pred = pred.detach()
        if self.maxk == 1:
            order = argmax(pred, axis=-1, keepdim=True)
        else:
            _, order = topk(pred, min(self.maxk, pred.shape[-1]), axis=-1)
        return cast_to(order == classes, np.dtype(np.float32))

    def update(self, correct: Tensor | np.ndarray, *args: Any) -> Any:
        """Adds a batch.

        Args:
            correct: what `compute` gave.

        Returns:
            The accuracy of this batch alone; a list for several k.

        Examples:
            >>> paddle.metric.Accuracy(topk=(1, 2)).update(np.array([[0.0, 1.0], [1.0, 0.0]]))
            [0.5, 1.0]
        """
        array = to_array("Accuracy.update", correct, "correct")
        self._read()
        hits, seen = self._add(array)
        shares = [float(hit / seen) if seen else 0.0 for hit in hits]
        return shares[0] if len(shares) == 1 else shares

    def _add(self, correct: np.ndarray, *_: Any) -> tuple[np.ndarray, int]:
        seen = math.prod(correct.shape[:-1])
        hits = np.array([correct[..., :k].sum(dtype=np.float64) for k in self.topk])
        self._hits += hits
        self._seen += seen
        return hits, seen

    @property
    def total(self) -> list[float]:
        """Samples with the label among the first k, for every k.

        Examples:
            >>> metric = paddle.metric.Accuracy(topk=(1, 2))
            >>> _ = metric.update(np.array([[0.0, 1.0], [1.0, 0.0]]))
            >>> metric.total
            [1.0, 2.0]
        """
        self._read()
        return self._hits.tolist()

    @property
    def count(self) -> list[int]:
        """Samples seen, for every k.

        Examples:
            >>> metric = paddle.metric.Accuracy(topk=(1, 2))
            >>> _ = metric.update(np.array([[0.0, 1.0], [1.0, 0.0]]))
            >>> metric.count
            [2, 2]
        """
        self._read()
        return [self._seen] * len(self.topk)

    def reset(self) -> None:
        """Forgets all updates.

        Examples:
            >>> metric = paddle.metric.Accuracy()
            >>> _ = metric.update(np.array([[1.0]]))
            >>> metric.reset()
            >>> metric.count
            [0]
        """
        super().reset()
        self._hits[:] = 0
        self._seen = 0

    def accumulate(self) -> Any:
        """The accuracy over all updates; a list for several k.

        Examples:
            >>> metric = paddle.metric.Accuracy()
            >>> _ = metric.update(np.array([[1.0], [0.0]]))
            >>> metric.accumulate()
            0.5
        """
        self._read()
        shares = [float(hit / self._seen) if self._seen else 0.0 for hit in self._hits]
        return shares[0] if len(shares) == 1 else shares

    def name(self) -> list[str]:
        """The metric's names, one for every k.

        Examples:
            >>> paddle.metric.Accuracy(topk=(1, 5)).name()
            ['acc_top1', 'acc_top5']
        """
        return self._name


def _class_numbers(where: str, pred: Tensor, label: Tensor) -> Tensor:
    """Labels of any accepted form as int64, one last dimension more than samples."""
    if (
        pred.ndim < 1
        or label.ndim not in (pred.ndim, pred.ndim - 1)
        or label.shape[:-1] != pred.shape[: label.ndim - 1]
    ):
        raise value_error(where, "labels do not fit the outputs", f"pred: {pred.shape}, label: {label.shape}")
    if label.ndim == pred.ndim - 1:
        label = label.unsqueeze(-1)
    elif label.shape[-1] != 1:
        if label.shape[-1] != pred.shape[-1]:
            raise value_error(
                where, "one-hot labels must have as many columns as the outputs",
                f"pred: {pred.shape}, label: {label.shape}",
            )  # fmt: skip
        label = argmax(label, axis=-1, keepdim=True)
    if label.shape[:-1] != pred.shape[:-1]:
        raise value_error(where, "labels do not fit the outputs", f"pred: {pred.shape}, label: {label.shape}")
    return cast_to(label, np.dtype(np.int64))


def accuracy(
    input: Tensor,
    label: Tensor,
    k: int = 1,
    correct: Tensor | None = None,
    total: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """The share of samples whose label is among the `k` largest, as a tensor.

    Args:
        input: scores, [samples, classes].
        label: class numbers, [samples, 1].
        k: how many of the largest count.
        correct: a tensor that the number of hits is written to.
        total: a tensor that the number of samples is written to.
        name: a label; it changes nothing.

    Raises:
        ValueError: a shape does not fit, or there are fewer classes than `k`.
        TypeError: something is no tensor, or the labels are no integers.

    Examples:
        >>> scores = paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]])
        >>> paddle.metric.accuracy(scores, paddle.to_tensor([[1], [1]])).item()
        0.5
    """
    if not isinstance(input, Tensor) or not isinstance(label, Tensor):
        raise type_error(
            "accuracy", "input and label must be Tensors", f"{type(input).__name__}, {type(label).__name__}"
        )
    if input.ndim != 2 or label._aval.shape != (input._aval.shape[0], 1):
        raise value_error(
            "accuracy", "input must be [samples, classes] and label [samples, 1]",
            f"input: {input.shape}, label: {label.shape}", "add a dimension with label.unsqueeze(-1)",
        )  # fmt: skip
    if label._aval.dtype.kind not in "iu":
        raise type_error("accuracy", "label must be of an integer type", f"label: {label.dtype}")
    if not isinstance(k, int) or not 1 <= k <= input.shape[1]:
        raise value_error("accuracy", f"k must be between 1 and the number of classes, {input.shape[1]}", f"k: {k!r}")
    _, order = topk(input.detach(), k, axis=-1)
    hits = cast_to((order == cast_to(label, np.dtype(np.int64))).any(axis=-1), np.dtype(np.float32))
    if correct is not None:
        _write(correct, hits.sum())
    if total is not None:  # not the size itself, which a static program may not know
        _write(total, (hits * 0 + 1).sum())
    return hits.mean() if input._aval.shape[0] else hits.sum()


def _write(target: Tensor, number: Tensor) -> None:
    """Gives a counter of the caller's own shape its number."""
    filled = full(target.shape, 0, dtype=target.dtype) + cast_to(number, target._aval.dtype)
    replace_value(target, filled)
