"""Rotary positions: cosine and sine of every position, with the scalings that stretch a model's context.

Angles are computed once a step from the positions, not looked up: positions are data, so any of them may come in any
order (pages, packed sequences) without a table as long as the longest context.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from ...eager.tensor import Tensor, tensor_from_data
from ...incubate.nn.functional.rotary import turn
from ...ops.basic import cast_to
from ...ops.shape.joining import concat_along
from ..config import Rope

_FLOAT32 = np.dtype("float32")


def frequencies(rope: Rope) -> np.ndarray:
    """The angle per position of each pair, float32 `[dims / 2]`; for "dynamic" that of short sequences."""
    plain = rope.base ** -(np.arange(0, rope.dims, 2, dtype=np.float64) / rope.dims)
    if rope.scaling == "linear":
        plain = plain / rope.factor
    elif rope.scaling == "llama3":
        plain = _llama3(plain, rope)
    elif rope.scaling == "yarn":
        plain = _yarn(plain, rope)
    return plain.astype(_FLOAT32)


def _llama3(plain: np.ndarray, rope: Rope) -> np.ndarray:
    """Slow angles are divided by the factor, fast ones kept, those between blended."""
    turns = rope.original_positions * plain / (2 * math.pi)  # of a pair over the original context
    kept = (turns - rope.low_frequency) / (rope.high_frequency - rope.low_frequency)
    share = np.clip(kept, 0.0, 1.0)
    return share * plain + (1 - share) * plain / rope.factor


def _yarn(plain: np.ndarray, rope: Rope) -> np.ndarray:
    """Pairs that turn often are kept, those that turn less than once are stretched; a ramp over pair numbers between."""

    def pair(turns: float) -> float:
        return rope.dims * math.log(rope.original_positions / (turns * 2 * math.pi)) / (2 * math.log(rope.base))

    low, high = pair(rope.beta_fast), pair(rope.beta_slow)
    if rope.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, rope.dims - 1)
    width = 0.001 if low == high else high - low
    stretched = np.clip((np.arange(rope.dims // 2) - low) / width, 0.0, 1.0)
    return plain / rope.factor * stretched + plain * (1 - stretched)


class Angles:
    """Cosine and sine of one step's positions, `[batch, length, 1, dims]`, for all layers."""

    def __init__(self, rope: Rope, positions: Tensor) -> None:
        self.rope = rope
        where: Any = cast_to(positions, _FLOAT32).unsqueeze(-1)
        angles = where * (_dynamic(rope, where) if rope.scaling == "dynamic" else tensor_from_data(frequencies(rope)))
        angles = angles.repeat_interleave(2, -1) if rope.interleaved else concat_along([angles, angles], 2)
        angles = angles.unsqueeze(2)
        self.cosine, self.sine = angles.cos(), angles.sin()
        if rope.magnitude != 1.0:
            self.cosine, self.sine = self.cosine * rope.magnitude, self.sine * rope.magnitude

    def moved(self, move: Callable[[Tensor], Tensor]) -> Angles:
        """The same for layers on other devices."""
        found = copy(self)
        found.cosine, found.sine = move(self.cosine), move(self.sine)
        return found

    def turn(self, x: Tensor) -> Tensor:
        """Queries or keys `[batch, length, heads, size]`, turned; elements behind `dims` stay."""
        dims, size = self.rope.dims, x._aval.shape[-1]
        if dims == size:
            return turn(x, self.sine, self.cosine, self.rope.interleaved)
        turned = turn(x[..., :dims], self.sine, self.cosine, self.rope.interleaved)  # type: ignore[index]
        return concat_along([turned, x[..., dims:]], 3)  # type: ignore[index]


def _dynamic(rope: Rope, positions: Any) -> Any:
    """Frequencies `[batch, 1, dims / 2]` whose base grows with the length of each sequence (NTK)."""
    longest = (positions.max(1, keepdim=True) + 1.0).clip(min=float(rope.original_positions))
    growth = longest * (rope.factor / rope.original_positions) - (rope.factor - 1.0)
    # base' = base * growth ** (dims / (dims - 2)); its powers are those of both factors
    steps = np.arange(0, rope.dims, 2, dtype=np.float64) / rope.dims
    exponent = tensor_from_data((-steps * rope.dims / (rope.dims - 2)).astype(_FLOAT32))
    return tensor_from_data((rope.base**-steps).astype(_FLOAT32)) * growth**exponent
