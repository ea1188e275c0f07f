"""Edges of reductions, scans and searches: ties, NaN, nothing at all, bad input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.eager.tensor import Tensor

F = paddle.nn.functional


def on_both_tiers(call: Callable[[], Any]) -> np.ndarray:
    """The result of a call, which must be the same op by op and once compiled."""
    with paddle.jit.eager_mode("immediate"):
        first = call().numpy()
    for _ in range(4):
        again = call().numpy()
    assert again.dtype == first.dtype
    np.testing.assert_allclose(again.astype("float64"), first.astype("float64"), rtol=1e-5, atol=1e-6)
    return first


def gradient(function: Callable[[Tensor], Tensor], values: Any, dtype: str = "float64") -> list[Any]:
    x = paddle.to_tensor(np.asarray(values, dtype), stop_gradient=False)
    function(x).sum().backward()
    assert x.grad is not None
    return x.grad.tolist()


# ---- reductions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["max", "amax"])
def test_equal_maxima_share_the_gradient(name: str) -> None:
    reduce = getattr(paddle, name)
    ties = [[2.0, 1.0, 2.0], [3.0, 3.0, 3.0]]
    assert gradient(lambda x: reduce(x, axis=1), ties) == [
        [0.5, 0.0, 0.5],
        pytest.approx([1 / 3] * 3),
    ]
    assert gradient(lambda x: reduce(x), ties) == [[0.0, 0.0, 0.0], pytest.approx([1 / 3] * 3)]


@pytest.mark.parametrize("name", ["min", "amin"])
def test_equal_minima_share_the_gradient(name: str) -> None:
    reduce = getattr(paddle, name)
    assert gradient(lambda x: reduce(x, axis=0), [[1.0, 2.0], [1.0, 3.0]]) == [
        [0.5, 1.0],
        [0.5, 0.0],
    ]


@pytest.mark.parametrize("name", ["max", "min", "amax", "amin"])
def test_extremes_of_nothing(name: str) -> None:
    reduce = getattr(paddle, name)
    with pytest.raises(ValueError, match=r"axis 0 has no elements.*float32\[0, 3\]"):
        reduce(paddle.zeros([0, 3]), axis=0)
    assert reduce(paddle.zeros([0, 3]), axis=1).shape == [0]


@pytest.mark.parametrize("name", ["max", "min"])
def test_nan_is_the_extreme_and_takes_the_gradient(name: str) -> None:
    reduce = getattr(paddle, name)
    assert math.isnan(on_both_tiers(lambda: reduce(paddle.to_tensor([1.0, np.nan, 3.0]))))
    assert gradient(reduce, [1.0, np.nan, 3.0]) == [0.0, 1.0, 0.0]


def test_reductions_of_nothing_with_a_neutral_element() -> None:
    nothing = paddle.zeros([0, 2])
    assert paddle.prod(nothing, axis=0).tolist() == [1.0, 1.0]
    assert paddle.any(nothing, axis=0).tolist() == [False, False]
    assert paddle.all(nothing, axis=0).tolist() == [True, True]
    assert paddle.logsumexp(nothing, axis=0).tolist() == [-math.inf, -math.inf]
    assert np.isnan(paddle.mean(nothing, axis=0).numpy()).all()
    assert math.isnan(paddle.var(nothing).item())
    assert math.isnan(paddle.median(nothing).item())


@pytest.mark.parametrize(
    "name",
    [
        "mean",
        "max",
        "min",
        "prod",
        "any",
        "all",
        "logsumexp",
        "var",
        "std",
        "nansum",
        "nanmean",
        "count_nonzero",
    ],
)
def test_bad_axes_of_reductions(name: str) -> None:
    reduce = getattr(paddle, name)
    x = paddle.ones([2, 3])
    for axis in (2, -3, [0, 5]):
        with pytest.raises(ValueError, match=rf"\({name}\) axis -?\d is out of range"):
            reduce(x, axis=axis)
    with pytest.raises(ValueError, match=r"twice"):
        reduce(x, axis=[1, -1])
    with pytest.raises(TypeError, match="axis"):
        reduce(x, axis="rows")
    with pytest.raises(TypeError, match=rf"\({name}\) x must be a Tensor"):
        reduce([1.0, 2.0])


@pytest.mark.parametrize("axis", [None, 0, -1, []])
def test_every_axis_of_a_0d_tensor(axis: Any) -> None:
    x = paddle.to_tensor(3.0)
    for name in ("mean", "max", "min", "prod", "logsumexp", "any"):
        assert getattr(paddle, name)(x, axis=axis).shape == []
    assert paddle.mean(x, axis=axis).item() == 3.0


def test_axes_as_tensors_numpy_integers_and_tuples() -> None:
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 5.0]])
    for axis in (paddle.to_tensor(1), np.int64(1), (1,), [-1]):
        assert paddle.mean(x, axis=axis).tolist() == [1.5, 4.0]
    assert paddle.mean(x, axis=()).item() == 2.75


def test_the_mean_of_integers_is_an_integer_cut_off() -> None:
    assert on_both_tiers(lambda: paddle.mean(paddle.to_tensor([-3, -2, -2]))).item() == -2
    assert paddle.mean(paddle.to_tensor([1, 2], dtype="int32")).dtype == "int32"
    assert paddle.mean(paddle.to_tensor([1, 2]), dtype="float32").item() == 1.5


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_accumulate_in_float32(dtype: str) -> None:
    ones = paddle.ones([40000], dtype)
    scaled = paddle.full([40000], 0.001, dtype)
    assert on_both_tiers(lambda: paddle.mean(ones)).astype("float32") == 1.0
    exact = float(np.asarray(scaled.numpy()[0], "float64"))
    for reduce in (lambda: paddle.mean(scaled), lambda: paddle.cumsum(scaled)[-1] / 40000.0):
        assert float(on_both_tiers(reduce)) == pytest.approx(exact, rel=1e-2)
    assert float(paddle.norm(ones).item()) == pytest.approx(200.0, rel=1e-2)


def test_products_with_zeros_have_the_right_gradient() -> None:
    assert gradient(paddle.prod, [2.0, 0.0, 3.0]) == [0.0, 6.0, 0.0]
    assert gradient(paddle.prod, [0.0, 0.0, 3.0]) == [0.0, 0.0, 0.0]
    assert gradient(lambda x: paddle.prod(x, axis=[0, 2]), [[[0.0, 2.0]], [[3.0, 4.0]]]) == [
        [[24.0, 0.0]],
        [[0.0, 0.0]],
    ]


def test_logsumexp_of_extremes() -> None:
    assert on_both_tiers(lambda: paddle.logsumexp(paddle.to_tensor([1000.0, 1000.0]))) == pytest.approx(
        1000 + math.log(2)
    )
    assert paddle.logsumexp(paddle.to_tensor([-np.inf, -np.inf])).item() == -math.inf
    assert paddle.logsumexp(paddle.to_tensor([np.inf, 1.0])).item() == math.inf
    assert gradient(paddle.logsumexp, [-np.inf, 0.0]) == [0.0, 1.0]


def test_results_can_be_written_into_a_given_tensor() -> None:
    x, target = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), paddle.zeros([2])
    assert paddle.mean(x, axis=0, out=target) is target
    assert target.tolist() == [2.0, 3.0]


# ---- scans ---------------------------------------------------------------------------------------


def test_cumsum_of_integers_is_int64_but_stays_in_place() -> None:
    x = paddle.to_tensor([1, 2, 3], dtype="int32")
    assert paddle.cumsum(x).dtype == "int64"
    assert x.cumsum_() is x
    assert x.dtype == "int32"
    assert x.tolist() == [1, 3, 6]


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"])
def test_bad_axes_of_scans(name: str) -> None:
    scan = getattr(paddle, name)
    with pytest.raises((ValueError, IndexError), match=rf"\({name}\) axis 2"):
        scan(paddle.ones([2, 3]), 2)
    with pytest.raises(TypeError, match=rf"\({name}\)"):
        scan(paddle.ones([2, 3]), "rows")
    with pytest.raises(TypeError, match=rf"\({name}\) x must be a Tensor"):
        scan(np.ones(3), 0)


@pytest.mark.parametrize("values", [[1.0, 2.0, 0.0, 4.0], [1.0, 0.0, 0.0, 4.0], [0.0, 3.0]])
def test_cumprod_gradient_with_zeros(values: list[float]) -> None:
    x = np.array(values)
    expected = [sum(np.prod(np.delete(x[: j + 1], i)) for j in range(i, len(x))) for i in range(len(x))]
    assert gradient(lambda t: paddle.cumprod(t, dim=0), x) == pytest.approx(expected)


def test_cummax_takes_the_last_of_equals_and_keeps_nan() -> None:
    values, places = paddle.cummax(paddle.to_tensor([1.0, 3.0, 3.0, 2.0, np.nan, 5.0, np.nan]))
    np.testing.assert_array_equal(values.numpy(), [1, 3, 3, 3, np.nan, np.nan, np.nan])
    assert places.tolist() == [0, 1, 2, 2, 4, 4, 6]
    assert gradient(lambda x: paddle.cummax(x, axis=0)[0], [1.0, 3.0, 3.0, 2.0, 4.0]) == [
        1.0,
        1.0,
        2.0,
        0.0,
        1.0,
    ]
    with pytest.raises(ValueError, match="int32 or int64"):
        paddle.cummax(paddle.ones([2]), dtype="float32")


def test_logcumsumexp_is_stable_over_a_wide_range() -> None:
    x = [-np.inf, -1000.0, 0.0, 1000.0, -500.0]
    found = on_both_tiers(lambda: paddle.logcumsumexp(paddle.to_tensor(x, dtype="float64")))
    np.testing.assert_allclose(found, np.logaddexp.accumulate(x))
    slopes = gradient(lambda t: paddle.logcumsumexp(t, axis=0), x)
    np.testing.assert_allclose(slopes, [0.0, 1.0, 1.0, 2.0, 0.0], atol=1e-12)


# ---- order ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int64", "float16"])
def test_sorting_is_stable(dtype: str, descending: bool) -> None:
    x = np.random.default_rng(0).integers(0, 5, (3, 200)).astype(dtype)
    key = -x.astype("float64") if descending else x
    expected = np.argsort(key, axis=1, kind="stable")
    t = paddle.to_tensor(x)
    found = on_both_tiers(lambda: paddle.argsort(t, axis=1, descending=descending, stable=True))
    np.testing.assert_array_equal(found, expected)
    found = on_both_tiers(lambda: paddle.sort(t, axis=1, descending=descending))
    np.testing.assert_array_equal(found, np.take_along_axis(x, expected, 1))


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [1, 3, 20, 200])
def test_topk_is_the_head_of_a_stable_sort(k: int, largest: bool) -> None:
    """Long rows take another way than short ones; both take the first of equal elements."""
    random = np.random.default_rng(k)
    for x in (random.integers(0, 9, (4, 200)), random.normal(size=(4, 200))):
        expected = np.argsort(-x if largest else x, axis=1, kind="stable")[:, :k]
        t = paddle.to_tensor(x)
        np.testing.assert_array_equal(on_both_tiers(lambda t=t: paddle.topk(t, k, 1, largest)[1]), expected)
        values = on_both_tiers(lambda t=t: paddle.topk(t, k, 1, largest)[0])
        np.testing.assert_array_equal(values, np.take_along_axis(x, expected, 1))


def test_nan_counts_as_largest() -> None:
    x = np.full(100, 1.0)
    x[[7, 50]] = np.nan
    t = paddle.to_tensor(x)
    assert on_both_tiers(lambda: paddle.topk(t, 3)[1]).tolist() == [7, 50, 0]
    assert on_both_tiers(lambda: paddle.topk(t, 2, largest=False)[1]).tolist() == [0, 1]
    zeros = paddle.to_tensor([0.0, -0.0, -1.0, 0.0, -0.0, 0.0])
    for largest, expected in ((True, [0, 1, 3, 4]), (False, [2, 0, 1, 3])):
        for kind in ("float32", "bfloat16", "float16"):
            found = on_both_tiers(
                lambda kind=kind, largest=largest: paddle.topk(zeros.astype(kind), 4, largest=largest)[1]
            )
            assert found.tolist() == expected
    assert paddle.argmax(t).item() == 7
    assert paddle.argsort(t)[-1].item() == 50
    assert math.isnan(paddle.median(t).item())
    value, place = paddle.median(t, axis=0, mode="min")
    assert math.isnan(value.item())
    assert place.item() == 7


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_arg_reductions(name: str) -> None:
    find = getattr(paddle, name)
    x = paddle.to_tensor([[1.0, 1.0], [1.0, 1.0]])
    assert find(x).item() == 0
    assert find(x, keepdim=True).shape == [1, 1]
    assert find(x, axis=0, dtype="int32").dtype == "int32"
    assert find(x).stop_gradient
    assert find(paddle.to_tensor(2.0), axis=-1).item() == 0
    with pytest.raises(ValueError, match="no elements"):
        find(paddle.zeros([0]))
    with pytest.raises(ValueError, match="no elements"):
        find(paddle.zeros([0, 3]), axis=0)
    with pytest.raises(ValueError, match="int32 or int64"):
        find(x, dtype="float32")
    with pytest.raises(ValueError, match="out of range"):
        find(x, axis=2)
    with pytest.raises(TypeError, match="complex"):
        find(paddle.to_tensor([1j]))


def test_topk_and_kthvalue_reject_bad_counts() -> None:
    x = paddle.ones([2, 3])
    for name in ("topk", "kthvalue"):
        for k in (0, 4, -1):
            with pytest.raises(ValueError, match=rf"\({name}\) k must be between 1 and the 3"):
                getattr(paddle, name)(x, k)
        with pytest.raises(TypeError, match="k"):
            getattr(paddle, name)(x, "two")
        with pytest.raises(ValueError, match="out of range"):
            getattr(paddle, name)(x, 1, axis=2)
    with pytest.raises(ValueError, match="no elements"):
        paddle.mode(paddle.zeros([3, 0]))
    assert paddle.topk(x, paddle.to_tensor(2))[0].shape == [2, 2]
    assert [t.shape for t in paddle.topk(paddle.to_tensor(4.0), 1)] == [[], []]


def test_gradients_return_to_where_elements_came_from() -> None:
    rows = [[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]]
    assert gradient(lambda x: paddle.topk(x, 2, axis=1)[0], rows) == [
        [0.0, 1.0, 1.0],
        [1.0, 0.0, 1.0],
    ]
    assert gradient(lambda x: paddle.kthvalue(x, 1, axis=0)[0], rows) == [
        [1.0, 0.0, 1.0],
        [0.0, 1.0, 0.0],
    ]
    weights = paddle.to_tensor([1.0, 2.0, 3.0, 4.0], dtype="float64")
    assert gradient(lambda x: paddle.sort(x) * weights, [2.0, 2.0, 1.0, 2.0]) == [
        2.0,
        3.0,
        1.0,
        4.0,
    ]
    assert gradient(lambda x: paddle.mode(x)[0], [3.0, 3.0, 1.0, 1.0, 1.0]) == [
        0.0,
        0.0,
        0.0,
        0.0,
        1.0,
    ]


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted_against_numpy(right: bool) -> None:
    random = np.random.default_rng(1)
    edges = np.sort(random.integers(0, 20, (3, 50)), axis=-1).astype("float32")
    values = random.integers(-2, 22, (3, 40)).astype("float32")
    side = "right" if right else "left"
    expected = np.stack([np.searchsorted(e, v, side) for e, v in zip(edges, values, strict=True)])
    found = on_both_tiers(lambda: paddle.searchsorted(paddle.to_tensor(edges), paddle.to_tensor(values), right=right))
    np.testing.assert_array_equal(found, expected)
    found = paddle.searchsorted(paddle.to_tensor(edges[0]), paddle.to_tensor(values[0]), side=side)
    np.testing.assert_array_equal(found.numpy(), expected[0])


def test_searchsorted_errors() -> None:
    with pytest.raises(ValueError, match=r"float32\[2, 3\]"):
        paddle.searchsorted(paddle.ones([2, 3]), paddle.ones([4]))
    with pytest.raises(TypeError, match="values must be a Tensor"):
        paddle.searchsorted(paddle.ones([3]), 2.0)
    with pytest.raises(ValueError, match="left"):
        paddle.searchsorted(paddle.ones([3]), paddle.ones([3]), side="middle")
    with pytest.raises(ValueError, match="one dimension"):
        paddle.bucketize(paddle.ones([3]), paddle.ones([1, 3]))


# ---- results whose shape depends on values -------------------------------------------------------


def test_nonzero() -> None:
    x = paddle.to_tensor([[1, 0], [0, 2]])
    assert paddle.nonzero(x).tolist() == [[0, 0], [1, 1]]
    rows, columns = paddle.nonzero(x, as_tuple=True)
    assert (rows.tolist(), columns.tolist()) == ([0, 1], [0, 1])
    assert paddle.nonzero(paddle.zeros([2, 3])).shape == [0, 2]
    with pytest.raises(ValueError, match="dimension"):
        paddle.nonzero(paddle.to_tensor(1.0))


def test_masked_select_has_a_gradient_through_broadcasting() -> None:
    mask = paddle.to_tensor([[False, True, True], [True, False, True]])
    assert gradient(lambda x: paddle.masked_select(x, mask), [1.0, 2.0, 3.0]) == [1.0, 1.0, 2.0]
    assert paddle.masked_select(paddle.ones([2, 3]), mask & False).shape == [0]
    with pytest.raises(TypeError, match="boolean"):
        paddle.masked_select(paddle.ones([3]), paddle.ones([3]))
    with pytest.raises(ValueError, match=r"float32\[2, 3\].*bool\[2\]"):
        paddle.masked_select(paddle.ones([2, 3]), paddle.to_tensor([True, False]))


def test_unique() -> None:
    found = paddle.unique(paddle.to_tensor([[3, 1], [2, 1]]), True, True, True, dtype="int32")
    assert [t.tolist() for t in found] == [[1, 2, 3], [1, 2, 0], [2, 0, 1, 0], [2, 1, 1]]
    assert [t.dtype.name for t in found] == ["int64", "int32", "int32", "int32"]
    assert paddle.unique(paddle.to_tensor(7)).tolist() == [7]
    assert len(paddle.unique(paddle.to_tensor([np.nan, np.nan, 1.0]))) == 3
    with pytest.raises(ValueError, match="out of range"):
        paddle.unique(paddle.ones([2]), axis=1)


# ---- statistics ----------------------------------------------------------------------------------


def test_var_and_std() -> None:
    x = np.random.default_rng(2).normal(loc=1000.0, size=(4, 50)).astype("float32")
    t = paddle.to_tensor(x)
    np.testing.assert_allclose(
        on_both_tiers(lambda: paddle.var(t, 1)), np.var(x.astype("float64"), 1, ddof=1), rtol=1e-3
    )
    assert math.isnan(paddle.std(paddle.to_tensor([1.0])).item())
    assert paddle.std(paddle.to_tensor([1.0]), unbiased=False).item() == 0.0
    assert paddle.var(paddle.to_tensor([1, 2, 3, 5])).item() == pytest.approx(np.var([1, 2, 3, 5], ddof=1))
    with pytest.raises(ValueError, match="only one of"):
        paddle.var(t, unbiased=True, correction=0)


def test_median_modes() -> None:
    x = paddle.to_tensor([1.0, 4.0, 2.0, 3.0])
    assert paddle.median(x).item() == 2.5
    assert paddle.median(x, mode="min").item() == 2.0
    value, place = paddle.median(x, axis=0, mode="min")
    assert (value.item(), place.item()) == (2.0, 2)
    assert paddle.median(paddle.to_tensor([1, 2])).dtype == "float32"
    assert gradient(paddle.median, [1.0, 4.0, 2.0, 3.0]) == [0.0, 0.0, 0.5, 0.5]
    assert gradient(paddle.median, [1.0, 2.0, 2.0, 2.0, 3.0]) == pytest.approx([0.0, 1 / 3, 1 / 3, 1 / 3, 0.0])
    with pytest.raises(ValueError, match="avg"):
        paddle.median(x, mode="max")


def test_nan_is_skipped_by_sums_and_gets_no_gradient() -> None:
    x = [1.0, np.nan, 2.0]
    assert paddle.nansum(paddle.to_tensor(x)).item() == 3.0
    assert paddle.nanmean(paddle.to_tensor(x)).item() == 1.5
    assert math.isnan(paddle.nanmean(paddle.to_tensor([np.nan])).item())
    assert gradient(paddle.nansum, x) == [1.0, 0.0, 1.0]
    assert gradient(paddle.nanmean, x) == [0.5, 0.0, 0.5]


def test_numel_needs_no_computation() -> None:
    x = paddle.ones([3, 4])
    assert x.numel().item() == 12
    assert paddle.numel(x).dtype == "int64"


# ---- norms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1, 2, 3, math.inf])
def test_norms_have_a_gradient_at_zero(p: float) -> None:
    assert gradient(lambda x: paddle.norm(x, p), [0.0, 0.0]) == [0.0, 0.0]
    assert gradient(lambda x: paddle.dist(x, paddle.to_tensor([1.0, 2.0], dtype="float64"), p), [1.0, 2.0]) == [
        0.0,
        0.0,
    ]


def test_norm_errors() -> None:
    x = paddle.ones([2, 3])
    with pytest.raises(ValueError, match="matrices have the norms"):
        paddle.norm(x, 3, axis=[0, 1])
    with pytest.raises(ValueError, match="two axes"):
        paddle.norm(x, "nuc", axis=0)
    with pytest.raises(ValueError, match="out of range"):
        paddle.norm(x, axis=2)
    with pytest.raises(TypeError, match="floating"):
        paddle.norm(paddle.to_tensor([3, 4]))
    with pytest.raises(TypeError, match="Tensor"):
        paddle.norm([3.0, 4.0])


# ---- softmax -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_softmax_does_not_overflow(dtype: str) -> None:
    x = paddle.to_tensor([[10000.0, 9999.0], [-10000.0, 0.0]], dtype=dtype)
    shares = on_both_tiers(lambda: F.softmax(x)).astype("float64")
    np.testing.assert_allclose(shares.sum(-1), 1.0, rtol=1e-2)
    assert np.isfinite(on_both_tiers(lambda: F.log_softmax(x)).astype("float64")).all()


def test_softmax_edges() -> None:
    assert F.softmax(paddle.to_tensor(3.0)).item() == 1.0
    assert F.log_softmax(paddle.to_tensor([-np.inf, 1.0])).tolist() == [-math.inf, 0.0]
    assert F.softmax(paddle.to_tensor([1, 1]), dtype="float64").tolist() == [0.5, 0.5]
    x = paddle.to_tensor([1.0, 1.0])
    assert F.softmax_(x) is x
    assert x.tolist() == [0.5, 0.5]
    with pytest.raises(TypeError, match="dtype"):
        F.softmax(paddle.to_tensor([1, 2]))
    for function in (F.softmax, F.log_softmax):
        with pytest.raises(ValueError, match="out of range"):
            function(x, axis=1)
        with pytest.raises(TypeError, match="axis"):
            function(x, axis=None)
