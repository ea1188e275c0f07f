"""Large blocks of XLA's that are kept from run to run."""

from __future__ import annotations

import os
import pathlib
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from proa.core import flags
from proa.ir.tiers.lowering import give_back_freed_memory
from proa.ir.xla import started_jax
from proa.kernels.cpu import compiled, library, memory

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")
SIZE = 1 << 24  # elements: 64 MiB of float32


@pytest.fixture
def adding() -> Iterator[Any]:
    jax = started_jax()
    if not memory.keep(compiled.make("memory")):
        pytest.skip("this build of XLA allocates in another way")
    memory.give_back()
    program = jax.jit(lambda x, y: jax.numpy.broadcast_to(x, (SIZE,)) + y).lower(np.float32(0), np.float32(0)).compile()

    def run(x: float) -> np.ndarray:
        result = jax.block_until_ready(program(np.float32(x), np.float32(1)))
        ends = np.array(result[:: SIZE - 1])
        result.delete()
        return ends

    yield run
    flags.set_flags({"FLAGS_keep_memory": True})
    memory.give_back()


def faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def test_the_next_run_gets_the_same_pages(adding: Any) -> None:
    for number in range(3):
        np.testing.assert_array_equal(adding(number), [number + 1] * 2)
    assert memory.kept()["kept"] >= 4 * SIZE
    before = faults()
    np.testing.assert_array_equal(adding(7), [8, 8])
    assert faults() - before < 4 * SIZE // 4096 // 8


def test_what_is_kept_and_used_exceeds_what_was_used_by_a_quarter_at_most(adding: Any) -> None:
    jax = started_jax()
    for elements in (1 << 20, 1 << 22, 3 << 20, 1 << 23, 5 << 19, 1 << 22):
        made = [jax.block_until_ready(jax.numpy.full(elements, float(i))) for i in range(3)]
        found = memory.kept()
        assert found["kept"] + found["used"] <= 1.25 * found["most"]
        assert [float(one[-1]) for one in made] == [0.0, 1.0, 2.0]
        del made


def test_it_is_given_back_when_asked_for_and_when_switched_off(adding: Any) -> None:
    adding(1)
    assert memory.kept()["kept"] > 0
    give_back_freed_memory()
    assert memory.kept()["kept"] == 0
    flags.set_flags({"FLAGS_keep_memory": False})
    adding(2)
    assert memory.kept()["kept"] == 0
    flags.set_flags({"FLAGS_keep_memory": True})
    np.testing.assert_array_equal(adding(3), [4, 4])
    assert memory.kept()["kept"] > 0


def test_a_reason_is_given_where_nothing_is_kept(adding: Any) -> None:
    assert memory.why_not() == ""
    flags.set_flags({"FLAGS_keep_memory": False})
    assert "switched off" in memory.why_not()
    flags.set_flags({"FLAGS_keep_memory": True})
    assert memory.why_not() == ""


# Programs of XLA's that use 256 MiB, and NumPy arrays of as much, in turns; prints the largest size of the process.
ALTERNATING = """
import sys
import numpy as np
from proa.ir.xla import started_jax
from proa.kernels.cpu import compiled, memory
jax = started_jax()
assert memory.keep(compiled.find("memory")) == (sys.argv[1] == "kept"), memory.why_not()
size = 1 << 25
program = jax.jit(lambda x: jax.numpy.sort(jax.numpy.broadcast_to(x, (size,)) * 2.0)[::size // 8].sum()).lower(np.float32(1))
program = program.compile()
for _ in range(6):
    assert float(program(np.float32(1))) == 16.0
    host = np.ones(size, "float64")
    host += 1
    del host
print(open("/proc/self/status").read())
"""


def test_the_size_of_a_process_in_which_numpy_and_xla_take_turns() -> None:
    """Kept memory adds at most what XLA itself uses at once."""
    peaks = {}
    for mode, flag in (("kept", "1"), ("not", "0")):
        done = subprocess.run(
            [sys.executable, "-c", ALTERNATING, mode], capture_output=True, text=True, timeout=110,
            env={**os.environ, "PROA_KEEP_MEMORY": flag}, cwd=pathlib.Path(__file__).parents[3],
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        peaks[mode] = int(re.search(r"VmHWM:\s+(\d+)", done.stdout)[1]) / 1024  # type: ignore[index]
    assert peaks["kept"] <= peaks["not"] + 280, peaks
