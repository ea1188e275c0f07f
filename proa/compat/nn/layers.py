"""Linear, Softmax, AvgPool and Unfold under PyTorch's signatures."""

from __future__ import annotations

import inspect
import math
from typing import Any

from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...nn.initializer import Uniform
from ...nn.layer import Layer
from ...ops.neural.windowed import pooling
from ..calling import unexpected
from . import functional


class TorchLike(Layer):
    """A layer whose constructor refuses the keywords of Paddle's layer of the same name, with a hint."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        construct = cls.__init__
        known = set(inspect.signature(construct).parameters)

        def checked(self: Any, *arguments: Any, **named: Any) -> None:
            foreign = sorted(named.keys() - known)
            if foreign and type(self) is cls:
                raise unexpected(f"compat.nn.{cls.__name__}", f"nn.{cls.__name__}", foreign)
            construct(self, *arguments, **named)

        checked.__signature__ = inspect.signature(construct)
        checked.__doc__ = construct.__doc__
        cls.__init__ = checked  # type: ignore[method-assign]


class Linear(TorchLike):
    """`input @ weight.T + bias`, with PyTorch's arguments and layout.

    Args:
        in_features: the size of the input's last axis.
        out_features: that of the result's.
        bias: whether there is a bias.
        device: where the parameters lie.
        dtype: that of the parameters.

    Examples:
        >>> layer = paddle.compat.nn.Linear(3, 2)
        >>> layer.weight.shape, layer(paddle.ones([4, 3])).shape
        (paddle.Size([2, 3]), paddle.Size([4, 2]))
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(dtype=dtype)
        if in_features < 0 or out_features < 0:
            raise value_error("compat.nn.Linear", "sizes cannot be negative", f"{in_features}, {out_features}")
        self.in_features, self.out_features = in_features, out_features
        start = self._start()
        self.weight = self.create_parameter([out_features, in_features], default_initializer=start, device=device)
        self.bias = (
            self.create_parameter([out_features], is_bias=True, default_initializer=start, device=device)
            if bias
            else None
        )

    def _start(self) -> Uniform:
        bound = 1.0 / math.sqrt(self.in_features) if self.in_features else 0.0
        return Uniform(-bound, bound)

    def reset_parameters(self) -> None:
        """Draws weight and bias anew.

        Examples:
            >>> layer = paddle.compat.nn.Linear(3, 2)
            >>> before = layer.weight.clone()
            >>> layer.reset_parameters()
            >>> (layer.weight != before).any().item()
            True
        """
        start = self._start()
        start(self.weight)
        if self.bias is not None:
            start(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """`input @ weight.T + bias`.

        Args:
            input: `[..., in_features]`.

        Returns:
            A tensor `[..., out_features]`.

        Examples:
            >>> paddle.compat.nn.Linear(3, 2)(paddle.ones([3])).shape
            paddle.Size([2])
        """
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """What `print` shows between the brackets.

        Examples:
            >>> paddle.compat.nn.Linear(3, 2).extra_repr()
            'in_features=3, out_features=2, bias=True'
        """
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Softmax(TorchLike):
    """`exp(x) / sum(exp(x))` along a dimension, with PyTorch's arguments.

    Args:
        dim: the dimension.

    Examples:
        >>> paddle.compat.nn.Softmax(dim=0)(paddle.to_tensor([0.0, 0.0])).tolist()
        [0.5, 0.5]
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """The softmax.

        Args:
            input: scores.

        Returns:
            A tensor of the shape of `input`.

        Examples:
            >>> paddle.compat.nn.Softmax(dim=-1)(paddle.to_tensor([[0.0, 1000.0]])).tolist()
            [[0.0, 1.0]]
        """
        return functional.softmax(input, self.dim)

    def extra_repr(self) -> str:
        """What `print` shows between the brackets.

        Examples:
            >>> paddle.compat.nn.Softmax(dim=1).extra_repr()
            'dim=1'
        """
        return f"dim={self.dim}"


class _AvgPool(TorchLike):
    def __init__(
        self, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool,
        divisor_override: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


def _single(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


class AvgPool1D(_AvgPool):
    """The mean of each window of a `[batch, channels, length]` tensor, with PyTorch's arguments.

    Args:
        kernel_size: the windows' length.
        stride: from window to window; None for `kernel_size`.
        padding: zeros at both ends.
        ceil_mode: whether a window that is not full counts.
        count_include_pad: whether the padding counts.

    Examples:
        >>> paddle.compat.nn.AvgPool1D(2)(paddle.to_tensor([[[1.0, 3.0, 5.0, 7.0]]])).tolist()
        [[[2.0, 6.0]]]
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        steps = None if stride is None else _single(stride)
        super().__init__(_single(kernel_size), steps, _single(padding), ceil_mode, count_include_pad)

    def forward(self, x: Tensor) -> Tensor:
        """The means.

        Args:
            x: `[batch, channels, length]`.

        Returns:
            A tensor `[batch, channels, windows]`.

        Examples:
            >>> paddle.compat.nn.AvgPool1D(2, padding=1)(paddle.ones([1, 1, 2])).tolist()
            [[[0.5, 0.5]]]
        """
        return pooling.avg_pool1d(
            x, list(self.kernel_size), list(self.stride), list(self.padding), not self.count_include_pad, self.ceil_mode
        )


class AvgPool2D(_AvgPool):
    """The mean of each window of images, with PyTorch's arguments.

    Args:
        kernel_size: the windows' size.
        stride: from window to window; None for `kernel_size`.
        padding: zeros at the borders.
        ceil_mode: whether a window that is not full counts.
        count_include_pad: whether the padding counts.
        divisor_override: what the sum is divided by in place of the count.

    Examples:
        >>> paddle.compat.nn.AvgPool2D(2)(paddle.arange(4.0).reshape([1, 1, 2, 2])).item()
        1.5
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    def forward(self, x: Tensor) -> Tensor:
        """The means.

        Args:
            x: `[batch, channels, height, width]`.

        Returns:
            A tensor `[batch, channels, height, width]`.

        Examples:
            >>> paddle.compat.nn.AvgPool2D(2)(paddle.ones([1, 3, 4, 4])).shape
            paddle.Size([1, 3, 2, 2])
        """
        return pooling.avg_pool2d(
            x, self.kernel_size, self.stride, self.padding, self.ceil_mode, not self.count_include_pad,
            self.divisor_override,
        )  # fmt: skip


class AvgPool3D(_AvgPool):
    """The mean of each window of volumes, with PyTorch's arguments.

    Args:
        kernel_size: the windows' size.
        stride: from window to window; None for `kernel_size`.
        padding: zeros at the borders.
        ceil_mode: whether a window that is not full counts.
        count_include_pad: whether the padding counts.
        divisor_override: what the sum is divided by in place of the count.

    Examples:
        >>> paddle.compat.nn.AvgPool3D(2)(paddle.arange(8.0).reshape([1, 1, 2, 2, 2])).item()
        3.5
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    def forward(self, x: Tensor) -> Tensor:
        """The means.

        Args:
            x: `[batch, channels, depth, height, width]`.

        Returns:
            A tensor `[batch, channels, depth, height, width]`.

        Examples:
            >>> paddle.compat.nn.AvgPool3D(2)(paddle.ones([1, 3, 4, 4, 4])).shape
            paddle.Size([1, 3, 2, 2, 2])
        """
        return pooling.avg_pool3d(
            x, self.kernel_size, self.stride, self.padding, self.ceil_mode, not self.count_include_pad,
            self.divisor_override,
        )  # fmt: skip


class Unfold(TorchLike):
    """The windows of images as columns, with PyTorch's arguments.

    Args:
        kernel_size: the windows' size.
        dilation: the distance between a window's elements.
        padding: zeros at the borders.
        stride: from window to window.

    Examples:
        >>> paddle.compat.nn.Unfold(2, stride=2)(paddle.ones([1, 2, 4, 4])).shape
        paddle.Size([1, 8, 4])
    """

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """The columns.

        Args:
            input: `[batch, channels, height, width]`.

        Returns:
            A tensor `[batch, channels * window, places]`.

        Examples:
            >>> paddle.compat.nn.Unfold(2)(paddle.ones([1, 2, 4, 4])).shape
            paddle.Size([1, 8, 9])
        """
        return functional.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """What `print` shows between the brackets.

        Examples:
            >>> paddle.compat.nn.Unfold(2).extra_repr()
            'kernel_size=2, dilation=1, padding=0, stride=1'
        """
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
