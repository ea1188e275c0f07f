"""Weights in several safetensors files, as models are passed around.

    model-00001-of-00003.safetensors …     the tensors
    model.safetensors.index.json           which file each tensor is in

A model that fits into one file is `model.safetensors` alone.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence

from ..core.errors import value_error

SUFFIX = ".safetensors"
INDEX = ".safetensors.index.json"
FILE_BYTES = 5 * 10**9  # of one file, as models are passed around
_PART = re.compile(r"-(\d+)-of-(\d+)\.safetensors$")


def grouped(sizes: Mapping[str, int], most: int) -> Iterator[list[str]]:
    """The names of the tensors of each file: in order, no file larger than `most` bytes unless one tensor is."""
    group: list[str] = []
    size = 0
    for name, more in sizes.items():
        if group and size + more > most:
            yield group
            group, size = [], 0
        group.append(name)
        size += more
    yield group


def file_names(prefix: str, count: int) -> list[str]:
    return [f"{prefix}-{number + 1:05d}-of-{count:05d}{SUFFIX}" for number in range(count)]


def index_text(sizes: Mapping[str, int], files: Sequence[str], groups: Sequence[Sequence[str]]) -> bytes:
    index = {
        "metadata": {"total_size": sum(sizes.values())},
        "weight_map": {name: file for file, group in zip(files, groups, strict=True) for name in group},
    }
    return json.dumps(index, indent=2, ensure_ascii=False).encode()


def read_index(where: str, path: str) -> dict[str, str]:
    """The file of each tensor, by the index; every file is one beside the index."""
    try:
        with open(path, encoding="utf-8") as file:
            weight_map = json.load(file)["weight_map"]
        entries = {str(key): str(value) for key, value in weight_map.items()}
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise value_error(where, "the file is no index of safetensors", f"{path!r}: {error!r}") from error
    for entry in sorted(set(entries.values())):
        file_path = os.path.join(os.path.dirname(path), entry)
        if os.path.basename(entry) != entry or not os.path.isfile(file_path):
            raise FileNotFoundError(f"({where}) a file that the index names is missing; received {file_path!r}.")
    return entries


def is_part(entry: str) -> bool:
    """Whether a file is one of several, by its name."""
    found = _PART.search(entry)
    return found is not None and int(found[2]) > 1
