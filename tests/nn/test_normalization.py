"""Normalisation: statistics, numbers that Paddle 3.3.1 gave, layers, errors."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle

F, nn = paddle.nn.functional, paddle.nn

X = np.random.RandomState(0).randn(2, 3, 4, 4).astype("float32")


def x():
    return paddle.to_tensor(X)


def first(out, count=4):
    return out.numpy().ravel()[:count]


def statistics():
    return paddle.zeros([3]), paddle.ones([3])


def scale_and_shift():
    return paddle.to_tensor([1.0, 2.0, 3.0]), paddle.to_tensor([0.1, 0.2, 0.3])


def test_batch_norm_is_paddles():
    for _ in range(4):
        mean, variance = statistics()
        weight, bias = scale_and_shift()
        frozen = F.batch_norm(x(), mean, variance, weight, bias)
        np.testing.assert_allclose(first(frozen), [1.8640436, 0.5001552, 1.0787331, 2.3408818], rtol=1e-5)
        live = F.batch_norm(x(), mean, variance, weight, bias, training=True)
        np.testing.assert_allclose(first(live), [1.8956242, 0.4345143, 1.0543348, 2.406453], rtol=1e-5)
        np.testing.assert_allclose(mean.numpy(), [0.00878998, -0.00091242, 0.00354597], rtol=1e-4)
        np.testing.assert_allclose(variance.numpy(), [0.9871347, 1.0012748, 1.018725], rtol=1e-5)
        assert mean.inplace_version == 0


def test_momentum_is_the_share_of_the_old():
    mean, variance = statistics()
    F.batch_norm(x(), mean, variance, training=True, momentum=0.25)
    np.testing.assert_allclose(mean.numpy(), 0.75 * X.mean((0, 2, 3)), rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(variance.numpy(), 0.25 + 0.75 * X.var((0, 2, 3)), rtol=1e-5)


def test_global_statistics_are_chosen_independently_of_training():
    mean, variance = statistics()
    out = F.batch_norm(x(), mean, variance, training=True, use_global_stats=True)
    np.testing.assert_allclose(out.numpy(), X / np.sqrt(1 + 1e-5), rtol=1e-5)
    assert mean.tolist() == [0.0, 0.0, 0.0]
    F.batch_norm(x(), mean, variance, training=False, use_global_stats=False)
    assert np.abs(mean.numpy()).sum() > 0


def test_layouts_agree():
    mean, variance = statistics()
    first_out = F.batch_norm(x(), mean, variance, training=True)
    moved = paddle.to_tensor(np.ascontiguousarray(np.moveaxis(X, 1, -1)))
    last_out = F.batch_norm(moved, *statistics(), training=True, data_format="NHWC")
    np.testing.assert_allclose(np.moveaxis(last_out.numpy(), -1, 1), first_out.numpy(), atol=1e-5)


def test_batch_norm_layer_learns_its_statistics_only_in_training():
    layer = nn.BatchNorm2D(3)
    assert [name for name, _ in layer.named_parameters()] == [
        "weight",
        "bias",
        "_mean",
        "_variance",
    ]
    assert [p.trainable for p in layer.parameters()] == [True, True, False, False]
    for _ in range(300):
        layer(x())
    np.testing.assert_allclose(layer._mean.numpy(), X.mean((0, 2, 3)), atol=1e-4)
    np.testing.assert_allclose(layer._variance.numpy(), X.var((0, 2, 3)), rtol=1e-4)
    layer.eval()
    before = layer._mean.numpy()
    out = layer(x()).numpy()
    np.testing.assert_array_equal(layer._mean.numpy(), before)
    np.testing.assert_allclose(out.mean((0, 2, 3)), 0, atol=1e-3)
    assert nn.BatchNorm2D(3, weight_attr=False, bias_attr=False).weight is None
    assert nn.BatchNorm1D(3)(paddle.ones([2, 3])).shape == [2, 3]
    assert nn.BatchNorm1D(3)(paddle.ones([2, 3, 4])).shape == [2, 3, 4]
    assert nn.BatchNorm3D(3)(paddle.ones([2, 3, 2, 2, 2])).shape == [2, 3, 2, 2, 2]
    positive = nn.BatchNorm(3, act="relu")(x()).numpy()
    assert positive.min() == 0


def test_gradient_of_batch_norm_sums_to_zero():
    """Shifting or scaling a channel changes nothing, so that the gradient is orthogonal to both."""
    data = x().astype("float64")
    data.stop_gradient = False
    seed = paddle.to_tensor(np.random.default_rng(0).standard_normal(X.shape))
    zeros, ones = paddle.zeros([3], dtype="float64"), paddle.ones([3], dtype="float64")
    (F.batch_norm(data, zeros, ones, training=True, epsilon=0.0) * seed).sum().backward()
    gradient = data.grad.numpy()
    np.testing.assert_allclose(gradient.sum((0, 2, 3)), 0, atol=1e-12)
    np.testing.assert_allclose((gradient * X).sum((0, 2, 3)), 0, atol=1e-10)


def test_layer_norm_is_paddles():
    wide = F.layer_norm(x(), [4, 4])
    np.testing.assert_allclose(first(wide), [1.3400906, -0.3228132, 0.3826107, 1.9214698], rtol=1e-5)
    last = F.layer_norm(x(), 4)
    np.testing.assert_allclose(first(last), [0.5905132, -1.3358514, -0.5186643, 1.2640027], rtol=1e-5)
    layer = nn.LayerNorm([4, 4])
    assert [p.shape for p in layer.parameters()] == [[16], [16]]
    np.testing.assert_allclose(layer(x()).numpy(), wide.numpy(), rtol=1e-5)
    assert nn.LayerNorm(4, weight_attr=False).weight is None
    assert nn.LayerNorm(4, bias=False).bias is None
    assert nn.LayerNorm(4, elementwise_affine=False).parameters() == []


def test_group_and_instance_norm():
    instance = F.instance_norm(x())
    np.testing.assert_allclose(first(instance), [1.3400906, -0.3228132, 0.3826107, 1.9214698], rtol=1e-5)
    np.testing.assert_allclose(F.group_norm(x(), 3).numpy(), instance.numpy(), rtol=1e-5)
    one = F.group_norm(x(), 1).numpy()
    np.testing.assert_allclose(one, F.layer_norm(x(), [3, 4, 4]).numpy(), rtol=1e-4, atol=1e-6)
    layer = nn.InstanceNorm2D(3)
    assert [name for name, _ in layer.named_parameters()] == ["scale", "bias"]
    np.testing.assert_allclose(layer(x()).numpy(), instance.numpy(), rtol=1e-5)
    assert nn.GroupNorm(3, 3)(x()).shape == [2, 3, 4, 4]
    assert nn.InstanceNorm1D(3)(paddle.ones([2, 3, 4])).shape == [2, 3, 4]


def test_normalize():
    np.testing.assert_allclose(F.normalize(paddle.to_tensor([3.0, 4.0]), axis=0).numpy(), [0.6, 0.8])
    zero = paddle.zeros([1, 2])
    zero.stop_gradient = False
    out = F.normalize(zero)
    out.sum().backward()
    assert out.tolist() == [[0.0, 0.0]]
    assert np.isfinite(zero.grad.numpy()).all()
    largest = F.normalize(x(), p=float("inf")).numpy()
    np.testing.assert_allclose(np.abs(largest).max(1), 1.0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_are_computed_in_float32(dtype):
    """The variance of numbers around 100 would be lost in half precision."""
    data = paddle.to_tensor((X * 0.5 + 100).astype("float32")).astype(dtype)
    out = F.layer_norm(data, [4, 4])
    assert out.dtype == dtype
    expected = F.layer_norm(data.astype("float32"), [4, 4]).numpy()
    np.testing.assert_allclose(out.astype("float32").numpy(), expected, atol=0.02)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: F.batch_norm(x(), *statistics(), data_format="XX"), ValueError),
        (lambda: F.batch_norm(x(), paddle.zeros([4]), paddle.ones([4])), ValueError),
        (lambda: F.batch_norm(x(), *statistics(), weight=paddle.ones([4])), ValueError),
        (lambda: F.batch_norm(paddle.ones([3]), *statistics()), ValueError),
        (lambda: F.batch_norm(x().astype("int32"), *statistics()), TypeError),
        (lambda: nn.BatchNorm2D(3)(paddle.ones([2, 3, 4])), ValueError),
        (lambda: nn.BatchNorm2D(4)(x()), ValueError),
        (lambda: F.layer_norm(x(), [3, 4]), ValueError),
        (lambda: F.layer_norm(x(), "a"), ValueError),
        (lambda: F.layer_norm(x(), 4, paddle.ones([3])), ValueError),
        (lambda: F.layer_norm(x(), []), ValueError),
        (lambda: F.layer_norm(x().astype("int64"), 4), TypeError),
        (lambda: F.group_norm(x(), 2), ValueError),
        (lambda: nn.GroupNorm(2, 3), ValueError),
        (lambda: F.normalize(paddle.to_tensor([3.0, 4.0])), ValueError),
    ],
)
def test_bad_arguments(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("default", ["float32", "float64"])
@pytest.mark.parametrize(
    ("given", "expected"),
    [("", "float32"), ("float32", "float32"), ("float64", "float64"), ("float16", "float32"), ("bfloat16", "bfloat16")],
)
def test_the_older_batch_norm_has_its_own_dtype(default: str, given: str, expected: str) -> None:
    """As observed in Paddle 3.3.1: the default floating type plays no part."""
    before = paddle.get_default_dtype()
    paddle.set_default_dtype(default)
    try:
        layer = nn.BatchNorm(3, dtype=given) if given else nn.BatchNorm(3)
        assert nn.BatchNorm2D(3).weight.dtype == getattr(paddle, default)
    finally:
        paddle.set_default_dtype(before)
    assert {value.dtype for value in layer.state_dict().values()} == {getattr(paddle, expected)}


def test_a_dtype_that_no_batch_norm_can_have_is_refused() -> None:
    with pytest.raises(TypeError, match=r"\(BatchNorm\) dtype must be a floating type; received dtype: 'int32'"):
        nn.BatchNorm(3, dtype="int32")
    with pytest.raises(TypeError, match="'nonsense' is not a data type"):
        nn.BatchNorm(3, dtype="nonsense")
