"""Files written in the background: `async_save`, and checkpoints of a job."""

from __future__ import annotations

import atexit
import sys
import threading
import traceback
from collections.abc import Callable

from ..eager.declare import public


class _Task(threading.Thread):
    """Something being written in the background."""

    def __init__(self, write: Callable[[], None]) -> None:
        super().__init__(name="async_save")  # no daemon: the interpreter waits for it
        self._write: Callable[[], None] | None = write
        self.failure: Exception | None = None

    def run(self) -> None:
        assert self._write is not None
        try:
            self._write()
        except Exception as error:
            self.failure = error
        self._write = None


_TASKS: list[_Task] = []


def start(write: Callable[[], None]) -> None:
    """Calls `write` in a thread of its own; raises what went wrong in an earlier one."""
    raise_failure()
    task = _Task(write)
    _TASKS.append(task)
    task.start()


@public()
def clear_async_save_task_queue() -> None:
    """Waits until everything that is saved in the background is written, and raises what went wrong.

    Examples:
        >>> paddle.async_save({"x": paddle.ones([2])}, "kept.pdparams")
        >>> paddle.clear_async_save_task_queue()
        >>> paddle.load("kept.pdparams")["x"].tolist()
        [1.0, 1.0]
    """
    for task in list(_TASKS):
        task.join()
    raise_failure()


def raise_failure() -> None:
    """Raises what went wrong in the background, once."""
    for task in list(_TASKS):
        if not task.is_alive() and task.ident is not None:
            _TASKS.remove(task)
            if task.failure is not None:
                raise task.failure


@atexit.register
def _tell_failures() -> None:
    """A program that ends without asking is told what was not written. (Threads have ended when this is called.)"""
    for task in _TASKS:
        if task.failure is not None:
            print("Something that was to be saved in the background was not written:", file=sys.stderr)
            traceback.print_exception(task.failure)
