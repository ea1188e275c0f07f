"""Samplers: in which order samples are visited. Random ones draw from NumPy's global state, as Paddle's do."""

# ruff: noqa: NPY002 - the global state is what Paddle draws from, and what users seed

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import type_error, value_error
from .dataset import require

if TYPE_CHECKING:
    from ...eager.tensor import Tensor


class Sampler:
    """An order of indices: subclasses define `__iter__` (and `__len__`).

    Args:
        data_source: what the indices belong to.

    Examples:
        >>> class Backwards(paddle.io.Sampler):
        ...     def __iter__(self):
        ...         return iter(range(len(self.data_source) - 1, -1, -1))
        >>> list(Backwards(["a", "b", "c"]))
        [2, 1, 0]
    """

    def __init__(self, data_source: Sized | None = None) -> None:
        self.data_source: Any = data_source  # a sampler of a class of its own may do without

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"(Sampler) class {type(self).__name__} has no __iter__; write one.")


class SequenceSampler(Sampler):
    """The indices in order: 0, 1, 2, …

    Args:
        data_source: what the indices belong to.

    Examples:
        >>> list(paddle.io.SequenceSampler(["a", "b", "c"]))
        [0, 1, 2]
    """

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """The indices in a random order, or some of them. It draws from NumPy's global state, as Paddle's does.

    Args:
        data_source: what the indices belong to.
        replacement: whether an index may be drawn again.
        num_samples: how many are drawn; as many as there are if left out.
        generator: an iterator of indices to use instead.

    Raises:
        ValueError: `num_samples` is not positive, or too many without replacement.
        TypeError: `replacement` is no bool.

    Examples:
        >>> sorted(paddle.io.RandomSampler(["a", "b", "c"]))
        [0, 1, 2]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Iterator[int] | None = None,
    ) -> None:
        super().__init__(data_source)
        if not isinstance(replacement, bool):
            raise type_error("RandomSampler", "replacement is True or False", f"{replacement!r}")
        if num_samples is not None and (not isinstance(num_samples, int) or num_samples <= 0):
            raise value_error("RandomSampler", "num_samples must be a positive integer", f"{num_samples!r}")
        if num_samples is not None and not replacement and num_samples > len(data_source):
            raise value_error(
                "RandomSampler", "without replacement there are no more samples than the data has",
                f"num_samples: {num_samples} of {len(data_source)}", "set replacement=True",
            )  # fmt: skip
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator

    @property
    def num_samples(self) -> int:
        """How many indices are drawn.

        Examples:
            >>> paddle.io.RandomSampler(["a", "b", "c"], replacement=True, num_samples=5).num_samples
            5
        """
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        if self.generator is not None:
            for _ in range(self.num_samples):
                try:
                    yield next(self.generator)
                except StopIteration:
                    return
        elif self.num_samples:
            yield from np.random.choice(len(self.data_source), self.num_samples, replace=self.replacement).tolist()

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given indices in a random order.

    Args:
        indices: the indices.

    Raises:
        ValueError: there are none.

    Examples:
        >>> sorted(paddle.io.SubsetRandomSampler([2, 5, 7]))
        [2, 5, 7]
    """

    def __init__(self, indices: Sequence[int]) -> None:
        if len(indices) == 0:
            raise value_error("SubsetRandomSampler", "at least one index is wanted")
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        for position in np.random.permutation(len(self.indices)).tolist():
            yield self.indices[position]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with probabilities in proportion to weights.

    Args:
        weights: a weight for each index.
        num_samples: how many are drawn.
        replacement: whether an index may be drawn again.

    Raises:
        ValueError: `num_samples` is not positive.
        AssertionError: a weight is negative or not finite, or too few are positive.

    Examples:
        >>> set(paddle.io.WeightedRandomSampler([0.0, 1.0, 0.0], num_samples=5))
        {1}
    """

    def __init__(
        self, weights: Sequence[float] | np.ndarray | Tensor, num_samples: int, replacement: bool = True
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise value_error("WeightedRandomSampler", "num_samples must be a positive integer", f"{num_samples!r}")
        if not isinstance(replacement, bool):
            raise value_error("WeightedRandomSampler", "replacement is True or False", f"{replacement!r}")
        values = np.asarray(weights, np.float64)
        where = "WeightedRandomSampler"
        require(values.ndim == 1, where, "weights must have one dimension", f"shape {list(values.shape)}")
        require(bool(np.all(np.isfinite(values) & (values >= 0))), where, "weights must be finite and not negative")
        num_positive = int(np.count_nonzero(values))
        require(num_positive > 0, where, "at least one weight must be positive")
        require(
            replacement or num_positive >= num_samples, where,
            "without replacement there are no more samples than positive weights",
            f"num_samples: {num_samples}, positive weights: {num_positive}",
        )  # fmt: skip
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement

    def __iter__(self) -> Iterator[int]:
        weights = np.asarray(self.weights, np.float64)
        drawn = np.random.choice(len(weights), self.num_samples, replace=self.replacement, p=weights / weights.sum())
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples
