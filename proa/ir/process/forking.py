"""Forking a process in which XLA runs.

XLA computes with threads of its own, and a forked process has none of them: whoever asks XLA for anything there waits for
ever. So in such a process nothing does. Recorded work runs on NumPy (tier 0), compiled Programs are interpreted, and values
that XLA has made are read where they lie, in the host's memory. A process that is forked before XLA is started is as good as
any other; one that is forked while another thread imports JAX or starts XLA does without, as nobody finishes that there.

Before the fork the other threads are let out of XLA, as far as they come soon, and results that are still being computed
are waited for: everything that the child finds is complete.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import weakref
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from ...core.errors import message, runtime_error
from ...core.locks import new_reentrant_lock
from .exiting import leave_without_destructors

# Seconds that a fork waits for threads which are inside XLA (one may be compiling for minutes).
_PATIENCE = 5.0
_FIX = (
    "start processes that need XLA with multiprocessing.get_context('spawn') or 'forkserver', or fork them before anything "
    "is compiled"
)


class State:
    """Of this process."""

    lost = ""  # why there is no XLA, as an error's text; empty where it can be used
    beginning = 0  # how many threads import JAX or start XLA at this moment
    started = False  # whether XLA was started, here or in the process that this one was forked from


_THREAD_LOCKS: weakref.WeakSet[Any] = weakref.WeakSet()
_THREADS: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


@contextmanager
def beginning() -> Generator[None]:
    """While JAX is imported or XLA started: a process forked now does without."""
    State.beginning += 1
    try:
        yield
    finally:
        State.beginning -= 1


def new_thread_lock() -> Any:
    """The lock that the calling thread will hold whenever it runs what it has recorded."""
    lock = new_reentrant_lock()
    _THREAD_LOCKS.add(lock)
    _THREADS.add(threading.current_thread())
    return lock


def threads_that_record() -> list[threading.Thread]:
    """The threads of this process that have used tensors."""
    return list(_THREADS)


def lose(text: str) -> None:
    """From now on this process does without XLA; whoever asks for it gets an error of this text."""
    State.lost = text


def host_array(value: Any) -> np.ndarray:
    """A JAX array as NumPy sees it; in a process without XLA, RuntimeError for one that it would have to ask XLA for."""
    if State.lost and not isinstance(value, np.ndarray):
        kinds = {device.platform for device in value.sharding.device_set}
        if kinds != {"cpu"}:
            raise runtime_error(
                "fork", "a forked process cannot read the memory of an accelerator", f"a value on {', '.join(kinds)}",
                "copy it to the host first (x.cpu()), or start the process with spawn or forkserver",
            )  # fmt: skip
        if not value.is_ready():
            raise runtime_error(
                "fork", "another thread was still computing this value when the process was forked",
                fix="wait for that thread before forking",
            )  # fmt: skip
    return np.asarray(cast(Any, value))


class _Fork:
    """What is held from before a fork until after it, by one thread at a time."""

    lock = new_reentrant_lock()
    begun = False
    taken: list[Any] = []  # noqa: RUF012 - of the one thread that forks


def guard() -> None:
    """Called when JAX has been imported, before XLA is started."""
    bridge: Any = sys.modules["jax._src.xla_bridge"]
    # JAX would warn of deadlocks in children that use it; ours do not. (A filter for that warning is lost while another
    # thread has filters of its own.)
    bridge._at_fork_handler_installed = True
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)


def _before() -> None:
    _Fork.lock.acquire()
    _Fork.begun = True
    if not State.lost:
        _take_all_locks()
        if State.started:
            _finish_work()


def _after() -> None:
    if not _Fork.begun:
        return  # Ctrl-C came in between
    _give_locks_back()
    _Fork.begun = False
    _Fork.lock.release()


def _take_all_locks() -> None:
    """Keeps other threads from running anything; gives up where one does so for too long.

    A thread that holds its lock may wait for one that was taken here already: then all are given back for a moment.
    """
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        for lock in list(_THREAD_LOCKS):
            if not lock.acquire(timeout=min(0.5, max(0.0, deadline - time.monotonic()))):
                break
            _Fork.taken.append(lock)
        else:
            return
        _give_locks_back()
        time.sleep(0.001)


def _give_locks_back() -> None:
    while _Fork.taken:
        _Fork.taken.pop().release()


def _finish_work() -> None:
    """Waits for results that XLA is still computing on the host."""
    jax: Any = sys.modules["jax"]
    try:
        arrays = jax.live_arrays("cpu")
    except RuntimeError:  # there is no such device
        return
    deadline = time.monotonic() + _PATIENCE
    for array in arrays:
        while not array.is_deleted() and not array.is_ready() and time.monotonic() < deadline:
            time.sleep(0.0005)


def _in_child() -> None:
    _THREADS.clear()
    _THREADS.add(threading.current_thread())
    bridge = sys.modules.get("jax._src.xla_bridge")
    was_started = State.started or State.beginning > 0 or bool(getattr(bridge, "_backends", None))
    if was_started and not State.lost:
        lose(message("fork", "this needs XLA, and a process forked from one in which XLA runs cannot use it", fix=_FIX))
    if was_started:
        atexit.register(_forget_jax)


def _forget_jax() -> None:
    """Lets the process end without destroying what belongs to XLA: that would wait for its threads."""
    kept = [dict(vars(module)) for name, module in list(sys.modules.items()) if name.split(".")[0] in ("jax", "jaxlib")]
    leave_without_destructors(kept)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
