"""Programs that an earlier process compiled: the cache folder has their executables, so that using them costs less.

XLA's own keys are known only after a program was traced, which is half of the price. So a file without content, named by
what the Program says, is left beside the executables. One that says too much (the executable was removed meanwhile) costs a
compilation a little earlier than it pays; nothing else depends on it.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from ...core.place import Place
from ..program import Program
from ..xla import cache_folder
from . import cache

_FOLDER = "programs"
_MOST = 20_000


def is_stored(program: Program, place: Place, form: str = "") -> bool:
    """Whether the cache should have the executable of this program, in a form of it."""
    path = _path(program, place, form)
    return path is not None and path.exists()


def note_stored(program: Program, place: Place, form: str = "") -> None:
    """This program was compiled, and the cache has been given its executable."""
    path = _path(program, place, form)
    if path is None:
        return
    with suppress(OSError):  # a folder that cannot be written is named by the executables' own cache
        if not path.exists():
            _make_room(path.parent)
            cache.write(path, b"")


def _path(program: Program, place: Place, form: str) -> pathlib.Path | None:
    text = str(program)
    if " object at 0x" in text:
        return None  # an attribute that has no name from one process to the next
    digest = hashlib.sha256(f"{_versions()}\n{place}\n{form}{text}".encode()).hexdigest()
    return cache_folder() / _FOLDER / digest[:40]


@functools.cache
def _versions() -> str:
    """As their files say: whoever imports anything here leaves a lock behind in a process forked meanwhile."""
    specs = filter(None, map(find_spec, ("jax", "jaxlib")))
    return "".join(
        pathlib.Path(spec.origin or "").with_name("version.py").read_text(encoding="utf-8") for spec in specs
    )


def _make_room(folder: pathlib.Path) -> None:
    """Forgets the older half when there are too many."""
    names = os.listdir(folder) if folder.exists() else []
    if len(names) >= _MOST:
        files: list[tuple[float, Any]] = []
        for name in names:
            with suppress(FileNotFoundError):
                files.append(((folder / name).stat().st_mtime, folder / name))
        for _, path in sorted(files)[: _MOST // 2]:
            with suppress(FileNotFoundError):
                path.unlink()
