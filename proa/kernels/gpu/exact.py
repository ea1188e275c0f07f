"""Products and sums for a GPU whose rows do not notice each other (`ir/transforms/exactness.py`).

A program of the grid takes a tile of one size, whatever the number of rows. Numbers are multiplied as float32 and added
along the depth from its first element on: Triton does that for products that no tensor core computes. Its own sums are
avoided, as their order follows from how a tile is spread over threads. Rows behind the last are that row once more, and
write the same.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .pallas import call

_ROWS, _COLUMNS, _DEPTH = 16, 32, 32  # of a tile; Triton's products have 16 of each at least
_LANES = 64  # sums of a row that go on beside each other


def product(x: Any, y: Any, transpose_y: bool = False, interpret: bool = False) -> Any:
    """x [..., rows, depth] times y [..., depth, columns], the leading axes equal; every row as it would be alone."""
    *lead, rows, depth = x.shape
    columns = y.shape[-2 if transpose_y else -1]
    count = math.prod(lead)
    if not count * rows * depth * columns:
        return np.zeros((*lead, rows, columns), np.float32)
    run = _product_of((count, rows, depth), (count, *y.shape[-2:]), transpose_y, interpret)
    return run(x.reshape(count, rows, depth), y.reshape(count, *y.shape[-2:])).reshape(*lead, rows, columns)


def row_sums(rows: Any, interpret: bool = False) -> Any:
    """The sums of rows [..., n]; every row as it would be alone."""
    *lead, length = rows.shape
    if not rows.size:
        return np.zeros(lead, np.float32)
    flat = rows.reshape(-1, length)
    return _sums_of(flat.shape, interpret)(flat)[:, 0].reshape(lead)


@functools.cache
def _product_of(left: tuple[int, int, int], right: tuple[int, int, int], transpose_y: bool, interpret: bool) -> Any:
    """The product of arrays of these shapes as a function of its own, so that a program translates it once."""
    import jax

    return jax.jit(functools.partial(_product, left, right, transpose_y, interpret))


def _product(
    left: tuple[int, int, int], right: tuple[int, int, int], transpose_y: bool, interpret: bool, x: Any, y: Any
) -> Any:
    from jax import lax
    from jax import numpy as jnp
    from jax.experimental.pallas import program_id

    (count, rows, depth), columns = left, right[1 if transpose_y else 2]

    def kernel(x_ref: Any, y_ref: Any, out_ref: Any) -> None:
        batch = program_id(0)
        row = jnp.minimum(program_id(1) * _ROWS + jnp.arange(_ROWS, dtype=jnp.int32), rows - 1)
        column = jnp.minimum(program_id(2) * _COLUMNS + jnp.arange(_COLUMNS, dtype=jnp.int32), columns - 1)

        def step(number: Any, total: Any) -> Any:
            place = number * _DEPTH + jnp.arange(_DEPTH, dtype=jnp.int32)
            held = place < depth
            place = jnp.minimum(place, depth - 1)
            a = jnp.where(held[None, :], x_ref[batch, row[:, None], place[None, :]], np.float32(0.0))
            if transpose_y:
                b = y_ref[batch, column[None, :], place[:, None]]
            else:
                b = y_ref[batch, place[:, None], column[None, :]]
            b = jnp.where(held[:, None], b, np.float32(0.0))
            return total + jnp.dot(a, b, precision=lax.Precision.HIGHEST)

        begin, end = np.int32(0), np.int32(-(-depth // _DEPTH))
        total = lax.fori_loop(begin, end, step, jnp.zeros((_ROWS, _COLUMNS), jnp.float32))
        out_ref[batch, row[:, None], column[None, :]] = total

    grid = (count, -(-rows // _ROWS), -(-columns // _COLUMNS))
    (out,) = call(kernel, grid, [((count, rows, columns), np.float32)], x, y, interpret=interpret)
    return out


@functools.cache
def _sums_of(shape: tuple[int, int], interpret: bool) -> Any:
    import jax

    return jax.jit(functools.partial(_sums, shape, interpret))


def _sums(shape: tuple[int, int], interpret: bool, x: Any) -> Any:
    """The sums of rows, sixteen times beside each other: lanes are added up as a product with ones."""
    from jax import lax
    from jax import numpy as jnp
    from jax.experimental.pallas import program_id

    rows, length = shape

    def kernel(x_ref: Any, out_ref: Any) -> None:
        row = jnp.minimum(program_id(0) * _ROWS + jnp.arange(_ROWS, dtype=jnp.int32), rows - 1)

        def step(number: Any, total: Any) -> Any:
            place = number * _LANES + jnp.arange(_LANES, dtype=jnp.int32)
            found = x_ref[row[:, None], jnp.minimum(place, length - 1)[None, :]]
            return total + jnp.where((place < length)[None, :], found, np.float32(0.0))

        begin, end = np.int32(0), np.int32(-(-length // _LANES))
        lanes = lax.fori_loop(begin, end, step, jnp.zeros((_ROWS, _LANES), jnp.float32))
        ones = jnp.ones((_LANES, _ROWS), jnp.float32)
        place = jnp.arange(_ROWS, dtype=jnp.int32)
        out_ref[row[:, None], place[None, :]] = jnp.dot(lanes, ones, precision=lax.Precision.HIGHEST)

    (out,) = call(kernel, (-(-rows // _ROWS),), [((rows, _ROWS), np.float32)], x, interpret=interpret)
    return out
