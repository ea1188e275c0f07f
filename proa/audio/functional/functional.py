"""Mel scale, filter banks, cosine transform and decibels.

What depends on plain numbers alone is computed on the host in double precision and rounded once to the type asked for.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from ...core.dtype import is_floating, to_numpy_dtype
from ...core.errors import type_error, value_error
from ...eager.annotations import Number
from ...eager.tensor import Tensor, tensor_from_data
from ...ops.math.extremes import maximum
from ...ops.math.ternary import clip, where
from ...ops.math.unary import exp, log, log10

# Slaney's scale: linear up to 1000 Hz (mel 15), then 27 steps for a factor of 6.4.
_LINEAR_STEP = 200.0 / 3
_EDGE_HZ = 1000.0
_EDGE_MEL = _EDGE_HZ / _LINEAR_STEP
_LOG_STEP = math.log(6.4) / 27.0


def _result(values: Any, dtype: Any, where_: str) -> Tensor:
    wanted = to_numpy_dtype(dtype)
    if not is_floating(wanted):
        raise type_error(where_, "dtype must be a floating type", f"dtype: {dtype}")
    return tensor_from_data(np.ascontiguousarray(values).astype(wanted))


def _to_mel(freq: np.ndarray, htk: bool) -> np.ndarray:
    if htk:
        return 2595.0 * np.log10(1.0 + freq / 700.0)
    above = _EDGE_MEL + np.log(np.maximum(freq, _EDGE_HZ) / _EDGE_HZ) / _LOG_STEP
    return np.where(freq >= _EDGE_HZ, above, freq / _LINEAR_STEP)


def _to_hz(mel: np.ndarray, htk: bool) -> np.ndarray:
    with np.errstate(over="ignore"):
        if htk:
            return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)
        above = _EDGE_HZ * np.exp(_LOG_STEP * (np.maximum(mel, _EDGE_MEL) - _EDGE_MEL))
    return np.where(mel >= _EDGE_MEL, above, mel * _LINEAR_STEP)


def hz_to_mel(freq: Number, htk: bool = False) -> Any:
    """Frequencies in Hz as mels.

    Args:
        freq: a number or a tensor.
        htk: whether HTK's scale is used; otherwise Slaney's.

    Returns:
        A number for a number, a tensor for a tensor.

    Examples:
        >>> paddle.audio.functional.hz_to_mel(440.0)
        6.6
        >>> print(paddle.audio.functional.hz_to_mel(paddle.to_tensor([0.0, 1000.0])).numpy().round(3))
        [ 0. 15.]
    """
    if isinstance(freq, Tensor):
        if htk:
            return log10(freq / 700.0 + 1.0) * 2595.0
        # Both branches are computed: the logarithm must not see what is below the edge.
        above = log(clip(freq, min=_EDGE_HZ) / _EDGE_HZ) / _LOG_STEP + _EDGE_MEL
        return where(freq >= _EDGE_HZ, above, freq / _LINEAR_STEP)
    mel = _to_mel(np.asarray(freq, np.float64), htk)
    return float(mel) if mel.ndim == 0 else mel


def mel_to_hz(mel: Number, htk: bool = False) -> Any:
    """Mels as frequencies in Hz: the inverse of `hz_to_mel`.

    Args:
        mel: a number or a tensor.
        htk: whether HTK's scale is used; otherwise Slaney's.

    Returns:
        A number for a number, a tensor for a tensor.

    Examples:
        >>> round(paddle.audio.functional.mel_to_hz(15.0), 3)
        1000.0
    """
    if isinstance(mel, Tensor):
        if htk:
            return (exp(mel * (math.log(10.0) / 2595.0)) - 1.0) * 700.0
        above = exp((clip(mel, min=_EDGE_MEL) - _EDGE_MEL) * _LOG_STEP) * _EDGE_HZ
        return where(mel >= _EDGE_MEL, above, mel * _LINEAR_STEP)
    freq = _to_hz(np.asarray(mel, np.float64), htk)
    return float(freq) if freq.ndim == 0 else freq


def _mel_frequencies(n_mels: int, f_min: float, f_max: float, htk: bool) -> np.ndarray:
    ends = _to_mel(np.array([f_min, f_max], np.float64), htk)
    return _to_hz(np.linspace(ends[0], ends[1], n_mels), htk)


def mel_frequencies(
    n_mels: int = 64, f_min: float = 0.0, f_max: float = 11025.0, htk: bool = False, dtype: str = "float32"
) -> Tensor:
    """Frequencies that are evenly apart in mels.

    Args:
        n_mels: how many.
        f_min: the lowest, in Hz.
        f_max: the highest.
        htk: whether HTK's scale is used; otherwise Slaney's.
        dtype: that of the result.

    Returns:
        A tensor of frequencies in Hz.

    Examples:
        >>> print(paddle.audio.functional.mel_frequencies(4, 0.0, 1000.0).numpy().round(1))
        [   0.   333.3  666.7 1000. ]
    """
    return _result(_mel_frequencies(n_mels, f_min, f_max, htk), dtype, "mel_frequencies")


def fft_frequencies(sr: int, n_fft: int, dtype: str = "float32") -> Tensor:
    """The frequencies of the results of a Fourier transform of real samples.

    Args:
        sr: samples a second.
        n_fft: the points of the transform.
        dtype: that of the result.

    Returns:
        A tensor of `1 + n_fft // 2` frequencies in Hz.

    Examples:
        >>> paddle.audio.functional.fft_frequencies(8000, 8).tolist()
        [0.0, 1000.0, 2000.0, 3000.0, 4000.0]
    """
    return _result(np.linspace(0.0, float(sr) / 2, 1 + n_fft // 2), dtype, "fft_frequencies")


def compute_fbank_matrix(
    sr: int,
    n_fft: int,
    n_mels: int = 64,
    f_min: float = 0.0,
    f_max: float | None = None,
    htk: bool = False,
    norm: Literal["slaney"] | float = "slaney",
    dtype: str = "float32",
) -> Tensor:
    """Triangular filters that are evenly apart in mels.

    Args:
        sr: samples a second.
        n_fft: the points of the Fourier transform.
        n_mels: how many filters.
        f_min: the lowest frequency.
        f_max: the highest; None for half of `sr`.
        htk: whether HTK's mels are used; otherwise Slaney's.
        norm: "slaney" for filters of equal areas, a number for rows with this norm 1, or None.
        dtype: that of the result.

    Returns:
        A tensor `[n_mels, 1 + n_fft // 2]`.

    Examples:
        >>> filters = paddle.audio.functional.compute_fbank_matrix(sr=8000, n_fft=64, n_mels=4, norm=None)
        >>> filters.shape, (filters >= 0).all().item()
        (paddle.Size([4, 33]), True)
    """
    where_ = "compute_fbank_matrix"
    top = float(sr) / 2 if f_max is None else f_max
    if not 0 <= f_min < top:
        raise value_error(where_, "f_min must be below f_max", f"f_min: {f_min}, f_max: {top}")
    if norm is not None and norm != "slaney" and not isinstance(norm, (int, float)):
        raise value_error(where_, "norm must be 'slaney', a number or None", f"norm: {norm!r}")
    bins = np.linspace(0.0, float(sr) / 2, 1 + n_fft // 2)
    edges = _mel_frequencies(n_mels + 2, f_min, top, htk)
    slopes = edges[:, None] - bins[None, :]
    widths = np.diff(edges)
    rising = -slopes[:-2] / widths[:-1, None]
    falling = slopes[2:] / widths[1:, None]
    filters = np.maximum(0.0, np.minimum(rising, falling))
    if norm == "slaney":
        filters *= (2.0 / (edges[2:] - edges[:-2]))[:, None]
    elif norm is not None:
        lengths = np.linalg.norm(filters, ord=float(norm), axis=1, keepdims=True)
        filters /= np.maximum(lengths, 1e-12)
    return _result(filters, dtype, where_)


def power_to_db(spect: Tensor, ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = 80.0) -> Tensor:
    """Powers in decibels: `10 log10(spect / ref_value)`.

    Args:
        spect: the powers.
        ref_value: what counts as 0 decibels.
        amin: what powers are at least.
        top_db: how far below the largest values go; None for any.

    Returns:
        A tensor of the shape of `spect`.

    Examples:
        >>> print(paddle.audio.functional.power_to_db(paddle.to_tensor([1.0, 0.1, 1e-20])).numpy().round(3))
        [  0. -10. -80.]
    """
    where_ = "power_to_db"
    if not isinstance(spect, Tensor):
        raise type_error(where_, "spect must be a Tensor", f"spect: {type(spect).__name__}")
    if amin <= 0:
        raise value_error(where_, "amin must be positive", f"amin: {amin}")
    reference = float(ref_value)
    if reference <= 0:
        raise value_error(where_, "ref_value must be positive", f"ref_value: {ref_value}")
    if top_db is not None and top_db < 0:
        raise value_error(where_, "top_db must not be negative", f"top_db: {top_db}")
    decibels = log10(clip(spect, min=amin)) * 10.0 - 10.0 * math.log10(max(reference, amin))
    return decibels if top_db is None else maximum(decibels, decibels.max() - top_db)


def create_dct(n_mfcc: int, n_mels: int, norm: str | None = "ortho", dtype: str = "float32") -> Tensor:
    """The cosine transform (type 2) from mel values to coefficients.

    Args:
        n_mfcc: how many coefficients.
        n_mels: how many values.
        norm: "ortho" for an orthonormal transform, or None.
        dtype: that of the result.

    Returns:
        A tensor `[n_mels, n_mfcc]`.

    Examples:
        >>> dct = paddle.audio.functional.create_dct(2, 4)
        >>> print((dct.T @ dct).numpy().round(3))
        [[1. 0.]
         [0. 1.]]
    """
    where_ = "create_dct"
    if norm not in ("ortho", None):
        raise value_error(where_, "norm must be 'ortho' or None", f"norm: {norm!r}")
    places = (np.arange(n_mels) + 0.5) * (math.pi / n_mels)
    matrix = np.cos(places[:, None] * np.arange(n_mfcc)[None, :])
    if norm is None:
        matrix *= 2.0
    else:
        matrix *= math.sqrt(2.0 / n_mels)
        matrix[:, 0] *= math.sqrt(0.5)
    return _result(matrix, dtype, where_)
