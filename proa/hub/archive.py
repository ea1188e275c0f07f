"""Unpacking archives that somebody else made: nothing may land outside the folder it is unpacked to."""

from __future__ import annotations

import os
import pathlib
import shutil
import stat
import tarfile
import tempfile
import zipfile

from ..core.archives import unpack_tar
from ..core.errors import value_error


def is_archive(path: pathlib.Path) -> bool:
    return path.is_file() and (zipfile.is_zipfile(path) or tarfile.is_tarfile(path))


def unpack(archive: pathlib.Path, target: pathlib.Path) -> None:
    """Unpacks to the folder `target`, which is there whole or not at all; it replaces one that was there before."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = pathlib.Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        _extract(archive, partial)
        if target.exists():
            shutil.rmtree(target)
        os.replace(partial, target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _extract(archive: pathlib.Path, folder: pathlib.Path) -> None:
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                for entry in packed.infolist():
                    _check(archive, entry.filename, stat.S_ISLNK(entry.external_attr >> 16))
                packed.extractall(folder)
        else:
            with tarfile.open(archive) as packed:
                for member in packed.getmembers():
                    _check(archive, member.name, not (member.isfile() or member.isdir()))
                unpack_tar(packed, folder)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise value_error("hub", f"the archive cannot be unpacked: {error}", str(archive)) from None


def _check(archive: pathlib.Path, name: str, is_special: bool) -> None:
    """Refuses names that lead out of the folder, links and devices."""
    parts = pathlib.PurePosixPath(name.replace("\\", "/")).parts
    if is_special or ".." in parts or name.startswith(("/", "\\")) or (len(name) > 1 and name[1] == ":"):
        raise value_error(
            "hub", f"the archive holds {name!r}, which is a link or leads out of its folder", str(archive),
            "do not use this archive",
        )  # fmt: skip
