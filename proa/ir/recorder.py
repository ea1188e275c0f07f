"""The recorder: eager calls append to the thread's segment; segments run when somebody looks.

    user's call ──► Segment (walks the trace tree) ──flush──► new: tier 0, op by op · seen often: tier 1, one executable

This module is what the rooms above see of it, and what a thread can ask of its own recording. The parts: segment.py (what
is recorded), thread_state.py (by whom), recording_mode.py (in which mode), running.py (flushes), memory.py (what is still
wanted), executables.py (what is compiled and kept), deferred.py (errors that come up later).
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ..core import flags
from ..core.place import Place
from . import meshes
from .recording.deferred import verify_values
from .recording.mode import ONCE, WHOLE, note_sharded, read_flags
from .recording.running import after_record, flush, read, value_of
from .recording.segment import STATE, Failure, Segment, WrongPlace, extend
from .recording.thread_state import LOCAL, Chosen, recording_gradients, switch_gradients
from .trace import Scope, find_root, move_into


def set_place(place: Place) -> None:
    """Changes the place of this thread's new tensors (and the default of threads to come)."""
    Chosen.place = place
    enter_place(place)
    LOCAL.place = place


def enter_place(place: Place) -> Segment:
    """The thread's open segment, made to be one for `place`."""
    segment = LOCAL.segment
    if segment.root.place is not place:
        flush(segment)
        if LOCAL.segment.root.place is not place:
            LOCAL.segment = Segment(place, LOCAL.lock, scope=LOCAL.scope)
        segment = LOCAL.segment
    return segment


def set_scope(scope: Scope | None) -> Scope | None:
    """Puts what this thread records from now on into a scope (None: out of any); gives the one before."""
    segment = LOCAL.segment
    node = move_into(segment.node, scope)
    before, LOCAL.scope, segment.node = LOCAL.scope, scope, node
    return before


def flush_current() -> None:
    """Runs everything this thread has recorded."""
    flush(LOCAL.segment)


def run_next_at_once() -> None:
    """Ends the open segment; the next operation runs by itself, on tier 0, and is never compiled.

    For work that NumPy does better than anything XLA could compile (sorting millions of elements on a CPU).
    """
    flush_current()
    segment = LOCAL.segment
    root = segment.root
    if not root.immediate:
        segment.root = find_root(root.place, True, root.check_nan, root.window)
        segment.node = move_into(segment.root, LOCAL.scope)


def boundary() -> None:
    """A natural place to cut (new data arrives, gradients were cleared): runs if an optimiser has stepped."""
    if LOCAL.segment.stepped and LOCAL.segment.root.window != WHOLE:
        flush(LOCAL.segment)


def meeting_point() -> None:
    """Runs what spans devices of several processes, at a point that all of them pass (before and behind a backward pass,
    behind an update). So they run the same programs though one of them alone looks at a loss in between."""
    segment = LOCAL.segment
    if segment.devices is not None and segment.root.window < WHOLE and meshes.several_processes():
        flush(segment)


@contextmanager
def apart() -> Generator[None]:
    """What is recorded inside does not belong to the open segment: it runs by itself, op by op, at the end.

    For what comes once beside what comes again and again: the states of an optimiser are made at the first step, which is
    so the same program as all the others.
    """
    outer = LOCAL.segment
    LOCAL.segment = Segment(outer.root.place, LOCAL.lock, ONCE, LOCAL.scope)
    try:
        yield
    finally:
        flush_current()
        # Whoever read a value of the outer segment inside has run it.
        LOCAL.segment = Segment(outer.root.place, LOCAL.lock, LOCAL.window, LOCAL.scope) if outer.done else outer


@contextmanager
def one_segment() -> Generator[None]:
    """What is recorded inside is one segment, unless a value is read: nothing else cuts it; it is compiled at once."""
    flush_current()
    before, LOCAL.window = LOCAL.window, WHOLE
    LOCAL.segment = Segment(LOCAL.segment.root.place, LOCAL.lock, WHOLE, LOCAL.scope)
    try:
        yield
    finally:
        LOCAL.window = before
        flush_current()
        LOCAL.segment = Segment(LOCAL.segment.root.place, LOCAL.lock, before, LOCAL.scope)


def _flags_changed(name: str) -> None:
    read_flags(name)
    LOCAL.window = 0
    flush_current()


flags.on_change(_flags_changed)

__all__ = [
    "LOCAL", "STATE", "Failure", "Segment", "WrongPlace", "after_record", "apart", "boundary", "enter_place",
    "extend", "flush", "flush_current", "meeting_point", "note_sharded", "one_segment", "read", "recording_gradients",
    "run_next_at_once", "set_place", "set_scope", "switch_gradients", "value_of", "verify_values",
]  # fmt: skip
