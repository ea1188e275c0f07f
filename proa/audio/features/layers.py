"""Layers from samples [length] or [batch, length] to features [(batch,) features, frames]; gradients flow to the samples.

Windows and matrices are buffers, so they are part of `state_dict` and move with the layer.
"""

from __future__ import annotations

from typing import Literal

from ...core.errors import failed_check, value_error
from ...eager.tensor import Tensor
from ...nn.layer import Layer
from ...ops.math.unary import abs as magnitude
from ...ops.transform.signal import stft
from ..functional import compute_fbank_matrix, create_dct, get_window, power_to_db


class Spectrogram(Layer):
    """Magnitudes of Fourier transforms of windowed pieces, to a power.

    Args:
        n_fft: the points of a piece.
        hop_length: from piece to piece; None for `win_length // 4`.
        win_length: the length of the window; None for `n_fft`.
        window: its name, or (name, parameters...).
        power: the exponent: 1 for magnitudes, 2 for powers.
        center: whether a piece's middle is at its place.
        pad_mode: how the signal is padded for that.
        dtype: that of the window.

    Examples:
        >>> layer = paddle.audio.features.Spectrogram(n_fft=64, hop_length=32)
        >>> layer(paddle.ones([1, 320])).shape
        paddle.Size([1, 33, 11])
    """

    def __init__(
        self,
        n_fft: int = 512,
        hop_length: int | None = 512,
        win_length: int | None = None,
        window: str | tuple[str, float] = "hann",
        power: float = 1.0,
        center: bool = True,
        pad_mode: str = "reflect",
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        where = type(self).__name__
        if power <= 0:
            raise failed_check(where, "power must be positive", f"power: {power}")
        length = n_fft if win_length is None else win_length
        hop = length // 4 if hop_length is None else hop_length
        if not 0 < length <= n_fft or hop <= 0:
            raise value_error(
                where, "n_fft and hop_length must be positive, and win_length not longer than n_fft",
                f"n_fft: {n_fft}, hop_length: {hop_length}, win_length: {win_length}",
            )  # fmt: skip
        self.power = power
        self._n_fft, self._hop_length, self._win_length = n_fft, hop, length
        self._center, self._pad_mode = center, pad_mode
        self.register_buffer("fft_window", get_window(window, length, fftbins=True, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        """The spectrogram of signals.

        Args:
            x: `[batch, samples]`.

        Returns:
            A tensor `[batch, n_fft // 2 + 1, frames]`.

        Examples:
            >>> paddle.audio.features.Spectrogram(n_fft=64, hop_length=32)(paddle.zeros([2, 320])).shape
            paddle.Size([2, 33, 11])
        """
        spectrum = stft(
            x, self._n_fft, self._hop_length, self._win_length, self.fft_window, self._center, self._pad_mode
        )
        magnitudes = magnitude(spectrum)
        return magnitudes if self.power == 1.0 else magnitudes**self.power


class MelSpectrogram(Layer):
    """A spectrogram summed by filters that are evenly apart in mels.

    Args:
        sr: samples a second.
        n_fft: the points of a piece.
        hop_length: from piece to piece.
        win_length: the length of the window; None for `n_fft`.
        window: its name, or (name, parameters...).
        power: the exponent of magnitudes.
        center: whether a piece's middle is at its place.
        pad_mode: how the signal is padded for that.
        n_mels: how many filters.
        f_min: the lowest frequency.
        f_max: the highest; None for half of `sr`.
        htk: whether HTK's mels are used; otherwise Slaney's.
        norm: "slaney" for filters of equal areas, a number for rows with this norm 1, or None.
        dtype: that of the filters.

    Examples:
        >>> layer = paddle.audio.features.MelSpectrogram(sr=8000, n_fft=256, hop_length=64, n_mels=8)
        >>> layer(paddle.ones([1, 640])).shape
        paddle.Size([1, 8, 11])
    """

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 2048,
        hop_length: int | None = 512,
        win_length: int | None = None,
        window: str | tuple[str, float] = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: Literal["slaney"] | float = "slaney",
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        self._spectrogram = Spectrogram(n_fft, hop_length, win_length, window, power, center, pad_mode, dtype)
        self.n_mels, self.f_min, self.htk, self.norm = n_mels, f_min, htk, norm
        self.f_max = sr // 2 if f_max is None else f_max
        filters = compute_fbank_matrix(sr, n_fft, n_mels, f_min, self.f_max, htk, norm, dtype)
        self.register_buffer("fbank_matrix", filters)

    def forward(self, x: Tensor) -> Tensor:
        """The mel spectrogram of signals.

        Args:
            x: `[batch, samples]`.

        Returns:
            A tensor `[batch, n_mels, frames]`.

        Examples:
            >>> layer = paddle.audio.features.MelSpectrogram(sr=8000, n_fft=256, hop_length=64, n_mels=8)
            >>> layer(paddle.zeros([2, 640])).shape
            paddle.Size([2, 8, 11])
        """
        return self.fbank_matrix @ self._spectrogram(x)


class LogMelSpectrogram(Layer):
    """A mel spectrogram in decibels.

    Args:
        sr: samples a second.
        n_fft: the points of a piece.
        hop_length: from piece to piece; None for `win_length // 4`.
        win_length: the length of the window; None for `n_fft`.
        window: its name, or (name, parameters...).
        power: the exponent of magnitudes.
        center: whether a piece's middle is at its place.
        pad_mode: how the signal is padded for that.
        n_mels: how many filters.
        f_min: the lowest frequency.
        f_max: the highest; None for half of `sr`.
        htk: whether HTK's mels are used; otherwise Slaney's.
        norm: "slaney" for filters of equal areas, a number for rows with this norm 1, or None.
        ref_value: what counts as 0 decibels.
        amin: what powers are at least.
        top_db: how far below the largest values go; None for any.
        dtype: that of the filters.

    Examples:
        >>> layer = paddle.audio.features.LogMelSpectrogram(sr=8000, n_fft=256, n_mels=8)
        >>> layer(paddle.zeros([1, 640])).max().round().item()  # silence: amin in decibels
        -100.0
    """

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: str | tuple[str, float] = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: Literal["slaney"] | float = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        self._melspectrogram = MelSpectrogram(
            sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm, dtype
        )
        self.ref_value, self.amin, self.top_db = ref_value, amin, top_db

    def forward(self, x: Tensor) -> Tensor:
        """The mel spectrogram of signals, in decibels.

        Args:
            x: `[batch, samples]`.

        Returns:
            A tensor `[batch, n_mels, frames]`.

        Examples:
            >>> layer = paddle.audio.features.LogMelSpectrogram(sr=8000, n_fft=256, n_mels=8)
            >>> layer(paddle.ones([1, 640])).shape
            paddle.Size([1, 8, 11])
        """
        return power_to_db(self._melspectrogram(x), self.ref_value, self.amin, self.top_db)


class MFCC(Layer):
    """Mel-frequency cepstral coefficients: the cosine transform of `LogMelSpectrogram`.

    Args:
        sr: samples a second.
        n_mfcc: how many coefficients; at most `n_mels`.
        n_fft: the points of a piece.
        hop_length: from piece to piece; None for `win_length // 4`.
        win_length: the length of the window; None for `n_fft`.
        window: its name, or (name, parameters...).
        power: the exponent of magnitudes.
        center: whether a piece's middle is at its place.
        pad_mode: how the signal is padded for that.
        n_mels: how many filters.
        f_min: the lowest frequency.
        f_max: the highest; None for half of `sr`.
        htk: whether HTK's mels are used; otherwise Slaney's.
        norm: "slaney" for filters of equal areas, a number for rows with this norm 1, or None.
        ref_value: what counts as 0 decibels.
        amin: what powers are at least.
        top_db: how far below the largest values go; None for any.
        dtype: that of the filters.

    Examples:
        >>> layer = paddle.audio.features.MFCC(sr=8000, n_mfcc=5, n_fft=256, n_mels=8)
        >>> layer(paddle.ones([1, 640])).shape
        paddle.Size([1, 5, 11])
    """

    def __init__(
        self,
        sr: int = 22050,
        n_mfcc: int = 40,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: str | tuple[str, float] = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: Literal["slaney"] | float = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        if not 0 < n_mfcc <= n_mels:
            raise failed_check("MFCC", "n_mfcc must not be larger than n_mels", f"n_mfcc: {n_mfcc}, n_mels: {n_mels}")
        self._log_melspectrogram = LogMelSpectrogram(
            sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm,
            ref_value, amin, top_db, dtype,
        )  # fmt: skip
        self.register_buffer("dct_matrix", create_dct(n_mfcc, n_mels, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        """The coefficients of signals.

        Args:
            x: `[batch, samples]`.

        Returns:
            A tensor `[batch, n_mfcc, frames]`.

        Examples:
            >>> layer = paddle.audio.features.MFCC(sr=8000, n_mfcc=5, n_fft=256, n_mels=8)
            >>> layer(paddle.zeros([2, 640])).shape
            paddle.Size([2, 5, 11])
        """
        return self.dct_matrix.t() @ self._log_melspectrogram(x)
