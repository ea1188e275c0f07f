"""What a generated program imports: `record`, numbers that change with the repetition, `run_threads`.

Outside the runner (a person runs a printed program) `record` prints what it is given, and the numbers are those of the
first repetition; the environment variable FUZZ_REPETITION names another one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

THREAD_SECONDS = 30.0  # how long a program waits for its own threads, and they for each other


@dataclasses.dataclass
class Entry:
    """One recorded value. `value` is None where the program recorded None."""

    key: str
    value: np.ndarray | None
    line: int = 0
    stop_gradient: bool | None = None


class Recording:
    """The values that one run of a program recorded, by name and number of occurrence."""

    def __init__(self, thread_context: Callable[[], AbstractContextManager[Any]] = contextlib.nullcontext) -> None:
        self.thread_context = thread_context
        self.entries: dict[str, Entry] = {}
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()

    def add(self, name: str, value: Any, line: int) -> None:
        array, stop_gradient = to_array(value)
        with self._lock:
            count = self._counts.get(name, 0)
            self._counts[name] = count + 1
            key = f"{name}#{count}"
            self.entries[key] = Entry(key, array, line, stop_gradient)


_current: Recording | None = None
_silent = False
_repetition = int(os.environ.get("FUZZ_REPETITION", "0"))


def to_array(value: Any) -> tuple[np.ndarray | None, bool | None]:
    """A private copy of a tensor's or a Python number's value, and the tensor's stop_gradient."""
    if value is None:
        return None, None
    if hasattr(value, "stop_gradient"):
        return np.array(value.numpy()), bool(value.stop_gradient)
    # A Python float was read from a tensor, as a rule a float32 one.
    return np.array(value, dtype=np.float32 if isinstance(value, float) else None), None


@contextlib.contextmanager
def recording_into(recording: Recording):
    """Send what programs record to `recording` while the block runs."""
    global _current
    before, _current = _current, recording
    try:
        yield recording
    finally:
        _current = before


@contextlib.contextmanager
def not_recording() -> Iterator[None]:
    """Let programs record nothing: the model runs statements while the program is being written."""
    global _silent
    before, _silent = _silent, True
    try:
        yield
    finally:
        _silent = before


@contextlib.contextmanager
def repetition_is(number: int) -> Iterator[None]:
    """Which repetition of a program runs in this block."""
    global _repetition
    before, _repetition = _repetition, number
    try:
        yield
    finally:
        _repetition = before


def changing(values: Any) -> Any:
    """Numbers that were spelt out, in another order and a little smaller at each later repetition.

    They stay on the grid of three decimals and within their bounds, which the generator relies on.
    """
    array = np.asarray(values)
    if not _repetition:
        return values
    moved = np.roll(array.reshape(-1), _repetition).reshape(array.shape)
    if array.dtype.kind == "f":
        moved = np.round(moved * (1.0 - 0.06 * _repetition), 3)
    return moved.tolist()


def given(shape: Sequence[int], key: int) -> np.ndarray:
    """Numbers for a tensor: multiples of 1/8 between -2 and 2, other ones for each key and repetition."""
    size = int(np.prod(shape))
    numbers = (np.arange(size) * 7 + key * 5 + _repetition * 11 + key * _repetition) % 33 - 16
    return (numbers / 8.0).astype(np.float32).reshape(tuple(shape))


def vary(size: int) -> int:
    """A size that is another one in some of the repetitions."""
    return size + (0, 0, 0, 2, 0, 1)[_repetition % 6]


def is_refused(loss: Any) -> bool:
    """Differentiate; whether that was refused, as a value that a gradient needs was changed in place."""
    try:
        loss.backward()
    except RuntimeError as error:
        if "in place" not in str(error) and "inplace" not in str(error):
            raise
        return True
    return False


def names_for_programs(module: Any) -> dict[str, Any]:
    """The names that a memory program finds, where `module` is what it knows as paddle."""
    return {
        "np": np, "paddle": module, "record": record, "given": given, "vary": vary, "is_refused": is_refused,
    }  # fmt: skip


def record(name: str, value: Any) -> None:
    """Note a value of the program under a name; reading a tensor makes it be computed."""
    if _silent:
        return
    if _current is None:
        print(name, None if value is None else to_array(value)[0], sep=" = ")
        return
    _current.add(name, value, sys._getframe(1).f_lineno)


def thread_context() -> Callable[[], AbstractContextManager[Any]]:
    """What each further thread of a program enters: the mode under test, which may belong to a thread."""
    return _current.thread_context if _current else contextlib.nullcontext


def run_threads(*functions: Callable[[], Any]) -> None:
    """Run the functions in a thread each and wait; the error of the first of them is raised here.

    Each thread enters the mode under test by itself, so that a mode which belongs to a thread is
    tested as well as one that belongs to the process.
    """
    errors: list[BaseException | None] = [None] * len(functions)
    context = thread_context()

    def body(position: int, function: Callable[[], Any]) -> None:
        try:
            with context():
                function()
        except BaseException as error:  # handed to the caller's thread
            errors[position] = error

    threads = [threading.Thread(target=body, args=item, daemon=True) for item in enumerate(functions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(THREAD_SECONDS)
        if thread.is_alive():
            raise TimeoutError("a thread of the program did not end")
    for error in errors:
        if error is not None:
            raise error
