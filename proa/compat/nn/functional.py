"""`paddle.compat.nn.functional`: linear, softmax, pad, unfold and attention under PyTorch's signatures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import runtime_error, type_error, value_error
from ...eager.annotations import Number, PaddingLike, SizesLike
from ...eager.calling import deliver
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ops.arguments import integers, require_tensor
from ...ops.basic import expand_to, full_of, reshape_to, transpose_to
from ...ops.create.creation import scalar_of
from ...ops.linear import linalg
from ...ops.math.ternary import where
from ...ops.neural import softmax as softmaxes
from ...ops.neural.dropout import dropout
from ...ops.shape.joining import stack_along
from ...ops.shape.padding import pad as padded
from ...ops.shape.padding import pad_with as padding_with
from ...ops.shape.slicing import read_at
from ..calling import paddle_function, refusing

__all__ = ["linear", "pad", "scaled_dot_product_attention", "softmax", "unfold"]

# ---- linear, softmax -----------------------------------------------------------------------------


@samples(
    S(A(3, 4), A(2, 4)), S(A(3, 4), A(2, 4), A(2)), S(A(2, 3, 4), A(1, 4)), S(A(4), A(2, 4)), S(A(3, 4), A(4)),
    S(A(0, 4), A(2, 4), A(2)),
    reference=lambda x, weight, bias=None: x @ weight.T + (0 if bias is None else bias),
)  # fmt: skip
@public(module="compat.nn.functional")
@refusing("compat.nn.functional.linear", "nn.functional.linear", "x name")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input @ weight.T + bias`, with PyTorch's arguments.

    Args:
        input: `[..., in_features]`.
        weight: `[out_features, in_features]`, or `[in_features]`.
        bias: `[out_features]`, or None.

    Returns:
        A tensor `[..., out_features]`.

    Examples:
        >>> input = paddle.to_tensor([[1.0, 2.0]])
        >>> weight = paddle.to_tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> paddle.compat.nn.functional.linear(input, weight).tolist()
        [[1.0, 2.0, 3.0]]
    """
    where_ = "compat.nn.functional.linear"
    ndim = require_tensor(where_, "weight", weight)._aval.ndim
    x = require_tensor(where_, "input", input)
    if ndim == 2 and x._aval.ndim > 1:
        return linalg.linear(x, transpose_to(weight, (1, 0)), bias)
    result = linalg.matmul(x, weight, False, ndim == 2)
    return result if bias is None else result + bias


def _implicit_dimension(ndim: int) -> int:
    """PyTorch's rule for a softmax without `dim`: the first of 0, 1 or 3 dimensions, the second otherwise."""
    return 0 if ndim in (0, 1, 3) else 1


def _reference_softmax(x: Any, dim: Any = None, dtype: Any = None) -> Any:
    x = x.astype(dtype or x.dtype)
    axis = _implicit_dimension(x.ndim) if dim is None else dim
    if not x.ndim:
        return np.ones_like(x)
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


@samples(
    S(A(3, 4)), S(A(2, 3, 4)), S(A(4)), S(A()), S(A(3, 4), 0), S(A(3, 4), dim=-1, dtype="float64"),
    S(A(4, dtype="int64"), 0, "float32"),
    reference=_reference_softmax,
)  # fmt: skip
@public(module="special")
@public(module="compat.nn.functional")
@refusing("compat.nn.functional.softmax", "nn.functional.softmax", "x axis name")
def softmax(input: Tensor, dim: int | None = None, dtype: Any = None, *, out: Tensor | None = None) -> Tensor:
    """`exp(x) / sum(exp(x))` along an axis.

    Args:
        input: the tensor.
        dim: the axis. Without it, by an old rule of PyTorch's, the first for tensors of none, one or three axes, else the
            second.
        dtype: the type to compute in; that of `input` by default.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.special.softmax(paddle.to_tensor([[0.0, 0.0]]), 1).tolist()
        [[0.5, 0.5]]
    """
    x = require_tensor("compat.nn.functional.softmax", "input", input)
    axis = _implicit_dimension(x._aval.ndim) if dim is None else dim
    return deliver(softmaxes.softmax(x, axis, dtype), out)


# ---- pad, unfold ---------------------------------------------------------------------------------

_NUMPY_MODES: dict[str, Any] = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _reference_pad(x: Any, pad: Any, mode: Any = "constant", value: float = 0.0) -> Any:
    pairs = [(0, 0)] * (x.ndim - len(pad) // 2) + [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    if mode == "constant":
        return np.pad(x, pairs, constant_values=value)
    return np.pad(x, pairs, _NUMPY_MODES[mode])


@samples(
    S(A(3, 4), [1, 2]), S(A(3, 4), (1, 0, 0, 2), "constant", 5), S(A(3, 4), [1, 1], "reflect"), S(A(3), []),
    S(A(1, 3, 4), [1, 2, 2, 1], mode="replicate"), S(A(1, 1, 2, 3, 4), [1, 1, 1, 0], mode="circular"),
    S(A(3, dtype="int64"), [1, 1], value=7),
    reference=_reference_pad,
)  # fmt: skip
@public(module="compat.nn.functional")
@refusing("compat.nn.functional.pad", "nn.functional.pad", "x data_format pad_from_left_axis name")
def pad(
    input: Tensor, pad: Sequence[int | Tensor] | Tensor | int, mode: str = "constant", value: Number = 0.0
) -> Tensor:
    """A border, with PyTorch's arguments.

    Args:
        input: the tensor.
        pad: pairs (before, after), the last dimension's first. A negative number cuts off (mode "constant").
        mode: "constant", "reflect" (mirrored without the edge), "replicate" (the edge) or "circular" (the other end).
        value: what a constant border holds.

    Returns:
        A tensor of the dtype of `input`.

    Examples:
        >>> paddle.compat.nn.functional.pad(paddle.to_tensor([[1, 2, 3]]), [1, -1]).tolist()
        [[0, 1, 2]]
    """
    name = "compat.nn.functional.pad"
    x = require_tensor(name, "input", input)
    sizes = integers(name, "pad", pad)
    shape = x._aval.shape
    if len(sizes) % 2 or len(sizes) > 2 * len(shape):
        raise value_error(
            name, "pad holds two numbers for each of the last dimensions", f"pad: {pad}, input: {x._aval}"
        )
    pairs = [(0, 0)] * (len(shape) - len(sizes) // 2)
    pairs += [(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 2, -1, -2)]
    if mode == "constant":
        number = scalar_of(name, "value", value)
        return padding_with(x, int(number) if x._aval.dtype.kind in "biu" else number, tuple(pairs))
    if mode not in _NUMPY_MODES:
        raise value_error(name, "mode is 'constant', 'reflect', 'replicate' or 'circular'", f"mode: {mode!r}")
    for axis, pair in enumerate(pairs):
        if any(pair):
            rows = reshape_to(x, (math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])))
            longer = padded(rows, list(pair), mode, data_format="NLC")
            shape = (*shape[:axis], longer._aval.shape[1], *shape[axis + 1 :])
            x = reshape_to(longer, shape)
    return x


def _reference_unfold(x: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    kernel, gap, border, step = (
        tuple(v) if isinstance(v, (list, tuple)) else (v, v) for v in (kernel_size, dilation, padding, stride)
    )
    x = np.pad(x, [(0, 0), (0, 0), (border[0],) * 2, (border[1],) * 2])
    reach = [gap[i] * (kernel[i] - 1) + 1 for i in range(2)]
    columns = [
        x[:, :, i : i + reach[0] : gap[0], j : j + reach[1] : gap[1]].reshape(x.shape[0], -1)
        for i in range(0, x.shape[2] - reach[0] + 1, step[0])
        for j in range(0, x.shape[3] - reach[1] + 1, step[1])
    ]
    return np.stack(columns, -1)


@samples(
    S(A(2, 3, 4, 5), 2), S(A(1, 2, 5, 6), (2, 3), 1, 1, 2), S(A(1, 1, 6, 6), [2, 2], dilation=2, padding=(1, 0)),
    reference=_reference_unfold,
)  # fmt: skip
@public(module="compat.nn.functional")
@refusing("compat.nn.functional.unfold", "nn.functional.unfold", "x kernel_sizes strides paddings dilations name")
def unfold(
    input: Tensor, kernel_size: SizesLike, dilation: SizesLike = 1, padding: PaddingLike = 0, stride: SizesLike = 1
) -> Tensor:
    """The windows of images as columns, with PyTorch's arguments.

    Args:
        input: `[batch, channels, height, width]`.
        kernel_size: the windows' size.
        dilation: the distance between a window's elements.
        padding: zeros at the borders.
        stride: from window to window.

    Returns:
        A tensor `[batch, channels * window, places]`.

    Examples:
        >>> paddle.compat.nn.functional.unfold(paddle.ones([1, 2, 4, 4]), 2).shape
        paddle.Size([1, 8, 9])
    """
    name = "compat.nn.functional.unfold"
    x = require_tensor(name, "input", input)
    if x._aval.ndim != 4:
        raise value_error(name, "images [batch, channels, height, width] are wanted", f"input: {x._aval}")
    kernel, gap, border, step = (
        _pair(name, what, given, least)
        for what, given, least in (
            ("kernel_size", kernel_size, 1), ("dilation", dilation, 1), ("padding", padding, 0), ("stride", stride, 1),
        )
    )  # fmt: skip
    batch, channels, *sizes = x._aval.shape
    counts = [(sizes[i] + 2 * border[i] - gap[i] * (kernel[i] - 1) - 1) // step[i] + 1 for i in range(2)]
    if any(count <= 0 for count in counts):
        raise value_error(name, "a window is larger than the image", f"input: {x._aval}, kernel_size: {list(kernel)}")
    if any(border):
        x = padding_with(x, 0, ((0, 0), (0, 0), (border[0],) * 2, (border[1],) * 2))
    parts = [
        read_at(
            x, 0, ((0, batch, 1), (0, channels, 1), (i * gap[0], counts[0], step[0]), (j * gap[1], counts[1], step[1]))
        )
        for i in range(kernel[0])
        for j in range(kernel[1])
    ]
    return reshape_to(stack_along(parts, 2), (batch, channels * len(parts), counts[0] * counts[1]))


def _pair(name: str, what: str, given: Any, least: int) -> tuple[int, ...]:
    pair = integers(name, what, given)
    pair = pair * 2 if len(pair) == 1 and not isinstance(given, (list, tuple)) else pair
    if len(pair) != 2 or min(pair) < least:
        raise value_error(name, f"{what} must be one or two integers, {least} at least", f"{what}: {given!r}")
    return pair


# ---- attention -----------------------------------------------------------------------------------


def _reference_attention(
    q: Any, k: Any, v: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, scale: Any = None,
    enable_gqa: bool = False,
) -> Any:  # fmt: skip
    if enable_gqa:
        k, v = (np.repeat(part, q.shape[-3] // part.shape[-3], -3) for part in (k, v))
    scores = q @ np.swapaxes(k, -1, -2) * (scale if scale is not None else q.shape[-1] ** -0.5)
    if is_causal:
        attn_mask = np.tril(np.ones(scores.shape[-2:], bool))
    if attn_mask is not None:
        scores = np.where(attn_mask, scores, -np.inf) if attn_mask.dtype == bool else scores + attn_mask
    return _reference_softmax(scores, -1) @ v


@samples(
    S(A(2, 3, 4, 5), A(2, 3, 6, 5), A(2, 3, 6, 2)), S(A(2, 4, 5), A(2, 4, 5), A(2, 4, 5), is_causal=True),
    S(A(2, 2, 3, 4), A(2, 1, 3, 4), A(2, 1, 3, 4), scale=0.3, enable_gqa=True),
    S(A(2, 3, 4), A(2, 3, 4), A(2, 3, 4), A(3, 3)),
    S(A(2, 2, 4), A(2, 2, 4), A(2, 2, 4), A(2, 2, dtype="bool", values=[[True, False], [True, True]])),
    reference=_reference_attention,
)  # fmt: skip
@public(module="compat.nn.functional")
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """`softmax(query @ key.T * scale + mask) @ value`, with PyTorch's arguments.

    Dropout applies whenever `dropout_p` is not 0.

    Args:
        query: `[..., heads, length, size]`.
        key: as `query`.
        value: as `key`.
        attn_mask: True where attention is allowed; another one than a boolean is added.
        dropout_p: the probability of a weight to be dropped.
        is_causal: whether a query sees only the keys up to its own place.
        scale: the factor of the scores; None for `1 / sqrt(size)`.
        enable_gqa: whether several heads of the query may share one of key and value.

    Returns:
        A tensor of the shape of `query`.

    Examples:
        >>> query, value = paddle.zeros([1, 2, 4]), paddle.to_tensor([[[1.0], [3.0]]])
        >>> y = paddle.compat.nn.functional.scaled_dot_product_attention(query, query, value, is_causal=True)
        >>> y.flatten().tolist()
        [1.0, 2.0]
    """
    name = "compat.nn.functional.scaled_dot_product_attention"
    q, k, v = (require_tensor(name, what, t) for what, t in (("query", query), ("key", key), ("value", value)))
    q, k, v = (t.astype("float32") if t._aval.dtype.kind in "biu" else t for t in (q, k, v))
    if min(q._aval.ndim, k._aval.ndim, v._aval.ndim) < 3:
        raise value_error(name, "three dimensions at least are wanted: [heads, length, size]", _received(q, k, v))
    if is_causal and attn_mask is not None:
        raise runtime_error(
            name, "is_causal makes the mask, so attn_mask must be None", f"attn_mask: {attn_mask._aval}"
        )
    heads, groups = q._aval.shape[-3], k._aval.shape[-3]
    if heads != groups:
        if not enable_gqa or not groups or heads % groups or v._aval.shape[-3] != groups:
            raise value_error(
                name, "query, key and value must have equally many heads", _received(q, k, v),
                "with enable_gqa=True, key and value may have a divisor of the query's",
            )  # fmt: skip
        k, v = _repeated_heads(k, heads // groups), _repeated_heads(v, heads // groups)
    factor = 1.0 / math.sqrt(q._aval.shape[-1]) if scale is None else float(scale)
    weights = attention_weights(name, linalg.matmul(q, k, False, True) * factor, attn_mask, bool(is_causal))
    if dropout_p:
        weights = dropout(weights, dropout_p)
    return linalg.matmul(weights, v)


def attention_weights(name: str, scores: Tensor, mask: Tensor | None, is_causal: bool) -> Tensor:
    """The softmax of scores [..., queries, keys] where a mask lets them through."""
    if is_causal:
        rows, columns = scores._aval.shape[-2:]
        mask = paddle_function("tril")(full_of(1.0, (rows, columns), np.dtype("float32"))) > 0.5
    if mask is not None:
        kind = require_tensor(name, "attn_mask", mask)._aval.dtype.kind
        if kind == "b":
            scores = where(mask, scores, full_of(-math.inf, (), scores._aval.dtype))
        elif kind in "iuc":
            raise type_error(name, "a mask is boolean or of a floating type", f"attn_mask: {mask._aval}")
        else:
            scores = scores + mask
    return softmaxes.softmax(scores, -1)


def _repeated_heads(x: Tensor, times: int) -> Tensor:
    *outer, heads, length, size = x._aval.shape
    spread = expand_to(reshape_to(x, (*outer, heads, 1, length, size)), (*outer, heads, times, length, size))
    return reshape_to(spread, (*outer, heads * times, length, size))


def _received(q: Tensor, k: Tensor, v: Tensor) -> str:
    return f"query: {q._aval}, key: {k._aval}, value: {v._aval}"
