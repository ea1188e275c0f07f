"""Folders that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..core.errors import value_error

MARK = "made-by-proa-export.txt"  # what holds this file may be replaced


@contextlib.contextmanager
def new_folder(where: str, target: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder that takes the place of `target` when the block ends well. Only what was made here before is replaced."""
    wanted = Path(os.path.abspath(target))
    if wanted.exists() and not (wanted / MARK).is_file() and (not wanted.is_dir() or any(wanted.iterdir())):
        raise value_error(
            where, "this exists already and is no folder that was made here", repr(str(target)), "name another"
        )
    wanted.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{wanted.name}.", dir=wanted.parent))
    try:
        made = folder / "new"
        made.mkdir()
        yield made
        (made / MARK).write_text("proa export made this folder, and replaces it when it is run again.\n")
        if wanted.exists():
            os.replace(wanted, folder / "old")
        os.replace(made, wanted)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
