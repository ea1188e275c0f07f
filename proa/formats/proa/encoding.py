"""Programs as plain JSON, and back, with everything checked on the way back.

    program      {"inputs": [type], "instructions": [instruction], "outputs": [number], "scalars": [number]}
    type         "float32[2,3]", or {"dtype": "float32", "shape": [value]} where sizes are unknown (see `sizes.py`)
    instruction  {"op": name, "in": [operand], "attributes": [value], "out": [type], "checked": bool?, "at": [file, line]?}
    operand      a number (negative: ~k is input k), null (absent), or a name: "float", "int", "bool", "complex" (a scalar)
    value        null, true, 1, 1.5, "text", [values] (a tuple), or an object with one key: {"float": "inf"},
                 {"complex": [re, im]}, {"dtype": "float32"}, {"slice": [a, b, c]}, {"block": program},
                 {"size": ...}, {"real": ...} (numbers computed from unknown sizes), {"call": ...} (see `calls.py`)

The operations and the order of their attributes are those of the op table; `upgrades.py` says what older files lack.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import name_of, to_numpy_dtype
from ...core.place import Place
from ...core.symbols import SymbolicSize, is_symbolic, plain
from ...graph.deferred import CALL, Deferred
from ...graph.stops import Stops
from ...graph.structure import Leaf
from ...ir.block import Block
from ...ir.editing import Editor
from ...ir.operation import all_operations
from ...ir.program import Instruction, Program
from ...ir.sizes.assumptions import disagreements
from ...ir.sizes.dimensions import Known, symbols_in
from .archive import DamagedArtifact
from .calls import decode_call, encode_call
from .kinds import attribute_count, unfit_attribute
from .sizes import SizeReader, SizeWriter
from .upgrades import upgraded, with_moved_numbers

_SCALARS: dict[str, type] = {"float": float, "int": int, "bool": bool, "complex": complex}
_TYPE = re.compile(r"([a-z0-9_]{3,20})\[([0-9,]{0,400})\]")
_LARGEST = 1 << 62
_MOST_AXES = 64
_DEEPEST = 24
_MOST_RESULTS = 100_000


# ---- writing -----------------------------------------------------------------------------------------------------


def encode_type(aval: Aval, sizes: SizeWriter) -> Any:
    if aval.symbolic:
        return {"dtype": name_of(aval.dtype), "shape": [encode_number(size, sizes) for size in aval.shape]}
    return f"{name_of(aval.dtype)}[{','.join(map(str, aval.shape))}]"


def encode_number(value: Any, sizes: SizeWriter) -> Any:
    if is_symbolic(value):
        return sizes.number(value)
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return number if math.isfinite(number) else {"float": repr(number)}
    if isinstance(value, (complex, np.complexfloating)):
        return {"complex": [encode_number(value.real, sizes), encode_number(value.imag, sizes)]}
    raise TypeError(f"(save) {type(value).__name__} is not a number")


def encode_value(value: Any, sizes: SizeWriter) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float, complex, np.number, np.bool_)) and not isinstance(value, np.dtype):
        return encode_number(value, sizes)
    if isinstance(value, tuple):
        return [encode_value(part, sizes) for part in value]
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return {"dtype": name_of(np.dtype(value))}
    if isinstance(value, slice):
        return {"slice": [encode_value(part, sizes) for part in (value.start, value.stop, value.step)]}
    if isinstance(value, Block):
        return {"block": encode_program(value.program, value.scalars, value.locations, value.stops, sizes)}
    if isinstance(value, Deferred):
        return encode_call(value, lambda part: encode_value(part, sizes))
    raise TypeError(f"(save) an attribute of type {type(value).__name__} cannot be saved")


def encode_program(
    program: Program, scalars: Sequence[Any], locations: dict[int, tuple[str, int]], stops: Stops | None,
    sizes: SizeWriter,
) -> dict[str, Any]:  # fmt: skip
    """The Program; numbers of values are made gapless."""
    numbers: dict[int, int] = {}
    instructions: list[dict[str, Any]] = []
    kept: list[Any] = []
    for instruction in program.instructions:
        entry: dict[str, Any] = {"op": instruction.operation.name, "in": []}
        for operand in instruction.operands:
            if operand.__class__ is int:
                entry["in"].append(numbers[operand] if operand >= 0 else operand)
            elif operand is None:
                entry["in"].append(None)
            else:
                entry["in"].append(operand.kind.__name__)
                kept.append(encode_number(scalars[operand.number], sizes))
        try:
            entry["attributes"] = [encode_value(value, sizes) for value in instruction.attributes]
        except TypeError as error:
            raise NotImplementedError(f"{error}; it belongs to {instruction.operation.name}") from None
        unfit = unfit_attribute(instruction.operation, instruction.attributes)
        if unfit is not None:
            raise NotImplementedError(
                f"(save) {instruction.operation.name} holds {instruction.attributes[unfit]!r:.60}, which is not plain data"
            )
        entry["out"] = [encode_type(aval, sizes) for aval in instruction.outputs]
        for number in instruction.made:
            numbers[number] = len(numbers)
        if instruction.flagged:
            entry["checked"] = True
        where = locations.get(instruction.index)
        if where is not None:
            entry["at"] = [os.path.basename(where[0]), where[1]]
        stopped = stops.operands.get(instruction.index) if stops is not None else None
        if stopped:
            entry["stopped"] = list(stopped)
        instructions.append(entry)
    encoded: dict[str, Any] = {
        "inputs": [encode_type(aval, sizes) for aval in program.inputs], "instructions": instructions,
        "outputs": [numbers[number] if number >= 0 else number for number in program.outputs], "scalars": kept,
    }  # fmt: skip
    if stops is not None and stops.custom:
        encoded["custom_gradient"] = True
    return encoded


def encode_structure(value: Any) -> Any:
    if isinstance(value, Leaf):
        return {"tensor": value.position}
    if isinstance(value, dict):
        return {"dict": [[encode_value(key, SizeWriter()), encode_structure(part)] for key, part in value.items()]}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__ if type(value) in (list, tuple) else "tuple": [encode_structure(v) for v in value]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"value": encode_value(plain(value), SizeWriter())}
    raise TypeError(
        f"(save) a result of type {type(value).__name__} cannot be saved; return tensors in lists, tuples or dictionaries"
    )


# ---- reading -----------------------------------------------------------------------------------------------------


def _want(condition: bool, text: str) -> None:
    if not condition:
        raise DamagedArtifact(f"(load) {text}; the file is damaged")


def _is_int(value: Any) -> bool:
    return value.__class__ is int and -_LARGEST < value < _LARGEST


def decode_type(text: Any, place: Place, sizes: SizeReader) -> Aval:
    if isinstance(text, dict):
        plain_type = decode_type(f"{str(text.get('dtype'))[:40]}[]", place, sizes)
        shape = text.get("shape")
        _want(isinstance(shape, list) and len(shape) <= _MOST_AXES, "a type has no shape")
        given = tuple(decode_value(size, place, sizes) for size in shape or ())
        _want(all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in given), "a size is none")
        return make_aval(given, plain_type.dtype, place)
    match = _TYPE.fullmatch(text) if isinstance(text, str) else None
    _want(match is not None, f"{str(text)[:60]!r} is not a type")
    assert match is not None
    numbers = [int(size) for size in match[2].split(",")] if match[2] else []
    _want(len(numbers) <= _MOST_AXES and all(size < _LARGEST for size in numbers), f"{text[:60]!r} has absurd sizes")
    try:
        dtype = to_numpy_dtype(match[1])
    except (TypeError, ValueError):
        raise DamagedArtifact(f"(load) the data type {match[1]!r} is not known") from None
    return make_aval(tuple(numbers), dtype, place)


def decode_value(value: Any, place: Place, sizes: SizeReader, depth: int = 0) -> Any:
    _want(depth <= _DEEPEST, "attributes are nested too deep")
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        _want(_is_int(value), "an attribute is an absurd number")
        return value
    if isinstance(value, float):
        return value
    if isinstance(value, list):
        return tuple([decode_value(part, place, sizes, depth + 1) for part in value])
    _want(isinstance(value, dict) and len(value) == 1, "an attribute is of no known kind")
    ((kind, content),) = value.items()
    if kind == "float":
        _want(content in ("inf", "-inf", "nan"), "an attribute is not a number")
        return float(content)
    if kind == "complex":
        _want(isinstance(content, list) and len(content) == 2, "a complex number has two parts")
        parts = [decode_value(part, place, sizes, depth + 1) for part in content]
        _want(all(isinstance(part, (int, float)) for part in parts), "a complex number has numbers as parts")
        return complex(*parts)
    if kind == "dtype":
        return decode_type(f"{content}[]", place, sizes).dtype
    if kind in ("size", "real"):
        return sizes.number(kind, content)
    if kind == "slice":
        _want(isinstance(content, list) and len(content) == 3, "a slice has three parts")
        parts = [decode_value(part, place, sizes, depth + 1) for part in content]
        _want(all(part is None or isinstance(part, int) for part in parts), "a slice has numbers as parts")
        return slice(*parts)
    _want(kind == "block", f"{kind[:40]!r} is no known kind of attribute")
    program, scalars, stops, locations = decode_program(content, place, sizes, depth + 1)
    return Block(program, scalars, stops, locations)


def decode_program(
    content: Any, place: Place, sizes: SizeReader, depth: int = 0
) -> tuple[Program, list[Any], Stops, dict[int, tuple[str, int]]]:
    """The Program, its scalars, where gradients stop, and the lines of the user's code."""
    _want(isinstance(content, dict), "a program is not an object")
    parts = [content.get(key) for key in ("inputs", "instructions", "outputs", "scalars")]
    _want(all(isinstance(part, list) for part in parts), "a program lacks one of its lists")
    parts[1], parts[3] = with_moved_numbers(parts[1] or [], parts[3] or [])
    inputs = [decode_type(text, place, sizes) for text in parts[0] or []]
    editor = Editor(inputs)
    locations: dict[int, tuple[str, int]] = {}
    stops: Stops = Stops.__new__(Stops)
    stops.operands, stops.custom = {}, content.get("custom_gradient") is True
    stops.results_want, stops.wants = True, set()
    for entry in parts[1] or []:
        instruction = _add_instruction(editor, entry, place, sizes, depth)
        where, stopped = entry.get("at"), entry.get("stopped")
        if isinstance(where, list) and len(where) == 2 and isinstance(where[0], str) and _is_int(where[1]):
            locations[instruction.index] = (where[0], where[1])
        if stopped is not None:
            _want(
                isinstance(stopped, list) and all(_is_int(p) and 0 <= p < len(instruction.operands) for p in stopped),
                "operands that stop gradients are not among the operands",
            )
            stops.operands[instruction.index] = tuple(stopped)
    outputs = parts[2] or []
    _want(all(_is_int(o) and o in editor.avals for o in outputs), "a result is no value of the program")
    _want(all(o >= 0 for o in outputs), "a result is an input; programs copy those")
    program = Program(inputs, editor.instructions, tuple(outputs))
    scalars = [decode_value(number, place, sizes) for number in parts[3] or []]
    _want(len(scalars) == program.num_scalars, "the numbers do not fit the operands that stand for them")
    fitting = zip(scalars, program.scalars, strict=True)
    _want(all(_fits(number, scalar.kind) for number, scalar in fitting), "a number is of another kind than its operand")
    return program, scalars, stops, locations


def _fits(number: Any, kind: type) -> bool:
    if kind is complex:
        return isinstance(number, (int, float, complex))
    if kind is float:
        return isinstance(number, (int, float)) and not isinstance(number, bool)
    return number.__class__ is kind or (kind is int and isinstance(number, (bool, SymbolicSize)))


def _add_instruction(editor: Editor, entry: Any, place: Place, sizes: SizeReader, depth: int) -> Instruction:
    _want(isinstance(entry, dict), "an instruction is not an object")
    name, given, attributes, types = (entry.get(key) for key in ("op", "in", "attributes", "out"))
    _want(
        isinstance(name, str) and isinstance(given, list) and isinstance(attributes, list), "an instruction lacks parts"
    )
    _want(isinstance(types, list) and 0 < len(types) <= _MOST_RESULTS, "an instruction has no results")
    operation = all_operations().get(name)
    if operation is None:
        raise DamagedArtifact(f"(load) the operation {str(name)[:60]!r} is not in the op table of this version")
    operands: list[Any] = []
    for operand in given:
        if isinstance(operand, str):
            _want(operand in _SCALARS, "an operand is of no known kind")
            operand = _SCALARS[operand]
        elif operand is not None:
            _want(_is_int(operand) and operand in editor.avals, f"{name} reads a value before it is defined")
        operands.append(operand)
    kinds = tuple([editor.kind_of(operand) for operand in operands])
    if not operation.variadic:
        _want(len(operands) == len(operation.operand_names), f"{name} has {len(operands)} operands")
    count = attribute_count(operation)
    outputs = tuple(decode_type(text, place, sizes) for text in types)
    if operation is CALL:
        _want(len(attributes) == 1 and isinstance(attributes[0], dict), "a call has no function")
        content = attributes[0].get("call")
        decoded: tuple[Any, ...] = (
            decode_call(content, outputs, len(operands), lambda part: decode_value(part, place, sizes, depth + 1)),
        )
    else:
        decoded = upgraded(name, tuple(decode_value(value, place, sizes, depth) for value in attributes), count)
    _want(count is None or len(decoded) == count, f"{name} has {len(decoded)} attributes")
    unfit = unfit_attribute(operation, decoded)
    _want(unfit is None, f"attribute {unfit} of {name} is of another kind than the operation takes")
    _verify(operation, kinds, decoded, outputs, place, sizes)
    checked = entry.get("checked") is True and operation.check is not None
    return editor.add(operation, operands, decoded, outputs, checked)


def _verify(
    operation: Any, kinds: tuple[Any, ...], attributes: tuple[Any, ...], outputs: tuple[Aval, ...], place: Place,
    sizes: SizeReader,
) -> None:  # fmt: skip
    """Shapes inferred anew must be those in the file. (Operations without a rule are inferred when they are lowered, what
    values decide is compared when it runs.)"""
    if operation.infer_rule is None or operation is CALL:
        return
    if operation.name == "unbind" and isinstance(kinds[0], Aval):
        axis: Any = attributes[0] if attributes else None
        _want(isinstance(axis, int) and -kinds[0].ndim <= axis < kinds[0].ndim, "unbind has no such axis")
        _want(kinds[0].shape[axis] == len(outputs), "unbind has another number of results")
    symbols = symbols_in((kinds, attributes))
    known = Known({symbol: symbol.example for symbol in sizes.symbols})
    try:
        inferred = operation.infer_rule(operation, known.resolve(kinds), known.resolve(attributes), place)
        inferred = inferred if isinstance(inferred, tuple) else (inferred,)
    except MemoryError:
        raise
    except Exception as error:  # a rule that meets attributes of the wrong kind may raise anything
        raise DamagedArtifact(f"(load) {operation.name} does not fit its operands: {str(error)[:300]}") from None
    if inferred != known.resolve(outputs):
        found, wanted = ", ".join(map(str, inferred[:4])), ", ".join(map(str, outputs[:4]))
        raise DamagedArtifact(f"(load) {operation.name} gives {found}, and the file says {wanted}; the file is damaged")
    for position, axis in disagreements(operation, kinds, attributes, place, outputs, symbols) if symbols else ():
        size: Any = outputs[position].shape[axis]
        symbol = size.expression.symbol if is_symbolic(size) else None
        _want(symbol is not None and symbol.is_result, f"a size of {operation.name} is not what the file says")


def decode_structure(content: Any, count: int, depth: int = 0) -> Any:
    _want(
        depth <= _DEEPEST and isinstance(content, dict) and len(content) == 1, "the structure of the results is damaged"
    )
    ((kind, inner),) = content.items()
    if kind == "tensor":
        _want(_is_int(inner) and 0 <= inner < count, "a result is not among the results")
        return Leaf(inner)
    if kind == "value":
        _want(inner is None or isinstance(inner, (bool, int, float, str, dict)), "a result is of no known kind")
        return decode_value(inner, None, SizeReader(), depth)  # type: ignore[arg-type]
    _want(isinstance(inner, list) and kind in ("list", "tuple", "dict"), "a result is of no known kind")
    if kind == "dict":
        _want(all(isinstance(p, list) and len(p) == 2 for p in inner), "a result is of no known kind")
        keys = [decode_value(key, None, SizeReader(), depth) for key, _ in inner]  # type: ignore[arg-type]
        return dict(zip(keys, [decode_structure(part, count, depth + 1) for _, part in inner], strict=True))
    parts = [decode_structure(part, count, depth + 1) for part in inner]
    return parts if kind == "list" else tuple(parts)
