"""Operations of `.pdmodel` files that a row of the table cannot describe: one function each."""

from __future__ import annotations

import math
from typing import Any

from proa.formats.paddle.files import dtypes, table
from proa.formats.paddle.files.legacy.reader import Operation, Reader, Scope, SpecialReader
from proa.formats.paddle.model import Op, Value

READERS: dict[str, SpecialReader] = {}


def _reads(*names: str):
    def register(function: SpecialReader) -> SpecialReader:
        for name in names:
            READERS[name] = function
        return function

    return register


def _row(name: str) -> table.Row:
    return table.by_legacy_name()[name]


def _slot(reader: Reader, scope: Scope, operation: Operation, slot: str) -> Value:
    names = operation.inputs.get(slot, [])
    if len(names) != 1:
        raise ValueError(f"(pdmodel) {operation.type} has {len(names)} tensors in {slot}; the file is damaged")
    return reader.read(scope, names[0])


def _maybe(reader: Reader, scope: Scope, operation: Operation, slot: str) -> Value | None:
    return _slot(reader, scope, operation, slot) if operation.inputs.get(slot) else None


def _give(reader: Reader, scope: Scope, operation: Operation, slot: str, op: Op) -> None:
    """The operation's only result goes into the variable of a slot."""
    names = operation.outputs.get(slot, [])
    if len(names) != 1:
        raise ValueError(f"(pdmodel) {operation.type} has {len(names)} results in {slot}; the file is damaged")
    scope.block.ops.append(op)
    op.outputs = [reader.assign(scope, names[0])]


def _rank(value: Value) -> int | None:
    return None if value.shape is None else len(value.shape)


def _dtype(operation: Operation, name: str = "dtype", default: int = 5) -> str:
    return dtypes.NAMES_OF_NUMBERS.get(operation.attribute(name, int, default), dtypes.UNDEFINED)


def _whole(operation: Operation, name: str) -> list[int]:
    values = operation.attribute(name, list, [])
    if any(not isinstance(value, int) for value in values):
        raise ValueError(f"(pdmodel) the attribute {name!r} of {operation.type} is {values!r}; the file is damaged")
    return values


def _values(operation: Operation) -> list[Any]:
    """Numbers under any of the names that versions have used."""
    for name in ("values", "fp32_values", "fp64_values", "int32_values", "int64_values", "bool_values"):
        values = operation.attributes.get(name)
        if isinstance(values, list) and values:
            if any(not isinstance(value, (int, float, complex)) for value in values):
                break
            return values
    if any(isinstance(operation.attributes.get(name), list) for name in ("values", "fp32_values", "int32_values")):
        return []
    raise ValueError(f"(pdmodel) {operation.type} has no values; the file is damaged")


@_reads("fill_constant")
def _fill_constant(reader: Reader, scope: Scope, operation: Operation) -> None:
    text = operation.attribute("str_value", str, "")
    value = operation.attribute("value", (int, float), 0.0)
    if text:
        try:
            value = float(text)
        except ValueError:
            raise ValueError(f"(pdmodel) fill_constant's value {text!r} is not a number; the file is damaged") from None
    dtype = _dtype(operation)
    filling = _maybe(reader, scope, operation, "ValueTensor")
    pieces = [reader.read(scope, name) for name in operation.inputs.get("ShapeTensorList", [])]
    shape = reader.vector(scope, pieces) if pieces else _maybe(reader, scope, operation, "ShapeTensor")
    if filling is None and shape is None:
        attributes = {"shape": _whole(operation, "shape"), "value": float(value), "dtype": dtype}
        _give(reader, scope, operation, "Out", Op("full", [], attributes))
        return
    if filling is None:
        filling = reader.number(scope, value, dtype)
    if shape is None:
        shape = reader.integers(scope, operation.attribute("shape", list, []))
    _give(reader, scope, operation, "Out", Op("full_with_tensor", [filling, shape], {"dtype": dtype}))


@_reads("assign_value")
def _assign_value(reader: Reader, scope: Scope, operation: Operation) -> None:
    attributes = {
        "shape": _whole(operation, "shape"),
        "dtype": _dtype(operation),
        "values": _values(operation),
    }
    _give(reader, scope, operation, "Out", Op("assign_value", [], attributes))


@_reads("fill_zeros_like")
def _fill_zeros_like(reader: Reader, scope: Scope, operation: Operation) -> None:
    like = _slot(reader, scope, operation, "X")
    zero = reader.number(scope, 0.0, "float32")
    _give(reader, scope, operation, "Out", Op("full_like", [like, zero], {"dtype": like.dtype}))


@_reads("set_value")
def _set_value(reader: Reader, scope: Scope, operation: Operation) -> None:
    def bounds(name: str, slot: str) -> Value:
        pieces = [reader.read(scope, variable) for variable in operation.inputs.get(slot, [])]
        return reader.vector(scope, pieces) if pieces else reader.integers(scope, operation.attribute(name, list, []))

    target = _slot(reader, scope, operation, "Input")
    limits = [
        bounds("starts", "StartsTensorList"),
        bounds("ends", "EndsTensorList"),
        bounds("steps", "StepsTensorList"),
    ]
    attributes: dict[str, Any] = {name: _whole(operation, name) for name in ("axes", "decrease_axes", "none_axes")}
    value = _maybe(reader, scope, operation, "ValueTensor")
    if value is not None:
        op = Op("set_value_with_tensor", [target, value, *limits], attributes)
    else:
        attributes |= {"shape": _whole(operation, "shape"), "values": _values(operation)}
        op = Op("set_value", [target, *limits], attributes)
    _give(reader, scope, operation, "Out", op)


@_reads("split")
def _split(reader: Reader, scope: Scope, operation: Operation) -> None:
    value, axis = _slot(reader, scope, operation, "X"), _maybe(reader, scope, operation, "AxisTensor")
    if axis is None:
        axis = reader.number(scope, operation.attribute("axis", int, 0), "int32")
    pieces = [reader.read(scope, name) for name in operation.inputs.get("SectionsTensorList", [])]
    number = operation.attribute("num", int, 0)
    if pieces or number == 0:
        sections = reader.vector(scope, pieces) if pieces else None
        if sections is None:
            sections = reader.integers(scope, operation.attribute("sections", list, []))
        op = Op("split", [value, sections, axis])
    else:
        op = Op("split_with_num", [value, axis], {"num": number})
    scope.block.ops.append(op)
    op.outputs = [[reader.assign(scope, name) for name in operation.outputs.get("Out", [])]]


@_reads("tril_triu")
def _tril_triu(reader: Reader, scope: Scope, operation: Operation) -> None:
    name = "tril" if operation.attributes.get("lower", False) else "triu"
    attributes = {"diagonal": operation.attribute("diagonal", int, 0)}
    _give(reader, scope, operation, "Out", Op(name, [_slot(reader, scope, operation, "X")], attributes))


@_reads("matmul")
def _matmul(reader: Reader, scope: Scope, operation: Operation) -> None:
    """The first version has a factor."""
    left, right = _slot(reader, scope, operation, "X"), _slot(reader, scope, operation, "Y")
    attributes = {
        "transpose_x": bool(operation.attributes.get("transpose_X", False)),
        "transpose_y": bool(operation.attributes.get("transpose_Y", False)),
    }
    factor = operation.attribute("alpha", (int, float), 1.0)
    op = Op("matmul", [left, right], attributes)
    if factor == 1.0:
        _give(reader, scope, operation, "Out", op)
        return
    product = Value(reader.fresh("matmul_"), left.dtype)
    op.outputs = [product]
    scope.block.ops.append(op)
    scale = reader.number(scope, factor, "float32")
    _give(reader, scope, operation, "Out", Op("scale", [product, scale], {"bias": 0.0, "bias_after_scale": True}))


@_reads("mul")
def _mul(reader: Reader, scope: Scope, operation: Operation) -> None:
    """A matrix product of both operands flattened to matrices."""
    left, right = _slot(reader, scope, operation, "X"), _slot(reader, scope, operation, "Y")
    rows, columns = operation.attribute("x_num_col_dims", int, 1), operation.attribute("y_num_col_dims", int, 1)
    plain = {"transpose_x": False, "transpose_y": False}
    if _rank(right) == 2 and columns == 1 and (_rank(left) or 0) == rows + 1:
        _give(reader, scope, operation, "Out", Op("matmul", [left, right], plain))
        return
    if left.shape is None or right.shape is None or -1 in (*left.shape[rows:], *right.shape):
        raise ValueError("(pdmodel) mul of tensors with unknown sizes is not supported")
    inner = math.prod(left.shape[rows:])
    flat = reader.emit(scope, "reshape", [left, reader.integers(scope, [-1, inner])], {}, left.dtype, (-1, inner))
    width = math.prod(right.shape[columns:])
    matrix = reader.emit(
        scope, "reshape", [right, reader.integers(scope, [inner, width])], {}, right.dtype, (inner, width)
    )
    product = reader.emit(scope, "matmul", [flat, matrix], plain, left.dtype, (-1, width))
    sizes = [*left.shape[:rows], *right.shape[columns:]]
    if sizes.count(-1) > 1:
        raise ValueError("(pdmodel) mul of tensors with unknown sizes is not supported")
    _give(reader, scope, operation, "Out", Op("reshape", [product, reader.integers(scope, sizes)]))


@_reads("lookup_table")
def _lookup_table(reader: Reader, scope: Scope, operation: Operation) -> None:
    """The first version has a last dimension of size 1 in the indices."""
    indices, weight = _slot(reader, scope, operation, "Ids"), _slot(reader, scope, operation, "W")
    shape = None if indices.shape is None else indices.shape[:-1]
    indices = reader.emit(scope, "squeeze", [indices, reader.integers(scope, [-1])], {}, indices.dtype, shape)
    attributes = {"padding_idx": operation.attribute("padding_idx", int, -1), "sparse": False}
    _give(reader, scope, operation, "Out", Op("embedding", [indices, weight], attributes))


@_reads("flatten", "flatten2")
def _flatten(reader: Reader, scope: Scope, operation: Operation) -> None:
    """To a matrix: the dimensions before `axis`, and the rest."""
    value, axis = _slot(reader, scope, operation, "X"), operation.attribute("axis", int, 1)
    rank = _rank(value)
    if axis == 0:
        _give(reader, scope, operation, "Out", Op("reshape", [value, reader.integers(scope, [1, -1])]))
    elif axis == 1 and rank != 1:
        _give(reader, scope, operation, "Out", Op("flatten", [value], {"start_axis": 1, "stop_axis": -1}))
    elif rank is not None and 0 < axis < rank:
        last = reader.emit(scope, "flatten", [value], {"start_axis": axis, "stop_axis": -1}, value.dtype)
        _give(reader, scope, operation, "Out", Op("flatten", [last], {"start_axis": 0, "stop_axis": axis - 1}))
    else:
        _give(reader, scope, operation, "Out", Op("reshape", [value, reader.integers(scope, [-1, 1])]))


@_reads("expand")
def _expand(reader: Reader, scope: Scope, operation: Operation) -> None:
    """The first version repeats."""
    value = _slot(reader, scope, operation, "X")
    pieces = [reader.read(scope, name) for name in operation.inputs.get("expand_times_tensor", [])]
    times = reader.vector(scope, pieces) if pieces else _maybe(reader, scope, operation, "ExpandTimes")
    if times is None:
        times = reader.integers(scope, operation.attribute("expand_times", list, []))
    _give(reader, scope, operation, "Out", Op("tile", [value, times]))


@_reads("nearest_interp", "bilinear_interp", "linear_interp", "bicubic_interp", "trilinear_interp")
def _interpolate(reader: Reader, scope: Scope, operation: Operation) -> None:
    """The first version has one factor for all dimensions."""
    factor = operation.attributes.get("scale", 0.0)
    if isinstance(factor, (int, float)):
        rank = {"linear_interp": 1, "trilinear_interp": 3}.get(operation.type, 2)
        operation.attributes["scale"] = [float(factor)] * rank if factor > 0 else []
    reader.by_row(scope, operation, _row(operation.type + "_v2"))


def _elementwise(reader: Reader, scope: Scope, operation: Operation) -> None:
    """With `axis` the second operand's dimensions stand from that one on, not at the end."""
    row, axis = _row(operation.type), operation.attribute("axis", int, -1)
    left, right = _slot(reader, scope, operation, "X"), _slot(reader, scope, operation, "Y")
    if axis != -1 and left.shape is not None and right.shape is not None and len(left.shape) > len(right.shape):
        after = len(left.shape) - axis - len(right.shape)
        if after < 0 or axis < 0:
            raise ValueError(f"(pdmodel) axis {axis} of {operation.type} is out of range; the file is damaged")
        if after:
            known = list(right.shape)
            if known.count(-1) > 1:
                raise ValueError(f"(pdmodel) {operation.type} with axis {axis} and unknown sizes is not supported")
            sizes = known + [1] * after
            right = reader.emit(scope, "reshape", [right, reader.integers(scope, sizes)], {}, right.dtype, sizes)
    _give(reader, scope, operation, "Out", Op(row.name, [left, right]))


for _name in ("add", "sub", "mul", "div", "max", "min", "pow", "mod", "floordiv"):
    READERS[f"elementwise_{_name}"] = _elementwise
for _name in ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"):
    READERS[_name] = _elementwise


def _reduce(reader: Reader, scope: Scope, operation: Operation) -> None:
    """`reduce_all`, or naming every dimension, is the newer format's empty list."""
    dimensions = operation.attributes.get("dim", [0])
    if isinstance(dimensions, int):
        operation.attributes["dim"] = dimensions = [dimensions]
    value = _slot(reader, scope, operation, "X")
    if operation.attributes.get("reduce_all", False) or len(dimensions) == _rank(value):
        operation.attributes["dim"] = []
    reader.by_row(scope, operation, _row(operation.type))


for _name in ("all", "any", "max", "min", "mean", "prod", "sum", "amax", "amin"):
    READERS[f"reduce_{_name}"] = _reduce


@_reads("dropout")
def _dropout(reader: Reader, scope: Scope, operation: Operation) -> None:
    operation.attributes.setdefault("seed", 0)
    operation.attributes.setdefault("fix_seed", False)
    reader.by_row(scope, operation, _row("dropout"))


@_reads("write_to_array")
def _write_to_array(reader: Reader, scope: Scope, operation: Operation) -> None:
    """Writes into the array that its result's variable already holds."""
    names = operation.outputs.get("Out", [])
    if len(names) != 1:
        raise ValueError("(pdmodel) write_to_array has one result; the file is damaged")
    array = reader.read(scope, names[0])
    inputs = [array, _slot(reader, scope, operation, "X"), _slot(reader, scope, operation, "I")]
    _give(reader, scope, operation, "Out", Op("array_write_", inputs))


@_reads("assign")
def _assign(reader: Reader, scope: Scope, operation: Operation) -> None:
    value = _slot(reader, scope, operation, "X")
    if value.dtype.endswith(dtypes.ARRAY):  # another name for the same array
        for name in operation.outputs.get("Out", []):
            reader.bind(scope, name, value)
    else:
        _give(reader, scope, operation, "Out", Op("assign", [value]))


@_reads("share_data", "memcpy", "memcpy_h2d", "memcpy_d2h")
def _same(reader: Reader, scope: Scope, operation: Operation) -> None:
    """A copy to another device or another name for the same numbers."""
    _give(reader, scope, operation, "Out", Op("assign", [_slot(reader, scope, operation, "X")]))


@_reads("hard_swish")
def _hard_swish(reader: Reader, scope: Scope, operation: Operation) -> None:
    for name, expected in (("threshold", 6.0), ("scale", 6.0), ("offset", 3.0)):
        if operation.attributes.get(name, expected) != expected:
            found = operation.attributes[name]
            raise ValueError(f"(pdmodel) hard_swish with {name} {found} is not supported, only {expected}")
    reader.by_row(scope, operation, _row("hard_swish"))
