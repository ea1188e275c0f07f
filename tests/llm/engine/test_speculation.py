"""Guesses make answers come sooner and change none of them."""

import random
from typing import Any

import pytest

from proa.llm.engine import Engine, Options, Request, Sampling
from proa.llm.engine.speculation import NGrams, accepted

from .little import little_model, prompts

SIZES: dict[str, Any] = {"rows": 4, "context": 96, "page_size": 8, "chunk": 16}


def _answers(engine: Engine, hows: list[Sampling]) -> list[list[int]]:
    asked = prompts(6, seed=9, longest=40)
    return [s.tokens() for s in [engine.submit(Request(p, how)) for p, how in zip(asked, hows * 6, strict=False)]]


@pytest.fixture(scope="module")
def hows() -> list[Sampling]:
    greedy = Sampling(max_tokens=20, ignore_end=True)
    drawn = Sampling(max_tokens=20, ignore_end=True, temperature=0.7, seed=4, repetition_penalty=1.2, top_p=0.9)
    return [greedy, drawn]


@pytest.fixture(scope="module")
def expected(hows: list[Sampling]) -> list[list[int]]:
    with Engine(little_model(), None, Options(**SIZES)) as engine:
        return _answers(engine, hows)


@pytest.mark.parametrize("kind", ["ngram", "same", "other"])
def test_guesses_change_no_answer(kind: str, hows: list[Sampling], expected: list[list[int]]) -> None:
    draft = {"ngram": None, "same": little_model(), "other": little_model(5, layers=1)}[kind]
    options = Options(**SIZES, speculate=3, speculation="ngram" if draft is None else "draft", pages=40)
    with Engine(little_model(), None, options, draft) as engine:
        assert _answers(engine, hows) == expected
        done = engine.statistics()
        engine.pool.check([])
    if kind == "same":  # the model guesses what it will say itself
        assert done["accepted_tokens"] == done["guessed_tokens"] > 40
    assert done["accepted_tokens"] <= done["guessed_tokens"]


def test_repeated_text_is_guessed() -> None:
    how = Sampling(max_tokens=40, ignore_end=True, logit_bias={65: 500.0})
    with Engine(little_model(), None, Options(**SIZES, speculate=3)) as engine:
        assert engine.submit(Request([1, 2, 3], how)).tokens() == [65] * 40
        assert engine.statistics()["steps"] < 20


def test_ngrams_find_what_followed_the_last_time() -> None:
    draw = random.Random(2)
    for _ in range(200):
        ids = [draw.randrange(3) for _ in range(draw.randint(1, 30))]
        guesser = NGrams()
        for end in range(1, len(ids) + 1):
            seen = ids[:end]
            found = guesser.guess(seen, 4)
            plain: list[int] = []
            for length in (3, 2):
                places = [p for p in range(length, end) if seen[p - length : p] == seen[-length:]]
                if places and end >= length:
                    plain = (seen[places[-1] :] * 4)[:4]
                    break
            assert found == plain


@pytest.mark.parametrize(
    ("drafts", "tokens", "count"), [([], [5], 1), ([5, 6], [5, 6, 7], 3), ([5, 6], [5, 7, 7], 2), ([4], [5, 6], 1)]
)
def test_only_right_guesses_count(drafts: list[int], tokens: list[int], count: int) -> None:
    assert accepted(drafts, tokens) == count


def test_draft_models_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="needs a draft model"):
        Engine(little_model(), None, Options(speculate=2, speculation="draft"))
    with pytest.raises(ValueError, match="vocabulary"):
        Engine(little_model(), None, Options(speculate=2), little_model(1, layers=1, vocab_size=100))
