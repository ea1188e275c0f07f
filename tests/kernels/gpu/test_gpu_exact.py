"""Products and sums whose rows do not notice each other: the same bits beside any number of rows.

Interpreted here; on a GPU (marker `gpu`) as Triton compiles them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from proa.ir.transforms.exactness import compiler_options
from proa.ir.xla import started_jax
from proa.kernels.gpu.exact import product, row_sums

COMPANIES: Sequence[list[int]] = ([0], [36], [5, 3], list(range(9)), list(range(20, 37)), [7] * 20 + [1])
PRODUCTS = [(40, 24, False), (24, 128, True), (300, 33, False)]
LENGTHS = [32, 200, 1000]


def compiled(function: Callable[..., Any], kind: str, *operands: np.ndarray) -> np.ndarray:
    """What a program of this function alone gives, compiled as exact programs are."""
    jax = started_jax()
    with jax.default_device(jax.devices(kind)[0]):
        run = jax.jit(function).lower(*operands).compile(compiler_options=compiler_options(kind))
        return np.asarray(run(*operands))


def check_product(depth: int, columns: int, transpose_y: bool, kind: str) -> None:
    def run(x: np.ndarray) -> np.ndarray:
        return compiled(lambda a, b: product(a, b, transpose_y, interpret=kind == "cpu"), kind, x, y)

    draw = np.random.default_rng(0)
    x = draw.normal(size=(37, depth)).astype(np.float32)
    y = draw.normal(size=(columns, depth) if transpose_y else (depth, columns)).astype(np.float32)
    whole, wanted = run(x), x.astype(np.float64) @ (y.T if transpose_y else y)
    np.testing.assert_allclose(whole, wanted, rtol=1e-4, atol=1e-5 * depth**0.5)
    for rows in COMPANIES:
        np.testing.assert_array_equal(run(x[rows]), whole[rows])


def check_sums(length: int, kind: str) -> None:
    def run(x: np.ndarray) -> np.ndarray:
        return compiled(lambda a: row_sums(a, interpret=kind == "cpu"), kind, x)

    x = np.random.default_rng(1).normal(size=(37, length)).astype(np.float32)
    whole = run(x)
    np.testing.assert_allclose(whole, x.astype(np.float64).sum(1), rtol=1e-4, atol=1e-4)
    for rows in COMPANIES:
        np.testing.assert_array_equal(run(x[rows]), whole[rows])


@pytest.mark.parametrize(("depth", "columns", "transpose_y"), PRODUCTS)
def test_a_row_of_a_product_is_what_it_would_be_alone(depth: int, columns: int, transpose_y: bool) -> None:
    check_product(depth, columns, transpose_y, "cpu")


@pytest.mark.parametrize("length", LENGTHS)
def test_the_sum_of_a_row_is_what_it_would_be_alone(length: int) -> None:
    check_sums(length, "cpu")


@pytest.mark.gpu
@pytest.mark.parametrize(("depth", "columns", "transpose_y"), PRODUCTS)
def test_a_row_of_a_product_is_what_it_would_be_alone_on_a_gpu(depth: int, columns: int, transpose_y: bool) -> None:
    check_product(depth, columns, transpose_y, "gpu")


@pytest.mark.gpu
@pytest.mark.parametrize("length", LENGTHS)
def test_the_sum_of_a_row_is_what_it_would_be_alone_on_a_gpu(length: int) -> None:
    check_sums(length, "gpu")


def test_leading_axes_and_empty_arrays() -> None:
    draw = np.random.default_rng(2)
    x, y = draw.normal(size=(2, 3, 5, 16)).astype(np.float32), draw.normal(size=(2, 3, 16, 4)).astype(np.float32)
    np.testing.assert_allclose(product(x, y, interpret=True), x @ y, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(row_sums(x, interpret=True), x.sum(-1), rtol=1e-4, atol=1e-5)
    assert product(x[:, :, :0], y).shape == (2, 3, 0, 4)
    assert not product(x[..., :0], y[..., :0, :]).any()
    assert row_sums(x[..., :0]).shape == (2, 3, 5)


def test_numbers_are_multiplied_whole_and_never_as_tensor_cores_round_them() -> None:
    jax, found = started_jax(), []
    x, y = np.zeros((5, 40), np.float32), np.zeros((40, 33), np.float32)
    for function, operands in ((product, (x, y)), (row_sums, (x,))):
        lowered = jax.jit(function).trace(*operands).lower(lowering_platforms=("cuda",)).as_text()
        assert "triton" in lowered
        found.append(str(jax.make_jaxpr(function)(*operands)))
    assert all("HIGHEST" in text for text in found)
