"""Initializers: distributions, defaults of layers, ParamAttr, errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

import proa as paddle

nn, init = paddle.nn, paddle.nn.initializer


def made(initializer, shape=(300, 200), dtype="float32"):
    return paddle.create_parameter(list(shape), dtype, default_initializer=initializer).numpy()


@pytest.mark.parametrize(
    ("initializer", "shape", "limit", "std"),
    [
        # limit: the largest magnitude (None: unbounded); as observed in Paddle 3.3.1
        (init.XavierUniform(), (300, 200), 0.1095445, 0.0632),
        (init.XavierUniform(), (64, 32, 5, 5), 0.05, 0.0289),
        (init.XavierUniform(gain=2.0), (300, 200), 0.219089, 0.1265),
        (init.XavierNormal(), (300, 200), None, 0.0632),
        (init.KaimingUniform(), (300, 200), 0.1414214, 0.0816),
        (init.KaimingUniform(), (64, 32, 5, 5), 0.0866025, 0.05),
        (
            init.KaimingUniform(negative_slope=0.1, nonlinearity="leaky_relu"),
            (300, 200),
            0.1407195,
            0.0812,
        ),
        (init.KaimingUniform(fan_in=10), (300, 200), 0.7745967, 0.447),
        (init.KaimingNormal(), (64, 32, 5, 5), None, 0.05),
        (init.KaimingNormal(mode="fan_out"), (300, 200), None, 0.1),
        (init.Normal(0.0, 2.0), (300, 200), None, 2.0),
        (init.TruncatedNormal(0.0, 2.0), (300, 200), 2.0, 1.0796),
        (init.Uniform(-2.0, 2.0), (300, 200), 2.0, 1.1547),
    ],
    ids=lambda value: type(value).__name__,
)
def test_distributions(initializer, shape, limit, std):
    numbers = made(initializer, shape)
    assert numbers.std() == pytest.approx(std, rel=0.03)
    assert abs(numbers.mean()) < 4 * std / math.sqrt(numbers.size)
    if limit is not None:
        assert 0.99 * limit < np.abs(numbers).max() <= limit * (1 + 1e-6)


def test_mean_and_bounds_are_kept():
    assert made(init.Normal(5.0, 1.0)).mean() == pytest.approx(5.0, abs=0.05)
    narrow = made(init.TruncatedNormal(0.0, 100.0, -0.5, 2.5))
    assert narrow.min() >= -0.5
    assert narrow.max() <= 2.5
    assert narrow.mean() == pytest.approx(1.0, abs=0.02)
    skewed = made(init.Uniform(1.0, 3.0))
    assert 1.0 <= skewed.min() < skewed.max() <= 3.0


def test_fixed_numbers():
    assert made(init.Constant(3.0), (2,)).tolist() == [3.0, 3.0]
    assert made(init.Assign(np.array([1, 2])), (2,)).tolist() == [1.0, 2.0]
    assert made(init.Assign(paddle.to_tensor([1.0, 2.0])), (2,)).tolist() == [1.0, 2.0]
    assert made(init.Assign(np.array([1, 2])), (3,)).tolist() == [
        1.0,
        2.0,
    ]  # as in Paddle: a new parameter takes the shape
    with pytest.raises(ValueError, match=r"shape \[3\]"):
        init.Assign(np.array([1, 2]))(paddle.create_parameter([3], "float32"))
    square = made(init.Orthogonal(), (4, 6), "float64")
    np.testing.assert_allclose(square @ square.T, np.eye(4), atol=1e-12)
    passing = nn.Conv2D(2, 2, 3, padding=1, weight_attr=init.Dirac(), bias_attr=False)
    x = paddle.to_tensor(np.random.default_rng(0).standard_normal((1, 2, 4, 4)).astype("float32"))
    np.testing.assert_array_equal(passing(x).numpy(), x.numpy())


def test_the_seed_decides():
    paddle.seed(7)
    one = made(init.Normal())
    other = made(init.Normal())
    paddle.seed(7)
    np.testing.assert_array_equal(made(init.Normal()), one)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_types(dtype):
    parameter = paddle.create_parameter([50, 40], dtype)
    assert parameter.dtype == dtype
    assert 0.1 < np.abs(parameter.astype("float32").numpy()).max() < 0.2583


def test_an_initializer_fills_a_tensor_in_place():
    parameter = paddle.create_parameter([3], "float32")
    assert init.Constant(2.0)(parameter) is None
    assert parameter.tolist() == [2.0, 2.0, 2.0]
    assert parameter.is_leaf
    assert not parameter.stop_gradient


def test_defaults_of_layers():
    for layer, limit, std in [
        (nn.Linear(300, 200), 0.1095445, 0.0632),
        (nn.Embedding(300, 200), 0.1095445, 0.0632),
        (nn.Conv2D(32, 64, 5), None, 0.05),
        (nn.Conv2D(32, 64, 5, groups=2), None, 0.05),
        (nn.Conv1D(32, 64, 5), None, 0.1118),
        (nn.Conv2DTranspose(32, 64, 5), 0.05, 0.0289),
    ]:
        numbers = layer.weight.numpy()
        assert numbers.std() == pytest.approx(std, rel=0.03)
        assert limit is None or np.abs(numbers).max() <= limit * 1.000001
        if getattr(layer, "bias", None) is not None:
            assert np.abs(layer.bias.numpy()).sum() == 0
    assert nn.Embedding(4, 3, padding_idx=-1).weight.numpy()[-1].tolist() == [0.0, 0.0, 0.0]


def test_param_attr():
    attr = paddle.ParamAttr(name="w", initializer=init.Constant(3.0), learning_rate=0.5, trainable=False)
    layer = nn.Linear(2, 2, weight_attr=attr, bias_attr=False)
    assert layer.weight.name == "w"
    assert layer.weight.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert layer.weight.optimize_attr == {"learning_rate": 0.5}
    assert layer.weight.stop_gradient
    assert layer.bias is None
    assert nn.Linear(2, 2, weight_attr="named").weight.name == "named"
    assert nn.Linear(2, 2, weight_attr=init.Constant(1.0)).weight.tolist() == [
        [1.0, 1.0],
        [1.0, 1.0],
    ]
    assert paddle.create_parameter([2], "float32", name="own").name == "own"
    plain = paddle.create_parameter([2], "float32")
    assert (plain.regularizer, plain.need_clip, plain.persistable) == (None, True, True)
    with pytest.raises(TypeError, match="ParamAttr"):
        nn.Linear(2, 2, weight_attr=3)
    with pytest.raises(TypeError, match="initializer"):
        paddle.ParamAttr(initializer=3)
    with pytest.raises(ValueError, match="negative"):
        paddle.create_parameter([-1], "float32")


def test_global_initializer():
    init.set_global_initializer(init.Constant(2.0), init.Constant(0.5))
    try:
        layer = nn.Linear(1, 1)
        assert (layer.weight.item(), layer.bias.item()) == (2.0, 0.5)
        assert nn.Linear(1, 1, weight_attr=init.Constant(7.0)).weight.item() == 7.0
    finally:
        init.set_global_initializer(None)
    assert nn.Linear(1, 1).bias.item() == 0.0


def test_gains():
    for name, gain in [("sigmoid", 1), ("tanh", 5 / 3), ("relu", math.sqrt(2)), ("selu", 0.75)]:
        assert init.calculate_gain(name) == pytest.approx(gain)
    assert init.calculate_gain("leaky_relu", 0.2) == pytest.approx(math.sqrt(2 / 1.04))
    with pytest.raises(ValueError, match="nonlinearity"):
        init.calculate_gain("x")


@pytest.mark.parametrize(
    "make",
    [
        lambda: init.Uniform(1.0, 0.0),
        lambda: init.TruncatedNormal(a=1.0, b=0.0),
        lambda: init.KaimingNormal(mode="x"),
        lambda: made(init.Orthogonal(), (3,)),
        lambda: made(init.Dirac(), (3,)),
    ],
)
def test_bad_arguments(make):
    with pytest.raises(ValueError):
        make()
