"""The files of standard datasets: where they are looked for, and clear words when they are missing or damaged."""

from __future__ import annotations

import contextlib
import os
import pathlib
import tarfile
import urllib.parse
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from ..core.errors import failed_check, message, value_error
from .download import get_path_from_url


def dataset_home() -> pathlib.Path:
    """The folder that downloaded datasets are kept in."""
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "proa" / "datasets"


def choose_mode(where: str, mode: Any, allowed: tuple[str, ...]) -> str:
    lowered = mode.lower() if isinstance(mode, str) else mode
    if lowered not in allowed:
        raise failed_check(where, f"mode must be one of {', '.join(allowed)}", f"mode: {mode!r}")
    return lowered


def find_file(where: str, parameter: str, given: Any, url: str, md5: str, folder: str, download: bool) -> str:
    """The path of a dataset's file: the one given, one that is in a cache folder already, or one downloaded now."""
    if given is not None:
        path = os.fspath(given)
        if not os.path.isfile(path):
            raise FileNotFoundError(
                message(
                    where, f"{parameter} is not a file", f"{parameter}: {path!r}", "give the path of the file itself"
                )
            )
        return path
    published = url.rsplit("/", 1)[-1]
    name = urllib.parse.unquote(published).rsplit("/", 1)[-1]
    home = dataset_home() / folder
    # Files that Paddle itself has downloaded serve as well; it keeps the slashes in their names as %2F.
    for known in (home / name, pathlib.Path.home() / ".cache" / "paddle" / "dataset" / folder / published):
        if known.is_file():
            return str(known)
    if not download:
        raise failed_check(
            where, f"{parameter} is not given, download=False, and there is no {home / name}", "",
            f"give {parameter}=, or put the file there; it is published at {url}",
        )  # fmt: skip
    try:
        return get_path_from_url(url, str(home), md5, decompress=False)
    except (RuntimeError, OSError) as error:
        raise RuntimeError(
            message(
                where, f"the dataset's file {name} is not on this machine and could not be downloaded ({error})", "",
                f"download {url} where there is a network, then put it at {home / name} or give its path as {parameter}=",
            )
        ) from None  # fmt: skip


_DAMAGE = (EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error)


@contextlib.contextmanager
def whole_file(where: str, path: str) -> Iterator[None]:
    """Turns what a truncated or altered file causes into one error that names it."""
    import gzip

    try:
        yield
    except (*_DAMAGE, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise damaged(where, path, str(error) or type(error).__name__) from None


def damaged(where: str, path: str, what: str) -> ValueError:
    return value_error(where, f"the file is damaged or not the expected one: {what}", f"file: {path!r}", "get it again")


def member(where: str, archive: tarfile.TarFile, path: str, name: str) -> bytes:
    """The bytes of one file in an archive; nothing is unpacked to disk."""
    try:
        file = archive.extractfile(name)
    except KeyError:
        file = None
    if file is None:
        raise damaged(where, path, f"there is no {name} in it")
    return file.read()
