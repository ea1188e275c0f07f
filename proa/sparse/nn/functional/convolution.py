"""Convolutions of sparse tensors [batch, *space, channels] with sparse batch and space and dense channels.

The rulebook says which input element each output element sees at each place of the kernel. Values are gathered by it
(a row of zeros stands for "none") and multiplied with the kernel as one matrix, or place by place where that matrix would
be large.
"""

from __future__ import annotations

import math
from typing import Any

from ....core.errors import message, value_error
from ....eager.annotations import PaddingLike, SizesLike
from ....eager.backward.tape import stand_in
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor
from ....ops.basic import full_of, reshape_to
from ....ops.neural.windowed.windows import paddings, same_padding, sizes
from ....ops.shape.joining import concat
from ...convert import coalesced
from ...pattern import Lookup
from ...rows import take_rows
from ...tensor import SparseCooTensor, require_coo, require_dense
from ..rulebook import Rulebook, Window, output_extents, rulebook, submanifold_rulebook
from . import references

# The most elements that the gathered matrix may have before the kernel is applied place by place.
_LARGEST_GATHERED = 2**26

_FLAT, _SOLID = A(2, 4, 5, 2, layout="coo", sparse_dim=3), A(1, 3, 4, 3, 2, layout="coo", sparse_dim=4)


@samples(
    S(_FLAT, A(2, 3, 2, 3)), S(_FLAT, A(3, 3, 2, 2), A(2), 2, 1), S(_FLAT, A(2, 2, 2, 1), padding=[1, 0], dilation=2),
    reference=references.convolution,
)  # fmt: skip
def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: SizesLike = 1,
    padding: PaddingLike = 0,
    dilation: SizesLike = 1,
    groups: int = 1,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """A convolution over images; stored wherever the window sees a stored element.

    Args:
        x: a COO tensor `[batch, height, width, channels]`, the channels dense.
        weight: `[height, width, channels in, channels out]`.
        bias: `[channels out]`, added to stored elements only; or None.
        stride: how far the window moves.
        padding: zeros at the borders.
        dilation: the distance between the window's elements.
        groups: into how many groups the channels are divided.
        data_format: 'NHWC'.
        name: a label; it changes nothing.

    Returns:
        A COO tensor.

    Examples:
        >>> x = paddle.ones([1, 4, 4, 2]).to_sparse_coo(3)
        >>> paddle.sparse.nn.functional.conv2d(x, paddle.ones([3, 3, 2, 5])).shape
        paddle.Size([1, 2, 2, 5])
    """
    return _convolve("sparse.conv2d", 2, x, weight, bias, stride, padding, dilation, groups, data_format, False)


@samples(
    S(_SOLID, A(2, 3, 2, 2, 3)), S(_SOLID, A(3, 3, 3, 2, 2), A(2), [1, 2, 1], 1),
    S(_SOLID, A(2, 2, 1, 2, 1), padding=[1, 0, 0], dilation=2),
    reference=references.convolution,
)  # fmt: skip
def conv3d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: SizesLike = 1,
    padding: PaddingLike = 0,
    dilation: SizesLike = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """A convolution over volumes; stored wherever the window sees a stored element.

    Args:
        x: a COO tensor `[batch, depth, height, width, channels]`, the channels dense.
        weight: `[depth, height, width, channels in, channels out]`.
        bias: `[channels out]`, added to stored elements only; or None.
        stride: how far the window moves.
        padding: zeros at the borders.
        dilation: the distance between the window's elements.
        groups: into how many groups the channels are divided.
        data_format: 'NDHWC'.
        name: a label; it changes nothing.

    Returns:
        A COO tensor.

    Examples:
        >>> x = paddle.ones([1, 3, 3, 3, 2]).to_sparse_coo(4)
        >>> paddle.sparse.nn.functional.conv3d(x, paddle.ones([3, 3, 3, 2, 5])).shape
        paddle.Size([1, 1, 1, 1, 5])
    """
    return _convolve("sparse.conv3d", 3, x, weight, bias, stride, padding, dilation, groups, data_format, False)


_FLAT_CASES = (S(_FLAT, A(3, 3, 2, 3)), S(_FLAT, A(1, 3, 2, 2), A(2)), S(_FLAT, A(3, 3, 2, 1), dilation=2))


@samples(*_FLAT_CASES, reference=references.submanifold_convolution)
def subm_conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: SizesLike = 1,
    padding: PaddingLike = 0,
    dilation: SizesLike = 1,
    groups: int = 1,
    data_format: str = "NHWC",
    key: str | None = None,
    name: str | None = None,
) -> Tensor:
    """A submanifold convolution: stored exactly where `x` is (Graham and van der Maaten 2017).

    The kernel is centred on each stored element, so `stride` and `padding` have no effect.

    Args:
        x: a COO tensor `[batch, height, width, channels]`, the channels dense.
        weight: `[height, width, channels in, channels out]`.
        bias: `[channels out]`, or None.
        stride, padding: without effect.
        dilation: the distance between the window's elements.
        groups: into how many groups the channels are divided.
        data_format: 'NHWC'.
        key: accepted; what is worked out from the positions is kept with them.
        name: a label; it changes nothing.

    Returns:
        A COO tensor.

    Examples:
        >>> x = paddle.eye(3).reshape([1, 3, 3, 1]).to_sparse_coo(3)
        >>> y = paddle.sparse.nn.functional.subm_conv2d(x, paddle.ones([3, 3, 1, 1]))
        >>> x.nnz(), y.nnz(), y.values().flatten().tolist()
        (3, 3, [2.0, 3.0, 2.0])
    """
    return _convolve("sparse.subm_conv2d", 2, x, weight, bias, stride, padding, dilation, groups, data_format, True)


_SOLID_CASES = (S(_SOLID, A(3, 3, 3, 2, 3)), S(_SOLID, A(1, 3, 1, 2, 2), A(2)), S(_SOLID, A(3, 3, 1, 2, 1), dilation=2))


@samples(*_SOLID_CASES, reference=references.submanifold_convolution)
def subm_conv3d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: SizesLike = 1,
    padding: PaddingLike = 0,
    dilation: SizesLike = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    key: str | None = None,
    name: str | None = None,
) -> Tensor:
    """A submanifold convolution over volumes; see `subm_conv2d`.

    Args:
        x: a COO tensor `[batch, depth, height, width, channels]`, the channels dense.
        weight: `[depth, height, width, channels in, channels out]`.
        bias: `[channels out]`, or None.
        stride, padding: without effect.
        dilation: the distance between the window's elements.
        groups: into how many groups the channels are divided.
        data_format: 'NDHWC'.
        key: accepted and not needed.
        name: a label; it changes nothing.

    Returns:
        A COO tensor.

    Examples:
        >>> x = paddle.ones([1, 2, 2, 2, 1]).to_sparse_coo(4)
        >>> paddle.sparse.nn.functional.subm_conv3d(x, paddle.ones([3, 3, 3, 1, 2])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """
    return _convolve("sparse.subm_conv3d", 3, x, weight, bias, stride, padding, dilation, groups, data_format, True)


@samples(*_FLAT_CASES, reference=references.submanifold_convolution)
def subm_conv2d_igemm(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: SizesLike = 1,
    padding: PaddingLike = 0,
    dilation: SizesLike = 1,
    groups: int = 1,
    data_format: str = "NHWC",
    key: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The same as `subm_conv2d`: Paddle's name for another algorithm.

    Args:
        x: a COO tensor `[batch, height, width, channels]`, the channels dense.
        weight: `[height, width, channels in, channels out]`.
        bias: `[channels out]`, or None.
        stride, padding: without effect.
        dilation: the distance between the window's elements.
        groups: into how many groups the channels are divided.
        data_format: 'NHWC'.
        key: accepted and not needed.
        name: a label; it changes nothing.

    Returns:
        A COO tensor.

    Examples:
        >>> x = paddle.eye(3).reshape([1, 3, 3, 1]).to_sparse_coo(3)
        >>> paddle.sparse.nn.functional.subm_conv2d_igemm(x, paddle.ones([3, 3, 1, 2])).shape
        paddle.Size([1, 3, 3, 2])
    """
    return subm_conv2d(x, weight, bias, stride, padding, dilation, groups, data_format, key, name)


@samples(*_SOLID_CASES, reference=references.submanifold_convolution)
def subm_conv3d_igemm(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: SizesLike = 1,
    padding: PaddingLike = 0,
    dilation: SizesLike = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    key: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The same as `subm_conv3d`: Paddle's name for another algorithm.

    Args:
        x: a COO tensor `[batch, depth, height, width, channels]`, the channels dense.
        weight: `[depth, height, width, channels in, channels out]`.
        bias: `[channels out]`, or None.
        stride, padding: without effect.
        dilation: the distance between the window's elements.
        groups: into how many groups the channels are divided.
        data_format: 'NDHWC'.
        key: accepted and not needed.
        name: a label; it changes nothing.

    Returns:
        A COO tensor.

    Examples:
        >>> x = paddle.ones([1, 2, 2, 2, 1]).to_sparse_coo(4)
        >>> paddle.sparse.nn.functional.subm_conv3d_igemm(x, paddle.ones([3, 3, 3, 1, 2])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """
    return subm_conv3d(x, weight, bias, stride, padding, dilation, groups, data_format, key, name)


def check_image(where: str, x: Any, num_spatial: int, data_format: str) -> SparseCooTensor:
    """[batch, *space, channels] with sparse batch and space and dense channels; in order, no element twice."""
    x = require_coo(where, "x", x)
    expected = {2: "NHWC", 3: "NDHWC"}[num_spatial]
    if data_format != expected:
        raise value_error(where, f"data_format must be {expected!r}", f"data_format: {data_format!r}")
    if x._aval.ndim != num_spatial + 2 or x.dense_dim() != 1:
        raise value_error(
            where,
            f"x must have {num_spatial + 2} dimensions, the last of them (channels) dense",
            f"x: {x._aval} with {x.dense_dim()} dense dimensions",
            f"make it with to_sparse_coo({num_spatial + 1})",
        )
    return coalesced(x)


def _convolve(
    where: str,
    num_spatial: int,
    x: Any,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    data_format: str,
    submanifold: bool,
) -> Tensor:
    x = check_image(where, x, num_spatial, data_format)
    weight = require_dense(where, "weight", weight)
    received = f"x: {x._aval}, weight: {weight._aval}"
    if groups != 1:
        raise NotImplementedError(message(where, "groups must be 1", f"groups: {groups}"))
    if weight._aval.ndim != num_spatial + 2 or weight._aval.shape[-2] != x._aval.shape[-1]:
        raise value_error(where, "weight must be [*kernel, channels in, channels out]", received)
    if bias is not None and require_dense(where, "bias", bias)._aval.shape != weight._aval.shape[-1:]:
        raise value_error(where, "bias must be [channels out]", f"bias: {bias._aval}, {received}")
    book = _rulebook(where, num_spatial, x, weight, stride, padding, dilation, submanifold)
    result = _apply(stand_in(x._values), weight, book)
    return SparseCooTensor(book.pattern, result if bias is None else result + bias)


def _rulebook(
    where: str,
    num_spatial: int,
    x: SparseCooTensor,
    weight: Tensor,
    stride: Any,
    padding: Any,
    dilation: Any,
    submanifold: bool,
) -> Rulebook:
    kernel = weight._aval.shape[:num_spatial]
    steps = sizes(where, "stride", stride, num_spatial)
    dilations = sizes(where, "dilation", dilation, num_spatial)
    pads = paddings(where, padding, num_spatial, True)
    pattern, extents = x._pattern, x._pattern.shape[1:]
    if submanifold:
        if any(n % 2 == 0 for n in kernel):
            raise value_error(where, "the kernel must have a centre: odd sizes", f"weight: {weight._aval}")
        centred = tuple((n // 2 * d, n // 2 * d) for n, d in zip(kernel, dilations, strict=True))
        return submanifold_rulebook(pattern, Window(kernel, (1,) * num_spatial, centred, dilations))
    if pads == "SAME":
        covered = tuple((n - 1) * d + 1 for n, d in zip(kernel, dilations, strict=True))
        pads = same_padding(extents, covered, steps)
    elif isinstance(pads, str):
        pads = ((0, 0),) * num_spatial
    window = Window(kernel, steps, pads, dilations)
    extents = output_extents(extents, window)
    if min(extents) < 1 or min(kernel) < 1:
        raise value_error(where, "the kernel is larger than the padded input", f"x: {x._aval}, weight: {weight._aval}")
    return rulebook(pattern, window, extents)


def _apply(values: Tensor, weight: Tensor, book: Rulebook) -> Tensor:
    aval = values._aval
    *kernel, channels, filters = weight._aval.shape
    places, count = math.prod(kernel), book.pattern.nnz
    padded = concat([values, full_of(0.0, (1, channels), aval.dtype)])
    if count * places * channels <= _LARGEST_GATHERED:
        seen = reshape_to(take_rows(padded, book.table), (count, places * channels))
        return seen @ reshape_to(weight, (places * channels, filters))
    matrices = reshape_to(weight, (places, channels, filters))
    result: Any = None
    for place in range(places):
        part = take_rows(padded, Lookup(book.table.array[:, place])) @ matrices[place]
        result = part if result is None else result + part
    return result
