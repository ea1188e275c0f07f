"""Saved models in 8 bits: Paddle's files in, Paddle's files out.

Nothing is captured: operations of the file get quantize_linear and dequantize_linear in front of them, so that unknown
sizes, conditions and loops stay what they are. Calibrating runs the same file with the inputs of its layers as results.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor, tensor_from_data
from ..formats.paddle.files.reading import read_model
from ..formats.paddle.files.writing import write_model
from ..formats.paddle.model import Model, Op, Value
from ..formats.paddle.reading.loading import LoadedModel
from ..nn.quant.format import levels_of, scales_of
from .observers import HistObserver
from .observers.base import check_bits
from .observers.weights import least_squares

_WHERE = "int8_saved_model"
# Operations with a weight as their second operand, and the axis of its outputs.
LAYERS: dict[str, Callable[[Op], int]] = {
    "conv2d": lambda op: 0,
    "depthwise_conv2d": lambda op: 0,
    "matmul": lambda op: 0 if op.attributes.get("transpose_y") else 1,
}
_WEIGHTS = ("channel_wise_abs_max", "channel_wise_mse", "abs_max")


def int8_saved_model(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    data: Iterable[Any],
    *,
    params: str | os.PathLike[str] | None = None,
    activation: Any = None,
    weight: str = "channel_wise_abs_max",
    weight_bits: int = 8,
    operations: Sequence[str] = tuple(LAYERS),
    skip: Sequence[str] = (),
    format: str | None = None,
) -> list[str]:
    """Writes a saved model (`.json` or `.pdmodel` with `.pdiparams`) in 8 bits, calibrated on batches of its inputs.

    A batch is an array, a list of arrays in the order of the model's inputs, or a dictionary of them by name. `activation`
    is an observer, `weight` how the grids of weights are found, `skip` names weights whose layers stay in float32. `format`
    is the source's, or "json" or "pdmodel". Gives the names of the weights that are in 8 bits now.

    Args:
        source: the program's file, or the files' common beginning.
        target: where the new files go.
        data: the batches.
        params: the parameters' file; None: beside the program.
        activation: see above; None: the usual one.
        weight: see above.
        weight_bits: how many bits weights have.
        operations: which operations are in 8 bits.
        skip: see above.
        format: see above.

    Examples:
        >>> spec = paddle.static.InputSpec([None, 4], "float32", "x")
        >>> paddle.jit.save(paddle.nn.Linear(4, 8), "model", input_spec=[spec])
        >>> len(paddle.quantization.int8_saved_model("model", "small", [np.ones((2, 4), "float32")]))
        1
    """
    if weight not in _WEIGHTS:
        raise value_error(_WHERE, f"weight must be one of {', '.join(_WEIGHTS)}", f"weight: {weight!r}")
    unknown = sorted(set(operations) - set(LAYERS))
    if unknown:
        raise value_error(_WHERE, f"operations may be {', '.join(LAYERS)}", ", ".join(unknown))
    levels = levels_of(check_bits(_WHERE, weight_bits))
    model = read_model(os.fspath(source), params)
    if any(op.name == "quantize_linear" for op in model.block.ops):
        raise value_error(_WHERE, "the model is quantised already", os.fspath(source))
    layers = [op for op in model.block.ops if op.name in operations and _is_layer(model, op, skip)]
    if not layers:
        raise value_error(_WHERE, f"there is no {', '.join(operations)} with a weight of float32", os.fspath(source))
    watched = {op.inputs[0].name: op.inputs[0] for op in layers}
    scales = _calibrated(model, watched, data, activation or HistObserver())
    write_model(
        _rewritten(model, layers, scales, weight, weight_bits, levels), os.fspath(target), format or _format(source)
    )
    return [op.inputs[1].name for op in layers]


def _format(source: Any) -> str:
    path = os.fspath(source)
    old = path.endswith(".pdmodel") or (not path.endswith(".json") and not os.path.isfile(f"{path}.json"))
    return "pdmodel" if old else "json"


def _is_layer(model: Model, op: Op, skip: Sequence[str]) -> bool:
    x, weight = op.inputs[:2]
    if not isinstance(x, Value) or not isinstance(weight, Value) or weight.name in skip or x.dtype != "float32":
        return False
    array = model.parameters.get(weight.name)
    return array is not None and array.dtype == np.float32 and array.ndim in (2, 4) and array.size > 0


def _batch(model: Model, batch: Any) -> list[Tensor]:
    names = [value.name for value in model.inputs]
    if isinstance(batch, dict):
        missing = sorted(set(names) - set(batch))
        if missing:
            raise value_error(_WHERE, f"a batch lacks the inputs {', '.join(missing)}", f"it has {', '.join(batch)}")
        given = [batch[name] for name in names]
    else:
        given = list(batch) if isinstance(batch, (list, tuple)) else [batch]
    return [g if isinstance(g, Tensor) else tensor_from_data(np.asarray(g)) for g in given]


def _calibrated(model: Model, watched: dict[str, Value], data: Iterable[Any], activation: Any) -> dict[str, Any]:
    """The scale of each watched value, and its number of bits."""
    if isinstance(data, (Tensor, np.ndarray, str, bytes, dict)) or not isinstance(data, Iterable):
        raise type_error(_WHERE, "data must be a list of batches", type(data).__name__, "write [batch]")
    given = {value.name for value in model.inputs}
    inside = [value for name, value in watched.items() if name not in given]
    observers = {name: activation._instance(None) for name in watched}
    runner = LoadedModel(dataclasses.replace(model, outputs=inside), name=_WHERE)
    count = 0
    for batch in data:
        tensors = _batch(model, batch)
        runner.check(tensors)
        results = runner.run(tensors) if inside else []
        values = {**dict(zip((v.name for v in model.inputs), tensors, strict=True)),
                  **dict(zip((v.name for v in inside), results, strict=True))}  # fmt: skip
        for name, observer in observers.items():
            observer(values[name])
        count += 1
    if not count:
        raise value_error(_WHERE, "there is no batch in data", fix="calibrate with some tens to hundreds of examples")
    return {name: (scales_of(observer), observer.bit_length()) for name, observer in observers.items()}


class _Writer:
    """Appends operations and constants to a model."""

    def __init__(self, model: Model) -> None:
        self.parameters = dict(model.parameters)
        self.values = dict(model.parameter_values)
        self.ops: list[Op] = []

    def constant(self, name: str, array: np.ndarray) -> Value:
        while name in self.parameters:
            name += "_"
        self.parameters[name] = array
        self.values[name] = Value(name, array.dtype.name, array.shape)
        return self.values[name]

    def level(self, kind: str, x: Value, scale: Value, axis: int, bits: int) -> Value:
        """One of Paddle's two operations; it wants a zero point and two sums of training, and reads none of them."""
        zero = self.constant(f"{x.name}.{kind}.zero", np.zeros(scale.shape or (), np.float32))
        ones = [self.constant(f"{x.name}.{kind}.{name}", np.ones((), np.float32)) for name in ("accum", "state")]
        made = Value(f"{x.name}.{kind}", "float32", x.shape)
        attributes = {
            "quant_axis": axis, "bit_length": bits, "qmin": -levels_of(bits) - 1, "qmax": levels_of(bits), "round_type": 0,
            "is_test": True, "only_observer": False,
        }  # fmt: skip
        rest = [Value(f"{made.name}.{i}", "float32", ()) for i in range(3)]
        self.ops.append(Op(f"{kind}_linear", [x, scale, zero, *ones], attributes, [made, *rest]))
        return made


def _rewritten(
    model: Model, layers: list[Op], scales: dict[str, Any], weight: str, weight_bits: int, levels: int
) -> Model:
    writer = _Writer(model)
    chosen = {id(op) for op in layers}
    activations: dict[str, Value] = {}
    weights: dict[tuple[str, int], Value] = {}
    for op in model.block.ops:
        if id(op) not in chosen:
            writer.ops.append(op)
            continue
        x, w = op.inputs[:2]
        if x.name not in activations:
            reach, bits = scales[x.name]
            scale = writer.constant(f"{x.name}.scale", np.asarray(reach, np.float32).reshape(1))
            whole = writer.level("quantize", x, scale, -1, bits)
            activations[x.name] = writer.level("dequantize", whole, scale, -1, bits)
        axis = LAYERS[op.name](op)
        if (w.name, axis) not in weights:
            weights[w.name, axis] = _on_grid(writer, model.parameters[w.name], w, axis, weight, weight_bits, levels)
        writer.ops.append(dataclasses.replace(op, inputs=[activations[x.name], weights[w.name, axis], *op.inputs[2:]]))
    block = dataclasses.replace(model.block, ops=writer.ops)
    used = _names_used(block) | {value.name for value in model.outputs}
    parameters = {name: array for name, array in writer.parameters.items() if name in used}
    return dataclasses.replace(
        model, block=block, parameters=parameters, parameter_values={name: writer.values[name] for name in parameters}
    )


def _on_grid(writer: _Writer, array: np.ndarray, w: Value, axis: int, how: str, bits: int, levels: int) -> Value:
    """A weight as int8, and the operations that make floats of it."""
    others = tuple(a for a in range(array.ndim) if a != axis)
    if how == "channel_wise_mse":
        reach = least_squares(array, axis, bits)
    else:
        reach = np.abs(array).max(axis=others) if how == "channel_wise_abs_max" else np.abs(array).max(keepdims=True)
    if not np.isfinite(reach).all():
        raise value_error(_WHERE, f"the weight {w.name} has NaN or infinity in it")
    reach = np.maximum(reach.reshape(-1), np.float32(1e-30)).astype(np.float32)
    along = reach.reshape([-1 if a == axis else 1 for a in range(array.ndim)]) if reach.size > 1 else reach.reshape(())
    whole = np.clip(np.rint(array / along * np.float32(levels)), -levels, levels).astype(np.int8)
    numbers = writer.constant(f"{w.name}.int8", whole)
    floats = Value(f"{numbers.name}.float32", "float32", whole.shape)
    writer.ops.append(Op("cast", [numbers], {"dtype": "float32"}, [floats]))
    scale = writer.constant(f"{w.name}.scale", reach)
    return writer.level("dequantize", floats, scale, axis if reach.size > 1 else -1, bits)


def _names_used(block: Any) -> set[str]:
    used: set[str] = {value.name for value in block.results}
    for op in block.ops:
        for operand in op.inputs:
            used.update(v.name for v in (operand if isinstance(operand, (list, tuple)) else [operand]) if v is not None)
        for inner in op.blocks:
            used |= _names_used(inner)
    return used
