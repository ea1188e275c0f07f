"""Every kind of block, dequantised here and by ggml's own code.

    PROA_PARITY_LLAMA_PYTHON=… python -m tests.llm.files.beside_ggml

compares all elements of 64 blocks of each kind, and writes data/ggml.npz, 64 elements of each for the suite.
The variable names a Python that has llama-cpp-python.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from proa.llm.files import KINDS
from proa.llm.files.dequantising import dequantise
from tests.llm.files.samples import random_blocks

DATA = pathlib.Path(__file__).parent / "data" / "ggml.npz"
NUM_BLOCKS = 64
LEFT_OUT = ("Q8_1",)  # which only lives in memory, and has no function there
GGML = """
import ctypes, pathlib, sys
import llama_cpp
import numpy as np
library = ctypes.CDLL(str(pathlib.Path(llama_cpp.__file__).parent / "lib" / "libggml-base.so"))
given, results = np.load(sys.argv[1]), {}
for key in given.files:
    kind, elements = key.split(":")
    blocks = np.ascontiguousarray(given[key])
    results[kind] = np.empty(len(blocks) * int(elements), np.float32)
    name = kind if "_K" in kind else kind.lower()
    function = getattr(library, "dequantize_row_" + (name.replace("Q", "q") if "_K" in name else name))
    function(blocks.ctypes.data_as(ctypes.c_void_p), results[kind].ctypes.data_as(ctypes.c_void_p),
             ctypes.c_int64(results[kind].size))
np.savez(sys.argv[2], **results)
"""


def kinds() -> list[str]:
    return [name for name, kind in KINDS.items() if kind.is_quantised and name not in LEFT_OUT]


def blocks_of(name: str) -> np.ndarray:
    return random_blocks(name, NUM_BLOCKS, 1, seed=KINDS[name].number)


def places(name: str) -> np.ndarray:
    """Which elements are stored."""
    return np.random.default_rng(1).permutation(NUM_BLOCKS * KINDS[name].elements)[:64]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        given, answers = os.path.join(folder, "given.npz"), os.path.join(folder, "answers.npz")
        np.savez(given, **{f"{name}:{KINDS[name].elements}": blocks_of(name) for name in kinds()})
        subprocess.run([os.environ["PROA_PARITY_LLAMA_PYTHON"], "-c", GGML, given, answers], check=True, timeout=300)
        expected = dict(np.load(answers))
    wrong = 0
    for name in kinds():
        found = dequantise(blocks_of(name), KINDS[name], np.dtype("float32")).reshape(-1)
        alike = found.view(np.uint32) == expected[name].view(np.uint32)
        wrong += not alike.all()
        print(f"{name}: {alike.sum()} of {alike.size} elements alike, bit by bit")
    DATA.parent.mkdir(exist_ok=True)
    np.savez_compressed(DATA, **{name: expected[name][places(name)] for name in kinds()})
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
