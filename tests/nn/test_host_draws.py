"""Numbers drawn on the host: what they depend on, and how they are rounded."""

import os

import ml_dtypes
import numpy as np
import pytest

from proa.kernels import host_draws

FLOAT32, BFLOAT16 = np.dtype("float32"), np.dtype(ml_dtypes.bfloat16)
LARGE = (3, 1 << 20)


@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (7, 1000)])
def test_small_arrays_are_one_stream_of_numpy(shape):
    generator = np.random.Generator(np.random.Philox(key=(7 << 64) | 5))
    expected = generator.standard_normal(shape, dtype=np.float32) * np.float32(0.5) + np.float32(2.0)
    np.testing.assert_array_equal(host_draws.normal(5, 7, shape, FLOAT32, 2.0, 0.5), expected)


def test_threads_change_nothing(monkeypatch):
    many = host_draws.normal(1, 2, LARGE, FLOAT32, 0.0, 1.0)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    np.testing.assert_array_equal(host_draws.normal(1, 2, LARGE, FLOAT32, 0.0, 1.0), many)


def test_pieces_differ_from_each_other_and_from_other_draws():
    first = host_draws.uniform(1, 2, LARGE, FLOAT32, 0.0, 1.0)
    other = host_draws.uniform(1, 3, LARGE, FLOAT32, 0.0, 1.0)
    rows = [*first, *other]
    for i, a in enumerate(rows):
        for b in rows[:i]:
            assert abs(np.corrcoef(a, b)[0, 1]) < 0.005
    assert first.min() >= 0
    assert first.max() < 1
    assert abs(first.mean() - 0.5) < 1e-3
    assert abs(first.var() - 1 / 12) < 1e-3


def test_bfloat16_is_the_nearest_to_float32():
    wide = host_draws.normal(1, 2, LARGE, FLOAT32, 0.1, 3.0)
    np.testing.assert_array_equal(
        host_draws.normal(1, 2, LARGE, BFLOAT16, 0.1, 3.0).view(np.uint16), wide.astype(BFLOAT16).view(np.uint16)
    )


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_other_types(dtype):
    drawn = host_draws.uniform(4, 4, (1 << 20,), np.dtype(dtype), -2.0, 2.0)
    assert drawn.dtype == dtype
    assert abs(float(drawn.astype("float64").std()) - 4 / 12**0.5) < 5e-3
