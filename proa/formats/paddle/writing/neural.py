"""Convolutions, pooling, normalisation, embedding, attention, resizing, dropout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.symbols import same_size, same_sizes
from ....ops.neural.resize import _matrix, settled
from ....ops.neural.windowed.pooling_kernels import _index_table
from .builder import Builder, Made, is_unknown
from .registry import Call, translates

_LARGEST_EPSILON = float(np.float32(1e-3))  # that Paddle takes in its normalising operations
_FORMATS = {1: ("NCHW", "NHWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def _paddings(pairs: Sequence[tuple[int, int]]) -> list[int]:
    if all(before == after for before, after in pairs):
        return [before for before, _ in pairs]
    return [number for pair in pairs for number in pair]


def _with_row(b: Builder, x: Made, channels_last: bool) -> Made:
    """A one-dimensional signal as a picture of height 1."""
    axis = 1 if channels_last else 2
    return b.reshape(x, (*x.sizes[:axis], 1, *x.sizes[axis:]))


# ---- convolution -------------------------------------------------------------------------------------------------


@translates("conv")
def conv(b: Builder, c: Call) -> Made:
    x, weight, bias = c.operands
    stride, padding, dilation, groups, last = c.attributes
    rank = x.ndim - 2
    sizes = c.sizes
    if rank == 1:
        x, weight = _with_row(b, x, last), _with_row(b, weight, False)
        stride, padding, dilation = (1, *stride), ((0, 0), *padding), (1, *dilation)
        sizes = (*sizes[: 1 if last else 2], 1, *sizes[1 if last else 2 :])
    attributes = {
        "strides": list(stride), "paddings": _paddings(padding), "padding_algorithm": "EXPLICIT",
        "dilations": list(dilation), "groups": int(groups), "data_format": _FORMATS[rank][last],
    }  # fmt: skip
    channels = x.sizes[-1 if last else 1]
    name = "conv3d" if rank == 3 else "conv2d"
    if rank < 3 and groups == channels and groups > 1 and not last:
        name = "depthwise_conv2d"
    result = b.emit(name, [x, weight], attributes, (c.dtype, sizes))
    return b.reshape(_biased(b, result, bias, last), c.sizes)


def _biased(b: Builder, x: Made, bias: Made | None, last: bool) -> Made:
    if bias is None:
        return x
    view = bias if last else b.reshape(bias, (1, bias.sizes[0], *([1] * (x.ndim - 2))))
    return b.binary("add", x, view)


@translates("conv_grad_input", "conv_transpose")
def conv_transpose(b: Builder, c: Call) -> Made:
    y, weight = c.operands
    _, stride, padding, dilation, groups, last = c.attributes
    rank = y.ndim - 2
    sizes = tuple(c.sizes)
    if rank == 1:
        y, weight = _with_row(b, y, last), _with_row(b, weight, False)
        stride, padding, dilation = (1, *stride), ((0, 0), *padding), (1, *dilation)
        sizes = (*sizes[: 1 if last else 2], 1, *sizes[1 if last else 2 :])
    first = 1 if last else 2
    extra = []
    for axis, (by, pair, rate) in enumerate(zip(stride, padding, dilation, strict=True)):
        kernel = rate * (weight.sizes[2 + axis] - 1) + 1
        extra.append(sizes[first + axis] - ((y.sizes[first + axis] - 1) * by - sum(pair) + kernel))
    attributes = {
        "strides": list(stride), "paddings": _paddings(padding), "output_padding": extra if any(extra) else [],
        "padding_algorithm": "EXPLICIT", "groups": int(groups), "dilations": list(dilation),
        "data_format": _FORMATS[rank][last],
    }  # fmt: skip
    if rank == 3:
        result = b.emit("conv3d_transpose", [y, weight], {**attributes, "output_size": []}, (c.dtype, sizes))
    else:
        result = b.emit("conv2d_transpose", [y, weight, b.integers([])], attributes, (c.dtype, sizes))
    return b.reshape(result, c.sizes)


# ---- pooling -----------------------------------------------------------------------------------------------------


def _pool(
    b: Builder, c: Call, x: Made, kind: str, kernel: Sequence[int], stride: Sequence[int], padding: Any, last: bool,
    exclusive: bool = True, adaptive: bool = False,
) -> Made:  # fmt: skip
    rank = x.ndim - 2
    sizes = c.sizes
    if rank == 1:
        x = _with_row(b, x, last)
        kernel, stride, padding = (1, *kernel), (1, *stride), ((0, 0), *padding)
        sizes = (*sizes[: 1 if last else 2], 1, *sizes[1 if last else 2 :])
    attributes = {
        "strides": list(stride), "paddings": _paddings(padding), "ceil_mode": False, "exclusive": exclusive,
        "data_format": _FORMATS[rank][last], "pooling_type": kind, "global_pooling": False, "adaptive": adaptive,
        "padding_algorithm": "EXPLICIT",
    }  # fmt: skip
    if rank == 3:
        result = b.emit("pool3d", [x], {"kernel_size": list(kernel), **attributes}, (c.dtype, sizes))
    else:
        result = b.emit("pool2d", [x, b.integers(kernel)], attributes, (c.dtype, sizes))
    return b.reshape(result, c.sizes)


@translates("max_pool")
def max_pool(b: Builder, c: Call) -> Made:
    kernel, stride, padding, last = c.attributes
    return _pool(b, c, c.operands[0], "max", kernel, stride, padding, last)


@translates("avg_pool")
def avg_pool(b: Builder, c: Call) -> Made:
    kernel, stride, padding, divisor, last = c.attributes
    if isinstance(divisor, str):
        return _pool(b, c, c.operands[0], "avg", kernel, stride, padding, last, divisor == "exclusive")
    mean = _pool(b, c, c.operands[0], "avg", kernel, stride, padding, last, False)
    return b.scale(mean, math.prod(kernel) / divisor)


@translates("adaptive_average")
def adaptive_average(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    extents, axes = c.attributes
    rank = x.ndim - 2
    first = 1 if 1 in axes and x.ndim - 1 not in axes else 2
    wanted = [1] * rank
    for extent, axis in zip(extents, axes, strict=True):
        wanted[axis - first] = extent
    for place in range(rank):
        if place + first not in axes:
            wanted[place] = x.sizes[place + first]
    pads = ((0, 0),) * rank
    return _pool(b, c, x, "avg", wanted, [1] * rank, pads, first == 1, adaptive=True)


@translates("window_max")
def window_max(b: Builder, c: Call) -> list[Made]:
    x = c.operands[0]
    table = np.asarray(_index_table(x.sizes[2:], c.attributes[0]))
    windows, width = table.shape
    flat = b.reshape(x, (*x.sizes[:2], math.prod(x.sizes[2:])))
    places = b.constant(table.reshape(-1).astype(np.int64))
    taken = b.emit("gather", [flat, places, b.argument(2, "int32")], {}, (x.dtype, (*x.sizes[:2], windows * width)))
    taken = b.reshape(taken, (*x.sizes[:2], windows, width))
    attributes = {"keepdims": True, "flatten": False, "dtype": "int64"}
    winner = b.emit("argmax", [taken, b.argument(3, "int64")], attributes, ("int64", (*x.sizes[:2], windows, 1)))
    lookup = b.expand(b.constant(table.astype(np.int64).reshape(1, 1, windows, width)), taken.sizes)
    where = b.emit("take_along_axis", [lookup, winner], {"axis": 3}, winner.type)
    values = b.reduce("max", taken, [3])
    return [b.reshape(values, c.sizes), b.reshape(b.cast(where, c.types[1][0]), c.types[1][1])]


# ---- normalisation -----------------------------------------------------------------------------------------------


@translates("normalise_by")
def normalise_by(b: Builder, c: Call) -> Made:
    x, mean, variance, weight, bias, epsilon = c.operands
    view = c.attributes[0]
    channels = mean.sizes[0] if mean.ndim == 1 else None
    first = channels is not None and x.ndim > 1 and tuple(view) == (1, channels, *([1] * (x.ndim - 2)))
    last = channels is not None and x.ndim > 1 and tuple(view) in ((channels,), (*([1] * (x.ndim - 1)), channels))
    if (first or last) and float(epsilon) <= _LARGEST_EPSILON and mean.dtype == "float32":
        attributes = {
            "is_test": True, "momentum": 0.9, "epsilon": float(epsilon), "data_format": "NCHW" if first else "NHWC",
            "use_global_stats": True, "trainable_statistics": False,
        }  # fmt: skip
        statistics = [mean.type] * 4
        types = [(c.dtype, x.sizes), *statistics, None]
        return b.emit("batch_norm_", [x, mean, variance, weight, bias], attributes, *types)
    wide = b.cast(x, mean.dtype)
    factor = b.same("rsqrt", b.scale(variance, 1, float(epsilon)))
    if weight is not None:
        factor = b.binary("multiply", factor, weight)
    result = b.binary("multiply", b.binary("subtract", wide, b.reshape(mean, view)), b.reshape(factor, view))
    if bias is not None:
        result = b.binary("add", result, b.reshape(bias, view))
    return b.cast(result, c.dtype)


@translates("normalise")
def normalise(b: Builder, c: Call) -> Made:
    x, weight, bias = c.operands
    epsilon, view, axes, broadcast, centred = c.attributes
    trailing = tuple(axes) == tuple(range(len(view) - len(axes), len(view)))
    inner = tuple(view[len(view) - len(axes) :])
    fits = same_sizes(broadcast, inner) and same_sizes(view, x.sizes)
    small = float(epsilon) <= _LARGEST_EPSILON
    if centred and small and _is_group_norm(x, view, axes, broadcast):
        return _group_norm(b, x, weight, bias, view[1], float(epsilon))
    if centred and small and trailing and axes and axes[0] > 0 and not any(map(is_unknown, inner)):
        scale = weight if fits else None
        shift = bias if fits else None
        flat = b.reshape(x, view)
        result = _layer_norm(b, flat, scale, shift, len(view) - len(axes), float(epsilon))
        result = b.reshape(result, x.sizes)
        if fits:
            return result
    else:
        wide = "float32" if x.dtype in ("float16", "bfloat16") else x.dtype
        result = b.reshape(b.cast(x, wide), view)
        if centred:
            result = b.binary("subtract", result, b.reduce("mean", result, axes, True))
        variance = b.reduce("mean", b.same("square", result), axes, True)
        result = b.binary("multiply", result, b.same("rsqrt", b.scale(variance, 1, float(epsilon))))
        result = b.cast(b.reshape(result, x.sizes), x.dtype)
    if weight is not None:
        result = b.binary("multiply", result, b.reshape(b.cast(weight, x.dtype), broadcast))
    if bias is not None:
        result = b.binary("add", result, b.reshape(b.cast(bias, x.dtype), broadcast))
    return result


def _is_group_norm(x: Made, view: Sequence[int], axes: Sequence[int], broadcast: Sequence[int]) -> bool:
    """Whether channels (the second axis) are normalised in groups, together with all that follows."""
    return (
        x.ndim == 4
        and len(view) == 5
        and same_sizes(view[3:], x.sizes[2:])
        and same_size(view[1] * view[2], x.sizes[1])
        and tuple(axes) == (2, 3, 4)
        and same_sizes(broadcast, (1, x.sizes[1], 1, 1))
    )


def _group_norm(b: Builder, x: Made, weight: Made | None, bias: Made | None, groups: int, epsilon: float) -> Made:
    statistics = ("float32" if x.dtype in ("float16", "bfloat16") else x.dtype, (x.sizes[0], groups))
    attributes = {"epsilon": epsilon, "groups": int(groups), "data_format": "NCHW"}
    return b.emit("group_norm", [x, weight, bias], attributes, x.type, statistics, statistics)


def _layer_norm(b: Builder, x: Made, weight: Made | None, bias: Made | None, begin: int, epsilon: float) -> Made:
    count = math.prod(x.sizes[begin:])
    weight, bias = (None if p is None else b.reshape(p, (count,)) for p in (weight, bias))
    statistics = ("float32" if x.dtype in ("float16", "bfloat16") else x.dtype, x.sizes[:begin])
    attributes = {"epsilon": epsilon, "begin_norm_axis": begin}
    return b.emit("layer_norm", [x, weight, bias], attributes, x.type, statistics, statistics)


# ---- embedding, attention ----------------------------------------------------------------------------------------


@translates("embedding")
def embedding(b: Builder, c: Call) -> Made:
    x, weight = c.operands
    return b.emit("embedding", [x, weight], {"padding_idx": int(c.attributes[1]), "sparse": False}, c.types[0])


@translates("one_hot")
def one_hot(b: Builder, c: Call) -> Made:
    inputs = [c.operands[0], b.argument(c.sizes[-1], "int32")]
    return b.cast(b.emit("one_hot", inputs, {}, ("float32", c.sizes)), c.dtype)


@translates("attention")
def attention(b: Builder, c: Call) -> Made:
    query, keys, values, mask = c.operands
    scale, causal = c.attributes
    query, keys, values = (b.transpose(x, (0, 2, 1, 3)) for x in (query, keys, values))
    scores = b.matmul(b.scale(query, scale), keys, transpose_y=True)
    lowest = -1e30
    if mask is not None:
        if mask.dtype == "bool":
            scores = b.where(mask, scores, b.full_like(scores, lowest))
        else:
            scores = b.binary("add", scores, b.cast(mask, scores.dtype))
    if causal:
        allowed = b.cast(b.same("tril", b.full_like(scores, 1), diagonal=0), "bool")
        scores = b.where(allowed, scores, b.full_like(scores, lowest))
    weights = b.same("softmax", scores, axis=-1)
    return b.transpose(b.matmul(weights, values), (0, 2, 1, 3))


# ---- resizing ----------------------------------------------------------------------------------------------------

_METHODS = {"nearest": "nearest", "linear": "bilinear", "cubic": "bicubic"}


@translates("resample")
def resample(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    axes, transposed = c.attributes
    axes = tuple(settled(entry, x.sizes[entry[0]], transposed) for entry in axes)
    methods = {entry[3] for entry in axes}
    places = [entry[0] for entry in axes]
    if transposed or len(methods) != 1 or x.ndim != 4 or places not in ([2, 3], [1, 2]) or axes[0][3] not in _METHODS:
        return _by_matrices(b, c, x)
    method = _METHODS[axes[0][3]]
    corners, mode = axes[0][5], axes[0][6]
    extents = [c.sizes[place] for place in places]
    known = not any(map(is_unknown, extents))
    attributes = {
        "data_format": "NCHW" if places == [2, 3] else "NHWC", "out_d": -1, "out_h": extents[0] if known else -1,
        "out_w": extents[1] if known else -1, "scale": [], "interp_method": method, "align_corners": bool(corners),
        "align_mode": int(mode),
    }  # fmt: skip
    natural = known and all(math.isclose(e[4], e[1] / e[2], rel_tol=1e-12) for e in axes)
    if any(is_unknown(entry[4]) for entry in axes):
        return _by_matrices(b, c, x)
    if not known or not natural:
        attributes |= {"scale": [1 / entry[4] for entry in axes], "out_h": -1, "out_w": -1}
    return b.emit(f"{method}_interp", [x, None, None, None], attributes, c.types[0])


def _by_matrices(b: Builder, c: Call, x: Made) -> Made:
    axes, transposed = c.attributes
    for entry in axes:
        entry = settled(entry, x.sizes[entry[0]], transposed)
        before, after = entry[1:3]
        if isinstance(after, int) and same_size(before, after) and not is_unknown(entry[4]) and entry[4] == 1:
            continue
        if any(map(is_unknown, entry[1:])):
            raise NotImplementedError("this way of resizing, along a dimension of unknown size")
        matrix = _matrix(*entry[1:])
        matrix = matrix.T if transposed else matrix
        x = along_axis(b, x, entry[0], matrix)
    return b.cast(x, c.dtype)


def along_axis(b: Builder, x: Made, axis: int, matrix: np.ndarray) -> Made:
    """The product with a fixed matrix along one axis."""
    order = [a for a in range(x.ndim) if a != axis] + [axis]
    table = b.constant(np.ascontiguousarray(matrix.T).astype(x.dtype))
    product = b.matmul(b.transpose(x, order), table) if x.ndim > 1 else b.matmul(b.reshape(x, (1, x.sizes[0])), table)
    return (
        b.transpose(product, [order.index(a) for a in range(x.ndim)])
        if x.ndim > 1
        else b.reshape(product, (matrix.shape[0],))
    )


# ---- dropout, windows --------------------------------------------------------------------------------------------


@translates("dropout")
def dropout(b: Builder, c: Call) -> Made:
    x, mask, factor = c.operands
    return b.scale(b.binary("multiply", x, b.cast(mask, x.dtype)), factor)


@translates("unfold")
def unfold(b: Builder, c: Call) -> Made:
    kernel, stride, padding, dilation = c.attributes
    pads = (
        [number for pair in zip(*padding, strict=True) for number in pair]
        if isinstance(padding[0], tuple)
        else list(padding)
    )
    attributes = {
        "kernel_sizes": list(kernel), "strides": list(stride), "paddings": pads, "dilations": list(dilation),
    }  # fmt: skip
    return b.emit("unfold", [c.operands[0]], attributes, c.types[0])


@translates("fold")
def fold(b: Builder, c: Call) -> Made:
    extents, kernel, stride, padding, dilation = c.attributes
    pads = (
        [number for pair in zip(*padding, strict=True) for number in pair]
        if isinstance(padding[0], tuple)
        else list(padding)
    )
    attributes = {
        "output_sizes": list(extents), "kernel_sizes": list(kernel), "strides": list(stride), "paddings": pads,
        "dilations": list(dilation),
    }  # fmt: skip
    return b.emit("fold", [c.operands[0]], attributes, c.types[0])
