"""Softmax with cross entropy of class numbers by native code, for the op table's CPU backend.

Two numbers for each row, its largest logit and the sum of the powers, are all that either direction needs beside the logits.
Both ask for them with the same call, which XLA makes once; the gradient is then one pass over the logits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import library
from .choice import chosen, enough

WORTHWHILE = 4096  # logits


def _suits(logits: Any, axis: int, *others: Any) -> bool:
    if axis != logits.ndim - 1 or not logits.size or any(a.dtype != np.float32 for a in (logits, *others)):
        return False
    if logits.shape[-1] < 8 or logits.shape[-1] >= 2**31 or not enough(logits.size, WORTHWHILE):
        return False
    return library.target("RowPowers") is not None


def _rows(logits: Any) -> tuple[Any, Any, Any]:
    """The logits as rows, their largest, and the sums of their powers."""
    rows = logits.reshape(math.prod(logits.shape[:-1]), logits.shape[-1])
    numbers = library.shaped((rows.shape[0],))
    return rows, *library.call("RowPowers", (numbers, numbers), rows)


def _divisor(xp: Any, valid: Any, ignored: int) -> Any:
    """What a mean is divided by: all labels, or those that count where `ignored` could be a class."""
    return xp.maximum(xp.sum(valid), 1).astype(np.float32) if ignored >= 0 else np.float32(valid.size)


@chosen
def native_cross_entropy(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `softmax_cross_entropy`."""

    def kernel(
        xp: Any, logits: Any, label: Any, reduction: str, axis: int, classes: int, ignored: int, keeps: bool
    ) -> Any:
        if not _suits(logits, axis):
            return fallback(xp, logits, label, reduction, axis, classes, ignored, keeps)
        rows, highest, sums = _rows(logits)
        number = label.reshape(-1)
        valid = (number >= 0) & (number < classes) & (number != ignored)
        picked = xp.take_along_axis(rows, xp.where(valid, number, 0)[:, None], axis=1)[:, 0]
        loss = xp.where(valid, xp.log(sums) - (picked - highest), np.float32(0))
        if reduction == "none":
            return loss.reshape(label.shape)
        total = xp.sum(loss)
        return total if reduction == "sum" else total / _divisor(xp, valid, ignored)

    return kernel


@chosen
def native_cross_entropy_grad(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `softmax_cross_entropy_grad`."""

    def kernel(
        xp: Any, logits: Any, label: Any, y: Any, reduction: str, axis: int, classes: int, ignored: int, keeps: bool
    ) -> Any:
        if not _suits(logits, axis, y):
            return fallback(xp, logits, label, y, reduction, axis, classes, ignored, keeps)
        rows, highest, sums = _rows(logits)
        number = label.reshape(-1)
        valid = (number >= 0) & (number < classes) & (number != ignored)
        scale = y.reshape(-1)
        if reduction == "mean":
            scale = scale / _divisor(xp, valid, ignored)
        return library.call(
            "CrossEntropyGrad", library.shaped(rows.shape), rows, xp.where(valid, number, -1).astype(np.int32),
            xp.where(valid, scale, np.float32(0)), highest, sums,
        ).reshape(logits.shape)  # fmt: skip

    return kernel
