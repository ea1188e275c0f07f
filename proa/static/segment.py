"""The segment that a static Program records into: a capture that stays open.

Parameters and other tensors from outside that the program changes have two states: the one outside, with a value, and the
one inside, which is the number of their newest value in the program. While code is added to the program they are in
the inner state, so that what follows an update sees it; otherwise (`suspend`) they are in the outer one.
"""

from __future__ import annotations

from typing import Any

from ..core.aval import Aval
from ..core.errors import message, user_location, value_error
from ..core.place import Place
from ..ir.capture import CaptureError, CaptureSegment, restore_state, saved_state
from ..ir.dimensions import SMALLEST, UnknownDimension
from ..ir.program import Instruction
from ..ir.trace import TraceNode, TraceRoot, grow_instruction, grow_leaf

State = tuple[Any, ...]


class StaticSegment(CaptureSegment):
    """What a Program has recorded so far."""

    __slots__ = ("ancestors", "fixed", "inside", "unknown")

    def __init__(self, place: Place, lock: Any, owner: Any) -> None:
        super().__init__(place, lock)
        self.owner = owner
        # Segments that this one began as a copy of, with how many values and inputs it shares with them.
        self.ancestors: dict[Any, tuple[int, int]] = {}
        self.fixed: set[int] = set()  # large sizes that are known: no stand-ins for unknown ones
        self.unknown: set[int] = set()  # the stand-ins for unknown sizes of inputs
        self.inside: dict[int, tuple[Any, State]] = {}

    # ---- what code that is recorded asks for -------------------------------------------------------------------

    def input_index(self, tensor: Any) -> int:
        segment = tensor._segment
        if tensor._value is None and segment is not None and segment.captures:
            index, (values, inputs) = tensor._index, self.ancestors.get(segment, (0, 0))
            if -inputs <= index < values:
                return index
            raise value_error(
                "Program", f"the variable {tensor.name} belongs to another program", repr(tensor),
                "use it in the program_guard that it was made in",
            )  # fmt: skip
        for size in tensor._aval.shape:
            if size >= SMALLEST:
                self._note_size(tensor, size)
        return super().input_index(tensor)

    def _note_size(self, tensor: Any, size: int) -> None:
        """A large size of a tensor from outside is known, unless it was computed from an unknown one."""
        if any(size % unknown == 0 or unknown % size == 0 for unknown in self.unknown):
            raise CaptureError(
                message(
                    "Program", "a constant was made as large as an unknown dimension, whose size is not known before a run",
                    f"constant: {tensor._aval.dtype.name}[{', '.join(map(str, self.shape_of(tensor._aval)))}]",
                    "give the dimension a fixed size in static.data()",
                ),
                user_location(2),
            )  # fmt: skip
        self.fixed.add(size)

    def shape_of(self, aval: Aval) -> tuple[int, ...]:
        """With -1 for what is not known before the program runs."""
        return tuple(
            [UnknownDimension(size) if size >= SMALLEST and size not in self.fixed else size for size in aval.shape]
        )

    def describe(self, tensor: Any) -> str:
        shape = ", ".join(map(str, self.shape_of(tensor._aval)))
        return f"var {tensor.name} : shape({shape}).dtype({tensor.dtype.name}).stop_gradient({tensor.stop_gradient})"

    def existing_parameter(self, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        return self.owner.existing_parameter(name, shape, dtype)

    def note_parameter(self, parameter: Any, initializer: Any) -> None:
        self.owner.note_parameter(parameter, initializer)

    def note_states(self, tensors: Any) -> None:
        self.owner.note_states(tensors)

    # ---- the two states of what it changes ---------------------------------------------------------------------

    def suspend(self) -> None:
        """Gives changed tensors the state they have outside."""
        for key, (tensor, outside) in self.remembered.items():
            self.inside[key] = (tensor, saved_state(tensor))
            restore_state(tensor, outside)
        self.remembered = {}

    def resume(self) -> None:
        """Gives changed tensors the state they have in the program."""
        for key, (tensor, inside) in self.inside.items():
            self.remembered[key] = (tensor, saved_state(tensor))
            restore_state(tensor, inside)
        self.inside = {}

    # ---- copies ------------------------------------------------------------------------------------------------

    def copy(self, owner: Any) -> StaticSegment:
        """A segment that goes on from here, while this one stays as it is. For a segment that nobody records into."""
        made = StaticSegment(self.root.place, self.lock, owner)
        made.root, made.node = self.root, self.node
        made.inputs, made.refs, made.scalars = list(self.inputs), list(self.refs), list(self.scalars)
        made.tensor_ids, made.locations = dict(self.tensor_ids), dict(self.locations)
        made.fixed, made.unknown = set(self.fixed), set(self.unknown)
        made.ancestors = {**self.ancestors, self: (self.node.next_index, len(self.inputs))}
        made.inside = {
            key: (tensor, (*state[:2], made if state[2] is self else state[2], *state[3:]))
            for key, (tensor, state) in self.inside.items()
        }
        return made

    def entries(self) -> list[tuple[Instruction, list[Any]]]:
        """The instructions, each with its dynamic scalars."""
        position = 0
        found: list[tuple[Instruction, list[Any]]] = []
        for instruction in self.node.program(()).instructions:
            count = len(instruction.scalar_dtypes)
            found.append((instruction, self.scalars[position : position + count]))
            position += count
        return found

    def replace(self, entries: list[tuple[Instruction, list[Any]]]) -> None:
        """Records other instructions in place of all there are; inputs and numbering stay."""
        leaves = self.node.program(()).inputs
        self.root = TraceRoot(self.root.place, False, False, self.root.window)
        node: TraceNode = self.root
        for leaf in leaves:
            node = node.get(leaf) or grow_leaf(node, leaf)
        self.scalars = []
        for instruction, scalars in entries:
            keys = instruction.operation.identify(*instruction.attributes)[1]
            key = (instruction.operation, *instruction.operands, *keys)
            node = grow_instruction(node, key, instruction)
            self.scalars += scalars
        self.node = node
