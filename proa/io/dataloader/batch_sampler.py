"""Batch samplers: lists of indices, one list a batch; for one process or for each of several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core import job
from .dataset import IterableDataset, require
from .sampler import RandomSampler, Sampler, SequenceSampler

if TYPE_CHECKING:
    from .dataset import Dataset


def _require_batch_size(where: str, batch_size: Any) -> None:
    good = isinstance(batch_size, int) and not isinstance(batch_size, bool) and batch_size > 0
    require(good, where, "batch_size must be a positive integer", f"{batch_size!r}")


class BatchSampler(Sampler):
    """Batches of indices: lists of them.

    Args:
        dataset: what the indices belong to.
        sampler: an order of indices, in the place of a dataset.
        shuffle: takes the dataset in a random order.
        batch_size: the indices of a batch.
        drop_last: leaves a last batch out that does not fill.

    Raises:
        AssertionError: both or neither of dataset and sampler are given, or an option is of another type.

    Examples:
        >>> list(paddle.io.BatchSampler(range(5), batch_size=2))
        [[0, 1], [2, 3], [4]]
        >>> list(paddle.io.BatchSampler(sampler=[4, 2, 0], batch_size=2, drop_last=True))
        [[4, 2]]
    """

    _acc_steps = 1  # how many batches one update takes, for samplers that resume in the middle of one

    def __init__(
        self,
        dataset: Dataset | None = None,
        sampler: Iterable[int] | None = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        where = "BatchSampler"
        require(isinstance(shuffle, bool), where, "shuffle is True or False", f"{shuffle!r}")
        if dataset is None:
            require(sampler is not None, where, "a dataset or a sampler is wanted")
            require(not shuffle, where, "a sampler has an order of its own", "shuffle=True", "set shuffle=False")
            self.sampler: Any = sampler
        else:
            require(sampler is None, where, "either a dataset or a sampler is wanted, not both")
            require(not isinstance(dataset, IterableDataset), where, "a stream (IterableDataset) has no indices")
            self.sampler = RandomSampler(dataset) if shuffle else SequenceSampler(dataset)
        _require_batch_size(where, batch_size)
        require(isinstance(drop_last, bool), where, "drop_last is True or False", f"{drop_last!r}")
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


class DistributedBatchSampler(BatchSampler):
    """Batches of one process's share of a dataset that several processes work on together.

    The order is a function of `epoch`, the same on every process; the last indices are filled up with the first so that
    all processes have equally many.

    Args:
        dataset: what the indices belong to.
        batch_size: the indices of a batch.
        num_replicas: the number of processes; that of `paddle.distributed` if left out.
        rank: the number of this process; that of `paddle.distributed` if left out.
        shuffle: takes the dataset in a random order.
        drop_last: leaves a last batch out that does not fill.

    Raises:
        AssertionError: a number is out of its range.

    Examples:
        >>> [list(paddle.io.DistributedBatchSampler(range(6), 2, num_replicas=2, rank=rank)) for rank in (0, 1)]
        [[[0, 1], [4]], [[2, 3], [5]]]
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        where = "DistributedBatchSampler"
        _require_batch_size(where, batch_size)
        require(isinstance(shuffle, bool), where, "shuffle is True or False", f"{shuffle!r}")
        require(isinstance(drop_last, bool), where, "drop_last is True or False", f"{drop_last!r}")
        good = num_replicas is None or (isinstance(num_replicas, int) and num_replicas > 0)
        require(good, where, "num_replicas must be a positive integer", f"{num_replicas!r}")
        good = rank is None or (isinstance(rank, int) and rank >= 0)
        require(good, where, "rank must be an integer that is not negative", f"{rank!r}")
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.nranks = job.size() if num_replicas is None else num_replicas
        self.local_rank = job.rank() if rank is None else rank
        require(self.local_rank < self.nranks, where, "rank must be less than num_replicas",
                f"rank: {self.local_rank}, num_replicas: {self.nranks}")  # fmt: skip
        self.epoch = 0
        self.num_samples = -(-len(dataset) // self.nranks)
        self.total_size = self.num_samples * self.nranks

    def __iter__(self) -> Iterator[list[int]]:
        length = len(self.dataset)
        indices = np.resize(np.arange(length), self.total_size) if length else np.arange(0)
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(indices)
            self.epoch += 1
        # Whole rounds of batches first, then what is left, in equal parts.
        per_round = self.batch_size * self.nranks
        whole = self.total_size - self.total_size % per_round
        own = [
            indices[start : start + self.batch_size]
            for start in range(self.local_rank * self.batch_size, whole, per_round)
        ]
        share = (self.total_size - whole) // self.nranks
        own.append(indices[whole + self.local_rank * share :][:share])
        mine = np.concatenate(own).tolist()
        for start in range(0, len(mine), self.batch_size):
            batch = mine[start : start + self.batch_size]
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count = self.num_samples
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    def set_epoch(self, epoch: int) -> None:
        """Chooses the order of the next pass.

        Args:
            epoch: the number of the pass.

        Examples:
            >>> sampler = paddle.io.DistributedBatchSampler(range(6), 6, num_replicas=1, rank=0, shuffle=True)
            >>> first = list(sampler)
            >>> sampler.set_epoch(0)
            >>> list(sampler) == first
            True
        """
        self.epoch = epoch
