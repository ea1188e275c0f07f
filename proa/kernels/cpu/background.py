"""Compiles native kernels that are missing in a process of its own, so that no program waits for them.

The process works at low priority and lives on when the program that started it ends; one at a time works for a folder. What
the compiler refuses is noted there, so that it is not tried again at every start.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

from ...ir.tiers import cache
from ..building import compiler
from . import compiled

_CPU_SECONDS = 90  # that compiling all of them takes
_MARK_HOLDS = 24 * 3600.0  # seconds for which a failure is believed
_BUILDERS: list[Any] = []  # referred to, or Python would complain that they are still running


def start() -> None:
    """Has another process compile what is missing, if there is none yet and it could keep what it makes."""
    # Python inside another program must not be started by that program's name.
    if _failed_lately() or not os.path.basename(sys.executable or "").startswith("python"):
        return
    try:
        compiler("proa")
        cache.check_room(compiled.folder(), compiled.ROOM)
        if not _is_free(_lock()):
            return
        _BUILDERS.append(_started())
    except RuntimeError:  # no compiler; `proa doctor` says so
        return
    except OSError as error:
        cache.tell_unusable(compiled.folder(), error, "native CPU kernels cannot be compiled, XLA's do the work")
        return
    seconds = max(20, round(_CPU_SECONDS / compiled.num_cores(), -1))
    compiled.tell_once(
        f"proa compiles its native CPU kernels in the background, once for this machine (about {seconds:.0f} s); until "
        "then XLA's do the work. PROA_NATIVE=0 switches them off."
    )


def _started() -> subprocess.Popen[bytes]:
    root = str(pathlib.Path(__file__).parents[3])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-m", "proa.kernels.cpu", "background"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip


def build() -> int:
    """What that process does: 0 when everything is there at the end, or somebody else is at it."""
    import filelock

    os.nice(10)
    try:
        with _lock():
            compiled.make_all()
    except filelock.Timeout:
        return 0
    except RuntimeError as error:
        cache.write(_mark(), str(error).encode())
        return 1
    except OSError:  # a disk that has no room: the next program says so
        return 1
    return 0


def _lock() -> Any:
    import filelock

    return filelock.FileLock(compiled.folder() / "builder.lock", timeout=0)


def _is_free(lock: Any) -> bool:
    import filelock

    try:
        with lock:
            return True
    except filelock.Timeout:
        return False


def _mark() -> pathlib.Path:
    """Says that compiling failed, and why; another one for other sources."""
    identity = hashlib.sha256("\0".join(compiled.places(name)[1].name for name in compiled.names()).encode())
    return compiled.folder() / f"failed_{identity.hexdigest()[:16]}.txt"


def _failed_lately() -> bool:
    try:
        return _mark().stat().st_mtime > time.time() - _MARK_HOLDS
    except OSError:
        return False
