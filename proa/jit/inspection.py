"""Looking into what was captured: StableHLO, memory, cost."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Any

from ..ir.tiers.lowering import lower_program


@dataclass
class Estimate:
    """What a program costs, as the compiler sees it."""

    flops: float
    bytes_accessed: float
    argument_bytes: int
    output_bytes: int
    temporary_bytes: int
    code_bytes: int
    compile_seconds: float
    raw: dict[str, Any] = field(repr=False, default_factory=dict)

    @property
    def peak_bytes(self) -> int:
        return self.argument_bytes + self.output_bytes + self.temporary_bytes

    def __str__(self) -> str:
        return (
            f"{self.flops:,.0f} floating-point operations, {self.bytes_accessed:,.0f} bytes read and written; "
            f"arguments {self.argument_bytes:,} bytes, results {self.output_bytes:,}, temporaries "
            f"{self.temporary_bytes:,}; compiled in {self.compile_seconds:.2f} s"
        )


def estimate(compiled: Any) -> Estimate:
    """The estimate of a compiled program (`ir.lowering.CompiledProgram`)."""
    executable = compiled.executable
    try:
        cost: Any = executable.cost_analysis() or {}
    except Exception:  # not every backend tells
        cost = {}
    cost = cost[0] if isinstance(cost, list) and cost else cost
    try:
        memory = executable.memory_analysis()
    except Exception:
        memory = None

    def size(name: str) -> int:
        return int(getattr(memory, f"{name}_size_in_bytes", 0) or 0)

    return Estimate(
        float(cost.get("flops", 0.0)), float(cost.get("bytes accessed", 0.0)), size("argument"), size("output"),
        size("temp"), size("generated_code"), compiled.seconds, dict(cost),
    )  # fmt: skip


def stablehlo_of(graph: Any, tensors: list[Any]) -> str:
    """The StableHLO text of a graph for inputs of these sizes."""
    graph = graph.optimised()  # what a call runs
    program, scalars, held = graph.specialised(tensors)
    lowered, _ = lower_program(program, [*(t._data() for t in tensors), *held], scalars, graph.place)
    return lowered.as_text()


# Functions that have captured something, for `explain`.
CAPTURING: weakref.WeakSet[Any] = weakref.WeakSet()


class Inspection:
    """The part of a StaticFunction that shows what the compiler makes of it."""

    def _captured_for(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
        program, graph = self.get_concrete_program(*args, **kwargs)
        return graph, [*self._arguments(args, kwargs).tensors, *program.state()]

    def stablehlo(self: Any, *args: Any, **kwargs: Any) -> str:
        """The StableHLO text of the program for these arguments."""
        graph, tensors = self._captured_for(args, kwargs)
        return stablehlo_of(graph, tensors)

    def estimate(self: Any, *args: Any, **kwargs: Any) -> Estimate:
        """Floating-point operations and memory of the program for these arguments."""
        graph, tensors = self._captured_for(args, kwargs)
        return estimate(graph.optimised().executable(tensors)[0])

    def explain(self: Any) -> str:
        """What was captured so far, and for what kinds of calls."""
        lines = [
            f"{self!r}: {sum(map(len, self._programs.values()))} graph(s), {len(self._eager_keys)} kind(s) of calls eager"
        ]
        for programs in self._programs.values():
            for program in programs:
                graph = program.graph
                way = (
                    "replayed for gradients" if program.wants_gradient and not program.recomputes else "one executable"
                )
                lines.append(
                    f"  ({', '.join(map(repr, graph.inputs))}): {len(graph.program.instructions)} operations, "
                    f"{len(graph.captured)} tensors from outside, {len(graph.updates)} updated; {way}"
                )
                if hasattr(program.run, "buckets"):
                    lines += [f"    {line}" for line in str(program.run.explain()).splitlines()]
        lines += [f"  captured again: {change}" for change in self._changes]
        return "\n".join(lines)
