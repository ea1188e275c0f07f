"""PIR `.json` (Paddle 3) to a Model.

The file is one JSON object: `base_code` (magic "pir", a version) and `program`, whose regions hold blocks of operations.
An operation has `#` (dialect number and name: 0 builtin, 1 operations, 2 control flow; "p" is a parameter), `I` operands
(`{"%": id}`, 0 is an absent one), `O` results (id and type), `A` attributes (`N` name, `AT` typed value), `OA` attributes
of the results, and `regions` for conditions and loops. Block arguments have negative ids.

What is resolved here: parameters, inputs (`data`) and results (`fetch`) leave the list of operations; `combine` and
`split`, which pack and unpack lists of tensors, become Python lists; `yield` becomes the block's results.
"""

from __future__ import annotations

import json
from typing import Any

from proa.formats.paddle.files import dtypes
from proa.formats.paddle.files.params import zeros
from proa.formats.paddle.model import Block, Model, Op, Value

_DIALECTS = {"0": "builtin.", "1": "", "2": "cf."}
_NUMBERS_AS_TEXT = {"INF": float("inf"), "-INF": float("-inf"), "NaN": float("nan"), "NAN": float("nan")}
_PLACES = {0: "undefined", 1: "cpu", 2: "gpu"}
_FORGOTTEN = {"struct_name", "op_callstack", "op_role", "op_role_var", "op_namescope", "op_device", "with_quant_attr"}
_DEEPEST = 32


class _Damaged(ValueError):
    pass


def _want(value: Any, kind: type | tuple[type, ...], what: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        expected = " or ".join(part.__name__ for part in (kind if isinstance(kind, tuple) else (kind,)))
        raise _Damaged(f"(PIR json) {what} should be {expected}, found {type(value).__name__}; the file is damaged")
    return value


def attribute(entry: Any, depth: int = 0) -> Any:
    """The Python value of a typed attribute."""
    tag = _want(_want(entry, dict, "an attribute").get("#"), str, "an attribute's type")
    data = entry.get("D")
    if tag == "0.a_bool":
        return bool(_want(data, (bool, int), tag))
    if tag in ("0.a_i32", "0.a_i64", "0.a_index"):
        return _want(data, int, tag)
    if tag in ("0.a_f32", "0.a_f64"):
        if data is None:
            text = _want(entry.get("VD"), str, tag)
            if text not in _NUMBERS_AS_TEXT:
                raise _Damaged(f"(PIR json) {text!r} is not a number; the file is damaged")
            return _NUMBERS_AS_TEXT[text]
        return float(_want(data, (int, float), tag))
    if tag in ("0.a_c64", "0.a_c128"):
        _want(data, list, tag)
        if len(data) != 2:
            raise _Damaged("(PIR json) a complex number has two parts; the file is damaged")
        return complex(*[_want(part, (int, float), tag) for part in data])
    if tag == "0.a_str":
        return _want(data, str, tag)
    if tag == "0.a_array":
        if depth > 4:
            raise _Damaged("(PIR json) arrays within arrays within arrays; the file is damaged")
        return [attribute(element, depth + 1) for element in _want(data, list, tag)]
    if tag == "1.a_intarray":
        return [_want(element, int, tag) for element in _want(data, list, tag)]
    if tag == "1.a_scalar":
        return attribute(data, depth + 1) if isinstance(data, dict) else data
    if tag == "1.a_dtype":
        name = _want(data, str, tag)
        return dtypes.UNDEFINED if name.startswith("Undefined") else name
    if tag == "1.a_place":
        place = _want(data, list, tag)
        return _PLACES.get(place[0], "undefined") if place and isinstance(place[0], int) else "undefined"
    if tag == "1.a_layout":
        return _want(data, str, tag)
    if tag == "0.a_tattr":
        return _type(data)
    raise _Damaged(f"(PIR json) attributes of type {tag!r} are not known")


def _type(entry: Any) -> Any:
    """(dtype, shape) of a tensor, a list of such for a list of tensors, None for an absent result."""
    tag = _want(_want(entry, dict, "a type").get("#"), str, "a type's name")
    if tag == "NULL":
        return None
    data = entry.get("D")
    if tag == "0.t_vec":
        return [_type(element) for element in _want(data, list, tag)]
    if tag in ("0.t_dtensor", "1.t_dense_tensor_array", "1.t_selected_rows", "3.t_dist_dtensor"):
        _want(data, list, tag)
        if len(data) < 2:
            raise _Damaged("(PIR json) a tensor type without element type and sizes; the file is damaged")
        element = dtypes.NAMES_OF_TAGS.get(_want(_want(data[0], dict, "an element type").get("#"), str, "its name"))
        if element is None:
            raise _Damaged(f"(PIR json) the element type {data[0].get('#')!r} is not known")
        shape = tuple(_want(size, int, "a size") for size in _want(data[1], list, "the sizes"))
        return (element + dtypes.ARRAY if tag == "1.t_dense_tensor_array" else element), shape
    if tag in dtypes.NAMES_OF_TAGS:
        return dtypes.NAMES_OF_TAGS[tag], ()
    raise _Damaged(f"(PIR json) values of type {tag!r} are not known")


class _Reader:
    def __init__(self) -> None:
        self.names: set[str] = set()
        self.anonymous: set[Value] = set()
        self.parameters: dict[str, Value] = {}
        self.unsaved: set[str] = set()
        self.inputs: list[Value] = []
        self.fetched: list[tuple[int, str, Value]] = []

    def value(self, identity: int, kind: Any, name: str | None = None) -> Any:
        if kind is None:
            return None
        if isinstance(kind, list):
            return [self.value(identity, element) for element in kind]
        if name is None:
            name = f"value_{identity}" if identity > 0 else f"argument_{-identity}"
            while name in self.names:
                name += "_"
        elif name in self.names:
            raise _Damaged(f"(PIR json) two values are called {name!r}; the file is damaged")
        self.names.add(name)
        value = Value(name, *kind)
        if identity > 0:
            self.anonymous.add(value)
        return value

    def define(self, scope: dict[int, Any], results: Any) -> list[Any]:
        values = []
        for result in _want(results, list, "O"):
            identity = _want(_want(result, dict, "a result").get("%"), int, "an id")
            if identity <= 0 or identity in scope:
                raise _Damaged(
                    f"(PIR json) the value {identity} is defined twice or has a wrong id; the file is damaged"
                )
            scope[identity] = self.value(identity, _type(result.get("TT")))
            values.append(scope[identity])
        return values

    def operands(self, scope: dict[int, Any], entries: Any) -> list[Any]:
        found = []
        for entry in _want(entries, list, "I"):
            identity = _want(_want(entry, dict, "an operand").get("%"), int, "an id")
            if identity == 0:
                found.append(None)
            elif identity in scope:
                found.append(scope[identity])
            else:
                raise _Damaged(f"(PIR json) the value {identity} is used before it is defined; the file is damaged")
        return found

    def parameter(self, scope: dict[int, Any], entry: dict[str, Any]) -> None:
        facts = _want(entry.get("A"), list, "A")
        if not facts:
            raise _Damaged("(PIR json) a parameter without a name; the file is damaged")
        name = _want(facts[-1], str, "a parameter's name")
        result = _want(entry.get("O"), dict, "O")
        identity, kind = _want(result.get("%"), int, "an id"), _type(result.get("TT"))
        if not isinstance(kind, tuple) or identity in scope or identity <= 0:
            raise _Damaged(f"(PIR json) the parameter {name!r} is not a tensor; the file is damaged")
        scope[identity] = self.parameters[name] = self.value(identity, kind, name)
        self.anonymous.discard(scope[identity])
        flags = entry.get("OA")
        if isinstance(flags, list) and flags and flags[0] == 0:
            self.unsaved.add(name)
        if isinstance(flags, list) and len(flags) > 2 and flags[2] == 0:
            self.parameters[name].trainable = False

    def block(self, entry: Any, outer: dict[int, Any], depth: int) -> Block:
        if depth > _DEEPEST:
            raise _Damaged(f"(PIR json) blocks are nested more than {_DEEPEST} deep; the file is damaged")
        _want(entry, dict, "a block")
        scope, block = dict(outer), Block()
        for argument in _want(entry.get("args", []), list, "args"):
            identity = _want(_want(argument, dict, "an argument").get("#"), int, "an id")
            kind = _type(argument.get("TT"))
            if not isinstance(kind, tuple):
                raise _Damaged("(PIR json) a block argument is not a tensor; the file is damaged")
            scope[identity] = value = self.value(identity, kind)
            block.arguments.append(value)
        for operation in _want(entry.get("ops"), list, "ops"):
            self.operation(block, scope, _want(operation, dict, "an operation"), depth)
        return block

    def operation(self, block: Block, scope: dict[int, Any], entry: dict[str, Any], depth: int) -> None:
        label = _want(entry.get("#"), str, "an operation's name")
        if label == "p":
            return self.parameter(scope, entry)
        dialect, _, name = label.partition(".")
        if dialect not in _DIALECTS or not name:
            raise _Damaged(f"(PIR json) the operation {label!r} is of an unknown dialect")
        name = _DIALECTS[dialect] + name
        inputs = self.operands(scope, entry.get("I", []))
        if name == "builtin.combine":
            self.alias(scope, entry, [inputs])
        elif name == "builtin.split":
            self.alias(scope, entry, self.unpacked(inputs))
        elif name == "builtin.slice":
            index = self.attributes(entry).get("index", -1)
            pieces = self.unpacked(inputs)
            if not isinstance(index, int) or not 0 <= index < len(pieces):
                raise _Damaged(f"(PIR json) element {index} of a list of {len(pieces)}; the file is damaged")
            self.alias(scope, entry, [pieces[index]])
        elif name == "cf.yield":
            block.results = inputs
        elif name == "data":
            self.input(scope, entry)
        elif name in ("fetch", "builtin.shadow_output"):
            self.fetch(scope, entry, inputs)
        else:
            operation = Op(name, inputs, self.attributes(entry))
            for region in _want(entry.get("regions", []), list, "regions"):
                blocks = _want(_want(region, dict, "a region").get("blocks"), list, "blocks")
                operation.blocks += [self.block(inner, scope, depth + 1) for inner in blocks]
            operation.outputs = self.define(scope, entry.get("O", []))
            block.ops.append(operation)

    def unpacked(self, inputs: list[Any]) -> list[Any]:
        if len(inputs) != 1 or not isinstance(inputs[0], list):
            raise _Damaged("(PIR json) something that is not a list is unpacked; the file is damaged")
        return inputs[0]

    def alias(self, scope: dict[int, Any], entry: dict[str, Any], values: list[Any]) -> None:
        results = _want(entry.get("O"), list, "O")
        if len(results) != len(values):
            raise _Damaged(f"(PIR json) a list of {len(values)} is unpacked into {len(results)}; the file is damaged")
        for result, value in zip(results, values, strict=True):
            identity = _want(_want(result, dict, "a result").get("%"), int, "an id")
            if identity in scope:
                raise _Damaged(f"(PIR json) the value {identity} is defined twice; the file is damaged")
            scope[identity] = value

    def attributes(self, entry: dict[str, Any]) -> dict[str, Any]:
        found = {}
        for pair in _want(entry.get("A", []), list, "A"):
            name = _want(_want(pair, dict, "an attribute").get("N"), str, "an attribute's name")
            if name not in _FORGOTTEN:
                found[name] = attribute(pair.get("AT"))
        return found

    def input(self, scope: dict[int, Any], entry: dict[str, Any]) -> None:
        name = _want(self.attributes(entry).get("name"), str, "an input's name")
        results = _want(entry.get("O"), list, "O")
        if len(results) != 1:
            raise _Damaged(f"(PIR json) the input {name!r} has {len(results)} results; the file is damaged")
        identity, kind = _want(_want(results[0], dict, "O").get("%"), int, "an id"), _type(results[0].get("TT"))
        if not isinstance(kind, tuple) or identity in scope or identity <= 0:
            raise _Damaged(f"(PIR json) the input {name!r} is not a tensor; the file is damaged")
        scope[identity] = value = self.value(identity, kind, name)
        self.anonymous.discard(value)
        self.inputs.append(value)

    def fetch(self, scope: dict[int, Any], entry: dict[str, Any], inputs: list[Any]) -> None:
        if len(inputs) != 1 or not isinstance(inputs[0], Value):
            raise _Damaged("(PIR json) a result of the model is not a tensor; the file is damaged")
        facts = self.attributes(entry)
        name = facts.get("name", facts.get("output_name", ""))
        column = facts.get("col", len(self.fetched))
        self.fetched.append((_want(column, int, "col"), _want(name, str, "a result's name"), inputs[0]))
        for result in _want(entry.get("O", []), list, "O"):
            scope[_want(_want(result, dict, "a result").get("%"), int, "an id")] = inputs[0]

    def name_results(self) -> list[Value]:
        self.fetched.sort(key=lambda item: item[0])
        for _, name, value in self.fetched:
            if value in self.anonymous and name and name not in self.names:
                self.names.discard(value.name)
                self.names.add(name)
                value.name = name
                self.anonymous.discard(value)
        return [value for _, _, value in self.fetched]


def read_program(text: bytes) -> Model:
    """The model of a PIR `.json` file's content; `parameters` has only those that no other file has (states, zero)."""
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("(PIR json) the file is nested too deep; it is damaged") from None
    except ValueError as error:
        raise ValueError(f"(PIR json) the file is not JSON ({error}); it is damaged") from None
    base = _want(_want(content, dict, "the file").get("base_code"), dict, "base_code")
    if base.get("magic") != "pir":
        raise ValueError(f"(PIR json) the magic word is {base.get('magic')!r}, not 'pir'; this is not a Paddle program")
    regions = _want(_want(content.get("program"), dict, "program").get("regions"), list, "regions")
    if (
        len(regions) != 1
        or len(blocks := _want(_want(regions[0], dict, "a region").get("blocks"), list, "blocks")) != 1
    ):
        raise ValueError("(PIR json) a program has one region with one block; the file is damaged")
    reader = _Reader()
    try:
        block = reader.block(blocks[0], {}, 0)
    except RecursionError:
        raise ValueError("(PIR json) the file is nested too deep; it is damaged") from None
    outputs = reader.name_results()
    unsaved = {name: zeros(reader.parameters[name]) for name in reader.unsaved}
    version = base.get("version", 0)
    return Model(reader.inputs, unsaved, reader.parameters, block, outputs, version if isinstance(version, int) else 0)
