"""Spectral layers against SciPy's transform and plain NumPy; gradients against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.signal

import proa as paddle

features = paddle.audio.features


def spectrum(signal: np.ndarray, n_fft: int, hop: int, window: Any, center: bool = True, mode: str = "reflect") -> Any:
    """Frames of a padded signal, windowed and transformed."""
    weights = scipy.signal.get_window(window, n_fft)
    padded = np.pad(signal, [(0, 0), (n_fft // 2, n_fft // 2)], mode=mode) if center else signal  # type: ignore[call-overload]
    starts = range(0, padded.shape[1] - n_fft + 1, hop)
    return np.stack([np.fft.rfft(padded[:, s : s + n_fft] * weights) for s in starts], -1)


@pytest.fixture
def wave() -> np.ndarray:
    return np.random.RandomState(0).randn(2, 2000)


@pytest.mark.parametrize("power", [1.0, 2.0, 0.5])
@pytest.mark.parametrize(("center", "mode"), [(True, "reflect"), (True, "constant"), (False, "reflect")])
def test_spectrogram(wave: np.ndarray, power: float, center: bool, mode: str) -> None:
    layer = features.Spectrogram(256, 100, None, ("gaussian", 30), power, center, mode, "float64")
    wanted = np.abs(spectrum(wave, 256, 100, ("gaussian", 30), center, mode)) ** power
    for _ in range(4):  # cold, then compiled
        result = layer(paddle.to_tensor(wave))
    np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(layer(paddle.to_tensor(wave[1])).numpy(), wanted[1], rtol=1e-9, atol=1e-9)


def mel(wave: np.ndarray, **settings: Any) -> np.ndarray:
    powers = np.abs(spectrum(wave, 256, 64, "hann")) ** 2
    filters = paddle.audio.functional.compute_fbank_matrix(
        16000, 256, 64, 50.0, 8000.0, dtype="float64", **settings
    ).numpy()
    return filters @ powers


def test_mel_log_mel_and_mfcc(wave: np.ndarray) -> None:
    signal, wanted = paddle.to_tensor(wave), mel(wave)
    result = features.MelSpectrogram(16000, 256, 64, dtype="float64")(signal)
    np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-9, atol=1e-12)
    with_floor = 10 * np.log10(np.maximum(wanted, 1e-10))
    logarithms = features.LogMelSpectrogram(16000, 256, dtype="float64")(signal)
    np.testing.assert_allclose(logarithms.numpy(), with_floor, rtol=1e-8, atol=1e-8)
    limited = features.LogMelSpectrogram(16000, 256, top_db=20.0, dtype="float64")(signal)
    np.testing.assert_allclose(limited.numpy(), np.maximum(with_floor, with_floor.max() - 20), rtol=1e-8, atol=1e-8)
    coefficients = features.MFCC(16000, 13, 256, dtype="float64")(signal)
    np.testing.assert_allclose(
        coefficients.numpy(), scipy.fft.dct(with_floor, axis=1, norm="ortho")[:, :13], rtol=1e-8, atol=1e-8
    )
    assert features.MFCC(16000, 13, 256)(paddle.to_tensor(wave[0].astype("float32"))).shape == [13, 32]


def test_observed_statistics(wave: np.ndarray) -> None:
    """Mean and deviation that PaddlePaddle 3.3.1 gave for the same signal in float32."""
    signal = paddle.to_tensor(wave.astype("float32"))
    cases = [
        (features.Spectrogram(), 11.863051, 7.020628),
        (features.Spectrogram(256, 100, 200, "hamming", 2.0, False), 76.456444, 75.342957),
        (features.MelSpectrogram(16000, 256, 64), 1.4964052, 1.3168675),
        (features.LogMelSpectrogram(), 5.2069578, 3.4955039),
        (features.MFCC(), 0.60733116, 7.7739191),
    ]
    for layer, mean, deviation in cases:
        result = layer(signal)
        assert result.dtype == paddle.float32
        assert float(result.mean()) == pytest.approx(mean, rel=1e-5)
        assert float(result.std()) == pytest.approx(deviation, rel=1e-5)


@pytest.mark.parametrize("kind", ["Spectrogram", "MelSpectrogram", "LogMelSpectrogram", "MFCC"])
def test_gradients_reach_the_samples(kind: str) -> None:
    settings: dict[str, Any] = {"n_fft": 32, "hop_length": 8, "dtype": "float64"}
    if kind != "Spectrogram":
        settings |= {"sr": 8000, "n_mels": 8}
    if kind == "MFCC":
        settings["n_mfcc"] = 4
    layer = getattr(features, kind)(**settings)
    random = np.random.default_rng(1)
    wave, direction = random.normal(size=(1, 80)), random.normal(size=(1, 80))
    weights = paddle.to_tensor(random.normal(size=layer(paddle.to_tensor(wave)).shape))

    def value(samples: np.ndarray) -> float:
        return float((layer(paddle.to_tensor(samples)) * weights).sum())

    signal = paddle.to_tensor(wave, stop_gradient=False)
    (layer(signal) * weights).sum().backward()
    step = 1e-6
    difference = (value(wave + step * direction) - value(wave - step * direction)) / (2 * step)
    assert float((signal.grad.numpy() * direction).sum()) == pytest.approx(difference, rel=1e-5)


def test_buffers_are_saved() -> None:
    layer = features.MFCC()
    assert list(layer.state_dict()) == [
        "dct_matrix",
        "_log_melspectrogram._melspectrogram.fbank_matrix",
        "_log_melspectrogram._melspectrogram._spectrogram.fft_window",
    ]
    assert list(layer.parameters()) == []


def test_wrong_settings_and_signals(wave: np.ndarray) -> None:
    for make, words in (
        (lambda: features.Spectrogram(0), "n_fft and hop_length must be positive"),
        (lambda: features.Spectrogram(hop_length=0), "n_fft and hop_length must be positive"),
        (lambda: features.Spectrogram(win_length=1000), "win_length not longer than n_fft"),
        (lambda: features.Spectrogram(power=0.0), "power must be positive"),
        (lambda: features.MelSpectrogram(f_min=200.0, f_max=100.0), "f_min must be below f_max"),
        (lambda: features.MFCC(n_mfcc=80), "n_mfcc must not be larger than n_mels"),
        (lambda: features.Spectrogram()(paddle.to_tensor(wave[:, :100])), "n_fft is longer than the signal"),
        (lambda: features.Spectrogram()(paddle.to_tensor(wave[None])), "one or two dimensions"),
    ):
        with pytest.raises(ValueError, match=words):
            make()
