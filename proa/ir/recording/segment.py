"""Segments: what one thread has recorded and not run yet, as a path through the trace tree and the inputs of that path.

Invariants
* A segment belongs to the thread that records it, and only that thread appends to it. Another thread that needs a
  pending value computes just that value's slice from the (immutable) path, under the segment's lock, and leaves no trace
  in the segment or the tensor: whoever is looked at records and runs the same as undisturbed.
* `tensor._segment is segment` with a non-negative `_index` and no `_value` means pending; with a negative index it only
  means that the tensor is input `~index` of that segment (it has its value).
* A tensor may be used and changed by several threads at once. Value, segment and index of a tensor that others may know
  change under the lock `STATE` (noting an input: once a second thread records), the segment before the index. Recording
  takes no lock: it reads the index first, then the segment, so that what it sees is either its own or sends it to
  `Segment.input_index`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.errors import user_location
from ...core.locks import new_reentrant_lock
from ...core.memory import LARGE, check_allocation
from ...core.place import CPU, Place
from .. import meshes
from ..operation import NeedsCast, OperandKind, Operation, PrefersHost
from ..process import forking
from ..program import Instruction, numbered
from ..tiers.lent import brought_out
from ..trace import Scope, TraceNode, find_root, grow_instruction, grow_leaf, move_into
from ..transforms import donation
from ..transforms.tiling import run_early
from .mode import WHOLE, Mode

_ndarray = np.ndarray
# Held while value, segment and index of a tensor change (see above).
STATE = new_reentrant_lock()


class Failure:
    """Stands where a value would be when the operation that should give it failed."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


class WrongPlace(Exception):
    """An operand lives on another device than the segment; the dispatcher moves it or changes the segment."""

    def __init__(self, place: Place) -> None:
        super().__init__(str(place))
        self.place = place


class WrongMesh(WrongPlace):
    """An operand lies on other devices than those that the segment spans; handled in the same way."""


class Segment:
    """Work recorded by one thread and not run yet."""

    captures = False  # whether it is kept as a graph instead of being run (see capture.py)
    assumptions: Any = None  # of a capture: the sizes that are not known (see dimensions.py)
    owner: Any = None  # the static program that it belongs to

    __slots__ = (
        "begun",
        "devices",
        "done",
        "foreign",
        "input_ids",
        "inputs",
        "live",
        "locations",
        "lock",
        "node",
        "refs",
        "root",
        "scalars",
        "stepped",
        "thread",
        "unlooked",
    )  # fmt: skip

    def __init__(self, place: Place, lock: Any, window: int = 0, scope: Scope | None = None) -> None:
        self.root = self.node = find_root(place, Mode.immediate, Mode.check_nan, window or Mode.window)
        if scope is not None:
            self.node = move_into(self.node, scope)
        self.refs: list[Any] = []  # every tensor made here; strong, see memory.py
        self.inputs: list[Any] = []
        self.input_ids: dict[Any, int] = {}
        self.scalars: list[Any] = []
        self.locations: dict[int, tuple[str, int]] = {}
        self.live: list[tuple[Any, int]] | None = None
        self.foreign: dict[int, Any] = {}  # values that other threads have looked at, by index
        self.begun: Any = None  # the run of a long loop whose first tiles were launched already (see tiling.py)
        self.devices: tuple[int, ...] | None = None  # that it spans, if several (see meshes.py)
        self.stepped = False  # an optimiser step was recorded: the next natural boundary flushes
        self.done = False
        # Elements of inputs that may come before it is asked again how many of them nobody else refers to.
        self.unlooked = Mode.pending_size
        self.lock = lock
        self.thread = threading.get_ident()

    def input_index(self, tensor: Any) -> int:
        """Makes a tensor that has (or can get) a value an input of this segment."""
        value = tensor._value
        if value is None or value.__class__ is Failure:
            from .running import value_of

            value = value_of(tensor)
        aval = tensor._aval
        if aval.place is not self.root.place:
            raise WrongPlace(aval.place)
        index = self.input_ids.get(id(value))
        if index is None:
            edge: Any = aval
            if value.__class__ is not _ndarray and Mode.sharded:
                devices, cut = meshes.described(value)
                if devices is not None:
                    if self.devices is None:
                        edge = (aval, devices, cut)  # from here on the path is one of these devices
                    elif cut is not None:
                        edge = (aval, cut)
                    self.span(devices, aval.place)
            node = self.node.get(edge)
            self.node = node if node is not None else grow_leaf(self.node, edge)
            index = ~len(self.inputs)
            self.inputs.append(value)
            self.input_ids[id(value)] = index
            self.unlooked = left = self.unlooked - aval.size
            if left < 0:
                self._bound_memory()
        if Mode.threaded:
            with STATE:
                if tensor._value is value:
                    tensor._segment = self
                    tensor._index = index
        elif tensor._value is value:
            tensor._segment = self
            tensor._index = index
        return index

    def span(self, devices: tuple[int, ...], place: Place) -> None:
        """Makes it a segment whose program spans several devices; WrongMesh where it spans others."""
        if self.devices is None:
            if self.refs and meshes.spans_a_part(devices):
                raise WrongMesh(place)  # what was recorded before belongs to every process
            self.devices = devices
        elif self.devices != devices:
            raise WrongMesh(place)

    def note_inputs(self, tensors: Sequence[Any], indices: list[int]) -> None:
        """`input_index` for all tensors that are not of this segment, at once: an update takes all parameters and states."""
        if self.captures or Mode.threaded or Mode.sharded:
            for position, tensor in enumerate(tensors):
                if tensor._segment is not self:
                    indices[position] = self.input_index(tensor)
            return
        place, known, inputs, node, left = self.root.place, self.input_ids, self.inputs, self.node, self.unlooked
        for position, tensor in enumerate(tensors):
            if tensor._segment is self:
                continue
            value, aval = tensor._value, tensor._aval
            if value is None or value.__class__ is Failure or aval.place is not place:
                self.node, self.unlooked = node, left
                indices[position] = self.input_index(tensor)
                node, left = self.node, self.unlooked
                continue
            index = known.get(id(value))
            if index is None:
                found = node.get(aval)
                node = found if found is not None else grow_leaf(node, aval)
                index = known[id(value)] = ~len(inputs)
                inputs.append(value)
                left -= aval.size
            tensor._segment = self
            tensor._index = indices[position] = index
        self.node, self.unlooked = node, left
        if left < 0:
            self._bound_memory()

    def record(
        self,
        operation: Operation,
        operands: Sequence[Any],
        kinds: Iterable[OperandKind],
        attributes: tuple[Any, ...],
        keys: tuple[Any, ...],
        scalars: Sequence[Any],
        outputs: tuple[Aval, ...] | None = None,
    ) -> TraceNode:
        """Records an instruction: a step along the trace tree, which grows where nobody has gone before.

        `outputs` is for what no rule can tell (a call that is put off until its values are there).
        This is what recording is. Whoever calls it makes tensors of the results and, where the node has a hook, calls
        `after_record` (running.py). The functions that the binder generates are all of this written out for one operation.
        """
        key = (operation, *operands, *keys)
        node = self.node.get(key)
        if node is None:
            node = extend(self, key, operation, tuple(operands), tuple(kinds), attributes, outputs)
        self.node = node
        self.scalars += scalars
        return node

    def existing_parameter(self, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        """The parameter that code asks for by a name that exists: static programs share parameters so."""

    def note_parameter(self, parameter: Any, initializer: Any) -> None:
        """A parameter was made: who keeps a program remembers how it is initialised."""

    def note_states(self, tensors: Any) -> None:
        """An optimiser has made its states."""

    def note(self, node: TraceNode) -> None:
        """What few instructions need when they were recorded: a check of what is known, an observer, the user's line."""
        instruction = node.instruction
        assert instruction is not None
        if not instruction.flagged and instruction.operation.checks(instruction.attributes):
            self._check_now(node, instruction)
        if node.scope is not None and node.scope.observe is not None:
            node.scope.observe(instruction)
        if self.root.check_nan or instruction.flagged:
            self.locations[node.index] = user_location(2)
        if node.launches is not None and not forking.State.lost:
            self._run_early(node)

    def _bound_memory(self) -> None:
        """Has the segment run at the next boundary if it keeps much memory alive that nobody else refers to: a loop whose
        results are not read."""
        self.unlooked = Mode.pending_size
        if not self.captures and self.root.window < WHOLE:
            orphans = sum(self.inputs[position].nbytes for position in donation.donatable(self.inputs))
            self.stepped = self.stepped or orphans > Mode.pending

    def _run_early(self, node: TraceNode) -> None:
        self.begun = run_early(self.begun, node, self.inputs, self.scalars)

    def _check_now(self, node: TraceNode, instruction: Instruction) -> None:
        """Runs a check whose operands are known; a bad call is taken back before its error is raised."""
        check = instruction.operation.check
        assert check is not None
        host: list[Any] = [None] * len(instruction.operands)
        for position in check.operands:
            operand = instruction.operands[position]
            if operand is not None:
                host[position] = np.asarray(brought_out(self.inputs[~operand]))
        if not check.condition(np, *host, *instruction.attributes):
            assert node.parent is not None
            self.node = node.parent
            while self.refs and self.refs[-1]._index >= node.index:
                self.refs.pop()
            if instruction.scalars:
                del self.scalars[-len(instruction.scalars) :]
            raise instruction.value_error()


def extend(
    segment: Segment,
    key: Any,
    operation: Operation,
    operands: tuple[Any, ...],
    kinds: tuple[OperandKind, ...],
    attributes: tuple[Any, ...],
    outputs: tuple[Aval, ...] | None = None,
) -> TraceNode:
    """Records an instruction on a path where it was never seen: infers, checks, grows the tree."""
    node = segment.node
    scope = node.scope
    if scope is not None and scope.casts(operation, kinds, attributes) is not None:
        raise NeedsCast
    if operation.alone or operation.host_from is not None:
        _leave_to_host(segment, operation, kinds)
    dtypes: tuple[Any, ...] = ()
    made: tuple[Aval, ...]
    if outputs is not None:
        made = outputs
    elif segment.captures:
        made, dtypes = segment.assumptions.plan(operation, kinds, attributes, segment.root.place)
    else:
        # The key is the operation, its operands, and what stands for its attributes.
        made, dtypes = operation.plan(kinds, attributes, segment.root.place, key[1 + len(operands) :])
        kinds = operation.kinds.setdefault(kinds, kinds)
        if made[0].size > LARGE or len(made) > 1:
            check_allocation(operation.name, made)
    check = operation.check
    flagged = check is not None and (
        operation.checks(attributes)
        and not (
            segment.root.place is CPU
            and not segment.captures
            and segment.devices is None  # parts of an operand may lie in other processes
            and all(_is_known(operands[p]) for p in check.operands)
        )
    )
    if dtypes:
        # The path says how many scalars came before: they have the same numbers whenever it is walked.
        operands = numbered(operands, dtypes, len(segment.scalars))
    instruction = Instruction(operation, operands, attributes, made, node.next_index, kinds, flagged)
    return grow_instruction(node, key, instruction)


def _leave_to_host(segment: Segment, operation: Operation, kinds: tuple[OperandKind, ...]) -> None:
    if segment.captures:
        if operation.alone:
            from ..capture import refuse_to_exchange

            raise refuse_to_exchange(operation.name)
    elif not segment.root.immediate and operation.prefers_host(kinds, segment.root.place):
        raise PrefersHost


def _is_known(operand: Any) -> bool:
    """Whether an operand has its value at the call: an input of the segment, or absent."""
    return operand is None or (operand.__class__ is int and operand < 0)
