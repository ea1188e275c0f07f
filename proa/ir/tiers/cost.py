"""What running a Program op by op costs more than it would compiled, and what compiling it costs: when compiling pays.

Both are counted, never timed, so that every process of a job and every run of a program decides alike. A unit is about
a microsecond: on one core, or on a GPU with the cores that compile for it. A path is compiled when the work already lost on
it by running it cold exceeds what compiling is expected to cost: at worst that is twice the loss of knowing the future, and
a path that is not seen again is never compiled. What is lost is the call of each kernel, a part of the time that arrays take
to go to memory and back (a compiled program joins operations), and little of the time of products, whose kernels are fast
in both.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ...core.aval import Aval
from ...core.dtype import BFLOAT16, FLOAT16
from ...core.place import CPU, Place
from ..program import Instruction, Program


class Prices(NamedTuple):
    """What things cost on a kind of device."""

    # Tier 0: calling a kernel, an element made, a multiplication with its addition.
    call: float
    element: float
    multiplication: float
    # The parts of the last two that a compiled program saves; it saves all calls.
    saved_of_elements: float
    saved_of_multiplications: float
    # Tier 1: starting a program, whatever it does, which is more than a few small calls (a GPU works meanwhile).
    launch: float
    # XLA: starting it, once in a process; any program, an instruction of it, one that contracts (its kernels are many
    # instructions to XLA).
    starting: float
    compilation: float
    instruction: float
    contraction: float
    # The same where the cache has the executable: the program is traced all the same, to find it.
    loading: float
    loaded_instruction: float
    loaded_contraction: float
    # Bringing an array from tier 0 to tier 1, and back.
    moving: float
    # How many times what padding has wasted so far it is expected to waste yet: a finer bucket is paid for out of that.
    horizon: float


_ON_CPU = Prices(
    4.0, 1e-3, 5e-5, 0.5, 0.2, 20.0, 500_000.0, 50_000.0, 1_500.0, 20_000.0, 30_000.0, 500.0, 5_000.0, 0.0, 1.0
)
# CuPy's calls of 10 to 30 us beside quick programs (`compiler_options.py`), on an H200: a GPT step of 469 instructions,
# 111 of which contract, compiles in 6.7 s, a step of ResNet-50 (674 and 161) in about 10.
# Whoever trains on a GPU does so for tens of thousands of steps: the horizon of its buckets is wider.
_ON_GPU = Prices(
    30.0, 5e-6, 4e-8, 0.5, 0.2, 0.0, 0.0, 100_000.0, 5_000.0, 30_000.0, 100_000.0, 1_000.0, 2_000.0, 120.0, 100.0
)


# NumPy's numbers of 16 bits are widened and rounded one by one: an element costs so many times one of float32 more.
_NARROW = frozenset({BFLOAT16, FLOAT16})
_TIMES_NARROW = 2.0


def prices_on(place: Place) -> Prices:
    return _ON_GPU if place.kind == "gpu" else _ON_CPU


def cold_work(program: Program, place: Place) -> float:
    """What one run on tier 0 loses beside a compiled one."""
    return saving(works(program, place), place)


def saving(works: tuple[float, float], place: Place) -> float:
    """What one run saves by being compiled: nothing where starting the program takes longer than its few small calls."""
    whole, hot = works
    return max(0.0, whole - hot - prices_on(place).launch)


def works(program: Program, place: Place) -> tuple[float, float]:
    """What one run costs on tier 0, and compiled, without starting it."""
    prices = prices_on(place)
    made = narrow = multiplied = 0.0
    for instruction in program.instructions:
        outputs = instruction.outputs
        size = outputs[0].size if len(outputs) == 1 else sum([aval.size for aval in outputs])
        made += size
        if outputs[0].dtype in _NARROW:
            narrow += size
        if instruction.operation.contracts:
            sizes = sorted([kind.size for kind in instruction.kinds if isinstance(kind, Aval)])
            # For a product of m x k by k x n into m x n this is m k n; for others it is near enough.
            multiplied += math.sqrt(float(math.prod(sizes[-2:])) * size)
    elements, multiplications = prices.element * made, prices.multiplication * multiplied
    calls = prices.call * len(program.instructions)
    if place is CPU:
        whole = calls + elements + multiplications + _TIMES_NARROW * prices.element * narrow
    else:  # the device works while the next kernels are called
        whole = max(calls, elements + multiplications)
    hot = (1 - prices.saved_of_elements) * elements + (1 - prices.saved_of_multiplications) * multiplications
    return whole, hot


def compiling_work(program: Program, tiles: list[tuple[int, int]] | None, place: Place) -> float:
    """The cost of compiling: of all instructions, or of one tile of each length (see `tiling.py`)."""
    prices = prices_on(place)
    if tiles is None:
        return _compiling(program.instructions, prices)
    lengths = {end - start: (start, end) for start, end in tiles}
    return sum(_compiling(program.instructions[start:end], prices) for start, end in lengths.values())


def loading_work(program: Program, place: Place) -> float:
    """The cost of loading the executable of a program that the cache has."""
    prices = prices_on(place)
    each = [prices.loaded_instruction + prices.loaded_contraction * i.operation.contracts for i in program.instructions]
    return prices.loading + sum(each)


def moving_work(program: Program, place: Place) -> float:
    """The cost of bringing the inputs of a program from tier 0 to a compiled program, and back behind it."""
    return prices_on(place).moving * len(program.inputs)


def _compiling(instructions: list[Instruction], prices: Prices) -> float:
    each = sum(prices.instruction + prices.contraction * i.operation.contracts for i in instructions)
    return prices.compilation + each
