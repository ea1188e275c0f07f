"""The choice between backends, and the three functions that go through it."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from typing import Any

from ...core.errors import message
from ...eager.tensor import Tensor


@dataclass
class AudioInfo:
    """What a sound file says about itself.

    Args:
        sample_rate: samples a second.
        num_samples: how many each channel has.
        num_channels: how many channels.
        bits_per_sample: how many bits a sample has.
        encoding: how it is written, such as 'PCM_S'.

    Examples:
        >>> paddle.audio.backends.AudioInfo(16000, 32000, 1, 16, "PCM_S").num_samples
        32000
    """

    sample_rate: int
    num_samples: int
    num_channels: int
    bits_per_sample: int
    encoding: str


_current = "wave_backend"


def list_available_backends() -> list[str]:
    """The names that `set_backend` takes on this machine.

    Examples:
        >>> "wave_backend" in paddle.audio.backends.list_available_backends()
        True
    """
    found = ["soundfile"] if importlib.util.find_spec("soundfile") else []
    return [*found, "wave_backend"]


def get_current_backend() -> str:
    """The name of the backend in use.

    Examples:
        >>> paddle.audio.backends.get_current_backend()
        'wave_backend'
    """
    return _current


def set_backend(backend_name: str) -> None:
    """Chooses the backend for `load`, `save` and `info`.

    Args:
        backend_name: one of `list_available_backends()`.

    Raises:
        NotImplementedError: there is no such backend.

    Examples:
        >>> paddle.audio.backends.set_backend("wave_backend")
        >>> paddle.audio.backends.get_current_backend()
        'wave_backend'
    """
    global _current
    available = list_available_backends()
    if backend_name not in available:
        raise NotImplementedError(
            message(
                "set_backend", f"backend_name must be one of {', '.join(available)}", f"backend_name: {backend_name!r}",
                "'soundfile' needs the package soundfile",
            )
        )  # fmt: skip
    _current = backend_name


def _module() -> Any:
    from . import soundfile_backend, wave_backend

    return wave_backend if _current == "wave_backend" else soundfile_backend


def info(filepath: str | os.PathLike[str]) -> AudioInfo:
    """Rate, length, channels and encoding of a sound file.

    Args:
        filepath: a path or an open binary file.

    Returns:
        An `AudioInfo`.

    Examples:
        >>> paddle.audio.save("tone.wav", paddle.zeros([2, 800]), 8000)
        >>> about = paddle.audio.info("tone.wav")
        >>> about.sample_rate, about.num_samples, about.num_channels, about.bits_per_sample
        (8000, 800, 2, 16)
    """
    return _module().info(filepath)


def load(
    filepath: str | os.PathLike[str],
    frame_offset: int = 0,
    num_frames: int = -1,
    normalize: bool = True,
    channels_first: bool = True,
) -> tuple[Tensor, int]:
    """The samples of a sound file.

    Args:
        filepath: a path or an open binary file.
        frame_offset: where to begin.
        num_frames: how many frames; -1 for all.
        normalize: whether samples lie in [-1, 1); otherwise they are the whole numbers of the file.
        channels_first: whether samples are `[channels, frames]`; otherwise `[frames, channels]`.

    Returns:
        The samples as float32, and the sample rate.

    Examples:
        >>> paddle.audio.save("tone.wav", paddle.to_tensor([[0.0, 0.5, -0.5]]), 8000)
        >>> samples, rate = paddle.audio.load("tone.wav")
        >>> print(samples.numpy().round(3))
        [[ 0.   0.5 -0.5]]
        >>> rate
        8000
    """
    return _module().load(filepath, frame_offset, num_frames, normalize, channels_first)


def save(
    filepath: str,
    src: Tensor,
    sample_rate: int,
    channels_first: bool = True,
    encoding: str | None = None,
    bits_per_sample: int | None = 16,
) -> None:
    """Writes samples to a sound file.

    Args:
        filepath: the file.
        src: samples in [-1, 1], or whole numbers (int16); what is louder is clipped.
        sample_rate: samples a second.
        channels_first: whether samples are `[channels, frames]`; otherwise `[frames, channels]`.
        encoding: None, or 'PCM_16'.
        bits_per_sample: 16.

    Examples:
        >>> paddle.audio.save("tone.wav", paddle.to_tensor([[0.0, 2.0]]), 8000)
        >>> print(paddle.audio.load("tone.wav")[0].numpy().round(3))
        [[0. 1.]]
    """
    _module().save(filepath, src, sample_rate, channels_first, encoding, bits_per_sample)
