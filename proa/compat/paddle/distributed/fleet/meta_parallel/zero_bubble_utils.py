"""Inner names of `paddle.distributed.fleet.meta_parallel.zero_bubble_utils`: gradients of weights computed later."""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any, ClassVar


class WeightGradStore:
    """Work that is put off until a pipeline has time for it."""

    enabled = False
    cache: ClassVar[list[Callable[[], Any]]] = []
    funcs_queue: ClassVar[queue.Queue[list[Callable[[], Any]]]] = queue.Queue()

    @classmethod
    def put(cls, func: Callable[[], Any]) -> None:
        cls.cache.append(func)

    @classmethod
    def flush(cls) -> None:
        cls.funcs_queue.put(cls.cache)
        cls.cache = []

    @classmethod
    def pop(cls) -> None:
        for func in cls.funcs_queue.get():
            func()

    @classmethod
    def clear(cls) -> None:
        cls.cache, cls.funcs_queue = [], queue.Queue()


class EventStore:
    """The event of the last message."""

    event: Any = None

    @classmethod
    def set(cls, event: Any) -> None:
        cls.event = event
