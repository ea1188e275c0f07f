"""The engine: answers in company are those of a lone request by the training code, and nothing is left behind."""

import asyncio
import threading
from typing import Any

import numpy as np
import pytest

from proa.llm.engine import Busy, Engine, Options, Request, Sampling

from .little import END, VOCABULARY, ByteTokenizer, greedy, little_model, prompts

COUNT = 14
OPTIONS = Options(rows=4, context=96, page_size=8, chunk=16)


@pytest.fixture(scope="module")
def engine() -> Any:
    with Engine(little_model(), ByteTokenizer(), OPTIONS) as made:
        yield made
    made.pool.check([])


@pytest.fixture(scope="module")
def asked() -> list[list[int]]:
    return prompts(8)


@pytest.fixture(scope="module")
def expected(asked: list[list[int]]) -> list[list[int]]:
    return [greedy(little_model(), prompt, COUNT) for prompt in asked]


def _plain(count: int = COUNT, **more: Any) -> Sampling:
    return Sampling(max_tokens=count, ignore_end=True, **more)


def test_greedy_answers_in_company_are_those_of_a_lone_request(engine: Engine, asked: Any, expected: Any) -> None:
    streams = [engine.submit(Request(prompt, _plain())) for prompt in asked]
    assert [stream.tokens() for stream in streams] == expected
    assert engine.submit(Request(asked[0], _plain())).tokens() == expected[0]


def test_answers_are_complete_when_pages_run_out(asked: Any, expected: Any) -> None:
    """Ten pages for four rows: somebody is set back again and again, and everybody ends."""
    with Engine(little_model(), None, Options(rows=4, context=96, page_size=8, chunk=16, pages=10)) as engine:
        streams = [engine.submit(Request(prompt, _plain())) for prompt in asked]
        assert [stream.tokens() for stream in streams] == expected
        assert engine.statistics()["preemptions"] > 0
        engine.pool.check([])


def test_eight_bits_answer_and_take_less_memory(engine: Engine, asked: Any) -> None:
    with Engine(little_model(), None, Options(rows=4, context=96, page_size=8, chunk=16, cache_dtype="int8")) as small:
        answers = [small.submit(Request(prompt, _plain(4))).tokens() for prompt in asked[:3]]
        assert all(len(answer) == 4 for answer in answers)
        # 8 numbers and a scale of 4 bytes for 8 floats
        assert small.statistics()["cache_bytes"] * 32 == engine.statistics()["cache_bytes"] * 12


def test_a_prefix_is_computed_once(engine: Engine) -> None:
    prompt = prompts(1, seed=77, longest=80)[0][:40]
    first = engine.submit(Request(prompt, _plain(6))).tokens()
    before = engine.statistics()
    assert engine.submit(Request(prompt, _plain(6))).tokens() == first
    after = engine.statistics()
    assert after["reused_tokens"] - before["reused_tokens"] == (len(prompt) - 1) // 8 * 8
    assert after["prompt_tokens"] - before["prompt_tokens"] < 8


def test_a_seed_draws_the_same_in_any_company(engine: Engine, asked: Any) -> None:
    how = _plain(temperature=0.9, top_p=0.95, top_k=40, seed=7, repetition_penalty=1.1)
    alone = engine.submit(Request(asked[1], how)).tokens()
    others = [engine.submit(Request(p, _plain(temperature=1.5, min_p=0.01, seed=n))) for n, p in enumerate(asked)]
    assert engine.submit(Request(asked[1], how)).tokens() == alone
    answers = [other.tokens() for other in others]
    again = [engine.submit(Request(p, _plain(temperature=1.5, min_p=0.01, seed=n))) for n, p in enumerate(asked)]
    assert [stream.tokens() for stream in again] == answers
    free = [engine.submit(Request(asked[1], _plain(temperature=1.5))).tokens() for _ in range(3)]
    assert len({tuple(answer) for answer in free}) > 1  # without a seed each request has its own


def test_penalties_and_bias_have_their_say(engine: Engine, asked: Any) -> None:
    often = engine.submit(Request(asked[2], _plain(30, logit_bias={65: 1000.0}))).tokens()
    assert often == [65] * 30
    never = engine.submit(Request(asked[2], _plain(30, frequency_penalty=100.0))).tokens()
    assert len(set(never)) == 30


def test_log_probabilities_are_those_of_the_training_code(engine: Engine, asked: Any) -> None:
    import proa as paddle

    pieces = list(engine.submit(Request(asked[3], _plain(5, logprobs=3))))
    ids = np.array([asked[3] + [piece.token for piece in pieces]])
    logits = little_model()(paddle.to_tensor(ids)).numpy()[0].astype("float64")
    logits -= np.log(np.exp(logits).sum(-1, keepdims=True))
    for number, piece in enumerate(pieces):
        row = logits[len(asked[3]) - 1 + number]
        assert abs(piece.logprob - row[piece.token]) < 1e-4
        assert [token for token, _ in piece.top] == np.argsort(-row)[:3].tolist()
        assert piece.top[0] == (piece.token, piece.logprob)


def test_an_answer_ends_where_it_should(engine: Engine, asked: Any) -> None:
    pieces = list(engine.submit(Request(asked[0], _plain(3))))
    assert [piece.finish for piece in pieces] == [None, None, "length"]
    ended = list(engine.submit(Request(asked[0], Sampling(max_tokens=9, logit_bias={END: 1000.0}))))
    assert [(piece.token, piece.text, piece.finish) for piece in ended] == [(END, "", "stop")]
    stopped = list(engine.submit(Request(asked[0], _plain(9, stop_tokens=[65], logit_bias={65: 1000.0}))))
    assert [(piece.token, piece.finish) for piece in stopped] == [(65, "stop")]
    long = engine.submit(Request(asked[0][:4], _plain(1000))).tokens()
    assert len(long) == 96 - 4  # to the end of the context


def test_a_stop_text_that_spans_tokens_is_never_shown(engine: Engine) -> None:
    bias = {ord("a"): 1000.0, ord("b"): 1000.0}
    how: dict[str, Any] = {"logit_bias": bias, "temperature": 2.0, "seed": 3}
    text = engine.submit(Request([1, 2], _plain(40, **how))).text()
    stop = text[10:13]
    pieces = list(engine.submit(Request([1, 2], _plain(40, stop=[stop], **how))))
    assert "".join(piece.text for piece in pieces) == text[: text.find(stop)]
    assert pieces[-1].finish == "stop"


def test_text_is_whole_characters(engine: Engine) -> None:
    snowman = "☃".encode()
    pieces = []
    for number, byte in enumerate(snowman):  # a bias leads byte by byte
        pieces += list(engine.submit(Request([1, *snowman[:number]], _plain(1, logit_bias={byte: 1000.0}))))
    assert [piece.token for piece in pieces] == list(snowman)
    assert pieces[0].text == "\ufffd"  # an answer that ends inside a character shows that


def test_a_cancelled_request_leaves_and_others_do_not_notice(engine: Engine, asked: Any, expected: Any) -> None:
    doomed = [engine.submit(Request(prompt, _plain(90))) for prompt in asked]
    kept = [engine.submit(Request(prompt, _plain())) for prompt in asked[:3]]
    for stream in doomed:
        stream.cancel()
        stream.cancel()
    assert [stream.tokens() for stream in kept] == expected[:3]
    assert [list(stream)[-1].finish for stream in doomed] == ["cancelled"] * len(doomed)


def test_many_threads_ask_at_once(engine: Engine, asked: Any, expected: Any) -> None:
    answers: dict[int, Any] = {}

    def ask(number: int) -> None:
        answers[number] = engine.submit(Request(asked[number % 8], _plain())).tokens()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [answers[number] for number in range(24)] == expected * 3


def test_asyncio_reads_streams_side_by_side(engine: Engine, asked: Any, expected: Any) -> None:
    async def ask(prompt: list[int]) -> list[int]:
        return [piece.token async for piece in engine.submit(Request(prompt, _plain())) if piece.token is not None]

    async def all_of_them() -> Any:
        return await asyncio.gather(*map(ask, asked))

    assert asyncio.run(all_of_them()) == expected


@pytest.mark.parametrize(
    ("request_", "what"),
    [
        (Request([]), "at least one"),
        (Request([VOCABULARY]), "tokens from 0"),
        (Request([-1]), "tokens from 0"),
        (Request([1] * 96), "no room"),
        (Request([1], adapter="none"), "no adapter"),
        (Request([1], Sampling(logit_bias={VOCABULARY: 1.0})), "logit_bias"),
    ],
)
def test_what_can_never_be_answered_is_refused(engine: Engine, request_: Request, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        engine.submit(request_)


@pytest.mark.parametrize(
    ("field", "value"),
    [("max_tokens", 0), ("temperature", -1.0), ("temperature", float("nan")), ("top_p", 0.0), ("top_p", 1.5),
     ("top_k", -1), ("min_p", 2.0), ("repetition_penalty", 0.0), ("logprobs", 21), ("stop", [""]), ("seed", 1.5),
     ("max_tokens", True), ("logit_bias", {1: float("inf")}), ("logit_bias", dict.fromkeys(range(600), 1.0))],
)  # fmt: skip
def test_sampling_without_sense_is_refused(field: str, value: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=field):
        Sampling(**{field: value})


def test_more_than_the_cache_holds_is_refused_at_once() -> None:
    with Engine(little_model(), None, Options(rows=2, context=96, page_size=8, pages=4)) as engine:
        with pytest.raises(ValueError, match="4 pages of 8 tokens"):
            engine.submit(Request([1] * 10, Sampling(max_tokens=30)))
        with pytest.raises(TypeError, match="a Request is needed"):
            engine.submit([1, 2])  # type: ignore[arg-type]


def test_too_many_waiting_requests_are_told_so() -> None:
    engine = Engine(little_model(), None, Options(rows=1, context=96, page_size=8, chunk=16, waiting=2))
    streams: list[Any] = []

    def ask() -> None:
        for _ in range(50):
            streams.append(engine.submit(Request([1, 2, 3], _plain(80))))

    with pytest.raises(Busy, match="2 requests wait"):
        ask()
    for stream in streams:
        stream.cancel()
    engine.close()
    with pytest.raises(Busy, match="closed"):
        engine.submit(Request([1]))
    engine.close()


def test_closing_at_once_ends_all_streams(asked: Any) -> None:
    engine = Engine(little_model(), None, OPTIONS)
    streams = [engine.submit(Request(prompt, _plain(90))) for prompt in asked]
    engine.close(drain=False)
    assert all(list(stream)[-1].finish == "cancelled" for stream in streams)
    engine.pool.check([])


def test_a_step_that_fails_ends_its_requests_and_the_engine_goes_on(asked: Any, expected: Any) -> None:
    with Engine(little_model(), None, OPTIONS) as engine:
        run, calls = engine.steps.run, []

        def failing(*arguments: Any) -> Any:
            calls.append(1)
            if len(calls) == 3:
                raise MemoryError("no room")
            return run(*arguments)

        engine.steps.run = failing  # type: ignore[method-assign]
        streams = [engine.submit(Request(prompt, _plain())) for prompt in asked[:2]]
        for stream in streams:
            with pytest.raises(MemoryError, match="no room"):
                stream.tokens()
        assert [engine.submit(Request(p, _plain())).tokens() for p in asked[:2]] == expected[:2]
        engine.pool.check([])


@pytest.mark.parametrize(
    "bad", [{"rows": 0}, {"chunk": 48}, {"cache_dtype": "int4"}, {"page_size": 1.5}, {"widening": 1}]
)
def test_options_without_sense_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        Options(**bad)
