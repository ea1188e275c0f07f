"""Batch norms, scales and biases behind a convolution or a linear layer become part of its weight and bias.

Invariant: the same affine function of the input, up to rounding of float32; only where weight, bias and statistics are
constants of the graph and nobody else looks at what the layer gives. The new weights are expressions of the old ones,
computed beforehand and again when a parameter changes (see prepare.py), so training goes on as it did.
"""

from __future__ import annotations

import math
from typing import Any

from .draft import Draft, Node, Scalar, Value
from .nature import constants
from .registry import register_pass
from .scales import affine_of

_DTYPES = ("float32", "float64")  # in half precision the folded weights would be rounded once more


@register_pass(level=2, order=60)
def folded_batch_norms(draft: Draft) -> int:
    """conv or linear, then a batch norm with given statistics."""
    changes, fixed = 0, constants(draft)
    for node in [n for n in draft.nodes if n.name == "normalise_by"]:
        layer = _layer_before(draft, node, node.operands[0], fixed)
        if layer is None or not all(o is None or isinstance(o, Scalar) or id(o) in fixed for o in node.operands[1:]):
            continue
        axis = _channel_axis(layer)
        broadcast = node.attribute("broadcast")
        full = (1,) * (layer.output.aval.ndim - len(broadcast)) + tuple(broadcast)
        if any(size != 1 for position, size in enumerate(full) if position != axis):
            continue
        _, mean, variance, weight, bias, epsilon = node.operands
        if not isinstance(epsilon, Scalar) or epsilon.is_live:
            continue
        present = [o for o in (mean, variance, weight, bias) if o is not None]
        if any(o.aval.size != layer.output.aval.shape[axis] or o.aval.dtype.name not in _DTYPES for o in present):  # type: ignore[union-attr]
            continue
        factor, shift = draft.record(
            node, _statistics, mean, variance, weight, bias, epsilon.value, layer.output.aval.shape[axis]
        )
        _fold(draft, node, layer, factor, shift)
        changes += 1
        fixed = constants(draft)
    return changes


def _statistics(mean: Any, variance: Any, weight: Any, bias: Any, epsilon: float, channels: int) -> Any:
    factor = 1.0 / (variance.reshape([channels]) + epsilon).sqrt()
    if weight is not None:
        factor = factor * weight.reshape([channels])
    shift = -(mean.reshape([channels]) * factor)
    return factor, shift if bias is None else shift + bias.reshape([channels])


@register_pass(level=2, order=61)
def folded_scales(draft: Draft) -> int:
    """conv or linear, then products and sums with numbers, or with one number for each channel."""
    changes, fixed = 0, constants(draft)
    for node in list(draft.nodes):
        found = affine_of(node)
        layer = _layer_before(draft, node, found[0], fixed) if found is not None else None
        if found is not None and layer is not None:
            _fold(draft, node, layer, *(_vector(draft, node, layer, number) for number in found[1]))
            changes += 1
            fixed = constants(draft)
            continue
        if node.name not in ("add", "multiply"):
            continue
        for x, other in (node.operands, node.operands[::-1]):
            layer = _layer_before(draft, node, x, fixed)
            if layer is None:
                continue
            values = _per_channel(draft, node, layer, other, fixed)
            if values is None:
                continue
            _fold(draft, node, layer, *((values, None) if node.name == "multiply" else (None, values)))
            changes += 1
            fixed = constants(draft)
            break
    return changes


def _per_channel(draft: Draft, node: Node, layer: Node, other: Any, fixed: set[int]) -> Value | None:
    """The other operand as a vector with an element for each channel, if it is such a constant."""
    shape, axis = layer.output.aval.shape, _channel_axis(layer)
    if not isinstance(other, Value) or id(other) not in fixed or other.aval.dtype != layer.output.aval.dtype:
        return None
    if not is_per_channel(other.aval.shape, len(shape), axis, shape[axis]):
        return None
    return draft.record(node, lambda numbers: numbers.reshape([-1]).expand([shape[axis]]), other)[0]


def is_per_channel(shape: tuple[int, ...], ndim: int, axis: int, channels: int) -> bool:
    """Whether a tensor of this shape has a number for each channel of one with `ndim` axes, or one number for all."""
    full = (1,) * (ndim - len(shape)) + tuple(shape)
    return len(full) == ndim and full[axis] in (1, channels) and math.prod(full) == full[axis]


def _vector(draft: Draft, node: Node, layer: Node, number: float) -> Value:
    size = layer.output.aval.shape[_channel_axis(layer)]
    return draft.add(node, "full", [Scalar(number)], ((size,), layer.output.aval.dtype)).output


def _layer_before(draft: Draft, node: Node, x: Any, fixed: set[int]) -> Node | None:
    """The convolution or linear layer that makes `x` for this node alone, with constant parameters."""
    if not isinstance(x, Value) or x.maker is None or x.maker.name not in ("conv", "linear"):
        return None
    layer = x.maker
    if layer.output.aval.dtype.name not in _DTYPES or node.output.aval is not layer.output.aval:
        return None
    parameters_fixed = all(o is None or id(o) in fixed for o in layer.operands[1:])
    return layer if parameters_fixed and draft.used_only_by(x, [node]) else None


def _channel_axis(layer: Node) -> int:
    last = layer.name == "linear" or layer.attribute("channels_last")
    return layer.output.aval.ndim - 1 if last else 1


def _fold(draft: Draft, node: Node, layer: Node, factor: Value | None, shift: Value | None) -> None:
    """Puts a layer with scaled and shifted parameters in the place of the layer and the node behind it."""
    x, weight, bias = layer.operands
    assert isinstance(weight, Value)
    if factor is not None:
        per_row = (factor.aval.size, *(1,) * (weight.aval.ndim - 1)) if layer.name == "conv" else (factor.aval.size,)
        (weight,) = draft.record(node, lambda w, f: w * f.reshape(per_row), weight, factor)
        if bias is not None:
            (bias,) = draft.record(node, lambda b, f: b * f, bias, factor)
    if shift is not None:
        bias = shift if bias is None else draft.record(node, lambda b, s: b + s, bias, shift)[0]
    new = draft.add(node, layer.operation, [x, weight, bias], layer.attributes)
    draft.replace(node.output, new.output)
    draft.remove([node])
    draft.remove([layer])
