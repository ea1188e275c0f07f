"""Structured pruning: channels that matter little are taken out of every weight that knows them, so that layers shrink."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core.errors import runtime_error, type_error, value_error
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor, tensor_from_data
from ..graph import Graph, capture
from ..ir.recorder import recording_gradients
from ..nn.conv import _Convolution
from ..nn.layer import Layer
from .dependencies import STAYS, Dependencies
from .pruning import excluded_ids

_WHERE = "prune_channels"


class _Spec:
    """The shape and dtype of an example input."""

    def __init__(self, tensor: Tensor) -> None:
        self.shape, self.dtype, self.name = list(tensor.shape), tensor.dtype, None


def prune_channels(
    model: Layer,
    inputs: Any,
    ratio: float,
    *,
    exclude: Iterable[Any] = (),
    importance: str = "l2",
    multiple_of: int = 1,
) -> Layer:
    """A copy of the model without some of its channels: smaller layers, fewer multiplications.

    The model is captured, and channels are followed through residuals, batch norms, depthwise convolutions, concatenations
    and flattening; channels that are joined by any of these go together. Of each such group the channels go whose filters
    are smallest, and at least one stays. The model's own results keep their size. Train the result further: it has lost
    something.

    Args:
        model: a Layer.
        inputs: an example of what it is called with (a tensor, or several in a list).
        ratio: the share of channels that go.
        exclude: layers (objects or names) whose results keep their size.
        importance: how filters are measured, "l2" or "l1".
        multiple_of: what is left is a multiple of this where that is possible.

    Examples:
        >>> model = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 2))
        >>> small = paddle.compress.prune_channels(model, paddle.zeros([1, 4]), 0.5)
        >>> [parameter.shape for parameter in small.parameters()]
        [paddle.Size([4, 4]), paddle.Size([4]), paddle.Size([4, 2]), paddle.Size([2])]
    """
    examples = _checked(model, inputs, ratio, importance, multiple_of)
    left = excluded_ids(_WHERE, model, exclude)
    small = copy.deepcopy(model)
    pairs = zip(model.parameters(), small.parameters(), strict=True)
    fixed = {id(copied) for own, copied in pairs if id(own) in left}
    graph = _captured(small, examples)
    found = Dependencies(graph.program, len(graph.inputs))
    for tensor, axes in zip(graph.captured, found.weights, strict=True):
        if id(tensor) in fixed:
            found.fix(axes[:1] if len(axes) != 2 else axes[1:])
    gone = _chosen(found, graph.captured, ratio, importance, multiple_of)
    if not gone:
        unknown = f" (nothing is followed through {', '.join(sorted(found.unknown))})" if found.unknown else ""
        raise value_error(_WHERE, f"there is no channel that may be taken out{unknown}", f"ratio: {ratio}")
    _shrink(small, found, graph.captured, gone)
    _check_runs(small, examples)
    return small


def _checked(model: Any, inputs: Any, ratio: Any, importance: str, multiple_of: Any) -> list[Tensor]:
    if not isinstance(model, Layer):
        raise type_error(_WHERE, "model must be a Layer", type(model).__name__)
    examples = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if not examples or not all(isinstance(example, Tensor) for example in examples):
        raise type_error(_WHERE, "inputs must be a tensor or a list of them", f"{inputs!r:.80}")
    if isinstance(ratio, bool) or not isinstance(ratio, (int, float)) or not 0.0 < ratio < 1.0:
        raise value_error(_WHERE, "ratio must be above 0 and below 1", f"ratio: {ratio!r}")
    if importance not in ("l1", "l2"):
        raise value_error(_WHERE, "importance must be 'l1' or 'l2'", f"importance: {importance!r}")
    if not isinstance(multiple_of, int) or multiple_of < 1:
        raise value_error(_WHERE, "multiple_of must be a positive number", f"multiple_of: {multiple_of!r}")
    return examples


def _captured(model: Layer, examples: Sequence[Tensor]) -> Graph:
    """The model's program in evaluation mode, with the sizes of the examples."""
    modes = [(layer, layer.training) for layer in model.sublayers(include_self=True)]
    model.eval()
    try:
        with recording_gradients(False):
            return capture(model, [_Spec(example) for example in examples], name=type(model).__name__)
    finally:
        for layer, training in modes:
            layer.training = training


def _chosen(
    found: Dependencies, tensors: Sequence[Tensor], ratio: float, importance: str, multiple_of: int
) -> set[int]:
    """The sets of slots that go. Sets that are made in the same weights are compared with each other."""
    sizes: dict[int, float] = {}
    makers: dict[int, set[tuple[int, int]]] = {}
    for number, axis in sorted(found.makers):
        weight = np.asarray(tensors[number].numpy(), np.float64)
        rows = np.abs(np.moveaxis(weight, axis, 0).reshape(weight.shape[axis], -1))
        norms = rows.sum(axis=1) if importance == "l1" else np.sqrt((rows**2).sum(axis=1))
        for slot, norm in zip(found.weights[number][axis].tolist(), norms.tolist(), strict=True):
            root = found.find(slot)
            sizes[root] = sizes.get(root, 0.0) + norm
            makers.setdefault(root, set()).add((number, axis))
    groups: dict[frozenset[tuple[int, int]], list[int]] = {}
    for root, made_in in makers.items():
        if root != STAYS:
            groups.setdefault(frozenset(made_in), []).append(root)
    gone: set[int] = set()
    for roots in groups.values():
        stay = max(1, len(roots) - int(len(roots) * ratio))
        if multiple_of > 1:
            stay = min(len(roots), -(-stay // multiple_of) * multiple_of)
        order = sorted(roots, key=lambda root: (sizes[root], root))
        gone.update(order[: len(roots) - stay])
    return gone


def _shrink(model: Layer, found: Dependencies, tensors: Sequence[Tensor], gone: set[int]) -> None:
    """Puts smaller weights in the place of those that lose channels."""
    smaller: dict[int, Tensor] = {}
    for tensor, axes in zip(tensors, found.weights, strict=True):
        kept = [np.array([found.find(slot) not in gone for slot in slots.tolist()], bool) for slots in axes]
        if all(mask.all() for mask in kept):
            continue
        array = np.asarray(tensor.numpy())
        for axis, mask in enumerate(kept):
            array = np.compress(mask, array, axis)
        smaller[id(tensor)] = _like(tensor, np.ascontiguousarray(array))
    for layer in model.sublayers(include_self=True):
        for registry in (layer._parameters, layer._buffers):
            for name, tensor in list(registry.items()):
                if id(tensor) in smaller:
                    registry[name] = smaller[id(tensor)]
        _resize(layer)


def _like(tensor: Any, array: np.ndarray) -> Tensor:
    """A tensor of other numbers with the same name and settings."""
    made = tensor_from_data(array)
    if not isinstance(tensor, Parameter):
        made.stop_gradient = tensor.stop_gradient
        made.name, made.persistable = tensor.name, tensor.persistable
        return made
    parameter = Parameter(
        made, name=tensor.name, trainable=tensor.trainable, learning_rate=tensor.optimize_attr["learning_rate"],
        regularizer=tensor.regularizer, need_clip=tensor.need_clip, do_model_average=tensor.do_model_average,
    )  # fmt: skip
    parameter.stop_gradient = tensor.stop_gradient
    return parameter


def _resize(layer: Any) -> None:
    """Sizes that layers remember beside their weights."""
    weight = layer._parameters.get("weight")
    if isinstance(layer, _Convolution) and weight is not None:
        outputs, inputs = int(weight.shape[0]), int(weight.shape[1])
        if layer._groups > 1 and layer._groups == layer._in_channels == layer._out_channels:
            layer._groups = outputs
        if layer._transposed:
            outputs, inputs = inputs, outputs
            layer._out_channels, layer._in_channels = outputs * layer._groups, inputs
        else:
            layer._out_channels, layer._in_channels = outputs, inputs * layer._groups
        if layer._window is not None:
            layer._window = (*layer._window[:3], layer._groups, layer._window[4])
    elif hasattr(layer, "_num_features") and weight is not None:
        layer._num_features = int(weight.shape[0])


def _check_runs(model: Layer, examples: Sequence[Tensor]) -> None:
    """Code that has sizes as numbers in it (`reshape([-1, 512])`) does not run any more: that must not come up later."""
    try:
        _captured(model, examples)
    except Exception as error:
        raise runtime_error(
            _WHERE,
            "the model's code does not run with fewer channels, it has their number in it",
            f"{type(error).__name__}: {error}",
            "write -1 or x.shape[1] for the number, or exclude the layer whose channels it counts",
        ) from error
