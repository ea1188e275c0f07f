"""Datasets: what a sample is, by index (`Dataset`) or one after another (`IterableDataset`), and their combinations."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...core.errors import message, value_error
from ...core.generator import Generator, default_generator
from ...ops.create.random import randperm


def require(condition: bool, where: str, what: str, received: str = "", fix: str = "") -> None:
    """AssertionError, which is what Paddle raises for a misused dataset, sampler or loader; kept under `python -O`."""
    if not condition:
        raise AssertionError(message(where, what, received, fix))


class Dataset:
    """Samples by index: subclasses define `__getitem__(self, index)` and `__len__(self)`.

    Examples:
        >>> class Squares(paddle.io.Dataset):
        ...     def __getitem__(self, index):
        ...         return index, index ** 2
        ...     def __len__(self):
        ...         return 4
        >>> for batch in paddle.io.DataLoader(Squares(), batch_size=2):
        ...     print([field.tolist() for field in batch])
        [[0, 1], [0, 1]]
        [[2, 3], [4, 9]]
    """

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError(
            message("Dataset", f"class {type(self).__name__} has no __getitem__", fix="write one")
        )

    def __len__(self) -> int:
        raise NotImplementedError(message("Dataset", f"class {type(self).__name__} has no __len__", fix="write one"))


class NoLength(RuntimeError, TypeError):
    """Paddle's RuntimeError; also the TypeError that `list(stream)`, which asks for a length first, takes for an answer."""


class IterableDataset(Dataset):
    """Samples as a stream: subclasses define `__iter__(self)`.

    In a loader with workers every worker runs the whole `__iter__`; `get_worker_info()` says which part is its own.

    Examples:
        >>> class Countdown(paddle.io.IterableDataset):
        ...     def __iter__(self):
        ...         return iter([3, 2, 1])
        >>> [batch.tolist() for batch in paddle.io.DataLoader(Countdown(), batch_size=2)]
        [[3, 2], [1]]
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(
            message("IterableDataset", f"class {type(self).__name__} has no __iter__", fix="write one")
        )

    def __getitem__(self, index: Any) -> Any:
        raise RuntimeError(message("IterableDataset", f"{type(self).__name__} is a stream: it has no samples by index"))

    def __len__(self) -> int:
        raise NoLength(message("IterableDataset", f"{type(self).__name__} is a stream: it has no length"))


class TensorDataset(Dataset):
    """Tensors (or arrays) of equal first dimension; sample i is the tuple of their i-th entries.

    Args:
        tensors: the tensors.

    Raises:
        AssertionError: their first dimensions differ.

    Examples:
        >>> data = paddle.io.TensorDataset([np.array([1, 2, 3]), np.array([10, 20, 30])])
        >>> len(data), tuple(int(field) for field in data[1])
        (3, (2, 20))
    """

    def __init__(self, tensors: Sequence[Any]) -> None:
        for tensor in tensors:
            require(hasattr(tensor, "shape"), "TensorDataset", "tensors or arrays are wanted", type(tensor).__name__)
        lengths = [tensor.shape[0] if len(tensor.shape) else None for tensor in tensors]
        require(None not in lengths, "TensorDataset", "a 0-d tensor has no samples")
        require(
            len(set(lengths)) <= 1, "TensorDataset", "tensors must have the same first dimension", f"lengths {lengths}"
        )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0]) if len(self.tensors) else 0


class ComposeDataset(Dataset):
    """Datasets of equal length side by side: the fields of their samples are joined into one.

    Args:
        datasets: the datasets.

    Raises:
        AssertionError: their lengths differ, or one is a stream.

    Examples:
        >>> left = paddle.io.TensorDataset([np.array([1, 2])])
        >>> right = paddle.io.TensorDataset([np.array([10, 20]), np.array([100, 200])])
        >>> tuple(int(field) for field in paddle.io.ComposeDataset([left, right])[1])
        (2, 20, 200)
    """

    def __init__(self, datasets: list[Dataset]) -> None:
        self.datasets = list(datasets)
        require(len(self.datasets) > 0, "ComposeDataset", "at least one dataset is wanted")
        for dataset in self.datasets:
            require(
                isinstance(dataset, Dataset) and not isinstance(dataset, IterableDataset),
                "ComposeDataset", "each part must be a paddle.io.Dataset with an index", type(dataset).__name__,
            )  # fmt: skip
        lengths = [len(dataset) for dataset in self.datasets]
        require(len(set(lengths)) == 1, "ComposeDataset", "datasets must have equal lengths", f"lengths {lengths}")

    def __len__(self) -> int:
        return len(self.datasets[0])

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        fields: list[Any] = []
        for dataset in self.datasets:
            sample = dataset[index]
            fields.extend(sample if isinstance(sample, (list, tuple)) else [sample])
        return tuple(fields)


class ChainDataset(IterableDataset):
    """Streams one behind the other.

    Args:
        datasets: the streams.

    Raises:
        AssertionError: one is no `IterableDataset`.

    Examples:
        >>> class Count(paddle.io.IterableDataset):
        ...     def __init__(self, end):
        ...         self.end = end
        ...     def __iter__(self):
        ...         return iter(range(self.end))
        >>> list(paddle.io.ChainDataset([Count(2), Count(3)]))
        [0, 1, 0, 1, 2]
    """

    def __init__(self, datasets: list[IterableDataset]) -> None:
        self.datasets = list(datasets)
        require(len(self.datasets) > 0, "ChainDataset", "at least one dataset is wanted")
        for dataset in self.datasets:
            require(
                isinstance(dataset, IterableDataset), "ChainDataset", "each part must be a paddle.io.IterableDataset",
                type(dataset).__name__, "join datasets with an index by ConcatDataset",
            )  # fmt: skip

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)


class ConcatDataset(Dataset):
    """Datasets one behind the other.

    Args:
        datasets: the datasets.

    Raises:
        AssertionError: there is none, or one is a stream.

    Examples:
        >>> parts = [paddle.io.TensorDataset([np.array(numbers)]) for numbers in ([1, 2], [3])]
        >>> data = paddle.io.ConcatDataset(parts)
        >>> len(data), int(data[2][0])
        (3, 3)
    """

    datasets: list[Dataset]
    cumulative_sizes: list[int]

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Where each of some datasets ends.

        Args:
            sequence: things with a length.

        Examples:
            >>> paddle.io.ConcatDataset.cumsum([[1, 2], [3], [4, 5]])
            [2, 3, 5]
        """
        return list(itertools.accumulate(len(dataset) for dataset in sequence))

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = list(datasets)
        require(len(self.datasets) > 0, "ConcatDataset", "at least one dataset is wanted")
        for dataset in self.datasets:
            require(
                not isinstance(dataset, IterableDataset), "ConcatDataset", "a stream cannot be concatenated",
                type(dataset).__name__, "join streams by ChainDataset",
            )  # fmt: skip
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        position = index
        if position < 0:
            if -position > len(self):
                raise value_error("ConcatDataset", f"there are only {len(self)} samples", f"index {index}")
            position += len(self)
        elif position >= len(self):
            raise IndexError(message("ConcatDataset", f"there are only {len(self)} samples", f"index {index}"))
        part = bisect.bisect_right(self.cumulative_sizes, position)
        return self.datasets[part][position - (self.cumulative_sizes[part - 1] if part else 0)]


class Subset(Dataset):
    """The samples of a dataset that are named by `indices`, in that order.

    Args:
        dataset: the dataset.
        indices: the indices.

    Examples:
        >>> list(paddle.io.Subset([10, 20, 30, 40], [3, 0]))
        [40, 10]
    """

    def __init__(self, dataset: Dataset, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Dataset, lengths: Sequence[int | float], generator: Any | None = None) -> list[Subset]:
    """Splits a dataset at random into parts.

    Args:
        dataset: the dataset.
        lengths: the lengths of the parts, or fractions that sum to 1.
        generator: a generator to draw from; that of `paddle.seed` if left out.

    Raises:
        ValueError: the lengths do not sum to that of the dataset.

    Examples:
        >>> train, test = paddle.io.random_split(list(range(10)), [0.8, 0.2])
        >>> len(train), len(test), sorted([*train, *test]) == list(range(10))
        (8, 2, True)
    """
    total = len(dataset)
    if any(isinstance(length, float) for length in lengths) and math.isclose(sum(lengths), 1.0):
        for fraction in lengths:
            if not 0 <= fraction <= 1:
                raise value_error("random_split", "a fraction is between 0 and 1", f"lengths: {list(lengths)}")
        sizes = [math.floor(total * fraction) for fraction in lengths]
        for part in range(total - sum(sizes)):
            sizes[part % len(sizes)] += 1
        for part, size in enumerate(sizes):
            if size == 0:
                warnings.warn(message("random_split", f"part {part} of {total} samples is empty"), stacklevel=2)
    else:
        sizes = [int(length) for length in lengths]
    if sum(sizes) != total or any(size != given for size, given in zip(sizes, lengths, strict=True) if given > 1):
        raise value_error(
            "random_split", f"the lengths must sum to the dataset's {total} samples (or, as fractions, to 1)",
            f"lengths: {list(lengths)}",
        )  # fmt: skip
    if isinstance(generator, Generator):
        before = default_generator.get_state()
        default_generator.set_state(generator.get_state())
        order = randperm(total).tolist()
        generator.set_state(default_generator.get_state())
        default_generator.set_state(before)
    else:
        order = randperm(total).tolist()
    ends = list(itertools.accumulate(sizes))
    return [Subset(dataset, order[end - size : end]) for end, size in zip(ends, sizes, strict=True)]
