"""Draws from NumPy's global random state, in the calls that Paddle makes: `numpy.random.seed` decides the same crops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def uniform(ends: Sequence[float]) -> float:
    """A number from a range."""
    return float(np.random.uniform(ends[0], ends[1]))  # noqa: NPY002


def below(count: int) -> int:
    """A whole number from 0 to count - 1."""
    return int(np.random.randint(0, count))  # noqa: NPY002


def noise(*shape: int) -> np.ndarray:
    """Normal numbers."""
    return np.random.normal(size=shape)  # noqa: NPY002
