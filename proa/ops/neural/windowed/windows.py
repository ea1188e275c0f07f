"""What convolution and pooling share: window arguments as users write them, and window arithmetic.

Inside, a window over n spatial axes is described by tuples of n ints (kernel, stride, dilation) and
a tuple of n pairs (padding before and after).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.aval import Aval
from ....core.errors import failed_check, value_error
from ....eager.tensor import Tensor
from ...arguments import integer

Sizes = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]

_FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def is_channels_last(where: str, data_format: str, num_spatial: int) -> bool:
    """Whether the channel axis is the last one; ValueError for a format of another rank."""
    first, last = _FORMATS[num_spatial]
    if data_format not in (first, last):
        raise value_error(where, f"data_format must be {first!r} or {last!r}", f"data_format: {data_format!r}")
    return data_format == last


def spatial_axes(num_spatial: int, channels_last: bool) -> tuple[int, ...]:
    start = 1 if channels_last else 2
    return tuple(range(start, start + num_spatial))


def check_rank(where: str, x: Any, num_spatial: int) -> None:
    if not isinstance(x, Tensor):
        raise value_error(where, "x must be a Tensor", f"x: {type(x).__name__}")
    if x._aval.ndim != num_spatial + 2:
        raise value_error(
            where,
            f"x must have {num_spatial + 2} dimensions",
            f"x: {x._aval}",
            "add the missing batch or channel dimension with unsqueeze()",
        )


def sizes(where: str, name: str, value: Any, num_spatial: int, least: int = 1) -> Sizes:
    """One int for each spatial axis, from an int or a list of them."""
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        result: Sizes = (integer(where, name, value),) * num_spatial
    elif isinstance(value, (list, tuple)) and all(isinstance(v, (int, np.integer, Tensor)) for v in value):
        result = tuple(integer(where, name, v) for v in value)
        if len(result) == 1:
            result *= num_spatial
    else:
        raise value_error(where, f"{name} must be an int or a list of ints", f"{name}: {value!r}")
    if len(result) != num_spatial:
        raise failed_check(where, f"{name} must have {num_spatial} entries", f"{name}: {value!r}")
    if any(size < least for size in result):
        raise value_error(where, f"{name} must be at least {least}", f"{name}: {value!r}")
    return result


def paddings(where: str, padding: Any, num_spatial: int, channels_last: bool) -> Pairs | str:
    """Padding as pairs, or "SAME" / "VALID".

    Accepts an int; n ints; 2n ints (before and after of each axis); pairs for all axes, batch and
    channel included.
    """
    if isinstance(padding, str):
        word = padding.upper()
        if word not in ("SAME", "VALID"):
            raise value_error(where, "padding must be 'SAME', 'VALID' or numbers", f"padding: {padding!r}")
        return word
    if isinstance(padding, (int, np.integer)) and not isinstance(padding, bool):
        number = integer(where, "padding", padding)
        pairs: Pairs = ((number, number),) * num_spatial
    elif isinstance(padding, (list, tuple)):
        pairs = _pairs_from_list(where, padding, num_spatial, channels_last)
    else:
        raise value_error(where, "padding must be an int, a list or a string", f"padding: {padding!r}")
    if any(extent < 0 for pair in pairs for extent in pair):
        raise value_error(where, "padding cannot be negative", f"padding: {padding!r}")
    return pairs


def _pairs_from_list(where: str, padding: Sequence[Any], num_spatial: int, channels_last: bool) -> Pairs:
    if padding and all(isinstance(entry, (list, tuple)) and len(entry) == 2 for entry in padding):
        if len(padding) == num_spatial + 2:
            axes = spatial_axes(num_spatial, channels_last)
            if any(any(entry) for axis, entry in enumerate(padding) if axis not in axes):
                raise value_error(where, "batch and channels cannot be padded", f"padding: {padding!r}")
            return tuple(
                (integer(where, "padding", padding[axis][0]), integer(where, "padding", padding[axis][1]))
                for axis in axes
            )
    elif all(isinstance(entry, (int, np.integer, Tensor)) for entry in padding):
        numbers = [integer(where, "padding", entry) for entry in padding]
        if len(numbers) == num_spatial:
            return tuple((n, n) for n in numbers)
        if len(numbers) == 2 * num_spatial:
            return tuple(zip(numbers[::2], numbers[1::2], strict=True))
    raise value_error(
        where,
        f"padding must be {num_spatial} ints, {2 * num_spatial} ints, or {num_spatial + 2} pairs",
        f"padding: {padding!r}",
    )


def same_padding(extents: Sequence[int], kernel: Sizes, stride: Sizes) -> Pairs:
    """Padding that makes the output ceil(extent / stride) long; the odd element goes behind."""
    pairs = []
    for extent, width, step in zip(extents, kernel, stride, strict=True):
        total = max((-(-extent // step) - 1) * step + width - extent, 0)
        pairs.append((total // 2, total - total // 2))
    return tuple(pairs)


def spatial_shape(aval: Aval, channels_last: bool) -> tuple[int, ...]:
    return aval.shape[1:-1] if channels_last else aval.shape[2:]


def join_shape(batch: int, channels: int, spatial: Sequence[int], channels_last: bool) -> tuple[int, ...]:
    return (batch, *spatial, channels) if channels_last else (batch, channels, *spatial)
