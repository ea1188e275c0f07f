"""Unstructured pruning: weights of small size become zero and are kept zero."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor, tensor_from_data
from ..ir.recorder import recording_gradients
from ..nn.layer import Layer
from ..nn.utils.masked import MaskedOptimizer

if TYPE_CHECKING:
    from ..optimizer.optimizer import Optimizer


class Masks(dict[str, Tensor]):
    """Masks by the names of parameters: one where a weight stays, zero where it is gone.

    `prune_weights` gives them.

    Examples:
        >>> model = paddle.nn.Linear(4, 4)
        >>> masks = paddle.compress.prune_weights(model, 0.5)
        >>> [int(mask.sum()) for mask in masks.values()]
        [8]
    """

    def __init__(self, masks: dict[str, Tensor], parameters: list[Any]) -> None:
        super().__init__(masks)
        self._parameters = parameters

    def apply(self) -> None:
        """Makes the weights zero again, after a step of training for instance.

        Examples:
            >>> model = paddle.nn.Linear(4, 4)
            >>> masks = paddle.compress.prune_weights(model, 0.5)
            >>> model.weight.set_value(paddle.ones([4, 4]))
            >>> masks.apply()
            >>> float(model.weight.sum())
            8.0
        """
        with recording_gradients(False):
            for parameter in self._parameters:
                parameter.set_value(parameter.detach() * self[parameter.name])

    def decorate(self, optimizer: Optimizer) -> MaskedOptimizer:
        """The optimiser, keeping these weights zero after each step.

        Examples:
            >>> model = paddle.nn.Linear(4, 4)
            >>> masks = paddle.compress.prune_weights(model, 0.5)
            >>> sgd = masks.decorate(paddle.optimizer.SGD(0.1, parameters=model.parameters()))
            >>> model(paddle.ones([1, 4])).sum().backward()
            >>> sgd.step()
            >>> paddle.compress.sparsity_of(model)
            0.5
        """
        return MaskedOptimizer(optimizer, self)


def excluded_ids(where: str, model: Layer, exclude: Iterable[Any]) -> set[int]:
    """The ids of the parameters of layers that are left alone, given as objects or by their names in the model."""
    named = {"": model, **dict(model.named_sublayers())}
    found: set[int] = set()
    for one in exclude:
        layer = named.get(one) if isinstance(one, str) else one
        if not isinstance(layer, Layer) or all(layer is not own for own in named.values()):
            raise value_error(where, "exclude names layers of the model", f"{one!r}", "see model.named_sublayers()")
        found.update(id(parameter) for parameter in layer.parameters())
    return found


def prune_weights(model: Layer, sparsity: float, *, scope: str = "global", exclude: Iterable[Any] = ()) -> Masks:
    """Makes a share of the model's weights zero, those of the smallest size.

    Weights are parameters of two axes or more: biases and norms stay. A model that was pruned may be pruned further.

    Args:
        model: a Layer, which is changed.
        sparsity: the share, from 0 to 1.
        scope: "global" compares all weights with each other; with "layer" each tensor loses the same share.
        exclude: layers (objects or names) that are left alone.

    Returns:
        The `Masks`; `masks.decorate(optimizer)` keeps the weights zero while the model is trained further.

    Examples:
        >>> model = paddle.nn.Linear(4, 4)
        >>> masks = paddle.compress.prune_weights(model, 0.75)
        >>> paddle.compress.sparsity_of(model)
        0.75
    """
    where = "prune_weights"
    if not isinstance(model, Layer):
        raise type_error(where, "model must be a Layer", type(model).__name__)
    if isinstance(sparsity, bool) or not isinstance(sparsity, (int, float)) or not 0.0 <= sparsity < 1.0:
        raise value_error(where, "sparsity must be from 0 to below 1", f"sparsity: {sparsity!r}")
    if scope not in ("global", "layer"):
        raise value_error(where, "scope must be 'global' or 'layer'", f"scope: {scope!r}")
    left = excluded_ids(where, model, exclude)
    parameters = [p for p in model.parameters() if len(p.shape) > 1 and id(p) not in left and p._aval.dtype.kind == "f"]
    if not parameters:
        raise value_error(where, "there is no weight to prune", type(model).__name__)
    sizes = {p.name: np.abs(np.asarray(p.numpy(), np.float32)) for p in parameters}
    for name, values in sizes.items():
        if np.isnan(values).any():
            raise value_error(where, f"{name} has NaN in it", fix="look for where they come from before pruning")
    if scope == "global":
        flat = np.concatenate([values.ravel() for values in sizes.values()])
        kept = dict(
            zip(sizes, np.split(_largest(flat, sparsity), np.cumsum([v.size for v in sizes.values()])), strict=False)
        )
    else:
        kept = {name: _largest(values.ravel(), sparsity) for name, values in sizes.items()}
    masks = {p.name: tensor_from_data(kept[p.name].reshape(p.shape).astype(p._aval.dtype)) for p in parameters}
    found = Masks(masks, parameters)
    found.apply()
    return found


def _largest(values: np.ndarray, sparsity: float) -> np.ndarray:
    """Which values stay when this share of them goes; of equal ones the first go."""
    gone = int(sparsity * values.size)
    mask = np.ones(values.size, bool)
    mask[np.argsort(values, kind="stable")[:gone]] = False
    return mask


def sparsity_of(model: Layer) -> float:
    """The share of zeros among the model's weights of two axes or more.

    Examples:
        >>> model = paddle.nn.Linear(4, 4)
        >>> masks = paddle.compress.prune_weights(model, 0.5)
        >>> paddle.compress.sparsity_of(model)
        0.5
    """
    weights = [np.asarray(p.numpy()) for p in model.parameters() if len(p.shape) > 1]
    total = sum(weight.size for weight in weights)
    return 1.0 - sum(int(np.count_nonzero(weight)) for weight in weights) / total if total else 0.0
