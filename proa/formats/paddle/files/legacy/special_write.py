"""Writing `.pdmodel` operations that a row of the table cannot describe: one function each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proa.formats.paddle.files import dtypes, table
from proa.formats.paddle.files.legacy.writer import Blocks, Writer, attribute
from proa.formats.paddle.model import Op, Value

WRITERS: dict[str, Callable[[Writer, Blocks, Op], None]] = {}
_BINARY = {
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "minimum",
    "elementwise_pow",
    "remainder",
    "floor_divide",
}
_COMPARISONS = {"equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"}
# Attributes of the older format that say nothing in the newer one: (name, kind, value).
_SILENT = {
    "hardswish": [("threshold", "float", 6.0), ("scale", "float", 6.0), ("offset", "float", 3.0)],
    "one_hot": [("dtype", "dtype", "float32"), ("allow_out_of_range", "bool", False)],
    "randint": [("seed", "int", 0)],
    "uniform": [("diag_num", "int", 0), ("diag_step", "int", 0), ("diag_val", "float", 1.0)],
    "unpool": [("unpooling_type", "string", "max")],
    "full_batch_size_like": [("str_value", "string", ""), ("force_cpu", "bool", False)],
}
_LARGEST_FLOAT32 = 3e38  # beyond, only the text says the number
_REDUCTIONS = {"sum", "mean", "max", "min", "prod"}


def _writes(*names: str):
    def register(function: Callable[[Writer, Blocks, Op], None]):
        for name in names:
            WRITERS[name] = function
        return function

    return register


def further_attributes(op: Op) -> list[dict[str, Any]]:
    """What the older format wants in addition to the table's attributes."""
    name = op.name.removesuffix("_")
    if name in _BINARY:
        return [attribute("axis", "int", -1)]
    if name == "cast" and isinstance(op.inputs[0], Value):
        return [attribute("in_dtype", "dtype", op.inputs[0].dtype)]
    if name in _COMPARISONS:
        return [attribute("axis", "int", -1), attribute("force_cpu", "bool", False)]
    if name in ("all", "any", "amax", "amin"):
        undefined = [attribute(kind, "int", -1) for kind in ("in_dtype", "out_dtype")]
        return [attribute("reduce_all", "bool", not op.attributes.get("axis")), *undefined]
    if name == "strided_slice":
        flags = [1] * len(op.attributes.get("axes", []))
        return [attribute("infer_flags", "ints", flags), attribute("decrease_axis", "ints", [])]
    return [attribute(*entry) for entry in _SILENT.get(name, ())]


def _values(writer: Writer, op: Op) -> tuple[list[int], str, list[Any]]:
    shape = [int(size) for size in op.attributes.get("shape", [])]
    return shape, op.attributes.get("dtype", "float32"), list(op.attributes.get("values", []))


@_writes("full")
def _full(writer: Writer, block: Blocks, op: Op) -> None:
    shape, value, dtype = list(op.attributes.get("shape", [])), op.attributes.get("value", 0.0), op.attributes["dtype"]
    if dtype == dtypes.UNDEFINED:
        dtype = op.outputs[0].dtype
    whole = not dtype.startswith(("float", "bfloat", "complex"))
    plain = int(value) if whole and value == value and abs(value) != float("inf") else float(value)
    if shape in ([], [1]):
        writer.constants[id(op.outputs[0])] = plain
    name = writer.define(block, op.outputs[0])
    attributes = [
        attribute("shape", "longs", shape),
        attribute("value", "float", value if abs(value) < _LARGEST_FLOAT32 else 0.0),
        attribute("str_value", "string", repr(plain)),
        attribute("dtype", "dtype", dtype),
        attribute("force_cpu", "bool", False),
        attribute("place_type", "int", -1),
    ]
    writer.emit(block, "fill_constant", {}, {"Out": [name]}, attributes)


@_writes("full_int_array")
def _full_int_array(writer: Writer, block: Blocks, op: Op) -> None:
    values = [int(value) for value in op.attributes.get("value", [])]
    writer.constants[id(op.outputs[0])] = values
    _assign_numbers(writer, block, op.outputs[0], [len(values)], "int64", values)


def _assign_numbers(
    writer: Writer, block: Blocks, value: Value, shape: list[int], dtype: str, numbers: list[Any]
) -> None:
    convert: Any = bool if dtype == "bool" else int if dtype.startswith(("int", "uint")) else float
    if dtype.startswith("complex"):
        convert = complex
    attributes = [
        attribute("shape", "ints", shape),
        attribute("dtype", "dtype", dtype),
        attribute("values", "scalars", [convert(number) for number in numbers]),
    ]
    writer.emit(block, "assign_value", {}, {"Out": [writer.define(block, value)]}, attributes)


@_writes("assign_value", "assign_value_")
def _assign_value(writer: Writer, block: Blocks, op: Op) -> None:
    shape, dtype, values = _values(writer, op)
    if len(shape) == 1 and dtype in ("int32", "int64"):
        writer.constants[id(op.outputs[0])] = [int(value) for value in values]
    _assign_numbers(writer, block, op.outputs[0], shape, dtype, values)


@_writes("full_with_tensor")
def _full_with_tensor(writer: Writer, block: Blocks, op: Op) -> None:
    inputs = {"ValueTensor": [writer.name(op.name, op.inputs[0])], "ShapeTensor": [writer.name(op.name, op.inputs[1])]}
    result = op.outputs[0]
    dtype = op.attributes.get("dtype", dtypes.UNDEFINED)
    attributes = [
        attribute("shape", "longs", result.shape or [-1]),
        attribute("dtype", "dtype", result.dtype if dtype == dtypes.UNDEFINED else dtype),
        attribute("value", "float", 0.0),
        attribute("str_value", "string", ""),
    ]
    writer.emit(block, "fill_constant", inputs, {"Out": [writer.define(block, result)]}, attributes)


@_writes("shape64")
def _shape64(writer: Writer, block: Blocks, op: Op) -> None:
    """The older operation counts in int32."""
    result = op.outputs[0]
    short = writer.declare(block, writer.fresh(result.name + ".int32"), "int32", result.shape)
    writer.emit(block, "shape", {"Input": [writer.name(op.name, op.inputs[0])]}, {"Out": [short]}, [])
    kinds = [attribute("in_dtype", "dtype", "int32"), attribute("out_dtype", "dtype", "int64")]
    writer.emit(block, "cast", {"X": [short]}, {"Out": [writer.define(block, result)]}, kinds)


def _reduce(writer: Writer, block: Blocks, op: Op) -> None:
    row = table.find(op.name)
    assert row is not None
    axes = writer.constants.get(id(op.inputs[1])) if len(op.inputs) > 1 and op.inputs[1] is not None else []
    if axes is None:
        raise ValueError(f"(write_model) {op.name} over computed axes cannot be written to .pdmodel; use format='json'")
    axes = axes if isinstance(axes, list) else [axes]
    attributes = [
        attribute("dim", "ints", axes),
        attribute("keep_dim", "bool", op.attributes.get("keepdim", False)),
        attribute("reduce_all", "bool", not axes),
        attribute("in_dtype", "int", -1),
        attribute("out_dtype", "dtype", op.attributes.get("dtype", dtypes.UNDEFINED)),
    ]
    outputs = {"Out": [writer.define(block, op.outputs[0])]}
    writer.emit(block, row.legacy, {"X": [writer.name(op.name, op.inputs[0])]}, outputs, attributes)


for _name in _REDUCTIONS:
    WRITERS[_name] = _reduce


@_writes("split", "split_with_num")
def _split(writer: Writer, block: Blocks, op: Op) -> None:
    axis = op.inputs[-1]
    known = writer.constants.get(id(axis))
    inputs = {"X": [writer.name(op.name, op.inputs[0])]}
    attributes = [attribute("num", "int", op.attributes.get("num", 0))]
    if op.name == "split":
        sections = writer.constants.get(id(op.inputs[1]))
        if not isinstance(sections, list):
            raise ValueError(
                "(write_model) split into computed sections cannot be written to .pdmodel; use format='json'"
            )
        attributes.append(attribute("sections", "ints", sections))
    if known is None:
        inputs["AxisTensor"] = [writer.name(op.name, axis)]
    else:
        attributes.append(attribute("axis", "int", known[0] if isinstance(known, list) else known))
    pieces = op.outputs[0] if op.outputs and isinstance(op.outputs[0], (list, tuple)) else op.outputs
    writer.emit(block, "split", inputs, {"Out": [writer.define(block, piece) for piece in pieces]}, attributes)


@_writes("tril", "triu")
def _triangle(writer: Writer, block: Blocks, op: Op) -> None:
    attributes = [
        attribute("diagonal", "int", op.attributes.get("diagonal", 0)),
        attribute("lower", "bool", op.name == "tril"),
    ]
    inputs = {"X": [writer.name(op.name, op.inputs[0])]}
    writer.emit(block, "tril_triu", inputs, {"Out": [writer.define(block, op.outputs[0])]}, attributes)


@_writes("set_value", "set_value_", "set_value_with_tensor", "set_value_with_tensor_")
def _set_value(writer: Writer, block: Blocks, op: Op) -> None:
    with_tensor = "with_tensor" in op.name
    inputs = {"Input": [writer.name(op.name, op.inputs[0])]}
    if with_tensor:
        inputs["ValueTensor"] = [writer.name(op.name, op.inputs[1])]
    attributes = [attribute("dtype", "dtype", op.outputs[0].dtype)]
    for name, bounds in zip(("starts", "ends", "steps"), op.inputs[-3:], strict=True):
        known = writer.constants.get(id(bounds))
        if not isinstance(known, list):
            raise ValueError(
                "(write_model) set_value with computed bounds cannot be written to .pdmodel; use format='json'"
            )
        attributes.append(attribute(name, "longs", known))
    for name in ("axes", "decrease_axes", "none_axes"):
        attributes.append(attribute(name, "longs", op.attributes.get(name, [])))
    if not with_tensor:
        attributes.append(attribute("shape", "longs", op.attributes.get("shape", [])))
        attributes.append(attribute("values", "scalars", list(op.attributes.get("values", []))))
    writer.emit(block, "set_value", inputs, {"Out": [writer.define(block, op.outputs[0])]}, attributes)


@_writes("batch_norm_", "batch_norm")
def _batch_norm(writer: Writer, block: Blocks, op: Op) -> None:
    """The running statistics are written into the variables that they are read from."""
    row = table.find("batch_norm_")
    assert row is not None
    plain = Op("batch_norm_", op.inputs, op.attributes, list(op.outputs))
    plain.outputs += [None] * (6 - len(plain.outputs))
    for position, source in ((1, 1), (2, 2)):
        if plain.outputs[position] is not None:
            writer.alias(plain.outputs[position], writer.name(op.name, op.inputs[source]))
    plain.outputs[1:3] = [None, None]
    before = len(block.operations)
    writer.by_row(block, plain, row)
    for slot in block.operations[before]["outputs"]:
        source = {"MeanOut": 1, "VarianceOut": 2}.get(slot["parameter"])
        if source is not None:
            for name in slot["arguments"]:
                block.variables.pop(name, None)
            slot["arguments"] = [writer.name(op.name, op.inputs[source])]


@_writes("create_array")
def _create_array(writer: Writer, block: Blocks, op: Op) -> None:
    writer.define(block, op.outputs[0])  # an array starts empty: its declaration is enough


@_writes("array_write_", "array_write")
def _array_write(writer: Writer, block: Blocks, op: Op) -> None:
    array = writer.name(op.name, op.inputs[0])
    writer.alias(op.outputs[0], array)
    inputs = {"X": [writer.name(op.name, op.inputs[1])], "I": [writer.name(op.name, op.inputs[2])]}
    writer.emit(block, "write_to_array", inputs, {"Out": [array]}, [])


def copy(writer: Writer, block: Blocks, source: str, target: str) -> None:
    writer.emit(block, "assign", {"X": [source]}, {"Out": [target]}, [])


@_writes("assign_out_")
def _assign_out(writer: Writer, block: Blocks, op: Op) -> None:
    """Writes into an existing tensor."""
    target = writer.name(op.name, op.inputs[1])
    copy(writer, block, writer.name(op.name, op.inputs[0]), target)
    writer.alias(op.outputs[0], target)
