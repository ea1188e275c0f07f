"""Checks that all backends share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import failed_check, type_error, value_error
from ...eager.tensor import Tensor, tensor_from_data


def check_range(frame_offset: Any, num_frames: Any) -> None:
    for name, value, least in (("frame_offset", frame_offset, 0), ("num_frames", num_frames, -1)):
        if not isinstance(value, (int, np.integer)) or value < least:
            raise value_error("load", f"{name} must be an integer, at least {least}", f"{name}: {value!r}")


def frames_of(src: Any, sample_rate: Any, channels_first: bool) -> np.ndarray:
    """The samples of a Tensor as an array [frames, channels]."""
    if not isinstance(src, (Tensor, np.ndarray)):
        raise type_error("save", "src must be a Tensor", f"src: {type(src).__name__}")
    array = src.numpy() if isinstance(src, Tensor) else src
    if array.ndim != 2:
        raise failed_check(
            "save", "src must have two dimensions, channels and frames", f"src: {array.dtype}{list(array.shape)}"
        )
    if array.dtype != np.int16 and array.dtype.kind != "f":
        raise type_error("save", "src must be floats in [-1, 1] or int16", f"src: {array.dtype}{list(array.shape)}")
    if not isinstance(sample_rate, (int, np.integer)) or sample_rate <= 0:
        raise value_error("save", "sample_rate must be a positive integer", f"sample_rate: {sample_rate!r}")
    return array.T if channels_first else array


def loaded(frames: np.ndarray, channels_first: bool) -> Tensor:
    return tensor_from_data(np.ascontiguousarray(frames.T if channels_first else frames))
