"""What running a Program op by op is expected to cost, and what compiling it would: when compiling pays.

Both are counted, never timed, so that every process of a job and every run of a program decides alike. A unit is about
a microsecond on one core. A path is compiled when the work already spent on it cold exceeds what compiling is expected
to cost: at worst that is twice the time of knowing the future, and a path that is not seen again is never compiled.
"""

from __future__ import annotations

import math

from .program import Instruction, Program

# Tier 0 on a CPU: calling a kernel, an element made, a multiplication with its addition.
_CALL = 4.0
_ELEMENT = 1e-3
_MULTIPLICATION = 5e-5
# XLA on a CPU: any program, an instruction of it, one that contracts (its kernels are many instructions to XLA).
_COMPILATION = 50_000.0
_INSTRUCTION = 1_000.0
_CONTRACTION = 8_000.0
# The same where the cache has the executable: the program is traced all the same, to find it.
_LOADING = 30_000.0
_LOADED_INSTRUCTION = 500.0
_LOADED_CONTRACTION = 2_000.0


def cold_work(program: Program) -> float:
    """The cost of one run on tier 0."""
    return sum(_work(instruction) for instruction in program.instructions)


def _work(instruction: Instruction) -> float:
    made = sum(aval.size for aval in instruction.outputs)
    work = _CALL + _ELEMENT * made
    if instruction.operation.contracts:
        sizes = sorted(kind.size for kind in instruction.kinds if kind is not None and not isinstance(kind, type))
        # For a product of m x k by k x n into m x n this is m k n; for others it is near enough.
        work += _MULTIPLICATION * math.sqrt(float(math.prod(sizes[-2:])) * made)
    return work


def compiling_work(program: Program, tiles: list[tuple[int, int]] | None) -> float:
    """The cost of compiling: of all instructions, or of one tile of each length (see `tiling.py`)."""
    if tiles is None:
        return _COMPILATION + _compiling(program.instructions)
    lengths = {end - start: (start, end) for start, end in tiles}
    return sum(_COMPILATION + _compiling(program.instructions[start:end]) for start, end in lengths.values())


def loading_work(program: Program) -> float:
    """The cost of loading the executable of a program that the cache has."""
    return _LOADING + sum(
        _LOADED_INSTRUCTION + _LOADED_CONTRACTION * i.operation.contracts for i in program.instructions
    )


def _compiling(instructions: list[Instruction]) -> float:
    return sum(_INSTRUCTION + _CONTRACTION * i.operation.contracts for i in instructions)
