"""The way by which kernels of other processors are called, tried with kernels of this one and with bad ones."""

from __future__ import annotations

import concurrent.futures
import pathlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

from proa.kernels.building import xla_headers
from proa.kernels.cpu import compiled, library
from tests.kernels.emulation import emulated

pytestmark = [
    pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}"),
    pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler"),
]

HANDLERS = """
#include <cstdint>
#include <cstring>
#include "xla/ffi/api/c_api.h"
static XLA_FFI_Buffer* operand(XLA_FFI_CallFrame* frame) { return static_cast<XLA_FFI_Buffer*>(frame->args.args[0]); }
static XLA_FFI_Buffer* result(XLA_FFI_CallFrame* frame) { return static_cast<XLA_FFI_Buffer*>(frame->rets.rets[0]); }
static void copy(XLA_FFI_CallFrame* frame, int64_t more) {
  std::memcpy(result(frame)->data, operand(frame)->data, 4 * operand(frame)->dims[0] + more);
}
extern "C" XLA_FFI_Error* Right(XLA_FFI_CallFrame* frame) { copy(frame, 0); return nullptr; }
extern "C" XLA_FFI_Error* TooFar(XLA_FFI_CallFrame* frame) { copy(frame, 1); return nullptr; }
extern "C" XLA_FFI_Error* IntoOperand(XLA_FFI_CallFrame* frame) {
  static_cast<float*>(operand(frame)->data)[0] = 1;
  return nullptr;
}
extern "C" XLA_FFI_Error* Refuses(XLA_FFI_CallFrame* frame) {
  XLA_FFI_Error_Create_Args args{};
  args.message = "not these sizes";
  return frame->api->XLA_FFI_Error_Create(&args);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    made = tmp_path_factory.mktemp("emulated") / "calls"
    emulated.build_program("c++", made)
    return made


@pytest.fixture
def call(program: pathlib.Path) -> Iterator[Callable[..., Any]]:
    """Calls one of the handlers above so many times."""
    bad = program.with_name("bad.so")
    if not bad.exists():
        source = program.with_name("bad.cc")
        source.write_text(HANDLERS)
        subprocess.run(["c++", "-shared", "-fPIC", f"-I{xla_headers()}", str(source), "-o", str(bad)], check=True)
    libraries = {compiled.DIRECT: compiled.find(compiled.DIRECT), "bad": str(bad)}
    process = emulated.Answering(emulated.answering(program, libraries), 2)

    def run(symbol: str, operand: np.ndarray, result: np.ndarray, times: int = 2) -> bytes | None:
        numbers = np.array([1, 1, 0, 11, 1, operand.size, 11, 1, result.size], np.int64)
        answers = [process.run(symbol, (numbers, numbers.ctypes.data, b""), [operand, result]) for _ in range(times)]
        assert len(set(answers)) == 1
        return answers[0]

    yield run
    process.close()


@pytest.mark.parametrize("size", [0, 1, 7, 1024, 1025])
def test_results_come_back(size: int, call: Callable[..., Any]) -> None:
    operand, result = np.arange(size, dtype=np.float32), np.full(size, np.nan, np.float32)
    assert call("Right", operand, result) is None
    np.testing.assert_array_equal(result, operand)


def test_an_operand_that_is_the_result_is_one_place(call: Callable[..., Any]) -> None:
    both = np.ones(5, np.float32)
    assert call("IntoOperand", both, both) is None


def test_what_a_handler_refuses_is_told(call: Callable[..., Any]) -> None:
    assert call("Refuses", np.ones(5, np.float32), np.ones(5, np.float32)) == b"not these sizes"


@pytest.mark.parametrize("symbol", ["TooFar", "IntoOperand"])
def test_a_handler_that_touches_what_it_must_not_is_found(symbol: str, call: Callable[..., Any]) -> None:
    with pytest.raises(RuntimeError, match=rf"{symbol} ended the process \(-11\)"):
        call(symbol, np.ones(1024, np.float32), np.ones(1024, np.float32))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_the_bytes_of_an_array_are_those_in_memory(order: tuple[int, ...]) -> None:
    memory = np.arange(24, dtype=np.int32)
    assert bytes(emulated._memory_of(memory.reshape(2, 3, 4).transpose(order))) == memory.tobytes()
    with pytest.raises(AssertionError, match="gaps"):
        emulated._memory_of(memory[::2])


@pytest.mark.parametrize("kind", ["rows", "quantised product", "attention"])
def test_random_cases_of_this_machine_go_the_same_way(kind: str, program: pathlib.Path) -> None:
    libraries = {name: compiled.find(name) for name in compiled.names() if name != compiled.MEMORY}
    command = emulated.answering(program, libraries)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:  # it changes the process
        outcome = pool.submit(emulated.run_part, command, kind, 0, 6, 3).result(100)
    assert outcome.problems == []
    assert (outcome.cases, outcome.declined) == (6, 0)
    assert outcome.worst < emulated.LIMIT
    assert set(outcome.errors) == set(outcome.calls) != set()


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulated.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match="qemu-aarch64 is not here; on Debian and Ubuntu: apt install qemu-user"):
        emulated.command_for("neon")


def test_a_run_goes_on_until_every_kind_and_every_handler_has_its_cases() -> None:
    run = object.__new__(emulated.Run)
    run.cases = 100
    run.outcomes = {
        "one": emulated.Outcome("one", 100, declined=50, calls={"A": 200, "B": 25}),
        "two": emulated.Outcome("two", 100, calls={"C": 100, "B": 5}),
    }
    assert run.missing() == {"one": 308}  # 70 calls of B are missing, 25 in a hundred cases, and a tenth more
    run.outcomes["one"].calls["B"] = 95
    assert run.missing() == {"one": 111}
    run.outcomes["one"].declined = 0
    assert run.missing() == {}
