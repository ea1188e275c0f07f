"""`paddle.flops`: how many multiplications (with their additions) a forward pass takes, layer by layer.

The rules are Paddle's: a multiplication and the addition of its product count as one, element-wise activations as
nothing, and layers without a rule as nothing too, which is said.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import nn
from ..core.errors import type_error, value_error
from ..eager.modes import no_grad
from ..eager.tensor import Tensor
from ..ops.create.creation import full, to_tensor
from .trial import keep_modes

if TYPE_CHECKING:
    from ..nn.layer import Layer
    from ..static.input_spec import InputSpec

Rule = Callable[[Any, Any, Any], None]


def _elements(value: Any) -> int:
    return math.prod(value.shape)


def _convolution(layer: Any, inputs: Any, output: Any) -> None:
    kernel = math.prod(layer.weight.shape[2:])
    products = layer._in_channels // layer._groups * kernel + (0 if layer.bias is None else 1)
    layer.total_ops += _elements(output) * products


def _linear(layer: Any, inputs: Any, output: Any) -> None:
    layer.total_ops += _elements(output) * layer.weight.shape[0]


def _batch_norm(layer: Any, inputs: Any, output: Any) -> None:
    layer.total_ops += 2 * _elements(inputs[0])


def _average_pool(layer: Any, inputs: Any, output: Any) -> None:
    layer.total_ops += _elements(output)


def _adaptive_average_pool(layer: Any, inputs: Any, output: Any) -> None:
    window = math.prod(a // b for a, b in zip(inputs[0].shape[2:], output.shape[2:], strict=True))
    layer.total_ops += (window + 1) * _elements(output)


def _each_element(layer: Any, inputs: Any, output: Any) -> None:
    layer.total_ops += _elements(inputs[0])


def _nothing(layer: Any, inputs: Any, output: Any) -> None:
    pass


def _rules() -> dict[type, Rule]:
    convolutions = (
        nn.Conv1D, nn.Conv2D, nn.Conv3D, nn.Conv1DTranspose, nn.Conv2DTranspose, nn.Conv3DTranspose,
    )  # fmt: skip
    return {
        **dict.fromkeys(convolutions, _convolution),
        nn.Linear: _linear,
        **dict.fromkeys((nn.BatchNorm, nn.BatchNorm2D), _batch_norm),
        **dict.fromkeys((nn.AvgPool1D, nn.AvgPool2D, nn.AvgPool3D), _average_pool),
        **dict.fromkeys((nn.AdaptiveAvgPool1D, nn.AdaptiveAvgPool2D, nn.AdaptiveAvgPool3D), _adaptive_average_pool),
        nn.LeakyReLU: _each_element,
        **dict.fromkeys((nn.ReLU, nn.ReLU6, nn.Dropout), _nothing),
    }


def flops(
    net: Layer,
    input_size: Sequence[Any] | InputSpec,
    custom_ops: dict[type, Rule] | None = None,
    print_detail: bool = False,
) -> int:
    """The multiplications of one forward pass.

    Args:
        net: the network.
        input_size: the shape of the input.
        custom_ops: own rules by class: functions of (layer, inputs, output) that add to `layer.total_ops`.
        print_detail: print a table of the layers.

    Examples:
        >>> paddle.flops(paddle.nn.Linear(2, 3), [1, 2])
        <class '...Linear'>'s flops has been counted
        Total Flops: 6     Total Params: 9
        6
    """
    if not isinstance(net, nn.Layer):
        warnings.warn("(flops) net must be a Layer; received " + type(net).__name__ + ".", stacklevel=2)
        return -1
    if not isinstance(input_size, (list, tuple)) or not all(isinstance(n, int) and n > 0 for n in input_size):
        raise value_error("flops", "input_size must be a list of positive numbers", f"input_size: {input_size!r}")
    if custom_ops is not None and not isinstance(custom_ops, dict):
        raise type_error("flops", "custom_ops must be a dictionary of classes and rules", type(custom_ops).__name__)
    leaves = [layer for layer in net.sublayers(include_self=True) if not any(True for _ in layer.children())]
    called: dict[int, tuple[list[int], list[int]]] = {}
    handles = _attach(leaves, custom_ops or {}, called)
    try:
        with keep_modes(net), no_grad():
            net.eval()
            net(full(list(input_size), 0.5, dtype="float32"))
        rows = [
            (layer.full_name(), *called[id(layer)], _parameters_of(layer), int(_number(layer.total_ops)))
            for layer in leaves
            if id(layer) in called
        ]
    finally:
        for handle in handles:
            handle.remove()
        for layer in leaves:
            layer._buffers.pop("total_ops", None)
            layer._non_persistable_buffer_names_set.discard("total_ops")
    if print_detail:
        print(_table(("Layer Name", "Input Shape", "Output Shape", "Params", "Flops"), rows))
    total = sum(row[-1] for row in rows)
    print(f"Total Flops: {total}     Total Params: {sum(row[-2] for row in rows)}")
    return total


def _attach(leaves: list[Any], custom: dict[type, Rule], called: dict[int, Any]) -> list[Any]:
    """Lets every layer count; says once for every class how."""
    rules, told, handles = _rules(), set(), []
    for layer in leaves:
        kind = type(layer)
        rule = custom.get(kind, rules.get(kind))
        if kind not in told:
            told.add(kind)
            if kind in custom:
                print(f"Customize Function has been applied to {kind}")
            elif rule is not None:
                print(f"{kind}'s flops has been counted")
            else:
                print(f"Cannot find suitable count function for {kind}. Treat it as zero FLOPs.")
        # A tensor, because own rules may add tensors to it.
        layer.register_buffer("total_ops", to_tensor([0], dtype="int64"), persistable=False)
        if rule is not None:
            handles.append(layer.register_forward_post_hook(rule))
        handles.append(layer.register_forward_post_hook(lambda layer, x, y: called.update({id(layer): _shapes(x, y)})))
    return handles


def _shapes(inputs: Any, output: Any) -> tuple[list[int], list[int]]:
    first = output[0] if isinstance(output, (list, tuple)) and output else output
    source = inputs[0] if inputs else None
    return [list(value.shape) if isinstance(value, Tensor) else [] for value in (source, first)]  # type: ignore[return-value]


def _number(value: Any) -> Any:
    return value.sum().item() if isinstance(value, Tensor) else value


def _parameters_of(layer: Any) -> int:
    return sum(parameter.size for parameter in layer._parameters.values() if parameter is not None)


def _table(headings: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = [headings, *(tuple(str(cell) for cell in row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    text = ["|" + "|".join(f" {_centred(c, w)} " for c, w in zip(line, widths, strict=True)) + "|" for line in lines]
    return "\n".join([rule, text[0], rule, *text[1:], rule])


def _centred(text: str, width: int) -> str:
    """In the middle; of an odd rest, a text of odd length has the larger part behind it, one of even length before."""
    rest = width - len(text)
    before = rest // 2 + (rest % 2 if len(text) % 2 == 0 else 0)
    return " " * before + text + " " * (rest - before)
