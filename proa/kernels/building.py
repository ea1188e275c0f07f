"""Compiles C++ sources of XLA FFI handlers into a shared library and registers what is in it.

Used for proa's own kernels (`kernels/cpu`) and for those of users (`utils/cpp_extension.py`). A handler is defined with
`XLA_FFI_DEFINE_HANDLER_SYMBOL(Name, ...)` from `xla/ffi/api/ffi.h`; the names are read from the sources. Libraries are kept
by the content of their sources, the command and the compiler, so that nothing is compiled twice, whatever number of
processes ask for it at the same time.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import pathlib
import re
import shutil
import struct
from collections.abc import Sequence

from ..core.errors import runtime_error, value_error
from ..ir.tiers import cache
from ..ir.xla import jax_module

_HANDLER = re.compile(r"XLA_FFI_DEFINE_HANDLER_SYMBOL\s*\(\s*(\w+)")
_PADDLE_OP = re.compile(r"\bPD_BUILD_(?:GRAD_|DOUBLE_GRAD_)?OP\b|[\"<]paddle/extension\.h[\">]")
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LONGEST_WAIT = 900.0  # seconds for another process that compiles the same


def read_handlers(where: str, sources: Sequence[str]) -> dict[str, str]:
    """The platform ("cpu" or "CUDA") of each handler that the sources define.

    Examples:
        >>> with open("scale.cc", "w") as file:
        ...     print("XLA_FFI_DEFINE_HANDLER_SYMBOL(Scale, ScaleImpl, ffi::Ffi::Bind());", file=file)
        >>> paddle.utils.cpp_extension.read_handlers("example", ["scale.cc"])
        {'Scale': 'cpu'}
    """
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


def compiler(where: str, cuda: bool = False) -> list[str]:
    """The command that compiles and links a shared library here, without its sources."""
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


def xla_headers() -> str:
    """The folder of XLA's headers."""
    import importlib.util

    jaxlib = importlib.util.find_spec("jaxlib")
    return os.path.join(os.path.dirname(jaxlib.origin or ""), "include") if jaxlib else ""


def build(
    where: str, name: str, sources: Sequence[str], flags: Sequence[str], includes: Sequence[str], linking: Sequence[str],
    folder: str, verbose: bool = False, headers_of: Sequence[str] = (),
) -> str:  # fmt: skip
    """The path of the shared library made from the sources; compiled only if they have changed.

    It is compiled again too when a file of `headers_of` or the compiler is another, and when the library was damaged.

    Examples:
        >>> from proa.utils.cpp_extension import build, get_build_directory
        >>> build("example", "mine", ["scale.cc"], [], [], [], get_build_directory())  # doctest: +SKIP
        '.../mine....so'
        >>> callable(build)
        True
    """
    command = [
        *compiler(where, any(s.endswith(".cu") for s in sources)),
        *[f"-I{path}" for path in (xla_headers(), *includes)],
        *flags,
        *[os.path.abspath(source) for source in sources],
        *linking,
    ]
    about = os.stat(os.path.realpath(command[0]))
    digest = hashlib.sha256("\0".join([*command, f"{about.st_size} {about.st_mtime_ns}"]).encode())
    for source in (*sources, *headers_of):
        digest.update(pathlib.Path(source).read_bytes())
    target = pathlib.Path(folder) / f"{name}_{digest.hexdigest()[:16]}.so"
    compile_library(where, target, command, verbose)
    return str(target)


def compile_library(where: str, target: pathlib.Path, command: Sequence[str], verbose: bool = False) -> None:
    """Runs a compiler's command unless the library is there and intact; it appears whole, sealed, or not at all.

    Processes that want the same library wait for one another. The lock is the system's, so that it ends with the process
    that holds it, however that ends; what a killed one left behind is removed by the next.
    """
    import filelock

    if cache.is_intact(target):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    lock = target.with_suffix(".lock")
    try:
        with filelock.FileLock(lock, timeout=_LONGEST_WAIT):
            if not cache.is_intact(target):  # another process may have made it in the meantime
                for left in target.parent.glob(f"{target.stem}.building*"):
                    shutil.rmtree(left, ignore_errors=True)
                _compile(where, target, command, verbose)
            lock.unlink(missing_ok=True)  # the library is there: whoever still waits or comes needs no lock
    except filelock.Timeout:
        raise runtime_error(
            where, f"another process has been compiling {target} for more than {_LONGEST_WAIT / 60:.0f} minutes", "",
            f"look for who holds {lock}",
        ) from None  # fmt: skip


def _compile(where: str, target: pathlib.Path, command: Sequence[str], verbose: bool) -> None:
    import subprocess
    import tempfile

    if verbose:
        print(" ".join([*command, "-o", str(target)]))
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{target.stem}.building", dir=target.parent))
    try:
        made = folder / target.name
        environment = {**os.environ, "TMPDIR": str(folder)}  # what the compiler writes goes with the folder
        done = subprocess.run([*command, "-o", str(made)], capture_output=True, text=True, env=environment)
        if done.returncode:
            complaint = (done.stderr or done.stdout).strip()[-4000:]
            if os.strerror(errno.ENOSPC) in complaint:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target.parent))
            raise runtime_error(where, f"the sources do not compile:\n{complaint}")
        made.write_bytes(cache.sealed(made.read_bytes()))
        os.replace(made, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_ELF = struct.Struct("<4sBB10xHHIQQQIHHHHHH")


def _is_whole(library: str) -> bool:
    """Whether a library can be loaded without a crash: its seal is right or, where it has none, nothing is cut off.

    The loader maps a file without looking at its size, and touching what is not there kills the process.
    """
    if cache.is_intact(library):
        return True
    size = os.stat(library).st_size
    with open(library, "rb") as file:
        head = file.read(_ELF.size)
    if len(head) < _ELF.size:
        return False
    mark, width, _, *_, sections_at, _, _, _, _, section_size, num_sections, _ = _ELF.unpack(head)
    if mark != b"\x7fELF" or width != 2:
        return True  # of another system, or none at all: the loader says so
    return sections_at + section_size * num_sections <= size  # the table of sections is the last thing in a file


_loaded: dict[str, ctypes.CDLL] = {}


def register(where: str, library: str, handlers: dict[str, str]) -> dict[str, str]:
    """Loads a library and makes its handlers known to XLA; the name by which XLA knows each.

    Examples:
        >>> paddle.utils.cpp_extension.register("example", "no-such.so", {"Scale": "cpu"})
        Traceback (most recent call last):
            ...
        RuntimeError: (example) the library no-such.so cannot be loaded: [Errno 2] No such file or directory: ...
    """
    jax = jax_module()
    targets = {symbol: f"proa.{pathlib.Path(library).stem}.{symbol}" for symbol in handlers}
    if library in _loaded:
        return targets
    try:
        if not _is_whole(library):
            raise OSError("it is damaged; build it again")
        opened = ctypes.CDLL(library)
    except OSError as error:
        raise runtime_error(where, f"the library {library} cannot be loaded: {error}") from None
    for symbol, platform in handlers.items():
        jax.ffi.register_ffi_target(targets[symbol], jax.ffi.pycapsule(getattr(opened, symbol)), platform=platform)
    _loaded[library] = opened  # once XLA knows all of them
    return targets
