"""`paddle.incubate.multiprocessing`: Python's own; tensors are pickled by value."""

from multiprocessing import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary] - as Paddle's does
from multiprocessing import Event, Process, Queue, get_context
from multiprocessing import reduction as reductions

__all__ = ["Event", "Process", "Queue", "get_context", "reductions"]
