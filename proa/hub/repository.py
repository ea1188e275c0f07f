"""list, help and load: entry points of a `hubconf.py` in a folder, an archive or a repository on the network."""

from __future__ import annotations

import builtins
import hashlib
import importlib.util
import os
import pathlib
import sys
import types
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.elsewhere import from_elsewhere
from ..core.errors import message, runtime_error, type_error, value_error
from ..core.locks import new_reentrant_lock
from ..utils.download import get_path_from_url
from .archive import is_archive, unpack

_SOURCES = {
    "github": ("https://github.com/{owner}/{name}/archive/{branch}.zip", "main"),
    "gitee": ("https://gitee.com/{owner}/{name}/repository/archive/{branch}.zip", "master"),
}
_CONFIG = "hubconf.py"

_lock = new_reentrant_lock()
_modules: dict[str, str] = {}  # modules that repositories brought along, and the folder each came from


def list(repo_dir: str, source: str = "github", force_reload: bool = False) -> builtins.list[str]:
    r"""The names of the entry points of a repository: the functions of its `hubconf.py`, which is executed.

    Args:
        repo_dir: `owner/repository[:branch]`; with `source="local"` a folder, an archive (zip, tar) or a `file://` URL.
        source: "github", "gitee" or "local".
        force_reload: downloads and unpacks again.

    Raises:
        ValueError: `source` is unknown, or `repo_dir` has another form.
        RuntimeError: there is no `hubconf.py`, or it cannot be had.

    Examples:
        >>> with open("hubconf.py", "w") as file:
        ...     _ = file.write("def small(size=3):\n    'A small list.'\n    return [0] * size\n")
        >>> paddle.hub.list(".", source="local")
        ['small']
    """
    with _opened(repo_dir, source, force_reload) as config:
        return sorted(name for name, value in vars(config).items() if callable(value) and not name.startswith("_"))


def help(repo_dir: str, model: str, source: str = "github", force_reload: bool = False) -> str | None:
    r"""The documentation of an entry point.

    Args:
        repo_dir: as for `list`.
        model: the entry point's name.
        source: as for `list`.
        force_reload: downloads and unpacks again.

    Raises:
        RuntimeError: there is no such entry point.

    Examples:
        >>> with open("hubconf.py", "w") as file:
        ...     _ = file.write("def small(size=3):\n    'A small list.'\n    return [0] * size\n")
        >>> paddle.hub.help(".", "small", source="local")
        'A small list.'
    """
    with _opened(repo_dir, source, force_reload) as config:
        return _entry(config, model).__doc__


def load(repo_dir: str, model: str, source: str = "github", force_reload: bool = False, **kwargs: Any) -> Any:
    r"""What an entry point gives.

    Args:
        repo_dir: as for `list`.
        model: the entry point's name.
        source: as for `list`.
        force_reload: downloads and unpacks again.
        kwargs: what the entry point takes.

    Raises:
        RuntimeError: there is no such entry point, or a package that the repository needs is missing.

    Examples:
        >>> with open("hubconf.py", "w") as file:
        ...     _ = file.write("def small(size=3):\n    'A small list.'\n    return [0] * size\n")
        >>> paddle.hub.load(".", "small", source="local", size=2)
        [0, 0]
    """
    with _opened(repo_dir, source, force_reload) as config:
        _check_dependencies(config)
        return _entry(config, model)(**kwargs)


def _entry(config: types.ModuleType, model: str) -> Callable[..., Any]:
    if not isinstance(model, str):
        raise type_error("hub", "model must be the name of an entry point", type(model).__name__)
    found = getattr(config, model, None)
    if not callable(found):
        raise runtime_error("hub", f"{_CONFIG} has no entry point {model!r}", "", "hub.list gives their names")
    return found


def _check_dependencies(config: types.ModuleType) -> None:
    wanted = getattr(config, "dependencies", None) or []
    missing = [name for name in wanted if not _is_installed(name)]
    if missing:
        raise runtime_error("hub", f"packages that the repository needs are missing: {', '.join(missing)}")


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return from_elsewhere(name) in sys.modules


# ---- finding the folder --------------------------------------------------------------------------------------------


@contextmanager
def _opened(repo_dir: str, source: str, force_reload: bool) -> Iterator[types.ModuleType]:
    """The repository's configuration, executed; modules beside it can be imported meanwhile."""
    if not isinstance(repo_dir, (str, os.PathLike)):
        raise type_error("hub", "repo_dir must be a path or owner/repository", type(repo_dir).__name__)
    if source != "local" and source not in _SOURCES:
        raise value_error("hub", "source must be 'github', 'gitee' or 'local'", f"source: {source!r}")
    with _lock:
        folder = _folder(os.fspath(repo_dir), source, force_reload)
        config_path = folder / _CONFIG
        if not config_path.is_file():
            raise runtime_error("hub", f"there is no {_CONFIG}", str(folder))
        _forget_modules(None if force_reload else str(folder))
        before = set(sys.modules)
        sys.path.insert(0, str(folder))
        try:
            spec = importlib.util.spec_from_file_location("hubconf", config_path)
            assert spec is not None
            assert spec.loader is not None
            config = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(config)
            yield config
        finally:
            sys.path.remove(str(folder))
            for name, module in builtins.list(sys.modules.items()):
                origin = getattr(module, "__file__", None)
                if name not in before and origin and pathlib.Path(origin).is_relative_to(folder):
                    _modules[name] = str(folder)


def _forget_modules(but_of: str | None) -> None:
    """Two repositories may both have a `models.py`: each has to find its own. What was loaded keeps working."""
    for name, origin in builtins.list(_modules.items()):
        if origin != but_of:
            del _modules[name]
            sys.modules.pop(from_elsewhere(name), None)


def hub_home() -> pathlib.Path:
    """Where downloaded and unpacked repositories are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "proa" / "hub"


def _folder(repo_dir: str, source: str, force_reload: bool) -> pathlib.Path:
    if source != "local":
        return _root(_downloaded(repo_dir, source, force_reload))
    if repo_dir.startswith("file://"):
        repo_dir = urllib.request.url2pathname(urllib.parse.urlparse(repo_dir).path)
    path = pathlib.Path(repo_dir).expanduser().absolute()
    if path.is_dir():
        return path
    if not path.exists():
        raise FileNotFoundError(message("hub", "there is no such folder or archive", f"repo_dir: {repo_dir!r}"))
    if not is_archive(path):
        raise value_error("hub", "repo_dir is neither a folder nor a zip or tar archive", f"repo_dir: {repo_dir!r}")
    # An archive that was changed is another archive.
    facts = path.stat()
    key = hashlib.sha256(f"{path}|{facts.st_size}|{facts.st_mtime_ns}".encode()).hexdigest()[:16]
    return _root(_unpacked(path, hub_home() / f"{path.stem}_{key}", force_reload))


def _unpacked(archive: pathlib.Path, target: pathlib.Path, again: bool) -> pathlib.Path:
    if again or not target.is_dir():
        unpack(archive, target)
    return target


def _root(folder: pathlib.Path) -> pathlib.Path:
    """Archives often hold one folder with everything in it."""
    if not (folder / _CONFIG).is_file():
        entries = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
        if len(entries) == 1 and entries[0].is_dir():
            return entries[0]
    return folder


def _downloaded(repository: str, source: str, force_reload: bool) -> pathlib.Path:
    address, default = _SOURCES[source]
    path, _, branch = repository.partition(":")
    parts = path.split("/")
    if len(parts) != 2 or not all(parts) or any(part in ("..", ".") for part in parts):
        raise value_error(
            "hub", "repo_dir must be 'owner/repository' or 'owner/repository:branch'", f"repo_dir: {repository!r}",
            "give source='local' for a folder or an archive",
        )  # fmt: skip
    branch = branch or default
    label = f"{source}_{parts[0]}_{parts[1]}_{branch}".replace("/", "_")
    target = hub_home() / label
    if force_reload or not target.is_dir():
        url = address.format(owner=parts[0], name=parts[1], branch=branch)
        try:
            archive = get_path_from_url(url, str(hub_home() / "downloads" / label), check_exist=False, decompress=False)
        except RuntimeError as error:
            raise RuntimeError(
                message("hub", str(error).rstrip("."), fix="or give source='local' with a folder or an archive")
            ) from None
        unpack(pathlib.Path(archive), target)
    return target
