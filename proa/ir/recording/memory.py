"""Which values of a segment are still wanted, by reference count: what only the segment refers to is dead."""

from __future__ import annotations

from sys import getrefcount
from typing import Any

from .references import HELD_BY_A_NAME
from .segment import Segment


def is_past(segment: Segment) -> bool:
    """Whether most of what was recorded is of no use to anybody any more: a loop whose results are never read.

    Dead tensors are let go on the way, newest first as in `live_tensors`, until enough living ones were met.
    """
    refs = segment.refs
    alive: list[Any] = []
    most = segment.node.next_index // 16
    while refs and len(alive) <= most:
        tensor = refs.pop()
        if getrefcount(tensor) > HELD_BY_A_NAME:
            alive.append(tensor)
    refs.extend(reversed(alive))
    return len(alive) <= most


def live_tensors(segment: Segment) -> list[tuple[Any, int]]:
    """Tensors of this segment that somebody else refers to, with their indices.

    Newest first: when a dead tensor goes, the older ones that only its history referred to go with it. Last come those that
    have views, which refer to them: by then the dead views are gone.
    """
    live: list[tuple[Any, int]] = []
    viewed: list[Any] = []
    # This is on the path of every step: names of the module are looked up once.
    refs, references, held = segment.refs, getrefcount, HELD_BY_A_NAME
    while refs:
        tensor = refs.pop()
        if references(tensor) > held:
            index = tensor._index
            if tensor._segment is segment and tensor._value is None:
                if tensor._views is None:
                    live.append((tensor, index))
                else:
                    viewed.append(tensor)
    if viewed:
        viewed.sort(key=_is_a_view)  # a tensor that is itself a view of another comes before that one
    while viewed:
        tensor = viewed.pop()
        if getrefcount(tensor) > HELD_BY_A_NAME and not tensor._is_unseen(getrefcount(tensor) - HELD_BY_A_NAME):
            index = tensor._index
            if tensor._segment is segment:
                live.append((tensor, index))
    live.reverse()
    return live


def _is_a_view(tensor: Any) -> bool:
    return tensor._view is not None
