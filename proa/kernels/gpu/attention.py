"""Scaled dot-product attention by cuDNN, which never stores the matrix of scores: kernels for the op table's GPU backend.

The gradients are cuDNN's too. Forward pass and each of the three gradients ask for the same calls with the same operands,
and XLA makes equal calls once: in a training step there is one call forward and one backward.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.xla import started_jax

_LARGEST_HEAD = 128
_OLDEST = 8.0  # compute capability of the first GPUs that cuDNN has these kernels for
_HALF = ("bfloat16", "float16")


@functools.cache
def _is_there() -> bool:
    """Whether the GPU is one that cuDNN has these kernels for (other makers' have no such number)."""
    try:
        return float(started_jax().local_devices(backend="gpu")[0].compute_capability) >= _OLDEST
    except (RuntimeError, AttributeError, IndexError, TypeError, ValueError):
        return False


def _suits(query: Any, keys: Any, values: Any, mask: Any, causal: bool) -> bool:
    """Whether cuDNN has a kernel: half precision, no mask but the causal one, heads of a suitable width."""
    if not _is_there():
        return False
    if any(np.dtype(a.dtype).name not in _HALF or a.dtype != query.dtype or not a.size for a in (query, keys, values)):
        return False
    widths = (query.shape[3], values.shape[3])
    fits = widths[0] == widths[1] and widths[0] % 8 == 0 and widths[0] <= _LARGEST_HEAD
    # The causal mask of a rectangle is aligned differently by different libraries.
    return mask is None and fits and (not causal or query.shape[1] == keys.shape[1])


def _with_gradient(query: Any, keys: Any, values: Any, scale: float, causal: bool) -> tuple[Any, Callable[[Any], Any]]:
    """The result, and the function from its gradient to those of query, keys and values."""
    jax = started_jax()

    def attend(query: Any, keys: Any, values: Any) -> Any:
        return jax.nn.dot_product_attention(
            query, keys, values, scale=float(scale), is_causal=bool(causal), implementation="cudnn"
        )

    return jax.vjp(attend, query, keys, values)


def cudnn_attention(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `attention`."""

    def kernel(xp: Any, query: Any, keys: Any, values: Any, mask: Any, scale: float, causal: bool) -> Any:
        if not _suits(query, keys, values, mask, causal):
            return fallback(xp, query, keys, values, mask, scale, causal)
        return _with_gradient(query, keys, values, scale, causal)[0]

    return kernel


def cudnn_attention_grad(fallback: Callable[..., Any], operand: int) -> Callable[..., Any]:
    """The kernel of the gradient of operand 0 (query), 1 (keys) or 2 (values)."""

    def kernel(xp: Any, y: Any, query: Any, keys: Any, values: Any, mask: Any, scale: float, causal: bool) -> Any:
        if y.dtype != query.dtype or not _suits(query, keys, values, mask, causal):
            return fallback(xp, y, query, keys, values, mask, scale, causal)
        return _with_gradient(query, keys, values, scale, causal)[1](y)[operand]

    return kernel
