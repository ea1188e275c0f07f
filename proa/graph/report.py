"""Seeing what a graph is and what was made of it: `explain`, `stablehlo`, and the report as one HTML file.

Graph has methods of these names. `examples` fix the sizes: tensors, arrays, InputSpecs or shapes; they may be left out
where the graph has no unknown dimensions, or has run already (then the sizes of the last run count).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval, make_aval
from ..core.errors import type_error, value_error
from ..eager.moving import moved
from ..eager.tensor import Tensor, tensor_from_data
from ..ir.program import Program
from ..ir.sizes.dimensions import shown_shape
from ..ir.tiers.lowering import lower_program
from .costs import bytes_of, memory_timeline, operations_of, xla_costs
from .graph import Graph


class GraphExplanation:
    """What is known about a graph; its text is for reading, its attributes are for programs."""

    def __init__(self, graph: Graph, examples: Sequence[Any], level: int | None = None) -> None:
        self.graph = graph
        self.optimised: Any = graph.optimised(level)
        self.level: int = self.optimised.level
        self.passes = self.optimised.records
        self.kinds = Counter(i.operation.name for i in graph.program.instructions)
        self.kinds_after = Counter(i.operation.name for i in self.optimised.program.instructions)
        self.parameters = [t for t in graph.captured if getattr(t, "persistable", False)]
        self.parameter_bytes = sum(bytes_of(t._aval) for t in self.parameters)
        self.avals = _example_avals(graph, examples, required=False)
        self.program: Program | None = None
        self.operations: Counter[str] = Counter()
        self.timeline: list[int] = []
        self.costs: dict[str, float] = {}
        if self.avals is not None:
            tensors = [_zeros(aval) for aval in self.avals]
            program: Program = self.optimised.specialised(tensors)[0]
            self.program = program
            for instruction in program.instructions:
                self.operations[instruction.operation.traits.family] += operations_of(instruction)
            self.timeline = memory_timeline(program)
            self.costs = xla_costs(self.optimised.executable(tensors)[0].executable)

    @property
    def num_operations(self) -> int:
        """Floating-point operations of one run, by shapes."""
        return sum(self.operations.values())

    @property
    def peak_bytes(self) -> int:
        """The most that intermediate values take at one time, if nothing is fused."""
        return max(self.timeline, default=0)

    def lines(self) -> list[str]:
        graph = self.graph
        prepared = self.optimised.preparation
        lines = [
            f"graph {graph.name}({', '.join(map(repr, graph.inputs))})",
            f"  results:    {', '.join(_shown(aval) for aval in graph.output_avals[: graph.num_results])}",
            f"  parameters: {len(self.parameters)} tensors, {sum(t._aval.size for t in self.parameters):,} elements, "
            f"{amount(self.parameter_bytes)}",
            f"  changed by a run: {', '.join(t.name for t in graph.updates) or 'nothing'}",
            f"  instructions: {len(graph.program.instructions)} captured, "
            f"{len(self.optimised.program.instructions)} after the passes of level {self.level}"
            + (f", {_beforehand(prepared)} computed beforehand" if prepared is not None else ""),
            "",
            "  operations      captured  after",
        ]
        for name in sorted(self.kinds | self.kinds_after, key=lambda n: (-self.kinds[n], n)):
            lines.append(f"    {name:<18}{self.kinds[name]:>4}{self.kinds_after[name]:>7}")
        lines += ["", "  passes that changed something"]
        for record in self.passes:
            if record.changes:
                difference = record.after - record.before
                lines.append(f"    {record.name:<30}{record.changes:>5} changes, {difference:+d} instructions")
        if self.avals is None:
            lines += ["", "  sizes are unknown: give example inputs for operations, memory and cost"]
            return lines
        lines += ["", f"  for {', '.join(map(str, self.avals))}"]
        total = max(1, self.num_operations)
        for family, number in self.operations.most_common():
            if number:
                lines.append(f"    {family:<20}{count(number):>10} FLOPs  {100 * number / total:5.1f} %")
        lines.append(f"    {'together':<20}{count(self.num_operations):>10} FLOPs")
        lines.append(f"    intermediate values: at most {amount(self.peak_bytes)} at one time (before fusion)")
        for name, number in self.costs.items():
            lines.append(f"    XLA, {name}: {count(number) + ' FLOPs' if name == 'operations' else amount(number)}")
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__


def explain(graph: Graph, examples: Sequence[Any] = (), level: int | None = None) -> GraphExplanation:
    """What the graph consists of, what it costs, and what each pass did."""
    return GraphExplanation(graph, examples, level)


def stablehlo(graph: Graph, examples: Sequence[Any] = (), level: int | None = None) -> str:
    """The text of the program that XLA gets."""
    avals = _example_avals(graph, examples, required=True)
    assert avals is not None
    tensors = [_zeros(aval) for aval in avals]
    chosen = graph.optimised(level)
    program, scalars, held = chosen.specialised(tensors)
    lowered, _ = lower_program(program, [*(t._data() for t in tensors), *held], scalars, graph.place)
    return str(lowered.as_text())


def write_report(
    graph: Graph, path: str | os.PathLike[str], examples: Sequence[Any] = (), level: int | None = None
) -> str:
    """Writes the report as one HTML file that needs nothing else; gives its path."""
    from .report_html import page

    explanation = explain(graph, examples, level)
    text = stablehlo(graph, explanation.avals, level) if explanation.avals is not None else ""
    content = page(explanation, text)
    path = os.fspath(path)
    unfinished = f"{path}.{os.getpid()}.unfinished"
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            file.write(content)
        os.replace(unfinished, path)
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)
    return path


# ---- examples ----------------------------------------------------------------------------------------------------


def _example_avals(graph: Graph, examples: Sequence[Any], required: bool) -> list[Aval] | None:
    """Abstract values that fix every size, or None where they are not known."""
    if examples:
        if len(examples) != len(graph.inputs):
            raise value_error(graph.name, f"{len(graph.inputs)} example inputs are needed", f"{len(examples)}")
        avals = [
            _aval_of(given.name, given.aval, example) for given, example in zip(graph.inputs, examples, strict=True)
        ]
        graph.check_inputs([_Shaped(aval) for aval in avals])  # type: ignore[list-item]
        return avals
    if not graph.has_unknown_sizes:
        return [given.aval for given in graph.inputs]
    used = list(graph.optimised()._compiled)
    if used:
        return list(used[-1])
    if required:
        raise value_error(
            graph.name, "the graph has unknown sizes", ", ".join(map(repr, graph.inputs)),
            "give example inputs: tensors, or shapes such as [1, 3, 224, 224]",
        )  # fmt: skip
    return None


class _Shaped:
    def __init__(self, aval: Aval) -> None:
        self._aval = aval


def _aval_of(name: str, wanted: Aval, example: Any) -> Aval:
    if isinstance(example, Aval):
        return example
    if isinstance(example, Tensor):
        return example._aval
    if isinstance(example, np.ndarray):
        return tensor_from_data(example)._aval
    shape = getattr(example, "shape", example)
    if not isinstance(shape, (list, tuple)):
        raise type_error("explain", f"the example for {name} must be a tensor, an InputSpec or a shape", f"{example!r}")
    if any(size is None or int(size) < 0 for size in shape):
        raise value_error("explain", f"the example for {name} must have no unknown sizes", f"{list(shape)}")
    return make_aval(tuple(int(size) for size in shape), wanted.dtype, wanted.place)


def _zeros(aval: Aval) -> Tensor:
    tensor = tensor_from_data(np.zeros(aval.shape, aval.dtype))
    if tensor._aval is not aval:
        tensor = moved(tensor, aval.place)
    return tensor


# ---- words -------------------------------------------------------------------------------------------------------


def _shown(aval: Aval) -> str:
    return f"{aval.dtype.name}{shown_shape(aval.shape)}"


def amount(number: float) -> str:
    """Bytes in words."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number:.0f} B"


def count(number: float) -> str:
    """A count in words."""
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.2f} {unit}"
    return f"{number:.0f}"


__all__ = ["GraphExplanation", "amount", "count", "explain", "stablehlo", "write_report"]


def _beforehand(prepared: Any) -> int:
    """How many instructions the prepared tensors take."""
    return sum(len(part.program.instructions) for part in prepared.parts)
