"""Scaled dot-product attention as one operation, with its gradient as another; the flash_attention names on top of it.

Tensors are [batch, sequence, heads, size], as in Paddle. Without dropout the operation is recorded whole, so that a backend
may run a fused kernel for it; with dropout it is a composition.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import BOOL, FLOAT32
from ...core.errors import value_error
from ...core.symbols import maximum, square_root
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ...kernels.cpu import attention as native
from ...kernels.cpu.direct import on_host
from ...kernels.cpu.low_precision.bfloat import bfloat_attention, bfloat_attention_gradient
from ...kernels.cpu.low_precision.precision import in_float32
from ...kernels.gpu.attention import cudnn_attention, cudnn_attention_grad
from ...kernels.gpu.cold import attention as cold
from ..arguments import require_tensor
from ..basic import cast_to, full_of, transpose_to
from ..linear.linalg import matmul
from ..linear.matrix import tril
from ..math.ternary import where as choose_by
from ..precision import wide
from .dropout import dropout
from .softmax import softmax_along

_LOWEST = np.finfo(np.float32).min / 2  # the score of what must not be seen


# Methods are called where there is one: NumPy's functions of the same name wrap them.


def _heads_first(xp: Any, x: Any) -> Any:
    return wide(x).swapaxes(1, 2)


def _allowed(xp: Any, rows: int, columns: int, causal: bool) -> Any:
    return xp.arange(columns)[None, :] <= xp.arange(rows)[:, None] if causal else None


def _weights(xp: Any, query: Any, key: Any, mask: Any, scale: float, causal: bool) -> Any:
    """The softmax of the scores, from operands with the heads first."""
    scores = xp.matmul(query, key.swapaxes(-1, -2)) * query.dtype.type(scale)
    lowest = scores.dtype.type(_LOWEST)
    if mask is not None:
        scores = xp.where(mask, scores, lowest) if mask.dtype == bool else scores + mask.astype(scores.dtype)
    allowed = _allowed(xp, scores.shape[-2], scores.shape[-1], causal)
    if allowed is not None:
        scores = xp.where(allowed, scores, lowest)
    powers = xp.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _infer_attention(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    query, value = operands[0], operands[2]
    return query.with_shape((*query.shape[:3], value.shape[3]))


def _multiplications(call: Any) -> int:
    """Floating-point operations of the two products."""
    query, keys, values = call.kinds[:3]
    batch, rows, heads, width = query.shape
    return 2 * batch * heads * rows * keys.shape[1] * (width + values.shape[3])


@op(
    "query keys values",
    optional="mask",
    contracts=True,
    infer=_infer_attention,
    grad={
        "query": lambda g, query, keys, values, mask, scale, causal: attention_grad_query(
            g, query, keys, values, mask, scale, causal
        ),
        "keys": lambda g, query, keys, values, mask, scale, causal: attention_grad_key(
            g, query, keys, values, mask, scale, causal
        ),
        "values": lambda g, query, keys, values, mask, scale, causal: attention_grad_value(
            g, query, keys, values, mask, scale, causal
        ),
    },
    family="attention",
    flops=_multiplications,
    paddle_name="flash_attn",
    amp_keeps=(3,),
    padding=rules.neural.attention,
)
def attention(
    xp: Any, query: Any, keys: Any, values: Any, mask: Any = None, scale: float = 1.0, causal: bool = False
) -> Any:
    """softmax(query keyᵀ scale + mask) values, for each head."""
    weights = _weights(xp, _heads_first(xp, query), _heads_first(xp, keys), mask, scale, causal)
    return xp.matmul(weights, _heads_first(xp, values)).swapaxes(1, 2).astype(query.dtype, copy=False)


def _score_grad(xp: Any, y: Any, q: Any, k: Any, values: Any, mask: Any, scale: float, causal: bool) -> Any:
    """The gradient of the scores."""
    weights = _weights(xp, q, k, mask, scale, causal)
    dweights = xp.matmul(_heads_first(xp, y), xp.swapaxes(_heads_first(xp, values), -1, -2))
    centred = dweights - xp.sum(dweights * weights, axis=-1, keepdims=True)
    return weights * centred * q.dtype.type(scale)


def _like(position: int) -> Any:
    return lambda operation, operands, attributes, place: operands[position]


@op(
    "y query keys values",
    optional="mask",
    contracts=True,
    infer=_like(1),
    grad="auto",
    family="attention",
    padding=rules.neural.attention_grad(0),
)
def attention_grad_query(
    xp: Any, y: Any, query: Any, keys: Any, values: Any, mask: Any = None, scale: float = 1.0, causal: bool = False
) -> Any:
    q, k = _heads_first(xp, query), _heads_first(xp, keys)
    grad = xp.matmul(_score_grad(xp, y, q, k, values, mask, scale, causal), k)
    return xp.swapaxes(grad, 1, 2).astype(query.dtype)


@op(
    "y query keys values",
    optional="mask",
    contracts=True,
    infer=_like(2),
    grad="auto",
    family="attention",
    padding=rules.neural.attention_grad(1),
)
def attention_grad_key(
    xp: Any, y: Any, query: Any, keys: Any, values: Any, mask: Any = None, scale: float = 1.0, causal: bool = False
) -> Any:
    q, k = _heads_first(xp, query), _heads_first(xp, keys)
    grad = xp.matmul(xp.swapaxes(_score_grad(xp, y, q, k, values, mask, scale, causal), -1, -2), q)
    return xp.swapaxes(grad, 1, 2).astype(keys.dtype)


@op(
    "y query keys values",
    optional="mask",
    contracts=True,
    infer=_like(3),
    grad="auto",
    family="attention",
    padding=rules.neural.attention_grad(2),
)
def attention_grad_value(
    xp: Any, y: Any, query: Any, keys: Any, values: Any, mask: Any = None, scale: float = 1.0, causal: bool = False
) -> Any:
    # The values say nothing that is needed here; with them the three gradients have equal operands, and native code
    # computes them together.
    weights = _weights(xp, _heads_first(xp, query), _heads_first(xp, keys), mask, scale, causal)
    return xp.swapaxes(xp.matmul(xp.swapaxes(weights, -1, -2), _heads_first(xp, y)), 1, 2).astype(y.dtype, copy=False)


attention.operation.kernels["cpu"] = in_float32(native.native_attention(attention.operation.kernel), bfloat_attention)
attention.operation.kernels["numpy"] = on_host(native.native_attention, attention.operation.kernel)
attention.operation.kernels["gpu"] = cudnn_attention(attention.operation.kernel)
attention.operation.kernels["cupy"] = cold.attention(attention.operation.kernel)
for _number, (_primitive, _native) in enumerate(
    (
        (attention_grad_query, native.native_grad_query),
        (attention_grad_key, native.native_grad_key),
        (attention_grad_value, native.native_grad_value),
    )
):
    _operation = _primitive.operation
    _operation.kernels["cpu"] = in_float32(_native(_operation.kernel), bfloat_attention_gradient(_number))
    _operation.kernels["gpu"] = cudnn_attention_grad(_operation.kernel, _number)
    _operation.kernels["cupy"] = cold.attention_grad(_operation.kernel, _number)


# ---- compositions --------------------------------------------------------------------------------


def _received(avals: list[Aval]) -> str:
    return ", ".join(f"{name}: {aval}" for name, aval in zip(("query", "key", "value"), avals, strict=True))


def _check(where: str, query: Any, key: Any, value: Any, mask: Any) -> None:
    avals = [require_tensor(where, n, t)._aval for n, t in (("query", query), ("key", key), ("value", value))]
    if not avals[0].ndim == avals[1].ndim == avals[2].ndim == 4:
        raise value_error(where, "query, key and value must be [batch, sequence, heads, size]", _received(avals))
    q, k, v = [a.shape for a in avals]
    if q[0] != k[0] or k[:3] != v[:3] or q[3] != k[3]:
        raise value_error(where, "batch, heads and sizes of query, key and value do not fit together", _received(avals))
    if not k[2] or q[2] % k[2]:
        raise value_error(
            where, "the heads of the query must be a multiple of those of key and value", _received(avals)
        )
    if mask is not None:
        shape = require_tensor(where, "attn_mask", mask)._aval.shape
        scores = (q[0], q[2], q[1], k[1])
        fits = len(shape) <= 4 and all(a in (b, 1) for a, b in zip(reversed(shape), reversed(scores), strict=False))
        if not fits:
            raise value_error(
                where, f"the mask must broadcast to {list(scores)}", f"attn_mask: {mask._aval}, {_received(avals)}"
            )


def attend(
    where: str,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    p: float = 0.0,
    causal: bool = False,
    training: bool = True,
    scale: float | None = None,
    wants_weights: bool = False,
) -> tuple[Any, Any]:
    """The result, and the weights where they are wanted."""
    _check(where, query, key, value, mask)
    query, key, value = (cast_to(t, FLOAT32) if t._aval.dtype.kind in "biu" else t for t in (query, key, value))
    factor = 1.0 / square_root(maximum(query._aval.shape[3], 1)) if scale is None else float(scale)
    groups = query._aval.shape[2] // key._aval.shape[2]
    if groups > 1:  # several heads of the query share one of key and value
        key, value = (t.repeat_interleave(groups, 2) for t in (key, value))
    drops = bool(p) and training
    if not drops and not wants_weights and (mask is None or mask.stop_gradient or mask._aval.dtype == bool):
        return attention(query, key, value, mask, factor, bool(causal)), None
    q, k, v = (transpose_to(t, (0, 2, 1, 3)) for t in (query, key, value))
    scores: Any = matmul(q, k, False, True) * factor  # type: ignore[operator]
    lowest = float(np.finfo(np.float32).min / 2)
    if mask is not None:
        scores = choose_by(mask, scores, lowest) if mask._aval.dtype == bool else scores + mask
    if causal:
        allowed = tril(full_of(True, scores._aval.shape[-2:], BOOL))
        scores = choose_by(allowed, scores, lowest)
    weights = softmax_along(scores, 3)
    kept = dropout(weights, p) if drops else weights
    return transpose_to(matmul(kept, v, False, False), (0, 2, 1, 3)), weights


def _reference(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
               training: bool = True, backend: Any = None, scale: Any = None) -> Any:  # fmt: skip
    groups = query.shape[2] // key.shape[2]
    key, value = (np.repeat(t, groups, 2) for t in (key, value))
    scores = np.einsum("bqhd,bkhd->bhqk", query.astype(np.float64), key) * (scale or query.shape[-1] ** -0.5)
    if attn_mask is not None:
        scores = np.where(attn_mask, scores, -1e30) if attn_mask.dtype == bool else scores + attn_mask
    if is_causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -1e30)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.einsum("bhqk,bkhd->bqhd", weights, value).astype(query.dtype)


_Q, _K = A(2, 3, 2, 4), A(2, 5, 2, 4)


@samples(
    S(_Q, _K, _K), S(_Q, _K, _K, None, 0.0, True), S(_Q, _K, _K, A(2, 1, 3, 5)), S(_Q, A(2, 5, 1, 4), A(2, 5, 1, 4)),
    S(_Q, _K, _K, A(1, 1, 3, 5, values=np.arange(15).reshape(1, 1, 3, 5) % 4 > 0, dtype="bool"), scale=0.3),
    reference=_reference, second_order=False, why="second derivatives are JAX's own, and slow to compile",
)  # fmt: skip
@public(module="nn.functional")
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    backend: str | None = None,
    scale: float | None = None,
    enable_gqa: bool = True,
    name: str | None = None,
) -> Tensor:
    """`softmax(query keyᵀ scale + mask) value`.

    Args:
        query: `[batch, sequence, heads, size]`.
        key: `[batch, sequence of keys, heads, size]`; the query may have a multiple of its heads.
        value: as `key`.
        attn_mask: numbers that are added to the scores, or a bool tensor that says where to look; it broadcasts to
            `[batch, heads, queries, keys]`.
        dropout_p: the probability of a weight to be dropped while training.
        is_causal: whether a query sees only the keys up to its own place.
        training: whether dropout takes place.
        backend: accepted and ignored; the compiler chooses.
        scale: the factor of the scores; None for `1 / sqrt(size)`.
        enable_gqa: accepted; the query may have more heads than the keys in any case.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `query`.

    Examples:
        >>> query = paddle.zeros([1, 2, 1, 4])
        >>> value = paddle.to_tensor([1.0, 3.0]).reshape([1, 2, 1, 1]).expand([1, 2, 1, 4])
        >>> paddle.nn.functional.scaled_dot_product_attention(query, query, value)[0, :, 0, 0].tolist()
        [2.0, 2.0]
        >>> paddle.nn.functional.scaled_dot_product_attention(query, query, value, is_causal=True)[0, :, 0, 0].tolist()
        [1.0, 2.0]
    """
    return attend("scaled_dot_product_attention", query, key, value, attn_mask, dropout_p, is_causal, training, scale)[
        0
    ]
