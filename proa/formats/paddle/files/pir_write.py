"""A Model to PIR `.json`, the inverse of pir_read.py."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from proa.formats.paddle.files import dtypes, table
from proa.formats.paddle.model import Block, Model, Op, Value

_VERSION = 4  # what paddlepaddle 3.3 writes
_TAGS = {
    "bool": "0.a_bool", "int": "0.a_i32", "long": "0.a_i64", "float": "0.a_f32", "double": "0.a_f64", "string": "0.a_str",
}  # fmt: skip
_DIALECTS = {"builtin": "0.", "cf": "2."}
_PLACES = {"undefined": 0, "cpu": 1, "gpu": 2}
# Operations with an attribute that says on which device the result is made, and its usual value.
_WITH_PLACE = {
    "arange": "undefined", "assign_value": "undefined", "assign_value_": "undefined", "data": "undefined",
    "empty": "undefined", "eye": "undefined", "full": "cpu", "full_batch_size_like": "undefined",
    "full_int_array": "cpu", "full_like": "undefined",
    "gaussian": "undefined", "linspace": "undefined", "logspace": "undefined", "randint": "undefined",
    "randperm": "undefined", "tril_indices": "undefined", "triu_indices": "undefined",
    "truncated_gaussian_random": "undefined", "uniform": "undefined",
}  # fmt: skip
# Operands that are statistics, not weights: a program that is trained further does not change them by gradients.
_STATISTICS = {"batch_norm_": (1, 2), "batch_norm": (1, 2)}
_NOT_SAVED = "__non_persistable"  # the ending that Paddle gives to states which no file keeps


def is_saved(name: str) -> bool:
    return not name.endswith(_NOT_SAVED)


def _number(tag: str, value: float) -> dict[str, Any]:
    value = float(value)
    if tag == "0.a_f32":
        value = float(np.float32(value))
    if math.isnan(value):
        return {"#": tag, "VD": "NAN"}  # Paddle itself writes "NaN", which it cannot read
    if math.isinf(value):
        return {"#": tag, "VD": "INF" if value > 0 else "-INF"}
    return {"#": tag, "D": value}


def _scalar(kind: str, value: Any) -> dict[str, Any]:
    if isinstance(value, (complex, np.complexfloating)):
        return {"#": "0.a_c128", "D": [value.real, value.imag]}
    if kind in ("float", "double"):
        return _number(_TAGS[kind], value)
    convert: Any = {"bool": bool, "int": int, "long": int, "string": str}[kind]
    return {"#": _TAGS[kind], "D": convert(value)}


def _attribute(kind: str, value: Any) -> dict[str, Any]:
    if kind == "dtype":
        name = "Undefined(ALL_DTYPE)" if value in (None, dtypes.UNDEFINED, -1) else str(value)
        return {"#": "1.a_dtype", "D": name}
    if kind == "place":
        return {"#": "1.a_place", "D": [_PLACES.get(value, 0), 0, ""]}
    if kind == "intarray":
        return {"#": "1.a_intarray", "D": [int(element) for element in value]}
    if kind.endswith("s"):
        return {"#": "0.a_array", "D": [_scalar(kind[:-1], element) for element in value]}
    return _scalar(kind, value)


def _guess(name: str, value: Any) -> str:
    """The kind of an attribute that the table does not have."""
    if name in ("dtype", "out_dtype"):
        return "dtype"
    if name == "place":
        return "place"
    for types, kind in ((bool, "bool"), (int, "int"), (float, "float"), (str, "string")):
        if isinstance(value, types):
            return kind
    if isinstance(value, (list, tuple)):
        kinds = {_guess("", element) for element in value}
        if len(kinds) <= 1:
            kind = kinds.pop() if kinds else "int"
            return {"int": "longs"}.get(kind, kind + "s")
    raise TypeError(f"(write_model) the attribute {name!r} has a value that Paddle's files cannot hold: {value!r}")


def _that_runs(op: Op) -> Op:
    """dequantize_linear as an operation that says the same. Paddle 3.3 has the kernel of quantize_linear behind that name in
    PIR programs (its own quantised models compute nonsense); in `.pdmodel` files it is right."""
    if op.name != "dequantize_linear":
        return op
    x, scale = op.inputs[:2]
    bits = int(op.attributes.get("bit_length", 8))
    if scale.shape is None or math.prod(scale.shape) == 1:
        return Op("fake_dequantize_max_abs", [x, scale], {"max_range": float((1 << (bits - 1)) - 1)}, op.outputs[:1])
    attributes = {"quant_bits": [bits], "quant_axis": int(op.attributes.get("quant_axis", 0)), "x_num_col_dims": 1}
    return Op("fake_channel_wise_dequantize_max_abs", [x, [scale]], attributes, op.outputs[:1])


class _Writer:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.ids: dict[int, int] = {}  # of a value's id()
        self.kept: list[Value] = []  # so that ids stay in use
        self.next = 1
        self.next_argument = -1
        self.regions = 1
        self.results: set[str] = set()
        self.needs_copy = {id(value) for value in (*model.inputs, *model.parameter_values.values())}

    def number(self, value: Value | None) -> int:
        identity = self.next
        self.next += 1
        if value is not None:
            self.ids[id(value)] = identity
            self.kept.append(value)
        return identity

    def use(self, op: str, value: Value | None) -> dict[str, int]:
        if value is None:
            return {"%": 0}
        identity = self.ids.get(id(value))
        if identity is None:
            raise ValueError(f"(write_model) {op} reads {value.name!r}, which no earlier operation makes")
        return {"%": identity}

    def type(self, value: Value | None) -> dict[str, Any]:
        if value is None:
            return {"#": "NULL"}
        element = dtypes.TAGS.get(value.dtype.removesuffix(dtypes.ARRAY))
        if element is None:
            raise TypeError(f"(write_model) Paddle's files lack the element type {value.dtype} of {value.name!r}")
        sizes = [-1] if value.shape is None else [int(size) for size in value.shape]
        if value.dtype.endswith(dtypes.ARRAY):
            return {"#": "1.t_dense_tensor_array", "D": [{"#": element}, sizes, "NCHW"]}
        return {"#": "0.t_dtensor", "D": [{"#": element}, sizes, "NCHW", [], 0]}

    def define(self, value: Value | None) -> dict[str, Any]:
        return {"%": self.number(value), "TT": self.type(value)}

    def entry(
        self, name: str, inputs: list[Any], attributes: list[Any], outputs: list[Any], stop: list[bool], **more: Any
    ) -> dict[str, Any]:
        flags = {"#": "0.a_array", "D": [{"#": "0.a_bool", "D": flag} for flag in stop]}
        results = [{"AT": flags, "N": "stop_gradient"}] if stop else []
        return {"#": name, "A": attributes, "I": inputs, "O": outputs, "OA": results, **more}

    def stop(self, value: Any) -> bool:
        """Whether gradients stop at a value: they do at everything that is not a floating-point number."""
        first = value[0] if isinstance(value, list) and value else value
        return first is not None and not (
            isinstance(first, Value) and first.dtype.startswith(("float", "bfloat", "complex"))
        )

    def operands(self, op: Op, entries: list[Any], count: int) -> list[dict[str, int]]:
        found = []
        for operand in op.inputs:
            if isinstance(operand, (list, tuple)):
                packed = self.number(None)
                kinds = {"#": "0.t_vec", "D": [self.type(element) for element in operand]}
                inputs = [self.use(op.name, element) for element in operand]
                entries.append(
                    self.entry("0.combine", inputs, [], [{"%": packed, "TT": kinds}], [self.stop(list(operand))])
                )
                found.append({"%": packed})
            else:
                found.append(self.use(op.name, operand))
        return found + [{"%": 0}] * (count - len(found))

    def attributes(self, op: Op, row: table.Row | None) -> list[dict[str, Any]]:
        kinds = {spec.name: spec.kind for spec in row.attributes} if row else {}
        values = dict(op.attributes)
        if op.name in _WITH_PLACE:
            values.setdefault("place", _WITH_PLACE[op.name])
            if op.name == "full" and "place" not in op.attributes and list(op.attributes.get("shape", [])) != [1]:
                values["place"] = "undefined"  # only one-element constants are kept beside the processor
        else:
            values.pop("place", None)
        for spec in row.attributes if row else ():
            if spec.name in values:
                continue
            if spec.of_output and op.outputs and isinstance(op.outputs[0], Value):
                values[spec.name] = op.outputs[0].dtype
            elif spec.default is not None:
                default = dtypes.NAMES_OF_NUMBERS.get(spec.default) if spec.kind == "dtype" else spec.default
                values[spec.name] = default
            else:
                raise ValueError(
                    f"(write_model) {op.name} needs the attribute {spec.name!r}; it has {sorted(op.attributes)}"
                )
        ordered = [name for name in kinds if name in values] + [name for name in values if name not in kinds]
        return [{"AT": _attribute(kinds.get(n) or _guess(n, values[n]), values[n]), "N": n} for n in ordered]

    def operation(self, op: Op, entries: list[Any]) -> None:
        op = _that_runs(op)
        row = table.find(op.name)
        prefix, dot, rest = op.name.partition(".")
        label = _DIALECTS[prefix] + rest if dot and prefix in _DIALECTS else "1." + op.name
        inputs = self.operands(op, entries, len(row.operands) if row else 0)
        attributes = self.attributes(op, row)
        more = {}
        if op.blocks:
            more["regions"] = [self.region(block) for block in op.blocks]
        outputs, unpack = [], []
        results = list(op.outputs) + [None] * ((len(row.outputs) if row else 0) - len(op.outputs))
        for result in results:
            if isinstance(result, (list, tuple)):
                packed = self.number(None)
                outputs.append({"%": packed, "TT": {"#": "0.t_vec", "D": [self.type(element) for element in result]}})
                unpack.append((packed, result))
            else:
                outputs.append(self.define(result))
        stop = [] if op.name == "array_write_" else [self.stop(result) for result in results]
        entries.append(self.entry(label, inputs, attributes, outputs, stop, **more))
        for packed, elements in unpack:
            if elements:
                made = [self.define(element) for element in elements]
                flags = [self.stop(element) for element in elements]
                entries.append(self.entry("0.split", [{"%": packed}], [], made, flags))

    def region(self, block: Block) -> dict[str, Any]:
        index, self.regions = self.regions, self.regions + 1
        arguments = []
        for value in block.arguments:
            self.ids[id(value)] = self.next_argument
            self.kept.append(value)
            arguments.append({"#": self.next_argument, "TT": self.type(value)})
            self.next_argument -= 1
        entries: list[Any] = []
        for op in block.ops:
            self.operation(op, entries)
        results = [self.use("the end of a block", value) for value in block.results]
        entries.append(self.entry("2.yield", results, [], [], []))
        return {"#": f"region_{index}", "blocks": [{"#": f"block_{index}", "args": arguments, "ops": entries}]}

    def parameter(self, name: str, value: Value, statistics: set[int]) -> dict[str, Any]:
        trainable = value.trainable and not self.stop(value) and id(value) not in statistics and is_saved(name)
        flags = [int(is_saved(name)), int(not trainable), int(trainable)]
        return {"#": "p", "A": [0, 1, 1, name], "DA": [], "O": self.define(value), "OA": flags, "QA": []}

    def input(self, value: Value) -> dict[str, Any]:
        attributes = [
            {"AT": _attribute("string", value.name), "N": "name"},
            {"AT": _attribute("intarray", value.shape or ()), "N": "shape"},
            {"AT": _attribute("dtype", value.dtype), "N": "dtype"},
            {"AT": _attribute("place", "undefined"), "N": "place"},
        ]
        return self.entry("1.data", [], attributes, [self.define(value)], [True])

    def fetch(self, column: int, value: Value, entries: list[Any]) -> dict[str, Any]:
        operand, name = self.use("the model's results", value), value.name
        if id(value) in self.needs_copy or name in self.results:
            # Paddle's predictor refuses a result that is also an input, or that is there twice.
            operand, name = {"%": self.number(None)}, f"fetch_name_{column}"
            made = [{"%": operand["%"], "TT": self.type(value)}]
            entries.append(
                self.entry("1.assign", [self.use("the model's results", value)], [], made, [self.stop(value)])
            )
        self.results.add(name)
        attributes = [{"AT": _attribute("string", name), "N": "name"}, {"AT": _attribute("int", column), "N": "col"}]
        entry = self.entry("1.fetch", [operand], attributes, [{"%": self.number(None), "TT": self.type(value)}], [True])
        persistable = {"#": "0.a_array", "D": [{"#": "0.a_bool", "D": True}]}
        entry["OA"].insert(0, {"AT": persistable, "N": "persistable"})
        return entry

    def program(self) -> dict[str, Any]:
        model = self.model
        statistics = {
            id(op.inputs[position])
            for op in model.block.ops
            for position in _STATISTICS.get(op.name, ())
            if position < len(op.inputs)
        }
        entries = [self.parameter(name, model.parameter_values[name], statistics) for name in sorted(model.parameters)]
        entries += [self.input(value) for value in model.inputs]
        for op in model.block.ops:
            self.operation(op, entries)
        for column, value in enumerate(model.outputs):
            entries.append(self.fetch(column, value, entries))
        block = {"#": "block_0", "args": [], "ops": entries}
        base = {"magic": "pir", "trainable": True, "version": _VERSION}
        return {"base_code": base, "program": {"regions": [{"#": "region_0", "blocks": [block]}]}}


def write_program(model: Model) -> bytes:
    """The content of the `.json` file."""
    return json.dumps(_Writer(model).program(), separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
