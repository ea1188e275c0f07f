"""Resizing along axes (`paddle.nn.functional.interpolate`): one linear operation and its transpose.

Every mode is, along each axis, a fixed matrix with a few entries in a row. The matrix depends on static things only (the
extents, the mode, the ratio), so it is written down on the host, as places and weights, and applied by taking slices.
Its transpose, the gradient, has few entries in a row as well and is applied by the same code.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import FLOAT32, is_floating
from ...core.errors import failed_check, type_error, value_error
from ...core.symbols import whole_part
from ...eager import series
from ...eager.annotations import Number, SizesLike
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ..arguments import integers
from ..basic import cast_to
from ..precision import wide
from .windowed.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

# One axis: (axis, extent before, extent after, method, ratio of the extents, align_corners, align_mode). As an attribute,
# the extent before counts for the transpose only (else the operand has it), the extent after may be a factor (a float), and
# a ratio of 0 is that of the extents: so a program holds for inputs of any size.
Axis = tuple[int, int, int | float, str, float, bool, int]

# With more entries than this in a row, multiplying by the whole matrix is faster than taking slices.
_MOST_TAPS = 16
_BY_RANK = {3: ("NCW", "NWC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}
_RANKS = {
    "nearest": (3, 4, 5), "linear": (3,), "bilinear": (4,), "trilinear": (5,), "bicubic": (4,), "area": (3, 4, 5),
}  # fmt: skip
_SMOOTH = ("linear", "bilinear", "trilinear", "bicubic")


# ---- the matrices --------------------------------------------------------------------------------


def _cubic(distance: np.ndarray, sharpness: float) -> np.ndarray:
    """Keys' cubic kernel."""
    d = np.abs(distance)
    near = ((sharpness + 2) * d - (sharpness + 3)) * d * d + 1
    far = ((d - 5) * d + 8) * d * sharpness - 4 * sharpness
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def _positions(before: int, after: int, ratio: float, corners: bool, centred: bool) -> np.ndarray:
    """Where each new element lies among the old ones."""
    steps = np.arange(after, dtype=np.float64)
    if corners:
        return steps * ((before - 1) / (after - 1) if after > 1 else 0.0)
    return (steps + 0.5) * ratio - 0.5 if centred else steps * ratio


def _smoothed(before: int, after: int, method: str, ratio: float) -> np.ndarray:
    """Rows for shrinking without aliasing: the kernel is stretched over all elements that it passes."""
    stretch = max(ratio, 1.0)
    centre = (np.arange(after) + 0.5) * ratio
    distance = (np.arange(before)[None, :] + 0.5 - centre[:, None]) / stretch
    rows = _cubic(distance, -0.5) if method == "cubic" else np.maximum(1 - np.abs(distance), 0)
    return rows / rows.sum(1, keepdims=True)


@functools.lru_cache(maxsize=256)
def _matrix(before: int, after: int, method: str, ratio: float, corners: bool, mode: int) -> np.ndarray:
    rows = np.zeros((after, before))
    each = np.arange(after)
    if method.startswith("smooth "):
        return _smoothed(before, after, method[7:], ratio)
    if method == "nearest":
        places = np.arange(after) * ((before - 1) / max(after - 1, 1) if corners else ratio)
        rows[each, np.clip(np.floor(places + (0.5 if corners else 0.0)), 0, before - 1).astype(int)] = 1
    elif method == "linear":
        places = np.maximum(_positions(before, after, ratio, corners, mode == 0), 0)
        low = np.minimum(np.floor(places).astype(int), before - 1)
        share = np.where(low < before - 1, places - low, 0.0)
        np.add.at(rows, (each, low), 1 - share)
        np.add.at(rows, (each, np.minimum(low + 1, before - 1)), share)
    else:
        places = _positions(before, after, ratio, corners, True)
        low = np.floor(places).astype(int)
        for tap in range(-1, 3):
            weight = _cubic(places - low - tap, -0.75)
            np.add.at(rows, (each, np.clip(low + tap, 0, before - 1)), weight)
    return rows


@functools.lru_cache(maxsize=256)
def _taps(axis: Axis, transposed: bool) -> tuple[np.ndarray, np.ndarray] | np.ndarray:
    """Places and weights of the entries in each row, or the matrix itself where there are many."""
    matrix = _matrix(*axis[1:])
    matrix = matrix.T if transposed else matrix
    count = int(max((matrix != 0).sum(1).max(initial=0), 1))
    if count > _MOST_TAPS:
        return matrix
    order = np.argsort(matrix == 0, axis=1, kind="stable")[:, :count]  # the entries of each row, in order
    return order, np.take_along_axis(matrix, order, 1)


def settled(axis: Axis, extent: int, transposed: bool) -> Axis:
    """The axis with both extents and their ratio, for an operand that has this extent."""
    place, before, after, method, ratio, *rest = axis
    if transposed:
        after = extent
    else:
        before = extent
        after = whole_part(before * after) if isinstance(after, float) else after
    return (place, before, after, method, ratio or before / max(after, 1), *rest)  # type: ignore[return-value]


def _along(xp: Any, x: Any, axis: Axis, transposed: bool) -> Any:
    axis = settled(axis, x.shape[axis[0]], transposed)
    if axis[1] == axis[2] and axis[4] == 1:
        return x
    found = _taps(axis, transposed)
    place = axis[0]
    if isinstance(found, np.ndarray):
        result = xp.tensordot(xp.asarray(found.astype(x.dtype)), x, ((1,), (place,)))
        return xp.moveaxis(result, 0, place)
    places, weights = found
    view = [-1 if a == place else 1 for a in range(x.ndim)]
    total: Any = None
    for tap in range(places.shape[1]):
        part = xp.take(x, places[:, tap], axis=place)
        if not (weights[:, tap] == 1).all():
            part = part * xp.asarray(weights[:, tap].astype(x.dtype)).reshape(view)
        total = part if total is None else total + part
    return total


def _infer_resample(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    axes, transposed = attributes
    shape = list(operands[0].shape)
    for axis in axes:
        _, before, after, *_ = settled(axis, shape[axis[0]], transposed)
        shape[axis[0]] = before if transposed else after
    return operands[0].with_shape(tuple(shape))


def _transposed(g: Any, axes: tuple[Axis, ...], transposed: bool, extents: tuple[int, ...]) -> Any:
    axes = axes if transposed else tuple((axis[0], extents[axis[0]], *axis[2:]) for axis in axes)
    return resample(g, axes, not transposed)


@op(
    infer=_infer_resample,
    grad={"x": lambda g, x_aval, axes, transposed: _transposed(g, axes, transposed, x_aval.shape)},
    paddle_name="bilinear_interp_v2",
    padding=rules.windows.resample,
    series=series.algebra.linear("x"),
)
def resample(xp: Any, x: Any, axes: tuple[Axis, ...], transposed: bool) -> Any:
    """A linear map along each of some axes, or its transpose."""
    result = wide(x) if is_floating(x.dtype) else x
    for axis in axes:
        result = _along(xp, result, axis, transposed)
    return result.astype(x.dtype, copy=False)


# ---- public functions ----------------------------------------------------------------------------


def _new_extents(where: str, x: Tensor, size: Any, factor: Any, extents: tuple[int, ...]) -> tuple[list[int], Any]:
    """Wanted extents, and the factors (None where the size was given)."""
    count = len(extents)
    if (size is None) == (factor is None):
        raise value_error(where, "give exactly one of size and scale_factor", f"size: {size}, scale_factor: {factor}")
    given = size if factor is None else factor
    if factor is None and isinstance(given, (Tensor, list, tuple)):
        given = integers(where, "size", given) if _are_sizes(given) else given
    if isinstance(given, Tensor):
        given = given.tolist()
    values = list(given) if isinstance(given, (list, tuple, np.ndarray)) else [given] * count
    values = [value.item() if isinstance(value, (Tensor, np.generic)) else value for value in values]
    if len(values) == 1 and (factor is not None or isinstance(given, Tensor)):
        values *= count
    name = "size" if factor is None else "scale_factor"
    if len(values) != count:
        raise value_error(where, f"{name} must have {count} entries", f"{name}: {given}, x: {x._aval}")
    if any(isinstance(value, str) or not value > 0 for value in values):
        raise failed_check(where, f"{name} must be positive", f"{name}: {given}")
    if factor is None:
        return [whole_part(value) for value in values], None
    wanted = [whole_part(extent * value) for extent, value in zip(extents, values, strict=True)]
    if any(n < 1 for n in wanted):
        raise value_error(where, "the result would have no elements", f"scale_factor: {factor}, x: {x._aval}")
    return wanted, [float(value) for value in values]


def _are_sizes(given: Any) -> bool:
    """Whether there are integer tensors among the sizes: they may stand for sizes of other tensors."""
    tensors = [value for value in ([given] if isinstance(given, Tensor) else given) if isinstance(value, Tensor)]
    return bool(tensors) and all(tensor._aval.dtype.kind in "iu" for tensor in tensors)


def _reference_interpolate(x: np.ndarray, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                           align_corners: bool = False, align_mode: int = 0, data_format: Any = None) -> Any:  # fmt: skip
    """By the definition, element by element (for the samples)."""
    last = data_format is not None and data_format[1] != "C"
    values = np.moveaxis(x, -1, 1) if last else x
    count = values.ndim - 2
    factors = [scale_factor] * count if isinstance(scale_factor, (int, float)) else scale_factor
    for axis in range(count):
        n = values.shape[axis + 2]
        m = int(n * factors[axis]) if factors else (size if isinstance(size, int) else size[axis])
        ratio = 1 / factors[axis] if factors else n / m
        rows = []
        for i in range(m):
            row = np.zeros(n)
            at = i * (n - 1) / max(m - 1, 1) if align_corners else (i + 0.5) * ratio - 0.5
            if mode == "nearest":
                row[min(math.floor(i * ratio), n - 1)] = 1
            elif mode == "bicubic":
                for k in range(math.floor(at) - 1, math.floor(at) + 3):
                    row[min(max(k, 0), n - 1)] += _cubic(np.array(at - k), -0.75)
            else:
                at = max(at if align_corners or align_mode == 0 else i * ratio, 0)
                k = min(math.floor(at), n - 1)
                row[k] += 1 - (at - k)
                row[min(k + 1, n - 1)] += at - k
            rows.append(row)
        moved = np.moveaxis(values, axis + 2, -1) @ np.array(rows).T
        values = np.moveaxis(moved, -1, axis + 2)
    return (np.moveaxis(values, 1, -1) if last else values).astype(x.dtype, copy=False)


def _checked_mode(where: str, x: Tensor, mode: Any, align_corners: bool, align_mode: int, antialias: bool) -> str:
    """How to interpolate; ValueError where the options do not go together."""
    method = str(mode).lower()
    if method not in _RANKS:
        raise value_error(where, f"mode must be one of {', '.join(_RANKS)}", f"mode: {mode!r}")
    if x._aval.ndim not in _RANKS[method]:
        ranks = " or ".join(map(str, _RANKS[method]))
        raise value_error(where, f"mode {method!r} is for {ranks} dimensions", f"x: {x._aval}")
    if align_corners and method not in _SMOOTH:
        raise value_error(where, f"align_corners is for the modes {', '.join(_SMOOTH)}", f"mode: {mode!r}")
    if antialias and method not in ("bilinear", "bicubic"):
        raise value_error(where, "antialias is for the modes bilinear and bicubic", f"mode: {mode!r}")
    if align_mode not in (0, 1):
        raise value_error(where, "align_mode must be 0 or 1", f"align_mode: {align_mode!r}")
    return method


@samples(
    S(A(1, 2, 3, 4), [6, 8]), S(A(1, 2, 3, 4), [5, 7], mode="bilinear"), S(A(1, 1, 4, 5), scale_factor=2),
    S(A(1, 1, 4, 5), [2, 3], mode="bilinear", align_corners=True), S(A(1, 1, 4, 5), [7, 3], mode="bicubic"),
    S(A(1, 2, 5), [8], mode="linear", align_mode=1, data_format="NCW"), S(A(1, 1, 40, 2), [2, 2], mode="bilinear"),
    S(A(1, 1, 2, 3, 2), 4, mode="trilinear"), S(A(1, 3, 4, 2), 5, mode="bilinear", data_format="NHWC"),
    S(A(1, 1, 3, 4), scale_factor=[1.7, 0.6], mode="bilinear"), S(A(0, 1, 3, 4), [2, 2]),
    reference=_reference_interpolate,
)  # fmt: skip
@public(module="nn.functional")
def interpolate(
    x: Tensor,
    size: SizesLike | None = None,
    scale_factor: Number | Sequence[Number] | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Resizes the spatial axes to a size, or by a factor.

    Args:
        x: `[batch, channels, ...]` with one to three spatial axes, or with the channels last.
        size: the spatial sizes of the result.
        scale_factor: a factor for all axes, or one for each, in place of `size`.
        mode: "nearest", "linear" (one axis), "bilinear" or "bicubic" (two), "trilinear" (three), or "area", which
            averages.
        align_corners: whether the first and last elements keep their places; otherwise elements are cells.
        align_mode: whether the cells' centres (0) or their left edges (1) are matched.
        data_format: a name such as 'NCHW'; None for channels at axis 1.
        recompute_scale_factor: whether the factor is computed anew from the sizes.
        antialias: whether an element of a smaller result averages over everything it covers.
        name: a label; it changes nothing.

    Returns:
        A tensor of the new spatial sizes.

    Raises:
        ValueError: neither or both of `size` and `scale_factor` are given, or `mode` does not fit the axes.

    Examples:
        >>> x = paddle.to_tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> paddle.nn.functional.interpolate(x, scale_factor=2)[0, 0].tolist()
        [[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0], [3.0, 3.0, 4.0, 4.0], [3.0, 3.0, 4.0, 4.0]]
        >>> paddle.nn.functional.interpolate(x, size=[2, 3], mode="bilinear", align_corners=True)[0, 0].tolist()
        [[1.0, 1.5, 2.0], [3.0, 3.5, 4.0]]
    """
    where = "interpolate"
    if not isinstance(x, Tensor) or x._aval.ndim not in _BY_RANK:
        shown = x._aval if isinstance(x, Tensor) else type(x).__name__
        raise value_error(where, "x must be a Tensor with 3, 4 or 5 dimensions", f"x: {shown}")
    aval, method = x._aval, _checked_mode(where, x, mode, align_corners, align_mode, antialias)
    first, last = _BY_RANK[aval.ndim]
    aliases = {"NCL": "NCW", "NLC": "NWC"}
    layout = aliases.get(data_format or first, data_format or first)
    if layout not in (first, last):
        raise value_error(where, f"data_format must be {first!r} or {last!r}", f"data_format: {data_format!r}")
    start = 1 if layout == last else 2
    extents = aval.shape[start : start + aval.ndim - 2]
    if any(n < 1 for n in extents):
        raise value_error(where, "the spatial axes of x must not be empty", f"x: {aval}")
    wanted, by = _new_extents(where, x, size, scale_factor, extents)
    if method == "area":
        pools: Any = {3: adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}
        if aval.ndim == 3:
            return pools[3](x, wanted[0])
        return pools[aval.ndim](x, wanted, layout)
    factors = None if recompute_scale_factor or antialias else by
    method = {"bicubic": "cubic", "nearest": "nearest"}.get(method, "linear")
    kind = f"smooth {method}" if antialias else method
    axes = tuple(
        (
            start + i,
            0,
            by[i] if by else m,
            kind,
            1 / factors[i] if factors else 0.0,
            bool(align_corners),
            int(align_mode),
        )
        for i, m in enumerate(wanted)
    )
    if aval.dtype == np.uint8 and mode == "bilinear":  # pictures; fractions are cut off
        return cast_to(resample(cast_to(x, FLOAT32), axes, False), aval.dtype)
    if not is_floating(aval.dtype) and method != "nearest":
        raise type_error(where, f"mode {mode!r} is for floating types", f"x: {aval}", "convert with astype()")
    return resample(x, axes, False)


@samples(
    S(A(1, 2, 3, 4), [6, 8]), S(A(1, 1, 2, 2), scale_factor=2), S(A(1, 2, 3, 4), [5, 7], mode="bilinear"),
    reference=_reference_interpolate,
)  # fmt: skip
@public(module="nn.functional")
def upsample(
    x: Tensor,
    size: SizesLike | None = None,
    scale_factor: Number | Sequence[Number] | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The older name of `interpolate`.

    Args:
        x: `[batch, channels, ...]` with one to three spatial axes, or with the channels last.
        size: the spatial sizes of the result.
        scale_factor: a factor for all axes, or one for each, in place of `size`.
        mode: as of `interpolate`.
        align_corners: whether the first and last elements keep their places.
        align_mode: whether the cells' centres (0) or their left edges (1) are matched.
        data_format: a name such as 'NCHW'; None for channels at axis 1.
        name: a label; it changes nothing.

    Returns:
        A tensor of the new spatial sizes.

    Examples:
        >>> paddle.nn.functional.upsample(paddle.ones([1, 3, 4, 4]), scale_factor=2).shape
        paddle.Size([1, 3, 8, 8])
    """
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)
