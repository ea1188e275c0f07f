"""`paddle.compat` functions beyond their samples: gradients at ties, NaN, results seen in Paddle, refused keywords."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import compat

X = np.array([[3.0, 1.0, 2.0, 2.0], [0.0, 5.0, 4.0, 5.0]], "float32")


def test_extremes_along_a_dimension() -> None:
    found = compat.max(paddle.to_tensor(X), 1)
    assert type(found).__name__ == "MinMaxRetType"
    assert found.values.tolist() == [3.0, 5.0]
    assert found.indices.tolist() == [0, 1]
    values, indices = compat.min(paddle.to_tensor(X), dim=0, keepdim=True)
    assert values.tolist() == [[0.0, 1.0, 2.0, 2.0]]
    assert indices.tolist() == [[1, 0, 0, 0]]
    other = compat.max(paddle.to_tensor(X), other=paddle.full([4], 2.5))
    np.testing.assert_array_equal(other.numpy(), np.maximum(X, 2.5))


def test_the_gradient_goes_to_the_chosen_element() -> None:
    x = paddle.to_tensor(X)
    x.stop_gradient = False
    (gradient,) = paddle.grad(compat.max(x, 1).values.sum(), x)
    assert gradient.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]]
    (gradient,) = paddle.grad(compat.median(x), x)
    assert gradient.tolist() == [[0, 0, 0.5, 0.5], [0, 0, 0, 0]]


def test_medians_seen_in_paddle() -> None:
    assert compat.median(paddle.to_tensor(X)).item() == 2.0
    values, indices = compat.median(paddle.to_tensor(X), 1)
    assert (values.tolist(), indices.tolist()) == ([2.0, 4.0], [3, 2])
    gaps = paddle.to_tensor([[1.0, np.nan, 3.0], [2.0, 4.0, 6.0]])
    values, indices = compat.median(gaps, 1)
    np.testing.assert_array_equal(values.numpy(), [np.nan, 4.0])
    assert indices.tolist() == [1, 1]
    values, indices = compat.nanmedian(gaps, 1)
    assert (values.tolist(), indices.tolist()) == ([1.0, 4.0], [0, 1])
    values, indices = compat.nanmedian(paddle.to_tensor([np.nan] * 3), 0)
    assert np.isnan(values.item())
    assert indices.item() == 0
    assert np.isnan(compat.median(paddle.zeros([0, 4])).item())
    values, indices = compat.median(paddle.zeros([0, 4]), 0)
    assert (np.isnan(values.numpy()).all(), indices.tolist()) == (True, [0, 0, 0, 0])
    assert compat.median(paddle.to_tensor(X), keepdim=True).shape == [1, 1]
    assert compat.median(paddle.to_tensor([3, 1, 2])).dtype == paddle.int64


def test_sort_fills_out() -> None:
    out = (paddle.zeros([2, 4]), paddle.zeros([2, 4], "int64"))
    found = compat.sort(paddle.to_tensor(X), descending=True, out=out)
    assert found.values is out[0]
    assert out[1].tolist() == [[0, 2, 3, 1], [1, 3, 2, 0]]
    with pytest.raises(TypeError, match="two tensors"):
        compat.sort(paddle.to_tensor(X), out=paddle.zeros([2, 4]))


def test_equal_gives_a_plain_bool() -> None:
    x = paddle.to_tensor(X)
    assert compat.equal(x, x.clone()) is True
    assert compat.equal(x, x + 1) is False
    assert compat.equal(x, x[0]) is False
    assert compat.equal(x, x.astype("float64")) is True
    nan = paddle.to_tensor([np.nan])
    assert compat.equal(nan, nan) is False


def test_split_into_pieces_of_a_size() -> None:
    pieces = compat.split(paddle.to_tensor(X), 3, 1)
    assert isinstance(pieces, tuple)
    assert [p.shape for p in pieces] == [[2, 3], [2, 1]]
    assert compat.split(paddle.zeros([2, 0]), 2, 1) == ()
    assert paddle.functional.split(paddle.to_tensor(X), 1)[1].tolist() == [[0.0, 5.0, 4.0, 5.0]]


def test_seed_changes_and_tells() -> None:
    first = compat.seed()
    assert isinstance(first, int)
    assert paddle.random.initial_seed() == first
    assert compat.seed() != first


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: compat.max(x, axis=1), TypeError, r"no keyword 'axis' here; paddle.max takes"),
        (lambda x: compat.sort(x, axis=1), TypeError, "paddle.sort"),
        (lambda x: compat.split(x=x, num_or_sections=2), TypeError, "'num_or_sections', 'x'"),
        (lambda x: compat.median(x, axis=1), TypeError, "paddle.median"),
        (lambda x: compat.unique(x, axis=0), TypeError, "paddle.unique"),
        (lambda x: compat.nn.functional.linear(x=x, weight=x), TypeError, "paddle.nn.functional.linear"),
        (lambda x: compat.nn.functional.softmax(x, axis=0), TypeError, "paddle.nn.functional.softmax"),
        (lambda x: compat.min(x, 1.0), TypeError, "the ways to call it"),
        (lambda x: compat.min(x, keepdim=True), TypeError, "the ways to call it"),
        (lambda x: compat.min(x, 1, dim=1), TypeError, "the ways to call it"),
        (lambda x: compat.min(x, 2), ValueError, "out of range"),
        (lambda x: compat.min(x[:0], 0), ValueError, "no elements"),
        (lambda x: compat.split(x, 0), ValueError, "positive size"),
        (lambda x: compat.split(x, [1, 2], 1), ValueError, "add up to 4"),
        (lambda x: compat.split(x, [2, -1, 3], 1), ValueError, "not be negative"),
        (lambda x: compat.split(x, 2.0), TypeError, "integer"),
        (lambda x: compat.split(x, 1, 2), ValueError, "out of range"),
        (lambda x: compat.split(x[0, 0], 1), ValueError, "without dimensions"),
        (lambda x: compat.sort(x > 1), TypeError, "in an order"),
        (lambda x: compat.equal(x, 3.0), TypeError, "other must be a Tensor"),
        (lambda x: compat.nn.functional.pad(x, [1, 1, 1]), ValueError, "two numbers"),
        (lambda x: compat.nn.functional.pad(x, [1, 1], "wrap"), ValueError, "mode is"),
        (lambda x: compat.nn.functional.scaled_dot_product_attention(x, x, x), ValueError, "three dimensions"),
    ],
)
def test_errors(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(paddle.to_tensor(X))


def test_names_kept_elsewhere_are_the_same_functions() -> None:
    for module, names in (
        ("functional", "atleast_1d broadcast_shapes einsum meshgrid norm unique_consecutive"),
        ("special", "expm1 logsumexp"),
    ):
        for name in names.split():
            assert getattr(getattr(paddle, module), name) is getattr(paddle, name)
    assert paddle.special.softmax is paddle.compat.nn.functional.softmax
