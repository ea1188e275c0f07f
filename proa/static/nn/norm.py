"""Normalisations as functions."""

from __future__ import annotations

import math
from typing import Any

from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...nn import functional as F
from ...nn.base.attributes import ParamAttr
from ...nn.distance_dropout_norm import SpectralNorm
from ...nn.initializer import Constant
from .parameters import Parameters, activated


def batch_norm(
    input: Tensor, act: str | None = None, is_test: bool = False, momentum: float = 0.9, epsilon: float = 1e-05,
    param_attr: Any = None, bias_attr: Any = None, data_layout: str = "NCHW", in_place: bool = False,
    name: str | None = None, moving_mean_name: str | None = None, moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True, use_global_stats: bool = False,
) -> Tensor:  # fmt: skip
    """Batch normalisation with statistics that move at each run; `clone(for_test=True)` uses them."""
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
    param_attr: Any = None, bias_attr: Any = None, act: str | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Each sample standardised over the dimensions from `begin_norm_axis` on."""
    make = Parameters("layer_norm", input, name)
    if not 0 <= begin_norm_axis < input._aval.ndim:
        raise value_error(make.where, f"begin_norm_axis must be below {input._aval.ndim}", f"{begin_norm_axis}")
    sizes = input.shape[begin_norm_axis:]
    make._check(sizes)
    count = [math.prod(sizes)]
    weight = make.weight(count, param_attr, Constant(1.0)) if scale and param_attr is not False else None
    bias = make.bias(count, bias_attr) if shift and bias_attr is not False else None
    shaped = [None if p is None else p.reshape(list(sizes)) for p in (weight, bias)]
    return activated(make.where, F.layer_norm(input, list(sizes), *shaped, epsilon), act)


def group_norm(
    input: Tensor, groups: int, epsilon: float = 1e-05, param_attr: Any = None, bias_attr: Any = None,
    act: str | None = None, data_layout: str = "NCHW", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Each sample standardised within groups of channels; scale and shift only where an attribute asks for them."""
    make = Parameters("group_norm", input, name)
    channels = [input.shape[1 if data_layout == "NCHW" else -1]]
    weight = make.weight(channels, param_attr, Constant(1.0)) if param_attr else None
    bias = make.bias(channels, bias_attr) if bias_attr else None
    return activated(make.where, F.group_norm(input, groups, epsilon, weight, bias, data_layout), act)


def instance_norm(
    input: Tensor, epsilon: float = 1e-05, param_attr: Any = None, bias_attr: Any = None, name: str | None = None
) -> Tensor:
    """Each channel of each sample standardised; scale and shift only where attributes ask for them."""
    make = Parameters("instance_norm", input, name)
    channels = [input.shape[1]]
    weight = make.weight(channels, param_attr, Constant(1.0)) if param_attr else None
    bias = make.bias(channels, bias_attr) if bias_attr else None
    return F.instance_norm(input, weight=weight, bias=bias, eps=epsilon)


def spectral_norm(
    weight: Tensor, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None
) -> Any:
    """A parameter divided by its largest singular value, as power iterations find it."""
    Parameters("spectral_norm", weight, name or "unused")
    return SpectralNorm(list(weight.shape), dim, power_iters, eps)(weight)
