"""Estimates from shapes alone: floating-point operations, memory over time, and what XLA says."""

from __future__ import annotations

import math
from typing import Any

from ..core.aval import Aval
from ..ir.program import Instruction, Program

# Families whose work is no arithmetic.
_FREE = frozenset({"movement", "creation", "random", "control"})


def bytes_of(aval: Aval) -> int:
    return aval.size * aval.dtype.itemsize


def operations_of(instruction: Instruction) -> int:
    """Floating-point operations of an instruction, a multiplication and an addition being two."""
    operation = instruction.operation
    traits = operation.traits
    if traits.flops is not None:
        return traits.flops(instruction)
    out = instruction.outputs[0]
    if traits.family == "pooling" and "kernel" in operation.attribute_names:
        return out.size * math.prod(instruction.attributes[operation.attribute_names.index("kernel")])
    if traits.family in _FREE:
        return 0
    if traits.family == "reduction":
        return next((kind.size for kind in instruction.kinds if isinstance(kind, Aval)), 0)
    return out.size * (8 if traits.family == "normalisation" else 1)


def memory_timeline(program: Program) -> list[int]:
    """Bytes of intermediate values alive after each instruction, each freed after its last use."""
    sizes: dict[int, int] = {}
    alive = 0
    timeline: list[int] = []
    for instruction, ends in zip(program.instructions, program.last_uses(), strict=True):
        for offset, aval in enumerate(instruction.outputs):
            sizes[instruction.index + offset] = bytes_of(aval)
            alive += bytes_of(aval)
        timeline.append(alive)
        alive -= sum(sizes.get(number, 0) for number in ends)
    return timeline


def xla_costs(executable: Any) -> dict[str, float]:
    """What XLA itself says about a compiled program, as far as the backend says anything."""
    found: dict[str, float] = {}
    try:
        analysis = executable.cost_analysis() or {}
        analysis = analysis[0] if isinstance(analysis, list) else analysis
        for key, name in (("flops", "operations"), ("bytes accessed", "bytes moved")):
            if key in analysis:
                found[name] = float(analysis[key])
        memory = executable.memory_analysis()
        for key, name in (
            ("argument_size_in_bytes", "arguments"), ("output_size_in_bytes", "results"),
            ("temp_size_in_bytes", "temporary memory"), ("generated_code_size_in_bytes", "code"),
        ):  # fmt: skip
            if memory is not None and hasattr(memory, key):
                found[name] = float(getattr(memory, key))
    except (NotImplementedError, RuntimeError, AttributeError, TypeError):
        pass  # a backend that does not tell
    return found
