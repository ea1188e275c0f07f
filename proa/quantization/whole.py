"""Whole models in one call: 8 bits throughout (`int8_model`), or small weights alone (`weight_only_model`)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..core.errors import type_error, value_error, warn
from ..eager.tensor import Tensor, tensor_from_data
from ..ir.recorder import recording_gradients
from ..nn.common import Linear
from ..nn.conv import Conv2D
from ..nn.layer import Layer
from .config import QuantConfig
from .observers import AbsMaxChannelWiseWeightObserver, HistObserver
from .quantize import PTQ
from .weight_only import WeightOnlyLinear, input_factors

Forward = Callable[[Any, Any], Any]


def _called(model: Any, batch: Any) -> Any:
    """A batch is what the model is called with: a tensor or an array, or a tuple or list of them."""
    inputs = batch if isinstance(batch, (tuple, list)) else (batch,)
    return model(*(tensor_from_data(np.asarray(i)) if isinstance(i, np.ndarray) else i for i in inputs))


def _run(where: str, model: Layer, data: Iterable[Any], forward: Forward | None) -> None:
    if isinstance(data, (Tensor, np.ndarray, str, bytes)) or not isinstance(data, Iterable):
        raise type_error(where, "data must be a list or loader of batches", type(data).__name__, "write [batch]")
    count = 0
    with recording_gradients(False):
        for batch in data:
            (forward or _called)(model, batch)
            count += 1
    if not count:
        raise value_error(where, "there is no batch in data", fix="calibrate with some tens to hundreds of examples")


def _excluded(where: str, model: Layer, exclude: Iterable[Any]) -> set[int]:
    """The ids of layers that stay as they are: given as objects, or by their names in the model."""
    named = dict(model.named_sublayers())
    found: set[int] = set()
    for one in exclude:
        layer = named.get(one) if isinstance(one, str) else one
        if not isinstance(layer, Layer) or all(layer is not own for own in named.values()):
            raise value_error(where, "exclude names layers of the model", f"{one!r}", "see model.named_sublayers()")
        found.update(id(inner) for inner in layer.sublayers(include_self=True))
    return found


def int8_model(
    model: Layer,
    data: Iterable[Any],
    *,
    activation: Any = None,
    weight: Any = None,
    exclude: Iterable[Any] = (),
    forward: Forward | None = None,
) -> Layer:
    """A copy of the model whose convolutions and linear layers compute in 8 bits, calibrated on batches of data.

    What lies between them (batch norms, activations, sums) is joined with them where the model is saved and run by the
    predictor.

    Args:
        model: a Layer.
        data: batches of its inputs.
        activation: an observer of inputs; None: the usual one.
        weight: an observer of weights; None: the usual one.
        exclude: layers or their names that stay in float32 (the last one, say).
        forward: `forward(model, batch)` calls the model where a batch is not simply its inputs.

    Examples:
        >>> model = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 2))
        >>> small = paddle.quantization.int8_model(model, [paddle.rand([16, 4])])
        >>> x = paddle.rand([3, 4])
        >>> bool((abs(small(x) - model(x)) < 0.1).all())
        True
    """
    where = "int8_model"
    if not isinstance(model, Layer):
        raise type_error(where, "model must be a Layer", type(model).__name__)
    chosen = activation or HistObserver(), weight or AbsMaxChannelWiseWeightObserver()
    left = _excluded(where, model, exclude)
    config = QuantConfig(None, None)
    layers = [
        layer
        for layer in model.sublayers(include_self=True)
        if type(layer) in (Conv2D, Linear) and id(layer) not in left
    ]
    if not layers:
        raise value_error(where, "there is no Conv2D or Linear to quantise", type(model).__name__)
    config.add_layer_config(layers, *chosen)
    modes = [(layer, layer.training) for layer in model.sublayers(include_self=True)]
    model.eval()
    try:
        ptq = PTQ(config)
        watched = ptq.quantize(model)
        _run(where, watched, data, forward)
        return ptq.convert(watched, inplace=True)
    finally:
        for layer, training in modes:
            layer.training = training


def weight_only_model(
    model: Layer,
    bits: int = 8,
    group_size: int = -1,
    *,
    exclude: Iterable[Any] = (),
    data: Iterable[Any] | None = None,
    forward: Forward | None = None,
) -> Layer:
    """A copy of the model whose linear layers keep their weights in 8 or 4 bits and compute in floats.

    For language models, whose speed is that of reading weights. `group_size` (64 or 128): a scale for each group of inputs.
    With `data`, inputs that are large get finer weights, as in AWQ (activation-aware weight quantisation): the weight's rows
    are scaled up and the inputs down by a power of the inputs' mean size, the one that changes the outputs least.

    Args:
        model: a Layer.
        bits: 8 or 4.
        group_size: how many inputs share a scale; -1: all.
        exclude: layers or their names that stay as they are.
        data: batches of its inputs, or None.
        forward: `forward(model, batch)` calls the model where a batch is not simply its inputs.

    Examples:
        >>> model = paddle.nn.Sequential(paddle.nn.Linear(64, 64))
        >>> small = paddle.quantization.weight_only_model(model)
        >>> x = paddle.rand([3, 64])
        >>> bool((abs(small(x) - model(x)) < 0.1).all())
        True
    """
    where = "weight_only_model"
    if bits not in (8, 4):
        raise value_error(where, "bits must be 8 or 4", f"bits: {bits!r}")
    if group_size not in (-1, 64, 128):
        raise value_error(where, "group_size must be -1, 64 or 128", f"group_size: {group_size!r}")
    if not isinstance(model, Layer):
        raise type_error(where, "model must be a Layer", type(model).__name__)
    left = _excluded(where, model, exclude)
    names = [name for name, layer in model.named_sublayers() if type(layer) is Linear and id(layer) not in left]
    copied = copy.deepcopy(model)
    inside = dict(copied.named_sublayers())
    fitting = {name: inside[name] for name in names if WeightOnlyLinear.fits(inside[name], bits, group_size)}
    if not fitting:
        raise value_error(where, "there is no Linear whose sizes fit", f"bits: {bits}, group_size: {group_size}")
    if len(fitting) < len(names):
        others = ", ".join(name for name in names if name not in fitting)
        warn(f"({where}) the sizes of these layers do not divide into groups or pairs, they stay floats: {others}")
    factors = {}
    if data is not None:
        factors = input_factors(fitting, lambda: _run(where, copied, data, forward), bits, group_size)
    replaced: dict[int, Layer] = {}
    for parent in copied.sublayers(include_self=True):
        for key, child in list(parent._sub_layers.items()):
            name = next((n for n, layer in fitting.items() if layer is child), None)
            if name is not None:
                made = replaced.setdefault(id(child), WeightOnlyLinear(child, bits, group_size, factors.get(name)))
                parent._sub_layers[key] = made
    return copied
