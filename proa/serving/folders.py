"""Where models lie: a repository is a folder of MODEL/VERSION/files; a single model may be given as it is.

    repository/
        resnet/            the model's name
            config.toml    optional, settings.py says what may stand there
            1/             a version: a number
                model.json, model.pdiparams      (or .pdmodel and .pdiparams, one .proa, one .onnx)
            2/
                model.proa
        lenet/             files without a version are version 1
            lenet.proa

Nothing is read here but names, sizes and dates.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from .imported import ONNX
from .settings import CONFIG, ModelSettings, read_model_settings

PROGRAMS = (".json", ".pdmodel")
SINGLE = (".proa", ONNX)  # the program and its weights in one file
Fingerprint = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Found:
    """A version of a model on disk. `problem` says why it cannot be loaded, if so."""

    name: str
    version: str
    path: str  # as Config takes it
    fingerprint: Fingerprint
    settings: ModelSettings
    problem: str = ""


def look(sources: list[str], defaults: ModelSettings) -> dict[tuple[str, str], Found]:
    """All versions of all models, by name and version. FileNotFoundError if a source is not there."""
    found: dict[tuple[str, str], Found] = {}
    for source in sources:
        for version in _of_source(Path(source), defaults):
            key = (version.name, version.version)
            if key in found and found[key].path != version.path:
                raise ValueError(f"two models are called {'/'.join(key)}: {found[key].path}, {version.path}")
            found[key] = version
    return found


def _of_source(source: Path, defaults: ModelSettings) -> Iterator[Found]:
    if source.is_dir():
        if _programs(source) or any(_is_version(child) for child in _folders(source)):
            yield from _of_model(source.resolve(), defaults)
        else:
            for folder in _folders(source):
                yield from _of_model(folder, defaults)
        return
    prefix = str(source)
    if source.suffix in (*PROGRAMS, *SINGLE) and source.is_file():
        prefix = prefix.removesuffix(source.suffix) if source.suffix in PROGRAMS else prefix
    elif not any(os.path.isfile(prefix + ending) for ending in (*PROGRAMS, ".proa")):
        raise FileNotFoundError(
            f"{source} is neither a folder nor a model; give a repository (a folder of MODEL/VERSION/files), a .proa or "
            ".onnx file, or Paddle's files without their ending"
        )
    name = Path(prefix).name
    yield _version(name.removesuffix(source.suffix) if source.suffix in SINGLE else name, "1", prefix, defaults)


def _of_model(folder: Path, defaults: ModelSettings) -> Iterator[Found]:
    """The versions of one model's folder, as many as its settings want."""
    name = folder.name
    try:
        settings = read_model_settings(folder, defaults)
    except (ValueError, OSError) as error:
        yield Found(name, "", str(folder), _fingerprint(folder), defaults, str(error))
        return
    versions = {str(int(child.name)): child for child in _folders(folder) if _is_version(child)}
    if not versions:
        yield _in_folder(name, "1", folder, settings)
        return
    numbers = sorted(map(int, versions))
    if settings.versions == "latest":
        numbers = numbers[-1:]
    elif settings.versions != "all":
        for missing in sorted(set(settings.versions) - set(numbers)):
            yield Found(name, str(missing), str(folder), (), settings, f"{folder} has no version {missing}")
        numbers = [number for number in numbers if number in settings.versions]
    for number in numbers:
        yield _in_folder(name, str(number), versions[str(number)], settings)


def _in_folder(name: str, version: str, folder: Path, settings: ModelSettings) -> Found:
    programs = _programs(folder)
    if len(programs) == 1:
        found = _version(name, version, programs[0], settings)
        # The weights of an ONNX file may lie in others beside it, of any name.
        return replace(found, fingerprint=_fingerprint(folder)) if found.path.endswith(ONNX) else found
    problem = (
        f"{folder} holds several models: {', '.join(Path(path).name for path in programs)}"
        if programs
        else f"{folder} holds no model: neither a {' or '.join(SINGLE)} file nor a {' or '.join(PROGRAMS)} file with its "
        ".pdiparams"
    )
    return Found(name, version, str(folder), _fingerprint(folder), settings, problem)


def _version(name: str, version: str, path: str, settings: ModelSettings) -> Found:
    return Found(name, version, path, _fingerprint(Path(path)), settings)


def _programs(folder: Path) -> list[str]:
    """The models that lie in a folder itself, as Config takes them."""
    names = sorted(os.listdir(folder))
    found = [name for name in names if name.endswith(SINGLE)]
    found += [
        name.removesuffix(ending) for ending in PROGRAMS for name in names if _has_parameters(name, ending, names)
    ]
    return [str(folder / name) for name in dict.fromkeys(found)]


def _has_parameters(name: str, ending: str, names: list[str]) -> bool:
    """Whether a file is a program of Paddle's: any JSON file could lie there, one with parameters is a model."""
    return name.endswith(ending) and (ending == ".pdmodel" or name.removesuffix(ending) + ".pdiparams" in names)


def _folders(folder: Path) -> list[Path]:
    return sorted(child for child in folder.iterdir() if child.is_dir() and not child.name.startswith((".", "_")))


def _is_version(folder: Path) -> bool:
    return folder.name.isascii() and folder.name.isdecimal()


def _fingerprint(path: Path) -> Fingerprint:
    """Names, sizes and dates of the files that a version is made of; another one means that it changed."""
    paths = list(path.rglob("*")) if path.is_dir() else list(path.parent.glob(f"{glob.escape(path.name)}*"))
    if not path.is_dir():
        paths += [folder / CONFIG for folder in (path.parent, path.parent.parent)]
    found = []
    for each in paths:
        try:
            state = each.stat()
        except OSError:
            continue  # it went away meanwhile; the next look tells
        if os.path.isfile(each):
            found.append((str(each), state.st_size, state.st_mtime_ns))
    return tuple(sorted(found))
