"""Normalisation layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.dtype import FLOAT16, FLOAT32, is_floating, to_numpy_dtype
from ...core.errors import type_error, value_error
from ...eager.annotations import AttrLike, DeviceLike, DTypeLike
from ...eager.tensor import Tensor
from ...ops.arguments import integers
from .. import functional as F
from ..base import defaults
from ..base.attributes import ParamAttr
from ..base.sizes import whole_sizes
from ..initializer import Constant
from ..layer import Layer


class _BatchNormBase(Layer):
    """Batch normalisation; `_mean` and `_variance` are parameters that do not train."""

    _ranks: tuple[int, ...] = ()
    _default_format: str

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        data_format: str | None = None,
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=None)  # the default floating type
        self._build(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name)

    def _build(
        self, num_features: int, momentum: float, epsilon: float, weight_attr: Any, bias_attr: Any, data_format: str | None,
        use_global_stats: bool | None, name: str | None = None,
    ) -> None:  # fmt: skip
        self._num_features = num_features = whole_sizes(self, num_features=num_features)
        self._momentum, self._epsilon = momentum, epsilon
        self._data_format = data_format or self._default_format
        self._use_global_stats, self._name, self._in_place = use_global_stats, name, False
        self._weight_attr = self._param_attr = weight_attr
        self._bias_attr = bias_attr
        shape = [num_features]
        self.weight = self.create_parameter(shape, weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter(shape, bias_attr, is_bias=True)
        frozen = ParamAttr(trainable=False, do_model_average=True)
        self._mean = self.create_parameter(shape, frozen, default_initializer=Constant(0.0))
        self._variance = self.create_parameter(shape, frozen, default_initializer=Constant(1.0))

    def _check_input_dim(self, input: Tensor) -> None:
        if self._ranks and input._aval.ndim not in self._ranks:
            expected = " or ".join(f"{rank}D" for rank in self._ranks)
            raise value_error(type(self).__name__, f"expected {expected} input", f"input: {input._aval}")

    def _check_data_format(self, input: Any = None) -> None:
        """The function checks it."""

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input. While training, the batch's own statistics are used, and the running ones follow them.

        Examples:
            >>> layer = paddle.nn.BatchNorm1D(1)
            >>> print(layer.forward(paddle.to_tensor([[1.0], [3.0]])).numpy().round(3))
            [[-1.]
             [ 1.]]
        """
        self._check_input_dim(input)
        return F.batch_norm(
            input, self._mean, self._variance, self.weight, self.bias, self.training,
            self._momentum, self._epsilon, self._data_format, self._use_global_stats,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.BatchNorm2D(3)
            BatchNorm2D(num_features=3, momentum=0.9, epsilon=1e-05)
        """
        text = f"num_features={self._num_features}, momentum={self._momentum}, epsilon={self._epsilon}"
        if self._data_format != "NCHW":
            text += f", data_format={self._data_format}"
        return text + (f", name={self._name}" if self._name else "")


@defaults.data_format("NCL")
class BatchNorm1D(_BatchNormBase):
    """Batch normalisation of [batch, channels] or [batch, channels, length].

    Each channel is standardised over the batch, then scaled by `weight` and shifted by `bias`. In `eval()` the running
    mean and variance are used.

    Args:
        num_features: the number of channels.
        momentum: the share of the old running statistics at each step.
        epsilon: added to the variance.
        weight_attr: how the scales are made (`ParamAttr`); False leaves them out.
        bias_attr: the same for the shifts.
        data_format: where the channels are: 'NCL' or 'NLC'.
        use_global_stats: uses the running statistics while training too.

    Raises:
        ValueError: the input has another number of axes.

    Examples:
        >>> layer = paddle.nn.BatchNorm1D(2)
        >>> out = layer(paddle.to_tensor([[1.0, 10.0], [3.0, 30.0]]))
        >>> print(out.numpy().round(3))
        [[-1. -1.]
         [ 1.  1.]]
        >>> print(layer._mean.numpy().round(3))
        [0.2 2. ]
    """

    _ranks = (2, 3)


@defaults.data_format("NCHW")
class BatchNorm2D(_BatchNormBase):
    """Batch normalisation of [batch, channels, height, width].

    Each channel is standardised over the batch and the image, then scaled by `weight` and shifted by `bias`. In `eval()`
    the running mean and variance are used.

    Args:
        num_features: the number of channels.
        momentum: the share of the old running statistics at each step.
        epsilon: added to the variance.
        weight_attr: how the scales are made (`ParamAttr`); False leaves them out.
        bias_attr: the same for the shifts.
        data_format: where the channels are: 'NCHW' or 'NHWC'.
        use_global_stats: uses the running statistics while training too.

    Raises:
        ValueError: the input has another number of axes.

    Examples:
        >>> layer = paddle.nn.BatchNorm2D(3)
        >>> out = layer(paddle.randn([4, 3, 8, 8]) * 5 + 2)
        >>> abs(out.mean().item()) < 1e-3, round(out.var().item(), 2)
        (True, 1.0)
    """

    _ranks = (4,)


@defaults.data_format("NCDHW")
class BatchNorm3D(_BatchNormBase):
    """Batch normalisation of [batch, channels, depth, height, width].

    Args:
        num_features: the number of channels.
        momentum: the share of the old running statistics at each step.
        epsilon: added to the variance.
        weight_attr: how the scales are made (`ParamAttr`); False leaves them out.
        bias_attr: the same for the shifts.
        data_format: where the channels are: 'NCDHW' or 'NDHWC'.
        use_global_stats: uses the running statistics while training too.

    Raises:
        ValueError: the input has another number of axes.

    Examples:
        >>> paddle.nn.BatchNorm3D(2)(paddle.ones([1, 2, 2, 3, 4])).shape
        paddle.Size([1, 2, 2, 3, 4])
    """

    _ranks = (5,)


class BatchNorm(_BatchNormBase):
    """Batch normalisation of any rank, with an activation behind it (the older interface).

    Args:
        num_channels: the number of channels.
        act: the activation's name in `paddle.nn.functional`.
        is_test: always uses the running statistics.
        momentum: the share of the old running statistics at each step.
        epsilon: added to the variance.
        param_attr: how the scales are made (`ParamAttr`); False leaves them out.
        bias_attr: the same for the shifts.
        dtype: the data type of the parameters; float32 for float16.
        data_layout: where the channels are: 'NCHW' or 'NHWC'.
        in_place: accepted for compatibility.
        moving_mean_name: the name of the running mean.
        moving_variance_name: the name of the running variance.
        do_model_average_for_mean_and_var: accepted for compatibility.
        use_global_stats: uses the running statistics while training too.
        trainable_statistics: accepted for compatibility.

    Raises:
        TypeError: `dtype` is no floating type.

    Examples:
        >>> layer = paddle.nn.BatchNorm(1, act="relu")
        >>> print(layer(paddle.to_tensor([[1.0], [3.0]])).numpy().round(3))
        [[0.]
         [1.]]
    """

    def __init__(
        self,
        num_channels: int,
        act: str | None = None,
        is_test: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        param_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        dtype: DTypeLike = "float32",
        data_layout: str = "NCHW",
        in_place: bool = False,
        moving_mean_name: str | None = None,
        moving_variance_name: str | None = None,
        do_model_average_for_mean_and_var: bool = True,
        use_global_stats: bool = False,
        trainable_statistics: bool = False,
    ) -> None:
        kind = to_numpy_dtype(dtype)
        if not is_floating(kind):
            raise type_error("BatchNorm", "dtype must be a floating type", f"dtype: {dtype!r}")
        # Half precision is for what goes through: the parameters are float32 then.
        Layer.__init__(self, dtype=FLOAT32 if kind == FLOAT16 else kind)
        self._build(
            whole_sizes(self, num_channels=num_channels), momentum, epsilon, param_attr, bias_attr, data_layout,
            True if use_global_stats or is_test else None,
        )  # fmt: skip
        self._act = act
        for tensor, name in (
            (self._mean, moving_mean_name),
            (self._variance, moving_variance_name),
        ):
            if name is not None:
                tensor.name = name

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input, through the activation.

        Examples:
            >>> paddle.nn.BatchNorm(2).forward(paddle.zeros([3, 2, 4])).shape
            paddle.Size([3, 2, 4])
        """
        out = super().forward(input)
        return out if self._act is None else getattr(F, self._act)(out)

    def extra_repr(self) -> str:
        """Nothing: the older interface is printed without its settings.

        Examples:
            >>> paddle.nn.BatchNorm(2)
            BatchNorm()
        """
        return ""


class LayerNorm(Layer):
    """Standardises the last axes of each sample, then scales and shifts every element by a learned number.

    Args:
        normalized_shape: the extents of the last axes: a number or a list.
        epsilon: added to the variance; PyTorch's `eps` is taken too.
        elementwise_affine: False leaves scale and shift out.
        bias: False leaves the shift out.
        device: where the parameters lie.
        dtype: their data type.
        weight_attr: how the scales are made (`ParamAttr`); False leaves them out.
        bias_attr: the same for the shifts.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.LayerNorm(4)
        >>> print(layer(paddle.to_tensor([[1.0, 2.0, 3.0, 4.0]])).numpy().round(3))
        [[-1.342 -0.447  0.447  1.342]]
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        epsilon: float = 1e-5,
        *,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=dtype)
        shape = list(integers("LayerNorm", "normalized_shape", normalized_shape))
        self._normalized_shape, self._epsilon = shape, epsilon
        self._weight_attr, self._bias_attr, self._device = weight_attr, bias_attr, device
        size = [math.prod(shape)]
        self.weight = self.create_parameter(
            size,
            weight_attr if elementwise_affine else False,
            default_initializer=Constant(1.0),
            device=device,
        )
        self.bias = self.create_parameter(
            size, bias_attr if elementwise_affine and bias else False, is_bias=True, device=device
        )

    def forward(self, input: Tensor) -> Tensor:
        """The input, with its last axes standardised.

        Examples:
            >>> paddle.nn.LayerNorm([2, 3]).forward(paddle.ones([5, 2, 3])).abs().max().item()
            0.0
        """
        return F.layer_norm(input, self._normalized_shape, self.weight, self.bias, self._epsilon)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.LayerNorm(4)
            LayerNorm(normalized_shape=[4], epsilon=1e-05)
        """
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class GroupNorm(Layer):
    """Standardises groups of channels in each sample, then scales and shifts each channel by a learned number.

    Args:
        num_groups: the number of groups.
        num_channels: the number of channels.
        epsilon: added to the variance; PyTorch's `eps` is taken too.
        affine: False leaves scale and shift out.
        device: where the parameters lie.
        dtype: their data type.
        weight_attr: how the scales are made (`ParamAttr`); False leaves them out.
        bias_attr: the same for the shifts.
        data_format: where the channels are: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Raises:
        ValueError: the channels do not divide into the groups.

    Examples:
        >>> paddle.nn.GroupNorm(2, 6)(paddle.randn([4, 6, 8, 8])).shape
        paddle.Size([4, 6, 8, 8])
        >>> paddle.nn.GroupNorm(4, 6)
        Traceback (most recent call last):
            ...
        ValueError: (GroupNorm) 6 channels cannot be divided into 4 groups.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-5,
        *,
        affine: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=dtype)
        num_groups, num_channels = whole_sizes(self, num_groups=num_groups, num_channels=num_channels)
        if num_groups < 1 or num_channels % num_groups:
            raise value_error("GroupNorm", f"{num_channels} channels cannot be divided into {num_groups} groups")
        self._num_groups, self._num_channels = num_groups, num_channels
        self._epsilon, self._data_format, self._device = epsilon, data_format, device
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter(
            [num_channels],
            weight_attr if affine else False,
            default_initializer=Constant(1.0),
            device=device,
        )
        self.bias = self.create_parameter([num_channels], bias_attr if affine else False, is_bias=True, device=device)

    def forward(self, input: Tensor) -> Tensor:
        """The input, with each group standardised.

        Examples:
            >>> layer = paddle.nn.GroupNorm(1, 2)
            >>> print(layer.forward(paddle.to_tensor([[1.0, 3.0]])).numpy().round(3))
            [[-1.  1.]]
        """
        return F.group_norm(input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.GroupNorm(2, 6)
            GroupNorm(num_groups=2, num_channels=6, epsilon=1e-05)
        """
        return f"num_groups={self._num_groups}, num_channels={self._num_channels}, epsilon={self._epsilon}"


class _InstanceNormBase(Layer):
    """Standardises each channel of each sample over space."""

    _default_format: str
    _ranks: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=None)
        self._num_features = num_features = whole_sizes(self, num_features=num_features)
        self._epsilon, self._momentum = epsilon, momentum
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self._data_format = data_format or self._default_format
        affine = weight_attr is not False and bias_attr is not False
        self.scale = self.create_parameter(
            [num_features], weight_attr if affine else False, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter([num_features], bias_attr if affine else False, is_bias=True)

    def _check_input_dim(self, input: Tensor) -> None:
        """The function checks it."""

    def forward(self, input: Tensor) -> Tensor:
        """The input, with each channel of each sample standardised.

        Raises:
            ValueError: the input has another number of axes.

        Examples:
            >>> layer = paddle.nn.InstanceNorm1D(1)
            >>> print(layer.forward(paddle.to_tensor([[[1.0, 3.0]]])).numpy().round(3))
            [[[-1.  1.]]]
        """
        if input._aval.ndim not in self._ranks:
            raise value_error(
                type(self).__name__, f"the input must have {' or '.join(map(str, self._ranks))} dimensions",
                f"input: {input._aval}",
            )  # fmt: skip
        return F.instance_norm(
            input,
            weight=self.scale,
            bias=self.bias,
            eps=self._epsilon,
            data_format=self._data_format,
        )

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.InstanceNorm2D(3)
            InstanceNorm2D(num_features=3, epsilon=1e-05)
        """
        return f"num_features={self._num_features}, epsilon={self._epsilon}"


@defaults.data_format("NCL")
class InstanceNorm1D(_InstanceNormBase):
    """Instance normalisation of [batch, channels, length] or [channels, length]: each channel of each sample on its own.

    Args:
        num_features: the number of channels.
        epsilon: added to the variance.
        momentum: accepted for compatibility; no statistics are kept.
        weight_attr: how the scales are made (`ParamAttr`); False leaves scales and shifts out.
        bias_attr: the same for the shifts.
        data_format: where the channels are: 'NCL' or 'NLC'.

    Examples:
        >>> print(paddle.nn.InstanceNorm1D(1)(paddle.to_tensor([[[1.0, 2.0, 3.0]]])).numpy().round(3))
        [[[-1.225  0.     1.225]]]
    """

    _ranks = (2, 3)


@defaults.data_format("NCHW")
class InstanceNorm2D(_InstanceNormBase):
    """Instance normalisation of [batch, channels, height, width]: each channel of each image on its own.

    Args:
        num_features: the number of channels.
        epsilon: added to the variance.
        momentum: accepted for compatibility; no statistics are kept.
        weight_attr: how the scales are made (`ParamAttr`); False leaves scales and shifts out.
        bias_attr: the same for the shifts.
        data_format: where the channels are: 'NCHW' or 'NHWC'.

    Examples:
        >>> out = paddle.nn.InstanceNorm2D(2)(paddle.randn([3, 2, 8, 8]))
        >>> out.shape, bool((out.mean([2, 3]).abs() < 1e-4).all())
        (paddle.Size([3, 2, 8, 8]), True)
    """

    _ranks = (4,)


@defaults.data_format("NCDHW")
class InstanceNorm3D(_InstanceNormBase):
    """Instance normalisation of [batch, channels, depth, height, width]: each channel of each volume on its own.

    Args:
        num_features: the number of channels.
        epsilon: added to the variance.
        momentum: accepted for compatibility; no statistics are kept.
        weight_attr: how the scales are made (`ParamAttr`); False leaves scales and shifts out.
        bias_attr: the same for the shifts.
        data_format: where the channels are: 'NCDHW' or 'NDHWC'.

    Examples:
        >>> paddle.nn.InstanceNorm3D(2)(paddle.ones([1, 2, 3, 4, 5])).shape
        paddle.Size([1, 2, 3, 4, 5])
    """

    _ranks = (5,)
