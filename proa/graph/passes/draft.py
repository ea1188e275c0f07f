"""Draft: a graph in the form that passes change.

In a Program, values and dynamic scalars are numbers, so taking out one instruction renumbers the rest.
In a Draft an instruction (`Node`) refers to its operands themselves. Nodes stand in an order in which they can run.

Invariants, checked by `verify` after each pass: a node's operands are inputs or made by nodes before it; the users of a
value are exactly the nodes that have it as an operand; what takes the place of a value has its shape and dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...core.aval import Aval
from ...core.symbols import is_symbolic
from ...eager.tensor import Tensor
from ...ir.capture import Capturing
from ...ir.editing import Editor
from ...ir.live import LiveScalar
from ...ir.operation import Operation, find_operation
from ...ir.program import Instruction, Program
from ...ir.recorder import LOCAL, switch_gradients
from ...ir.sizes.assumptions import Assumptions
from ...ir.sizes.dimensions import shown_shape
from ..capture import number_of, placeholder

if TYPE_CHECKING:
    from ..graph import Graph


class PassError(RuntimeError):
    """A pass left the graph in a state that is none."""


class Scalar:
    """A Python number among a node's operands; `kind` is the type that the instruction names."""

    __slots__ = ("kind", "value")

    def __init__(self, value: Any, kind: type | None = None) -> None:
        self.value = value
        self.kind = kind or ((int if isinstance(value, int) else float) if is_symbolic(value) else value.__class__)

    @property
    def is_live(self) -> bool:
        """Whether it is read anew at each run (a learning rate)."""
        return isinstance(self.value, LiveScalar)

    def __repr__(self) -> str:
        return repr(self.value)


class Value:
    """An input, a tensor from outside, or what a node makes."""

    __slots__ = ("aval", "maker", "tensor", "users")

    def __init__(self, aval: Aval, maker: Node | None = None, tensor: Tensor | None = None) -> None:
        self.aval = aval
        self.maker = maker
        self.tensor = tensor  # of what comes from outside
        self.users: list[Node] = []  # once for each operand

    def __repr__(self) -> str:
        made_by = self.maker.operation.name if self.maker else "outside" if self.tensor is not None else "input"
        return f"<{self.aval.dtype.name}{shown_shape(self.aval.shape)} from {made_by}>"


Operand = Value | Scalar | None


class Node:
    """One operation applied."""

    __slots__ = ("attributes", "flagged", "location", "operands", "operation", "outputs")

    def __init__(
        self,
        operation: Operation,
        operands: Sequence[Operand],
        attributes: tuple[Any, ...],
        outputs: Sequence[Aval],
        flagged: bool = False,
        location: tuple[str, int] | None = None,
    ) -> None:
        self.operation = operation
        self.operands: tuple[Operand, ...] = tuple(operands)
        self.attributes = attributes
        self.outputs = tuple(Value(aval, self) for aval in outputs)
        self.flagged = flagged
        self.location = location
        for operand in self.operands:
            if isinstance(operand, Value):
                operand.users.append(self)

    @property
    def name(self) -> str:
        return self.operation.name

    @property
    def output(self) -> Value:
        return self.outputs[0]

    def attribute(self, name: str) -> Any:
        return self.attributes[self.operation.attribute_names.index(name)]

    @property
    def kinds(self) -> tuple[Any, ...]:
        return tuple(
            o.aval if isinstance(o, Value) else o.kind if isinstance(o, Scalar) else None for o in self.operands
        )

    @property
    def place(self) -> Any:
        return self.output.aval.place

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.operands))})"


class Draft:
    """A graph as nodes; `of(graph)` makes one, `program()` makes a Program of it again."""

    def __init__(self, place: Any, assumptions: Assumptions | None = None) -> None:
        self.place = place
        self.assumptions = assumptions or Assumptions()
        self.inputs: list[Value] = []
        self.captured: list[Value] = []
        self.nodes: list[Node] = []
        self.outputs: list[Value] = []
        self.updated: set[int] = set()  # ids of tensors that a run changes
        self.native = True  # whether it is compiled here, or leaves for another engine
        self.low_products = False  # as the graph has it
        # Tensors whose present value was made use of: when one of them changes, the passes run again.
        self.assumed: dict[int, Tensor] = {}
        # What is computed beforehand, from tensors of outside alone (see prepare.py): the tensor that stands for each.
        self.prepared: list[tuple[Value, Tensor]] = []

    @staticmethod
    def of(graph: Graph) -> Draft:
        draft = Draft(graph.place, graph.assumptions)
        draft.inputs = [Value(given.aval) for given in graph.inputs]
        outside = [
            Value(aval, tensor=t)
            for aval, t in zip(graph.program.inputs[len(graph.inputs) :], graph.captured, strict=True)
        ]
        draft.captured = outside
        draft.updated = {id(tensor) for tensor in graph.updates}
        draft.low_products = graph.low_products
        draft.nodes, draft.outputs = nodes_of(
            graph.program, graph.scalars, [*draft.inputs, *outside], graph.locations.get
        )
        return draft

    # ---- looking ---------------------------------------------------------------------------------------------

    @property
    def has_unknown_sizes(self) -> bool:
        return any(is_unknown(value.aval) for value in self.inputs)

    def is_output(self, value: Value) -> bool:
        return any(value is output for output in self.outputs)

    def used_only_by(self, value: Value, nodes: Iterable[Node]) -> bool:
        """Whether nobody but these nodes looks at a value."""
        return not self.is_output(value) and all(any(user is node for node in nodes) for user in value.users)

    # ---- changing --------------------------------------------------------------------------------------------

    def replace(self, old: Value, new: Value) -> None:
        """Everybody who uses `old` uses `new`; whoever makes `old` is left to the dead code pass."""
        if old is new:
            return
        if old.aval is not new.aval and (old.aval.shape != new.aval.shape or old.aval.dtype != new.aval.dtype):
            raise PassError(f"{old!r} cannot be replaced by {new!r}: the shape or the dtype differs")
        self.exchange(old, new)

    def exchange(self, old: Value, new: Value) -> None:
        """As `replace`, where everybody who uses `old` takes a value of another dtype as well."""
        for node in {id(user): user for user in old.users}.values():
            node.operands = tuple(new if operand is old else operand for operand in node.operands)
        new.users += old.users
        old.users = []
        self.outputs = [new if output is old else output for output in self.outputs]

    def remove(self, nodes: Iterable[Node]) -> None:
        """Takes out nodes whose results nobody uses."""
        gone = {id(node): node for node in nodes}
        if not gone:
            return
        for node in gone.values():
            for operand in node.operands:
                if isinstance(operand, Value):
                    operand.users.remove(node)
        self.nodes = [node for node in self.nodes if id(node) not in gone]

    def add(
        self, before: Node | None, operation: Operation | str, operands: Sequence[Operand], attributes: tuple[Any, ...] = ()
    ) -> Node:  # fmt: skip
        """A new node, in front of another one (None: at the end)."""
        if isinstance(operation, str):
            operation = find_operation(operation)
        kinds = tuple(o.aval if isinstance(o, Value) else o.kind if isinstance(o, Scalar) else None for o in operands)
        outputs, _ = self.assumptions.plan(operation, kinds, attributes, self.place)
        node = Node(operation, operands, attributes, outputs, location=before.location if before else None)
        self.nodes.insert(len(self.nodes) if before is None else self.nodes.index(before), node)
        return node

    def record(self, before: Node, function: Callable[..., Any], *arguments: Any) -> list[Value]:
        """What `function` records, given tensors for values, in front of a node; gives the values of its results."""
        given: list[Value] = []
        grad_before = switch_gradients(False)
        scope_before, LOCAL.scope = LOCAL.scope, None  # mixed precision around the call is none of the graph's business
        try:
            with Capturing(self.place, self.assumptions) as segment:
                received = []
                for argument in arguments:
                    if isinstance(argument, Value):
                        given.append(argument)
                        argument = placeholder(segment, argument.aval)
                    received.append(argument)
                result = function(*received)
                if result is None:
                    return []
                results = list(result) if isinstance(result, (list, tuple)) else [result]
                numbers = tuple(number_of(segment, tensor) for tensor in results)
                segment.updates()
                program = segment.program(numbers)
        finally:
            switch_gradients(grad_before)
            LOCAL.scope = scope_before
        outside = [self.value_of(tensor) for tensor in segment.inputs[len(given) :]]
        nodes, outputs = nodes_of(program, segment.scalars, [*given, *outside], lambda _: before.location)
        position = self.nodes.index(before)
        self.nodes[position:position] = nodes
        return outputs

    def value_of(self, tensor: Tensor) -> Value:
        """The value that stands for a tensor from outside."""
        for value in self.captured:
            if value.tensor is tensor:
                return value
        value = Value(tensor._aval, tensor=tensor)
        self.captured.append(value)
        return value

    # ---- finishing -------------------------------------------------------------------------------------------

    def verify(self) -> None:
        """PassError when an invariant is broken."""
        known = {id(value) for value in (*self.inputs, *self.captured)}
        for node in self.nodes:
            for operand in node.operands:
                if isinstance(operand, Value):
                    if id(operand) not in known:
                        raise PassError(f"{node!r} uses a value that is not made before it")
                    uses = sum(o is operand for o in node.operands)
                    if sum(user is node for user in operand.users) != uses:
                        raise PassError(f"the users of {operand!r} are not what the nodes say")
            known.update(map(id, node.outputs))
        for output in self.outputs:
            if id(output) not in known:
                raise PassError(f"the result {output!r} is made by nobody")

    def program(self) -> tuple[Program, list[Tensor], list[Any], dict[int, tuple[str, int]]]:
        """The Program, the tensors from outside, the scalars and the users' lines."""
        for position, output in enumerate(self.outputs):
            if output.maker is None:  # results of a Program are made by instructions
                self.outputs[position] = self.add(None, "assign", [output]).output
        used = [value for value in self.captured if value.users]
        program, scalars, locations = program_of(self.nodes, [*self.inputs, *used], self.outputs)
        return program, [value.tensor for value in used if value.tensor is not None], scalars, locations


def is_unknown(aval: Aval) -> bool:
    """Whether a size depends on an unknown dimension."""
    return aval.symbolic


def nodes_of(
    program: Program, scalars: Sequence[Any], inputs: Sequence[Value], location: Callable[[int], tuple[str, int] | None]
) -> tuple[list[Node], list[Value]]:
    """A Program's instructions as nodes over given inputs, and the values of its outputs."""
    nodes: list[Node] = []

    def note(instruction: Instruction, operands: list[Operand]) -> tuple[Value, ...]:
        node = Node(
            instruction.operation, operands, instruction.attributes, instruction.outputs, instruction.flagged,
            location(instruction.index),
        )  # fmt: skip
        nodes.append(node)
        return node.outputs

    values = program.evaluate(note, inputs, lambda operand: Scalar(scalars[operand.number], operand.kind))
    return nodes, [values[number] for number in program.outputs]


def program_of(
    nodes: Iterable[Node], inputs: Sequence[Value], outputs: Sequence[Value]
) -> tuple[Program, list[Any], dict[int, tuple[str, int]]]:
    """Nodes as a Program, with the scalars and the users' lines that belong to it."""
    editor = Editor([value.aval for value in inputs])
    numbers = {id(value): ~position for position, value in enumerate(inputs)}
    scalars: list[Any] = []
    locations: dict[int, tuple[str, int]] = {}
    for node in nodes:
        operands: list[Any] = []
        for operand in node.operands:
            if isinstance(operand, Scalar):
                scalars.append(operand.value)
                operands.append(operand.kind)
            else:
                operands.append(None if operand is None else numbers[id(operand)])
        made = editor.add(
            node.operation, operands, node.attributes, tuple([value.aval for value in node.outputs]), node.flagged
        )
        if node.location is not None:
            locations[made.index] = node.location
        numbers.update(zip(map(id, node.outputs), made.made, strict=True))
    return Program(editor.inputs, editor.instructions, tuple(numbers[id(o)] for o in outputs)), scalars, locations
