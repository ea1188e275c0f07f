"""Activation functions as layers."""

from __future__ import annotations

from typing import Any

from ..eager.tensor import Tensor
from . import functional as F
from .base.layer_names import Argument
from .base.sizes import whole_sizes
from .initializer import Constant
from .layer import Layer


class _Activation(Layer):
    """Keeps the arguments of a function of `nn.functional` and calls it."""

    _function: str
    _axis = Argument("axis")

    def __init__(self, /, **arguments: Any) -> None:
        super().__init__()
        self._name = self.name = arguments.pop("name", None)
        # Subclasses pass their locals().
        self._arguments = {k: v for k, v in arguments.items() if k not in ("self", "__class__")}

    def forward(self, x: Tensor) -> Tensor:
        return getattr(F, self._function)(x, **self._arguments)

    def extra_repr(self) -> str:
        shown = [f"{name}={value}" for name, value in self._arguments.items()]
        return ", ".join([*shown, *([f"name={self._name}"] if self._name else [])])


class ReLU(_Activation):
    """max(x, 0)."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x)


def _plain(name: str, function: str, doc: str) -> type[_Activation]:
    """The layer of a function without arguments."""

    def __init__(self: _Activation, name: str | None = None) -> None:
        _Activation.__init__(self, name=name)

    members = {"__init__": __init__, "_function": function, "__doc__": doc, "__module__": __name__}
    return type(name, (_Activation,), members)


Sigmoid = _plain("Sigmoid", "sigmoid", "1 / (1 + exp(-x)).")
Tanh = _plain("Tanh", "tanh", "The hyperbolic tangent.")
ReLU6 = _plain("ReLU6", "relu6", "x between 0 and 6.")
LogSigmoid = _plain("LogSigmoid", "log_sigmoid", "The logarithm of the sigmoid.")
Hardsigmoid = _plain("Hardsigmoid", "hardsigmoid", "A sigmoid of three straight lines.")
Hardswish = _plain("Hardswish", "hardswish", "x times the hard sigmoid of x.")
Swish = _plain("Swish", "swish", "x times the sigmoid of x.")
Mish = _plain("Mish", "mish", "x tanh(softplus(x)).")
Softsign = _plain("Softsign", "softsign", "x / (1 + |x|).")
Tanhshrink = _plain("Tanhshrink", "tanhshrink", "x - tanh(x).")


class Silu(_Activation):
    """x times the sigmoid of x."""

    def __init__(self, inplace: bool = False, name: str | None = None) -> None:
        super().__init__(name=name, inplace=inplace)

    def forward(self, x: Tensor) -> Tensor:
        return F.silu(x)


SiLU = Silu


class GELU(_Activation):
    """x times the normal distribution's share below x."""

    _function = "gelu"

    def __init__(self, approximate: Any = False, name: str | None = None) -> None:
        super().__init__(**locals())


class LeakyReLU(_Activation):
    """x, with negative numbers scaled down."""

    _function = "leaky_relu"

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__(**locals())


class ELU(_Activation):
    """x above 0, alpha (exp(x) - 1) below."""

    _function = "elu"

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__(**locals())


class CELU(_Activation):
    """x above 0, alpha (exp(x / alpha) - 1) below."""

    _function = "celu"

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__(**locals())


class SELU(_Activation):
    """A scaled ELU that keeps mean and variance."""

    _function = "selu"

    def __init__(
        self,
        scale: float = 1.0507009873554804934193349852946,
        alpha: float = 1.6732632423543772848170429916717,
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class Hardtanh(_Activation):
    """x between `min` and `max`."""

    _function = "hardtanh"

    def __init__(self, min: float = -1.0, max: float = 1.0, name: str | None = None) -> None:
        super().__init__(**locals())


class Hardshrink(_Activation):
    """x, but 0 within the threshold."""

    _function = "hardshrink"

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__(**locals())


class Softshrink(_Activation):
    """x moved towards 0 by the threshold."""

    _function = "softshrink"

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__(**locals())


class ThresholdedReLU(_Activation):
    """x above the threshold, `value` elsewhere."""

    _function = "thresholded_relu"

    def __init__(self, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> None:
        super().__init__(**locals())


class Softplus(_Activation):
    """log(1 + exp(beta x)) / beta."""

    _function = "softplus"

    def __init__(self, beta: float = 1, threshold: float = 20, name: str | None = None) -> None:
        super().__init__(**locals())


class Softmax(_Activation):
    """Exponentials along an axis that sum to 1."""

    _function = "softmax"

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(**locals())


class LogSoftmax(_Activation):
    """The logarithm of the softmax."""

    _function = "log_softmax"

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(**locals())


class PReLU(Layer):
    """x, with negative numbers scaled by a learned slope (one, or one for each channel)."""

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=None)  # the default floating type
        self._num_parameters = num_parameters = whole_sizes(self, num_parameters=num_parameters)
        self._init = init
        self._data_format, self._name, self._weight_attr = data_format, name, weight_attr
        self._weight = self.create_parameter([num_parameters], weight_attr, default_initializer=Constant(init))

    def forward(self, x: Tensor) -> Tensor:
        return F.prelu(x, self._weight, self._data_format)

    def extra_repr(self) -> str:
        named = f", name={self._name}" if self._name else ""
        return (
            f"num_parameters={self._num_parameters}, data_format={self._data_format}, "
            f"init={self._init}, dtype={self._dtype}{named}"
        )
