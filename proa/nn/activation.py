"""Activation functions as layers."""

from __future__ import annotations

from typing import Any

from ..eager.annotations import AttrLike
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
        """The function of each element of `x`.

        Examples:
            >>> paddle.nn.LeakyReLU(0.1).forward(paddle.to_tensor([-1.0, 2.0])).numpy().round(4).tolist()
            [-0.10000000149011612, 2.0]
        """
        return getattr(F, self._function)(x, **self._arguments)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.Softmax(axis=1)
            Softmax(axis=1)
        """
        shown = [f"{name}={value}" for name, value in self._arguments.items()]
        return ", ".join([*shown, *([f"name={self._name}"] if self._name else [])])


class ReLU(_Activation):
    """max(x, 0), element by element.

    Examples:
        >>> paddle.nn.ReLU()(paddle.to_tensor([-1.0, 0.0, 2.0])).tolist()
        [0.0, 0.0, 2.0]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)

    def forward(self, x: Tensor) -> Tensor:
        """max(x, 0).

        Examples:
            >>> paddle.nn.ReLU().forward(paddle.to_tensor([-3.0, 3.0])).tolist()
            [0.0, 3.0]
        """
        return F.relu(x)


def _plain(name: str, function: str, doc: str, shown: str) -> type[_Activation]:
    """The layer of a function without arguments; its example shows what it gives for three numbers."""
    doc += f"""

    Examples:
        >>> print(paddle.nn.{name}()(paddle.to_tensor([-2.0, 0.5, 7.0])).numpy().round(3))
        {shown}
    """

    def __init__(self: _Activation, name: str | None = None) -> None:
        _Activation.__init__(self, name=name)

    members = {"__init__": __init__, "_function": function, "__doc__": doc, "__module__": __name__}
    return type(name, (_Activation,), members)


Sigmoid = _plain("Sigmoid", "sigmoid", "1 / (1 + exp(-x)).", "[0.119 0.622 0.999]")
Tanh = _plain("Tanh", "tanh", "The hyperbolic tangent.", "[-0.964  0.462  1.   ]")
ReLU6 = _plain("ReLU6", "relu6", "x, cut to the range from 0 to 6.", "[0.  0.5 6. ]")
LogSigmoid = _plain("LogSigmoid", "log_sigmoid", "The logarithm of the sigmoid.", "[-2.127e+00 -4.740e-01 -1.000e-03]")
Hardsigmoid = _plain("Hardsigmoid", "hardsigmoid", "A sigmoid of three straight lines.", "[0.167 0.583 1.   ]")
Hardswish = _plain("Hardswish", "hardswish", "x times the hard sigmoid of x.", "[-0.333  0.292  7.   ]")
Swish = _plain("Swish", "swish", "x times the sigmoid of x.", "[-0.238  0.311  6.994]")
Mish = _plain("Mish", "mish", "x tanh(softplus(x)).", "[-0.253  0.375  7.   ]")
Softsign = _plain("Softsign", "softsign", "x / (1 + |x|).", "[-0.667  0.333  0.875]")
Tanhshrink = _plain("Tanhshrink", "tanhshrink", "x - tanh(x).", "[-1.036  0.038  6.   ]")


class Silu(_Activation):
    """x times the sigmoid of x.

    Args:
        inplace: accepted for compatibility; the input is left as it is.
        name: a label; it changes nothing.

    Examples:
        >>> print(paddle.nn.Silu()(paddle.to_tensor([-1.0, 0.0, 2.0])).numpy().round(4))
        [-0.2689  0.      1.7616]
    """

    def __init__(self, inplace: bool = False, name: str | None = None) -> None:
        super().__init__(name=name, inplace=inplace)

    def forward(self, x: Tensor) -> Tensor:
        """x times the sigmoid of x.

        Examples:
            >>> paddle.nn.Silu().forward(paddle.to_tensor([0.0])).tolist()
            [0.0]
        """
        return F.silu(x)


SiLU = Silu


class GELU(_Activation):
    """x times the share of the standard normal distribution below x.

    Args:
        approximate: True (or "tanh") computes it with a tanh, which differs by less than 0.001.
        name: a label; it changes nothing.

    Examples:
        >>> print(paddle.nn.GELU()(paddle.to_tensor([-1.0, 0.0, 1.0])).numpy().round(4))
        [-0.1587  0.      0.8413]
        >>> print(paddle.nn.GELU(approximate=True)(paddle.to_tensor([-1.0, 0.0, 1.0])).numpy().round(4))
        [-0.1588  0.      0.8412]
    """

    _function = "gelu"

    def __init__(self, approximate: bool | str = False, name: str | None = None) -> None:
        super().__init__(**locals())


class LeakyReLU(_Activation):
    """x where it is positive, `negative_slope * x` elsewhere.

    Args:
        negative_slope: the factor of negative numbers.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.LeakyReLU(0.5)(paddle.to_tensor([-2.0, 3.0])).tolist()
        [-1.0, 3.0]
    """

    _function = "leaky_relu"

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__(**locals())


class ELU(_Activation):
    """x where it is positive, `alpha * (exp(x) - 1)` elsewhere.

    Args:
        alpha: how far below 0 the function reaches.
        name: a label; it changes nothing.

    Examples:
        >>> print(paddle.nn.ELU()(paddle.to_tensor([-1.0, 2.0])).numpy().round(4))
        [-0.6321  2.    ]
    """

    _function = "elu"

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__(**locals())


class CELU(_Activation):
    """x where it is positive, `alpha * (exp(x / alpha) - 1)` elsewhere.

    Unlike `ELU` it has no corner at 0, whatever `alpha` is.

    Args:
        alpha: how far below 0 the function reaches; not 0.
        name: a label; it changes nothing.

    Examples:
        >>> print(paddle.nn.CELU(alpha=2.0)(paddle.to_tensor([-1.0, 2.0])).numpy().round(4))
        [-0.7869  2.    ]
    """

    _function = "celu"

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__(**locals())


class SELU(_Activation):
    """A scaled `ELU` that keeps the mean near 0 and the variance near 1 through many layers.

    Args:
        scale: the factor of everything.
        alpha: the factor of the exponential below 0.
        name: a label; it changes nothing.

    Examples:
        >>> print(paddle.nn.SELU()(paddle.to_tensor([-1.0, 0.0, 1.0])).numpy().round(4))
        [-1.1113  0.      1.0507]
    """

    _function = "selu"

    def __init__(
        self,
        scale: float = 1.0507009873554804934193349852946,
        alpha: float = 1.6732632423543772848170429916717,
        name: str | None = None,
    ) -> None:
        super().__init__(**locals())


class Hardtanh(_Activation):
    """x, cut to the range from `min` to `max`.

    Args:
        min: the smallest result.
        max: the largest result.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.Hardtanh(min=-1.0, max=2.0)(paddle.to_tensor([-3.0, 0.5, 3.0])).tolist()
        [-1.0, 0.5, 2.0]
    """

    _function = "hardtanh"

    def __init__(self, min: float = -1.0, max: float = 1.0, name: str | None = None) -> None:
        super().__init__(**locals())


class Hardshrink(_Activation):
    """x, but 0 where x lies within `threshold` of 0.

    Args:
        threshold: how far from 0 a number must be to stay; PyTorch's `lambd` is taken too.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.Hardshrink(0.5)(paddle.to_tensor([-1.0, 0.25, 2.0])).tolist()
        [-1.0, 0.0, 2.0]
    """

    _function = "hardshrink"

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__(**locals())


class Softshrink(_Activation):
    """x moved towards 0 by `threshold`; 0 where it would pass 0.

    Args:
        threshold: how far x is moved; PyTorch's `lambd` is taken too.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.Softshrink(0.5)(paddle.to_tensor([-1.0, 0.25, 2.0])).tolist()
        [-0.5, 0.0, 1.5]
    """

    _function = "softshrink"

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__(**locals())


class ThresholdedReLU(_Activation):
    """x where it is above `threshold`, `value` elsewhere.

    Args:
        threshold: what x must exceed.
        value: the result everywhere else.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.ThresholdedReLU(threshold=1.0)(paddle.to_tensor([0.5, 1.5])).tolist()
        [0.0, 1.5]
    """

    _function = "thresholded_relu"

    def __init__(self, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> None:
        super().__init__(**locals())


class Softplus(_Activation):
    """log(1 + exp(beta x)) / beta: a ReLU without a corner.

    Args:
        beta: the larger, the closer to ReLU.
        threshold: where `beta * x` is above it, the result is x itself.
        name: a label; it changes nothing.

    Examples:
        >>> print(paddle.nn.Softplus()(paddle.to_tensor([-1.0, 0.0, 30.0])).numpy().round(4))
        [ 0.3133  0.6931 30.    ]
    """

    _function = "softplus"

    def __init__(self, beta: float = 1, threshold: float = 20, name: str | None = None) -> None:
        super().__init__(**locals())


class Softmax(_Activation):
    """Exponentials along an axis, divided by their sum: shares that add up to 1.

    Args:
        axis: the axis along which they add up to 1.
        name: a label; it changes nothing.

    Examples:
        >>> print(paddle.nn.Softmax()(paddle.to_tensor([[0.0, 0.0], [0.0, 1.0]])).numpy().round(4))
        [[0.5    0.5   ]
         [0.2689 0.7311]]
    """

    _function = "softmax"

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(**locals())


class LogSoftmax(_Activation):
    """The logarithm of `Softmax`, computed without overflow.

    Args:
        axis: the axis along which the shares add up to 1.
        name: a label; it changes nothing.

    Examples:
        >>> print(paddle.nn.LogSoftmax()(paddle.to_tensor([0.0, 1000.0])).numpy())
        [-1000.     0.]
    """

    _function = "log_softmax"

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(**locals())


class PReLU(Layer):
    """x where it is positive, x times a learned slope elsewhere.

    Args:
        num_parameters: 1 for one slope, or the number of channels for one each.
        init: the slope at the start.
        weight_attr: how the slopes are made (`ParamAttr`).
        data_format: which axis holds the channels, 'NCHW' and the like.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.PReLU(init=0.5)
        >>> layer(paddle.to_tensor([-2.0, 3.0])).tolist()
        [-1.0, 3.0]
        >>> [parameter.shape for parameter in layer.parameters()]
        [paddle.Size([1])]
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: AttrLike | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=None)  # the default floating type
        self._num_parameters = num_parameters = whole_sizes(self, num_parameters=num_parameters)
        self._init = init
        self._data_format, self._name, self._weight_attr = data_format, name, weight_attr
        self._weight = self.create_parameter([num_parameters], weight_attr, default_initializer=Constant(init))

    def forward(self, x: Tensor) -> Tensor:
        """x, with negative numbers times the slope of their channel.

        Examples:
            >>> paddle.nn.PReLU(2).forward(paddle.to_tensor([[-4.0, -8.0]])).tolist()
            [[-1.0, -2.0]]
        """
        return F.prelu(x, self._weight, self._data_format)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.PReLU(2)
            PReLU(num_parameters=2, data_format=NCHW, init=0.25, dtype=float32)
        """
        named = f", name={self._name}" if self._name else ""
        return (
            f"num_parameters={self._num_parameters}, data_format={self._data_format}, "
            f"init={self._init}, dtype={self._dtype}{named}"
        )
