"""Attention over pages by native code: the same bits for a query in any step, and nothing read outside the pools."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proa.kernels.cpu import library
from proa.ops.generation.pages import paged_attention, write_pages
from tests.kernels.cases import references as r

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")


def _pools(dtype: str = "float32") -> list[Any]:
    draw = np.random.default_rng(5)
    return [draw.normal(size=(40, 16, 3, 64)).astype(dtype) for _ in range(2)]


def _attend(query: Any, tables: Any, positions: Any, pools: Any, window: Any = None) -> np.ndarray:
    kernel = paged_attention.operation.kernels["numpy"]
    whole = [np.ascontiguousarray(a, np.int32) for a in (tables, positions)]
    return kernel(np, query, *pools, *whole, None, None, None, 0.125, window, 0.0)


@pytest.mark.parametrize("window", [None, 50])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_query_has_the_same_bits_in_any_step(window: Any, dtype: str) -> None:
    """All tokens at once, in chunks, one by one, and beside another sequence in other pages."""
    draw, pools = np.random.default_rng(0), _pools(dtype)
    query = draw.normal(size=(1, 150, 9, 64)).astype(np.float32)
    tables, positions = draw.permutation(40)[None, :10], np.arange(150)[None]
    whole = _attend(query, tables, positions, pools, window)
    for first, last in ((0, 1), (149, 150), (64, 65), (0, 64), (63, 130), (100, 150)):
        part = _attend(query[:, first:last], tables, positions[:, first:last], pools, window)
        np.testing.assert_array_equal(part, whole[:, first:last])
    other = np.array([39, 38, 37, 36, 35, 34, 33, 32, 31, 30])
    both = _attend(
        np.repeat(query[:, 140:], 2, 0), np.stack([other, tables[0]]), np.stack([np.arange(10), positions[0, 140:]]),
        pools, window,
    )  # fmt: skip
    np.testing.assert_array_equal(both[1], whole[0, 140:])


def test_programs_give_the_same_bits_as_calls_of_their_own() -> None:
    draw, pools = np.random.default_rng(1), _pools()
    query = draw.normal(size=(2, 3, 9, 64)).astype(np.float32)
    tables = draw.permutation(40)[:20].reshape(2, 10).astype(np.int32)
    positions = np.array([[3, 4, 5], [77, 78, 79]], np.int32)
    arrays = [query, *pools, tables, positions, None, None, None]
    found = r.jitted(paged_attention.operation.kernels["cpu"], arrays, (0.125, None, 0.0))[0]
    np.testing.assert_array_equal(found, _attend(query, tables, positions, pools))


def test_tables_and_positions_outside_lead_nowhere_else() -> None:
    """Such a step is a mistake of the caller's; it gives some numbers and never reads memory of others."""
    pools = _pools()
    query = np.ones((1, 2, 9, 64), np.float32)
    found = _attend(query, np.array([[-5, 2**31 - 1]]), np.array([[-1, 2**30]]), pools)
    assert np.isfinite(found).all()
    assert not found[0, 0].any()  # before everything: it sees nothing


@pytest.mark.parametrize("dtype", ["float32", "int8", "bfloat16"])
def test_rows_are_written_and_others_stay(dtype: str) -> None:
    import ml_dtypes

    kind = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    draw = np.random.default_rng(2)
    pool = draw.integers(-100, 100, (6, 4, 2, 5)).astype(kind)
    rows = draw.integers(-100, 100, (2, 3, 2, 5)).astype(kind)
    slots = np.array([[5, 0, 23], [7, 8, 9]], np.int32)
    expected = pool.reshape(24, 2, 5).copy()
    for slot, row in zip(slots.reshape(-1), rows.reshape(-1, 2, 5), strict=True):
        expected[slot] = row
    before = pool.copy()
    for way in ("numpy", "cpu"):
        kernel = write_pages.operation.kernels[way]
        found = kernel(np, pool, rows, slots) if way == "numpy" else r.jitted(kernel, [pool, rows, slots])[0]
        np.testing.assert_array_equal(found.reshape(24, 2, 5).astype(np.float32), expected.astype(np.float32))
        np.testing.assert_array_equal(pool.astype(np.float32), before.astype(np.float32))
