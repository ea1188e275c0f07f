"""What XLA is told when it compiles a Program: by kind of place, over how many devices, quickly or well."""

from __future__ import annotations

import math
from typing import Any

from ...core import flags
from ...core.aval import Aval
from ...core.place import Place
from ..program import Program
from ..transforms import exactness

flags.define(
    "FLAGS_quick_compile", True,
    "Whether programs of a GPU are compiled quickly first, and well once they have run often.", "PROA_QUICK_COMPILE",
)  # fmt: skip

# How a GPU's programs are compiled first. Triton's products are the longest part of compiling and gain some percent; the
# first level of tuning leaves out only that results are checked (a GPT step on an H200: 6.7 s and 12.0 ms a step, with all
# 18.9 s and 11 ms).
QUICKLY = {"xla_gpu_enable_triton_gemm": False, "xla_gpu_autotune_level": 1}
# XLA joins products of one array with several weights, and copies these weights side by side to do so, at each run: the more
# the fewer rows there are (a token of a 7 B model: 1 ms of 6).
WEIGHTS_APART = {"xla_gpu_dot_merger_threshold_mb": 0}
# On many GPUs exchanges are begun as early and waited for as late as their operands allow, so that they go on beside
# computation; in a loop also beside that of the next round. XLA's default order does each where it stands.
OVERLAPPING = {
    "xla_gpu_enable_latency_hiding_scheduler": True,
    "xla_gpu_enable_pipelined_all_gather": True,
    "xla_gpu_enable_pipelined_all_reduce": True,
    "xla_gpu_enable_pipelined_reduce_scatter": True,
}
_MANY_TIMES = 8  # so much larger are the weights of such a program than what they give


def standing_options(program: Program, place: Place, sharded: bool) -> dict[str, Any]:
    """The options that a program is always compiled with."""
    if exactness.wanted():
        return exactness.compiler_options(place.kind)
    if place.kind != "gpu":
        return {}
    return (WEIGHTS_APART if _has_few_rows(program) else {}) | (OVERLAPPING if sharded else {})


def _has_few_rows(program: Program) -> bool:
    """Whether the program's products read far more than they give: a few rows go through large weights."""
    read = given = 0
    for instruction in program.instructions:
        if instruction.operation.contracts:
            sizes = [math.prod(kind.shape) for kind in instruction.kinds if isinstance(kind, Aval)]
            read += max(sizes, default=0)
            given += sum(math.prod(aval.shape) for aval in instruction.outputs)
    return read > _MANY_TIMES * given


def quick_options(program: Program, place: Place, sharded: bool) -> dict[str, Any]:
    """More options for a first, quick compilation; none where there is nothing to save, or every process and run must
    compute the very same."""
    if place.kind != "gpu" or sharded or flags.get("FLAGS_cpu_deterministic") or not flags.get("FLAGS_quick_compile"):
        return {}
    wanted = not exactness.wanted() and any(i.operation.contracts for i in program.instructions)
    return QUICKLY if wanted else {}
