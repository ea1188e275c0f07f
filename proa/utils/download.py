"""`paddle.utils.download`: files from the network, kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import pathlib
import urllib.parse

from ..core.archives import unpack_tar
from ..core.errors import runtime_error, value_error

__all__ = ["get_path_from_url", "get_weights_path_from_url"]

_SCHEMES = ("http", "https", "file")
_ATTEMPTS = 3


def _weights_home() -> pathlib.Path:
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "proa" / "weights"


WEIGHTS_HOME = str(_weights_home())


def is_url(path: str) -> bool:
    """Whether a string is an address that can be downloaded from.

    Examples:
        >>> paddle.utils.download.is_url("https://example.com/x"), paddle.utils.download.is_url("/tmp/x")
        (True, False)
    """
    return urllib.parse.urlparse(path).scheme in _SCHEMES


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """The path of the file at `url` in the weights' folder, downloaded unless it is there already.

    Args:
        url: the address.
        md5sum: what the file's checksum must be; None: anything.

    Examples:
        >>> path = paddle.utils.download.get_weights_path_from_url("https://example.com/net.pdparams")  # doctest: +SKIP
        >>> paddle.utils.download.get_weights_path_from_url("no address")
        Traceback (most recent call last):
            ...
        ValueError: (download) a URL beginning with http, https or file is wanted; received url: 'no address'; ...
    """
    return get_path_from_url(url, WEIGHTS_HOME, md5sum)


def get_path_from_url(
    url: str, root_dir: str, md5sum: str | None = None, check_exist: bool = True, decompress: bool = True
) -> str:
    """The path of the file at `url` below `root_dir`; an archive is unpacked beside it.

    Args:
        url: the address.
        root_dir: the folder.
        md5sum: what the file's checksum must be; None: anything.
        check_exist: whether a file that is there is taken.
        decompress: whether an archive is unpacked.

    Examples:
        >>> paddle.utils.download.get_path_from_url("https://example.com/data.tar", "data")  # doctest: +SKIP
        'data/data'
        >>> paddle.utils.download.get_path_from_url("no address", "data")
        Traceback (most recent call last):
            ...
        ValueError: (download) a URL beginning with http, https or file is wanted; received url: 'no address'; ...
    """
    if not isinstance(url, str) or not is_url(url):
        raise value_error(
            "download", "a URL beginning with http, https or file is wanted", f"url: {url!r}",
            "open a local path directly",
        )  # fmt: skip
    name = os.path.basename(urllib.parse.unquote(urllib.parse.urlparse(url).path))
    if not name:
        raise value_error("download", "the URL names no file", f"url: {url!r}")
    target = pathlib.Path(root_dir) / name
    if not (check_exist and target.exists() and _is_right(target, md5sum)):
        _fetch(url, target, md5sum)
    if decompress and _is_archive(target):
        return _unpacked(target)
    return str(target)


def _is_archive(path: pathlib.Path) -> bool:
    """Whether a file is to be unpacked; files of weights may be zip archives inside, but stay whole."""
    import tarfile
    import zipfile

    if path.suffix in (".pdparams", ".pdopt", ".pdmodel", ".pt", ".pth", ".npz", ".safetensors"):
        return False
    return tarfile.is_tarfile(path) or zipfile.is_zipfile(path)


def _is_right(path: pathlib.Path, md5sum: str | None) -> bool:
    if md5sum is None:
        return True
    with path.open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest() == md5sum


def _fetch(url: str, target: pathlib.Path, md5sum: str | None) -> None:
    import shutil
    import tempfile
    import urllib.request

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise runtime_error("download", f"the folder {target.parent} cannot be made: {error}") from None
    problem: object = ""
    for _ in range(_ATTEMPTS):
        # Under another name until it is whole: an interrupted download must not pass for a file.
        handle, partial = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file, urllib.request.urlopen(url, timeout=30) as answer:
                shutil.copyfileobj(answer, file)
            if _is_right(pathlib.Path(partial), md5sum):
                os.replace(partial, target)
                return
            problem = f"its MD5 is not {md5sum}"
        except (OSError, ValueError) as error:
            problem = getattr(error, "reason", None) or error
        finally:
            if os.path.exists(partial):
                os.unlink(partial)
    raise runtime_error(
        "download", f"{url} could not be downloaded: {problem}", "",
        f"check the network (proxies are taken from https_proxy), or download it elsewhere and put it at {target}",
    )  # fmt: skip


def _unpacked(archive: pathlib.Path) -> str:
    """Unpacks beside the archive; the path of the one thing in it, or of a folder with all of it."""
    import tarfile
    import zipfile

    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            names = packed.namelist()
            folder, found = _place(archive, names)
            if not found.exists():
                packed.extractall(folder)
    else:
        with tarfile.open(archive) as packed:
            names = packed.getnames()
            folder, found = _place(archive, names)
            if not found.exists():
                unpack_tar(packed, folder)
    return str(found)


def _place(archive: pathlib.Path, names: list[str]) -> tuple[pathlib.Path, pathlib.Path]:
    """Where an archive is unpacked to, and the path of what was in it."""
    tops = {name.strip("./").partition("/")[0] for name in names if name.strip("./")}
    if len(tops) == 1:
        return archive.parent, archive.parent / tops.pop()
    stem = archive.name.removesuffix(".gz").removesuffix(".tar").removesuffix(".zip").removesuffix(".tgz")
    folder = archive.parent / (stem if stem != archive.name else f"{stem}_unpacked")
    return folder, folder
