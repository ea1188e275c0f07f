"""Initializers: they give parameters their first numbers.

Numbers are drawn on the host from the default generator's (seed, offset), so that a seed gives the
same model on every device and nothing is compiled to build one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import failed_check, value_error
from ..core.generator import default_generator
from ..eager.annotations import TensorLike
from ..eager.tensor import Tensor, tensor_from_data
from ..eager.views import replace_value
from ..kernels import host_draws


class _Setting:
    """One of Paddle's names for a setting of an initializer: `_mean` for `mean`."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name.lstrip("_")

    def __get__(self, initializer: Any, owner: Any = None) -> Any:
        if initializer is None:
            return self
        try:
            return initializer.__dict__[self.name]
        except KeyError:
            raise AttributeError(f"'{type(initializer).__name__}' object has no attribute '_{self.name}'") from None

    def __set__(self, initializer: Any, value: Any) -> None:
        initializer.__dict__[self.name] = value


class Initializer:
    """The base class of initializers: calling one fills a tensor.

    A subclass defines `draw(shape, dtype)`, which makes an array, or `forward(param, block)`, which fills the tensor
    itself.

    Examples:
        >>> class Counting(paddle.nn.initializer.Initializer):
        ...     def draw(self, shape, dtype):
        ...         return np.arange(np.prod(shape)).reshape(shape).astype(dtype)
        >>> paddle.nn.Linear(2, 2, weight_attr=Counting()).weight.tolist()
        [[0.0, 1.0], [2.0, 3.0]]
    """

    _seed = 0
    _mean, _std, _low, _high, _a, _b = (_Setting() for _ in range(6))
    _gain, _fan_in, _fan_out, _mode, _value = (_Setting() for _ in range(5))

    def draw(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array of first numbers; subclasses define it.

        Args:
            shape: its extents.
            dtype: its data type.

        Raises:
            NotImplementedError: the subclass defines none.

        Examples:
            >>> paddle.nn.initializer.Constant(3.0).draw((2,), np.dtype("float32")).tolist()
            [3.0, 3.0]
        """
        raise NotImplementedError(f"({type(self).__name__}) an initializer defines forward(param, block) or draw().")

    def forward(self, param: Tensor, block: Any = None) -> None:
        """Fills a tensor.

        Args:
            param: the tensor.
            block: accepted for compatibility.

        Raises:
            ValueError: the numbers have another shape.

        Examples:
            >>> weight = paddle.zeros([2])
            >>> paddle.nn.initializer.Constant(3.0).forward(weight)
            >>> weight.tolist()
            [3.0, 3.0]
        """
        aval = param._aval
        array = self.draw(aval.shape, aval.dtype)
        if array.shape != aval.shape:
            raise value_error(
                type(self).__name__, f"the value must have the shape {list(aval.shape)}", f"value: {list(array.shape)}"
            )
        replace_value(param, tensor_from_data(array, aval.dtype, aval.place))

    def __call__(self, param: Tensor, block: Any = None) -> Any:
        return self.forward(param, block)

    def _check_block(self, block: Any) -> Any:
        return block

    def _compute_fans(self, var: Any) -> tuple[int, int]:
        return fans(list(var.shape))


def drawing(initializer: Any) -> Any:
    """The `draw` of an initializer; None where it fills tensors in its own way."""
    kind = type(initializer)
    plain = isinstance(initializer, Initializer) and kind.forward is Initializer.forward
    return initializer.draw if plain and kind.__call__ is Initializer.__call__ else None


def _random() -> np.random.Generator:
    return host_draws.stream(*default_generator.draw())


def _uniform(shape: tuple[int, ...], dtype: np.dtype, low: float, high: float) -> np.ndarray:
    return host_draws.uniform(*default_generator.draw(), shape, dtype, low, high)


def _normal(shape: tuple[int, ...], dtype: np.dtype, mean: float, std: float) -> np.ndarray:
    return host_draws.normal(*default_generator.draw(), shape, dtype, mean, std)


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """How many inputs feed one output, and how many outputs one input feeds."""
    if len(shape) < 2:
        size = int(math.prod(shape)) if shape else 1
        return size, size
    if len(shape) == 2:
        return shape[0], shape[1]  # a Linear weight is [in, out]
    field = math.prod(shape[2:])  # a convolution weight is [out, in, kernel …]
    return shape[1] * field, shape[0] * field


class Constant(Initializer):
    """The same number everywhere.

    Args:
        value: the number.

    Examples:
        >>> paddle.nn.Linear(2, 1, weight_attr=paddle.nn.initializer.Constant(0.5)).weight.tolist()
        [[0.5], [0.5]]
    """

    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    def draw(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array full of the number.

        Examples:
            >>> paddle.nn.initializer.Constant(2.0).draw((2,), np.dtype("float64")).tolist()
            [2.0, 2.0]
        """
        return np.full(shape, self.value, dtype)


class Uniform(Initializer):
    """Numbers drawn evenly between `low` and `high`.

    Args:
        low: the smallest.
        high: the largest.
        name: a label; it changes nothing.

    Raises:
        ValueError: `high` is below `low`.

    Examples:
        >>> layer = paddle.nn.Linear(8, 8, weight_attr=paddle.nn.initializer.Uniform(-0.1, 0.1))
        >>> bool((layer.weight.abs() <= 0.1).all())
        True
    """

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        if high < low:
            raise failed_check("Uniform", "high must not be below low", f"low: {low}, high: {high}")
        self.low, self.high = low, high

    def draw(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array of drawn numbers.

        Examples:
            >>> paddle.nn.initializer.Uniform(0.0, 1.0).draw((2, 3), np.dtype("float32")).shape
            (2, 3)
        """
        return _uniform(shape, dtype, self.low, self.high)


class Normal(Initializer):
    """Normally distributed numbers.

    Args:
        mean: their mean.
        std: their standard deviation.
        name: a label; it changes nothing.

    Examples:
        >>> weight = paddle.zeros([10000])
        >>> paddle.nn.initializer.Normal(mean=5.0, std=2.0)(weight)
        >>> abs(weight.mean().item() - 5) < 0.1, abs(weight.std().item() - 2) < 0.1
        (True, True)
    """

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        self.mean, self.std = mean, std

    def draw(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array of drawn numbers.

        Examples:
            >>> paddle.nn.initializer.Normal().draw((2, 3), np.dtype("float32")).shape
            (2, 3)
        """
        return _normal(shape, dtype, self.mean, self.std)


class TruncatedNormal(Initializer):
    """Normally distributed numbers, all of them between two bounds.

    Args:
        mean: the mean before the bounds.
        std: the standard deviation before the bounds.
        a: the lower bound.
        b: the upper bound.
        name: a label; it changes nothing.

    Examples:
        >>> weight = paddle.zeros([1000])
        >>> paddle.nn.initializer.TruncatedNormal(std=3.0, a=-1.0, b=1.0)(weight)
        >>> bool((weight.abs() <= 1).all())
        True
    """

    def __init__(
        self,
        mean: float = 0.0,
        std: float = 1.0,
        a: float = -2.0,
        b: float = 2.0,
        name: str | None = None,
    ) -> None:
        if b < a:
            raise value_error("TruncatedNormal", "b must not be below a", f"a: {a}, b: {b}")
        self.mean, self.std, self.a, self.b = mean, std, a, b

    def draw(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array of drawn numbers.

        Examples:
            >>> paddle.nn.initializer.TruncatedNormal().draw((2, 3), np.dtype("float32")).shape
            (2, 3)
        """
        from scipy.special import ndtr, ndtri

        low, high = (ndtr((edge - self.mean) / self.std) for edge in (self.a, self.b))
        numbers = _random().random(shape)
        drawn = self.mean + self.std * ndtri(low + numbers * (high - low))
        return np.clip(drawn, self.a, self.b).astype(dtype)


class XavierUniform(Initializer):
    """Glorot's rule: uniform numbers with a variance of `gain² * 2 / (fan_in + fan_out)`.

    Args:
        fan_in: how many inputs feed one output; found from the shape if left out.
        fan_out: how many outputs one input feeds; found from the shape if left out.
        gain: the factor of the standard deviation.
        name: a label; it changes nothing.

    Examples:
        >>> weight = paddle.nn.Linear(3, 3, weight_attr=paddle.nn.initializer.XavierUniform()).weight
        >>> bool((weight.abs() <= 1).all())  # sqrt(6 / (3 + 3))
        True
    """

    def __init__(
        self,
        fan_in: float | None = None,
        fan_out: float | None = None,
        gain: float = 1.0,
        name: str | None = None,
    ) -> None:
        self.fan_in, self.fan_out, self.gain = fan_in, fan_out, gain

    def _deviation(self, shape: tuple[int, ...]) -> float:
        found_in, found_out = fans(shape)
        total = (self.fan_in if self.fan_in is not None else found_in) + (
            self.fan_out if self.fan_out is not None else found_out
        )
        return self.gain * math.sqrt(2.0 / total) if total else 0.0

    def draw(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array of drawn numbers.

        Examples:
            >>> paddle.nn.initializer.XavierUniform().draw((2, 3), np.dtype("float32")).shape
            (2, 3)
        """
        limit = math.sqrt(3.0) * self._deviation(shape)
        return _uniform(shape, dtype, -limit, limit)


class XavierNormal(XavierUniform):
    """Glorot's rule: normally distributed numbers with a variance of `gain² * 2 / (fan_in + fan_out)`.

    Args:
        fan_in: how many inputs feed one output; found from the shape if left out.
        fan_out: how many outputs one input feeds; found from the shape if left out.
        gain: the factor of the standard deviation.

    Examples:
        >>> weight = paddle.zeros([100, 100])
        >>> paddle.nn.initializer.XavierNormal()(weight)
        >>> round(weight.std().item(), 2)
        0.1
    """

    def draw(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array of drawn numbers.

        Examples:
            >>> paddle.nn.initializer.XavierNormal().draw((2, 3), np.dtype("float32")).shape
            (2, 3)
        """
        return _normal(shape, dtype, 0.0, self._deviation(shape))


class KaimingUniform(Initializer):
    """He's rule: uniform numbers with a variance of `gain² / fan`, for layers followed by a ReLU.

    Args:
        fan_in: the fan; found from the shape if left out.
        negative_slope: the slope of the leaky ReLU that follows.
        nonlinearity: what follows, as `calculate_gain` names it.
        mode: 'fan_in' or 'fan_out'.

    Raises:
        ValueError: the mode or the nonlinearity is unknown.

    Examples:
        >>> layer = paddle.nn.Linear(6, 4, weight_attr=paddle.nn.initializer.KaimingUniform())
        >>> bool((layer.weight.abs() <= 1).all())  # sqrt(6 / fan_in)
        True
    """

    def __init__(
        self,
        fan_in: float | None = None,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
        mode: str = "fan_in",
    ) -> None:
        if mode not in ("fan_in", "fan_out"):
            raise value_error(type(self).__name__, "mode must be 'fan_in' or 'fan_out'", repr(mode))
        self.fan_in, self.mode = fan_in, mode
        self.gain = calculate_gain(nonlinearity, negative_slope)

    def _deviation(self, shape: tuple[int, ...]) -> float:
        found_in, found_out = fans(shape)
        fan = found_out if self.mode == "fan_out" else found_in
        fan = self.fan_in if self.fan_in is not None else fan
        return self.gain / math.sqrt(fan) if fan else 0.0

    def draw(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array of drawn numbers.

        Examples:
            >>> paddle.nn.initializer.KaimingUniform().draw((2, 3), np.dtype("float32")).shape
            (2, 3)
        """
        limit = math.sqrt(3.0) * self._deviation(shape)
        return _uniform(shape, dtype, -limit, limit)


class KaimingNormal(KaimingUniform):
    """He's rule: normally distributed numbers with a variance of `gain² / fan`, for layers followed by a ReLU.

    Args:
        fan_in: the fan; found from the shape if left out.
        negative_slope: the slope of the leaky ReLU that follows.
        nonlinearity: what follows, as `calculate_gain` names it.
        mode: 'fan_in' or 'fan_out'.

    Raises:
        ValueError: the mode or the nonlinearity is unknown.

    Examples:
        >>> weight = paddle.zeros([200, 100])
        >>> paddle.nn.initializer.KaimingNormal()(weight)
        >>> round(weight.std().item(), 2)  # sqrt(2 / 200)
        0.1
    """

    def draw(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array of drawn numbers.

        Examples:
            >>> paddle.nn.initializer.KaimingNormal().draw((2, 3), np.dtype("float32")).shape
            (2, 3)
        """
        return _normal(shape, dtype, 0.0, self._deviation(shape))


class Assign(Initializer):
    """Given numbers. A parameter that is made with it takes their shape, as in Paddle.

    Args:
        value: an array, a list or a tensor.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.Linear(2, 1, weight_attr=paddle.nn.initializer.Assign([[1.0], [2.0]]))
        >>> layer.weight.tolist()
        [[1.0], [2.0]]
    """

    def __init__(self, value: TensorLike, name: str | None = None) -> None:
        self.value = value

    def draw(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """The given numbers in a data type.

        Examples:
            >>> paddle.nn.initializer.Assign([1, 2]).draw((2,), np.dtype("float32")).tolist()
            [1.0, 2.0]
        """
        return np.asarray(self.value).astype(dtype)


class Orthogonal(Initializer):
    """An orthogonal matrix (of the first axis against the rest), times `gain`.

    Args:
        gain: the factor.
        name: a label; it changes nothing.

    Raises:
        ValueError: the tensor has fewer than two axes.

    Examples:
        >>> weight = paddle.nn.Linear(3, 3, weight_attr=paddle.nn.initializer.Orthogonal()).weight
        >>> bool(((weight @ weight.T - paddle.eye(3)).abs() < 1e-5).all())
        True
    """

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        self.gain = gain

    def draw(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array of drawn numbers.

        Examples:
            >>> paddle.nn.initializer.Orthogonal().draw((2, 3), np.dtype("float32")).shape
            (2, 3)
        """
        if len(shape) < 2:
            raise value_error("Orthogonal", "the tensor must have two dimensions", f"{list(shape)}")
        rows, columns = shape[0], math.prod(shape[1:])
        square = _random().standard_normal((max(rows, columns), min(rows, columns)))
        q, r = np.linalg.qr(square)
        q = q * np.sign(np.diag(r))
        return (self.gain * (q if rows >= columns else q.T)).reshape(shape).astype(dtype)


class Dirac(Initializer):
    """Convolution weights that pass each input channel on as it is.

    Args:
        groups: the groups of the convolution.
        name: a label; it changes nothing.

    Raises:
        ValueError: the tensor is no convolution weight, or its first axis does not divide by `groups`.

    Examples:
        >>> layer = paddle.nn.Conv1D(1, 1, 3, padding=1, weight_attr=paddle.nn.initializer.Dirac())
        >>> layer(paddle.to_tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[1.0, 2.0, 3.0]]]
    """

    def __init__(self, groups: int = 1, name: str | None = None) -> None:
        self.groups = groups

    def draw(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """The array with its ones.

        Examples:
            >>> paddle.nn.initializer.Dirac().draw((1, 1, 3), np.dtype("float32")).tolist()
            [[[0.0, 1.0, 0.0]]]
        """
        if len(shape) not in (3, 4, 5) or shape[0] % self.groups:
            raise value_error(
                "Dirac",
                "a convolution weight whose first axis divides by groups is needed",
                f"{shape}",
            )
        weight = np.zeros(shape, dtype)
        centre = tuple(n // 2 for n in shape[2:])
        per_group = shape[0] // self.groups
        for group in range(self.groups):
            for channel in range(min(per_group, shape[1])):
                weight[(group * per_group + channel, channel, *centre)] = 1
        return weight


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much a layer's weights should be larger because of the activation behind it.

    Args:
        nonlinearity: 'relu', 'leaky_relu', 'tanh', 'selu', 'sigmoid', 'linear', or a convolution such as 'conv2d'.
        param: the slope of 'leaky_relu'; 0.01 if left out.

    Raises:
        ValueError: the activation is unknown.

    Examples:
        >>> paddle.nn.initializer.calculate_gain("tanh")
        1.6666666666666667
        >>> round(paddle.nn.initializer.calculate_gain("leaky_relu", 1.0), 4)
        1.0
    """
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else float(param)) ** 2))
    plain = ("sigmoid", "linear", "conv1d", "conv2d", "conv3d", "identity")
    transposed = ("conv1d_transpose", "conv2d_transpose", "conv3d_transpose")
    gains = dict.fromkeys((*plain, *transposed), 1)
    gains |= {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    if nonlinearity not in gains:
        raise value_error(
            "calculate_gain",
            f"the nonlinearity must be one of {', '.join(gains)}",
            repr(nonlinearity),
        )
    return gains[nonlinearity]


class _Global:
    weight: Initializer | None = None
    bias: Initializer | None = None


def set_global_initializer(weight_init: Initializer | None, bias_init: Initializer | None = None) -> None:
    """Replaces the default initializers of layers made from now on.

    What a `ParamAttr` says comes first.

    Args:
        weight_init: for weights; None goes back to the usual one.
        bias_init: for biases.

    Examples:
        >>> from proa.nn import initializer
        >>> initializer.set_global_initializer(initializer.Constant(2.0), initializer.Constant(1.0))
        >>> layer = paddle.nn.Linear(1, 1)
        >>> initializer.set_global_initializer(None)
        >>> layer.weight.item(), layer.bias.item()
        (2.0, 1.0)
    """
    _Global.weight, _Global.bias = weight_init, bias_init


def default_initializer(is_bias: bool, proposed: Initializer | None) -> Initializer:
    """What a parameter without a ParamAttr of its own is filled with."""
    chosen = (_Global.bias if is_bias else _Global.weight) or proposed
    if chosen is not None:
        return chosen
    return Constant(0.0) if is_bias else XavierUniform()


__all__ = [
    "Assign", "Constant", "Dirac", "Initializer", "KaimingNormal", "KaimingUniform", "Normal",
    "Orthogonal", "TruncatedNormal", "Uniform", "XavierNormal", "XavierUniform", "calculate_gain",
    "set_global_initializer",
]  # fmt: skip
