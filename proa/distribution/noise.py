"""Standard random numbers of the distributions that rsample shifts and scales.

They come from proa's generator, so `paddle.seed` makes them repeatable. Half types are drawn in
float32: their own fractions are too coarse for a logarithm.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dtype import FLOAT32, FLOAT64
from ..ops.basic import cast_to
from ..ops.create.random import draw, normal_of, uniform_of
from .functions import paddle

Shape = tuple[int, ...]


def _drawn(dtype: np.dtype) -> np.dtype:
    return FLOAT64 if dtype == FLOAT64 else FLOAT32


def standard_normal(shape: Shape, dtype: np.dtype, seed: int = 0) -> Any:
    """Standard normal numbers.

    Args:
        shape: the shape.
        dtype: the data type.
        seed: another number than 0 always gives the same ones.

    Examples:
        >>> from proa.distribution.continuous.lkj_cholesky import standard_normal
        >>> standard_normal((2, 3), np.dtype("float32")).shape
        paddle.Size([2, 3])
    """
    return normal_of(0.0, 1.0, *draw(seed), shape, dtype)


def _fraction(shape: Shape, dtype: np.dtype, seed: int = 0) -> Any:
    # Neither 0 nor 1: half a step above the multiples of the resolution.
    return uniform_of(2.0**-54 if dtype == FLOAT64 else 2.0**-25, 1.0, *draw(seed), shape, _drawn(dtype))


def standard_uniform(shape: Shape, dtype: np.dtype, seed: int = 0) -> Any:
    """From (0, 1), both ends excluded."""
    return cast_to(_fraction(shape, dtype, seed), dtype)


def standard_exponential(shape: Shape, dtype: np.dtype) -> Any:
    return cast_to(-paddle.log(_fraction(shape, dtype)), dtype)


def standard_gumbel(shape: Shape, dtype: np.dtype) -> Any:
    return cast_to(-paddle.log(-paddle.log(_fraction(shape, dtype))), dtype)


def standard_logistic(shape: Shape, dtype: np.dtype) -> Any:
    fraction = _fraction(shape, dtype)
    return cast_to(paddle.log(fraction) - paddle.log1p(-fraction), dtype)


def standard_cauchy(shape: Shape, dtype: np.dtype) -> Any:
    return cast_to(paddle.tan((_fraction(shape, dtype) - 0.5) * math.pi), dtype)


def standard_laplace(shape: Shape, dtype: np.dtype) -> Any:
    centred = _fraction(shape, dtype) - 0.5
    return cast_to(-paddle.sign(centred) * paddle.log1p(paddle.abs(centred) * -2.0), dtype)
