"""Inputs to try a model on: those that its file has recorded, those that the user gives, or made-up ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.dtype import to_numpy_dtype
from ..core.errors import type_error

if TYPE_CHECKING:
    from .models import Port

_SEED = 20_240_229
_BATCH = 1
# What further unknown sizes may be, until the model takes them: sizes that pictures and sentences have.
_PICTURES = (224, 320, 64, 32, 8, 2)
_OTHERS = (64, 128, 32, 8, 2)


class Vector(NamedTuple):
    """Inputs, and the results that are known for them (none where nobody has recorded any)."""

    inputs: list[np.ndarray]
    outputs: list[np.ndarray] | None = None


def made_up(ports: Sequence[Port]) -> Iterator[Vector]:
    """Inputs of several sizes, the likeliest first: a model need not take them all."""
    unknown = any(size < 0 for port in ports for size in port.shape)
    is_picture = any(len(port.shape) == 4 for port in ports)
    for size in (_PICTURES if is_picture else _OTHERS) if unknown else (1,):
        for batch in (_BATCH, 2) if unknown else (1,):
            generator = np.random.default_rng(_SEED)
            yield Vector([_numbers(generator, port, batch, size) for port in ports])


def _numbers(generator: np.random.Generator, port: Port, batch: int, size: int) -> np.ndarray:
    shape = [known if known >= 0 else batch if axis == 0 else size for axis, known in enumerate(port.shape)]
    dtype = to_numpy_dtype(port.dtype)
    if dtype.kind in "iub":
        return generator.integers(0, 2, shape).astype(dtype)
    numbers = generator.standard_normal(shape)
    if dtype.kind == "c":
        numbers = numbers + 1j * generator.standard_normal(shape)
    return np.asarray(numbers).astype(dtype)


def given_by_user(examples: Any) -> list[Vector]:
    """Vectors of what `Config.set_engine` was given: lists of arrays, one list for each run."""
    found: list[Vector] = []
    for run in examples:
        if not isinstance(run, (list, tuple)) or not all(isinstance(array, np.ndarray) for array in run):
            raise type_error(
                "Config.set_engine", "examples are lists of NumPy arrays, one list for each run", type(run).__name__
            )
        found.append(Vector(list(run)))
    return found


__all__ = ["Vector", "given_by_user", "made_up"]
