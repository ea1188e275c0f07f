"""Ragged inputs: variables of `lod_level` 1, whose rows belong to sequences of different lengths.

Such an input is fed its rows one behind another. Two more inputs, made when an operation first asks for them, say which
sequence each row belongs to and how long each is. Rows of a result belong to the same sequences as long as their number is
the input's own symbol: nothing has to be carried from operation to operation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.symbols import expression_of
from ..eager.tensor import Tensor
from ..ir.recorder import LOCAL
from .variable import data

_OWNERS, _LENGTHS = "@SEQUENCES", "@LENGTHS"


@dataclass(frozen=True)
class Sequences:
    """Which sequence each row belongs to, and how long the sequences are."""

    owners: Tensor
    lengths: Tensor


def sequences_of(x: Tensor) -> Sequences | None:
    """The sequences of a variable's rows; None: it has none, and is a padded batch."""
    program = LOCAL.segment.owner
    if program is None or not x._aval.ndim:
        return None
    rows = expression_of(x._aval.shape[0])
    for name, given in list(program.data.items()):
        if given.lod_level and rows is not None and expression_of(given._aval.shape[0]) == rows:
            return Sequences(data(f"{name}{_OWNERS}", [-1], "int64"), data(f"{name}{_LENGTHS}", [-1], "int64"))
    return None


def ragged_feed(name: str, rows: np.ndarray, lengths: np.ndarray) -> dict[str, Any]:
    """What a ragged input is fed: its rows, and how they are divided."""
    lengths = np.asarray(lengths, np.int64)
    return {name: rows, f"{name}{_OWNERS}": np.repeat(np.arange(len(lengths)), lengths), f"{name}{_LENGTHS}": lengths}
