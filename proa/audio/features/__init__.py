"""`paddle.audio.features`: spectral features as layers."""

from __future__ import annotations

from .layers import MFCC, LogMelSpectrogram, MelSpectrogram, Spectrogram

__all__ = ["LogMelSpectrogram", "MFCC", "MelSpectrogram", "Spectrogram"]
