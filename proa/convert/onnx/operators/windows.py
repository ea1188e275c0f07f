"""Windows over spatial axes: how much they are padded, and what they see."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ....core.symbols import maximum
from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import paddle
from .shape import padded


class Windows:
    """The windows of an operator: kernel, strides, dilations and the padding before and after each axis."""

    def __init__(
        self, sizes: Sequence[int], kernel: Sequence[int], strides: Any, dilations: Any, pads: Any, auto_pad: str,
        ceil_mode: int = 0,
    ) -> None:  # fmt: skip
        rank = len(kernel)
        self.sizes = list(sizes)
        self.kernel = list(kernel)
        self.strides = list(strides or [1] * rank)
        self.dilations = list(dilations or [1] * rank)
        self.reach = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True)]
        self.ceil_mode = bool(ceil_mode)
        if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            self.pairs = [self._same(axis, auto_pad == "SAME_LOWER") for axis in range(rank)]
        elif auto_pad == "VALID" or not pads:
            self.pairs = [(0, 0)] * rank
        else:
            self.pairs = list(zip(pads[:rank], pads[rank:], strict=True))
        self.counts = [self._count(axis) for axis in range(rank)]

    def _same(self, axis: int, lower: bool) -> tuple[int, int]:
        size, stride = self.sizes[axis], self.strides[axis]
        total = maximum((-(-size // stride) - 1) * stride + self.reach[axis] - size, 0)
        small = total // 2
        return (total - small, small) if lower else (small, total - small)

    def _count(self, axis: int) -> int:
        before, after = self.pairs[axis]
        left = self.sizes[axis] + before + after - self.reach[axis]
        stride = self.strides[axis]
        if not self.ceil_mode:
            return left // stride + 1
        count = -(-left // stride) + 1
        # A window that would begin behind the data is left out.
        return count - 1 if (count - 1) * stride >= self.sizes[axis] + before else count

    @property
    def flat(self) -> list[int]:
        """The padding as our functions take it: before and after, axis by axis."""
        return [int(width) for pair in self.pairs for width in pair]

    @property
    def is_dilated(self) -> bool:
        return any(d != 1 for d in self.dilations)

    def elements(self, x: Tensor, fill: Any) -> list[Tensor]:
        """For each place in a window, what all windows see there."""
        pairs = {}
        for axis, (before, after) in enumerate(self.pairs):
            needed = (self.counts[axis] - 1) * self.strides[axis] + self.reach[axis] - self.sizes[axis] - before
            pairs[axis + 2] = (before, maximum(after, needed))
        x = padded(x, pairs, "constant", fill)
        found = []
        for place in itertools.product(*(range(k) for k in self.kernel)):
            index: list[Any] = [slice(None), slice(None)]
            for axis, number in enumerate(place):
                start = number * self.dilations[axis]
                stride = self.strides[axis]
                index.append(slice(start, start + (self.counts[axis] - 1) * stride + 1, stride))
            found.append(x[tuple(index)])
        return found


def stacked(parts: list[Tensor]) -> Tensor:
    return paddle.stack(parts, 0)


__all__ = ["Windows", "stacked"]
