"""Compiles C++ sources of XLA FFI handlers into a shared library and registers what is in it.

Used for proa's own kernels (`kernels/cpu`) and for those of users (`utils/cpp_extension.py`). A handler is defined with
`XLA_FFI_DEFINE_HANDLER_SYMBOL(Name, ...)` from `xla/ffi/api/ffi.h`; the names are read from the sources. Libraries are kept
by the content of their sources, the command and the compiler, so that nothing is compiled twice, whatever number of
processes ask for it at the same time.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import pathlib
import re
import shutil
from collections.abc import Sequence

from ..core.errors import runtime_error, value_error

_HANDLER = re.compile(r"XLA_FFI_DEFINE_HANDLER_SYMBOL\s*\(\s*(\w+)")
_PADDLE_OP = re.compile(r"\bPD_BUILD_(?:GRAD_|DOUBLE_GRAD_)?OP\b|[\"<]paddle/extension\.h[\">]")
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def read_handlers(where: str, sources: Sequence[str]) -> dict[str, str]:
    """The platform ("cpu" or "CUDA") of each handler that the sources define."""
    if not sources:
        raise value_error(where, "there are no sources")
    found: dict[str, str] = {}
    for source in sources:
        path = pathlib.Path(source)
        if not path.is_file():
            raise FileNotFoundError(f"({where}) there is no source file {source}.")
        text = _COMMENTS.sub(" ", path.read_text(encoding="utf-8", errors="replace"))
        if _PADDLE_OP.search(text):
            raise NotImplementedError(
                f"({where}) {source} is written against Paddle's C++ classes (PD_BUILD_OP), which are not here: "
                "operations run through XLA. Write the computation as an XLA FFI handler "
                "(XLA_FFI_DEFINE_HANDLER_SYMBOL from xla/ffi/api/ffi.h) and load() that, or in Python with "
                "paddle.utils.custom_op."
            )
        platform = "CUDA" if path.suffix == ".cu" else "cpu"
        found.update(dict.fromkeys(_HANDLER.findall(text), platform))
    if not found:
        raise value_error(
            where, "the sources define no handler", f"sources: {list(sources)}",
            "define one with XLA_FFI_DEFINE_HANDLER_SYMBOL(Name, function, binding)",
        )  # fmt: skip
    return found


def compiler_command(where: str, cuda: bool) -> list[str]:
    """The command that makes a shared library, without sources."""
    if cuda:
        found = shutil.which(os.environ.get("NVCC", "nvcc"))
        if found is None:
            raise runtime_error(where, "the CUDA compiler nvcc is not here", "", "install it, or leave out .cu sources")
        return [found, "-shared", "-O3", "-std=c++17", "-Xcompiler", "-fPIC"]
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        found = shutil.which(name) if name else None
        if found is not None:
            return [found, "-shared", "-O3", "-fPIC", "-std=c++17", "-w"]
    raise runtime_error(where, "there is no C++ compiler here", "", "install g++ or clang, or set CXX to one")


def build(
    where: str, name: str, sources: Sequence[str], flags: Sequence[str], includes: Sequence[str], linking: Sequence[str],
    folder: str, verbose: bool = False, headers_of: Sequence[str] = (), identity: str = "",
    existing: bool = False,
) -> str:  # fmt: skip
    """The path of the shared library made from the sources; compiled only if they have changed.

    It is compiled again too when a file of `headers_of` or the text `identity` (of a processor, say) is another. With
    `existing` nothing is compiled: the path is empty where the library is not there.
    """
    import importlib.util
    import subprocess

    import filelock

    jaxlib = importlib.util.find_spec("jaxlib")
    headers = os.path.join(os.path.dirname(jaxlib.origin or ""), "include") if jaxlib else ""
    command = [
        *compiler_command(where, any(s.endswith(".cu") for s in sources)),
        *[f"-I{path}" for path in (headers, *includes)],
        *flags,
        *[os.path.abspath(source) for source in sources],
        *linking,
    ]
    compiler = os.stat(os.path.realpath(command[0]))
    digest = hashlib.sha256("\0".join([*command, identity, f"{compiler.st_size} {compiler.st_mtime_ns}"]).encode())
    for source in (*sources, *headers_of):
        digest.update(pathlib.Path(source).read_bytes())
    target = pathlib.Path(folder) / f"{name}_{digest.hexdigest()[:16]}.so"
    if target.exists() or existing:
        return str(target) if target.exists() else ""
    target.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(target.with_suffix(".lock")):
        if target.exists():  # another process made it in the meantime
            return str(target)
        partial = target.with_suffix(f".{os.getpid()}")
        if verbose:
            print(" ".join([*command, "-o", str(target)]))
        done = subprocess.run([*command, "-o", str(partial)], capture_output=True, text=True)
        if done.returncode:
            raise runtime_error(where, f"the sources do not compile:\n{(done.stderr or done.stdout).strip()[-4000:]}")
        os.replace(partial, target)
    return str(target)


_loaded: dict[str, ctypes.CDLL] = {}


def register(where: str, library: str, handlers: dict[str, str]) -> dict[str, str]:
    """Loads a library and makes its handlers known to XLA; the name by which XLA knows each."""
    from ..ir.xla import jax_module

    jax = jax_module()
    targets: dict[str, str] = {}
    first = library not in _loaded
    try:
        opened = _loaded.setdefault(library, ctypes.CDLL(library))
    except OSError as error:
        raise runtime_error(where, f"the library {library} cannot be loaded: {error}") from None
    for symbol, platform in handlers.items():
        target = f"proa.{pathlib.Path(library).stem}.{symbol}"
        if first:
            jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(getattr(opened, symbol)), platform=platform)
        targets[symbol] = target
    return targets
