"""From a `.pdmodel`'s messages to a Model: blocks, variables, and every operation that the table describes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from proa.formats.paddle.files import dtypes, table
from proa.formats.paddle.files.legacy import schema
from proa.formats.paddle.files.wire import decode
from proa.formats.paddle.model import Block, Model, Op, Value

_DEEPEST = 32
_HOUSEKEEPING = {"feed", "fetch"}


class Pending:
    """A value of a conditional block whose other branch is not known yet; `control.py` says what becomes of it."""


def arguments(slots: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {slot.get("parameter", ""): slot.get("arguments", []) for slot in slots}


class Operation:
    """One operation's message with its slots and attributes by name."""

    def __init__(self, message: dict[str, Any]) -> None:
        self.type: str = message.get("type", "")
        self.inputs = arguments(message.get("inputs", []))
        self.outputs = arguments(message.get("outputs", []))
        self.attributes: dict[str, Any] = {}
        self.variables: dict[str, list[str]] = {}  # attributes that are given by variables
        for attribute in message.get("attrs", []):
            name, field = attribute.get("name", ""), schema.ATTRIBUTE_FIELDS.get(attribute.get("type"))
            if field is None:
                raise ValueError(
                    f"(pdmodel) the attribute {name!r} of {self.type} has an unknown type; the file is damaged"
                )
            if field == "var_name":
                self.variables[name] = [attribute.get(field, "")]
            elif field == "vars_name":
                self.variables[name] = attribute.get(field, [])
            else:
                self.attributes[name] = _plain(attribute, field)

    def attribute(self, name: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        value = self.attributes.get(name, default)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ValueError(f"(pdmodel) the attribute {name!r} of {self.type} is {value!r}; the file is damaged")
        return value


def _plain(attribute: dict[str, Any], field: str) -> Any:
    if field not in attribute:
        if not field.endswith("s") or field == "s":
            raise ValueError(f"(pdmodel) the attribute {attribute.get('name')!r} has no value; the file is damaged")
        return []
    value = attribute[field]
    if field == "s":
        return value.decode(errors="replace")
    if field == "strings":
        return [piece.decode(errors="replace") for piece in value]
    if field == "scalar":
        return scalar(value)
    if field == "scalars":
        return [scalar(element) for element in value]
    return value


def scalar(message: dict[str, Any]) -> Any:
    for field in ("b", "i", "r"):
        if field in message:
            return message[field]
    if "c" in message:
        return complex(message["c"].get("real", 0.0), message["c"].get("imaginary", 0.0))
    raise ValueError("(pdmodel) a scalar without a value; the file is damaged")


class Scope:
    """A block while it is read: what each variable holds, and the operations so far."""

    def __init__(self, index: int, outer: Scope | None) -> None:
        self.index = index
        self.outer = outer
        self.values: dict[str, Any] = dict(outer.values) if outer else {}
        self.written: dict[str, None] = {}  # names, in order
        self.block = Block()
        self.done: set[int] = set()  # operations that were already taken care of


class Reader:
    def __init__(self, program: dict[str, Any]) -> None:
        self.messages: list[dict[str, Any]] = program.get("blocks", [])
        if not self.messages:
            raise ValueError("(pdmodel) the program has no blocks; the file is damaged")
        self.variables = [{v.get("name", ""): v for v in block.get("vars", [])} for block in self.messages]
        self.operations: dict[int, list[Operation]] = {}
        self.names: set[str] = set()
        self.counts: dict[str, int] = {}
        self.negations: dict[int, Value] = {}  # id of a value -> what it is the logical negation of
        self.entered: set[int] = set()
        self.parameters: dict[str, Value] = {}
        self.inputs: list[tuple[int, Value]] = []
        self.outputs: list[tuple[int, str]] = []

    # Variables

    def declaration(self, index: int, name: str) -> dict[str, Any]:
        """The message of a variable, looked up in the block and the blocks around it."""
        for _ in range(_DEEPEST):
            if name in self.variables[index]:
                return self.variables[index][name]
            parent = self.messages[index].get("parent_idx", -1)
            if not 0 <= parent < index:
                break
            index = parent
        return {}

    def declared_in(self, index: int, name: str) -> bool:
        return name in self.variables[index]

    def kind(self, scope: Scope, name: str) -> tuple[str, tuple[int, ...] | None]:
        """Element type and sizes of a variable as declared; arrays of tensors have "float32[]"."""
        message = self.declaration(scope.index, name).get("type", {})
        dense = message.get("dense") or message.get("array") or {}
        tensor = dense.get("tensor") or message.get("selected_rows") or {}
        dtype = dtypes.NAMES_OF_NUMBERS.get(tensor.get("data_type", -1), "float32")
        dims = tensor.get("dims", [])
        if message.get("type") == schema.TENSOR_ARRAY:
            return dtype + dtypes.ARRAY, tuple(dims)
        return dtype, tuple(dims) if tensor else None

    def fresh(self, name: str) -> str:
        unique, count = name, self.counts.get(name, 1)
        while unique in self.names:
            count += 1
            unique = f"{name}@{count}"
        self.counts[name] = count
        self.names.add(unique)
        return unique

    def assign(self, scope: Scope, name: str) -> Value:
        """A new value for a variable."""
        value = Value(self.fresh(name), *self.kind(scope, name))
        self.bind(scope, name, value)
        return value

    def bind(self, scope: Scope, name: str, value: Any) -> None:
        scope.values[name] = value
        scope.written[name] = None

    def read(self, scope: Scope, name: str) -> Value:
        value = scope.values.get(name)
        if isinstance(value, Pending):
            from proa.formats.paddle.files.legacy import control

            value = control.settle(self, scope, name)
        if value is None:
            message = self.declaration(scope.index, name)
            if message.get("type", {}).get("type") != schema.TENSOR_ARRAY:
                raise ValueError(f"(pdmodel) the variable {name!r} is read before it has a value; the file is damaged")
            value = self.assign(scope, name)  # an array of tensors starts empty
            dtype = value.dtype.removesuffix(dtypes.ARRAY)
            scope.block.ops.append(Op("create_array", [], {"dtype": dtype}, [value]))
        return value

    # Operations that are made on the way

    def emit(
        self, scope: Scope, name: str, inputs: list[Any], attributes: dict[str, Any], dtype: str, shape: Any = None
    ) -> Value:
        """An operation that the file does not have, with one result."""
        value = Value(self.fresh(f"{name}_"), dtype, None if shape is None else tuple(shape))
        scope.block.ops.append(Op(name, inputs, attributes, [value]))
        return value

    def integers(self, scope: Scope, values: list[int]) -> Value:
        if not isinstance(values, list) or any(
            isinstance(value, bool) or not isinstance(value, int) for value in values
        ):
            raise ValueError(f"(pdmodel) expected a list of integers, found {values!r}; the file is damaged")
        return self.emit(scope, "full_int_array", [], {"value": values, "dtype": "int64"}, "int64", (len(values),))

    def number(self, scope: Scope, value: Any, dtype: str, shape: tuple[int, ...] = (1,)) -> Value:
        try:
            value = float(value)
        except (TypeError, ValueError):
            raise ValueError(f"(pdmodel) expected a number, found {value!r}; the file is damaged") from None
        return self.emit(scope, "full", [], {"shape": list(shape), "value": value, "dtype": dtype}, dtype, shape)

    def vector(self, scope: Scope, elements: list[Value]) -> Value:
        """One integer vector of several tensors with one element each."""
        pieces = []
        for element in elements:
            # Whatever is declared: files from before 0-d tensors say [1] where today's operations give [].
            element = self.emit(scope, "reshape", [element, self.integers(scope, [1])], {}, element.dtype, (1,))
            if element.dtype != "int64":
                element = self.emit(scope, "cast", [element], {"dtype": "int64"}, "int64", (1,))
            pieces.append(element)
        if len(pieces) == 1:
            return pieces[0]
        return self.emit(scope, "concat", [pieces, self.number(scope, 0, "int32")], {}, "int64", (len(pieces),))

    # Operations of the file

    def operand(self, scope: Scope, operation: Operation, spec: table.Operand) -> Any:
        for slot, several in spec.slots:
            names = operation.inputs.get(slot, [])
            if not names:
                continue
            values = [self.read(scope, name) for name in names]
            if several:
                return self.vector(scope, values) if spec.constant else values
            if len(values) != 1:
                raise ValueError(f"(pdmodel) {operation.type} has {len(values)} tensors in {slot}; the file is damaged")
            return values[0]
        if spec.literal is not None:
            return self.number(scope, spec.literal, spec.target)
        if spec.constant is None:
            return None
        attribute = spec.constant
        legacy = attribute.legacy or attribute.name
        if legacy in operation.variables:
            values = [self.read(scope, name) for name in operation.variables[legacy]]
            return values[0] if len(values) == 1 else self.vector(scope, values)
        value = self.attribute(scope, operation, attribute)
        if spec.target == "list":
            return self.integers(scope, value if isinstance(value, list) else [value])
        return self.number(scope, value, spec.target)

    def attribute(self, scope: Scope, operation: Operation, spec: table.Attribute) -> Any:
        if spec.of_output:
            first = next((names[0] for names in operation.outputs.values() if names), "")
            return self.kind(scope, first)[0]
        value = operation.attributes.get(spec.legacy) if spec.legacy else None
        if value is None:
            value = spec.default
            if value is None:
                raise ValueError(f"(pdmodel) {operation.type} has no attribute {spec.legacy!r}; the file is damaged")
        return self.converted(operation, spec, value)

    def converted(self, operation: Operation, spec: table.Attribute, value: Any) -> Any:
        """The value in the newer format's kind; a value of another kind is an error."""
        kind = spec.kind
        if kind == "dtype":
            return dtypes.NAMES_OF_NUMBERS.get(value, dtypes.UNDEFINED)
        several = kind == "intarray" or kind.endswith("s")
        element = "long" if kind == "intarray" else kind.removesuffix("s")
        values = value if isinstance(value, list) else [value]
        accepted = {"bool": (bool, int), "string": (str,), "int": (int,), "long": (int,)}.get(element, (int, float))
        if (not several and len(values) != 1) or any(not isinstance(item, accepted) for item in values):
            described = f"the attribute {spec.legacy!r} of {operation.type} is {value!r}"
            raise ValueError(f"(pdmodel) {described}; the file is damaged")
        convert: Any = {"bool": bool, "string": str, "int": int, "long": int}.get(element, float)
        values = [convert(item) for item in values]
        return values if several else values[0]

    def results(self, scope: Scope, operation: Operation, outputs: tuple[tuple[str, bool], ...]) -> list[Any]:
        found: list[Any] = []
        for slot, several in outputs:
            values = [self.assign(scope, name) for name in operation.outputs.get(slot, [])]
            for value in values:
                if slot == "Indices" and value.dtype.startswith("float"):
                    value.dtype = "int64"  # some versions declare the type of the numbers that are pointed at
            if not several and len(values) > 1:
                raise ValueError(f"(pdmodel) {operation.type} has {len(values)} tensors in {slot}; the file is damaged")
            found.append(values if several else values[0] if values else None)
        return found

    def by_row(self, scope: Scope, operation: Operation, row: table.Row) -> Op:
        inputs = [self.operand(scope, operation, spec) for spec in row.operands]
        attributes = {spec.name: self.attribute(scope, operation, spec) for spec in row.attributes}
        op = Op(row.name, inputs, attributes)
        scope.block.ops.append(op)
        op.outputs = self.results(scope, operation, row.outputs)
        return op

    def operation(self, scope: Scope, operation: Operation, position: int) -> None:
        from proa.formats.paddle.files.legacy import control, special

        if operation.type in _HOUSEKEEPING:
            self.housekeeping(scope, operation)
        elif operation.type in control.READERS:
            control.READERS[operation.type](self, scope, operation, position)
        elif operation.type in special.READERS:
            special.READERS[operation.type](self, scope, operation)
        else:
            row = table.by_legacy_name().get(operation.type)
            if row is None:
                raise ValueError(
                    f"(read_model) the operation {operation.type!r} of .pdmodel files is not known here; known are "
                    f"{len(table.by_legacy_name())} others. Save the model with Paddle 3 as .json, or name the operation "
                    "in a report"
                )
            op = self.by_row(scope, operation, row)
            if op.name == "logical_not" and isinstance(op.inputs[0], Value) and op.outputs[0] is not None:
                self.negations[id(op.outputs[0])] = op.inputs[0]

    def housekeeping(self, scope: Scope, operation: Operation) -> None:
        column = operation.attribute("col", int, 0)
        if operation.type == "feed":
            for name in operation.outputs.get("Out", []):
                self.inputs.append((column, self.assign(scope, name)))
        else:
            for name in operation.inputs.get("X", []):
                self.read(scope, name)
                self.outputs.append((column, name))

    def operations_of(self, index: int) -> list[Operation]:
        if index not in self.operations:
            self.operations[index] = [Operation(message) for message in self.messages[index].get("ops", [])]
        return self.operations[index]

    def enter(self, index: Any, outer: Scope | None) -> Scope:
        """Reads a block. Each is read once, and only from an earlier one: no cycles."""
        if not isinstance(index, int) or not 0 <= index < len(self.messages) or index in self.entered:
            raise ValueError(f"(pdmodel) block {index} does not exist or is used twice; the file is damaged")
        if len(self.entered) and self.depth(outer) > _DEEPEST:
            raise ValueError(f"(pdmodel) blocks are nested more than {_DEEPEST} deep; the file is damaged")
        self.entered.add(index)
        scope = Scope(index, outer)
        for position, operation in enumerate(self.operations_of(index)):
            if position not in scope.done:
                self.operation(scope, operation, position)
        return scope

    def depth(self, scope: Scope | None) -> int:
        count = 0
        while scope is not None:
            scope, count = scope.outer, count + 1
        return count

    def model(self, version: int) -> Model:
        top = Scope(0, None)
        for name, variable in self.variables[0].items():
            kind = variable.get("type", {}).get("type")
            if variable.get("persistable") and kind in (schema.DENSE_TENSOR, schema.SELECTED_ROWS):
                self.parameters[name] = self.assign(top, name)
        top.written.clear()
        self.entered.add(0)
        for position, operation in enumerate(self.operations_of(0)):
            if position not in top.done:
                self.operation(top, operation, position)
        inputs = [value for _, value in sorted(self.inputs, key=lambda pair: pair[0])]
        outputs = [self.read(top, name) for _, name in sorted(self.outputs, key=lambda pair: pair[0])]
        return Model(inputs, {}, self.parameters, top.block, outputs, version)


def read_program(content: bytes) -> Model:
    """The model of a `.pdmodel` file's content, still without the numbers of its parameters."""
    program = decode(content, schema.PROGRAM)
    version = program.get("version", {}).get("version", 0)
    try:
        return Reader(program).model(version)
    except RecursionError:
        raise ValueError("(pdmodel) the program is nested too deep; the file is damaged") from None


SpecialReader = Callable[[Reader, Scope, Operation], None]


@functools.cache
def known_operations() -> frozenset[str]:
    """Every operation name of `.pdmodel` files that can be read."""
    from proa.formats.paddle.files.legacy import control, special

    return frozenset(table.by_legacy_name()) | frozenset(control.READERS) | frozenset(special.READERS) | _HOUSEKEEPING
