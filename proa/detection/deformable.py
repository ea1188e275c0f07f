"""Deformable convolution (Dai et al. 2017; with a mask, Zhu et al. 2018), as a function and a layer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.errors import value_error
from ..eager.annotations import AttrLike, PaddingLike, SizesLike
from ..eager.tensor import Tensor
from ..nn import Layer
from ..nn.initializer import Normal
from ..ops.arguments import integer, integers
from ..ops.basic import cast_to, reshape_to, transpose_to
from ..ops.index.indexing_kernels import take_elements
from ..ops.linear.linalg import matmul
from ..ops.math.statistics.counting import arange
from ..ops.math.ternary import where as choose_by
from .arguments import floating_tensor, pair, placed

_INTEGER = np.dtype("int64")


def _distances(where: str, name: str, value: Any) -> tuple[int, int]:
    """Two integers that are not negative, from one or two."""
    numbers = integers(where, name, value)
    both = numbers * 2 if len(numbers) == 1 else numbers
    if len(both) != 2 or min(both) < 0:
        raise value_error(where, f"{name} must be one or two integers, none negative", f"{name}: {value!r}")
    return both[0], both[1]


def _moved(offset: Any, base: np.ndarray, extent: int) -> tuple[Any, Any, Any, Any]:
    """Coordinates along one axis: the neighbour below, the share of the one above, and whether any is inside."""
    place = offset + placed(base.astype(offset._aval.dtype), offset)
    near = (place > -1.0) & (place < float(extent))
    place = choose_by(near, place, 0.0)
    low = place.detach().floor()
    return low, place - low, near, float(extent - 1)


def _read_between(x: Tensor, parts: int, down: tuple[Any, ...], across: tuple[Any, ...], gate: Any) -> Any:
    """`x` read between its elements, [N, parts, taps, places, channels of a part], each read times `gate`.

    `down` and `across` are the neighbour below, the share of the one above, and the last place of an axis.
    """
    (low_y, share_y, last_y), (low_x, share_x, last_x) = down, across
    n, channels, height, width = x._aval.shape
    deep, dtype = channels // parts, x._aval.dtype
    rows = transpose_to(reshape_to(x, (n, parts, deep, height * width)), (0, 1, 3, 2))
    rows = reshape_to(rows, (n * parts * height * width, deep))
    # A tensor that counts, no array: the batch may be of any size.
    base: Any = reshape_to(arange(n * parts, device=x._aval.place), (n, parts, 1, 1)) * (height * width)
    # The four neighbours along a first axis: one read, and far less to compile than four.
    neighbours = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype).reshape(4, 2, 1, 1, 1, 1)
    above, beside = placed(neighbours[:, 0], x), placed(neighbours[:, 1], x)
    at_y, at_x = low_y + above, low_x + beside
    inside = (at_y >= 0.0) & (at_y <= last_y) & (at_x >= 0.0) & (at_x <= last_x)
    line, column = (cast_to(at.clip(0.0, last), _INTEGER) for at, last in ((at_y, last_y), (at_x, last_x)))
    index = base + line * width + column
    nearness = (1.0 - above + (above * 2.0 - 1.0) * share_y) * (1.0 - beside + (beside * 2.0 - 1.0) * share_x)
    taken = take_elements(rows, [index], [0], trusted=True)
    return (taken * (nearness * cast_to(inside, dtype) * gate).unsqueeze(5)).sum(0)


def deform_conv2d(
    x: Tensor,
    offset: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: SizesLike = 1,
    padding: PaddingLike = 0,
    dilation: SizesLike = 1,
    deformable_groups: int = 1,
    groups: int = 1,
    mask: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """A convolution of [N, C, H, W] whose kernel reads at shifted, interpolated places; zeros outside.

    `offset` is [N, 2 * deformable_groups * kernel elements, H_out, W_out], down and across for each kernel element;
    `mask`, if given, weighs each read: [N, deformable_groups * kernel elements, H_out, W_out].

    Example:
        >>> x, weight = paddle.rand([1, 2, 6, 6]), paddle.rand([4, 2, 3, 3])
        >>> offset = paddle.zeros([1, 18, 4, 4])
        >>> paddle.vision.ops.deform_conv2d(x, offset, weight).shape
        paddle.Size([1, 4, 4, 4])
    """
    where = "deform_conv2d"
    for label, tensor in (("x", x), ("offset", offset), ("weight", weight)):
        floating_tensor(where, label, tensor, 4)
    steps, pads = pair(where, "stride", stride), _distances(where, "padding", padding)
    apart = pair(where, "dilation", dilation)
    parts, groups = integer(where, "deformable_groups", deformable_groups), integer(where, "groups", groups)
    n, channels, height, width = x._aval.shape
    out_channels, per_group, *kernel = weight._aval.shape
    received = f"x: {x._aval}, offset: {offset._aval}, weight: {weight._aval}, groups: {groups}"
    if min(parts, groups) < 1 or channels != per_group * groups or out_channels % groups or channels % parts:
        raise value_error(
            where, "x must have weight.shape[1] * groups channels, and groups and deformable_groups must divide them",
            f"{received}, deformable_groups: {parts}",
        )  # fmt: skip
    sizes = [
        (extent + 2 * pad - gap * (k - 1) - 1) // step + 1
        for extent, pad, gap, k, step in zip((height, width), pads, apart, kernel, steps, strict=True)
    ]
    taps = math.prod(kernel)
    if any(size < 1 for size in (n, height, width, taps, *sizes)):
        raise value_error(where, "the kernel is larger than the padded input, or something is empty", received)
    if offset._aval.shape != (n, 2 * parts * taps, *sizes):
        raise value_error(where, f"offset must be {[n, 2 * parts * taps, *sizes]}", received)
    if mask is not None:
        floating_tensor(where, "mask", mask, 4)
        if mask._aval.shape != (n, parts * taps, *sizes):
            raise value_error(where, f"mask must be {[n, parts * taps, *sizes]}", f"mask: {mask._aval}")

    places = math.prod(sizes)
    shifts: Any = reshape_to(offset, (n, parts, taps, 2, places))
    tap_down, tap_across = divmod(np.arange(taps), kernel[1])
    out_down, out_across = divmod(np.arange(places), sizes[1])
    base_down = (tap_down * apart[0] - pads[0])[:, None] + out_down * steps[0]
    base_across = (tap_across * apart[1] - pads[1])[:, None] + out_across * steps[1]
    low_y, share_y, near_y, last_y = _moved(shifts[:, :, :, 0], base_down, height)
    low_x, share_x, near_x, last_x = _moved(shifts[:, :, :, 1], base_across, width)

    gate: Any = cast_to(near_y & near_x, x._aval.dtype)
    if mask is not None:
        gate = gate * reshape_to(mask, (n, parts, taps, places))
    read = _read_between(x, parts, (low_y, share_y, last_y), (low_x, share_x, last_x), gate)
    # [N, parts, taps, places, deep] -> [N, groups, channels of a group * taps, places]
    columns = reshape_to(transpose_to(read, (0, 1, 4, 2, 3)), (n, groups, per_group * taps, places))
    kernels = reshape_to(weight, (1, groups, out_channels // groups, per_group * taps))
    result: Any = reshape_to(matmul(kernels, columns), (n, out_channels, *sizes))
    return result if bias is None else result + reshape_to(bias, (1, out_channels, 1, 1))


class DeformConv2D(Layer):
    """`deform_conv2d` as a layer that holds the kernel and the bias.

    Example:
        >>> layer = paddle.vision.ops.DeformConv2D(2, 4, 3)
        >>> layer(paddle.rand([1, 2, 6, 6]), paddle.zeros([1, 18, 4, 4])).shape
        paddle.Size([1, 4, 4, 4])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: SizesLike,
        stride: SizesLike = 1,
        padding: PaddingLike = 0,
        dilation: SizesLike = 1,
        deformable_groups: int = 1,
        groups: int = 1,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
    ) -> None:
        super().__init__()
        where = "DeformConv2D"
        if weight_attr is False:
            raise value_error(where, "weight_attr cannot be False: there is no convolution without weights")
        if (
            min(in_channels, out_channels, groups, deformable_groups) < 1
            or in_channels % groups
            or out_channels % groups
        ):
            raise value_error(
                where,
                "in_channels and out_channels must be divisible by groups, and all of them positive",
                f"in_channels: {in_channels}, out_channels: {out_channels}, groups: {groups}",
            )
        self._kernel_size = pair(where, "kernel_size", kernel_size)
        self._stride, self._dilation = pair(where, "stride", stride), pair(where, "dilation", dilation)
        self._padding = _distances(where, "padding", padding)
        self._in_channels, self._out_channels = in_channels, out_channels
        self._deformable_groups, self._groups = deformable_groups, groups
        fan_in = in_channels * math.prod(self._kernel_size)
        self.weight = self.create_parameter(
            [out_channels, in_channels // groups, *self._kernel_size],
            weight_attr,
            default_initializer=Normal(0.0, math.sqrt(2.0 / fan_in)),
        )
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Tensor, offset: Tensor, mask: Tensor | None = None) -> Tensor:
        """The convolution of images, read at places that are moved by offsets.

        Args:
            x: `[batch, in, height, width]`.
            offset: how far each place of each window is moved, `[batch, 2 * groups * window, out height, out width]`.
            mask: a factor for each place, or None.

        Returns:
            A tensor `[batch, out, out height, out width]`.

        Examples:
            >>> layer = paddle.vision.ops.DeformConv2D(1, 2, 3, padding=1)
            >>> layer(paddle.ones([1, 1, 4, 4]), paddle.zeros([1, 18, 4, 4])).shape
            paddle.Size([1, 2, 4, 4])
        """
        return deform_conv2d(
            x, offset, self.weight, self.bias, self._stride, self._padding, self._dilation, self._deformable_groups,
            self._groups, mask,
        )  # fmt: skip
