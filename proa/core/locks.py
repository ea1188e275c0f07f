"""Locks that a forked process finds open.

A fork copies the memory of the whole process, but only the thread that forks: a lock that another thread held would stay
taken in the child for ever. So every lock of the package is made here, and opened in the child.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

_LOCKS: weakref.WeakSet[Any] = weakref.WeakSet()


def new_lock() -> Any:
    """Like `threading.Lock()`."""
    lock = threading.Lock()
    _LOCKS.add(lock)
    return lock


def new_condition() -> Any:
    """Like `threading.Condition()`, around a lock of this module's."""
    return threading.Condition(new_lock())


def new_reentrant_lock() -> Any:
    """Like `threading.RLock()`."""
    lock = threading.RLock()
    _LOCKS.add(lock)
    return lock


def _open_all() -> None:
    for lock in list(_LOCKS):
        # What the forking thread itself holds it will let go: it goes on in the child where it was.
        if not (hasattr(lock, "_is_owned") and lock._is_owned()):
            lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_open_all)
