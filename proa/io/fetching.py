"""Making one batch out of a dataset: the same code in the main process and in workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .dataloader.collate import Allocate, collate, default_convert_fn
from .dataloader.dataset import IterableDataset


class Fetcher:
    """Samples to a batch. `in_batches` is false for `batch_size=None`: every sample is given out by itself."""

    def __init__(
        self, dataset: Any, collate_fn: Callable[[Any], Any] | None, batch_size: int | None, drop_last: bool
    ) -> None:
        self.dataset = dataset
        self.collate_fn = collate_fn
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.in_batches = True
        self.stream: Iterator[Any] | None = None

    def restart(self) -> None:
        """A new epoch: a stream starts anew."""
        if isinstance(self.dataset, IterableDataset):
            self.stream = iter(self.dataset)

    def fetch(self, indices: Any, allocate: Allocate = np.empty) -> Any:
        """The batch of these indices (None: the stream's next); StopIteration at the end of a stream."""
        if not self.in_batches:
            if self.stream is None:
                sample = self._sample(indices)
            else:
                sample = next(self.stream)
            return default_convert_fn(sample) if self.collate_fn is None else self.collate_fn(sample)
        samples = self._take() if self.stream is not None else [self._sample(index) for index in indices]
        # Our own collating may write into memory that is used again: nobody else sees its result here.
        return collate(samples, allocate) if self.collate_fn is None else self.collate_fn(samples)

    def skip(self) -> None:
        """Goes past a batch of the stream without making it."""
        if self.in_batches:
            self._take()
        else:
            assert self.stream is not None
            next(self.stream)

    def _sample(self, index: Any) -> Any:
        try:
            return self.dataset[index]
        except StopIteration as error:
            # It would end the user's loop in silence.
            raise RuntimeError(f"(DataLoader) the dataset raised StopIteration for sample {index}.") from error

    def _take(self) -> list[Any]:
        assert self.stream is not None
        assert self.batch_size is not None
        samples = []
        for sample in self.stream:
            samples.append(sample)
            if len(samples) == self.batch_size:
                break
        if not samples or (self.drop_last and len(samples) < self.batch_size):
            raise StopIteration
        return samples
