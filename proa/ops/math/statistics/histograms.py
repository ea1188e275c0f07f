"""Counting into bins: bincount, histogram, histogram_bin_edges, histogramdd."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.aval import make_aval
from ....core.dtype import FLOAT32, FLOAT64, INT64, is_differentiable
from ....core.errors import failed_check, type_error, value_error
from ....core.memory import check_allocation
from ....core.namespaces import can_write
from ....core.symbols import fixed
from ....eager.annotations import Number
from ....eager.declare import op, public
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor, tensor_from_data
from ....ir.operation import Check
from ....ir.padding import rules
from ...arguments import integer, integers, require_tensor
from ...axes import flat
from ...basic import cast_to, full_of, reshape_to
from ...create.creation import real_of
from ...index.indexing import get_item
from ...index.lookup import insertion_places
from ...index.search import spread_along
from ...shape.joining import concat
from ..reduction import max, min
from ..ternary import clip
from .counting import space_between

# ---- bincount ------------------------------------------------------------------------------------


def _reference_bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    counts = np.bincount(x, weights, minlength)
    return counts if weights is None or weights.dtype != np.float32 else counts.astype("float32")


@samples(
    S(A(values=[1, 1, 3], dtype="int64")), S(A(6, dtype="int32", low=0, high=5), minlength=9),
    S(A(5, dtype="int64", low=0, high=4), A(5, grad=False)), S(A(0, dtype="int64"), minlength=3),
    S(A(3, dtype="int64", low=0), A(3, dtype="int64")), S(A(3, dtype="int64", low=0), A(3, dtype="float64", grad=False)),
    reference=_reference_bincount, gradient=False, why="counts have no gradient, in Paddle neither",
)  # fmt: skip
@public(method=True)
def bincount(x: Tensor, weights: Tensor | None = None, minlength: int | Tensor = 0, name: str | None = None) -> Tensor:
    """How often each of the numbers 0, 1, 2 … occurs in a vector.

    It looks at the values, because the largest decides the shape.

    Args:
        x: integers, none of them negative, along one axis.
        weights: what each element counts; 1 by default.
        minlength: the least length of the result.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.bincount(paddle.to_tensor([0, 1, 1, 3])).tolist()
        [1, 2, 0, 1]
    """
    aval = require_tensor("bincount", "x", x)._aval
    if aval.dtype != np.int64 and aval.dtype != np.int32:
        raise type_error("bincount", "x must be integers, int32 or int64", f"x: {aval}", "convert with astype('int64')")
    if aval.ndim != 1:
        raise value_error("bincount", "x must have one dimension", f"x: {aval}", "use flatten()")
    if weights is not None and require_tensor("bincount", "weights", weights)._aval.shape != aval.shape:
        raise value_error("bincount", "weights must have the shape of x", f"weights: {weights._aval}, x: {aval}")
    least = integer("bincount", "minlength", minlength)
    if least < 0:
        raise value_error("bincount", "minlength must not be negative", f"minlength: {least}")
    values = np.asarray(x._data())
    if values.size and values.min() < 0:
        raise value_error("bincount", "x must not be negative", f"an element {values.min()}")
    length = sorted((int(values.max()) + 1 if values.size else 0, least))[1]
    dtype = INT64
    if weights is not None:
        dtype = FLOAT32 if weights._aval.dtype == FLOAT32 else FLOAT64
    check_allocation("bincount", (make_aval((length,), dtype, aval.place),))
    amounts = None if weights is None else np.asarray(weights._data()).astype(np.float64)
    counts = np.bincount(values.astype(np.int64, copy=False), amounts, least)
    return tensor_from_data(counts.astype(dtype, copy=False), place=aval.place)


# ---- histogram -----------------------------------------------------------------------------------


def _infer_histogram(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Any:
    bins, _, density = attributes
    counts = operands[3] is None and not density
    return make_aval((bins,), INT64 if counts else FLOAT32, place)


_FINITE = Check(
    lambda xp, x, low, high, weight, bins, own_range, density: ~(own_range & xp.any(xp.isinf(x))),
    lambda kinds, attributes: "without a range (min and max) the elements of input must be finite",
    ValueError,
    (0,),
)


@op(
    "input",
    scalars="low high",
    optional="weight",
    infer=_infer_histogram,
    check=_FINITE,
    follow_scalars=False,
    name="histogram",
    padding=rules.refused("the surplus would be counted, and no value is left out of the counting"),
)
def counts_between(
    xp: Any,
    input: Any,
    low: Any,
    high: Any,
    weight: Any = None,
    bins: int = 1,
    own_range: bool = False,
    density: bool = False,
) -> Any:
    x = xp.reshape(input, (-1,)).astype(np.float64)
    if own_range and x.size:
        low, high = xp.nanmin(x), xp.nanmax(x)
    is_point = low == high
    margin = xp.where(is_point, xp.maximum(1.0, xp.abs(low) * 2.0**-50), 0.0)  # large numbers have no neighbour at 1
    low, high = low - margin, high + margin
    inside = (x >= low) & (x <= high)
    place = xp.where(inside, xp.floor((x - low) * bins / (high - low)), 0)
    place = xp.minimum(place.astype(np.int64), bins - 1)
    amount = inside if weight is None else xp.where(inside, xp.reshape(weight, (-1,)), 0)
    if can_write(xp):
        total = xp.bincount(place, amount.astype(np.float64), bins)
    else:
        total = xp.zeros(bins, np.float64).at[place].add(amount.astype(np.float64))
    if density:
        total = total / xp.sum(total) / ((high - low) / bins)
    return total


def _range(where: str, aval: Any, bins: Any, low: Any, high: Any) -> tuple[int, float, float]:
    if aval.dtype.kind in "bc":
        raise type_error(where, "input must be real numbers", f"input: {aval}", "convert with astype()")
    count = integer(where, "bins", bins)
    first, last = real_of(where, "min", low), real_of(where, "max", high)
    if count < 1:
        raise value_error(where, "bins must be at least 1", f"bins: {bins}")
    if not (math.isfinite(first) and math.isfinite(last) and first <= last):
        raise value_error(where, "min must not be above max, and both finite", f"min: {first}, max: {last}")
    return count, first, last


def _reference_histogram(
    x: Any, bins: int = 100, min: float = 0, max: float = 0, weight: Any = None, density: bool = False
) -> Any:
    if min == max == 0 and x.size:
        min, max = np.min(x), np.max(x)
    limits = (float(min) - 1, float(max) + 1) if min == max else (float(min), float(max))
    counts, _ = np.histogram(x, bins, limits, density=density, weights=weight)
    return counts if weight is None and not density else counts.astype("float32")


@samples(
    S(A(values=[1.0, 2.0, 1.0]), 4, 0, 3), S(A(9, grad=False), bins=4), S(A(9, dtype="int64"), 5),
    S(A(9, grad=False), 4, weight=A(9, grad=False)), S(A(2, 9, grad=False), 4, -1.0, 1.0, density=True),
    S(A(values=[2.0, 2.0]), 4),
    S(A(6, grad=False), 3, weight=A(6, low=0.5, grad=False), density=True), S(A(0), bins=3), S(A()),
    reference=_reference_histogram, gradient=False, why="counts have no gradient",
)  # fmt: skip
@public(method=True)
def histogram(
    input: Tensor,
    bins: int | Tensor = 100,
    min: Number = 0.0,
    max: Number = 0.0,
    weight: Tensor | None = None,
    density: bool = False,
    name: str | None = None,
) -> Tensor:
    """How many elements lie in each of a number of equal intervals.

    Args:
        input: the tensor.
        bins: the number of intervals.
        min: the left end of the first one.
        max: the right end of the last one, which belongs to it; both 0 mean the range of the elements.
        weight: what each element counts; 1 by default.
        density: scale the result so that the area under it is one.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.histogram(paddle.to_tensor([0.5, 1.5, 1.7]), bins=3, min=0.0, max=3.0).tolist()
        [1, 2, 0]
    """
    aval = require_tensor("histogram", "input", input)._aval
    count, low, high = _range("histogram", aval, bins, min, max)
    if weight is not None and require_tensor("histogram", "weight", weight)._aval.shape != aval.shape:
        raise value_error("histogram", "weight must have the shape of input", f"weight: {weight._aval}, input: {aval}")
    if not aval.size:  # no counts, but zeros of the input's type
        return full_of(0, (count,), aval.dtype)
    return counts_between(input, low, high, weight, count, low == high == 0, bool(density))


def _reference_edges(x: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    if min == max == 0:
        min, max = np.min(x), np.max(x)
    return np.histogram_bin_edges(x, bins, (float(min), float(max))).astype("float32")


@samples(
    S(A(5, grad=False), 4), S(A(5, grad=False), 4, -1, 2), S(A(values=[2.0, 2.0]), 4), S(A(5, dtype="int64"), bins=3),
    S(A(2, 3, dtype="float64", grad=False), 5, 1.0, 1.0),
    reference=_reference_edges, gradient=False, why="edges are counted from, not differentiated",
)  # fmt: skip
@public(method=True)
def histogram_bin_edges(
    input: Tensor, bins: int | Tensor = 100, min: Number = 0.0, max: Number = 0.0, name: str | None = None
) -> Tensor:
    """The edges of equal intervals.

    Args:
        input: the tensor.
        bins: the number of intervals.
        min: the left end of the first one.
        max: the right end of the last one; both 0 mean the range of the elements.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.histogram_bin_edges(paddle.to_tensor([0.0, 4.0]), bins=4).tolist()
        [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    aval = require_tensor("histogram_bin_edges", "input", input)._aval
    count, low, high = _range("histogram_bin_edges", aval, bins, min, max)
    if low == high == 0:
        if not aval.size:
            raise value_error("histogram_bin_edges", "input has no elements to take a range from", f"input: {aval}")
        numbers = cast_to(flat(input.detach()), FLOAT64)
        return cast_to(edges_between(extent(numbers), 0.5, count), FLOAT32)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return space_between(low, high, (count + 1,), FLOAT32)


def extent(x: Tensor) -> Tensor:
    """The smallest and the largest element of a vector, as a vector."""
    return concat([reshape_to(min(x), (1,)), reshape_to(max(x), (1,))])


@op(
    "limits",
    scalars="half",
    infer=lambda _op, operands, attributes, place: make_aval((attributes[0] + 1,), FLOAT64, place),
    follow_scalars=False,
    padding=rules.refused("a rank depends on how much data there is"),
)
def edges_between(xp: Any, limits: Any, half: Any, bins: int) -> Any:
    """Equal steps between two limits, moved apart by `half` to both sides where they are equal."""
    half = xp.where(limits[0] == limits[1], half, 0.0)
    share = xp.arange(bins + 1) / bins
    return (limits[0] - half) * (1 - share) + (limits[1] + half) * share


# ---- histogramdd ---------------------------------------------------------------------------------


def _reference_histogramdd(
    x: Any, bins: Any = 10, ranges: Any = None, density: bool = False, weights: Any = None
) -> Any:
    limits: Any = None if ranges is None else np.reshape(ranges, (-1, 2)).tolist()
    rows = x.reshape(-1, x.shape[-1]).astype("float64")
    flat_weights = None if weights is None else weights.reshape(-1)
    if isinstance(bins, list) and not isinstance(bins[0], int):
        bins = [b.astype("float64") for b in bins]
    counts, edges = np.histogramdd(rows, bins, limits, density, flat_weights)
    return [counts.astype(x.dtype), *[e.astype(x.dtype) for e in edges]]


@samples(
    S(A(6, 2, grad=False), [2, 3]), S(A(6, 2, grad=False), 2, [-2.0, 2.0, -1.0, 1.0], True),
    S(A(2, 3, 2, grad=False), 3, weights=A(2, 3, grad=False)), S(A(5, 1, dtype="float64", grad=False), 4),
    S(A(6, 2, grad=False), [A(values=[-2.0, 0.0, 2.0], grad=False), A(values=[-1.0, 0.5, 2.0], grad=False)]),
    reference=_reference_histogramdd, gradient=False, why="counts have no gradient",
)  # fmt: skip
@public(method=True)
def histogramdd(
    x: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor] = 10,
    ranges: Sequence[float] | None = None,
    density: bool = False,
    weights: Tensor | None = None,
    name: str | None = None,
) -> tuple[Tensor, list[Tensor]]:
    """Counts of points in a grid, and the edges of the grid.

    Args:
        x: the points; their coordinates lie along the last axis.
        bins: the number of intervals, one for each coordinate, or the edges themselves.
        ranges: the leftmost and rightmost edge of each coordinate; by default the extent of the points.
        density: scale the counts so that the volume under them is one.
        weights: what each point counts; 1 by default.
        name: a label; it changes nothing.

    Returns:
        The counts, and a list of the edges of each coordinate.

    Examples:
        >>> counts, edges = paddle.histogramdd(paddle.to_tensor([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]), bins=[2, 2])
        >>> counts.tolist(), edges[0].tolist()
        ([[1.0, 0.0], [0.0, 2.0]], [0.0, 0.5, 1.0])
    """
    aval = require_tensor("histogramdd", "x", x)._aval
    if not is_differentiable(aval.dtype) or aval.dtype.kind == "c":
        raise type_error("histogramdd", "x must be floating", f"x: {aval}", "convert with astype('float32')")
    if aval.ndim < 2:
        raise failed_check("histogramdd", "x needs two dimensions: points and coordinates", f"x: {aval}")
    if weights is not None and require_tensor("histogramdd", "weights", weights)._aval.shape != aval.shape[:-1]:
        raise failed_check(
            "histogramdd",
            "weights must have the shape of x without its last axis",
            f"weights: {weights._aval}, x: {aval}",
        )
    dims = fixed(aval.shape[-1])
    points = reshape_to(x.detach(), (math.prod(aval.shape[:-1]), dims))
    columns = [get_item(points, (slice(None), k)) for k in range(dims)]
    edges = _grid_edges(columns, bins, ranges)
    sizes = [edge._aval.size - 1 for edge in edges]
    place: Any = None
    inside: Any = None
    widths: Any = None
    for k, (column, edge) in enumerate(zip(columns, edges, strict=True)):
        last = get_item(edge, -1)
        spot = insertion_places(edge, column, True, INT64) - 1
        within = (column >= get_item(edge, 0)) & (column <= last)
        spot = clip(spot, 0, sizes[k] - 1)  # the last edge belongs to the last interval
        place = spot if place is None else place * sizes[k] + spot
        inside = within if inside is None else inside & within
        if density:
            width = get_item(edge, slice(1, None)) - get_item(edge, slice(None, -1))
            widths = width if widths is None else reshape_to(widths, (*widths._aval.shape, 1)) * width
    amount = full_of(1.0, (points._aval.shape[0],), aval.dtype) if weights is None else flat(weights)
    if amount._aval.dtype != aval.dtype:
        amount = cast_to(amount, aval.dtype)
    amount = amount * cast_to(inside, aval.dtype)
    counts = reshape_to(spread_along(amount, place, 0, math.prod(sizes), False), tuple(sizes))
    if density:
        counts = counts / (counts.sum() * widths)
    return counts, edges


def _grid_edges(columns: list[Tensor], bins: Any, ranges: Any) -> list[Tensor]:
    dims, dtype = len(columns), columns[0]._aval.dtype
    if isinstance(bins, (list, tuple)) and bins and all(isinstance(b, Tensor) for b in bins):
        if len(bins) != dims:
            raise value_error("histogramdd", f"{dims} vectors of edges are needed", f"{len(bins)}")
        return [b if b._aval.dtype == dtype else cast_to(b, dtype) for b in bins]
    counts = integers("histogramdd", "bins", bins)
    if not isinstance(bins, (list, tuple)):
        counts = counts * dims
    if len(counts) != dims or any(n < 1 for n in counts):
        raise failed_check("histogramdd", f"bins must be positive, one or {dims} of them", f"bins: {bins}")
    if ranges is None:
        if not columns[0]._aval.size:
            return [space_between(0.0, 1.0, (n + 1,), dtype) for n in counts]
        return [
            cast_to(edges_between(extent(cast_to(column, FLOAT64)), 0.0, n), dtype)
            for column, n in zip(columns, counts, strict=True)
        ]
    limits = [real_of("histogramdd", "ranges", value) for value in ranges]
    if len(limits) != 2 * dims:
        raise failed_check("histogramdd", f"ranges must have {2 * dims} numbers", f"ranges: {list(ranges)}")
    return [space_between(limits[2 * k], limits[2 * k + 1], (n + 1,), dtype) for k, n in enumerate(counts)]
