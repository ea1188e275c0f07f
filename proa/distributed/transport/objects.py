"""Collectives of Python objects: pickled, through the job's store. For settings and results, not for data.

They are signed with the job's key, and not unpickled where that does not fit. An object stays in the store until all who
need it have read it; its writer removes it when it writes the next.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from ...core import job
from ...core.errors import failed_check
from ...core.tracebacks import boundary
from ..group import Group, position, resolve
from . import store

# The service refuses messages of more than some megabytes.
_CHUNK = 1 << 20
_unread: list[tuple[str, tuple[int, ...]]] = []


def _write(name: str, thing: Any, readers: Sequence[int]) -> None:
    while _unread and all(store.has(f"{_unread[0][0]}/read/{rank}") for rank in _unread[0][1]):
        store.forget(_unread.pop(0)[0])
    name = f"{name}/{job.rank()}"
    data = store.signed(pickle.dumps(thing))
    chunks = [data[begin : begin + _CHUNK] for begin in range(0, len(data), _CHUNK)]
    for number, chunk in enumerate(chunks):
        store.put(f"{name}/{number}", chunk)
    store.put(f"{name}/count", str(len(chunks)).encode())
    _unread.append((name, tuple(rank for rank in readers if rank != job.rank())))


def _read(where: str, name: str, group: Group, writer: int) -> Any:
    name = f"{name}/{writer}"
    try:
        count = int(store.take(f"{name}/count", group.milliseconds))
    except TimeoutError:
        raise TimeoutError(
            f"({where}) waited {group.milliseconds / 1000:g} s for process {writer}; received nothing from it; see that "
            "every process of the group makes the same calls in the same order."
        ) from None
    data = b"".join(store.take(f"{name}/{number}", group.milliseconds) for number in range(count))
    store.put(f"{name}/read/{job.rank()}", b"1")
    return pickle.loads(store.checked(data))


@boundary
def all_gather_object(object_list: list[Any], obj: Any, group: Group | None = None) -> None:
    """Fills a list with the objects of all processes, in the order of the group.

    Args:
        object_list: the list to fill.
        obj: what this process gives; it must be possible to pickle it.
        group: the processes that take part; None: all.

    Examples:
        >>> gathered = []
        >>> paddle.distributed.all_gather_object(gathered, {"loss": 0.5})
        >>> gathered
        [{'loss': 0.5}]
    """
    found = resolve("all_gather_object", group)
    if found is None:
        return
    object_list.clear()
    if found.nranks == 1:
        object_list.append(obj)
        return
    name = found.next_name("gather")
    _write(name, obj, found.ranks)
    object_list.extend(
        obj if rank == job.rank() else _read("all_gather_object", name, found, rank) for rank in found.ranks
    )


@boundary
def broadcast_object_list(object_list: list[Any], src: int, group: Group | None = None) -> None:
    """Gives every process the objects of process `src`, in place.

    Examples:
        >>> settings = ["adam", 0.1]
        >>> paddle.distributed.broadcast_object_list(settings, src=0)
        >>> settings
        ['adam', 0.1]
    """
    found = resolve("broadcast_object_list", group)
    if found is None:
        return
    position("broadcast_object_list", found, src, "src")
    if found.nranks == 1:
        return
    name = found.next_name("broadcast")
    if src == job.rank():
        _write(name, list(object_list), found.ranks)
    else:
        object_list[:] = _read("broadcast_object_list", name, found, src)


@boundary
def scatter_object_list(
    out_object_list: list[Any], in_object_list: Sequence[Any] | None = None, src: int = 0, group: Group | None = None
) -> None:  # fmt: skip
    """Gives each process one object of the list of process `src`.

    Args:
        out_object_list: a list that gets this process's object.
        in_object_list: at process `src`, one object for each process.
        src: the process that gives.
        group: the processes that take part; None: all.

    Examples:
        >>> part = []
        >>> paddle.distributed.scatter_object_list(part, ["first shard"], src=0)
        >>> part
        ['first shard']
    """
    found = resolve("scatter_object_list", group)
    if found is None:
        return
    position("scatter_object_list", found, src, "src")
    given = list(in_object_list or [])
    if src == job.rank() and len(given) != found.nranks:
        raise failed_check(
            "scatter_object_list", f"one object for each of the {found.nranks} processes is wanted",
            f"{len(given)} objects",
        )  # fmt: skip
    name = found.next_name("scatter")
    if src == job.rank():
        for rank, thing in zip(found.ranks, given, strict=True):
            if rank != src:
                _write(f"{name}/{rank}", thing, [rank])
        out_object_list[:] = [given[found.rank]]
    else:
        out_object_list[:] = [_read("scatter_object_list", f"{name}/{job.rank()}", found, src)]


_sent: dict[tuple[int, int], int] = {}


def _message_name(sender: int, receiver: int) -> str:
    """Messages from one process to another are numbered, apart from what groups do."""
    number = _sent[sender, receiver] = _sent.get((sender, receiver), -1) + 1
    return f"message/{sender}/{receiver}/{number}"


@boundary
def send_object_list(
    object_list: list[Any], dst: int | None = None, group: Group | None = None, dst_in_group: int | None = None
) -> None:
    """Sends objects to process `dst` (or the one at `dst_in_group` of the group), which calls `recv_object_list`.

    Examples:
        >>> paddle.distributed.send_object_list(["done"], dst=0)
        Traceback (most recent call last):
            f"({where}) waited {group.milliseconds / 1000:g} s for process {writer}; received nothing from it; see that "
        proa.core.errors.FailedCheck: (send_object_list) a process exchanges messages with another one; ...
    """
    found = resolve("send_object_list", group)
    if found is not None:
        receiver = _other("send_object_list", found, dst, dst_in_group, "dst")
        _write(_message_name(job.rank(), receiver), list(object_list), [receiver])


@boundary
def recv_object_list(
    object_list: list[Any], src: int | None = None, group: Group | None = None, src_in_group: int | None = None
) -> None:
    """Receives the objects that process `src` (or the one at `src_in_group` of the group) sends, in place.

    Examples:
        >>> paddle.distributed.recv_object_list([None], src=0)
        Traceback (most recent call last):
            f"({where}) waited {group.milliseconds / 1000:g} s for process {writer}; received nothing from it; see that "
        proa.core.errors.FailedCheck: (recv_object_list) a process exchanges messages with another one; ...
    """
    found = resolve("recv_object_list", group)
    if found is not None:
        sender = _other("recv_object_list", found, src, src_in_group, "src")
        object_list[:] = _read("recv_object_list", _message_name(sender, job.rank()), found, sender)


def _other(where: str, group: Group, rank: int | None, in_group: int | None, name: str) -> int:
    """The process that is meant, by its number in the job or in the group; without any, the group's first."""
    if rank is not None and in_group is not None:
        raise failed_check(where, f"give {name} or {name}_in_group", f"{rank} and {in_group}")
    chosen = rank if rank is not None else group.get_global_rank(in_group or 0)
    position(where, group, chosen, name)
    if chosen == job.rank():
        raise failed_check(where, "a process exchanges messages with another one", f"its own number, {chosen}")
    return chosen
