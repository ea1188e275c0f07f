"""The sparse layers: Paddle's names, parameters and order."""

from __future__ import annotations

import math
from typing import Any

from ...core.errors import message, value_error
from ...eager.tensor import Tensor
from ...nn.initializer import Normal
from ...nn.layer import Layer
from ...nn.norm import BatchNorm1D
from ...ops.neural.normalization import batch_norm
from ...ops.neural.windowed.windows import sizes
from ..tensor import require_coo
from . import functional as F


class _Activation(Layer):
    """Calls a function with the arguments it was made with."""

    def __init__(self, function: Any, arguments: tuple[Any, ...] = (), name: str | None = None) -> None:
        super().__init__()
        self._function, self._arguments, self._name = function, arguments, name

    def forward(self, x: Tensor) -> Tensor:
        return self._function(x, *self._arguments)

    def extra_repr(self) -> str:
        return f"name={self._name}" if self._name else ""


class ReLU(_Activation):
    """`max(x, 0)` of every stored element."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(F.relu, name=name)


class ReLU6(_Activation):
    """`min(max(x, 0), 6)` of every stored element."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(F.relu6, name=name)


class LeakyReLU(_Activation):
    """Every stored element, negative ones scaled down."""

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__(F.leaky_relu, (negative_slope,), name)


class Softmax(_Activation):
    """The softmax over the stored elements along an axis."""

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(F.softmax, (axis,), name)


class MaxPool3D(Layer):
    """The largest stored element of each window."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NDHWC",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if return_mask:
            raise NotImplementedError(message("MaxPool3D", "a sparse pooling gives no mask", "return_mask: True"))
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.ceil_mode, self.data_format, self.name = ceil_mode, data_format, name

    def forward(self, x: Tensor) -> Tensor:
        return F.max_pool3d(x, self.ksize, self.stride, self.padding, self.ceil_mode, self.data_format)

    def extra_repr(self) -> str:
        return f"kernel_size={self.ksize}, stride={self.stride}, padding={self.padding}"


class BatchNorm(BatchNorm1D):
    """Batch normalisation of the stored elements: each channel over all of them."""

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NDHWC",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name)

    def forward(self, input: Tensor) -> Tensor:
        x = require_coo(type(self).__name__, "input", input)
        if x.dense_dim() != 1:
            raise value_error(
                type(self).__name__,
                "the last dimension (channels) must be dense",
                f"input: {x._aval} with {x.dense_dim()} dense dimensions",
            )
        values = batch_norm(
            x._values, self._mean, self._variance, self.weight, self.bias, self.training,
            self._momentum, self._epsilon, "NC", self._use_global_stats,
        )  # fmt: skip
        return x._with_values(values)


class SyncBatchNorm(BatchNorm):
    """Batch normalisation over the batches of all devices.

    The statistics are recorded operations on the whole tensor: where that spans devices, so do they.
    """

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """The layer with every sparse BatchNorm in it replaced; parameters and statistics are kept."""
        if type(layer) is BatchNorm:
            changed = cls(
                layer._num_features, layer._momentum, layer._epsilon, data_format=layer._data_format, name=layer._name
            )
            changed.weight, changed.bias = layer.weight, layer.bias
            changed._mean, changed._variance = layer._mean, layer._variance
            changed._use_global_stats = layer._use_global_stats
            changed.training = layer.training
            return changed
        for name, child in list(layer.named_children()):
            replaced = cls.convert_sync_batchnorm(child)
            if replaced is not child:
                layer.add_sublayer(name, replaced)
        return layer


class _Convolution(Layer):
    """What the sparse convolutions share."""

    _num_spatial = 3
    _submanifold = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        groups: int,
        padding_mode: str,
        weight_attr: Any,
        bias_attr: Any,
        data_format: str,
        key: str | None = None,
        backend: str | None = None,
    ) -> None:
        super().__init__()
        where, count = type(self).__name__, self._num_spatial
        if in_channels < 1 or out_channels < 1:
            raise value_error(
                where, "there must be channels", f"in_channels: {in_channels}, out_channels: {out_channels}"
            )
        if groups != 1:
            raise NotImplementedError(message(where, "groups must be 1", f"groups: {groups}"))
        if padding_mode != "zeros":
            raise NotImplementedError(message(where, "padding_mode must be 'zeros'", repr(padding_mode)))
        expected = {2: "NHWC", 3: "NDHWC"}[count]
        if data_format != expected:
            raise value_error(where, f"data_format must be {expected!r}", f"data_format: {data_format!r}")
        if backend not in (None, "igemm"):
            raise value_error(where, "backend must be None or 'igemm'", repr(backend))
        self._in_channels, self._out_channels = in_channels, out_channels
        self._kernel_size = list(sizes(where, "kernel_size", kernel_size, count))
        self._stride = list(sizes(where, "stride", stride, count))
        self._dilation = list(sizes(where, "dilation", dilation, count))
        self._padding, self._groups, self._padding_mode = padding, groups, padding_mode
        self._data_format, self._key, self._backend = data_format, key, backend
        deviation = math.sqrt(2.0 / (math.prod(self._kernel_size) * in_channels))
        self.weight = self.create_parameter(
            [*self._kernel_size, in_channels, out_channels],
            weight_attr,
            default_initializer=Normal(0.0, deviation),
        )
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Tensor) -> Tensor:
        function = getattr(F, f"{'subm_' if self._submanifold else ''}conv{self._num_spatial}d")
        return function(
            x, self.weight, self.bias, self._stride, self._padding, self._dilation, self._groups, self._data_format
        )

    def extra_repr(self) -> str:
        ones = [1] * self._num_spatial
        parts = [f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"]
        if self._stride != ones:
            parts.append(f"stride={self._stride}")
        if self._padding != 0:
            parts.append(f"padding={self._padding}")
        if self._dilation != ones:
            parts.append(f"dilation={self._dilation}")
        return ", ".join([*parts, f"data_format={self._data_format}"])


class Conv2D(_Convolution):
    """A convolution over [batch, height, width, channels]; `weight` is [*kernel, channels in, channels out]."""

    _num_spatial = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NHWC",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr,
            bias_attr, data_format,
        )  # fmt: skip


class Conv3D(_Convolution):
    """A convolution over [batch, depth, height, width, channels]."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NDHWC",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr,
            bias_attr, data_format,
        )  # fmt: skip


class SubmConv2D(_Convolution):
    """A submanifold convolution over [batch, height, width, channels]: elements stay where they are."""

    _num_spatial = 2
    _submanifold = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        key: str | None = None,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NHWC",
        backend: str | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr,
            bias_attr, data_format, key, backend,
        )  # fmt: skip


class SubmConv3D(_Convolution):
    """A submanifold convolution over [batch, depth, height, width, channels]: elements stay where they are."""

    _submanifold = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        key: str | None = None,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NDHWC",
        backend: str | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr,
            bias_attr, data_format, key, backend,
        )  # fmt: skip
