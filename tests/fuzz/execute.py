"""Runs one program in one mode and says what came of it."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import linecache
import sys
import time
import traceback
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

from . import runtime
from .program import Program
from .runtime import Entry, Recording

# Programs import the runtime under this name, however this package itself was imported.
RUNTIME_NAME = "tests.fuzz.runtime"


@dataclasses.dataclass
class Failure:
    """The error that ended a program."""

    kind: str  # name of the exception's type
    line: int | None  # the line of the program that it belongs to
    message: str
    deferred: bool = False  # it was found later than the line that is to blame
    trace: str = ""
    bases: tuple[str, ...] = ()  # the names of the types that the exception's type inherits from


@dataclasses.dataclass
class Outcome:
    """What a run recorded and how it ended."""

    entries: dict[str, Entry]
    failure: Failure | None
    seconds: float


def mode_context(module: Any, mode: str | None) -> AbstractContextManager[Any]:
    """The module's own context manager for a mode; None runs the module as it is."""
    if mode is None:
        return contextlib.nullcontext()
    return module.jit.eager_mode(mode)


def execute_all(program: Program, module_name: str, mode: str | None = None) -> list[Outcome]:
    """Run the program as often as it wants, with other numbers each time."""
    return [execute(program, module_name, mode, number) for number in range(program.repetitions)]


def execute(program: Program, module_name: str, mode: str | None = None, repetition: int = 0) -> Outcome:
    """Run the program's text once in the given mode, in this thread."""
    module = importlib.import_module(module_name)
    sys.modules.setdefault(RUNTIME_NAME, runtime)
    lines = program.source.splitlines(keepends=True)
    # With this entry tracebacks show the text of lines that are in no file.
    linecache.cache[program.file_name] = (len(program.source), None, lines, program.file_name)
    recording = Recording(lambda: mode_context(module, mode))
    failure: Failure | None = None
    started = time.perf_counter()
    try:
        code = compile(program.source, program.file_name, "exec")
        with runtime.repetition_is(repetition), runtime.recording_into(recording), mode_context(module, mode):
            exec(code, {"__name__": "fuzz_program"})
    except Exception as error:  # whatever it is, it is the outcome
        failure = describe(error, program.file_name)
    finally:
        linecache.cache.pop(program.file_name, None)
    return Outcome(recording.entries, failure, time.perf_counter() - started)


def describe(error: BaseException, file_name: str) -> Failure:
    """Type and line of an error. The location that the error itself carries comes first."""
    location = getattr(error, "proa_location", None)
    line = last_line_in(error.__traceback__, file_name)
    deferred = False
    if location is not None and location[0] == file_name:
        deferred = location[1] != line
        line = location[1]
    trace = "".join(traceback.format_exception(error))
    bases = tuple(base.__name__ for base in type(error).__mro__[1:-1])
    return Failure(type(error).__name__, line, str(error), deferred, trace[-6000:], bases)


def last_line_in(trace: TracebackType | None, file_name: str) -> int | None:
    line: int | None = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file_name:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
