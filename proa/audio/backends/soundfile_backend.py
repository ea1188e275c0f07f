"""Every format that the package soundfile reads and writes."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.tensor import Tensor
from .arguments import check_range, frames_of, loaded
from .backend import AudioInfo

_BITS = {
    "PCM_S8": 8,
    "PCM_U8": 8,
    "PCM_16": 16,
    "PCM_24": 24,
    "PCM_32": 32,
    "FLOAT": 32,
    "DOUBLE": 64,
    "ULAW": 8,
    "ALAW": 8,
}
_ENCODINGS = {"PCM_U8": "PCM_U", "FLOAT": "PCM_F", "DOUBLE": "PCM_F"}


def _wave_name(name: str) -> str:
    return _ENCODINGS.get(name, "PCM_S" if name.startswith("PCM") else name)


def info(filepath: Any) -> AudioInfo:
    import soundfile  # type: ignore[import-not-found]

    found = soundfile.info(filepath)
    bits = _BITS.get(found.subtype, 0)
    return AudioInfo(found.samplerate, found.frames, found.channels, bits, _wave_name(found.subtype))


def load(
    filepath: Any, frame_offset: int = 0, num_frames: int = -1, normalize: bool = True, channels_first: bool = True
) -> tuple[Tensor, int]:
    import soundfile  # type: ignore[import-not-found]

    check_range(frame_offset, num_frames)
    with soundfile.SoundFile(filepath, "r") as file:
        bits = _BITS.get(file.subtype, 0) if file.subtype.startswith("PCM") else 0
        file.seek(min(frame_offset, file.frames))
        frames = file.read(num_frames, dtype="float64" if bits == 32 else "float32", always_2d=True)
        rate = file.samplerate
    if not normalize and bits:
        frames = np.rint(frames.astype(np.float64) * 2.0 ** (bits - 1))
    return loaded(frames.astype(np.float32), channels_first), rate


def save(
    filepath: str,
    src: Tensor,
    sample_rate: int,
    channels_first: bool = True,
    encoding: str | None = None,
    bits_per_sample: int | None = 16,
) -> None:
    import soundfile  # type: ignore[import-not-found]

    subtypes = {8: "PCM_U8", 16: "PCM_16", 24: "PCM_24", 32: "PCM_32", None: None}
    if bits_per_sample not in subtypes:
        raise value_error("save", "bits_per_sample must be 8, 16, 24 or 32", f"bits_per_sample: {bits_per_sample}")
    subtype = subtypes[bits_per_sample] if encoding is None or encoding in ("PCM_S", "PCM_U") else encoding
    target = os.path.abspath(os.fspath(filepath))
    if not target.lower().endswith(".wav") and encoding is None:
        subtype = None  # the format's own
    frames = frames_of(src, sample_rate, channels_first)
    root, extension = os.path.splitext(target)
    partial = f"{root}.partial{os.getpid()}{extension}"
    try:
        soundfile.write(partial, frames, int(sample_rate), subtype=subtype)
        os.replace(partial, target)
    finally:
        if os.path.exists(partial):
            os.unlink(partial)
