"""Native maximum pooling against plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proa.kernels.cpu import library
from proa.kernels.cpu.maxima import native_max_pool
from proa.ops.neural.pooling_kernels import max_pool
from tests.kernels import references as r

pytestmark = pytest.mark.skipif(library.target("MaxPooling") is None, reason="no native kernels")


def _loops(x: np.ndarray, kernel: Any, stride: Any, padding: Any) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (0, 0), *padding), constant_values=-np.inf)
    size = [(n - k) // s + 1 for n, k, s in zip(padded.shape[2:], kernel, stride, strict=True)]
    out = np.empty((*x.shape[:2], *size), x.dtype)
    for place in np.ndindex(*size):
        part = tuple(slice(p * s, p * s + k) for p, s, k in zip(place, stride, kernel, strict=True))
        window = padded[(slice(None), slice(None), *part)]
        out[(slice(None), slice(None), *place)] = window.max(axis=tuple(range(2, x.ndim)))
    return out


@pytest.mark.parametrize(
    ("shape", "kernel", "stride", "padding"),
    [
        ((2, 8, 28, 28), (3, 3), (2, 2), ((1, 1), (1, 1))),
        ((3, 7, 17, 19), (2, 2), (2, 2), ((0, 0), (0, 0))),
        ((2, 5, 36, 70), (2, 2), (2, 2), ((0, 0), (0, 0))),
        ((2, 5, 13, 33), (2, 2), (2, 2), ((0, 1), (0, 1))),
        ((2, 9, 15, 33), (3, 5), (1, 1), ((1, 2), (0, 3))),
        ((2, 9, 15, 33), (2, 3), (4, 7), ((0, 3), (2, 5))),
        ((4, 33, 61), (4,), (3,), ((2, 1),)),
        ((4, 33, 61), (61,), (1,), ((0, 0),)),
    ],
)
def test_against_loops(shape: Any, kernel: Any, stride: Any, padding: Any) -> None:
    x = r.draw(np.random.default_rng(len(shape) + shape[-1]), *shape)
    x[0, 1] = -np.inf
    x[1, 2, ..., 3] = np.nan
    chosen, attributes = native_max_pool(max_pool.operation.kernel), (kernel, stride, padding, False)
    assert r.calls_native(chosen, [x], attributes)
    np.testing.assert_array_equal(r.jitted(chosen, [x], attributes)[0], _loops(x, kernel, stride, padding))
