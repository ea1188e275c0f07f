"""Native kernels of bfloat16 against float64: operands are rounded, sums are float32, results are rounded once.

The handlers are called without XLA, so that many shapes cost little; programs are in test_precision.py and here at the end.
"""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.core.dtype import BFLOAT16
from proa.kernels.cpu import choice, compiled, library
from proa.kernels.cpu.direct import on_host
from proa.kernels.cpu.low_precision import bfloat, precision
from proa.ops.neural.windowed import convolution_kernels
from tests.kernels.cases.references import calls_native, convolution_case, draw, jitted

pytestmark = pytest.mark.skipif(
    bool(library.why_not()) or not compiled.multiplies_bfloat16(),
    reason="native kernels of bfloat16 need a processor that multiplies it, and a compiler",
)
ROUNDING = 2.0**-8  # half of the distance between two neighbours of bfloat16, relative
SUMMING = 2.0**-23  # of a float32 sum, for each number in it, relative to the sum of absolute values


def low(array: Any) -> Any:
    return np.asarray(array).astype(BFLOAT16)


def wide(array: Any) -> Any:
    """The numbers that a kernel multiplies."""
    return low(array).astype(np.float64)


def directly(kernel: Any, *arguments: Any) -> Any:
    """A kernel's native code on NumPy arrays, whatever their size."""
    choice._THREAD.forced = True
    try:
        found = on_host(lambda plain: kernel, None)(np, *arguments)  # type: ignore[arg-type]
    finally:
        choice._THREAD.forced = False
    assert found is not None, "it was not taken"
    return found


def assert_near(found: Any, exact: Any, size: Any, terms: int, rounded: bool = True) -> None:
    """`exact` within one rounding of the result and what float32 sums of `terms` numbers may lose."""
    assert found.dtype == (BFLOAT16 if rounded else np.float32)
    bound = (ROUNDING * np.abs(exact) if rounded else 0) + terms * SUMMING * size + 1e-37
    excess = np.abs(found.astype(np.float64) - exact) / bound
    assert excess.max() <= 1, f"{excess.max():.3g} times the bound"


# ---- products ------------------------------------------------------------------------------------


def turned(x: Any, flag: bool) -> Any:
    return np.ascontiguousarray(x.swapaxes(-1, -2)) if flag else x


@pytest.mark.parametrize("transposed", list(itertools.product([False, True], repeat=2)))
@pytest.mark.parametrize("rounded", [True, False])
def test_every_remainder_of_a_tile(transposed: tuple[bool, bool], rounded: bool) -> None:
    generator = np.random.default_rng(0)
    for rows, columns in itertools.product((1, 2, 7, 8, 9, 25, 43, 130), (1, 5, 16, 17, 33, 48, 64, 112)):
        depth = int(generator.choice([1, 2, 3, 31, 64, 137, 1601]))  # of a block of pairs, or of several
        x, y = draw(generator, rows, depth), draw(generator, depth, columns)
        kind = low if rounded else np.asarray
        operands = [turned(kind(x), transposed[0]), turned(kind(y), transposed[1])]
        with precision.low_products(not rounded):
            found = directly(bfloat.bfloat_product, *operands, *transposed)
        x, y = wide(x), wide(y)
        assert_near(found, x @ y, np.abs(x) @ np.abs(y), depth + 2, rounded and transposed != (True, False))


@pytest.mark.parametrize("transposed", [(False, False), (False, True), (True, False)])
def test_more_than_one_block_and_thread(transposed: tuple[bool, bool]) -> None:
    generator = np.random.default_rng(1)
    x, y = draw(generator, 1100, 1537), draw(generator, 1537, 430)
    found = directly(bfloat.bfloat_product, turned(low(x), transposed[0]), turned(low(y), transposed[1]), *transposed)
    x, y = wide(x), wide(y)
    assert_near(found, x @ y, np.abs(x) @ np.abs(y), 1540, transposed != (True, False))


@pytest.mark.parametrize("shape", [(3, 5, 40, 70), (2, 300, 70), (1, 9, 7)])
def test_batches(shape: tuple[int, ...]) -> None:
    generator = np.random.default_rng(2)
    x, y = draw(generator, *shape), draw(generator, *shape[:-2], shape[-1], 33)
    found = directly(bfloat.bfloat_product, low(x), low(y), False, False)
    assert_near(found, wide(x) @ wide(y), np.abs(wide(x)) @ np.abs(wide(y)), shape[-1] + 2)


@pytest.mark.parametrize("bias_shape", [(48,), (1,), (20, 48), None])
def test_linear_adds_any_bias(bias_shape: tuple[int, ...] | None) -> None:
    generator = np.random.default_rng(3)
    x, weight = draw(generator, 3, 20, 71), draw(generator, 71, 48)
    bias = None if bias_shape is None else draw(generator, *bias_shape)
    found = directly(bfloat.bfloat_linear, low(x), low(weight), None if bias is None else low(bias))
    exact, size = wide(x) @ wide(weight), np.abs(wide(x)) @ np.abs(wide(weight))
    if bias is not None:
        exact, size = exact + wide(bias), size + np.abs(wide(bias))
    if bias_shape in ((1,), (20, 48)):  # added behind the kernel, to what was rounded
        size = size * (ROUNDING / SUMMING)
    assert_near(found, exact, size, 73)


def test_what_is_not_a_number_stays_where_it_is() -> None:
    generator = np.random.default_rng(4)
    x, y = draw(generator, 40, 77), draw(generator, 77, 50)
    x[3, 76], x[9, 0], x[20, 5] = np.nan, np.inf, -np.inf
    for flag in (False, True):
        found = directly(bfloat.bfloat_product, turned(low(x), flag), low(y), flag, False).astype(np.float64)
        assert np.isnan(found[3]).all()
        np.testing.assert_array_equal(found[9], np.inf * np.sign(wide(y)[0]))
        np.testing.assert_array_equal(found[20], -np.inf * np.sign(wide(y)[5]))
        others = np.delete(np.arange(40), [3, 9, 20])
        assert_near(low(found[others]), wide(x)[others] @ wide(y), np.abs(wide(x)[others]) @ np.abs(wide(y)), 80)


def test_large_and_rounding_up_to_infinity() -> None:
    x = np.full((16, 2), 3e38, np.float32)
    found = directly(bfloat.bfloat_product, low(x), low(np.ones((2, 16), np.float32)), False, False)
    assert np.isposinf(found.astype(np.float64)).all()


def test_threads_that_call_at_the_same_time_get_the_same_bits() -> None:
    generator = np.random.default_rng(5)
    cases = [(low(draw(generator, 130, d)), low(draw(generator, d, 90))) for d in (31, 770, 1601, 64)]
    expected = [directly(bfloat.bfloat_product, *case, False, False).tobytes() for case in cases]
    wrong: list[int] = []

    def work(which: int) -> None:
        for _ in range(20):
            if directly(bfloat.bfloat_product, *cases[which], False, False).tobytes() != expected[which]:
                wrong.append(which)

    threads = [threading.Thread(target=work, args=(i % len(cases),)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- convolutions --------------------------------------------------------------------------------


def convolved(x: Any, weight: Any, dy: Any, bias: Any, window: tuple[Any, ...]) -> list[tuple[Any, int]]:
    """Forward and both gradients in the operands' type, and how many numbers a sum has."""
    ops = convolution_kernels
    taps = int(np.prod(weight.shape[1:]))
    positions = dy.size // weight.shape[0]
    return [
        (ops._numpy_conv(np, x, weight, bias, *window), taps),
        (ops._numpy_grad_input(np, dy, weight, x.shape, *window), taps // weight.shape[1] * weight.shape[0]),
        (ops._numpy_grad_weight(np, x, dy, weight.shape, *window), positions),
    ]


@pytest.mark.parametrize("rounded", [True, False])
def test_random_convolutions_and_their_gradients(rounded: bool) -> None:
    generator = np.random.default_rng(6)
    kind, taken = (low if rounded else np.asarray), [0, 0, 0]
    for _ in range(60):
        (x, weight, bias), window = convolution_case(generator)
        dy = draw(generator, *convolution_kernels._numpy_conv(np, x, weight, None, *window).shape)
        exact = convolved(*map(wide, (x, weight, dy, bias)), window)
        sizes = convolved(*[np.abs(wide(a)) for a in (x, weight, dy, bias)], window)
        calls = [
            (bfloat.bfloat_convolution, (kind(x), kind(weight), kind(bias), *window)),
            (bfloat.bfloat_grad_input, (kind(dy), kind(weight), x.shape, *window)),
            (bfloat.bfloat_grad_weight, (kind(x), kind(dy), weight.shape, *window)),
        ]
        bias_low = wide(bias) if rounded else bias
        for number, (kernel, arguments) in enumerate(calls):
            with precision.low_products(not rounded):
                try:
                    found = directly(kernel, *arguments)
                except AssertionError:  # odd channels, or one channel by one
                    continue
            taken[number] += 1
            want, terms = exact[number]
            if number == 0 and not rounded:  # a bias of float32 stays one
                places = (1,) * (want.ndim - 1) + (-1,) if window[-1] else (1, -1) + (1,) * (want.ndim - 2)
                want = want + (bias_low - wide(bias)).reshape(places)
            assert_near(found, want, sizes[number][0], terms + 3, rounded and number < 2)
    assert min(taken) >= 15, taken


@pytest.mark.parametrize("window", [((1, 1), ((1, 1), (1, 1))), ((2, 2), ((1, 1), (1, 1))), ((2, 2), ((0, 0), (0, 0)))])
def test_deep_windows_are_summed_in_float32_between_parts(window: Any) -> None:
    generator = np.random.default_rng(7)
    whole = (*window, (1, 1), 1, False)
    width = 1 if window[1][0] == (0, 0) else 3
    x, weight = draw(generator, 2, 384, 9, 9), draw(generator, 64, 384, width, width)
    dy = draw(generator, *convolution_kernels._numpy_conv(np, x, weight, None, *whole).shape)
    exact = convolved(*map(wide, (x, weight, dy)), None, whole)  # type: ignore[arg-type]
    sizes = convolved(*[np.abs(wide(a)) for a in (x, weight, dy)], None, whole)  # type: ignore[arg-type]
    found = [
        directly(bfloat.bfloat_convolution, low(x), low(weight), None, *whole),
        directly(bfloat.bfloat_grad_input, low(dy), low(weight), x.shape, *whole),
        directly(bfloat.bfloat_grad_weight, low(x), low(dy), weight.shape, *whole),
    ]
    for number, (one, (want, terms), (size, _)) in enumerate(zip(found, exact, sizes, strict=True)):
        assert_near(one, want, size, terms + 3, number < 2)


# ---- attention -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("queries", "keys", "width", "causal"),
    [(5, 5, 7, True), (33, 33, 16, False), (70, 131, 33, False), (130, 130, 64, False), (130, 130, 64, True)],
)
def test_attention_and_its_gradients(queries: int, keys: int, width: int, causal: bool) -> None:
    generator = np.random.default_rng(12)
    q, k, v, g = (draw(generator, 2, n, 3, width) for n in (queries, keys, keys, queries))
    scale = width**-0.5
    Q, K, V, G = (wide(a).swapaxes(1, 2) for a in (q, k, v, g))
    scores = Q @ K.swapaxes(-1, -2) * scale
    if causal:
        scores = np.where(np.tril(np.ones((queries, keys), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    out = weights @ V
    slopes = weights * (G @ V.swapaxes(-1, -2) - (G * out).sum(-1, keepdims=True)) * scale
    expected = [out, slopes @ K, slopes.swapaxes(-1, -2) @ Q, weights.swapaxes(-1, -2) @ G]
    operands = [low(a) for a in (q, k, v)]
    found = [directly(bfloat.bfloat_attention, *operands, None, scale, causal)]
    for number in range(3):
        kernel = bfloat.bfloat_attention_gradient(number)
        found.append(directly(kernel, low(g), *operands, None, scale, causal))
    # Weights and slopes are rounded before they are multiplied, and slopes come from a result with rounded weights.
    mean = (weights @ np.abs(V) * np.abs(G)).sum(-1, keepdims=True)
    steep = np.abs(slopes) + weights * scale * mean
    sizes = [
        weights @ np.abs(V), steep @ np.abs(K), steep.swapaxes(-1, -2) @ np.abs(Q), weights.swapaxes(-1, -2) @ np.abs(G),
    ]  # fmt: skip
    for one, want, size in zip(found, expected, sizes, strict=True):
        assert one.dtype == np.float32
        assert (np.abs(one.swapaxes(1, 2) - want) <= 1.05 * ROUNDING * size + 1e-4).all()


# ---- programs ------------------------------------------------------------------------------------


def test_programs_of_float32_multiply_bfloat16_only_where_they_were_told() -> None:
    generator = np.random.default_rng(8)
    x, y = draw(generator, 96, 200), draw(generator, 200, 96)
    product = paddle.matmul.operation.kernels["cpu"]
    (plain,) = jitted(product, [x, y], (False, False))
    with precision.low_products():
        (found,) = jitted(product, [x, y], (False, False))
    (again,) = jitted(product, [x, y], (False, False))
    assert_near(found, wide(x) @ wide(y), np.abs(wide(x)) @ np.abs(wide(y)), 202, rounded=False)
    assert np.abs(found - x @ y).max() > 1e-3  # rounded operands show
    np.testing.assert_array_equal(plain, again)
    assert np.abs(plain - x @ y).max() < 1e-4


def test_sums_over_channels_of_bfloat16() -> None:
    generator = np.random.default_rng(9)
    x = draw(generator, 4, 24, 15, 17) * 3 + 100
    norm = paddle.nn.BatchNorm2D(24)
    for step in range(4):
        with paddle.amp.auto_cast(dtype="bfloat16"):
            found = norm(paddle.to_tensor(low(x)))
        exact = wide(x) - wide(x).mean(axis=(0, 2, 3), keepdims=True)
        exact /= np.sqrt(wide(x).var(axis=(0, 2, 3), keepdims=True) + 1e-5)
        assert str(found.dtype) == "paddle.bfloat16"
        assert np.abs(found.astype("float64").numpy() - exact).max() <= ROUNDING * np.abs(exact).max() + 1e-4, step


def test_an_image_with_odd_channels_goes_to_float32() -> None:
    generator = np.random.default_rng(10)
    x, weight = low(draw(generator, 2, 3, 20, 20)), low(draw(generator, 16, 3, 3, 3))
    attributes = (None, (1, 1), ((1, 1), (1, 1)), (1, 1), 1, False)
    kernel = convolution_kernels.conv.operation.kernels["cpu"]
    assert calls_native(kernel, [x, weight], attributes)
    (found,) = jitted(kernel, [x, weight], attributes)
    exact = convolution_kernels._numpy_conv(np, wide(x), wide(weight), *attributes)
    assert np.abs(found.astype(np.float64) - exact).max() < 1e-4


@pytest.mark.parametrize("level", ["O1", "O2"])
def test_training_follows_float32(level: str) -> None:
    generator = np.random.default_rng(11)
    images, labels = draw(generator, 8, 3, 16, 16), generator.integers(0, 4, 8)

    def losses(enable: bool) -> list[float]:
        paddle.seed(0)
        nn = paddle.nn
        model = nn.Sequential(
            nn.Conv2D(3, 16, 3, padding=1), nn.BatchNorm2D(16), nn.ReLU(), nn.Conv2D(16, 32, 3, stride=2, padding=1),
            nn.BatchNorm2D(32), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Linear(512, 64), nn.GELU(), nn.Linear(64, 4),
        )  # fmt: skip
        optimizer = paddle.optimizer.Momentum(0.05, parameters=model.parameters())
        if enable and level == "O2":
            model, optimizer = paddle.amp.decorate(model, optimizer, level="O2", dtype="bfloat16")
        seen = []
        for _ in range(8):
            with paddle.amp.auto_cast(enable=enable, level=level, dtype="bfloat16"):
                loss = nn.functional.cross_entropy(model(paddle.to_tensor(images)), paddle.to_tensor(labels))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            seen.append(float(loss.item()))
        return seen

    narrow, full = losses(True), losses(False)
    assert full[-1] < 0.5 * full[0]
    np.testing.assert_allclose(narrow, full, rtol=0.05, atol=0.02)
