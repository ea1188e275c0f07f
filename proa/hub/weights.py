"""Weights from an address, kept in a folder."""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
import tempfile
import urllib.parse
from typing import Any

from ..core.errors import runtime_error, value_error
from ..framework.io import load
from ..utils.download import get_path_from_url
from .archive import is_archive, unpack
from .repository import hub_home

_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


def load_state_dict_from_url(
    url: str,
    model_dir: str | os.PathLike[str] | None = None,
    check_hash: bool = False,
    file_name: str | None = None,
    map_location: str | None = None,
) -> Any:
    """The state dictionary in the file at an address, which is downloaded once. Nothing in the file is executed.

    An archive with one file in it is unpacked.

    Args:
        url: the address: http, https or file.
        model_dir: the folder it is kept in; one in the user's cache if left out.
        check_hash: the name has the form `name-<hash>.ext` with the first eight or more digits of the file's SHA-256, which
            is checked.
        file_name: its name in the folder; that of the address if left out.
        map_location: accepted for PyTorch's sake: tensors go to the current device.

    Raises:
        ValueError: there is no name for the file, or an archive has several files.
        RuntimeError: it cannot be had, or its hash is another one.

    Examples:
        >>> import pathlib
        >>> paddle.save({"weight": paddle.ones([2])}, "weights.pdparams")
        >>> url = pathlib.Path("weights.pdparams").absolute().as_uri()
        >>> paddle.hub.load_state_dict_from_url(url, model_dir="cache")["weight"].tolist()
        [1.0, 1.0]
    """
    if not isinstance(url, str):
        raise value_error("load_state_dict_from_url", "url must be a string", type(url).__name__)
    name = file_name or os.path.basename(urllib.parse.unquote(urllib.parse.urlparse(url).path))
    if not name or os.path.basename(name) != name or name in (".", ".."):
        raise value_error("load_state_dict_from_url", "there is no name for the file", f"{name!r}", "give file_name")
    folder = pathlib.Path(model_dir) if model_dir is not None else hub_home() / "checkpoints"
    target = folder / name
    if not target.exists():
        _fetch(url, target, _expected_hash(name) if check_hash else None)
    return load(str(_content(target)))


def _expected_hash(name: str) -> str:
    found = re.search(r"-([0-9a-f]{8,64})\.", name)
    if found is None:
        raise value_error(
            "load_state_dict_from_url", "check_hash wants a name of the form name-<hash>.ext", f"{name!r}",
            "give check_hash=False",
        )  # fmt: skip
    return found.group(1)


def _fetch(url: str, target: pathlib.Path, expected: str | None) -> None:
    """Downloads to another folder first: what is in the cache is whole, and has the right hash."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".download.") as folder:
        path = get_path_from_url(url, folder, decompress=False)
        if expected is not None:
            with open(path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if not digest.startswith(expected):
                raise runtime_error(
                    "load_state_dict_from_url", f"the file at {url} has another hash than {expected}", digest[:16]
                )
        os.replace(path, target)


def _content(path: pathlib.Path) -> pathlib.Path:
    """The file itself, or the only file of an archive."""
    if not path.name.endswith(_ARCHIVES) or not is_archive(path):
        return path
    folder = path.with_name(path.name + "_unpacked")
    if not folder.is_dir():
        unpack(path, folder)
    files = [entry for entry in folder.rglob("*") if entry.is_file()]
    if len(files) != 1:
        raise value_error("load_state_dict_from_url", "the archive must hold exactly one file", f"{len(files)} files")
    return files[0]
