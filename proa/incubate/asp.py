"""`paddle.incubate.asp`: two of every four weights are zero, which newer GPUs multiply at twice the speed.

`prune_model` zeroes weights and remembers where; `decorate` makes an optimiser keep them zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import value_error
from ..eager.tensor import Tensor, tensor_from_data
from ..nn.common import Linear
from ..nn.conv import Conv2D
from ..nn.layer import Layer

_supported: dict[str, Any] = {"linear": None, "conv2d": None, "fc": None}
_excluded: set[str] = set()
_masks: dict[str, Tensor] = {}


def calculate_density(x: Any) -> float:
    """The share of elements that are not zero."""
    array = np.asarray(x)
    return float(np.count_nonzero(array)) / array.size if array.size else 0.0


def set_excluded_layers(param_names: list[str], main_program: Any = None) -> None:
    """Parameters whose names begin with one of these are left alone."""
    _excluded.update(param_names)


def reset_excluded_layers(main_program: Any = None) -> None:
    """Nothing is left alone any more."""
    _excluded.clear()


def add_supported_layer(layer: Any, pruning_func: Any = None) -> None:
    """A further kind of layer (a class, a layer or a name) to prune; `pruning_func(array, m, n, func_name, param_name)`
    gives the pruned array and its mask."""
    kind = layer if isinstance(layer, str) else (layer if isinstance(layer, type) else type(layer)).__name__
    _supported[kind.lower()] = pruning_func


def prune_model(
    model: Layer, n: int = 2, m: int = 4, mask_algo: str = "mask_1d", with_mask: bool = True
) -> dict[str, Tensor]:
    """Zeroes all but the `n` largest of every `m` weights along the inputs; gives the masks by parameter name."""
    if mask_algo not in ("mask_1d", "mask_2d_greedy", "mask_2d_best"):
        raise value_error(
            "asp.prune_model", "mask_algo must be 'mask_1d', 'mask_2d_greedy' or 'mask_2d_best'", mask_algo
        )
    if not 0 < n <= m:
        raise value_error("asp.prune_model", "n must be from 1 to m", f"n: {n}, m: {m}")
    found = {}
    for layer in model.sublayers(include_self=True):
        weight = layer._parameters.get("weight")
        if weight is None or not _prunes(layer, weight, m):
            continue
        pruning = _supported.get(type(layer).__name__.lower())
        array = np.asarray(weight.numpy())
        if pruning is None:
            mask = _mask(array, n, m)
            pruned = array * mask
        else:
            pruned, mask = pruning(array, m, n, mask_algo, weight.name)
        weight.set_value(pruned.astype(array.dtype))
        found[weight.name] = tensor_from_data(np.asarray(mask, array.dtype))
        if with_mask:
            _masks[weight.name] = found[weight.name]
    return found


def _prunes(layer: Layer, weight: Any, m: int) -> bool:
    kind = type(layer).__name__.lower()
    if any(weight.name.startswith(name) for name in _excluded):
        return False
    known = kind in _supported or isinstance(layer, (Linear, Conv2D))
    return known and len(weight.shape) in (2, 4) and weight.shape[0] >= m and weight.shape[1] >= m


def _mask(array: np.ndarray, n: int, m: int) -> np.ndarray:
    """Ones at the `n` largest of every `m` elements along the axis that is summed over: the first of a matrix [in, out],
    the others of a convolution's [out, in, …]."""
    rows = array.T if array.ndim == 2 else array.reshape(array.shape[0], -1)
    padding = -rows.shape[1] % m
    groups = np.pad(np.abs(rows), ((0, 0), (0, padding)), constant_values=-1.0).reshape(rows.shape[0], -1, m)
    order = np.argsort(-groups, axis=-1, kind="stable")
    mask = np.zeros_like(groups)
    np.put_along_axis(mask, order[..., :n], 1.0, axis=-1)
    flat = mask.reshape(rows.shape[0], -1)[:, : rows.shape[1]]
    return flat.T if array.ndim == 2 else flat.reshape(array.shape)


class OptimizerWithSparsityGuarantee:
    """An optimiser that multiplies pruned weights by their masks after each step."""

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    def step(self) -> None:
        self._optimizer.step()
        for parameter in self._optimizer._parameter_list:
            if parameter.name in _masks:
                parameter.set_value(parameter.detach() * _masks[parameter.name])

    def minimize(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        result = self._optimizer.minimize(loss, *args, **kwargs)
        for parameter in self._optimizer._parameter_list:
            if parameter.name in _masks:
                parameter.set_value(parameter.detach() * _masks[parameter.name])
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._optimizer, name)


def decorate(optimizer: Any) -> OptimizerWithSparsityGuarantee:
    """The optimiser, which keeps pruned weights zero."""
    return OptimizerWithSparsityGuarantee(optimizer)
