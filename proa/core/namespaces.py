"""Array namespaces: what kernels may do with the `xp` they are given."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np


def can_write(xp: Any) -> bool:
    """Whether arrays of this namespace can be written into: NumPy's and CuPy's can, those of XLA never change."""
    return xp.__name__ != "jax.numpy"


def constant(xp: Any, array: np.ndarray) -> Any:
    """A constant that a kernel has made with NumPy, to be used beside arrays of the namespace: CuPy mixes with none but its
    own and with numbers."""
    return array[()] if not array.ndim else xp.asarray(array)


def left_to_xla(xp: Any, *arguments: Any) -> NoReturn:
    """In the place of a CuPy kernel: CuPy's function gives other numbers at the edges, XLA's does it."""
    raise NotImplementedError("CuPy's function differs")
