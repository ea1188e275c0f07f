"""Inside a worker process: who am I."""

from __future__ import annotations

from typing import Any


class WorkerInfo:
    """What `get_worker_info()` says: `id` of `num_workers`, the `dataset` copy of this worker, a `seed` of its own."""

    def __init__(self, id: int, num_workers: int, dataset: Any, seed: int) -> None:
        self.id = id
        self.num_workers = num_workers
        self.dataset = dataset
        self.seed = seed

    def __repr__(self) -> str:
        return f"WorkerInfo(id={self.id}, num_workers={self.num_workers}, seed={self.seed})"


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Which worker of a `DataLoader` this process is; None in the main process.

    Returns:
        An object with `id`, `num_workers`, the worker's own `dataset` and a `seed` of its own; or None.

    Examples:
        >>> paddle.io.get_worker_info() is None
        True
    """
    return _info


def set_worker_info(info: WorkerInfo) -> None:
    """Called once, in a worker that starts."""
    global _info
    _info = info
