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
from ..ops.create.creation import full, to_tensor
from ..ops.index.search import argmax, topk
from .metric import LateMetric, to_array


class Accuracy(LateMetric):
    """The share of samples whose label is among the `k` largest outputs, for every `k` of `topk`."""

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

    def compute(self, pred: Any, label: Any, *args: Any) -> Tensor:
        """For every sample, at which of the first places of `pred` its label stands: ones and zeros.

        Labels are class numbers, with or without a last dimension of 1, or one-hot.
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

    def update(self, correct: Any, *args: Any) -> Any:
        """Adds a batch, as `compute` gave it; the accuracy of this batch alone (a list for several `k`)."""
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
        """Samples with the label among the first `k`, for every `k`."""
        self._read()
        return self._hits.tolist()

    @property
    def count(self) -> list[int]:
        """Samples seen, for every `k`."""
        self._read()
        return [self._seen] * len(self.topk)

    def reset(self) -> None:
        super().reset()
        self._hits[:] = 0
        self._seen = 0

    def accumulate(self) -> Any:
        self._read()
        shares = [float(hit / self._seen) if self._seen else 0.0 for hit in self._hits]
        return shares[0] if len(shares) == 1 else shares

    def name(self) -> list[str]:
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
    """The share of samples whose label is among the `k` largest of `input`, as a tensor.

    `input` is [samples, classes] and `label` [samples, 1]. The numbers of hits and of samples are written to `correct`
    and `total` where given.
    """
    if not isinstance(input, Tensor) or not isinstance(label, Tensor):
        raise type_error(
            "accuracy", "input and label must be Tensors", f"{type(input).__name__}, {type(label).__name__}"
        )
    if input.ndim != 2 or label.ndim != 2 or label.shape != [input.shape[0], 1]:
        raise value_error(
            "accuracy", "input must be [samples, classes] and label [samples, 1]",
            f"input: {input.shape}, label: {label.shape}", "add a dimension with label.unsqueeze(-1)",
        )  # fmt: skip
    if label._aval.dtype.kind not in "iu":
        raise type_error("accuracy", "label must be of an integer type", f"label: {label.dtype}")
    if not isinstance(k, int) or not 1 <= k <= input.shape[1]:
        raise value_error("accuracy", f"k must be between 1 and the number of classes, {input.shape[1]}", f"k: {k!r}")
    _, order = topk(input.detach(), k, axis=-1)
    hits = cast_to((order == cast_to(label, np.dtype(np.int64))).any(axis=-1), np.dtype(np.int32)).sum()
    count = input.shape[0]
    for target, value in ((correct, hits), (total, count)):
        if target is not None:
            _write(target, value)
    return cast_to(hits, np.dtype(np.float32)) / max(count, 1)


def _write(target: Tensor, value: Any) -> None:
    """Gives a counter of the caller's own shape its number."""
    number = value if isinstance(value, Tensor) else to_tensor(value)
    filled = full(target.shape, 0, dtype=target.dtype) + cast_to(number, target._aval.dtype)
    replace_value(target, filled)
