"""What reductions, scans and searches share: axes as users name them, types to accumulate in."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import FLOAT32, INT32, INT64, is_reduced_precision, to_numpy_dtype
from ..core.errors import value_error
from ..eager.infer import normalise_axis
from ..eager.tensor import Tensor
from .arguments import one_axis, several_axes
from .basic import reshape_to


def single_axis(where: str, axis: Any, ndim: int) -> int:
    """One axis as a non-negative integer; a 0-d tensor counts as having one axis."""
    return one_axis(where, axis, ndim or 1)


def several_or_all(where: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes of a reduction, sorted: all of them for None or an empty list."""
    if axis is None:
        return tuple(range(ndim))
    if axis.__class__ is int and ndim:
        return (normalise_axis(where, axis, ndim),)
    if isinstance(axis, (list, tuple)) and not axis:
        return tuple(range(ndim))
    axes = several_axes(where, axis, ndim or 1)
    return tuple(sorted(axes)) if ndim else ()


def index_dtype(where: str, dtype: Any) -> np.dtype:
    """The type of returned positions: int32 or int64."""
    chosen = to_numpy_dtype(dtype)
    if chosen not in (INT32, INT64):
        raise value_error(where, "positions are int32 or int64", f"dtype: {dtype!r}")
    return chosen


def flat(x: Tensor) -> Tensor:
    """All elements in one dimension."""
    return x if x._aval.ndim == 1 else reshape_to(x, (x._aval.size,))


def kept_shape(shape: tuple[int, ...], axis: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with the reduced axes kept as 1."""
    return tuple([1 if i in axis else n for i, n in enumerate(shape)])


def reduced_shape(shape: tuple[int, ...], axis: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    """The shape of a reduction over `axis`."""
    if keepdim:
        return kept_shape(shape, axis)
    return tuple([n for i, n in enumerate(shape) if i not in axis])


def wide_type(dtype: np.dtype) -> np.dtype:
    """The type to accumulate in: float32 for the types with few digits."""
    return FLOAT32 if is_reduced_precision(dtype) else dtype


def widened(x: Any) -> Any:
    """The array in the type to accumulate in; the same array where that is its own."""
    return x.astype(FLOAT32) if is_reduced_precision(x.dtype) else x


def numpy_axis(axis: Any) -> Any:
    """An axis argument as NumPy takes it (for references in samples)."""
    return tuple(axis) if isinstance(axis, list) else axis
