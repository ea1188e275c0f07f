"""Products in 8 bits: beside casts by ml_dtypes written out, on both tiers; gradients, edges, refusals."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import proa as paddle
from proa.ops.quantised.float8 import float8_linear, float8_product

KINDS = {"e4m3": (ml_dtypes.float8_e4m3fn, 448.0), "e5m2": (ml_dtypes.float8_e5m2, 57344.0)}


def in_eight_bits(array: np.ndarray, kind: str = "e4m3") -> np.ndarray:
    """What the numbers are after they have been in 8 bits, float64."""
    dtype, largest = KINDS[kind]
    scale = np.float32(np.abs(array).max()) / np.float32(largest)
    return (array / scale).astype(dtype).astype(np.float64) * scale


def drawn(*shape: int, seed: int = 0, spread: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(seed).normal(size=shape) * spread).astype("float32")


@pytest.fixture(params=["cold", "compiled"])
def tier(request: Any) -> Any:
    """The function as it is, and as one XLA program."""
    return (lambda function: function) if request.param == "cold" else paddle.jit.to_static


@pytest.mark.parametrize("spread", [1.0, 1e-6, 3e4])
def test_it_is_the_product_of_rounded_numbers(tier: Any, spread: float) -> None:
    x, weight, bias = drawn(5, 7, 16, spread=spread), drawn(16, 24, seed=1), drawn(24, seed=2, spread=spread)
    found = tier(float8_linear)(*map(paddle.to_tensor, (x, weight, bias))).numpy()
    expected = in_eight_bits(x) @ in_eight_bits(weight) + bias
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6 * np.abs(expected).max())
    exact = x.astype(np.float64) @ weight + bias
    off = np.abs(expected - exact).max() / np.abs(exact).max()
    assert 1e-3 < off < 0.1  # the rounding is there: nobody has left it out


@pytest.mark.parametrize(("turn_x", "turn_y"), [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("kinds", [("e4m3", "e4m3"), ("e5m2", "e4m3"), ("e4m3", "e5m2")])
def test_every_way_to_lie_and_its_gradients(tier: Any, turn_x: bool, turn_y: bool, kinds: tuple[str, str]) -> None:
    """Gradients are products of the gradient in e5m2 with the other factor in its format."""
    x, y, g = drawn(6, 8), drawn(8, 10, seed=1), drawn(6, 10, seed=2)
    given_x, given_y = (paddle.to_tensor(a.T if turn else a) for a, turn in ((x, turn_x), (y, turn_y)))
    given_x.stop_gradient = given_y.stop_gradient = False
    found = tier(lambda a, b: float8_product(a, b, turn_x, turn_y, *kinds))(given_x, given_y)
    x8, y8, g8 = in_eight_bits(x, kinds[0]), in_eight_bits(y, kinds[1]), in_eight_bits(g, "e5m2")
    np.testing.assert_allclose(found.numpy(), x8 @ y8, rtol=1e-5, atol=1e-5)
    found.backward(paddle.to_tensor(g))
    for tensor, expected, turn in ((given_x, g8 @ y8.T, turn_x), (given_y, x8.T @ g8, turn_y)):
        np.testing.assert_allclose(tensor.grad.numpy(), expected.T if turn else expected, rtol=1e-5, atol=1e-5)


def test_bfloat16_stays_bfloat16(tier: Any) -> None:
    x, weight = (drawn(4, 16, seed=n).astype(ml_dtypes.bfloat16) for n in (0, 1))
    found = tier(lambda a, b: float8_product(a, b, False, True))(paddle.to_tensor(x), paddle.to_tensor(weight))
    assert found.dtype == paddle.bfloat16
    wide = [in_eight_bits(a.astype("float32")) for a in (x, weight)]
    np.testing.assert_allclose(found.astype("float32").numpy(), wide[0] @ wide[1].T, rtol=1e-2, atol=1e-2)


def test_zeros_nothing_and_what_is_not_finite(tier: Any) -> None:
    weight = paddle.to_tensor(drawn(16, 4))
    run = tier(float8_linear)
    assert run(paddle.zeros([3, 16]), weight).numpy().tolist() == [[0.0] * 4] * 3
    assert run(paddle.zeros([0, 16]), weight).shape == [0, 4]
    tiny = paddle.full([3, 16], 1e-42)
    assert np.isfinite(run(tiny, weight).numpy()).all()
    for bad in (np.inf, -np.inf, np.nan):
        x = drawn(3, 16)
        x[1, 2] = bad
        assert np.isnan(run(paddle.to_tensor(x), weight).numpy()[1]).all()  # seen, not hidden


def test_what_does_not_fit_is_refused() -> None:
    x = paddle.ones([3, 4])
    with pytest.raises(ValueError, match="matrices that fit each other"):
        float8_product(x, paddle.ones([5, 2]))
    with pytest.raises(ValueError, match="matrices that fit each other"):
        float8_product(paddle.ones([2, 3, 4]), x)
    with pytest.raises(TypeError, match="of one type"):
        float8_product(x, paddle.ones([4, 2], "int64"))
    with pytest.raises(TypeError, match="of one type"):
        float8_product(x, paddle.ones([4, 2], "bfloat16"))
    with pytest.raises(ValueError, match="the formats are e4m3 and e5m2"):
        float8_product(x, paddle.ones([4, 2]), False, False, "e3m4")
