"""Which stored elements each place of a sparse convolution's (or pooling's) output sees.

Worked out on the host from the pattern alone, with whole arrays, and kept with the pattern: layers that share a pattern
(a submanifold convolution leaves it as it is) share the rulebook.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...ops.neural.windowed.windows import Pairs, Sizes
from ..pattern import CooPattern, Lookup


class Window(NamedTuple):
    """A window over the spatial axes."""

    kernel: Sizes
    stride: Sizes
    padding: Pairs
    dilation: Sizes


class Rulebook(NamedTuple):
    """The pairs (input element, output element) that meet under a window, and where the output has elements."""

    pattern: CooPattern
    inputs: Lookup
    outputs: Lookup
    table: Lookup  # [output elements, kernel places]: the input element there, or their number where there is none


def output_extents(extents: Sizes, window: Window, ceil: bool = False) -> Sizes:
    """The spatial shape of the output; an entry below 1 says that the window does not fit."""
    result = []
    for extent, width, step, (before, behind), dilation in zip(extents, *window, strict=True):
        room = extent + before + behind - dilation * (width - 1) - 1
        count = (-(-room // step) if ceil else room // step) + 1
        # The last window of a rounded-up count must still begin inside the input.
        result.append(count - 1 if ceil and (count - 1) * step >= extent + before else count)
    return tuple(result)


def rulebook(pattern: CooPattern, window: Window, extents: Sizes) -> Rulebook:
    """For an ordinary convolution or pooling: the output has an element wherever its window sees one."""
    return pattern.remember(("rulebook", window, extents), lambda: _every_place(pattern, window, extents))


def submanifold_rulebook(pattern: CooPattern, window: Window) -> Rulebook:
    """For a submanifold convolution: the output has elements exactly where the input has."""
    return pattern.remember(("submanifold", window), lambda: _same_places(pattern, window))


def _meetings(pattern: CooPattern, window: Window, extents: Sizes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number of the output place, input element and kernel place of every pair that meets."""
    places = np.stack(np.unravel_index(np.arange(math.prod(window.kernel)), window.kernel))  # [axes, kernel places]
    inside = np.ones((places.shape[1], pattern.nnz), bool)
    keys = np.broadcast_to(pattern.indices[0], inside.shape)
    for axis, extent in enumerate(extents):
        shifted = pattern.indices[axis + 1] + window.padding[axis][0] - places[axis][:, None] * window.dilation[axis]
        place, beside = np.divmod(shifted, window.stride[axis])
        inside &= (beside == 0) & (place >= 0) & (place < extent)
        keys = keys * extent + place
    kernel_place, element = np.nonzero(inside)
    return keys[inside], element, kernel_place


def _every_place(pattern: CooPattern, window: Window, extents: Sizes) -> Rulebook:
    keys, elements, places = _meetings(pattern, window, extents)
    found, outputs = np.unique(keys, return_inverse=True)
    result = CooPattern.of_keys(found, (pattern.shape[0], *extents), True, pattern.dtype)
    return _complete(pattern, result, elements, outputs.reshape(-1), places, window)


def _same_places(pattern: CooPattern, window: Window) -> Rulebook:
    keys, elements, places = _meetings(pattern, window, pattern.shape[1:])
    own = pattern.keys.array
    order = np.argsort(own, kind="stable")
    position = np.minimum(np.searchsorted(own[order], keys), max(len(own) - 1, 0))
    outputs = order[position] if len(own) else position
    stored = own[outputs] == keys if len(own) else np.zeros(len(keys), bool)
    return _complete(pattern, pattern, elements[stored], outputs[stored], places[stored], window)


def _complete(
    pattern: CooPattern,
    result: CooPattern,
    elements: np.ndarray,
    outputs: np.ndarray,
    places: np.ndarray,
    window: Window,
) -> Rulebook:
    table = np.full((result.nnz, math.prod(window.kernel)), pattern.nnz, np.int64)
    table[outputs, places] = elements
    return Rulebook(result, Lookup(elements), Lookup(outputs), Lookup(table))
