"""Mathematical functions beyond their samples: values seen in Paddle 3.3.1, bad input, high derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle

t = paddle.to_tensor


def integers(*values: int) -> paddle.Tensor:
    return t(np.array(values, np.int64))


def test_values_of_paddle() -> None:
    assert paddle.copysign(t([1.0, -2.0, 3.0]), t([-1.0, 0.0, -0.0])).tolist() == [-1.0, 2.0, -3.0]
    assert paddle.heaviside(t([-1.0, 0.0, 1.0, float("nan")]), t([0.5] * 4)).tolist() == [0.0, 0.5, 1.0, 0.0]
    assert paddle.ldexp(integers(1, 2), integers(3, -1)).dtype == paddle.float32
    assert paddle.bincount(integers(1, 1, 3), weights=integers(1, 2, 3)).dtype == paddle.float64
    assert paddle.histogram(t([2.0, 2.0]), bins=4).tolist() == [0, 0, 2, 0]
    assert paddle.histogram(t([1.0, float("nan")]), bins=4).tolist() == [0, 0, 1, 0]
    assert paddle.histogram_bin_edges(t([2.0, 2.0]), bins=4).tolist() == [1.5, 1.75, 2.0, 2.25, 2.5]
    counts, edges = paddle.histogramdd(t(np.zeros((2, 3, 2), np.float32)), bins=2)
    assert counts.tolist() == [[0.0, 0.0], [0.0, 6.0]]
    assert [e.tolist() for e in edges] == [[0.0] * 3] * 2
    assert paddle.quantile(t([1.0, 2.0, 3.0, 4.0]), [0.5]).shape == []
    assert paddle.nanmedian(integers(1, 2)).item() == 1
    assert paddle.combinations(integers(1, 2, 3), 5).shape == [0, 5]
    assert paddle.diff(t([1.0, 2.0, 4.0, 7.0]), n=2, prepend=t([0.0]), append=t([9.0])).tolist() == [0, 1, 1, -1]
    assert paddle.reduce_as(t(np.ones((2, 3), bool)), t(np.ones(3, np.float32))).tolist() == [2, 2, 2]
    np.testing.assert_allclose(
        paddle.renorm(t([[0.0, 1.0], [2.0, 3.0]]), 2.0, 0, 2.05).numpy(),
        [[0.0, 1.0], [1.13713539, 1.70570302]],
        rtol=1e-6,
    )


def test_infinite_values_are_kept() -> None:
    infinity = float("inf")
    assert paddle.quantile(t([1.0, infinity, infinity]), 0.75).item() == infinity
    assert paddle.logaddexp(t([infinity, -infinity]), t([infinity, -infinity])).tolist() == [infinity, -infinity]
    assert paddle.hypot(t([1e30]), t([1e30])).item() == pytest.approx(2**0.5 * 1e30)


def test_gradients_of_paddle() -> None:
    x, y = t([1.0, -2.0, 0.0, 3.0]), t([-1.0, 0.0, 1.0, -0.0])
    x.stop_gradient = y.stop_gradient = False
    paddle.copysign(x, y).sum().backward()
    assert x.grad.tolist() == [-1.0, -1.0, 0.0, -1.0]
    assert y.grad.tolist() == [0.0] * 4
    x = t([3.0, 1.0, 2.0, 4.0], stop_gradient=False)
    paddle.quantile(x, [0.3, 0.5]).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [0.5, 0.1, 1.4, 0.0], atol=1e-6)
    x = t([[0.0, 1.0], [2.0, 3.0]], stop_gradient=False)
    paddle.renorm(x, 2.0, 0, 2.05).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [[1.0, 1.0], [0.13120794, -0.08747193]], rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "expected"),
    # Derivatives of order 0 to 4 at zero, from the power series.
    [
        ("sinc", [1, 0, -(np.pi**2) / 3, 0, np.pi**4 / 5]),
        ("i0", [1, 0, 1 / 2, 0, 3 / 8]),
        ("i1", [0, 1 / 2, 0, 3 / 8, 0]),
    ],
)
def test_derivatives_at_zero(name: str, expected: list[float]) -> None:
    x = t(np.zeros(1), stop_gradient=False)
    y = getattr(paddle, name)(x)
    for order, value in enumerate(expected):
        assert y.item() == pytest.approx(value, abs=1e-9), f"order {order}"
        if order < len(expected) - 1:
            (y,) = paddle.grad(y, x, create_graph=True)


def test_scaled_bessel_gradients_do_not_overflow() -> None:
    x = t(np.array([300.0, -500.0]), stop_gradient=False)
    (slope,) = paddle.grad(paddle.i1e(x).sum(), x)
    step = 1e-3
    with paddle.no_grad():
        numeric = (paddle.i1e(x + step) - paddle.i1e(x - step)) / (2 * step)
    np.testing.assert_allclose(slope.numpy(), numeric.numpy(), rtol=1e-5)


def test_power_of_two_is_exact_when_compiled() -> None:
    exponents = np.arange(-120, 120)
    for _ in range(4):
        result = paddle.ldexp(t(np.ones(240, np.float32)), t(exponents)).numpy()
        np.testing.assert_array_equal(result, np.exp2(exponents).astype(np.float32))


BAD = {
    "add_n of nothing": (ValueError, lambda: paddle.add_n([])),
    "add_n of two shapes": (ValueError, lambda: paddle.add_n([t([1.0]), t([1.0, 2.0])])),
    "add_n of two types": (ValueError, lambda: paddle.add_n([t([1.0]), integers(1)])),
    "argwhere without dimensions": (ValueError, lambda: paddle.argwhere(t(3.0))),
    "bincount of negative": (ValueError, lambda: paddle.bincount(integers(-1, 1))),
    "bincount of floats": (TypeError, lambda: paddle.bincount(t([1.0]))),
    "bincount of a matrix": (ValueError, lambda: paddle.bincount(t([[1, 2]]))),
    "bincount minlength": (ValueError, lambda: paddle.bincount(integers(1), minlength=-1)),
    "bincount of a huge number": (MemoryError, lambda: paddle.bincount(integers(2**60))),
    "bincount weights": (ValueError, lambda: paddle.bincount(integers(1, 3), weights=t([1.0]))),
    "cartesian_prod of a matrix": (ValueError, lambda: paddle.cartesian_prod([t([[1, 2]]), integers(1)])),
    "combinations of -1": (ValueError, lambda: paddle.combinations(integers(1, 2), -1)),
    "combinations of a matrix": (TypeError, lambda: paddle.combinations(t([[1, 2]]))),
    "combinations without end": (MemoryError, lambda: paddle.combinations(paddle.arange(100000), 5)),
    "copysign of two types": (TypeError, lambda: paddle.copysign(integers(1), t([1.0]))),
    "diff n": (ValueError, lambda: paddle.diff(t([1.0, 2.0]), n=0)),
    "diff axis": (IndexError, lambda: paddle.diff(t([1.0, 2.0]), axis=9)),
    "diff without dimensions": (IndexError, lambda: paddle.diff(t(1.0))),
    "frexp of integers": (TypeError, lambda: paddle.frexp(integers(1))),
    "gammainc of negative": (ValueError, lambda: paddle.gammainc(t([-1.0]), t([1.0]))),
    "gammaincc at negative": (ValueError, lambda: paddle.gammaincc(t([1.0]), t([-1.0]))),
    "gcd of two types": (TypeError, lambda: paddle.gcd(integers(4), t(np.array([6], np.int32)))),
    "histogram range": (ValueError, lambda: paddle.histogram(t([1.0, 2.0]), 4, 3, 1)),
    "histogram bins": (ValueError, lambda: paddle.histogram(t([1.0, 2.0]), 0)),
    "histogram of infinity": (ValueError, lambda: paddle.histogram(t([1.0, float("inf")]), 4).numpy()),
    "histogram weight": (ValueError, lambda: paddle.histogram(t([1.0, 2.0]), 4, weight=t([1.0]))),
    "histogram with too many bins": (MemoryError, lambda: paddle.histogram(t([1.0, 2.0]), 2**50)),
    "histogramdd bins": (ValueError, lambda: paddle.histogramdd(t([[1.0, 2.0]]), [1, 2, 3])),
    "histogramdd ranges": (ValueError, lambda: paddle.histogramdd(t([[1.0, 2.0]]), 2, [0.0, 1.0])),
    "increment of many": (ValueError, lambda: paddle.increment(t([1.0, 2.0]))),
    "isin of two types": (TypeError, lambda: paddle.isin(integers(1), t([1.0]))),
    "isin of a number": (TypeError, lambda: paddle.isin(integers(1), 1)),
    "logspace num": (ValueError, lambda: paddle.logspace(0, 1, 0)),
    "multigammaln p": (ValueError, lambda: paddle.multigammaln(t([2.0]), 0)),
    "multiplex out of range": (IndexError, lambda: paddle.multiplex([t([[1.0]]), t([[2.0]])], t([[2]]))),
    "multiplex negative": (IndexError, lambda: paddle.multiplex([t([[1.0]]), t([[2.0]])], t([[-1]]))),
    "multiplex of one": (ValueError, lambda: paddle.multiplex([t([[1.0]])], t([[0]]))),
    "nanmedian axes": (ValueError, lambda: paddle.nanmedian(t([[1.0]]), [0, 0])),
    "nanmedian no axes": (ValueError, lambda: paddle.nanmedian(t([[1.0]]), [])),
    "nanmedian mode": (ValueError, lambda: paddle.nanmedian(t([1.0]), mode="max")),
    "quantile q": (ValueError, lambda: paddle.quantile(t([1.0]), 1.3)),
    "quantile q as tensor": (ValueError, lambda: paddle.quantile(t([1.0]), t(1.3)).numpy()),
    "quantile no q": (ValueError, lambda: paddle.quantile(t([1.0]), [])),
    "quantile interpolation": (ValueError, lambda: paddle.quantile(t([1.0]), 0.5, interpolation="odd")),
    "quantile axis": (ValueError, lambda: paddle.quantile(t([1.0]), 0.5, axis=3)),
    "reduce_as": (ValueError, lambda: paddle.reduce_as(t(np.ones((2, 3))), t(np.ones(2)))),
    "renorm p": (ValueError, lambda: paddle.renorm(t([[1.0]]), 0.0, 0, 1.0)),
    "renorm axis": (ValueError, lambda: paddle.renorm(t([[1.0]]), 1.0, 5, 1.0)),
    "rot90 axes": (ValueError, lambda: paddle.rot90(t([[1.0]]), 1, [1, -1])),
    "rot90 of a vector": (ValueError, lambda: paddle.rot90(t([1.0]))),
    "shard_index shards": (ValueError, lambda: paddle.shard_index(t([[1]]), 20, 0, 0)),
    "shard_index out of range": (ValueError, lambda: paddle.shard_index(t([[26]]), 20, 2, 1)),
    "trapezoid of integers": (TypeError, lambda: paddle.trapezoid(integers(1, 2))),
    "trapezoid x and dx": (ValueError, lambda: paddle.trapezoid(t([1.0]), t([1.0]), 2.0)),
    "trapezoid x": (ValueError, lambda: paddle.trapezoid(t([1.0, 2.0, 4.0]), t([0.0, 3.0]))),
    "unique_consecutive axis": (ValueError, lambda: paddle.unique_consecutive(integers(1, 1), axis=3)),
    "unique_consecutive dtype": (ValueError, lambda: paddle.unique_consecutive(integers(1), dtype="float32")),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(what: str) -> None:
    error, call = BAD[what]
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith("(")


def test_apply() -> None:
    x = t([1.0, 2.0])
    assert x.apply(lambda v: v * 3).tolist() == [3.0, 6.0]
    assert x.apply(lambda v: None) is x
    assert x.apply_(lambda v: v.sum()) is x
    assert x.shape == []
    assert x.item() == 3.0
    x = t([1.0], stop_gradient=False)
    with pytest.raises(RuntimeError, match="gradient"):
        x.apply(lambda v: v)
    with pytest.raises(TypeError):
        t([1.0]).apply(lambda v: 3)


def test_increment_is_in_place() -> None:
    x = integers(1)
    assert paddle.increment(x, 2.5) is x
    assert x.item() == 3


@pytest.mark.parametrize("mode", ["truncated", "non-truncated"])
def test_top_p_sampling_draws_among_the_likeliest(mode: str) -> None:
    paddle.seed(3)
    chances = t(np.tile(np.array([[0.05, 0.5, 0.15, 0.3]], np.float32), (2000, 1)))
    limits = t(np.full((2000, 1), 0.81, np.float32))
    values, places = paddle.Tensor.top_p_sampling(chances, limits, mode=mode)
    assert values.shape == places.shape == [2000, 1]
    counts = np.bincount(places.numpy().reshape(-1), minlength=4)
    kept = [1, 3] if mode == "truncated" else [1, 2, 3]
    expected = np.zeros(4)
    expected[kept] = np.array([0.05, 0.5, 0.15, 0.3])[kept]
    np.testing.assert_allclose(counts / 2000, expected / expected.sum(), atol=0.05)
    np.testing.assert_allclose(values.numpy(), np.take_along_axis(chances.numpy(), places.numpy(), 1))


def test_top_p_sampling_is_repeatable_with_seeds() -> None:
    x = t(np.random.default_rng(0).dirichlet(np.ones(50), 8).astype(np.float32))
    limits = t(np.full(8, 0.9, np.float32))
    seeds = t(np.arange(1, 9))
    first = x.top_p_sampling(limits, topp_seed=seeds)[1].tolist()
    assert first == x.top_p_sampling(limits, topp_seed=seeds)[1].tolist()
    result = x.top_p_sampling(limits, seed=7, k=3, return_top=True)
    assert [r.shape for r in result] == [[8, 1], [8, 1], [8, 3], [8, 3]]
    np.testing.assert_array_equal(result[2].numpy(), -np.sort(-x.numpy(), 1)[:, :3])
