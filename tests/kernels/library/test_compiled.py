"""Which compiled library a processor gets, and from where."""

from __future__ import annotations

import os
import pathlib
import platform
import shutil
import subprocess
import sys

import pytest

from proa.ir.tiers import cache
from proa.kernels.cpu import compiled, library
from tools import wheel

ROOT = pathlib.Path(__file__).parents[3]
needs_native = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")
needs_compiler = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")


@needs_compiler
@pytest.mark.skipif(library._unsuitable() != "", reason=f"native kernels are not for here: {library._unsuitable()}")
@pytest.mark.skipif(os.environ.get("PROA_NATIVE") == "0", reason="switched off by PROA_NATIVE")
def test_kernels_are_there_where_they_can_be_compiled() -> None:
    """Other tests are skipped without native kernels: a mistake in the native code must not pass for that."""
    assert library.why_not() == ""


_OLD = "fpu sse sse2"
_HASWELL = f"{_OLD} avx avx2 fma f16c bmi1 bmi2 abm movbe"
_SKYLAKE = f"{_HASWELL} avx512f avx512bw avx512cd avx512dq avx512vl"


@pytest.fixture
def cpu(monkeypatch: pytest.MonkeyPatch):
    """Pretends to be another processor."""

    def pretend(machine: str, flags: str) -> str | None:
        monkeypatch.setattr(compiled, "processor", lambda: {"flags": flags})
        monkeypatch.setattr(platform, "machine", lambda: machine)
        found = compiled.variant.__wrapped__()
        return found.name if found else None

    monkeypatch.delenv("PROA_NATIVE_VARIANT", raising=False)
    return pretend


@pytest.mark.parametrize(
    ("machine", "flags", "expected"),
    [
        ("x86_64", _OLD, "sse2"),
        ("x86_64", _HASWELL, "avx2"),
        ("x86_64", _HASWELL.replace("fma", ""), "sse2"),
        ("x86_64", f"{_HASWELL} avx_vnni", "avxvnni"),
        ("x86_64", _SKYLAKE, "avx512"),
        ("x86_64", _SKYLAKE.replace("avx512vl", ""), "avx2"),  # Knights Landing
        ("x86_64", f"{_SKYLAKE} avx512_vnni", "avx512vnni"),
        ("aarch64", "", "neon"),
        ("riscv64", "", None),
    ],
)
def test_a_processor_gets_the_best_that_it_can_run(cpu, machine: str, flags: str, expected: str | None) -> None:
    assert cpu(machine, flags) == expected


def test_a_variant_can_be_asked_for_but_only_one_that_runs(cpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROA_NATIVE_VARIANT", "avx2")
    assert cpu("x86_64", _SKYLAKE) == "avx2"
    monkeypatch.setenv("PROA_NATIVE_VARIANT", "avx512")
    assert cpu("x86_64", _HASWELL) is None


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_wheel_has_every_library_for_every_processor(machine: str) -> None:
    inside = set(wheel.libraries_of(machine))
    for best in compiled.VARIANTS:
        if best.machine == machine and best.name != "sse2":
            for name in compiled.names():
                kind = compiled.variant_of(name, best)
                assert kind.needs <= best.needs
                assert pathlib.Path(kind.name) / compiled.file_name(name, kind) in inside


def test_only_sources_that_mention_it_are_compiled_for_more() -> None:
    vnni = {path.name.split("_")[1] for path in wheel.libraries_of("x86_64") if path.parent.name == "avx512vnni"}
    assert vnni == {"blocks", "ggml", "grids", "pages", "quantised"}


def test_a_machine_without_kernels_is_named() -> None:
    with pytest.raises(SystemExit, match="There are no native kernels for riscv64"):
        wheel.libraries_of("riscv64")


@needs_compiler
def test_the_name_of_a_wheel_says_which_system_it_needs(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "one.cc"
    source.write_text('extern "C" int one() { return 1; }\n')
    subprocess.run(["c++", "-shared", "-fPIC", str(source), "-o", str(tmp_path / "one.so")], check=True)
    assert wheel.platform_of(tmp_path, "x86_64") == "manylinux_2_28_x86_64"
    if tuple(map(int, platform.libc_ver()[1].split("."))) < (2, 36):
        pytest.skip("the C library of this machine is older than 2.36")
    source.write_text('extern "C" unsigned arc4random(); extern "C" unsigned one() { return arc4random(); }\n')
    subprocess.run(["c++", "-shared", "-fPIC", str(source), "-o", str(tmp_path / "two.so")], check=True)
    assert wheel.platform_of(tmp_path, "x86_64") == "manylinux_2_36_x86_64"


@needs_native
def test_what_a_wheel_brought_is_used_unless_it_is_damaged(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    best = compiled.variant()
    assert best is not None
    kept = compiled.make("rows")
    packaged = tmp_path / compiled.variant_of("rows", best).name / pathlib.Path(kept).name
    packaged.parent.mkdir()
    shutil.copy(kept, packaged)
    monkeypatch.setattr(compiled, "PREBUILT", tmp_path)
    monkeypatch.setattr(compiled, "_TOLD", set())
    assert compiled.find("rows") == str(packaged)
    packaged.write_bytes(packaged.read_bytes()[:5000])
    assert compiled.find("rows") == kept
    assert compiled.find("rows") == kept
    assert capsys.readouterr().err == f"proa: {packaged} is damaged and not used; install proa again.\n"
    monkeypatch.setenv("PROA_NATIVE_DIR", str(tmp_path / "empty"))
    assert compiled.find("rows") == ""


@needs_native
def test_compiled_libraries_are_found_without_a_compiler(tmp_path: pathlib.Path) -> None:
    """An image may be made in two steps, the second without the tools of the first."""
    script = "from proa.kernels.cpu import library; print(repr(library.why_not()))"
    environment = {**os.environ, "PATH": str(tmp_path), "CXX": "", "PROA_NATIVE": "1"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.stdout == "''\n", done.stderr


def test_what_a_library_is_called_depends_on_everything_in_it(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = compiled.VARIANTS[0], compiled.VARIANTS[1]
    before = compiled.file_name("rows", one)
    assert compiled.file_name("rows", one) == before
    assert compiled.file_name("rows", two) != before
    monkeypatch.setenv("PROA_NATIVE_FLAGS", "-O1")
    assert compiled.file_name("rows", one) != before
    monkeypatch.delenv("PROA_NATIVE_FLAGS")
    shutil.copytree(compiled.SOURCES, tmp_path / "native")
    with open(tmp_path / "native" / "headers" / "parallel.h", "a") as header:  # included by way of others
        header.write("// changed\n")
    monkeypatch.setattr(compiled, "SOURCES", tmp_path / "native")
    compiled._texts_of.cache_clear()
    try:
        assert compiled.file_name("rows", one) != before
    finally:
        compiled._texts_of.cache_clear()


def test_a_disk_without_room_is_found_out_before_compiling(small_disk: pathlib.Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        cache.check_room(small_disk, 2 << 20)
    cache.check_room(small_disk, 1000)
    assert not list(small_disk.iterdir())


@needs_native
def test_libraries_that_nobody_uses_any_more_are_removed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in compiled.names():
        shutil.copy(compiled.make(name), tmp_path)
    monkeypatch.setenv("PROA_NATIVE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled, "PREBUILT", tmp_path / "none")
    in_use, unused, missing = compiled.find("norms"), tmp_path / "proa_norms_0123.so", compiled.find("memory")
    unused.write_bytes(b"of other sources")
    for path in (in_use, unused):
        os.utime(path, (0, 0))
    compiled.note_use([in_use])
    os.unlink(missing)
    compiled.make_all()  # which compiles one, and looks around
    assert os.path.exists(missing)
    assert os.path.exists(in_use)
    assert not unused.exists()
