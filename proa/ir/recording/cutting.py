"""Starting the device early: a segment is cut behind a value that the program is known to read late.

A training step that reads its loss after `step()` would wait for all of its own work: nothing starts before the read,
and the read waits until everything has run. Once the recorder has seen that twice, it cuts the segment where the loss
is made. From then on the first part runs while Python records the second one, the read waits for the first part only,
and the second part runs while Python records the next step.

A cut costs fusions across it and memory for what crosses it. So it is made only where recording takes a notable part of
the time: where all the work is small. That is decided by shapes alone, so the same program is always cut in the same
places and gives the same bits. On an accelerator nothing is cut: there a second launch costs as much as it
hides (measured: a small MLP lost a fifth, a GPT gained nothing). Nor is a long loop cut: its tiles start early anyway.
"""

from __future__ import annotations

from ...core.place import CPU
from ..observing import RUNTIME
from ..trace import TraceNode
from ..transforms.tiling import find_tiles

_READS_BEFORE_CUT = 2
# With less than this behind the value there is nothing to overlap with.
_FEWEST_BEHIND = 12
# Elements made by a program (some milliseconds of work) from which on running it outweighs recording it.
_HEAVY = 1 << 22


def note_late_read(end: TraceNode, index: int) -> None:
    """Value `index` is read while the path has come to `end`: learns where to cut it next time."""
    observed = RUNTIME.observed
    if observed is not None and observed.keeps_whole:
        return
    if end.late_reads < 0 or end.next_index - index < _FEWEST_BEHIND:
        return
    end.late_reads += 1
    if end.late_reads < _READS_BEFORE_CUT:
        return
    end.late_reads = -1  # decided
    if _pays(end):
        maker: TraceNode | None = end
        while maker is not None and (maker.instruction is None or maker.index > index):
            maker = maker.parent
        if maker is not None:
            maker.cut = maker.hook = True


def _pays(end: TraceNode) -> bool:
    root = end.root
    assert root is not None
    program = end.program(())
    return root.place is CPU and program.size <= _HEAVY and find_tiles(program, root.place) is None
