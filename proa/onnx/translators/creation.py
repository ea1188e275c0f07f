"""Tensors made of nothing but numbers."""

from __future__ import annotations

import math

import numpy as np

from ...core.dtype import to_numpy_dtype
from ..builder import Builder, Made, is_unknown
from ..registry import Call, translates


@translates("full", "zeros", "ones")
def full(b: Builder, c: Call) -> Made:
    value = c.operands[0] if c.name == "full" else int(c.name == "ones")
    if isinstance(value, Made) or is_unknown(value):
        number = value if isinstance(value, Made) else b.scalar(value, c.dtype)
        return b.expand(b.cast(b.reshape(number, ()), c.dtype), c.sizes)
    return b.filled(c.sizes, value, c.dtype)


@translates("arange")
def arange(b: Builder, c: Call) -> Made:
    """start + step * (0, 1, 2 …): computed like this, the count never depends on rounding."""
    start, step = c.operands
    (count,) = c.sizes
    wide = "int64" if c.dtype.startswith(("int", "uint")) else "float64"
    if not any(map(is_unknown, (start, step, count))) and not isinstance(start, Made) and not isinstance(step, Made):
        numbers = np.asarray(start, wide) + np.arange(count).astype(wide) * np.asarray(step, wide)
        return b.constant(numbers.astype(to_numpy_dtype(c.dtype)))
    numbers = b.cast(counted(b, count), wide)
    first, by = (b.cast(b.reshape(c.tensor(b, p), ()), wide) for p in (0, 1))
    return b.cast(b.binary("Add", b.binary("Mul", numbers, by), first), c.dtype)


def counted(b: Builder, count: int) -> Made:
    """0, 1, 2 … as int64."""
    if not is_unknown(count):
        return b.constant(np.arange(count, dtype=np.int64))
    bounds = [b.scalar(0, "int64"), b.reshape(b.size(count), ()), b.scalar(1, "int64")]
    return b.emit("Range", bounds, ("int64", (count,)))


@translates("linspace")
def linspace(b: Builder, c: Call) -> Made:
    return b.cast(_between(b, c, "float64"), c.dtype)


def _between(b: Builder, c: Call, wide: str) -> Made:
    """Evenly from the first operand to the second; from either end by itself, so that both are met."""
    start, stop = (b.reshape(c.tensor(b, p, wide), ()) for p in (0, 1))
    (count,) = c.sizes
    if is_unknown(count):
        raise NotImplementedError("a count that is not known")
    if count == 1:
        return b.reshape(start, (1,))
    share = np.arange(count) / max(count - 1, 1)
    from_start = b.binary("Add", b.binary("Mul", b.constant(share), b.binary("Sub", stop, start)), start)
    from_stop = b.binary("Sub", stop, b.binary("Mul", b.constant(1 - share), b.binary("Sub", stop, start)))
    return b.where(b.constant(share < 0.5), from_start, from_stop)


@translates("logspace")
def logspace(b: Builder, c: Call) -> Made:
    base = b.reshape(c.tensor(b, 2, "float64"), ())
    return b.cast(b.binary("Pow", base, _between(b, c, "float64")), c.dtype)


@translates("eye")
def eye(b: Builder, c: Call) -> Made:
    if not any(map(is_unknown, c.sizes)) and math.prod(c.sizes) <= 1 << 14:
        return b.constant(np.eye(*c.sizes, dtype=to_numpy_dtype(c.dtype)))
    rows, columns = (counted(b, size) for size in c.sizes)
    same = b.binary("Equal", b.reshape(rows, (c.sizes[0], 1)), columns, "bool")
    return b.cast(same, c.dtype)
