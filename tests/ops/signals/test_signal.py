"""`paddle.signal` beyond its samples: reconstruction, SciPy, the covering of a window, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.signal

import proa as paddle

SIGNAL = np.random.default_rng(3).standard_normal((2, 64)).astype("float32")
WINDOW = np.hanning(18)[1:-1].astype("float32")


@pytest.mark.parametrize("options", [{}, {"hop_length": 5}, {"normalized": True}, {"onesided": False}])
def test_there_and_back(options: dict[str, Any]) -> None:
    window = paddle.to_tensor(WINDOW)
    for _ in range(4):  # cold and compiled
        spectrum = paddle.signal.stft(paddle.to_tensor(SIGNAL), 16, window=window, **options)
        again = paddle.signal.istft(spectrum, 16, window=window, length=60, **options)
    np.testing.assert_allclose(again.numpy(), SIGNAL[:, :60], atol=1e-5)


def test_stft_is_scipys() -> None:
    transform = scipy.signal.ShortTimeFFT(WINDOW, hop=4, fs=1.0, mfft=16, fft_mode="onesided")
    expected = transform.stft(SIGNAL[0], p0=2, p1=15)
    found = paddle.signal.stft(paddle.to_tensor(SIGNAL[0]), 16, 4, window=paddle.to_tensor(WINDOW), center=False)
    # SciPy turns phases to the middle of a window.
    np.testing.assert_allclose(np.abs(found.numpy()), np.abs(expected), atol=1e-4)


def test_methods_and_dtypes() -> None:
    x = paddle.to_tensor(SIGNAL)
    assert x.stft(16).dtype == paddle.complex64
    assert x.astype("float64").stft(16).dtype == paddle.complex128
    assert x.stft(16, window=paddle.ones([16], "float64")).dtype == paddle.complex128
    assert x[0].stft(16).shape == [9, 17]
    assert x.stft(16).istft(16).shape == [2, 64]
    assert (
        paddle.signal.stft(x, 16, onesided=False).istft(16, onesided=False, return_complex=True).dtype
        == paddle.complex64
    )


def test_a_complex_window_needs_all_frequencies() -> None:
    x, window = paddle.to_tensor(SIGNAL), paddle.ones([16], "complex64")
    assert paddle.signal.stft(x, 16, window=window).shape == [2, 16, 17]
    with pytest.raises(ValueError, match="onesided must be False"):
        paddle.signal.stft(x, 16, window=window, onesided=True)


def test_a_window_with_gaps_is_refused() -> None:
    spectrum = paddle.signal.stft(paddle.to_tensor(SIGNAL), 16)
    with pytest.raises(ValueError, match=r"\(istft\) the squares of the window"):
        paddle.signal.istft(spectrum, 16, window=paddle.zeros([16])).numpy()


def test_frame_and_overlap_add_are_each_others_gradient() -> None:
    x = paddle.to_tensor(SIGNAL)
    x.stop_gradient = False
    weights = np.random.default_rng(0).standard_normal((2, 6, 15)).astype("float32")
    frames = paddle.signal.frame(x, 6, 4)
    (gradient,) = paddle.grad((frames * paddle.to_tensor(weights)).sum(), x)
    joined = paddle.signal.overlap_add(paddle.to_tensor(weights), 4).numpy()
    np.testing.assert_allclose(gradient.numpy()[:, :62], joined, rtol=1e-5)
    assert not gradient.numpy()[:, 62:].any()


def test_many_overlaps_compiled() -> None:
    """More frames over one place than are added one by one: the scattering form."""
    pieces = np.random.default_rng(1).standard_normal((80, 5)).astype("float32")
    expected = np.zeros(84, "float32")
    for t in range(5):
        expected[t : t + 80] += pieces[:, t]
    for _ in range(4):
        found = paddle.signal.overlap_add(paddle.to_tensor(pieces), 1).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: paddle.signal.stft(x[None], 16), "one or two dimensions"),
        (lambda x: paddle.signal.stft(x, 65), "longer than the signal"),
        (lambda x: paddle.signal.stft(x, 0), "n_fft must be positive"),
        (lambda x: paddle.signal.stft(x, 2), "hop_length must be positive"),
        (lambda x: paddle.signal.stft(x, 16, 0), "hop_length must be positive"),
        (lambda x: paddle.signal.stft(x, 16, win_length=17), "from 1 to n_fft"),
        (lambda x: paddle.signal.stft(x, 16, window=paddle.ones([4])), r"shape \[16\]"),
        (lambda x: paddle.signal.stft(x, 16, pad_mode="wrap"), "'reflect' or 'constant'"),
        (lambda x: paddle.signal.istft(x, 16), "9 frequencies"),
        (lambda x: paddle.signal.istft(x.stft(16), 16, hop_length=17), "at most win_length"),
        (lambda x: paddle.signal.istft(x.stft(16), 16, return_complex=True), "onesided"),
        (lambda x: paddle.signal.istft(x.stft(16), 16, length=0), "nothing is left"),
        (lambda x: paddle.signal.istft(x.stft(16)[:0], 16), "not be empty"),
        (lambda x: paddle.signal.frame(x, 65, 1), "longer than the signal"),
        (lambda x: paddle.signal.frame(x, 0, 1), "frame_length must be a positive integer"),
        (lambda x: paddle.signal.frame(x, 4, 1, 1), "axis is 0 or -1"),
        (lambda x: paddle.signal.overlap_add(x[0], 1), "two dimensions"),
        (lambda x: paddle.signal.overlap_add(x, 3), "longer than a frame"),
    ],
)
def test_errors(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call(paddle.to_tensor(SIGNAL))
