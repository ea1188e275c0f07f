"""What happens in a round of the engine's thread: prompts are read, tokens chosen, answers ended."""

from __future__ import annotations

from collections.abc import Sequence as Rows
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.generation.choosing import USES
from .ahead import Flight, is_plain, known_rows, rows_behind
from .batch import Place, Row, choose_at, describe, targets_of
from .choices import Chosen, Started
from .sequence import Sequence
from .speculation import NGrams, accepted
from .steps import Shape

if TYPE_CHECKING:
    from .engine import Engine

_SHORTEST = 16  # tokens of a prompt's chunk


class Rounds:
    """Runs steps for the sequences that a scheduler chooses."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.scheduler, self.options = engine.scheduler, engine.options
        self.page_size = engine.pool.page_size
        chunk = min(self.options.chunk, 1 << (engine.context - 1).bit_length())
        self.lengths = (*(_SHORTEST << n for n in range(0, 32, 2) if _SHORTEST << n < chunk), chunk)
        self.started: Flight | None = None  # a step whose tokens nobody has read yet
        self.unread: list[Started] = []  # chunks in the middle of prompts, whose tokens nobody wants
        self.prompt_tokens = self.generated_tokens = self.steps = self.finished = self.guessed = self.accepted = 0

    # ---- shapes -----------------------------------------------------------------------------------------

    def _rows(self, count: int) -> int:
        return min(1 << (count - 1).bit_length(), self.options.rows)

    def _width(self, sequences: Rows[Sequence]) -> int:
        longest = max(len(sequence.pages) for sequence in sequences)
        return next(width for width in self.engine.widths if width >= longest)

    def _reading_shape(self, length: int, width: int) -> Shape:
        rows = self._rows(max(1, min(self.options.chunk // length, self.options.rows)))
        return Shape(rows, length, width, rows)

    def shapes(self) -> list[Shape]:
        """All that steps can have."""
        rows = sorted({self._rows(count) for count in range(1, self.options.rows + 1)})
        found: list[Shape] = []
        for width in self.engine.widths:
            found += [self._reading_shape(length, width) for length in self.lengths]
            found += [Shape(n, 1, width, n) for n in rows]
            if self.options.speculate:
                found += [self._checking_shape(n, width) for n in rows]
        return found

    def _checking_shape(self, rows: int, width: int) -> Shape:
        length = 1 + self.options.speculate
        return Shape(rows, length, width, rows * length)

    def warm_up(self, shape: Shape) -> None:
        """Runs an empty step: its rows write to nobody's page."""
        for steps in self._all_steps():
            steps.run(shape, {"uses": np.ones(len(USES), np.int32)})
            steps.run(shape, {})

    def _all_steps(self) -> list[Any]:
        return [self.engine.steps] if self.engine.draft is None else [self.engine.steps, self.engine.draft]

    # ---- a round ----------------------------------------------------------------------------------------

    def run(self) -> None:
        scheduler = self.scheduler
        for sequence in [s for s in (*scheduler.running, *scheduler.waiting) if s.cancelled]:
            self.finish(sequence, "cancelled")
        scheduler.admit()
        before, self.unread = self.unread, []
        length, reading = scheduler.reading(self.options.chunk, self.lengths)
        if reading:
            self._read(length, reading)
        if self.options.speculate:
            self._plan_guesses()
        decoding = self._guided(scheduler.decoding())
        if self.engine.looks_ahead:
            self._decode_ahead(decoding)
        elif decoding:
            self._decode(decoding)
        for step in before:  # the device has had this round's steps to do meanwhile
            step.read()

    def _read(self, length: int, sequences: list[Sequence]) -> None:
        """One chunk of each prompt; who reaches its end gets its first token."""
        ending = self._guided([sequence for sequence in sequences if sequence.remaining <= length])
        sequences = [sequence for sequence in sequences if sequence in self.scheduler.running]
        if not sequences:
            return
        shape = self._reading_shape(length, self._width(sequences))
        rows = [Row(s, s.computed, s.ids[s.computed : s.computed + length]) for s in sequences[: shape.rows]]
        given = describe(shape, rows, self.page_size)
        if any(row.sequence.scores for row in rows):
            shape = shape._replace(scores=True)
            given["targets"] = targets_of(shape, rows)
        wanted = [
            Place(row.sequence, number * length + len(row.tokens) - 1, row.sequence.generated)
            for number, row in enumerate(rows)
        ]
        given.update(choose_at(shape.places, wanted, self.engine.context))
        self.steps += 1
        step = self.engine.steps.start(shape, given)
        if self.engine.draft is not None:
            self.engine.draft.run(shape._replace(scores=False), given)
        chosen = None
        if ending or shape.scores or not self.engine.looks_ahead:
            chosen = step.read()
        else:
            self.unread.append(step)
        for number, row in enumerate(rows):
            self.prompt_tokens += len(row.tokens)
            if row.sequence.scores and chosen is not None and chosen.scores is not None:
                self._note_scores(row, chosen.scores[number * length : (number + 1) * length])
            finished = chosen is not None and row.sequence in ending and self._add(row.sequence, chosen, [number])
            self.scheduler.note_computed(row.sequence, len(row.tokens))
            if finished:
                self.finish(row.sequence)

    def _note_scores(self, row: Row, scores: Any) -> None:
        """Scores of the prompt's tokens behind those of a row. A sequence that was set back has them already."""
        wanted = row.sequence.prompt - 1
        for place, score in enumerate(scores[: len(row.tokens)].tolist(), row.begin):
            if place < wanted and place == len(row.sequence.stream.scores):
                row.sequence.stream.scores.append(score)

    def _decode(self, sequences: list[Sequence]) -> None:
        """The next token of each sequence, and those behind guesses that turn out right."""
        drafts = max(len(sequence.drafts) for sequence in sequences)
        count, width = self._rows(len(sequences)), self._width(sequences)
        if drafts and self.engine.draft is not None:
            self._draft(sequences, count, width)
        shape = self._checking_shape(count, width) if drafts else Shape(count, 1, width, count)
        given = describe(shape, [Row(s, s.computed, [s.ids[-1], *s.drafts]) for s in sequences], self.page_size)
        wanted = [
            Place(sequence, number * shape.length + place, sequence.generated + place, sequence.drafts[:place])
            for number, sequence in enumerate(sequences)
            for place in range(shape.length)
        ]
        given.update(choose_at(shape.places, wanted, self.engine.context))
        chosen = self._run(shape, given)
        for number, sequence in enumerate(sequences):
            self._take(sequence, chosen, number * shape.length)

    def _decode_ahead(self, decoding: list[Sequence]) -> None:
        """Takes the tokens of the step that was started last, after the one behind it has been started."""
        flight = self.started if self.started is not None and self.started.is_wanted(self.scheduler) else None
        if flight is None and decoding:
            flight = self._start(known_rows(decoding))
        self.started = None
        if flight is None:
            return
        if all(is_plain(sequence) for sequence in (*decoding, *flight.sequences)):
            rows = rows_behind(flight, decoding, self.scheduler)
            self.started = self._start(rows, flight) if rows else None
        chosen = flight.step.read()
        for number, row in enumerate(flight.rows):
            if flight.still_wants(row, self.scheduler):
                self._take(row.sequence, chosen, number)

    def _start(self, rows: list[Row], before: Flight | None = None) -> Flight:
        """Starts a step of one token for each row. Tokens below zero are those of the step before."""
        sequences = [row.sequence for row in rows]
        count = self._rows(len(rows))
        shape = Shape(count, 1, self._width(sequences), count)
        given = describe(shape, rows, self.page_size)
        wanted = [Place(row.sequence, number, row.begin + 1 - row.sequence.prompt) for number, row in enumerate(rows)]
        given.update(choose_at(shape.places, wanted, self.engine.context))
        self.steps += 1
        return Flight(rows, self.engine.steps.start(shape, given, None if before is None else before.step))

    def _take(self, sequence: Sequence, chosen: Chosen, first: int) -> None:
        """The token of a row, and those behind right guesses."""
        found = chosen.tokens[first : first + 1 + len(sequence.drafts)].tolist()
        count = accepted(sequence.drafts, found)
        self.guessed += len(sequence.drafts)
        self.accepted += count - 1
        sequence.drafts = []
        before = len(sequence.ids)
        finished = self._add(sequence, chosen, range(first, first + count))
        self.scheduler.note_computed(sequence, len(sequence.ids) - before)
        if finished:
            self.finish(sequence)

    def _run(self, shape: Shape, given: dict[str, Any]) -> Chosen:
        self.steps += 1
        return self.engine.steps.run(shape, given)

    def _guided(self, sequences: list[Sequence]) -> list[Sequence]:
        """Those that go on, with what their grammars allow next; one whose grammar fails ends alone."""
        going: list[Sequence] = []
        for sequence in sequences:
            try:
                sequence.mask = None if sequence.guide is None else sequence.guide.mask()
                going.append(sequence)
            except RuntimeError as error:
                self.finish(sequence, "error", error)
        return going

    def _add(self, sequence: Sequence, chosen: Chosen, places: Rows[int]) -> bool:
        """Appends the tokens at places; True when the answer is complete. What stands behind its end is dropped."""
        for place in places:
            token = int(chosen.tokens[place])
            self.generated_tokens += 1
            try:
                ends = sequence.guide is not None and sequence.guide.advance(token)
            except RuntimeError as error:
                sequence.failure = error
                return True
            if sequence.add(token, *self._logprobs(sequence, chosen, place), self._is_end(sequence, token), ends):
                return True
        return False

    def _logprobs(self, sequence: Sequence, chosen: Chosen, place: int) -> tuple[float | None, tuple[Any, ...]]:
        count = sequence.sampling.logprobs
        if count is None or chosen.logprobs is None or chosen.top_tokens is None or chosen.top_logprobs is None:
            return None, ()
        top = zip(chosen.top_tokens[place, :count].tolist(), chosen.top_logprobs[place, :count].tolist(), strict=True)
        return float(chosen.logprobs[place]), tuple(pair for pair in top if pair[0] >= 0)

    def _is_end(self, sequence: Sequence, token: int) -> bool:
        if token in sequence.sampling.stop_tokens:
            return True
        return token in self.engine._ends and not sequence.sampling.ignore_end

    def finish(self, sequence: Sequence, how: str | None = None, error: Exception | None = None) -> None:
        """Takes a sequence out; `how`: it ends without a last token."""
        self.finished += 1
        self.scheduler.finish(sequence)
        if sequence.failure is not None:
            how, error = "error", sequence.failure
        if how is not None:
            sequence.end(how, error)

    # ---- guesses ----------------------------------------------------------------------------------------

    def _plan_guesses(self) -> None:
        """Guesses for those that decode; with a draft model only their number, which pages are found for."""
        for sequence in self.scheduler.running:
            count = min(self.options.speculate, sequence.limit - len(sequence.ids) - 1)
            if sequence.remaining != 1 or sequence.guide is not None or count <= 0:
                sequence.drafts = []
            elif self.engine.draft is not None:
                sequence.drafts = [0] * count
            else:
                if sequence.ngrams is None:
                    sequence.ngrams = NGrams()
                sequence.drafts = sequence.ngrams.guess(sequence.ids, count)

    def _draft(self, sequences: list[Sequence], count: int, width: int) -> None:
        """Lets the draft model fill the guesses in, one place at a time. Its first step is given the last two tokens: it has
        not seen the first of them where all its guesses were right."""
        assert self.engine.draft is not None
        for place in range(max(len(sequence.drafts) for sequence in sequences)):
            guessing = [sequence for sequence in sequences if len(sequence.drafts) > place]
            shape = Shape(count, 1 if place else 2, width, count)
            rows = [Row(s, s.computed + place, [s.drafts[place - 1]]) if place else _last_two(s) for s in guessing]
            given = describe(shape, rows, self.page_size)
            wanted = [
                Place(s, number * shape.length + len(rows[number].tokens) - 1, s.generated + place, s.drafts[:place])
                for number, s in enumerate(guessing)
            ]
            given.update(choose_at(shape.places, wanted, self.engine.context))
            tokens = self.engine.draft.run(shape, given).tokens.tolist()
            for number, sequence in enumerate(guessing):
                sequence.drafts[place] = tokens[number]


def _last_two(sequence: Sequence) -> Row:
    begin = max(sequence.computed - 1, 0)
    return Row(sequence, begin, sequence.ids[begin:])
