"""Graph: a captured Program, what it needs from outside, and how it runs.

Inputs of the Program come in this order: the graph's own inputs (placeholders), then the tensors that the code used from
outside: parameters and buffers, whose values are read at each run, and constants. Dynamic scalars have the values they
had during the capture, except seeds of random operations, which are drawn anew for each run. Buffers that the code
changed (the statistics of a batch norm) get their new values after each run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.aval import Aval
from ..core.errors import locate, value_error
from ..core.generator import default_generator
from ..core.locks import new_lock
from ..core.symbols import SymbolicSize
from ..eager.tensor import Tensor, aval_of, tensor_from_data, wrap
from ..eager.views import replace_value
from ..ir.block import positions_of_draws
from ..ir.live import LiveScalar
from ..ir.meshes import described
from ..ir.program import Program
from ..ir.recording.mode import Mode
from ..ir.sizes.assumptions import Assumptions
from ..ir.sizes.dimensions import Known, UnknownSize, shown_shape, specialise
from ..ir.sizes.known import sizes_held
from ..ir.tiers.lowering import CompiledProgram
from ..ir.watch import flags_of
from .structure import rebuild

_MOST_COMPILED = 64
_MOST_REMEMBERED = 4096


class GraphInput:
    """An input by name; `aval` has symbols where a dimension is unknown."""

    __slots__ = ("aval", "name")

    def __init__(self, name: str, aval: Aval) -> None:
        self.name = name
        self.aval = aval

    @property
    def shape(self) -> list[int]:
        """With -1 for unknown dimensions."""
        return shown_shape(self.aval.shape)

    def __repr__(self) -> str:
        return f"{self.name}: {self.aval.dtype.name}{self.shape}"


class Graph:
    """A captured function. `graph(*tensors)` runs it as one executable; gradients go through `replay`."""

    def __init__(
        self,
        name: str,
        program: Program,
        inputs: list[GraphInput],
        captured: list[Tensor],
        scalars: list[Any],
        structure: Any,
        updates: list[Tensor],
        locations: dict[int, tuple[str, int]] | None = None,
        assumptions: Assumptions | None = None,
    ) -> None:
        self.name = name
        self.program = program
        self.inputs = inputs
        self.captured = captured
        self.scalars = scalars
        self.structure = structure  # of the results; the Program's first outputs are its tensors
        self.updates = updates  # changed by a run: the Program's last outputs are their new values
        self.locations = locations or {}
        self.stops: Any = None  # where gradients end (stops.py); None: nowhere
        self.assumptions = assumptions or Assumptions()  # what it holds for, where sizes are unknown
        # Where the tensors from outside never change: what is called with those that are needed no more.
        self.release: Callable[[Tensor], None] | None = None
        # Inputs whose memory results are written over: whoever hands one in takes the result in its place.
        self.donated: tuple[int, ...] = ()
        # Whether layers with weights from outside may multiply in bfloat16, where the processor does so by itself.
        self.low_products = False
        self.num_results = len(program.outputs) - len(updates)
        self.generator = default_generator
        self._draws = positions_of_draws(program, scalars)
        # Values decide shapes in it: it runs in pieces (stages.py).
        self.is_staged = any(getattr(i.operation.kernel, "decides_shapes", False) for i in program.instructions)
        self._stages: Any = None
        self._live = [position for position, number in enumerate(scalars) if isinstance(number, LiveScalar)]
        self._compiled: dict[Any, tuple[CompiledProgram, list[Any], list[Any], list[Aval]]] = {}
        self._fitted: dict[Any, Graph] = {}
        self._held_for: dict[Any, bool] = {}
        self.account: Any = None  # what running it operation by operation has cost (see cold.py)
        self._optimised: dict[int | None, Any] = {}  # None: the usual level
        self._lock = new_lock()

    @property
    def has_unknown_sizes(self) -> bool:
        return any(given.aval.symbolic for given in self.inputs)

    @property
    def place(self) -> Any:
        avals = self.program.inputs or [aval for i in self.program.instructions for aval in i.outputs]
        return avals[0].place

    @property
    def output_avals(self) -> list[Aval]:
        by_number = {i.index + n: aval for i in self.program.instructions for n, aval in enumerate(i.outputs)}
        return [by_number[number] for number in self.program.outputs]

    def check_inputs(self, tensors: Sequence[Tensor]) -> None:
        """ValueError naming the input that does not fit."""
        if len(tensors) != len(self.inputs):
            raise value_error(self.name, f"{len(self.inputs)} inputs are needed", f"{len(tensors)}")
        for given, tensor in zip(self.inputs, tensors, strict=True):
            aval, wanted = tensor._aval, given.aval
            fits = aval.ndim == wanted.ndim and all(
                isinstance(expected, SymbolicSize) or size == expected
                for size, expected in zip(aval.shape, wanted.shape, strict=True)
            )
            if not fits or aval.dtype != wanted.dtype:
                raise value_error(self.name, f"input {given.name} must be {given!r}", f"{given.name}: {aval}")

    def held_values(self) -> list[Any]:
        """The values now of what comes from outside."""
        return [tensor._data() for tensor in self.captured]

    def sizes(self, tensors: Sequence[Tensor]) -> Known:
        """What is known of sizes before the Program is made for inputs of these ones; UnknownSize where it does not hold."""
        known = Known()
        for given, tensor in zip(self.inputs, tensors, strict=True):
            known.learn(given.aval, tensor._aval, given.name)
        self._check(known)
        return known

    def _check(self, known: Known) -> None:
        broken = self.assumptions.broken(known)
        if broken is not None:
            problem = UnknownSize(
                f"({self.name}) the graph was captured for sizes with {broken}; received "
                f"{', '.join(f'{symbol} = {size}' for symbol, size in known.items())}. Capture it for these sizes, or make "
                "the code independent of the sizes of unknown dimensions."
            )
            problem.guard = broken
            raise problem

    def holds_for(self, tensors: Sequence[Tensor]) -> bool:
        """Whether inputs of these sizes answer all questions about sizes as those of the capture did."""
        if not self.has_unknown_sizes or not (self.assumptions.guards or self._held_for):
            return True
        key = tuple([tensor._aval for tensor in tensors])
        found = self._held_for.get(key)
        if found is None:
            try:
                self.sizes(tensors)
                found = True
            except UnknownSize:
                found = False
            if len(self._held_for) >= _MOST_REMEMBERED:
                self._held_for.clear()
            self._held_for[key] = found
        return found

    def does_not_hold_for(self, tensors: Sequence[Tensor]) -> None:
        """Remembers that a run has found inputs of these sizes to be none that it was captured for."""
        self._held_for[tuple([tensor._aval for tensor in tensors])] = False

    def optimised(self, level: int | None = None) -> Graph:
        """The graph after the passes of a level (0: none, 1: what only takes away, 2: all; None: the usual one)."""
        found = self._optimised.get(level)
        return found if found is not None and found.is_current() else self._optimise(level)

    def _optimise(self, asked: int | None) -> Graph:
        from .optimised import optimise
        from .passes import registry

        level = registry.DEFAULT_LEVEL if asked is None else asked
        with self._lock:
            found = self._optimised.get(level)
            if found is None or not found.is_current():
                found = self._optimised[level] = optimise(self, level)
            self._optimised[asked] = found
        return found

    def explain(self, *examples: Any, level: int | None = None) -> Any:
        """What the graph consists of, what it costs and what each pass did, as text to print (see report.py)."""
        from .report import explain

        return explain(self, examples, level)

    def stablehlo(self, *examples: Any, level: int | None = None) -> str:
        """The program that XLA gets for inputs like the examples (tensors or shapes)."""
        from .report import stablehlo

        return stablehlo(self, examples, level)

    def report(self, path: Any, *examples: Any, level: int | None = None) -> str:
        """Writes all that `explain` knows, and the instructions with their lines, as one HTML file."""
        from .report import write_report

        return write_report(self, path, examples, level)

    def specialised(self, tensors: Sequence[Tensor]) -> tuple[Program, list[Any], list[Any]]:
        """The Program, scalars and values from outside for inputs of these sizes."""
        return self._specialised(tensors, self.held_values())

    def _specialised(self, tensors: Sequence[Tensor], held: list[Any]) -> tuple[Program, list[Any], list[Any]]:
        if not self.has_unknown_sizes:
            return self.program, self.scalars, held
        actual = [tensor._aval for tensor in tensors] + [tensor._aval for tensor in self.captured]
        program, known = specialise(self.program, actual, self.sizes(tensors), self.locations)
        self._check(known)
        scalars = [known.resolve(number) for number in self.scalars]
        return program, scalars, [_with_sizes(v, t, known) for v, t in zip(held, self.captured, strict=True)]

    def fitted(self, tensors: Sequence[Tensor]) -> Graph:
        """The graph for inputs of these sizes: nothing in it is unknown, so passes see the numbers that are meant. A staged
        one fits its pieces to the sizes that arrive there."""
        if not self.has_unknown_sizes or self.is_staged:
            return self
        key = tuple(tensor._aval for tensor in tensors)
        with self._lock:
            found = self._fitted.get(key)
            if found is None:
                found = self.fit(tensors)
                while len(self._fitted) >= _MOST_COMPILED:
                    self._fitted.pop(next(iter(self._fitted)))
                self._fitted[key] = found
        return found

    def fit(self, tensors: Sequence[Tensor]) -> Graph:
        """The same, made anew and not kept."""
        before = self.held_values()
        program, scalars, held = self._specialised(tensors, before)
        captured = [
            tensor if value is old else wrap(value)
            for tensor, value, old in zip(self.captured, held, before, strict=True)
        ]
        inputs = [GraphInput(given.name, tensor._aval) for given, tensor in zip(self.inputs, tensors, strict=True)]
        found = Graph(self.name, program, inputs, captured, scalars, self.structure, self.updates, self.locations)
        found.generator, found.release, found.donated = self.generator, self.release, self.donated
        found.low_products = self.low_products
        return found

    def executable(self, tensors: Sequence[Tensor]) -> tuple[CompiledProgram, list[Any], list[Any], list[Aval]]:
        """The executable for inputs of these sizes, its scalars, replacements of constants that hold sizes, and what the
        results are (empty until it was run: where an executable leaves them is known then, and asking costs time)."""
        key: Any = tuple(tensor._aval for tensor in tensors)
        if Mode.sharded:  # an executable is made for arrays that are cut in one way
            key = (key, tuple(described(v) for v in (*(t._data() for t in tensors), *self.held_values())))
        found = self._compiled.get(key)
        if found is None:
            with self._lock:
                found = self._compiled.get(key)
                if found is None:
                    before = self.held_values()
                    program, scalars, held = self._specialised(tensors, before)
                    values = [tensor._data() for tensor in tensors]
                    compiled = CompiledProgram(program, [*values, *held], scalars, self.place, self.donated, False)
                    replaced = [None if value is b else value for value, b in zip(held, before, strict=True)]
                    while len(self._compiled) >= _MOST_COMPILED:
                        self._compiled.pop(next(iter(self._compiled)))
                    found = self._compiled[key] = (compiled, scalars, replaced, [])
        return found

    def __call__(self, *tensors: Tensor) -> Any:
        """Runs the graph as one executable, without gradients, after the passes (`graph.passes`)."""
        self.check_inputs(tensors)
        if self.is_staged:
            return self.deliver(self._in_stages()(tensors, self.generator))
        return self.optimised().run(tensors)

    def _in_stages(self) -> Any:
        with self._lock:
            if self._stages is None:
                from .stages import Stages

                self._stages = Stages(self)
            return self._stages

    def run(self, tensors: Sequence[Tensor], checks: list[Callable[[], None]] | None = None) -> Any:
        """Runs this very Program as one executable, for inputs that fit. `checks`: takes what raises where a value was bad,
        to be called once results are looked at; without it, a program that checks values is waited for."""
        compiled, scalars, replaced, avals = self.executable(tensors)
        held = [value if r is None else r for value, r in zip(self.held_values(), replaced, strict=True)]
        values = [*(t._data() for t in tensors), *held]
        return self.results_of(compiled, values, self.fresh_scalars(scalars), tensors, avals, checks)

    def results_of(
        self,
        compiled: Any,
        values: list[Any],
        scalars: list[Any],
        tensors: Sequence[Tensor],
        avals: list[Aval] | None = None,
        checks: list[Callable[[], None]] | None = None,
    ) -> Any:
        """What an executable of this very Program gives, in its structure; `avals`: what its results are, filled in once."""
        results = compiled(values, scalars)
        if compiled.num_flags:
            check = partial(self._verify, results[-1], tensors if self.has_unknown_sizes else ())
            if checks is None:
                check()
            else:
                checks.append(check)
        avals = [] if avals is None else avals
        if not avals:
            avals[:] = [aval_of(value) for value in results[: len(self.program.outputs)]]
        return self.deliver(list(map(wrap, results, avals)))  # the flags, if any, stand behind the results

    def fresh_scalars(self, scalars: list[Any]) -> list[Any]:
        """The scalars with new seeds for the random operations, and what is read at each run (learning rates)."""
        if not self._draws and not self._live:
            return scalars
        scalars = list(scalars)
        for seed, offset in self._draws:
            scalars[seed], scalars[offset] = self.generator.draw()
        for position in self._live:
            scalars[position] = self.scalars[position].read()
        return scalars

    def deliver(self, outputs: list[Tensor]) -> Any:
        """The results in their structure; the buffers take their new values."""
        for tensor, value in zip(self.updates, outputs[self.num_results :], strict=True):
            replace_value(tensor, value)
        return rebuild(self.structure, outputs[: self.num_results])

    def _verify(self, flags: Any, tensors: Sequence[Tensor]) -> None:
        """Raises the error of the first check that failed; `tensors` tell unknown sizes."""
        good = np.asarray(flags)
        if not good.all():
            program, _, _ = self.specialised(tensors)
            instruction, location = flags_of(program, False, self.locations)[int(np.argmin(good))]
            raise locate(instruction.value_error(), location)

    def verify(self) -> None:
        """Checks the Program against the rules of the intermediate representation (`ir/verify.py`)."""
        from ..ir.verify import verify

        verify(self.program, self.scalars)

    def draw(self, path: Any = None) -> str:
        """A picture of the graph as SVG text, written to `path` if one is given."""
        from .drawing import draw_program

        names = {~position: given.name for position, given in enumerate(self.inputs)}
        return draw_program(self.program, path, names)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"graph {self.name}({', '.join(map(repr, self.inputs))})\n{self.program}"


def _with_sizes(value: Any, tensor: Tensor, known: Known) -> Any:
    """A value from outside, computed anew where it holds sizes (see `ir/sizes/known.py`)."""
    sizes = sizes_held(tensor)
    if sizes is None:
        return value
    array = np.array(known.resolve(sizes), tensor._aval.dtype).reshape(tensor._aval.shape)
    return np.asarray(tensor_from_data(array)._data())
