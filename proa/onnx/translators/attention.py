"""Scaled dot-product attention, in the plain form that runtimes recognise."""

from __future__ import annotations

import numpy as np

from ..builder import Builder, Made
from ..registry import Call, translates
from .creation import counted

_LOWEST = float(np.finfo(np.float32).min / 2)


@translates("attention")
def attention(b: Builder, c: Call) -> Made:
    query, keys, values, mask = c.operands
    scale, causal = c.attributes
    heads_first, upright = (0, 2, 1, 3), (0, 2, 3, 1)
    scores = b.matmul(b.transpose(query, heads_first), b.transpose(keys, upright))
    if scale != 1:
        scores = b.with_number("Mul", scores, scale)
    if mask is not None:
        if mask.dtype == "bool":
            scores = b.where(mask, scores, b.scalar(_LOWEST, scores.dtype))
        else:
            scores = b.binary("Add", scores, b.cast(mask, scores.dtype))
    if causal:
        rows, columns = scores.sizes[-2:]
        allowed = b.binary("LessOrEqual", counted(b, columns), b.reshape(counted(b, rows), (rows, 1)), "bool")
        scores = b.where(allowed, scores, b.scalar(_LOWEST, scores.dtype))
    weights = b.same("Softmax", scores, axis=-1)
    return b.transpose(b.matmul(weights, b.transpose(values, heads_first)), heads_first)
