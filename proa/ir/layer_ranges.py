"""What observers of the runtime ask about programs: which layer recorded what, and what an executable is made of."""

from __future__ import annotations

import threading
from typing import Any

from .observing import note_program, noted_program
from .recorder import LOCAL
from .tiers.kept import PROGRAMS


class LayerRanges(threading.local):
    """Which layer recorded which instructions of the thread's open segment; told by `mark`, asked by `take`."""

    def __init__(self) -> None:
        self.segment: Any = None
        self.path = ""
        self.starts: list[tuple[int, str]] = []

    def mark(self, path: str) -> None:
        """From here on the thread is in another layer (or outside of all: an empty path)."""
        if self.segment is not LOCAL.segment:
            self.segment, self.starts = LOCAL.segment, [(0, self.path)]
        self.starts.append((LOCAL.segment.node.next_index, path))
        self.path = path

    def ranges(self, end: Any = None) -> list[tuple[int, int, str]]:
        """(begin, end, path) of the segment that is being run now; none if it is not the one that ends at node `end`."""
        if not self.starts or (end is not None and self.segment.node is not end):
            return []
        ends = [*self.starts[1:], (self.segment.node.next_index, "")]
        return [(begin, end, path) for (begin, path), (end, _) in zip(self.starts, ends, strict=True) if end > begin]

    def take(self) -> list[tuple[int, int, str]]:
        """The same, which are then forgotten."""
        found = self.ranges()
        self.segment, self.starts = None, []
        return found


def program_of(executable: Any) -> Any:
    """The Program that an executable was made of, if it is known."""
    found = noted_program(executable)
    if found is None:
        for entry in list(PROGRAMS):
            if entry.compiled is executable:
                found = entry.program
                note_program(executable, found)
                break
    return found
