"""The table of statements and the random choice from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from ..scope import Scope


@dataclasses.dataclass(frozen=True)
class Statement:
    area: str
    weight: float
    write: Callable[[Scope], bool]


_TABLE: list[Statement] = []


def statement(area: str, weight: float = 1.0) -> Callable[[Callable[[Scope], bool]], Callable[[Scope], bool]]:
    """Enter the decorated function into the table."""

    def enter(function: Callable[[Scope], bool]) -> Callable[[Scope], bool]:
        _TABLE.append(Statement(area, weight, function))
        return function

    return enter


def statements_of(areas: frozenset[str] | None = None) -> list[Statement]:
    return [entry for entry in _TABLE if areas is None or entry.area in areas]


def write_some(scope: Scope, count: int, areas: frozenset[str] | None = None) -> None:
    """Write `count` random statements, fewer where too many attempts find nothing to write."""
    entries = [
        entry
        for entry in statements_of(areas)
        if not (entry.area == "random" and not scope.may_be_random)
        and not (entry.area == "in-place" and not scope.may_mutate)
    ]
    weights = [entry.weight for entry in entries]
    written = 0
    for _ in range(count * 5):
        if written == count:
            return
        entry = scope.chance.choices(entries, weights)[0]
        if entry.write(scope):
            scope.feature(entry.area)
            written += 1
