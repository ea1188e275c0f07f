"""WAV files of whole numbers (PCM), by Python's `wave`."""

from __future__ import annotations

import os
import wave
from typing import Any

import numpy as np

from ...core.errors import message, value_error
from ...eager.tensor import Tensor
from .arguments import check_range, frames_of, loaded
from .backend import AudioInfo


def _open(where: str, filepath: Any) -> wave.Wave_read:
    try:
        return wave.open(os.fspath(filepath) if isinstance(filepath, os.PathLike) else filepath, "rb")
    except (wave.Error, EOFError) as error:
        raise NotImplementedError(
            message(
                where, f"this is not a WAV file of whole numbers ({error or 'too short'})", f"filepath: {filepath!r}",
                "install soundfile and call set_backend('soundfile') for other formats",
            )
        ) from None  # fmt: skip


def info(filepath: Any) -> AudioInfo:
    with _open("info", filepath) as file:
        return AudioInfo(
            file.getframerate(), file.getnframes(), file.getnchannels(), file.getsampwidth() * 8,
            "PCM_U" if file.getsampwidth() == 1 else "PCM_S",
        )  # fmt: skip


def load(
    filepath: Any, frame_offset: int = 0, num_frames: int = -1, normalize: bool = True, channels_first: bool = True
) -> tuple[Tensor, int]:
    check_range(frame_offset, num_frames)
    with _open("load", filepath) as file:
        channels, width, total = file.getnchannels(), file.getsampwidth(), file.getnframes()
        start = min(frame_offset, total)
        count = total - start if num_frames == -1 else min(num_frames, total - start)
        file.setpos(start)
        content = file.readframes(count)
        rate = file.getframerate()
    if len(content) != count * channels * width:
        raise value_error(
            "load",
            f"the file is damaged: its header promises {total} frames, but it ends before",
            f"filepath: {filepath!r}",
        )
    frames = _whole_numbers(content, width).reshape(count, channels)
    values = frames.astype(np.float64) / 2.0 ** (8 * width - 1) if normalize else frames
    return loaded(values.astype(np.float32), channels_first), rate


def _whole_numbers(content: bytes, width: int) -> np.ndarray:
    """Signed numbers from samples of 8 (which are stored without a sign), 16, 24 or 32 bits."""
    if width == 1:
        return np.frombuffer(content, np.uint8).astype(np.int32) - 128
    if width == 3:
        parts = np.frombuffer(content, np.uint8).reshape(-1, 3).astype(np.int32)
        values = parts[:, 0] | parts[:, 1] << 8 | parts[:, 2] << 16
        return np.where(values >= 1 << 23, values - (1 << 24), values)
    return np.frombuffer(content, f"<i{width}")


def save(
    filepath: str,
    src: Tensor,
    sample_rate: int,
    channels_first: bool = True,
    encoding: str | None = None,
    bits_per_sample: int | None = 16,
) -> None:
    if bits_per_sample not in (None, 16):
        raise value_error("save", "this backend writes 16 bits a sample", f"bits_per_sample: {bits_per_sample}")
    if encoding not in (None, "PCM_16", "PCM_S"):
        raise value_error("save", "this backend writes the encoding 'PCM_16' alone", f"encoding: {encoding!r}")
    frames = frames_of(src, sample_rate, channels_first)
    if frames.dtype != np.int16:
        if not np.isfinite(frames).all():
            raise value_error("save", "src holds NaN or infinity")
        frames = np.clip(np.trunc(frames.astype(np.float64) * 32768.0), -32768, 32767).astype(np.int16)
    target = os.path.abspath(os.fspath(filepath))
    # Under another name until it is whole: a failure must not destroy a file that was there.
    partial = f"{target}.partial{os.getpid()}"
    try:
        with wave.open(partial, "wb") as file:
            file.setnchannels(frames.shape[1])
            file.setsampwidth(2)
            file.setframerate(int(sample_rate))
            file.writeframes(np.ascontiguousarray(frames).astype("<i2").tobytes())
        os.replace(partial, target)
    finally:
        if os.path.exists(partial):
            os.unlink(partial)
