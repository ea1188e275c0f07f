"""`paddle.dataset.common`: where datasets are kept, and sums of files."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from ....utils.download import get_path_from_url

DATA_HOME = os.path.expanduser(os.path.join("~", ".cache", "paddle", "dataset"))


def must_mkdirs(path: str) -> None:
    """Makes a folder that may be there."""
    os.makedirs(path, exist_ok=True)


def md5file(fname: Any) -> str:
    """The MD5 sum of a file."""
    with open(fname, "rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()


def download(url: str, module_name: str, md5sum: str | None, save_name: str | None = None) -> str:
    """The path of a file that is fetched unless it is there already."""
    folder = os.path.join(DATA_HOME, module_name)
    return get_path_from_url(url, folder, md5sum, check_exist=True, decompress=False)
