"""Normalisation: batch, layer, group, instance, root-mean-square, and `normalize`.

All but the last are one primitive, `normalise`: the tensor is viewed in some shape, each slice
along some axes gets mean 0 and variance 1, and the result is scaled and shifted by parameters that
broadcast. Its gradients recompute the statistics from the input; inside one executable XLA computes
them once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import is_floating
from ...core.errors import failed_check, type_error, value_error
from ...eager import series
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...eager.views import assign_in_place, replace_value
from ...ir.padding import rules
from ...kernels.cpu import normalisation as native
from ...kernels.cpu.direct import on_host
from ...kernels.gpu import normalisation as gpu
from ...kernels.gpu.cold import channels, rows
from ..arguments import integer, require_tensor
from ..basic import expand_to, reshape_to, sum_over
from ..precision import wide

Axes = tuple[int, ...]
Shape = tuple[int, ...]


def _mean(xp: Any, x: Any, axes: Axes) -> Any:
    """The mean of floats over axes, kept as axes of length 1."""
    if xp is not np:
        return xp.mean(x, axis=axes, keepdims=True)
    # What `mean` comes to; its wrappers take longer than a small sum.
    total = np.add.reduce(x, axis=axes, keepdims=True)
    return total / (x.size // total.size if total.size else 1)


def _statistics(xp: Any, x: Any, axes: Axes) -> tuple[Any, Any]:
    """Mean and (biased) variance, kept as axes of length 1."""
    mean = _mean(xp, x, axes)
    centred = x - mean
    return mean, _mean(xp, centred * centred, axes)


def _viewed(x: Any, shape: Shape) -> Any:
    """At least float32, in a shape."""
    x = wide(x)
    return x if x.shape == shape else x.reshape(shape)


def _standardise(xp: Any, x: Any, epsilon: float, view: Shape, axes: Axes, centred: bool) -> tuple[Any, Any]:
    """The slices with mean 0 (if `centred`) and variance 1, and the factor that was applied."""
    x = _viewed(x, view)
    if centred:
        x = x - _mean(xp, x, axes)
    factor = 1 / xp.sqrt(_mean(xp, x * x, axes) + x.dtype.type(epsilon))
    return x * factor, factor


def _infer_same(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0]


def _operator_of(kinds: Sequence[Any], attributes: tuple[Any, ...]) -> str:
    """Paddle's name of the operator, which is one for each way to choose the axes."""
    _epsilon, view, axes, broadcast, centred = attributes
    shape = kinds[0].shape
    if not centred:
        return "rms_norm"
    if view != shape:
        return "group_norm"
    if len(broadcast) < len(shape) or len(axes) == len(shape) or all(broadcast[a] == shape[a] for a in axes):
        return "layer_norm"
    return "batch_norm" if 0 in axes else "instance_norm"


def _kept_statistics(kinds: Sequence[Any], attributes: tuple[Any, ...]) -> Sequence[int]:
    """As in Paddle, only the first operand of these two counts in mixed precision."""
    return range(1, len(kinds)) if _operator_of(kinds, attributes) in ("batch_norm", "layer_norm") else ()


@op(
    "x",
    optional="weight bias",
    infer=_infer_same,
    grad={
        "x": lambda g, x, weight, epsilon, view, axes, broadcast, centred: normalise_grad_input(
            x, g, weight, epsilon, view, axes, broadcast, centred
        ),
        "weight": lambda g, x, weight_aval, epsilon, view, axes, broadcast, centred: reshape_to(
            normalise_grad_weight(x, g, epsilon, view, axes, broadcast, centred), weight_aval.shape
        ),
        "bias": lambda g, x, bias_aval, view, axes, broadcast: _grad_bias(g, x, bias_aval.shape, view, axes, broadcast),
    },
    family="normalisation",
    paddle_name=_operator_of,
    amp_keeps=_kept_statistics,
    padding=rules.normalisation.normalise,
    series=series.functions.normalise,
)
def normalise(
    xp: Any,
    x: Any,
    weight: Any = None,
    bias: Any = None,
    epsilon: float = 1e-5,
    view: Shape = (),
    axes: Axes = (),
    broadcast: Shape = (),
    centred: bool = True,
) -> Any:
    """Slices of `x` (viewed as `view`, along `axes`) made standard, then scaled and shifted.

    The parameters are viewed as `broadcast` for that. Without `centred` the mean is left as it is
    (RMS).
    """
    out = _standardise(xp, x, epsilon, view, axes, centred)[0].reshape(x.shape)
    if weight is not None:
        out = out * _viewed(weight, broadcast)
    if bias is not None:
        out = out + _viewed(bias, broadcast)
    return out.astype(x.dtype, copy=False)


def _reduced_axes(shape: Shape, broadcast: Shape) -> Axes:
    """Axes along which parameters of the shape `broadcast` are repeated."""
    full = (1,) * (len(shape) - len(broadcast)) + broadcast
    return tuple(axis for axis, n in enumerate(full) if n == 1)


def _sum_like(g: Tensor, broadcast: Shape, shape: Shape) -> Tensor:
    axes = _reduced_axes(g._aval.shape, broadcast)
    return reshape_to(sum_over(g, axes, True) if axes else g, shape)


@op(
    "x y",
    optional="weight",
    infer=_infer_same,
    grad="auto",
    family="normalisation",
    padding=rules.normalisation.grad_input,
)
def normalise_grad_input(
    xp: Any,
    x: Any,
    y: Any,
    weight: Any = None,
    epsilon: float = 1e-5,
    view: Shape = (),
    axes: Axes = (),
    broadcast: Shape = (),
    centred: bool = True,
) -> Any:
    """The gradient of `normalise` in `x`, for the gradient `y` of its result."""
    standard, factor = _standardise(xp, x, epsilon, view, axes, centred)
    y = wide(y)
    if weight is not None:
        y = y * wide(weight).reshape(broadcast)
    y = y.reshape(view)
    out = y - standard * _mean(xp, y * standard, axes)
    if centred:
        out = out - _mean(xp, y, axes)
    return (out * factor).reshape(x.shape).astype(x.dtype, copy=False)


def _infer_weight(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape(attributes[3])


@op("x y", infer=_infer_weight, grad="auto", family="normalisation", padding=rules.normalisation.grad_weight)
def normalise_grad_weight(
    xp: Any, x: Any, y: Any, epsilon: float, view: Shape, axes: Axes, broadcast: Shape, centred: bool
) -> Any:
    """The gradient of `normalise` in its scale, in the shape `broadcast`."""
    standard = _standardise(xp, x, epsilon, view, axes, centred)[0].reshape(x.shape)
    product = wide(y) * standard
    reduced = _reduced_axes(x.shape, broadcast)
    return xp.sum(product, axis=reduced, keepdims=True).reshape(broadcast).astype(x.dtype, copy=False)


def _grad_bias(g: Tensor, x: Tensor, shape: Shape, view: Shape, axes: Axes, broadcast: Shape) -> Tensor:
    if view == x._aval.shape and axes == _reduced_axes(view, broadcast):
        return reshape_to(normalise_grad_bias(x, g, axes), shape)
    return _sum_like(g, broadcast, shape)


def _infer_bias(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape(tuple(1 if axis in attributes[0] else n for axis, n in enumerate(operands[0].shape)))


@op(
    "x y",
    infer=_infer_bias,
    grad={"y": lambda g, y_aval: expand_to(g, y_aval.shape)},
    family="normalisation",
    padding=rules.normalisation.grad_bias,
)
def normalise_grad_bias(xp: Any, x: Any, y: Any, axes: Axes) -> Any:
    """The gradient of `normalise` over channels in its shift: the sum of `y`.

    `x` is there for kernels that find it together with the other gradients.
    """
    return xp.sum(wide(y), axis=axes, keepdims=True).astype(y.dtype, copy=False)


# ---- batch ---------------------------------------------------------------------------------------


def _infer_running(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, Aval]:
    return operands[1], operands[2]


@op(
    "x mean variance",
    scalars="momentum",
    follow_scalars=False,
    outputs=2,
    infer=_infer_running,
    family="normalisation",
    padding=rules.normalisation.running,
)
def running_statistics(xp: Any, x: Any, mean: Any, variance: Any, momentum: Any, axes: Axes) -> Any:
    """Running mean and variance moved towards those of the batch: `momentum` is the share of the
    old ones.
    """
    batch_mean, batch_variance = _statistics(xp, wide(x), axes)
    kept = momentum.astype(batch_mean.dtype)
    moved = [
        kept * wide(old) + (1 - kept) * new.reshape(old.shape)
        for old, new in ((mean, batch_mean), (variance, batch_variance))
    ]
    return moved[0].astype(mean.dtype), moved[1].astype(variance.dtype)


@op(
    "x mean variance",
    optional="weight bias",
    scalars="epsilon",
    follow_scalars=False,
    infer=_infer_same,
    grad={
        "x": lambda g, variance, weight, epsilon, broadcast: _frozen_grad_input(
            g, variance, weight, epsilon, broadcast
        ),
        "weight": lambda g, x, mean, variance, epsilon, broadcast, weight_aval: _frozen_grad_weight(
            g, x, mean, variance, epsilon, broadcast, weight_aval.shape
        ),
        "bias": lambda g, bias_aval, broadcast: _sum_like(g, broadcast, bias_aval.shape),
    },
    family="normalisation",
    paddle_name="batch_norm",
    amp_keeps=(1, 2, 3, 4),
    padding=rules.normalisation.by_given,
)
def normalise_by(
    xp: Any,
    x: Any,
    mean: Any,
    variance: Any,
    weight: Any = None,
    bias: Any = None,
    epsilon: Any = 1e-5,
    broadcast: Shape = (),
) -> Any:
    """`x` standardised by given statistics, then scaled and shifted."""
    scale = 1 / xp.sqrt(wide(variance) + epsilon.astype(wide(variance).dtype))
    if weight is not None:
        scale = scale * wide(weight)
    out = (wide(x) - wide(mean).reshape(broadcast)) * scale.reshape(broadcast)
    if bias is not None:
        out = out + wide(bias).reshape(broadcast)
    return out.astype(x.dtype, copy=False)


def _frozen_grad_input(g: Tensor, variance: Tensor, weight: Tensor | None, epsilon: float, broadcast: Shape) -> Tensor:
    scale = (variance + epsilon).rsqrt()
    if weight is not None:
        scale = scale * weight
    return g * reshape_to(scale, broadcast)


def _frozen_grad_weight(
    g: Tensor,
    x: Tensor,
    mean: Tensor,
    variance: Tensor,
    epsilon: float,
    broadcast: Shape,
    shape: Shape,
) -> Tensor:
    scale = (variance + epsilon).rsqrt()
    return _sum_like(g * (x - reshape_to(mean, broadcast)) * reshape_to(scale, broadcast), broadcast, shape)


for _primitive, _native, _on_gpu, _cold in (
    (normalise, native.native_normalise, gpu.one_pass_normalise, (channels.normalise, rows.normalise)),
    (normalise_grad_input, native.native_grad_input, gpu.one_pass_grad_input, (channels.grad_input, rows.grad_input)),
    (
        normalise_grad_weight,
        native.native_grad_weight,
        gpu.one_pass_grad_weight,
        (channels.grad_weight, rows.grad_weight),
    ),
    (
        running_statistics,
        native.native_running_statistics,
        gpu.one_pass_running_statistics,
        (channels.running_statistics,),
    ),
):
    _operation = _primitive.operation
    _operation.kernels["cpu"] = _native(_operation.kernel)
    _operation.kernels["gpu"] = _on_gpu(_operation.kernel)
    _operation.kernels["numpy"] = on_host(_native, _operation.kernel)
    _operation.kernels["cupy"] = functools.reduce(lambda kernel, better: better(kernel), _cold, _operation.kernel)

_bias = normalise_grad_bias.operation
_bias.kernels["cupy"] = channels.grad_bias(_bias.kernel)
_bias.kernels["cpu"] = native.native_grad_bias(_bias.kernel)
_bias.kernels["numpy"] = on_host(native.native_grad_bias, _bias.kernel)

_FORMATS = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")


def _channel_axis(where: str, x: Tensor, data_format: str) -> int:
    if data_format not in _FORMATS:
        raise value_error(
            where,
            f"data_format must be one of {', '.join(_FORMATS)}",
            f"data_format: {data_format!r}",
        )
    if not isinstance(x, Tensor) or x._aval.ndim < 2:
        given = x._aval if isinstance(x, Tensor) else type(x).__name__
        raise failed_check(where, "x must be a Tensor with at least two dimensions", f"x: {given}")
    if not is_floating(x._aval.dtype):
        raise type_error(
            where,
            "only floating tensors can be normalised",
            f"x: {x._aval}",
            "convert with astype()",
        )
    return 1 if data_format.startswith("NC") else x._aval.ndim - 1


def _check_parameters(where: str, channels: int, x: Tensor, **parameters: Tensor | None) -> None:
    for name, parameter in parameters.items():
        if parameter is not None and require_tensor(where, name, parameter)._aval.size != channels:
            raise value_error(
                where,
                f"{name} must have {channels} elements",
                f"{name}: {parameter._aval}, x: {x._aval}",
            )


def _reference_batch_norm(
    x: np.ndarray,
    mean: Any,
    variance: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    epsilon: float = 1e-5,
    data_format: str = "NCHW",
    **_: Any,
) -> np.ndarray:
    channel = 1 if data_format.startswith("NC") else x.ndim - 1
    axes = tuple(a for a in range(x.ndim) if a != channel)
    shape = [-1 if a == channel else 1 for a in range(x.ndim)]
    if training:
        mean, variance = x.mean(axes), x.var(axes)
    out = (x - mean.reshape(shape)) / np.sqrt(variance.reshape(shape) + epsilon)
    return out * (1 if weight is None else weight.reshape(shape)) + (0 if bias is None else bias.reshape(shape))


_STATISTICS = (A(3, grad=False), A(3, low=0.5, grad=False))


@samples(
    S(A(4, 3, 2, 2), *_STATISTICS, A(3), A(3)),
    S(A(4, 3, 2, 2), *_STATISTICS, A(3), A(3), training=True),
    S(A(5, 3), *_STATISTICS, training=True, data_format="NC"),
    S(A(2, 4, 3), *_STATISTICS, A(3), data_format="NLC", epsilon=0.1),
    S(A(2, 2, 2, 3), *_STATISTICS, A(3), A(3), training=True, data_format="NHWC"),
    S(A(0, 3, 2), *_STATISTICS, A(3), A(3)),
    reference=_reference_batch_norm,
    tolerance=1e-4,
)
@public(module="nn.functional")
def batch_norm(
    x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-5,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Each channel standardised over batch and space, then scaled and shifted.

    Args:
        x: `[batch, channels, ...]`, or with the channels last.
        running_mean: `[channels]`; while training it becomes `momentum * running + (1 - momentum) * batch`.
        running_var: `[channels]`, which changes likewise (with the biased variance).
        weight: the scale of each channel, or None.
        bias: the shift of each channel, or None.
        training: whether the batch's own statistics are used; otherwise the running ones are.
        momentum: the share of the running statistics that is kept.
        epsilon: what is added to the variance.
        data_format: 'NCHW' or another name; it says whether the channels are last.
        use_global_stats: whether the running statistics are used, whatever `training` says; None follows `training`.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> mean, variance = paddle.zeros([1]), paddle.ones([1])
        >>> x = paddle.to_tensor([[1.0], [3.0]])
        >>> print(paddle.nn.functional.batch_norm(x, mean, variance, training=True).numpy().round(4))
        [[-1.]
         [ 1.]]
        >>> print(mean.numpy().round(4))
        [0.2]
    """
    channel = _channel_axis("batch_norm", x, data_format)
    aval = x._aval
    channels = aval.shape[channel]
    _check_parameters(
        "batch_norm",
        channels,
        x,
        running_mean=running_mean,
        running_var=running_var,
        weight=weight,
        bias=bias,
    )
    broadcast = tuple(channels if axis == channel else 1 for axis in range(aval.ndim))
    if not training if use_global_stats is None else use_global_stats:
        return normalise_by(x, running_mean, running_var, weight, bias, _single(epsilon), broadcast)
    axes = tuple(axis for axis in range(aval.ndim) if axis != channel)
    if aval.size:
        moved = running_statistics(x, running_mean, running_var, _single(momentum), axes)
        replace_value(running_mean, moved[0])
        replace_value(running_var, moved[1])
    return normalise(x, weight, bias, _single(epsilon), aval.shape, axes, broadcast, True)


def _single(number: Any) -> float:
    """A number as Paddle's kernels get it: rounded to float32, also beside float64."""
    return float(np.float32(number))


# ---- layer, group, instance ----------------------------------------------------------------------


def _normalized_shape(where: str, x: Tensor, normalized_shape: Any) -> Shape:
    if isinstance(normalized_shape, (int, np.integer)):
        normalized_shape = [normalized_shape]
    if not isinstance(normalized_shape, (list, tuple)) or not all(
        isinstance(n, (int, np.integer)) for n in normalized_shape
    ):
        raise value_error(where, "normalized_shape must be an int or a list of ints", repr(normalized_shape))
    shape = tuple(integer(where, "normalized_shape", n) for n in normalized_shape)
    aval = require_tensor(where, "x", x)._aval
    if not shape or len(shape) > aval.ndim or aval.shape[aval.ndim - len(shape) :] != shape:
        raise value_error(where, f"normalized_shape {list(shape)} must be the last dimensions of x", f"x: {aval}")
    if not is_floating(aval.dtype):
        raise type_error(where, "only floating tensors can be normalised", f"x: {aval}", "convert with astype()")
    return shape


def _reference_layer_norm(
    x: np.ndarray, shape: Any, weight: Any = None, bias: Any = None, epsilon: float = 1e-5
) -> np.ndarray:
    shape = [shape] if isinstance(shape, int) else list(shape)
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    out = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)
    out = out * (1 if weight is None else weight.reshape(shape))
    return out + (0 if bias is None else bias.reshape(shape))


@samples(
    S(A(2, 3, 4), 4, A(4), A(4)),
    S(A(2, 3, 4), [3, 4], A(12), A(12)),
    S(A(5, 4), [4]),
    S(A(4), 4, A(4), epsilon=0.1),
    S(A(0, 4), 4, A(4), A(4)),
    reference=_reference_layer_norm,
    tolerance=1e-4,
)
@public(module="nn.functional")
def layer_norm(
    x: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    epsilon: float = 1e-5,
    name: str | None = None,
) -> Tensor:
    """The last axes standardised together, then scaled and shifted element by element.

    Args:
        x: the tensor.
        normalized_shape: the dimensions of those axes.
        weight: the scale, of that shape.
        bias: the shift, of that shape.
        epsilon: added to the variance.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.layer_norm(paddle.to_tensor([[1.0, 3.0], [10.0, 30.0]]), [2]).numpy().round(3).tolist()
        [[-1.0, 1.0], [-1.0, 1.0]]
    """
    shape = _normalized_shape("layer_norm", x, normalized_shape)
    _check_parameters("layer_norm", math.prod(shape), x, weight=weight, bias=bias)
    aval = x._aval
    axes = tuple(range(aval.ndim - len(shape), aval.ndim))
    return normalise(x, weight, bias, _single(epsilon), aval.shape, axes, shape, True)


@samples(
    S(A(2, 3, 4), 4, A(4)),
    S(A(2, 3, 4), [3, 4]),
    S(A(5, 4), 4, A(4), eps=0.1),
    reference=lambda x, shape, weight=None, eps=1e-5: (
        x
        / np.sqrt((x * x).mean((-1,) if isinstance(shape, int) else tuple(range(-len(shape), 0)), keepdims=True) + eps)
        * (1 if weight is None else weight)
    ),
    tolerance=1e-4,
)
@public(module="nn.functional")
def rms_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float = 1e-5,
    name: str | None = None,
) -> Tensor:
    """The last dimensions divided by their root mean square, then scaled.

    Args:
        input: a tensor that ends with `normalized_shape`.
        normalized_shape: the sizes of the dimensions that are taken together.
        weight: the scale, of `normalized_shape`; or None.
        eps: what is added to the mean square.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `input`.

    Examples:
        >>> print(paddle.nn.functional.rms_norm(paddle.to_tensor([[3.0, 4.0]]), [2]).numpy().round(4))
        [[0.8485 1.1314]]
    """
    shape = _normalized_shape("rms_norm", input, normalized_shape)
    _check_parameters("rms_norm", math.prod(shape), input, weight=weight)
    aval = input._aval
    axes = tuple(range(aval.ndim - len(shape), aval.ndim))
    return normalise(input, weight, None, float(eps), aval.shape, axes, shape, False)


def _reference_group_norm(
    x: np.ndarray,
    groups: int,
    epsilon: float = 1e-5,
    weight: Any = None,
    bias: Any = None,
    data_format: str = "NCHW",
) -> np.ndarray:
    last = data_format[1] != "C"
    x = np.moveaxis(x, -1, 1) if last else x
    parts = x.reshape(x.shape[0], groups, x.shape[1] // groups * math.prod(x.shape[2:]))
    out = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + epsilon)
    shape = (-1,) + (1,) * (x.ndim - 2)
    out = out.reshape(x.shape) * (1 if weight is None else weight.reshape(shape))
    out = out + (0 if bias is None else bias.reshape(shape))
    return np.moveaxis(out, 1, -1) if last else out


@samples(
    S(A(2, 4, 3, 3), 2, weight=A(4), bias=A(4)),
    S(A(2, 6, 3), 3),
    S(A(2, 3, 3, 4), 2, weight=A(4), data_format="NHWC"),
    S(A(3, 4), 2, epsilon=0.1),
    reference=_reference_group_norm,
    tolerance=1e-4,
)
@public(module="nn.functional")
def group_norm(
    x: Tensor,
    num_groups: int,
    epsilon: float = 1e-5,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Groups of channels standardised together in each sample, then scaled and shifted.

    Args:
        x: [batch, channels, ...].
        num_groups: how many groups; it divides the channels.
        epsilon: added to the variance.
        weight: the scale of each channel.
        bias: the shift of each channel.
        data_format: "NCHW" and its like, or with the channels last.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([[[1.0, 3.0], [10.0, 30.0]]])
        >>> paddle.group_norm(x, 2).numpy().round(3).tolist()
        [[[-1.0, 1.0], [-1.0, 1.0]]]
    """
    channel = _channel_axis("group_norm", x, data_format)
    aval = x._aval
    channels = aval.shape[channel]
    groups = int(num_groups)
    if groups < 1 or channels % groups:
        raise value_error(
            "group_norm",
            f"{channels} channels cannot be divided into {num_groups} groups",
            f"x: {aval}",
        )
    _check_parameters("group_norm", channels, x, weight=weight, bias=bias)
    view = (*aval.shape[:channel], groups, channels // groups, *aval.shape[channel + 1 :])
    axes = tuple(axis for axis in range(1, len(view)) if axis != channel)
    broadcast = tuple(channels if axis == channel else 1 for axis in range(aval.ndim))
    return normalise(x, weight, bias, float(epsilon), view, axes, broadcast, True)


@samples(
    S(A(2, 3, 4, 3), weight=A(3), bias=A(3)),
    S(A(2, 3, 5)),
    S(A(2, 3, 3, 4), weight=A(4), data_format="NHWC", eps=0.1),
    reference=lambda x, weight=None, bias=None, data_format="NCHW", eps=1e-5: _reference_group_norm(
        x, x.shape[1 if data_format[1] == "C" else -1], eps, weight, bias, data_format
    ),
    tolerance=1e-4,
)
@public(module="nn.functional")
def instance_norm(
    x: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-5,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Each channel of each sample standardised over space, then scaled and shifted.

    As in Paddle, the input's own statistics are always used.

    Args:
        x: `[batch, channels, ...]`.
        running_mean: accepted and left alone.
        running_var: accepted and left alone.
        weight: the scale of each channel, or None.
        bias: the shift of each channel, or None.
        use_input_stats: accepted; the input's statistics are used.
        momentum: accepted and ignored.
        eps: what is added to the variance.
        data_format: 'NCHW' or another name; it says whether the channels are last.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> x = paddle.to_tensor([[[1.0, 3.0], [10.0, 30.0]]])
        >>> print(paddle.nn.functional.instance_norm(x, data_format="NCL").numpy().round(3))
        [[[-1.  1.]
          [-1.  1.]]]
    """
    channel = _channel_axis("instance_norm", x, data_format)
    aval = x._aval
    channels = aval.shape[channel]
    _check_parameters("instance_norm", channels, x, weight=weight, bias=bias)
    broadcast = tuple(channels if axis == channel else 1 for axis in range(aval.ndim))
    axes = tuple(axis for axis in range(1, aval.ndim) if axis != channel)
    return normalise(x, weight, bias, _single(eps), aval.shape, axes, broadcast, True)


@samples(
    S(A(2, 3, 4)),
    S(A(2, 3), p=1, axis=-1),
    S(A(3, 2), p=3.0, axis=0, epsilon=0.5),
    S(A(2, values=[0.0, 0.0], grad=False), axis=0),
    reference=lambda x, p=2, axis=1, epsilon=1e-12: (
        x / np.maximum((np.abs(x) ** p).sum(axis, keepdims=True) ** (1 / p), epsilon)
    ),
    tolerance=1e-4,
)
@public(module="nn.functional")
def normalize(
    x: Tensor,
    p: float = 2,
    axis: int = 1,
    epsilon: float = 1e-12,
    out: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """`x` divided by its p-norm along an axis.

    Args:
        x: the tensor.
        p: the order of the norm.
        axis: the axis of the vectors.
        epsilon: what the norm is at least.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> print(paddle.nn.functional.normalize(paddle.to_tensor([[3.0, 4.0]])).numpy().round(4))
        [[0.6 0.8]]
    """
    if out is not None:
        return assign_in_place(out, normalize(x, p, axis, epsilon), "normalize")
    if not isinstance(x, Tensor) or not -x._aval.ndim <= axis < max(x._aval.ndim, 1):
        given = x._aval if isinstance(x, Tensor) else type(x).__name__
        raise value_error("normalize", f"x must be a Tensor with an axis {axis}", f"x: {given}")
    if p == 2:
        # Cut off before the root, whose derivative at 0 is infinite.
        squares = (x * x).sum(axis, keepdim=True)  # type: ignore[operator]
        return x / squares.clip(min=float(epsilon) ** 2).sqrt()
    if p == math.inf:
        norm = x.abs().max(axis, keepdim=True)
    else:
        powers = x.abs() ** float(p)
        norm = powers.sum(axis, keepdim=True) ** (1.0 / p)
    return x / norm.clip(min=float(epsilon))
