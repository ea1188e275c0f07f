"""Inputs to try a converted model with.

Nobody knows which numbers a model expects, so several kinds are offered, the likeliest first; the model it came from says
which of them it takes. Unknown dimensions of one name get one size. Two sets differ in every unknown dimension, which
shows that those were kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# For each try the sizes of unknown dimensions (the first axis, the others) of the first and the second set.
_SIZES = (
    ((2, 8), (3, 12)), ((2, 32), (3, 64)), ((2, 16), (3, 16)), ((2, 28), (3, 28)), ((1, 64), (2, 96)), ((2, 128), (1, 160)),
    ((2, 224), (1, 256)), ((1, 299), (1, 299)), ((1, 384), (1, 384)), ((1, 512), (1, 512)), ((1, 640), (1, 640)),
    ((1, 1), (1, 1)), ((4, 4), (4, 4)),
)  # fmt: skip
_LARGEST = (50, 5, 2)  # integers are below this: token numbers, then small codes, then flags


@dataclass
class InputShape:
    """One input: sizes with -1 for unknown ones, whose names may say which of them are equal."""

    name: str
    shape: Sequence[int]
    dtype: str
    dimension_names: Sequence[str | None] = ()


def tries(inputs: Sequence[InputShape], seed: int = 0) -> Iterator[list[list[np.ndarray]]]:
    """Lists of sets of arrays, one after the other, until one is taken."""
    integers = any("int" in given.dtype for given in inputs)
    for largest in _LARGEST if integers else _LARGEST[:1]:
        for sizes in _SIZES if any(size < 0 for given in inputs for size in given.shape) else _SIZES[:1]:
            yield [_arrays(inputs, pair, largest, seed + number) for number, pair in enumerate(sizes)]


def _arrays(inputs: Sequence[InputShape], sizes: tuple[int, int], largest: int, seed: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    named: dict[str, int] = {}
    found = []
    for given in inputs:
        shape = []
        for axis, size in enumerate(given.shape):
            if size >= 0:
                shape.append(size)
                continue
            name = given.dimension_names[axis] if axis < len(given.dimension_names) else None
            chosen = sizes[0] if axis == 0 else sizes[1]
            shape.append(named.setdefault(name, chosen) if name else chosen)
        found.append(_numbers(generator, shape, given.dtype, largest, given.name))
    return found


def _numbers(generator: np.random.Generator, shape: list[int], dtype: str, largest: int, name: str) -> np.ndarray:
    if dtype == "bool":
        return generator.random(shape) < 0.7
    if "int" in dtype:
        if "mask" in name.lower():  # the first steps are there, as real masks say
            made = np.ones(shape, dtype)
            made[..., (3 * shape[-1] + 3) // 4 :] = 0
            return made
        return generator.integers(0, largest, shape).astype(dtype)
    import ml_dtypes  # its types are found by name once it is imported

    assert ml_dtypes.bfloat16 is not None
    return generator.standard_normal(shape).astype(np.dtype(dtype))


def from_file(path: Any, names: Sequence[str]) -> list[np.ndarray]:
    """Arrays of an `.npz` file, by the names of the inputs, or in its order; a single `.npy` serves a single input."""
    loaded = np.load(path, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return [loaded]
    with loaded:
        if set(names) <= set(loaded.files):
            return [loaded[name] for name in names]
        if len(loaded.files) != len(names):
            raise ValueError(
                f"(convert) {path} holds {', '.join(loaded.files)}; the model's inputs are {', '.join(names)}."
            )
        return [loaded[name] for name in loaded.files]


__all__ = ["InputShape", "from_file", "tries"]
