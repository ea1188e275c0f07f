"""The GPU's sum over rows against NumPy: plain array code, so that any machine can run it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proa.kernels.gpu.sums import sum_by_product


def _never(*arguments: Any) -> Any:
    raise AssertionError("the fallback was taken")


@pytest.mark.parametrize(("shape", "axis"), [((2048, 64), (0,)), ((16, 130, 65), (0, 1)), ((2050, 3, 30), (0,))])
def test_sums_over_rows(shape: tuple[int, ...], axis: tuple[int, ...]) -> None:
    import jax.numpy

    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    found = sum_by_product(_never)(jax.numpy, jax.numpy.asarray(x), axis, False)
    expected = x.astype(np.float64).sum(axis)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(
    ("shape", "axis", "keepdim", "dtype"),
    [
        ((2048, 64), (0,), True, "float32"),
        ((2047, 64), (0,), False, "float32"),  # few rows
        ((2048, 63), (0,), False, "float32"),  # few columns
        ((64, 2048), (1,), False, "float32"),  # along rows
        ((2048, 64), (0, 1), False, "float32"),  # nothing is left
        ((2048, 64), (0,), False, "int32"),
    ],
)
def test_other_sums_are_left_to_xla(shape: Any, axis: Any, keepdim: bool, dtype: str) -> None:
    import jax.numpy

    kernel = sum_by_product(lambda *arguments: "fallback")
    assert kernel(jax.numpy, jax.numpy.zeros(shape, dtype), axis, keepdim) == "fallback"
