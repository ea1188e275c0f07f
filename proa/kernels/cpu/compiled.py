"""Finds the compiled native kernels, and compiles what is missing.

Every source file of `native/` is a library of its own, compiled for a few kinds of processor (`VARIANTS`); the best one that
this processor can run is used. A wheel brings them all (`prebuilt/`, made by `make wheel`). Elsewhere they are compiled
into the cache folder: by `make env` or `python -m proa.kernels.cpu` beforehand, or as the last resort at first use, by a
process of its own (`background.py`). A library carries a checksum (`ir/tiers/cache.py`); one that is damaged is not there.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
import platform
import re
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from ...ir.tiers import cache
from ...ir.xla import cache_folder
from ..building import compile_library, compiler, xla_headers

SOURCES = pathlib.Path(__file__).parent / "native"
PREBUILT = pathlib.Path(__file__).parent / "prebuilt"
DIRECT = "direct"  # what calls the others without XLA
MEMORY = "memory"  # what keeps memory from run to run
# At the beginning of a line; with the end of the one before, which lets `re` look for a fixed text, they are found quickly.
_HANDLER = re.compile(r"\nXLA_FFI_DEFINE_HANDLER_SYMBOL\(\s*(\w+)")
_INCLUDE = re.compile(r'\n#include "(\w+\.h)"')
# Compiled behind the others: who waits for them in the meantime mostly trains something.
_SELDOM = (
    "blocks",
    "depthwise",
    "depthwise_fused",
    "fused",
    "ggml",
    "grids",
    "pages",
    "quantised",
    "recurrence",
    "squeeze",
)
ROOM = 32 << 20  # bytes on the disk for compiling all of them
_UNUSED = 60 * 24 * 3600.0  # seconds without use after which a library is removed


@dataclass(frozen=True)
class Variant:
    """A kind of processor that kernels are compiled for."""

    name: str
    machine: str
    flags: tuple[str, ...]
    needs: frozenset[str] = frozenset()  # flags in /proc/cpuinfo
    base: str = ""  # the variant that serves as well where a source has no use for what this one adds
    adds: str = ""  # what such a source would mention


_AVX2 = frozenset({"avx2", "fma", "f16c", "bmi1", "bmi2", "abm", "movbe"})
_AVX512 = _AVX2 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_VNNI512 = ("-march=x86-64-v4", "-mavx512vnni")
VARIANTS = (  # of each machine the best one first
    Variant(
        "avx512bf16",
        "x86_64",
        (*_VNNI512, "-mavx512bf16"),
        _AVX512 | {"avx512_vnni", "avx512_bf16"},
        "avx512vnni",
        "BF16",
    ),
    Variant("avx512vnni", "x86_64", _VNNI512, _AVX512 | {"avx512_vnni"}, "avx512", "VNNI"),
    Variant("avx512", "x86_64", ("-march=x86-64-v4",), _AVX512),
    Variant("avxvnni", "x86_64", ("-march=x86-64-v3", "-mavxvnni"), _AVX2 | {"avx_vnni"}, "avx2", "VNNI"),
    Variant("avx2", "x86_64", ("-march=x86-64-v3",), _AVX2),
    Variant("sse2", "x86_64", ("-march=x86-64",)),  # not in wheels: such processors are old
    Variant("neon", "aarch64", ("-march=armv8-a",)),
)


@functools.cache
def processor() -> dict[str, str]:
    """What the system says of its first processor."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in reversed(lines))}


@functools.cache
def variant() -> Variant | None:
    """The best variant that runs here, or the one that PROA_NATIVE_VARIANT asks for; None where there is none."""
    if sys.platform != "linux":
        return None
    can = set(processor().get("flags", "").split())
    wanted = os.environ.get("PROA_NATIVE_VARIANT")
    fitting = [v for v in VARIANTS if v.machine == platform.machine() and v.needs <= can]
    return next((v for v in fitting if wanted in (None, "", v.name)), None)


def folder() -> pathlib.Path:
    """Where compiled libraries are kept; one folder may serve any number of processes, versions and machines."""
    return pathlib.Path(os.environ.get("PROA_NATIVE_DIR") or cache_folder() / "native")


def source_files() -> list[pathlib.Path]:
    """All files that native kernels are made from."""
    found = [*SOURCES.glob("*.cc"), *SOURCES.glob("*.cpp"), *(SOURCES / "headers").glob("*.h")]
    return sorted(found, key=lambda path: path.name)


@functools.cache
def names() -> tuple[str, ...]:
    """All libraries, in the order in which they are compiled."""
    found = (path.stem for path in SOURCES.iterdir() if path.suffix in (".cc", ".cpp"))
    return tuple(sorted(found, key=lambda name: (name in _SELDOM, name)))


def source_of(name: str) -> pathlib.Path:
    return SOURCES / (f"{name}.cpp" if name in (DIRECT, MEMORY) else f"{name}.cc")


@functools.cache
def _text_of(path: str) -> tuple[str, frozenset[str]]:
    """A file of `native/`, and those that it includes; most libraries include the same ones."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return text, frozenset(_INCLUDE.findall(f"\n{text}"))


@functools.cache
def _texts_of(name: str) -> tuple[str, ...]:
    """What a library is made from: its source, and the files of `native/` that are included."""
    found: dict[str, str] = {}
    waiting = [source_of(name).name]
    while waiting:
        file = waiting.pop()
        place = SOURCES / "headers" if file.endswith(".h") else SOURCES
        found[file], included = _text_of(str(place / file))
        waiting += included - found.keys()
    return tuple(found[file] for file in sorted(found))


def handlers_of(name: str) -> list[str]:
    """The handlers that a library defines."""
    return _HANDLER.findall(_text_of(str(source_of(name)))[0])


def variant_of(name: str, best: Variant) -> Variant:
    """The variant in which a library serves a processor that can run `best`."""
    if best.adds and not any(best.adds in text for text in _texts_of(name)):
        return variant_of(name, next(v for v in VARIANTS if v.name == best.base))
    return best


@functools.cache
def multiplies_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 by itself, in the variant that is used."""
    best = variant()
    return best is not None and best.adds == "BF16"


_TOLD: set[str] = set()


def tell_once(line: str) -> None:
    if line not in _TOLD:
        _TOLD.add(line)
        print(line, file=sys.stderr, flush=True)


def _extra_flags() -> list[str]:
    return os.environ.get("PROA_NATIVE_FLAGS", "").split()  # -fsanitize=address, say


def file_name(name: str, kind: Variant) -> str:
    """Says what is in a library: the same name never stands for other code."""
    digest = hashlib.sha256("\0".join([kind.name, *kind.flags, *_extra_flags(), *_texts_of(name)]).encode())
    return f"proa_{name}_{digest.hexdigest()[:16]}.so"


def places(name: str) -> tuple[pathlib.Path, pathlib.Path]:
    """Where a library may be: in the package, in the cache folder."""
    best = variant()
    assert best is not None
    kind = variant_of(name, best)
    file = file_name(name, kind)
    return PREBUILT / kind.name / file, folder() / file


def find(name: str) -> str:
    """The path of a library that is there and intact; an empty text where it must be compiled first."""
    packaged, kept = places(name)
    if cache.is_intact(packaged):
        return str(packaged)
    if packaged.exists():
        tell_once(f"proa: {packaged} is damaged and not used; install proa again.")
    return str(kept) if cache.is_intact(kept) else ""


def command(name: str, kind: Variant, compiler: list[str]) -> list[str]:
    """What compiles a library, without `-o` and the place."""
    headers = [f"-I{xla_headers()}", f"-I{SOURCES / 'headers'}"]
    return [*compiler, "-pipe", *headers, *kind.flags, *_extra_flags(), str(source_of(name))]


def make(name: str) -> str:
    """The path of a library, which is compiled here and now if it must be."""
    found = find(name)
    if found:
        return found
    best = variant()
    assert best is not None
    target = places(name)[1]
    compile_library("proa", target, command(name, variant_of(name, best), compiler("proa")))
    return str(target)


def make_all(tell: Callable[[str], None] = lambda line: None) -> None:
    """Compiles what is missing, as many libraries at once as there are cores; `tell` is given a line for each."""
    from concurrent.futures import ThreadPoolExecutor, as_completed

    missing = [name for name in names() if not find(name)]
    if not missing:
        return
    cache.check_room(folder(), ROOM)
    started = time.perf_counter()
    with ThreadPoolExecutor(num_cores(), thread_name_prefix="proa-kernels") as pool:
        try:
            waiting = {pool.submit(make, name): name for name in missing}
            for number, future in enumerate(as_completed(waiting), 1):
                future.result()
                seconds = time.perf_counter() - started
                tell(f"  {number:2} of {len(missing)} native kernels compiled, {seconds:3.0f} s: {waiting[future]}")
        finally:
            pool.shutdown(cancel_futures=True)
    _remove_unused()


def note_use(paths: Iterable[str]) -> None:
    """Says that libraries are in use: those of other sources are removed some time after their last one."""
    for path in paths:
        with suppress(OSError):  # of a folder that is read-only
            if os.path.dirname(path) == str(folder()) and os.stat(path).st_mtime < time.time() - 24 * 3600:
                os.utime(path)


def _remove_unused() -> None:
    with suppress(OSError):
        for path in folder().glob("proa_*.so"):
            if path.stat().st_mtime < time.time() - _UNUSED:
                path.unlink()


def num_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
