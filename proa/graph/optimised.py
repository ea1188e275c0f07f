"""A graph after the passes: what `graph(...)` compiles and runs.

It is a Graph itself, with the same inputs, structure and updates. Some of its tensors from outside may be prepared:
computed from parameters beforehand, and again when those have changed.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.locks import new_lock
from ..core.place import CPU, jax_device
from ..eager.tensor import Tensor, adopt, wrap
from ..ir import forking
from ..ir.assumptions import Assumptions
from ..ir.dimensions import Known, specialise
from ..ir.interpreter import run_on_numpy
from ..ir.lowering import CompiledProgram
from ..ir.program import Program
from ..ir.recorder import STATE
from ..ir.xla import started_jax
from .graph import Graph
from .passes.draft import Draft, program_of
from .passes.prepare import cone
from .passes.registry import PassRecord, generation, run_passes

_OFTEN = 8  # preparations before it is asked whether they pay
_LARGE = 1 << 16  # bytes from which on a tensor is moved to the device once instead of at each run


class Preparation:
    """Computes prepared tensors, anew when a tensor that they come from has another value.

    Values are never overwritten, so a tensor has changed exactly if its value is another object. The old value is
    referred to weakly: an optimiser may still write over it.
    """

    def __init__(self, program: Program, sources: list[Tensor], scalars: list[Any], tensors: list[Tensor]) -> None:
        self.program = program
        self.sources = sources
        self.scalars = scalars
        self.tensors = tensors
        self.times = 0
        self._seen: list[Any] = []
        self._values: list[Any] = []
        self._compiled: CompiledProgram | None = None
        self._lock = new_lock()

    def values(self) -> list[Any]:
        """The values of the prepared tensors now."""
        for tensor, seen in zip(self.sources, self._seen, strict=False):
            if tensor._value is None or seen() is not tensor._value:
                break
        else:
            if self.times:
                return self._values
        with self._lock:
            return self._compute()

    def _compute(self) -> list[Any]:
        sources = [tensor._data() for tensor in self.sources]
        made = self._run(sources)
        self._seen = [weakref.ref(value) for value in sources]
        for tensor, value in zip(self.tensors, made, strict=True):
            adopt(tensor, wrap(value, tensor._aval))
        self.times += 1
        self._values = made
        return made

    def _run(self, sources: list[Any]) -> list[Any]:
        place = self.tensors[0]._aval.place
        if place is CPU and all(isinstance(v, np.ndarray) or len(v.sharding.device_set) == 1 for v in sources):
            # Nothing to compile: it may run only once.
            results = run_on_numpy(self.program, [np.asarray(value) for value in sources], self.scalars)
            return [_moved(np.asarray(results[n]), place) for n in self.program.outputs]
        if self._compiled is None:
            self._compiled = CompiledProgram(self.program, sources, self.scalars, place, (), False)
        return list(self._compiled(sources, self.scalars))


class OptimisedGraph(Graph):
    """The graph that the passes of a level made of another one; `records` say what each of them did."""

    origin: Graph
    level: int
    records: list[PassRecord]
    preparation: Preparation | None
    _runs: int
    _num_given: int
    _generation: int
    _assumed: list[tuple[Tensor, Any]]

    def run(self, tensors: Sequence[Tensor]) -> Any:
        self._runs += 1
        if self.assumptions.guards and not self.holds_for(tensors):
            return self.origin.run(tensors)  # the passes took other sizes for granted
        if self.preparation is not None and self.preparation.times > _OFTEN and self._runs < 2 * self.preparation.times:
            # Parameters change with almost every run: computing with them as they are costs less than preparing them.
            return self.origin.optimised(1).run(tensors)
        return super().run(tensors)

    def optimised(self, level: int | None = None) -> Graph:
        return self if level is None or level == self.level else self.origin.optimised(level)

    def is_current(self) -> bool:
        """Whether the passes would still do the same: no pass was added, no value they looked at has changed."""
        return self._generation == generation() and all(
            tensor._value is value or np.array_equal(np.asarray(tensor._data()), np.asarray(value))
            for tensor, value in self._assumed
        )

    def held_values(self) -> list[Any]:
        held = [on_device(tensor) for tensor in self.captured[: self._num_given]]
        return held if self.preparation is None else held + self.preparation.values()

    def sizes(self, tensors: Sequence[Tensor]) -> Known:
        """From the whole Program: a size may come from an instruction that the passes took away."""
        origin = self.origin
        actual = [tensor._aval for tensor in tensors] + [tensor._aval for tensor in origin.captured]
        known = specialise(origin.program, actual, origin.sizes(tensors), origin.locations)[1]
        self._check(known)
        return known


def _moved(value: np.ndarray, place: Any) -> Any:
    """A buffer of the device; in a forked process without XLA the array as it is."""
    return value if forking.State.lost else started_jax().device_put(value, jax_device(place))


def on_device(tensor: Tensor) -> Any:
    """A tensor's value; a large NumPy array becomes a buffer of the device, for this run and all others."""
    value = tensor._data()
    if value.__class__ is np.ndarray and value.nbytes >= _LARGE:
        moved = _moved(value, tensor._aval.place)
        with STATE:
            if tensor._value is value:
                tensor._value = moved
        return moved
    return value


def optimise(graph: Graph, level: int, native: bool = True) -> OptimisedGraph:
    """The graph after the passes of a level; without `native`, of operations that any machine has."""
    assumptions = Assumptions()  # what the passes took for granted, besides what the capture did
    with graph.assumptions.collected() as assumptions.guards:
        draft = Draft.of(graph)
        records = run_passes(draft, level, native)
        program, captured, scalars, locations = draft.program()
    # Prepared tensors come last among those from outside.
    prepared = {id(tensor): value for value, tensor in draft.prepared}
    own = [tensor for tensor in captured if id(tensor) in prepared]
    given = [tensor for tensor in captured if id(tensor) not in prepared]
    if own:
        program, scalars, locations = program_of(
            draft.nodes, [*draft.inputs, *map(draft.value_of, [*given, *own])], draft.outputs
        )
    made = OptimisedGraph(
        graph.name,
        program,
        graph.inputs,
        [*given, *own],
        scalars,
        graph.structure,
        graph.updates,
        locations,
        assumptions,
    )
    made.generator = graph.generator
    made.origin, made.level, made.records = graph, level, records
    made._runs = 0
    made._num_given = len(given)
    made._generation = generation()
    made._assumed = [(tensor, tensor._data()) for tensor in draft.assumed.values()]
    made.preparation = _preparation([prepared[id(tensor)] for tensor in own], own)
    return made


def _preparation(values: list[Any], tensors: list[Tensor]) -> Preparation | None:
    if not values:
        return None
    nodes: dict[int, Any] = {}
    sources: dict[int, Any] = {}
    for value in values:
        some_nodes, some_sources = cone(value)
        nodes.update((id(node), node) for node in some_nodes)
        sources.update((id(source), source) for source in some_sources)
    program, scalars, _ = program_of(_in_order(nodes), list(sources.values()), values)
    return Preparation(program, [source.tensor for source in sources.values()], scalars, tensors)


def _in_order(nodes: dict[int, Any]) -> list[Any]:
    """Nodes in an order in which they can run."""
    ordered: list[Any] = []
    done: set[int] = set()
    waiting = list(nodes.values())
    while waiting:
        node = waiting[-1]
        before = [o.maker for o in node.operands if getattr(o, "maker", None) is not None and id(o.maker) not in done]
        if id(node) in done:
            waiting.pop()
        elif before:
            waiting += before
        else:
            done.add(id(node))
            ordered.append(node)
            waiting.pop()
    return ordered
