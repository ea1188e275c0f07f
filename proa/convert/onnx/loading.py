"""`from_onnx`: an ONNX model as a Layer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.tracebacks import boundary
from ...eager.parameter import Parameter
from ...eager.tensor import Tensor, tensor_from_data
from ...formats.paddle.model import Block, Op, Value
from ...formats.paddle.reading.known import MOST_ELEMENTS, Known
from ...static.input_spec import InputSpec
from ..layer import ConvertedLayer
from ..uncovered import Uncovered, UncoveredOperators
from . import operators as operators
from .reading import Node, OnnxModel, read_onnx
from .registry import READERS
from .translation import OnnxTranslation

# Float values at these inputs are no weights: running statistics, scales of quantised values.
_STATISTICS = {
    "BatchNormalization": (3, 4), "QuantizeLinear": (1,), "DequantizeLinear": (1,), "QLinearConv": (1, 4, 6),
    "QLinearMatMul": (1, 4, 6),
}  # fmt: skip
# A constant in a node of its own is a weight if it is used as one.
_WITH_WEIGHTS = frozenset({
    "Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN", "BatchNormalization", "LayerNormalization",
    "InstanceNormalization", "GroupNormalization", "RMSNormalization", "PRelu",
})  # fmt: skip


@boundary
def from_onnx(source: Any) -> ConvertedLayer:
    """The model in an `.onnx` file as a Layer that can be called, trained and saved.

    Args:
        source: a file, its bytes, or a `ModelProto`.

    Raises:
        UncoveredOperators: the model needs operators that nothing translates.

    Examples:
        >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
        >>> model = paddle.nn.Linear(2, 3)
        >>> paddle.onnx.export(model, "model", input_spec=[spec])
        >>> layer = paddle.convert.from_onnx("model.onnx")
        >>> x = paddle.ones([4, 2])
        >>> bool((abs(layer(x) - model(x)) < 1e-6).all())
        True
    """
    model = read_onnx(source)
    check_covered(model)
    held = weights_of(model)
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else "model.onnx"
    name = os.path.basename(path).removesuffix(".onnx")

    weights = {title: value for title, value in held.items() if isinstance(value, Tensor)}
    known = {title: value for title, value in held.items() if title not in weights}

    def translate(weights: dict[str, Any], tensors: list[Any]) -> list[Any]:
        return OnnxTranslation(model, {**known, **weights}).run(tensors)

    outputs = [value.name for value in model.outputs]
    return ConvertedLayer(name, translate, _specs(model), weights, outputs)


def _specs(model: OnnxModel) -> list[InputSpec | None]:
    found: list[InputSpec | None] = []
    for value, kind in zip(model.inputs, model.kinds, strict=True):
        known = kind == "tensor" and value.shape is not None and value.dtype not in ("", "string")
        found.append(InputSpec(list(value.shape or ()), value.dtype, value.name) if known else None)
    return found


def all_ops(block: Block) -> Iterator[Op]:
    for op in block.ops:
        yield op
        for inner in op.blocks:
            yield from all_ops(inner)


def check_covered(model: OnnxModel) -> None:
    """An operator that nothing translates is an error when the model is read, with every place that needs one."""
    missing = [
        Uncovered(op.name, op.title if isinstance(op, Node) else "")
        for op in all_ops(model.block)
        if op.name not in READERS
    ]
    if missing:
        raise UncoveredOperators("onnx", missing)


def weights_of(model: OnnxModel) -> dict[str, Any]:
    """What the file's own values are while the model is translated: parameters, other tensors, or known numbers."""
    uses: dict[Value, list[tuple[str, int, str]]] = {}
    for op in all_ops(model.block):
        reader = READERS[op.name]
        for position, value in enumerate(op.inputs):
            if value is not None:
                kind = reader.inputs[position][1] if position < len(reader.inputs) else "Tensor"
                uses.setdefault(value, []).append((op.name, position, "Tensor" if reader.translates_blocks else kind))
    return {
        name: _held(name, array, uses.get(model.parameter_values[name], []), name in model.constants)
        for name, array in model.parameters.items()
    }


def _held(name: str, array: np.ndarray, uses: list[tuple[str, int, str]], is_constant: bool) -> Any:
    if array.dtype == object:
        return Known(array, "string")
    is_float = array.dtype.kind in "fV"
    as_numbers = bool(uses) and all(kind != "Tensor" for _, _, kind in uses)
    if is_float and array.ndim and not as_numbers:
        statistic = any(position in _STATISTICS.get(op, ()) for op, position, _ in uses)
        weight = not statistic and (not is_constant or any(op in _WITH_WEIGHTS for op, _, _ in uses))
        if weight or array.size > MOST_ELEMENTS:
            return Parameter(tensor_from_data(array), name=name, trainable=weight)
        if not is_constant:
            return Parameter(tensor_from_data(array), name=name, trainable=False)
    if array.size <= MOST_ELEMENTS:
        return Known(array, array.dtype.name)
    return tensor_from_data(array)


__all__ = ["check_covered", "from_onnx", "weights_of"]
