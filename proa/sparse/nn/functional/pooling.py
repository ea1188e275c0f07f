"""Pooling of sparse tensors."""

from __future__ import annotations

from ....core.errors import value_error
from ....eager.annotations import PaddingLike, SizesLike
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor
from ....ops.neural.windowed.windows import paddings, sizes
from ...rows import take_rows
from ...tensor import SparseCooTensor
from ..rulebook import Window, output_extents, rulebook
from . import references
from .activation import largest_by_group
from .convolution import check_image

_SOLID = A(1, 3, 4, 4, 2, layout="coo", sparse_dim=4)


@samples(
    S(_SOLID, 2), S(_SOLID, [1, 2, 3], 1), S(_SOLID, 2, 2, 1),
    S(A(2, 2, 2, 2, 1, dtype="float64", layout="coo", sparse_dim=4), 2),
    reference=references.max_pool,
)  # fmt: skip
def max_pool3d(
    x: Tensor,
    kernel_size: SizesLike,
    stride: SizesLike | None = None,
    padding: PaddingLike = 0,
    ceil_mode: bool = False,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The largest stored element of each window over volumes.

    Stored wherever a window sees a stored element; what is not stored does not count as zero. Equal elements share
    the gradient.

    Args:
        x: a COO tensor `[batch, depth, height, width, channels]`, the channels dense.
        kernel_size: the windows' size.
        stride: from window to window; None for `kernel_size`.
        padding: at the borders.
        ceil_mode: whether a window that is not full counts.
        data_format: 'NDHWC'.
        name: a label; it changes nothing.

    Returns:
        A COO tensor.

    Examples:
        >>> x = paddle.arange(8.0).reshape([1, 2, 2, 2, 1]).to_sparse_coo(4)
        >>> paddle.sparse.nn.functional.max_pool3d(x, 2).values().tolist()
        [[7.0]]
    """
    where = "sparse.max_pool3d"
    x = check_image(where, x, 3, data_format)
    kernel = sizes(where, "kernel_size", kernel_size, 3)
    steps = kernel if stride is None else sizes(where, "stride", stride, 3)
    pads = paddings(where, padding, 3, True)
    if isinstance(pads, str):
        raise value_error(where, "padding must be in numbers", f"padding: {padding!r}")
    window = Window(kernel, steps, pads, (1, 1, 1))
    extents = output_extents(x._pattern.shape[1:], window, bool(ceil_mode))
    if min(extents) < 1:
        raise value_error(where, "the window is larger than the padded input", f"x: {x._aval}, kernel_size: {kernel}")
    book = rulebook(x._pattern, window, extents)
    seen = take_rows(x._values, book.inputs)
    return SparseCooTensor(book.pattern, largest_by_group(seen, book.outputs, book.pattern.nnz))
