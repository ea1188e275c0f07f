"""An update as bytes, and back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def pack(
    kind: str, name: str, session: str, number: int, ids: np.ndarray, numbers: np.ndarray, shows: np.ndarray,
    rate: float | None,
) -> bytes:  # fmt: skip
    """A line of JSON, then the arrays."""
    width = numbers.shape[1] if numbers.ndim == 2 else 1
    head = json.dumps([kind, name, session, number, len(ids), width, rate]).encode() + b"\n"
    arrays = (ids.astype(np.int64), numbers.astype(np.float32), shows.astype(np.float32))
    return b"".join([head, *(np.ascontiguousarray(array).tobytes() for array in arrays)])


def unpack(payload: bytes) -> tuple[Any, ...]:
    """The arguments of `pack`."""
    end = payload.index(b"\n") + 1
    kind, name, session, number, count, width, rate = json.loads(payload[:end])
    ids = np.frombuffer(payload, np.int64, count, end)
    end += 8 * count
    numbers = np.frombuffer(payload, np.float32, count * width, end).reshape(count, width)
    shows = np.frombuffer(payload, np.float32, count, end + 4 * count * width)
    return kind, name, session, number, ids, numbers, shows, rate
