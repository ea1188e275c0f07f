"""Fourier transforms, windows and mel filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import fft, paddle
from ..registry import reads
from ..tensors import DTYPES, dtype_name
from ..translation import array_of

if TYPE_CHECKING:
    from ....formats.paddle.reading.registry import Integer, Raw


def _complex(x: Tensor) -> Tensor:
    """The last axis holds the real part, or real and imaginary part."""
    if x._aval.shape[-1] == 1:
        return paddle.complex(x[..., 0], paddle.zeros_like(x[..., 0]))
    return paddle.complex(x[..., 0], x[..., 1])


@reads("DFT")
def dft(
    x: Tensor, length: Integer | None = None, place: Integer | None = None, *, axis: Any = None, inverse: int = 0,
    onesided: int = 0, opset: int = 20,
) -> Tensor:  # fmt: skip
    along = (place if place is not None else axis if axis is not None else (1 if opset < 20 else -2)) % x.ndim
    if inverse and onesided:
        signal = fft.irfft(_complex(x), length, along)
        return signal.unsqueeze(-1).astype(x.dtype)
    if inverse:
        made = fft.ifft(_complex(x), length, along)
    else:
        made = fft.fft(_complex(x), length, along)
        if onesided:
            made = paddle.slice(made, [along], [0], [made._aval.shape[along] // 2 + 1])
    return paddle.stack([paddle.real(made), paddle.imag(made)], -1).astype(x.dtype)


@reads("STFT")
def stft(
    signal: Tensor, step: Integer, window: Tensor | None = None, length: Integer | None = None, *, onesided: int = 1
) -> Tensor:
    size = length if length is not None else window._aval.shape[0]  # type: ignore[union-attr]
    samples = signal._aval.shape[1]
    count = (samples - size) // step + 1
    places = paddle.arange(count, dtype="int64").unsqueeze(1) * step + paddle.arange(size, dtype="int64").unsqueeze(0)
    flat = paddle.index_select(signal, places.reshape([-1]), 1)
    frames = flat.reshape([signal._aval.shape[0], count, size, signal._aval.shape[-1]])
    if window is not None:
        frames = frames * window.reshape([1, 1, -1, 1])
    made = fft.fft(_complex(frames), None, -1)
    if onesided:
        made = made[..., : size // 2 + 1]
    return paddle.stack([paddle.real(made), paddle.imag(made)], -1).astype(signal.dtype)


def _window(size: int, periodic: int, factors: list[float], number: int) -> Tensor:
    steps = np.arange(size) * (2 * np.pi / (size if periodic else size - 1))
    made = sum(factor * np.cos(n * steps) for n, factor in enumerate(factors))
    return paddle.to_tensor(np.asarray(made).astype(DTYPES[number]))


@reads("HannWindow")
def hann(size: Integer, *, periodic: int = 1, output_datatype: int = 1) -> Tensor:
    return _window(size, periodic, [0.5, -0.5], output_datatype)


@reads("HammingWindow")
def hamming(size: Integer, *, periodic: int = 1, output_datatype: int = 1) -> Tensor:
    return _window(size, periodic, [25 / 46, -21 / 46], output_datatype)


@reads("BlackmanWindow")
def blackman(size: Integer, *, periodic: int = 1, output_datatype: int = 1) -> Tensor:
    return _window(size, periodic, [0.42, -0.5, 0.08], output_datatype)


@reads("MelWeightMatrix")
def mel_weights(bins: Raw, length: Raw, rate: Raw, low: Raw, high: Raw, *, output_datatype: int = 1) -> Tensor:
    """Triangles over the spectrum whose corners are equally far apart on the mel scale."""
    count, points, samples, first, last = (
        float(np.asarray(array_of(part, "a mel filter")).reshape(-1)[0]) for part in (bins, length, rate, low, high)
    )
    filters = int(count)
    lowest, highest = (2595 * np.log10(1 + edge / 700) for edge in (first, last))
    step = (highest - lowest) / (filters + 2)
    hertz = 700 * (10 ** ((np.arange(filters + 2) * step + lowest) / 2595) - 1)
    corners = ((points + 1) * hertz // samples).astype(int)
    matrix = np.zeros((int(points) // 2 + 1, filters))
    rows = np.arange(len(matrix))
    for column in range(filters):
        left, middle, right = corners[column : column + 3]
        if middle == left:
            matrix[middle, column] = 1
        else:
            rising = (rows >= left) & (rows <= middle)
            matrix[rising, column] = (rows[rising] - left) / (middle - left)
        if right > middle:
            falling = (rows >= middle) & (rows < right)
            matrix[falling, column] = (right - rows[falling]) / (right - middle)
    return paddle.to_tensor(matrix.astype(np.float32)).astype(dtype_name(output_datatype))
