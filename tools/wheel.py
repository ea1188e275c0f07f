"""`make wheel`: a wheel with compiled native kernels, and a source distribution, in dist/.

    python -m tools.wheel              for machines like this one
    python -m tools.wheel aarch64      for others, with the compiler of a cross toolchain (g++-aarch64-linux-gnu)

Every variant of the machine (`proa/kernels/cpu/compiled.py`) is compiled into build/native/; what is there is not compiled
again. The name of the wheel says which C library it needs: the newest version of a symbol that a library asks for.
"""

from __future__ import annotations

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from proa.ir.tiers import cache
from proa.kernels.building import compile_library, compiler
from proa.kernels.cpu import compiled

ROOT = pathlib.Path(__file__).parents[1]
LINKING = ["-s"]  # symbols are of no use to users; C++'s library is theirs, as XLA needs it too
_LEFT_OUT = {"sse2"}  # compiled at first use on the few processors that old
_GLIBC, _GLIBCXX = re.compile(r"GLIBC_2\.(\d+)"), re.compile(r"GLIBCXX_3\.4\.(\d+)")


def libraries_for(variants: Sequence[compiled.Variant]) -> dict[pathlib.Path, tuple[str, compiled.Variant]]:
    """By its place in a machine's folder, each library that these variants use and what it is compiled for."""
    found = {}
    for best in variants:
        for name in compiled.names():
            kind = compiled.variant_of(name, best)
            found[pathlib.Path(kind.name) / compiled.file_name(name, kind)] = (name, kind)
    return found


def libraries_of(machine: str) -> dict[pathlib.Path, tuple[str, compiled.Variant]]:
    """The libraries of a machine's wheel."""
    wanted = [v for v in compiled.VARIANTS if v.machine == machine and v.name not in _LEFT_OUT]
    if not wanted:
        raise SystemExit(f"There are no native kernels for {machine}; known: x86_64, aarch64.")
    return libraries_for(wanted)


def folder_of(machine: str) -> pathlib.Path:
    """Where the libraries of a machine are compiled."""
    return ROOT / "build" / "native" / machine


def compiler_for(where: str, machine: str) -> list[str]:
    """The command that compiles a library for a machine, without its sources; a cross compiler's for another one."""
    own = compiler(where)
    if machine == platform.machine():
        return own
    cross = shutil.which(f"{machine}-linux-gnu-g++")
    if cross is None:
        package = f"g++-{machine.replace('_', '-')}-linux-gnu"
        raise SystemExit(
            f"({where}) there is no compiler for {machine} here; on Debian and Ubuntu: apt install {package}."
        )
    return [cross, *own[1:]]


def compile_libraries(
    where: str, machine: str, wanted: dict[pathlib.Path, tuple[str, compiled.Variant]]
) -> pathlib.Path:
    """The machine's folder, with these libraries in it; what is there is not compiled again."""
    folder, command = folder_of(machine), compiler_for(where, machine)
    started = time.perf_counter()

    def compile_one(place: pathlib.Path) -> None:
        name, kind = wanted[place]
        if not cache.is_intact(folder / place):
            compile_library(where, folder / place, [*compiled.command(name, kind, command), *LINKING])
            print(f"  {time.perf_counter() - started:4.0f} s  {place}", flush=True)

    with ThreadPoolExecutor(compiled.num_cores()) as pool:
        list(pool.map(compile_one, wanted))
    return folder


def compile_all(machine: str) -> pathlib.Path:
    """The folder with the libraries of a machine's wheel, and no others."""
    wanted, folder = libraries_of(machine), folder_of(machine)
    for old in set(folder.rglob("*.so")) - {folder / place for place in wanted}:
        old.unlink()
    return compile_libraries("make wheel", machine, wanted)


def platform_of(folder: pathlib.Path, machine: str) -> str:
    """The platform in a wheel's name: by the newest symbols of the C and C++ libraries that are asked for.

    Systems have had C++'s 3.4.29 since those with 2.34 of C's, 3.4.30 since 2.35 and so on.
    """
    newest = 28  # older ones are not looked for: XLA itself needs nearly that
    for path in folder.rglob("*.so"):
        text = subprocess.run(["readelf", "-V", "-W", str(path)], capture_output=True, text=True, check=True).stdout
        newest = max(
            [newest, *map(int, _GLIBC.findall(text)), *(int(n) + 5 for n in _GLIBCXX.findall(text) if int(n) > 25)]
        )
    return f"manylinux_2_{newest}_{machine}"


def main(machine: str) -> int:
    folder = compile_all(machine)
    environment = {
        **os.environ,
        "PROA_WHEEL_LIBRARIES": str(folder),
        "PROA_WHEEL_PLATFORM": platform_of(folder, machine),
    }
    for what in ("--sdist", "--wheel"):
        subprocess.run(
            [sys.executable, "-m", "build", what, str(ROOT)], check=True, env=environment, stdout=subprocess.DEVNULL
        )
    for path in sorted((ROOT / "dist").iterdir()):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 2**20:.1f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else platform.machine()))
