"""Resizing and sampling pictures.

What our own functions do the same way is left to them. Everything else ONNX can ask for (its kinds of coordinates, of
rounding, its cubic and its smoothed filters) is a small matrix for each axis, made while the model is read.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ....core.symbols import is_symbolic
from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import F, paddle
from ....formats.paddle.reading.known import Known, NotKnown
from ..registry import reads
from ..translation import array_of

if TYPE_CHECKING:
    from ....formats.paddle.reading.registry import Integers, Raw


@reads("Resize")
def resize(
    x: Tensor, roi: Raw = None, scales: Raw = None, sizes: Raw = None, *, mode: str = "nearest",
    coordinate_transformation_mode: str = "half_pixel", nearest_mode: str = "round_prefer_floor",
    cubic_coeff_a: float = -0.75, exclude_outside: int = 0, extrapolation_value: float = 0.0, antialias: int = 0,
    axes: Any = None, keep_aspect_ratio_policy: str = "stretch", opset: int = 19,
) -> Tensor:  # fmt: skip
    if opset < 11:  # version 10: scales come second
        roi, scales, coordinate_transformation_mode, nearest_mode = None, roi, "asymmetric", "floor"
    chosen = list(range(x.ndim)) if axes is None else [axis % x.ndim for axis in axes]
    own = [x._aval.shape[axis] for axis in chosen]
    factors, wanted = _wanted(own, scales, sizes, keep_aspect_ratio_policy)
    region = None if roi is None else np.asarray(array_of(roi, "a region"), np.float64).reshape(-1)
    rule = _Rule(mode, coordinate_transformation_mode, nearest_mode, cubic_coeff_a, bool(exclude_outside), antialias)
    rule.outside = extrapolation_value
    moving = [n for n, (a, b) in enumerate(zip(own, wanted, strict=True)) if not _same(a, b, rule)]
    if moving and [chosen[n] for n in moving] == list(range(2, 2 + len(moving))) and x.ndim == 2 + len(moving):
        simple = _by_our_own(x, [wanted[n] for n in moving], [factors[n] for n in moving], rule)
        if simple is not None:
            return simple
    outside = None
    for n in moving:
        ends = None if region is None or not region.size else (region[n], region[len(own) + n])
        x, missed = rule.apply(x, chosen[n], own[n], wanted[n], factors[n], ends)
        if missed is not None:
            outside = missed if outside is None else paddle.logical_or(outside, missed)
    if outside is not None:
        x = paddle.where(outside, paddle.full([1], extrapolation_value, x.dtype), x)
    return x


@reads("Upsample")
def upsample(x: Tensor, factors: Raw = None, *, scales: Any = None, mode: str = "nearest") -> Tensor:
    numbers = np.asarray(scales, np.float32) if factors is None else array_of(factors, "a scale")
    return resize(
        x, None, Known(np.asarray(numbers, np.float32), "float32"), None, mode=mode,
        coordinate_transformation_mode="asymmetric", nearest_mode="floor",
    )  # fmt: skip


def _same(own: Any, wanted: Any, rule: _Rule) -> bool:
    if rule.coordinates == "tf_crop_and_resize":
        return False
    return is_symbolic(own) == is_symbolic(wanted) and own == wanted


def _wanted(own: list[Any], scales: Any, sizes: Any, policy: str) -> tuple[list[Any], list[Any]]:
    """Factors and sizes of the result, axis by axis."""
    if sizes is not None:
        wanted = array_of(sizes, "a size").reshape(-1).tolist()
        if wanted:
            if policy != "stretch":
                choose = min if policy == "not_larger" else max
                factor = choose(w / o for w, o in zip(wanted, own, strict=True))
                return [factor] * len(own), [math.floor(factor * o + 0.5) for o in own]
            return [_ratio(w, o) for w, o in zip(wanted, own, strict=True)], wanted
    factors = [float(f) for f in array_of(scales, "a scale").reshape(-1)]
    wanted = []
    for size, factor in zip(own, factors, strict=True):
        if is_symbolic(size):
            wanted.append(size * int(factor) if factor == int(factor) else size // round(1 / factor))
        else:
            wanted.append(math.floor(size * factor + 1e-9 * abs(size)))
    return factors, wanted


def _ratio(wanted: Any, own: Any) -> Any:
    return None if is_symbolic(wanted) or is_symbolic(own) else wanted / own


def _by_our_own(x: Tensor, wanted: list[Any], factors: list[Any], rule: _Rule) -> Tensor | None:
    """`F.interpolate`, where it computes the same."""
    if len(wanted) > 3 or rule.antialias or rule.coordinates == "tf_crop_and_resize" or x._aval.dtype.kind != "f":
        return None
    sizes = x._aval.shape[2:]
    exact = all(
        is_symbolic(size) or f is None or abs(w - size * f) < 1e-4
        for w, size, f in zip(wanted, sizes, factors, strict=True)
    )
    layout = ("NCW", "NCHW", "NCDHW")[len(wanted) - 1]
    if rule.mode == "nearest" and exact and rule.coordinates == "asymmetric" and rule.rounding == "floor":
        return F.interpolate(x, wanted, mode="nearest", data_format=layout)
    whole = all(f is None or f == int(f) for f in factors)
    if rule.mode == "nearest" and rule.coordinates == "half_pixel" and whole and rule.rounding == "round_prefer_floor":
        # For a whole factor this is the same element.
        return F.interpolate(x, wanted, mode="nearest", data_format=layout)
    if rule.mode == "linear" and exact and rule.coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners"):
        if rule.coordinates == "pytorch_half_pixel" and any(w == 1 for w in wanted):
            return None
        mode = ("linear", "bilinear", "trilinear")[len(wanted) - 1]
        corners = rule.coordinates == "align_corners"
        return F.interpolate(x, wanted, mode=mode, align_corners=corners, align_mode=0, data_format=layout)
    return None


class _Rule:
    """How an axis is read: where its elements come from, and with which weights."""

    outside = 0.0

    def __init__(self, mode: str, coordinates: str, rounding: str, coefficient: float, exclude: bool, antialias: int):
        self.mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
        self.coordinates, self.rounding, self.coefficient, self.exclude = coordinates, rounding, coefficient, exclude
        self.antialias = bool(antialias)

    def apply(
        self, x: Tensor, axis: int, own: int, wanted: int, factor: Any, ends: Any
    ) -> tuple[Tensor, Tensor | None]:
        if is_symbolic(own) or is_symbolic(wanted):
            raise NotKnown("(Resize) this kind of resizing needs the size of the picture.")
        places = self._places(own, wanted, wanted / own if factor is None else factor, ends)
        missed = None
        if self.coordinates == "tf_crop_and_resize":
            mask = (places < 0) | (places > own - 1)
            if mask.any():
                missed = paddle.to_tensor(mask).reshape([-1 if a == axis else 1 for a in range(x.ndim)])
        if self.mode == "nearest":
            return paddle.index_select(x, paddle.to_tensor(self._nearest(places, own)), axis), missed
        matrix = self._matrix(places, own, min(1.0, factor or 1.0) if self.antialias else 1.0)
        kind = x.dtype.name if x._aval.dtype.kind == "f" else "float32"
        last = paddle.moveaxis(x.astype(kind), axis, -1)
        made = paddle.matmul(
            last, paddle.to_tensor(matrix.T.astype(np.float64 if kind == "float64" else np.float32)).astype(kind)
        )
        made = paddle.moveaxis(made, -1, axis)
        return (made if x._aval.dtype.kind == "f" else paddle.round(made).astype(x.dtype)), missed

    def _places(self, own: int, wanted: int, factor: float, ends: Any) -> np.ndarray:
        """Where each element of the result lies in the input."""
        steps = np.arange(wanted, dtype=np.float64)
        if self.coordinates == "align_corners":
            exact = own * factor
            return steps * (own - 1) / (exact - 1) if exact > 1 else steps * 0
        if self.coordinates == "asymmetric":
            return steps / factor
        if self.coordinates == "tf_half_pixel_for_nn":
            return (steps + 0.5) / factor
        if self.coordinates == "tf_crop_and_resize":
            first, last = (0.0, 1.0) if ends is None else ends
            if wanted == 1:
                return np.full(1, 0.5 * (first + last) * (own - 1))
            return first * (own - 1) + steps * (last - first) * (own - 1) / (wanted - 1)
        if self.coordinates == "pytorch_half_pixel" and wanted == 1:
            return np.zeros(1)
        if self.coordinates == "half_pixel_symmetric":
            # Whole sizes shift the centre; this puts it back.
            adjusted = wanted / (own * factor)
            return own / 2 * (1 - adjusted) + (steps + 0.5) / factor - 0.5
        return (steps + 0.5) / factor - 0.5

    def _nearest(self, places: np.ndarray, own: int) -> np.ndarray:
        if self.rounding == "round_prefer_ceil":
            found = np.floor(places + 0.5)
        elif self.rounding == "floor":
            found = np.floor(places)
        elif self.rounding == "ceil":
            found = np.ceil(places)
        else:
            found = np.ceil(places - 0.5)
        return np.clip(found, 0, own - 1).astype(np.int64)

    def _matrix(self, places: np.ndarray, own: int, narrowing: float) -> np.ndarray:
        """Row by row the weights of the input's elements; a smoothed filter is as wide as the result is coarse."""
        reach = (1 if self.mode == "linear" else 2) / narrowing
        matrix = np.zeros((len(places), own))
        for row, place in enumerate(places):
            if not self.antialias and self.mode == "linear":
                place = min(max(place, 0.0), own - 1.0)
            columns = np.arange(math.floor(place - reach) + 1, math.ceil(place + reach))
            if not len(columns):
                columns = np.array([round(place)])
            weights = self._weights((columns - place) * narrowing)
            inside = (columns >= 0) & (columns < own)
            if self.exclude:
                weights = np.where(inside, weights, 0.0)
            if self.exclude or self.antialias:
                weights = weights / weights.sum()
            np.add.at(matrix[row], np.clip(columns, 0, own - 1), weights)
        return matrix

    def _weights(self, distance: np.ndarray) -> np.ndarray:
        d = np.abs(distance)
        if self.mode == "linear":
            return np.maximum(1 - d, 0)
        a = self.coefficient
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


@reads("GridSample")
def grid_sample(
    x: Tensor, grid: Tensor, *, mode: str = "linear", padding_mode: str = "zeros", align_corners: int = 0
) -> Tensor:
    if mode in ("cubic", "bicubic"):
        return _cubic_sample(x, grid, padding_mode, bool(align_corners))
    chosen = "bilinear" if mode in ("linear", "bilinear") else "nearest"
    return F.grid_sample(x, grid, chosen, padding_mode, bool(align_corners))


def _cubic_sample(x: Tensor, grid: Tensor, padding: str, corners: bool) -> Tensor:
    """Sixteen neighbours of each place, two axes of four weights."""
    batch, channels, height, width = x._aval.shape
    flat = x.reshape([batch, channels, height * width])

    def unnormalised(g: Tensor, size: int) -> Tensor:
        return (g + 1) / 2 * (size - 1) if corners else ((g + 1) * size - 1) / 2

    across, down = unnormalised(grid[..., 0], width), unnormalised(grid[..., 1], height)
    left, top = paddle.floor(across), paddle.floor(down)
    total: Any = 0
    for row in range(-1, 3):
        line: Any = 0
        for column in range(-1, 3):
            line = line + _cubic(left + column - across).unsqueeze(1) * _neighbour(
                flat, left + column, top + row, height, width, padding, corners
            )
        total = total + _cubic(top + row - down).unsqueeze(1) * line
    return total


def _cubic(distance: Tensor, a: float = -0.75) -> Tensor:
    d = paddle.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    return paddle.where(d <= 1, near, ((a * d - 5 * a) * d + 8 * a) * d - 4 * a)


def _neighbour(flat: Tensor, x: Tensor, y: Tensor, height: int, width: int, padding: str, corners: bool) -> Tensor:
    inside = None
    if padding == "zeros":
        inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    elif padding == "reflection":
        x, y = _mirrored(x, width, corners), _mirrored(y, height, corners)
    columns = paddle.clip(x, 0, width - 1).astype("int64")
    rows = paddle.clip(y, 0, height - 1).astype("int64")
    places = (rows * width + columns).reshape([flat._aval.shape[0], 1, -1])
    wide = paddle.expand(places, [flat._aval.shape[0], flat._aval.shape[1], places._aval.shape[2]])
    taken = paddle.take_along_axis(flat, wide, 2, broadcast=False)
    taken = taken.reshape([flat._aval.shape[0], flat._aval.shape[1], *x._aval.shape[1:]])
    return taken if inside is None else taken * inside.astype(taken.dtype).unsqueeze(1)


def _mirrored(x: Tensor, size: int, corners: bool) -> Tensor:
    low, span = (0.0, size - 1.0) if corners else (-0.5, float(size))
    if span == 0:
        return x * 0
    distance = paddle.mod(paddle.abs(x - low), paddle.to_tensor(2 * span))
    return paddle.minimum(distance, 2 * span - distance) + low


@reads("AffineGrid")
def affine_grid(theta: Tensor, size: Integers, *, align_corners: int = 0) -> Tensor:
    return F.affine_grid(theta, size, bool(align_corners))
