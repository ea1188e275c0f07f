"""`paddle.metric`: how good a model is, summed up over batches.

A metric is a class with `update`, `accumulate`, `reset` and `name` (`metric.py`); `Accuracy`, `Precision`, `Recall` and
`Auc` are those that come with it. They keep what they are given as tensors and read the numbers when somebody asks, so
that a training loop does not wait for the device at every step. Nothing here may import another public package.
"""

from __future__ import annotations

from .accuracy import Accuracy, accuracy
from .auc import Auc
from .binary import Precision, Recall
from .metric import Metric

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]
