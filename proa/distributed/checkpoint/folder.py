"""The folder of checkpoints: their numbers, the names of their files, and what is removed.

A checkpoint is there when its metadata file is, and that file is moved to its place last. Everything else in the folder is
either named by a metadata file or left over from a save that did not end, and of no importance.
"""

from __future__ import annotations

import contextlib
import os
import re

from ...framework.writing import sync_folder

_METADATA = re.compile(r"(\d+)\.metadata")
# Process 3, checkpoint 7; with a further number where checkpoint 7 is written over.
_DATA = re.compile(r"\d+(?:-(\d+))?_(\d+)\.(?:distcp|safetensors)")
# Files that were being written when their process ended.
_UNFINISHED = re.compile(r"(?:\d+(?:-\d+)?_)?(\d+)\.(?:distcp|safetensors|metadata)\.\d+\.[0-9a-f]+\.tmp")


def finished(folder: str) -> list[int]:
    """The numbers of the checkpoints that are there, oldest first."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(int(match[1]) for match in map(_METADATA.fullmatch, names) if match)


def metadata_path(folder: str, number: int) -> str:
    return os.path.join(folder, f"{number}.metadata")


def data_name(device: int, number: int, attempt: int, suffix: str) -> str:
    """Paddle's name of a data file; `attempt` keeps the files of a checkpoint that is written over until it is replaced."""
    return f"{device}{f'-{attempt}' if attempt else ''}_{number}{suffix}"


def next_attempt(folder: str, number: int) -> int:
    """0, or one more than any file of a checkpoint that is there and will be written over."""
    if not os.path.exists(metadata_path(folder, number)):
        return 0
    matches = [match for match in map(_DATA.fullmatch, os.listdir(folder)) if match and int(match[2]) == number]
    return 1 + max((int(match[1] or 0) for match in matches), default=0)


def tidy(folder: str, number: int, files: set[str], keep: int | None) -> None:
    """Removes what checkpoint `number`, just finished, leaves without a use: all but `keep` checkpoints, and remains."""
    numbers = finished(folder)
    removed = set(numbers[:-keep]) if keep is not None else set()
    removed.discard(number)
    for old in removed:  # its metadata first: from then on it is not there
        _remove(metadata_path(folder, old))
    if removed:
        sync_folder(folder)
    present = set(numbers) - removed
    for name in os.listdir(folder):
        data, unfinished = _DATA.fullmatch(name), _UNFINISHED.fullmatch(name)
        if data:
            owner = int(data[2])
            is_remains = name not in files if owner == number else owner not in present and owner < number
        else:
            is_remains = unfinished is not None and int(unfinished[1]) <= number
        # What has a larger number may be being written by somebody else.
        if is_remains:
            _remove(os.path.join(folder, name))


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
