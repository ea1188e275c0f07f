"""Blocks of GGUF tensors as floats.

The arithmetic of each kind is that of the `gguf` package, ggml's own description of its formats in NumPy (0.2 to 0.7
thousand million elements a second and core). It works on whole tensors, at three times their size in memory; here it is
given a few rows at a time, on all cores, and what it gives is cast at once.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...core.errors import value_error
from .kinds import Kind

_ELEMENTS_AT_ONCE = 2**17  # what a core works on fits into its cache


def dequantise(blocks: np.ndarray, kind: Kind, dtype: np.dtype) -> np.ndarray:
    """The numbers that rows of blocks ([..., bytes of a row], uint8) stand for."""
    shape = (*blocks.shape[:-1], blocks.shape[-1] // kind.num_bytes * kind.elements)
    if kind.dtype is not None:
        return blocks.view(kind.dtype).reshape(shape).astype(dtype)
    convert = _converter(kind)
    flat = blocks.reshape(-1, kind.num_bytes)
    result = np.empty((len(flat), kind.elements), dtype)
    step = max(1, _ELEMENTS_AT_ONCE // kind.elements)

    def piece(start: int) -> None:
        # Scales may be infinite or no numbers; what comes of it stands in the result.
        with np.errstate(all="ignore"):
            result[start : start + step] = convert(flat[start : start + step])

    starts = range(0, len(flat), step)
    if len(starts) < 2:
        for start in starts:
            piece(start)
    else:
        with ThreadPoolExecutor(min(len(starts), os.cpu_count() or 1)) as threads:
            for _ in threads.map(piece, starts):
                pass
    return result.reshape(shape)


def _converter(kind: Kind) -> Any:
    if kind.name == "Q8_K":
        return _q8_k
    try:
        import gguf
    except ImportError as error:
        raise ImportError(
            f"(GGUF) tensors of the kind {kind} are dequantised by the gguf package, which is not installed; "
            "pip install 'proa[llm]'."
        ) from error
    number = gguf.GGMLQuantizationType(kind.number)
    try:
        gguf.dequantize(np.zeros((1, kind.num_bytes), np.uint8), number)
    except NotImplementedError:
        raise value_error(
            "GGUF", f"tensors of the kind {kind} cannot be dequantised", "", "take a file of another quantisation"
        ) from None
    # As one row: of many short ones it would take sixteen at a time.
    return lambda blocks: gguf.dequantize(blocks.reshape(1, -1), number).reshape(-1, kind.elements)


def _q8_k(blocks: np.ndarray) -> np.ndarray:
    """A float scale, 256 bytes, and their sums by sixteen, which are for products alone."""
    scale = np.ascontiguousarray(blocks[:, :4]).view("<f4")
    return scale * blocks[:, 4:260].view(np.int8).astype(np.float32)
