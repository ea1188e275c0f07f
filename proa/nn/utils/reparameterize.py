"""Weights computed from other parameters before every call: weight norm and spectral norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import runtime_error, value_error
from ...eager.parameter import Parameter
from ...eager.tensor import Tensor, alias, tensor_from_data
from ...eager.views import replace_value
from ...ops.linear.linalg import matmul
from ..common import Linear
from ..conv import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
from ..initializer import Normal
from ..layer import Layer
from ..normalization.spectral import as_matrix, power_iteration


def _new_parameter(value: Tensor, like: Any) -> Parameter:
    made = Parameter(alias(value.detach()), trainable=not like.stop_gradient)
    return made


def _set_plain(layer: Layer, name: str, value: Any) -> None:
    """An attribute that is no member: neither a parameter nor saved."""
    layer.__dict__[name] = value


# ---- weight norm ---------------------------------------------------------------------------------


def _norm(weight: Any, dim: int | None) -> Any:
    """The norm of each slice along `dim`; of the whole for None."""
    squares = weight * weight
    if dim is None:
        return (squares.sum() + 1e-12).sqrt()
    axes = [axis for axis in range(weight._aval.ndim) if axis != dim]
    return (squares.sum(axes) + 1e-12).sqrt() if axes else weight.abs()


class _WeightNorm:
    """Computes the weight from its direction (`_v`) and length (`_g`)."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, dim

    def weight(self, layer: Any) -> Any:
        v, g = getattr(layer, f"{self.name}_v"), getattr(layer, f"{self.name}_g")
        scale = g / _norm(v, self.dim)
        if self.dim is not None:
            scale = scale.reshape([-1 if axis == self.dim else 1 for axis in range(v._aval.ndim)])
        return v * scale

    def __call__(self, layer: Layer, inputs: Any) -> None:
        _set_plain(layer, self.name, self.weight(layer))


def _hooks_of(layer: Layer, kind: type) -> Any:
    return [(number, hook) for number, (hook, _) in layer._forward_pre_hooks.items() if isinstance(hook, kind)]


def weight_norm(layer: Layer, name: str = "weight", dim: int | None = 0) -> Layer:
    """Splits a weight into a direction and a length, `name_v` and `name_g`, that train instead of it.

    Args:
        layer: the layer; it is changed in place.
        name: the parameter.
        dim: the axis along which there is a length each; None or -1 for one length of the whole.

    Returns:
        The layer.

    Raises:
        ValueError: there is no such parameter, or `dim` is none of its axes.
        RuntimeError: it is split already.

    Examples:
        >>> layer = paddle.nn.utils.weight_norm(paddle.nn.Linear(3, 2), dim=1)
        >>> [(name, parameter.shape) for name, parameter in layer.named_parameters()]
        [('bias', paddle.Size([2])), ('weight_v', paddle.Size([3, 2])), ('weight_g', paddle.Size([2]))]
    """
    if any(hook.name == name for _, hook in _hooks_of(layer, _WeightNorm)):
        raise runtime_error("weight_norm", f"there is a weight norm on {name!r} already")
    weight = layer._parameters.get(name)
    if weight is None:
        raise value_error("weight_norm", f"the layer has no parameter {name!r}", type(layer).__name__)
    ndim = weight._aval.ndim
    if dim is not None and not -ndim <= dim < ndim:
        raise value_error("weight_norm", f"dim must be an axis of the weight, {ndim} dimensions", f"dim: {dim}")
    # -1 means the whole weight, as in Paddle.
    place = None if dim is None or dim == -1 else dim % ndim
    hook = _WeightNorm(name, place)
    length = _norm(weight.detach(), place)
    del layer._parameters[name]
    layer.add_parameter(f"{name}_v", _new_parameter(weight, weight))
    layer.add_parameter(f"{name}_g", _new_parameter(length, weight))
    hook(layer, ())
    layer.register_forward_pre_hook(hook)
    return layer


def remove_weight_norm(layer: Layer, name: str = "weight") -> Layer:
    """Makes one parameter of a weight again that `weight_norm` has split.

    Args:
        layer: the layer; it is changed in place.
        name: the parameter.

    Returns:
        The layer.

    Raises:
        ValueError: it was not split.

    Examples:
        >>> layer = paddle.nn.utils.weight_norm(paddle.nn.Linear(3, 2))
        >>> [name for name, _ in paddle.nn.utils.remove_weight_norm(layer).named_parameters()]
        ['bias', 'weight']
    """
    for number, hook in _hooks_of(layer, _WeightNorm):
        if hook.name == name:
            weight = hook.weight(layer)
            made = _new_parameter(weight, layer._parameters[f"{name}_v"])
            del layer._forward_pre_hooks[number]
            del layer._parameters[f"{name}_g"]
            del layer._parameters[f"{name}_v"]
            layer.__dict__.pop(name, None)
            layer.add_parameter(name, made)
            return layer
    raise value_error("remove_weight_norm", f"there is no weight norm on {name!r}", type(layer).__name__)


# ---- spectral norm -------------------------------------------------------------------------------


class _SpectralNorm:
    """Divides the weight by its largest singular value, followed by power iteration while training."""

    def __init__(self, name: str, rounds: int, eps: float, dim: int) -> None:
        self.name, self.rounds, self.eps, self.dim = name, rounds, eps, dim

    def weight(self, layer: Any, iterate: bool) -> Any:
        original = getattr(layer, f"{self.name}_orig")
        u, v = getattr(layer, f"{self.name}_u"), getattr(layer, f"{self.name}_v")
        matrix = as_matrix(original, self.dim)
        if iterate:
            new_u, new_v = power_iteration(matrix, u, v, self.rounds, self.eps)
            replace_value(u, new_u)
            replace_value(v, new_v)
        sigma: Any = (alias(u) * matmul(matrix, alias(v), False, False)).sum()  # type: ignore[operator]
        return original / sigma

    def __call__(self, layer: Layer, inputs: Any) -> None:
        layer._enter("_buffers", self.name, self.weight(layer, layer.training))


def spectral_norm(
    layer: Layer, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Layer:
    """Keeps a weight's largest singular value at 1; the parameter that trains is `name_orig`.

    Args:
        layer: the layer; it is changed in place.
        name: the parameter.
        n_power_iterations: rounds of power iteration at each call while training.
        eps: the smallest divisor.
        dim: the axis of the outputs; found from the kind of layer if left out.

    Returns:
        The layer.

    Raises:
        ValueError: there is no such parameter, or a number is not positive.
        RuntimeError: it has a spectral norm already.

    Examples:
        >>> layer = paddle.nn.utils.spectral_norm(paddle.nn.Linear(3, 2), n_power_iterations=20)
        >>> _ = layer(paddle.ones([1, 3]))
        >>> round(paddle.linalg.svd(layer.weight)[1].max().item(), 3)
        1.0
        >>> [name for name, _ in layer.named_parameters()]
        ['bias', 'weight_orig']
    """
    if n_power_iterations <= 0:
        raise value_error("spectral_norm", "n_power_iterations must be positive", f"{n_power_iterations}")
    if any(hook.name == name for _, hook in _hooks_of(layer, _SpectralNorm)):
        raise runtime_error("spectral_norm", f"there is a spectral norm on {name!r} already")
    weight = layer._parameters.get(name)
    if weight is None:
        raise value_error("spectral_norm", f"the layer has no parameter {name!r}", type(layer).__name__)
    if dim is None:
        # The axis of the outputs.
        dim = 1 if isinstance(layer, (Linear, Conv1DTranspose, Conv2DTranspose, Conv3DTranspose)) else 0
    hook = _SpectralNorm(name, int(n_power_iterations), float(eps), int(dim))
    rows, columns = as_matrix(weight, hook.dim)._aval.shape

    def unit(size: int) -> Tensor:
        drawn = Normal(0.0, 1.0).draw((size,), np.dtype("float64"))
        return tensor_from_data((drawn / max(np.linalg.norm(drawn), eps)).astype(weight._aval.dtype))

    del layer._parameters[name]
    layer.add_parameter(f"{name}_orig", weight)
    layer.register_buffer(name, alias(weight.detach()), persistable=False)
    layer.register_buffer(f"{name}_u", unit(rows))
    layer.register_buffer(f"{name}_v", unit(columns))
    layer.register_forward_pre_hook(hook)
    return layer
