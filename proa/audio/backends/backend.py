"""The choice between backends, and the three functions that go through it."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any

from ...core.errors import message
from ...eager.tensor import Tensor


@dataclass
class AudioInfo:
    """What a sound file says about itself."""

    sample_rate: int
    num_samples: int
    num_channels: int
    bits_per_sample: int
    encoding: str


_current = "wave_backend"


def list_available_backends() -> list[str]:
    """The names that `set_backend` takes on this machine."""
    found = ["soundfile"] if importlib.util.find_spec("soundfile") else []
    return [*found, "wave_backend"]


def get_current_backend() -> str:
    """The name of the backend in use."""
    return _current


def set_backend(backend_name: str) -> None:
    """Chooses the backend for `load`, `save` and `info`."""
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


def info(filepath: Any) -> AudioInfo:
    """Rate, length, channels and encoding of a sound file (a path or an open binary file)."""
    return _module().info(filepath)


def load(
    filepath: Any, frame_offset: int = 0, num_frames: int = -1, normalize: bool = True, channels_first: bool = True
) -> tuple[Tensor, int]:
    """(samples, sample rate): float32 in [-1, 1), or the whole numbers of the file as float32 without `normalize`.

    The samples are [channels, frames], or [frames, channels] without `channels_first`. `num_frames` frames from
    `frame_offset` on are read, -1 for all.
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
    """Writes samples in [-1, 1] (floats) or whole numbers (int16) to a sound file; what is louder is clipped."""
    _module().save(filepath, src, sample_rate, channels_first, encoding, bits_per_sample)
