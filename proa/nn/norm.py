"""Normalisation layers."""

from __future__ import annotations

import math
from typing import Any

from ..core.dtype import FLOAT16, FLOAT32, is_floating, to_numpy_dtype
from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor
from ..ops.arguments import integers
from . import functional as F
from .base import defaults
from .base.attributes import ParamAttr
from .base.sizes import whole_sizes
from .initializer import Constant
from .layer import Layer


class _BatchNormBase(Layer):
    """Batch normalisation; `_mean` and `_variance` are parameters that do not train."""

    _ranks: tuple[int, ...] = ()
    _default_format: str

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
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
        self._check_input_dim(input)
        return F.batch_norm(
            input, self._mean, self._variance, self.weight, self.bias, self.training,
            self._momentum, self._epsilon, self._data_format, self._use_global_stats,
        )  # fmt: skip

    def extra_repr(self) -> str:
        text = f"num_features={self._num_features}, momentum={self._momentum}, epsilon={self._epsilon}"
        if self._data_format != "NCHW":
            text += f", data_format={self._data_format}"
        return text + (f", name={self._name}" if self._name else "")


@defaults.data_format("NCL")
class BatchNorm1D(_BatchNormBase):
    """Batch normalisation of [batch, channels] or [batch, channels, length]."""

    _ranks = (2, 3)


@defaults.data_format("NCHW")
class BatchNorm2D(_BatchNormBase):
    """Batch normalisation of [batch, channels, height, width]."""

    _ranks = (4,)


@defaults.data_format("NCDHW")
class BatchNorm3D(_BatchNormBase):
    """Batch normalisation of [batch, channels, depth, height, width]."""

    _ranks = (5,)


class BatchNorm(_BatchNormBase):
    """Batch normalisation of any rank, with an activation behind it (the older interface)."""

    def __init__(
        self,
        num_channels: int,
        act: str | None = None,
        is_test: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        param_attr: Any = None,
        bias_attr: Any = None,
        dtype: str = "float32",
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
        out = super().forward(input)
        return out if self._act is None else getattr(F, self._act)(out)


class LayerNorm(Layer):
    """Standardises the last dimensions; the parameters have a number for each of their elements."""

    def __init__(
        self,
        normalized_shape: Any,
        epsilon: float = 1e-5,
        *,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
        weight_attr: Any = None,
        bias_attr: Any = None,
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
        return F.layer_norm(input, self._normalized_shape, self.weight, self.bias, self._epsilon)

    def extra_repr(self) -> str:
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class GroupNorm(Layer):
    """Standardises groups of channels in each sample."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-5,
        *,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        weight_attr: Any = None,
        bias_attr: Any = None,
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
        return F.group_norm(input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format)

    def extra_repr(self) -> str:
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
        weight_attr: Any = None,
        bias_attr: Any = None,
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
        return f"num_features={self._num_features}, epsilon={self._epsilon}"


@defaults.data_format("NCL")
class InstanceNorm1D(_InstanceNormBase):
    """Instance normalisation of [batch, channels, length]."""

    _ranks = (2, 3)


@defaults.data_format("NCHW")
class InstanceNorm2D(_InstanceNormBase):
    """Instance normalisation of [batch, channels, height, width]."""

    _ranks = (4,)


@defaults.data_format("NCDHW")
class InstanceNorm3D(_InstanceNormBase):
    """Instance normalisation of [batch, channels, depth, height, width]."""

    _ranks = (5,)
