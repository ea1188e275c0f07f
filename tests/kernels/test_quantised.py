"""Products and convolutions of bytes: exact sums, grids, edges; on NumPy, in XLA and by native code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.kernels.cpu import library
from proa.ops.quantised import few_bits
from proa.ops.quantised import layers as quantised
from tests.kernels import random_shapes
from tests.kernels.cases import quantised_cases
from tests.kernels.cases import references as r

needs_native = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")
ONE, NONE_AWAY = np.ones(1, np.float32), np.zeros(1, np.int32)
WAYS = [
    pytest.param("numpy", id="numpy"),
    pytest.param("xla", id="xla"),
    pytest.param("cpu", id="native", marks=needs_native),
]


def _run(primitive: Any, way: str, operands: list[Any], attributes: tuple[Any, ...]) -> Any:
    """Results of a kernel in one of its forms."""
    kernel = primitive.operation.kernel_for(way)
    if way == "numpy":
        return kernel(np, *operands, *attributes)
    found = r.jitted(kernel, operands, attributes)
    return found[0] if len(found) == 1 else found


def _linear(
    way: str, x: Any, weight: Any, *behind: Any, scale: Any = ONE, zero: Any = NONE_AWAY, to: str = "int32"
) -> Any:
    """x [rows, depth] times weight [depth, columns]."""
    panels = quantised.packed_bytes.operation.kernel(np, np.ascontiguousarray(weight.T), 1)
    rest = [*behind, *[None] * (7 - len(behind))]
    if rest[0] is None:
        rest[0] = np.ones(weight.shape[1], np.float32)
    return _run(quantised.quantised_linear, way, [x, panels, scale, zero, *rest], (weight.shape[1], to, "", 0.0, 0.0))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("depth", [1, 3, 4, 300, 4096])
def test_largest_sums_are_exact(way: str, depth: int) -> None:
    """An instruction that saturates at 16 bits would show here."""
    x = np.full((3, depth), 255, np.uint8)
    for extreme in (-128, 127):
        found = _linear(way, x, np.full((depth, 35), extreme, np.int8))
        assert found.dtype == np.int32
        np.testing.assert_array_equal(found, np.full((3, 35), 255 * extreme * depth))


@pytest.mark.parametrize("way", WAYS)
def test_half_steps_go_to_even_and_ends_hold(way: str) -> None:
    x = np.arange(-8, 9, dtype=np.int8)[:, None]
    wanted = np.array([-4, -4, -3, -2, -2, -2, -1, 0, 0, 0, 1, 2, 2, 2, 3, 4, 4])
    grid = [None, None, None, None, np.float32([2]), np.int32([0])]
    weight, scales = np.ones((1, 1), np.int8), np.ones(1, np.float32)
    np.testing.assert_array_equal(_linear(way, x, weight, scales, *grid, to="int8")[:, 0], wanted)
    grid[-1] = np.int32([254])
    found = _linear(way, x, weight, scales, *grid, to="uint8")[:, 0]
    np.testing.assert_array_equal(found, np.clip(wanted + 254, 0, 255))
    fine = [*grid[:4], np.float32([1e-3]), np.int32([3])]
    np.testing.assert_array_equal(_linear(way, x, weight, scales, *fine, to="int8")[[0, -1], 0], [-128, 127])


@pytest.mark.parametrize("way", WAYS)
def test_nan_of_the_bias_is_the_lowest_number(way: str) -> None:
    bias = np.float32([np.nan, 1])
    grid = [bias, None, None, None, np.float32([1]), np.int32([7])]
    found = _linear(
        way, np.zeros((1, 1), np.uint8), np.ones((1, 2), np.int8), np.ones(2, np.float32), *grid, to="uint8"
    )
    assert found.tolist() == [[0, 8]]


@pytest.mark.parametrize("way", WAYS)
def test_outside_of_an_image_lies_the_zero_point(way: str) -> None:
    x = np.full((1, 4, 3, 3), 9, np.uint8)  # with a zero point of 9: an image of zeros
    filters = quantised.packed_bytes.operation.kernel(np, np.full((5, 4, 3, 3), 3, np.int8), 1)
    window = ((5, 4, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1)
    operands = [x, filters, ONE, np.int32([9]), np.ones(5, np.float32), *[None] * 6]
    found = _run(quantised.quantised_conv, way, operands, (*window, "int32", "", 0.0, 0.0))
    assert found.shape == (1, 5, 3, 3)
    assert not found.any()


@pytest.mark.parametrize("kind", sorted(quantised_cases.CASES))
@pytest.mark.parametrize("way", ["numpy", "xla"])
def test_other_kernels_agree_with_the_references(kind: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The random cases of the native kernels, by the kernels that stand in for them."""
    monkeypatch.setattr(quantised_cases, "_cpu", lambda primitive: primitive.operation.kernel_for(way))
    for seed in range(500, 506):
        arrays, run, expected = quantised_cases.CASES[kind](np.random.default_rng(seed))
        found = run(np, *arrays) if way == "numpy" else r.jitted(run, arrays)
        for one, reference in zip(found, expected, strict=True):
            assert r.error_of(np.asarray(one), reference) < 1e-5, seed


@needs_native
@pytest.mark.parametrize("kind", sorted(quantised_cases.CASES))
def test_cases_call_native_code(kind: str) -> None:
    wanted = {
        "quantised product": "QuantisedProduct", "quantised convolution": "QuantisedConvolution",
        "grids": "QuantiseRows", "weights in few bits": "WeightOnlyProduct",
    }  # fmt: skip
    assert random_shapes.handlers_of(kind, range(3)) == {wanted[kind]}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("symmetric", [False, True])
def test_grids_of_odd_rows(way: str, symmetric: bool) -> None:
    x = np.float32([[0, 0, 0], [5, 5, 5], [-1, 0, 254], [np.nan, 1, 2], [1e-30, -1e-30, 0]])
    numbers, scale, zero = _run(quantised.quantise_dynamic, way, [x], (True, symmetric))
    assert (scale[0], numbers[0, 0]) == (1, zero[0])  # nothing but zeros: any step will do
    np.testing.assert_allclose((numbers[1].astype(int) - zero[1]) * scale[1], 5, rtol=1e-6)
    np.testing.assert_allclose((numbers[2].astype(int) - zero[2]) * scale[2], x[2], atol=0.51 * scale[2])
    assert np.isnan(scale[3])
    assert scale[4] > 0
    assert (zero == 128).all() or not symmetric


@pytest.mark.parametrize("way", WAYS)
def test_nothing_to_multiply(way: str) -> None:
    assert _linear(way, np.zeros((0, 5), np.uint8), np.ones((5, 3), np.int8)).shape == (0, 3)
    assert _linear(way, np.zeros((2, 0), np.uint8), np.ones((0, 3), np.int8)).tolist() == [[0, 0, 0]] * 2
    found = _run(few_bits.weight_only_product, way, [np.ones((0, 4), np.float32), np.ones((2, 4), np.int8),
                                                     np.ones(2, np.float32), None], (8,))  # fmt: skip
    assert found.shape == (0, 2)


def test_what_does_not_fit_is_refused() -> None:
    x, weight = paddle.to_tensor(np.zeros((2, 4), np.uint8)), paddle.to_tensor(np.zeros((3, 4), np.int8))
    panels = quantised.packed_bytes(weight, 1)
    one, zero, scales = (paddle.to_tensor(a) for a in (ONE, NONE_AWAY, np.ones(3, np.float32)))
    assert quantised.quantised_linear(x, panels, one, zero, scales, columns=3).shape == [2, 3]
    with pytest.raises(TypeError, match="uint8 or int8"):
        quantised.quantised_linear(x.astype("float32"), panels, one, zero, scales, columns=3)
    with pytest.raises(ValueError, match="do not fit"):
        quantised.quantised_linear(x, panels, one, zero, scales, columns=4)
    with pytest.raises(ValueError, match="do not fit"):  # the result's grid is missing
        quantised.quantised_linear(x, panels, one, zero, scales, columns=3, out_dtype="uint8")
    with pytest.raises(ValueError, match="at most"):
        quantised.quantised_linear(paddle.zeros([1, 65537], "uint8"), panels, one, zero, scales, columns=3)
    with pytest.raises(ValueError, match="int8"):
        quantised.packed_bytes(weight.astype("float32"), 1)
