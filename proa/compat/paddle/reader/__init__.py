"""`paddle.reader`: functions that make readers (functions that give an iterator) of readers."""

from __future__ import annotations

import itertools
import queue
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

Reader = Callable[[], Iterator[Any]]


class ComposeNotAligned(ValueError):
    """Readers that were put together end at different times."""


def cache(reader: Reader) -> Reader:
    """Keeps the samples in memory."""
    samples = tuple(reader())
    return lambda: iter(samples)


def map_readers(func: Callable[..., Any], *readers: Reader) -> Reader:
    """`func` of the samples of all readers."""
    return lambda: map(func, *(reader() for reader in readers))


def shuffle(reader: Reader, buf_size: int) -> Reader:
    """Samples in random order, `buf_size` at a time."""

    def shuffled() -> Iterator[Any]:
        samples = reader()
        while chunk := list(itertools.islice(samples, buf_size)):
            random.shuffle(chunk)
            yield from chunk

    return shuffled


def chain(*readers: Reader) -> Reader:
    """One reader behind the other."""
    return lambda: itertools.chain(*(reader() for reader in readers))


def compose(*readers: Reader, check_alignment: bool = True) -> Reader:
    """Samples of all readers side by side."""

    def composed() -> Iterator[Any]:
        missing = object()
        for parts in itertools.zip_longest(*(reader() for reader in readers), fillvalue=missing):
            if any(part is missing for part in parts):
                if check_alignment:
                    raise ComposeNotAligned("(compose) the readers end at different times.")
                return
            yield tuple(itertools.chain(*(part if isinstance(part, tuple) else (part,) for part in parts)))

    return composed


def firstn(reader: Reader, n: int) -> Reader:
    """The first `n` samples."""
    return lambda: itertools.islice(reader(), n)


def buffered(reader: Reader, size: int) -> Reader:
    """A thread reads up to `size` samples ahead."""

    def ahead() -> Iterator[Any]:
        waiting: queue.Queue[Any] = queue.Queue(maxsize=size)
        end = object()

        def read() -> None:
            try:
                for sample in reader():
                    waiting.put((sample, None))
                waiting.put((end, None))
            except BaseException as failure:
                waiting.put((end, failure))

        threading.Thread(target=read, daemon=True).start()
        while True:
            sample, failure = waiting.get()
            if failure is not None:
                raise failure
            if sample is end:
                return
            yield sample

    return ahead
