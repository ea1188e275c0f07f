"""The `DataLoader`: a dataset as an iterable of batches of tensors."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import message, value_error
from ..core.place import CPU, Place, parse_place
from ..ir.recorder import LOCAL
from .dataloader.batch_sampler import BatchSampler
from .dataloader.dataset import IterableDataset, require
from .dataloader.sampler import RandomSampler, SequenceSampler
from .fetching import Fetcher
from .iterators import Ahead, Epoch, FromWorkers, InProcess
from .seeding import set_stream_states, stream_states
from .state import Progress, check_state, resume, save_state

if TYPE_CHECKING:
    from .dataloader.dataset import Dataset

# For tests: the thread that fills a device ahead, with the CPU for a device.
_always_ahead = False


class DataLoader:
    """Batches of `dataset`, made in this process or by `num_workers` others.

    Order and random numbers in the dataset (`np.random`, `random`, `paddle`) do not depend on the number of workers:
    each batch has seeds of its own. `state_dict()` says where the loop is; a loader that was given it by
    `load_state_dict` goes on with the batch behind.

    Example:
        >>> import numpy as np
        >>> import proa as paddle
        >>> data = paddle.io.TensorDataset([paddle.arange(6), paddle.arange(6) * 10])
        >>> for x, y in paddle.io.DataLoader(data, batch_size=4):
        ...     print(x.tolist(), y.tolist())
        [0, 1, 2, 3] [0, 10, 20, 30]
        [4, 5] [40, 50]
    """

    def __init__(
        self,
        dataset: Dataset,
        feed_list: Sequence[Any] | None = None,
        places: Any = None,
        return_list: bool = True,
        batch_sampler: BatchSampler | None = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[Any], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        reader_buffer_size: int = 2,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        persistent_workers: bool = False,
    ) -> None:
        where = "DataLoader"
        require(_is_count(num_workers, 0), where, "num_workers must be an integer, 0 or more", f"{num_workers!r}")
        require(
            _is_count(prefetch_factor, 1), where, "prefetch_factor must be a positive integer", f"{prefetch_factor!r}"
        )
        require(isinstance(timeout, (int, float)) and timeout >= 0, where, "timeout must be 0 or more", f"{timeout!r}")
        self.dataset = dataset
        self.feed_list = feed_list
        self.return_list = return_list
        self.collate_fn = collate_fn
        self.num_workers = num_workers
        self.use_buffer_reader = use_buffer_reader
        self.reader_buffer_size = reader_buffer_size
        self.prefetch_factor = prefetch_factor
        self.use_shared_memory = use_shared_memory and num_workers > 0
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.persistent_workers = persistent_workers and num_workers > 0
        self.places = _places(places)
        self._is_stream = isinstance(dataset, IterableDataset)
        self.dataset_kind = int(self._is_stream)  # as Paddle numbers them
        self.batch_size: int | None = batch_size
        self.drop_last = drop_last
        self._samples: Any = None  # the order where samples are given out one by one
        self.batch_sampler = self._make_batch_sampler(batch_sampler, batch_size, shuffle, drop_last)
        self.auto_collate_batch = self.batch_size is not None or self.batch_sampler is not None
        self.pin_memory, self._iterator = True, None
        self._num_epochs = 0
        self._progress: Progress | None = None
        self._resumed: dict[str, Any] | None = None
        self._pool: Any = None
        self._pool_user: weakref.ref[Epoch] | None = None

    def _make_batch_sampler(self, given: Any, batch_size: int | None, shuffle: bool, drop_last: bool) -> Any:
        where = "DataLoader"
        if self._is_stream:
            if shuffle:
                raise value_error(where, "a stream (IterableDataset) cannot be shuffled", "shuffle=True")
            if given is not None:
                raise value_error(where, "a stream (IterableDataset) has no indices to sample", "a batch_sampler")
        if given is not None:
            require(
                batch_size == 1 and not shuffle and not drop_last, where,
                "batch_size, shuffle and drop_last are the batch_sampler's business",
                f"batch_size={batch_size}, shuffle={shuffle}, drop_last={drop_last}", "set them there",
            )  # fmt: skip
            self.batch_size = getattr(given, "batch_size", None)
            return given
        if batch_size is None:
            if not self._is_stream:
                self._samples = RandomSampler(self.dataset) if shuffle else SequenceSampler(self.dataset)
            return None
        require(_is_count(batch_size, 1), where, "batch_size must be None or a positive integer", f"{batch_size!r}")
        if self._is_stream:
            return None
        return BatchSampler(self.dataset, shuffle=shuffle, batch_size=batch_size, drop_last=drop_last)

    def __len__(self) -> int:
        if self._is_stream:
            raise _NoLength(message("DataLoader", "a stream (IterableDataset) has no length"))
        return len(self.dataset) if self.batch_sampler is None else len(self.batch_sampler)

    def __iter__(self) -> Epoch:
        if self._resumed is not None:
            return self._iter_resumed()
        progress = Progress(self.batch_sampler)
        self._num_epochs += 1
        return self._start(progress, self._orders())

    def __call__(self) -> Epoch:
        return iter(self)

    def _iter_resumed(self) -> Epoch:
        state, self._resumed = self._resumed, None
        assert state is not None
        self._num_epochs = state["epoch"]
        streams = stream_states()
        try:
            progress = resume(state, self.batch_sampler)
            # Drawing the first order (and those already used) now: random samplers draw once, at their start.
            orders = self._orders(progress.position)
        finally:
            set_stream_states(streams)
        return self._start(progress, orders)

    def _orders(self, num_skipped: int = 0) -> Iterator[Any]:
        """The indices of one batch after the other, begun, so that nothing random is left to draw later."""
        if self._is_stream:
            return iter(())
        orders = iter(self._samples if self.batch_sampler is None else self.batch_sampler)
        for _ in itertools.islice(orders, num_skipped):
            pass
        first = list(itertools.islice(orders, 1))
        return itertools.chain(first, orders)

    def _start(self, progress: Progress, orders: Iterator[Any]) -> Epoch:
        self._progress = progress
        place = LOCAL.place if self.places is None else self.places[0]
        length = None if self._is_stream else _length_of(self)
        if not self.num_workers:
            return Epoch(InProcess(self._fetcher(), orders, progress), progress, place, length, self)
        pool, keep = self._take_pool(progress)
        ahead = None
        if self.use_buffer_reader and (place is not CPU or _always_ahead):
            ahead = Ahead(pool, place, self.reader_buffer_size)
        try:
            source = FromWorkers(pool, self._is_stream, orders, progress, self.prefetch_factor, keep, ahead)
        except BaseException:
            pool.close()
            raise
        epoch = Epoch(source, progress, place, length, self)
        if keep:
            self._pool_user = weakref.ref(epoch)
        return epoch

    def _fetcher(self) -> Fetcher:
        fetcher = Fetcher(self.dataset, self.collate_fn, self.batch_size, self.drop_last)
        fetcher.in_batches = self.batch_sampler is not None or (self._is_stream and self.batch_size is not None)
        return fetcher

    def _take_pool(self, progress: Progress) -> tuple[Any, bool]:
        """Workers for an epoch, and whether they stay behind it. The kept ones serve one epoch at a time."""
        from .workers.pool import WorkerPool

        user = None if self._pool_user is None else self._pool_user()
        is_free = user is None or user.is_over()
        if self._pool is not None and self._pool.is_open and self._pool.is_own() and is_free:
            return self._pool, True
        pool = WorkerPool(
            self._fetcher(), self.num_workers, progress.seeds["paddle"], self.worker_init_fn, self.prefetch_factor,
            self.use_shared_memory, self.timeout,
        )  # fmt: skip
        if not self.persistent_workers or not is_free:
            return pool, False
        self._pool = pool
        weakref.finalize(self, pool.close)
        return pool, True

    def state_dict(self) -> dict[str, Any]:
        """Where the loop is: which batches were handed out, and all random state that decides the others.

        Made of numbers, text, lists and dicts. It may be taken in the middle of an epoch, with any number of workers, and
        given to a loader with another number of them.

        Examples:
            >>> loader = paddle.io.DataLoader(list(range(6)), batch_size=2)
            >>> batches = iter(loader)
            >>> next(batches).tolist()
            [0, 1]
            >>> state = loader.state_dict()
            >>> resumed = paddle.io.DataLoader(list(range(6)), batch_size=2)
            >>> resumed.load_state_dict(state)
            >>> [batch.tolist() for batch in resumed]
            [[2, 3], [4, 5]]
        """
        if self._resumed is not None:
            return self._resumed
        return save_state(self._progress, self._num_epochs, None if self._is_stream else _length_of(self))

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Makes the next loop go on where `state_dict()` was called.

        NumPy's, Python's and our own random state become what they were then: the order of later epochs comes from
        there. A stream (IterableDataset) is read again up to that place.

        Args:
            state_dict: what `state_dict()` gave.

        Examples:
            >>> loader = paddle.io.DataLoader(list(range(4)), batch_size=2)
            >>> next(iter(loader)).tolist()
            [0, 1]
            >>> loader.load_state_dict(loader.state_dict())
            >>> [batch.tolist() for batch in loader]
            [[2, 3]]
        """
        state = check_state(state_dict, None if self._is_stream else _length_of(self))
        set_stream_states(state["now"])
        self._num_epochs = state["epoch"]
        self._progress = None
        self._resumed = state if "position" in state else None


class _NoLength(ValueError, TypeError):
    """Paddle's ValueError, and the TypeError that `list(loader)` takes for an answer."""


def _length_of(loader: DataLoader) -> int | None:
    """The number of batches, where it can be known (a batch sampler of the user's own may not say)."""
    try:
        return len(loader)
    except (TypeError, NotImplementedError):
        return None


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _places(places: Any) -> list[Place] | None:
    if places is None:
        return None
    found = [parse_place(place) for place in (places if isinstance(places, (list, tuple)) else [places])]
    if not found:
        raise value_error("DataLoader", "at least one place is wanted", "places=[]")
    return found
