"""Who computes next: thousands of rounds without a model, in which everybody ends and nothing leaks."""

import random
from typing import Any

from proa.llm.engine.pages import PagePool
from proa.llm.engine.request import Request, Sampling
from proa.llm.engine.scheduler import Scheduler
from proa.llm.engine.sequence import Sequence, uniform
from proa.llm.engine.stream import Stream


def _sequence(number: int, prompt: list[int], count: int) -> Sequence:
    stream = Stream(lambda: None)
    return Sequence(number, Request(prompt, Sampling(max_tokens=count)), stream, None, 1 << 20)


class _Rounds:
    """The engine's rounds with a model that says random things. Finished sequences are noted with the round they ended
    in."""

    def __init__(self, scheduler: Scheduler, seed: int) -> None:
        self.scheduler, self.draw, self.round = scheduler, random.Random(seed), 0
        self.ended: dict[int, int] = {}

    def run(self) -> None:
        self.round += 1
        scheduler = self.scheduler
        scheduler.admit()
        length, reading = scheduler.reading(8, (4, 8))
        for sequence in reading:
            count = min(length, sequence.remaining)
            self._advance(sequence, count, sequence.remaining == count)
        for sequence in list(scheduler.running):
            sequence.drafts = [0] * self.draw.randrange(3) if sequence.remaining == 1 else []
        for sequence in scheduler.decoding():
            assert len(sequence.pages) * scheduler.pool.page_size >= len(sequence.ids) + len(sequence.drafts)
            self._advance(sequence, 1, True)
        scheduler.pool.check([sequence.pages for sequence in scheduler.running])

    def _advance(self, sequence: Sequence, count: int, chooses: bool) -> None:
        finished = chooses and sequence.add(self.draw.randrange(3), None, (), False, self.draw.random() < 0.02)
        self.scheduler.note_computed(sequence, count)
        if finished:
            self.scheduler.finish(sequence)
            self.ended[sequence.number] = self.round


def test_everybody_ends_and_the_oldest_are_never_set_back() -> None:
    for seed in range(12):
        draw = random.Random(seed)
        pool = PagePool(draw.randint(12, 30), 4, draw.random() < 0.7)
        scheduler = Scheduler(pool, draw.randint(1, 6))
        rounds = _Rounds(scheduler, seed)
        most = (pool.pages - 1) * 4
        for number in range(40):
            size = draw.randint(1, most - 10)
            prompt = [draw.randrange(3) for _ in range(size)]
            scheduler.add(_sequence(number, prompt, draw.randint(1, min(30, most - size))))
        while not scheduler.is_idle:
            oldest = scheduler.running[0] if scheduler.running else None
            progress = None if oldest is None else (oldest.computed, len(oldest.ids))
            rounds.run()
            if oldest is not None and oldest.number not in rounds.ended:
                assert (oldest.computed, len(oldest.ids)) > progress  # type: ignore[operator]
            assert rounds.round < 20000
        assert len(rounds.ended) == 40
        assert pool.in_use == 0


def test_a_long_prompt_does_not_stop_those_who_decode() -> None:
    pool = PagePool(200, 4)
    scheduler = Scheduler(pool, 4)
    rounds = _Rounds(scheduler, 0)
    rounds.draw.random = lambda: 1.0  # type: ignore[method-assign] - nobody ends early
    scheduler.add(_sequence(0, [1], 30))
    rounds.run()
    scheduler.add(_sequence(1, [0, 1] * 100, 5))
    while 0 not in rounds.ended:
        rounds.run()
    assert rounds.ended[0] <= 31  # a token in every round


def test_requests_are_let_in_as_they_came() -> None:
    pool = PagePool(9, 4)
    scheduler = Scheduler(pool, 8)
    order: list[Any] = [_sequence(0, [1] * 20, 4), _sequence(1, [2] * 20, 4), _sequence(2, [3], 4)]
    for sequence in order:
        scheduler.add(sequence)
    scheduler.admit()
    # The second does not fit beside the first; the third would, but waits behind it.
    assert scheduler.running == order[:1]
    scheduler.finish(order[0])
    scheduler.admit()
    assert scheduler.running == order[1:]
    scheduler.finish(order[2])
    scheduler.finish(order[2])
    assert scheduler.running == order[1:2]


def test_numbers_are_even_and_their_own() -> None:
    found = [uniform(seed, index) for seed in range(40) for index in range(50)]
    assert len(set(found)) > 1990
    assert all(0 <= number < 1 for number in found)
    for part in range(10):
        assert 140 < sum(part <= number * 10 < part + 1 for number in found) < 260
    assert uniform(-5, 3) == uniform(-5, 3) != uniform(-6, 3)
