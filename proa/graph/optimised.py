"""A graph after the passes: what `graph(...)` compiles and runs.

It is a Graph itself, with the same inputs, structure and updates. Some of its tensors from outside may be prepared:
computed from parameters beforehand, and again when those have changed.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval
from ..core.locks import new_lock
from ..core.place import CPU, jax_device
from ..eager.tensor import Tensor, adopt, wrap
from ..ir.process import forking
from ..ir.program import Program
from ..ir.recorder import STATE
from ..ir.sizes.assumptions import Assumptions
from ..ir.sizes.dimensions import Known, specialise
from ..ir.tiers.interpreter import run_on_numpy
from ..ir.tiers.lowering import CompiledProgram
from ..ir.xla import started_jax
from .graph import Graph
from .passes.draft import Draft, program_of
from .passes.prepare import cone
from .passes.registry import PassRecord, generation, run_passes

Release = Callable[[Tensor], None]
_OFTEN = 8  # preparations before it is asked whether they pay
_LARGE = 1 << 10  # bytes from which on a tensor is moved to the device once instead of at each run (1 to 2 us each)


class Prepared:
    """One value computed from tensors from outside, anew when one of them has another value.

    Values are never overwritten, so a tensor has changed exactly if its value is another object. The old value is
    referred to weakly: an optimiser may still write over it.
    """

    def __init__(self, program: Program, sources: list[Tensor], scalars: list[Any], aval: Aval) -> None:
        self.program = program
        self.sources = sources
        self.scalars = scalars
        self.aval = aval
        self._made: tuple[list[Any], Any] | None = None  # references to the sources' values, and what they gave
        self._compiled: CompiledProgram | None = None
        self._lock = new_lock()

    def value(self, fixed: bool = False, to_run: bool = True) -> Any:
        """The value now. `fixed`: the sources never change, and are not looked at again. `to_run`: as a buffer of the
        device; who only reads it may get an array of NumPy's, for which XLA is not started."""
        found = self._current(fixed)
        if found is None or (to_run and found.__class__ is np.ndarray):
            with self._lock:
                found = self._current(fixed)
                if found is None:
                    sources = [tensor._data() for tensor in self.sources]
                    found = self._run(sources)
                    self._made = ([weakref.ref(value) for value in sources], found)
                if to_run and found.__class__ is np.ndarray:
                    found = _moved(found, self.aval.place)
                    self._made = (self._made[0], found)  # type: ignore[index]
        return found

    def _current(self, fixed: bool) -> Any:
        if self._made is None:
            return None
        seen, value = self._made
        same = fixed or all(ref() is tensor._value for tensor, ref in zip(self.sources, seen, strict=True))
        return value if same else None

    def _run(self, sources: list[Any]) -> Any:
        place = self.aval.place
        if place is CPU and all(isinstance(v, np.ndarray) or len(v.sharding.device_set) == 1 for v in sources):
            # Nothing to compile: it may run only once.
            results = run_on_numpy(self.program, [np.asarray(value) for value in sources], self.scalars)
            return np.asarray(results[self.program.outputs[0]])
        if self._compiled is None:
            self._compiled = CompiledProgram(self.program, sources, self.scalars, place, (), False)
        return self._compiled(sources, self.scalars)[0]


# What the graphs of one model for different sizes prepare from the same parameters in the same way, they prepare once.
# An entry lives as long as a graph that uses it, and keeps its sources alive, so that their ids stay theirs.
_SHARED: weakref.WeakValueDictionary[Any, Prepared] = weakref.WeakValueDictionary()
_SHARING = new_lock()


def _shared(made: Prepared) -> Prepared:
    """This one, or the one that a graph has already which is computed alike from the same tensors."""
    text = str(made.program)
    if " object at 0x" in text:
        return made  # an attribute whose text does not say what it is
    scalars = tuple((type(number), repr(number)) for number in made.scalars)
    key = (text, scalars, made.aval, tuple(id(tensor) for tensor in made.sources))
    with _SHARING:
        return _SHARED.setdefault(key, made)


class Preparation:
    """The prepared tensors of a graph, and how often they had to be computed.

    Where the tensors that they come from never change (`release` is given), they are computed once, and each source that
    the graph needs for nothing else is released as soon as it was used.
    """

    def __init__(
        self, parts: list[Prepared], tensors: list[Tensor], needed: list[Tensor], release: Release | None
    ) -> None:
        self.parts = parts
        self.tensors = tensors
        self.release = release
        self._needed = {id(tensor) for tensor in needed}
        self.sources = list({id(tensor): tensor for part in parts for tensor in part.sources}.values())
        self.times = 0
        self._made: tuple[list[Any], list[Any], bool] | None = None  # the last: whether they are there to run
        self._lock = new_lock()

    def values(self, to_run: bool = True) -> list[Any]:
        """The values of the prepared tensors now; `to_run`: see Prepared."""
        made = self._made
        if made is not None and (made[2] or not to_run):
            if self.release is not None:
                return made[1]
            for tensor, seen in zip(self.sources, made[0], strict=True):
                if tensor._value is None or seen() is not tensor._value:
                    break
            else:
                return made[1]
        with self._lock:
            if self.release is None:
                return self._compute(to_run)
            if self._made is None or (to_run and not self._made[2]):
                self._made = ([], self._compute_once(self.release, to_run), to_run)
            return self._made[1]

    def _compute_once(self, release: Release, to_run: bool) -> list[Any]:
        uses = Counter(id(tensor) for part in self.parts for tensor in part.sources)
        values: list[Any] = []
        for part, tensor in zip(self.parts, self.tensors, strict=True):
            values.append(part.value(True, to_run))
            adopt(tensor, wrap(values[-1], tensor._aval))
            for source in part.sources:
                uses[id(source)] -= 1
                if not uses[id(source)] and id(source) not in self._needed:
                    release(source)
        self.times += 1
        return values

    def _compute(self, to_run: bool) -> list[Any]:
        seen = [weakref.ref(tensor._data()) for tensor in self.sources]
        values = [part.value(False, to_run) for part in self.parts]
        for tensor, value in zip(self.tensors, values, strict=True):
            adopt(tensor, wrap(value, tensor._aval))
        self.times += 1
        self._made = (seen, values, to_run)
        return values


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
    _held: list[Any] | None = None  # where it stays the same

    def run(self, tensors: Sequence[Tensor], checks: list[Callable[[], None]] | None = None) -> Any:
        self._runs += 1
        if self.assumptions.guards and not self.holds_for(tensors):
            return self.origin.run(tensors, checks)  # the passes took other sizes for granted
        if self.preparation is not None and self.preparation.times > _OFTEN and self._runs < 2 * self.preparation.times:
            # Parameters change with almost every run: computing with them as they are costs less than preparing them.
            return self.origin.optimised(1).run(tensors, checks)
        return super().run(tensors, checks)

    def optimised(self, level: int | None = None) -> Graph:
        return self if level is None or level == self.level else self.origin.optimised(level)

    def is_current(self) -> bool:
        """Whether the passes would still do the same: no pass was added, no value they looked at has changed."""
        return self._generation == generation() and all(
            tensor._value is value or np.array_equal(np.asarray(tensor._data()), np.asarray(value))
            for tensor, value in self._assumed
        )

    def held_values(self) -> list[Any]:
        if self._held is not None:
            return self._held
        least = _LARGE if self.release is None else 0  # what stays the same is moved once
        held = [on_device(tensor, least) for tensor in self.captured[: self._num_given]]
        if self.preparation is not None:
            held += self.preparation.values()
        if self.release is not None:
            self._held = held
        return held

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


def on_device(tensor: Tensor, least: int = _LARGE) -> Any:
    """A tensor's value; a NumPy array of `least` bytes becomes a buffer of the device, for this run and all others."""
    value = tensor._data()
    if value.__class__ is np.ndarray and value.nbytes >= least:
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
    made._assumed = [] if graph.release is not None else [(t, t._data()) for t in draft.assumed.values()]
    made.release, made.donated, made.low_products = graph.release, graph.donated, graph.low_products
    made.preparation = _preparation([prepared[id(tensor)] for tensor in own], own, given, graph.release)
    return made


def _preparation(
    values: list[Any], tensors: list[Tensor], needed: list[Tensor], release: Release | None
) -> Preparation | None:
    return Preparation([_prepared(value) for value in values], tensors, needed, release) if values else None


def _prepared(value: Any) -> Prepared:
    nodes, sources = cone(value)
    ordered = _in_order({id(node): node for node in nodes})
    program, scalars, _ = program_of(ordered, sources, [value])
    tensors = [source.tensor for source in sources if source.tensor is not None]
    return _shared(Prepared(program, tensors, scalars, value.aval))


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
