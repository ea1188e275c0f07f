"""Records between the workers of a job: by the job's collectives, or through its table servers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....static.mode import running
from .slots import Column, Records


def _gathered(fleet: Any, thing: Any) -> list[Any]:
    """The things of all workers."""
    if fleet is None or fleet.worker_num() == 1:
        return [thing]
    with running():
        return fleet.util.all_gather(thing)


def total(count: int, fleet: Any) -> int:
    """The sum of a number of all workers."""
    return int(sum(_gathered(fleet, count)))


def exchanged(records: Records, fleet: Any, random: np.random.Generator) -> Records:
    """The records of all workers that were drawn for this one."""
    if fleet is None or fleet.worker_num() == 1:
        return records
    owners = random.integers(0, fleet.worker_num(), len(records))
    mine = fleet.worker_index()
    parts = [records.taken(np.flatnonzero(owners == worker)) for worker in range(fleet.worker_num())]
    return Records.joined([given[mine] for given in _gathered(fleet, parts)])


def merged(records: Records, size: int) -> Records:
    """Records of one name as one: values of all of them in ragged slots, of the first in others. As in Paddle, a name that
    `size` records do not have is left out."""
    names = records.names or []
    groups: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        groups.setdefault(name, []).append(number)
    chosen = [numbers for numbers in groups.values() if len(numbers) == size]
    order = np.array([number for numbers in chosen for number in numbers], np.int64)
    columns = []
    for column in records.columns:
        taken = column.taken(order)
        columns.append(Column(taken.values, taken.lengths.reshape(-1, size).sum(1)))
    firsts = [numbers[0] for numbers in chosen]
    contents = None if records.contents is None else [records.contents[number] for number in firsts]
    return Records(columns, [names[number] for number in firsts], contents)
