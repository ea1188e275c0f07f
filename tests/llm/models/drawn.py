"""Weights that follow from their names: what `vectors.json` was made with, so that no weights need be stored.

`vectors.json` has for each small model its config.json, the names and shapes of its file's tensors (`[0-2]` stands for
numbers), and what transformers answers. `reference.py store` writes it, `test_families.py` reads it.
"""

from __future__ import annotations

import itertools
import re
import zlib
from typing import Any

import numpy as np

IDS = np.random.default_rng(7).integers(3, 60, (2, 14))
TARGETS = np.random.default_rng(8).integers(3, 60, (2, 5))
MASK = np.where(np.arange(14)[None] < np.array([[14], [10]]), 1, 0)
TYPES = np.broadcast_to((np.arange(14) > 6).astype(np.int64), (2, 14)).copy()
NEW = 24


def drawn(name: str, shape: Any) -> np.ndarray:
    numbers = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape)
    if len(shape) > 1 and "correction" not in name:
        return (numbers * (0.3 if "emb" in name or "wte" in name or name == "shared.weight" else 0.25)).astype(
            np.float32
        )
    return (numbers * 0.2 + (1.0 if re.search(r"(norm|ln_\w|LayerNorm)\.weight$", name) else 0.0)).astype(np.float32)


def tensors(patterns: dict[str, list[int]]) -> dict[str, np.ndarray]:
    found = {}
    for pattern, shape in patterns.items():
        parts = re.split(r"\[([\d,]+)\]", pattern)
        choices = [part.split(",") if number % 2 else [part] for number, part in enumerate(parts)]
        for chosen in itertools.product(*choices):
            found["".join(chosen)] = drawn("".join(chosen), shape)
    return found


def patterns(shapes: dict[str, list[int]]) -> dict[str, list[int]]:
    """Names that differ in a number only become one, where their numbers are a full grid."""
    groups: dict[Any, list[list[str]]] = {}
    for name, shape in shapes.items():
        numbers = re.findall(r"(?<=\.)\d+(?=\.)", name)
        groups.setdefault((re.sub(r"(?<=\.)\d+(?=\.)", "#", name), tuple(shape)), []).append(numbers)
    found = {}
    for (general, shape), rows in groups.items():
        columns = [sorted(set(column), key=int) for column in zip(*rows, strict=True)]
        assert len(rows) == int(np.prod([len(column) for column in columns])), general
        spelled = general
        for column in columns:
            spelled = spelled.replace("#", f"[{','.join(column)}]", 1)
        found[spelled] = list(shape)
    return found
