"""Metric: the base class, and the part of it that reads tensors late."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor

# How many batches may wait before the older half of them is read: those have long been computed.
_MOST_WAITING = 64


class Metric(metaclass=abc.ABCMeta):
    """The base class of metrics.

    A training loop calls `compute(*outputs, *labels)` with tensors, then `update(*results)` with the results as arrays.
    `accumulate()` gives the value over all updates since `reset()`, and `name()` what to call it (a list for several).

    Examples:
        >>> class Largest(paddle.metric.Metric):
        ...     def reset(self):
        ...         self.value = 0.0
        ...     def update(self, outputs, labels):
        ...         self.value = max(self.value, float(np.max(outputs)))
        ...     def accumulate(self):
        ...         return self.value
        ...     def name(self):
        ...         return "largest"
        >>> metric = Largest()
        >>> metric.reset()
        >>> metric.update(np.array([1.0, 3.0]), np.array([0, 1]))
        >>> metric.accumulate()
        3.0
    """

    def __init__(self) -> None:  # noqa: B027 (subclasses call it)
        pass

    @abc.abstractmethod
    def reset(self) -> None:
        """Forgets all updates; subclasses define it.

        Examples:
            >>> metric = paddle.metric.Precision()
            >>> metric.update(np.array([0.9]), np.array([1]))
            >>> metric.reset()
            >>> metric.accumulate()
            0.0
        """
        raise NotImplementedError

    @abc.abstractmethod
    def update(self, *args: Any) -> Any:
        """Takes the results of one batch; subclasses define it.

        Args:
            args: what `compute` gave.

        Examples:
            >>> metric = paddle.metric.Recall()
            >>> metric.update(np.array([0.9, 0.1]), np.array([1, 1]))
            >>> metric.accumulate()
            0.5
        """
        raise NotImplementedError

    @abc.abstractmethod
    def accumulate(self) -> Any:
        """The value over all updates since the last `reset()`; subclasses define it.

        Examples:
            >>> paddle.metric.Recall().accumulate()
            0.0
        """
        raise NotImplementedError

    @abc.abstractmethod
    def name(self) -> Any:
        """The metric's name, or names; subclasses define it.

        Examples:
            >>> paddle.metric.Recall(name="found").name()
            'found'
        """
        raise NotImplementedError

    def compute(self, *args: Any, **kwargs: Any) -> Any:
        """What `update` is given, from the model's outputs and the labels; these themselves unless overridden.

        Args:
            args: outputs, then labels.

        Examples:
            >>> paddle.metric.Recall().compute("outputs", "labels")
            ('outputs', 'labels')
        """
        return args


class LateMetric(Metric):
    """A metric that can keep results as tensors and read them when it is asked for its value."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[tuple[Any, ...]] = []

    def _add(self, *results: Any) -> Any:
        """Adds the results of one batch, as arrays, to the sums."""
        raise NotImplementedError

    @property
    def reads_late(self) -> bool:
        """Whether `update_later` may stand for `update`: not in a subclass with another `update` or `accumulate`."""
        own = next(cls for cls in type(self).__mro__ if cls.__module__.startswith(__package__ or "proa.metric"))
        return type(self).update is own.update and type(self).accumulate is own.accumulate

    def update_later(self, *results: Any) -> None:
        """`update` for tensors that need not be ready: nothing is read now."""
        self._waiting.append(results)
        if len(self._waiting) > _MOST_WAITING:
            self._read(_MOST_WAITING // 2)

    def _read(self, count: int | None = None) -> None:
        ready, self._waiting = self._waiting[:count], [] if count is None else self._waiting[count:]
        for results in ready:
            self._add(*(to_array(type(self).__name__, result) for result in results))

    def reset(self) -> None:
        """Forgets all updates.

        Examples:
            >>> metric = paddle.metric.Auc()
            >>> metric.reset()
            >>> metric.accumulate()
            0.0
        """
        self._waiting = []


def to_array(where: str, value: Any, name: str = "an argument") -> np.ndarray:
    """The numbers of a tensor or an array."""
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, np.ndarray):
        return value
    raise value_error(where, f"{name} must be a NumPy array or a Tensor", type(value).__name__)


def check_name(where: str, name: Any) -> str:
    if not isinstance(name, str):
        raise type_error(where, "name must be a string", f"name: {name!r}")
    return name
