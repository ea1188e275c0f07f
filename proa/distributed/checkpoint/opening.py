"""Finding a checkpoint: a folder of numbered ones, or safetensors as they are passed around."""

from __future__ import annotations

import mmap
import os
from typing import Any

from ...core.errors import value_error
from ...framework import safetensors, shards
from . import folder
from .metadata import Catalogue, Part, decode
from .processes import Processes


def open_checkpoint(path: Any, unique_id: int | None, processes: Processes | None = None) -> tuple[str, Catalogue]:
    """The folder of the files, and what they hold."""
    name = os.fspath(path)
    if os.path.isfile(name):
        return os.path.dirname(name) or ".", _exchanged_files(os.path.dirname(name) or ".", os.path.basename(name))
    if not os.path.isdir(name):
        raise FileNotFoundError(f"(load_state_dict) there is no such folder; received {name!r}.")
    numbers = folder.finished(name)
    if unique_id is None and processes is not None:
        # A save by others may end at any moment: all load what the coordinator found.
        numbers = processes.agree(numbers)
    if not numbers and unique_id is None:
        return name, _exchanged_files(name, _only_file(name))
    number = max(numbers) if unique_id is None else unique_id
    if number not in numbers:
        raise FileNotFoundError(
            f"(load_state_dict) there is no checkpoint {number} in {name!r}; received unique_id: {unique_id}; there are "
            f"{numbers}."
        )
    metadata = folder.metadata_path(name, number)
    with open(metadata, "rb") as file:
        return name, decode(file.read(), metadata)


def _only_file(name: str) -> str:
    """The index, or the one file, of the safetensors in a folder."""
    entries = sorted(os.listdir(name))
    candidates = [entry for entry in entries if entry.endswith(shards.INDEX)]
    candidates = candidates or [entry for entry in entries if entry.endswith(".safetensors")]
    if len(candidates) != 1:
        raise FileNotFoundError(
            f"(load_state_dict) the folder must hold a finished checkpoint (a file N.metadata) or safetensors (one file, "
            f"or several with a {shards.INDEX[1:]}); received {name!r} with {entries[:10]}; a save that was "
            "interrupted leaves no checkpoint."
        )
    return candidates[0]


def _exchanged_files(name: str, entry: str) -> Catalogue:
    """Safetensors from anywhere: each tensor is one block."""
    if not entry.endswith(shards.INDEX):
        return Catalogue({part.key: [part] for part in _parts(name, entry)})
    path = os.path.join(name, entry)
    entries = shards.read_index("load_state_dict", path)
    found = {part.key: part for file in sorted(set(entries.values())) for part in _parts(name, file)}
    missing = [key for key, file in entries.items() if key not in found or found[key].file != file]
    if missing:
        raise value_error(
            "load_state_dict", "tensors that the index names are not in their files", f"{path!r}: {missing[:10]}"
        )
    return Catalogue({key: [found[key]] for key in entries})


def _parts(name: str, entry: str) -> list[Part]:
    path = os.path.join(name, entry)
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if not safetensors.looks_like(data):
                raise ValueError("it has no head of that format")
            tensors = safetensors.contents(data)
    except (KeyError, TypeError, ValueError) as error:
        raise value_error(
            "load_state_dict", "the file is not one of safetensors, or it is damaged", f"{path!r}: {error}"
        ) from error
    return [
        Part(key, (0,) * len(shape), shape, shape, dtype.name, entry, None, begin, end - begin)
        for key, (dtype, shape, begin, end) in tensors.items()
    ]
