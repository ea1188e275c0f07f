"""Steps that are started before the last one's tokens are read give the same answers, whatever ends them."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from proa.llm.engine import Engine, Options, Request, Sampling
from proa.llm.engine.choices import run_graph

from .little import ByteTokenizer, greedy, little_model, prompts

ROOT = Path(__file__).resolve().parents[3]
COUNT = 14
SIZES: dict[str, Any] = {"rows": 4, "context": 96, "page_size": 8, "chunk": 16}


@pytest.fixture(scope="module")
def engine() -> Any:
    with Engine(little_model(), ByteTokenizer(), Options(**SIZES, ahead=True)) as made:
        yield made
    made.pool.check([])


@pytest.fixture(scope="module")
def asked() -> list[list[int]]:
    return prompts(8)


@pytest.fixture(scope="module")
def expected(asked: list[list[int]]) -> list[list[int]]:
    return [greedy(little_model(), prompt, COUNT) for prompt in asked]


def test_greedy_answers_are_those_of_the_training_code(engine: Engine, asked: Any, expected: Any) -> None:
    lengths = [COUNT, 1, 2, 3, COUNT, 5, COUNT, 4]
    streams = [
        engine.submit(Request(prompt, Sampling(max_tokens=n, ignore_end=True)))
        for prompt, n in zip(asked, lengths, strict=True)
    ]
    assert [stream.tokens() for stream in streams] == [e[:n] for e, n in zip(expected, lengths, strict=True)]


def test_logits_are_written_over_those_of_the_step_before(asked: Any) -> None:
    """On a GPU an array made anew at each step moves others, and every kernel of a command buffer is then written anew."""
    with Engine(little_model(), ByteTokenizer(), Options(**SIZES)) as engine:
        before: dict[int, Any] = {}
        for sampling in (Sampling(max_tokens=3, ignore_end=True), Sampling(max_tokens=3, temperature=1.0)) * 2:
            assert len(engine.submit(Request(asked[0], sampling)).tokens()) == 3
            kept = before
            before = {n: logits._data() for n, logits in engine.steps._last_logits.items()}
            assert before
            assert all(logits.is_deleted() for logits in kept.values())  # written over, not given back
        engine.steps.renew(list(engine.steps.pools))  # as after a step that failed: its logits may have failed, too
        assert engine.steps._last_logits == {}
        assert len(engine.submit(Request(asked[0], Sampling(max_tokens=3, ignore_end=True))).tokens()) == 3


def test_draws_and_penalties_are_those_of_steps_one_by_one(engine: Engine, asked: Any) -> None:
    """Draws run ahead; penalties need the token before, so that steps beside them wait."""
    how = [
        Sampling(max_tokens=COUNT, temperature=1.0, top_k=9, seed=3, ignore_end=True),
        Sampling(max_tokens=COUNT, temperature=0.7, top_p=0.8, seed=4, ignore_end=True, logprobs=2),
        Sampling(max_tokens=5, temperature=1.0, seed=5, repetition_penalty=1.5, ignore_end=True),
        Sampling(max_tokens=COUNT, ignore_end=True, logit_bias={7: 4.0}),
    ]
    with Engine(little_model(), ByteTokenizer(), Options(**SIZES, ahead=False)) as waiting:
        for some in (how[:2], how):
            found = [
                [
                    [(p.token, p.logprob) for p in stream]
                    for stream in [e.submit(Request(q, s)) for q, s in zip(asked, some)]
                ]
                for e in (engine, waiting)
            ]
            assert [[t for t, _ in answer] for answer in found[0]] == [[t for t, _ in answer] for answer in found[1]]


def test_an_answer_ends_at_its_stop_and_others_go_on(engine: Engine, asked: Any, expected: Any) -> None:
    ends = [answer[n % 6] for n, answer in enumerate(expected)]
    streams = [
        engine.submit(Request(prompt, Sampling(max_tokens=COUNT, ignore_end=True, stop_tokens=(end,))))
        for prompt, end in zip(asked, ends, strict=True)
    ]
    for stream, answer, end in zip(streams, expected, ends, strict=True):
        assert stream.tokens() == answer[: answer.index(end) + 1]


def test_pages_that_run_out_and_requests_that_are_dropped(asked: Any, expected: Any) -> None:
    with Engine(little_model(), None, Options(**SIZES, pages=10, ahead=True)) as engine:
        for _ in range(3):
            streams = [engine.submit(Request(p, Sampling(max_tokens=COUNT, ignore_end=True))) for p in asked]
            next(iter(streams[0]))
            streams[0].cancel()
            for number, stream in enumerate(streams):
                if number != 0:
                    assert stream.tokens() == expected[number]
        assert engine.statistics()["preemptions"] > 0
    engine.pool.check([])


def test_prefixes_of_ended_answers_hold_what_was_computed(engine: Engine, asked: Any, expected: Any) -> None:
    """What a started step writes behind an ended answer is in nobody's prefix."""
    for prompt, answer in zip(asked, expected, strict=True):
        first = engine.submit(Request(prompt, Sampling(max_tokens=9, ignore_end=True))).tokens()
        assert first == answer[:9]
        longer = engine.submit(Request([*prompt, *first], Sampling(max_tokens=5, ignore_end=True))).tokens()
        assert longer == answer[9:14]


def test_a_step_that_cannot_be_started_ends_its_requests_and_the_engine_goes_on(
    asked: Any, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine(little_model(), None, Options(**SIZES, ahead=True)) as made:
        calls = []

        def failing(*given: Any) -> Any:
            calls.append(threading.current_thread().name)
            if len(calls) == 5:
                raise MemoryError("no room")
            return run_graph(*given)

        monkeypatch.setattr("proa.llm.engine.steps.run_graph", failing)
        streams = [made.submit(Request(prompt, Sampling(max_tokens=COUNT, ignore_end=True))) for prompt in asked[:2]]
        for stream in streams:
            with pytest.raises(MemoryError, match="no room"):
                stream.tokens()
        again = [made.submit(Request(prompt, Sampling(max_tokens=COUNT, ignore_end=True))) for prompt in asked[:2]]
        assert [stream.tokens() for stream in again] == expected[:2]
        made.pool.check([])
    assert set(calls) == {"proa-engine-start"}


def test_closing_ends_the_thread_that_starts_steps(asked: Any) -> None:
    before = threading.active_count()
    with Engine(little_model(), None, Options(**SIZES, ahead=True)) as made:
        made.submit(Request(asked[0], Sampling(max_tokens=2))).tokens()
        assert threading.active_count() == before + 2
    assert threading.active_count() == before
    unused = Engine(little_model(), None, Options(**SIZES, ahead=True))
    unused.warm_up(unused.rounds.shapes()[:1])
    unused.close()
    assert threading.active_count() == before


def test_a_program_may_end_in_the_middle_of_an_answer() -> None:
    script = """
from tests.llm.engine.little import little_model
from proa.llm.engine import Engine, Options, Request, Sampling
engine = Engine(little_model(), None, Options(rows=2, context=96, ahead=True))
print(next(iter(engine.submit(Request([1, 2], Sampling(max_tokens=90, ignore_end=True))))).token)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip().isdigit()
