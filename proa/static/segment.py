"""The segment that a static Program records into: a capture that stays open.

Parameters and other tensors from outside that the program changes have two states: the one outside, with a value, and the
one inside, which is the number of their newest value in the program. While code is added to the program they are in
the inner state, so that what follows an update sees it; otherwise (`suspend`) they are in the outer one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.aval import Aval
from ..core.errors import asked_by_user, value_error
from ..core.place import Place
from ..core.symbols import SymbolicSize, is_stated, is_symbolic, note_loss, plain, size_from
from ..eager import tensor as tensor_module
from ..ir import capture as capture_module
from ..ir.capture import CaptureSegment, restore_state, saved_state
from ..ir.program import Instruction
from ..ir.sizes.dimensions import UnknownDimension
from ..ir.tiers.interpreter import run_on_numpy
from ..ir.trace import TraceNode, TraceRoot, grow_instruction, grow_leaf, instruction_key, twin

State = tuple[Any, ...]
_PASSES_ON = (tensor_module.__file__, capture_module.__file__)  # what stands between who asks for a shape and a segment


class StaticSegment(CaptureSegment):
    """What a Program has recorded so far."""

    __slots__ = ("ancestors", "inside")

    def __init__(self, place: Place, lock: Any, owner: Any) -> None:
        super().__init__(place, lock)
        self.owner = owner
        # Segments that this one began as a copy of, with how many values and inputs it shares with them.
        self.ancestors: dict[Any, tuple[int, int]] = {}
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
        return super().input_index(tensor)

    def deferred(self, function: Any, arguments: tuple[Any, ...], named: dict[str, Any], refusal: Any) -> Any:
        """Puts a call that looks at values into the program as a whole."""
        from .deferral import defer

        return defer(function, (arguments, named), refusal)

    def shape_of(self, aval: Aval) -> tuple[int, ...]:
        """With -1 for what is not known before the program runs. What the program states is a plain number for users, who
        compute with what they see; our own functions go on with the size that a run will have."""
        if not aval.symbolic:
            return aval.shape
        by_user = asked_by_user(2, _PASSES_ON)
        return tuple([_seen(size, by_user) if isinstance(size, SymbolicSize) else size for size in aval.shape])

    def constant(self, tensor: Any) -> Any:
        """The value (an array) of a variable that depends on numbers in the program alone; None for any other."""
        if tensor._segment is not self or tensor._index < 0:
            return None
        program = self.node.program(()).slice((tensor._index,))
        if any(o.__class__ is int and o < 0 for i in program.instructions for o in i.operands):
            return None
        used = [self.scalars[scalar.number] for scalar in program.scalars]
        if any("seed" in i.operation.operand_names for i in program.instructions):
            return None
        symbolic = [number for number in used if is_symbolic(number)]
        if not all(map(is_stated, symbolic)):
            return None
        for number in symbolic:
            note_loss(number)
        return run_on_numpy(program, [], self.scalars)[tensor._index]

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
        made.assumptions = self.assumptions
        # A place of its own: what both record next may be equal in value and differ in expressions.
        made.root, made.node = self.root, twin(self.node)
        made.inputs, made.refs, made.scalars = list(self.inputs), list(self.refs), list(self.scalars)
        made.tensor_ids, made.locations = dict(self.tensor_ids), dict(self.locations)
        made.ancestors = {**self.ancestors, self: (self.node.next_index, len(self.inputs))}
        made.inside = {
            key: (tensor, (*state[:2], made if state[2] is self else state[2], *state[3:]))
            for key, (tensor, state) in self.inside.items()
        }
        return made

    def replace(self, instructions: Iterable[Instruction], scalars: list[Any]) -> None:
        """Records other instructions in place of all there are; inputs and numbering stay."""
        leaves = self.node.program(()).inputs
        self.root = TraceRoot(self.root.place, False, False, self.root.window)
        node: TraceNode = self.root
        for leaf in leaves:
            node = node.get(leaf) or grow_leaf(node, leaf)
        for instruction in instructions:
            node = grow_instruction(node, instruction_key(instruction), instruction)
        self.scalars = scalars
        self.node = node


def _seen(size: SymbolicSize, by_user: bool) -> int:
    if is_stated(size):
        return size.bare() if by_user else size
    return size_from(size.expression, plain(size), UnknownDimension)
