"""Forms of calls that programs for Paddle use: vectors as weights, tensors by keyword, further types."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.nn import functional as F


def test_linear_with_a_vector_as_weight() -> None:
    random = np.random.default_rng(0)
    x, weight, bias = random.normal(size=(4, 2, 3)), random.normal(size=3), random.normal(size=2)
    tensors = [paddle.to_tensor(a, stop_gradient=False) for a in (x, weight, bias)]
    result = F.linear(*tensors)
    np.testing.assert_allclose(result.numpy(), x @ weight + bias)
    outer = random.normal(size=(4, 2))
    (result * paddle.to_tensor(outer)).sum().backward()
    np.testing.assert_allclose(tensors[0].grad.numpy(), outer[..., None] * weight)
    np.testing.assert_allclose(tensors[1].grad.numpy(), np.einsum("ab,abc->c", outer, x))
    np.testing.assert_allclose(tensors[2].grad.numpy(), outer.sum(0))
    with pytest.raises(ValueError, match="does not fit the weight"):
        F.linear(tensors[0], paddle.ones([4], dtype="float64"))


def test_in_place_forms_take_an_argument_called_x() -> None:
    ones = paddle.ones([2, 2])
    x = paddle.ones([2, 2])
    assert x.addmm_(x=ones, y=ones, alpha=2.0, beta=3.0) is x
    assert x.tolist() == [[7.0, 7.0], [7.0, 7.0]]
    y = paddle.ones([2, 2])
    assert paddle.addmm_(input=y, x=ones, y=ones) is y
    assert y.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    z = paddle.to_tensor([4.0])
    assert paddle.sqrt_(x=z) is z
    assert z.item() == 2.0
    with pytest.raises(TypeError, match="missing the tensor"):
        paddle.sqrt_()


COMPLEX = {
    "hardswish": (F.hardswish, lambda z: np.where(z.real <= -3, 0, np.where(z.real >= 3, z, z * (z + 3) / 6))),
    "log_sigmoid": (F.log_sigmoid, lambda z: -np.log(1 + np.exp(-z))),
    "softplus": (F.softplus, lambda z: np.log(1 + np.exp(z))),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_activations(name: str) -> None:
    function, expected = COMPLEX[name]
    z = np.array([1 + 2j, 4 - 1j, -5 + 2j, 0.5 - 0.25j])
    x = paddle.to_tensor(z, stop_gradient=False)
    np.testing.assert_allclose(function(x).numpy(), expected(z), atol=1e-12)
    function(x).real().sum().backward()
    step = 1e-6
    real = (expected(z + step).real - expected(z - step).real) / (2 * step)
    imaginary = (expected(z + 1j * step).real - expected(z - 1j * step).real) / (2 * step)
    np.testing.assert_allclose(x.grad.numpy(), real + 1j * imaginary, atol=1e-8)
    for _ in range(4):  # compiled as well
        compiled = function(paddle.to_tensor(z)).numpy()
    np.testing.assert_allclose(compiled, expected(z), atol=1e-12)


def test_softplus_of_large_complex_numbers_is_the_number() -> None:
    assert F.softplus(paddle.to_tensor([500.0 + 1.0j])).numpy()[0] == 500.0 + 1.0j


def test_pictures_of_bytes_are_resized_and_cut_off() -> None:
    x = paddle.to_tensor(np.arange(16, dtype="uint8").reshape(1, 1, 4, 4))
    small = F.interpolate(x, size=[2, 2], mode="bilinear")
    assert (small.dtype, small.tolist()) == (paddle.uint8, [[[[2, 4], [10, 12]]]])  # of 2.5, 4.5, 10.5, 12.5
    with pytest.raises(TypeError, match="floating"):
        F.interpolate(x, size=[2, 2], mode="bicubic")


SINGLE = float(np.float32(0.1))


def test_norms_round_epsilon_and_momentum_to_float32() -> None:
    x = np.random.default_rng(0).normal(size=(4, 3, 5))
    zeros, ones = paddle.zeros([3], dtype="float64"), paddle.ones([3], dtype="float64")
    mean = paddle.zeros([3], dtype="float64")

    def standardised(axes: tuple[int, ...]) -> np.ndarray:
        return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + SINGLE)

    tensor = paddle.to_tensor(x)
    trained = F.batch_norm(tensor, mean, ones.clone(), training=True, momentum=0.9, epsilon=0.1)
    np.testing.assert_allclose(trained.numpy(), standardised((0, 2)), rtol=1e-13)
    np.testing.assert_allclose(mean.numpy(), x.mean((0, 2)) * (1 - float(np.float32(0.9))), rtol=1e-13)
    fixed = F.batch_norm(tensor, zeros, ones, epsilon=0.1)
    np.testing.assert_allclose(fixed.numpy(), x / np.sqrt(1 + SINGLE), rtol=1e-13)
    np.testing.assert_allclose(F.instance_norm(tensor, eps=0.1).numpy(), standardised((2,)), rtol=1e-13)
    np.testing.assert_allclose(F.layer_norm(tensor, [5], epsilon=0.1).numpy(), standardised((2,)), rtol=1e-13)


def test_local_response_norm_needs_to_know_where_the_channels_are_only() -> None:
    x = np.random.default_rng(0).normal(size=(1, 2, 3))
    squares = np.stack([x[:, 0] ** 2, x[:, 0] ** 2 + x[:, 1] ** 2], 1) / 2
    found = F.local_response_norm(paddle.to_tensor(x), 2, alpha=0.1, beta=0.3)
    np.testing.assert_allclose(found.numpy(), x / (1 + 0.1 * squares) ** 0.3, rtol=1e-12)
    with pytest.raises(ValueError, match="data_format"):
        F.local_response_norm(paddle.to_tensor(x), 2, data_format="NCX")


def test_types_of_results() -> None:
    half, integers = paddle.ones([2], dtype="float16"), paddle.ones([2], dtype="int32")
    assert paddle.ldexp(half, integers).dtype == paddle.float32
    assert paddle.ldexp(integers, paddle.ones([2], dtype="float64")).dtype == paddle.float64
    assert paddle.linalg.vecdot(integers, integers).dtype == paddle.int64
    assert paddle.reduce_as(integers, integers).dtype == paddle.int32
    assert paddle.reduce_as(integers, paddle.ones([1], dtype="int32")).dtype == paddle.int64
    assert paddle.reduce_as(integers.astype("int16"), paddle.ones([1], dtype="int16")).dtype == paddle.int16
    with pytest.raises(TypeError, match="booleans"):
        paddle.positive(paddle.to_tensor([True]))


def test_a_parameter_takes_the_shape_that_is_assigned() -> None:
    layer = nn.Linear(2, 3, weight_attr=nn.initializer.Assign(np.ones([2, 4], "float32")), bias_attr=False)
    assert layer.weight.shape == [2, 4]
    assert layer(paddle.ones([1, 2])).tolist() == [[2.0, 2.0, 2.0, 2.0]]


def test_numbers_of_several_elements_are_refused_as_paddle_does() -> None:
    several = paddle.to_tensor([1, 2])
    for error in (ValueError, AssertionError, TypeError):
        with pytest.raises(error, match="one element"):
            int(several)
        with pytest.raises(error, match="one element"):
            [1, 2, 3][several]
    for error in (ValueError, AssertionError):
        with pytest.raises(error, match="type of the tensor"):
            paddle.ones([2]).set_value(np.ones([2], "float64"))
        with pytest.raises(error, match="shape of the tensor"):
            paddle.ones([2]).set_value(np.ones([3], "float32"))


def test_topk_gives_a_pair_with_names() -> None:
    found = paddle.topk(paddle.to_tensor([[3.0, 1.0, 2.0]]), 2)
    assert (type(found).__name__, found._fields) == ("TopKRetType", ("values", "indices"))
    assert (found.values.tolist(), found.indices.tolist()) == ([[3.0, 2.0]], [[0, 2]])
    values, indices = paddle.to_tensor([1.0, 5.0]).topk(1)
    assert (values.tolist(), indices.tolist()) == ([5.0], [1])
