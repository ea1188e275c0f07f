"""`paddle.summary`: a table of a network's layers, with the shapes and the parameters of each."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core.errors import type_error, value_error
from ..eager.annotations import DTypeLike
from ..eager.modes import no_grad
from ..eager.tensor import Tensor
from ..nn import Layer, Sequential
from ..nn.recurrent.stacks import RNNBase
from ..ops.create.creation import full
from .trial import keep_modes

if TYPE_CHECKING:
    from ..static.input_spec import InputSpec

_HEADINGS = ("Layer (type)", "Input Shape", "Output Shape", "Param #")
_WIDTHS = (15, 20, 20, 15)
_MEGABYTE = 1024.0**2


@dataclass
class _Row:
    """What is told about one layer."""

    input_shape: list[Any]
    output_shape: Any
    output_elements: int
    parameters: int
    trainable: int


def summary(
    net: Layer,
    input_size: Sequence[Any] | InputSpec | None = None,
    dtypes: DTypeLike | Sequence[DTypeLike] | None = None,
    input: Any = None,
) -> dict[str, int]:
    """Prints the layers of a network in the order in which they are called, and the numbers of its parameters.

    As in Paddle, a layer is told about once, parameters that the network itself owns beside its layers are not counted,
    and parameters shared between layers are counted for each.

    Args:
        net: the network.
        input_size: a shape, an InputSpec, or a list of either; the first dimension may be None.
        dtypes: the types of the inputs; the default floating type if left out.
        input: an example of the input, instead of its shape.

    Returns:
        The numbers of all and of trainable parameters, as a dictionary.

    Examples:
        >>> counts = paddle.summary(paddle.nn.Linear(2, 3), (1, 2))
        -----...
        >>> counts
        {'total_params': 9, 'trainable_params': 9}
    """
    if not isinstance(net, Layer):
        raise type_error("summary", "net must be a Layer", type(net).__name__)
    if input_size is None and input is None:
        raise value_error("summary", "input_size and input cannot both be None")
    arguments, keywords = _example(net, input) if input is not None else (_made_up(input_size, dtypes), {})
    rows = _watch(net, arguments, keywords)
    total = sum(row.parameters for row in rows.values())
    trainable = sum(row.trainable for row in rows.values())
    inputs = sum(math.prod(t.shape) for t in _tensors([*arguments, *keywords.values()]))
    print(_text(rows, total, trainable, inputs))
    return {"total_params": total, "trainable_params": trainable}


# ---- what the network is given -------------------------------------------------------------------------------------


def _made_up(input_size: Any, dtypes: Any) -> list[Tensor]:
    """Tensors of the given shapes; no random number is drawn for them."""
    sizes, kinds = _sizes(input_size)
    if dtypes is not None:
        given = list(dtypes) if isinstance(dtypes, (list, tuple)) else [dtypes] * len(sizes)
        kinds = given + kinds[len(given) :]
    found = []
    for size, kind in zip(sizes, kinds, strict=False):
        tensor = full(size, 0, dtype="float32" if kind is None else kind)
        found.append(tensor + 0.5 if tensor._aval.dtype.kind == "f" else tensor)
    return found


def _sizes(given: Any) -> tuple[list[list[int]], list[Any]]:
    """Shapes and data types (None: not said) of one input or several."""
    if hasattr(given, "shape") and hasattr(given, "dtype"):
        return [_checked(given.shape)], [given.dtype]
    if isinstance(given, int):
        return [_checked((given,))], [None]
    if not isinstance(given, (list, tuple)):
        raise type_error("summary", "input_size must be a shape or a list of shapes", type(given).__name__)
    if all(isinstance(size, int) or size is None for size in given):
        return [_checked(given)], [None]
    pairs = [_sizes(entry) for entry in given]
    return [size for sizes, _ in pairs for size in sizes], [kind for _, kinds in pairs for kind in kinds]


def _checked(shape: Any) -> list[int]:
    sizes = [1 if size is None or size == -1 else size for size in shape]
    if sum(size is None or size == -1 for size in shape) > 1:
        raise value_error("summary", "only one dimension, that of the batch, may be None or -1", f"{tuple(shape)}")
    if any(not isinstance(size, int) or size <= 0 for size in sizes):
        raise value_error("summary", "sizes must be positive", f"input_size: {tuple(shape)}")
    return sizes


def _example(net: Layer, given: Any) -> tuple[list[Any], dict[str, Any]]:
    """An example as arguments: a container goes to a single parameter whole, to several one by one."""
    if isinstance(given, Tensor):
        return [given], {}
    if not isinstance(given, (list, tuple, dict)):
        raise type_error("summary", "input must be a Tensor, or a list or dictionary of them", type(given).__name__)
    parameters = inspect.signature(net.forward).parameters.values()
    required = [
        p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if len(required) <= 1 and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return [given], {}
    return ([], dict(given)) if isinstance(given, dict) else (list(given), {})


# ---- what its layers do ----------------------------------------------------------------------------------------


def _watch(net: Layer, arguments: list[Any], keywords: dict[str, Any]) -> dict[str, _Row]:
    """Runs the network once and notes every layer that is called."""
    rows: dict[str, _Row] = {}

    def note(layer: Layer, inputs: Any, outputs: Any) -> None:
        owned = [p for p in layer._parameters.values() if p is not None]
        rows[_label(layer)] = _Row(
            [_shape(value, None) for value in inputs],
            _shape(outputs, []),
            sum(math.prod(tensor.shape) for tensor in _tensors(outputs)),
            sum(p.size for p in owned),
            sum(p.size for p in owned if not p.stop_gradient),
        )

    watched = [
        layer
        for layer in net.sublayers(include_self=True)
        if not isinstance(layer, Sequential)
        and not (layer is net and any(True for _ in net.children()) and not isinstance(layer, RNNBase))
    ]
    handles = [layer.register_forward_post_hook(note) for layer in watched]
    try:
        with keep_modes(net), no_grad():
            net.eval()
            net(*arguments, **keywords)
    finally:
        for handle in handles:
            handle.remove()
    return rows


def _label(layer: Layer) -> str:
    """The class and the number of the layer among those of its class: `Linear-3`."""
    number = layer.full_name().rpartition("_")[2]
    return f"{type(layer).__name__}-{int(number) + 1 if number.isdigit() else number}"


def _shape(value: Any, otherwise: Any) -> Any:
    """The shape of a tensor, nested as the value is."""
    if isinstance(value, Tensor):
        return list(value.shape)
    if isinstance(value, (list, tuple)):
        return [_shape(entry, otherwise) for entry in value]
    if isinstance(value, dict):
        return [_shape(entry, otherwise) for entry in value.values()]
    return otherwise


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [tensor for entry in value for tensor in _tensors(entry)] if isinstance(value, (list, tuple)) else []


# ---- the table -----------------------------------------------------------------------------------------------------


def _text(rows: dict[str, _Row], total: int, trainable: int, input_elements: int) -> str:
    cells = [(name, str(row.input_shape), str(row.output_shape), f"{row.parameters:,}") for name, row in rows.items()]
    widths = [max(width, *(len(row[column]) for row in cells), 0) for column, width in enumerate(_WIDTHS)]
    rule, double_rule = "-" * (sum(widths) + 5), "=" * (sum(widths) + 5)
    input_size = input_elements * 4.0 / _MEGABYTE
    # Outputs are kept for the backward pass, and there are gradients of the same sizes.
    passes = 2.0 * sum(row.output_elements for row in rows.values()) * 4.0 / _MEGABYTE
    parameters = total * 4.0 / _MEGABYTE
    lines = [
        rule,
        _line(_HEADINGS, widths),
        double_rule,
        *(_line(row, widths) for row in cells),
        double_rule,
        f"Total params: {total:,}",
        f"Trainable params: {trainable:,}",
        f"Non-trainable params: {total - trainable:,}",
        rule,
        f"Input size (MB): {input_size:.2f}",
        f"Forward/backward pass size (MB): {passes:.2f}",
        f"Params size (MB): {parameters:.2f}",
        f"Estimated Total Size (MB): {input_size + passes + parameters:.2f}",
        rule,
    ]
    return "\n".join(lines) + "\n"


def _line(cells: Any, widths: list[int]) -> str:
    return " ".join(f"{cell:^{width}}" for cell, width in zip(cells, widths, strict=True))
