"""Sampling at computed places: affine_grid and grid_sample.

Both are compositions: places, weights of the neighbouring elements, and one indexed read for each neighbour.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...core.symbols import fixed
from ...eager.annotations import ShapeLike
from ...eager.declare import public
from ...eager.one_operator import one_operator
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ..arguments import integers, require_tensor
from ..basic import cast_to, reshape_to, transpose_to
from ..index.indexing_kernels import take_elements
from ..linear.linalg import matmul
from ..math.statistics.counting import arange
from ..math.ternary import where as choose_by

_MODES = ("bilinear", "nearest")
_BORDERS = ("zeros", "border", "reflection")


# ---- affine_grid ---------------------------------------------------------------------------------


def _base_grid(extents: tuple[int, ...], corners: bool, dtype: np.dtype) -> np.ndarray:
    """Homogeneous coordinates of every place, x first, in [-1, 1]."""
    lines = []
    for n in extents:
        if corners:
            lines.append(np.linspace(-1, 1, n) if n > 1 else np.zeros(n))
        else:
            lines.append((np.arange(n) * 2 + 1) / n - 1)
    axes = np.meshgrid(*lines, indexing="ij")
    return np.stack([*reversed(axes), np.ones(extents)], -1).reshape(-1, len(extents) + 1).astype(dtype)


def _reference_affine(theta: np.ndarray, out_shape: Any, align_corners: bool = True) -> np.ndarray:
    base = _base_grid(tuple(out_shape[2:]), align_corners, np.dtype("float64"))
    grid = np.einsum("pk,nik->npi", base, theta)
    return grid.reshape(theta.shape[0], *out_shape[2:], -1).astype(theta.dtype)


@samples(
    S(A(2, 2, 3), [2, 1, 2, 3]), S(A(2, 2, 3), [2, 1, 2, 3], False), S(A(1, 3, 4), [1, 2, 2, 3, 2]),
    reference=_reference_affine,
)  # fmt: skip
@public(module="nn.functional", aliases="out_shape=size")
@one_operator("affine_grid")
def affine_grid(theta: Tensor, out_shape: ShapeLike, align_corners: bool = True, name: str | None = None) -> Tensor:
    """Where the places of an image lie under affine maps: `grid_sample` reads there.

    An axis of one element lies at 0.

    Args:
        theta: the maps, `[N, 2, 3]` for images or `[N, 3, 4]` for volumes.
        out_shape: `[N, C, H, W]` or `[N, C, D, H, W]` of the result of `grid_sample`.
        align_corners: whether -1 and 1 are the centres of the corner elements, or their outer edges.
        name: a label; it changes nothing.

    Returns:
        A tensor `[N, H, W, 2]` or `[N, D, H, W, 3]` of coordinates, x first.

    Examples:
        >>> identity = paddle.to_tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> paddle.nn.functional.affine_grid(identity, [1, 1, 2, 2]).tolist()
        [[[[-1.0, -1.0], [1.0, -1.0]], [[-1.0, 1.0], [1.0, 1.0]]]]
    """
    aval = require_tensor("affine_grid", "theta", theta)._aval
    shape = integers("affine_grid", "out_shape", out_shape)
    count = len(shape) - 2
    if count not in (2, 3) or aval.ndim != 3 or aval.shape[1:] != (count, count + 1) or aval.shape[0] != shape[0]:
        raise value_error(
            "affine_grid", "theta must be [N, 2, 3] for 4 dimensions or [N, 3, 4] for 5",
            f"theta: {aval}, out_shape: {list(shape)}",
        )  # fmt: skip
    if min(shape) < 1:
        raise value_error("affine_grid", "out_shape must be positive", f"out_shape: {list(shape)}")
    base = tensor_from_data(_base_grid(tuple(map(fixed, shape[2:])), bool(align_corners), aval.dtype), place=aval.place)
    return reshape_to(matmul(base, theta, False, True), (shape[0], *shape[2:], count))


# ---- grid_sample ---------------------------------------------------------------------------------


def _places(coordinate: Any, extent: int, border: str, corners: bool) -> Any:
    """Places among the elements of one axis, from coordinates in [-1, 1]."""
    half = (extent - 1) * 0.5  # the size first: a float would not ask it for its expression
    place = coordinate * (half if corners else extent * 0.5) + half
    if border == "border":
        return place.clip(0.0, extent - 1.0)
    if border == "reflection":
        if corners:
            period = (extent - 1) * 2.0
            if not period:
                return place * 0.0
            folded = place.abs() % period
            return choose_by(folded > extent - 1.0, period - folded, folded)
        period = extent * 2.0
        folded = (place + 0.5).abs() % period
        return (choose_by(folded > float(extent), period - folded, folded) - 0.5).clip(0.0, extent - 1.0)
    return place


def _read(rows: Tensor, batch: Tensor, indices: list[Any], extents: tuple[int, ...]) -> Tensor:
    """The elements [N, places, C] at whole coordinates, zeros where they are outside."""
    flat: Any = None
    inside: Any = None
    for index, extent in zip(indices, extents, strict=True):
        valid = (index >= 0.0) & (index <= extent - 1.0)
        whole = cast_to(choose_by(valid, index, 0.0), np.dtype("int64"))
        flat = whole if flat is None else flat * extent + whole
        inside = valid if inside is None else inside & valid
    taken = take_elements(rows, [batch, flat], [0, 1], trusted=True)
    return taken * cast_to(inside, rows._aval.dtype).unsqueeze(-1)


def _reference_grid(x: np.ndarray, grid: np.ndarray, mode: str = "bilinear", padding_mode: str = "zeros",
                    align_corners: bool = True) -> np.ndarray:  # fmt: skip
    """One place after another (for the samples)."""
    n, c, *extents = x.shape
    out = np.zeros((n, c, *grid.shape[1:-1]))
    for at in np.ndindex(n, *grid.shape[1:-1]):
        places = []
        for number, extent in zip(grid[at][::-1], extents, strict=True):
            p = (number + 1) / 2 * (extent - 1) if align_corners else ((number + 1) * extent - 1) / 2
            if padding_mode == "border":
                p = min(max(p, 0), extent - 1)
            elif padding_mode == "reflection":
                low, high = (0, extent - 1) if align_corners else (-0.5, extent - 0.5)
                while not low <= p <= high:
                    p = 2 * low - p if p < low else 2 * high - p
                p = min(max(p, 0), extent - 1)
            places.append(p)
        corners = itertools.product((0, 1), repeat=len(extents)) if mode == "bilinear" else [(0,) * len(extents)]
        for corner in corners:
            weight, index = 1.0, []
            for p, bit in zip(places, corner, strict=True):
                base = math.floor(p) + bit if mode == "bilinear" else int(np.rint(p))
                weight *= (1 - abs(p - base)) if mode == "bilinear" else 1
                index.append(base)
            if all(0 <= i < extent for i, extent in zip(index, extents, strict=True)):
                out[(at[0], slice(None), *at[1:])] += weight * x[(at[0], slice(None), *index)]
    return out.astype(x.dtype, copy=False)


_GRID = A(2, 3, 2, 2, low=-1.3, high=1.3)


@samples(
    S(A(2, 2, 3, 4), _GRID), S(A(2, 2, 3, 4), _GRID, "nearest"), S(A(2, 1, 3, 4), _GRID, padding_mode="border"),
    S(A(2, 1, 3, 4), _GRID, "bilinear", "reflection", False), S(A(1, 2, 2, 3, 4), A(1, 2, 1, 2, 3, low=-0.9, high=0.9)),
    S(A(2, 1, 3, 1), _GRID, "bilinear", "reflection"), reference=_reference_grid,
)  # fmt: skip
@public(module="nn.functional")
def grid_sample(
    x: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
    name: str | None = None,
) -> Tensor:
    """Reads an image at the places of a grid.

    Args:
        x: `[N, C, H, W]` or `[N, C, D, H, W]`.
        grid: coordinates from -1 to 1, x first: `[N, H, W, 2]` or `[N, D, H, W, 3]`.
        mode: 'bilinear' interpolates, 'nearest' takes the nearest element.
        padding_mode: what lies outside: 'zeros', 'border' (the edge) or 'reflection' (the mirrored image).
        align_corners: whether -1 and 1 are the centres of the corner elements, or their outer edges.
        name: a label; it changes nothing.

    Returns:
        A tensor `[N, C]` with the spatial sizes of `grid`.

    Examples:
        >>> x = paddle.to_tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> paddle.nn.functional.grid_sample(x, paddle.to_tensor([[[[-1.0, -1.0], [0.0, 0.0]]]])).tolist()
        [[[[1.0, 2.5]]]]
    """
    where = "grid_sample"
    aval, places = require_tensor(where, "x", x)._aval, require_tensor(where, "grid", grid)._aval
    if mode not in _MODES:
        raise value_error(where, f"mode must be one of {', '.join(_MODES)}", f"mode: {mode!r}")
    if padding_mode not in _BORDERS:
        raise value_error(
            where, f"padding_mode must be one of {', '.join(_BORDERS)}", f"padding_mode: {padding_mode!r}"
        )
    count = aval.ndim - 2
    received = f"x: {aval}, grid: {places}"
    if count not in (2, 3) or places.ndim != aval.ndim or places.shape[-1] != count:
        what = "x is [N, C, H, W] with grid [N, H, W, 2], or [N, C, D, H, W] with [N, D, H, W, 3]"
        raise value_error(where, what, received)
    if aval.shape[0] != places.shape[0] or min(aval.shape[2:]) < 1:
        raise value_error(where, "x and grid must have the same batch size, and x elements", received)
    batch_size, channels, *extents = aval.shape
    size = math.prod(extents)
    num_places = math.prod(places.shape[1:-1])
    order = (0, *range(2, aval.ndim), 1)
    rows = reshape_to(transpose_to(x, order), (batch_size, size, channels))
    flat = reshape_to(grid, (batch_size, num_places, count))
    batch = reshape_to(arange(batch_size, device=aval.place), (batch_size, 1))
    coordinates = [
        _places(flat[:, :, count - 1 - axis], extent, padding_mode, bool(align_corners))  # type: ignore[index]
        for axis, extent in enumerate(extents)
    ]
    if mode == "nearest":
        total = _read(rows, batch, [c.round() for c in coordinates], tuple(extents))
        if not grid.stop_gradient:
            total = total + (flat * 0.0).sum(-1, keepdim=True)  # type: ignore[operator]  # the grid gets zeros, as in Paddle
    else:
        total = None
        lows = [c.floor() for c in coordinates]
        shares = [c - low for c, low in zip(coordinates, lows, strict=True)]
        for corner in itertools.product((0, 1), repeat=count):
            weight: Any = None
            for bit, share in zip(corner, shares, strict=True):
                part = share if bit else 1.0 - share
                weight = part if weight is None else weight * part
            indices = [low + 1.0 if bit else low for bit, low in zip(corner, lows, strict=True)]
            part = _read(rows, batch, indices, tuple(extents)) * weight.unsqueeze(-1)
            total = part if total is None else total + part
    shaped = reshape_to(transpose_to(total, (0, 2, 1)), (batch_size, channels, *places.shape[1:-1]))  # type: ignore[arg-type]
    return shaped
