"""Checks and plans that the operations on regions and boxes share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor, tensor_from_data
from ..ops.arguments import integers, require_tensor

FLOATS = ("float16", "bfloat16", "float32", "float64")


def floating_tensor(where: str, name: str, value: Any, ndim: int) -> Tensor:
    """A tensor of real floating numbers with `ndim` dimensions."""
    aval = require_tensor(where, name, value)._aval
    if aval.dtype.name not in FLOATS:
        raise type_error(
            where, f"{name} must hold floating-point numbers", f"{name}: {aval}", "convert it with astype()"
        )
    if aval.ndim != ndim:
        raise value_error(where, f"{name} must have {ndim} dimension(s)", f"{name}: {aval}")
    return value


def boxes_tensor(where: str, name: str, value: Any) -> Tensor:
    """Boxes as rows [x1, y1, x2, y2]."""
    floating_tensor(where, name, value, 2)
    if value._aval.shape[1] != 4:
        raise value_error(where, f"{name} must be [number of boxes, 4]", f"{name}: {value._aval}")
    return value


def host(value: Tensor) -> np.ndarray:
    """The numbers, on the host; waits for them if they are not computed yet."""
    return np.asarray(value._data())


def counts(where: str, name: str, value: Any, total: int, num_images: int | None = None) -> np.ndarray:
    """How many boxes belong to each image, checked against the number of boxes."""
    aval = require_tensor(where, name, value)._aval
    if aval.ndim != 1 or aval.dtype.kind not in "iu":
        raise value_error(where, f"{name} must be integers with one dimension", f"{name}: {aval}")
    if num_images is not None and aval.shape[0] != num_images:
        raise value_error(where, f"{name} must have a number for each of the {num_images} image(s)", f"{name}: {aval}")
    numbers = host(value).astype(np.int64)
    if (numbers < 0).any() or numbers.sum() != total:
        raise value_error(
            where, f"{name} must add up to the number of boxes, {total}", f"{name}: {numbers.tolist()[:20]}"
        )
    return numbers


def pair(where: str, name: str, value: Any) -> tuple[int, int]:
    """Two positive integers, from one or two."""
    numbers = integers(where, name, value)
    both = numbers * 2 if len(numbers) == 1 else numbers
    if len(both) != 2 or min(both) < 1:
        raise value_error(where, f"{name} must be one or two positive integers", f"{name}: {value!r}")
    return both[0], both[1]


def placed(array: np.ndarray, like: Tensor) -> Tensor:
    """A tensor of the array where `like` is."""
    return tensor_from_data(np.ascontiguousarray(array), place=like._aval.place)
