"""Normalisations as functions."""

from __future__ import annotations

import math
from typing import Any

from ...core.errors import value_error
from ...eager.annotations import AttrLike
from ...eager.tensor import Tensor
from ...nn import functional as F
from ...nn.base.attributes import ParamAttr
from ...nn.initializer import Constant
from ...nn.normalization.spectral import SpectralNorm
from .parameters import Parameters, activated


def batch_norm(
    input: Tensor, act: str | None = None, is_test: bool = False, momentum: float = 0.9, epsilon: float = 1e-05,
    param_attr: AttrLike | None = None, bias_attr: AttrLike | None = None, data_layout: str = "NCHW", in_place: bool = False,
    name: str | None = None, moving_mean_name: str | None = None, moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True, use_global_stats: bool = False,
) -> Tensor:  # fmt: skip
    """Batch normalisation with statistics that move at each run; `clone(for_test=True)` uses them.

    Args:
        input: a variable with channels.
        act: the name of a function that is applied in the end, or None.
        is_test: whether the statistics are used instead of the batch's own.
        momentum: how much of the statistics stays at each run.
        epsilon: added to variances.
        param_attr: the scale's ParamAttr.
        bias_attr: the shift's.
        data_layout: "NCHW" or "NHWC".
        in_place: taken; it changes nothing.
        name: a label; it changes nothing.
        moving_mean_name: what the mean's variable is called.
        moving_variance_name: what the variance's is called.
        do_model_average_for_mean_and_var: taken; it changes nothing.
        use_global_stats: as `is_test`, in training too.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.batch_norm(paddle.static.data("x", [None, 3, 8, 8]))
        >>> y.shape
        paddle.Size([-1, 3, 8, 8])
    """
    make = Parameters("batch_norm", input, name)
    channels = [input.shape[1 if data_layout == "NCHW" else -1]]
    scale = make.weight(channels, param_attr, Constant(1.0))
    bias = make.bias(channels, bias_attr)
    mean, variance = (
        make.weight(channels, ParamAttr(name=own, trainable=False), Constant(start))
        for own, start in ((moving_mean_name, 0.0), (moving_variance_name, 1.0))
    )
    layout = {2: "NC", 3: "NCL", 5: "NCDHW"}.get(input._aval.ndim, "NCHW") if data_layout == "NCHW" else "NHWC"
    out = F.batch_norm(
        input, mean, variance, scale, bias, not is_test, momentum, epsilon, layout, use_global_stats or None
    )
    return activated(make.where, out, act)


def layer_norm(
    input: Tensor, scale: bool = True, shift: bool = True, begin_norm_axis: int = 1, epsilon: float = 1e-05,
    param_attr: AttrLike | None = None, bias_attr: AttrLike | None = None, act: str | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Each sample standardised over the dimensions from `begin_norm_axis` on.

    Args:
        input: a variable.
        scale: whether the result is multiplied by a parameter.
        shift: whether a parameter is added.
        begin_norm_axis: the first dimension of a sample.
        epsilon: added to variances.
        param_attr: the scale's ParamAttr.
        bias_attr: the shift's.
        act: the name of a function that is applied in the end, or None.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.layer_norm(paddle.static.data("x", [None, 2]))
        >>> executor = paddle.static.Executor()
        >>> executor.run(startup)
        []
        >>> executor.run(main, feed={"x": np.array([[1, 3]], "float32")}, fetch_list=[y])[0].round(3).tolist()
        [[-1.0, 1.0]]
    """
    make = Parameters("layer_norm", input, name)
    if not 0 <= begin_norm_axis < input._aval.ndim:
        raise value_error(make.where, f"begin_norm_axis must be below {input._aval.ndim}", f"{begin_norm_axis}")
    sizes = input.shape[begin_norm_axis:]
    make._check(sizes)
    count = [math.prod(sizes)]
    weight = make.weight(count, param_attr, Constant(1.0)) if scale and param_attr is not False else None
    bias = make.bias(count, bias_attr) if shift and bias_attr is not False else None
    factor, offset = (None if p is None else p.reshape(list(sizes)) for p in (weight, bias))
    return activated(make.where, F.layer_norm(input, list(sizes), factor, offset, epsilon), act)


def group_norm(
    input: Tensor,
    groups: int,
    epsilon: float = 1e-05,
    param_attr: AttrLike | None = None,
    bias_attr: AttrLike | None = None,
    act: str | None = None,
    data_layout: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Each sample standardised within groups of channels; scale and shift only where an attribute asks for them.

    Args:
        input: a variable with channels.
        groups: how many.
        epsilon: added to variances.
        param_attr: the scale's ParamAttr.
        bias_attr: the shift's.
        act: the name of a function that is applied in the end, or None.
        data_layout: "NCHW" or "NHWC".
        name: a label; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.group_norm(paddle.static.data("x", [None, 4, 8, 8]), 2)
        >>> y.shape
        paddle.Size([-1, 4, 8, 8])
    """
    make = Parameters("group_norm", input, name)
    channels = [input.shape[1 if data_layout == "NCHW" else -1]]
    weight = make.weight(channels, param_attr, Constant(1.0)) if param_attr else None
    bias = make.bias(channels, bias_attr) if bias_attr else None
    return activated(make.where, F.group_norm(input, groups, epsilon, weight, bias, data_layout), act)


def instance_norm(
    input: Tensor,
    epsilon: float = 1e-05,
    param_attr: AttrLike | None = None,
    bias_attr: AttrLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Each channel of each sample standardised; scale and shift only where attributes ask for them.

    Args:
        input: a variable with channels.
        epsilon: added to variances.
        param_attr: the scale's ParamAttr.
        bias_attr: the shift's.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.instance_norm(paddle.static.data("x", [None, 4, 8, 8]))
        >>> y.shape
        paddle.Size([-1, 4, 8, 8])
    """
    make = Parameters("instance_norm", input, name)
    channels = [input.shape[1]]
    weight = make.weight(channels, param_attr, Constant(1.0)) if param_attr else None
    bias = make.bias(channels, bias_attr) if bias_attr else None
    return F.instance_norm(input, weight=weight, bias=bias, eps=epsilon)


def spectral_norm(
    weight: Tensor, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None
) -> Any:
    """A parameter divided by its largest singular value, as power iterations find it.

    Args:
        weight: the parameter.
        dim: the dimension that stands for the rows.
        power_iters: how many iterations a run makes.
        eps: added where something is divided by.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     weight = paddle.static.create_parameter([2, 3], "float32")
        ...     y = paddle.static.nn.spectral_norm(weight)
        >>> y.shape
        paddle.Size([2, 3])
    """
    Parameters("spectral_norm", weight, name or "unused")
    return SpectralNorm(list(weight.shape), dim, power_iters, eps)(weight)
