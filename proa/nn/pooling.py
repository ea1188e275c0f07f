"""Pooling layers."""

from __future__ import annotations

from typing import Any

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

    def __init__(self, /, **arguments: Any) -> None:
        super().__init__()
        self.name = self._name = arguments.pop("name", None)
        # Subclasses pass their locals().
        self._arguments = {k: v for k, v in arguments.items() if k not in ("self", "__class__")}

    def forward(self, x: Tensor) -> Any:
        return getattr(F, self._function)(x, **self._arguments)

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={self._arguments[name]}" for name in self._shown)


class MaxPool1D(_Pool):
    """The largest element of each window of [batch, channels, length]."""

    _function = "max_pool1d"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class MaxPool2D(_Pool):
    """The largest element of each window of [batch, channels, height, width]."""

    _function = "max_pool2d"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class MaxPool3D(_Pool):
    """The largest element of each window of [batch, channels, depth, height, width]."""

    _function = "max_pool3d"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class AvgPool1D(_Pool):
    """The mean of each window of [batch, channels, length]."""

    _function = "avg_pool1d"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        exclusive: bool = True,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class AvgPool2D(_Pool):
    """The mean of each window of [batch, channels, height, width]."""

    _function = "avg_pool2d"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class AvgPool3D(_Pool):
    """The mean of each window of [batch, channels, depth, height, width]."""

    _function = "avg_pool3d"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: Any = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class AdaptiveAvgPool1D(_Pool):
    """Means over `output_size` windows of equal width."""

    _function, _shown = "adaptive_avg_pool1d", ("output_size",)

    def __init__(self, output_size: Any, name: str | None = None) -> None:
        super().__init__(**locals())


class AdaptiveAvgPool2D(_Pool):
    """Means over windows that divide height and width evenly."""

    _function, _shown = "adaptive_avg_pool2d", ("output_size",)

    def __init__(self, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(**locals())


class AdaptiveAvgPool3D(_Pool):
    """Means over windows that divide depth, height and width evenly."""

    _function, _shown = "adaptive_avg_pool3d", ("output_size",)

    def __init__(self, output_size: Any, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(**locals())


class AdaptiveMaxPool1D(_Pool):
    """Maxima over `output_size` windows of equal width."""

    _function, _shown = "adaptive_max_pool1d", ("output_size", "return_mask")

    def __init__(self, output_size: Any, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__(**locals())


class AdaptiveMaxPool2D(_Pool):
    """Maxima over windows that divide height and width evenly."""

    _function, _shown = "adaptive_max_pool2d", ("output_size", "return_mask")

    def __init__(self, output_size: Any, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__(**locals())


class AdaptiveMaxPool3D(_Pool):
    """Maxima over windows that divide depth, height and width evenly."""

    _function, _shown = "adaptive_max_pool3d", ("output_size", "return_mask")

    def __init__(self, output_size: Any, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__(**locals())
