"""`save_state_dict`: every process writes the blocks it holds, and the checkpoint is there when all have.

In order: the processes agree on the number of the checkpoint and on who writes which block; each writes its files, beside
their places, brings them to the disk and moves them there; they tell each other what was written; the coordinator writes
the metadata in the same way. Whoever is killed before that leaves files that nobody names.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import value_error
from ...core.tracebacks import boundary
from ...framework import background
from ...framework.writing import replacing
from . import files, folder
from .metadata import Catalogue, Part, encode
from .pieces import (
    Piece,
    array_of,
    checked_value,
    flatten,
    is_tensor,
    own_pieces,
)
from .processes import Processes
from .staging import Snapshot

if TYPE_CHECKING:
    from ..group import Group


@boundary
def save_state_dict(
    state_dict: dict[str, Any], path: str, process_group: Group | None = None, coordinator_rank: int = 0,
    unique_id: int | None = None, async_save: bool = False, safetensors: bool = False, save_replicas: bool = False,
    *, keep: int | None = None,
) -> None:  # fmt: skip
    """Saves a (nested) state dictionary as a checkpoint in the folder `path`, together with all processes of the job.

    Tensors may be whole or spread over devices; each block is written once, by one of those that hold it (with
    `save_replicas`, by all). Numbers, strings and lists are kept as well: the coordinator's. A checkpoint is there whole or
    not at all, whenever a process is killed, and has a number: `unique_id`, or one more than the last. `keep=3` removes all
    but the last three. With `async_save` the values of the moment are copied and written beside the training: the next
    update waits for the copies, `load_state_dict` and the next save wait for the rest and raise what went wrong, as does
    `paddle.framework.io.clear_async_save_task_queue()`. With `safetensors` the files have that format instead of Paddle's.

    Examples:
        >>> paddle.distributed.save_state_dict({"w": paddle.to_tensor([1.0, 2.0]), "step": 100}, "checkpoints", keep=3)
        >>> state = {"w": paddle.zeros([2]), "step": 0}
        >>> paddle.distributed.load_state_dict(state, "checkpoints")
        >>> state["w"].tolist(), state["step"]
        ([1.0, 2.0], 100)
    """
    _check(path, unique_id, keep)
    background.clear_async_save_task_queue()  # one after another: the numbers follow, and memory holds one copy
    processes = Processes("save_state_dict", process_group, coordinator_rank)
    values, paths = flatten(state_dict, "save_state_dict")
    os.makedirs(path, exist_ok=True)
    plan = processes.agree(_plan(path, unique_id, processes.is_coordinator))
    if "failure" in plan:
        raise value_error("save_state_dict", "the coordinator could not begin", plan["failure"])
    mine = own_pieces(processes, values, save_replicas)
    plain = {key: checked_value(key, value) for key, value in values.items() if not is_tensor(value)}
    suffix = files.SUFFIXES[bool(safetensors)]
    snapshot = Snapshot(mine) if async_save else None
    save = _Save(processes, path, plan["number"], plan["attempt"], suffix, mine, snapshot, plain, paths, keep)
    if async_save:
        background.start(save.run)
    else:
        save.run()


def _check(path: Any, unique_id: Any, keep: Any) -> None:
    if not isinstance(path, (str, os.PathLike)):
        raise value_error("save_state_dict", "path must name a folder", type(path).__name__)
    if os.path.exists(path) and not os.path.isdir(path):
        raise NotADirectoryError(f"(save_state_dict) path must be a folder; received a file, {os.fspath(path)!r}.")
    if unique_id is not None and (not isinstance(unique_id, int) or unique_id < 0):
        raise value_error("save_state_dict", "unique_id must be a number from 0 on", repr(unique_id))
    if keep is not None and (not isinstance(keep, int) or keep < 1):
        raise value_error("save_state_dict", "keep must be at least 1: how many checkpoints stay", repr(keep))


def _plan(path: str, unique_id: int | None, is_coordinator: bool) -> dict[str, Any]:
    """The number of the checkpoint, as the coordinator sees the folder."""
    if not is_coordinator:
        return {}
    try:
        numbers = folder.finished(path)
        number = unique_id if unique_id is not None else 1 + max(numbers, default=-1)
        return {"number": number, "attempt": folder.next_attempt(path, number)}
    except OSError as error:
        return {"failure": str(error)}


class _Save:
    """One process's part in a checkpoint, after its values have been taken."""

    def __init__(
        self, processes: Processes, path: str, number: int, attempt: int, suffix: str, pieces: list[Piece],
        snapshot: Snapshot | None, values: dict[str, Any], paths: dict[str, tuple[str, ...]], keep: int | None,
    ) -> None:  # fmt: skip
        self._processes = processes
        self._path = os.path.realpath(path)
        self._number, self._attempt, self._suffix = number, attempt, suffix
        self._pieces, self._snapshot = pieces, snapshot
        self._values, self._paths, self._keep = values, paths, keep
        if snapshot is not None:
            for piece in pieces:
                piece.source = piece.whole = None  # the tensor itself may change, or go

    def run(self) -> None:
        """Writes, tells the others, and waits until the checkpoint is there."""
        report: dict[str, Any]
        try:
            parts, sizes = self._write_files()
            report = {"parts": [part.row() for part in parts], "sizes": sizes, "paths": self._paths}
        except Exception as error:
            report = {"failure": f"process {self._processes.rank}: {type(error).__name__}: {error}"}
            failure: Exception | None = error
        else:
            failure = None
        reports = self._processes.exchange(report)
        if self._snapshot is not None:
            self._snapshot.close()
        self._raise_failures(reports, failure)
        outcome: dict[str, Any] = {}
        if self._processes.is_coordinator:
            try:
                self._finish(reports)
            except Exception as error:
                outcome, failure = {"failure": f"the coordinator: {type(error).__name__}: {error}"}, error
        self._raise_failures([self._processes.agree(outcome)], failure)

    def _write_files(self) -> tuple[list[Part], dict[str, int]]:
        by_file: dict[str, list[int]] = {}
        for position, piece in enumerate(self._pieces):
            name = folder.data_name(piece.device, self._number, self._attempt, self._suffix)
            by_file.setdefault(name, []).append(position)
        parts: list[Part] = []
        sizes: dict[str, int] = {}
        for name, positions in by_file.items():
            arrays = {self._pieces[n].key: self._array(n) for n in positions}
            with replacing(os.path.join(self._path, name)) as file:
                places = files.write(file, name, arrays)
                sizes[name] = file.tell()
            for n in positions:
                piece = self._pieces[n]
                parts.append(
                    Part(
                        piece.key, piece.offset, piece.shape, piece.global_shape, piece.dtype, name, piece.flat,
                        *places[piece.key],
                    )
                )  # fmt: skip
        return parts, sizes

    def _array(self, position: int) -> np.ndarray:
        return array_of(self._pieces[position].source) if self._snapshot is None else self._snapshot.array(position)

    def _finish(self, reports: list[dict[str, Any]]) -> None:
        """Writes the metadata: from then on the checkpoint is there."""
        catalogue = Catalogue({}, {}, self._values)
        for report in reports:
            for row in report["parts"]:
                part = Part.of_row(row)
                catalogue.parts.setdefault(part.key, []).append(part)
            catalogue.paths.update({key: tuple(path) for key, path in report["paths"].items()})
            catalogue.sizes.update(report["sizes"])
        for key, parts in catalogue.parts.items():
            _check_cover(key, parts)
        with replacing(folder.metadata_path(self._path, self._number)) as file:
            file.write(encode(catalogue))
        folder.tidy(self._path, self._number, set(catalogue.sizes), self._keep)

    def _raise_failures(self, reports: list[dict[str, Any]], own: Exception | None) -> None:
        if own is not None:
            raise own
        failures = [report["failure"] for report in reports if "failure" in report]
        if failures:
            raise RuntimeError(f"(save_state_dict) checkpoint {self._number} was not written: {'; '.join(failures)}.")


def _check_cover(key: str, parts: list[Part]) -> None:
    """All blocks together must be the tensor."""
    blocks = {(part.offset, part.flat): part for part in parts}
    total = sum(
        int(np.prod(part.shape)) if part.flat is None else part.flat[1] - part.flat[0] for part in blocks.values()
    )
    if total != int(np.prod(parts[0].global_shape)):
        raise value_error(
            "save_state_dict", f"the blocks of {key!r} do not make up the tensor of shape {list(parts[0].global_shape)}",
            f"{total} elements in {len(blocks)} blocks", "save with all processes that hold a part of it",
        )  # fmt: skip
