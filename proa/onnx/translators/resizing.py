"""Resizing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.symbols import same_size
from ...ops.neural.resize import _matrix, settled
from ..builder import Builder, Made, is_unknown
from ..registry import Call, translates

_METHODS = {"nearest": "nearest", "linear": "linear", "cubic": "cubic"}


@translates("resample")
def resample(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    given, transposed = c.attributes
    axes = [settled(entry, x.sizes[entry[0]], transposed) for entry in given]
    ways = {entry[3:4] + entry[5:] for entry in axes}
    natural = all(_is_natural(entry, own) for entry, own in zip(axes, given, strict=True))
    scales = None if natural else _scales(given)
    if transposed or len(ways) != 1 or axes[0][3] not in _METHODS or len(axes) > 3 or not (natural or scales):
        return _by_matrices(b, c, x, axes, transposed)
    places = [entry[0] for entry in axes]
    order = [a for a in range(x.ndim) if a not in places] + places
    moved = b.transpose(x, order)
    sizes = [c.sizes[axis] for axis in order]
    lead = x.ndim - len(places)
    # Runtimes take pictures: two axes in front, two or three behind.
    front = (math.prod(moved.sizes[:lead]), 1) if lead != 2 else moved.sizes[:2]
    between = (1,) * (2 - len(places)) if len(places) < 2 else ()
    picture = b.reshape(moved, (*front, *between, *moved.sizes[lead:]))
    wanted = (*front, *between, *sizes[lead:])
    if scales:
        told = [b.constant([1.0] * (len(wanted) - len(places)) + scales, "float32"), None]
    else:
        told = [None, b.shape_of(wanted, picture)]
    result = b.emit("Resize", [picture, None, *told], (x.dtype, wanted), **_way(axes[0]))
    result = b.reshape(result, sizes)
    return b.cast(b.transpose(result, [order.index(axis) for axis in range(x.ndim)]), c.dtype)


def _is_natural(entry: Any, given: Any) -> bool:
    """Whether the ratio is that of the extents, so that Resize is told those."""
    if entry[5] or (not is_unknown(given[4]) and given[4] == 0):  # by definition
        return True
    if any(map(is_unknown, (entry[1], entry[2], entry[4]))):
        return False
    return math.isclose(entry[4], entry[1] / max(entry[2], 1), rel_tol=1e-9)


def _scales(given: Any) -> list[float] | None:
    """Factors that Resize may be told instead of extents: those that both extents and ratios come from."""
    found: list[float] = []
    for own in given:
        if is_unknown(own[4]) or is_unknown(own[2]) or not isinstance(own[2], float):
            return None
        if not math.isclose(own[4] * own[2], 1.0, rel_tol=1e-9) or float(np.float32(own[2])) != own[2]:
            return None
        found.append(own[2])
    return found


def _way(entry: Any) -> dict[str, Any]:
    _, _, _, method, _, corners, mode = entry
    if method == "nearest":
        way = ("align_corners", "round_prefer_ceil") if corners else ("asymmetric", "floor")
        return {"mode": "nearest", "coordinate_transformation_mode": way[0], "nearest_mode": way[1]}
    place = "align_corners" if corners else "asymmetric" if method == "linear" and mode == 1 else "half_pixel"
    found: dict[str, Any] = {"mode": _METHODS[method], "coordinate_transformation_mode": place}
    return {**found, "cubic_coeff_a": -0.75} if method == "cubic" else found


def _by_matrices(b: Builder, c: Call, x: Made, axes: Any, transposed: bool) -> Made:
    for entry in axes:
        if same_size(entry[1], entry[2]) and not is_unknown(entry[4]) and entry[4] == 1:
            continue
        if any(map(is_unknown, entry[1:])):
            raise NotImplementedError("this way of resizing, along a dimension of unknown size")
        matrix = _matrix(*entry[1:])
        x = along_axis(b, x, entry[0], matrix.T if transposed else matrix)
    result = b.cast(x, c.dtype)
    return b.copied(result) if result is c.operands[0] else result


def along_axis(b: Builder, x: Made, axis: int, matrix: np.ndarray) -> Made:
    """The product with a fixed matrix along one axis."""
    order = [a for a in range(x.ndim) if a != axis] + [axis]
    table = b.constant(np.ascontiguousarray(matrix.T), x.dtype)
    moved = b.transpose(x, order)
    product = b.matmul(moved, table, (*moved.sizes[:-1], matrix.shape[0]))
    return b.transpose(product, [order.index(a) for a in range(x.ndim)])
