"""Rows (layer norm, softmax, cross entropy over classes) and sums of columns: a block of threads for each row."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .memo import once
from .raw import function, in_order, is_float32, threads_for

Shape = tuple[int, ...]
_ENOUGH = 1024  # blocks that keep a GPU busy
_COLUMNS, _DEEP = 32, 8  # threads of a block that adds up columns

_SOURCE = """
// Mean and factor of a row, and, where there is an `out`, its layer norm (or, not centred, RMS norm).
extern "C" __global__ void row_normalise(
    const float* x, const float* weight, const float* bias, float* out, float* mean, float* factor, int width,
    float epsilon, bool centred
) {
    const float* row = x + (long long) blockIdx.x * width;
    float centre = 0.0f, sum = 0.0f;
    if (centred) {
        for (int i = threadIdx.x; i < width; i += blockDim.x) sum += row[i];
        centre = block_sum(sum) / width;
    }
    float squares = 0.0f;
    for (int i = threadIdx.x; i < width; i += blockDim.x) { const float d = row[i] - centre; squares += d * d; }
    const float scale = rsqrtf(block_sum(squares) / width + epsilon);
    if (threadIdx.x == 0) { mean[blockIdx.x] = centre; factor[blockIdx.x] = scale; }
    if (!out) return;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[(long long) blockIdx.x * width + i] =
            (row[i] - centre) * scale * (weight ? weight[i] : 1.0f) + (bias ? bias[i] : 0.0f);
}
extern "C" __global__ void row_grad(
    const float* x, const float* y, const float* weight, const float* mean, const float* factor, float* out, int width,
    bool centred
) {
    const long long start = (long long) blockIdx.x * width;
    const float centre = mean[blockIdx.x], scale = factor[blockIdx.x];
    float total = 0.0f, along = 0.0f;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        const float g = y[start + i] * (weight ? weight[i] : 1.0f);
        total += g;
        along += g * (x[start + i] - centre) * scale;
    }
    total = centred ? block_sum(total) / width : 0.0f;
    along = block_sum(along) / width;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        const float g = y[start + i] * (weight ? weight[i] : 1.0f);
        out[start + i] = (g - total - (x[start + i] - centre) * scale * along) * scale;
    }
}
// Sums of columns over some rows: of y, or of y times the normalised x.
extern "C" __global__ void column_parts(
    const float* y, const float* x, const float* mean, const float* factor, float* parts, int rows, int width, int each
) {
    __shared__ float held[8][33];
    const int column = blockIdx.x * 32 + threadIdx.x, first = blockIdx.y * each, end = min(rows, first + each);
    float sum = 0.0f;
    if (column < width)
        for (int row = first + threadIdx.y; row < end; row += blockDim.y) {
            const long long at = (long long) row * width + column;
            sum += x ? y[at] * (x[at] - mean[row]) * factor[row] : y[at];
        }
    held[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < width) {
        for (int deep = 1; deep < blockDim.y; ++deep) sum += held[deep][threadIdx.x];
        parts[(long long) blockIdx.y * width + column] = sum;
    }
}
extern "C" __global__ void column_whole(const float* parts, float* out, int width, int splits) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= width) return;
    float sum = 0.0f;
    for (int split = 0; split < splits; ++split) sum += parts[(long long) split * width + column];
    out[column] = sum;
}
extern "C" __global__ void row_mean(const float* x, float* out, int width) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < width; i += blockDim.x) sum += x[(long long) blockIdx.x * width + i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum / width;
}
// The softmax of scale * x; with `rows`, row n of so many sees the columns up to n alone.
extern "C" __global__ void row_softmax(const float* x, float* out, int width, float scale, int rows) {
    const long long start = (long long) blockIdx.x * width;
    const int seen = rows ? min(width, (int) (blockIdx.x % rows) + 1) : width;
    float most = LOWEST, sum = 0.0f;
    for (int i = threadIdx.x; i < seen; i += blockDim.x) most = fmaxf(most, scale * x[start + i]);
    most = block_max(most);
    for (int i = threadIdx.x; i < seen; i += blockDim.x) sum += expf(scale * x[start + i] - most);
    sum = block_sum(sum);
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[start + i] = i < seen ? expf(scale * x[start + i] - most) / sum : 0.0f;
}
// The gradient in x of softmax(x), times a scale, for the gradient y of the shares.
extern "C" __global__ void row_softmax_grad(const float* shares, const float* y, float* out, int width, float scale) {
    const long long start = (long long) blockIdx.x * width;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < width; i += blockDim.x) sum += shares[start + i] * y[start + i];
    sum = block_sum(sum);
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[start + i] = shares[start + i] * (y[start + i] - sum) * scale;
}
// -log softmax(x)[label] of a row, 0 where the label is the one that does not count; most and log of sum are kept.
extern "C" __global__ void row_entropy(
    const float* x, const long long* labels, float* loss, float* level, int width, long long ignored
) {
    const float* row = x + (long long) blockIdx.x * width;
    float most = LOWEST, sum = 0.0f;
    for (int i = threadIdx.x; i < width; i += blockDim.x) most = fmaxf(most, row[i]);
    most = block_max(most);
    for (int i = threadIdx.x; i < width; i += blockDim.x) sum += expf(row[i] - most);
    sum = most + logf(block_sum(sum));
    if (threadIdx.x == 0) {
        const long long label = labels[blockIdx.x];
        level[blockIdx.x] = sum;
        loss[blockIdx.x] = label == ignored || label < 0 || label >= width ? 0.0f : sum - row[label];
    }
}
// `y`: the gradient of each row's loss, or one for all, over `divisor`, if there is one.
extern "C" __global__ void row_entropy_grad(
    const float* x, const long long* labels, const float* level, const float* y, const float* divisor, float* out,
    int width, long long ignored, bool one
) {
    const long long start = (long long) blockIdx.x * width, label = labels[blockIdx.x];
    const float log_sum = level[blockIdx.x];
    float scale = label == ignored || label < 0 || label >= width ? 0.0f : y[one ? 0 : blockIdx.x];
    if (divisor) scale /= divisor[0];
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[start + i] = (expf(x[start + i] - log_sum) - (i == label)) * scale;
}
"""

# ---- layer norm --------------------------------------------------------------------------------------


def normalise(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `normalise`."""

    def kernel(
        xp: Any,
        x: Any,
        weight: Any,
        bias: Any,
        epsilon: float,
        view: Shape,
        axes: Shape,
        broadcast: Shape,
        centred: bool,
    ) -> Any:
        width = _row_width(x, view, axes, broadcast, weight, bias)
        if not width:
            return otherwise(xp, x, weight, bias, epsilon, view, axes, broadcast, centred)
        out = xp.ndarray(x.shape, np.float32)
        _statistics(xp, x, width, epsilon, centred, weight, bias, out)
        return out

    return kernel


def grad_input(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `normalise_grad_input`."""

    def kernel(
        xp: Any, x: Any, y: Any, weight: Any, epsilon: float, view: Shape, axes: Shape, broadcast: Shape, centred: bool
    ) -> Any:
        width = _row_width(x, view, axes, broadcast, y, weight)
        if not width:
            return otherwise(xp, x, y, weight, epsilon, view, axes, broadcast, centred)
        mean, factor = _statistics(xp, x, width, epsilon, centred)
        out = xp.ndarray(x.shape, np.float32)
        _start("row_grad", x, width, (*in_order(xp, x, y, weight), mean, factor, out), np.bool_(centred))
        return out

    return kernel


def grad_weight(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `normalise_grad_weight`."""

    def kernel(
        xp: Any, x: Any, y: Any, epsilon: float, view: Shape, axes: Shape, broadcast: Shape, centred: bool
    ) -> Any:
        width = _row_width(x, view, axes, broadcast, y)
        if not width or math.prod(broadcast) != width:
            return otherwise(xp, x, y, epsilon, view, axes, broadcast, centred)
        mean, factor = _statistics(xp, x, width, epsilon, centred)
        return _column_sums(xp, y, x.size // width, width, (x, mean, factor)).reshape(broadcast)

    return kernel


def _row_width(x: Any, view: Shape, axes: Shape, broadcast: Shape, *others: Any) -> int:
    """How many elements a row has, of which the last axes of `x` consist; 0 where that is not so."""
    if view != x.shape or not axes or not x.size or axes != tuple(range(x.ndim - len(axes), x.ndim)):
        return 0
    inner = x.shape[x.ndim - len(axes) :]
    parameters = tuple(broadcast[-len(inner) :]) == inner and math.prod(broadcast) == math.prod(inner)
    return math.prod(inner) if parameters and is_float32(x, *others) else 0


def _statistics(
    xp: Any, x: Any, width: int, epsilon: float, centred: bool, weight: Any = None, bias: Any = None, out: Any = None
) -> tuple[Any, Any]:
    """Mean and factor of each row, which gradients share; with an `out`, the normalised rows go there."""

    def make() -> tuple[Any, Any]:
        mean, factor = xp.ndarray(x.size // width, np.float32), xp.ndarray(x.size // width, np.float32)
        arrays = (*in_order(xp, x, weight, bias, out), mean, factor)
        _start("row_normalise", x, width, arrays, np.float32(epsilon), np.bool_(centred))
        return mean, factor

    return make() if out is not None else once("rows", (x,), (width, epsilon, centred), make)


# ---- softmax and cross entropy -----------------------------------------------------------------------


def softmax(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `softmax` over the last axis."""

    def kernel(xp: Any, x: Any, axis: int) -> Any:
        if not x.ndim or axis not in (-1, x.ndim - 1) or not x.size or not is_float32(x):
            return otherwise(xp, x, axis)
        return softmax_rows(xp, x)

    return kernel


def softmax_rows(xp: Any, x: Any, scale: float = 1.0, rows: int = 0) -> Any:
    """The softmax of `scale * x`; with `rows`, row n of each matrix of so many sees the columns up to n alone."""
    out = xp.ndarray(x.shape, np.float32)
    _start("row_softmax", x, x.shape[-1], (*in_order(xp, x), out), np.float32(scale), np.int32(rows))
    return out


def softmax_rows_grad(xp: Any, shares: Any, y: Any, scale: float) -> Any:
    """The gradient of what `shares` is the softmax of, times a scale."""
    out = xp.ndarray(shares.shape, np.float32)
    _start("row_softmax_grad", shares, shares.shape[-1], (*in_order(xp, shares, y), out), np.float32(scale))
    return out


def cross_entropy(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `softmax_cross_entropy`, of rows of classes and labels that are numbers."""

    def kernel(
        xp: Any, logits: Any, label: Any, reduction: str, axis: int, classes: int, ignored: int, keeps: bool
    ) -> Any:
        if not _are_rows(logits, label, axis, classes, keeps):
            return otherwise(xp, logits, label, reduction, axis, classes, ignored, keeps)
        loss = _entropies(xp, logits, label, ignored)[0]
        if reduction == "none":
            return loss.reshape(label.shape)
        total = loss.sum()
        return total if reduction == "sum" else total / _count(xp, label, ignored)

    return kernel


def cross_entropy_grad(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `softmax_cross_entropy_grad`."""

    def kernel(
        xp: Any, logits: Any, label: Any, y: Any, reduction: str, axis: int, classes: int, ignored: int, keeps: bool
    ) -> Any:
        if not _are_rows(logits, label, axis, classes, keeps) or not is_float32(y):
            return otherwise(xp, logits, label, y, reduction, axis, classes, ignored, keeps)
        level = _entropies(xp, logits, label, ignored)[1]
        divisor = _count(xp, label, ignored) if reduction == "mean" else None
        out = xp.ndarray(logits.shape, np.float32)
        arrays = (*in_order(xp, logits, label), level, *in_order(xp, y, divisor), out)
        sizes = (np.int64(ignored), np.bool_(reduction != "none"))
        _start("row_entropy_grad", logits, classes, arrays, *sizes)
        return out

    return kernel


def _are_rows(logits: Any, label: Any, axis: int, classes: int, keeps: bool) -> bool:
    last = axis in (-1, logits.ndim - 1) and not keeps and logits.ndim > 1 and logits.shape[-1] == classes
    labels = label.shape == logits.shape[:-1] and label.dtype == np.int64
    return bool(last and labels and logits.size and is_float32(logits))


def _entropies(xp: Any, logits: Any, label: Any, ignored: int) -> tuple[Any, Any]:
    """Of each row the loss, and the logarithm of the sum of its powers."""

    def make() -> tuple[Any, Any]:
        loss, level = xp.ndarray(label.size, np.float32), xp.ndarray(label.size, np.float32)
        arrays = (*in_order(xp, logits, label), loss, level)
        _start("row_entropy", logits, logits.shape[-1], arrays, np.int64(ignored))
        return loss, level

    return once("entropies", (logits, label), ignored, make)


def _count(xp: Any, label: Any, ignored: int) -> Any:
    """How many labels count, at least one, as a float32 array."""
    if ignored < 0:  # none is left out, or such as no class is
        return xp.asarray(np.float32(max(label.size, 1)))
    return xp.maximum((label != ignored).sum(), 1).astype(np.float32)


# ---- means of rows -----------------------------------------------------------------------------------


def mean(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `mean`, over the last axis."""

    def kernel(xp: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
        if not x.size or axis != (x.ndim - 1,) or not is_float32(x):
            return otherwise(xp, x, axis, keepdim)
        out = xp.ndarray((*x.shape[:-1], 1) if keepdim else x.shape[:-1], np.float32)
        _start("row_mean", x, x.shape[-1], (*in_order(xp, x), out))
        return out

    return kernel


# ---- sums of columns ---------------------------------------------------------------------------------


def sum_over(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `sum`, over the first axes."""

    def kernel(xp: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
        leading = axis == tuple(range(len(axis))) and 0 < len(axis) < x.ndim
        if not leading or keepdim or not x.size or not is_float32(x):
            return otherwise(xp, x, axis, keepdim)
        rows = math.prod(x.shape[: len(axis)])
        return _column_sums(xp, x, rows, x.size // rows, None).reshape(x.shape[len(axis) :])

    return kernel


def _column_sums(xp: Any, y: Any, rows: int, width: int, normalised: tuple[Any, Any, Any] | None) -> Any:
    """The sums of a matrix's columns, of its elements or of these times those of a normalised matrix."""
    across = -(-width // _COLUMNS)
    each = -(-rows // max(1, min(-(-rows // (4 * _DEEP)), _ENOUGH // across)))
    splits = -(-rows // each)
    parts = xp.ndarray((splits, width), np.float32)
    sizes = tuple(map(np.int32, (rows, width, each)))
    arrays = in_order(xp, y, *(normalised or (None,) * 3))
    function(_SOURCE, "column_parts")((across, splits), (_COLUMNS, _DEEP), (*arrays, parts, *sizes))
    if splits == 1:
        return parts.reshape(width)
    out = xp.ndarray(width, np.float32)
    counts = tuple(map(np.int32, (width, splits)))
    function(_SOURCE, "column_whole")((-(-width // 128),), (128,), (parts, out, *counts))
    return out


# ----------------------------------------------------------------------------------------------------


def _start(name: str, x: Any, width: int, arrays: tuple[Any, ...], *numbers: Any) -> None:
    """A block for each row of `x`."""
    function(_SOURCE, name)((x.size // width,), (threads_for(width),), (*arrays, np.int32(width), *numbers))
