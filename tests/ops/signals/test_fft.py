"""`paddle.fft` beyond its samples: norms, round trips, gradients of any order, edges and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle

RANDOM = np.random.default_rng(5)
REAL = RANDOM.standard_normal((3, 4, 5)).astype("float32")
COMPLEX = (REAL + 1j * RANDOM.standard_normal((3, 4, 5))).astype("complex64")
PAIRS = [("fft", "ifft", COMPLEX), ("rfft", "irfft", REAL), ("ihfft", "hfft", REAL)]


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize(("there", "back", "values"), PAIRS)
def test_one_axis_there_and_back(there: str, back: str, values: np.ndarray, norm: str) -> None:
    x = paddle.to_tensor(values)
    spectrum = getattr(paddle.fft, there)(x, norm=norm)
    again = getattr(paddle.fft, back)(spectrum, n=5, norm=norm)
    assert again.dtype == x.dtype
    np.testing.assert_allclose(again.numpy(), values, atol=1e-5)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize(("there", "back", "values"), PAIRS)
def test_many_axes_there_and_back(there: str, back: str, values: np.ndarray, norm: str) -> None:
    x = paddle.to_tensor(values)
    for suffix, s in (("2", (4, 5)), ("n", (3, 4, 5))):
        spectrum = getattr(paddle.fft, there + suffix)(x, norm=norm)
        again = getattr(paddle.fft, back + suffix)(spectrum, s=s, norm=norm)
        np.testing.assert_allclose(again.numpy(), values, atol=1e-5)


def test_precision_is_kept() -> None:
    single, double = paddle.to_tensor(REAL), paddle.to_tensor(REAL.astype("float64"))
    assert paddle.fft.fft(single).dtype == paddle.complex64
    assert paddle.fft.rfft(double).dtype == paddle.complex128
    assert paddle.fft.irfft(paddle.fft.rfft(double)).dtype == paddle.float64
    assert paddle.fft.irfft(single).dtype == paddle.float32
    assert paddle.fft.fft(paddle.arange(4)).dtype == paddle.complex64
    paddle.set_default_dtype("float64")
    try:
        assert paddle.fft.rfft(paddle.arange(4)).dtype == paddle.complex128
    finally:
        paddle.set_default_dtype("float32")


def test_values_seen_in_paddle() -> None:
    x = paddle.arange(4)
    np.testing.assert_allclose(paddle.fft.fft(x).numpy(), [6, -2 + 2j, -2, -2 - 2j])
    np.testing.assert_allclose(paddle.fft.ihfft(x).numpy(), [1.5, -0.5 - 0.5j, -0.5])
    assert paddle.fft.rfft(paddle.zeros([3, 0])).shape == [3, 1]
    assert paddle.fft.irfft(paddle.ones([3, 1])).shape == [3, 0]
    assert paddle.fft.fft(paddle.zeros([3, 0])).shape == [3, 0]
    np.testing.assert_allclose(paddle.fft.fftn(paddle.to_tensor(COMPLEX), axes=()).numpy(), COMPLEX)


@pytest.mark.parametrize("name", ["rfft", "irfft", "fft", "hfft2", "ihfftn"])
def test_third_order_gradients(name: str) -> None:
    """The gradient of |F(x)|^4 summed, three times, against differences of the second."""
    values = REAL[0].astype("float64")
    if name in ("irfft", "fft", "hfft2"):
        values = values + 1j * REAL[1]

    def second(array: np.ndarray) -> tuple[Any, Any]:
        x = paddle.to_tensor(array)
        x.stop_gradient = False
        power = getattr(paddle.fft, name)(x).abs() ** 2
        (first,) = paddle.grad((power * power).sum(), x, create_graph=True)
        size = first.abs() ** 2
        (again,) = paddle.grad(size.sum(), x, create_graph=True)
        return x, (again.abs() ** 2).sum()

    x, total = second(values)
    (third,) = paddle.grad(total, x)
    direction = np.random.default_rng(0).standard_normal(values.shape)
    step = 1e-5
    difference = (second(values + step * direction)[1] - second(values - step * direction)[1]) / (2 * step)
    assert float(np.sum(third.numpy().real * direction)) == pytest.approx(float(difference), rel=1e-4)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
@pytest.mark.parametrize("options", [(True, "one", True), (False, "whole", False)])
def test_the_form_for_gpus_gives_the_same(n: int, options: tuple[bool, str, bool]) -> None:
    from proa.ops.transform.fourier import fft_c2r

    forward, scale, halved = options
    values = COMPLEX[:, :, : n // 2 + 1].astype("complex128")
    if n == 8:
        values = np.concatenate([values, values[:, :, :1] + 1j], axis=2)[:, :, :5]
    operation = fft_c2r.operation
    arguments = (np, values, (1, 2), forward, scale, n, halved)
    np.testing.assert_allclose(operation.kernels["gpu"](*arguments), operation.kernel(*arguments), atol=1e-12)


def test_out_and_aliases() -> None:
    x, out = paddle.to_tensor(COMPLEX), paddle.zeros([3, 4, 5], "complex64")
    given = paddle.fft.fft(input=x, dim=1, out=out)
    assert given is out
    np.testing.assert_allclose(out.numpy(), np.fft.fft(COMPLEX, axis=1), atol=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: paddle.fft.fft(x, n=0), ValueError, r"\(fft\) n must be a positive integer; received n: 0"),
        (lambda x: paddle.fft.fft(x, n=2.0), ValueError, "n: 2.0"),
        (lambda x: paddle.fft.rfft(x, n=-3), ValueError, "n: -3"),
        (lambda x: paddle.fft.fft(x, axis=3), ValueError, "from -3 to 2"),
        (lambda x: paddle.fft.fft(x, axis=0.5), ValueError, "axis: 0.5"),
        (lambda x: paddle.fft.fft(x, norm="none"), ValueError, "'backward', 'ortho' or 'forward'"),
        (lambda x: paddle.fft.ifft(x, norm=None), ValueError, "norm: None"),
        (lambda x: paddle.fft.fftn(x, axes=(0, 0)), ValueError, "named twice"),
        (lambda x: paddle.fft.fftn(x, axes=1), ValueError, "list of integers"),
        (lambda x: paddle.fft.fftn(x, s=(2, 0)), ValueError, "positive integers"),
        (lambda x: paddle.fft.fftn(x, s=(2, 2), axes=(0,)), ValueError, "same length"),
        (lambda x: paddle.fft.fftn(x, s=(1, 2, 3, 4)), ValueError, "more sizes"),
        (lambda x: paddle.fft.rfftn(x, axes=()), ValueError, "at least one axis"),
        (lambda x: paddle.fft.fft2(x, s=(2,)), ValueError, "two integers"),
        (lambda x: paddle.fft.fft2(x[0, 0]), ValueError, "two dimensions"),
        (lambda x: paddle.fft.irfft(x[..., :0]), ValueError, "nothing to transform"),
        (lambda x: paddle.fft.rfft(x.astype("complex64")), TypeError, "must be real"),
        (lambda x: paddle.fft.fft(x > 0), TypeError, "convert it with astype"),
        (lambda x: paddle.fft.rfft(x.astype("float16")), TypeError, "float16"),
        (lambda x: paddle.fft.irfft(paddle.arange(3)), TypeError, "int64"),
        (lambda x: paddle.fft.fft([1.0, 2.0]), TypeError, "must be a Tensor"),
        (lambda x: paddle.fft.fft(x[0, 0, 0]), ValueError, "axis"),
        (lambda x: paddle.fft.fftfreq(0), ValueError, "n must be positive"),
        (lambda x: paddle.fft.fftfreq(4, 0.0), ValueError, "cannot be 0"),
        (lambda x: paddle.fft.rfftfreq(4, "a"), TypeError, "must be a number"),
        (lambda x: paddle.fft.rfftfreq(4, 1.0, "int32"), TypeError, "floating"),
        (lambda x: paddle.fft.fftshift(x, 3), ValueError, "out of range"),
    ],
)
def test_errors(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(paddle.to_tensor(REAL))
