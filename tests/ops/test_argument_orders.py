"""Calls in PyTorch's order and by PyTorch's names, as Paddle 3.3 takes them; values observed there, or from NumPy."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import proa as paddle

ROWS = np.array([[1, 4, 2, 8], [3, 5, 9, 7]], np.float32)
INDEX = np.array([[0, 1, 1, 0]])


def _x() -> Any:
    return paddle.to_tensor(ROWS)


def _index() -> Any:
    return paddle.to_tensor(INDEX)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, i: paddle.gather(x, 0, i),
        lambda x, i: paddle.gather(x, dim=0, index=i),
        lambda x, i: paddle.gather(input=x, dim=0, index=i),
        lambda x, i: x.gather(0, i),
    ],
)
def test_gather_by_dim_takes_one_element_each(call: Any) -> None:
    assert call(_x(), _index()).numpy().tolist() == np.take_along_axis(ROWS, INDEX, 0).tolist()


def test_gather_in_paddles_order_takes_rows() -> None:
    index = paddle.to_tensor([[0], [1]])
    assert paddle.gather(_x(), index, 1).shape == [2, 2]
    assert paddle.gather(_x(), dim=1, index=index).shape == [2, 1]
    assert list(inspect.signature(paddle.gather).parameters) == ["x", "index", "axis", "name", "out"]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x, i: paddle.scatter(x, 0, i, x), [[1, 4, 2, 8], [3, 4, 2, 7]]),
        (lambda x, i: paddle.scatter(x, dim=0, index=i, src=x), [[1, 4, 2, 8], [3, 4, 2, 7]]),
        (lambda x, i: x.scatter(0, i, 5), [[5, 4, 2, 5], [3, 5, 5, 7]]),
        (lambda x, i: x.scatter(dim=0, index=i, value=5.0), [[5, 4, 2, 5], [3, 5, 5, 7]]),
        (lambda x, i: x.scatter(0, i, x, reduce="add"), [[2, 4, 2, 16], [3, 9, 11, 7]]),
        (lambda x, i: x.scatter(0, i, x, reduce="multiply"), [[1, 4, 2, 64], [3, 20, 18, 7]]),
        (lambda x, i: x.scatter_(0, i, 1.5), [[1.5, 4, 2, 1.5], [3, 1.5, 1.5, 7]]),
        (lambda x, i: x.scatter_(paddle.to_tensor([0, 1]), x * 2), (ROWS * 2).tolist()),
    ],
)
def test_scatter_by_dim(call: Any, expected: list[list[float]]) -> None:
    assert call(_x(), _index()).numpy().tolist() == expected


def test_scatter_by_dim_has_a_gradient() -> None:
    x = _x()
    x.stop_gradient = False
    source = paddle.to_tensor(ROWS * 2, stop_gradient=False)
    paddle.scatter(x, 0, _index(), source).sum().backward()
    assert x.grad.numpy().tolist() == [[0, 1, 1, 0], [1, 0, 0, 1]]
    assert source.grad.numpy().tolist() == [[1, 1, 1, 1], [0, 0, 0, 0]]


@pytest.mark.parametrize("options", [{"reduce": "amax"}, {}])
def test_scatter_by_dim_refuses_nonsense(options: Any) -> None:
    with pytest.raises(ValueError, match="scatter"):
        paddle.scatter(_x(), 0, _index(), *([_x()] if options else []), **options)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x, v: x.index_select(1, v), [[1, 4], [3, 5]]),
        (lambda x, v: paddle.index_select(x, dim=1, index=v), [[1, 4], [3, 5]]),
        (lambda x, v: x.index_add(0, v, x), (ROWS * 2).tolist()),
        (lambda x, v: x.index_add(0, v, x, alpha=2), (ROWS * 3).tolist()),
        (lambda x, v: x.index_add(dim=0, index=v, source=x), (ROWS * 2).tolist()),
        (lambda x, v: x.index_add_(0, v, x), (ROWS * 2).tolist()),
        (lambda x, v: paddle.sum(x, 1, True), [[15], [24]]),
        (lambda x, v: x.sum(1, False), [15, 24]),
        (lambda x, v: x.swapaxes(axis0=0, axis1=1), ROWS.T.tolist()),
        (lambda x, v: paddle.swapdims(x, dim0=0, dim1=1), ROWS.T.tolist()),
        (lambda x, v: x.roll(shifts=1, dims=0), ROWS[::-1].tolist()),
        (lambda x, v: x.view(size=[8]), ROWS.reshape(-1).tolist()),
        (lambda x, v: x.view(dtype=paddle.int32), ROWS.view(np.int32).tolist()),
        (lambda x, v: x.diagonal(0, dim1=-2, dim2=-1), [1, 5]),
        (lambda x, v: x.expand(size=(1, 2, 4)), [ROWS.tolist()]),
        (lambda x, v: x.tensor_split(indices=(1,), dim=1)[0], [[1], [3]]),
        (lambda x, v: x.tensor_split(sections=2, dim=1)[1], [[2, 8], [9, 7]]),
        (lambda x, v: paddle.dot(v, tensor=v), 1),
        (lambda x, v: paddle.bmm(x.unsqueeze(0), mat2=x.T.unsqueeze(0)), [(ROWS @ ROWS.T).tolist()]),
        (lambda x, v: paddle.zeros(size=(2,)), [0, 0]),
        (lambda x, v: paddle.median(x, 1), [3, 6]),
        (lambda x, v: paddle.median(x, dim=1)[0], [2, 5]),
        (lambda x, v: x.median(dim=1, keepdim=True)[1], [[2], [1]]),
        (lambda x, v: paddle.median(input=x), 4),
        (lambda x, v: paddle.median(x, dim=1, mode="avg"), [3, 6]),
    ],
)
def test_other_orders_and_names(call: Any, expected: Any) -> None:
    assert call(_x(), paddle.to_tensor([0, 1])).numpy().tolist() == expected


@pytest.mark.parametrize("axis", ["a", True, 1.5, ["a"]])
def test_an_axis_that_is_no_integer(axis: Any) -> None:
    with pytest.raises(TypeError, match="axis must be an integer"):
        paddle.sum(_x(), axis=axis)


def test_out_takes_the_shape_of_the_result() -> None:
    out = paddle.zeros([3])
    assert paddle.outer(paddle.ones([2]), paddle.ones([2]), out=out) is out
    assert out.shape == [2, 2]


@pytest.mark.parametrize(
    ("shape", "wanted", "expected"),
    [([0, 3], [0, -1], [0, 3]), ([0, 3, 4], [0, -1], [0, 12]), ([2, 0, 3], [0, -1], [0, 6]), ([0, 3], [-1, 0], [3, 0]),
     ([0, 4], [0, 2, -1], [0, 2, 2]), ([2, 0], [-1, 0], [2, 0])],
)  # fmt: skip
def test_reshape_of_no_elements_works_out_one_dimension(shape: Any, wanted: Any, expected: Any) -> None:
    assert paddle.zeros(shape).reshape(wanted).shape == expected


def test_reshape_of_no_elements_that_cannot_be_worked_out() -> None:
    with pytest.raises(ValueError, match="reshape"):
        paddle.zeros([2, 0, 3]).reshape([0, 0, -1])


def test_products_of_real_and_complex() -> None:
    complex_rows = ROWS + 1j * ROWS[::-1]
    x, y = paddle.to_tensor(ROWS, stop_gradient=False), paddle.to_tensor(complex_rows.T, stop_gradient=False)
    for _ in range(4):  # both tiers
        product = paddle.matmul(x, y)
        assert product.dtype == paddle.complex64
        np.testing.assert_allclose(product.numpy(), ROWS @ complex_rows.T, rtol=1e-6)
    gradients = paddle.grad(product.real().sum(), [x, y])
    assert [g.dtype for g in gradients] == [paddle.float32, paddle.complex64]
    np.testing.assert_allclose(gradients[0].numpy(), np.tile(complex_rows.real.sum(0), (2, 1)), rtol=1e-6)
    with pytest.raises(ValueError, match="different data types"):
        paddle.matmul(x, y.real().astype("float64"))


def test_cross_of_two_precisions() -> None:
    product = paddle.cross(paddle.to_tensor([1.0, 2, 3]), paddle.to_tensor([4.0, 5, 7], dtype="float64"))
    assert (product.dtype, product.tolist()) == (paddle.float64, np.cross([1.0, 2, 3], [4.0, 5, 7]).tolist())


@pytest.mark.parametrize(
    "call", [lambda x: x % x, lambda x: x.real() % x, lambda x: paddle.ones([2], dtype="int64") % 2j]
)
def test_remainder_of_complex_numbers(call: Any) -> None:
    with pytest.raises(TypeError, match="complex"):
        call(paddle.to_tensor([1 + 2j, 3j]))


def test_unfold_without_dimensions() -> None:
    with pytest.raises(ValueError, match="unfold"):
        paddle.to_tensor(1.0).unfold(0, 1, 1)


@pytest.mark.parametrize("error", [IndexError, ValueError])
def test_more_indices_than_axes(error: Any) -> None:
    with pytest.raises(error, match="the index names 3 axes"):
        _x()[0, 0, 0]


def test_the_last_axis_of_a_tensor_without_dimensions() -> None:
    x = paddle.to_tensor(2.0)
    assert paddle.squeeze(x, axis=-1).shape == paddle.sum(x, axis=-1).shape == []
