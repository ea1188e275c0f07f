"""The way of tokens to experts and back.

Experts are numbered through all processes: expert `e` is number `e % experts` of the process at position `e // experts`. How
many tokens go where is known on the host before they travel, since it decides shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.errors import value_error
from ....core.tracebacks import boundary
from ....eager.tensor import Tensor, tensor_from_data
from ....ir.recorder import recording_gradients
from ....ops.index.gather import gather
from ...group import Group, resolve
from ...transport.operations import all_to_all_op


def count_tokens(experts: np.ndarray, total: int) -> np.ndarray:
    """How many entries go to each of `total` experts; negative entries go nowhere."""
    return np.bincount(experts[experts >= 0].ravel(), minlength=total)


def swap_counts(counts: np.ndarray, group: Group | None) -> np.ndarray:
    """Counts for all processes' experts -> what comes from each process for the experts of this one, and the reverse."""
    if group is None or group.nranks == 1:
        return counts
    with recording_gradients(False):
        swapped = all_to_all_op(tensor_from_data(counts.astype(np.int64)), tuple(group.ranks), (), ())
    return swapped.numpy()


def limit_by_capacity(
    experts: np.ndarray, num_expert: int, world_size: int, capacity: int, group: Group | None = None
) -> np.ndarray:
    """The choice of experts with -1 where an expert has had `capacity` tokens; earlier processes and tokens come first."""
    counts = count_tokens(experts, num_expert * world_size)
    arriving = swap_counts(counts, group).reshape(world_size, num_expert)
    before = np.cumsum(arriving, 0) - arriving
    granted = np.clip(capacity - before, 0, arriving)
    allowed = swap_counts(granted.ravel(), group)
    flat = experts.ravel()
    order = np.argsort(flat, kind="stable")
    ranked = flat[order]
    # The place of each entry among those for its expert.
    place = np.arange(flat.size) - np.searchsorted(ranked, ranked, side="left")
    kept = (ranked >= 0) & (place < allowed[np.maximum(ranked, 0)])
    limited = np.full_like(flat, -1)
    limited[order[kept]] = ranked[kept]
    return limited.reshape(experts.shape)


class Route:
    """How rows travel: `local` counts by expert of all processes, `arriving` counts by process and own expert."""

    def __init__(
        self, local: Sequence[int] | np.ndarray, arriving: Sequence[int] | np.ndarray, group: Group | None
    ) -> None:
        self.ranks = tuple(group.ranks) if group is not None else (0,)
        count = len(self.ranks)
        self.leaving, self.arriving = np.asarray(local).reshape(count, -1), np.asarray(arriving).reshape(count, -1)
        self.sizes = tuple(int(size) for size in self.leaving.sum(1))
        self.wanted = tuple(int(size) for size in self.arriving.sum(1))
        # Rows come process by process; experts want theirs together.
        ends = np.cumsum(self.arriving.ravel()).reshape(self.arriving.shape)
        runs = [
            np.arange(ends[process, expert] - self.arriving[process, expert], ends[process, expert])
            for expert in range(self.arriving.shape[1])
            for process in range(count)
        ]
        self.order = np.concatenate(runs).astype(np.int64)

    def go(self, rows: Tensor) -> Tensor:
        """Rows in the order of all experts -> those for the experts of this process, expert by expert."""
        if len(self.ranks) > 1:
            rows = all_to_all_op(rows, self.ranks, self.sizes, self.wanted)
        return rows if _is_in_order(self.order) else gather(rows, tensor_from_data(self.order))

    def return_(self, rows: Tensor) -> Tensor:
        """The reverse of `go`."""
        if not _is_in_order(self.order):
            rows = gather(rows, tensor_from_data(np.argsort(self.order)))
        return all_to_all_op(rows, self.ranks, self.wanted, self.sizes) if len(self.ranks) > 1 else rows


def _is_in_order(order: np.ndarray) -> bool:
    return bool((order == np.arange(order.size)).all())


def _route(where: str, local_count: Any, global_count: Any, group: Group | None) -> Route | None:
    found = resolve(where, group)
    if found is None:
        return None
    counts = [
        np.asarray(each.numpy() if isinstance(each, Tensor) else each).ravel() for each in (local_count, global_count)
    ]
    if counts[0].size != counts[1].size or counts[0].size % found.nranks:
        raise value_error(
            where, f"both counts have one number for each expert of the {found.nranks} processes",
            f"{counts[0].size} and {counts[1].size} numbers",
        )  # fmt: skip
    return Route(counts[0], counts[1], found)


@boundary
def global_scatter(
    x: Tensor, local_count: Any, global_count: Any, group: Group | None = None, use_calc_stream: bool = True
) -> Any:
    """Sends rows of `x` to experts: `local_count[i]` of them to expert i of all; what comes is laid out by own experts.

    `global_count[i]` is how many come from process `i // experts` for this process's expert `i % experts`.
    """
    route = _route("global_scatter", local_count, global_count, group)
    return None if route is None else route.go(x)


@boundary
def global_gather(
    x: Tensor, local_count: Any, global_count: Any, group: Group | None = None, use_calc_stream: bool = True
) -> Any:
    """Sends rows back to where `global_scatter` with the same counts took them from."""
    route = _route("global_gather", local_count, global_count, group)
    return None if route is None else route.return_(x)
