"""What each thread has for itself: its open segment, whether it records gradients, where its tensors go."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from ...core.place import CPU, Place, default_place
from ..process import forking
from ..trace import Scope, TraceNode
from .mode import Mode
from .segment import Segment

if TYPE_CHECKING:
    from .deferred import Unchecked


class Local(threading.local):
    """Per-thread state: the open segment, whether gradients are recorded, the place of new tensors, the scope."""

    def __init__(self) -> None:
        _note_thread()
        self.lock = forking.new_thread_lock()
        self.place = _default_place()
        self.grad_enabled = True
        self.scope: Scope | None = None  # what holds for what is recorded now (see `set_scope`)
        self.window = 0  # a window of whole rounds, once a loop has filled one (see period.py)
        self.unchecked: deque[Unchecked] = deque()
        # The end of the last run and what it made, as indices by identity, while it is open where to cut (cutting.py).
        self.recent: tuple[TraceNode, dict[int, int]] | None = None
        self.segment = Segment(self.place, self.lock)


def _note_thread() -> None:
    """From the second thread on, what one thread notes at a tensor is noted under the lock (see `Segment.input_index`).

    Waiting a moment lets the first one finish what it began without the lock.
    """
    Mode.threads += 1
    if Mode.threads > 1 and not Mode.threaded:
        Mode.threaded = True
        time.sleep(0.002)


def _default_place() -> Place:
    place = getattr(Chosen, "place", None)
    return default_place() if place is None else place


class Chosen:
    place: Place | None = None


def _make_local() -> Local:
    """`LOCAL`, made by a thread of its own: every other one, also that which imports the package, gets its state when it
    first records something. Until then nobody looks for devices, which takes seconds where there is an accelerator."""
    made: list[Local] = []
    Chosen.place = CPU
    maker = threading.Thread(target=lambda: made.append(Local()))
    try:
        maker.start()
        maker.join()
    except RuntimeError:  # a system that has no thread to give
        made.append(Local())
    finally:
        Chosen.place = None
        Mode.threads = 0  # that one is gone
    return made[0]


LOCAL = _make_local()


def switch_gradients(enabled: bool) -> bool:
    """Has this thread put its calls on the tape from now on, or not; gives how it was before.

    All switching goes through here; `recording_gradients` is the form for a block.
    """
    before = LOCAL.grad_enabled
    LOCAL.grad_enabled = enabled
    return before


class recording_gradients:
    """`with recording_gradients(False):` what is computed inside leaves no history (True: it does, whatever held before).

    Examples:
        >>> from proa.ir.recorder import recording_gradients
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> with recording_gradients(False):
        ...     y = x * 2
        >>> y.stop_gradient
        True
    """

    __slots__ = ("_before", "_enabled")

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled

    def __enter__(self) -> None:
        self._before = switch_gradients(self._enabled)

    def __exit__(self, *_exception: object) -> None:
        switch_gradients(self._before)


def _after_fork() -> None:
    """In the child: the flags of compiled runs are the parent's business, and what needs an accelerator fails at once."""
    LOCAL.unchecked.clear()
    LOCAL.recent = None
    if forking.State.lost and LOCAL.place is not CPU and not LOCAL.segment.captures:
        Mode.immediate = True
        LOCAL.segment = Segment(LOCAL.place, LOCAL.lock, scope=LOCAL.scope)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
