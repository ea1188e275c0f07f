"""What programs import whose other threads read a model while the main thread trains it.

How often a thread reads, and between which steps, is a matter of luck; what it may see is not. A parameter is read as
it was after some step, never between two, and an output is that of parameters each of which was there after some step.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from . import runtime

PAUSE = 0.0003  # seconds between two reads: a step takes longer, and compiling much longer
MOST_READS = 400  # by one thread, and different from the one before
# What waits in the main thread is computed by a reader for itself, op by op, and later compiled: rounding may differ.
READ_TOLERANCE = 1e-6
OUTPUT_TOLERANCE = 1e-5


@contextlib.contextmanager
def while_reading(*functions: Callable[[], Any]) -> Iterator[list[list[Any]]]:
    """Call each function over and over in a thread of its own while the block runs; gives what they returned.

    The block starts when each of them was called once. The first error of a thread is raised at the end.
    """
    seen: list[list[Any]] = [[] for _ in functions]
    errors: list[BaseException] = []
    stopped, started = threading.Event(), [threading.Event() for _ in functions]
    context = runtime.thread_context()

    def body(position: int, function: Callable[[], Any]) -> None:
        try:
            with context():
                while not stopped.is_set() and len(seen[position]) < MOST_READS:
                    found = function()
                    if not seen[position] or not is_same(found, seen[position][-1]):
                        seen[position].append(found)
                    started[position].set()
                    stopped.wait(PAUSE)
        except BaseException as error:  # handed to the main thread
            errors.append(error)
        finally:
            started[position].set()

    threads = [threading.Thread(target=body, args=item, daemon=True) for item in enumerate(functions)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)  # so that threads meet within the few steps of a program
    try:
        for thread in threads:
            thread.start()
        for one in started:
            one.wait(runtime.THREAD_SECONDS)
        yield seen
    finally:
        sys.setswitchinterval(interval)
        stopped.set()
        for thread in threads:
            thread.join(runtime.THREAD_SECONDS)
    if any(thread.is_alive() for thread in threads):
        raise TimeoutError("a thread that reads did not end")
    if errors:
        raise errors[0]


def is_same(first: Any, second: Any) -> bool:
    """Whether two reads found the same numbers: an array or a list of them."""
    if isinstance(first, list):
        return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    return np.array_equal(first, second)


def are_from(history: Sequence[Sequence[np.ndarray]], reads: Sequence[Sequence[np.ndarray]]) -> bool:
    """Whether each array that was read is one that its parameter had after some step."""
    return all(
        any(np.abs(array - step[position]).max() < READ_TOLERANCE for step in history)
        for read in reads
        for position, array in enumerate(read)
    )


def are_outputs(history: Sequence[Sequence[np.ndarray]], batch: np.ndarray, outputs: Sequence[np.ndarray]) -> bool:
    """Whether each output is that of Linear, tanh, Linear with parameters of some steps, perhaps of different ones."""
    weights, biases, weights2, biases2 = ([np.float64(step[place]) for step in history] for place in range(4))
    hidden = np.array([np.tanh(batch @ weight + bias) for weight in weights for bias in biases])
    possible = np.array([hidden @ weight + bias for weight in weights2 for bias in biases2])
    return all((np.abs(possible - output).max(axis=(-1, -2)) < OUTPUT_TOLERANCE).any() for output in outputs)
