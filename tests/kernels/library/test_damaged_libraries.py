"""Native libraries in the cache folder that were damaged, cannot be kept, or are compiled by several processes at once."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from proa.ir.tiers import cache
from proa.kernels import building
from proa.kernels.cpu import compiled, library

ROOT = pathlib.Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")

# A hot product, and how many of its programs call native code.
PRODUCT = """
import numpy as np, proa
from proa.kernels.cpu import library
x = proa.to_tensor((np.arange(512 * 512, dtype="float32") % 7).reshape(512, 512))
for _ in range(5):
    y = (proa.matmul(x, x) + 1).numpy()
assert (y == x.numpy().astype("float64") @ x.numpy().astype("float64") + 1).all()
print("native" if library.target("Product") else "xla")
"""
MAKE_ALL = "from proa.kernels.cpu import compiled; compiled.make_all()"


def start(code: str, folder: pathlib.Path, **environment: str) -> subprocess.Popen[str]:
    everything = {**os.environ, "PROA_NATIVE": "1", "PROA_NATIVE_DIR": str(folder), **environment}
    everything = {key: value for key, value in everything.items() if value}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=everything,
    )


def run(code: str, folder: pathlib.Path, **environment: str) -> tuple[str, str]:
    process = start(code, folder, **environment)
    out, errors = process.communicate(timeout=110)
    assert process.returncode == 0, (process.returncode, errors)
    return out.strip(), errors


def wait_until(condition: Callable[[], Any], seconds: float = 100.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)


@pytest.fixture
def copies(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with the real libraries of this machine."""
    folder = tmp_path / "native"
    folder.mkdir()
    for name in compiled.names():
        shutil.copy(compiled.find(name), folder)
    return folder


@pytest.fixture
def compiler(tmp_path: pathlib.Path) -> pathlib.Path:
    """What stands for a compiler: notes that it was called, works for a moment, and writes something."""
    script = tmp_path / "compiler"
    script.write_text(
        f"#!/bin/sh\necho called >> {tmp_path}/calls\n"
        f"[ -e {tmp_path}/slow ] && sleep 20\n[ -e {tmp_path}/fails ] && exit 1\n"
        'sleep 0.2\nwhile [ "$1" != -o ]; do shift; done\nhead -c 5000 /dev/urandom > "$2"\n'
    )
    script.chmod(0o755)
    return script


def num_calls(compiler: pathlib.Path) -> int:
    calls = compiler.parent / "calls"
    return calls.read_text().count("called") if calls.exists() else 0


def all_intact(folder: pathlib.Path) -> bool:
    libraries = list(folder.glob("*.so"))
    return len(libraries) == len(compiled.names()) and all(map(cache.is_intact, libraries))


def leftovers(folder: pathlib.Path) -> list[str]:
    """What is in the folder beside libraries."""
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".so" and path.name != "builder.lock")


@pytest.mark.parametrize("form", ["cut short", "empty", "one bit"])
def test_a_damaged_library_is_never_loaded_and_is_replaced(form: str, copies: pathlib.Path) -> None:
    assert run(PRODUCT, copies) == ("native", "")
    (path,) = copies.glob("proa_memory_*.so")  # the smallest
    data = path.read_bytes()
    forms = {"cut short": data[: len(data) // 2], "empty": b"", "one bit": data[:9000] + b"!" + data[9001:]}
    path.unlink()
    path.write_bytes(forms[form])
    out, errors = run(PRODUCT, copies)
    assert out == "xla"
    assert errors.count("\n") == 1
    assert "in the background" in errors
    assert "PROA_NATIVE=0" in errors
    wait_until(lambda: all_intact(copies))
    wait_until(lambda: not leftovers(copies))
    assert run(PRODUCT, copies) == ("native", "")


def test_a_library_of_a_user_that_is_cut_short_is_refused(tmp_path: pathlib.Path) -> None:
    """One without a seal: compiled by other means."""
    source, made = tmp_path / "one.cc", tmp_path / "one.so"
    source.write_text('int numbers[5000] = {1}; extern "C" int One() { return numbers[3]; }\n')
    subprocess.run(["c++", "-shared", "-fPIC", str(source), "-o", str(made)], check=True)
    assert building._is_whole(str(made))
    made.write_bytes(made.read_bytes()[:9000])
    with pytest.raises(RuntimeError, match=r"one\.so cannot be loaded: it is damaged; build it again"):
        building.register("test", str(made), {"One": "cpu"})
    with pytest.raises(RuntimeError, match="cannot be loaded"):
        building.register("test", str(tmp_path / "nothing.so"), {"One": "cpu"})


def test_a_library_that_xla_refuses_is_refused_every_time(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not taken for registered because it was loaded once."""
    import jax

    def refuse(*arguments: Any, **options: Any) -> None:
        raise RuntimeError("another version of the interface")

    source, made = tmp_path / "one.cc", tmp_path / "one.so"
    source.write_text('extern "C" int One() { return 1; }\n')
    subprocess.run(["c++", "-shared", "-fPIC", str(source), "-o", str(made)], check=True)
    monkeypatch.setattr(jax.ffi, "register_ffi_target", refuse)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="another version of the interface"):
            building.register("test", str(made), {"One": "cpu"})


def test_processes_that_fill_an_empty_folder_compile_everything_once(
    tmp_path: pathlib.Path, compiler: pathlib.Path
) -> None:
    folder = tmp_path / "native"
    running = [start(MAKE_ALL, folder, CXX=str(compiler)) for _ in range(3)]
    assert [process.communicate(timeout=110) for process in running] == [("", "")] * 3
    assert [process.returncode for process in running] == [0, 0, 0]
    assert num_calls(compiler) == len(compiled.names())
    assert all_intact(folder)
    assert leftovers(folder) == []


def test_nobody_waits_for_a_killed_process(tmp_path: pathlib.Path, compiler: pathlib.Path) -> None:
    folder, slow = tmp_path / "native", tmp_path / "slow"
    slow.touch()
    killed = start(MAKE_ALL, folder, CXX=str(compiler))
    wait_until(lambda: num_calls(compiler) > 0)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=100)
    assert leftovers(folder) != []  # its locks, and the folders that its compilers still write into
    slow.unlink()
    assert run(MAKE_ALL, folder, CXX=str(compiler)) == ("", "")
    assert all_intact(folder)
    assert leftovers(folder) == []


def test_a_program_never_waits_for_the_compiler(tmp_path: pathlib.Path, compiler: pathlib.Path) -> None:
    folder = tmp_path / "native"
    (tmp_path / "slow").touch()
    began = time.monotonic()
    out, errors = run(PRODUCT, folder, CXX=str(compiler))
    assert time.monotonic() - began < 50
    assert out == "xla"
    assert errors.count("\n") == 1
    wait_until(lambda: num_calls(compiler) > 0)
    assert run(PRODUCT, folder, CXX=str(compiler)) == ("xla", "")  # somebody is at it: nothing to say
    (tmp_path / "slow").unlink()
    wait_until(lambda: all_intact(folder))  # the process in the background lives on


def test_a_compiler_that_fails_is_not_tried_at_every_start(tmp_path: pathlib.Path, compiler: pathlib.Path) -> None:
    folder = tmp_path / "native"
    (tmp_path / "fails").touch()
    assert run(PRODUCT, folder, CXX=str(compiler))[0] == "xla"
    wait_until(lambda: list(folder.glob("failed_*.txt")))
    before = num_calls(compiler)
    assert run(PRODUCT, folder, CXX=str(compiler)) == ("xla", "")
    time.sleep(1)
    assert num_calls(compiler) == before


@pytest.mark.parametrize("state", ["full", "read-only"])
def test_a_folder_that_keeps_nothing_is_named_and_nothing_is_compiled(
    state: str, small_disk: pathlib.Path, compiler: pathlib.Path
) -> None:
    if state == "read-only":
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    began = time.monotonic()
    out, errors = run(PRODUCT, small_disk / "native", CXX=str(compiler))
    assert time.monotonic() - began < 50
    assert out == "xla"
    assert errors.count("\n") == 1
    assert f"{small_disk}/native is {state}" in errors
    assert "PROA_CACHE_DIR" in errors
    assert num_calls(compiler) == 0
    assert not [path for path in small_disk.rglob("*") if path.is_file()]


def test_a_read_only_folder_with_everything_in_it_is_used(copies: pathlib.Path, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "mounted"
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "--bind", "-o", "ro", str(copies), str(folder)]).returncode:
        pytest.skip("only root can mount, and not in every container")
    try:
        assert run(PRODUCT, folder) == ("native", "")
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_disk_that_gets_full_while_compiling(small_disk: pathlib.Path, compiler: pathlib.Path) -> None:
    """The compiler says so in its own words."""
    compiler.write_text("#!/bin/sh\necho 'fatal error: error writing: No space left on device' >&2\nexit 1\n")
    with pytest.raises(OSError, match="No space left on device"):
        building.compile_library("test", small_disk / "one.so", [str(compiler)])
    assert [path.name for path in small_disk.iterdir()] == ["one.lock"]
