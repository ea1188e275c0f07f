"""Who computes next: admission in order of arrival, prompts in chunks, the youngest set back when pages run out.

Nobody starves. Sequences are admitted in the order in which they came; only the youngest running one is ever set back, and
it goes to the head of those that wait. So the oldest keeps its pages, and the pool is large enough for any one request (who
asks for more is refused at once): it ends, and then the next one is the oldest.
"""

from __future__ import annotations

from collections import deque

from .pages import PagePool
from .sequence import Sequence


class Scheduler:
    """The queues, and the pages of those that run."""

    def __init__(self, pool: PagePool, rows: int) -> None:
        self.pool, self.rows = pool, rows
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []  # the oldest first
        self.preemptions = self.reused = 0  # set back; tokens whose pages were found

    @property
    def is_idle(self) -> bool:
        return not self.waiting and not self.running

    def add(self, sequence: Sequence) -> None:
        self.waiting.append(sequence)

    def _pages_for(self, tokens: int) -> int:
        return -(-tokens // self.pool.page_size)

    # ---- admission ----------------------------------------------------------------------------------

    def admit(self) -> None:
        """Lets waiting sequences in, while there is a row and pages for all their tokens.

        Beside others, one page for each of them is left: otherwise the next full page would set somebody back at once.
        """
        while self.waiting and len(self.running) < self.rows and self._let_in(self.waiting[0]):
            self.running.append(self.waiting.popleft())
            self.running.sort(key=lambda sequence: sequence.number)

    def _let_in(self, sequence: Sequence) -> bool:
        # The last token is always computed: what follows it is wanted.
        found, identity = ([], 0) if sequence.scores else self.pool.find(sequence.ids[:-1], sequence.root)
        wanted = self._pages_for(len(sequence.ids)) - len(found)
        taken = self.pool.take(wanted) if wanted + len(self.running) <= self.pool.available else None
        if taken is None:
            self.pool.release(found)
            return False
        sequence.pages = found + taken
        sequence.computed = len(found) * self.pool.page_size
        sequence.identity, sequence.num_kept = identity, len(found)
        self.reused += sequence.computed
        return True

    # ---- the next steps -----------------------------------------------------------------------------

    def decoding(self) -> list[Sequence]:
        """Running sequences that want their next token, with room for it."""
        chosen: list[Sequence] = []
        for sequence in list(self.running):
            if sequence.remaining == 1 and sequence in self.running and self._make_room(sequence):
                chosen.append(sequence)
        return [sequence for sequence in chosen if sequence in self.running]

    def _make_room(self, sequence: Sequence) -> bool:
        """Sees to a page for the last token, at the expense of the youngest; False if that is the sequence itself."""
        wanted = self._pages_for(len(sequence.ids))
        while len(sequence.pages) < wanted:
            taken = self.pool.take(wanted - len(sequence.pages))
            if taken is not None:
                sequence.pages += taken
                break
            youngest = self.running[-1]
            self._set_back(youngest)
            if youngest is sequence:
                return False
        self._fit_drafts(sequence)
        return True

    def has_room(self, sequence: Sequence, tokens: int) -> bool:
        """Whether there are pages for so many tokens of a sequence, at nobody's expense."""
        wanted = self._pages_for(tokens) - len(sequence.pages)
        if wanted <= 0:
            return True
        taken = self.pool.take(wanted) if wanted <= self.pool.available - len(self.running) else None
        sequence.pages += taken or []
        return taken is not None

    def _fit_drafts(self, sequence: Sequence) -> None:
        """Guesses have pages only where there are some to spare."""
        if not self.has_room(sequence, len(sequence.ids) + len(sequence.drafts)):
            del sequence.drafts[len(sequence.pages) * self.pool.page_size - len(sequence.ids) :]

    def _set_back(self, sequence: Sequence) -> None:
        self.preemptions += 1
        self.running.remove(sequence)
        self._release(sequence)
        self.waiting.appendleft(sequence)

    def reading(self, budget: int, lengths: tuple[int, ...]) -> tuple[int, list[Sequence]]:
        """Sequences whose prompt is still being read, the oldest first, and how many tokens of each are read now.

        Rows of one step are equally long: the first sequence decides, and as many others as the budget has room for join.
        """
        reading = [sequence for sequence in self.running if sequence.remaining > 1]
        if not reading:
            return 0, []
        length = next((n for n in lengths if n >= reading[0].remaining), lengths[-1])
        return length, reading[: max(1, min(budget // length, self.rows))]

    # ---- afterwards -----------------------------------------------------------------------------------

    def note_computed(self, sequence: Sequence, count: int) -> None:
        """Moves on by so many tokens; pages that are full now are kept for others."""
        sequence.computed += count
        size = self.pool.page_size
        while sequence.identity >= 0 and (sequence.num_kept + 1) * size <= sequence.computed:
            begin = sequence.num_kept * size
            sequence.identity = self.pool.keep(
                sequence.ids[begin : begin + size], sequence.pages[sequence.num_kept], sequence.identity, sequence.root
            )
            sequence.num_kept += 1

    def finish(self, sequence: Sequence) -> None:
        """Takes a sequence out, wherever it is."""
        if sequence in self.running:
            self.running.remove(sequence)
            self._release(sequence)
        elif sequence in self.waiting:
            self.waiting.remove(sequence)

    def _release(self, sequence: Sequence) -> None:
        self.pool.release(sequence.pages)
        sequence.pages, sequence.computed, sequence.drafts = [], 0, []
        sequence.identity = sequence.num_kept = 0
