"""Windows against SciPy, scales and filters against their formulae, and values seen from PaddlePaddle 3.3.1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.signal

import proa as paddle

F = paddle.audio.functional

WINDOWS: list[Any] = [
    "bartlett", "blackman", "bohman", "cosine", "hamming", "hann", "nuttall", "taylor", "triang", "tukey",
    ("gaussian", 2.5), ("general_gaussian", 1.5, 7), ("exponential", None, 3.0), ("kaiser", 8.0), ("tukey", 0.3),
    ("tukey", 0.0), ("tukey", 1.0), ("general_hamming", 0.6), ("general_cosine", [0.4, 0.5, 0.1]), ("taylor", 5, 40.0),
]  # fmt: skip


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("periodic", [True, False])
def test_windows(window: Any, periodic: bool) -> None:
    for length in (1, 2, 7, 8, 64):
        wanted = scipy.signal.get_window(window, length, periodic)
        result = F.get_window(window, length, fftbins=periodic)
        assert result.dtype == paddle.float64
        np.testing.assert_allclose(result.numpy(), wanted, atol=1e-12)
    assert F.get_window(window, 0).shape == [0]
    assert F.get_window(window, 8, dtype="float32").dtype == paddle.float32


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("boxcar", 8), ValueError, "window must be one of bartlett, blackman"),
        ((3, 8), ValueError, "window must be one of"),
        (((), 8), ValueError, "window must be one of"),
        (("gaussian", 8), ValueError, r"needs 1 parameter\(s\).*give them in a tuple"),
        ((("hann", 2.0), 8), ValueError, "give its name alone"),
        ((("taylor", 2.5), 8), ValueError, "nbar must be an integer"),
        ((("general_cosine", 2.5), 8), ValueError, "cannot take these parameters"),
        ((("exponential", 2.0), 8, False), ValueError, "centre in the middle"),
        (("hann", -1), ValueError, "not negative"),
        (("hann", 8.5), ValueError, "win_length must be an integer"),
        (("hann", 8, True, "int32"), TypeError, "floating type"),
    ],
)
def test_windows_that_are_refused(arguments: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        F.get_window(*arguments)


def test_mel_scales() -> None:
    assert F.hz_to_mel(440.0) == pytest.approx(6.6)
    assert F.hz_to_mel(3000) == pytest.approx(30.979401986)
    assert F.hz_to_mel(440, htk=True) == pytest.approx(2595 * math.log10(1 + 440 / 700))
    assert F.mel_to_hz(15.0) == pytest.approx(1000.0)
    frequencies = np.array([0.0, 440.0, 999.0, 1000.0, 4000.0, 11025.0])
    for htk in (False, True):
        mels = F.hz_to_mel(paddle.to_tensor(frequencies), htk)
        np.testing.assert_allclose(mels.numpy(), [F.hz_to_mel(float(value), htk) for value in frequencies], rtol=1e-12)
        np.testing.assert_allclose(F.mel_to_hz(mels, htk).numpy(), frequencies, rtol=1e-10, atol=1e-9)
        np.testing.assert_allclose(F.mel_to_hz(mels.numpy(), htk), frequencies, rtol=1e-10, atol=1e-9)
    assert isinstance(F.hz_to_mel(440.0), float)
    np.testing.assert_allclose(
        F.mel_frequencies(5, 100.0, 4000.0).numpy(), [100, 661.0627, 1257.4335, 2242.707, 4000], rtol=1e-6
    )
    np.testing.assert_allclose(
        F.mel_frequencies(5, 100.0, 4000.0, True, "float64").numpy(),
        [100.0, 545.49490339, 1239.07194297, 2318.88027784, 4000.0],
    )
    np.testing.assert_allclose(F.fft_frequencies(16000, 9).numpy(), [0, 2000, 4000, 6000, 8000])


def test_gradient_of_the_mel_scale() -> None:
    frequencies = paddle.to_tensor(np.array([10.0, 3000.0]), stop_gradient=False)
    F.hz_to_mel(frequencies).sum().backward()
    np.testing.assert_allclose(frequencies.grad.numpy(), [3 / 200, 27 / (3000 * math.log(6.4))])


@pytest.mark.parametrize("htk", [False, True])
def test_filters(htk: bool) -> None:
    sr, n_fft, n_mels = 16000, 512, 20
    plain = F.compute_fbank_matrix(sr, n_fft, n_mels, 100.0, 7000.0, htk, None, "float64").numpy()
    edges = F.mel_frequencies(n_mels + 2, 100.0, 7000.0, htk, "float64").numpy()
    bins = np.fft.rfftfreq(n_fft, 1 / sr)
    for row in range(n_mels):
        np.testing.assert_allclose(plain[row], np.interp(bins, edges[row : row + 3], [0, 1, 0]), atol=1e-12)
    equal = F.compute_fbank_matrix(sr, n_fft, n_mels, 100.0, 7000.0, htk, dtype="float64").numpy()
    np.testing.assert_allclose(equal, plain * (2 / (edges[2:] - edges[:-2]))[:, None])
    for norm in (1, 2.0, math.inf):
        rows = F.compute_fbank_matrix(sr, n_fft, n_mels, 100.0, 7000.0, htk, norm, "float64").numpy()
        np.testing.assert_allclose(np.linalg.norm(rows, norm, axis=1), 1.0)
    observed = F.compute_fbank_matrix(16000, 32, 4).numpy()
    np.testing.assert_allclose(observed[1, 2:5], [0.00073521, 0.00088615, 0.00033586], rtol=2e-5)
    assert observed.shape == (4, 17)
    with pytest.raises(ValueError, match="f_min must be below f_max"):
        F.compute_fbank_matrix(sr, n_fft, f_min=9000.0)
    with pytest.raises(ValueError, match="norm must be"):
        F.compute_fbank_matrix(sr, n_fft, norm="area")


def test_cosine_transform() -> None:
    signal = np.random.default_rng(0).random((3, 8))
    for norm in ("ortho", None):
        matrix = F.create_dct(5, 8, norm, "float64").numpy()
        wanted = scipy.fft.dct(signal, norm="ortho" if norm else "backward")[:, :5]
        np.testing.assert_allclose(signal @ matrix, wanted)
    with pytest.raises(ValueError, match="norm must be 'ortho' or None"):
        F.create_dct(5, 8, "backward")


def test_decibels() -> None:
    powers = paddle.to_tensor([1e-12, 1.0, 5.0, 1e3])
    np.testing.assert_allclose(F.power_to_db(powers).numpy(), [-50.0, 0.0, 6.9897003, 30.0], atol=1e-5)
    np.testing.assert_allclose(F.power_to_db(powers, 2.0).numpy(), [-53.0103, -3.0103, 3.9794004, 26.9897], atol=1e-5)
    np.testing.assert_allclose(F.power_to_db(powers, 1.0, 1e-3, None).numpy(), [-30.0, 0.0, 6.9897003, 30.0], atol=1e-5)
    np.testing.assert_allclose(F.power_to_db(powers, top_db=20.0).numpy(), [10.0, 10.0, 10.0, 30.0], atol=1e-5)
    for settings in ({"amin": 0.0}, {"ref_value": 0.0}, {"top_db": -1.0}):
        with pytest.raises(ValueError, match=rf"\(power_to_db\) {next(iter(settings))}"):
            F.power_to_db(powers, **settings)
    with pytest.raises(TypeError, match="spect must be a Tensor"):
        F.power_to_db(powers.numpy())
