"""Activation functions (`paddle.nn.functional`).

The much used ones are primitives whose derivative is a primitive as well: one step forward, one back.
The second derivative is written in terms of other operations, so that any order works. The rest are
compositions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.dtype import BFLOAT16
from ...core.errors import failed_check, value_error
from ...eager import series
from ...eager.declare import op, public
from ...eager.infer import normalise_axis, same
from ...eager.one_operator import one_operator
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...eager.views import assign_in_place
from ...kernels.cpu.direct import on_host
from ...kernels.cpu.rows import native_gelu, native_gelu_slope, native_silu, native_silu_slope
from ...kernels.gpu.cold import elementwise as cold
from ...kernels.gpu.memory import from_memory
from ..arguments import require_tensor
from ..basic import reshape_to
from ..math.arithmetic import affine, conjugate, gate, product, quotient, times
from ..math.comparison import greater_than, less_equal, less_than
from ..math.special.gamma_and_error import special
from ..math.ternary import choose_between, clip_between
from ..math.unary import abs, exp, sigmoid, sigmoid_slope, square, tanh
from ..precision import floating_numbers, floating_reals, wide
from ..shape.joining import split

_PLAIN = (
    S(A(2, 3)), S(A(0, 3)), S(A(low=-3)), S(A(4, dtype="float64", low=-5, high=5)),
    S(A(3, dtype="bfloat16", grad=False)), S(A(values=[-90.0, 90.0, np.nan, 3.5], grad=False)),
)  # fmt: skip


def _expected(function: Any) -> Any:
    """A reference computed in float64."""

    def expected(x: Any, *args: Any, **options: Any) -> Any:
        return function(x.astype("float64"), *args, **options).astype(x.dtype, copy=False)

    return expected


def _conjugated(array: Any) -> Any:
    """A derivative is conjugated in the gradient of a complex function."""
    return array.conj() if array.dtype.kind == "c" else array


def _logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


# ---- relu and its family -------------------------------------------------------------------------


@op(
    "outer result",
    infer=same,
    grad={"outer": lambda g, result: relu_slope(g, result)},
    name="relu_grad",
)
def relu_slope(xp: Any, outer: Any, result: Any) -> Any:
    """`outer` where relu gave something, else 0."""
    return xp.where(result > 0, outer, outer.dtype.type(0))


relu_slope.operation.kernels["gpu"] = from_memory(relu_slope.operation.kernel, 1)


def _relu_slope_by_bits(xp: Any, outer: Any, result: Any) -> Any:
    """The same for NumPy, whose `where` takes three times as long."""
    if not outer.ndim or outer.dtype not in (np.float32, np.float64):
        return xp.where(result > 0, outer, outer.dtype.type(0))
    bits = np.dtype(f"i{outer.dtype.itemsize}")
    kept = (result > 0).astype(bits)
    np.negative(kept, out=kept)  # all bits, or none
    kept &= outer.view(bits)
    return kept.view(outer.dtype)


relu_slope.operation.kernels["numpy"] = _relu_slope_by_bits


def _relu_slope_of_halves(xp: Any, outer: Any, result: Any) -> Any:
    """The same for XLA on a CPU, which would choose among widened bfloat16 and write that to memory."""
    if outer.dtype != BFLOAT16 or result.dtype != BFLOAT16:
        return xp.where(result > 0, outer, outer.dtype.type(0))
    from jax.lax import bitcast_convert_type

    bits = bitcast_convert_type(result, np.int16)
    positive = (bits > 0) & (bits <= 0x7F80)  # above are NaN
    kept = xp.where(positive, bitcast_convert_type(outer, np.int16), np.int16(0))
    return bitcast_convert_type(kept, BFLOAT16)


relu_slope.operation.kernels["cpu"] = _relu_slope_of_halves
relu_slope.operation.kernels["cupy"] = cold.relu_slope(relu_slope.operation.kernel)


@samples(*_PLAIN, reference=lambda x: np.maximum(x, 0))
@public(module="nn.functional", inplace=True)
@op(infer=floating_reals, grad={"x": lambda g, out: relu_slope(g, out)}, series=series.algebra.relu)
def relu(xp: Any, x: Any) -> Any:
    """`max(x, 0)`, element by element.

    NaN stays NaN. The gradient at 0 is 0.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> paddle.nn.functional.relu(paddle.to_tensor([-1.0, 0.0, 2.0])).tolist()
        [0.0, 0.0, 2.0]
    """
    return xp.maximum(x, x.dtype.type(0))


relu.operation.kernels["cupy"] = cold.relu(relu.operation.kernel)


def _limited(x: Tensor, low: float, high: float) -> Tensor:
    """Between two limits, at which the gradient is 0 already."""
    return clip_between(x, low, high, True, True, True)


@samples(*_PLAIN, S(A(4, low=4, high=8)), reference=_expected(lambda x: np.clip(x, 0, 6)))
@public(module="nn.functional")
def relu6(x: Tensor, name: str | None = None) -> Tensor:
    """`min(max(x, 0), 6)`.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> paddle.nn.functional.relu6(paddle.to_tensor([-1.0, 3.0, 8.0])).tolist()
        [0.0, 3.0, 6.0]
    """
    return _limited(x, 0.0, 6.0)


@samples(
    *_PLAIN, S(A(4), -0.5, 0.7), S(A(3), min=0.0),
    reference=lambda x, min=-1.0, max=1.0: np.minimum(np.maximum(x, min), max).astype(x.dtype),
)  # fmt: skip
@public(module="nn.functional", inplace=True)
def hardtanh(x: Tensor, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Tensor:
    """`x`, cut off below `min` and above `max`.

    Args:
        x: the tensor.
        min: the smallest result.
        max: the largest result.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> paddle.nn.functional.hardtanh(paddle.to_tensor([-3.0, 0.5, 3.0])).tolist()
        [-1.0, 0.5, 1.0]
    """
    return _limited(x, float(min), float(max))


@samples(
    *_PLAIN, S(A(4, low=-5), 0.2, 0.4),
    reference=_expected(lambda x, slope=0.1666667, offset=0.5: np.clip(x * slope + offset, 0, 1)),
)  # fmt: skip
@public(module="nn.functional")
def hardsigmoid(x: Tensor, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None) -> Tensor:
    """`slope * x + offset`, cut off below 0 and above 1.

    Args:
        x: the tensor.
        slope: the factor of `x`.
        offset: the value at 0.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> paddle.nn.functional.hardsigmoid(paddle.to_tensor([-4.0, 0.0, 4.0])).tolist()
        [0.0, 0.5, 1.0]
    """
    return _limited(affine(x, float(slope), float(offset), True), 0.0, 1.0)


@op(
    "outer x",
    infer=same,
    grad={
        "outer": lambda g, x: hardswish_slope(g, x),
        "x": lambda g, outer, x: gate(times(g * outer, 1 / 3), less_than(abs(x), 3.0), True),
    },
    name="hardswish_grad",
)
def hardswish_slope(xp: Any, outer: Any, x: Any) -> Any:
    x = wide(x)
    derivative = _conjugated(x) / 3 + 0.5
    if xp is np and x.ndim:  # `where` takes twice as long
        np.putmask(derivative, x.real <= -3, 0)
        np.putmask(derivative, x.real >= 3, 1)
        return outer * derivative
    return outer * xp.where(x.real <= -3, 0, xp.where(x.real >= 3, 1, derivative)).astype(x.dtype, copy=False)


@samples(
    *_PLAIN, S(A(5, low=-5, high=5)),
    reference=_expected(lambda x: x * np.clip(x + 3, 0, 6) / 6),
)  # fmt: skip
@public(module="nn.functional")
@op(infer=floating_numbers, grad={"x": lambda g, x: hardswish_slope(g, x)}, paddle_name="hard_swish")
def hardswish(xp: Any, x: Any) -> Any:
    """`x * relu6(x + 3) / 6`: a piecewise approximation of `swish`.

    The real part decides where a complex number is cut.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> paddle.nn.functional.hardswish(paddle.to_tensor([-4.0, 0.0, 3.0, 5.0])).tolist()
        [-0.0, 0.0, 3.0, 5.0]
    """
    x = wide(x)
    if x.dtype.kind == "c":
        return xp.where(x.real <= -3, 0, xp.where(x.real >= 3, x, x * (x + 3) / 6)).astype(x.dtype, copy=False)
    return x * (xp.clip(x + 3, 0, 6) / 6)


@op(
    "outer x",
    scalars="negative_slope",
    infer=same,
    grad={"outer": lambda g, x, negative_slope: leaky_relu_slope(g, x, negative_slope)},
    name="leaky_relu_grad",
)
def leaky_relu_slope(xp: Any, outer: Any, x: Any, negative_slope: Any) -> Any:
    return xp.where(x >= 0, outer, outer * negative_slope.astype(outer.dtype))


@samples(
    *_PLAIN, S(A(4), 0.3), S(A(4), negative_slope=-1),
    reference=lambda x, negative_slope=0.01: np.where(x >= 0, x, x * x.dtype.type(negative_slope)),
)  # fmt: skip
@public(module="nn.functional", inplace=True)
@op(
    scalars="negative_slope",
    infer=floating_reals,
    grad={"x": lambda g, x, negative_slope: leaky_relu_slope(g, x, negative_slope)},
    series=series.functions.leaky_relu,
)
def leaky_relu(xp: Any, x: Any, negative_slope: float = 0.01) -> Any:
    """`x` where it is not negative, else `negative_slope * x`.

    Args:
        x: the tensor.
        negative_slope: the factor of negative elements.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> paddle.nn.functional.leaky_relu(paddle.to_tensor([-2.0, 0.0, 3.0]), negative_slope=0.5).tolist()
        [-1.0, 0.0, 3.0]
    """
    factor: Any = negative_slope  # an array's scalar by now
    return xp.where(x >= 0, x, x * factor.astype(x.dtype))


_CHANNELS_FIRST = ("NC", "NCL", "NCHW", "NCDHW")
_CHANNELS_LAST = ("NLC", "NHWC", "NDHWC")


def _reference_prelu(x: Any, weight: Any, data_format: str = "NCHW") -> Any:
    if weight.size > 1 and data_format in _CHANNELS_FIRST:
        weight = weight.reshape(-1, *[1] * (x.ndim - 2))
    return np.where(x > 0, x, x * weight)


@samples(
    S(A(2, 3, 4), A(3)), S(A(2, 3, 4), A(1)), S(A(2, 4, 3), A(3), "NLC"), S(A(2, 3), A(3)),
    S(A(5), A(1)), S(A(0, 3, 2), A(3)),
    reference=_reference_prelu,
)  # fmt: skip
@public(module="nn.functional")
def prelu(x: Tensor, weight: Tensor, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """`x` where it is positive, else `weight * x`.

    Args:
        x: the tensor.
        weight: one weight for all elements, or one for each channel.
        data_format: where the channels are: a name such as 'NCHW' (axis 1) or 'NHWC' (the last).
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> x = paddle.to_tensor([[[-1.0, 1.0], [-2.0, 2.0]]])
        >>> paddle.nn.functional.prelu(x, paddle.to_tensor([0.5, 0.25]), data_format="NCL").tolist()
        [[[-0.5, 1.0], [-0.5, 2.0]]]
    """
    if data_format not in _CHANNELS_FIRST and data_format not in _CHANNELS_LAST:
        raise value_error(
            "prelu",
            f"data_format is one of {', '.join((*_CHANNELS_FIRST, *_CHANNELS_LAST))}",
            repr(data_format),
        )
    aval = require_tensor("prelu", "x", x)._aval
    size = require_tensor("prelu", "weight", weight)._aval.size
    if size == 1:
        weight = reshape_to(weight, ())
    else:
        axis = 1 if data_format in _CHANNELS_FIRST else aval.ndim - 1
        if aval.ndim < 2 or weight._aval.ndim != 1 or aval.shape[axis] != size:
            raise failed_check(
                "prelu",
                "weight must have one element, or one for each channel of x",
                f"x: {aval}, weight: {weight._aval}, data_format: {data_format}",
            )
        shape = tuple(size if i == axis else 1 for i in range(aval.ndim))
        weight = reshape_to(weight, shape)
    return choose_between(greater_than(x, 0.0), x, x * weight)


@samples(
    *_PLAIN, S(A(4, low=-3, high=3), 2.0), S(A(4), threshold=0.5, value=9.0),
    reference=_expected(lambda x, threshold=1.0, value=0.0: np.where(x <= threshold, value, x)),
)  # fmt: skip
@public(module="nn.functional", inplace=True)
def thresholded_relu(x: Tensor, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> Tensor:
    """`x` where it is above `threshold`, else `value`.

    NaN stays NaN.

    Args:
        x: the tensor.
        threshold: what elements must exceed.
        value: what the others become.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> paddle.nn.functional.thresholded_relu(paddle.to_tensor([0.5, 1.0, 3.0])).tolist()
        [0.0, 0.0, 3.0]
    """
    return choose_between(less_equal(x, float(threshold)), float(value), x)


# ---- exponential units: elu, selu, celu ----------------------------------------------------------


@op(
    "outer x",
    scalars="height width",
    infer=same,
    grad={
        "outer": lambda g, x, height, width: exponential_slope(g, x, height, width),
        "x": lambda g, outer, x, height, width: gate(
            times(exponential_slope(g * outer, x, height, width), 1 / width),
            greater_than(x, 0.0),
            False,
        ),
    },
    name="exponential_unit_grad",
)
def exponential_slope(xp: Any, outer: Any, x: Any, height: Any, width: Any) -> Any:
    x = wide(x)
    height, width = height.astype(x.dtype), width.astype(x.dtype, copy=False)
    below = height / width * xp.exp(xp.minimum(x, 0) / width)
    return outer * xp.where(x > 0, x.dtype.type(1), below)


@op(
    scalars="height width",
    infer=floating_reals,
    grad={"x": lambda g, x, height, width: exponential_slope(g, x, height, width)},
)
def exponential_unit(xp: Any, x: Any, height: Any, width: Any) -> Any:
    """`x` where it is positive, else `height * (exp(x / width) - 1)`."""
    x = wide(x)
    height, width = height.astype(x.dtype), width.astype(x.dtype, copy=False)
    return xp.where(x > 0, x, height * xp.expm1(xp.minimum(x, 0) / width))


def _reference_elu(x: Any, alpha: float = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


@samples(*_PLAIN, S(A(4), 0.5), S(A(4), alpha=-1.0), reference=_expected(_reference_elu))
@public(module="nn.functional", inplace=True)
def elu(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """`x` where it is positive, else `alpha * (exp(x) - 1)`.

    Args:
        x: the tensor.
        alpha: minus the value that very negative elements approach.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> print(paddle.nn.functional.elu(paddle.to_tensor([-10.0, -1.0, 2.0])).numpy().round(4))
        [-1.     -0.6321  2.    ]
    """
    return exponential_unit(x, float(alpha), 1.0)


_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


def _reference_selu(x: Any, scale: float = _SELU_SCALE, alpha: float = _SELU_ALPHA) -> Any:
    return scale * _reference_elu(x, alpha)


@samples(
    *_PLAIN, S(A(4), 1.5, 0.5),
    reference=_expected(_reference_selu),
)  # fmt: skip
@public(module="nn.functional")
def selu(x: Tensor, scale: float = _SELU_SCALE, alpha: float = _SELU_ALPHA, name: str | None = None) -> Tensor:
    """`scale * elu(x, alpha)`: activations that keep mean 0 and variance 1 from layer to layer.

    Args:
        x: the tensor.
        scale: the factor of the result.
        alpha: the `alpha` of `elu`.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> print(paddle.nn.functional.selu(paddle.to_tensor([-1.0, 0.0, 1.0])).numpy().round(4))
        [-1.1113  0.      1.0507]
    """
    if scale <= 1.0:
        raise value_error("selu", "scale must be above 1", f"scale: {scale}")
    if alpha < 0.0:
        raise value_error("selu", "alpha must not be negative", f"alpha: {alpha}")
    return times(exponential_unit(x, float(alpha), 1.0), float(scale))


@samples(
    *_PLAIN, S(A(4), 0.5), S(A(4), alpha=2.0),
    reference=_expected(lambda x, alpha=1.0: alpha * _reference_elu(x / alpha)),
)  # fmt: skip
@public(module="nn.functional")
def celu(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """`x` where it is positive, else `alpha * (exp(x / alpha) - 1)`.

    Args:
        x: the tensor.
        alpha: minus the value that very negative elements approach; not 0.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> print(paddle.nn.functional.celu(paddle.to_tensor([-10.0, -1.0, 2.0]), alpha=2.0).numpy().round(4))
        [-1.9865 -0.7869  2.    ]
    """
    if alpha == 0:
        raise ZeroDivisionError("(celu) alpha must not be 0.")
    return exponential_unit(x, float(alpha), float(alpha))


# ---- gelu, silu, mish ----------------------------------------------------------------------------

_CUBIC = 0.044715
_ROOT = math.sqrt(2 / math.pi)


def _bend_of_gelu(g: Tensor, outer: Tensor, x: Tensor, approximate: bool) -> Tensor:
    """The second derivative, times what comes from above."""
    squared = square(x)
    if not approximate:
        density = times(exp(times(squared, -0.5)), 1 / math.sqrt(2 * math.pi))
        return g * outer * density * affine(squared, -1.0, 2.0, True)
    inner = x * affine(squared, _ROOT * _CUBIC, _ROOT, True)
    inner_slope = affine(squared, 3 * _ROOT * _CUBIC, _ROOT, True)
    bent = tanh(inner)
    parts = affine(squared, 6 * _ROOT * _CUBIC, _ROOT, True) - x * bent * square(inner_slope)
    return g * outer * affine(square(bent), -1.0, 1.0, True) * parts


@op(
    "outer x",
    infer=same,
    grad={
        "outer": lambda g, x, approximate: gelu_slope(g, x, approximate),
        "x": _bend_of_gelu,
    },
    name="gelu_grad",
)
def gelu_slope(xp: Any, outer: Any, x: Any, approximate: bool) -> Any:
    x = wide(x)
    if approximate:
        bent = xp.tanh(_ROOT * (x + _CUBIC * x * x * x))
        inner_slope = _ROOT * (1 + 3 * _CUBIC * x * x)
        return outer * (0.5 * (1 + bent) + 0.5 * x * (1 - bent * bent) * inner_slope)
    share = 0.5 * (1 + special(xp).erf(x * math.sqrt(0.5)))
    return outer * (share + x * xp.exp(-0.5 * x * x) * (1 / math.sqrt(2 * math.pi)))


@op(
    infer=floating_reals,
    grad={"x": lambda g, x, approximate: gelu_slope(g, x, approximate)},
    name="gelu",
    series=series.functions.gelu,
)
def gelu_of(xp: Any, x: Any, approximate: bool) -> Any:
    x = wide(x)
    if approximate:
        return 0.5 * x * (1 + xp.tanh(_ROOT * (x + _CUBIC * x * x * x)))
    return 0.5 * x * (1 + special(xp).erf(x * math.sqrt(0.5)))


gelu_slope.operation.kernels["cupy"] = cold.gelu_slope(gelu_slope.operation.kernel)
gelu_of.operation.kernels["cupy"] = cold.gelu(gelu_of.operation.kernel)
gelu_slope.operation.kernels["cpu"] = native_gelu_slope(gelu_slope.operation.kernel)
gelu_of.operation.kernels["cpu"] = native_gelu(gelu_of.operation.kernel)


def _reference_gelu(x: Any, approximate: Any = False) -> Any:
    import scipy.special

    if approximate is True or approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(_ROOT * (x + _CUBIC * x**3)))
    return 0.5 * x * (1 + scipy.special.erf(x / math.sqrt(2)))


@samples(
    *_PLAIN, S(A(5, low=-3, high=3), True), S(A(4), approximate="tanh"), S(A(4), "none"),
    reference=_expected(_reference_gelu),
)  # fmt: skip
@public(module="nn.functional")
def gelu(x: Tensor, approximate: bool | str = False, name: str | None = None) -> Tensor:
    """`x` times the probability that a standard normal variable is below `x`.

    Args:
        x: the tensor.
        approximate: True or 'tanh' for the approximation by a hyperbolic tangent; False or 'none' for the error
            function.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> print(paddle.nn.functional.gelu(paddle.to_tensor([-1.0, 0.0, 1.0])).numpy().round(5))
        [-0.15866  0.       0.84134]
        >>> print(paddle.nn.functional.gelu(paddle.to_tensor([-1.0, 0.0, 1.0]), approximate=True).numpy().round(5))
        [-0.15881  0.       0.84119]
    """
    if isinstance(approximate, str):
        if approximate not in ("none", "tanh"):
            raise value_error("gelu", "approximate is a bool, 'none' or 'tanh'", repr(approximate))
        approximate = approximate == "tanh"
    return gelu_of(x, bool(approximate))


def _bend_of_silu(g: Tensor, outer: Tensor, x: Tensor) -> Tensor:
    share = sigmoid(x)
    bend = sigmoid_slope(affine(x * affine(share, -2.0, 1.0, True), 1.0, 2.0, True), share)
    return product(g, outer * bend)


@op(
    "outer x",
    infer=same,
    grad={"outer": lambda g, x: silu_slope(g, conjugate(x)), "x": _bend_of_silu},
    name="silu_grad",
)
def silu_slope(xp: Any, outer: Any, x: Any) -> Any:
    x = wide(x)
    share = 1 / (1 + xp.exp(-x))
    return outer * (share * (1 + x * (1 - share)))


@op(
    infer=floating_numbers,
    grad={"x": lambda g, x: silu_slope(g, conjugate(x))},
    name="silu",
    series=series.functions.silu,
)
def silu_of(xp: Any, x: Any) -> Any:
    x = wide(x)
    return x / (1 + xp.exp(-x))


silu_slope.operation.kernels["cpu"] = native_silu_slope(silu_slope.operation.kernel)
silu_of.operation.kernels["cpu"] = native_silu(silu_of.operation.kernel)
for _primitive, _native in (
    (gelu_slope, native_gelu_slope),
    (gelu_of, native_gelu),
    (silu_slope, native_silu_slope),
    (silu_of, native_silu),
):
    _operation = _primitive.operation
    _operation.kernels["numpy"] = on_host(_native, _operation.kernel)


@samples(
    *_PLAIN, S(A(3, dtype="complex128")),
    reference=lambda x, inplace=False: (x / (1 + np.exp(-x))).astype(x.dtype),
)  # fmt: skip
@public(module="nn.functional")
def silu(x: Tensor, inplace: bool = False, name: str | None = None) -> Tensor:
    """`x * sigmoid(x)`.

    Args:
        x: the tensor.
        inplace: whether `x` itself takes the result.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`; `x` itself with `inplace`.

    Examples:
        >>> print(paddle.nn.functional.silu(paddle.to_tensor([-1.0, 0.0, 1.0])).numpy().round(4))
        [-0.2689  0.      0.7311]
    """
    return assign_in_place(x, silu_of(x), "silu") if inplace else silu_of(x)


@samples(*_PLAIN, reference=_expected(lambda x: x * _logistic(x)))
@public(module="nn.functional")
def swish(x: Tensor, name: str | None = None) -> Tensor:
    """`x * sigmoid(x)`: another name of `silu`.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> print(paddle.nn.functional.swish(paddle.to_tensor([-1.0, 0.0, 1.0])).numpy().round(4))
        [-0.2689  0.      0.7311]
    """
    return silu_of(x)


@samples(*_PLAIN, reference=_expected(lambda x: x * np.tanh(np.logaddexp(0, x))))
@public(module="nn.functional")
@one_operator("mish")
def mish(x: Tensor, name: str | None = None) -> Tensor:
    """`x * tanh(softplus(x))`.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> print(paddle.nn.functional.mish(paddle.to_tensor([-1.0, 0.0, 1.0])).numpy().round(4))
        [-0.3034  0.      0.8651]
    """
    return x * tanh(softplus(x))


def _reference_glu(x: Any, axis: int = -1) -> Any:
    kept, gates = np.split(x, 2, axis)
    return kept * _logistic(gates)


@samples(
    S(A(2, 6)), S(A(4, 3), 0), S(A(2, 4, 3), axis=-2), S(A(0, 4)), S(A(2)),
    reference=_reference_glu,
)  # fmt: skip
@public(module="nn.functional")
def glu(x: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
    """The first half of `x` along an axis, times the sigmoid of the second half.

    Args:
        x: the tensor.
        axis: the axis that is halved.
        name: a label; it changes nothing.

    Returns:
        A tensor as `x`, with half as many elements along `axis`.

    Raises:
        ValueError: the size of `axis` is odd.

    Examples:
        >>> paddle.nn.functional.glu(paddle.to_tensor([[2.0, 4.0, 0.0, 100.0]])).tolist()
        [[1.0, 4.0]]
    """
    axis = normalise_axis("glu", int(axis), require_tensor("glu", "x", x)._aval.ndim)
    if not x._aval.ndim or x._aval.shape[axis] % 2:
        raise value_error("glu", "the axis must have an even number of elements", f"x: {x._aval}, axis: {axis}")
    kept, gates = split(x, 2, axis)
    return kept * sigmoid(gates)


# ---- softplus, log_sigmoid -----------------------------------------------------------------------


def _bend_of_softplus(g: Tensor, outer: Tensor, x: Tensor, beta: float, threshold: float) -> Tensor:
    scaled = times(x, beta)
    bend = times(sigmoid_slope(g * outer, sigmoid(scaled)), beta)
    return gate(bend, greater_than(scaled, threshold), False)


@op(
    "outer x",
    scalars="beta threshold",
    infer=same,
    grad={
        "outer": lambda g, x, beta, threshold: softplus_slope(g, x, beta, threshold),
        "x": _bend_of_softplus,
    },
    name="softplus_grad",
)
def softplus_slope(xp: Any, outer: Any, x: Any, beta: Any, threshold: Any) -> Any:
    x = wide(x)
    scaled = x * beta.astype(x.dtype, copy=False)
    above = scaled.real > threshold.astype(scaled.real.dtype)
    return outer * xp.where(above, x.dtype.type(1), 1 / (1 + xp.exp(-_conjugated(scaled))))


@op(
    scalars="beta threshold",
    infer=floating_numbers,
    grad={"x": lambda g, x, beta, threshold: softplus_slope(g, x, beta, threshold)},
    name="softplus",
    series=series.functions.softplus,
)
def softplus_of(xp: Any, x: Any, beta: Any, threshold: Any) -> Any:
    x = wide(x)
    beta = beta.astype(x.dtype, copy=False)
    scaled = x * beta
    if x.dtype.kind == "c":
        above = scaled.real > threshold.astype(scaled.real.dtype)
        return xp.where(above, x, xp.log1p(xp.exp(scaled)) / beta)
    smooth = (xp.maximum(scaled, 0) + xp.log1p(xp.exp(-xp.abs(scaled)))) / beta
    return xp.where(scaled > threshold.astype(x.dtype), x, smooth)


def _reference_softplus(x: Any, beta: float = 1, threshold: float = 20) -> Any:
    return np.where(x * beta > threshold, x, np.logaddexp(0, x * beta) / beta)


@samples(
    *_PLAIN, S(A(4, low=-3, high=3), 2.0, 2.5), S(A(4), beta=0.5),
    reference=_expected(_reference_softplus),
)  # fmt: skip
@public(module="nn.functional")
def softplus(x: Tensor, beta: float = 1, threshold: float = 20, name: str | None = None) -> Tensor:
    """`log(1 + exp(beta * x)) / beta`: a smooth `relu`.

    Args:
        x: the tensor.
        beta: how sharp the bend is.
        threshold: where `beta * x` is above this the result is `x` itself.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> print(paddle.nn.functional.softplus(paddle.to_tensor([-2.0, 0.0, 30.0])).numpy().round(4))
        [ 0.1269  0.6931 30.    ]
    """
    return softplus_of(x, float(beta), float(threshold))


@samples(*_PLAIN, reference=_expected(lambda x: -np.logaddexp(0, -x)))
@public(module="nn.functional")
@op(
    infer=floating_numbers,
    grad={"x": lambda g, x: g * conjugate(sigmoid(times(x, -1.0)))},
    paddle_name="logsigmoid",
    series=series.functions.log_sigmoid,
)
def log_sigmoid(xp: Any, x: Any) -> Any:
    """`log(sigmoid(x))`, also where the sigmoid itself is too small for a number.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> print(paddle.nn.functional.log_sigmoid(paddle.to_tensor([-200.0, 0.0, 200.0])).numpy().round(4))
        [-200.       -0.6931    0.    ]
    """
    x = wide(x)
    if x.dtype.kind == "c":
        return -xp.log1p(xp.exp(-x))
    return xp.minimum(x, 0) - xp.log1p(xp.exp(-xp.abs(x)))


# ---- shrinking -----------------------------------------------------------------------------------


@samples(
    *_PLAIN, S(A(4), 1.0), S(A(values=[-0.5, 0.5], grad=False)), S(A(3), threshold=-1.0),
    reference=lambda x, threshold=0.5: np.where((x > -threshold) & (x < threshold), 0, x),
)  # fmt: skip
@public(module="nn.functional", aliases="threshold=lambd")
def hardshrink(x: Tensor, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """0 where `x` is between `-threshold` and `threshold`, else `x`.

    Args:
        x: the tensor.
        threshold: up to this size elements become 0.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> paddle.nn.functional.hardshrink(paddle.to_tensor([-1.0, 0.25, 0.5, 2.0])).tolist()
        [-1.0, 0.0, 0.5, 2.0]
    """
    return choose_between(less_than(abs(x), float(threshold)), 0.0, x)


@samples(
    *_PLAIN, S(A(4), 1.0), S(A(3), 0.0),
    reference=lambda x, threshold=0.5: (x - np.clip(x, -threshold, threshold)).astype(x.dtype),
)  # fmt: skip
@public(module="nn.functional", aliases="threshold=lambd")
def softshrink(x: Tensor, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """`x` moved towards 0 by `threshold`; 0 where it is nearer than that.

    Args:
        x: the tensor.
        threshold: how far; not negative.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> paddle.nn.functional.softshrink(paddle.to_tensor([-1.0, 0.25, 2.0])).tolist()
        [-0.5, 0.0, 1.5]
    """
    if threshold < 0:
        raise value_error("softshrink", "threshold must not be negative", f"threshold: {threshold}")
    return x - clip_between(x, -float(threshold), float(threshold), True, True, False)


@samples(*_PLAIN, reference=_expected(lambda x: x / (1 + np.abs(x))))
@public(module="nn.functional")
def softsign(x: Tensor, name: str | None = None) -> Tensor:
    """`x / (1 + |x|)`.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`, with elements between -1 and 1.

    Examples:
        >>> paddle.nn.functional.softsign(paddle.to_tensor([-1.0, 0.0, 3.0])).tolist()
        [-0.5, 0.0, 0.75]
    """
    return quotient(x, affine(abs(x), 1.0, 1.0, True))


@samples(*_PLAIN, reference=_expected(lambda x: x - np.tanh(x)))
@public(module="nn.functional")
@one_operator("tanh_shrink")
def tanhshrink(x: Tensor, name: str | None = None) -> Tensor:
    """`x - tanh(x)`.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> print(paddle.nn.functional.tanhshrink(paddle.to_tensor([-1.0, 0.0, 1.0])).numpy().round(4))
        [-0.2384  0.      0.2384]
    """
    return x - tanh(x)
