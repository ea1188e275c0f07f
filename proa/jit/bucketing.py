"""Calls of many sizes share few executables: inputs are padded to the size of a bucket, results are cut.

Which axes may be padded, and what that needs, is decided by analysis (`ir/padding`); results are those of the program
without padding (`ir/sizes/bucketed.py`). At most `max_programs` executables are made. When a size fits none of them any
more, a warning says so, with the reasons, and such calls run operation by operation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import locate, warn
from ..core.expressions import Symbol
from ..core.locks import new_lock
from ..eager.tensor import Tensor, wrap
from ..graph import Graph
from ..graph.cold import run_op_by_op
from ..graph.optimised import on_device
from ..ir.padding import plan_padding
from ..ir.program import Program
from ..ir.sizes.bucketed import Bucket, Fitted, PaddingPlan
from ..ir.tiers.lowering import CompiledProgram
from ..ir.watch import flags_of

# A bucket serves sizes down to this part of its own (in elements), unless no other can be made; less so when half of the
# budget is spent.
_LEAST_USE, _LEAST_USE_LATER = 0.6, 0.4
_STEP = 1.25
_MULTIPLE = 8
_MOST_CALLS = 4096

Sizes = dict[Symbol, int]
Locations = dict[int, Any]


class Executable:
    """One that was made, for a bucket of sizes or for the very sizes of some inputs."""

    def __init__(self, program: Program, compiled: Any, locations: Locations, bucket: Bucket | None = None) -> None:
        self.program = program
        self.compiled = compiled
        self.locations = locations  # the user's lines, by instruction of this program
        self.bucket = bucket
        self.runs = 0

    @property
    def sizes(self) -> tuple[int, ...]:
        """How far the bucket reaches; empty where nothing is padded."""
        return tuple(self.bucket.sizes.values()) if self.bucket is not None else ()

    def __str__(self) -> str:
        return " x ".join(map(str, self.sizes)) or "exact"


class _Call(NamedTuple):
    """What a call with inputs of some sizes needs: decided once, and again when there are more executables."""

    executable: Executable
    run: Callable[[list[Any], list[Any]], Any]
    scalars: list[Any]
    held: list[Any]  # values from outside that follow from sizes; None: what the tensor holds
    among: int  # how many executables there were


class Buckets:
    """Runs a graph with unknown sizes, under a budget of executables."""

    def __init__(self, graph: Graph, max_programs: int = 8, warns: bool = True) -> None:
        self.graph = graph
        self.max_programs = max_programs
        self.plan = plan_padding(graph.program, [given.aval for given in graph.inputs])
        self._padding = PaddingPlan(graph.program, self.plan)
        self.buckets: dict[Any, Executable] = {}
        self._calls: dict[Any, _Call] = {}
        self._warned = not warns
        self._lock = new_lock()

    @property
    def num_programs(self) -> int:
        return len(self.buckets)

    def __call__(self, *tensors: Tensor) -> Any:
        self.graph.check_inputs(tensors)
        key = tuple([tensor._aval for tensor in tensors])
        call = self._calls.get(key)
        if call is None or call.among != len(self.buckets):
            call = self._decide(key, tensors)
        if call is None:
            return run_op_by_op(self.graph, tensors)
        values = [tensor._data() for tensor in tensors] + self._outside(call.held)
        results = call.run(values, self.graph.fresh_scalars(call.scalars))
        executable = call.executable
        executable.runs += 1
        if executable.compiled.num_flags:
            self._verify(executable, results[-1])
        return self.graph.deliver([wrap(value) for value in results[: len(self.graph.program.outputs)]])

    def _decide(self, key: Any, tensors: Sequence[Tensor]) -> _Call | None:
        """How inputs of these sizes run; None where the budget does not reach for them."""
        program, scalars, values = self.graph.specialised(tensors)
        held = [None if v is t._value else v for v, t in zip(values, self.graph.captured, strict=True)]
        inputs = [tensor._data() for tensor in tensors] + self._outside(held)
        found = self._padding.sizes_of(self.graph.sizes(tensors)) if self.plan.sizes else None
        if found is None:
            executable = self._make(key, lambda: self._exact(program, inputs, scalars))
        else:
            executable = self._bucket_for(*found, inputs, scalars)
        if executable is None:
            self._warn(tensors)
            return None
        bucket = executable.bucket
        run = executable.compiled if bucket is None or found is None else Fitted(bucket, found[0], program)
        if len(self._calls) >= _MOST_CALLS:
            self._calls.clear()
        call = self._calls[key] = _Call(executable, run, scalars, held, len(self.buckets))
        return call

    def _outside(self, held: list[Any]) -> list[Any]:
        return [on_device(t) if value is None else value for t, value in zip(self.graph.captured, held, strict=True)]

    # ---- buckets ---------------------------------------------------------------------------------------------------

    def _bucket_for(self, real: Sizes, exact: Sizes, inputs: list[Any], scalars: list[Any]) -> Executable | None:
        fitting = [  # of a copy, as another thread may be adding one
            (executable.bucket.volume, executable)
            for executable in list(self.buckets.values())
            if executable.bucket is not None and executable.bucket.holds(real, exact)
        ]
        volume, best = min(fitting, key=lambda pair: pair[0], default=(0, None))
        if best is not None:
            last = len(self.buckets) >= self.max_programs - 1
            least = _LEAST_USE if 2 * len(self.buckets) < self.max_programs else _LEAST_USE_LATER
            if last or math.prod(real.values()) >= least * volume:
                return best
        # The last one has room to grow.
        spare = 2 if best is None and len(self.buckets) == self.max_programs - 1 else 1
        sizes = {symbol: _rounded(spare * size) for symbol, size in real.items()}
        if not self.plan.holds_for(self._padding.all_sizes(sizes, exact)):
            sizes = real  # a table or the like is no longer than that
        key = (*sizes.values(), *exact.values())
        return self._make(key, lambda: self._padded(sizes, exact, real, inputs, scalars), best)

    def _make(self, key: Any, make: Callable[[], Executable], larger: Executable | None = None) -> Executable | None:
        """A new executable; the larger one that fits as well, where another thread has just spent the budget."""
        with self._lock:
            found = self.buckets.get(key)
            if found is None and len(self.buckets) < self.max_programs:
                found = self.buckets[key] = make()
            return found or larger

    def _exact(self, program: Program, inputs: list[Any], scalars: list[Any]) -> Executable:
        compiled = CompiledProgram(program, inputs, scalars, self.graph.place, (), False)
        return Executable(program, compiled, self.graph.locations)

    def _padded(self, sizes: Sizes, exact: Sizes, real: Sizes, inputs: list[Any], scalars: list[Any]) -> Executable:
        bucket = Bucket(self._padding, sizes, exact, self.graph.place)
        program = bucket.make(real, inputs, scalars)
        lines = self.graph.locations
        locations = {number: lines[old] for number, old in bucket.origins.items() if old in lines}
        return Executable(program, bucket.compiled, locations, bucket)

    # ---- the rest --------------------------------------------------------------------------------------------------

    def _verify(self, executable: Executable, flags: Any) -> None:
        good = np.asarray(flags)
        if not good.all():
            flagged = flags_of(executable.program, False, executable.locations)
            instruction, location = flagged[int(np.argmin(good))]
            raise locate(instruction.value_error(), location)

    def _warn(self, tensors: Sequence[Tensor]) -> None:
        if self._warned:
            return
        self._warned = True
        reasons = "; ".join(self.plan.reasons) or "the sizes are larger than all those before"
        warn(
            f"(to_static) {self.graph.name}: the budget of {self.max_programs} compiled programs is spent (buckets: "
            f"{', '.join(map(str, self.buckets.values())) or 'none'}), and inputs "
            f"{', '.join(str(t._aval) for t in tensors)} fit none of them; such calls run operation by operation. Why not "
            f"padded: {reasons}. A larger max_programs, or fixed sizes, would help.",
            RuntimeWarning,
        )

    def explain(self) -> str:
        """The buckets, how often each ran, and why sizes are not padded."""
        lines = [f"{len(self.buckets)} of at most {self.max_programs} executables"]
        for executable in self.buckets.values():
            shown = f"up to {executable}" if executable.bucket is not None else "exact sizes"
            lines.append(f"  {shown}: {executable.runs} run(s), compiled in {executable.compiled.seconds:.2f} s")
        lines += [f"  not padded: {reason}" for reason in self.plan.reasons]
        return "\n".join(lines)


def _rounded(size: int) -> int:
    """The size of a bucket: powers of two while small, then steps of a quarter."""
    bucket = 1
    while bucket < size:
        bucket = bucket * 2 if bucket < 16 else -(-int(bucket * _STEP) // _MULTIPLE) * _MULTIPLE
    return bucket


__all__ = ["Buckets", "Executable"]
