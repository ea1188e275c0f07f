"""Which passes there are, in which order and at which level they run.

    level 0   the graph as it was captured
    level 1   what only takes away: copies, dead code, common subexpressions, chains of casts, reshapes, transposes
    level 2   and what rewrites: patterns to kernels that exist, batch norms folded, constants computed beforehand

A pass is a function of a Draft that gives how many things it changed. It must keep the results (to 1e-5 of their size),
random draws, updates of buffers, checks of values, and must not take numbers that stand for unknown sizes for data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.errors import value_error
from .draft import Draft, PassError

Pass = Callable[[Draft], int]

DEFAULT_LEVEL = 2
FINAL = 100.0  # from this order on a pass runs once, at the end
_MOST_ROUNDS = 4


class RegisteredPass:
    """A pass with its name, the level from which on it runs, and its place in the order."""

    __slots__ = ("function", "level", "name", "native", "order")

    def __init__(self, name: str, function: Pass, level: int, order: float, native: bool = False) -> None:
        self.name = name
        self.function = function
        self.level = level
        self.order = order
        self.native = native  # puts in operations of this machine's kernels: not for a graph that leaves it

    @property
    def is_own(self) -> bool:
        """Whether it belongs to this package."""
        return (getattr(self.function, "__module__", None) or "").startswith(f"{__package__}.")

    def __repr__(self) -> str:
        return f"<pass {self.name}, level {self.level}>"


class PassRecord:
    """What a pass did to one graph."""

    __slots__ = ("after", "before", "changes", "name")

    def __init__(self, name: str, before: int) -> None:
        self.name = name
        self.before = before  # instructions
        self.after = before
        self.changes = 0

    def __repr__(self) -> str:
        return f"{self.name}: {self.changes} changes, {self.before} -> {self.after} instructions"


_PASSES: dict[str, RegisteredPass] = {}
_generation = 0


def register_pass(
    function: Pass | None = None, *, name: str | None = None, level: int = 2, order: float = 50.0, native: bool = False
) -> Any:  # fmt: skip
    """Adds a pass for all graphs that are compiled from now on; as a decorator with or without options.

    Passes run in the order of `order` (built-in ones: clearing up 5-19, patterns 30-39, folding 50-69;
    from 100 on: once, at the end). A `native` pass puts in operations of this machine's kernels; graphs that are exported
    go without it.
    """
    if function is None:
        return lambda f: register_pass(f, name=name, level=level, order=order, native=native)
    chosen = name or getattr(function, "__name__", type(function).__name__)
    if not callable(function):
        raise TypeError(f"(register_pass) a pass is a function of a Draft; received {function!r}.")
    if chosen in _PASSES:
        raise value_error("register_pass", f"a pass named {chosen} exists already", fix="unregister_pass it first")
    _PASSES[chosen] = RegisteredPass(chosen, function, level, order, native)
    _changed()
    return function


def unregister_pass(name: str) -> None:
    """Takes a pass or pattern out again."""
    if name not in _PASSES:
        raise value_error("unregister_pass", f"there is no pass named {name}", f"known: {', '.join(sorted(_PASSES))}")
    del _PASSES[name]
    _changed()


def passes(level: int = DEFAULT_LEVEL) -> list[RegisteredPass]:
    """The passes of a level, in the order in which they run."""
    return sorted((p for p in _PASSES.values() if p.level <= level), key=lambda p: p.order)


def generation() -> int:
    """Counts changes of the registry: graphs optimised before are optimised anew."""
    return _generation


def _changed() -> None:
    global _generation
    _generation += 1


def run_passes(draft: Draft, level: int = DEFAULT_LEVEL, native: bool = True) -> list[PassRecord]:
    """Runs the passes of a level until nothing changes any more, then the final ones; says what each did."""
    if level.__class__ is not int or not 0 <= level <= 3:
        raise value_error("optimised", "level must be 0, 1, 2 or 3", f"{level!r}")
    draft.native = native
    chosen = [entry for entry in passes(level) if native or not entry.native] if level else []
    records: dict[str, PassRecord] = {}
    repeated = [entry for entry in chosen if entry.order < FINAL]
    for _ in range(_MOST_ROUNDS):
        if not sum([_run(entry, draft, records) for entry in repeated]):
            break
    for entry in chosen:
        if entry.order >= FINAL:
            _run(entry, draft, records)
    return list(records.values())


def _run(entry: RegisteredPass, draft: Draft, records: dict[str, PassRecord]) -> int:
    before = len(draft.nodes)
    changes = entry.function(draft)
    if changes.__class__ is not int:
        raise PassError(f"(passes) {entry.name} must give the number of its changes; received {changes!r}.")
    if changes or not entry.is_own:  # looking costs as much as a pass
        try:
            draft.verify()
        except PassError as error:
            raise PassError(f"(passes) {entry.name} broke the graph: {error}.") from None
    record = records.setdefault(entry.name, PassRecord(entry.name, before))
    record.after += len(draft.nodes) - before
    record.changes += changes
    return changes
