"""The native matrix product against float64, and where it must leave the work to XLA."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa
from proa.kernels.cpu import library
from tests.kernels.cases.references import calls_native, draw, error_of, jitted, native, product_reference

needs_native = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")

MATMUL = proa.matmul.operation.kernels["cpu"]
LINEAR = proa.nn.functional.linear.operation.kernels["cpu"]


@needs_native
@pytest.mark.parametrize("transposed", [(False, False), (False, True), (True, False), (True, True)])
def test_every_remainder_of_a_tile(transposed: tuple[bool, bool]) -> None:
    generator = np.random.default_rng(0)
    cases = []
    for rows in (1, 2, 7, 8, 9, 15, 24, 25, 43, 64, 470):
        for columns in (1, 5, 16, 17, 33, 48, 64, 70, 112):
            depth = int(generator.choice([137, 700]))  # one block of k, or two that are added up
            x, y = draw(generator, rows, depth), draw(generator, depth, columns)
            cases.append([x.T.copy() if transposed[0] else x, y.T.copy() if transposed[1] else y])

    def run(xp: Any, *flat: Any) -> Any:
        return tuple(MATMUL(xp, *flat[i : i + 2], *transposed) for i in range(0, len(flat), 2))

    found = jitted(run, [array for arrays in cases for array in arrays])
    for one, arrays in zip(found, cases, strict=True):
        assert error_of(one, product_reference(arrays, transposed)) < 2e-6, [a.shape for a in arrays]


@needs_native
@pytest.mark.parametrize("transposed", [(False, False), (False, True), (True, False)])
def test_more_than_one_block_of_everything(transposed: tuple[bool, bool]) -> None:
    generator = np.random.default_rng(3)
    x, y = draw(generator, 2900, 768), draw(generator, 768, 430)
    arrays = [x.T.copy() if transposed[0] else x, y.T.copy() if transposed[1] else y]
    (found,) = jitted(MATMUL, arrays, transposed)
    assert error_of(found, product_reference(arrays, transposed)) < 2e-6


@needs_native
@pytest.mark.parametrize(
    ("x", "y", "transposed"),
    [
        ((300,), (300, 40), (False, False)), ((300,), (40, 300), (False, True)), ((70, 300), (300,), (False, False)),
        ((300, 70), (300,), (True, False)), ((3, 5, 300), (300,), (False, False)), ((4096,), (4096,), (False, False)),
        ((2, 3, 40, 50), (50, 60), (False, False)), ((2, 3, 40, 50), (60, 50), (False, True)),
        ((2, 1, 40, 50), (3, 50, 20), (False, False)), ((900, 6), (900, 7), (True, False)),
        ((9000, 6), (9000, 7), (True, False)),
    ],
)  # fmt: skip
def test_vectors_and_batches(x: tuple[int, ...], y: tuple[int, ...], transposed: tuple[bool, bool]) -> None:
    generator = np.random.default_rng(0)
    arrays = [draw(generator, *x), draw(generator, *y)]
    (found,) = jitted(MATMUL, arrays, transposed)
    turned = [
        a.astype(np.float64).swapaxes(-1, -2) if t and a.ndim > 1 else a.astype(np.float64)
        for a, t in zip(arrays, transposed)
    ]
    assert error_of(found, np.asarray(np.matmul(*turned))) < 2e-6


@needs_native
@pytest.mark.parametrize("bias_shape", [(48,), (1,), (20, 48), None])
def test_linear_adds_any_bias(bias_shape: tuple[int, ...] | None) -> None:
    generator = np.random.default_rng(1)
    x, weight = draw(generator, 3, 20, 70), draw(generator, 70, 48)
    bias = None if bias_shape is None else draw(generator, *bias_shape)
    assert calls_native(LINEAR, [x, weight, bias])
    (found,) = jitted(LINEAR, [x, weight, bias])
    reference = x.astype(np.float64) @ weight.astype(np.float64)
    assert error_of(found, reference if bias is None else reference + bias) < 2e-6


@needs_native
def test_infinities_and_nans_are_kept() -> None:
    x, y = np.ones((20, 40), np.float32), np.ones((40, 33), np.float32)
    x[3, 7], x[5, 0], y[2, 32] = np.nan, np.inf, -np.inf
    (found,) = jitted(MATMUL, [x, y], (False, False))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(found, x @ y)


@needs_native
def test_other_types_and_small_products_stay_with_xla() -> None:
    generator = np.random.default_rng(2)
    x, y = draw(generator, 64, 64), draw(generator, 64, 64)
    assert calls_native(MATMUL, [x, y], (False, False))
    assert not calls_native(MATMUL, [x.astype(np.float64), y.astype(np.float64)], (False, False))
    assert not calls_native(MATMUL, [x[:2, :3], y[:3, :4]], (False, False))
    assert not calls_native(MATMUL, [x[:0], y], (False, False))
    with native(False):
        assert not calls_native(MATMUL, [x, y], (False, False))


def test_without_native_kernels_the_result_is_the_same() -> None:
    generator = np.random.default_rng(3)
    arrays = [draw(generator, 50, 60), draw(generator, 60, 70)]
    with native(False):
        (found,) = jitted(MATMUL, arrays, (False, False))
    assert error_of(found, product_reference(arrays, (False, False))) < 2e-6
