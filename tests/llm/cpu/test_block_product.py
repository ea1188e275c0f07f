"""Products with weights in blocks, on NumPy, in XLA and by native code; a row has the same bits alone and among others."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.kernels.cpu import library
from proa.llm.quantised import rounded_to
from proa.ops.quantised.blocks import block_embedding, block_product, block_rows
from tests.kernels import random_shapes
from tests.kernels.cases import block_cases
from tests.kernels.cases import references as r

needs_native = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")
WAYS = [
    pytest.param("plain", id="numpy"),
    pytest.param("xla", id="xla"),
    pytest.param("cpu", id="native", marks=needs_native),
    pytest.param("numpy", id="native without XLA", marks=needs_native),
]


def _kernel(primitive: Any, way: str) -> Any:
    operation = primitive.operation
    return operation.kernel if way in ("plain", "xla") else operation.kernels[way]


def _product(way: str, x: Any, packed: Any, bias: Any, attributes: tuple[Any, ...]) -> np.ndarray:
    kernel = _kernel(block_product, way)
    if way in ("xla", "cpu"):
        return r.jitted(kernel, [x, packed, bias], attributes)[0]
    return kernel(np, x, packed, bias, *attributes)


@pytest.mark.parametrize("kind", sorted(block_cases.CASES))
@pytest.mark.parametrize("way", WAYS)
def test_random_cases(kind: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_cases, "_cpu", lambda primitive: _kernel(primitive, way))
    for seed in range(700, 708):
        arrays, run, expected = block_cases.CASES[kind](np.random.default_rng(seed))
        found = r.jitted(run, arrays) if way in ("xla", "cpu") else run(np, *arrays)
        for one, reference in zip(found, expected, strict=True):
            assert r.error_of(np.asarray(one), reference) < 1e-5, seed


@needs_native
@pytest.mark.parametrize(("kind", "wanted"), [("weights in blocks", {"BlockProduct"}),
                                              ("pages", {"PagedAttention", "WritePages"})])  # fmt: skip
def test_cases_call_native_code(kind: str, wanted: set[str]) -> None:
    assert random_shapes.handlers_of(kind, range(3)) == wanted


@needs_native
@pytest.mark.parametrize(("bits", "has_minima"), [(4, True), (4, False), (8, False), (8, True)])
def test_a_row_has_the_same_bits_alone_and_among_others(bits: int, has_minima: bool) -> None:
    generator = np.random.default_rng(bits)
    packed, _, zero = block_cases.weight_case(generator, 100, 18, 32, bits, True, has_minima)
    x = generator.normal(size=(40, 18 * 32)).astype(np.float32)
    attributes = (100, bits, zero, True, has_minima)
    together = _product("numpy", x, packed, None, attributes)
    for rows in (1, 2, 3, 4, 7, 12, 13, 25):
        np.testing.assert_array_equal(_product("numpy", x[:rows], packed, None, attributes), together[:rows])
        np.testing.assert_array_equal(_product("numpy", x[-rows:], packed, None, attributes), together[-rows:])
    np.testing.assert_array_equal(_product("cpu", x, packed, None, attributes), together)


@pytest.mark.parametrize("way", WAYS)
def test_largest_sums_are_exact(way: str) -> None:
    """An instruction that saturates at 16 bits would show here."""
    weight = np.full((3, 4096), 127.0, np.float32)
    packed = rounded_to(weight, 8, 4096)
    for sign in (1, -1):
        x = np.full((2, 4096), 127.0 * sign, np.float32)
        found = _product(way, x, packed.blocks, None, (3, 8, 128, False, False))
        np.testing.assert_allclose(found, np.full((2, 3), 127.0 * 127.0 * 4096 * sign), rtol=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_rows_that_are_no_numbers_harm_no_others(way: str) -> None:
    weight = np.random.default_rng(0).normal(size=(20, 64)).astype(np.float32)
    packed = rounded_to(weight, 4, 32)
    x = np.random.default_rng(1).normal(size=(5, 64)).astype(np.float32)
    alone = _product(way, x, packed.blocks, None, (20, 4, 0, False, True))
    x[1, 3], x[2, 40], x[3] = np.nan, np.inf, 0
    found = _product(way, x, packed.blocks, None, (20, 4, 0, False, True))
    assert np.isnan(found[1]).all()
    assert not np.isfinite(found[2]).any()
    assert not found[3].any()
    np.testing.assert_array_equal(found[[0, 4]], alone[[0, 4]])


@pytest.mark.parametrize("way", WAYS)
def test_numbers_too_small_for_a_grid_are_zero(way: str) -> None:
    packed = rounded_to(np.ones((16, 8), np.float32), 8, 8)
    x = np.full((1, 8), 1e-41, np.float32)
    assert np.abs(_product(way, x, packed.blocks, None, (16, 8, 128, False, False))).max() < 1e-39


def test_no_rows_and_more_axes() -> None:
    packed = rounded_to(np.ones((5, 8), np.float32), 8, 8)
    blocks = paddle.to_tensor(packed.blocks)
    form = (5, 8, 128, False, False)
    assert block_product(paddle.zeros([0, 8]), blocks, None, *form).shape == [0, 5]
    found = block_product(paddle.ones([2, 3, 8]), blocks, None, *form)
    np.testing.assert_allclose(found.numpy(), np.full((2, 3, 5), 8.0), rtol=1e-6)


def test_the_gradient_is_that_of_the_floats() -> None:
    packed = rounded_to(np.random.default_rng(0).normal(size=(20, 48)).astype(np.float32), 4, 16)
    x = paddle.to_tensor(np.random.default_rng(1).normal(size=(3, 48)).astype("float32"), stop_gradient=False)
    bias = paddle.zeros([20])
    bias.stop_gradient = False
    slope = np.random.default_rng(2).normal(size=(3, 20)).astype("float32")
    out = block_product(x, paddle.to_tensor(packed.blocks), bias, 20, 4, 0, False, True)
    (out * paddle.to_tensor(slope)).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), slope @ packed.dense(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(bias.grad.numpy(), slope.sum(0), rtol=1e-5)


@pytest.mark.parametrize("bits", [4, 8])
def test_rows_and_embeddings(bits: int) -> None:
    packed = rounded_to(np.random.default_rng(0).normal(size=(37, 40)).astype(np.float32), bits, 32)
    blocks, form = paddle.to_tensor(packed.blocks), (40, 37, bits, packed.zero, packed.half, packed.has_minima)
    np.testing.assert_array_equal(block_rows(blocks, *form).numpy(), packed.dense())
    ids = np.array([[0, 36, 16], [15, 5, 5]])
    found = block_embedding(paddle.to_tensor(ids), blocks, *form)
    np.testing.assert_array_equal(found.numpy(), packed.dense()[ids])
    jitted = r.jitted(block_embedding.operation.kernel, [ids.astype(np.int32), packed.blocks], form)[0]
    np.testing.assert_allclose(jitted, packed.dense()[ids], rtol=0, atol=1e-6)  # XLA multiplies and adds in one step


@pytest.mark.parametrize(
    ("x", "changes", "error", "told"),
    [
        (np.ones((2, 9)), {}, ValueError, "does not fit a weight of 8 inputs"),
        (np.ones((2, 8), "int32"), {}, TypeError, "x must be floating"),
        (np.ones((2, 8)), {0: 40}, ValueError, "no 40 outputs"),
        (np.ones((2, 17)), {1: 4}, ValueError, "does not fit a weight of 16 inputs"),
        (np.ones((2, 8)), {1: 5}, ValueError, "do not fit what is said"),
        (np.ones((2, 8)), {2: 300}, ValueError, "do not fit what is said"),
        (np.ones((2, 8)), {3: True}, ValueError, "do not fit what is said|does not fit"),
    ],
)
def test_what_does_not_fit_is_refused(x: Any, changes: dict[int, Any], error: type[Exception], told: str) -> None:
    blocks = paddle.to_tensor(rounded_to(np.ones((5, 8), np.float32), 8, 8).blocks)
    form = [5, 8, 128, False, False]
    for place, value in changes.items():
        form[place] = value
    given = paddle.to_tensor(x.astype("float32") if x.dtype == np.float64 else x)
    with pytest.raises(error, match=told):
        block_product(given, blocks, None, *form)


def test_blocks_must_be_bytes() -> None:
    with pytest.raises(TypeError, match="uint8"):
        block_product(paddle.ones([1, 8]), paddle.ones([1, 1, 192]), None, 5, 8, 128, False, False)


@needs_native
def test_threads_share_nothing() -> None:
    packed = rounded_to(np.random.default_rng(0).normal(size=(300, 320)).astype(np.float32), 4, 32)
    xs = [np.random.default_rng(n).normal(size=(n + 1, 320)).astype(np.float32) for n in range(4)]
    expected = [_product("numpy", x, packed.blocks, None, (300, 4, 0, False, True)) for x in xs]
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(40):
            found = _product("numpy", xs[number], packed.blocks, None, (300, 4, 0, False, True))
            if not np.array_equal(found, expected[number]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
