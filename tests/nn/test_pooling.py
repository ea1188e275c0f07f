"""Pooling: ties, masks, rounding of sizes as in Paddle, adaptive windows, errors."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle

F, nn = paddle.nn.functional, paddle.nn


def grid(*shape):
    return paddle.arange(float(np.prod(shape))).astype("float32").reshape([1, 1, *shape])


def test_the_gradient_of_equal_maxima_goes_to_the_first():
    """Paddle 3.3.1's own pattern; on both tiers."""
    for mode in ("immediate", "auto", "auto", "auto"):
        paddle.set_flags({"FLAGS_eager_mode": mode})
        try:
            x = paddle.ones([1, 1, 4, 4])
            x.stop_gradient = False
            F.max_pool2d(x, 2).sum().backward()
            expected = [[1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]]
            assert x.grad[0, 0].tolist() == expected
            x.clear_grad()
            F.max_pool2d(x, 3, 1).sum().backward()
            expected = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
            assert x.grad[0, 0].tolist() == expected
        finally:
            paddle.set_flags({"FLAGS_eager_mode": "auto"})


def test_overlapping_windows_add_up():
    x = grid(5, 5)
    x.stop_gradient = False
    F.max_pool2d(x, 3, 1, padding=1).sum().backward()
    brute = np.zeros((7, 7))
    padded = np.pad(x[0, 0].numpy(), 1, constant_values=-np.inf)
    for i in range(5):
        for j in range(5):
            window = padded[i : i + 3, j : j + 3]
            a, b = np.unravel_index(window.argmax(), (3, 3))
            brute[i + a, j + b] += 1
    assert x.grad[0, 0].tolist() == brute[1:-1, 1:-1].tolist()


def test_mask():
    x = paddle.to_tensor(np.random.RandomState(0).randn(1, 1, 7, 7).astype("float32"))
    values, mask = F.max_pool2d(x, 3, 2, 1, return_mask=True)
    np.testing.assert_array_equal(values.numpy(), F.max_pool2d(x, 3, 2, 1).numpy())
    # Observed in Paddle 3.3.1.
    assert mask.numpy().ravel()[:9].tolist() == [0, 3, 3, 6, 22, 24, 24, 12, 28]
    assert mask.dtype == paddle.int32
    np.testing.assert_array_equal(x.numpy().ravel()[mask.numpy()], values.numpy())
    x.stop_gradient = False
    F.max_pool2d(x, 3, 2, 1, return_mask=True)[0].sum().backward()
    through_mask = x.grad.numpy()
    x.clear_grad()
    F.max_pool2d(x, 3, 2, 1).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), through_mask)
    values, mask = F.max_pool3d(grid(4, 4, 4)[None, 0], 2, return_mask=True)
    assert mask.numpy().ravel().tolist() == [21, 23, 29, 31, 53, 55, 61, 63]


def test_sizes_are_rounded_as_in_paddle():
    x = paddle.ones([1, 1, 7, 7])
    for options, size in [
        ({"kernel_size": 2}, 3),
        ({"kernel_size": 3, "stride": 2, "padding": 1}, 4),
        ({"kernel_size": 2, "ceil_mode": True}, 4),
        ({"kernel_size": 2, "padding": "SAME"}, 4),
        ({"kernel_size": 9}, 1),
    ]:
        for function in (F.max_pool2d, F.avg_pool2d):
            out = function(x, **options)
            assert out.shape == [1, 1, size, size]
            np.testing.assert_allclose(out.numpy(), 1.0)


def test_averages_over_padding_are_paddles():
    x = paddle.ones([1, 1, 5, 5])

    def mean(**options):
        return np.round(F.avg_pool2d(x, **options).numpy()[0, 0].astype(float), 4).tolist()

    assert mean(kernel_size=3, padding=1, exclusive=False) == [[0.4444, 0.6667], [0.6667, 1.0]]
    assert mean(kernel_size=3, padding=1) == [[1.0, 1.0], [1.0, 1.0]]
    assert mean(kernel_size=2, ceil_mode=True, exclusive=False) == [[1.0] * 3] * 3
    assert mean(kernel_size=2, divisor_override=3) == [[1.3333, 1.3333], [1.3333, 1.3333]]
    assert mean(kernel_size=3, stride=2, padding=[1, 0, 1, 0], exclusive=False) == [
        [0.4444, 0.6667],
        [0.6667, 1.0],
    ]
    assert mean(kernel_size=2, stride=3, padding=1, ceil_mode=True, exclusive=False)[0] == [
        0.25,
        0.5,
        0.0,
    ]


def test_adaptive():
    x = grid(7, 7)
    means = F.adaptive_avg_pool2d(x, 3).numpy().ravel()
    np.testing.assert_allclose(means, [8, 10, 12, 22, 24, 26, 36, 38, 40], rtol=1e-6)
    assert F.adaptive_avg_pool2d(x, [3, None]).shape == [1, 1, 3, 7]
    assert F.adaptive_max_pool2d(x, [3, 2]).numpy().ravel().tolist() == [17, 20, 31, 34, 45, 48]
    values, mask = F.adaptive_max_pool2d(x, [3, 2], return_mask=True)
    np.testing.assert_array_equal(values.numpy(), mask.numpy())  # the grid holds its own positions
    bigger = F.adaptive_avg_pool2d(grid(2, 2), 3)
    assert bigger.numpy().ravel().tolist() == [0, 0.5, 1, 1, 1.5, 2, 2, 2.5, 3]
    np.testing.assert_allclose(F.adaptive_avg_pool2d(x, 1).numpy().ravel(), [x.numpy().mean()], rtol=1e-6)


def test_not_a_number_wins():
    x = paddle.to_tensor([[[[1.0, float("nan")], [3.0, 2.0]]]])
    for _ in range(4):
        assert np.isnan(F.max_pool2d(x, 2).item())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types(dtype):
    x = paddle.to_tensor(np.random.default_rng(0).standard_normal((1, 2, 6, 6)).astype("float32"))
    for _ in range(4):
        for function in (F.max_pool2d, F.avg_pool2d):
            half = x.astype(dtype)
            half.stop_gradient = False
            out = function(half, 3, 2)
            assert out.dtype == dtype
            expected = function(x, 3, 2).numpy()
            np.testing.assert_allclose(out.astype("float32").numpy(), expected, atol=0.02)
            out.sum().backward()
            assert half.grad.dtype == dtype


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.max_pool2d(x, 0),
        lambda x: F.max_pool2d(x, 2, 0),
        lambda x: F.max_pool2d(x, 2, data_format="X"),
        lambda x: F.max_pool2d(x, 2, padding="VALID", ceil_mode=True),
        lambda x: F.max_pool2d(x, 12, stride=2),
        lambda x: F.max_pool2d(x, [2, 2, 2]),
        lambda x: F.max_pool2d(x[0], 2),
        lambda x: F.max_pool2d(x, 2, return_mask=True, data_format="NHWC"),
        lambda x: F.max_pool2d(x, 2, padding=2, return_mask=True),
        lambda x: F.avg_pool2d(x, 2, divisor_override=0),
        lambda x: F.adaptive_avg_pool2d(x, 0),
        lambda x: F.adaptive_avg_pool2d(x, [1, 2, 3]),
        lambda x: F.adaptive_max_pool2d(x[0], 1),
    ],
)
def test_bad_arguments(call):
    with pytest.raises(ValueError, match=r"\(.*pool"):
        call(paddle.ones([1, 1, 7, 7]))


def test_bad_types():
    with pytest.raises(TypeError, match="floating"):
        F.max_pool2d(paddle.ones([1, 1, 4, 4], dtype="int32"), 2)
    with pytest.raises(TypeError, match="floating"):
        F.adaptive_avg_pool2d(paddle.ones([1, 1, 4, 4], dtype="int32"), 2)
    with pytest.raises(TypeError, match="output_size"):
        F.adaptive_avg_pool2d(paddle.ones([1, 1, 4, 4]), "a")


def test_layers_call_the_functions():
    x = paddle.to_tensor(np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype("float32"))
    for layer, expected in [
        (nn.MaxPool2D(3, 2, 1), F.max_pool2d(x, 3, 2, 1)),
        (nn.AvgPool2D(2, exclusive=False), F.avg_pool2d(x, 2, exclusive=False)),
        (nn.AdaptiveAvgPool2D(3), F.adaptive_avg_pool2d(x, 3)),
        (nn.AdaptiveMaxPool2D(3), F.adaptive_max_pool2d(x, 3)),
        (nn.MaxPool2D(2, data_format="NHWC"), F.max_pool2d(x, 2, data_format="NHWC")),
    ]:
        np.testing.assert_array_equal(layer(x).numpy(), expected.numpy())
    row = x.reshape([2, 3, 64])
    assert nn.MaxPool1D(2)(row).shape == nn.AvgPool1D(2)(row).shape == [2, 3, 32]
    assert nn.AdaptiveAvgPool1D(5)(row).shape == nn.AdaptiveMaxPool1D(5)(row).shape == [2, 3, 5]
    cube = x.reshape([2, 3, 4, 4, 4])
    assert nn.MaxPool3D(2)(cube).shape == nn.AvgPool3D(2)(cube).shape == [2, 3, 2, 2, 2]
    assert nn.AdaptiveAvgPool3D(3)(cube).shape == nn.AdaptiveMaxPool3D(3)(cube).shape == [2, 3, 3, 3, 3]
