"""Weights in panels of sixteen outputs, as `ops/quantised/blocks.py` describes them, from GGUF's blocks and from floats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...core.locks import new_lock
from ...ops.quantised.blocks import PANEL, rows_of

_HALF = np.dtype("<f2")


@dataclass(frozen=True)
class Packed:
    """A weight [outputs, inputs] in blocks, uint8 [panels, groups, bytes]; see `ops/quantised/blocks.py`."""

    blocks: np.ndarray
    inputs: int
    outputs: int
    bits: int
    zero: int
    half: bool
    has_minima: bool

    def dense(self) -> np.ndarray:
        """The numbers that it stands for, float32 [outputs, inputs]."""
        rows = rows_of(np, self.blocks, self.bits, self.zero, self.half, self.has_minima)
        return rows[: self.outputs, : self.inputs]


# ---- from GGUF ---------------------------------------------------------------------------------------

# What a kind's blocks hold: words of numbers [..., groups, words] as they will lie, scales and minima [..., groups].
Parts = tuple[np.ndarray, np.ndarray, np.ndarray | None]


def _steps(blocks: np.ndarray, first: int) -> np.ndarray:
    return np.ascontiguousarray(blocks[..., first : first + 2]).view(_HALF)[..., 0]


def _words(numbers: np.ndarray) -> np.ndarray:
    """Numbers [..., group], one in each byte, as words of four."""
    return np.ascontiguousarray(numbers).view(np.uint32)


def _halved(numbers: np.ndarray) -> np.ndarray:
    """Numbers of 4 bits, one in each byte, two in each: the second half of a group above the first."""
    half = numbers.shape[-1] // 2
    return _words(numbers[..., :half] | (numbers[..., half:] << 4))


def _q4_0(blocks: np.ndarray) -> Parts:
    return _words(blocks[..., 2:]), _steps(blocks, 0), None


def _q4_1(blocks: np.ndarray) -> Parts:
    return blocks.view(np.uint32)[..., 1:], _steps(blocks, 0), _steps(blocks, 2)


def _fifth_bits(blocks: np.ndarray, first: int) -> np.ndarray:
    """Numbers of 5 bits [..., 32]: four in the nibbles behind the 32 upper bits."""
    upper = np.unpackbits(blocks[..., first : first + 4], axis=-1, bitorder="little")
    low = blocks[..., first + 4 :]
    return np.concatenate([low & 15, low >> 4], axis=-1) | (upper << 4)


def _q5_0(blocks: np.ndarray) -> Parts:
    return _words(_fifth_bits(blocks, 2)), _steps(blocks, 0), None


def _q5_1(blocks: np.ndarray) -> Parts:
    return _words(_fifth_bits(blocks, 4)), _steps(blocks, 0), _steps(blocks, 2)


def _q8_0(blocks: np.ndarray) -> Parts:
    return _words(blocks[..., 2:]) ^ np.uint32(0x80808080), _steps(blocks, 0), None


def _six_bits(packed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The eight scales and minima of a block of 256, from twelve bytes."""
    low, middle, high = packed[..., :4], packed[..., 4:8], packed[..., 8:]
    scales = np.concatenate([low & 63, (high & 15) | ((low >> 6) << 4)], axis=-1)
    minima = np.concatenate([middle & 63, (high >> 4) | ((middle >> 6) << 4)], axis=-1)
    return scales, minima


def _with_minima(blocks: np.ndarray, words: np.ndarray) -> Parts:
    """Of kinds whose blocks begin with two steps and twelve bytes of scales."""
    scales, minima = _six_bits(blocks[..., 4:16])
    step, low = (_steps(blocks, at).astype(np.float32)[..., None] for at in (0, 2))
    lead = (*blocks.shape[:-2], -1)
    return (
        words.reshape(*lead, words.shape[-1]),
        (step * scales).reshape(lead),
        (-low * minima).reshape(lead),
    )


def _q4_k(blocks: np.ndarray) -> Parts:
    nibbles = blocks[..., 16:].reshape(*blocks.shape[:-1], 4, 1, 32)
    numbers = np.concatenate([nibbles & 15, nibbles >> 4], axis=-2)
    return _with_minima(blocks, _halved(numbers.reshape(*blocks.shape[:-1], 8, 32)))


def _q5_k(blocks: np.ndarray) -> Parts:
    upper, nibbles = blocks[..., 16:48], blocks[..., 48:].reshape(*blocks.shape[:-1], 4, 1, 32)
    low = np.concatenate([nibbles & 15, nibbles >> 4], axis=-2).reshape(*blocks.shape[:-1], 8, 32)
    bits = (upper[..., None, :] >> np.arange(8, dtype=np.uint8)[:, None]) & 1
    return _with_minima(blocks, _words(low | (bits << 4)))


def _q6_k(blocks: np.ndarray) -> Parts:
    lead = blocks.shape[:-1]
    low, high = blocks[..., :128].reshape(*lead, 2, 2, 32), blocks[..., 128:192].reshape(*lead, 2, 1, 32)
    nibbles = np.concatenate([low & 15, low >> 4], axis=-2)  # [halves of the block, quarters, 32]
    upper = (high >> np.array([0, 2, 4, 6], np.uint8)[:, None]) & 3
    numbers = (nibbles | (upper << 4)).reshape(*lead[:-1], -1, 16)
    scales = np.ascontiguousarray(blocks[..., 192:208]).view(np.int8).astype(np.float32)
    steps = _steps(blocks, 208).astype(np.float32)[..., None] * scales
    return _words(numbers), steps.reshape(*lead[:-1], -1), None


@dataclass(frozen=True)
class _Form:
    """How a kind of GGUF's is kept: its numbers in 4 or 8 bits, and what number is 0 where there are no minima."""

    parts: Callable[[np.ndarray], Parts]
    block: int  # bytes
    bits: int
    zero: int = 0


KEPT = {
    "Q4_0": _Form(_q4_0, 18, 4, 8),
    "Q4_1": _Form(_q4_1, 20, 4),
    "Q5_0": _Form(_q5_0, 22, 8, 16),
    "Q5_1": _Form(_q5_1, 24, 8),
    "Q8_0": _Form(_q8_0, 34, 8, 128),
    "Q4_K": _Form(_q4_k, 144, 4),
    "Q5_K": _Form(_q5_k, 176, 8),
    "Q6_K": _Form(_q6_k, 210, 8, 32),
}


def packed(blocks: np.ndarray, kind: str) -> Packed:
    """A weight from the bytes of its blocks, uint8 [outputs, bytes of a row]; `kind` is one of `KEPT`."""
    form = KEPT.get(kind)
    if form is None:
        raise value_error("packed", f"blocks of the kinds {', '.join(KEPT)} are kept as they are", kind)
    if blocks.ndim != 2 or blocks.dtype != np.uint8 or not blocks.size or blocks.shape[1] % form.block:
        raise value_error(
            "packed", f"blocks of {kind} are uint8 [outputs, {form.block} times the blocks of a row]",
            f"{blocks.dtype}{list(blocks.shape)}",
        )  # fmt: skip
    outputs = blocks.shape[0]
    words, scales, minima = form.parts(_panels(blocks).reshape(-1, PANEL, blocks.shape[1] // form.block, form.block))
    inputs = words.shape[-2] * words.shape[-1] * 32 // form.bits
    return _in_panels(words, scales, minima, inputs, outputs, form.bits, form.zero)


def _panels(rows: np.ndarray) -> np.ndarray:
    """Rows filled up to whole panels; a view where nothing is missing."""
    missing = -rows.shape[0] % PANEL
    return rows if not missing else np.concatenate([rows, np.zeros((missing, *rows.shape[1:]), rows.dtype)])


def _in_panels(
    words: np.ndarray, scales: np.ndarray, minima: np.ndarray | None, inputs: int, outputs: int, bits: int, zero: int
) -> Packed:
    """From words [panels, 16, groups, words], scales and minima [panels, 16, groups]."""
    panels, _, groups, count = words.shape
    split, half = 4 * PANEL * count, scales.dtype.itemsize == 2
    steps = [s for s in (scales, minima) if s is not None]
    made = _room(panels * groups * (split + PANEL * scales.dtype.itemsize * len(steps))).reshape(panels, groups, -1)
    made[:, :, :split].view(np.uint32).reshape(panels, groups, count, PANEL)[...] = words.transpose(0, 2, 3, 1)
    behind = made[:, :, split:].view(scales.dtype).reshape(panels, groups, len(steps), PANEL)
    for number, part in enumerate(steps):
        behind[:, :, number] = part.transpose(0, 2, 1)
    return Packed(made, inputs, outputs, bits, zero, half, minima is not None)


def _room(size: int) -> np.ndarray:
    """Bytes that begin where XLA takes them as they are, in pages as large as the system has them.

    A small weight alone would lie in pages of 4 kB, and looking these up costs a fifth of the time of reading it (measured
    on SmolLM2-135M). So weights share blocks of memory, which live as long as any of them.
    """
    whole = -(-size // _LINE) * _LINE
    with _ROOM.lock:
        if whole > _ROOM.left.nbytes:
            block = np.empty(max(whole, _BLOCK) + _LINE, np.uint8)
            _ROOM.left = block[-block.ctypes.data % _LINE :]
        room, _ROOM.left = _ROOM.left[:size], _ROOM.left[whole:]
    return room


class _Room:
    """What is left of the last block."""

    def __init__(self) -> None:
        self.lock = new_lock()
        self.left = np.empty(0, np.uint8)


_LINE, _BLOCK = 64, 16 << 20  # bytes; NumPy asks for large pages from 4 MiB on
_ROOM = _Room()


# ---- from floats -------------------------------------------------------------------------------------


def rounded_to(weight: Any, bits: int = 8, group: int = 32) -> Packed:
    """Floats [outputs, inputs] rounded to 8 or 4 bits, `group` inputs of an output share a scale (4 bits: and a minimum)."""
    rows = np.asarray(weight, np.float32)
    if rows.ndim != 2 or not rows.size or bits not in (4, 8):
        raise value_error(
            "rounded_to", "floats [outputs, inputs] go to 8 or 4 bits", f"{list(rows.shape)}, {bits} bits"
        )
    if group < 8 or group % 8 or group > 4096:
        raise value_error("rounded_to", "a group is a multiple of 8 inputs, at most 4096", str(group))
    if not np.isfinite(rows).all():
        raise value_error("rounded_to", "the weight must be finite", "infinities or NaN", "see where training left it")
    outputs, inputs = rows.shape
    wide = np.pad(_panels(rows), ((0, 0), (0, -inputs % group)))
    groups = wide.reshape(-1, PANEL, wide.shape[1] // group, group)
    if bits == 8:
        scales = np.abs(groups).max(-1) / np.float32(127)
        numbers = np.rint(groups / _not_zero(scales)[..., None]) + np.float32(128)
        return _in_panels(_words(numbers.astype(np.uint8)), scales, None, inputs, outputs, 8, 128)
    low, high = np.minimum(groups.min(-1), 0), np.maximum(groups.max(-1), 0)  # what was filled up stays 0
    scales = ((high - low) / np.float32(15)).astype(np.float32)
    numbers = np.clip(np.rint((groups - low[..., None]) / _not_zero(scales)[..., None]), 0, 15)
    return _in_panels(_halved(numbers.astype(np.uint8)), scales, low.astype(np.float32), inputs, outputs, 4, 0)


def _not_zero(scales: np.ndarray) -> np.ndarray:
    return np.where(scales > 0, scales, np.float32(1))
