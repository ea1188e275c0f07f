"""Compiling and loading the native kernels, and everything that can be in the way of that."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from proa.core import flags
from proa.kernels import building
from proa.kernels.cpu import compiled, library

ROOT = pathlib.Path(__file__).parents[3]

# A hot matrix product (the third time compiles), and what the process says about native kernels.
SCRIPT = """
import numpy as np, proa
from proa.kernels.cpu import library
x = proa.to_tensor(np.arange(4096, dtype="float32").reshape(64, 64) / 4096)
for _ in range(5):
    y = (proa.matmul(x, x) + 1).numpy()
expected = x.numpy().astype("float64") @ x.numpy().astype("float64") + 1
assert np.allclose(y, expected, rtol=1e-5), abs(y - expected).max()
print("reason:", library.why_not())
"""


def run(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True, text=True, cwd=ROOT, timeout=110,
        env={**os.environ, "PROA_NATIVE": "1", **environment},
    )  # fmt: skip


def test_without_a_compiler_xla_does_the_work(tmp_path: pathlib.Path) -> None:
    done = run(PATH=str(tmp_path), CXX="", PROA_NATIVE_DIR=str(tmp_path / "native"))
    assert done.returncode == 0, done.stderr
    if not library._unsuitable():
        assert "there is no C++ compiler here" in done.stdout


def test_a_compiler_that_fails_is_named_and_xla_does_the_work(tmp_path: pathlib.Path) -> None:
    compiler = tmp_path / "broken"
    compiler.write_text("#!/bin/sh\necho 'no space left' >&2\nexit 1\n")
    compiler.chmod(0o755)
    done = run(CXX=str(compiler), PROA_NATIVE_DIR=str(tmp_path / "native"))
    assert done.returncode == 0, done.stderr
    if not library._unsuitable():
        assert "do not compile" in done.stdout
        assert "no space left" in done.stdout


def test_the_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(flags._FLAGS, "FLAGS_native_kernels", flags._Flag(False, bool, ""))
    assert library.target("Product") is None
    assert "switched off" in library.why_not()


def test_every_source_file_defines_handlers_and_their_names_are_unique() -> None:
    sources = sorted(compiled.SOURCES.glob("*.cc"))
    symbols = [symbol for source in sources for symbol in building.read_handlers("test", [str(source)])]
    assert len(symbols) == len(set(symbols))
    assert symbols == [symbol for source in sources for symbol in compiled.handlers_of(source.stem)]
    assert {"Product", "Convolution", "RowNorm", "Softmax", "MaxPoolGrad"} <= set(symbols)


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_a_library_is_compiled_again_only_when_something_changed(tmp_path: pathlib.Path) -> None:
    source, header = tmp_path / "one.cc", tmp_path / "one.h"
    header.write_text("#define VALUE 1\n")
    source.write_text('#include "one.h"\nextern "C" int value() { return VALUE; }\n')

    def build(*flags: str) -> str:
        return building.build(
            "test", "one", [str(source)], flags, [str(tmp_path)], [], str(tmp_path / "out"), headers_of=[str(header)]
        )

    first = build()
    written = os.stat(first).st_mtime_ns
    assert build() == first
    assert os.stat(first).st_mtime_ns == written
    assert build("-DANOTHER") != first
    header.write_text("#define VALUE 2\n")
    assert build() != first


@pytest.mark.parametrize("count", [1, 2])
def test_the_number_of_threads_can_be_chosen(count: int) -> None:
    script = (
        "import pathlib, numpy as np, proa\n"
        "proa.set_flags({'FLAGS_hot_threshold': 1})\n"
        "x = proa.to_tensor(np.ones((64, 64), 'float32'))\n"
        "assert (proa.matmul(x, x) + 1).numpy()[0, 0] == 65\n"
        "from proa.ir.xla import started_jax\n"
        "started_jax()\n"
        "names = [p.read_text() for p in pathlib.Path('/proc/self/task').glob('*/comm')]\n"
        "print('threads:', sum('XLAEigen' in name for name in names))\n"
    )
    environment = {**os.environ, "PROA_NUM_THREADS": str(count)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr
    assert f"threads: {count}" in done.stdout
