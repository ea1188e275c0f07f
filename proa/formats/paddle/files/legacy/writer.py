"""A Model to a `.pdmodel`'s messages, with the table that the reader uses."""

from __future__ import annotations

from typing import Any

from proa.formats.paddle.files import dtypes, table
from proa.formats.paddle.files.legacy import schema
from proa.formats.paddle.files.legacy.versions import VERSIONS
from proa.formats.paddle.files.pir_write import is_saved
from proa.formats.paddle.files.wire import encode
from proa.formats.paddle.model import Model, Op, Value

_VERSION = 2006002  # the last versions whose native format this is write such a number
_FIELDS = {
    "bool": "b", "int": "i", "long": "l", "float": "f", "double": "float64", "string": "s", "bools": "bools",
    "ints": "ints", "longs": "longs", "floats": "floats", "doubles": "float64s", "strings": "strings", "dtype": "i",
    "intarray": "longs", "block": "block_idx", "scalars": "scalars",
}  # fmt: skip
# Results that may be left out; any other result that nobody wants still needs a variable to be written to.
_OPTIONAL_RESULTS = {"XShape", "ReserveSpace", "Mask"}
_SCALAR_NUMBERS = {bool: (1, "b"), int: (2, "i"), float: (3, "r")}


def attribute(name: str, kind: str, value: Any) -> dict[str, Any]:
    """The message of an attribute."""
    field = _FIELDS[kind]
    if kind == "dtype":
        value = -1 if value in (None, dtypes.UNDEFINED, -1) else dtypes.NUMBERS[value]
    elif kind == "string":
        value = str(value).encode()
    elif kind == "strings":
        value = [str(element).encode() for element in value]
    elif kind == "scalars":
        value = [_scalar(element) for element in value]
    elif kind.endswith("s") or kind == "intarray":
        convert: Any = float if kind in ("floats", "doubles") else bool if kind == "bools" else int
        value = [convert(element) for element in value]
    else:
        convert = {"bool": bool, "float": float, "double": float}.get(kind, int)
        value = convert(value)
    return {"name": name, "type": schema.ATTRIBUTE_NUMBERS[field], field: value}


def _scalar(value: Any) -> dict[str, Any]:
    if isinstance(value, complex):
        return {"type": 4, "c": {"real": value.real, "imaginary": value.imag}}
    number, field = _SCALAR_NUMBERS[type(value)]
    return {"type": number, field: value}


class Blocks:
    """The message of a block under construction."""

    def __init__(self, index: int, parent: int) -> None:
        self.index = index
        self.parent = parent
        self.variables: dict[str, dict[str, Any]] = {}
        self.operations: list[dict[str, Any]] = []


class Writer:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.blocks: list[Blocks] = [Blocks(0, -1)]
        self.names: dict[int, str] = {}  # of a value's id()
        self.kept: list[Value] = []
        self.taken: set[str] = {"feed", "fetch"}
        self.constants: dict[int, Any] = {}  # values of known numbers, by id()

    # Variables

    def fresh(self, name: str) -> str:
        unique, count = name, 1
        while unique in self.taken:
            count += 1
            unique = f"{name}.{count}"
        self.taken.add(unique)
        return unique

    def declare(self, block: Blocks, name: str, dtype: str, shape: Any, persistable: bool = False) -> str:
        element = dtype.removesuffix(dtypes.ARRAY)
        if element not in dtypes.NUMBERS:
            raise TypeError(f"(write_model) {name!r} has the element type {dtype}, which Paddle's files lack")
        sizes = [-1] if shape is None else [int(size) for size in shape]
        dense = {"tensor": {"data_type": dtypes.NUMBERS[element], "dims": sizes}, "lod_level": 0}
        kind: dict[str, Any] = {"type": schema.DENSE_TENSOR, "dense": dense}
        if dtype.endswith(dtypes.ARRAY):
            kind = {"type": schema.TENSOR_ARRAY, "array": dense}
        block.variables[name] = {"name": name, "type": kind, "persistable": persistable}
        return name

    def define(self, block: Blocks, value: Value, persistable: bool = False) -> str:
        name = self.fresh(value.name)
        self.alias(value, name)
        return self.declare(block, name, value.dtype, value.shape, persistable)

    def alias(self, value: Value, name: str) -> None:
        self.names[id(value)] = name
        self.kept.append(value)

    def name(self, op: str, value: Value) -> str:
        name = self.names.get(id(value))
        if name is None:
            raise ValueError(f"(write_model) {op} reads {value.name!r}, which no earlier operation makes")
        return name

    def scope(self, block: Blocks) -> str:
        name = self.fresh("_scope")
        block.variables[name] = {"name": name, "type": {"type": schema.STEP_SCOPES}, "persistable": False}
        return name

    def new_block(self, parent: Blocks) -> Blocks:
        self.blocks.append(Blocks(len(self.blocks), parent.index))
        return self.blocks[-1]

    # Operations

    def emit(
        self,
        block: Blocks,
        kind: str,
        inputs: dict[str, list[str]],
        outputs: dict[str, list[str]],
        attributes: list[dict[str, Any]],
    ) -> None:
        def slots(given: dict[str, list[str]]) -> list[dict[str, Any]]:
            return [{"parameter": slot, "arguments": names} for slot, names in given.items()]

        block.operations.append({"inputs": slots(inputs), "outputs": slots(outputs), "type": kind, "attrs": attributes})

    def constant(self, op: Op, spec: table.Operand, value: Value) -> Any:
        """The numbers of an operand that becomes an attribute, or None."""
        known = self.constants.get(id(value))
        if known is None:
            return None
        if spec.target == "list":
            return known if isinstance(known, list) else [known]
        if isinstance(known, list):
            return known[0] if len(known) == 1 else None
        return known

    def operand(self, op: Op, spec: table.Operand, value: Any, inputs: dict[str, list[str]], found: list[Any]) -> None:
        if spec.literal is not None:
            return
        constant = spec.constant
        if value is None:
            if constant is not None and constant.default is not None:
                found.append(attribute(constant.legacy or constant.name, constant.legacy_kind, constant.default))
            return
        if isinstance(value, (list, tuple)):
            slot = next((slot for slot, several in spec.slots if several), None)
            if slot is None:
                raise ValueError(
                    f"(write_model) {op.name} of a .pdmodel file takes one tensor where a list is given; write the model "
                    "with format='json'"
                )
            inputs[slot] = [self.name(op.name, element) for element in value]
            return
        if constant is not None:
            known = self.constant(op, spec, value)
            legacy = constant.legacy or constant.name
            if known is not None:
                found.append(attribute(legacy, constant.legacy_kind, _as_kind(known, constant.legacy_kind)))
                return
            if constant.default is not None:
                found.append(attribute(legacy, constant.legacy_kind, constant.default))
        slot = next((slot for slot, several in spec.slots if not several), None)
        if slot is None:
            raise ValueError(
                f"(write_model) {op.name} of a .pdmodel file needs a constant where {value.name!r} is computed; write the "
                "model with format='json'"
            )
        inputs[slot] = [self.name(op.name, value)]

    def by_row(self, block: Blocks, op: Op, row: table.Row, more: list[dict[str, Any]] | None = None) -> None:
        # A slot without variables is written too: Paddle looks for some of them when it differentiates.
        inputs: dict[str, list[str]] = {slot: [] for spec in row.operands for slot, _ in spec.slots}
        attributes: list[dict[str, Any]] = list(more or [])
        for position, spec in enumerate(row.operands):
            value = op.inputs[position] if position < len(op.inputs) else None
            self.operand(op, spec, value, inputs, attributes)
        for spec in row.attributes:
            if spec.legacy is None:
                continue
            value = op.attributes.get(spec.name)
            if value is None:
                value = spec.default
                if spec.kind == "dtype" and value is not None:
                    value = dtypes.NAMES_OF_NUMBERS.get(value)
                elif value is None:
                    raise ValueError(f"(write_model) {op.name} needs the attribute {spec.name!r}")
            attributes.append(attribute(spec.legacy, spec.legacy_kind, _as_kind(value, spec.legacy_kind)))
        outputs: dict[str, list[str]] = {}
        for position, (slot, several) in enumerate(row.outputs):
            result = op.outputs[position] if position < len(op.outputs) else None
            if several:
                outputs[slot] = [self.define(block, element) for element in result or []]
            elif result is not None:
                outputs[slot] = [self.define(block, result)]
            elif slot not in _OPTIONAL_RESULTS:
                outputs[slot] = [self.declare(block, self.fresh(f"unused_{slot}"), "float32", None)]
        self.emit(block, row.legacy, inputs, outputs, attributes)

    def operation(self, block: Blocks, op: Op) -> None:
        from proa.formats.paddle.files.legacy import control_write, special_write

        special = special_write.WRITERS.get(op.name) or control_write.WRITERS.get(op.name)
        if special is not None:
            special(self, block, op)
            return
        row = table.find(op.name)
        if row is None or not row.legacy:
            raise ValueError(
                f"(write_model) .pdmodel files have no operation for {op.name!r}; write with format='json'"
            )
        self.by_row(block, op, row, special_write.further_attributes(op))

    # The program

    def feed(self, block: Blocks) -> None:
        block.variables["feed"] = {"name": "feed", "type": {"type": schema.FEED_LIST}, "persistable": True}
        block.variables["fetch"] = {"name": "fetch", "type": {"type": schema.FETCH_LIST}, "persistable": True}
        names = [self.define(block, value) for value in self.model.inputs]
        # The last one first: paddle.jit.load takes them in this order, whatever `col` says.
        for column, name in reversed(list(enumerate(names))):
            block.variables[name]["need_check_feed"] = True
            self.emit(block, "feed", {"X": ["feed"]}, {"Out": [name]}, [attribute("col", "int", column)])

    def fetch(self, block: Blocks) -> None:
        for column, value in enumerate(self.model.outputs):
            name = self.name("the model's results", value)
            self.emit(block, "fetch", {"X": [name]}, {"Out": ["fetch"]}, [attribute("col", "int", column)])

    def prune(self) -> None:
        """Constants that became attributes are not needed as tensors."""
        used = {
            name
            for block in self.blocks
            for operation in block.operations
            for slot in operation["inputs"]
            for name in slot["arguments"]
        }
        for block in self.blocks:
            kept = []
            for operation in block.operations:
                made = [name for slot in operation["outputs"] for name in slot["arguments"]]
                if operation["type"] in ("fill_constant", "assign_value") and not used.intersection(made):
                    for name in made:
                        block.variables.pop(name, None)
                else:
                    kept.append(operation)
            block.operations = kept

    def program(self) -> dict[str, Any]:
        top = self.blocks[0]
        for name in sorted(self.model.parameters):
            written = self.define(top, self.model.parameter_values[name], persistable=is_saved(name))
            if written != name:
                raise ValueError(f"(write_model) two values are called {name!r}")
        self.feed(top)
        for op in self.model.block.ops:
            self.operation(top, op)
        self.fetch(top)
        self.prune()
        blocks = [
            {
                "idx": block.index,
                "parent_idx": block.parent,
                "vars": list(block.variables.values()),
                "ops": block.operations,
                "forward_block_idx": -1,
            }
            for block in self.blocks
        ]
        used = {operation["type"] for block in self.blocks for operation in block.operations}
        pairs = [
            {"op_name": name, "op_version": {"version": version}} for name, version in VERSIONS.items() if name in used
        ]
        return {"blocks": blocks, "version": {"version": _VERSION}, "op_version_map": {"pair": pairs}}


def _as_kind(value: Any, kind: str) -> Any:
    """A number where a list is wanted, and the reverse; text for numbers that the older format keeps as text."""
    if kind == "string" and not isinstance(value, str):
        return repr(value)
    several = kind == "intarray" or (kind.endswith("s") and kind != "dtype")
    if several and not isinstance(value, (list, tuple)):
        return [value]
    if not several and isinstance(value, (list, tuple)):
        if len(value) != 1:
            raise ValueError(f"(write_model) expected one number, found {value!r}")
        return value[0]
    return value


def write_program(model: Model) -> bytes:
    """The content of the `.pdmodel` file."""
    return encode(Writer(model).program(), schema.PROGRAM)
