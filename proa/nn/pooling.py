"""Pooling layers."""

from __future__ import annotations

from typing import Any

from ..eager.annotations import PaddingLike, SizesLike
from ..eager.tensor import Tensor
from . import functional as F
from .base.layer_names import Argument
from .layer import Layer


class _Pool(Layer):
    """Keeps the arguments of a pooling function and calls it."""

    _function: str
    _shown: tuple[str, ...] = ("kernel_size", "stride", "padding")

    kernel_size = ksize = Argument("kernel_size")
    stride, padding, ceil_mode, exclusive = (Argument(name) for name in ("stride", "padding", "ceil_mode", "exclusive"))
    return_mask = return_indices = _return_mask = Argument("return_mask")
    divisor = Argument("divisor_override")
    data_format = _data_format = Argument("data_format")
    output_size = _output_size = Argument("output_size")
    norm_type = Argument("norm_type")

    def __init__(self, /, **arguments: Any) -> None:
        super().__init__()
        self.name = self._name = arguments.pop("name", None)
        # Subclasses pass their locals().
        self._arguments = {k: v for k, v in arguments.items() if k not in ("self", "__class__")}

    def forward(self, x: Tensor) -> Any:
        """The pooled input.

        Examples:
            >>> paddle.nn.MaxPool1D(2).forward(paddle.to_tensor([[[1.0, 5.0, 2.0, 3.0]]])).tolist()
            [[[5.0, 3.0]]]
        """
        return getattr(F, self._function)(x, **self._arguments)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.AvgPool2D(3, stride=2)
            AvgPool2D(kernel_size=3, stride=2, padding=0)
        """
        return ", ".join(f"{name}={self._arguments[name]}" for name in self._shown)


class MaxPool1D(_Pool):
    """The largest element of each window of [batch, channels, length].

    Args:
        kernel_size: the width of the window.
        stride: how far it moves at each step; its width if left out.
        padding: how much is added at both ends: a number, a list, 'same' or 'valid'.
        return_mask: gives the places of the maxima too.
        ceil_mode: a last window that does not fill is kept.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.MaxPool1D(2)(paddle.to_tensor([[[1.0, 5.0, 2.0, 3.0]]])).tolist()
        [[[5.0, 3.0]]]
    """

    _function = "max_pool1d"

    def __init__(
        self,
        kernel_size: SizesLike,
        stride: SizesLike | None = None,
        padding: PaddingLike = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class MaxPool2D(_Pool):
    """The largest element of each window of [batch, channels, height, width].

    Args:
        kernel_size: the window: one number, or height and width.
        stride: how far it moves at each step; its size if left out.
        padding: how much is added on all sides: a number, a list, 'same' or 'valid'.
        return_mask: gives the places of the maxima too, for `MaxUnPool2D`.
        ceil_mode: last windows that do not fill are kept.
        data_format: where the channels are: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Examples:
        >>> image = paddle.arange(16, dtype="float32").reshape([1, 1, 4, 4])
        >>> paddle.nn.MaxPool2D(2)(image).tolist()
        [[[[5.0, 7.0], [13.0, 15.0]]]]
        >>> paddle.nn.MaxPool2D(2, return_mask=True)(image)[1].tolist()
        [[[[5, 7], [13, 15]]]]
    """

    _function = "max_pool2d"

    def __init__(
        self,
        kernel_size: SizesLike,
        stride: SizesLike | None = None,
        padding: PaddingLike = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class MaxPool3D(_Pool):
    """The largest element of each window of [batch, channels, depth, height, width].

    Args:
        kernel_size: the window: one number, or depth, height and width.
        stride: how far it moves at each step; its size if left out.
        padding: how much is added on all sides: a number, a list, 'same' or 'valid'.
        return_mask: gives the places of the maxima too.
        ceil_mode: last windows that do not fill are kept.
        data_format: where the channels are: 'NCDHW' or 'NDHWC'.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.MaxPool3D(2)(paddle.ones([1, 2, 4, 6, 8])).shape
        paddle.Size([1, 2, 2, 3, 4])
    """

    _function = "max_pool3d"

    def __init__(
        self,
        kernel_size: SizesLike,
        stride: SizesLike | None = None,
        padding: PaddingLike = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class AvgPool1D(_Pool):
    """The mean of each window of [batch, channels, length].

    Args:
        kernel_size: the width of the window.
        stride: how far it moves at each step; its width if left out.
        padding: how much is added at both ends: a number, a list, 'same' or 'valid'.
        exclusive: leaves what was added out of the means.
        ceil_mode: a last window that does not fill is kept.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.AvgPool1D(2)(paddle.to_tensor([[[1.0, 5.0, 2.0, 3.0]]])).tolist()
        [[[3.0, 2.5]]]
    """

    _function = "avg_pool1d"

    def __init__(
        self,
        kernel_size: SizesLike,
        stride: SizesLike | None = None,
        padding: PaddingLike = 0,
        exclusive: bool = True,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class AvgPool2D(_Pool):
    """The mean of each window of [batch, channels, height, width].

    Args:
        kernel_size: the window: one number, or height and width.
        stride: how far it moves at each step; its size if left out.
        padding: how much is added on all sides: a number, a list, 'same' or 'valid'.
        ceil_mode: last windows that do not fill are kept.
        exclusive: leaves what was added out of the means.
        divisor_override: divides the sums by this number instead of the window's size.
        data_format: where the channels are: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Examples:
        >>> image = paddle.arange(16, dtype="float32").reshape([1, 1, 4, 4])
        >>> paddle.nn.AvgPool2D(2)(image).tolist()
        [[[[2.5, 4.5], [10.5, 12.5]]]]
    """

    _function = "avg_pool2d"

    def __init__(
        self,
        kernel_size: SizesLike,
        stride: SizesLike | None = None,
        padding: PaddingLike = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: int | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class AvgPool3D(_Pool):
    """The mean of each window of [batch, channels, depth, height, width].

    Args:
        kernel_size: the window: one number, or depth, height and width.
        stride: how far it moves at each step; its size if left out.
        padding: how much is added on all sides: a number, a list, 'same' or 'valid'.
        ceil_mode: last windows that do not fill are kept.
        exclusive: leaves what was added out of the means.
        divisor_override: divides the sums by this number instead of the window's size.
        data_format: where the channels are: 'NCDHW' or 'NDHWC'.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.AvgPool3D(2)(paddle.ones([1, 2, 4, 6, 8])).shape
        paddle.Size([1, 2, 2, 3, 4])
    """

    _function = "avg_pool3d"

    def __init__(
        self,
        kernel_size: SizesLike,
        stride: SizesLike | None = None,
        padding: PaddingLike = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: int | None = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class AdaptiveAvgPool1D(_Pool):
    """Means over windows that divide the length into `output_size` parts.

    Args:
        output_size: the length of the result.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.AdaptiveAvgPool1D(2)(paddle.to_tensor([[[1.0, 3.0, 5.0, 7.0]]])).tolist()
        [[[2.0, 6.0]]]
    """

    _function, _shown = "adaptive_avg_pool1d", ("output_size",)

    def __init__(self, output_size: SizesLike, name: str | None = None) -> None:
        super().__init__(**locals())


class AdaptiveAvgPool2D(_Pool):
    """Means over windows that divide height and width evenly, whatever they are.

    Args:
        output_size: height and width of the result: one number or two; None keeps an axis as it is.
        data_format: where the channels are: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.AdaptiveAvgPool2D(1)(paddle.ones([2, 8, 7, 9])).shape
        paddle.Size([2, 8, 1, 1])
        >>> paddle.nn.AdaptiveAvgPool2D([None, 3])(paddle.ones([2, 8, 7, 9])).shape
        paddle.Size([2, 8, 7, 3])
    """

    _function, _shown = "adaptive_avg_pool2d", ("output_size",)

    def __init__(self, output_size: SizesLike, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(**locals())


class AdaptiveAvgPool3D(_Pool):
    """Means over windows that divide depth, height and width evenly.

    Args:
        output_size: depth, height and width of the result: one number or three; None keeps an axis as it is.
        data_format: where the channels are: 'NCDHW' or 'NDHWC'.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.AdaptiveAvgPool3D(2)(paddle.ones([1, 2, 4, 5, 6])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """

    _function, _shown = "adaptive_avg_pool3d", ("output_size",)

    def __init__(self, output_size: SizesLike, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(**locals())


class AdaptiveMaxPool1D(_Pool):
    """Maxima over windows that divide the length into `output_size` parts.

    Args:
        output_size: the length of the result.
        return_mask: gives the places of the maxima too.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.AdaptiveMaxPool1D(2)(paddle.to_tensor([[[1.0, 3.0, 5.0, 7.0]]])).tolist()
        [[[3.0, 7.0]]]
    """

    _function, _shown = "adaptive_max_pool1d", ("output_size", "return_mask")

    def __init__(self, output_size: SizesLike, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__(**locals())


class AdaptiveMaxPool2D(_Pool):
    """Maxima over windows that divide height and width evenly.

    Args:
        output_size: height and width of the result: one number or two; None keeps an axis as it is.
        return_mask: gives the places of the maxima too.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.AdaptiveMaxPool2D(3)(paddle.ones([2, 8, 7, 9])).shape
        paddle.Size([2, 8, 3, 3])
    """

    _function, _shown = "adaptive_max_pool2d", ("output_size", "return_mask")

    def __init__(self, output_size: SizesLike, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__(**locals())


class AdaptiveMaxPool3D(_Pool):
    """Maxima over windows that divide depth, height and width evenly.

    Args:
        output_size: depth, height and width of the result: one number or three; None keeps an axis as it is.
        return_mask: gives the places of the maxima too.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.AdaptiveMaxPool3D(2)(paddle.ones([1, 2, 4, 5, 6])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """

    _function, _shown = "adaptive_max_pool3d", ("output_size", "return_mask")

    def __init__(self, output_size: SizesLike, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__(**locals())
