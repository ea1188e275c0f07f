"""Whole numbers of levels, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from .builder import Builder, Made
from .registry import Call, translates


def _bits(levels: int) -> int:
    bits = int(levels).bit_length() + 1
    if (1 << (bits - 1)) - 1 != levels:
        raise NotImplementedError(f"a grid of {levels} levels has no number of bits")
    return bits


def _emit(b: Builder, c: Call, name: str, axis: int, levels: int, low: int, high: int) -> Made:
    x, scale = c.operands
    attributes: dict[str, Any] = {
        "quant_axis": int(axis), "bit_length": _bits(levels), "qmin": int(low), "qmax": int(high), "round_type": 0,
        "is_test": True, "only_observer": False,
    }  # fmt: skip
    if x.dtype == "int8":  # the file stays small; Paddle's kernel reads floats
        x = b.cast(x, "float32")
    # Paddle's kernels want a zero point and what training would add up, and look at none of it.
    zero = b.constant(np.zeros([int(size) for size in scale.sizes], np.float32))
    one = b.constant(np.ones((), np.float32))
    numbers = ("float32", ())
    return b.emit(name, [x, scale, zero, one, one], attributes, (c.dtype, c.sizes), numbers, numbers, numbers)


@translates("to_levels")
def to_levels(b: Builder, c: Call) -> Made:
    axis, levels, low, high = c.attributes
    return _emit(b, c, "quantize_linear", axis, levels, low, high)


@translates("from_levels")
def from_levels(b: Builder, c: Call) -> Made:
    axis, levels = c.attributes
    return _emit(b, c, "dequantize_linear", axis, levels, -levels - 1, levels)
