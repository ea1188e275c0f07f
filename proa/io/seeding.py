"""Random numbers in datasets: seeds that are a function of the epoch and the batch, never of the number of workers.

At the start of an epoch one seed is fixed for each stream (NumPy's, Python's and ours), from that stream's own state, so
that seeding the stream a program uses is enough for a reproducible run. Before each batch the streams are seeded from it
and the batch's number. What the main process draws is left alone: its streams are put back after each batch made there.
"""

# ruff: noqa: NPY002 - the global state is what Paddle draws from, and what users seed

from __future__ import annotations

import base64
import ctypes
import hashlib
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core.generator import default_generator

Seeds = dict[str, int]


def _digest(*parts: Any) -> int:
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=7).digest(), "little")


def draw_epoch_seeds() -> Seeds:
    """The seeds of an epoch. Only our own generator moves: NumPy's next numbers decide the order, as in Paddle."""
    seed, offset = default_generator.draw()
    state: Any = np.random.get_state()
    return {
        "numpy": _digest(state[1].tobytes(), state[2], offset),
        "python": _digest(random.getstate(), offset),
        "paddle": _digest(seed, offset),
    }


def batch_seeds(seeds: Seeds, *position: int) -> Seeds:
    return {stream: _digest(seed, position) for stream, seed in seeds.items()}


def apply_seeds(seeds: Seeds) -> None:
    """Seeds the named streams."""
    if "numpy" in seeds:
        np.random.seed(seeds["numpy"] & 0xFFFFFFFF)
    if "python" in seeds:
        random.seed(seeds["python"])
    if "paddle" in seeds:
        default_generator.manual_seed(seeds["paddle"])


@contextmanager
def seeded(seeds: Seeds) -> Iterator[None]:
    """Within it the streams start from these seeds; behind it they go on as if nothing had happened."""
    numpy_state, python_state, our_state = _NUMPY.save(), random.getstate(), default_generator.get_state()
    apply_seeds(seeds)
    try:
        yield
    finally:
        _NUMPY.restore(numpy_state)
        random.setstate(python_state)
        default_generator.set_state(our_state)


class _NumpyStream:
    """Saves and restores NumPy's global state at every batch, which `get_state` and `set_state` take 0.2 ms for.

    The generator's words are copied where they lie. They do not tell whether half of a pair of normal numbers is kept
    for the next call; but a pair is only drawn with new words, so words that are as we left them, without such a half,
    still have none.
    """

    _NUM_BYTES = 625 * 4

    def __init__(self) -> None:
        self._left: bytes | None = None  # the words as we left them, if there was no half

    def save(self) -> tuple[bytes | None, Any]:
        """The words if they are all, else the whole state."""
        words = self._words()
        if words is not None and words == self._left:
            return words, None
        state: Any = np.random.get_state()
        is_all = words == state[1].tobytes() + int(state[2]).to_bytes(4, sys.byteorder) and not state[3]
        return (words, None) if is_all else (None, state)

    def restore(self, saved: tuple[bytes | None, Any]) -> None:
        words, state = saved
        self._left = words
        if words is None:
            np.random.set_state(state)
        else:
            np.random.seed(0)  # forgets a half that the dataset has left
            ctypes.memmove(_generator().ctypes.state_address, words, self._NUM_BYTES)

    def _words(self) -> bytes | None:
        generator = _generator()
        if type(generator) is not np.random.MT19937:
            return None
        return ctypes.string_at(generator.ctypes.state_address, self._NUM_BYTES)


def _generator() -> Any:
    # NumPy's type hints do not know this one.
    return np.random.get_bit_generator()  # pyright: ignore[reportAttributeAccessIssue]


_NUMPY = _NumpyStream()


def stream_states() -> dict[str, Any]:
    """The states of the three streams in plain numbers and text, for any file format."""
    name, keys, position, has_gauss, gauss = np.random.get_state()  # pyright: ignore[reportAssignmentType]
    version, words, next_gauss = random.getstate()
    ours = default_generator.get_state()
    return {
        "numpy": [str(name), _text(keys), int(position), int(has_gauss), float(gauss)],
        "python": [int(version), _text(words), next_gauss],
        "paddle": [int(ours[0]), int(ours[1])],
    }


def set_stream_states(states: dict[str, Any]) -> None:
    name, keys, position, has_gauss, gauss = states["numpy"]
    np.random.set_state((name, _words(keys), position, has_gauss, gauss))
    version, words, next_gauss = states["python"]
    random.setstate((version, tuple(_words(words).tolist()), next_gauss))
    default_generator.set_state(tuple(states["paddle"]))  # pyright: ignore[reportArgumentType]


def _text(words: Any) -> str:
    return base64.b64encode(np.asarray(words, "<u4").tobytes()).decode("ascii")


def _words(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<u4").astype(np.uint32)
