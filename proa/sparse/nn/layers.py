"""The sparse layers: Paddle's names, parameters and order."""

from __future__ import annotations

import math
from typing import Any

from ...core.errors import message, value_error
from ...eager.annotations import AttrLike, PaddingLike, SizesLike
from ...eager.tensor import Tensor
from ...nn.initializer import Normal
from ...nn.layer import Layer
from ...nn.normalization.layers import BatchNorm1D
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
    """`max(x, 0)` of every stored element.

    Args:
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([[0.0, -2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.nn.ReLU()(x).values().tolist()
        [0.0, 3.0]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(F.relu, name=name)


class ReLU6(_Activation):
    """`min(max(x, 0), 6)` of every stored element.

    Args:
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([[0.0, -2.0], [8.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.nn.ReLU6()(x).values().tolist()
        [0.0, 6.0]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(F.relu6, name=name)


class LeakyReLU(_Activation):
    """Every stored element, negative ones scaled down.

    Args:
        negative_slope: the factor of negative elements.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([[0.0, -2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.nn.LeakyReLU(0.5)(x).values().tolist()
        [-1.0, 3.0]
    """

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__(F.leaky_relu, (negative_slope,), name)


class Softmax(_Activation):
    """The softmax over the stored elements along an axis.

    Args:
        axis: the axis; the last one of a CSR tensor.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 1.0], [3.0, 0.0]]).to_sparse_csr()
        >>> paddle.sparse.nn.Softmax()(x).values().tolist()
        [0.5, 0.5, 1.0]
    """

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(F.softmax, (axis,), name)


class MaxPool3D(Layer):
    """The largest stored element of each window over volumes.

    Args:
        kernel_size: the windows' size.
        stride: from window to window; None for `kernel_size`.
        padding: at the borders.
        return_mask: must be False.
        ceil_mode: whether a window that is not full counts.
        data_format: 'NDHWC'.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.arange(8.0).reshape([1, 2, 2, 2, 1]).to_sparse_coo(4)
        >>> paddle.sparse.nn.MaxPool3D(2)(x).values().tolist()
        [[7.0]]
    """

    def __init__(
        self,
        kernel_size: SizesLike,
        stride: SizesLike | None = None,
        padding: PaddingLike = 0,
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
        """The pooled tensor.

        Args:
            x: a COO tensor `[batch, depth, height, width, channels]`, the channels dense.

        Returns:
            A COO tensor.

        Examples:
            >>> x = paddle.ones([1, 4, 4, 4, 2]).to_sparse_coo(4)
            >>> paddle.sparse.nn.MaxPool3D(2)(x).shape
            paddle.Size([1, 2, 2, 2, 2])
        """
        return F.max_pool3d(x, self.ksize, self.stride, self.padding, self.ceil_mode, self.data_format)

    def extra_repr(self) -> str:
        """What `print` shows between the brackets.

        Examples:
            >>> paddle.sparse.nn.MaxPool3D(2).extra_repr()
            'kernel_size=2, stride=None, padding=0'
        """
        return f"kernel_size={self.ksize}, stride={self.stride}, padding={self.padding}"


class BatchNorm(BatchNorm1D):
    """Batch normalisation of the stored elements: each channel over all of them.

    Args:
        num_features: how many channels.
        momentum: the share of the running statistics that is kept.
        epsilon: what is added to the variance.
        weight_attr: how the scale is made.
        bias_attr: how the shift is made.
        data_format: accepted; the channels are last.
        use_global_stats: whether the running statistics are used, whatever the mode; None follows the mode.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([[1.0], [3.0]]).to_sparse_coo(1)
        >>> print(paddle.sparse.nn.BatchNorm(1)(x).values().numpy().round(4))
        [[-1.]
         [ 1.]]
    """

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        data_format: str = "NDHWC",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name)

    def forward(self, input: Tensor) -> Tensor:
        """The normalised tensor.

        Args:
            input: a sparse tensor, the channels last and dense.

        Returns:
            A sparse tensor.

        Examples:
            >>> x = paddle.ones([1, 2, 2, 2, 3]).to_sparse_coo(4)
            >>> paddle.sparse.nn.BatchNorm(3)(x).shape
            paddle.Size([1, 2, 2, 2, 3])
        """
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

    Args:
        num_features: how many channels.
        momentum: the share of the running statistics that is kept.
        epsilon: what is added to the variance.
        weight_attr: how the scale is made.
        bias_attr: how the shift is made.
        data_format: accepted; the channels are last.
        use_global_stats: whether the running statistics are used, whatever the mode; None follows the mode.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([[1.0], [3.0]]).to_sparse_coo(1)
        >>> print(paddle.sparse.nn.SyncBatchNorm(1)(x).values().numpy().round(4))
        [[-1.]
         [ 1.]]
    """

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """The layer with every sparse BatchNorm in it replaced; parameters and statistics are kept.

        Args:
            layer: the layer.

        Returns:
            The layer with the replacements.

        Examples:
            >>> model = paddle.nn.Sequential(paddle.sparse.nn.BatchNorm(3))
            >>> type(paddle.sparse.nn.SyncBatchNorm.convert_sync_batchnorm(model)[0]).__name__
            'SyncBatchNorm'
        """
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
    """A convolution over sparse images `[batch, height, width, channels]`.

    Args:
        in_channels: how many channels come in.
        out_channels: how many go out.
        kernel_size: the window's size.
        stride: how far it moves.
        padding: zeros at the borders.
        dilation: the distance between the window's elements.
        groups: into how many groups the channels are divided.
        padding_mode: 'zeros'.
        weight_attr: how the weight `[*kernel, channels in, channels out]` is made.
        bias_attr: how the bias is made; False for none.
        data_format: 'NHWC'.

    Examples:
        >>> x = paddle.ones([1, 4, 4, 2]).to_sparse_coo(3)
        >>> paddle.sparse.nn.Conv2D(2, 5, 3)(x).shape
        paddle.Size([1, 2, 2, 5])
    """

    _num_spatial = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: SizesLike,
        stride: SizesLike = 1,
        padding: PaddingLike = 0,
        dilation: SizesLike = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        data_format: str = "NHWC",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr,
            bias_attr, data_format,
        )  # fmt: skip


class Conv3D(_Convolution):
    """A convolution over sparse volumes `[batch, depth, height, width, channels]`.

    Args:
        in_channels: how many channels come in.
        out_channels: how many go out.
        kernel_size: the window's size.
        stride: how far it moves.
        padding: zeros at the borders.
        dilation: the distance between the window's elements.
        groups: into how many groups the channels are divided.
        padding_mode: 'zeros'.
        weight_attr: how the weight `[*kernel, channels in, channels out]` is made.
        bias_attr: how the bias is made; False for none.
        data_format: 'NDHWC'.

    Examples:
        >>> x = paddle.ones([1, 3, 3, 3, 2]).to_sparse_coo(4)
        >>> paddle.sparse.nn.Conv3D(2, 5, 3)(x).shape
        paddle.Size([1, 1, 1, 1, 5])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: SizesLike,
        stride: SizesLike = 1,
        padding: PaddingLike = 0,
        dilation: SizesLike = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        data_format: str = "NDHWC",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr,
            bias_attr, data_format,
        )  # fmt: skip


class SubmConv2D(_Convolution):
    """A submanifold convolution over sparse images: elements stay where they are.

    Args:
        in_channels: how many channels come in.
        out_channels: how many go out.
        kernel_size: the window's size.
        stride, padding: without effect.
        dilation: the distance between the window's elements.
        groups: into how many groups the channels are divided.
        padding_mode: 'zeros'.
        key: accepted and not needed.
        weight_attr: how the weight is made.
        bias_attr: how the bias is made; False for none.
        data_format: 'NHWC'.
        backend: accepted and ignored.

    Examples:
        >>> x = paddle.eye(3).reshape([1, 3, 3, 1]).to_sparse_coo(3)
        >>> paddle.sparse.nn.SubmConv2D(1, 4, 3)(x).shape
        paddle.Size([1, 3, 3, 4])
    """

    _num_spatial = 2
    _submanifold = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: SizesLike,
        stride: SizesLike = 1,
        padding: PaddingLike = 0,
        dilation: SizesLike = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        key: str | None = None,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        data_format: str = "NHWC",
        backend: str | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr,
            bias_attr, data_format, key, backend,
        )  # fmt: skip


class SubmConv3D(_Convolution):
    """A submanifold convolution over sparse volumes: elements stay where they are.

    Args:
        in_channels: how many channels come in.
        out_channels: how many go out.
        kernel_size: the window's size.
        stride, padding: without effect.
        dilation: the distance between the window's elements.
        groups: into how many groups the channels are divided.
        padding_mode: 'zeros'.
        key: accepted and not needed.
        weight_attr: how the weight is made.
        bias_attr: how the bias is made; False for none.
        data_format: 'NDHWC'.
        backend: accepted and ignored.

    Examples:
        >>> x = paddle.ones([1, 2, 2, 2, 1]).to_sparse_coo(4)
        >>> paddle.sparse.nn.SubmConv3D(1, 4, 3)(x).shape
        paddle.Size([1, 2, 2, 2, 4])
    """

    _submanifold = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: SizesLike,
        stride: SizesLike = 1,
        padding: PaddingLike = 0,
        dilation: SizesLike = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        key: str | None = None,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        data_format: str = "NDHWC",
        backend: str | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr,
            bias_attr, data_format, key, backend,
        )  # fmt: skip
