"""Random programs with padded sizes (see `padding_programs.py`)."""

from __future__ import annotations

import pytest

from tests.jit import padding_programs


@pytest.mark.parametrize("seeds", [range(n, n + 10) for n in range(0, 60, 10)], ids=str)
def test_random_programs_are_not_changed_by_padding(seeds: range) -> None:
    for seed in seeds:
        program, chain = padding_programs.run(seed)
        assert program.padded == "bt", (seed, chain.names, program.plan.reasons)


@pytest.mark.parametrize("seed", [1000, 1001, 1002, 1003])
def test_nor_are_their_executables(seed: int) -> None:
    padding_programs.run(seed, compiled=True)


@pytest.mark.fuzz
def test_many_random_programs() -> None:
    for seed in range(2000, 3000):
        padding_programs.run(seed)
