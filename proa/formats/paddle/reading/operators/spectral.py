"""Fourier transforms and frames of signals."""

from __future__ import annotations

from .....eager.tensor import Tensor
from ..functions import PublicFunctions, fft
from ..registry import reads

signal = PublicFunctions("signal")


@reads("fft_c2c")
def fft_c2c(x: Tensor, *, axes: list[int], normalization: str = "backward", forward: bool = True) -> Tensor:
    return (fft.fftn if forward else fft.ifftn)(x, None, list(axes), normalization)


@reads("fft_r2c")
def fft_r2c(
    x: Tensor, *, axes: list[int], normalization: str = "backward", forward: bool = True, onesided: bool = True
) -> Tensor:
    if onesided:
        return (fft.rfftn if forward else fft.ihfftn)(x, None, list(axes), normalization)
    return (fft.fftn if forward else fft.ifftn)(x, None, list(axes), normalization)


@reads("fft_c2r")
def fft_c2r(
    x: Tensor, *, axes: list[int], normalization: str = "backward", forward: bool = False, last_dim_size: int = 0
) -> Tensor:
    sizes = None
    if last_dim_size:
        sizes = [x._aval.shape[axis] for axis in axes]
        sizes[-1] = last_dim_size
    return (fft.hfftn if forward else fft.irfftn)(x, sizes, list(axes), normalization)


@reads("frame")
def frame(x: Tensor, *, frame_length: int, hop_length: int, axis: int = -1) -> Tensor:
    return signal.frame(x, frame_length, hop_length, axis)


@reads("overlap_add")
def overlap_add(x: Tensor, *, hop_length: int, axis: int = -1) -> Tensor:
    return signal.overlap_add(x, hop_length, axis)


@reads("stft")
def stft(
    x: Tensor, window: Tensor, *, n_fft: int, hop_length: int, normalized: bool = False, onesided: bool = True
) -> Tensor:
    # Padding was done before, by an operation of its own.
    return signal.stft(x, n_fft, hop_length, n_fft, window, center=False, normalized=normalized, onesided=onesided)
