"""The trace tree: every path of recorded operations ever walked, so that following one again is a dictionary step.

An edge is a new input (its abstract value), an instruction key `(operation, operands…, attributes…)`, or a `Scope`
that holds for what is recorded behind it;
a node knows everything that recording this instruction the first time worked out (output shapes, numbering), so that
repeated code neither infers shapes nor builds keys. The node where a segment ends holds its compiled programs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ..core.aval import Aval
from ..core.place import CPU
from .operation import OperandKind, Operation
from .program import DynamicScalar, Instruction, Program

# How many nodes there may be before those that lead nowhere are removed, and how many at most.
_FIRST_LIMIT = 20_000
_NODE_LIMIT = 500_000
# Every so many values it is asked whether the work so far is of use to anybody (see `running.after_record`).
_CHECKPOINT = 2048


class Scope:
    """What holds for the instructions behind its edge: casts that go before them, somebody who watches them.

    Immutable, and the same object for the same settings, since it is an edge of the tree. Because the state is a place
    in the tree, following a known path does not ask for it: an instruction that needs a cast is simply never there.
    """

    __slots__ = ()

    # Called with every instruction that is recorded, where somebody wants to know.
    observe: Callable[[Instruction], None] | None = None

    def casts(
        self, operation: Operation, kinds: Sequence[OperandKind], attributes: tuple[Any, ...]
    ) -> tuple[Any, ...] | None:
        """For each operand the dtype to cast it to, or None; None when all of them stay as they are."""
        raise NotImplementedError

    def common_casts(self, name: str, avals: Sequence[Aval], wide: bool = False) -> Sequence[Any]:
        """The same for the tensors of a composition that counts as the operator `name`, as a list."""
        raise NotImplementedError

    def without_casts(self) -> Scope | None:
        """The same scope for work that nothing is cast in (gradients, in-place operations)."""
        raise NotImplementedError


class TraceNode(dict[Any, "TraceNode"]):
    """A place in the tree; as a dictionary it maps edges to the next nodes."""

    __slots__ = (
        "aval", "cut", "entries", "hook", "index", "instruction", "is_checkpoint", "late_reads", "launches", "leaf",
        "next_index", "parent", "root", "scope",
    )  # fmt: skip

    def __init__(
        self,
        parent: TraceNode | None,
        root: TraceRoot | None,
        next_index: int,
        instruction: Instruction | None = None,
        leaf: Any = None,
        aval: Any = None,
        index: int = -1,
        hook: bool = False,
    ) -> None:
        self.parent = parent
        self.root = root
        self.scope: Scope | None = None if parent is None else parent.scope
        self.instruction = instruction
        self.leaf = leaf
        self.aval = aval  # the first output's; `instruction.outputs` has them all
        self.index = index
        self.next_index = next_index
        self.hook = hook  # something is to be done after recording this instruction (see `running.after_record`)
        self.entries: dict[tuple[int, ...], Any] | None = None
        self.is_checkpoint = False  # it is asked here whether the work so far is of use to anybody
        self.cut = False  # the segment ends behind this instruction (see cutting.py)
        self.late_reads = 0
        self.launches: Any = None  # the tiled program and the number of its tile that ends here (see tiling.py)

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        raise TypeError("trace nodes are not copied or pickled")

    @property
    def is_mark(self) -> bool:
        """Whether a scope begins here: the node is no instruction, no input and no root."""
        return self.instruction is None and self.leaf is None and self.parent is not None

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
    limit = _FIRST_LIMIT


# Numbers the runs of paths: each notes when it was last seen.
next_sighting = itertools.count(1).__next__


def find_root(place: Any, immediate: bool, check_nan: bool, window: int) -> TraceRoot:
    if _Count.nodes > _Count.limit:
        forget_unused()
    key = (None if place is CPU else place, immediate, check_nan, window)  # (hashing a place calls Python)
    root = _ROOTS.get(key)
    if root is None:
        root = _ROOTS[key] = TraceRoot(place, immediate, check_nan, window)
    return root


def forget_unused() -> None:
    """Removes the paths that lead to no executable and were not walked lately: shapes that do not come again.

    What is being recorded right now keeps its own path alive; a path that is removed too early only has to grow again.
    """
    found: list[tuple[TraceNode, Any, TraceNode]] = []
    stack: list[TraceNode] = list(_ROOTS.values())
    while stack:
        parent = stack.pop()
        for edge, node in list(parent.items()):
            found.append((parent, edge, node))
            stack.append(node)
    ends = [node for _, _, node in found if node.entries]
    ends.sort(key=_last_sighting, reverse=True)
    kept: set[TraceNode] = set()
    for end in ends:
        if len(kept) > _FIRST_LIMIT // 2 and not _has_executable(end):
            continue
        node: TraceNode | None = end
        while node is not None and node not in kept:
            kept.add(node)
            node = node.parent
    for parent, edge, node in found:
        if node not in kept:
            parent.pop(edge, None)
    _Count.nodes = len(kept)
    _Count.limit = max(_FIRST_LIMIT, 2 * len(kept))
    if len(kept) > _NODE_LIMIT:
        forget_traces()


def _last_sighting(node: TraceNode) -> int:
    return max(entry.sighting for entry in list((node.entries or {}).values()))


def _has_executable(node: TraceNode) -> bool:
    return any(entry.compiled is not None for entry in list((node.entries or {}).values()))


def forget_traces() -> None:
    """Empties the tree (its size is bounded); what is being recorded right now keeps its own path alive."""
    _ROOTS.clear()
    _Count.nodes, _Count.limit = 0, _FIRST_LIMIT


def grow_leaf(parent: TraceNode, edge: Any) -> TraceNode:
    """Adds the edge of a new input."""
    _Count.nodes += 1
    node = parent[edge] = TraceNode(parent, parent.root, parent.next_index, None, edge)
    return node


def twin(node: TraceNode) -> TraceNode:
    """Another place at the end of the same path, from which nothing was recorded yet."""
    made = TraceNode(node.parent, node.root, node.next_index)
    made.scope, made.instruction, made.leaf = node.scope, node.instruction, node.leaf
    made.aval, made.index, made.hook, made.is_checkpoint = node.aval, node.index, node.hook, node.is_checkpoint
    return made


def move_into(node: TraceNode, scope: Scope | None) -> TraceNode:
    """The place where `scope` begins to hold (None: no scope) after the path to `node`."""
    if node.scope is scope:
        return node
    parent = node.parent
    if node.is_mark and parent is not None and parent.scope is scope:
        return parent  # nothing was recorded in between
    edge = (Scope, scope)
    found = node.get(edge)
    if found is None:
        _Count.nodes += 1
        found = node[edge] = TraceNode(node, node.root, node.next_index)
        found.scope = scope
    return found


def instruction_key(instruction: Instruction) -> tuple[Any, ...]:
    """The edge of an instruction: recorded again, it would look for this one."""
    keys = instruction.operation.identify(*instruction.attributes)[1]
    operands = [o.kind if o.__class__ is DynamicScalar else o for o in instruction.operands]
    return (instruction.operation, *operands, *keys)


def grow_instruction(parent: TraceNode, key: Any, instruction: Instruction) -> TraceNode:
    """Adds the edge of an instruction recorded here for the first time."""
    _Count.nodes += 1
    root = parent.root
    assert root is not None
    operation, index, outputs, scope = instruction.operation, instruction.index, instruction.outputs, parent.scope
    next_index = index + len(outputs)
    is_checkpoint = index // _CHECKPOINT != next_index // _CHECKPOINT
    hook = (
        root.hook
        or (operation.check is not None and operation.checks(instruction.attributes))
        or next_index >= root.window
        or is_checkpoint
        or (scope is not None and scope.observe is not None)
    )
    node = parent[key] = TraceNode(parent, root, next_index, instruction, None, outputs[0], index, hook)
    node.is_checkpoint = is_checkpoint
    return node
