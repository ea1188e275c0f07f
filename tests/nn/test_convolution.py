"""Convolution: against SciPy and by definition, on both tiers, gradients, errors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import signal

import proa as paddle

F, nn = paddle.nn.functional, paddle.nn


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def tensor(array, grad=False):
    return paddle.to_tensor(array, stop_gradient=not grad)


def scipy_conv(x, w, groups=1):
    per_group, per_filter = w.shape[1], w.shape[0] // groups
    return np.array(
        [
            [
                sum(
                    signal.correlate(sample[o // per_filter * per_group + c], w[o, c], "valid")
                    for c in range(per_group)
                )
                for o in range(w.shape[0])
            ]
            for sample in x
        ]
    )


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_against_scipy(dimensions, groups):
    x = random(2, 4, *(6,) * dimensions)
    w = random(6, 4 // groups, *(3,) * dimensions, seed=1)
    function = getattr(F, f"conv{dimensions}d")
    expected = scipy_conv(x, w, groups)
    for _ in range(5):  # cold and compiled
        got = function(tensor(x), tensor(w), groups=groups).numpy()
        np.testing.assert_allclose(got, expected, rtol=1e-9)


def every_window():
    for stride, padding, dilation, groups, last in itertools.product(
        (1, 2), (0, 1, [0, 1, 2, 1]), (1, 2), (1, 2), (False, True)
    ):
        yield {
            "stride": stride, "padding": padding, "dilation": dilation, "groups": groups,
            "data_format": "NHWC" if last else "NCHW",
        }  # fmt: skip


@pytest.mark.parametrize("window", every_window(), ids=str)
def test_tiers_and_gradients_agree(window):
    """NumPy and XLA kernels give the same result and gradients, and the gradients are right."""
    last = window["data_format"] == "NHWC"
    x = random(2, 7, 6, 4) if last else random(2, 4, 7, 6)
    w, b = random(4, 4 // window["groups"], 3, 2, seed=1), random(4, seed=2)
    seed = None
    for mode in ("immediate", "auto", "auto", "auto", "auto"):
        paddle.set_flags({"FLAGS_eager_mode": mode})
        try:
            tensors = [tensor(a, grad=True) for a in (x, w, b)]
            out = F.conv2d(*tensors, **window)
            if seed is None:
                seed = random(*out.shape, seed=3)
            (out * tensor(seed)).sum().backward()
            found = [out.numpy(), *(t.grad.numpy() for t in tensors)]
        finally:
            paddle.set_flags({"FLAGS_eager_mode": "auto"})
        if mode == "immediate":
            expected = found
        for got, want in zip(found, expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11)
    for position, array in enumerate((x, w, b)):
        direction = random(*array.shape, seed=4)
        values = []
        for sign in (1e-6, -1e-6):
            moved = [x, w, b]
            moved[position] = array + sign * direction
            values.append((F.conv2d(*map(tensor, moved), **window).numpy() * seed).sum())
        slope = (values[0] - values[1]) / 2e-6
        assert (expected[1 + position] * direction).sum() == pytest.approx(slope, rel=1e-6)


def test_paddings_as_users_write_them():
    """Shapes and corner values that Paddle 3.3.1 gave for ones."""
    x, w = paddle.ones([1, 3, 8, 8]), paddle.ones([4, 3, 3, 3])
    for padding, shape, first in [
        (1, [1, 4, 8, 8], 12.0),
        ([1, 2], [1, 4, 8, 10], 6.0),
        ([1, 2, 3, 4], [1, 4, 9, 13], 0.0),
        ([[0, 0], [0, 0], [1, 2], [3, 4]], [1, 4, 9, 13], 0.0),
        ("SAME", [1, 4, 8, 8], 12.0),
        ("same", [1, 4, 8, 8], 12.0),
        ("VALID", [1, 4, 6, 6], 27.0),
    ]:
        out = F.conv2d(x, w, padding=padding)
        assert (out.shape, out[0, 0, 0, 0].item()) == (shape, first)
    strided = F.conv2d(x, w, padding="SAME", stride=2)
    assert strided[0, 0, 0].tolist() == [27.0, 27.0, 27.0, 18.0]
    dilated = F.conv2d(x, w, padding="SAME", dilation=2)  # Paddle's SAME ignores the dilation
    assert dilated[0, 0, 0].tolist() == [12.0, 18.0, 18.0, 18.0, 18.0, 18.0, 18.0, 12.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"padding": "FOO"}, "padding must be"),
        ({"padding": [1]}, "padding must be"),
        ({"padding": [1, 2, 3]}, "padding must be"),
        ({"padding": [[1, 2], [3, 4]]}, "padding must be"),
        ({"padding": [[1, 0], [0, 0], [1, 2], [3, 4]]}, "batch and channels"),
        ({"padding": -1}, "negative"),
        ({"padding": 1.5}, "padding must be"),
        ({"stride": 0}, "stride must be at least 1"),
        ({"stride": [1, 2, 3]}, "stride must have 2"),
        ({"dilation": 0}, "dilation must be at least 1"),
        ({"groups": 2}, "do not fit"),
        ({"groups": 0}, "groups must be"),
        ({"data_format": "NCWH"}, "data_format must be"),
        ({"weight": [4, 3, 9, 9]}, "does not fit into"),
        ({"weight": [4, 2, 3, 3]}, "3 input channels do not fit"),
        ({"weight": [4, 3, 3]}, "4 dimensions"),
        ({"x": [3, 8, 8]}, "x must have 4 dimensions"),
        ({"bias": [3]}, r"bias must have the shape \[4\]"),
    ],
)
def test_bad_shapes(arguments, message):
    shapes = {"x": [1, 3, 8, 8], "weight": [4, 3, 3, 3]}
    options = {}
    for name, value in arguments.items():
        if name in ("x", "weight", "bias"):
            shapes[name] = value
        else:
            options[name] = value
    tensors = {name: paddle.ones(shape) for name, shape in shapes.items()}
    with pytest.raises(ValueError, match=message):
        F.conv2d(**tensors, **options)


def test_bad_types():
    x, w = paddle.ones([1, 3, 8, 8]), paddle.ones([4, 3, 3, 3])
    with pytest.raises(TypeError, match="floating"):
        F.conv2d(x.astype("int32"), w.astype("int32"))
    with pytest.raises(TypeError, match="different data types"):
        F.conv2d(x.astype("float64"), w)
    with pytest.raises(ValueError, match="x must be a Tensor"):
        F.conv2d([[1.0]], w)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types(dtype):
    x, w = random(1, 2, 5, 5), random(3, 2, 3, 3, seed=1)
    expected = F.conv2d(tensor(x), tensor(w)).numpy()
    for _ in range(4):
        out = F.conv2d(tensor(x).astype(dtype), tensor(w).astype(dtype))
        assert out.dtype == dtype
        np.testing.assert_allclose(out.astype("float64").numpy(), expected, atol=0.1)


def test_empty_batch_trains():
    layer = nn.Conv2D(3, 2, 3)
    layer(paddle.zeros([0, 3, 5, 5])).sum().backward()
    assert np.abs(layer.weight.grad.numpy()).sum() == 0


def test_transposed_sizes():
    """Sizes that Paddle 3.3.1 gave."""
    x, w = paddle.ones([1, 4, 5, 5]), paddle.ones([4, 3, 3, 3])
    for options, shape in [
        ({}, [1, 3, 7, 7]),
        ({"stride": 2, "padding": 1, "output_padding": 1}, [1, 3, 10, 10]),
        ({"stride": 2, "padding": 1, "output_size": [10, 10]}, [1, 3, 10, 10]),
        ({"stride": 2, "padding": "SAME"}, [1, 3, 9, 9]),
        ({"groups": 2}, [1, 6, 7, 7]),
        ({"dilation": 2}, [1, 3, 9, 9]),
        ({"padding": [0, 1, 2, 0]}, [1, 3, 6, 5]),
    ]:
        assert F.conv2d_transpose(x, w, **options).shape == shape
    for options, message in [
        ({"stride": 2, "padding": 1, "output_size": [20, 10]}, "output_size must be 9 to 10"),
        ({"stride": 2, "output_padding": 2}, "output_padding must be less"),
        ({"output_padding": 1, "output_size": [7, 7]}, "not both"),
        ({"padding": 9}, "less padding"),
    ]:
        with pytest.raises(ValueError, match=message):
            F.conv2d_transpose(x, w, **options)


def test_layers_call_the_functions():
    x = tensor(random(2, 4, 6, 6).astype("float32"))
    for layer, function, options in [
        (nn.Conv2D(4, 6, 3, stride=2, padding=1, groups=2), F.conv2d,
         {"stride": 2, "padding": 1, "groups": 2}),
        (nn.Conv2D(4, 6, 3, padding="SAME"), F.conv2d, {"padding": "SAME"}),
        (nn.Conv2DTranspose(4, 6, 3, stride=2), F.conv2d_transpose, {"stride": 2}),
    ]:  # fmt: skip
        expected = function(x, layer.weight, layer.bias, **options)
        np.testing.assert_allclose(layer(x).numpy(), expected.numpy(), rtol=1e-6)
    last = nn.Conv2D(4, 6, 3, data_format="NHWC")
    first = nn.Conv2D(4, 6, 3)
    first.set_state_dict(last.state_dict())
    got = last(x.transpose([0, 2, 3, 1])).transpose([0, 3, 1, 2]).numpy()
    np.testing.assert_allclose(got, first(x).numpy(), rtol=2e-5, atol=1e-6)
    assert nn.Conv2D(4, 6, 3, bias_attr=False).bias is None
    assert nn.Conv2DTranspose(4, 6, 3, stride=2)(x, output_size=[14, 14]).shape == [2, 6, 14, 14]
    wrapped = nn.Conv2D(4, 6, 3, padding=1, padding_mode="circular")
    padded = np.pad(x.numpy(), ((0, 0), (0, 0), (1, 1), (1, 1)), mode="wrap")
    expected = F.conv2d(tensor(padded), wrapped.weight, wrapped.bias).numpy()
    np.testing.assert_allclose(wrapped(x).numpy(), expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Conv2D(3, 4, 3, groups=2),
        lambda: nn.Conv2D(4, 3, 3, groups=2),
        lambda: nn.Conv2D(0, 3, 3),
        lambda: nn.Conv2D(3, 4, 3, padding_mode="foo"),
        lambda: nn.Conv2D(3, 4, [3, 3, 3]),
        lambda: nn.Conv2D(3, 4, 3, data_format="NCL"),
        lambda: nn.Conv2D(3, 4, 3)(paddle.ones([3, 8, 8])),
    ],
)
def test_bad_layers(make):
    with pytest.raises(ValueError):
        make()
