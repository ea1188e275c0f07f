"""Which Program this thread records into.

Static mode is a thread's own: `enable_static` makes the default main Program's segment the one that the thread records
into. The default programs are the main thread's; another thread sees them until it enables static mode itself, which gives
it its own.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..core.errors import runtime_error, type_error
from ..core.locks import new_reentrant_lock
from ..device.select import set_device
from ..ir.recorder import LOCAL, Segment, flush_current
from ..ir.trace import move_into

if TYPE_CHECKING:
    from ..core.place import Place
    from .program import Program


class _Thread(threading.local):
    enabled = False
    recording: Any = None  # the Program whose segment is this thread's open one
    own: Any = None  # default programs of a thread that is not the main one and records

    def __init__(self) -> None:
        self.guards: list[tuple[Any, Any]] = []


_thread = _Thread()
_defaults: list[Any] = []
_lock = new_reentrant_lock()


def _default_programs() -> tuple[Program, Program]:
    if _thread.guards:
        return _thread.guards[-1]
    if _thread.own is not None:
        return _thread.own
    with _lock:
        if not _defaults:
            from .program import Program

            _defaults[:] = [Program(), Program()]
        return _defaults[0], _defaults[1]


def default_main_program() -> Program:
    """The Program that operations are added to in static mode.

    Examples:
        >>> program = paddle.static.Program()
        >>> with paddle.static.program_guard(program):
        ...     print(paddle.static.default_main_program() is program)
        True
    """
    return _default_programs()[0]


def default_startup_program() -> Program:
    """The Program whose run initialises the parameters made in static mode.

    Examples:
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     print(paddle.static.default_startup_program() is startup)
        True
    """
    return _default_programs()[1]


def switch_main_program(program: Program) -> Program:
    """Makes another Program the process's default; gives the one before."""
    return _switch(0, program)


def switch_startup_program(program: Program) -> Program:
    return _switch(1, program)


def _switch(position: int, program: Program) -> Program:
    _default_programs()
    with _lock:
        before, _defaults[position] = _defaults[position], program
    _follow()
    return before


def enable_static() -> None:
    """From now on operations of this thread are added to the default main program instead of being run.

    Examples:
        >>> paddle.enable_static()
        >>> paddle.in_dynamic_mode()
        False
        >>> paddle.disable_static()
    """
    if _thread.own is None and threading.current_thread() is not threading.main_thread():
        from .program import Program

        _thread.own = (Program(), Program())
    _thread.enabled = True
    _follow()


def disable_static(place: str | Place | None = None) -> None:
    """Back to running operations as they are called.

    Args:
        place: becomes the place of new tensors, if given.

    Examples:
        >>> paddle.enable_static()
        >>> paddle.disable_static()
        >>> paddle.in_dynamic_mode()
        True
    """
    _thread.enabled = False
    _follow()
    if place is not None:
        set_device(place)


def _follow() -> None:
    """Makes what the thread records into what it should be."""
    wanted = default_main_program() if _thread.enabled else None
    if wanted is _thread.recording:
        return
    _leave()
    if wanted is not None:
        _enter(wanted)


def _enter(program: Program) -> None:
    if not LOCAL.segment.captures:
        flush_current()
    elif LOCAL.segment.owner is None:
        raise runtime_error("static", "a static program cannot be built while a function is captured (to_static)")
    me = threading.get_ident()
    with _lock:
        if program.recorded_by not in (None, me):
            raise runtime_error(
                "static", "another thread is adding operations to this program", f"{program!r}",
                "give each thread a Program of its own with program_guard()",
            )  # fmt: skip
        program.recorded_by = me
    segment = program.segment
    segment.resume()
    LOCAL.segment = segment
    LOCAL.place = segment.root.place
    segment.node = move_into(segment.node, LOCAL.scope)
    _thread.recording = program


def _leave() -> None:
    program = _thread.recording
    if program is None:
        return
    program.segment.suspend()
    program.recorded_by = None
    _thread.recording = None
    LOCAL.segment = Segment(LOCAL.place, LOCAL.lock, scope=LOCAL.scope)


@contextlib.contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Inside, these are the default programs.

    Args:
        main_program: the one that operations are added to.
        startup_program: the one that initialises parameters; None: as before.

    Raises:
        TypeError: they are no Programs.

    Examples:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     y = paddle.static.data("x", [None, 2]) * 2
        >>> main.num_ops()
        1
    """
    from .program import Program

    for name, given in (("main_program", main_program), ("startup_program", startup_program)):
        if not isinstance(given, Program) and (given is not None or name == "main_program"):
            raise type_error("program_guard", f"{name} must be a Program", type(given).__name__)
    _thread.guards.append((main_program, startup_program or default_startup_program()))
    try:
        _follow()
        yield
    finally:
        _thread.guards.pop()
        _follow()


@contextlib.contextmanager
def recording(program: Program) -> Iterator[None]:
    """Inside, operations are added to this Program, whatever the mode."""
    former = _thread.recording
    if former is program:
        yield
        return
    _leave()
    _enter(program)
    try:
        yield
    finally:
        _leave()
        if former is not None:
            _enter(former)


@contextlib.contextmanager
def running() -> Iterator[None]:
    """Inside, operations run as they are called, and tensors have the values they have outside of programs."""
    former = _thread.recording
    if former is None:
        yield
        return
    if LOCAL.segment is not former.segment:
        raise runtime_error("static", "a program cannot run inside a branch or loop that is being added to a program")
    _leave()
    try:
        yield
    finally:
        flush_current()
        _enter(former)


def require_static(where: str) -> Program:
    """The Program that is being recorded; RuntimeError in dynamic mode."""
    program = LOCAL.segment.owner
    if program is None:
        raise runtime_error(where, "this belongs to static programs", fix="call paddle.enable_static() first")
    return program


__all__ = [
    "default_main_program", "default_startup_program", "disable_static", "enable_static", "program_guard", "recording",
    "require_static", "running", "switch_main_program", "switch_startup_program",
]  # fmt: skip
