"""The trace tree: every path of recorded operations ever walked, so that following one again is a dictionary step.

An edge is either a new input (its abstract value) or an instruction key `(operation, operands…, attributes…)`;
a node knows everything that recording this instruction the first time worked out (output shapes, numbering), so that
repeated code neither infers shapes nor builds keys. The node where a segment ends holds its compiled programs.
"""

from __future__ import annotations

from typing import Any

from ..core.aval import Aval
from .program import Instruction, Program

_NODE_LIMIT = 500_000


class TraceNode(dict[Any, "TraceNode"]):
    """A place in the tree; as a dictionary it maps edges to the next nodes."""

    __slots__ = (
        "aval", "cut", "endings", "hook", "index", "instruction", "late_reads", "leaf", "next_index", "parent", "root",
    )  # fmt: skip

    def __init__(self, parent: TraceNode | None, root: TraceRoot | None, next_index: int) -> None:
        self.parent = parent
        self.root = root
        self.instruction: Instruction | None = None
        self.leaf: Any = None
        self.aval: Any = None  # the first output's; `instruction.outputs` has them all
        self.index = -1
        self.next_index = next_index
        self.hook = False  # something is to be done after recording this instruction (see Segment.after_record)
        self.endings: dict[tuple[int, ...], Any] | None = None
        self.cut = False  # the segment ends behind this instruction (see cutting.py)
        self.late_reads = 0

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        raise TypeError("trace nodes are not copied or pickled")

    def program(self, outputs: tuple[int, ...]) -> Program:
        """The Program that the path from the root to this node spells."""
        inputs: list[Any] = []
        instructions: list[Instruction] = []
        node: TraceNode | None = self
        while node is not None:
            if node.instruction is not None:
                instructions.append(node.instruction)
            elif node.leaf is not None:
                inputs.append(node.leaf)
            node = node.parent
        inputs.reverse()
        instructions.reverse()
        return Program([leaf if isinstance(leaf, Aval) else leaf[0] for leaf in inputs], instructions, outputs)


class TraceRoot(TraceNode):
    """Where segments of one mode (place, immediate or not, NaN checks or not) begin."""

    __slots__ = ("check_nan", "immediate", "place", "window")

    def __init__(self, place: Any, immediate: bool, check_nan: bool, window: int) -> None:
        super().__init__(None, None, 0)
        self.root = self
        self.place = place
        self.immediate = immediate
        self.check_nan = check_nan
        self.window = window
        self.hook = immediate or check_nan


_ROOTS: dict[tuple[Any, bool, bool, int], TraceRoot] = {}


class _Count:
    nodes = 0


def find_root(place: Any, immediate: bool, check_nan: bool, window: int) -> TraceRoot:
    if _Count.nodes > _NODE_LIMIT:
        forget_traces()
    key = (place, immediate, check_nan, window)
    root = _ROOTS.get(key)
    if root is None:
        root = _ROOTS[key] = TraceRoot(place, immediate, check_nan, window)
    return root


def forget_traces() -> None:
    """Empties the tree (its size is bounded); what is being recorded right now keeps its own path alive."""
    _ROOTS.clear()
    _Count.nodes = 0


def grow_leaf(parent: TraceNode, edge: Any) -> TraceNode:
    """Adds the edge of a new input."""
    _Count.nodes += 1
    node = TraceNode(parent, parent.root, parent.next_index)
    node.leaf = edge
    parent[edge] = node
    return node


def grow_instruction(parent: TraceNode, key: Any, instruction: Instruction) -> TraceNode:
    """Adds the edge of an instruction recorded here for the first time."""
    _Count.nodes += 1
    root = parent.root
    assert root is not None
    node = TraceNode(parent, root, instruction.index + len(instruction.outputs))
    node.instruction = instruction
    node.aval = instruction.outputs[0]
    node.index = instruction.index
    node.hook = root.hook or instruction.operation.check is not None or node.next_index >= root.window
    parent[key] = node
    return node
