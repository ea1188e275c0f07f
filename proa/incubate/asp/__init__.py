"""`paddle.incubate.asp`: two of every four weights are zero, which newer GPUs multiply at twice the speed.

`prune_model` zeroes weights along their inputs and remembers where; `decorate` makes an optimiser keep them zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import failed_check, value_error, warn
from ...eager.tensor import Tensor, tensor_from_data
from ...nn.common import Linear
from ...nn.conv import Conv2D
from ...nn.layer import Layer
from ...nn.utils.masked import MaskedOptimizer
from .utils import MaskAlgo, calculate_density, create_mask

if TYPE_CHECKING:
    from ...optimizer.optimizer import Optimizer

__all__ = [
    "add_supported_layer", "calculate_density", "decorate", "prune_model", "reset_excluded_layers",
    "set_excluded_layers",
]  # fmt: skip

_ALGORITHMS = {
    "mask_1d": MaskAlgo.MASK_1D, "mask_2d_greedy": MaskAlgo.MASK_2D_GREEDY, "mask_2d_best": MaskAlgo.MASK_2D_BEST,
}  # fmt: skip
_supported: dict[str, Any] = {"linear": None, "conv2d": None, "fc": None}
_excluded: set[str] = set()
_masks: dict[str, Tensor] = {}


def set_excluded_layers(param_names: list[str], main_program: Any = None) -> None:
    """Parameters whose names begin with one of these are left alone by `prune_model`.

    Args:
        param_names: the beginnings of names.
        main_program: accepted and ignored.

    Examples:
        >>> model = paddle.nn.Linear(4, 8)
        >>> paddle.incubate.asp.set_excluded_layers([model.weight.name])
        >>> paddle.incubate.asp.prune_model(model)
        {}
        >>> paddle.incubate.asp.reset_excluded_layers()
    """
    _excluded.update([param_names] if isinstance(param_names, str) else param_names)


def reset_excluded_layers(main_program: Any = None) -> None:
    """Takes `set_excluded_layers` back: nothing is left alone any more.

    Args:
        main_program: accepted and ignored.

    Examples:
        >>> paddle.incubate.asp.reset_excluded_layers()
        >>> len(paddle.incubate.asp.prune_model(paddle.nn.Linear(4, 8)))
        1
    """
    _excluded.clear()


def add_supported_layer(layer: str | type[Layer] | Layer, pruning_func: Callable[..., Any] | None = None) -> None:
    """A further kind of layer to prune.

    Args:
        layer: a class, a layer or a name.
        pruning_func: `pruning_func(array, m, n, func_name, param_name)` gives the pruned array and its mask; None for
            the usual one.

    Examples:
        >>> class MyLinear(paddle.nn.Linear):
        ...     pass
        >>> paddle.incubate.asp.add_supported_layer(MyLinear)
        >>> model = paddle.nn.Sequential(MyLinear(4, 8))
        >>> _ = paddle.incubate.asp.prune_model(model)
        >>> paddle.incubate.asp.calculate_density(model[0].weight)
        0.5
    """
    kind = layer if isinstance(layer, str) else (layer if isinstance(layer, type) else type(layer)).__name__
    _supported[kind.lower()] = pruning_func


def prune_model(
    model: Layer, n: int = 2, m: int = 4, mask_algo: str = "mask_1d", with_mask: bool = True
) -> dict[str, Tensor]:
    """Zeroes all but the `n` largest of every `m` weights along the inputs.

    Args:
        model: the model, which changes.
        n: how many are kept.
        m: of how many.
        mask_algo: `mask_1d`; or `mask_2d_greedy` and `mask_2d_best`, which leave `n` of every `m` along the outputs
            as well, so that the transposed product of the backward pass is as sparse.
        with_mask: whether a decorated optimiser keeps the zeros.

    Returns:
        The masks, by parameter name.

    Examples:
        >>> model = paddle.nn.Linear(4, 8)
        >>> masks = paddle.incubate.asp.prune_model(model)
        >>> (model.weight != 0).sum(0).tolist()  # two of the four inputs of each output
        [2, 2, 2, 2, 2, 2, 2, 2]
    """
    if mask_algo not in _ALGORITHMS:
        raise failed_check("asp.prune_model", f"mask_algo must be one of {', '.join(_ALGORITHMS)}", f"{mask_algo!r}")
    if not 0 < n <= m:
        raise value_error("asp.prune_model", "n must be from 1 to m", f"n: {n}, m: {m}")
    found = {}
    for layer in model.sublayers(include_self=True):
        weight = layer._parameters.get("weight")
        if weight is None or not _prunes(layer, weight, m):
            continue
        pruning = _supported.get(type(layer).__name__.lower()) or _default_pruning
        array = np.asarray(weight.numpy())
        pruned, mask = pruning(array, m, n, _ALGORITHMS[mask_algo], weight.name)
        weight.set_value(np.asarray(pruned).astype(array.dtype))
        found[weight.name] = tensor_from_data(np.asarray(mask, array.dtype))
        if with_mask:
            _masks[weight.name] = found[weight.name]
    return found


def _prunes(layer: Layer, weight: Any, m: int) -> bool:
    kind = type(layer).__name__.lower()
    if any(weight.name.startswith(name) for name in _excluded):
        return False
    if kind not in _supported and not isinstance(layer, (Linear, Conv2D)):
        return False
    if _supported.get(kind) is not None:
        return True
    inputs = weight.shape[0] if len(weight.shape) == 2 else weight.shape[1] if len(weight.shape) == 4 else 0
    if inputs < m:
        warn(
            f"(asp.prune_model) {weight.name} is not pruned: shape {list(weight.shape)}, the inputs are fewer than {m}"
        )
    return inputs >= m


def _default_pruning(
    weight: np.ndarray, m: int, n: int, func_name: MaskAlgo, param_name: str
) -> tuple[np.ndarray, np.ndarray]:
    """Weights are [inputs, outputs] or [outputs, inputs, height, width]; turned, their rows run along the inputs."""
    mask = create_mask(weight.T, func_name, n, m).T
    return weight * mask, mask


OptimizerWithSparsityGuarantee = MaskedOptimizer


def decorate(optimizer: Optimizer) -> MaskedOptimizer:
    """An optimiser that keeps pruned weights zero, also those that are pruned later.

    Args:
        optimizer: the optimiser.

    Returns:
        The optimiser, wrapped.

    Examples:
        >>> model = paddle.nn.Linear(4, 8)
        >>> optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
        >>> optimizer = paddle.incubate.asp.decorate(optimizer)
        >>> _ = paddle.incubate.asp.prune_model(model)
        >>> model(paddle.ones([2, 4])).sum().backward()
        >>> optimizer.step()
        >>> paddle.incubate.asp.calculate_density(model.weight)
        0.5
    """
    return MaskedOptimizer(optimizer, _masks)
