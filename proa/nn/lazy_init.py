"""`paddle.nn.initializer.lazy_init`: LazyGuard, and the Bilinear initializer of upsampling convolutions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.errors import value_error
from .initializer import Initializer


class LazyGuard:
    """A context in which Paddle makes parameters without their numbers.

    Here they get their numbers at once: they live on the host until a device needs them, and cost nothing on it before.
    """

    def __enter__(self) -> LazyGuard:
        return self

    def __exit__(self, *_: Any) -> None:
        return None


class Bilinear(Initializer):
    """Weights of a transposed convolution that enlarges by interpolation."""

    def draw(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        if len(shape) != 4 or shape[2] != shape[3]:
            raise value_error("Bilinear", "the weight must have 4 dimensions with a square kernel", f"{list(shape)}")
        size = shape[3]
        factor = math.ceil(size / 2)
        centre = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        numbers = np.arange(math.prod(shape))
        # Paddle divides without rounding to get the row.
        x, y = numbers % size, (numbers / max(size, 1)) % size
        values = (1 - np.abs(x / factor - centre)) * (1 - np.abs(y / factor - centre))
        return values.reshape(shape).astype(dtype)
