"""Functions that ONNX has no operator for and that have a short form in others; windows of signals."""

from __future__ import annotations

import math

import numpy as np

from ..builder import Builder, Made, is_unknown
from ..registry import Call, translates
from .arithmetic import is_integer, scaled
from .shapes import padded


@translates("logit")
def logit(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return b.same("Log", b.binary("Div", x, scaled(b, x, -1, 1)))


@translates("frame")
def frame(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    length, hop = c.attributes
    count = c.sizes[-1]
    if is_unknown(count):
        raise NotImplementedError("frames of a signal of unknown length")
    places = np.arange(length)[:, None] + np.arange(count)[None, :] * hop
    return b.gather(x, b.constant(places.astype(np.int64)), x.ndim - 1)


@translates("copysign")
def copysign(b: Builder, c: Call) -> Made:
    """By the sign of 1 / y where y is zero."""
    x, y = c.tensor(b, 0, c.dtype), c.tensor(b, 1, c.dtype)
    if is_integer(x):
        turned = b.binary("Xor", b.with_number("Less", x, 0, "bool"), b.with_number("Less", y, 0, "bool"))
        return b.where(turned, b.binary("Sub", b.scalar(0, x.dtype), x), x)
    tested = b.where(b.with_number("Equal", y, 0, "bool"), b.same("Reciprocal", y), y)
    size = b.same("Abs", x)
    return b.where(b.with_number("Less", tested, 0, "bool"), b.same("Neg", size), size)


@translates("overlap_add")
def overlap_add(b: Builder, c: Call) -> Made:
    """A transposed convolution that puts each frame at its place."""
    x = c.operands[0]
    hop, length = c.attributes
    width, count = x.sizes[-2:]
    if any(map(is_unknown, (width, length))):
        raise NotImplementedError("frames or a signal of unknown length")
    frames = b.reshape(x, (math.prod(x.sizes[:-2]), width, count))
    weight = b.constant(np.eye(width).reshape(width, 1, width), x.dtype)
    natural = (count - 1) * hop + width
    kind = (x.dtype, (frames.sizes[0], 1, natural))
    joined = b.emit("ConvTranspose", [frames, weight], kind, kernel_shape=[width], strides=[int(hop)])
    signal = padded(b, b.reshape(joined, (*x.sizes[:-2], natural)), [(0, 0)] * (x.ndim - 2) + [(0, length - natural)],
                    b.scalar(0, x.dtype), (*x.sizes[:-2], length))  # fmt: skip
    return b.reshape(signal, c.sizes)
