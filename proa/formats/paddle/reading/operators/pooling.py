"""Pooling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....eager.tensor import Tensor
from ..functions import F, paddle
from ..registry import reads
from .convolution import layout_of, padding_of

if TYPE_CHECKING:
    from ..registry import Integers


def _spatial(x: Tensor, layout: str) -> list[int]:
    sizes = list(x._aval.shape)
    return sizes[1:-1] if layout.endswith("C") else sizes[2:]


def _pool(
    x: Tensor, kernel: list[int], strides: list[int], paddings: list[int], ceil_mode: bool, exclusive: bool,
    data_format: str, pooling_type: str, global_pooling: bool, adaptive: bool, padding_algorithm: str,
) -> Tensor:  # fmt: skip
    layout = layout_of(data_format, x.ndim)
    rank = x.ndim - 2
    if global_pooling:
        axes = list(range(1, rank + 1)) if layout.endswith("C") else list(range(2, rank + 2))
        return paddle.mean(x, axes, keepdim=True) if pooling_type == "avg" else paddle.max(x, axes, keepdim=True)
    if adaptive and pooling_type == "avg":
        return getattr(F, f"adaptive_avg_pool{rank}d")(x, kernel, data_format=layout)
    if adaptive:
        if layout.endswith("C"):
            first = [0, rank + 1, *range(1, rank + 1)]
            back = [0, *range(2, rank + 2), 1]
            pooled = getattr(F, f"adaptive_max_pool{rank}d")(paddle.transpose(x, first), kernel)
            return paddle.transpose(pooled, back)
        return getattr(F, f"adaptive_max_pool{rank}d")(x, kernel)
    padding = padding_of(paddings, padding_algorithm)
    if pooling_type == "avg":
        return getattr(F, f"avg_pool{rank}d")(
            x, kernel, strides, padding, ceil_mode=ceil_mode, exclusive=exclusive, data_format=layout
        )
    return getattr(F, f"max_pool{rank}d")(x, kernel, strides, padding, ceil_mode=ceil_mode, data_format=layout)


@reads("pool2d", "pool3d")
def pool(
    x: Tensor, size: Integers | None = None, *, kernel_size: Any = None, strides: list[int], paddings: list[int],
    ceil_mode: bool = False, exclusive: bool = True, data_format: str = "NCHW", pooling_type: str,
    global_pooling: bool = False, adaptive: bool = False, padding_algorithm: str = "EXPLICIT",
) -> Tensor:  # fmt: skip
    return _pool(
        x, list(size or kernel_size), list(strides), list(paddings), ceil_mode, exclusive, data_format, pooling_type,
        global_pooling, adaptive, padding_algorithm,
    )  # fmt: skip


@reads("max_pool2d_with_index", "max_pool3d_with_index", "max_pool2d_v2")
def max_pool_with_index(
    x: Tensor, *, kernel_size: list[int], strides: list[int], paddings: list[int], global_pooling: bool = False,
    adaptive: bool = False, ceil_mode: bool = False, dilations: Any = None,
) -> Any:  # fmt: skip
    rank = x.ndim - 2
    if adaptive:
        return getattr(F, f"adaptive_max_pool{rank}d")(x, list(kernel_size), return_mask=True)
    kernel = _spatial(x, "NCHW") if global_pooling else list(kernel_size)
    strides = kernel if global_pooling else list(strides)
    return getattr(F, f"max_pool{rank}d")(
        x, kernel, strides, [0] * rank if global_pooling else list(paddings), return_mask=True, ceil_mode=ceil_mode
    )


@reads("lp_pool2d")
def lp_pool2d(
    x: Tensor, size: Integers | None = None, *, kernel_size: Any = None, strides: list[int], paddings: list[int],
    ceil_mode: bool = False, data_format: str = "NCHW", norm_type: float = 2.0, padding_algorithm: str = "EXPLICIT",
) -> Tensor:  # fmt: skip
    kernel = list(size or kernel_size)
    return F.lp_pool2d(
        x, norm_type, kernel, list(strides), padding_of(paddings, padding_algorithm), ceil_mode, data_format
    )


@reads("fractional_max_pool2d", "fractional_max_pool3d")
def fractional_max_pool(
    x: Tensor, *, output_size: list[int], kernel_size: list[int], random_u: float = 0.0, return_mask: bool = False
) -> Any:
    function = F.fractional_max_pool2d if x.ndim == 4 else F.fractional_max_pool3d
    kernel = list(kernel_size) if any(kernel_size) else None
    return function(x, list(output_size), kernel, random_u if random_u else None, return_mask)


@reads("unpool")
def unpool(
    x: Tensor, indices: Tensor, size: Integers | None = None, *, ksize: list[int], strides: list[int],
    padding: list[int], data_format: str = "NCHW", output_size: Any = None,
) -> Tensor:  # fmt: skip
    wanted = list(size or output_size or ())
    return F.max_unpool2d(x, indices, list(ksize), list(strides), list(padding), data_format, wanted or None)


@reads("unpool3d")
def unpool3d(
    x: Tensor, indices: Tensor, *, ksize: list[int], strides: list[int], paddings: list[int], output_size: Any = None,
    data_format: str = "NCDHW",
) -> Tensor:  # fmt: skip
    return F.max_unpool3d(
        x, indices, list(ksize), list(strides), list(paddings), data_format, list(output_size or ()) or None
    )
