"""Layers for quantisation-aware training: numbers are rounded as if they had a few bits, gradients pass unchanged."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.annotations import SizesLike
from ...eager.tensor import Tensor, tensor_from_data
from ...eager.views import replace_value
from ...ir.recorder import recording_gradients
from .. import functional as F
from ..layer import Layer

__all__ = [
    "FakeQuantAbsMax",
    "FakeQuantChannelWiseAbsMax",
    "FakeQuantMAOutputScaleLayer",
    "FakeQuantMovingAverageAbsMax",
    "MAOutputScaleLayer",
    "MovingAverageAbsMaxScale",
    "QuantStub",
    "QuantizedColumnParallelLinear",
    "QuantizedConv2D",
    "QuantizedConv2DTranspose",
    "QuantizedLinear",
    "QuantizedMatmul",
    "QuantizedRowParallelLinear",
]


def _rounded(x: Any, scale: Any, bits: int) -> Any:
    """`x` on a grid of 2^bits - 1 steps from -scale to scale; the gradient passes straight through."""
    largest = float(2 ** (bits - 1) - 1)
    safe = scale.clip(min=1e-9)
    unit = (x / safe).clip(-1.0, 1.0)
    grid = (unit * largest).round() * (safe * (1.0 / largest))
    return x + (grid - x).detach()


def _state(value: float, size: int = 1) -> Tensor:
    return tensor_from_data(np.full(size, value, "float32"))


class FakeQuantAbsMax(Layer):
    """Rounds to a grid that reaches to the largest absolute value; gradients pass unchanged.

    Args:
        name: a label; it changes nothing.
        quant_bits: the number of bits.
        dtype: accepted for compatibility.
        quant_on_weight: keeps the scale in the layer's state.
        reduce_type: accepted for compatibility.

    Examples:
        >>> layer = paddle.nn.quant.quant_layers.FakeQuantAbsMax(quant_bits=3)
        >>> layer(paddle.to_tensor([3.0, 1.4, -0.4])).tolist()
        [3.0, 1.0, 0.0]
    """

    def __init__(
        self,
        name: str | None = None,
        quant_bits: int = 8,
        dtype: str = "float32",
        quant_on_weight: bool = False,
        reduce_type: str | None = None,
    ) -> None:
        super().__init__()
        self._quant_bits, self._name = quant_bits, name
        if quant_on_weight:
            self.register_buffer("_scale", _state(0.0))
        else:
            self._scale = None

    def forward(self, input: Tensor) -> Any:
        """The rounded tensor.

        Examples:
            >>> layer = paddle.nn.quant.quant_layers.FakeQuantAbsMax(quant_bits=2)
            >>> layer.forward(paddle.to_tensor([2.0, 0.9])).tolist()
            [2.0, 0.0]
        """
        with recording_gradients(False):
            scale = input.detach().abs().max()
            if self._scale is not None:
                replace_value(self._scale, scale.reshape([1]))
        return _rounded(input, scale, self._quant_bits)


class FakeQuantChannelWiseAbsMax(Layer):
    """`FakeQuantAbsMax` of a weight, with a grid for each channel.

    Args:
        name: a label; it changes nothing.
        channel_num: the number of channels.
        quant_bits: the number of bits.
        quant_axis: the axis of the channels.
        dtype: accepted for compatibility.
        quant_on_weight: must be True.
        reduce_type: accepted for compatibility.

    Raises:
        ValueError: `quant_on_weight` is not True.

    Examples:
        >>> from proa.nn.quant.quant_layers import FakeQuantChannelWiseAbsMax
        >>> layer = FakeQuantChannelWiseAbsMax(channel_num=2, quant_bits=2, quant_on_weight=True)
        >>> layer(paddle.to_tensor([[1.0, 0.4], [8.0, 5.0]])).tolist()
        [[1.0, 0.0], [8.0, 8.0]]
    """

    def __init__(
        self,
        name: str | None = None,
        channel_num: int | None = None,
        quant_bits: int = 8,
        quant_axis: int = 0,
        dtype: str = "float32",
        quant_on_weight: bool = False,
        reduce_type: str | None = None,
    ) -> None:
        super().__init__()
        if not quant_on_weight:
            raise value_error("FakeQuantChannelWiseAbsMax", "channels are for weights: quant_on_weight must be True")
        self._quant_bits, self._quant_axis, self._channel_num = quant_bits, quant_axis, channel_num
        self.register_buffer("_scale", _state(0.0, int(channel_num or 1)))

    def forward(self, input: Tensor) -> Any:
        """The rounded weight.

        Examples:
            >>> from proa.nn.quant.quant_layers import FakeQuantChannelWiseAbsMax
            >>> layer = FakeQuantChannelWiseAbsMax(channel_num=1, quant_bits=2, quant_on_weight=True)
            >>> layer.forward(paddle.to_tensor([[4.0, 1.0]])).tolist()
            [[4.0, 0.0]]
        """
        axes = [axis for axis in range(input._aval.ndim) if axis != self._quant_axis]
        with recording_gradients(False):
            scale = input.detach().abs().max(axes, keepdim=True)
            replace_value(self._scale, scale.reshape([-1]))
        return _rounded(input, scale, self._quant_bits)


class _MovingAverage(Layer):
    """The largest absolute value, averaged over the steps of training."""

    def __init__(self, moving_rate: float) -> None:
        super().__init__()
        self._moving_rate = moving_rate
        for name, value in (("_scale", 0.001), ("_state", 1.0), ("_accum", 1.0)):
            self.register_buffer(name, _state(value))

    def _follow(self, input: Any) -> None:
        """One step: scale = accumulated maxima over accumulated weights."""
        with recording_gradients(False):
            state: Any = self._state * self._moving_rate + 1.0  # type: ignore[operator]
            largest = input.detach().abs().max()
            total: Any = self._accum * self._moving_rate + largest  # type: ignore[operator]
            replace_value(self._state, state)
            replace_value(self._accum, total)
            replace_value(self._scale, total / state)


class FakeQuantMovingAverageAbsMax(_MovingAverage):
    """Rounds to a grid whose reach is averaged over the steps of training.

    Args:
        name: a label; it changes nothing.
        moving_rate: the share of the old average at each step.
        quant_bits: the number of bits.
        dtype: accepted for compatibility.
        reduce_type: accepted for compatibility.

    Examples:
        >>> layer = paddle.nn.quant.quant_layers.FakeQuantMovingAverageAbsMax(quant_bits=8)
        >>> layer(paddle.to_tensor([1.0, 0.5])).shape
        paddle.Size([2])
    """

    def __init__(
        self,
        name: str | None = None,
        moving_rate: float = 0.9,
        quant_bits: int = 8,
        dtype: str = "float32",
        reduce_type: str | None = None,
    ) -> None:
        super().__init__(moving_rate)
        self._quant_bits = quant_bits

    def forward(self, input: Tensor) -> Any:
        """The rounded tensor; while training the average takes its largest absolute value in.

        Examples:
            >>> layer = paddle.nn.quant.quant_layers.FakeQuantMovingAverageAbsMax(quant_bits=2)
            >>> layer.forward(paddle.to_tensor([1.0, 0.2])).tolist()
            [1.0, 0.0]
        """
        if self.training:
            self._follow(input)
        return _rounded(input, self._scale.detach(), self._quant_bits)


class MovingAverageAbsMaxScale(_MovingAverage):
    """Gives its input back and follows its largest absolute value, averaged over the steps of training.

    Args:
        name: a label; it changes nothing.
        moving_rate: the share of the old average at each step.
        dtype: accepted for compatibility.
        reduce_type: accepted for compatibility.

    Examples:
        >>> layer = paddle.nn.quant.quant_layers.MovingAverageAbsMaxScale()
        >>> layer(paddle.to_tensor([1.0, -1.0])).tolist()
        [1.0, -1.0]
        >>> print(layer._scale.numpy().round(4))
        [1.]
    """

    def __init__(
        self, name: str | None = None, moving_rate: float = 0.9, dtype: str = "float32", reduce_type: str | None = None
    ) -> None:
        super().__init__(moving_rate)

    def forward(self, input: Tensor) -> Any:
        """The input itself.

        Examples:
            >>> paddle.nn.quant.quant_layers.MovingAverageAbsMaxScale().forward(paddle.to_tensor([3.0])).tolist()
            [3.0]
        """
        if self.training:
            self._follow(input)
        return input


QuantStub = MovingAverageAbsMaxScale


def _quantizer(kind: str, bits: int, moving_rate: float, channels: int, axis: int, on_weight: bool) -> Layer:
    if kind == "abs_max":
        return FakeQuantAbsMax(quant_bits=bits, quant_on_weight=on_weight)
    if kind == "moving_average_abs_max":
        return FakeQuantMovingAverageAbsMax(moving_rate=moving_rate, quant_bits=bits)
    if kind == "channel_wise_abs_max" and on_weight:
        return FakeQuantChannelWiseAbsMax(channel_num=channels, quant_bits=bits, quant_axis=axis, quant_on_weight=True)
    raise value_error("quant_layers", "unknown kind of quantiser", f"{kind!r}")


class _Quantized(Layer):
    """A layer whose input and weight are rounded; it takes over the parameters of the layer it is made from."""

    _axis = 0  # the axis of the outputs in the weight

    def __init__(
        self,
        layer: Layer,
        weight_bits: int = 8,
        activation_bits: int = 8,
        moving_rate: float = 0.9,
        weight_quantize_type: str = "abs_max",
        activation_quantize_type: str = "abs_max",
        weight_pre_layer: Any = None,
        act_pre_layer: Any = None,
        weight_quant_layer: Any = None,
        act_quant_layer: Any = None,
    ) -> None:
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias
        self._layer_options = {
            key: getattr(layer, key)
            for key in ("_stride", "_padding", "_dilation", "_groups", "_data_format", "output_padding")
            if hasattr(layer, key)
        }
        channels = layer.weight._aval.shape[self._axis]
        self._fake_quant_weight = (
            weight_quant_layer() if weight_quant_layer is not None
            else _quantizer(weight_quantize_type, weight_bits, moving_rate, channels, self._axis, True)
        )  # fmt: skip
        self._fake_quant_input = (
            act_quant_layer() if act_quant_layer is not None
            else _quantizer(activation_quantize_type, activation_bits, moving_rate, 1, 0, False)
        )  # fmt: skip
        self._act_preprocess = act_pre_layer() if act_pre_layer is not None else None
        self._weight_preprocess = weight_pre_layer() if weight_pre_layer is not None else None

    def forward(self, input: Any) -> Any:
        """What the layer computes with its input and weight rounded.

        Examples:
            >>> layer = paddle.nn.quant.quant_layers.QuantizedLinear(paddle.nn.Linear(3, 2))
            >>> layer.forward(paddle.ones([4, 3])).shape
            paddle.Size([4, 2])
        """
        if self._act_preprocess is not None:
            input = self._act_preprocess(input)
        weight = self.weight if self._weight_preprocess is None else self._weight_preprocess(self.weight)
        return self._compute(self._fake_quant_input(input), self._fake_quant_weight(weight))

    def _compute(self, input: Any, weight: Any) -> Any:
        return F.linear(input, weight, self.bias)


class QuantizedLinear(_Quantized):
    """A Linear layer whose input and weight are rounded, for training that knows of the rounding.

    Args:
        layer: the Linear layer, whose parameters it takes over.
        weight_bits: the bits of the weight.
        activation_bits: the bits of the input.
        moving_rate: the share of the old average, where reaches are averaged.
        weight_quantize_type: 'abs_max', 'moving_average_abs_max' or 'channel_wise_abs_max'.
        activation_quantize_type: 'abs_max' or 'moving_average_abs_max'.
        weight_pre_layer: makes a layer that the weight goes through first.
        act_pre_layer: makes a layer that the input goes through first.
        weight_quant_layer: makes the layer that rounds the weight.
        act_quant_layer: makes the layer that rounds the input.

    Raises:
        ValueError: a kind of quantiser is unknown.

    Examples:
        >>> linear = paddle.nn.Linear(3, 2)
        >>> layer = paddle.nn.quant.quant_layers.QuantizedLinear(linear)
        >>> x = paddle.ones([1, 3])
        >>> bool(((layer(x) - linear(x)).abs() < 0.05).all())
        True
    """

    _axis = 1


class QuantizedColumnParallelLinear(QuantizedLinear):
    """`QuantizedLinear` of a layer whose outputs are divided among devices; it takes the same arguments.

    Examples:
        >>> layer = paddle.nn.quant.quant_layers.QuantizedColumnParallelLinear(paddle.nn.Linear(3, 2))
        >>> layer(paddle.ones([4, 3])).shape
        paddle.Size([4, 2])
    """


class QuantizedRowParallelLinear(QuantizedLinear):
    """`QuantizedLinear` of a layer whose inputs are divided among devices; it takes the same arguments.

    Examples:
        >>> layer = paddle.nn.quant.quant_layers.QuantizedRowParallelLinear(paddle.nn.Linear(3, 2))
        >>> layer(paddle.ones([4, 3])).shape
        paddle.Size([4, 2])
    """


class QuantizedConv2D(_Quantized):
    """A Conv2D layer whose input and weight are rounded; it takes the arguments of `QuantizedLinear`.

    Examples:
        >>> layer = paddle.nn.quant.quant_layers.QuantizedConv2D(paddle.nn.Conv2D(3, 4, 3, padding=1))
        >>> layer(paddle.ones([1, 3, 8, 8])).shape
        paddle.Size([1, 4, 8, 8])
    """

    def _compute(self, input: Any, weight: Any) -> Any:
        o = self._layer_options
        return F.conv2d(
            input, weight, self.bias, o["_stride"], o["_padding"], o["_dilation"], o["_groups"], o["_data_format"]
        )


class QuantizedConv2DTranspose(_Quantized):
    """A Conv2DTranspose layer whose input and weight are rounded; it takes the arguments of `QuantizedLinear`.

    Examples:
        >>> layer = paddle.nn.quant.quant_layers.QuantizedConv2DTranspose(paddle.nn.Conv2DTranspose(3, 4, 2, stride=2))
        >>> layer(paddle.ones([1, 3, 8, 8])).shape
        paddle.Size([1, 4, 16, 16])
    """

    _axis = 1

    def forward(self, input: Tensor, output_size: SizesLike | None = None) -> Any:
        """The transposed convolution of the rounded input.

        Args:
            input: the input.
            output_size: accepted for compatibility.

        Examples:
            >>> layer = paddle.nn.quant.quant_layers.QuantizedConv2DTranspose(paddle.nn.Conv2DTranspose(1, 1, 2))
            >>> layer.forward(paddle.ones([1, 1, 2, 2])).shape
            paddle.Size([1, 1, 3, 3])
        """
        return super().forward(input)

    def _compute(self, input: Any, weight: Any) -> Any:
        o = self._layer_options
        return F.conv2d_transpose(
            input, weight, self.bias, o["_stride"], o["_padding"], o["output_padding"], groups=o["_groups"],
            dilation=o["_dilation"], data_format=o["_data_format"],
        )  # fmt: skip


class QuantizedMatmul(Layer):
    """A matrix product of two rounded tensors.

    It takes the arguments of `QuantizedLinear`, of which it uses those of the input.

    Examples:
        >>> layer = paddle.nn.quant.quant_layers.QuantizedMatmul()
        >>> print(layer(paddle.ones([2, 3]), paddle.ones([3, 1])).numpy().round(3))
        [[3.]
         [3.]]
    """

    def __init__(
        self,
        layer: Layer | None = None,
        weight_bits: int = 8,
        activation_bits: int = 8,
        moving_rate: float = 0.9,
        weight_quantize_type: str = "abs_max",
        activation_quantize_type: str = "abs_max",
        weight_pre_layer: Any = None,
        act_pre_layer: Any = None,
        weight_quant_layer: Any = None,
        act_quant_layer: Any = None,
    ) -> None:
        super().__init__()
        self._fake_quant_x, self._fake_quant_y = (
            act_quant_layer() if act_quant_layer is not None
            else _quantizer(activation_quantize_type, activation_bits, moving_rate, 1, 0, False)
            for _ in range(2)
        )  # fmt: skip

    def forward(
        self, x: Tensor, y: Tensor, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
    ) -> Any:
        """The product of the rounded tensors.

        Args:
            x: the first tensor.
            y: the second.
            transpose_x: swaps the last two axes of `x` first.
            transpose_y: swaps the last two axes of `y` first.
            name: a label; it changes nothing.

        Examples:
            >>> layer = paddle.nn.quant.quant_layers.QuantizedMatmul()
            >>> layer.forward(paddle.ones([2, 3]), paddle.ones([4, 3]), transpose_y=True).shape
            paddle.Size([2, 4])
        """
        return self._fake_quant_x(x).matmul(self._fake_quant_y(y), transpose_x, transpose_y)


class MAOutputScaleLayer(Layer):
    """A layer whose output's largest absolute value is followed.

    Args:
        layer: the layer.
        moving_rate: the share of the old average at each step.
        name: a label; it changes nothing.
        dtype: accepted for compatibility.
        reduce_type: accepted for compatibility.

    Examples:
        >>> layer = paddle.nn.quant.quant_layers.MAOutputScaleLayer(paddle.nn.ReLU())
        >>> layer(paddle.to_tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __init__(
        self,
        layer: Layer | None = None,
        moving_rate: float = 0.9,
        name: str | None = None,
        dtype: str = "float32",
        reduce_type: str | None = None,
    ) -> None:
        super().__init__()
        self._layer: Any = layer
        self._ma_output_scale = MovingAverageAbsMaxScale(name, moving_rate, dtype)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the layer gives; several outputs are not followed.

        Examples:
            >>> layer = paddle.nn.quant.quant_layers.MAOutputScaleLayer(paddle.nn.ReLU())
            >>> layer.forward(paddle.to_tensor([-1.0])).tolist()
            [0.0]
        """
        out = self._layer(*inputs, **kwargs)
        # Several outputs have several scales: they are left alone.
        return out if isinstance(out, (list, tuple, dict)) else self._ma_output_scale(out)


class FakeQuantMAOutputScaleLayer(Layer):
    """A layer whose output is rounded, to a grid whose reach is averaged over the steps of training.

    Args:
        layer: the layer.
        weight_bits: accepted for compatibility.
        activation_bits: the bits of the output.
        moving_rate: the share of the old average at each step.
        name: a label; it changes nothing.
        reduce_type: accepted for compatibility.

    Examples:
        >>> layer = paddle.nn.quant.quant_layers.FakeQuantMAOutputScaleLayer(paddle.nn.ReLU(), activation_bits=2)
        >>> layer(paddle.to_tensor([1.0, 0.2])).tolist()
        [1.0, 0.0]
    """

    def __init__(
        self,
        layer: Layer,
        weight_bits: int = 8,
        activation_bits: int = 8,
        moving_rate: float = 0.9,
        name: str | None = None,
        reduce_type: str | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self._layer = layer
        self._fake_quant_output = FakeQuantMovingAverageAbsMax(name, moving_rate, activation_bits)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The rounded output; several outputs are given as they are.

        Examples:
            >>> layer = paddle.nn.quant.quant_layers.FakeQuantMAOutputScaleLayer(paddle.nn.ReLU())
            >>> layer.forward(paddle.to_tensor([-1.0, -2.0])).tolist()
            [0.0, 0.0]
        """
        out = self._layer(*inputs, **kwargs)
        return out if isinstance(out, (list, tuple, dict)) else self._fake_quant_output(out)
